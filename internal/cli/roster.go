package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/planner"
)

// builtIn is an agent of ours.
type builtIn struct {
	name           string
	plans          bool   // within a --budget
	offLeaderboard string // why it is no entry; empty if it sees observations only
	fresh          func(flight.Config, planner.Budget) (agent.Agent, error)
}

// roster returns the agents of ours in the order they are offered to people.
func roster() []builtIn {
	var all []builtIn
	for _, name := range agent.Names() {
		all = append(all, builtIn{name: name, fresh: func(cfg flight.Config, _ planner.Budget) (agent.Agent, error) {
			return agent.New(name, cfg)
		}})
	}
	return append(all,
		builtIn{name: "planner", plans: true, fresh: func(cfg flight.Config, b planner.Budget) (agent.Agent, error) {
			return planner.New(cfg, b), nil
		}},
		builtIn{name: "oracle", plans: true, offLeaderboard: "reads the true state", fresh: func(cfg flight.Config, b planner.Budget) (agent.Agent, error) {
			return planner.NewOracle(cfg, b), nil
		}},
	)
}

// builtInOf returns the agent of ours with a name; ok is false if there is none.
func builtInOf(name string) (b builtIn, ok bool) {
	all := roster()
	i := slices.IndexFunc(all, func(b builtIn) bool { return b.name == name })
	if i < 0 {
		return builtIn{}, false
	}
	return all[i], true
}

// agentNames lists the names for an --agent that is ours.
func (f *flightFlags) agentNames() string {
	var names []string
	for _, b := range roster() {
		if b.offLeaderboard == "" || !f.entries {
			names = append(names, b.name)
		}
	}
	return strings.Join(names, ", ")
}

// plannerNames lists the agents for which there is a budget.
func (f *flightFlags) plannerNames() string {
	var names []string
	for _, b := range roster() {
		if b.plans && (b.offLeaderboard == "" || !f.entries) {
			names = append(names, b.name)
		}
	}
	return strings.Join(names, " and ")
}

// checkAgents refuses agents that do not go together with the command and its flags.
func (f *flightFlags) checkAgents(cmd *cobra.Command) error {
	if len(f.agents) == 0 {
		return usage(fmt.Errorf("no agent; name one with --agent: %s, or a zip", f.agentNames()))
	}
	plans := false
	for i, name := range f.agents {
		if slices.Contains(f.agents[:i], name) {
			return usage(fmt.Errorf("--agent %s is given twice", name))
		}
		b, _ := builtInOf(name)
		if f.entries && b.offLeaderboard != "" {
			return usage(fmt.Errorf("--agent %s: it %s, which no entry may; the agents are %s, or a zip", name, b.offLeaderboard, f.agentNames()))
		}
		plans = plans || b.plans
	}
	if cmd.Flags().Changed("budget") && !plans {
		return usage(fmt.Errorf("--budget: no agent here plans; it is for %s", f.plannerNames()))
	}
	return nil
}

// offLeaderboardAgents says which agents have figures that do not belong on a leaderboard, and why.
func (f *flightFlags) offLeaderboardAgents() (why []string) {
	for _, name := range f.agents {
		if b, ok := builtInOf(name); ok && b.offLeaderboard != "" {
			why = append(why, name+": "+b.offLeaderboard)
		}
	}
	return why
}

// budget is a flag's value that is a planner's budget.
type budget struct{ v *planner.Budget }

func (b budget) Type() string   { return "nodes|time" }
func (b budget) String() string { return b.v.String() }

func (b budget) Set(text string) error {
	v, err := planner.ParseBudget(text)
	if err == nil {
		*b.v = v
	}
	return err
}

// budgetFlag adds the flag of commands that take agents.
func (f *flightFlags) budgetFlag(cmd *cobra.Command) {
	f.budget = planner.DefaultBudget()
	cmd.Flags().Var(budget{&f.budget}, "budget", "how much "+f.plannerNames()+" may think about a plan: a number of candidate plans, such as 500k or 2M, or a time, such as 50ms, with which figures are not reproducible")
}

// notReproducible says why the figures may be others the next time, if they may.
func (f *flightFlags) notReproducible() string {
	if f.budget.Reproducible() {
		return ""
	}
	return fmt.Sprintf("with --budget %v plans depend on the machine and on -j, and figures may differ from run to run", f.budget)
}
