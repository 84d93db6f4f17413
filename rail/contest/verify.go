package contest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

// Options say how a trajectory is verified.
type Options struct {
	// Episode is whose rows are verified.
	Episode string
	// Others are episodes that share the directory and are verified by themselves. Rows of any other episode are a
	// difference.
	Others []string
	// Rewards is the function that the recorded rewards are compared with. nil takes the form in which they are recorded:
	// the default reward, its components, the multi-objective or the punctuality one.
	Rewards *rail.Rewards
	// SkipRewards leaves the table of rewards, done flags and infos aside, as for directories that have none.
	SkipRewards bool
	// EndStep, if above 0, is where the recorded run was ended; only the steps up to it are verified.
	EndStep int
	// Lenient makes no difference of an action that is not recorded. It is taken for MOVE_FORWARD in any case, as in
	// flatland-rl.
	Lenient bool
	// Strict makes a difference of action_required in an info too. Older releases of flatland-rl had another rule for it,
	// and today's does not compare it by default.
	Strict bool
	// Claimed is the environment that came with the trajectory, to be compared with ours. nil: there is none.
	Claimed *rail.Env
	// ClaimedFault says why the environment that came with the trajectory could not be read; "" if it could.
	ClaimedFault string
}

// Difference is a place where a trajectory is not what its actions lead to.
type Difference struct {
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`  // of the file; 0: of no line
	Step     int    `json:"step"`            // elapsed steps after which it shows; of an action the step it was given to
	Train    *int   `json:"train,omitempty"` // nil: of no train
	What     string `json:"what"`            // what differs: position, reward, missing row, …
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

func (d *Difference) String() string {
	place := d.File
	if d.Line > 0 {
		place += fmt.Sprintf(", line %d", d.Line)
	}
	if d.Step > 0 {
		place += fmt.Sprintf(", step %d", d.Step)
	}
	if d.Train != nil {
		place += fmt.Sprintf(", train %d", *d.Train)
	}
	return fmt.Sprintf("%s: %s: expected %s, found %s", place, d.What, d.Expected, d.Found)
}

// Kind counts the differences of one kind.
type Kind struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Report is what the verification of a trajectory found.
type Report struct {
	Episode        string       `json:"episode"`
	Rewards        rail.Rewards `json:"-"`
	Agrees         bool         `json:"agrees"`
	First          *Difference  `json:"first_difference"` // by step, then table, then train; null if all agrees
	Differences    []Kind       `json:"differences"`      // by kind, in the order in which they were met
	MissingActions int          `json:"missing_actions"`  // taken for MOVE_FORWARD
	UnknownActions int          `json:"unknown_actions"`  // taken for DO_NOTHING; each is a difference too
	ActionRequired int          `json:"action_required"`  // infos in which it is another; differences only if strict
	Figures        Figures      `json:"figures"`          // recomputed; nothing recorded is in them
	Finished       bool         `json:"finished"`         // the episode was run to its end
	Totals         []float64    `json:"-"`                // of each train, as many values as the function is wide
}

// Verify runs the environment from where it is with the recorded actions, and compares. The environment is ours: of the
// trajectory only the actions have an influence on what it does. It is at the end of the run afterwards.
//
// An error means that the run could not be made, which is a fault of the environment and not of the trajectory, or that it
// was interrupted.
func Verify(ctx context.Context, e *rail.Env, t *railfile.Trajectory, o Options) (*Report, error) {
	v := &verifier{env: e, options: o, start: e.Elapsed(), trains: e.Trains()}
	v.report.Episode = o.Episode
	v.pick(t)
	v.report.Rewards = v.function()
	v.bout = newBout(e, v.report.Rewards)
	v.sort()
	v.compareEnvironments()
	if err := v.run(ctx); err != nil {
		return nil, err
	}
	v.compareEnds()
	v.report.Figures = v.bout.figures()
	v.report.Totals = v.bout.tally.Totals()
	v.compareResults()
	v.report.Agrees = v.report.First == nil
	v.report.Finished = e.AllDone()
	return &v.report, nil
}

type verifier struct {
	env           *rail.Env
	bout          *bout
	options       Options
	report        Report
	start, trains int

	actions   []railfile.ActionRow
	positions []railfile.PositionRow
	rewards   []railfile.RewardRow
	arrived   []railfile.ArrivedRow
	missing   []string // tables

	actionAt, positionAt, rewardAt grid
	firstKey                       [4]int
}

// tables are the files in the order in which their differences of one step are told.
var tables = []string{"", railfile.ActionsFile, railfile.PositionsFile, railfile.RewardsFile, railfile.ArrivedFile}

// differ notes a difference; the first by step, table and train is kept.
func (v *verifier) differ(d Difference) {
	k := slices.IndexFunc(v.report.Differences, func(k Kind) bool { return k.What == d.What })
	if k < 0 {
		k = len(v.report.Differences)
		v.report.Differences = append(v.report.Differences, Kind{What: d.What})
	}
	v.report.Differences[k].Count++
	train := -1
	if d.Train != nil {
		train = *d.Train
	}
	key := [4]int{d.Step, slices.Index(tables, d.File), train, d.Line}
	if v.report.First == nil || slices.Compare(key[:], v.firstKey[:]) < 0 {
		d.clean()
		v.report.First, v.firstKey = &d, key
	}
}

func (v *verifier) differAt(file string, line, step, train int, what, expected, found string) {
	v.differ(Difference{File: file, Line: line, Step: step, Train: &train, What: what, Expected: expected, Found: found})
}

// pick takes the rows of the episode; those of episodes that have no business here are differences.
func (v *verifier) pick(t *railfile.Trajectory) {
	v.missing = t.Missing
	v.actions = rowsOf(v, railfile.ActionsFile, t.Actions, func(r *railfile.ActionRow) (string, int, int) { return r.Episode, r.Line, r.Time + 1 })
	v.positions = rowsOf(v, railfile.PositionsFile, t.Positions, func(r *railfile.PositionRow) (string, int, int) { return r.Episode, r.Line, r.Time })
	v.rewards = rowsOf(v, railfile.RewardsFile, t.Rewards, func(r *railfile.RewardRow) (string, int, int) { return r.Episode, r.Line, r.Time })
	v.arrived = rowsOf(v, railfile.ArrivedFile, t.Arrived, func(r *railfile.ArrivedRow) (string, int, int) { return r.Episode, r.Line, r.Time })
}

// rowsOf are the rows of the episode: the table itself if all of them are.
func rowsOf[R any](v *verifier, file string, all []R, of func(*R) (episode string, line, step int)) []R {
	mine := 0
	for i := range all {
		episode, line, step := of(&all[i])
		switch {
		case episode == v.options.Episode:
			mine++
		case !slices.Contains(v.options.Others, episode):
			v.differ(Difference{
				File: file, Line: line, Step: step, What: "row of another episode", Expected: v.options.Episode, Found: short(episode),
			})
		}
	}
	if mine == len(all) {
		return all
	}
	rows := make([]R, 0, mine)
	for i := range all {
		if episode, _, _ := of(&all[i]); episode == v.options.Episode {
			rows = append(rows, all[i])
		}
	}
	return rows
}

func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return fmt.Sprintf("%q…", string(r[:40]))
	}
	return fmt.Sprintf("%q", s)
}

// function is the reward function of the run.
func (v *verifier) function() rail.Rewards {
	if v.options.Rewards != nil {
		return *v.options.Rewards
	}
	return RecordedRewards(v.rewards)
}

// grid finds the row of a step and train.
type grid struct {
	file     string
	rows     []int32 // index of the row, plus 1
	steps    int
	trains   int
	last     int // steps of the run up to the last one of which there is a row
	lastLine int
}

// at returns the index of the row of the k-th step (from 0) of the run, -1 if there is none.
func (g *grid) at(k, train int) int {
	if k < 0 || k >= g.steps {
		return -1
	}
	return int(g.rows[k*g.trains+train]) - 1
}

// sort puts the rows of the tables in their places. Rows of no train, before the run, twice or out of order are
// differences; those after its end show later.
func (v *verifier) sort() {
	v.actionAt = v.place(railfile.ActionsFile, len(v.actions), 1, func(i int) (int, int, int) {
		return v.actions[i].Line, v.actions[i].Time + 1, v.actions[i].Agent
	})
	v.positionAt = v.place(railfile.PositionsFile, len(v.positions), 0, func(i int) (int, int, int) {
		return v.positions[i].Line, v.positions[i].Time, v.positions[i].Agent
	})
	if v.options.SkipRewards {
		v.rewards = nil
	}
	v.rewardAt = v.place(railfile.RewardsFile, len(v.rewards), 0, func(i int) (int, int, int) {
		return v.rewards[i].Line, v.rewards[i].Time, v.rewards[i].Agent
	})
}

// place makes the grid of a table. back is what its times are behind the step.
//
// The grid has room for several times the rows there are, and for no more: a table with so many rows missing gets the rest
// of its rows told as such after the end.
func (v *verifier) place(file string, n, back int, row func(int) (line, step, train int)) grid {
	g := grid{file: file, trains: v.trains}
	if v.trains > 0 {
		g.steps = (8*n + 1<<20) / v.trains
	}
	if limit := v.env.MaxEpisodeSteps(); limit > 0 {
		g.steps = min(g.steps, max(limit-v.start, 1)) // one step is made even after the last
	} else {
		highest := v.start
		for i := range n {
			_, step, _ := row(i)
			highest = max(highest, step)
		}
		g.steps = min(g.steps, highest-v.start)
	}
	g.rows = make([]int32, g.steps*g.trains)
	previous := [2]int{math.MinInt, 0}
	for i := range n {
		line, step, train := row(i)
		k := step - v.start - 1
		switch {
		case train < 0 || train >= v.trains:
			v.differAt(file, line, step, train, "row of an unknown train", fmt.Sprintf("a train from 0 to %d", v.trains-1), fmt.Sprint(train))
			continue
		case k < 0:
			earliest := fmt.Sprintf("env_time %d or later", v.start+1-back)
			v.differAt(file, line, step, train, "row before the run", earliest, fmt.Sprint(step-back))
			continue
		case k >= g.steps:
			latest := fmt.Sprintf("env_time %d or earlier", v.start+g.steps-back)
			v.differAt(file, line, step, train, "row after the end", latest, fmt.Sprint(step-back))
			continue
		}
		at := &g.rows[k*g.trains+train]
		if *at != 0 {
			first, _, _ := row(int(*at) - 1)
			v.differAt(file, line, step, train, "duplicate row", "one row", fmt.Sprintf("another in line %d", first))
			continue
		}
		if key := [2]int{step, train}; slices.Compare(key[:], previous[:]) < 0 {
			v.differAt(file, line, step, train, "row out of order",
				fmt.Sprintf("a row after that of step %d, train %d", previous[0], previous[1]), fmt.Sprintf("step %d, train %d", step, train))
		} else {
			previous = key
		}
		*at = int32(i) + 1
		if k+1 >= g.last {
			g.last, g.lastLine = k+1, line
		}
	}
	return g
}

// run runs the environment with the recorded actions.
func (v *verifier) run(ctx context.Context) error {
	actions := make([]rail.Action, v.trains)
	for k := 0; !v.env.AllDone(); k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if v.options.EndStep > 0 && v.env.Elapsed() >= v.options.EndStep {
			return nil
		}
		if v.env.MaxEpisodeSteps() == 0 && k >= v.actionAt.steps {
			return nil // without a limit the episode may never end
		}
		for i := range actions {
			actions[i] = v.action(k, i)
		}
		if err := v.bout.step(actions); err != nil {
			return fmt.Errorf("step %d: %w", v.env.Elapsed(), err)
		}
		for i := range actions {
			v.comparePosition(k, i)
			v.compareReward(k, i)
		}
	}
	return nil
}

// action is what a train was told to do in the k-th step.
func (v *verifier) action(k, i int) rail.Action {
	at := v.actionAt.at(k, i)
	if at < 0 {
		v.report.MissingActions++
		if !v.options.Lenient && k < v.actionAt.last {
			v.differAt(railfile.ActionsFile, 0, v.env.Elapsed()+1, i, "missing row", "an action", "nothing")
		}
		return rail.MoveForward
	}
	r := &v.actions[at]
	if r.Unknown {
		v.report.UnknownActions++
		v.differAt(railfile.ActionsFile, r.Line, v.env.Elapsed()+1, i, "unknown action", "0 to 4 or the name of an action", short(r.Text))
	}
	return r.Action
}

// comparePosition compares where a train is after the k-th step.
func (v *verifier) comparePosition(k, i int) {
	at := v.positionAt.at(k, i)
	if at < 0 {
		v.absent(&v.positionAt, k, i)
		return
	}
	r := &v.positions[at]
	want := rail.Nowhere
	if c, ok := v.env.Configuration(i); ok {
		want = c
	}
	if r.At != want {
		v.differAt(railfile.PositionsFile, r.Line, v.env.Elapsed(), i, "position", placeText(want), placeText(r.At))
	}
}

func placeText(c rail.Configuration) string {
	if c == rail.Nowhere {
		return "off the map"
	}
	return c.String()
}

// absent notes a row that is not there. That a table ends too early is told once, in compareEnds.
func (v *verifier) absent(g *grid, k, i int) {
	if k < g.last {
		v.differAt(g.file, 0, v.start+k+1, i, "missing row", "a row", "nothing")
	}
}

// compareReward compares a train's reward, done flag and info of the k-th step.
func (v *verifier) compareReward(k, i int) {
	if v.options.SkipRewards {
		return
	}
	at := v.rewardAt.at(k, i)
	if at < 0 {
		v.absent(&v.rewardAt, k, i)
		return
	}
	r := &v.rewards[at]
	differ := func(what, expected, found string) {
		v.differAt(railfile.RewardsFile, r.Line, v.env.Elapsed(), i, what, expected, found)
	}
	width := v.report.Rewards.Width()
	want := v.env.Rewards(0)[width*i : width*(i+1)]
	if kind, ok := r.Reward.Kind(); !ok || kind != v.report.Rewards.Kind || len(r.Reward.Values) != width {
		differ("form of reward", fmt.Sprintf("%d values", width), r.Reward.String())
	} else {
		for c, n := range r.Reward.Values {
			if !near(want[c], n.Value) {
				differ("reward", valuesText(want), r.Reward.String())
				break
			}
		}
	}
	if done := v.env.Done(i); r.Done != done {
		differ("done", boolText(done), boolText(r.Done))
	}
	if m := v.env.Malfunction(i); r.Info.Malfunction != m {
		differ("malfunction", fmt.Sprint(m), fmt.Sprint(r.Info.Malfunction))
	}
	if s := v.env.Speed(i); !r.Info.Speed.Equal(s) {
		differ("speed", s.String(), r.Info.Speed.String())
	}
	if s := v.env.State(i); r.Info.State != s {
		differ("state", s.String(), r.Info.State.String())
	}
	if required := v.env.ActionRequired(i); r.Info.ActionRequired != required {
		v.report.ActionRequired++
		if !v.options.Strict {
			return
		}
		differ("action_required", boolText(required), boolText(r.Info.ActionRequired))
	}
}

// near is the reference's tolerance: recorded numbers may have passed through a reader that loses the last digits.
func near(want, recorded float64) bool {
	return math.Abs(want-recorded) <= 1e-8+float64(1e-5*math.Abs(recorded))
}

func valuesText(values []float64) string {
	if len(values) == 1 {
		return fmt.Sprint(values[0])
	}
	return fmt.Sprint(values)
}

func boolText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// compareEnds notes tables that are not there, rows after the end of the episode, and tables that end before it.
func (v *verifier) compareEnds() {
	end := v.env.Elapsed()
	for _, file := range v.missing {
		if file == railfile.RewardsFile && v.options.SkipRewards {
			continue
		}
		if file == railfile.ArrivedFile && v.options.EndStep > 0 {
			continue
		}
		v.differ(Difference{File: file, What: "missing table", Expected: "a table", Found: "nothing"})
	}
	for _, g := range []*grid{&v.actionAt, &v.positionAt, &v.rewardAt} {
		aside := g == &v.rewardAt && v.options.SkipRewards || g == &v.actionAt && v.options.Lenient || slices.Contains(v.missing, g.file)
		if v.trains == 0 || v.start+g.last >= end || aside {
			continue
		}
		v.differ(Difference{
			File: g.file, Line: g.lastLine, Step: v.start + g.last + 1, What: "table ends early",
			Expected: fmt.Sprintf("rows up to step %d", end), Found: fmt.Sprintf("none after step %d", v.start+g.last),
		})
	}
	late := func(file string, line, step, train, back int) {
		if step > end && v.options.EndStep == 0 && train >= 0 && train < v.trains {
			v.differAt(file, line, step, train, "row after the end", fmt.Sprintf("env_time %d or earlier", end-back), fmt.Sprint(step-back))
		}
	}
	inside := func(g *grid, step int) bool { return step-v.start-1 < g.steps }
	for _, r := range v.actions {
		if inside(&v.actionAt, r.Time+1) {
			late(railfile.ActionsFile, r.Line, r.Time+1, r.Agent, 1)
		}
	}
	for _, r := range v.positions {
		if inside(&v.positionAt, r.Time) {
			late(railfile.PositionsFile, r.Line, r.Time, r.Agent, 0)
		}
	}
	for _, r := range v.rewards {
		if inside(&v.rewardAt, r.Time) {
			late(railfile.RewardsFile, r.Line, r.Time, r.Agent, 0)
		}
	}
}

// compareResults compares the row that claims the result of the episode.
func (v *verifier) compareResults() {
	if slices.Contains(v.missing, railfile.ArrivedFile) {
		return
	}
	end := v.env.Elapsed()
	differ := func(line int, what, expected, found string) {
		v.differ(Difference{File: railfile.ArrivedFile, Line: line, Step: end, What: what, Expected: expected, Found: found})
	}
	if !v.env.AllDone() {
		for _, r := range v.arrived {
			differ(r.Line, "result of an episode without end", "no row", fmt.Sprintf("success rate %s", r.SuccessRate))
		}
		return
	}
	if len(v.arrived) == 0 {
		differ(0, "missing row", "a row with the result", "nothing: the run was ended early, or the file is cut off")
		return
	}
	for _, r := range v.arrived[1:] {
		differ(r.Line, "duplicate row", "one row", fmt.Sprintf("another in line %d", v.arrived[0].Line))
	}
	r := v.arrived[0]
	if r.Time != end-1 {
		differ(r.Line, "env_time", fmt.Sprint(end-1), fmt.Sprint(r.Time))
	}
	if !near(v.report.Figures.SuccessRate, r.SuccessRate.Value) {
		differ(r.Line, "success rate", fmt.Sprint(v.report.Figures.SuccessRate), r.SuccessRate.String())
	}
	want, ok := v.bout.tally.Normalized()
	switch {
	case r.Given && !ok:
		differ(r.Line, "normalised reward", "none", r.Normalized.String())
	case r.Given && !near(want, r.Normalized.Value):
		differ(r.Line, "normalised reward", fmt.Sprint(want), r.Normalized.String())
	}
}

// Unreadable is the report on a trajectory of which a table cannot be read.
func Unreadable(episode string, err error) *Report {
	d := &Difference{File: "event_logs", What: "malformed table", Expected: "a table as flatland-rl writes it", Found: err.Error()}
	var table *railfile.TableError
	if errors.As(err, &table) {
		d.File, d.Line, d.Found = table.File, table.Line, table.Err.Error()
		if table.Column != "" {
			d.Found = table.Column + ": " + d.Found
		}
	}
	return &Report{Episode: episode, First: d, Differences: []Kind{{d.What, 1}}}
}

// Unfit is the report on a trajectory whose own environment, for want of another, cannot be read or run.
func Unfit(episode string, err error) *Report {
	d := &Difference{
		File: "serialised_state/" + episode + ".pkl", What: "environment",
		Expected: "an environment that can run", Found: "one that cannot: " + err.Error(),
	}
	return &Report{Episode: episode, First: d, Differences: []Kind{{d.What, 1}}}
}
