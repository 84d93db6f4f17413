package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// pickled joins instructions; TestUnpickleFaults shows the shortest that are at fault.
func pickled(parts ...string) []byte { return []byte("\x80\x02" + strings.Join(parts, "")) }

const (
	dictOp    = "ccollections\nOrderedDict\n)R"
	rebuildOp = "ctorch._utils\n_rebuild_tensor_v2\n"
	// ("storage", FloatStorage, "0", "cpu", 6)
	storageOp = "(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQ"
	tensorOp  = rebuildOp + "(" + storageOp + "K\x00K\x02K\x03\x86K\x03K\x01\x86\x89)tR"
	aOp       = "X\x01\x00\x00\x00a"
)

func TestUnpickleReadsTensors(t *testing.T) {
	got, err := unpickle(pickled(dictOp, aOp, tensorOp, "s."))
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v, want one tensor", got, err)
	}
	want := storedTensor{storage{floatStorage, "0", 6}, 0, []int{2, 3}, []int{3, 1}}
	if g := got[0]; g.name != "a" || g.storage != want.storage || g.offset != 0 || !slices.Equal(g.shape, want.shape) || !slices.Equal(g.strides, want.strides) {
		t.Errorf("got %s %+v, want a %+v", g.name, g.storedTensor, want)
	}
}

func TestUnpickleFaults(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":                       {nil, "ends too early"},
		"no end":                      {pickled("}"), "ends too early"},
		"nothing at the end":          {pickled("."), "it must leave one value"},
		"a number at the end":         {pickled("K\x01."), "not hold one dictionary"},
		"something behind the end":    {pickled("}.", "."), "it must leave one value"},
		"a number as a tensor":        {pickled("}", aOp, "K\x01s."), `"a" is not a tensor`},
		"another protocol":            {[]byte("\x80\x04}."), "pickle protocol 4"},
		"an unused instruction":       {pickled("\xff"), "opcode 0xff at byte 2"},
		"text of protocol 0":          {pickled("Va\n."), "opcode UNICODE at byte 2"},
		"a long number":               {pickled("\x8a\x00."), "not hold one dictionary"},
		"a frame":                     {pickled("\x95\xff\xff\xff\xff\xff\xff\xff\x7f"), "ends too early"},
		"bytes of any length":         {pickled("\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"), "ends too early"},
		"text longer than the file":   {pickled("X\xff\xff\xff\xffabc"), "ends too early"},
		"text that is not UTF-8":      {pickled("X\x01\x00\x00\x00\xff."), "not UTF-8"},
		"os.system":                   {pickled("cos\nsystem\n", aOp, "\x85R."), `it names "os.system"`},
		"an import by getattr":        {pickled("cbuiltins\ngetattr\nctorch\nFloatStorage\n", aOp, "\x86R."), "getattr is accepted only for members of known enums"},
		"a class with a space":        {pickled("ctorch\nFloatStorage x\n."), "it names"},
		"half a class":                {pickled("ctorch\nFloatStorage"), "ends too early"},
		"a call of a storage":         {pickled("ctorch\nFloatStorage\n)R."), `a call of "torch.FloatStorage" with 0 arguments is not accepted`},
		"a call without arguments":    {pickled("ccollections\nOrderedDict\nK\x01R."), "a call has no arguments"},
		"a dictionary of something":   {pickled("ccollections\nOrderedDict\n", aOp, "\x85R."), `a call of "collections.OrderedDict" with 1 arguments`},
		"a tensor of nothing":         {pickled(rebuildOp, ")R."), `a call of "torch._utils._rebuild_tensor_v2" with 0 arguments`},
		"a tensor of numbers":         {pickled("}", aOp, rebuildOp, "(K\x00K\x00))K\x00)tRs."), "a tensor has no storage"},
		"a tensor of negative size":   {pickled("}", aOp, rebuildOp, "(", storageOp, "K\x00J\xff\xff\xff\xff\x85K\x01\x85\x89)tRs."), "arguments of the wrong kind"},
		"a tensor of nine dimensions": {pickled("}", aOp, rebuildOp, "(", storageOp, "K\x00(", strings.Repeat("K\x01", 9), "tq\x00h\x00\x89)tRs."), "arguments of the wrong kind"},
		"fewer strides than sizes":    {pickled("}", aOp, rebuildOp, "(", storageOp, "K\x00K\x06K\x01\x86K\x01\x85\x89)tRs."), "arguments of the wrong kind"},
		"a reference to a file":       {pickled("}", aOp, rebuildOp, "(", aOp, "QK\x00)))K\x00tRs."), "a reference is not to a storage"},
		"a storage of a function":     {pickled("}", aOp, rebuildOp, "((X\x07\x00\x00\x00storage", rebuildOp, aOp, aOp, "K\x06tQK\x00)))K\x00tRs."), "malformed"},
		"a storage below nothing":     {pickled("}", aOp, rebuildOp, "((X\x07\x00\x00\x00storagectorch\nFloatStorage\n", aOp, aOp, "J\xff\xff\xff\xfftQK\x00)))K\x00tRs."), "malformed"},
		"a key without a value":       {pickled("}(", aOp, "u."), "a key has no value"},
		"a key that is a number":      {pickled("}K\x01K\x01s."), "a key is not a text"},
		"items of a number":           {pickled("K\x01", aOp, "K\x01s."), "there is no dict to add to"},
		"items without a mark":        {pickled("}u."), "a mark is missing"},
		"a tuple without a mark":      {pickled("t."), "a mark is missing"},
		"a tuple across a mark":       {pickled("K\x01(\x85."), "a value is missing"},
		"attributes of a number":      {pickled("K\x01}b."), "no object to give a state"},
		"a memory with a hole":        {pickled("}q\x01."), "value 0 is remembered as number 1"},
		"a memory of four billion":    {pickled("}r\xff\xff\xff\xff."), "is remembered as number 4294967295"},
		"nothing to remember":         {pickled("q\x00."), "a value is missing"},
		"a memory that is not there":  {pickled("h\x00."), "value 0 was never remembered"},
		"a far memory":                {pickled("j\xff\xff\xff\xff."), "was never remembered"},
		"a number cut off":            {pickled("J\x01\x02"), "ends too early"},
	} {
		_, err := unpickle(c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestUnpickleBombs feeds pickles of the largest length that try to become much more.
func TestUnpickleBombs(t *testing.T) {
	fill := func(head, body, tail string) []byte {
		return []byte(head + strings.Repeat(body, (maxPickle-len(head)-len(tail))/len(body)) + tail)
	}
	wide := "\x80\x02(" + strings.Repeat("N", maxPickle/2) + "tq\x00"
	memory := []byte("\x80\x02}")
	for i := range uint32(maxPickle/5 - 1) {
		memory = binary.LittleEndian.AppendUint32(append(memory, 'r'), i)
	}
	for name, data := range map[string][]byte{
		"marks":                    fill("\x80\x02", "(", ""),
		"empty dictionaries":       fill("\x80\x02", "}", "."),
		"nested tuples":            fill("\x80\x02)", "\x85", "."),
		"a dictionary in itself":   fill("\x80\x02}q\x00", aOp+"h\x00s", "."),
		"a wide tuple, many times": fill(wide, "h\x00", "."),
		"tuples of doubles":        fill("\x80\x02)q\x00", "h\x00h\x00\x86", "."),
		"memory":                   memory,
		"wide tensors":             fill(wide+rebuildOp+"q\x01"+storageOp+"q\x02", "h\x01(h\x02K\x00h\x00h\x00\x89)tR", "."),
		"a long name":              fill("\x80\x02c", "a", "\nb\n."),
		"tensors":                  fill("\x80\x02"+tensorOp+"q\x00", "h\x00", "."),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := unpickle(data)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: got no error", name)
		} else if len(err.Error()) > 500 {
			t.Errorf("%s: got an error of %d bytes, want a short one", name, len(err.Error()))
		}
		// A byte may become a value of 16 bytes on a stack that doubles, and the object it stands for.
		if got := after.TotalAlloc - before.TotalAlloc; got > 200*maxPickle {
			t.Errorf("%s: got %d bytes allocated for %d, want at most 200 times", name, got, len(data))
		}
	}
}

func TestArchiveBombs(t *testing.T) {
	many := map[string][]byte{}
	for i := range 20_000 {
		many[strings.Repeat("n", 40)+string(binary.BigEndian.AppendUint32(nil, uint32(i)))] = []byte{}
	}
	zeros := forge(t, "ppo-relu")
	zeros.files[dataFile], zeros.data = bytes.Repeat([]byte{' '}, maxData+1), nil
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a directory of 20 000 files": {pack(t, many), "its directory of files is too long"},
		"33 MB of blanks":             {pack(t, zeros.files), "more than the 33554432 bytes"},
	} {
		_, err := read(c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := Read(bytes.NewReader(nil), maxArchive+1); err == nil || !strings.Contains(err.Error(), "more than the") {
		t.Errorf("an endless file: got %v, want that it is too long", err)
	}
}

func TestAmbiguousArchives(t *testing.T) {
	var twice bytes.Buffer
	z := zip.NewWriter(&twice)
	for range 2 {
		if _, err := z.Create(dataFile); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	two := forge(t, "ppo-relu")
	two.torch, two.files[weightsFile] = nil, pack(t, map[string][]byte{"a/data.pkl": pickled("}."), "b/data.pkl": pickled("}.")})
	for want, data := range map[string][]byte{
		`it holds "data" twice`:         twice.Bytes(),
		"it has more than one data.pkl": two.pack(),
	} {
		_, err := read(data)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestTensorLimits(t *testing.T) {
	tensor := func(name string, sizes string, n string) string {
		return "X\x01\x00\x00\x00" + name + rebuildOp + "((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x00" + name +
			"X\x03\x00\x00\x00cpu" + n + "tQK\x00" + sizes + "\x89)tRs"
	}
	one := "K\x01\x85K\x01\x85"
	twin := strings.Replace(tensor("0", one, "K\x01"), "0", "b", 1) // tensor "b" in storage "0"
	huge := "J\x00\x00\x00\x40"
	var crowd strings.Builder
	for i := range maxTensors + 1 {
		crowd.WriteString("X\x02\x00\x00\x00" + string(rune(0x80+i%0x700)) + strings.TrimPrefix(tensor("0", one, "K\x01"), "X\x01\x00\x00\x000"))
	}
	for name, c := range map[string]struct {
		pickle string
		want   string
	}{
		"a tensor of 2^60 values":  {tensor("0", huge+huge+"\x86"+huge+"K\x01\x86", huge), "more than 16777216 values in all"},
		"a size of nothing":        {tensor("0", "K\x00"+huge+"\x86"+huge+"K\x01\x86", "K\x00"), "more than the 0 bytes"},
		"two tensors of one name":  {tensor("0", one, "K\x01") + tensor("0", one, "K\x01"), `a key is there twice: "0"`},
		"a tensor too many":        {crowd.String(), "1025 tensors, more than the 1024"},
		"a view into a storage":    {tensor("0", one, "K\x02"), "is not stored by itself"},
		"a storage of two tensors": {tensor("0", one, "K\x01") + twin, `tensor "b" of shape [1] is not stored by itself`},
		"a transposed tensor":      {tensor("0", "K\x02K\x03\x86K\x01K\x02\x86", "K\x06"), "is not stored by itself"},
	} {
		f := forge(t, "ppo-relu")
		f.torch["data.pkl"], f.torch["data/0"] = pickled("}", c.pickle, "."), make([]byte, 4)
		_, err := read(f.pack())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
