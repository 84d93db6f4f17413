package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/contest"
	"skyrail/rail/railfile"
)

func newRailCompare(a *app) *cobra.Command {
	var f railFlags
	var c railCompare
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Judge policies on a suite of scenarios by the rules of the competition",
		Long: `Run every policy in all scenarios of a suite, and print for each level and in all the normalised reward, the success
rate, what the gate says and of what the penalties are made up; then the official scores, the best first. The official score
ends with the level at which the gate stops a policy, the tables go on behind it.

A suite is a folder such as 'skyrail rail suite' makes: a folder for each level, and in it one environment for each scenario,
such as level_0/level_0_scenario_1.pkl (or .pkl.gz, .mpk). Environments go on from the file, as in a competition. With --level
only some levels are run, and there is no official score.

The figures are the same on every machine and for every -j, so the score knows no limits of time; a competition does. How long
the episodes of each policy took is told on standard error, with --json under seconds. With -j above 1 they run side
by side, and each takes longer.`,
		Example: `  skyrail rail compare --suite suite --agent do-nothing --agent shortest-path --agent deadlock-avoidance
  skyrail rail compare --suite suite --agent deadlock-avoidance --level level_0 --level level_3 -j 1`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.prepare(cmd, &f); err != nil {
				return err
			}
			p := a.startProgress(cmd.Context(), len(c.agents)*c.scenarios())
			rows, err := c.all(cmd.Context(), &f, p.one)
			a.stopRuns(p, err)
			if err != nil {
				return err
			}
			done := c.compared(rows, repeat(cmd))
			if f.json {
				return printJSON(a.out, done)
			}
			done.print(a.out)
			done.printSeconds(a.err)
			return nil
		},
	}
	cmd.Flags().StringVar(&c.suite, "suite", "", "the folder of the suite")
	cmd.Flags().StringArrayVar(&c.agents, "agent", nil, "a policy: "+strings.Join(agent.Names(), ", ")+" (repeat for several)")
	cmd.Flags().Var(number[uint32]{&f.policy, parsePolicySeed}, "agent-seed", "the seed of the policy random")
	cmd.Flags().StringArrayVar(&c.levels, "level", nil, "run this level, such as level_0 (repeat for several; default: all)")
	cmd.Flags().StringVar(&c.file, "contest", "", "the competition's file (default: contests/ecml-2026.yaml, which the program carries)")
	f.parallel(cmd)
	f.machine(cmd)
	return cmd
}

// railCompare is what a comparison is asked to do.
type railCompare struct {
	suite  string
	agents []string
	levels []string
	file   string

	competition *contest.Competition
	run         []int      // the places of the levels to run, ascending
	paths       [][]string // of the environments, by level and scenario; of levels that are not run there are none
}

// prepare reads the flags and looks for the environments.
func (c *railCompare) prepare(cmd *cobra.Command, f *railFlags) error {
	if c.suite == "" {
		return usage(errors.New("--suite is missing"))
	}
	if len(c.agents) == 0 {
		return usage(fmt.Errorf("no policy; name one with --agent: %s", strings.Join(agent.Names(), ", ")))
	}
	for i, name := range c.agents {
		if slices.Contains(c.agents[:i], name) {
			return usage(fmt.Errorf("--agent %s is given twice", name))
		}
		if _, err := f.named(name); err != nil {
			return err
		}
	}
	if err := f.checkAgentSeed(cmd, c.agents...); err != nil {
		return err
	}
	var err error
	if c.competition, err = readCompetition(c.file); err != nil {
		return err
	}
	if err := c.chooseLevels(); err != nil {
		return err
	}
	return c.findScenarios()
}

// named makes the policy of a name.
func (f *railFlags) named(name string) (agent.Policy, error) {
	of := *f
	of.agent = name
	return of.newPolicy()
}

// chooseLevels finds the levels of --level in the competition.
func (c *railCompare) chooseLevels() error {
	var names []string
	for l, level := range c.competition.Levels {
		names = append(names, level.Name)
		if len(c.levels) == 0 || slices.Contains(c.levels, level.Name) {
			c.run = append(c.run, l)
		}
	}
	for i, name := range c.levels {
		if !slices.Contains(names, name) {
			return usage(fmt.Errorf("--level: the competition has no level %q; its levels are %s", name, strings.Join(names, ", ")))
		}
		if slices.Contains(c.levels[:i], name) {
			return usage(fmt.Errorf("--level %s is given twice", name))
		}
	}
	return nil
}

// findScenarios finds the environments of the levels to run.
func (c *railCompare) findScenarios() error {
	if info, err := os.Stat(c.suite); err != nil {
		return usage(fmt.Errorf("--suite: %w", plainly(err)))
	} else if !info.IsDir() {
		return usage(fmt.Errorf("--suite %s is not a folder", c.suite))
	}
	c.paths = make([][]string, len(c.competition.Levels))
	var missing []string
	for _, l := range c.run {
		level := c.competition.Levels[l]
		for _, scenario := range level.Scenarios() {
			stem := filepath.Join(c.suite, level.Name, scenario)
			var found []string
			for _, suffix := range envSuffixes {
				if _, err := os.Stat(stem + suffix); err == nil {
					found = append(found, stem+suffix)
				}
			}
			switch len(found) {
			case 0:
				missing = append(missing, stem+envSuffixes[0])
			case 1:
				c.paths[l] = append(c.paths[l], found[0])
			default:
				return usage(fmt.Errorf("--suite: %s are both there; one scenario has one file", strings.Join(found, " and ")))
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	of := ""
	if n := len(missing) - 1; n > 0 {
		of = fmt.Sprintf(", with %s of %d", count(n, "more file"), c.scenarios())
	}
	const advice = "'skyrail rail suite --seed N --out DIR' makes a suite, and --level runs some levels of one"
	return usage(fmt.Errorf("--suite: %s is missing%s; %s", missing[0], of, advice))
}

// scenarios is how many scenarios each policy runs in.
func (c *railCompare) scenarios() int {
	n := 0
	for _, l := range c.run {
		n += len(c.competition.Levels[l].Trains)
	}
	return n
}

// open reads the environment of a scenario.
func (c *railCompare) open(level, scenario int) (*rail.Env, error) {
	path := c.paths[level][scenario]
	file, err := readEnvironment(path)
	if err != nil {
		return nil, usage(err)
	}
	const anew = "reset it with 'skyrail rail run --seed N --out DIR', which saves it in DIR/" + ownEnvironments
	if file.NeedsReset() {
		return nil, usage(fmt.Errorf("%s: its trains stand on the map before their start, as in the oldest files: %s", path, anew))
	}
	e, err := file.Open(nil)
	if errors.Is(err, railfile.ErrNoStream) {
		err = fmt.Errorf("the file has malfunctions but no random state, so what happens is not known: %s", anew)
	}
	if err != nil {
		return nil, usage(fmt.Errorf("%s: %w", path, err))
	}
	return e, nil
}

// all runs the policies one after the other, the episodes of each jobs at a time.
func (c *railCompare) all(ctx context.Context, f *railFlags, done func()) ([]comparedAgent, error) {
	var rows []comparedAgent
	for _, name := range c.agents {
		row, err := c.one(ctx, name, f, done)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// one runs a policy in all scenarios.
func (c *railCompare) one(ctx context.Context, name string, f *railFlags, done func()) (comparedAgent, error) {
	row := comparedAgent{Agent: name}
	begun, took := make([][]time.Time, len(c.paths)), make([][]time.Duration, len(c.paths))
	for l, paths := range c.paths {
		begun[l], took[l] = make([]time.Time, len(paths)), make([]time.Duration, len(paths))
	}
	suite := contest.Suite{
		Levels: c.run,
		Open: func(level, scenario int) (*rail.Env, error) {
			e, err := c.open(level, scenario)
			begun[level][scenario] = time.Now()
			return e, err
		},
		Done: func(level, scenario int) {
			took[level][scenario] = time.Since(begun[level][scenario])
			done()
		},
	}
	outcomes, err := c.competition.Run(ctx, suite, f.jobs, func() (agent.Policy, error) { return f.named(name) })
	switch {
	case errors.Is(err, contest.ErrNoTrains), errors.Is(err, contest.ErrNoLimit):
		return row, usage(fmt.Errorf("--suite %s: %w", c.suite, err))
	case err != nil:
		return row, fmt.Errorf("agent %s: %w", name, err)
	}
	row.Appraisal = c.competition.Appraise(outcomes)
	if o := row.Appraisal.Official; o != nil {
		row.Official = &officialScore{o.NormalizedReward, o.SuccessRate, len(o.Levels), o.Termination}
	}
	row.seconds = newAgentSeconds(name, row.Appraisal, c.run, took)
	return row, nil
}

// compared puts what the policies came to into order, the best first.
func (c *railCompare) compared(rows []comparedAgent, repeat string) compared {
	slices.SortStableFunc(rows, func(a, b comparedAgent) int { return cmp.Compare(b.ranking(), a.ranking()) })
	done := compared{
		Competition: c.competition.Name, Rewards: c.competition.Rewards, Scenarios: c.scenarios(), Gate: c.competition.Gate,
		Levels: []string{}, Agents: rows, Repeat: repeat,
		Others: rows[0].Appraisal.OtherTrains(c.competition), // all ran in the same
	}
	for _, l := range c.run {
		done.Levels = append(done.Levels, c.competition.Levels[l].Name)
	}
	for _, row := range rows {
		done.Seconds = append(done.Seconds, row.seconds)
	}
	return done
}

// compared is what several policies came to on a suite.
type compared struct {
	Competition string                `json:"competition"`
	Rewards     string                `json:"rewards"`
	Gate        float64               `json:"gate"`
	Levels      []string              `json:"levels"`    // that were run
	Scenarios   int                   `json:"scenarios"` // of these levels
	Agents      []comparedAgent       `json:"agents"`    // the best first
	Others      []contest.OtherTrains `json:"other_trains"`
	Seconds     []agentSeconds        `json:"seconds"` // in the order of agents; the one thing that two runs do not share
	Repeat      string                `json:"repeat"`
}

// comparedAgent is what one policy came to.
type comparedAgent struct {
	Agent string `json:"agent"`
	contest.Appraisal
	Official *officialScore `json:"official"` // null: not all levels were run

	seconds agentSeconds
}

// officialScore is the score by the rules of the competition, up to the gate and without limits of time.
type officialScore struct {
	NormalizedReward float64              `json:"normalized_reward"`
	SuccessRate      *float64             `json:"success_rate"`
	Levels           int                  `json:"levels"` // that count
	Termination      *contest.Termination `json:"termination"`
}

// ranking is what ranks: the official score, or where there is none the sum.
func (a comparedAgent) ranking() float64 {
	if a.Official != nil {
		return a.Official.NormalizedReward
	}
	return a.NormalizedReward
}

// agentSeconds is how long the episodes of a policy took by the clock, from the open environment to the end.
type agentSeconds struct {
	Agent          string    `json:"agent"`
	Levels         []float64 `json:"levels"` // in the order of the levels that were run
	All            float64   `json:"all"`
	Steps          int       `json:"steps"`
	StepsPerSecond float64   `json:"steps_per_second"` // 0 if nothing could be measured
}

func newAgentSeconds(name string, a contest.Appraisal, run []int, took [][]time.Duration) agentSeconds {
	s := agentSeconds{Agent: name}
	for i, l := range run {
		level := time.Duration(0)
		for k, d := range took[l] {
			level += d
			s.Steps += a.Levels[i].Results[k].Steps
		}
		s.Levels = append(s.Levels, level.Seconds())
		s.All += level.Seconds()
	}
	if s.All > 0 {
		s.StepsPerSecond = float64(s.Steps) / s.All
	}
	return s
}

// allLevels is what the levels together are called.
const allLevels = "all"

func (c compared) print(w io.Writer) {
	t := newTable(append([]string{"level", "agent", "normalised reward", "success rate", "gate"}, shareHeads()...)...)
	add := func(level string, a comparedAgent, reward float64, rate *float64, gate string, composition *contest.Components) {
		row := table.Row{level, a.Agent, fmt.Sprintf("%.4f", reward), percent(*rate), gate} // a level that was run has a rate
		t.AppendRow(append(row, shareCells(composition)...))
	}
	for l, name := range c.Levels {
		for _, a := range c.Agents {
			level := a.Appraisal.Levels[l]
			add(name, a, level.NormalizedReward, level.SuccessRate, a.gate(l), level.Composition)
		}
		t.AppendRow(table.Row{""})
	}
	for _, a := range c.Agents {
		add(allLevels, a, a.NormalizedReward, a.SuccessRate, "", a.Composition)
	}
	printTable(w, t)
	fmt.Fprintf(w, "\nRewards %s, sums over the scenarios; the last columns are shares of the penalties. ", c.Rewards)
	fmt.Fprintf(w, "The gate is a mean success rate of %s.\n", percent(c.Gate))
	if note := otherTrainsNote(c.Others); note != "" {
		fmt.Fprintln(w, note)
	}
	fmt.Fprintln(w)
	c.printOfficial(w)
	fmt.Fprintf(w, "To repeat: %s\n", c.Repeat)
}

// gate is the cell of a level, by its place among those that were run.
func (a comparedAgent) gate(l int) string {
	switch {
	case a.Official != nil && l >= a.Official.Levels:
		return "behind"
	case *a.Appraisal.Levels[l].Gate == contest.Stopped:
		return "STOPPED"
	}
	return string(contest.Passed)
}

// printOfficial prints the scores by the rules of the competition.
func (c compared) printOfficial(w io.Writer) {
	if c.Agents[0].Official == nil {
		fmt.Fprintf(w, "No official score: not all levels of %s were run. The gate was asked of each level alone.\n", c.Competition)
		return
	}
	t := newTable("#", "agent", "official score", "success rate", "levels", "gate")
	for i, a := range c.Agents {
		o, place := a.Official, i
		for place > 0 && c.Agents[place-1].ranking() == a.ranking() {
			place--
		}
		gate := "passed"
		if o.Termination != nil {
			gate = o.Termination.String()
		}
		t.AppendRow(table.Row{
			place + 1, a.Agent, fmt.Sprintf("%.4f", o.NormalizedReward), percent(*o.SuccessRate),
			fmt.Sprintf("%d of %d", o.Levels, len(c.Levels)), gate,
		})
	}
	printTable(w, t)
	fmt.Fprintf(w, "\n%s: official scores of at most %d, without limits of time; levels behind the gate do not count.\n",
		c.Competition, c.Scenarios)
}

// printSeconds prints how long it took.
func (c compared) printSeconds(w io.Writer) {
	heads := append([]string{"agent"}, c.Levels...)
	t := newTable(append(heads, allLevels, "steps/s")...)
	for _, s := range c.Seconds {
		row := table.Row{s.Agent}
		for _, v := range append(slices.Clone(s.Levels), s.All) {
			row = append(row, fmt.Sprintf("%.2f", v))
		}
		t.AppendRow(append(row, fmt.Sprintf("%.0f", s.StepsPerSecond)))
	}
	fmt.Fprintln(w, "seconds of the episodes:")
	printTable(w, t)
}
