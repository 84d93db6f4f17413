package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

// inspectProduct shows what is no environment, but what a generator keeps beside one.
func (a *app) inspectProduct(cmd *cobra.Command, name, is string, data []byte, machine bool) error {
	for _, flag := range []string{"train", "no-map"} {
		if cmd.Flags().Changed(flag) {
			return usage(fmt.Errorf("--%s has no effect: %s is %s", flag, name, is))
		}
	}
	p, err := railfile.ReadProduct(data)
	if err != nil {
		return usage(fmt.Errorf("%s: this is %s: %w", name, is, err))
	}
	facts := newProductFacts(name, is, p)
	if machine {
		return printJSON(a.out, facts)
	}
	facts.print(a.out)
	return nil
}

// productFacts is what a product holds. What it is not about is nil.
type productFacts struct {
	File string `json:"file"`
	Is   string `json:"is"`

	Rows    *int `json:"rows,omitempty"`
	Columns *int `json:"columns,omitempty"`

	Bridges *int        `json:"bridges,omitempty"`
	Cities  []cityFacts `json:"cities,omitempty"`

	Trains    *int         `json:"trains,omitempty"`
	Stops     *[2]int      `json:"stops_min_max,omitempty"` // of a train
	Speeds    []speedFacts `json:"speeds,omitempty"`
	Departure *[2]int      `json:"earliest_departures_min_max,omitempty"` // of all stops
	Arrival   *[2]int      `json:"latest_arrivals_min_max,omitempty"`
	Limit     *int         `json:"max_episode_steps,omitempty"`

	Places *int `json:"places,omitempty"` // cells with their latitude and longitude
}

type cityFacts struct {
	Cell      [2]int   `json:"position"` // row, column
	Heading   *int     `json:"orientation"`
	Platforms int      `json:"platforms"`
	Scenes    []string `json:"scenes,omitempty"`
}

type speedFacts struct {
	Speed  string `json:"speed"` // cells a step
	Trains int    `json:"trains"`
}

func newProductFacts(name, is string, product any) productFacts {
	f := productFacts{File: name, Is: is}
	switch p := product.(type) {
	case *railfile.RailProduct:
		f.Rows, f.Columns = &p.Height, &p.Width
		f.cities(&p.Stations)
	case *railfile.Stations:
		f.cities(p)
	case *railfile.LineProduct:
		f.line(p)
	case *railfile.TimetableProduct:
		f.timetable(p)
	case railfile.Coordinates:
		n := len(p)
		f.Places = &n
	}
	return f
}

func (f *productFacts) cities(s *railfile.Stations) {
	n := len(s.LevelFree)
	f.Bridges = &n
	for i, c := range s.Cities {
		city := cityFacts{Cell: [2]int{c.Row, c.Col}}
		if i < len(s.Orientations) && s.Orientations[i] != rail.NoHeading {
			h := int(s.Orientations[i])
			city.Heading = &h
		}
		if i < len(s.Tracks) {
			city.Platforms = len(s.Tracks[i])
		}
		if i < len(s.Scenes) {
			city.Scenes = s.Scenes[i]
		}
		f.Cities = append(f.Cities, city)
	}
}

func (f *productFacts) line(p *railfile.LineProduct) {
	f.trains(len(p.Stops), func(i int) int { return len(p.Stops[i]) })
	speeds := slices.SortedFunc(slices.Values(p.Speeds), rail.Fraction.Cmp)
	slices.Reverse(speeds)
	for i, speed := range speeds {
		if i == 0 || !speed.Equal(speeds[i-1]) {
			f.Speeds = append(f.Speeds, speedFacts{Speed: speed.String()})
		}
		f.Speeds[len(f.Speeds)-1].Trains++
	}
}

func (f *productFacts) timetable(p *railfile.TimetableProduct) {
	f.trains(len(p.LatestArrivals), func(i int) int { return len(p.LatestArrivals[i]) })
	f.Departure, f.Arrival, f.Limit = stepSpan(p.EarliestDepartures), stepSpan(p.LatestArrivals), &p.MaxEpisodeSteps
}

func (f *productFacts) trains(n int, stops func(i int) int) {
	f.Trains = &n
	for i := range n {
		k := stops(i)
		if f.Stops == nil {
			f.Stops = &[2]int{k, k}
		}
		f.Stops[0], f.Stops[1] = min(f.Stops[0], k), max(f.Stops[1], k)
	}
}

// stepSpan is the first and the last of times, nil if there are none.
func stepSpan(trains [][]rail.Time) *[2]int {
	var s *[2]int
	for _, times := range trains {
		for _, t := range times {
			switch {
			case !t.Given:
			case s == nil:
				s = &[2]int{t.Step, t.Step}
			default:
				s[0], s[1] = min(s[0], t.Step), max(s[1], t.Step)
			}
		}
	}
	return s
}

func (f productFacts) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", shown(f.File), f.Is)
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if f.Rows != nil {
		say("%d rows, %d columns", *f.Rows, *f.Columns)
	}
	if f.Bridges != nil {
		say("%s", count(*f.Bridges, "bridge"))
		say("%s", cities(len(f.Cities)))
	}
	if f.Trains != nil {
		say("%s", count(*f.Trains, "train"))
	}
	if s := f.Stops; s != nil {
		say("%s each", fromTo(s, "stop"))
	}
	if f.Departure != nil {
		say("departures from step %d to %d", f.Departure[0], f.Departure[1])
	}
	if f.Arrival != nil {
		say("arrivals by step %d to %d", f.Arrival[0], f.Arrival[1])
	}
	if f.Limit != nil {
		say("at most %s", count(*f.Limit, "step"))
	}
	if f.Places != nil {
		say("%s with latitude and longitude", count(*f.Places, "cell"))
	}
	fmt.Fprintln(w, strings.Join(parts, ", "))
	for _, s := range f.Speeds {
		fmt.Fprintf(w, "speed %s: %s\n", s.Speed, count(s.Trains, "train"))
	}
	for i, c := range f.Cities {
		fmt.Fprintf(w, "city %d: (%d, %d)", i, c.Cell[0], c.Cell[1])
		if c.Heading != nil {
			fmt.Fprintf(w, " %s", rail.Heading(*c.Heading))
		}
		fmt.Fprintf(w, ", %s", count(c.Platforms, "platform"))
		if len(c.Scenes) > 0 {
			fmt.Fprintf(w, ", in %s", shown(strings.Join(c.Scenes, ", ")))
		}
		fmt.Fprintln(w)
	}
}

func cities(n int) string {
	if n == 1 {
		return "1 city"
	}
	return fmt.Sprintf("%d cities", n)
}

// fromTo is a number, or two that it lies between.
func fromTo(s *[2]int, noun string) string {
	if s[0] == s[1] {
		return count(s[0], noun)
	}
	return fmt.Sprintf("%d to %s", s[0], count(s[1], noun))
}
