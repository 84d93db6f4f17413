package pyvalue

import (
	"fmt"
	"slices"
	"testing"
)

func TestPickleValues(t *testing.T) {
	for name, c := range map[string]struct{ instructions, want string }{
		"numbers":               {"(J\xff\xff\xff\xffM\xff\xffK\xff\x8a\x00\x8a\x01\x80\x8a\x02\x00\x80\x8b\x01\x00\x00\x00\x7ft.", `{"$tuple":[-1,65535,255,0,-128,-32768,127]}`},
		"large numbers":         {"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\xff\x87.", `{"$tuple":[9223372036854775807,9223372036854775808,-9223372036854775808]}`},
		"text and bytes":        {"X\x02\x00\x00\x00\xc3\xa4\x8c\x01\n\x8d\x01\x00\x00\x00\x00\x00\x00\x00\"\x87C\x01aB\x01\x00\x00\x00b\x8e\x01\x00\x00\x00\x00\x00\x00\x00c\x87\x86.", `{"$tuple":[{"$tuple":["\u00e4","\n","\""]},{"$tuple":[{"$bytes":"YQ=="},{"$bytes":"Yg=="},{"$bytes":"Yw=="}]}]}`},
		"lists":                 {"(NNl(K\x01K\x02eK\x03a.", `[null,null,1,2,3]`},
		"dicts":                 {"(X\x01\x00\x00\x00bNd(X\x01\x00\x00\x00aNuX\x01\x00\x00\x00cNs.", `{"b":null,"a":null,"c":null}`},
		"other keys":            {"}(K\x01NX\x01\x00\x00\x00aNu}X\x02\x00\x00\x00$aNs\x86.", `{"$tuple":[{"$dict":[[1,null],["a",null]]},{"$dict":[["$a",null]]}]}`},
		"sets":                  {"\x8f(K\x02K\x01\x90(K\x09K\x0a\x91\x86.", `{"$tuple":[{"$set":[1,2]},{"$frozenset":[10,9]}]}`},
		"nothing left of it":    {"(NNN1N0].", `[]`},
		"a call":                {"cfractions\nFraction\nK\x01K\x02\x86R.", `{"$obj":"fractions.Fraction","args":[1,2]}`},
		"a class":               {"cm\nC\n.", `{"$class":"m.C"}`},
		"no state, None as one": {"cm\nC\n)\x81cm\nC\n)}\x92)b\x86.", `{"$tuple":[{"$obj":"m.C","args":[]},{"$obj":"m.C","args":[],"state":{"$tuple":[]}}]}`},
		"a kind of dict":        {"cm\nC\n)RK\x01Ns.", `{"$obj":"m.C","args":[],"items":{"$dict":[[1,null]]}}`},
		"members":               {"cm\nE\nJ\xff\xff\xff\xff\x85Rcbuiltins\ngetattr\ncm\nE\nX\x01\x00\x00\x00A\x86R\x86.", `{"$tuple":[{"$obj":"m.E","args":[-1]},{"$obj":"builtins.getattr","args":[{"$class":"m.E"},"A"]}]}`},
		"an outside reference":  {"K\x01Q.", `{"$persistent":1}`},
		"Fortran's order":       {arrayOp + "(K\x01K\x02K\x03\x86" + dtypeOp + "\x88C\x06adbecftb.", `{"$ndarray":"|u1","shape":[2,3],"data":[97,98,99,100,101,102]}`},
		"C order":               {arrayOp + "(K\x01K\x02K\x03\x86" + dtypeOp + "\x89C\x06abcdeftb.", `{"$ndarray":"|u1","shape":[2,3],"data":[97,98,99,100,101,102]}`},
		"an array of no size":   {arrayOp + "(K\x01)" + dtypeOp + "\x88C\x01atb.", `{"$ndarray":"|u1","shape":[],"data":[97]}`},
		"NumPy 2's names":       {"cnumpy._core.multiarray\nscalar\n" + dtypeOp + "C\x01\x07\x86R.", `{"$np":"|u1","value":7}`},
	} {
		v, err := DecodePickle([]byte("\x80\x04"+c.instructions), fuzzed)
		if err != nil {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		} else if got := string(AppendJSON(nil, v)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestMsgpackValues(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"small numbers":   {"\x93\x00\x7f\xe0", `{"$tuple":[0,127,-32]}`},
		"without sign":    {"\x94\xcc\xff\xcd\xff\xff\xce\xff\xff\xff\xff\xcf\xff\xff\xff\xff\xff\xff\xff\xff", `{"$tuple":[255,65535,4294967295,18446744073709551615]}`},
		"with a sign":     {"\x94\xd0\x80\xd1\x80\x00\xd2\x80\x00\x00\x00\xd3\x80\x00\x00\x00\x00\x00\x00\x00", `{"$tuple":[-128,-32768,-2147483648,-9223372036854775808]}`},
		"floats":          {"\x92\xca\x3e\x00\x00\x00\xcb\xbf\xc0\x00\x00\x00\x00\x00\x00", `{"$tuple":[0.125,-0.125]}`},
		"nil and bools":   {"\x93\xc0\xc2\xc3", `{"$tuple":[null,false,true]}`},
		"text":            {"\x94\xa1a\xd9\x01b\xda\x00\x01c\xdb\x00\x00\x00\x01d", `{"$tuple":["a","b","c","d"]}`},
		"bytes":           {"\x93\xc4\x01a\xc5\x00\x01b\xc6\x00\x00\x00\x01c", `{"$tuple":[{"$bytes":"YQ=="},{"$bytes":"Yg=="},{"$bytes":"Yw=="}]}`},
		"arrays":          {"\x92\xdc\x00\x01\x01\xdd\x00\x00\x00\x01\x02", `{"$tuple":[{"$tuple":[1]},{"$tuple":[2]}]}`},
		"maps":            {"\x93\x81\x01\x02\xde\x00\x01\xa1a\x02\xdf\x00\x00\x00\x00", `{"$tuple":[{"$dict":[[1,2]]},{"a":2},{}]}`},
		"a NumPy array":   {"\x85\xc4\x02nd\xc3\xc4\x04type\xa3>i2\xc4\x04kind\xc4\x00\xc4\x05shape\x92\x01\x02\xc4\x04data\xc4\x04\x00\x01\xff\xff", `{"$ndarray":">i2","shape":[1,2],"data":[1,-1]}`},
		"an old array":    {"\x84\xa2nd\xc3\xa4type\xa3<u2\xa5shape\x91\x01\xa4data\xc4\x02\x01\x00", `{"$ndarray":"<u2","shape":[1],"data":[1]}`},
		"a NumPy scalar":  {"\x83\xc4\x02nd\xc2\xc4\x04type\xa3|b1\xc4\x04data\xc4\x01\x01", `{"$np":"|b1","value":true}`},
		"a NumPy float32": {"\x83\xc4\x02nd\xc2\xc4\x04type\xa3<f4\xc4\x04data\xc4\x04\x00\x00\x80\x7f", `{"$np":"<f4","value":{"$float":"inf"}}`},
	} {
		v, err := DecodeMsgpack([]byte(c.data), fuzzed)
		if err != nil {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		} else if got := string(AppendJSON(nil, v)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestSharedValuesStayOne reads two references to one list, before and after encoding.
func TestSharedValuesStayOne(t *testing.T) {
	v, err := DecodePickle([]byte("\x80\x04]\x94h\x00]\x87."), Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := EncodePickle(v)
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodePickle(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []Value{v, again} {
		items := v.(*Tuple).Items
		if items[0] != items[1] || items[0] == items[2] {
			t.Errorf("got lists %p, %p and %p, want the first two to be one and the third another", items[0], items[1], items[2])
		}
	}
}

func TestArrayAccess(t *testing.T) {
	a, err := NewArray("<i2", []int{2, 1}, "\x01\x00\xff\xff")
	if err != nil {
		t.Fatal(err)
	}
	if a.Type() != "<i2" || !slices.Equal(a.Shape(), []int{2, 1}) || a.Len() != 2 || a.At(0) != Int(1) || a.At(1) != Int(-1) {
		t.Errorf("got %s of shape %v with %d values %v, %v, want <i2 of shape [2 1] with 1 and -1", a.Type(), a.Shape(), a.Len(), a.At(0), a.At(1))
	}
	for name, err := range map[string]error{
		"a type of one letter": second(NewArray("<", nil, "")),
		"no order of two":      second(NewArray("|i2", nil, "aa")),
		"a negative size":      second(NewArray("|u1", []int{-1}, "a")),
		"33 dimensions":        second(NewArray("|u1", make([]int, 33), "")),
		"a short scalar":       second(NewScalar("<f8", "abc")),
	} {
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestDictByText(t *testing.T) {
	d := &Dict{[]Entry{{Int(1), None{}}, {Str("a"), Int(2)}}}
	d.Set("b", Int(3))
	d.Set("a", Int(4))
	if got, want := string(AppendJSON(nil, d)), `{"$dict":[[1,null],["a",4],["b",3]]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if v, ok := d.Get("b"); !ok || v != Int(3) {
		t.Errorf("got %v, %v, want 3", v, ok)
	}
	if v, ok := d.Get("1"); ok {
		t.Errorf("got %v under a text, want none", v)
	}
}

func Example() {
	env := &Dict{}
	env.Set("elapsed_steps", Int(3))
	env.Set("speed", &Object{Class: Class{"fractions", "Fraction"}, Called: true, Args: []Value{Int(1), Int(2)}})
	data, err := EncodePickle(env)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = Decode(data, Options{})
	fmt.Println(err)
	v, _ := Decode(data, Options{Globals: Globals{{"fractions", "Fraction"}: {Call: []int{1, 2}}}})
	fmt.Println(string(AppendJSON(nil, v)))
	// Output:
	// pickle: opcode STACK_GLOBAL at byte 53: it names "fractions.Fraction", which is not one of the names that are accepted
	// {"elapsed_steps":3,"speed":{"$obj":"fractions.Fraction","args":[1,2]}}
}
