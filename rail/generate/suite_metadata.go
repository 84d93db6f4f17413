package generate

import (
	"fmt"
	"slices"
	"strings"

	"skyrail/rail/railfile"
)

// SuiteMetadata says how [Levels] derives the levels from a scene of [SuiteScene], so that every scenario has its number of
// trains by the competition's rules alone: the lines of its scene, each with as many trains as its train category has
// times. The times of a scenario's categories are as equal as the numbers of lines allow.
//
// Nothing is drawn. It is an error if levels and parameters do not fit each other or the scene.
func SuiteMetadata(scene *railfile.Scene, levels []SuiteLevel, p SuiteParameters) (*railfile.Metadata, error) {
	if err := p.check(levels); err != nil {
		return nil, err
	}
	marked := *scene
	marked.Timetables = slices.Clone(scene.Timetables)
	if err := MarkScenes(&marked); err != nil {
		return nil, err
	}
	m := &railfile.Metadata{}
	for l, level := range levels {
		own := railfile.MetadataLevel{Name: level.Name}
		// The published files name all categories here. Every scenario has its own, which replace them.
		all := &railfile.TimetableSpecs{TrainCategories: []railfile.CategorySpecs{}}
		for _, c := range scene.TrainCategories {
			all.TrainCategories = append(all.TrainCategories, suiteCategory(c.Name, 0, 0, 1, 1))
		}
		own.Defaults.Timetable = all
		for i, trains := range level.Trains {
			s := &p.Levels[l].Scenarios[i]
			timetable, err := s.timetable(&marked, trains)
			if err != nil {
				return nil, fmt.Errorf("%s: scenarios[%d]: %w", level.Name, i, err)
			}
			specs := railfile.ScenarioSpecs{Name: fmt.Sprintf("scenario_%d", i+1)}
			specs.Timetable = timetable
			specs.Malfunction, specs.DepartureMalfunction = s.Breakdowns.specs(), s.DepartureDelays.specs()
			specs.Infrastructure = s.Closures.specs()
			own.Scenarios = append(own.Scenarios, specs)
		}
		m.Levels = append(m.Levels, own)
	}
	return m, nil
}

// timetable is what is asked of the timetables of a scenario, given a scene whose scenes are marked.
func (s *SuiteScenario) timetable(scene *railfile.Scene, trains int) (*railfile.TimetableSpecs, error) {
	for _, name := range s.Without {
		if !slices.ContainsFunc(scene.TrainCategories, func(c railfile.TrainCategory) bool { return c.Name == name }) {
			return nil, fmt.Errorf("without: the scene has no train category %q", name)
		}
	}
	var names []string
	var lines []int
	for _, c := range scene.TrainCategories {
		n := 0
		for _, t := range scene.Timetables {
			if t.TrainCategory == c.Name && slices.Contains(t.Scene, s.Scene) {
				n++
			}
		}
		if n > 0 && !slices.Contains(s.Without, c.Name) {
			names, lines = append(names, c.Name), append(lines, n)
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("no line is left in %s: lower without, or add lines to groups", s.Scene)
	}
	times, ok := trainsPerLine(lines, trains)
	if !ok {
		return nil, fmt.Errorf("%d trains cannot be had from lines of which %d are %s: change the counts in groups",
			trains, lines, strings.Join(names, ", "))
	}
	specs := &railfile.TimetableSpecs{
		AttributeFilter: &railfile.AttributeFilter{Key: "scene", Values: []railfile.AttributeValue{{Text: s.Scene, IsText: true}}},
		TrainCategories: []railfile.CategorySpecs{},
	}
	for i, name := range names {
		specs.TrainCategories = append(specs.TrainCategories, suiteCategory(name, i*s.Shift, s.Periodicity, times[i], s.TravelFactor))
	}
	return specs, nil
}

func suiteCategory(name string, shift, periodicity, times int, factor float64) railfile.CategorySpecs {
	whole := func(n int) *railfile.Range { return &railfile.Range{Low: railfile.WholeNumber(n)} }
	return railfile.CategorySpecs{
		Name: name, InitialShift: whole(shift), Periodicity: whole(periodicity), Times: whole(times),
		TravelFactor: &railfile.Range{Low: suiteNumber(factor)},
	}
}

// trainsPerLine finds how many trains the lines of each category have, so that there are so many in all: numbers that
// differ by as little as they can, none of them 0 if there is a train for every line, and of these the one with the
// smallest least number, then with the larger ones first. ok is false if there are no such numbers.
func trainsPerLine(lines []int, trains int) (times []int, ok bool) {
	total := 0
	for _, n := range lines {
		total += n
	}
	if total == 0 {
		return nil, false
	}
	least := min(1, trains/total)
	// Adding trains to one category and taking them from another gets anywhere within this.
	for spread := range min(trains, total) + 1 {
		for low := max(least, trains/total-spread); low*total <= trains; low++ {
			if times, ok := trainsPerLineWithin(lines, trains, low, low+spread); ok {
				return times, true
			}
		}
	}
	return nil, false
}

// trainsPerLineWithin is trainsPerLine with numbers from low to high.
func trainsPerLineWithin(lines []int, trains, low, high int) ([]int, bool) {
	// can[k][n]: the categories from k on can have n trains.
	can := make([][]bool, len(lines)+1)
	for k := range can {
		can[k] = make([]bool, trains+1)
	}
	can[len(lines)][0] = true
	for k := len(lines) - 1; k >= 0; k-- {
		for n := range trains + 1 {
			for t := low; t <= high && t*lines[k] <= n; t++ {
				can[k][n] = can[k][n] || can[k+1][n-t*lines[k]]
			}
		}
	}
	if !can[0][trains] {
		return nil, false
	}
	times := make([]int, len(lines))
	for k, n := range lines {
		times[k] = high
		for times[k]*n > trains || !can[k+1][trains-times[k]*n] {
			times[k]--
		}
		trains -= times[k] * n
	}
	return times, true
}

func (m *SuiteMalfunctions) specs() *railfile.MalfunctionSpecs {
	if m == nil {
		return nil
	}
	return &railfile.MalfunctionSpecs{
		DurationMin: new(m.DurationMin), DurationMax: new(m.DurationMax), Interval: new(suiteNumber(m.Interval)),
	}
}

func (c *SuiteClosures) specs() *railfile.InfrastructureSpecs {
	if c == nil {
		return nil
	}
	return &railfile.InfrastructureSpecs{
		Interval: new(suiteNumber(c.Interval)), DurationMin: new(c.DurationMin), DurationMax: new(c.DurationMax),
		Length: new(c.Length),
	}
}
