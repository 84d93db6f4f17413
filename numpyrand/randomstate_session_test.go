package numpyrand

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
)

// stateSession is a RandomState and the draws made from it, in a form that both we and testdata/peer.py can
// play. An answer is the list of a draw's results as decimal strings, floats as their bits; a refused call answers
// "error".
type stateSession struct {
	How     string     `json:"how"`  // the seed is "one" integer, a "list" or "hashed"
	Seed    []string   `json:"seed"` // unsigned integers: of 64 bits for hashed, of 32 otherwise
	Draws   []draw     `json:"draws"`
	Answers [][]string `json:"answers,omitempty"` // NumPy's, one per draw
}

// check plays the session and compares it with its answers. The error tells the first difference.
func (s *stateSession) check() error {
	if len(s.Answers) != len(s.Draws) {
		return fmt.Errorf("got %d answers to %d draws", len(s.Answers), len(s.Draws))
	}
	r, err := s.seeded()
	if err != nil {
		return err
	}
	for i, d := range s.Draws {
		before := r
		got, err := d.playState(&r)
		if err != nil {
			return fmt.Errorf("draw %d, %+v: %w", i, d, err)
		}
		if !d.agree(got, s.Answers[i]) {
			at := before.State()
			return fmt.Errorf("seed %s %v, draw %d, %+v\nfrom pos %d, gauss %v %v:\n got %v\nwant %v", s.How, s.Seed, i, d, at.Pos, at.HasGauss, at.Gauss, got, s.Answers[i])
		}
	}
	return nil
}

// agree demands the same, except for normal numbers: NumPy's logarithm is its C library's, which may round the other
// way, and that moves them by an ulp or two.
func (d *draw) agree(got, want []string) bool {
	if slices.Equal(got, want) {
		return true
	}
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i] == want[i] {
			continue
		}
		g, errGot := strconv.ParseUint(got[i], 10, 64)
		w, errWant := strconv.ParseUint(want[i], 10, 64)
		if errGot != nil || errWant != nil {
			return false
		}
		bound := 0.0
		switch {
		case d.Op == "gauss", d.Op == "state" && i == 2:
			bound = math.Abs(math.Float64frombits(w)) * 0x1p-51
		case d.Op == "normal":
			bound = (math.Abs(d.A) + 8*d.B) * 0x1p-51
		}
		if !(math.Abs(math.Float64frombits(g)-math.Float64frombits(w)) < bound) {
			return false
		}
	}
	return true
}

func (s *stateSession) seeded() (RandomState, error) {
	var seed []uint64
	for _, text := range s.Seed {
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil || s.How != "hashed" && v > math.MaxUint32 {
			return RandomState{}, fmt.Errorf("seed %q: %v", text, err)
		}
		seed = append(seed, v)
	}
	switch s.How {
	case "one":
		return NewRandomState(uint32(seed[0])), nil
	case "hashed":
		return NewHashedRandomState(seed[0]), nil
	case "list":
		var keys []uint32
		for _, v := range seed {
			keys = append(keys, uint32(v))
		}
		return NewRandomStateFrom(keys)
	}
	return RandomState{}, fmt.Errorf("unknown way to seed %q", s.How)
}

// playState makes one draw. Its error is a fault of the session, not a refusal of the package.
func (d *draw) playState(r *RandomState) ([]string, error) {
	switch d.Op {
	case "uint32":
		return decimals(r.Uint32()), nil
	case "random":
		if d.N == 0 {
			return decimals(math.Float64bits(r.Random())), nil
		}
		dst := make([]float64, d.N)
		r.RandomN(dst)
		return floats(dst), nil
	case "randint":
		return d.playRandint(r)
	case "choice":
		return decimals(r.Choice(int(d.K))), nil
	case "choice n":
		dst := make([]int, d.N)
		return indices(dst, r.ChoiceN(dst, int(d.K))), nil
	case "choice distinct":
		dst := make([]int, d.N)
		return indices(dst, r.ChoiceDistinct(dst, int(d.K))), nil
	case "choice weighted":
		i, err := r.ChoiceWeighted(d.P)
		return indices([]int{i}, err), nil
	case "choice n weighted":
		dst := make([]int, d.N)
		return indices(dst, r.ChoiceNWeighted(dst, d.P)), nil
	case "choice distinct weighted":
		dst := make([]int, d.N)
		return indices(dst, r.ChoiceDistinctWeighted(dst, d.P)), nil
	case "permutation":
		dst := make([]int, d.N)
		r.Permutation(dst)
		return decimals(dst...), nil
	case "shuffle":
		items := make([]int, d.N)
		for i := range items {
			items[i] = i
		}
		r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		return decimals(items...), nil
	case "gauss":
		return repeat(d.N, func() uint64 { return math.Float64bits(r.Gauss()) }), nil
	case "normal":
		return repeat(d.N, func() uint64 { return math.Float64bits(r.Normal(d.A, d.B)) }), nil
	case "poisson":
		return repeat(d.N, func() int64 { return r.Poisson(d.A) }), nil
	case "skip":
		r.Skip(uint64(d.K))
		return []string{}, nil
	case "state":
		s := r.State()
		digest, err := hex.DecodeString(keyDigest(s.Key))
		if err != nil {
			return nil, err
		}
		hasGauss := uint64(0)
		if s.HasGauss {
			hasGauss = 1
		}
		return decimals(uint64(s.Pos), hasGauss, math.Float64bits(s.Gauss), binary.BigEndian.Uint64(digest)), nil
	case "set state":
		seed, err := strconv.ParseUint(d.Low, 10, 32)
		if err != nil {
			return nil, err
		}
		other := NewRandomState(uint32(seed))
		return []string{}, r.SetState(MT19937State{Key: other.State().Key, Pos: int(d.K), HasGauss: d.Closed, Gauss: d.A})
	}
	return nil, fmt.Errorf("unknown op %q", d.Op)
}

func (d *draw) playRandint(r *RandomState) ([]string, error) {
	low, err := parseBig(d.Low)
	if err != nil {
		return nil, err
	}
	high, err := parseBig(d.High)
	if err != nil {
		return nil, err
	}
	l, h := low.Int64(), high.Int64()
	switch d.DType {
	case "": // NumPy's default, which has a method of its own
		return repeat(d.N, func() int64 { return r.Randint(l, h+1) }), nil
	case "bool":
		dst := make([]bool, max(1, d.N))
		if d.N == 0 {
			dst[0] = r.Bool()
		} else {
			r.FillBools(dst)
		}
		var values []string
		for _, v := range dst {
			values = append(values, map[bool]string{false: "0", true: "1"}[v])
		}
		return values, nil
	case "int8":
		return randints(r, d.N, int8(l), int8(h)), nil
	case "uint8":
		return randints(r, d.N, uint8(l), uint8(h)), nil
	case "int16":
		return randints(r, d.N, int16(l), int16(h)), nil
	case "uint16":
		return randints(r, d.N, uint16(l), uint16(h)), nil
	case "int32":
		return randints(r, d.N, int32(l), int32(h)), nil
	case "uint32":
		return randints(r, d.N, uint32(l), uint32(h)), nil
	case "int64":
		return randints(r, d.N, l, h), nil
	case "uint64":
		return randints(r, d.N, low.Uint64(), high.Uint64()), nil
	}
	return nil, fmt.Errorf("unknown dtype %q", d.DType)
}

func randints[T RandintDType](r *RandomState, n int, low, last T) []string {
	dst := make([]T, max(1, n))
	if n == 0 {
		dst[0] = RandintClosedOf(r, low, last)
	} else {
		FillRandint(r, dst, low, last)
	}
	texts := make([]string, len(dst))
	for i, v := range dst {
		texts[i] = fmt.Sprint(v)
	}
	return texts
}

func floats(values []float64) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.FormatUint(math.Float64bits(v), 10)
	}
	return texts
}

// randomStateSession makes up a seed and n draws.
func randomStateSession(r *rand.Rand, n int) stateSession {
	s := stateSession{How: []string{"one", "list", "hashed"}[r.IntN(3)], Draws: make([]draw, n)}
	keys := 1
	if s.How == "list" {
		keys = []int{1, 2, 3, 623, 624, 625, 1300}[r.IntN(7)]
	}
	for range keys {
		v := r.Uint64() >> r.IntN(64)
		if s.How != "hashed" {
			v = uint64(uint32(v))
		}
		s.Seed = append(s.Seed, strconv.FormatUint(v, 10))
	}
	for i := range s.Draws {
		s.Draws[i] = randomStateDraw(r)
	}
	s.Draws[0] = draw{Op: "uint32"}  // or another state could be set before the seed has shown
	s.Draws[n-1] = draw{Op: "state"} // so that no draw leaves the stream at another place unseen
	return s
}

func randomStateDraw(r *rand.Rand) draw {
	few := r.IntN(4) * r.IntN(5)
	switch p := r.IntN(100); {
	case p < 5:
		return draw{Op: "uint32"}
	case p < 12:
		return draw{Op: "random", N: few}
	case p < 40:
		return randomRandint(r, few*(1+r.IntN(4)))
	case p < 43:
		return draw{Op: "choice", K: 1 + r.Int64N(1<<r.IntN(31))}
	case p < 46:
		return draw{Op: "choice n", K: r.Int64N(1 << r.IntN(31)), N: few} // no items to choose from, at times
	case p < 50:
		k := r.Int64N(60)
		return draw{Op: "choice distinct", K: k, N: r.IntN(int(k) + 2)}
	case p < 53:
		return draw{Op: "choice weighted", P: randomProbabilities(r)}
	case p < 57:
		return draw{Op: "choice n weighted", N: few, P: randomProbabilities(r)}
	case p < 61:
		probabilities := randomProbabilities(r)
		return draw{Op: "choice distinct weighted", N: r.IntN(len(probabilities) + 2), P: probabilities}
	case p < 65:
		return draw{Op: "permutation", N: r.IntN(50)}
	case p < 69:
		return draw{Op: "shuffle", N: r.IntN(50)}
	case p < 73:
		return draw{Op: "gauss", N: few}
	case p < 78:
		return draw{Op: "normal", N: few, A: (r.Float64() - 0.5) * 100, B: r.Float64() * 10}
	case p < 86:
		if r.IntN(4) == 0 {
			return draw{Op: "poisson", N: few, A: 10} // where the method changes
		}
		return draw{Op: "poisson", N: few, A: math.Trunc(r.Float64()*64) / 64 * math.Pow(10, float64(r.IntN(8)-1))}
	case p < 91:
		edges := []int64{0, 1, 311, 312, 623, 624, 625, 1248, 1249, 10_000}
		return draw{Op: "skip", K: edges[r.IntN(len(edges))]}
	case p < 97:
		return draw{Op: "state"}
	default:
		d := draw{Op: "set state", Low: strconv.Itoa(int(r.Uint32())), K: r.Int64N(625), Closed: r.IntN(2) == 0}
		if d.A = r.Float64(); r.IntN(2) == 0 { // not waiting and yet not 0 is possible, and kept
			d.A = 0
		}
		return d
	}
}

// randomRandint is a range of a random dtype: of any size, near the limits of parts and words, and just above their
// halves, where every second draw is rejected.
func randomRandint(r *rand.Rand, n int) draw {
	dtypes := []string{"", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"}
	d := draw{Op: "randint", N: n, DType: dtypes[r.IntN(len(dtypes))], Low: "0", High: "1"}
	if d.DType == "bool" {
		return d
	}
	width, signed := uint(64), true
	if d.DType != "" {
		signed = d.DType[0] == 'i'
		digits := d.DType[len(d.DType)-1:]
		width = map[string]uint{"8": 8, "6": 16, "2": 32, "4": 64}[digits]
	}
	all := ^uint64(0) >> (64 - width) // the size of the dtype's full range, less one
	edges := []uint64{0, 1, 1 << 7, 1<<7 + 1, 1 << 15, 1<<15 + 1, 1 << 31, 1<<31 + 1, math.MaxUint32 - 1, math.MaxUint32, 1 << 32, 1<<63 + 1, all - 1, all}
	last := edges[r.IntN(len(edges))]
	if r.IntN(2) == 0 {
		last = r.Uint64() >> r.IntN(64)
	}
	last = min(last, all)
	if d.DType == "" {
		last = min(last, all-1) // all of it cannot be said with an excluded bound
	}
	low := new(big.Int)
	if room := all - last; room > 0 {
		low.SetUint64(room - 1 - r.Uint64N(room))
	}
	if signed {
		low.Sub(low, new(big.Int).Lsh(big.NewInt(1), width-1))
	}
	high := new(big.Int).Add(low, new(big.Int).SetUint64(last))
	d.Low, d.High = low.String(), high.String()
	return d
}
