package numpyrand

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
)

// session is a stream and the draws made from it, in a form that both we and testdata/peer.py can play. An answer
// is the list of a draw's results as decimal strings, floats as their bits; a refused call answers "error".
type session struct {
	Entropy []string   `json:"entropy"`
	List    bool       `json:"list"` // NumPy gets the entropy as a list; otherwise it is one integer
	Draws   []draw     `json:"draws"`
	Answers [][]string `json:"answers,omitempty"` // NumPy's, one per draw
}

// draw is one call. Fields that its Op does not use are zero.
type draw struct {
	Op      string    `json:"op"`
	N       int       `json:"n"`       // how many; 0 is a scalar where there is a scalar form
	K       int64     `json:"k"`       // items to choose from; uinteger of "set state"
	P       []float64 `json:"p"`       // probabilities
	Shuffle bool      `json:"shuffle"` // of "choice distinct"
	DType   string    `json:"dtype"`   // of "integers"
	Low     string    `json:"low"`     // of "integers"; state of "set state"; delta of "advance"
	High    string    `json:"high"`    // of "integers"; inc of "set state"
	Closed  bool      `json:"closed"`  // endpoint of "integers"; has_uint32 of "set state"
	A       float64   `json:"a"`       // bounds of "uniform"
	B       float64   `json:"b"`
}

// check plays the session and compares it with its answers. The error tells the first difference.
func (s *session) check() error {
	if len(s.Answers) != len(s.Draws) {
		return fmt.Errorf("got %d answers to %d draws", len(s.Answers), len(s.Draws))
	}
	seq, err := s.sequence()
	if err != nil {
		return err
	}
	g := New(seq)
	for i, d := range s.Draws {
		before := g.State()
		got, err := d.play(seq, &g)
		if err != nil {
			return fmt.Errorf("draw %d, %+v: %w", i, d, err)
		}
		if !slices.Equal(got, s.Answers[i]) {
			return fmt.Errorf("entropy %v, draw %d, %+v\nfrom state %+v:\n got %v\nwant %v", s.Entropy, i, d, before, got, s.Answers[i])
		}
	}
	return nil
}

// sequence seeds by each constructor that takes the entropy, and demands that they agree.
func (s *session) sequence() (*SeedSequence, error) {
	var entropy []*big.Int
	var small []uint64
	for _, e := range s.Entropy {
		v, err := parseBig(e)
		if err != nil {
			return nil, err
		}
		entropy = append(entropy, v)
		if v.IsUint64() {
			small = append(small, v.Uint64())
		}
	}
	seq, err := NewSeedSequence(entropy...)
	if err != nil {
		return nil, err
	}
	if len(small) < len(entropy) {
		return seq, nil
	}
	if got := SeedSequenceOf(small...); got != *seq {
		return nil, fmt.Errorf("SeedSequenceOf(%v): got %v, want %v as of NewSeedSequence", small, got, *seq)
	}
	if len(small) == 1 {
		if got := NewGenerator(small[0]); got != New(seq) {
			return nil, fmt.Errorf("NewGenerator(%v): got %v, want %v as of New", small[0], got, New(seq))
		}
	}
	return seq, nil
}

// play makes one draw. Its error is a fault of the session, not a refusal of the package.
func (d *draw) play(seq *SeedSequence, g *Generator) ([]string, error) {
	switch d.Op {
	case "raw":
		return decimals(g.Uint64()), nil
	case "uint32":
		return decimals(g.Uint32()), nil
	case "random":
		return repeat(d.N, func() uint64 { return math.Float64bits(g.Random()) }), nil
	case "float32":
		return repeat(d.N, func() uint32 { return math.Float32bits(g.Float32()) }), nil
	case "uniform":
		return repeat(d.N, func() uint64 { return math.Float64bits(g.Uniform(d.A, d.B)) }), nil
	case "integers":
		return d.playIntegers(g)
	case "choice":
		return decimals(g.Choice(int(d.K))), nil
	case "choice n":
		dst := make([]int, d.N)
		return indices(dst, g.ChoiceN(dst, int(d.K))), nil
	case "choice distinct":
		dst := make([]int, d.N)
		return indices(dst, g.ChoiceDistinct(dst, int(d.K), d.Shuffle)), nil
	case "choice weighted":
		i, err := g.ChoiceWeighted(d.P)
		return indices([]int{i}, err), nil
	case "choice n weighted":
		dst := make([]int, d.N)
		return indices(dst, g.ChoiceNWeighted(dst, d.P)), nil
	case "choice distinct weighted":
		dst := make([]int, d.N)
		return indices(dst, g.ChoiceDistinctWeighted(dst, d.P)), nil
	case "generate state":
		dst := make([]uint32, d.N)
		seq.GenerateState(dst)
		return decimals(dst...), nil
	case "generate state 64":
		dst := make([]uint64, d.N)
		seq.GenerateState64(dst)
		return decimals(dst...), nil
	case "state":
		s := g.State()
		kept := "0"
		if s.HasUint32 {
			kept = "1"
		}
		return []string{s.State.String(), s.Inc.String(), kept, strconv.FormatUint(uint64(s.Uinteger), 10)}, nil
	case "set state":
		state, err := parseBig(d.Low)
		if err != nil {
			return nil, err
		}
		inc, err := parseBig(d.High)
		if err != nil {
			return nil, err
		}
		return []string{}, g.SetState(PCG64State{State: state, Inc: inc, HasUint32: d.Closed, Uinteger: uint32(d.K)})
	case "advance":
		delta, err := parseBig(d.Low)
		if err != nil {
			return nil, err
		}
		g.Advance(delta)
		return []string{}, nil
	}
	return nil, fmt.Errorf("unknown op %q", d.Op)
}

func (d *draw) playIntegers(g *Generator) ([]string, error) {
	low, err := parseBig(d.Low)
	if err != nil {
		return nil, err
	}
	high, err := parseBig(d.High)
	if err != nil {
		return nil, err
	}
	switch d.DType {
	case "int32":
		return integers(g, d, int32(low.Int64()), int32(high.Int64())), nil
	case "uint32":
		return integers(g, d, uint32(low.Uint64()), uint32(high.Uint64())), nil
	case "uint64":
		return integers(g, d, low.Uint64(), high.Uint64()), nil
	case "int64": // which has methods of its own; an array is drawn by them, a scalar by the function
		switch {
		case d.N == 0:
			return integers(g, d, low.Int64(), high.Int64()), nil
		case d.Closed:
			return repeat(d.N, func() int64 { return g.IntegersClosed(low.Int64(), high.Int64()) }), nil
		}
		return repeat(d.N, func() int64 { return g.Integers(low.Int64(), high.Int64()) }), nil
	}
	return nil, fmt.Errorf("unknown dtype %q", d.DType)
}

func integers[T Integer](g *Generator, d *draw, low, high T) []string {
	if d.Closed {
		return repeat(d.N, func() T { return IntegersClosedOf(g, low, high) })
	}
	return repeat(d.N, func() T { return IntegersOf(g, low, high) })
}

func repeat[T Integer](n int, draw func() T) []string {
	var values []T
	for range max(1, n) {
		values = append(values, draw())
	}
	return decimals(values...)
}

func decimals[T Integer | int](values ...T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return texts
}

func indices(dst []int, err error) []string {
	if err != nil {
		return []string{"error"}
	}
	return decimals(dst...)
}

func parseBig(s string) (*big.Int, error) {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, fmt.Errorf("%q is no integer", s)
	}
	return v, nil
}

// randomSession makes up entropy and n draws.
func randomSession(r *rand.Rand, n int) session {
	s := session{List: r.IntN(2) == 0, Draws: make([]draw, n)}
	entries := 1
	if s.List {
		entries = 1 + r.IntN(7)
	}
	for range entries {
		s.Entropy = append(s.Entropy, randomBig(r).String())
	}
	for i := range s.Draws {
		s.Draws[i] = randomDraw(r)
	}
	s.Draws[n-1] = draw{Op: "state"} // so that no draw leaves the stream at another place unseen
	return s
}

// randomBig is an integer of up to 700 bits, small ones being common.
func randomBig(r *rand.Rand) *big.Int {
	size := []int{0, 1, 20, 32, 33, 64, 65, 128, 700}[r.IntN(9)]
	v := new(big.Int)
	for range (size + 63) / 64 {
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(r.Uint64()))
	}
	if v.BitLen() > size {
		v.Rsh(v, uint(v.BitLen()-size))
	}
	return v
}

func randomDraw(r *rand.Rand) draw {
	few := r.IntN(4) * r.IntN(5)
	switch p := r.IntN(100); {
	case p < 6:
		return draw{Op: "raw"}
	case p < 16:
		return draw{Op: "uint32"}
	case p < 22:
		return draw{Op: "random", N: few}
	case p < 30:
		return draw{Op: "float32", N: few}
	case p < 37:
		a := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(40)-20))
		return draw{Op: "uniform", N: few, A: a, B: a + r.Float64()*math.Pow(10, float64(r.IntN(40)-20))}
	case p < 60:
		return randomIntegers(r, few)
	case p < 66:
		return draw{Op: "choice", K: 1 + r.Int64N(1<<r.IntN(31))}
	case p < 70:
		return draw{Op: "choice n", K: r.Int64N(1 << r.IntN(31)), N: few} // no items to choose from, at times
	case p < 78:
		return randomDistinct(r)
	case p < 82:
		return draw{Op: "choice weighted", P: randomProbabilities(r)}
	case p < 86:
		return draw{Op: "choice n weighted", N: few, P: randomProbabilities(r)}
	case p < 91:
		probabilities := randomProbabilities(r)
		return draw{Op: "choice distinct weighted", N: r.IntN(len(probabilities) + 2), P: probabilities}
	case p < 93:
		return draw{Op: "generate state", N: r.IntN(20)}
	case p < 95:
		return draw{Op: "generate state 64", N: r.IntN(20)}
	case p < 97:
		return draw{Op: "state"}
	case p < 98:
		state := uint128{r.Uint64(), r.Uint64()}.big()
		inc := uint128{r.Uint64(), r.Uint64() | 1}.big()
		return draw{Op: "set state", Low: state.String(), High: inc.String(), Closed: r.IntN(2) == 0, K: int64(r.Uint32())}
	default:
		delta := randomBig(r)
		if r.IntN(2) == 0 {
			delta.Neg(delta)
		}
		return draw{Op: "advance", Low: delta.String()}
	}
}

// randomIntegers is a range of a random dtype: of any size, near the limits of a word and of an output, and just
// above their halves, where every second draw is rejected.
func randomIntegers(r *rand.Rand, n int) draw {
	d := draw{Op: "integers", N: n, DType: []string{"int32", "uint32", "int64", "uint64"}[r.IntN(4)]}
	width, lowest := uint(64), new(big.Int)
	if d.DType == "int32" || d.DType == "uint32" {
		width = 32
	}
	all := ^uint64(0) >> (64 - width) // the size of the dtype's full range, less one
	if d.DType[0] == 'i' {
		lowest.Neg(new(big.Int).Lsh(big.NewInt(1), width-1))
	}
	edges := []uint64{0, 1, 1 << 31, 1<<31 + 1, math.MaxUint32 - 1, math.MaxUint32, 1 << 32, 1<<32 + 1, 1<<63 + 1, all - 1, all}
	last := edges[r.IntN(len(edges))]
	if r.IntN(2) == 0 {
		last = r.Uint64() >> r.IntN(64)
	}
	last = min(last, all)

	low := new(big.Int)
	if room := all - last; room > 0 {
		low.SetUint64(room - r.Uint64N(room))
	}
	low.Add(low, lowest)
	high := new(big.Int).Add(low, new(big.Int).SetUint64(last))
	limit := new(big.Int).Add(lowest, new(big.Int).SetUint64(all))
	d.Closed = r.IntN(2) == 0 || high.Cmp(limit) == 0 // one more than the largest value cannot be said in Go
	if !d.Closed {
		high.Add(high, big.NewInt(1))
	}
	d.Low, d.High = low.String(), high.String()
	return d
}

// randomDistinct is a choice without replacement: mostly few of few items, at times more than there are, at times
// about where the other method takes over.
func randomDistinct(r *rand.Rand) draw {
	d := draw{Op: "choice distinct", Shuffle: r.IntN(2) == 0}
	switch r.IntN(8) {
	case 0:
		d.K = 9_999 + r.Int64N(4)
		few := 20
		if d.Shuffle {
			few = 50
		}
		d.N = int(d.K)/few - 1 + r.IntN(4)
	case 1:
		d.K, d.N = 1<<30+r.Int64N(1<<30), r.IntN(40)
	default:
		d.K = r.Int64N(60)
		d.N = r.IntN(int(d.K) + 2)
	}
	return d
}

// randomProbabilities sum to 1, to nearly 1 on both sides of the tolerance, or not at all.
func randomProbabilities(r *rand.Rand) []float64 {
	p := make([]float64, 1+r.IntN(30))
	sum := 0.0
	for i := range p {
		switch r.IntN(6) {
		case 0: // stays 0
		case 1:
			p[i] = r.Float64() * 1e-17 // lost in the sum beside the others
		default:
			p[i] = r.Float64()
		}
		sum += p[i]
	}
	if sum == 0 {
		p[0], sum = 1, 1
	}
	for i := range p {
		p[i] /= sum
	}
	switch r.IntN(12) {
	case 0:
		p[0] -= 0.5 // negative in general
	case 1:
		p[0] += 1e-7
	case 2, 3:
		p[0] += math.Copysign(0x1p-26, r.Float64()-0.5) + float64(r.IntN(7)-3)*0x1p-54
		p[0] = max(p[0], 0)
	}
	return p
}
