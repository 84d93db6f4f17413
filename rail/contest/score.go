package contest

import (
	"fmt"
)

// Composition is the share of each component in the sum of all; ok is false if there was no penalty. Shares of
// different scenarios cannot be compared.
func Composition(components Components) (shares Components, ok bool) {
	total := 0.0
	for _, v := range components {
		total += v
	}
	if total == 0 {
		return shares, false
	}
	for c, v := range components {
		if v != 0 { // 0 over a negative total would be -0
			shares[c] = v / total
		}
	}
	return shares, true
}

// Outcome is what became of one scenario of a submission.
type Outcome struct {
	Figures
	Failure string  // why it has no figures: a trajectory that is missing, malformed or contradicted
	Missing bool    // there is no trajectory: the run ended before this scenario
	Seconds float64 // of running time, 0 if unknown
}

// LevelScore is the part of a score that one level gave.
type LevelScore struct {
	Name             string    `json:"level"`
	Completed        int       `json:"completed"` // scenarios
	Scenarios        int       `json:"scenarios"`
	NormalizedReward float64   `json:"normalized_reward"` // the sum of the completed ones
	SuccessRate      *float64  `json:"success_rate"`      // their mean, null if there is none
	Results          []Figures `json:"results"`
	// Components are summed over the level's scenarios.
	Components Components `json:"components"`
}

// SubmissionScore is the score of a submission.
type SubmissionScore struct {
	NormalizedReward float64      `json:"normalized_reward"` // the sum; what ranks
	SuccessRate      *float64     `json:"success_rate"`      // the mean of the levels that have one; levels not reached do not lower it
	Termination      string       `json:"termination"`       // why the run ended early; empty if it did not
	Failed           bool         `json:"failed"`            // it may not be ranked
	Levels           []LevelScore `json:"levels"`            // those that count
}

// Score adds up a submission: outcomes by level and scenario, in the order of the competition.
//
// A level whose mean success rate is strictly below the gate counts, and ends the run. A scenario that took longer than
// a limit does not count and ends it; so does a missing one. One that failed ends it too, and the submission is failed.
func (c *Competition) Score(outcomes [][]Outcome) SubmissionScore {
	var s SubmissionScore
	running := 0.0
	for l := range c.Levels {
		level := LevelScore{Name: c.Levels[l].Name, Scenarios: len(c.Levels[l].Trains)}
		for k := range c.Levels[l].Trains {
			o := Outcome{Missing: true}
			if l < len(outcomes) && k < len(outcomes[l]) {
				o = outcomes[l][k]
			}
			running += o.Seconds
			if s.Termination, s.Failed = c.stop(l, k, o, running); s.Termination != "" {
				break
			}
			level.add(o.Figures)
		}
		if s.Termination == "" || s.Failed || c.PartialLevel == "keep" {
			s.add(level)
		}
		if s.Termination != "" {
			break
		}
		if rate := *level.SuccessRate; rate < c.Gate {
			s.Termination = fmt.Sprintf("level %d: mean success rate %.4g is below the gate of %.4g", l, rate, c.Gate)
			break
		}
	}
	s.mean()
	return s
}

// stop says why a run ends at a scenario, empty if it does not.
func (c *Competition) stop(l, k int, o Outcome, running float64) (cause string, failed bool) {
	at := fmt.Sprintf("level %d, scenario %d", l, k+1)
	switch limits := &c.Limits; {
	case o.Missing:
		return at + ": no trajectory", false
	case o.Failure != "":
		return at + ": " + o.Failure, true
	case o.NormalizedReward == nil:
		return at + ": its reward cannot be normalised", true
	case o.Seconds > limits.Scenario:
		return fmt.Sprintf("%s: ran %.1f s, the limit of a scenario is %.0f s", at, o.Seconds, limits.Scenario), false
	case running > limits.Total:
		return fmt.Sprintf("%s: ran %.1f s in all, the limit of a submission is %.0f s", at, running, limits.Total), false
	}
	return "", false
}

func (l *LevelScore) add(f Figures) {
	l.Completed++
	l.Results = append(l.Results, f)
	l.NormalizedReward += *f.NormalizedReward
	sum := 0.0
	for _, r := range l.Results {
		sum += r.SuccessRate
	}
	mean := sum / float64(len(l.Results))
	l.SuccessRate = &mean
	if f.Components != nil {
		for c, v := range f.Components {
			l.Components[c] += v
		}
	}
}

func (s *SubmissionScore) add(l LevelScore) {
	if l.Completed == 0 {
		return
	}
	s.Levels = append(s.Levels, l)
	s.NormalizedReward += l.NormalizedReward
}

func (s *SubmissionScore) mean() {
	sum, n := 0.0, 0
	for _, l := range s.Levels {
		if l.SuccessRate != nil {
			sum += *l.SuccessRate
			n++
		}
	}
	if n > 0 {
		mean := sum / float64(n)
		s.SuccessRate = &mean
	}
}
