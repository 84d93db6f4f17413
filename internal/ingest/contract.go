package ingest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"skyrail/flight"
	"skyrail/internal/pyworker"
)

// ContractChecks is how many checks the contract suite has.
const ContractChecks = 24

// Contract is what the contract suite says about a team's environment.
type Contract struct {
	Checks []pyworker.Check `json:"checks"` // up to the first that failed
	Advice []string         `json:"advice"` // what does not stop the scoring
}

// Passed reports whether all checks were run and passed.
func (c Contract) Passed() bool {
	return len(c.Checks) == ContractChecks && c.Checks[ContractChecks-1].Passed
}

// Verdict is the suite's word in one line: how many passed, or the first that failed, with its assertion.
func (c Contract) Verdict() string {
	switch n := len(c.Checks); {
	case c.Passed():
		return fmt.Sprintf("%d passed", ContractChecks)
	case n > 0 && !c.Checks[n-1].Passed:
		return fmt.Sprintf("check %d of %d failed: %s: %s", n, ContractChecks, c.Checks[n-1].Name, c.Checks[n-1].Reason)
	default:
		return fmt.Sprintf("the suite told %d checks of %d", n, ContractChecks)
	}
}

// Contract runs the contract suite on an environment below a folder, env being its entry point, and flies it beside
// ours. The error is a *pyworker.Verdict if the suite could not be run for a reason that is the team's.
func (h *Harness) Contract(ctx context.Context, root, env string, cfg flight.Config) (c Contract, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return c, err
	}
	session, err := h.session(ctx, pyworker.Team{Root: root, EnvEntryPoint: env, Deterministic: true}, cfg)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return runContract(ctx, session, cfg)
}

func runContract(ctx context.Context, session *pyworker.Session, cfg flight.Config) (c Contract, err error) {
	if c.Checks, err = session.Contract(ctx); err == nil && c.Passed() {
		c.Advice, err = beside(ctx, session, cfg)
	}
	return c, err
}

// contractError is a red contract suite.
type contractError struct{ contract Contract }

func (e *contractError) Error() string { return "contract suite failed: " + e.contract.Verdict() }

// contract is the gate of an entry: red is unscored.
func (e *Entry) contract(ctx context.Context, result *Result) error {
	if e.Manifest.EnvEntryPoint == "" {
		result.Contract = "stock environment: nothing to check"
		return nil
	}
	c, err := runContract(ctx, e.session, e.cfg)
	if err != nil {
		return err
	}
	result.Contract = c.Verdict()
	result.Warnings = append(result.Warnings, c.Advice...)
	if !c.Passed() {
		return &contractError{c}
	}
	return nil
}
