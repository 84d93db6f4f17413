package picture

import (
	_ "embed" // the page
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"skyrail/rail"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// pageData is what a page embeds, as JSON in a script element that is no script. The encoder escapes <, > and &, so no
// name can end the element.
type pageData struct {
	Title     string      `json:"title"`
	Width     int         `json:"width"`
	Height    int         `json:"height"`
	Grid      string      `json:"grid"`    // base64 of 16 bits a cell, least byte first, row by row
	Bridges   []int       `json:"bridges"` // cells, row*width+col
	Closures  []pageShut  `json:"closures"`
	Region    [4]int      `json:"region"` // row, column, height, width
	First     int         `json:"first"`  // step
	Steps     int         `json:"steps"`  // how many
	Limit     int         `json:"limit"`  // max_episode_steps, 0: none
	Selected  []int       `json:"selected"`
	Trains    []pageTrain `json:"trains"`
	Fractions []string    `json:"fractions"`
	Runs      string      `json:"runs"` // base64 of what runs writes
	States    []pageState `json:"states"`
}

type pageShut struct {
	From  int   `json:"from"`  // step
	Until int   `json:"until"` // step, not included
	Cells []int `json:"cells"` // row*width+col
}

type pageTrain struct {
	Start    [3]int     `json:"start"`  // row, column, heading
	Target   [2]int     `json:"target"` // row, column
	Earliest int        `json:"earliest"`
	Latest   int        `json:"latest"`
	MaxSpeed string     `json:"speed"`
	Stops    []pageStop `json:"stops"` // the intermediate ones
}

type pageStop struct {
	Places [][3]int `json:"places"` // row, column, heading or -1
	Window string   `json:"window"` // in words
}

type pageState struct {
	Name      string `json:"name"`
	Color     string `json:"color"`
	Lettering string `json:"lettering"`
}

// writePage writes the steps as a page.
func (r *Recording) writePage(w io.Writer, o *Options, from, to int) error {
	region := o.Region.of(r.net)
	d := pageData{
		Title: o.Title, Width: r.net.Width(), Height: r.net.Height(), Bridges: []int{}, Closures: []pageShut{}, First: from, Steps: to - from + 1,
		Limit: r.scenario.MaxEpisodeSteps, Selected: append([]int{}, o.Selected...), Trains: []pageTrain{}, Fractions: []string{},
		Runs: base64.StdEncoding.EncodeToString(r.runs(from, to)), Region: [4]int{region.Row, region.Col, region.Height, region.Width},
	}
	var grid []byte
	for k, bridge := range r.levelFree {
		grid = binary.LittleEndian.AppendUint16(grid, uint16(r.net.At(r.net.Cell(rail.Node(4*k)))))
		if bridge {
			d.Bridges = append(d.Bridges, k)
		}
	}
	for _, c := range r.closures {
		shut := pageShut{From: c.From, Until: c.Until}
		for _, cell := range c.Cells {
			shut.Cells = append(shut.Cells, cell.Row*r.net.Width()+cell.Col)
		}
		d.Closures = append(d.Closures, shut)
	}
	d.Grid = base64.StdEncoding.EncodeToString(grid)
	for _, f := range r.fractions {
		d.Fractions = append(d.Fractions, f.String())
	}
	for i := range r.scenario.Trains {
		d.Trains = append(d.Trains, newPageTrain(&r.scenario.Trains[i]))
	}
	for s := rail.Waiting; s <= rail.Done; s++ {
		d.States = append(d.States, pageState{stateName(s), hex(stateColors[s]), hex(lettering(s))})
	}
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	title := o.Title
	if title == "" {
		title = "Railway"
	}
	_, err = strings.NewReplacer("{{title}}", html.EscapeString(title), "{{style}}", pageCSS, "{{script}}", pageJS,
		"{{data}}", string(data)).WriteString(w, pageHTML)
	return err
}

func newPageTrain(t *rail.Train) pageTrain {
	p := pageTrain{
		Start: [3]int{t.Initial.Row, t.Initial.Col, int(t.Initial.Heading)}, Target: [2]int{t.Target.Row, t.Target.Col},
		Earliest: t.EarliestDeparture, Latest: t.LatestArrival, MaxSpeed: t.MaxSpeed.String(), Stops: []pageStop{},
	}
	for _, s := range t.Intermediate() {
		stop := pageStop{Places: [][3]int{}, Window: window(s.LatestArrival, s.EarliestDeparture)}
		for _, a := range s.Alternatives {
			stop.Places = append(stop.Places, [3]int{a.Row, a.Col, int(a.Heading)})
		}
		p.Stops = append(p.Stops, stop)
	}
	return p
}

// window is in words when a train is to arrive and may depart.
func window(latestArrival, earliestDeparture rail.Time) string {
	var words []string
	if latestArrival.Given {
		words = append(words, fmt.Sprintf("by step %d", latestArrival.Step))
	}
	if earliestDeparture.Given {
		words = append(words, fmt.Sprintf("not before step %d", earliestDeparture.Step))
	}
	if words == nil {
		return "at any time"
	}
	return strings.Join(words, ", ")
}

// What changed at the start of a run.
const (
	newNode = 1 << iota
	newState
	newMalfunction
	newSpeed
	newTravelled
	newDeadlocked // turned over
	maskBits      = 6
)

// runs writes the moments of a train after those of the other, each train's as runs of steps that can be foretold: all
// stays as it was, and a malfunction counts down to 0. A run is (length-1)<<6 | mask, and then what the mask says, in the
// order of its bits: the node as the difference to the one before, zigzag, the others as they are. All are varints.
// Before the first step everything is 0, and the node -1.
func (r *Recording) runs(from, to int) []byte {
	var out []byte
	for i := range r.Trains() {
		was := moment{node: rail.NoNode}
		for step := from; step <= to; {
			now := r.at(step)[i]
			mask := now.differs(was.next())
			end := step + 1
			last := now
			for end <= to && r.at(end)[i].differs(last.next()) == 0 {
				last = r.at(end)[i]
				end++
			}
			out = binary.AppendUvarint(out, uint64(end-step-1)<<maskBits|uint64(mask))
			if mask&newNode != 0 {
				out = binary.AppendVarint(out, int64(now.node)-int64(was.node))
			}
			if mask&newState != 0 {
				out = binary.AppendUvarint(out, uint64(now.state))
			}
			if mask&newMalfunction != 0 {
				out = binary.AppendUvarint(out, uint64(now.malfunction))
			}
			if mask&newSpeed != 0 {
				out = binary.AppendUvarint(out, uint64(now.speed))
			}
			if mask&newTravelled != 0 {
				out = binary.AppendUvarint(out, uint64(now.travelled))
			}
			was, step = last, end
		}
	}
	return out
}

// next is what can be foretold of the moment after.
func (m moment) next() moment {
	m.malfunction = max(m.malfunction-1, 0)
	return m
}

// differs returns the mask of what differs.
func (m moment) differs(o moment) (mask int) {
	for bit, differs := range [...]bool{
		m.node != o.node, m.state != o.state, m.malfunction != o.malfunction, m.speed != o.speed, m.travelled != o.travelled,
		m.deadlocked != o.deadlocked,
	} {
		if differs {
			mask |= 1 << bit
		}
	}
	return mask
}
