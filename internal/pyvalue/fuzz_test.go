package pyvalue

import (
	"path/filepath"
	"testing"

	"skyrail/internal/golden"
)

// fuzzed allows everything that there is to allow, and keeps walks short.
var fuzzed = Options{
	Globals: Globals{
		{"m", "C"}:                {New: []int{0, 1, 2}, Call: []int{0, 1}, Items: true, State: DictState | TupleState},
		{"m", "E"}:                {Enum: true},
		{"fractions", "Fraction"}: {Call: []int{1, 2}},
	},
	Persistent: true,
	MaxBytes:   1 << 16, MaxDepth: 32, MaxValues: 1 << 14,
}

// pickles are short, and together use every instruction that is read.
var pickles = []string{
	"\x80\x02}(X\x01\x00\x00\x00aK\x01X\x01\x00\x00\x00bM\x00\x01u.",
	"\x80\x03](NJ\xff\xff\xff\xff\x88\x89G?\xf0\x00\x00\x00\x00\x00\x00C\x01bB\x01\x00\x00\x00c)e.",
	"\x80\x03cm\nC\nq\x00)\x81q\x01h\x00K\x01\x85R}X\x01\x00\x00\x00ah\x01sb\x86.",
	"\x80\x04\x95\x0e\x00\x00\x00\x00\x00\x00\x00\x8c\x01m\x8c\x01E\x93\x94K\x02\x85R\x94.",
	"\x80\x04\x8c\x08builtins\x8c\x07getattr\x93\x8c\x01m\x8c\x01E\x93\x8c\x01X\x86R.",
	"\x80\x04\x8f(K\x01K\x02\x90(K\x01\x91\x86.",
	"\x80\x05\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01\x8b\x01\x00\x00\x00\xffK\x01\x87.",
	"\x80\x04\x8d\x01\x00\x00\x00\x00\x00\x00\x00a\x8e\x01\x00\x00\x00\x00\x00\x00\x00b\x86.",
	"\x80\x04(K\x01K\x02t(K\x01l(K\x01K\x02d(N1\x87.",
	"\x80\x04\x8c\x01m\x8c\x01C\x93)}\x92X\x01\x00\x00\x00aK\x01s)bK\x01Q\x86.",
	"\x80\x02]K\x01r\x00\x00\x00\x00j\x00\x00\x00\x000a.",
	"\x80\x03cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nX\x02\x00\x00\x00f8\x89\x88\x87R(K\x03X\x01\x00\x00\x00<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb" +
		"C\x08\x00\x00\x00\x00\x00\x00\xf0?\x86R.",
	"\x80\x03cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01K\x02K\x02\x86cnumpy\ndtype\nX\x02\x00\x00\x00u1\x89\x88\x87R" +
		"(K\x03X\x01\x00\x00\x00|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x88C\x041234tb.",
	"\x80\x02}q\x00X\x01\x00\x00\x00ah\x00s.",
	"\x80\x04cos\nsystem\nX\x02\x00\x00\x00ls\x85R.",
}

func FuzzDecodePickle(f *testing.F) {
	for _, p := range pickles {
		f.Add([]byte(p))
	}
	f.Add(golden.Read(f, filepath.Join(recorded, "generated/timetable.pkl.gz")))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := DecodePickle(data, fuzzed)
		if (v == nil) != (err != nil) {
			t.Fatalf("got %v and %v", v, err)
		}
		if err == nil && len(AppendJSON(nil, v)) > 16*fuzzed.MaxValues*40 {
			t.Error("got a value that is long to write")
		}
	})
}

// messages are short MessagePack, together with every format.
var messages = []string{
	"\x82\xa1a\x01\xc4\x01b\xff",
	"\x81\xa1a\x9c\xc0\xc2\xc3\xca\x3f\x80\x00\x00\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00\xcc\xff\xcd\xff\xff\xce\xff\xff\xff\xff\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xd0\x80\xd1\x80\x00\xd2\x80\x00\x00\x00",
	"\x81\xd9\x01a\xdc\x00\x02\xd3\x80\x00\x00\x00\x00\x00\x00\x00\xda\x00\x01a",
	"\xde\x00\x01\xdb\x00\x00\x00\x01a\xdd\x00\x00\x00\x01\xc5\x00\x01b",
	"\xdf\x00\x00\x00\x01\xc6\x00\x00\x00\x01b\x80",
	"\x81\xa1a\x85\xc4\x02nd\xc3\xc4\x04type\xa3<f8\xc4\x04kind\xc4\x00\xc4\x05shape\x91\x01\xc4\x04data\xc4\x08\x00\x00\x00\x00\x00\x00\xf0?",
	"\x81\xa1a\x83\xa2nd\xc2\xa4type\xa3|u1\xa4data\xa1x",
	"\x81\xa1a\xdd\xff\xff\xff\xff",
	"\x81\xa1a\xd4\x01\x00",
}

func FuzzDecodeMsgpack(f *testing.F) {
	for _, m := range messages {
		f.Add([]byte(m))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := DecodeMsgpack(data, fuzzed)
		if (v == nil) != (err != nil) {
			t.Fatalf("got %v and %v", v, err)
		}
		if err == nil {
			reencode(t, v, fuzzed)
		}
	})
}

// FuzzEncode reads a pickle, writes what it holds, and reads that.
func FuzzEncode(f *testing.F) {
	for _, p := range pickles {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, err := DecodePickle(data, fuzzed); err == nil {
			o := fuzzed
			o.MaxBytes = 0 // a value that is remembered has one instruction more
			reencode(t, v, o)
		}
	})
}

// TestFuzzSeeds keeps the fuzz targets from beginning with files that are all refused.
func TestFuzzSeeds(t *testing.T) {
	for name, c := range map[string]struct {
		seeds  []string
		decode func([]byte, Options) (Value, error)
		want   int
	}{
		"pickle":  {pickles, DecodePickle, 2},
		"msgpack": {messages, DecodeMsgpack, 2},
	} {
		got := 0
		for _, s := range c.seeds {
			v, err := c.decode([]byte(s), fuzzed)
			if err != nil {
				t.Logf("%s %q: %v", name, s, err)
				got++
				continue
			}
			reencode(t, v, fuzzed)
		}
		if got != c.want {
			t.Errorf("%s: got %d seeds refused, want %d", name, got, c.want)
		}
	}
}
