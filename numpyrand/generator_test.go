package numpyrand

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
)

func TestCopyContinuesTheSame(t *testing.T) {
	a := NewGenerator(7)
	a.Integers(0, 10) // so that a half word is waiting
	b := a
	if a != b {
		t.Fatalf("copy: got %+v, want %+v", b, a)
	}
	var fromA, fromB []uint64
	for range 100 {
		fromA = append(fromA, uint64(a.Uint32()), a.Uint64(), math.Float64bits(a.Random()))
	}
	for range 100 {
		fromB = append(fromB, uint64(b.Uint32()), b.Uint64(), math.Float64bits(b.Random()))
	}
	if !slices.Equal(fromA, fromB) {
		t.Errorf("draws from the copy: got %v, want %v", fromB, fromA)
	}
	if a != b {
		t.Errorf("copy after the same draws: got %+v, want %+v", b, a)
	}
}

func TestEquality(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(g *Generator)
		equal  bool
	}{
		{"sees another seed", func(g *Generator) { *g = NewGenerator(8) }, false},
		{"sees an output taken", func(g *Generator) { g.Uint64() }, false},
		{"sees a waiting half", func(g *Generator) { g.half, g.kept = 0, true }, false},
		{"sees a used half, as NumPy's state does", func(g *Generator) { g.half++ }, false},
		{"ignores a range of one value, which draws nothing", func(g *Generator) { g.Integers(4, 5) }, true},
		{"ignores the choice of one item, which draws nothing", func(g *Generator) { g.Choice(1) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewGenerator(7)
			c.change(&g)
			if got := g == NewGenerator(7); got != c.equal {
				t.Errorf("got equal %v, want %v", got, c.equal)
			}
		})
	}
}

func TestWholeOutputsLeaveTheHalfWaiting(t *testing.T) {
	g := NewGenerator(3)
	first := g // first.Uint64() is the output that the two words come from
	output := first.Uint64()
	if got, want := g.Uint32(), uint32(output); got != want {
		t.Errorf("first word: got %d, want the low half %d", got, want)
	}
	g.Uint64()
	g.Random()
	g.Uniform(0, 1)
	g.IntegersClosed(math.MinInt64, math.MaxInt64)
	g.Integers(0, 1<<40)
	if got, want := g.Uint32(), uint32(output>>32); got != want {
		t.Errorf("second word: got %d, want the high half %d", got, want)
	}
}

func TestStateContinues(t *testing.T) {
	g := NewGenerator(11)
	g.Uint32()
	s := g.State()
	var restored Generator
	if err := restored.SetState(s); err != nil {
		t.Fatal(err)
	}
	if restored != g {
		t.Errorf("restored: got %+v, want %+v", restored, g)
	}
	s.State.SetInt64(1) // a copy: must not reach the generator
	if restored != g {
		t.Errorf("after a change of the exported state: got %+v, want %+v", restored, g)
	}
}

func TestSetStateRefuses(t *testing.T) {
	one, long := big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 128)
	for _, c := range []struct {
		name  string
		state PCG64State
		want  string
	}{
		{"nil state", PCG64State{Inc: one}, "pcg64 state is <nil>"},
		{"nil inc", PCG64State{State: one}, "pcg64 inc is <nil>"},
		{"negative state", PCG64State{State: big.NewInt(-1), Inc: one}, "pcg64 state is -1"},
		{"long inc", PCG64State{State: one, Inc: new(big.Int).Add(long, one)}, "pcg64 inc is 340282366920938463463374607431768211457"},
		{"even inc", PCG64State{State: one, Inc: big.NewInt(2)}, "pcg64 inc is even"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewGenerator(1)
			err := g.SetState(c.state)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			if g != NewGenerator(1) {
				t.Error("got another state after a refusal, want the old one")
			}
		})
	}
}

func TestAdvance(t *testing.T) {
	walked := NewGenerator(5)
	for range 1000 {
		walked.Uint64()
	}
	g := NewGenerator(5)
	g.Advance(big.NewInt(1000))
	if g != walked {
		t.Errorf("advanced by 1000: got %+v, want %+v", g, walked)
	}
	g.Advance(big.NewInt(-1000))
	if g != NewGenerator(5) {
		t.Errorf("and back: got %+v, want %+v", g, NewGenerator(5))
	}
	g.Advance(new(big.Int).Lsh(big.NewInt(3), 128))
	if g != NewGenerator(5) {
		t.Errorf("by three periods: got %+v, want %+v", g, NewGenerator(5))
	}
	g.Uint32()
	after := g
	after.Advance(new(big.Int))
	if got, want := after.Uint32(), uint32(g.Uint64()); got != want {
		t.Errorf("word after an advance by 0: got %d, want %d, the waiting half being dropped", got, want)
	}
}

func TestMisusePanics(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		want string // start of the message
		call func(g *Generator)
	}{
		{"numpyrand: Integers(5, 5):", func(g *Generator) { g.Integers(5, 5) }},
		{"numpyrand: Integers(5, -5):", func(g *Generator) { g.Integers(5, -5) }},
		{"numpyrand: IntegersClosed(6, 5):", func(g *Generator) { g.IntegersClosed(6, 5) }},
		{"numpyrand: IntegersOf(7, 7):", func(g *Generator) { IntegersOf[uint32](g, 7, 7) }},
		{"numpyrand: IntegersClosed(8, 7):", func(g *Generator) { IntegersClosedOf[uint64](g, 8, 7) }},
		{"numpyrand: Choice(0):", func(g *Generator) { g.Choice(0) }},
		{"numpyrand: Choice(-1):", func(g *Generator) { g.Choice(-1) }},
		{"numpyrand: Uniform(1, 0):", func(g *Generator) { g.Uniform(1, 0) }},
		{"numpyrand: Uniform(0, -0):", func(g *Generator) { g.Uniform(0, math.Copysign(0, -1)) }},
		{"numpyrand: Uniform(0, +Inf):", func(g *Generator) { g.Uniform(0, inf) }},
		{"numpyrand: Uniform(NaN, 1):", func(g *Generator) { g.Uniform(nan, 1) }},
		{"numpyrand: Uniform(-1e+308, 1e+308):", func(g *Generator) { g.Uniform(-1e308, 1e308) }},
		{"numpyrand: SeedSequenceOf without entropy", func(*Generator) { SeedSequenceOf() }},
	} {
		t.Run(c.want, func(t *testing.T) {
			g := NewGenerator(1)
			defer func() {
				got, _ := recover().(string)
				if !strings.HasPrefix(got, c.want) {
					t.Errorf("got panic %q, want one that starts with %q", got, c.want)
				}
				if g != NewGenerator(1) {
					t.Error("got another state after the panic, want the old one")
				}
			}()
			c.call(&g)
		})
	}
}

func TestChoicesRefuse(t *testing.T) {
	for _, c := range []struct {
		name   string
		choose func(g *Generator) error
		want   string
	}{
		{"no items", func(g *Generator) error { return g.ChoiceN(make([]int, 2), 0) }, "choose 2 of 0 items"},
		{"negative items", func(g *Generator) error { return g.ChoiceN(nil, -1) }, "choose 0 of -1 items"},
		{"negative distinct items", func(g *Generator) error { return g.ChoiceDistinct(nil, -1, true) }, "choose 0 of -1 items"},
		{"too few items", func(g *Generator) error { return g.ChoiceDistinct(make([]int, 4), 3, true) }, "choose 4 distinct items of 3"},
		{"no probabilities", weighted(), "no probabilities"},
		{"a low sum", weighted(0.5, 0.25), "probabilities sum to 0.75, not 1"},
		{"a negative one", weighted(0.5, -0.5, 1), "probability 1 is -0.5"},
		{"not a number", weighted(0.5, 0.5, math.NaN()), "probability 2 is NaN"},
		{"an infinite one", weighted(math.Inf(1)), "probabilities sum to +Inf, not 1"},
		{"n weighted", func(g *Generator) error { return g.ChoiceNWeighted(make([]int, 4), []float64{2}) }, "probabilities sum to 2"},
		{"distinct weighted", func(g *Generator) error { return g.ChoiceDistinctWeighted(nil, []float64{2}) }, "probabilities sum to 2"},
		{"too few weighted", func(g *Generator) error {
			return g.ChoiceDistinctWeighted(make([]int, 2), []float64{1})
		}, "choose 2 distinct items of 1"},
		{"too few positive", func(g *Generator) error {
			return g.ChoiceDistinctWeighted(make([]int, 2), []float64{0, 1})
		}, "choose 2 distinct items of 1 with a positive probability"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewGenerator(1)
			if err := c.choose(&g); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got error %v, want one that starts with %q", err, c.want)
			}
			if g != NewGenerator(1) {
				t.Error("got another state after a refusal, want the old one")
			}
		})
	}
}

func weighted(p ...float64) func(g *Generator) error {
	return func(g *Generator) error {
		_, err := g.ChoiceWeighted(p)
		return err
	}
}

func TestSeedSequenceRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		entropy []*big.Int
		want    string
	}{
		{"no entropy", nil, "seed sequence without entropy"},
		{"nil", []*big.Int{big.NewInt(1), nil}, "seed sequence entropy 2 of 2 is nil"},
		{"a negative integer", []*big.Int{big.NewInt(-3)}, "seed sequence entropy 1 of 1 is negative: -3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewSeedSequence(c.entropy...); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got error %v, want one that starts with %q", err, c.want)
			}
		})
	}
}

func TestScalarsDoNotAllocate(t *testing.T) {
	g := NewGenerator(1)
	p := []float64{0.5, 0.5}
	seed := uint64(0)
	for name, call := range map[string]func(){
		"NewGenerator":     func() { seed++; sinkGenerator = NewGenerator(seed) },
		"SeedSequenceOf":   func() { seed++; s := SeedSequenceOf(0, seed); sinkGenerator = New(&s) },
		"Uint64":           func() { g.Uint64() },
		"Uint32":           func() { g.Uint32() },
		"Random":           func() { g.Random() },
		"Float32":          func() { g.Float32() },
		"Uniform":          func() { g.Uniform(0, 360) },
		"Integers":         func() { g.Integers(2, 5) },
		"IntegersClosed":   func() { g.IntegersClosed(0, 1<<40) },
		"IntegersOf":       func() { IntegersOf[uint32](&g, 2, 5) },
		"IntegersClosedOf": func() { IntegersClosedOf[uint64](&g, 2, 5) },
		"Choice":           func() { g.Choice(10) },
		"ChoiceWeighted": func() {
			if _, err := g.ChoiceWeighted(p); err != nil {
				t.Error(err)
			}
		},
	} {
		if got := testing.AllocsPerRun(100, call); got != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, got)
		}
	}
}
