package numpyrand

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
)

// every is more values than a golden element has.
const every = 1 << 20

// eachElement runs a check over every element of a golden array, then shows that it notices a change of each value.
func eachElement(t *testing.T, file string, skip func(string) bool, check func([]byte) error) {
	t.Helper()
	for i, item := range golden.Items(t, golden.Read(t, "testdata/"+file)) {
		if err := check(item); err != nil {
			t.Errorf("element %d: %v", i, err)
			continue
		}
		golden.Mutate(t, item, every, skip, check)
	}
}

// first keeps the first difference.
type first struct{ err error }

func (f *first) same(what string, got, want any) {
	if g, w := fmt.Sprint(got), fmt.Sprint(want); f.err == nil && g != w {
		f.err = fmt.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// goldenFingerprint is a state in short, and the words that follow.
type goldenFingerprint struct {
	Pos   int
	Next3 [3]uint32
	Key   string `json:"key_sha256"`
}

func (f *first) fingerprint(r RandomState, want goldenFingerprint) {
	s := r.State()
	f.same("pos", s.Pos, want.Pos)
	f.same("key_sha256", keyDigest(s.Key), want.Key)
	f.same("next3", [3]uint32{r.Uint32(), r.Uint32(), r.Uint32()}, want.Next3)
}

// keyDigest is the start of the SHA-256 of the key's words, little-endian.
func keyDigest(key [624]uint32) string {
	var b []byte
	for _, w := range key {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// hashed seeds as Flatland does, and checks what is recorded of the way there.
func (f *first) hashed(seed, reduced, hash string, keys []uint32) RandomState {
	full, ok := new(big.Int).SetString(seed, 10)
	if !ok {
		f.same("seed", seed, "an integer")
		return RandomState{}
	}
	r := NewHashedRandomState(new(big.Int).And(full, new(big.Int).SetUint64(1<<64-1)).Uint64())
	short := new(big.Int).And(full, new(big.Int).SetUint64(1<<64-1))
	f.same("reduced seed", short, reduced)
	h, ok := new(big.Int).SetString(hash, 10)
	if !ok || !h.IsUint64() {
		f.same("hash", hash, "an integer of 64 bits")
		return r
	}
	f.same("key", hashedKeys(h.Uint64()), keys)
	byKeys, err := NewRandomStateFrom(keys)
	f.same("error of the keys", err, nil)
	f.same("the stream of the keys", byKeys.Equal(&r), true)
	return r
}

func TestHashedSeeds(t *testing.T) {
	eachElement(t, "prim_seeding.json.gz", nil, func(data []byte) error {
		var g struct {
			Seed, Reduced, Hash string
			Key                 []uint32
			Fingerprint         goldenFingerprint
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		var f first
		f.fingerprint(f.hashed(g.Seed, g.Reduced, g.Hash, g.Key), g.Fingerprint)
		return f.err
	})
}

func TestEngineDraws(t *testing.T) {
	eachElement(t, "unit_rng.json.gz", nil, func(data []byte) error {
		var g struct {
			Seed      string
			Effective string     `json:"effective_seed"`
			Hash      string     `json:"hash64"`
			Key       []uint32   `json:"key"`
			State     [8]uint32  `json:"state_first8"`
			Pos       int        `json:"pos"`
			Rand5     [5]float64 `json:"rand5"`
			Wide      [8]int64   `json:"randint_2_51_x8"`
			Single    [3]int64   `json:"randint_5_6_x3"`
			Wider     [5]int64   `json:"randint_0_1000003_x5"`
			Million   struct {
				First, Last float64
				Below       int `json:"count_below_0.001"`
			} `json:"rand_vec_1e6"`
			After float64 `json:"rand_after"`
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		var f first
		r := f.hashed(g.Seed, g.Effective, g.Hash, g.Key)
		s := r.State()
		f.same("state_first8", [8]uint32(s.Key[:8]), g.State)
		f.same("pos", s.Pos, g.Pos)
		var few [5]float64
		r.RandomN(few[:])
		f.same("rand5", few, g.Rand5)
		for i, want := range g.Wide {
			f.same(fmt.Sprintf("randint(2, 51) %d", i), r.Randint(2, 51), want)
		}
		for i, want := range g.Single {
			f.same(fmt.Sprintf("randint(5, 6) %d", i), r.Randint(5, 6), want)
		}
		for i, want := range g.Wider {
			f.same(fmt.Sprintf("randint(0, 1000003) %d", i), r.Randint(0, 1_000_003), want)
		}
		if f.err != nil {
			return f.err // before the long part
		}
		passed := r
		passed.Skip(2_000_000)
		million := make([]float64, 1_000_000)
		r.RandomN(million)
		below := 0
		for _, v := range million {
			if v < 0.001 {
				below++
			}
		}
		f.same("first of a million", million[0], g.Million.First)
		f.same("last of a million", million[len(million)-1], g.Million.Last)
		f.same("of a million below 0.001", below, g.Million.Below)
		f.same("the stream that skipped the million is where the other is", passed.Equal(&r), true)
		f.same("rand after a million", r.Random(), g.After)
		f.same("rand after skipping a million", passed.Random(), g.After)
		return f.err
	})
}

func TestGeneratorDraws(t *testing.T) {
	// Probabilities may move without moving the index drawn, and an item that is not chosen may be anything. In one
	// element, draw 15 becomes randint(0, 2) for randint(1, 2): it draws 1 as well, from a word that the next draw
	// would have rejected.
	skip := func(path string) bool {
		return strings.Contains(path, ".args.1.") || strings.Contains(path, ".args.0.") || path == "sequence.15.args.0"
	}
	eachElement(t, "prim_random_ops.json.gz", skip, func(data []byte) error {
		var g struct {
			Seed     uint64
			Sequence []struct {
				Op     string
				Args   []json.RawMessage
				Result json.RawMessage
			}
			After goldenFingerprint `json:"fingerprint_after"`
		}
		if err := golden.Decode(data, &g); err != nil {
			return err
		}
		r := NewHashedRandomState(g.Seed)
		for i, op := range g.Sequence {
			got, err := goldenOp(&r, op.Op, op.Args)
			if err != nil {
				return fmt.Errorf("draw %d: %w", i, err)
			}
			// Written as Python writes them: the shortest decimals that give the same bits.
			if got, err := json.Marshal(got); err != nil || string(got) != string(op.Result) {
				return fmt.Errorf("draw %d, %s%s: got %s, want %s", i, op.Op, op.Args, got, op.Result)
			}
		}
		var f first
		f.fingerprint(r, g.After)
		return f.err
	})
}

func goldenOp(r *RandomState, op string, args []json.RawMessage) (any, error) {
	read := func(to ...any) error {
		if len(args) != len(to) {
			return fmt.Errorf("%s of %d arguments", op, len(args))
		}
		for i := range to {
			if err := json.Unmarshal(args[i], to[i]); err != nil {
				return err
			}
		}
		return nil
	}
	var n, k, low, high int64
	var p []float64
	var list []int64
	switch op {
	case "rand":
		if err := read(&n); err != nil {
			return nil, err
		}
		dst := make([]float64, n)
		r.RandomN(dst)
		return dst, nil
	case "randint":
		if err := read(&low, &high); err != nil || low >= high {
			return nil, fmt.Errorf("randint(%d, %d): %v", low, high, err)
		}
		return r.Randint(low, high), nil
	case "permutation":
		if err := read(&n); err != nil {
			return nil, err
		}
		dst := make([]int, n)
		byShuffle := *r
		r.Permutation(dst)
		same := slices.Sorted(slices.Values(dst))
		byShuffle.Shuffle(len(same), func(i, j int) { same[i], same[j] = same[j], same[i] })
		if !slices.Equal(same, dst) || !byShuffle.Equal(r) {
			return nil, fmt.Errorf("shuffle of %d: got %v, want %v", n, same, dst)
		}
		return dst, nil
	case "choice_noreplace":
		if err := read(&n, &k); err != nil {
			return nil, err
		}
		dst := make([]int, k)
		return dst, r.ChoiceDistinct(dst, int(n))
	case "choice_p":
		if err := read(&n, &p); err != nil {
			return nil, err
		}
		dst := make([]int, n)
		return dst, r.ChoiceNWeighted(dst, p)
	case "choice_list":
		if err := read(&list); err != nil || len(list) == 0 {
			return nil, fmt.Errorf("choice of %v: %v", list, err)
		}
		return list[r.Choice(len(list))], nil
	}
	return nil, fmt.Errorf("unknown draw %q", op)
}
