package contest

import (
	"fmt"
)

// Composition is the share of each component in the sum of all, nil if there was no penalty. Shares of different
// scenarios cannot be compared.
func Composition(components Components) *Components {
	total := 0.0
	for _, v := range components {
		total += v
	}
	if total == 0 {
		return nil
	}
	var shares Components
	for c, v := range components {
		if v != 0 { // 0 over a negative total would be -0
			shares[c] = v / total
		}
	}
	return &shares
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
	Gate             *Verdict  `json:"gate"`              // null: not all scenarios were completed, and the gate not asked
	Results          []Figures `json:"results"`
	// Components are summed over the level's scenarios.
	Components Components `json:"components"`
	// Composition is the share of each component, null if there was no penalty.
	Composition *Components `json:"composition"`
}

// Verdict is what the gate said of a level.
type Verdict string

// The verdicts of the gate.
const (
	Passed  Verdict = "passed"
	Stopped Verdict = "stopped"
)

// SubmissionScore is the score of a submission.
type SubmissionScore struct {
	NormalizedReward float64      `json:"normalized_reward"` // the sum; what ranks
	SuccessRate      *float64     `json:"success_rate"`      // the mean of the levels that have one; levels not reached do not lower it
	Termination      *Termination `json:"termination"`       // why the run ended early; null if it did not
	Failed           bool         `json:"failed"`            // it may not be ranked
	Levels           []LevelScore `json:"levels"`            // those that count
}

// Reason is why the run of a submission ended.
type Reason string

// The reasons.
const (
	LevelGate     Reason = "gate"           // the mean success rate of a level
	ScenarioLimit Reason = "scenario_limit" // the running time of a scenario
	TotalLimit    Reason = "total_limit"    // the running time of all
	NoTrajectory  Reason = "no_trajectory"
	TraceMissing  Reason = "trace_missing" // no trajectory, but a later scenario has one; the submission failed
	TraceInvalid  Reason = "trace_invalid" // malformed, or not what its actions lead to; the submission failed
)

// Termination is where and why the run of a submission ended.
type Termination struct {
	Reason   Reason `json:"reason"`
	Level    int    `json:"level"`    // from 0
	Scenario int    `json:"scenario"` // from 1; 0: the whole level
	Detail   string `json:"detail"`   // of a trajectory that fails the submission; printable
	// Bound is what was exceeded; nil if it was neither the gate nor a limit of time.
	*Bound
}

// Bound is a gate or a limit with what was measured.
type Bound struct {
	Measured float64 `json:"measured"` // a success rate or seconds
	Limit    float64 `json:"limit"`
}

// String says it in a sentence.
func (t *Termination) String() string {
	at := fmt.Sprintf("level %d, scenario %d", t.Level, t.Scenario)
	switch t.Reason {
	case LevelGate:
		return fmt.Sprintf("level %d: mean success rate %.4g is below the gate of %.4g", t.Level, t.Measured, t.Limit)
	case ScenarioLimit:
		return fmt.Sprintf("%s: it ran %.1f s, limits.scenario is %.0f s", at, t.Measured, t.Limit)
	case TotalLimit:
		return fmt.Sprintf("%s: all together ran %.1f s, limits.total is %.0f s", at, t.Measured, t.Limit)
	case NoTrajectory:
		return at + ": no trajectory"
	}
	return at + ": " + t.Detail
}

// Score adds up a submission: outcomes by level and scenario, in the order of the competition. Of the limits it knows the
// gate and those of running time; the others are for whoever runs submissions.
//
// A level whose mean success rate is strictly below the gate counts, and ends the run. A scenario that took longer than
// a limit does not count and ends it; so does a missing one. One that failed ends it too, and the submission is failed; so
// is one with a missing scenario before one that is there, since scenarios are run in order.
func (c *Competition) Score(outcomes [][]Outcome) SubmissionScore {
	s := SubmissionScore{Levels: []LevelScore{}}
	running := 0.0
	for l := range c.Levels {
		level := LevelScore{Name: c.Levels[l].Name, Scenarios: len(c.Levels[l].Trains)}
		for k := range c.Levels[l].Trains {
			o := Outcome{Missing: true}
			if l < len(outcomes) && k < len(outcomes[l]) {
				o = outcomes[l][k]
			}
			running += o.Seconds
			if s.Termination = c.stop(l, k, o, running); s.Termination != nil {
				if later := c.after(l, k, outcomes); s.Termination.Reason == NoTrajectory && later != "" {
					s.Termination.Reason, s.Termination.Detail = TraceMissing, "no trajectory, but "+later+" has one"
				}
				break
			}
			level.add(o.Figures)
		}
		s.Failed = s.Termination != nil && (s.Termination.Reason == TraceInvalid || s.Termination.Reason == TraceMissing)
		stopped := s.Termination == nil && level.judge(c.Gate)
		if s.Termination == nil || s.Failed || c.PartialLevel == "keep" {
			s.add(level)
		}
		if s.Termination != nil {
			break
		}
		if stopped {
			s.Termination = &Termination{Reason: LevelGate, Level: l, Bound: &Bound{*level.SuccessRate, c.Gate}}
			break
		}
	}
	s.mean()
	return s
}

// stop says why a run ends at a scenario, nil if it does not.
func (c *Competition) stop(l, k int, o Outcome, running float64) *Termination {
	t := Termination{Level: l, Scenario: k + 1}
	switch limits := &c.Limits; {
	case o.Missing:
		t.Reason = NoTrajectory
	case o.Failure != "":
		t.Reason, t.Detail = TraceInvalid, Printable(o.Failure, 3*mostShown)
	case o.NormalizedReward == nil:
		t.Reason, t.Detail = TraceInvalid, "its reward cannot be normalised"
	case o.Seconds > limits.Scenario:
		t.Reason, t.Bound = ScenarioLimit, &Bound{o.Seconds, limits.Scenario}
	case running > limits.Total:
		t.Reason, t.Bound = TotalLimit, &Bound{running, limits.Total}
	default:
		return nil
	}
	return &t
}

// after names the first scenario behind one that has a trajectory, "" if none has.
func (c *Competition) after(l, k int, outcomes [][]Outcome) string {
	for ; l < min(len(outcomes), len(c.Levels)); l, k = l+1, -1 {
		names := c.Levels[l].Scenarios()
		for k++; k < min(len(outcomes[l]), len(names)); k++ {
			if !outcomes[l][k].Missing {
				return names[k]
			}
		}
	}
	return ""
}

// judge asks the gate about a completed level, and says whether it stopped the run.
func (l *LevelScore) judge(gate float64) bool {
	if l.SuccessRate == nil {
		return false
	}
	verdict := Passed
	if *l.SuccessRate < gate {
		verdict = Stopped
	}
	l.Gate = &verdict
	return verdict == Stopped
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
	l.Composition = Composition(l.Components)
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
