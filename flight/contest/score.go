package contest

import (
	"math"
	"slices"

	"skyrail/flight"
)

// ScoreVersion is the version of the challenge's score that this package computes.
const ScoreVersion = "2.0.0"

// Score adds up the episodes of one entry.
type Score struct {
	Episodes     int     `json:"episodes"`
	Failed       int     `json:"failed"`     // episodes not completed
	Congestion   int     `json:"congestion"` // in all
	ExitMiss     float64 `json:"exit_miss"`  // mean over the episodes
	Clearances   int     `json:"clearances"` // in all
	Touched      int     `json:"touched"`    // aircraft given a clearance, in all
	Invalids     int     `json:"invalids"`   // forbidden actions, in all; not ranked
	ZeroConflict int     `json:"zero_conflict_episodes"`
	MaxExitMiss  float64 `json:"max_exit_miss"` // worst single aircraft; a diagnostic
}

// NewScore adds up episodes. ZeroConflict counts those without congestion, completed or not, as the reference does.
// The mean of no episode is 0.
func NewScore(episodes []Episode) Score {
	s := Score{Episodes: len(episodes)}
	misses := make([]float64, len(episodes))
	for i, e := range episodes {
		if !e.Completed {
			s.Failed++
		}
		if e.Congestion == 0 {
			s.ZeroConflict++
		}
		s.Congestion += e.Congestion
		s.Clearances += e.Clearances
		s.Touched += e.Touched
		s.Invalids += e.Invalids
		s.MaxExitMiss = max(s.MaxExitMiss, e.MaxExitMiss)
		misses[i] = e.ExitMiss
	}
	if len(episodes) > 0 {
		s.ExitMiss = flight.Sum(misses) / float64(len(episodes))
	}
	return s
}

// missBucket is how finely the ranking looks at the mean exit miss: closer together is a tie.
const missBucket = 0.005

// Key is what entries are ranked by, first to last, lower is better: failed, congestion, bucket of the mean
// exit miss, clearances, touched aircraft. Failed comes first so that dying young buys nothing.
type Key [5]int

// Key returns the rank key of s.
func (s Score) Key() Key {
	return Key{s.Failed, s.Congestion, bucketOf(s.ExitMiss), s.Clearances, s.Touched}
}

// bucketOf rounds to the nearest bucket, a half to the even one.
func bucketOf(miss float64) int {
	// Far beyond every bound below; a float this large has no halves to round anyway.
	return int(math.RoundToEven(min(miss/missBucket, 1e15)))
}

// Compare orders keys: negative if k ranks before o.
func (k Key) Compare(o Key) int { return slices.Compare(k[:], o[:]) }

// Rank returns the indices of scores in ranked order. Ties keep the order given.
func Rank(scores []Score) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return scores[a].Key().Compare(scores[b].Key()) })
	return order
}

// Positions returns the place of each score, counted from 1; equal keys share a place.
func Positions(scores []Score) []int {
	places := make([]int, len(scores))
	for i := range scores {
		places[i] = 1
		for j := range scores {
			if scores[j].Key().Compare(scores[i].Key()) < 0 {
				places[i]++
			}
		}
	}
	return places
}

// Packed is a rank key without the touched aircraft as one whole number below 2^53, which a float64, and so
// a board that knows one number an entry, holds exactly. Lower is better.
type Packed int64

// packBounds are the largest values the packed form tells apart: failed, congestion, miss bucket,
// clearances. Larger ones are clamped.
var packBounds = [4]int{100, 50_000, 4_000, 20_000}

// MaxPacked is the packed form of the worst possible score.
const MaxPacked Packed = 101*50_001*4_001*20_001 - 1

// Pack returns the packed form of s.
func (s Score) Pack() Packed {
	key := s.Key()
	p := Packed(0)
	for i, bound := range packBounds {
		p = p*Packed(bound+1) + Packed(min(max(key[i], 0), bound))
	}
	return p
}

// Unpacked is what a packed score tells.
type Unpacked struct {
	Failed     int     `json:"failed"`
	Congestion int     `json:"congestion"`
	MissBucket int     `json:"exit_miss_bucket"`
	ExitMiss   float64 `json:"exit_miss"` // of the bucket's middle
	Clearances int     `json:"clearances"`
}

// Unpack inverts Pack up to clamping. ok is false for a number outside 0..MaxPacked.
func (p Packed) Unpack() (u Unpacked, ok bool) {
	if p < 0 || p > MaxPacked {
		return Unpacked{}, false
	}
	var digits [4]int
	for i := len(packBounds) - 1; i >= 0; i-- {
		radix := Packed(packBounds[i] + 1)
		digits[i] = int(p % radix)
		p /= radix
	}
	return Unpacked{
		Failed: digits[0], Congestion: digits[1], MissBucket: digits[2],
		// Division by a whole number keeps the decimals short: 0.57, not 0.5700000000000001.
		ExitMiss:   float64(digits[2]) / (1 / missBucket),
		Clearances: digits[3],
	}, true
}
