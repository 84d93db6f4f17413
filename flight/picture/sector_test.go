package picture

import (
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot/vg/recorder"

	"skyrail/flight"
)

// pair is two aircraft a distance and a difference of level apart.
func pair(distance, levels float64) []craft {
	at := func(x, level float64) craft {
		return craft{
			Aircraft:   flight.Aircraft{X: x, Level: level, Speed: 270},
			entryLevel: level, entrySpeed: 270, converging: true,
		}
	}
	return []craft{at(0, 350), at(distance, 350+levels)}
}

// crafted is a film of one moment.
func crafted(craft []craft) *Film {
	return &Film{cfg: flight.DefaultConfig(), moments: []moment{{craft: craft, losses: losses(craft)}}}
}

var separations = []struct {
	is               string
	distance, levels float64
	lost, midAir     bool
}{
	{"far apart", 5000, 0, false, false},
	{"at the separation radius", 1000, 0, true, false},
	{"a hair beyond it", math.Nextafter(1000, 2000), 0, false, false},
	{"near, just within the vertical separation", 500, 23.999, true, false},
	{"near, at the vertical separation", 500, 24, false, false},
	{"near, that much below", 500, -24, false, false},
	{"near, one level below", 500, -12, true, false},
	{"at the radius of a mid-air", 100, 0, true, true},
	{"a hair beyond that", math.Nextafter(100, 200), 0, true, false},
	{"as near, one level apart", 50, 12, true, false},
	{"as near, just less than a level apart", 50, 11.999, true, true},
	{"in one place", 0, 0, true, true},
}

func TestSeparation(t *testing.T) {
	for _, c := range separations {
		craft := pair(c.distance, c.levels)
		l, lost := separation(craft[0].Aircraft, craft[1].Aircraft)
		if lost != c.lost || l.midAir != c.midAir || l.distance != c.distance {
			t.Errorf("%s: got lost %t, mid-air %t at %v m, want %t, %t at %v m",
				c.is, lost, l.midAir, l.distance, c.lost, c.midAir, c.distance)
		}
		m := moment{craft: craft, losses: losses(craft)}
		if m.inLoss(0) != c.lost || m.inLoss(1) != c.lost {
			t.Errorf("%s: got in loss %t and %t, want %t", c.is, m.inLoss(0), m.inLoss(1), c.lost)
		}
	}
}

func TestRingIsDrawnSolidExactlyInLoss(t *testing.T) {
	for _, c := range separations {
		f := crafted(append(pair(c.distance, c.levels), craft{Aircraft: flight.Aircraft{X: -8000, Level: 350, Speed: 270}}))
		for i := range 3 {
			var canvas recorder.Canvas
			s := sector{pen: pen{&canvas}, area: box{0, 0, 300, 300}, film: f, m: f.at(0)}
			s.ring(i)
			var dashed bool
			var tint color.Color
			strokes := 0
			for _, a := range canvas.Actions {
				switch a := a.(type) {
				case *recorder.SetLineDash:
					dashed = len(a.Dashes) > 0
				case *recorder.SetColor:
					tint = a.Color
				case *recorder.Stroke:
					strokes++
				}
			}
			solid := c.lost && i < 2
			if strokes != 1 || dashed == solid || (tint == color.Color(danger)) != solid {
				t.Errorf("%s, aircraft %d: got %d rings, dashed %t, coloured %v, want one, solid and red %t",
					c.is, i, strokes, dashed, tint, solid)
			}
		}
	}
}

func TestAircraftOutsideAreDrawnWhereTheyLeft(t *testing.T) {
	s := sector{area: box{0, 0, 212, 212}} // 100 m a point, the centre at 106
	at := func(x, y, heading float64) *craft {
		return &craft{Aircraft: flight.Aircraft{X: x, Y: y, Heading: heading, Speed: 270, Level: 350}}
	}
	for _, c := range []struct {
		is    string
		craft *craft
		want  xy
	}{
		{"inside", at(1000, -2000, 30), xy{116, 86}},
		{"just outside", at(10100, 0, 0), xy{207, 106}},
		{"gone to the right", at(30000, 500, 0), xy{207.5, 111}},
		{"gone to the corner's side", at(20000, 14000, 45), xy{207.5, 147.5}},
		{"never inside", at(20000, 20000, 0), xy{207.5, 207.5}},
	} {
		got := s.spot(c.craft)
		if d := got.minus(c.want); d.length() > 1e-9 {
			t.Errorf("%s: got %v, want %v", c.is, got, c.want)
		}
	}
}

// In an animation labels stay near where they were; still they cover neither each other nor other text.
func TestLabelsOfAnimationsAreReadable(t *testing.T) {
	agents := board(t)
	for _, name := range []string{"noop", "rule-based", "random"} {
		for _, e := range agents[name][:8] {
			f := film(t, flight.DefaultConfig(), e.Seed, e.Actions, name)
			var was []xy
			for k := range f.moments {
				var canvas recorder.Canvas
				s := sector{pen: pen{&canvas}, area: box{0, 0, stripPanel, stripPanel}, film: &f, m: f.at(k)}
				if s.m.midAir {
					s.burst()
				}
				labels, centres := s.layOut(was)
				was = make([]xy, len(labels))
				for i := range labels {
					was[i] = centres[i].minus(labels[i].anchor)
					area := boxAt(centres[i], labels[i].w, labels[i].h)
					if in := area.overlap(s.square()); in < area.width()*area.height()-1e-6 {
						t.Errorf("%s, seed %d, step %d: label %d at %v sticks out of the sector", name, e.Seed, k, i, area)
					}
					for j := range i {
						if got := area.overlap(boxAt(centres[j], labels[j].w, labels[j].h)); got > 0 {
							t.Errorf("%s, seed %d, step %d: labels %d and %d overlap by %.1f square points, want 0",
								name, e.Seed, k, i, j, got)
						}
					}
					for _, b := range s.busy {
						if got := area.overlap(b); got > 0 {
							t.Errorf("%s, seed %d, step %d: label %d covers other text by %.1f square points, want 0", name, e.Seed, k, i, got)
						}
					}
				}
			}
		}
	}
}

func TestLabelTellsWhatDiffers(t *testing.T) {
	craft := pair(5000, 0)
	craft[0].Level, craft[0].Speed = 374, 235
	m := moment{craft: craft, order: order{given: true, aircraft: 0, clearance: flight.FLInc}}
	refused := m
	refused.order.refused = true
	for _, c := range []struct {
		is   string
		m    *moment
		i    int
		want string
	}{
		{"changed and told", &m, 0, "0 374 ▲2 | ▼235 m/s | FL_INC"},
		{"refused", &refused, 0, "0 374 ▲2 | ▼235 m/s | FL_INC refused"},
		{"as it entered", &m, 1, "1 350 | 270 m/s"},
	} {
		l := newLabel(c.m, c.i, xy{}, 7)
		got := ""
		for r, row := range l.rows {
			if r > 0 {
				got += " | "
			}
			for i, s := range row {
				if i > 0 {
					got += " "
				}
				got += s.text
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.is, got, c.want)
		}
	}
}
