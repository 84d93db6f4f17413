package submission

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type hostile struct {
	zip    []byte
	rule   Rule
	says   string // part of the message
	limits func(*Limits)
}

// hostiles finish the sentence "it refuses …".
func hostiles() map[string]hostile {
	zeros := strings.Repeat("\x00", 10<<20)
	plain := honest()
	unset := value(uint32(1<<32 - 1))
	big := rawZipEnd(&end{zip64: value(int64(0)), offset: unset, length: unset}, manifestPart, modelPart)
	short := deflate("content")
	many := make([]part, 3000)
	for i := range many {
		many[i] = part{name: fmt.Sprintf("envs/%d.py", i)}
	}
	repeated := []part{{name: "a", data: "kernel"}}
	for i := range 20 {
		repeated = append(repeated, part{name: fmt.Sprint("b", i), data: "kernel", sameAs: value(0)})
	}
	dense := zeros[:ratioFloor]
	return map[string]hostile{
		// The zip as a whole.
		"an empty file":                      {zip: nil, rule: ZipUnreadable, says: "the file is no zip"},
		"a file that is no zip":              {zip: []byte(strings.Repeat("no zip", 100)), rule: ZipUnreadable, says: "the file is no zip"},
		"a zip cut short":                    {zip: plain[:len(plain)-1], rule: ZipUnreadable},
		"a zip without its end":              {zip: plain[:len(plain)/2], rule: ZipUnreadable, says: "only a part"},
		"a zip without its beginning":        {zip: plain[10:], rule: ZipUnreadable, says: "something lies before it or behind it"},
		"a program before the zip":           {zip: append([]byte("#!/bin/sh\n"), plain...), rule: ZipUnreadable},
		"a program before an adjusted zip":   {zip: rawZip(part{name: "x", data: "#!/bin/sh", unlisted: true}, manifestPart, modelPart), rule: ZipUnreadable, says: "lie before the first entry"},
		"garbage behind the zip":             {zip: append(slices.Clone(plain), "garbage"...), rule: ZipUnreadable, says: "ends with 7 bytes, where it states 0"},
		"a second end in the comment":        {zip: append(append(plain[:len(plain)-2:len(plain)-2], endLen, 0), rawZip()...), rule: ZipUnreadable},
		"a zip of no entries with a prefix":  {zip: append([]byte("prefix"), rawZipEnd(&end{offset: value(uint32(6))})...), rule: ZipUnreadable, says: "lie before the first entry"},
		"a list elsewhere":                   {zip: rawZipEnd(&end{offset: value(uint32(0))}, manifestPart, modelPart), rule: ZipUnreadable},
		"a list longer than the file":        {zip: rawZipEnd(&end{length: value(uint32(1 << 30))}, manifestPart, modelPart), rule: ZipUnreadable},
		"an offset beyond the file":          {zip: rawZipEnd(&end{offset: value(uint32(1<<32 - 1))}, manifestPart, modelPart), rule: ZipUnreadable},
		"fewer entries stated than listed":   {zip: rawZipEnd(&end{count: value(uint16(1))}, manifestPart, modelPart), rule: ZipUnreadable, says: "states 1 entries and has 2"},
		"more entries stated than listed":    {zip: rawZipEnd(&end{count: value(uint16(3))}, manifestPart, modelPart), rule: ZipUnreadable, says: "states 3 entries and has 2"},
		"one disk of several":                {zip: rawZipEnd(&end{disk: 1}, manifestPart, modelPart), rule: ZipUnreadable, says: "one part of several"},
		"a zip64 end that contradicts":       {zip: rawZipEnd(&end{zip64: value(int64(1))}, manifestPart, modelPart), rule: ZipUnreadable, says: "contradicts"},
		"a zip64 end with a monstrous count": {zip: rawZipEnd(&end{zip64: value(int64(1) << 40), count: value(uint16(1<<16 - 1))}, manifestPart, modelPart), rule: ZipTooManyFiles},
		"an entry under another name":        {zip: honest(part{name: "a.py", localName: value("b.py")}), rule: ZipUnreadable, says: `a.py: the entry has another name`},
		"an entry encrypted only in place":   {zip: honest(part{name: "a.py", localFlag: 1}), rule: ZipUnreadable, says: "packed in another way"},
		"a malformed list":                   {zip: bytes.Replace(plain, []byte(recordMagic), []byte("PK\x01\x03"), 1), rule: ZipUnreadable, says: "entry 1 of the list is malformed"},
		"an entry that is not there":         {zip: bytes.Replace(plain, []byte(headerMagic), []byte("PK\x03\x05"), 1), rule: ZipUnreadable},

		"a zip64 size without its field": {zip: honest(part{name: "a", data: "x", usize: unset, extra: zip64()}), rule: ZipUnreadable, says: "cannot be read"},
		"a zip64 end elsewhere":          {zip: bytes.Replace(rawZipEnd(&end{zip64: value(int64(0))}, manifestPart, modelPart), []byte(end64Magic), []byte("PK\x06\x05"), 1), rule: ZipUnreadable, says: "the zip64 end is not where"},
		"an entry of the list cut short": {zip: lastByteOf(plain, recordMagic, 28, 0xff), rule: ZipUnreadable, says: "entry 2 of the list is cut short"},
		"an entry outside the zip":       {zip: lastByteOf(plain, recordMagic, 44, 1), rule: ZipUnreadable, says: "model/policy.zip: the entry lies outside"},

		"an entry packed otherwise in place": {zip: lastByteOf(plain, headerMagic, 8, 8), rule: ZipUnreadable, says: "packed in another way"},
		"a zip64 end of several disks":       {zip: lastByteOf(big, end64Magic, 16, 1), rule: ZipUnreadable, says: "one part of several"},
		"a zip64 locator that points away":   {zip: lastByteOf(big, locator64Magic, 8, 1), rule: ZipUnreadable, says: "the zip64 end is not where"},
		"a list of negative length":          {zip: negativeLength(big), rule: ZipUnreadable, says: "not where the zip states"},

		// Limits.
		"a zip that is too large":          {zip: honest(part{name: "a.py", data: "0123456789"}), rule: ZipTooLarge, limits: func(l *Limits) { l.MaxZipBytes = 300 }},
		"too many files":                   {zip: honest(many...), rule: ZipTooManyFiles, says: "more than 2000 entries"},
		"too many files with a small lie":  {zip: rawZipEnd(&end{count: value(uint16(2))}, many...), rule: ZipTooManyFiles},
		"a huge list of entries":           {zip: honest(part{name: "a", comment: zeros[:60_000]}), rule: ZipTooLarge, says: "the list of entries alone", limits: func(l *Limits) { l.MaxFiles = 10 }},
		"a file that is too large":         {zip: honest(part{name: "a.py", data: "0123456789"}), rule: ZipFileTooLarge, limits: func(l *Limits) { l.MaxFileBytes = 9; l.MaxManifestBytes = 9 }},
		"a file of a zip64 size":           {zip: honest(part{name: "a.py", data: "0123456789", usize: unset, extra: zip64(1 << 63)}), rule: ZipFileTooLarge},
		"a file that states to be huge":    {zip: honest(part{name: "a.py", data: "0123456789", usize: value(uint32(1<<32 - 2))}), rule: ZipFileTooLarge},
		"files that are too large in sum":  {zip: honest(part{name: "a.py", data: "0123456789"}), rule: ZipTooLarge, says: "unpack to more", limits: func(l *Limits) { l.MaxBytes, l.MaxFileBytes = 40, 40 }},
		"junk that is too large":           {zip: honest(part{name: "__MACOSX/._a", data: zeros}), rule: ZipTooLarge, limits: func(l *Limits) { l.MaxBytes, l.MaxFileBytes = 10<<20, 10<<20 }},
		"a bomb of zeros":                  {zip: honest(part{name: "bomb", data: zeros, method: zip.Deflate}), rule: ZipRatio, says: "bomb: "},
		"a bomb of small bombs":            {zip: honest(part{name: "a", data: dense, method: zip.Deflate}, part{name: "b", data: dense, method: zip.Deflate}), rule: ZipRatio, says: "of files unpack to 2 MiB"},
		"a manifest that is too large":     {zip: stating("team: a\nnotes: " + strings.Repeat("x", 70_000)), rule: ManifestTooLarge},
		"a name that is too deep":          {zip: named(strings.Repeat("a/", 12) + "a"), rule: ZipNameUnusable, says: "13 levels deep"},
		"a name that is too long":          {zip: named(strings.Repeat(strings.Repeat("a", 200)+"/", 3)), rule: ZipNameUnusable, says: "602 bytes"},
		"a component that is too long":     {zip: named(strings.Repeat("a", 256)), rule: ZipNameUnusable, says: "256 bytes"},
		"entries that all share one place": {zip: rawZip(repeated...), rule: ZipUnreadable, says: "another name"},

		// Lies about content.
		"two entries with one place":             {zip: honest(part{name: "a", data: "x"}, part{name: "a", data: "x", sameAs: value(2)}), rule: ZipDuplicateName},
		"an entry that reaches into the next":    {zip: overlapping(), rule: ZipOverlap, says: `shares bytes with "b"`},
		"an entry that reaches into the list":    {zip: honest(part{name: "a", data: "x", csize: value(uint32(20))}), rule: ZipOverlap, says: "the list of entries"},
		"an entry larger than the zip":           {zip: honest(part{name: "a", data: "x", csize: value(uint32(1<<32 - 2))}), rule: ZipOverlap},
		"an entry of a zip64 size":               {zip: honest(part{name: "a", data: "x", csize: unset, extra: zip64(1 << 63)}), rule: ZipOverlap},
		"a stored file of another size":          {zip: honest(part{name: "a", data: "xyz", usize: value(uint32(2))}), rule: ZipSizeMismatch, says: "unpacks to more than the 2 bytes"},
		"a file that unpacks to more":            {zip: honest(part{name: "a", data: zeros, method: zip.Deflate, usize: value(uint32(5))}), rule: ZipSizeMismatch, says: "unpacks to more than the 5 bytes"},
		"a file that unpacks to less":            {zip: honest(part{name: "a", data: "xyz", method: zip.Deflate, usize: value(uint32(50))}), rule: ZipSizeMismatch, says: "unpacks to less than the 50 bytes"},
		"a wrong checksum":                       {zip: honest(part{name: "a", data: "xyz", crc: value(uint32(1))}), rule: ZipChecksum},
		"a checksum of zero":                     {zip: honest(part{name: "a", data: "xyz", method: zip.Deflate, crc: value(uint32(0))}), rule: ZipChecksum},
		"damaged content":                        {zip: bytes.Replace(honest(part{name: "a", data: lines("one", "two", "three"), method: zip.Deflate}), []byte(deflate(lines("one", "two", "three"))[:2]), []byte("\xff\xff"), 1), rule: ZipChecksum, says: "damaged"},
		"content without its end":                {zip: honest(part{name: "a", data: "content", method: zip.Deflate, csize: value(uint32(len(short) - 2))}), rule: ZipChecksum, says: "damaged"},
		"junk that lies":                         {zip: honest(part{name: ".DS_Store", data: "xyz", crc: value(uint32(1))}), rule: ZipChecksum},
		"an encrypted file":                      {zip: honest(part{name: "a", data: "xyz", flags: flagEncrypted}), rule: ZipEncrypted},
		"a strongly encrypted file":              {zip: honest(part{name: "a", data: "xyz", flags: flagStrongEncrypted}), rule: ZipEncrypted},
		"AES encryption":                         {zip: honest(part{name: "a", data: "xyz", flags: flagEncrypted, method: 99}), rule: ZipEncrypted},
		"bzip2":                                  {zip: honest(part{name: "a", data: "xyz", method: 12}), rule: ZipCompression, says: "method 12"},
		"method 99":                              {zip: honest(part{name: "a", data: "xyz", method: 99}), rule: ZipCompression, says: "method 99"},
		"a symbolic link":                        {zip: honest(part{name: "a", data: "/etc/passwd", attrs: 0o120777 << 16}), rule: ZipLink, says: "a: the entry is a link"},
		"a block device":                         {zip: honest(part{name: "a", attrs: 0o060644 << 16}), rule: ZipSpecialFile},
		"a character device":                     {zip: honest(part{name: "a", attrs: 0o020644 << 16}), rule: ZipSpecialFile},
		"a pipe":                                 {zip: honest(part{name: "a", attrs: 0o010644 << 16}), rule: ZipSpecialFile},
		"a socket":                               {zip: honest(part{name: "a", attrs: 0o140644 << 16}), rule: ZipSpecialFile},
		"a folder by its mode only":              {zip: honest(part{name: "a", attrs: unixFolder << 16}), rule: ZipFileIsFolder},
		"a folder by its name only":              {zip: honest(part{name: "a/", attrs: unixRegular << 16}), rule: ZipFileIsFolder},
		"a folder with content":                  {zip: honest(part{name: "a/", data: "x"}), rule: ZipFileIsFolder},
		"a file with a file in it":               {zip: named("envs/a", "envs/a/b"), rule: ZipFileIsFolder, says: "envs/a: "},
		"a file with a file in it, late":         {zip: named("envs/a/b", "envs/a"), rule: ZipFileIsFolder, says: "envs/a: "},
		"a file and a folder":                    {zip: named("envs/a", "envs/a/"), rule: ZipFileIsFolder},
		"a name that comes twice":                {zip: named("envs/a", "envs/a"), rule: ZipDuplicateName},
		"a folder that comes twice":              {zip: named("envs/", "envs/"), rule: ZipDuplicateName},
		"a folder that comes twice, later":       {zip: named("envs/", "envs/a", "envs/"), rule: ZipDuplicateName},
		"a letter whose capital is two":          {zip: named("envs/\u01f0.py", "envs/J\u030c.py"), rule: ZipCaseClash},
		"names that differ by case":              {zip: named("envs/a.py", "envs/A.py"), rule: ZipCaseClash, says: `"envs/a.py" and "envs/A.py"`},
		"folders that differ by case":            {zip: named("envs/a.py", "Envs/b.py"), rule: ZipCaseClash},
		"a file and a folder by case":            {zip: named("envs", "Envs/b.py"), rule: ZipCaseClash},
		"names that differ by case beyond ASCII": {zip: named("envs/ſ.py", "envs/S.py"), rule: ZipCaseClash},
		"names that differ by their accents":     {zip: named("envs/caf\u00e9.py", "envs/cafe\u0301.py"), rule: ZipCaseClash},
		"names that differ by both":              {zip: named("envs/caf\u00e9.py", "envs/CAFE\u0301.py"), rule: ZipCaseClash},

		// Names.
		"a name that leads out":              {zip: named("../a"), rule: ZipPathEscapes, says: "../a: "},
		"a name that leads out in between":   {zip: named("envs/../../a"), rule: ZipPathEscapes},
		"a name that leads out and back":     {zip: named("envs/../a"), rule: ZipPathEscapes},
		"a folder that leads out":            {zip: named("envs/../"), rule: ZipPathEscapes},
		"the folder above":                   {zip: named(".."), rule: ZipPathEscapes},
		"junk that leads out":                {zip: named("__MACOSX/../../._a"), rule: ZipPathEscapes},
		"an absolute name":                   {zip: named("/etc/passwd"), rule: ZipAbsolutePath},
		"a slash":                            {zip: named("/"), rule: ZipAbsolutePath},
		"a network name":                     {zip: named("//host/share"), rule: ZipAbsolutePath},
		"a drive":                            {zip: named(`C:\a`), rule: ZipNameUnusable, says: "backslash"},
		"a drive with a slash":               {zip: named("C:/a"), rule: ZipNameUnusable, says: "Windows reserves"},
		"a drive without a slash":            {zip: named("C:a"), rule: ZipNameUnusable},
		"a backslash":                        {zip: named(`envs\a.py`), rule: ZipNameUnusable, says: "backslash"},
		"backslashes that lead out":          {zip: named(`..\..\a`), rule: ZipNameUnusable},
		"a NUL":                              {zip: named("envs/a.py\x00.txt"), rule: ZipNameUnusable, says: `"envs/a.py\x00.txt": `},
		"a line break":                       {zip: named("envs/a\nb.py"), rule: ZipNameUnusable, says: `a\nb.py`},
		"an escape sequence":                 {zip: named("envs/\x1b[2Ja.py"), rule: ZipNameUnusable, says: `\x1b`},
		"a mark that turns the writing":      {zip: named("envs/a\u202eyp.exe"), rule: ZipNameUnusable, says: `\u202e`},
		"a line separator":                   {zip: named("envs/a\u2028b"), rule: ZipNameUnusable},
		"a paragraph separator":              {zip: named("envs/a\u2029b"), rule: ZipNameUnusable},
		"a name that is not UTF-8":           {zip: named("envs/caf\xe9.py"), rule: ZipNameNotUTF8, says: `caf\xe9.py`},
		"a name with half a surrogate":       {zip: named("envs/\xed\xa0\x80"), rule: ZipNameNotUTF8},
		"a name that is no name":             {zip: named(""), rule: ZipNameUnusable, says: "(empty name): "},
		"an empty component":                 {zip: named("envs//a"), rule: ZipNameUnusable, says: "empty component"},
		"a component that is a dot":          {zip: named("envs/./a"), rule: ZipNameUnusable},
		"two slashes at the end":             {zip: named("envs//"), rule: ZipNameUnusable},
		"a dot at the end":                   {zip: named("envs./a"), rule: ZipNameUnusable, says: "Windows drops"},
		"a space at the end":                 {zip: named("envs/a.py "), rule: ZipNameUnusable},
		"a question mark":                    {zip: named("envs/what?.py"), rule: ZipNameUnusable},
		"a device of Windows":                {zip: named("envs/nul.py"), rule: ZipNameUnusable, says: "device"},
		"a numbered device of Windows":       {zip: named("COM1"), rule: ZipNameUnusable},
		"an oddly numbered device":           {zip: named("lpt².txt"), rule: ZipNameUnusable},
		"a device with a space":              {zip: named("aux .txt"), rule: ZipNameUnusable},
		"a long name, shown in part":         {zip: named("x" + strings.Repeat("é", 200) + "\x01"), rule: ZipNameUnusable, says: "é…: "},
		"no manifest":                        {zip: rawZip(modelPart), rule: ManifestMissing, says: "put one at the top"},
		"a zip of nothing":                   {zip: rawZip(), rule: ManifestMissing},
		"a manifest two folders down":        {zip: rawZip(part{name: "a/b/submission.yaml", data: "team: a"}), rule: ManifestMissing, says: `there is "a/b/submission.yaml", which is too deep`},
		"the least deep of the deep":         {zip: rawZip(part{name: "a/b/c/submission.yaml"}, part{name: "x/y/submission.yaml"}), rule: ManifestMissing, says: `"x/y/submission.yaml"`},
		"a manifest named .yml":              {zip: rawZip(part{name: "a/submission.yml", data: "team: a"}), rule: ManifestMissing, says: `there is "a/submission.yml"; rename it`},
		"a manifest with a capital":          {zip: rawZip(part{name: "Submission.yaml", data: "team: a"}), rule: ManifestMissing, says: `there is "Submission.yaml"; rename it`},
		"a manifest that is a folder":        {zip: rawZip(part{name: "submission.yaml/"}), rule: ManifestMissing},
		"a manifest that is junk":            {zip: rawZip(part{name: "__MACOSX/submission.yaml", data: "team: a"}), rule: ManifestMissing},
		"two manifests one folder down":      {zip: rawZip(part{name: "b/submission.yaml"}, part{name: "a/submission.yaml"}), rule: ManifestAmbiguous, says: `"a/submission.yaml" and "b/submission.yaml"`},
		"no model":                           {zip: rawZip(manifestPart), rule: ModelMissing, says: "model/policy.zip: the model is missing; save the model there"},
		"a model in another place":           {zip: rawZip(manifestPart, part{name: "a.zip"}, part{name: "deep/er/policy.zip"}), rule: ModelMissing, says: `there is "deep/er/policy.zip"; move it there`},
		"a model of another name":            {zip: rawZip(manifestPart, part{name: "model/b.zip"}, part{name: "model/best.ZIP"}, part{name: "x/y/a.zip"}), rule: ModelMissing, says: `there is "model/b.zip"`},
		"a model beside the folder":          {zip: rawZip(part{name: "t/submission.yaml", data: "team: a"}, part{name: "model/policy.zip"}), rule: ModelMissing, says: `t/model/policy.zip: the model is missing; there is "model/policy.zip"`},
		"an entry point without its module":  {zip: stating("team: a\nenv_entry_point: envs.my_env:X\n", part{name: "envs/myenv.py"}, part{name: "envs/other.py"}), rule: ManifestEntryPoint, says: `submission.yaml:2:18: the zip contains "envs" but no module "envs.my_env"; the nearest file is "envs/myenv.py", which is written envs.myenv:X`},
		"an entry point to a bare package":   {zip: stating("team: a\nenv_entry_point: envs.my_env:X\n", part{name: "envs/my_env/env.py"}), rule: ManifestEntryPoint, says: "written envs.my_env.env:X"},
		"an entry point to a file of no .py": {zip: stating("team: a\npolicy_entry_point: policy.net.Net\n", part{name: "policy/net.txt"}), rule: ManifestEntryPoint, says: "add policy/net.py"},
		"an entry point within a module":     {zip: stating("team: a\npolicy_entry_point: policy.net.Net\n", part{name: "policy.py"}), rule: ManifestEntryPoint, says: "written policy:Net"},
	}
}

// overlapping is the trick of the overlapping bomb: the content of a goes on into the header and content of b.
func overlapping() []byte {
	b := rawZip(part{name: "b", data: "kernel"})
	inner := string(b[:headerLen+1+len("kernel")])
	both := rawZip(part{name: "a", data: inner}, part{name: "b", data: "kernel", sameAs: value(0)})
	// b's record is the last; let it point into the content of a.
	record := bytes.LastIndex(both, []byte(recordMagic))
	le.PutUint32(both[record+42:], headerLen+1)
	return both
}

// lastByteOf changes a byte of the last structure that begins with magic.
func lastByteOf(data []byte, magic string, at int, to byte) []byte {
	data = slices.Clone(data)
	data[bytes.LastIndex(data, []byte(magic))+at] = to
	return data
}

// negativeLength makes a zip64 end say that the list begins after its end, by sums that come out right if they wrap.
func negativeLength(big []byte) []byte {
	big = slices.Clone(big)
	stop := bytes.LastIndex(big, []byte(end64Magic))
	le.PutUint64(big[stop+40:], 1<<64-1)
	le.PutUint64(big[stop+48:], uint64(stop)+1)
	return big
}

func TestItRefuses(t *testing.T) {
	for name, c := range hostiles() {
		t.Run(name, func(t *testing.T) {
			limits := DefaultLimits()
			if c.limits != nil {
				c.limits(&limits)
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "team.zip")
			if err := os.WriteFile(path, c.zip, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, limits)
			var got *Refusal
			if !errors.As(err, &got) {
				if s != nil {
					_ = s.Close()
				}
				t.Fatalf("got error %v, want the rule %s", err, c.rule)
			}
			if got.Rule != c.rule {
				t.Errorf("got rule %s, want %s; error %v", got.Rule, c.rule, err)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("got error %q, want it to say %q", err, c.says)
			}
			if got.Path == "" || got.Hint == "" || !isLine(err.Error()) || len(err.Error()) > 1000 {
				t.Errorf("got %q with path %q and hint %q, want a short line with both", err, got.Path, got.Hint)
			}
			if found := treeOf(t, dir); !slices.Equal(found, []string{"team.zip"}) {
				t.Errorf("got files %v, want only the zip", found)
			}
		})
	}
}

func TestEveryRuleIsExplainedAndRefusedSomewhere(t *testing.T) {
	refused := make(map[Rule]bool)
	for _, c := range hostiles() {
		refused[c.rule] = true
	}
	for _, c := range badManifests {
		refused[c.rule] = true
	}
	seen := make(map[Rule]bool)
	for _, r := range Rules() {
		if seen[r] {
			t.Errorf("rule %s comes twice", r)
		}
		seen[r] = true
		if e := r.Explanation(); !strings.HasSuffix(e, ".") || strings.Contains(e, "\n") {
			t.Errorf("rule %s: got explanation %q, want a sentence", r, e)
		}
		if !refused[r] {
			t.Errorf("rule %s is never refused", r)
		}
	}
	for r := range refused {
		if !seen[r] {
			t.Errorf("rule %s is refused but not listed", r)
		}
	}
	if got := Rule("no-such-rule").Explanation(); got != "" {
		t.Errorf("got explanation %q of no rule", got)
	}
}

// treeOf lists what is below a folder, folders with a slash and links with their target.
func treeOf(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch rel = filepath.ToSlash(rel); {
		case d.IsDir():
			rel += "/"
		case !d.Type().IsRegular():
			rel += " " + d.Type().String()
		}
		found = append(found, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
