package generate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"skyrail/numpyrand"
	"skyrail/rail/railfile"
)

// SuiteLevel is what a competition's organisers say of a level: its name and, for each of its scenarios, the number of
// trains and of stops between start and target at most.
type SuiteLevel struct {
	Name   string
	Trains []int
	Stops  []int
}

// SuiteParameters is what they do not say, and [SuiteScene] and [SuiteMetadata] have to know. All of it is this project's
// own choice.
type SuiteParameters struct {
	Groups       []SuiteGroup           `yaml:"groups"`
	Apart        float64                `yaml:"apart"`         // share of the pairs of stations too near for a line, 0 to less than 1
	Roundabout   float64                `yaml:"roundabout"`    // longest way, by the distance along rows and columns
	Aside        int                    `yaml:"aside"`         // cells by which a stop may make a way longer
	Detour       int                    `yaml:"detour"`        // cells by which another platform may make it longer
	TravelFactor float64                `yaml:"travel_factor"` // time from stop to stop, by that at full speed
	DwellTime    int                    `yaml:"dwell_time"`    // steps from latest arrival to earliest departure
	Levels       []SuiteLevelParameters `yaml:"levels"`        // one for each level of the competition
}

// SuiteGroup is a group of lines, all in one region. The competition decides by the first character of a line's name in
// which scenes its trains are: 1 in scene_1 and scene_4, 2 in scene_2, 3 in scene_3 and scene_4, 4 in scene_4, and all in
// scene_5.
type SuiteGroup struct {
	Name   string       `yaml:"name"`   // the lines are named NAME.1, NAME.2 and so on
	Region string       `yaml:"region"` // of the map
	Lines  []SuiteLines `yaml:"lines"`
}

// SuiteLines is a number of lines of a train category.
type SuiteLines struct {
	Category string `yaml:"category"` // of the map
	Count    int    `yaml:"count"`
}

// SuiteLevelParameters are the scenarios of a level.
type SuiteLevelParameters struct {
	Name      string          `yaml:"name"`
	Scenarios []SuiteScenario `yaml:"scenarios"`
}

// SuiteScenario is a scenario of a level. How many trains a line has follows from the number of trains.
type SuiteScenario struct {
	Scene           string             `yaml:"scene"`                      // whose lines it has
	Without         []string           `yaml:"without,omitempty"`          // train categories that are left out
	Periodicity     int                `yaml:"periodicity"`                // steps from a train of a line to the next
	Shift           int                `yaml:"shift"`                      // steps by which a train category begins after the one before
	TravelFactor    float64            `yaml:"travel_factor"`              // what the times from stop to stop are multiplied with
	Breakdowns      *SuiteMalfunctions `yaml:"breakdowns,omitempty"`       // of trains anywhere
	DepartureDelays *SuiteMalfunctions `yaml:"departure_delays,omitempty"` // of trains at their stops
	Closures        *SuiteClosures     `yaml:"closures,omitempty"`         // of track
}

// SuiteMalfunctions say how often trains break down and for how long.
type SuiteMalfunctions struct {
	Interval    float64 `yaml:"interval"`     // steps between two of a train, on average
	DurationMin int     `yaml:"duration_min"` // steps
	DurationMax int     `yaml:"duration_max"` // steps
}

// SuiteClosures say how often track is closed, for how long and how much of it.
type SuiteClosures struct {
	Interval    float64 `yaml:"interval"`     // steps between the starts of two on the whole map, on average
	DurationMin int     `yaml:"duration_min"` // steps
	DurationMax int     `yaml:"duration_max"` // steps
	Length      int     `yaml:"length"`       // cells at most
}

// DefaultSuiteParameters are those for the railway competition of ECML 2026 on its public map. The numbers of lines make
// its numbers of trains possible with nearly the same number for every line. 8, 11, 14 and 26 lines are in scenes 1 to
// 4 as they should be; scene_5 has all 37, and 28 without the cargo trains.
func DefaultSuiteParameters() SuiteParameters {
	lines := func(ic, re, s, c int) []SuiteLines { return []SuiteLines{{"IC", ic}, {"RE", re}, {"S", s}, {"C", c}} }
	relaxed := levelPace{periodicity: [5]int{90, 90, 90, 90, 90}, shift: 7, travelFactor: 1.6}
	tight := levelPace{periodicity: [5]int{60, 60, 60, 60, 48}, shift: 7, travelFactor: 1.3}
	none := SuiteMalfunctions{}
	sample, delays := SuiteMalfunctions{540, 20, 50}, SuiteMalfunctions{10, 2, 5} // the numbers of the published metadata
	p := SuiteParameters{
		Groups: []SuiteGroup{
			{"1", "scene_1", lines(1, 2, 3, 2)}, {"2", "scene_2", lines(2, 2, 5, 2)},
			{"3", "scene_3", lines(1, 4, 5, 4)}, {"4", "scene_4", lines(1, 1, 1, 1)},
		},
		Apart: 0.6, Roundabout: 1.6, Aside: 2, Detour: 20, TravelFactor: 1.1, DwellTime: 2,
		Levels: []SuiteLevelParameters{
			{"level_0", levelPace{travelFactor: 1}.scenarios(none, none)},
			{"level_1", relaxed.scenarios(none, none)},
			{"level_2", tight.scenarios(none, none)},
			{"level_3", relaxed.scenarios(sample, none)},
			{"level_4", tight.scenarios(sample, delays)},
			{"level_5", tight.scenarios(SuiteMalfunctions{360, 30, 75}, SuiteMalfunctions{6, 3, 8})},
			{"level_6", nil},
		},
	}
	for i := range 5 { // all on the whole map, and each worse than the one before
		breakdowns := SuiteMalfunctions{float64(540 - 60*i), 20 + 5*i, 50 + 15*i}
		s := tight.scenarios(breakdowns, SuiteMalfunctions{float64(10 - i), 2 + i/2, 5 + i})[4]
		s.Closures = &SuiteClosures{float64(200 - 30*i), 20 + 5*i, 60 + 15*i, 4 + 2*i}
		p.Levels[6].Scenarios = append(p.Levels[6].Scenarios, s)
	}
	return p
}

// levelPace are the times of a level's five scenarios, one for each scene.
type levelPace struct {
	periodicity  [5]int
	shift        int
	travelFactor float64
}

// scenarios are those of a level. Malfunctions that are zero are none.
func (t levelPace) scenarios(breakdowns, delays SuiteMalfunctions) []SuiteScenario {
	given := func(m SuiteMalfunctions) *SuiteMalfunctions {
		if m == (SuiteMalfunctions{}) {
			return nil
		}
		return &m
	}
	all := make([]SuiteScenario, len(suiteScenes))
	for i, scene := range suiteScenes {
		all[i] = SuiteScenario{
			Scene: scene, Periodicity: t.periodicity[i], Shift: t.shift, TravelFactor: t.travelFactor,
			Breakdowns: given(breakdowns), DepartureDelays: given(delays),
		}
	}
	all[4].Without = []string{"C"}
	return all
}

// suiteScenes are the scenes of the competition.
var suiteScenes = []string{"scene_1", "scene_2", "scene_3", "scene_4", "scene_5"}

// suiteScenesOf are the scenes in which the trains of a group are.
func suiteScenesOf(group string) ([]string, error) {
	s := &railfile.Scene{Timetables: []railfile.Timetable{{Name: "IC " + group + ".1.1"}}}
	if err := MarkScenes(s); err != nil {
		return nil, err
	}
	return s.Timetables[0].Scene, nil
}

// SuiteScene lays lines on a map and gives each a timetable for a first train at step 0: the initial scene from which
// [Levels] derives all scenarios, with the metadata of [SuiteMetadata]. The lines of a group stop at most as often as the
// scenarios allow in which the group is.
//
// The same seed gives the same scene. What is drawn comes from a stream of its own, group by group: for every line that is not the way back of the one before it a permutation of pairs of
// stations, and for every line that passes more stations than it may stop at a choice of them.
//
// It is an error if levels and parameters do not fit each other or the map.
func SuiteScene(m *Map, levels []SuiteLevel, p SuiteParameters, seed uint64) (*railfile.Scene, error) {
	if err := p.check(levels); err != nil {
		return nil, err
	}
	rng := numpyrand.NewHashedRandomState(ScenarioSeed(seed, forLines))
	scene := &railfile.Scene{
		GridDimensions: m.Scene.GridDimensions, Grid: m.Scene.Grid, Overpasses: m.Scene.Overpasses,
		Stations: m.Scene.Stations, NextStationID: m.Scene.NextStationID, TrainCategories: m.Scene.TrainCategories,
	}
	b := newLineBuilder(m, p, rng)
	for _, g := range p.Groups {
		stops, err := p.stops(levels, g)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", g.Name, err)
		}
		lines, err := b.group(g, stops)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", g.Name, err)
		}
		for i, l := range lines {
			if err := b.add(scene, l, fmt.Sprintf("%s.%d", g.Name, i+1)); err != nil {
				return nil, fmt.Errorf("group %s: %w", g.Name, err)
			}
		}
	}
	return scene, nil
}

// stops is how often the trains of a group may stop on their way in any scenario they are in.
func (p *SuiteParameters) stops(levels []SuiteLevel, g SuiteGroup) (int, error) {
	scenes, err := suiteScenesOf(g.Name)
	if err != nil {
		return 0, err
	}
	most := math.MaxInt
	for l, level := range levels {
		for i, stops := range level.Stops {
			if slices.Contains(scenes, p.Levels[l].Scenarios[i].Scene) {
				most = min(most, stops)
			}
		}
	}
	return most, nil
}

// categories are the train categories of the group's lines in their order: two by two, and at the end those that are
// left over.
func (g *SuiteGroup) categories() []string {
	var pairs, rest []string
	for _, l := range g.Lines {
		for range l.Count / 2 {
			pairs = append(pairs, l.Category, l.Category)
		}
		if l.Count%2 == 1 {
			rest = append(rest, l.Category)
		}
	}
	return append(pairs, rest...)
}

func (p *SuiteParameters) check(levels []SuiteLevel) error {
	switch {
	case !(p.Apart >= 0 && p.Apart < 1):
		return fmt.Errorf("apart is %v, want 0 to less than 1", p.Apart)
	case !(p.Roundabout >= 1 && p.Roundabout <= mostCounted):
		return fmt.Errorf("roundabout is %v, want 1 to %d", p.Roundabout, mostCounted)
	case p.Aside < 0 || p.Aside > mostCounted:
		return fmt.Errorf("aside is %d cells, want 0 to %d", p.Aside, mostCounted)
	case p.Detour < 0 || p.Detour > mostCounted:
		return fmt.Errorf("detour is %d cells, want 0 to %d", p.Detour, mostCounted)
	case !(p.TravelFactor > 0 && p.TravelFactor <= mostCounted):
		return fmt.Errorf("travel_factor is %v, want more than 0, at most %d", p.TravelFactor, mostCounted)
	case p.DwellTime < 0 || p.DwellTime > mostCounted:
		return fmt.Errorf("dwell_time is %d steps, want 0 to %d", p.DwellTime, mostCounted)
	}
	for i, g := range p.Groups {
		if g.Name == "" || strings.ContainsAny(g.Name, " \t\n") {
			return fmt.Errorf("groups[%d]: its name is %q, want one like 1, without blanks", i, g.Name)
		}
		if slices.ContainsFunc(p.Groups[:i], func(o SuiteGroup) bool { return o.Name == g.Name }) {
			return fmt.Errorf("groups[%d]: there is a group %q already", i, g.Name)
		}
		for k, l := range g.Lines {
			if l.Count < 0 || l.Count > mostCounted {
				return fmt.Errorf("groups[%d].lines[%d]: count is %d, want 0 to %d", i, k, l.Count, mostCounted)
			}
		}
	}
	return p.checkLevels(levels)
}

// mostCounted bounds what is counted, so that nothing can overflow.
const mostCounted = 10000

func (p *SuiteParameters) checkLevels(levels []SuiteLevel) error {
	if len(p.Levels) != len(levels) {
		return fmt.Errorf("there are parameters for %d levels, want %d as in the competition", len(p.Levels), len(levels))
	}
	for l, level := range levels {
		own := &p.Levels[l]
		if own.Name != level.Name {
			return fmt.Errorf("levels[%d]: its name is %q, want %q as in the competition", l, own.Name, level.Name)
		}
		if len(level.Trains) != len(own.Scenarios) || len(level.Stops) != len(own.Scenarios) {
			return fmt.Errorf("%s: %d scenarios, want %d as the competition has numbers of trains, and %d of stops",
				level.Name, len(own.Scenarios), len(level.Trains), len(level.Stops))
		}
		for i := range own.Scenarios {
			if err := own.Scenarios[i].check(level.Trains[i], level.Stops[i]); err != nil {
				return fmt.Errorf("%s: scenarios[%d]: %w", level.Name, i, err)
			}
		}
	}
	return nil
}

func (s *SuiteScenario) check(trains, stops int) error {
	switch {
	case !slices.Contains(suiteScenes, s.Scene):
		return fmt.Errorf("scene is %q, want one of %q", s.Scene, suiteScenes)
	case trains < 1 || trains > mostCounted:
		return fmt.Errorf("the competition has %d trains, want 1 to %d", trains, mostCounted)
	case stops < 0:
		return fmt.Errorf("the competition has %d stops at most, want 0 or more", stops)
	case s.Periodicity < 0 || s.Periodicity > mostCounted:
		return fmt.Errorf("periodicity is %d steps, want 0 to %d", s.Periodicity, mostCounted)
	case s.Shift < 0 || s.Shift > mostCounted:
		return fmt.Errorf("shift is %d steps, want 0 to %d", s.Shift, mostCounted)
	case !(s.TravelFactor > 0 && s.TravelFactor <= mostCounted):
		return fmt.Errorf("travel_factor is %v, want more than 0, at most %d", s.TravelFactor, mostCounted)
	}
	if c := s.Closures; c != nil {
		if c.Length < 1 {
			return fmt.Errorf("closures: length is %d cells, want 1 or more", c.Length)
		}
		if err := checkDisturbance(c.Interval, c.DurationMin, c.DurationMax); err != nil {
			return fmt.Errorf("closures: %w", err)
		}
	}
	for _, m := range []struct {
		name string
		m    *SuiteMalfunctions
	}{{"breakdowns", s.Breakdowns}, {"departure_delays", s.DepartureDelays}} {
		if m.m != nil {
			if err := checkDisturbance(m.m.Interval, m.m.DurationMin, m.m.DurationMax); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return nil
}

func checkDisturbance(interval float64, durationMin, durationMax int) error {
	switch {
	case !(interval >= 1) || math.IsInf(interval, 1): // 1/interval is the probability of a step
		return fmt.Errorf("interval is %v steps, want 1 or more", interval)
	case durationMin < 1 || durationMax < durationMin || durationMax > mostCounted:
		return fmt.Errorf("duration is %d to %d steps, want 1 to %d, the smaller number first", durationMin, durationMax, mostCounted)
	}
	return nil
}
