package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

func newRailInspect(a *app) *cobra.Command {
	var f railFlags
	var noMap bool
	var trains []int
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show an environment file: map, trains, stops, time windows, malfunctions; or a generator's product",
		Long: `Show what an environment file of any age of Flatland holds: the map as text, the trains with their stops and time
windows, what breaks down, and the moment in which it was saved. With --json the same facts for programs.

On the map the trains that are shown are marked: a train by the way it heads, ^ > v <, and else S a start, T a target, o another
stop. Where several are in one cell the first of these stands.

Of what generators keep beside environments (rail, line, timetable, stations) it tells what it is and how much of it.`,
		Example: `  skyrail rail inspect level_0_scenario_1.pkl
  skyrail rail inspect level_0_scenario_1.pkl --no-map --train 3
  skyrail rail inspect level_0_scenario_1.pkl --json`,
		Args: oneArgument("the environment file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := readRailFile(args[0])
			if err != nil {
				return usage(err)
			}
			file, err := railfile.ReadEnvironment(data)
			if other := (*railfile.NotEnvironmentError)(nil); errors.As(err, &other) && other.Product {
				return a.inspectProduct(cmd, args[0], other.Is, data, f.json)
			}
			if err != nil {
				return usage(fmt.Errorf("%s: %w", args[0], err))
			}
			for _, i := range trains {
				if i < 0 || i >= len(file.Scenario.Trains) {
					return usage(fmt.Errorf("--train %d: the file has the trains 0 to %d", i, len(file.Scenario.Trains)-1))
				}
			}
			s := newInspection(args[0], file, trains, !noMap)
			if f.json {
				return printJSON(a.out, s)
			}
			s.print(a.out, file, !noMap)
			return nil
		},
	}
	cmd.Flags().BoolVar(&noMap, "no-map", false, "leave the map out")
	cmd.Flags().IntSliceVar(&trains, "train", nil, "show this train only (repeat for several; default all)")
	f.machine(cmd)
	return cmd
}

// inspection is what an environment file holds.
type inspection struct {
	File            string           `json:"file"`
	Container       string           `json:"container"`
	Legacy          bool             `json:"legacy"`
	Rows            int              `json:"rows"`
	Columns         int              `json:"columns"`
	Grid            [][]uint16       `json:"grid,omitempty"` // left out with --no-map
	LevelFree       [][2]int         `json:"level_free_positions"`
	MaxEpisodeSteps *int             `json:"max_episode_steps"`
	Elapsed         int              `json:"elapsed_steps"`
	Done            bool             `json:"done"`
	RandomSeed      *uint64          `json:"random_seed"`
	RandomState     bool             `json:"random_state"` // the file has the state of the random stream
	Effects         []effectFacts    `json:"effects"`
	Trains          []inspectedTrain `json:"trains"`
	TrainsInAll     int              `json:"trains_in_all"`
	Scene           *sceneFacts      `json:"scene,omitempty"` // of the JSON of one
}

type sceneFacts struct {
	Lines      int `json:"lines"`
	Timetables int `json:"timetables"`
	Stations   int `json:"stations"`
}

func factsOfScene(s *railfile.Scene) *sceneFacts {
	stations := map[uint64]bool{}
	for _, station := range s.Stations {
		stations[station.ID] = true
	}
	return &sceneFacts{len(s.Lines), len(s.Timetables), len(stations)}
}

type effectFacts struct {
	Kind string `json:"kind"`
	*malfunctionFacts
	*closureFacts
}

type malfunctionFacts struct {
	Rate        float64 `json:"malfunction_rate"`
	MinDuration int     `json:"min_duration"`
	MaxDuration int     `json:"max_duration"`
	Earliest    *int    `json:"earliest_malfunction,omitempty"`
}

type closureFacts struct {
	Closures int `json:"closures"`
	From     int `json:"from_step"`    // the first one begins
	Until    int `json:"until_step"`   // the last one ends
	Cells    int `json:"closed_cells"` // each counted once
}

type inspectedTrain struct {
	Handle            int             `json:"handle"`
	MaxSpeed          string          `json:"max_speed"`
	EarliestDeparture int             `json:"earliest_departure"`
	LatestArrival     int             `json:"latest_arrival"`
	Stops             []inspectedStop `json:"stops"`
	State             string          `json:"state"`
	Position          *[3]int         `json:"position"` // row, column, heading; null off the map
	Speed             string          `json:"speed"`
	Distance          string          `json:"distance"` // travelled in its cell
	Malfunction       int             `json:"malfunction"`
	Arrival           *int            `json:"arrival_time"`
}

type inspectedStop struct {
	Alternatives      [][3]*int `json:"alternatives"` // row, column, heading or null
	LatestArrival     *int      `json:"latest_arrival"`
	EarliestDeparture *int      `json:"earliest_departure"`
}

func newInspection(name string, f *railfile.Environment, only []int, withMap bool) inspection {
	s := f.Scenario
	in := inspection{
		File: name, Container: f.Container, Legacy: f.Legacy, Rows: s.Height, Columns: s.Width, LevelFree: [][2]int{},
		Elapsed: f.State.Elapsed, Done: f.State.AllDone, RandomState: f.HasStream, Effects: []effectFacts{}, TrainsInAll: len(s.Trains),
		Trains: []inspectedTrain{},
	}
	for row := 0; withMap && row < s.Height; row++ {
		cells := make([]uint16, s.Width)
		for col := range cells {
			cells[col] = uint16(s.Grid[row*s.Width+col])
		}
		in.Grid = append(in.Grid, cells)
	}
	for _, c := range s.LevelFree {
		in.LevelFree = append(in.LevelFree, [2]int{c.Row, c.Col})
	}
	if s.MaxEpisodeSteps > 0 {
		in.MaxEpisodeSteps = &s.MaxEpisodeSteps
	}
	if f.State.Seed.Given {
		in.RandomSeed = &f.State.Seed.Value
	}
	if f.Scene != nil {
		in.Scene = factsOfScene(f.Scene)
	}
	for _, effect := range f.State.Effects {
		in.Effects = append(in.Effects, factsOf(effect))
	}
	for i := range s.Trains {
		if len(only) == 0 || slices.Contains(only, i) {
			in.Trains = append(in.Trains, inspectTrain(i, &s.Trains[i], &f.State.Trains[i]))
		}
	}
	return in
}

func factsOf(effect rail.Effect) effectFacts {
	switch e := effect.(type) {
	case *rail.Breakdowns:
		return effectFacts{Kind: "breakdowns", malfunctionFacts: &malfunctionFacts{e.Rate, e.MinDuration, e.MaxDuration, nil}}
	case *rail.ConditionalMalfunctions:
		f := &malfunctionFacts{e.Rate, e.MinDuration, e.MaxDuration, nil}
		if e.Earliest.Given {
			f.Earliest = &e.Earliest.Step
		}
		return effectFacts{Kind: "departure delays", malfunctionFacts: f}
	case *rail.TrackClosures:
		return effectFacts{Kind: "closed tracks", closureFacts: factsOfClosures(e.Closures)}
	}
	return effectFacts{Kind: fmt.Sprintf("%T", effect)}
}

func factsOfClosures(closures []rail.Closure) *closureFacts {
	f := &closureFacts{Closures: len(closures)}
	cells := map[rail.Cell]bool{}
	for i, c := range closures {
		if i == 0 || c.From < f.From {
			f.From = c.From
		}
		f.Until = max(f.Until, c.Until)
		for _, cell := range c.Cells {
			cells[cell] = true
		}
	}
	f.Cells = len(cells)
	return f
}

func inspectTrain(i int, t *rail.Train, s *rail.TrainState) inspectedTrain {
	in := inspectedTrain{
		Handle: i, MaxSpeed: t.MaxSpeed.String(), EarliestDeparture: t.EarliestDeparture, LatestArrival: t.LatestArrival,
		Stops: []inspectedStop{}, State: s.State.String(), Speed: s.Speed.String(), Distance: s.Distance.String(), Malfunction: s.Malfunction, Arrival: step(s.Arrival),
	}
	if s.Configuration != rail.Nowhere {
		in.Position = &[3]int{s.Configuration.Row, s.Configuration.Col, int(s.Configuration.Heading)}
	}
	for _, stop := range t.Stops {
		out := inspectedStop{Alternatives: [][3]*int{}, LatestArrival: step(stop.LatestArrival), EarliestDeparture: step(stop.EarliestDeparture)}
		for _, a := range stop.Alternatives {
			row, col := a.Row, a.Col
			alternative := [3]*int{&row, &col, nil}
			if a.Heading != rail.NoHeading {
				h := int(a.Heading)
				alternative[2] = &h
			}
			out.Alternatives = append(out.Alternatives, alternative)
		}
		in.Stops = append(in.Stops, out)
	}
	return in
}

func step(t rail.Time) *int {
	if !t.Given {
		return nil
	}
	return &t.Step
}

func (in inspection) print(w io.Writer, f *railfile.Environment, withMap bool) {
	fmt.Fprintf(w, "%s: %s", shown(in.File), in.Container)
	if in.Legacy {
		fmt.Fprint(w, " of an age before timetables")
	}
	fmt.Fprintf(w, "\n%d rows, %d columns, %s, %s", in.Rows, in.Columns, count(len(in.LevelFree), "bridge"), count(in.TrainsInAll, "train"))
	if in.MaxEpisodeSteps != nil {
		fmt.Fprintf(w, ", at most %d steps", *in.MaxEpisodeSteps)
	} else {
		fmt.Fprint(w, ", no limit of steps")
	}
	if s := in.Scene; s != nil {
		fmt.Fprintf(w, "\na scene of %s, %s and %s", count(s.Lines, "line"), count(s.Timetables, "timetable"), count(s.Stations, "station"))
	} else {
		fmt.Fprintf(w, "\nsaved after %s", count(in.Elapsed, "step"))
	}
	if in.Done {
		fmt.Fprint(w, ", the episode is over")
	}
	switch {
	case in.RandomSeed != nil:
		fmt.Fprintf(w, "; seed %d", *in.RandomSeed)
	case f.NeedsSeed():
		fmt.Fprint(w, "; without random state: give --seed to the commands that run it")
	}
	fmt.Fprintln(w)
	if len(in.Effects) == 0 {
		fmt.Fprintln(w, "no malfunctions")
	}
	for _, e := range in.Effects {
		e.print(w)
	}
	if withMap {
		fmt.Fprintln(w)
		printMap(w, f.Scenario, in.marks())
	}
	fmt.Fprintln(w)
	for _, t := range in.Trains {
		t.print(w)
	}
}

func (e effectFacts) print(w io.Writer) {
	fmt.Fprintf(w, "%s: ", e.Kind)
	m, c := e.malfunctionFacts, e.closureFacts
	switch {
	case m != nil && m.Rate > 0:
		fmt.Fprintf(w, "rate %v a step, %d to %d steps and one more", m.Rate, m.MinDuration, m.MaxDuration)
		if m.Earliest != nil && *m.Earliest > 0 {
			fmt.Fprintf(w, ", from step %d", *m.Earliest)
		}
	case c != nil && c.Closures > 0:
		fmt.Fprintf(w, "%s of %s, from step %d to step %d", count(c.Closures, "closure"), count(c.Cells, "cell"), c.From, c.Until-1)
	default:
		fmt.Fprint(w, "none")
	}
	fmt.Fprintln(w)
}

func (t inspectedTrain) print(w io.Writer) {
	fmt.Fprintf(w, "train %d: speed %s, %s", t.Handle, t.MaxSpeed, t.State)
	if p := t.Position; p != nil {
		fmt.Fprintf(w, " at (%d, %d) %s, speed %s, %s of its cell travelled", p[0], p[1], rail.Heading(p[2]), t.Speed, t.Distance)
	}
	if t.Malfunction > 0 {
		fmt.Fprintf(w, ", broken for %s", count(t.Malfunction, "more step"))
	}
	if t.Arrival != nil {
		fmt.Fprintf(w, ", arrived in step %d", *t.Arrival)
	}
	fmt.Fprintln(w)
	for k, s := range t.Stops {
		what := "stop  "
		switch {
		case k == 0:
			what = "start "
		case k == len(t.Stops)-1:
			what = "target"
		}
		var places []string
		for _, a := range s.Alternatives {
			place := fmt.Sprintf("(%d, %d)", *a[0], *a[1])
			if a[2] != nil {
				place += " " + rail.Heading(*a[2]).String()
			}
			places = append(places, place)
		}
		fmt.Fprintf(w, "  %s %s", what, strings.Join(places, " or "))
		if s.LatestArrival != nil && *s.LatestArrival < maxShownStep {
			fmt.Fprintf(w, ", by step %d", *s.LatestArrival)
		}
		if s.EarliestDeparture != nil {
			fmt.Fprintf(w, ", not before step %d", *s.EarliestDeparture)
		}
		fmt.Fprintln(w)
	}
}

// maxShownStep is above every step of a timetable; trains without one have a latest arrival beyond it.
const maxShownStep = 1 << 40

// marks are what stands on the map instead of a track: the trains, and else where they start, go to and stop.
func (in inspection) marks() map[rail.Cell]rune {
	marks := map[rail.Cell]rune{}
	stops := func(mark rune, which func(k, n int) bool) {
		for _, t := range in.Trains {
			for k, s := range t.Stops {
				for _, a := range s.Alternatives {
					if which(k, len(t.Stops)) {
						marks[rail.Cell{Row: *a[0], Col: *a[1]}] = mark
					}
				}
			}
		}
	}
	stops('o', func(k, n int) bool { return k > 0 && k < n-1 })
	stops('T', func(k, n int) bool { return k > 0 && k == n-1 })
	stops('S', func(k, _ int) bool { return k == 0 })
	for _, t := range in.Trains {
		if p := t.Position; p != nil && p[2] >= 0 && p[2] < len(headingMarks) {
			marks[rail.Cell{Row: p[0], Col: p[1]}] = headingMarks[p[2]]
		}
	}
	return marks
}

// headingMarks are trains on the map, by heading.
var headingMarks = [4]rune{'^', '>', 'v', '<'}

// printMap draws every cell as the lines to the sides that its tracks lead to, or as its mark; rows and columns are
// numbered by tens.
func printMap(w io.Writer, s *rail.Scenario, marks map[rail.Cell]rune) {
	bridge := map[rail.Cell]bool{}
	for _, c := range s.LevelFree {
		bridge[c] = true
	}
	ruler := strings.Builder{}
	for col := 0; col < s.Width; col += 10 {
		fmt.Fprintf(&ruler, "%-10d", col)
	}
	fmt.Fprintf(w, "     %s\n", strings.TrimRight(ruler.String(), " "))
	for row := range s.Height {
		line := make([]rune, s.Width)
		for col := range line {
			cell := rail.Cell{Row: row, Col: col}
			if mark, ok := marks[cell]; ok {
				line[col] = mark
				continue
			}
			line[col] = glyph(s.Grid[row*s.Width+col], bridge[cell])
		}
		label := ""
		if row%10 == 0 {
			label = fmt.Sprint(row)
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%4s %s", label, string(line)), " "))
	}
	var legend []string
	if len(bridge) > 0 {
		legend = append(legend, "╬ bridge")
	}
	used := string(slices.Collect(maps.Values(marks)))
	for _, mark := range []struct{ runes, text string }{
		{string(headingMarks[:]), "^ > v < train"}, {"S", "S start"}, {"T", "T target"}, {"o", "o stop"},
	} {
		if strings.ContainsAny(used, mark.runes) {
			legend = append(legend, mark.text)
		}
	}
	if len(legend) > 0 {
		fmt.Fprintf(w, "     %s\n", strings.Join(legend, ", "))
	}
}

// glyphs are the box drawings of the sides north, east, south and west, as bits 8, 4, 2, 1.
var glyphs = [16]rune{' ', '╴', '╷', '┐', '╶', '─', '┌', '┬', '╵', '┘', '│', '┤', '└', '┴', '├', '┼'}

func glyph(t rail.Transitions, bridge bool) rune {
	if bridge {
		return '╬'
	}
	sides := 0
	for in := rail.North; in <= rail.West; in++ {
		for out := rail.North; out <= rail.West; out++ {
			if t.Allows(in, out) {
				sides |= 8>>((in+2)&3) | 8>>out
			}
		}
	}
	return glyphs[sides]
}
