package generate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// Derived is one scenario that the metadata of a competition asks for.
type Derived struct {
	Level, Scenario string
	// Scene is what the reference's generator saves: the initial scene with the lines, timetables, flatlandLine and
	// flatlandTimetable of the scenario. Grid, stations and all else that the copies of a timetable have in common are
	// shared with the initial scene and must not be changed.
	Scene *railfile.Scene
	Specs railfile.Specs // what was asked for, overlaid
	Seed  *uint64        // of the metadata. quirk: it is carried along, but nothing is seeded with it
}

// What bounds a derivation, so that a few words of metadata cannot take all memory; the largest scenario of the
// competition has 532 trains.
const (
	maxLevelTrains = 1 << 16 // of a scenario, before the postSampler
	maxLevelStops  = 1 << 21 // of the trains of all scenarios
	maxLevelTime   = 1 << 40 // steps, of times, travel times and shifts
	maxLevelNumber = 1 << 53 // up to which a float counts
	maxLevelDigits = 4300    // that Python reads
)

// MarkScenes sets the attribute scene of every timetable from its name: the regions of the map that the train belongs
// to, by the first character of the second word. Region 4 is 1 and 3 together, region 5 is everything.
//
// It is an error if a name has no second word; the scene is then left as it was. Words are divided by single blanks.
func MarkScenes(s *railfile.Scene) error {
	marks := make([][]string, len(s.Timetables))
	for i := range s.Timetables {
		name := s.Timetables[i].Name
		_, rest, _ := strings.Cut(name, " ")
		if rest == "" || rest[0] == ' ' {
			return fmt.Errorf("timetables[%d]: %s has no second word that names its scene: call it something like \"IC 1.3.1\"",
				i, levelQuote(name))
		}
		switch rest[0] {
		case '1', '3':
			marks[i] = []string{"scene_" + rest[:1], "scene_4", "scene_5"}
		case '2', '4':
			marks[i] = []string{"scene_" + rest[:1], "scene_5"}
		default:
			marks[i] = []string{"scene_5"}
		}
	}
	for i, m := range marks {
		s.Timetables[i].Scene = m
	}
	return nil
}

// Levels derives all scenarios of the metadata from an initial scene, in their order. Each timetable that a scenario
// keeps is copied as often as its train category asks for, later and slower.
//
// What the metadata leaves to chance is drawn from global, NumPy's global legacy stream: for each timetable its times,
// then for each copy initialShift, periodicity and travelFactor, as far as they are ranges (one Randint each), and at last
// the postSampler of the scenario (ChoiceDistinct). The id of every copy is two words of ids, the first one high; the
// reference takes them from the operating system.
//
// It is an error where the reference fails, where it would write times that are not whole or a line that is null, if a
// scenario has more than 65536 trains or all have more than 2^21 stops, and if two scenarios would have the same file. An
// error names level, scenario, timetable and key. The initial scene is not changed.
func Levels(initial *railfile.Scene, m *railfile.Metadata, global, ids *numpyrand.RandomState) ([]Derived, error) {
	d := newLevelDeriver(initial, global, ids)
	var all []Derived
	seen := make(map[string]bool)
	for i := range m.Levels {
		level := &m.Levels[i]
		if err := railfile.CheckEpisodeID(level.Name); err != nil {
			return nil, fmt.Errorf("levels[%d].name, which becomes part of file names: %w", i, err)
		}
		for j := range level.Scenarios {
			own := &level.Scenarios[j]
			if err := railfile.CheckEpisodeID(own.Name); err != nil {
				return nil, fmt.Errorf("levels[%d].scenarios[%d].name, which becomes part of a file name: %w", i, j, err)
			}
			derived := Derived{Level: level.Name, Scenario: own.Name, Specs: level.Specs(j), Seed: own.Seed}
			where := derived.Level + ", " + derived.Scenario
			if seen[derived.FileStem()] {
				return nil, fmt.Errorf("%s comes twice, and its file would be lost: give every scenario of a level its own name", where)
			}
			seen[derived.FileStem()] = true
			scene, err := d.derive(derived.Specs.Timetable)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", where, err)
			}
			derived.Scene = scene
			all = append(all, derived)
		}
	}
	return all, nil
}

// Environment opens a derived scenario with its malfunctions, a seed for its stream and reward functions. Closures of
// track, which the reference does not know, are drawn from the seed too.
//
// quirk: without malfunctions anywhere there is still the effect of that name, at rate 0, and it takes its numbers from
// the stream.
func (d *Derived) Environment(seed uint64, rewards ...rail.Rewards) (*rail.Env, error) {
	e, err := d.environment(rail.Options{Seed: seed, Rewards: rewards})
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", d.Level, d.Scenario, err)
	}
	return e, nil
}

func (d *Derived) environment(o rail.Options) (*rail.Env, error) {
	s, err := d.Scene.Scenario()
	if err != nil {
		return nil, err
	}
	if n := s.MaxEpisodeSteps; len(s.Trains) > 0 && n < 1 || n > rail.MaxSteps {
		return nil, fmt.Errorf("max_episode_steps is %d, want 1 to %d: it comes from the latest arrivals, so change initialShift, periodicity, times or travelFactor",
			n, rail.MaxSteps)
	}
	if o.Effects, err = d.Specs.Effects(); err != nil {
		return nil, err
	}
	if d.Specs.Malfunction == nil {
		o.Effects = append(o.Effects, rail.NewBreakdowns(rail.MalfunctionParameters{}))
	}
	if d.Specs.Infrastructure != nil {
		closures, err := d.closures(s, o.Seed)
		if err != nil {
			return nil, err
		}
		o.Effects = append(o.Effects, closures)
	}
	return rail.New(s, o)
}

// closures draws the closures of track from a stream of their own, so that the environment's is the same without them.
func (d *Derived) closures(s *rail.Scenario, seed uint64) (*rail.TrackClosures, error) {
	net, err := rail.NewNetwork(s.Width, s.Height, s.Grid)
	if err != nil {
		return nil, err
	}
	rng := numpyrand.NewHashedRandomState(ScenarioSeed(seed, forClosures))
	return Closures(net, *d.Specs.Infrastructure, s.MaxEpisodeSteps, &rng)
}

// FileStem is the name of the scenario's file in the folder of a competition, with slashes and without its ending, such
// as level_0/level_0_scenario_1.
func (d *Derived) FileStem() string { return d.Level + "/" + d.Level + "_" + d.Scenario }

// levelDeriver derives scenarios from one scene.
type levelDeriver struct {
	initial     *railfile.Scene
	timetables  map[string]int // by name, the first of it
	lines       map[uint64]int // by id, the first of it
	global, ids *numpyrand.RandomState
	collected   map[int]bool // lines, of this scenario
	stops       int          // of all scenarios so far
}

func newLevelDeriver(initial *railfile.Scene, global, ids *numpyrand.RandomState) *levelDeriver {
	d := &levelDeriver{initial: initial, timetables: make(map[string]int), lines: make(map[uint64]int), global: global, ids: ids}
	for i := len(initial.Timetables) - 1; i >= 0; i-- {
		d.timetables[initial.Timetables[i].Name] = i
	}
	for i := len(initial.Lines) - 1; i >= 0; i-- {
		d.lines[initial.Lines[i].ID] = i
	}
	return d
}

// derive returns the scene of one scenario.
func (d *levelDeriver) derive(specs *railfile.TimetableSpecs) (*railfile.Scene, error) {
	if specs == nil {
		return nil, errors.New("there are no timetableSpecs: give them in the scenario or in the defaults of the level")
	}
	kept, err := d.filter(specs.AttributeFilter)
	if err != nil {
		return nil, err
	}
	d.collected = make(map[int]bool)
	s := *d.initial
	s.Lines, s.Timetables = []railfile.Line{}, []railfile.Timetable{}
	s.FlatlandLine = railfile.FlatlandLine{
		AgentPositions: [][][]railfile.SceneCell{}, AgentDirections: [][][]rail.Heading{},
		AgentTargets: []railfile.SceneCell{}, AgentSpeeds: []railfile.Number{},
	}
	s.FlatlandTimetable = railfile.FlatlandTimetable{EarliestDepartures: [][]*int{}, LatestArrivals: [][]*int{}}
	for _, i := range kept {
		if err := d.add(&s, i, specs); err != nil {
			return nil, fmt.Errorf("timetable %s: %w", levelQuote(d.initial.Timetables[i].Name), err)
		}
	}
	if specs.PostSampler != nil {
		if err := d.sample(&s, specs.PostSampler.Num); err != nil {
			return nil, fmt.Errorf("postSampler.num: %w", err)
		}
	}
	return &s, nil
}

// add adds all copies of a timetable.
func (d *levelDeriver) add(s *railfile.Scene, i int, specs *railfile.TimetableSpecs) error {
	t := &d.initial.Timetables[i]
	if specs.TrainCategories == nil {
		return errors.New("there are no trainCategories to say how often it runs: add them to the timetableSpecs")
	}
	c := slices.IndexFunc(specs.TrainCategories, func(c railfile.CategorySpecs) bool { return c.Name == t.TrainCategory })
	if c < 0 {
		return nil
	}
	if err := d.addCategory(s, t.Name, &specs.TrainCategories[c]); err != nil {
		return fmt.Errorf("trainCategories.%s: %w", t.TrainCategory, err)
	}
	return nil
}

func (d *levelDeriver) addCategory(s *railfile.Scene, name string, c *railfile.CategorySpecs) error {
	times, err := d.whole("times", c.Times, 1)
	if err != nil {
		return err
	}
	if times > maxLevelTrains-len(s.Timetables) {
		return fmt.Errorf("times is %d, which makes more than %d trains in a scenario: ask for fewer", times, maxLevelTrains)
	}
	for k := range times {
		numbered, err := numberedName(name, k)
		if err != nil {
			return err
		}
		shift, err := d.whole("initialShift", c.InitialShift, 0)
		if err != nil {
			return err
		}
		period, err := d.whole("periodicity", c.Periodicity, 0)
		if err != nil {
			return err
		}
		factor, err := d.number("travelFactor", c.TravelFactor, 1)
		if err != nil {
			return err
		}
		if err := d.copy(s, name, numbered, shift+k*period, factor); err != nil {
			return err
		}
	}
	return nil
}

// number is what a key asks for. It takes one Randint of the global stream if it is a range, and nothing otherwise.
//
// quirk: decimals as the ends of a range lose what is behind the point.
func (d *levelDeriver) number(key string, r *railfile.Range, otherwise int) (railfile.Number, error) {
	switch {
	case r == nil:
		return railfile.WholeNumber(otherwise), nil
	case !r.Draw:
		return r.Low, nil
	}
	low, high := math.Trunc(r.Low.Value), math.Trunc(r.High.Value)
	switch {
	case !(math.Abs(low) <= maxLevelNumber && math.Abs(high) <= maxLevelNumber):
		return railfile.Number{}, fmt.Errorf("%s is [%s, %s]: want numbers within ±2^53", key, r.Low, r.High)
	case low >= high:
		return railfile.Number{}, fmt.Errorf("%s is [%s, %s], which is empty: the second number, which is not drawn, "+
			"must be larger by 1 or more", key, r.Low, r.High)
	}
	return railfile.WholeNumber(int(d.global.Randint(int64(low), int64(high)))), nil
}

// whole is number for what is counted.
func (d *levelDeriver) whole(key string, r *railfile.Range, otherwise int) (int, error) {
	n, err := d.number(key, r, otherwise)
	switch {
	case err != nil:
		return 0, err
	case !n.Whole:
		return 0, fmt.Errorf("%s is %s: want a whole number, without a decimal point", key, n)
	case math.Abs(n.Value) > maxLevelTime:
		return 0, fmt.Errorf("%s is %s: want a number within ±2^40", key, n)
	}
	return int(n.Value), nil
}

// copy adds one copy of a timetable, with the way of its train.
//
// quirk: a timetable is looked up by its name, so of several with the same name always the first one is copied.
func (d *levelDeriver) copy(s *railfile.Scene, name, numbered string, shift int, factor railfile.Number) error {
	i := d.timetables[name]
	t := d.initial.Timetables[i]
	if d.stops += len(t.Stops); d.stops > maxLevelStops {
		return fmt.Errorf("the trains of all scenarios have more than %d stops: ask for fewer times or scenarios", maxLevelStops)
	}
	line, ok := d.lines[t.LineID]
	if !ok {
		return fmt.Errorf("lineId is %d, which no line of the scene has: add the line or change the lineId", t.LineID)
	}
	from := &d.initial.FlatlandLine
	n := min(len(from.AgentPositions), len(from.AgentDirections), len(from.AgentTargets), len(from.AgentSpeeds))
	if i >= n {
		return fmt.Errorf("it is timetables[%d] of the scene, but flatlandLine has %d trains: want one for each timetable", i, n)
	}
	stops, err := rescaledStops(t.Stops, factor)
	if err != nil {
		return err
	}
	if err := shiftStops(stops, shift); err != nil {
		return err
	}
	arrival := stops[len(stops)-1].LatestArrival
	if arrival == nil {
		return fmt.Errorf("stops[%d] has no latestArrival: the train's time at its target is needed", len(stops)-1)
	}
	if t.TravelFactor, err = product(t.TravelFactor, factor); err != nil {
		return err
	}
	high := d.ids.Uint32()
	t.ID = uint64(high)<<32 | uint64(d.ids.Uint32())
	t.Name, t.Stops = numbered, stops
	s.Timetables = append(s.Timetables, t)
	if !d.collected[line] {
		d.collected[line] = true
		s.Lines = append(s.Lines, d.initial.Lines[line])
	}
	s.FlatlandLine.AgentPositions = append(s.FlatlandLine.AgentPositions, from.AgentPositions[i])
	s.FlatlandLine.AgentDirections = append(s.FlatlandLine.AgentDirections, from.AgentDirections[i])
	s.FlatlandLine.AgentTargets = append(s.FlatlandLine.AgentTargets, from.AgentTargets[i])
	s.FlatlandLine.AgentSpeeds = append(s.FlatlandLine.AgentSpeeds, from.AgentSpeeds[i])
	departures, arrivals := stopTimes(stops)
	times := &s.FlatlandTimetable
	times.EarliestDepartures = append(times.EarliestDepartures, departures)
	times.LatestArrivals = append(times.LatestArrivals, arrivals)
	times.MaxEpisodeSteps = max(times.MaxEpisodeSteps, 2**arrival)
	return nil
}

// rescaledStops are stops with all travel times multiplied and rounded up. The stays stay as long as they are, and the
// departure from the target is dropped.
func rescaledStops(stops []railfile.TimetableStop, factor railfile.Number) ([]railfile.TimetableStop, error) {
	if len(stops) == 0 {
		return nil, errors.New("it has no stops: want two or more")
	}
	for j, stop := range stops {
		for _, at := range []*int{stop.LatestArrival, stop.EarliestDeparture} {
			if err := checkLevelTime(at); err != nil {
				return nil, fmt.Errorf("stops[%d]: %w", j, err)
			}
		}
	}
	scaled := slices.Clone(stops)
	last := len(stops) - 1
	for j := 1; j <= last; j++ {
		before, stop := stops[j-1], stops[j]
		switch {
		case before.EarliestDeparture == nil:
			return nil, fmt.Errorf("stops[%d] has no earliestDeparture: only the target may have none", j-1)
		case stop.LatestArrival == nil:
			return nil, fmt.Errorf("stops[%d] has no latestArrival: only the start may have none", j)
		case stop.EarliestDeparture == nil && j < last:
			return nil, fmt.Errorf("stops[%d] has no earliestDeparture: only the target may have none", j)
		}
		travel, err := scaledTravel(*stop.LatestArrival-*before.EarliestDeparture, factor)
		if err != nil {
			return nil, fmt.Errorf("stops[%d]: %w", j, err)
		}
		arrival := *scaled[j-1].EarliestDeparture + travel
		scaled[j].LatestArrival, scaled[j].EarliestDeparture = &arrival, nil
		if err := checkLevelTime(&arrival); err != nil {
			return nil, fmt.Errorf("stops[%d]: %w", j, err)
		}
		if j < last {
			departure := arrival + *stop.EarliestDeparture - *stop.LatestArrival
			scaled[j].EarliestDeparture = &departure
		}
	}
	return scaled, nil
}

// scaledTravel is the smallest whole number of steps that is not below the product, which is a double if the factor is
// one.
func scaledTravel(steps int, factor railfile.Number) (int, error) {
	scaled := math.Ceil(float64(steps) * factor.Value)
	if !(math.Abs(scaled) <= maxLevelTime) {
		return 0, fmt.Errorf("a travel time of %d steps times the travelFactor %s is too long: want a smaller factor", steps, factor)
	}
	return int(scaled), nil // a product of whole numbers is exact below the bound
}

// shiftStops adds to every time there is. The stops get times of their own.
func shiftStops(stops []railfile.TimetableStop, shift int) error {
	for j := range stops {
		for _, at := range []**int{&stops[j].LatestArrival, &stops[j].EarliestDeparture} {
			if *at == nil {
				continue
			}
			shifted := **at + shift
			if err := checkLevelTime(&shifted); err != nil {
				return fmt.Errorf("stops[%d], shifted by %d: %w", j, shift, err)
			}
			*at = &shifted
		}
	}
	return nil
}

func checkLevelTime(at *int) error {
	if at != nil && (*at < -maxLevelTime || *at > maxLevelTime) {
		return fmt.Errorf("step %d is too far away: want times within ±2^40", *at)
	}
	return nil
}

// stopTimes are copies of the times, in a list each.
func stopTimes(stops []railfile.TimetableStop) (departures, arrivals []*int) {
	departures, arrivals = make([]*int, len(stops)), make([]*int, len(stops))
	for j, stop := range stops {
		if at := stop.EarliestDeparture; at != nil {
			step := *at
			departures[j] = &step
		}
		if at := stop.LatestArrival; at != nil {
			step := *at
			arrivals[j] = &step
		}
	}
	return departures, arrivals
}

// product is that of Python's numbers: whole if both are.
func product(a, b railfile.Number) (railfile.Number, error) {
	p := railfile.Number{Value: float64(a.Value * b.Value), Whole: a.Whole && b.Whole}
	if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) || p.Whole && math.Abs(p.Value) > maxLevelNumber {
		return p, fmt.Errorf("its travelFactor %s times %s is too large: want smaller factors", a, b)
	}
	if p.Whole {
		p.Value += 0 // there is no whole -0
	}
	return p, nil
}

// numberedName is the name of a copy: the number behind the last point counts on, and a name without one gets one.
func numberedName(name string, k int) (string, error) {
	point := strings.LastIndexByte(name, '.')
	if point < 0 {
		return name + "." + strconv.Itoa(k), nil
	}
	number, ok := pythonInteger(name[point+1:])
	if !ok {
		return "", fmt.Errorf("the name has %s behind its last point: want a whole number, such as in \"IC 1.1\", or no point",
			levelQuote(name[point+1:]))
	}
	return name[:point+1] + number.Add(number, big.NewInt(int64(k))).String(), nil
}

// pythonInteger reads what Python's int() does of the digits 0 to 9: with a sign, blanks around and single underscores
// between digits.
func pythonInteger(text string) (*big.Int, bool) {
	text = strings.TrimSpace(text)
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || strings.Trim(digits, "0123456789_") != "" ||
		slices.Contains(strings.Split(digits, "_"), "") {
		return nil, false
	}
	digits = strings.ReplaceAll(digits, "_", "")
	if len(digits) > maxLevelDigits {
		return nil, false
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if ok && text[0] == '-' {
		n.Neg(n)
	}
	return n, ok
}

// sample keeps num of the trains, in the order in which they are drawn. Lines stay, also those without a train.
//
// quirk: the limit of steps is no longer doubled.
func (d *levelDeriver) sample(s *railfile.Scene, num int) error {
	n := len(s.Timetables)
	if num < 1 || num > n {
		return fmt.Errorf("%d of %d trains cannot be drawn: want 1 or more, and not more than there are", num, n)
	}
	drawn := make([]int, num)
	if err := d.global.ChoiceDistinct(drawn, n); err != nil {
		return err
	}
	line, times := &s.FlatlandLine, &s.FlatlandTimetable
	s.Timetables = picked(s.Timetables, drawn)
	line.AgentPositions, line.AgentDirections = picked(line.AgentPositions, drawn), picked(line.AgentDirections, drawn)
	line.AgentTargets, line.AgentSpeeds = picked(line.AgentTargets, drawn), picked(line.AgentSpeeds, drawn)
	times.EarliestDepartures = picked(times.EarliestDepartures, drawn)
	times.LatestArrivals = picked(times.LatestArrivals, drawn)
	latest := slices.MaxFunc(times.LatestArrivals, func(a, b []*int) int { return cmp.Compare(*a[len(a)-1], *b[len(b)-1]) })
	times.MaxEpisodeSteps = *latest[len(latest)-1]
	return nil
}

func picked[T any](all []T, indices []int) []T {
	some := make([]T, len(indices))
	for i, k := range indices {
		some[i] = all[k]
	}
	return some
}

// levelQuote shows a text of a foreign file, and not all of it if it is long.
func levelQuote(text string) string {
	const most = 80
	if len(text) <= most {
		return strconv.Quote(text)
	}
	cut := most
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(text[:cut]) + "…"
}
