package generate

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// Timetable says when the trains of a line run (timetable_generator), and how long an episode may take: a train may take
// 1.3 times as long as its shortest way at full speed, and a fifth of the trains' mean more. It draws a randint for the
// departure of each train that has a choice. The times at stops count cells, whatever the speed (quirk).
//
// The reference takes it that all trains have as many stops as the first, and so does this: it is an error if not. Only
// the first alternative of each stop counts.
func Timetable(r *Railway, line *railfile.LineProduct, rng *numpyrand.RandomState) (*railfile.TimetableProduct, error) {
	if why := unequal(line); why != "" {
		return nil, errors.New(why)
	}
	return timetable(r, line, rng)
}

// unequal says which train has another number of stops than the first, if one has.
func unequal(line *railfile.LineProduct) string {
	for i := range line.Stops {
		if n, want := len(line.Stops[i]), len(line.Stops[0]); n != want {
			return fmt.Sprintf("train %d has %d stops and train 0 has %d, as no way leads on from one of them, and the timetable needs as many for all",
				i, n, want)
		}
	}
	return ""
}

// timetable is Timetable for trains with any numbers of stops.
func timetable(r *Railway, line *railfile.LineProduct, rng *numpyrand.RandomState) (*railfile.TimetableProduct, error) {
	n := len(line.Stops)
	if n == 0 {
		return nil, &ParameterError{"n_agents", n, "want at least 1"}
	}
	if err := checkLine(r.RailProduct, line); err != nil {
		return nil, err
	}
	parts := make([][]int, n)        // of each train, the cells from stop to stop
	alone := make([]float64, n)      // steps of each train if it were alone
	sum, longest := new(big.Rat), 0. // of all trains, exactly
	for i, stops := range line.Stops {
		cells := 0
		for k := range len(stops) - 1 {
			parts[i] = append(parts[i], r.cells(stops[k][0], stops[k+1][0].Cell))
			cells += parts[i][k]
		}
		if line.Speeds[i].Sign() <= 0 {
			return nil, fmt.Errorf("train %d has speed %s, want more than 0", i, line.Speeds[i])
		}
		steps := new(big.Rat).SetInt64(int64(cells))
		steps.Quo(steps, line.Speeds[i].Rat())
		sum.Add(sum, steps)
		alone[i], _ = steps.Float64()
		longest = max(longest, alone[i])
	}
	mean, _ := sum.Quo(sum, new(big.Rat).SetInt64(int64(n))).Float64()
	delay := float64(mean * 0.2)

	cities := len(r.Cities)
	if cities == 0 {
		cities = 2
	}
	long := int(math.Ceil(longest*1.5) + delay)
	short := int(float64(int(8*(float64(r.Width+r.Height)+float64(n)/float64(cities)))) * 3)
	p := &railfile.TimetableProduct{MaxEpisodeSteps: min(long, short)}
	if p.MaxEpisodeSteps < 1 {
		return nil, &ParameterError{"n_agents", n, "no way leads any of the trains to its target, and the episode would have no steps; want another seed, or more trains"}
	}
	latest := p.MaxEpisodeSteps - int(float64(p.MaxEpisodeSteps)*0.05)
	for i := range line.Stops {
		travel := int(math.Ceil(float64(alone[i]*1.3) + delay))
		departure := int(rng.Randint(0, int64(max(latest-travel, 1))))
		departures, arrivals := times(departure, departure+travel, parts[i])
		p.EarliestDepartures = append(p.EarliestDepartures, departures)
		p.LatestArrivals = append(p.LatestArrivals, arrivals)
	}
	return p, nil
}

// times are the earliest departures and latest arrivals at the stops: counted from both ends, a step a cell.
func times(departure, arrival int, parts []int) (departures, arrivals []rail.Time) {
	n := len(parts)
	departures, arrivals = make([]rail.Time, n+1), make([]rail.Time, n+1)
	for k, cells := range parts {
		departures[k] = rail.At(departure)
		departure += cells
	}
	for k := n; k > 0; k-- {
		arrivals[k] = rail.At(arrival)
		arrival -= parts[k-1]
	}
	return departures, arrivals
}

// Flatland2Timetable lets all trains start at once and gives them 1000 steps (ttgen_flatland2).
func Flatland2Timetable(line *railfile.LineProduct) *railfile.TimetableProduct {
	p := &railfile.TimetableProduct{MaxEpisodeSteps: 1000}
	for range line.Stops {
		p.EarliestDepartures = append(p.EarliestDepartures, []rail.Time{rail.At(0)})
		p.LatestArrivals = append(p.LatestArrivals, []rail.Time{rail.At(1000)})
	}
	return p
}
