package generate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// suiteLine is a line on a map.
type suiteLine struct {
	category string
	stops    []suiteStop // start, stops between and target; the first and the last have one stand
}

// suiteStop is where a line's trains stop.
type suiteStop struct {
	stand        int   // on the shortest way
	alternatives []int // stands, this one included
}

// lineBuilder lays lines.
type lineBuilder struct {
	m       *Map
	p       SuiteParameters
	rng     numpyrand.RandomState
	starts  []int // by platform: lines that start there
	targets []int // lines that end there
}

func newLineBuilder(m *Map, p SuiteParameters, rng numpyrand.RandomState) *lineBuilder {
	return &lineBuilder{m, p, rng, make([]int, m.platforms), make([]int, m.platforms)}
}

// suiteEnds are the stations at the ends of a line, by index.
type suiteEnds struct{ from, to int }

func (e suiteEnds) back() suiteEnds { return suiteEnds{e.to, e.from} }

// group lays the lines of a group. Every other line is the way back of the one before it: from its target, or from its
// last stop if the target is a border.
//
// Drawn is, for each line that is no way back, a Permutation of the pairs of stations of ends; the first that suits is
// taken. For each line that passes more stations than it may stop at, a ChoiceDistinct of them.
func (b *lineBuilder) group(g SuiteGroup, stops int) ([]suiteLine, error) {
	region, err := b.m.region(g.Region)
	if err != nil {
		return nil, err
	}
	ends := b.ends(region)
	var lines []suiteLine
	var used []suiteEnds
	for i, category := range g.categories() {
		var e suiteEnds
		if i%2 == 1 {
			e = b.wayBack(&lines[i-1])
		} else if e, err = b.draw(region, ends, used); err != nil {
			return nil, err
		}
		used = append(used, e)
		line, err := b.line(region, e, stops)
		if err != nil {
			return nil, err
		}
		line.category = category
		lines = append(lines, line)
	}
	return lines, nil
}

// ends are the pairs of stations of a region between which a line may lead: with a way there and back that is not too
// roundabout, and not among the nearest by their share.
func (b *lineBuilder) ends(region *MapRegion) []suiteEnds {
	inside := func(station int) bool { return slices.Contains(region.Stations, b.m.stations[station].id) }
	direct := func(from, to int) bool {
		cells := b.m.nearest(from, to)
		return cells > 0 && float64(cells) <= b.p.Roundabout*float64(b.m.across(from, to))
	}
	var all []suiteEnds
	for i := range b.m.stations {
		for k := range b.m.stations {
			border := b.m.stations[k].border()
			if i != k && !b.m.stations[i].border() && inside(i) && inside(k) && direct(i, k) && (border || direct(k, i)) {
				all = append(all, suiteEnds{i, k})
			}
		}
	}
	slices.SortStableFunc(all, func(a, c suiteEnds) int { return cmp.Compare(b.m.across(a.from, a.to), b.m.across(c.from, c.to)) })
	return all[int(b.p.Apart*float64(len(all))):]
}

// wayBack are the ends of a line's way back.
func (b *lineBuilder) wayBack(l *suiteLine) suiteEnds {
	last := len(l.stops) - 1
	if last > 1 && b.m.stations[b.stationOf(l.stops[last].stand)].border() {
		last--
	}
	return suiteEnds{b.stationOf(l.stops[last].stand), b.stationOf(l.stops[0].stand)}
}

// draw takes a pair of stations that no line of the group joins yet, where there are platforms at which no line starts
// yet, and with a station between them. What cannot be had is given up, the last of these first.
func (b *lineBuilder) draw(region *MapRegion, ends, used []suiteEnds) (suiteEnds, error) {
	order := make([]int, len(ends))
	b.rng.Permutation(order)
	for _, want := range []struct{ unused, free, passes bool }{{true, true, true}, {true, true, false}, {true, false, false}, {}} {
		for _, i := range order {
			e := ends[i]
			from, to, ok := b.choose(e)
			if !ok {
				continue
			}
			passed := b.passed(region, from, to)
			border, back := b.m.stations[e.to].border(), e.back()
			if border && len(passed) > 0 {
				back.from = b.stationOf(passed[len(passed)-1])
			}
			switch {
			case want.unused && (slices.Contains(used, e) || slices.Contains(used, e.back())):
			case want.free && !(b.starts[b.m.stands[from].platform] == 0 && b.free(back)):
			case len(passed) == 0 && (want.passes || border): // the way back from a border begins at the last stop
			default:
				return e, nil
			}
		}
	}
	return suiteEnds{}, fmt.Errorf("no line can be laid in region %s: lower apart, or raise roundabout or detour", region.Name)
}

// free says whether there is a platform for another line between two stations.
func (b *lineBuilder) free(e suiteEnds) bool {
	from, _, ok := b.choose(e)
	return ok && b.starts[b.m.stands[from].platform] == 0
}

// line lays a line between two stations and takes its platforms.
func (b *lineBuilder) line(region *MapRegion, e suiteEnds, stops int) (_ suiteLine, err error) {
	from, to, ok := b.choose(e)
	if !ok {
		return suiteLine{}, fmt.Errorf("there is no way from station %d to station %d", b.m.stations[e.from].id, b.m.stations[e.to].id)
	}
	b.starts[b.m.stands[from].platform]++
	b.targets[b.m.stands[to].platform]++
	passed := b.passed(region, from, to)
	if len(passed) > stops {
		if passed, err = b.keep(passed, stops, b.m.stations[e.to].border()); err != nil {
			return suiteLine{}, err
		}
	}
	l := suiteLine{stops: []suiteStop{{from, []int{from}}}}
	for k, here := range passed {
		next := to
		if k+1 < len(passed) {
			next = passed[k+1]
		}
		l.stops = append(l.stops, suiteStop{here, b.alternatives(l.stops[k], here, next)})
	}
	l.stops = append(l.stops, suiteStop{to, []int{to}})
	return l, nil
}

// keep draws some of the stations that are passed. The last one before a border is always kept: trains only leave it to
// be out of the way.
func (b *lineBuilder) keep(passed []int, stops int, border bool) ([]int, error) {
	drawn, from := stops, passed
	if border && stops > 0 {
		drawn, from = stops-1, passed[:len(passed)-1]
	}
	kept := make([]int, drawn, stops)
	if err := b.rng.ChoiceDistinct(kept, len(from)); err != nil {
		return nil, err
	}
	slices.Sort(kept)
	for i, k := range kept {
		kept[i] = passed[k]
	}
	return append(kept, passed[len(passed)-(stops-drawn):]...), nil
}

// choose picks the platforms between which a line leads: of those that are hardly farther apart than the nearest, those
// of the fewest lines, and of these the leftmost, as trains keep to the left in the published scene. A platform counts
// with the heading in which it is nearer.
func (b *lineBuilder) choose(e suiteEnds) (from, to int, ok bool) {
	nearest := b.m.nearest(e.from, e.to)
	if nearest == 0 {
		return 0, 0, false
	}
	starts, targets := b.m.stations[e.from].stands, b.m.stations[e.to].stands
	from = b.freest(starts, b.starts, nearest, func(i int) int {
		least := 0
		for _, k := range targets {
			if d := int(b.m.between[i][k]); d > 0 && (least == 0 || d < least) {
				least = d
			}
		}
		return least
	})
	to = b.freest(targets, b.targets, nearest, func(k int) int { return int(b.m.between[from][k]) })
	return from, to, to >= 0
}

// freest is the stand whose platform is used the least, and of these the leftmost, among those that are hardly more than
// so many cells away. It is -1 if there is none.
func (b *lineBuilder) freest(stands, used []int, cells int, away func(stand int) int) int {
	best := -1
	for _, i := range stands {
		d := away(i)
		turned := func(k int) bool { // there is a better heading
			o := away(k)
			return b.m.stands[k].platform == b.m.stands[i].platform && o > 0 && (o < d || o == d && k < i)
		}
		if d == 0 || d > cells+b.p.Detour || slices.ContainsFunc(stands, turned) {
			continue
		}
		if best < 0 || cmp.Or(cmp.Compare(used[b.m.stands[i].platform], used[b.m.stands[best].platform]),
			cmp.Compare(b.leftOf(i), b.leftOf(best))) < 0 {
			best = i
		}
	}
	return best
}

// near says whether there is a way between stands with no long detour.
func (b *lineBuilder) near(from, to, cells int) bool {
	d := int(b.m.between[from][to])
	return d > 0 && d <= cells+b.p.Detour
}

// leftOf is the number of platforms to the left of a stand.
func (b *lineBuilder) leftOf(i int) int {
	s := b.m.stands[i]
	less, n := fromLeft(s.Heading), 0
	for _, c := range b.m.stations[s.station].cells {
		if less(c, s.Cell) < 0 {
			n++
		}
	}
	return n
}

func (b *lineBuilder) stationOf(stand int) int { return b.m.stands[stand].station }

// passed are the stands, one in each station of a region that is no border, that trains pass on their way between two
// stands, in the order of the way: each so little aside that the way on is hardly longer.
func (b *lineBuilder) passed(region *MapRegion, from, to int) []int {
	var way []int
	for at := from; ; at = way[len(way)-1] {
		next := -1
		for station := range b.m.stations {
			s := &b.m.stations[station]
			been := func(stand int) bool { return b.stationOf(stand) == station }
			if s.border() || !slices.Contains(region.Stations, s.id) || been(from) || been(to) || slices.ContainsFunc(way, been) {
				continue
			}
			i := b.leastAside(at, s, to)
			if i >= 0 && (next < 0 || b.m.between[at][i] < b.m.between[at][next]) {
				next = i
			}
		}
		if next < 0 {
			return way
		}
		way = append(way, next)
	}
}

// leastAside is the stand of a station by which the way between two others is the shortest, the leftmost of several; -1 if
// the way is too far from the station.
func (b *lineBuilder) leastAside(from int, s *mapStation, to int) int {
	best, least := -1, int(b.m.between[from][to])+b.p.Aside
	for _, i := range s.stands {
		there, on := int(b.m.between[from][i]), int(b.m.between[i][to])
		cells := there + on - 1 // the stand's cell is in both
		if there > 0 && on > 0 && (cells < least || cells == least && (best < 0 || b.leftOf(i) < b.leftOf(best))) {
			best, least = i, cells
		}
	}
	return best
}

// alternatives are the stands of a stop from the left: the one on the way, and all others of the same heading to which
// every stand of the stop before leads, and which lead on to the next one of the way, without a long detour.
func (b *lineBuilder) alternatives(before suiteStop, here, next int) []int {
	heading := b.m.stands[here].Heading
	there, on := int(b.m.between[before.stand][here]), int(b.m.between[here][next])
	var kept []int
	for _, i := range b.m.stations[b.stationOf(here)].stands {
		far := func(k int) bool { return !b.near(k, i, there) }
		if i == here || b.m.stands[i].Heading == heading && b.near(i, next, on) && !slices.ContainsFunc(before.alternatives, far) {
			kept = append(kept, i)
		}
	}
	slices.SortStableFunc(kept, func(i, k int) int { return cmp.Compare(b.leftOf(i), b.leftOf(k)) })
	return kept
}

// add puts a line and its timetable into a scene as the drawing tool does. name is like 1.3.
func (b *lineBuilder) add(scene *railfile.Scene, l suiteLine, name string) error {
	category, err := b.m.category(l.category)
	if err != nil {
		return err
	}
	id := uint64(len(scene.Lines) + 1)
	last := len(l.stops) - 1
	start, target := b.m.stands[l.stops[0].stand].Cell, b.m.stands[l.stops[last].stand].Cell
	line := railfile.Line{
		ID: id, Name: name,
		StartCell: railfile.NamedCell{R: start.Row, C: start.Col}, EndCell: railfile.NamedCell{R: target.Row, C: target.Col},
	}
	table := railfile.Timetable{
		ID: suiteTimetableIDs + id, Name: category.Name + " " + name + ".1", LineID: id,
		TrainCategoryID: category.ID, TrainCategory: category.Name,
		TravelFactor: suiteNumber(b.p.TravelFactor), DwellTime: railfile.WholeNumber(b.p.DwellTime),
	}
	var positions [][]railfile.SceneCell
	var directions [][]rail.Heading
	var departures, arrivals []*int
	time := 0
	for k, at := range l.stops {
		stop := railfile.TimetableStop{StationID: b.m.stations[b.stationOf(at.stand)].id}
		if k > 0 {
			cells := b.m.between[l.stops[k-1].stand][at.stand]
			travel := math.Ceil(float64(cells) / category.Speed.Value * b.p.TravelFactor)
			if travel > mostTravel {
				return fmt.Errorf("line %s takes %v steps from a stop to the next, want at most %d: lower travel_factor or raise the speed of %s",
					name, travel, mostTravel, category.Name)
			}
			time += int(travel)
			stop.LatestArrival = new(time)
			if k < last {
				time += b.p.DwellTime
			}
		}
		if k < last {
			stop.EarliestDeparture = new(time)
		}
		table.Stops = append(table.Stops, stop)
		departures, arrivals = append(departures, stop.EarliestDeparture), append(arrivals, stop.LatestArrival)
		line.StationIDs = append(line.StationIDs, stop.StationID)

		var cells []railfile.SceneCell
		var headings []rail.Heading
		for _, i := range at.alternatives {
			s := b.m.stands[i]
			cells, headings = append(cells, railfile.SceneCell(s.Cell)), append(headings, s.Heading)
		}
		positions = append(positions, cells)
		if k < last {
			directions = append(directions, headings)
		}
	}
	scene.Lines, scene.Timetables = append(scene.Lines, line), append(scene.Timetables, table)
	f, t := &scene.FlatlandLine, &scene.FlatlandTimetable
	f.AgentPositions, f.AgentDirections = append(f.AgentPositions, positions), append(f.AgentDirections, directions)
	f.AgentTargets, f.AgentSpeeds = append(f.AgentTargets, railfile.SceneCell(target)), append(f.AgentSpeeds, category.Speed)
	t.EarliestDepartures, t.LatestArrivals = append(t.EarliestDepartures, departures), append(t.LatestArrivals, arrivals)
	t.MaxEpisodeSteps = max(t.MaxEpisodeSteps, 2*time)
	return nil
}

// mostTravel bounds the steps from a stop to the next.
const mostTravel = 100_000

// suiteTimetableIDs is what the ids of timetables come after; lines are numbered from 1.
const suiteTimetableIDs = 1000

// suiteNumber is a number without a decimal point where it needs none, as in the published metadata.
func suiteNumber(f float64) railfile.Number {
	if f == math.Trunc(f) {
		return railfile.Number{Value: f, Whole: true}
	}
	return railfile.Decimal(f)
}
