package ingest

import (
	"context"
	"errors"
	"fmt"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/contest"
	"skyrail/internal/checkpoint"
	"skyrail/internal/pyworker"
	"skyrail/internal/submission"
)

// Result is what became of a submission. The names in JSON are the reference's, as far as it has them.
type Result struct {
	Zip              string    `json:"zip"`
	Team             string    `json:"team,omitempty"`
	Algo             string    `json:"algo,omitempty"`
	EnvEntryPoint    *string   `json:"env_entry_point"`
	PolicyEntryPoint *string   `json:"policy_entry_point"`
	Notes            string    `json:"notes"`
	Warnings         []string  `json:"warnings"`
	Isolation        string    `json:"isolation,omitempty"` // native, cage or process
	Network          string    `json:"network,omitempty"`   // what the engine flies by itself
	Contract         string    `json:"contract,omitempty"`
	Score            *Summary  `json:"score,omitempty"`
	Failures         []Failure `json:"failures,omitempty"` // episodes idled to their end, with OnFailure Idle
	OK               bool      `json:"ok"`
	Error            string    `json:"error,omitempty"` // one line
	Code             string    `json:"code,omitempty"`  // stable: a submission.Rule, a pyworker.Code, or one of the codes below
	Hint             string    `json:"hint,omitempty"`  // what to do
	At               *Moment   `json:"at,omitempty"`    // when its code failed, if that was in an episode
	Traceback        []string  `json:"traceback,omitempty"`

	Total    contest.Score     `json:"-"`
	Episodes []contest.Episode `json:"-"`
}

// The codes of refusals that are neither the zip's nor the worker's.
const (
	ContractFailed  = "contract"         // the contract suite is red
	ModelUnreadable = "model-unreadable" // the checkpoint is damaged, or none
	ModelMismatch   = "model-mismatch"   // the checkpoint is for another observation or another number of actions
)

// Moment is a step of an episode, the first being 0.
type Moment struct {
	Seed uint64 `json:"seed"`
	Step int    `json:"step"`
}

// Failure is an episode in which a team's code failed.
type Failure struct {
	At   *Moment `json:"at,omitempty"`
	Code string  `json:"code"`
	Why  string  `json:"error,omitempty"`
}

// Discreet returns the result without the seeds, and without what the team's code says, by which it could tell them.
func (r Result) Discreet() Result {
	r.At, r.Traceback = nil, nil
	failures := make([]Failure, len(r.Failures))
	for i, f := range r.Failures {
		failures[i] = Failure{Code: f.Code}
	}
	if r.Failures != nil {
		r.Failures = failures
	}
	if !r.OK {
		r.Error = ""
	}
	return r
}

// Summary is a score with the reference's names.
type Summary struct {
	Version              string  `json:"version"`
	Episodes             int     `json:"n_episodes"`
	Failed               int     `json:"failed_episodes"`
	Congestion           int     `json:"congestion_total"`
	CongestionPerEpisode float64 `json:"congestion_per_episode"`
	ZeroConflict         int     `json:"zero_conflict_episodes"`
	ExitMiss             float64 `json:"exit_miss_mean"`
	Clearances           int     `json:"clearances_total"`
	ClearancesPerEpisode float64 `json:"clearances_per_episode"`
	Touched              int     `json:"aircraft_involved_total"`
	Invalids             int     `json:"invalids_total"`
	RankKey              [5]int  `json:"rank_key"`
}

func newSummary(s contest.Score) *Summary {
	n := float64(max(s.Episodes, 1))
	return &Summary{
		Version: contest.ScoreVersion, Episodes: s.Episodes, Failed: s.Failed, Congestion: s.Congestion,
		CongestionPerEpisode: float64(s.Congestion) / n, ZeroConflict: s.ZeroConflict, ExitMiss: s.ExitMiss,
		Clearances: s.Clearances, ClearancesPerEpisode: float64(s.Clearances) / n, Touched: s.Touched,
		Invalids: s.Invalids, RankKey: s.Key(),
	}
}

// Score takes a zip in and flies it over the seeds, in their order. What the team is to blame for is in the Result; the
// error is a fault of the machine, or ctx's. flown, if not nil, is called after each episode.
func (h *Harness) Score(ctx context.Context, path string, cfg flight.Config, seeds []uint64, flown func()) (result Result, err error) {
	e, err := h.Open(ctx, path, cfg)
	if err == nil {
		defer func() { err = errors.Join(err, e.Close()) }()
	}
	result = Result{Zip: path, Warnings: []string{}}
	result.take(e)
	if err == nil {
		err = h.score(ctx, e, seeds, flown, &result)
	}
	if err != nil {
		return result, result.blame(err)
	}
	result.OK = true
	return result, nil
}

func (h *Harness) score(ctx context.Context, e *Entry, seeds []uint64, flown func(), result *Result) error {
	if h.settings.Contract {
		if err := e.contract(ctx, result); err != nil {
			return err
		}
	}
	fresh := func() (agent.Agent, error) { return e.Scored(ctx, false) }
	if h.settings.OnFailure == Idle {
		episodes, failures, err := contest.RunThrough(ctx, e.cfg, seeds, fresh, hopeless, flown)
		if err != nil {
			return err
		}
		result.Episodes = episodes
		for _, f := range failures {
			var v *pyworker.Verdict
			errors.As(f, &v) // or it would have been hopeless
			result.Failures = append(result.Failures, Failure{&Moment{f.Seed, f.Step}, string(v.Code), v.Reason})
		}
	} else {
		episodes, err := contest.Run(ctx, e.cfg, seeds, 1, fresh, flown)
		if err != nil {
			return err
		}
		result.Episodes = episodes
	}
	result.Total = contest.NewScore(result.Episodes)
	result.Score = newSummary(result.Total)
	return nil
}

// hopeless reports whether a failure will come again in every episode, or is not the team's.
func hopeless(err error) bool {
	var v *pyworker.Verdict
	return !errors.As(err, &v) || v.Loading || v.Code == pyworker.SubmissionTime
}

// take copies what is known of an entry.
func (r *Result) take(e *Entry) {
	m := e.Manifest
	r.Team, r.Algo, r.Notes, r.Isolation, r.Network = m.Team, m.Algo, m.Notes, e.Isolation, e.Network
	if m.EnvEntryPoint != "" {
		r.EnvEntryPoint = &m.EnvEntryPoint
	}
	if m.PolicyEntryPoint != "" {
		r.PolicyEntryPoint = &m.PolicyEntryPoint
	}
	r.Warnings = append(r.Warnings, e.Warnings...)
}

// blame puts what the team is to blame for into the result, and returns an error that it is not.
func (r *Result) blame(err error) error {
	var (
		refusal  *submission.Refusal
		verdict  *pyworker.Verdict
		failed   *contractError
		invalid  *checkpoint.InvalidError
		mismatch *checkpoint.MismatchError
	)
	switch {
	case errors.As(err, &refusal):
		r.Code, r.Hint, r.Error = string(refusal.Rule), refusal.Hint, fmt.Sprintf("%s: %v", refusal.Path, refusal.Err)
	case errors.As(err, &failed):
		r.Code, r.Hint, r.Error = ContractFailed, "run 'skyrail flight contract' on it until it passes", failed.Error()
	case errors.As(err, &invalid):
		r.Code, r.Hint, r.Error = ModelUnreadable, "save it again with model.save()", fmt.Sprintf("%s: %s: %s", modelName, invalid.Part, invalid.Reason)
	case errors.As(err, &mismatch):
		r.Code, r.Hint, r.Error = ModelMismatch, "train it on the challenge's scenario", fmt.Sprintf("%s: %v", modelName, mismatch)
	case errors.As(err, &verdict):
		r.Code, r.Hint, r.Traceback = string(verdict.Code), verdict.Hint, verdict.Traceback
		r.Error = verdict.Reason
		var moment *contest.MomentError
		if errors.As(err, &moment) && !verdict.Loading {
			r.At = &Moment{moment.Seed, moment.Step}
		}
	default:
		var moment *contest.MomentError
		if errors.As(err, &moment) { // when it happened does not matter, and may be secret
			err = moment.Err
		}
		return err
	}
	return nil
}
