package picture

import (
	"bytes"
	"strings"
	"testing"

	"skyrail/rail"
)

// TestClosedTracksAreCrossedOut counts crosses: one for each shut cell of the region in a step, and the one that explains
// them.
func TestClosedTracksAreCrossedOut(t *testing.T) {
	const east = 1025
	grid := make([]rail.Transitions, 9)
	for i := range grid {
		grid[i] = east
	}
	stop := func(col int, h rail.Heading) rail.Configuration {
		return rail.Configuration{Cell: rail.Cell{Col: col}, Heading: h}
	}
	s := &rail.Scenario{
		Width: 9, Height: 1, Grid: grid, MaxEpisodeSteps: 20,
		Trains: []rail.Train{{
			Initial: stop(0, rail.East), Target: rail.Cell{Col: 8}, MaxSpeed: rail.Whole(1), LatestArrival: 20,
			Stops: []rail.Stop{
				{Alternatives: []rail.Configuration{stop(0, rail.East)}, EarliestDeparture: rail.At(0)},
				{Alternatives: []rail.Configuration{stop(8, rail.NoHeading)}, LatestArrival: rail.At(20)},
			},
		}},
	}
	cells := func(cols ...int) (all []rail.Cell) {
		for _, col := range cols {
			all = append(all, rail.Cell{Col: col})
		}
		return all
	}
	closures := &rail.TrackClosures{Closures: []rail.Closure{{From: 2, Until: 4, Cells: cells(5, 6)}, {From: 3, Until: 5, Cells: cells(6, 7, 8)}}}
	record := func(effects ...rail.Effect) *Recording {
		e, err := rail.New(s, rail.Options{Effects: effects})
		if err != nil {
			t.Fatal(err)
		}
		r := New(e)
		for range 5 {
			if err := e.Step([]rail.Action{rail.DoNothing}); err != nil {
				t.Fatal(err)
			}
			if err := r.Record(e); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	draw := func(r *Recording, step int) int {
		var b bytes.Buffer
		if err := Write(&b, SVG, r, Options{To: rail.At(step)}); err != nil {
			t.Fatal(err)
		}
		return strings.Count(b.String(), `stroke="`+hex(stateColors[rail.Malfunction]))
	}
	without := draw(record(), 3)
	r := record(closures)
	for step, crosses := range []int{0, 0, 2, 4, 3, 0} {
		if got := draw(r, step) - without; got != crosses+1 {
			t.Errorf("step %d: got %d crosses, want %d and one that explains them", step, got, crosses)
		}
	}
	var page bytes.Buffer
	if err := Write(&page, HTML, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if want := `"closures":[{"from":2,"until":4,"cells":[5,6]},{"from":3,"until":5,"cells":[6,7,8]}]`; !strings.Contains(page.String(), want) {
		t.Errorf("the page does not hold %s", want)
	}
}
