package rail

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skyrail/internal/golden"
)

// The checks in this file read the recorded tables of single functions, unit_*.json.gz.

func checkMotion(data []byte) error {
	var rows [][4][]*int
	if err := json.Unmarshal(data, &rows); err != nil {
		return err
	}
	for k, row := range rows {
		n := len(row[0])
		if len(row[1]) != n {
			return fmt.Errorf("case %d: %d trains and %d wishes", k, n, len(row[1]))
		}
		net, err := NewNetwork(100, 1, make([]Transitions, 100))
		if err != nil {
			return err
		}
		m := newMotion(net, n)
		for i := range n {
			m.from[i], m.to[i] = recordedResource(row[0][i]), recordedResource(row[1][i])
		}
		m.resolve()
		for c, got := range [][]bool{m.blocked, m.headOn} {
			want := make([]bool, n)
			for _, i := range row[2+c] {
				want[*i] = true
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("case %d, column %d: got %v, want %v", k, 2+c, got, want)
			}
		}
	}
	return nil
}

func recordedResource(r *int) resource {
	if r == nil {
		return noResource
	}
	return resource(*r)
}

func checkTiles(data []byte) error {
	var tiles []struct {
		Name      string        `json:"name"`
		Value     Transitions   `json:"value"`
		Rot90     Transitions   `json:"rot90"`
		ByHeading [4][]*[2]int8 `json:"by_heading"`
	}
	if err := golden.Decode(data, &tiles); err != nil {
		return err
	}
	if len(tiles) != len(Kinds()) {
		return fmt.Errorf("%d kinds, want %d", len(Kinds()), len(tiles))
	}
	for k, tile := range tiles {
		if name, ok := tile.Value.Kind(); !ok || name != tile.Name || Kinds()[k] != tile.Value {
			return fmt.Errorf("tile %d: got %q, want %q", tile.Value, name, tile.Name)
		}
		if got := tile.Value.Rotated(1); got != tile.Rot90 {
			return fmt.Errorf("%s rotated: got %d, want %d", tile.Name, got, tile.Rot90)
		}
		const all = 0xffff // neighbours accept every heading
		net, err := NewNetwork(3, 3, []Transitions{all, all, all, all, tile.Value, all, all, all, all})
		if err != nil {
			return err
		}
		for h := North; h <= West; h++ {
			from := net.Node(Configuration{Cell{1, 1}, h})
			want := tile.ByHeading[h]
			if valid := net.rank[from] >= 0; valid != (want != nil) {
				return fmt.Errorf("%s heading %s: valid %v", tile.Name, h, valid)
			}
			for a := range want {
				to, straight := net.Move(from, Action(a))
				if (to == NoNode) != (want[a] == nil) {
					return fmt.Errorf("%s heading %s action %d: got %v", tile.Name, h, a, to)
				}
				if want[a] != nil && (int8(to.Heading()) != want[a][0] || straight != (want[a][1] != 0)) {
					return fmt.Errorf("%s heading %s action %d: got %s, %v, want %v", tile.Name, h, a, to.Heading(), straight, *want[a])
				}
			}
		}
	}
	return nil
}

func checkSnap(data []byte) error {
	var rows []struct{ v, want json.RawMessage }
	var raw [][2]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	for _, r := range raw {
		rows = append(rows, struct{ v, want json.RawMessage }{r[0], r[1]})
	}
	for _, r := range rows {
		v, err := strconv.ParseFloat(string(r.v), 64)
		if err != nil {
			return err
		}
		got, err := Snap(v)
		if err != nil {
			return err
		}
		if want := strings.Trim(string(r.want), `"`); got.String() != want {
			return fmt.Errorf("snap(%v): got %s, want %s", v, got, want)
		}
	}
	return nil
}

func checkSpeed(data []byte) error {
	var cases []struct {
		Max     float64              `json:"max"`
		MaxFrac string               `json:"max_frac"`
		Trace   [][5]json.RawMessage `json:"trace"`
	}
	if err := golden.Decode(data, &cases); err != nil {
		return err
	}
	for k, c := range cases {
		limit, err := Snap(c.Max)
		if err != nil {
			return err
		}
		if limit.String() != c.MaxFrac {
			return fmt.Errorf("case %d: maximum got %s, want %s", k, limit, c.MaxFrac)
		}
		t := train{maxSpeed: limit, speed: limit}
		for j, row := range c.Trace {
			v, err := strconv.ParseFloat(string(row[0]), 64)
			if err != nil {
				return err
			}
			t.wanted = velocity{float: v, isFl: true}
			if limit.CmpFloat64(v) <= 0 { // the step clamps before it asks
				t.wanted = velocity{exact: limit}
			}
			got := []string{bit(t.exits())}
			if err := t.advance(t.wanted); err != nil {
				return err
			}
			got = append(got, t.speed.String(), t.distance.String(), bit(t.entered))
			for x := range got {
				if want := strings.Trim(string(row[1+x]), `"`); got[x] != want {
					return fmt.Errorf("case %d, row %d, column %d: got %s, want %s", k, j, 1+x, got[x], want)
				}
			}
		}
	}
	return nil
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func checkStateMachine(data []byte) error {
	var rows [][8]int
	if err := json.Unmarshal(data, &rows); err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("no row")
	}
	for _, r := range rows {
		sig := Signals{
			InMalfunction: r[1] != 0, EarliestDepartureReached: r[2] != 0, StopActionGiven: r[3] != 0,
			MovementActionGiven: r[4] != 0, MovementAllowed: r[5] != 0, NewSpeedZero: r[6] != 0,
		}
		if got := State(r[0]).next(&sig); got != State(r[7]) {
			return fmt.Errorf("%s with %+v: got %s, want %s", State(r[0]), sig, got, State(r[7]))
		}
	}
	return nil
}
