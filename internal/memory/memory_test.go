package memory

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestWhatNoMachineHasDoesNotFit(t *testing.T) {
	for _, bytes := range []int64{1 << 50, math.MaxInt64} {
		var e *Error
		if err := Fits(bytes); !errors.As(err, &e) {
			t.Fatalf("%d bytes: %v, want an Error", bytes, err)
		}
		if e.Needed < bytes || e.Room >= e.Needed || e.Room < 0 {
			t.Errorf("%d bytes: %+v", bytes, *e)
		}
		if !strings.Contains(e.Error(), "GiB of memory, there are") {
			t.Errorf("%d bytes: %q", bytes, e)
		}
	}
}

func TestWhatIsSmallFits(t *testing.T) {
	for _, bytes := range []int64{0, 1, Small, Small + 1, 8 << 20} {
		if err := Fits(bytes); err != nil {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
}

type node struct {
	name  string
	next  *node
	table []int64
	any   any
	names map[int32]string
}

func TestSize(t *testing.T) {
	const itself, word = 16 + 8 + 24 + 16 + 8, 8
	shared := make([]int64, 3, 10)
	loop := &node{}
	loop.next = loop
	for _, c := range []struct {
		name   string
		values []any
		want   int64
	}{
		{"nothing", nil, 0},
		{"nil", []any{nil}, 0},
		{"a number", []any{int64(1)}, 8},
		{"a pointer to a struct", []any{&node{}}, word + itself},
		{"all that a slice has room for", []any{&node{table: shared}}, word + itself + 80},
		{"what is shared once", []any{&node{table: shared}, &node{table: shared}}, 2*(word+itself) + 80},
		{"a loop once", []any{loop}, word + itself},
		{"a string", []any{&node{name: "four"}}, word + itself + 4},
		{"a pointer in an interface", []any{&node{any: new(int64)}}, word + itself + 8},
		{"a value in an interface", []any{&node{any: [3]int64{}}}, word + itself + 24},
		{"a map", []any{&node{names: map[int32]string{1: "four", 2: "five!"}}}, word + itself + 2*2*(4+16) + 9},
	} {
		if got := Size(c.values...); got != c.want {
			t.Errorf("the size of %s: got %d, want %d", c.name, got, c.want)
		}
	}
}
