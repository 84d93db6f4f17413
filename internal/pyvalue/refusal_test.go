package pyvalue

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
)

const (
	dtypeOp  = "cnumpy\ndtype\nX\x02\x00\x00\x00u1\x89\x88\x87R(K\x03X\x01\x00\x00\x00|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
	scalarOp = "cnumpy.core.multiarray\nscalar\n"
	arrayOp  = "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"
)

func TestPickleFaults(t *testing.T) {
	for name, c := range map[string]struct{ instructions, want string }{
		"nothing":                      {"", "file ends too early"},
		"no end":                       {"N", "file ends too early"},
		"an end of nothing":            {".", "opcode STOP at byte 2: it leaves 0 values"},
		"two values":                   {"NN.", "it leaves 2 values"},
		"an open mark":                 {"N(.", "1 marks"},
		"bytes after the end":          {"N.N", "and 1 bytes"},
		"a second protocol":            {"\x80\x04N.", "opcode PROTO at byte 2: the protocol is stated at the beginning"},
		"EXT1":                         {"\x82\x01.", "opcode EXT1 at byte 2: it is not accepted"},
		"EXT2":                         {"\x83\x01\x00.", "opcode EXT2 at byte 2"},
		"EXT4":                         {"N0\x84\x01\x00\x00\x00.", "opcode EXT4 at byte 4"},
		"INST":                         {"(ios\nsystem\n.", "opcode INST at byte 3"},
		"OBJ":                          {"(cm\nC\no.", "opcode OBJ at byte 8"},
		"PERSID":                       {"P1\n.", "opcode PERSID at byte 2"},
		"BINPERSID":                    {"NQ.", "opcode BINPERSID at byte 3: it is not accepted"},
		"INT":                          {"I1\n.", "opcode INT at"},
		"STRING":                       {"S'a'\n.", "opcode STRING at"},
		"BYTEARRAY8":                   {"\x96\x00\x00\x00\x00\x00\x00\x00\x00.", "opcode BYTEARRAY8 at"},
		"NEXT_BUFFER":                  {"\x97.", "opcode NEXT_BUFFER at"},
		"DUP":                          {"N2.", "opcode DUP at"},
		"no instruction":               {"\xff.", "opcode 0xff at byte 2"},
		"os.system":                    {"cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", `opcode GLOBAL at byte 2: it names "os.system"`},
		"os.system by its parts":       {"\x8c\x02os\x8c\x06system\x93.", `opcode STACK_GLOBAL at byte 14: it names "os.system"`},
		"a name of numbers":            {"K\x01K\x02\x93.", "a name is not a text"},
		"half a name":                  {"cm\nC", "file ends too early"},
		"a dotted name":                {"cm\nE.__class__\n.", `it names "m.E.__class__"`},
		"getattr of a class":           {"cbuiltins\ngetattr\ncm\nC\nX\x08\x00\x00\x00__init__\x86R.", "getattr is accepted only for members"},
		"getattr of a value":           {"cbuiltins\ngetattr\nNX\x01\x00\x00\x00a\x86R.", "getattr is accepted only for members"},
		"getattr of getattr":           {"cbuiltins\ngetattr\ncbuiltins\ngetattr\nX\x01\x00\x00\x00a\x86R.", "getattr is accepted only for members"},
		"getattr itself":               {"cbuiltins\ngetattr\n.", "is no value by itself"},
		"a call of a number":           {"K\x01)R.", "something that is not to be called"},
		"a call of an object":          {"cm\nC\n)\x81)R.", "something that is not to be called"},
		"a call without a tuple":       {"cm\nC\n]R.", "a call has no arguments"},
		"a call with many arguments":   {"cm\nC\n(NNNtR.", `a call of "m.C" with 3 arguments is not accepted`},
		"an enum by a text":            {"cm\nE\nX\x01\x00\x00\x00a\x85R.", `a call of "m.E" with 1 arguments`},
		"a new enum":                   {"cm\nE\n)\x81.", `a "m.E" is not made with 0 arguments`},
		"a new function":               {"cbuiltins\ngetattr\n)\x81.", "no class and arguments"},
		"an object of many arguments":  {"cm\nC\n(NNNt\x81.", `a "m.C" is not made with 3 arguments`},
		"named arguments":              {"cm\nC\n)}X\x01\x00\x00\x00aNs\x92.", "named arguments are not accepted"},
		"a state of a number":          {"K\x01}b.", "no object to give a state"},
		"a state of a class":           {"cm\nC\n}b.", "no object to give a state"},
		"a state that is a list":       {"cm\nC\n)\x81]b.", `a state of this kind is not accepted for "m.C"`},
		"a state of a stateless class": {"cfractions\nFraction\nK\x01\x85R}b.", `not accepted for "fractions.Fraction"`},
		"two states":                   {"cm\nC\n)\x81}b}b.", "is given a state twice"},
		"entries of a plain object":    {"cfractions\nFraction\nK\x01\x85RK\x01K\x02s.", "no dict to add to"},
		"entries of a list":            {"]K\x01K\x02s.", "no dict to add to"},
		"a key without a value":        {"}(K\x01u.", "a key has no value"},
		"a key twice":                  {"}(X\x01\x00\x00\x00aNX\x01\x00\x00\x00aNu.", `a key is there twice: "a"`},
		"a key twice, as Python sees":  {"}(K\x01N\x88Nu.", "a key is there twice"},
		"one and 1.0":                  {"}(K\x01NG\x3f\xf0\x00\x00\x00\x00\x00\x00Nu.", "a key is there twice"},
		"an item of a set twice":       {"\x8f(K\x01K\x01\x90.", "an item of a set is there twice"},
		"a list as a key":              {"}]Ns.", "a key is a list, dict, set or array"},
		"a list in a tuple as a key":   {"}]\x85Ns.", "a key is a list, dict, set or array"},
		"an object with state as key":  {"}cm\nC\n)\x81}bNs.", "with a state"},
		"an item of a tuple":           {")Na.", "no list or set to add to"},
		"an item of a frozenset":       {"(\x91(N\x90.", "no list or set to add to"},
		"items without a mark":         {"]e.", "a mark is missing"},
		"an item across a mark":        {"](Na.", "a value is missing"},
		"a text that is not UTF-8":     {"X\x01\x00\x00\x00\xff.", "not UTF-8"},
		"a text of 4 GB":               {"X\xff\xff\xff\xffa.", "opcode BINUNICODE at byte 2: the file ends too early"},
		"a text of 2^63":               {"\x8d\xff\xff\xff\xff\xff\xff\xff\xffa.", "ends too early"},
		"bytes of 2^63":                {"\x8e\xff\xff\xff\xff\xff\xff\xff\x7fa.", "ends too early"},
		"a frame of 2^63":              {"\x95\xff\xff\xff\xff\xff\xff\xff\x7fN.", "opcode FRAME at byte 2: the file ends too early"},
		"a number of 4 GB":             {"\x8b\xff\xff\xff\xff\x00.", "ends too early"},
		"a number of 1025 bytes":       {"\x8b\x01\x04\x00\x00" + strings.Repeat("a", 1025) + ".", "more than the 1024"},
		"a memory with a hole":         {"Nq\x01.", "value 0 is remembered as number 1"},
		"a memory of four billion":     {"Nr\xff\xff\xff\xff.", "value 0 is remembered as number"},
		"a memory that is not there":   {"h\x00.", "value 0 was never remembered"},
		"a memory of nothing":          {"\x94.", "a value is missing"},
		"a list in itself":             {"]q\x00h\x00a.", "or contain themselves"},
		"a dict in itself":             {"}q\x00NNs(Nh\x00u.", "or contain themselves"},
		"a tuple in itself":            {"]q\x00h\x00\x85q\x01a.", "or contain themselves"},
		"an object in its state":       {"cm\nC\n)\x81q\x00}K\x01h\x00sb.", "or contain themselves"},
		"NumPy: half a type":           {scalarOp + "cnumpy\ndtype\nX\x02\x00\x00\x00i4\x89\x88\x87RC\x041234\x86R.", "has no byte order"},
		"NumPy: a type of objects":     {"cnumpy\ndtype\nX\x02\x00\x00\x00O8\x89\x88\x87R.", `the NumPy type "O8"`},
		"NumPy: a type of records":     {"cnumpy\ndtype\nX\x02\x00\x00\x00V8\x89\x88\x87R.", `the NumPy type "V8"`},
		"NumPy: a type alone":          {dtypeOp + ".", "is no value by itself"},
		"NumPy: a type with fields":    {"cnumpy\ndtype\nX\x02\x00\x00\x00u1\x89\x88\x87R(K\x03X\x01\x00\x00\x00|N}NJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb.", "not a plain one"},
		"NumPy: a long scalar":         {scalarOp + dtypeOp + "C\x0212\x86R.", "a NumPy scalar |u1 of 2 bytes"},
		"NumPy: a scalar of a text":    {scalarOp + dtypeOp + "X\x01\x00\x00\x001\x86R.", "is not made of bytes"},
		"NumPy: an array to come":      {arrayOp + ".", "a value is missing"},
		"NumPy: an array of too much":  {arrayOp + "(K\x01J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86" + dtypeOp + "\x89C\x01atb.", "of shape [2147483647 2147483647] with 1 bytes"},
		"NumPy: a size below nothing":  {arrayOp + "(K\x01J\xff\xff\xff\xff\x85" + dtypeOp + "\x89C\x01atb.", "below 2^31"},
		"NumPy: no values, but many":   {arrayOp + "(K\x01J\xff\xff\xff\x7fK\x00\x86" + dtypeOp + "\x89C\x00tb.", "without values"},
		"NumPy: an array filled twice": {arrayOp + "(K\x01K\x01\x85" + dtypeOp + "\x89C\x01atbNb.", "is not filled once"},
		"NumPy: an array of objects":   {arrayOp + "(K\x01K\x01\x85" + dtypeOp + "\x89]tb.", "is not made of bytes"},
	} {
		o := fuzzed
		o.Persistent = false
		_, err := DecodePickle([]byte("\x80\x04"+c.instructions), o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestMsgpackFaults(t *testing.T) {
	numpy := func(fields string) string { return "\x81\xa1a" + fields }
	for name, c := range map[string]struct{ data, want string }{
		"half a map":               {"\x82\xa1a", "states more values than the file can hold"},
		"a map of 4 billion":       {"\xdf\xff\xff\xff\xff", "format 0xdf at byte 0: it states more values"},
		"an array of 4 billion":    {"\x81\xa1a\xdd\xff\xff\xff\xff", "format 0xdd at byte 3: it states more values"},
		"more than all can hold":   {"\x81\xa1a\x93\x93\x93\xc0\xc0\xc0\xc0", "format 0x93 at byte 5: it states more values"},
		"a text of 4 GB":           {"\x81\xa1a\xdb\xff\xff\xff\xff", "ends too early"},
		"bytes of 4 GB":            {"\x81\xa1a\xc6\xff\xff\xff\xff", "ends too early"},
		"a text that is not UTF-8": {"\x81\xa1a\xa1\xff", "format 0xa1 at byte 3: a text is not UTF-8"},
		"an extension":             {"\x81\xa1a\xd6\xff\x00\x00\x00\x00", "format 0xd6 at byte 3: it is not accepted"},
		"no format":                {"\x81\xa1a\xc1", "format 0xc1"},
		"bytes after the end":      {"\x81\xa1a\xc0\xc0", "1 bytes come after its end"},
		"a key twice":              {"\x82\xa1a\xc0\xa1a\xc0", `a key is there twice: "a"`},
		"a map as a key":           {"\x81\x80\xc0", "a key is a list, dict, set or array"},
		"depth":                    {"\x81\xa1a" + strings.Repeat("\x91", 40) + "\xc0", "values nest deeper than 32"},
		"NumPy: objects":           {numpy("\x85\xc4\x02nd\xc3\xc4\x04type\xa3|O8\xc4\x04kind\xc4\x01O\xc4\x05shape\x91\x01\xc4\x04data\xc4\x01."), "objects or records"},
		"NumPy: an object type":    {numpy("\x83\xc4\x02nd\xc2\xc4\x04type\xa2|O\xc4\x04data\xc4\x01."), `the NumPy type "O"`},
		"NumPy: no type":           {numpy("\x82\xc4\x02nd\xc2\xc4\x04data\xc4\x01."), "does not have the fields"},
		"NumPy: a field too many":  {numpy("\x84\xc4\x02nd\xc2\xc4\x04type\xa3|u1\xc4\x04data\xc4\x01.\xa1x\xc0"), "does not have the fields"},
		"NumPy: no shape":          {numpy("\x84\xc4\x02nd\xc3\xc4\x04type\xa3|u1\xc4\x04data\xc4\x01.\xa1x\xc0"), "the shape of a NumPy array"},
		"NumPy: a wrong shape":     {numpy("\x84\xc4\x02nd\xc3\xc4\x04type\xa3|u1\xc4\x05shape\x91\x02\xc4\x04data\xc4\x01."), "of shape [2] with 1 bytes"},
	} {
		_, err := DecodeMsgpack([]byte(c.data), fuzzed)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestBombs feeds files that try to become much more than they are.
func TestBombs(t *testing.T) {
	const size = 1 << 20
	fill := func(head, body, tail string) string {
		return head + strings.Repeat(body, (size-len(head)-len(tail))/len(body)) + tail
	}
	wide := "\x80\x04(" + strings.Repeat("N", size/2) + "t\x940"
	memory := []byte("\x80\x04N")
	for i := range uint32(size / 5) {
		memory = binary.LittleEndian.AppendUint32(append(memory, byte(opLongBinPut)), i)
	}
	bytes := "\x80\x04B\x00\x00\x08\x00" + strings.Repeat("a", size/2) + "\x940" + dtypeOp + "\x940("
	shape := "J\x00\x00\x08\x00\x85"
	for name, data := range map[string]string{
		"marks":                    fill("\x80\x04", "(", ""),
		"empty dicts":              fill("\x80\x04(", "}", "t."),
		"numbers":                  fill("\x80\x04(", "M\xff\xff", "t."),
		"nested tuples":            fill("\x80\x04)", "\x85", "."),
		"nested lists":             fill("\x80\x04", "]", strings.Repeat("a", 1000)+"."),
		"a wide tuple, many times": fill(wide+"(", "h\x00", "t."),
		"doublings":                "\x80\x04)" + doublings(60) + ".",
		"memory":                   string(memory),
		"memoise":                  fill("\x80\x04N", "\x94", "."),
		"a long name":              fill("\x80\x04c", "a", "\nb\n."),
		"a text, many times":       fill("\x80\x04X\x00\x00\x08\x00"+strings.Repeat("a", size/2)+"\x940(", "h\x00", "t."),
		"arrays of the same bytes": fill(bytes, arrayOp+"(K\x01"+shape+"h\x01\x89h\x00tb", "t."),
		"arrays turned around":     fill(bytes, arrayOp+"(K\x01"+shape+"h\x01\x88h\x00tb", "t."),
		"msgpack: maps":            fill("\x81\xa1a\xdd\x00\x0f\xff\xf8", "\x80", ""),
		"msgpack: claims":          fill("\x81\xa1a", "\xdd\x00\x01\x00\x00", ""),
		"msgpack: nested":          fill("\x81\xa1a", "\x91", "\xc0"),
		"msgpack: an array":        fill("\x81\xa1a\xdd\x00\x0f\xff\xf8", "\xc0", ""),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := Decode([]byte(data), Options{Globals: fuzzed.Globals})
		runtime.ReadMemStats(&after)
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("%s: got an error of %d bytes, want a short one", name, len(err.Error()))
		}
		// A byte may become a value of 16 bytes on a stack that doubles, and the object it stands for.
		if got := after.TotalAlloc - before.TotalAlloc; got > 200*size {
			t.Errorf("%s: got %d bytes allocated for %d, want at most 200 times", name, got, len(data))
		}
		if written := AppendJSON(nil, v); len(written) > 1<<28 {
			t.Errorf("%s: got %d bytes of JSON", name, len(written))
		}
		t.Logf("%s: %d times, %.120v", name, (after.TotalAlloc-before.TotalAlloc)/uint64(len(data)), err)
	}
}

// doublings makes tuples of twice the last one.
func doublings(n int) string {
	var b strings.Builder
	for i := range n {
		b.Write([]byte{byte(opMemoize), byte(opBinGet), byte(i), byte(opTuple2)})
	}
	return b.String()
}

func TestLimits(t *testing.T) {
	lists := func(depth int) []byte {
		return []byte("\x80\x04" + strings.Repeat("]", depth) + strings.Repeat("a", depth-1) + ".")
	}
	for name, c := range map[string]struct {
		data    []byte
		options Options
		want    string // "" if it is read
	}{
		"depth as allowed":          {lists(4), Options{MaxDepth: 3}, ""},
		"depth beyond":              {lists(5), Options{MaxDepth: 3}, "deeper than 3"},
		"the usual depth":           {lists(66), Options{}, "deeper than 64"},
		"values as allowed":         {[]byte("\x80\x04NN\x86."), Options{MaxValues: 3}, ""},
		"values beyond":             {[]byte("\x80\x04NN\x86."), Options{MaxValues: 2}, "more than the 2 values"},
		"one value twice":           {[]byte("\x80\x04)\x94h\x00h\x00\x87."), Options{MaxValues: 3}, "more than the 3 values"},
		"msgpack values as usual":   {[]byte("\x81\xa1a\xc0"), Options{MaxValues: 3}, ""},
		"msgpack values beyond":     {[]byte("\x81\xa1a\xc0"), Options{MaxValues: 1}, "more than the 1 values"},
		"bytes as allowed":          {[]byte("\x80\x04N."), Options{MaxBytes: 4}, ""},
		"bytes beyond":              {[]byte("\x80\x04N."), Options{MaxBytes: 3}, "4 bytes, more than the 3"},
		"text":                      {[]byte("hello"), Options{}, "neither a pickle"},
		"nothing":                   {nil, Options{}, "neither a pickle"},
		"a pickle of protocol 1":    {[]byte("\x80\x01N."), Options{}, "bytes come after its end"}, // MessagePack's empty map
		"a pickle of protocol 6":    {[]byte("\x80\x06N."), Options{}, "bytes come after its end"},
		"a pickle without a prolog": {[]byte("N."), Options{}, "neither a pickle"},
	} {
		_, err := Decode(c.data, c.options)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	cycle := &List{}
	cycle.Items = []Value{cycle}
	for want, v := range map[string]Value{
		"contain themselves":   cycle,
		"a value is missing":   &Tuple{[]Value{nil}},
		"not UTF-8":            Str("\xff"),
		"a key is there twice": &Dict{[]Entry{{Int(1), None{}}, {Bool(true), None{}}}},
		"cannot be one":        &Set{Items: []Value{&List{}}},
	} {
		if _, err := EncodePickle(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
