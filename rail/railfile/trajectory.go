package railfile

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"skyrail/rail"
)

// TrajectoryDir is a directory with what happened in one or several episodes: four tables of events, and environments
// as they were before an episode and at some of its steps.
//
// The tables are read row by row and as they are: nothing is merged, sorted or left out, so that rows that come twice,
// belong to another episode or to no train stay visible to whoever checks them. A cell that cannot be read is a
// [TableError]. Of a table that is only there compressed, as X.tsv.gz, the content is read. Nothing outside the
// directory is opened, not through a link either.
type TrajectoryDir struct {
	Path   string
	Limits TableLimits // the zero value stands for [DefaultTableLimits]
}

// The tables, by their file names.
const (
	ActionsFile   = "event_logs/ActionEvents.discrete_action.tsv"
	PositionsFile = "event_logs/TrainMovementEvents.trains_positions.tsv"
	ArrivedFile   = "event_logs/TrainMovementEvents.trains_arrived.tsv"
	RewardsFile   = "event_logs/TrainMovementEvents.trains_rewards_dones_infos.tsv"
)

const (
	eventLogs       = "event_logs"
	serialisedState = "serialised_state"
	outputs         = "outputs"
)

// ActionRow says what a train was told to do in the step that followed.
type ActionRow struct {
	Line    int // in the file, from 1; the header is line 1
	Episode string
	Time    int // steps elapsed before the step: the first is 0
	Agent   int
	Action  rail.Action
	Unknown bool   // the cell names no action, which the reference takes as DoNothing; Action is then DoNothing
	Text    string // the cell, if it is unknown
}

// PositionRow says where a train was after a step.
type PositionRow struct {
	Line    int
	Episode string
	Time    int // steps elapsed after the step: the first is 1
	Agent   int
	At      rail.Configuration // rail.Nowhere: off the map
}

// RewardRow says what a step gave a train and how it left it.
type RewardRow struct {
	Line    int
	Episode string
	Time    int // steps elapsed after the step: the first is 1
	Agent   int
	Reward  Reward
	Info    Info
	Done    bool
}

// Info is a train's info of a step.
type Info struct {
	ActionRequired bool
	Malfunction    int // steps left
	Speed          rail.Fraction
	State          rail.State
}

// ArrivedRow is the result of an episode that came to its end.
type ArrivedRow struct {
	Line        int
	Episode     string
	Time        int // steps elapsed, less one
	SuccessRate Number
	Normalized  Number // the normalised reward, if Given
	Given       bool
}

// Trajectory is what the tables of a directory hold.
type Trajectory struct {
	EpisodeID string // "": of all episodes
	Actions   []ActionRow
	Positions []PositionRow
	Rewards   []RewardRow
	Arrived   []ArrivedRow
	Missing   []string // tables that are not there
}

// Of returns the rows of one episode, in their order.
func (t *Trajectory) Of(episode string) *Trajectory {
	of := &Trajectory{EpisodeID: episode, Missing: t.Missing}
	for _, r := range t.Actions {
		if r.Episode == episode {
			of.Actions = append(of.Actions, r)
		}
	}
	for _, r := range t.Positions {
		if r.Episode == episode {
			of.Positions = append(of.Positions, r)
		}
	}
	for _, r := range t.Rewards {
		if r.Episode == episode {
			of.Rewards = append(of.Rewards, r)
		}
	}
	for _, r := range t.Arrived {
		if r.Episode == episode {
			of.Arrived = append(of.Arrived, r)
		}
	}
	return of
}

// Read reads all four tables. One that is not there is empty and named as missing: old directories have no rewards.
func (d *TrajectoryDir) Read() (*Trajectory, error) {
	t := &Trajectory{}
	actions := gather(t, &t.Actions, ActionsFile, d.Actions(), 1024)
	positions := gather(t, &t.Positions, PositionsFile, d.Positions(), len(t.Actions))
	arrived := gather(t, &t.Arrived, ArrivedFile, d.Arrived(), 1)
	rewards := gather(t, &t.Rewards, RewardsFile, d.Rewards(), len(t.Positions))
	if err := errors.Join(actions, positions, arrived, rewards); err != nil {
		return nil, err
	}
	return t, nil
}

// gather adds the rows of a file that has about as many as room.
func gather[R any](t *Trajectory, rows *[]R, file string, from iter.Seq2[R, error], room int) error {
	for r, err := range from {
		if errors.Is(err, fs.ErrNotExist) {
			t.Missing = append(t.Missing, file)
			return nil
		}
		if err != nil {
			return err
		}
		if len(*rows) == cap(*rows) { // tables are long: twice the room costs less than append's quarter more
			*rows = slices.Grow(*rows, max(len(*rows), room, 1))
		}
		*rows = append(*rows, r)
	}
	return nil
}

var (
	actionColumns   = []column{{name: "episode_id"}, {name: "env_time"}, {name: "agent_id"}, {name: "action"}}
	positionColumns = []column{{name: "episode_id"}, {name: "env_time"}, {name: "agent_id"}, {name: "position"}}
	rewardColumns   = []column{{name: "episode_id"}, {name: "env_time"}, {name: "agent_id"}, {name: "reward"}, {name: "info"}, {name: "done"}}
	arrivedColumns  = []column{{name: "episode_id"}, {name: "env_time"}, {name: "success_rate"},
		{name: "normalized_reward", aliases: []string{"mean_normalized_reward"}, optional: true}}
)

// Actions are the rows of the table of actions. The first error is the last pair; it wraps fs.ErrNotExist if there is
// no such table.
func (d *TrajectoryDir) Actions() iter.Seq2[ActionRow, error] {
	return rows(d, ActionsFile, actionColumns, actionRow)
}

func actionRow(p *rowParser, c [][]byte) ActionRow {
	r := ActionRow{Line: p.table.line, Episode: p.episode(c[0]), Time: p.int(1, c), Agent: p.int(2, c)}
	a, ok := rail.ParseAction(string(c[3]))
	r.Action = a
	if !ok {
		r.Unknown, r.Text = true, p.intern(c[3])
	}
	return r
}

// Positions are the rows of the table of positions, errors as of [TrajectoryDir.Actions].
func (d *TrajectoryDir) Positions() iter.Seq2[PositionRow, error] {
	return rows(d, PositionsFile, positionColumns, positionRow)
}

func positionRow(p *rowParser, c [][]byte) PositionRow {
	return PositionRow{
		Line: p.table.line, Episode: p.episode(c[0]), Time: p.int(1, c), Agent: p.int(2, c), At: parse(p, 3, c, parsePosition),
	}
}

// Rewards are the rows of the table of rewards, done flags and infos, errors as of [TrajectoryDir.Actions]. The values
// of equal rewards are shared between rows and must not be changed.
func (d *TrajectoryDir) Rewards() iter.Seq2[RewardRow, error] {
	return rows(d, RewardsFile, rewardColumns, rewardRow)
}

func rewardRow(p *rowParser, c [][]byte) RewardRow {
	return RewardRow{
		Line: p.table.line, Episode: p.episode(c[0]), Time: p.int(1, c), Agent: p.int(2, c),
		Reward: cached(p, &p.rewards, 3, c, parseReward), Info: cached(p, &p.infos, 4, c, parseInfo), Done: parse(p, 5, c, parseBool),
	}
}

// Arrived are the rows of the table of results, errors as of [TrajectoryDir.Actions].
func (d *TrajectoryDir) Arrived() iter.Seq2[ArrivedRow, error] {
	return rows(d, ArrivedFile, arrivedColumns, arrivedRow)
}

func arrivedRow(p *rowParser, c [][]byte) ArrivedRow {
	r := ArrivedRow{Line: p.table.line, Episode: p.episode(c[0]), Time: p.int(1, c), SuccessRate: parse(p, 2, c, parseNumber)}
	if r.Given = len(c[3]) > 0; r.Given {
		r.Normalized = parse(p, 3, c, parseNumber)
	}
	return r
}

// rowParser reads cells; the first fault of a row stays.
type rowParser struct {
	table   *tableReader
	err     error
	last    string
	texts   map[string]string
	rewards map[string]Reward
	infos   map[string]Info
}

func rows[R any](d *TrajectoryDir, file string, columns []column, read func(*rowParser, [][]byte) R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		f, err := d.open(file)
		if err != nil {
			var none R
			yield(none, asTableError(file, err))
			return
		}
		defer f.Close()
		rowsOf(file, f, d.limits(), columns, read)(yield)
	}
}

// rowsOf are the rows of an open table; the first error is the last pair.
func rowsOf[R any](file string, from io.Reader, limits TableLimits, columns []column, read func(*rowParser, [][]byte) R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var none R
		t, err := newTableReader(file, from, limits, columns)
		if err != nil {
			yield(none, err)
			return
		}
		p := &rowParser{table: t}
		for {
			cells, err := t.row()
			if err == io.EOF {
				return
			}
			r := none
			if err == nil {
				r = read(p, cells)
				err = p.err
			}
			if err != nil {
				yield(none, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func parse[T any](p *rowParser, k int, cells [][]byte, read func([]byte) (T, error)) T {
	v, err := read(cells[k])
	if err != nil && p.err == nil {
		p.err = p.table.fault(p.table.columns[k].name, err)
	}
	return v
}

// maxCached bounds how many different cells are remembered, so that memory does not grow with the table.
const maxCached = 4096

// cached is parse for cells that are long and come again and again.
func cached[T any](p *rowParser, known *map[string]T, k int, cells [][]byte, read func([]byte) (T, error)) T {
	if v, ok := (*known)[string(cells[k])]; ok {
		return v
	}
	v := parse(p, k, cells, read)
	if *known == nil {
		*known = make(map[string]T)
	}
	if p.err == nil && len(*known) < maxCached {
		(*known)[string(cells[k])] = v
	}
	return v
}

func (p *rowParser) int(k int, cells [][]byte) int { return parse(p, k, cells, parseInt) }

func (p *rowParser) episode(cell []byte) string {
	if string(cell) != p.last {
		p.last = p.intern(cell)
	}
	if len(cell) == 0 && p.err == nil {
		p.err = p.table.fault("episode_id", errors.New("it is empty, want the episode"))
	}
	return p.last
}

func (p *rowParser) intern(text []byte) string {
	if s, ok := p.texts[string(text)]; ok {
		return s
	}
	if p.texts == nil {
		p.texts = make(map[string]string)
	}
	s := string(text)
	if len(p.texts) < maxCached {
		p.texts[s] = s
	}
	return s
}

func (d *TrajectoryDir) limits() TableLimits {
	if d.Limits == (TableLimits{}) {
		return DefaultTableLimits()
	}
	return d.Limits
}

// open opens a file of the directory, or else what is compressed beside it.
func (d *TrajectoryDir) open(name string) (io.ReadCloser, error) {
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openRegular(root, name)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	z, zErr := openRegular(root, name+".gz")
	if errors.Is(zErr, fs.ErrNotExist) {
		return nil, err // the one that was asked for
	}
	if zErr != nil {
		return nil, zErr
	}
	r, zErr := gzip.NewReader(z)
	if zErr != nil {
		z.Close()
		return nil, &TableError{File: name + ".gz", Err: zErr}
	}
	return gunzipped{r, z}, nil
}

// asTableError names the table of an error that does not; one that is not there is no fault.
func asTableError(file string, err error) error {
	var named *TableError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &named) {
		return err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the file is named already
	}
	return &TableError{File: file, Err: err}
}

// openRegular refuses what is no file before it opens it: opening a named pipe would wait for ever.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	return root.Open(name)
}
