package railfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skyrail/internal/golden"
	"skyrail/internal/pyvalue"
	"skyrail/numpyrand"
	"skyrail/rail"
)

// loaded is the recorded state of flatland-rl 4.2.5 after loading a file.
type loaded struct {
	OK          bool            `json:"ok"`
	Error       string          `json:"error"`
	Width       int             `json:"width"`
	Height      int             `json:"height"`
	NumAgents   int             `json:"num_agents"`
	Grid        [][]int         `json:"grid"`
	MaxSteps    *int            `json:"max_episode_steps"`
	Elapsed     int             `json:"elapsed_steps"`
	SeedInFile  *uint64         `json:"random_seed_in_file"`
	Seed        *uint64         `json:"random_seed"`
	LevelFree   [][2]int        `json:"level_free_positions"`
	Stream      *fingerprint    `json:"np_random"`
	Malfunction []float64       `json:"malfunction"`
	Effects     json.RawMessage `json:"effects_generator"`
	Dones       [][2]any        `json:"dones"`
	Agents      []loadedAgent   `json:"agents"`
	AfterReset  *afterReset     `json:"after_reset_1001"`
}

type afterReset struct {
	OK        bool          `json:"ok"`
	MaxSteps  *int          `json:"max_episode_steps"`
	LevelFree [][2]int      `json:"level_free_positions"`
	Stream    *fingerprint  `json:"np_random"`
	Agents    []loadedAgent `json:"agents"`
}

type fingerprint struct {
	Pos  int       `json:"pos"`
	Next [3]uint32 `json:"next3"`
	Key  string    `json:"key_sha256"`
}

type loadedAgent struct {
	Handle       int                        `json:"handle"`
	Initial      json.RawMessage            `json:"initial"`
	Current      json.RawMessage            `json:"current"`
	Old          json.RawMessage            `json:"old"`
	Target       [2]int                     `json:"target"`
	Targets      json.RawMessage            `json:"targets"`
	Moving       bool                       `json:"moving"`
	Earliest     int                        `json:"earliest_departure"`
	Latest       int                        `json:"latest_arrival"`
	Arrival      *int                       `json:"arrival_time"`
	Speed        string                     `json:"speed"`
	MaxSpeed     string                     `json:"max_speed"`
	Distance     string                     `json:"distance"`
	CellEntry    bool                       `json:"is_cell_entry"`
	Saved        *int                       `json:"saved_action"`
	State        int                        `json:"state"`
	Previous     *int                       `json:"previous_state"`
	Next         *int                       `json:"next_state"`
	Signals      map[string]json.RawMessage `json:"signals"`
	Down         int                        `json:"malfunction_down_counter"`
	Malfunctions int                        `json:"num_malfunctions"`
	Waypoints    []json.RawMessage          `json:"waypoints"`
	WpEarliest   []*int                     `json:"waypoints_earliest_departure"`
	WpLatest     []*int                     `json:"waypoints_latest_arrival"`
}

// keptSignals are those that the engine has. The others, of older files, are gone with the next step.
var keptSignals = []string{
	"in_malfunction", "earliest_departure_reached", "stop_action_given", "movement_action_given", "target_reached",
	"movement_allowed", "new_speed_zero",
}

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func place(c rail.Configuration) any {
	if c.Heading == rail.NoHeading {
		return [2]any{[2]int{c.Row, c.Col}, nil}
	}
	return [2]any{[2]int{c.Row, c.Col}, int(c.Heading)}
}

func placed(c rail.Configuration) json.RawMessage {
	if c == rail.Nowhere {
		return encode(nil)
	}
	return encode(place(c))
}

func optionalState(s rail.State) *int {
	if s == rail.NoState {
		return nil
	}
	n := int(s)
	return &n
}

func optionalStep(t rail.Time) *int {
	if !t.Given {
		return nil
	}
	return &t.Step
}

func ratio(f rail.Fraction) string {
	num, den, _ := f.Int64s()
	return fmt.Sprintf("%d/%d", num, den)
}

func fingerprintOf(r numpyrand.RandomState) *fingerprint {
	s := r.State()
	var words []byte
	for _, w := range s.Key {
		words = binary.LittleEndian.AppendUint32(words, w)
	}
	return &fingerprint{s.Pos, [3]uint32{r.Uint32(), r.Uint32(), r.Uint32()}, fmt.Sprintf("%x", sha256.Sum256(words))[:16]}
}

func levelFree(e *rail.Env) [][2]int {
	all := [][2]int{}
	for row := range e.Network().Height() {
		for col := range e.Network().Width() {
			if e.LevelFree(rail.Cell{Row: row, Col: col}) {
				all = append(all, [2]int{row, col})
			}
		}
	}
	return all
}

// dumpAgents describes the trains as the recordings do. Of the signals only those are there that the recording has too:
// the older ones are set anew in the next step.
func dumpAgents(f *Environment, e *rail.Env, recorded []loadedAgent) []loadedAgent {
	all := make([]loadedAgent, e.Trains())
	for i := range all {
		t, s := &e.Scenario().Trains[i], e.Snapshot().Trains[i]
		var targets []any
		for h := rail.North; h <= rail.West; h++ {
			c := rail.Configuration{Cell: t.Target, Heading: h}
			if e.AtTarget(i, e.Network().Node(c)) {
				targets = append(targets, place(c))
			}
		}
		a := loadedAgent{
			Handle: i, Initial: placed(t.Initial), Current: placed(s.Configuration), Old: placed(s.Old),
			Target: [2]int{t.Target.Row, t.Target.Col}, Targets: encode(targets), Earliest: t.EarliestDeparture, Latest: t.LatestArrival,
			Arrival: optionalStep(s.Arrival), Speed: ratio(s.Speed), MaxSpeed: ratio(e.MaxSpeed(i)), Distance: ratio(s.Distance),
			CellEntry: s.CellEntry, State: int(s.State), Previous: optionalState(s.Previous), Next: optionalState(s.Next),
			Down: s.Malfunction, Malfunctions: s.Malfunctions, Signals: map[string]json.RawMessage{},
		}
		var reached any = s.Signals.TargetReached
		if s.Signals.TargetUnset {
			reached = nil
		}
		ours := map[string]any{
			"in_malfunction": s.Signals.InMalfunction, "earliest_departure_reached": s.Signals.EarliestDepartureReached,
			"stop_action_given": s.Signals.StopActionGiven, "movement_action_given": s.Signals.MovementActionGiven,
			"target_reached": reached, "movement_allowed": s.Signals.MovementAllowed, "new_speed_zero": s.Signals.NewSpeedZero,
		}
		for name, v := range ours {
			if i < len(recorded) && recorded[i].Signals[name] != nil {
				a.Signals[name] = encode(v)
			}
		}
		if i < len(recorded) {
			for name, v := range recorded[i].Signals {
				if _, known := ours[name]; !known {
					a.Signals[name] = v
				}
			}
		}
		for k, stop := range t.Stops {
			var alternatives []any
			for _, w := range stop.Alternatives {
				alternatives = append(alternatives, place(w))
			}
			if last := k == len(t.Stops)-1; last && len(alternatives) == 4 && i < len(recorded) { // in arbitrary order
				a.Waypoints = append(a.Waypoints, sameSet(encode(alternatives), recorded[i].Waypoints[k]))
			} else {
				a.Waypoints = append(a.Waypoints, encode(alternatives))
			}
			a.WpEarliest = append(a.WpEarliest, optionalStep(stop.EarliestDeparture))
			a.WpLatest = append(a.WpLatest, optionalStep(stop.LatestArrival))
		}
		for _, v := range f.Surplus[i].EarliestDeparture {
			a.WpEarliest = append(a.WpEarliest, optionalStep(v))
		}
		for _, v := range f.Surplus[i].LatestArrival {
			a.WpLatest = append(a.WpLatest, optionalStep(v))
		}
		all[i] = a
	}
	return all
}

// sameSet returns want if got has the same elements in another order.
func sameSet(got, want json.RawMessage) json.RawMessage {
	var a, b []json.RawMessage
	if json.Unmarshal(got, &a) != nil || json.Unmarshal(want, &b) != nil {
		return got
	}
	text := func(x, y json.RawMessage) int { return bytes.Compare(x, y) }
	slices.SortFunc(a, text)
	slices.SortFunc(b, text)
	if slices.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }) {
		return want
	}
	return got
}

func describe(f *Environment, want *loaded) (*loaded, error) {
	e, err := f.Open(nil)
	if err != nil {
		seed := uint64(0)
		if e, err = f.Open(&seed); err != nil {
			return nil, err
		}
	}
	s := f.Scenario
	got := &loaded{
		OK: true, Width: s.Width, Height: s.Height, NumAgents: len(s.Trains), Elapsed: e.Elapsed(),
		LevelFree: levelFree(e), Dones: [][2]any{},
		Malfunction: []float64{f.Malfunction.Rate, float64(f.Malfunction.MinDuration), float64(f.Malfunction.MaxDuration)},
	}
	if want.AfterReset == nil {
		return nil, errors.New("no state after the reset is recorded")
	}
	for row := range s.Height {
		cells := make([]int, s.Width)
		for col := range cells {
			cells[col] = int(s.Grid[row*s.Width+col])
		}
		got.Grid = append(got.Grid, cells)
	}
	if s.MaxEpisodeSteps > 0 {
		got.MaxSteps = &s.MaxEpisodeSteps
	}
	if f.State.Seed.Given {
		got.Seed, got.SeedInFile = &f.State.Seed.Value, &f.State.Seed.Value
	}
	if f.HasStream {
		got.Stream = fingerprintOf(f.State.Stream)
	}
	for i := range s.Trains {
		got.Dones = append(got.Dones, [2]any{float64(i), e.Done(i)})
	}
	got.Dones = append(got.Dones, [2]any{"__all__", e.AllDone()})
	got.Agents = dumpAgents(f, e, want.Agents)
	if got.Effects, err = describeEffects(f); err != nil {
		return nil, err
	}
	seed := uint64(1001)
	reset, err := f.Open(&seed)
	if err != nil {
		return nil, err
	}
	limit := reset.MaxEpisodeSteps()
	got.AfterReset = &afterReset{OK: true, MaxSteps: &limit, LevelFree: levelFree(reset), Stream: fingerprintOf(reset.Stream())}
	got.AfterReset.Agents = dumpAgents(f, reset, want.AfterReset.Agents)
	return got, nil
}

// describeEffects shows the effects as the file would, random states as the text state.
func describeEffects(f *Environment) (json.RawMessage, error) {
	value, _, err := effectsValue(f.State.Effects)
	if err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(pyvalue.AppendJSON(nil, value), &v); err != nil {
		return nil, err
	}
	return encode(withoutStates(v)), nil
}

func withoutStates(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			if k == "malfunction_cached_random_state" && v[k] != nil {
				v[k] = "state"
			} else {
				v[k] = withoutStates(v[k])
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutStates(v[i])
		}
	}
	return v
}

func normal(raw json.RawMessage) any {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return v
}

var asJSON = cmp.FilterValues(func(a, b json.RawMessage) bool { return true }, cmp.Transformer("JSON", normal))

func checkLoaded(file, dump []byte) error {
	var want loaded
	if err := golden.Decode(dump, &want); err != nil {
		return err
	}
	f, err := ReadEnvironment(file)
	if err != nil {
		return err
	}
	if !want.OK { // a class that flatland-rl 4.2.5 lacks; we read the file like a legacy one
		if want.Error == "" || !f.Legacy || len(f.Scenario.Trains) == 0 {
			return fmt.Errorf("got a file with %d trains, legacy %v", len(f.Scenario.Trains), f.Legacy)
		}
		return nil
	}
	got, err := describe(f, &want)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(&want, got, asJSON); diff != "" {
		return fmt.Errorf("it differs (-want +got):\n%.3000s", diff)
	}
	return nil
}

// environmentFiles are the recorded environment files, without .gz.
func environmentFiles(t testing.TB) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir("testdata/files", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".loaded.json.gz") {
			all = append(all, strings.TrimSuffix(path, ".loaded.json.gz"))
		}
		return err
	})
	if err != nil || len(all) < 40 {
		t.Fatalf("%d recorded environments, %v", len(all), err)
	}
	return all
}

// TestGoldenEnvironments compares what we read with what flatland-rl 4.2.5 holds after loading the same file.
func TestGoldenEnvironments(t *testing.T) {
	for _, path := range environmentFiles(t) {
		t.Run(strings.TrimPrefix(path, "testdata/files/"), func(t *testing.T) {
			t.Parallel()
			file, dump := golden.Read(t, path+".gz"), golden.Read(t, path+".loaded.json.gz")
			if err := checkLoaded(file, dump); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestGoldenEnvironmentsNoticeEveryChange shows that a changed value of a recording is found.
func TestGoldenEnvironmentsNoticeEveryChange(t *testing.T) {
	skip := func(path string) bool {
		_, signal, isSignal := strings.Cut(path, ".signals.")
		return isSignal && !slices.Contains(keptSignals, signal) || strings.HasPrefix(path, "error")
	}
	for _, path := range environmentFiles(t) {
		t.Run(strings.TrimPrefix(path, "testdata/files/"), func(t *testing.T) {
			t.Parallel()
			file, dump := golden.Read(t, path+".gz"), golden.Read(t, path+".loaded.json.gz")
			golden.Mutate(t, dump, 6, skip, func(dump []byte) error { return checkLoaded(file, dump) })
		})
	}
}
