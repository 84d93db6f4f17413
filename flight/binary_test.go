package flight

import (
	"strings"
	"testing"

	"skyrail/numpyrand"
)

func TestBinaryGoesOnAsTheEnvironmentDoes(t *testing.T) {
	large := DefaultConfig()
	large.Flights, large.NHi = 9, 9
	for _, cfg := range []Config{DefaultConfig(), large} {
		stream := numpyrand.NewGenerator(5)
		e := mustNew(cfg)
		for seed := range 40 {
			e.Reset(uint64(seed))
			if seed%2 == 1 {
				e.ResetNext() // the stream keeps half a word
			}
			for range seed {
				if _, _, err := e.Step(stream.Choice(cfg.Actions())); err != nil {
					t.Fatal(err)
				}
			}
			data, err := e.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			read := mustNew(DefaultConfig())
			if err := read.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
			if !read.Equal(e) {
				t.Fatalf("seed %d: the environment read is not the one written", seed)
			}
			again, _ := read.AppendBinary([]byte("before"))
			if string(again) != "before"+string(data) {
				t.Fatalf("seed %d: written again it is different", seed)
			}
			read.ResetNext()
			clone := e.Clone()
			clone.ResetNext()
			if !read.Equal(clone) {
				t.Fatalf("seed %d: the streams part", seed)
			}
		}
	}
}

func TestBinaryRefusesWhatItDidNotWrite(t *testing.T) {
	e := mustNew(DefaultConfig())
	e.Reset(3)
	data, _ := e.MarshalBinary()
	before := e.Clone()
	word := func(i int, v byte) []byte { // the i-th word becomes small or, with 0xff, negative or NaN
		d := []byte(string(data))
		for k := range 8 {
			d[len(binaryHeader)+8*i+k] = 0
			if v == 0xff {
				d[len(binaryHeader)+8*i+k] = v
			}
		}
		d[len(binaryHeader)+8*i] = v
		return d
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":             {nil, "not the state of a flight environment"},
		"another version":     {append([]byte("flight\x00\x02"), data[8:]...), "of this version"},
		"its beginning alone": {data[:len(data)-1], "not its length"},
		"bytes after the end": {append([]byte(string(data)), 0), "not its length"},
		"no aircraft":         {word(0, 0), "n_flights"},
		"too many converging": {word(9, 6), "6 of 5 aircraft"},
		"a hotspot nowhere":   {word(12, 0xff), "hotspot"},
		"a negative step":     {word(14, 0xff), "step is -1"},
		"an aircraft nowhere": {word(18, 0xff), "aircraft 0"},
		"an even increment":   {word(18+5*15+2, 2), "inc is even"},
		"a half of what":      {word(18+5*15+5, 2), "waiting half"},
	} {
		err := e.UnmarshalBinary(c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want something about %q", name, err, c.want)
		}
		if !e.Equal(before) {
			t.Fatalf("%s: the environment has changed", name)
		}
	}
}

func FuzzUnmarshalBinary(f *testing.F) {
	e := mustNew(DefaultConfig())
	e.Reset(1)
	data, _ := e.MarshalBinary()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		e := mustNew(DefaultConfig())
		if e.UnmarshalBinary(data) != nil {
			return
		}
		for a := range e.Config().Actions() {
			if _, _, err := e.Step(a); err != nil {
				t.Fatal(err)
			}
			e.Observe(make([]float32, e.Config().ObservationLen()))
		}
		e.ResetNext()
	})
}
