package planner

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Budget is how much a planner may think about a plan. It makes one an episode, and another whenever something else
// was flown than it answered; in episodes of more than 64 steps, one every 32.
type Budget struct {
	Nodes int             // candidate plans looked at
	Time  time.Duration   // if set, this instead of Nodes, but for a first plan; what is planned then depends on the machine
	Done  <-chan struct{} // if it is closed, plans end at once, whatever they are; may be nil
}

// DefaultBudget takes about 50 ms on one core for five aircraft, where all of it is used; most plans are known to be the
// best before.
func DefaultBudget() Budget { return Budget{Nodes: 120_000} }

// Reproducible reports whether the same plan comes out on every machine.
func (b Budget) Reproducible() bool { return b.Time == 0 }

// String spells b as ParseBudget reads it.
func (b Budget) String() string {
	n := b.Nodes
	switch {
	case b.Time != 0:
		return b.Time.String()
	case n != 0 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n != 0 && n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return strconv.Itoa(n)
}

// MaxNodes and MaxTime are the largest budgets that ParseBudget reads.
const (
	MaxNodes = 1_000_000_000
	MaxTime  = time.Hour
)

// ParseBudget reads a number of candidate plans ("200000", "500k", "2M") or a time ("50ms").
func ParseBudget(text string) (Budget, error) {
	digits, unit := text, 1
	if n := len(text); n > 0 && text[n-1] == 'k' {
		digits, unit = text[:n-1], 1000
	} else if n > 0 && text[n-1] == 'M' {
		digits, unit = text[:n-1], 1_000_000
	}
	if !decimal(digits) {
		return parseTime(text)
	}
	n, err := strconv.Atoi(digits)
	if err != nil { // only the range can be wrong
		n = math.MaxInt
	}
	switch {
	case n == 0:
		return Budget{}, errors.New("it must be at least 1 candidate plan")
	case n > MaxNodes/unit:
		return Budget{}, fmt.Errorf("it is too large; at most %v candidate plans", Budget{Nodes: MaxNodes})
	}
	return Budget{Nodes: n * unit}, nil
}

// decimal reports whether text is made of decimal digits.
func decimal(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

func parseTime(text string) (Budget, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return Budget{}, errors.New("it is neither a number of candidate plans, such as 200000, 500k or 2M, nor a time, such as 50ms")
	case d <= 0:
		return Budget{}, errors.New("a time must be more than 0")
	case d > MaxTime:
		return Budget{}, fmt.Errorf("it is too large; at most %v", MaxTime)
	}
	return Budget{Time: d}, nil
}
