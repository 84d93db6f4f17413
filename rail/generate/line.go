package generate

import (
	"fmt"
	"slices"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// SparseLine sends trains from city to city (sparse_line_generator).
type SparseLine struct {
	// SpeedRatios are speeds, in cells per step, and the probability of each; they add up to 1. nil: all trains have
	// speed 1, and nothing is drawn.
	SpeedRatios []railfile.SpeedRatio
	// LineLength is the number of cities on a line, start and target included, or all if there are fewer.
	LineLength int
}

// Generate makes the lines of so many trains. It needs the cities, orientations and stations of the railway.
//
// It draws for every second train a permutation of the cities; for each part of a train's line a randint for the
// station where it starts and one for the station it goes to, and a choice if both headings lead there; and after all
// trains a double for the speed of each. A train without a way to its target starts north (quirk).
//
// quirk: the station of a stop is the one in which the next part starts. With more than two cities, stops that no way
// leads to are cut off, and trains may so have different numbers of stops. It is an error if not even one is left.
func (g SparseLine) Generate(r *Railway, trains int, rng *numpyrand.RandomState) (*railfile.LineProduct, error) {
	if err := g.check(r, trains); err != nil {
		return nil, err
	}
	p := &railfile.LineProduct{Stops: g.drawStops(r, trains, rng), Speeds: make([]rail.Fraction, trains)}
	if err := g.drawSpeeds(p.Speeds, rng); err != nil {
		return nil, err
	}
	if g.LineLength != 2 {
		for i := range p.Stops {
			if p.Stops[i] = follow(r, p.Stops[i]); len(p.Stops[i]) < 2 {
				return nil, &ParameterError{"line_length", g.LineLength, fmt.Sprintf(
					"no way leads train %d from its start to its first stop, and a train needs a target; want another seed, or line_length 2", i)}
			}
		}
	}
	return p, nil
}

// drawStops draws the stops of all trains, one alternative each.
func (g SparseLine) drawStops(r *Railway, trains int, rng *numpyrand.RandomState) [][][]rail.Configuration {
	stops := make([][][]rail.Configuration, trains)
	cities := make([]int, min(g.LineLength, len(r.Cities)))
	for i := range stops {
		if i%2 == 0 {
			_ = rng.ChoiceDistinct(cities, len(r.Cities)) // there are as many
		} else {
			slices.Reverse(cities)
		}
		for k := range len(cities) - 1 {
			start, target := drawPart(r, cities[k], cities[k+1], rng)
			stops[i] = append(stops[i], []rail.Configuration{start})
			if k == len(cities)-2 {
				stops[i] = append(stops[i], []rail.Configuration{{Cell: target, Heading: rail.NoHeading}})
			}
		}
	}
	return stops
}

func (g SparseLine) check(r *Railway, trains int) error {
	switch {
	case trains < 1 || trains > maxTrains:
		return &ParameterError{"n_agents", trains, fmt.Sprintf("want 1 to %d", maxTrains)}
	case g.LineLength < 2:
		return &ParameterError{"line_length", g.LineLength, "a line has a start and a target, want at least 2"}
	case len(r.Cities) < 2:
		return &ParameterError{"cities", len(r.Cities), "lines lead from city to city, want a railway with at least 2"}
	case len(r.Orientations) != len(r.Cities) || len(r.Tracks) != len(r.Cities):
		return fmt.Errorf("the railway has %d cities, %d city_orientations and %d train_stations: want as many of each",
			len(r.Cities), len(r.Orientations), len(r.Tracks))
	}
	for i, stations := range r.Tracks {
		if len(stations) == 0 {
			return fmt.Errorf("city %d has no train_stations, want at least 1", i)
		}
	}
	for _, s := range g.SpeedRatios {
		if !(s.Speed > 0 && s.Speed <= 1) {
			return &ParameterError{"speed_ratios", s.Speed, "want speeds above 0 and up to 1 cell per step"}
		}
	}
	return nil
}

// maxTrains bounds the trains, so that there is room for all of them in a file.
const maxTrains = 1 << 15

// drawPart draws where a train starts in one city to get to another, and the station there.
func drawPart(r *Railway, from, to int, rng *numpyrand.RandomState) (start rail.Configuration, target rail.Cell) {
	starts, targets := r.Tracks[from], r.Tracks[to]
	start.Cell = starts[2*int(rng.Randint(0, 10))%len(starts)].Cell
	target = targets[(2*int(rng.Randint(0, 10))+1)%len(targets)].Cell
	var headings []rail.Heading
	for _, h := range []rail.Heading{r.Orientations[from], mirror(r.Orientations[from])} {
		if r.reaches(rail.Configuration{Cell: start.Cell, Heading: h}, target) {
			headings = append(headings, h)
		}
	}
	if len(headings) > 0 {
		start.Heading = headings[rng.Choice(len(headings))]
	}
	return start, target
}

func (g SparseLine) drawSpeeds(speeds []rail.Fraction, rng *numpyrand.RandomState) error {
	if g.SpeedRatios == nil {
		for i := range speeds {
			speeds[i] = rail.Whole(1)
		}
		return nil
	}
	shares, exact := make([]float64, len(g.SpeedRatios)), make([]rail.Fraction, len(g.SpeedRatios))
	for k, s := range g.SpeedRatios {
		shares[k] = s.Share
		var err error
		if exact[k], err = rail.Snap(s.Speed); err != nil {
			return &ParameterError{"speed_ratios", s.Speed, err.Error()}
		}
		if exact[k].Sign() <= 0 {
			return &ParameterError{"speed_ratios", s.Speed, "it counts as 0; want a larger speed"}
		}
	}
	drawn := make([]int, len(speeds))
	if err := rng.ChoiceNWeighted(drawn, shares); err != nil {
		return &ParameterError{"speed_ratios", shares, err.Error()}
	}
	for i, k := range drawn {
		speeds[i] = exact[k]
	}
	return nil
}

// follow gives stops the headings in which a train arrives on the shortest way from stop to stop, up to the first that it
// cannot reach. The last one keeps none.
func follow(r *Railway, stops [][]rail.Configuration) [][]rail.Configuration {
	for k := 1; k < len(stops); k++ {
		c, ok := r.arrival(stops[k-1][0], stops[k][0].Cell)
		if !ok {
			stops = stops[:k]
			break
		}
		stops[k][0] = c
	}
	stops[len(stops)-1][0].Heading = rail.NoHeading
	return stops
}
