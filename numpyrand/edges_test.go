package numpyrand

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// edgeSessions are draws on the very edge of a decision, which random ones meet once in a billion: the state is set
// so that a chosen word or output comes next.
func edgeSessions() []session {
	var sessions []session
	for _, draws := range [][]draw{wordsAtThreshold(), outputsAtThreshold(), fractionsAtCDF(), methodsOfDistinct()} {
		seeded := draw{Op: "raw"} // or the entropy would not matter, and a change to it not show
		sessions = append(sessions, session{Entropy: []string{"0"}, Draws: append([]draw{seeded}, draws...)})
	}
	return sessions
}

// nextWord makes word the next one.
func nextWord(word uint32) []draw {
	return []draw{{Op: "set state", Low: "1", High: "1", Closed: true, K: int64(word)}}
}

// nextOutput makes u the next output: a state whose high half is 0 is output unrotated, one step on from the state
// before it.
func nextOutput(u uint64) []draw {
	return []draw{{Op: "set state", Low: strconv.FormatUint(u, 10), High: "1"}, {Op: "advance", Low: "-1"}}
}

// wordsAtThreshold draw below n with the word whose product is the least accepted, and the greatest rejected.
func wordsAtThreshold() []draw {
	var draws []draw
	for _, n := range []uint32{3, 11, 1<<31 + 1, 3<<30 + 1, math.MaxUint32 - 2} {
		inverse := uint32(inverseOf(uint64(n)))
		for rejected := range uint32(2) {
			draws = append(draws, nextWord((-n%n-rejected)*inverse)...)
			draws = append(draws, draw{Op: "integers", DType: "int64", Low: "0", High: strconv.FormatUint(uint64(n), 10)}, draw{Op: "state"})
		}
	}
	return draws
}

func outputsAtThreshold() []draw {
	var draws []draw
	for _, n := range []uint64{1<<32 + 1, 1<<63 + 1, 3<<62 + 1, math.MaxUint64 - 2} {
		for rejected := range uint64(2) {
			draws = append(draws, nextOutput((-n%n-rejected)*inverseOf(n))...)
			draws = append(draws, draw{Op: "integers", DType: "uint64", Low: "0", High: strconv.FormatUint(n, 10)}, draw{Op: "state"})
		}
	}
	return draws
}

// inverseOf the odd n modulo 2^64, by Newton's iteration: each round doubles the bits that are right, from three.
func inverseOf(n uint64) uint64 {
	x := n
	for range 5 {
		x *= 2 - n*x
	}
	return x
}

// fractionsAtCDF choose by probabilities with the fraction equal to a value of the cumulative table, and with the
// one below it. Values from 0.5 on are fractions that can be drawn; and a sum of probabilities that is 1 but for
// rounding shows whether, and how, the table is divided by it.
func fractionsAtCDF() []draw {
	r := rand.New(rand.NewPCG(1, 1))
	var draws []draw
	for _, size := range []int{2, 3, 5, 8, 8, 8} {
		p, sum := roundedProbabilities(r, size)
		cumulative := 0.0
		for _, v := range p[:size-1] {
			cumulative += v
			if cumulative < 0.5 {
				continue
			}
			fraction := uint64(cumulative / sum * (1 << 53))
			for below := range uint64(2) {
				for _, op := range []string{"choice weighted", "choice n weighted", "choice distinct weighted"} {
					draws = append(draws, nextOutput((fraction-below)<<11)...)
					draws = append(draws, draw{Op: op, N: 1, P: p})
				}
			}
		}
	}
	return draws
}

// roundedProbabilities are such that their sum, added from the left, is nearly 1; of two it is 1.
func roundedProbabilities(r *rand.Rand, size int) (p []float64, sum float64) {
	for sum == 0 || sum == 1 && size > 2 {
		total := 0.0
		p, sum = make([]float64, size), 0
		for i := range p {
			p[i] = r.Float64()
			total += p[i]
		}
		for i := range p {
			p[i] /= total
			sum += p[i]
		}
	}
	return p, sum
}

// methodsOfDistinct are choices on both sides of where the methods change, and of everything there is.
func methodsOfDistinct() []draw {
	var draws []draw
	for _, shuffle := range []bool{true, false} {
		few := 20
		if shuffle {
			few = 50
		}
		for _, k := range []int{10_000, 10_001, 10_000 + few} {
			draws = append(draws,
				draw{Op: "choice distinct", K: int64(k), N: k / few, Shuffle: shuffle},
				draw{Op: "choice distinct", K: int64(k), N: k/few + 1, Shuffle: shuffle},
			)
		}
	}
	return append(draws, draw{Op: "choice distinct", K: 10_001, N: 10_001, Shuffle: true}, draw{Op: "state"})
}
