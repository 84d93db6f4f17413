package picture

import (
	"slices"
	"testing"

	"skyrail/rail"
)

func TestBadgesOfACellHideNoneOfThem(t *testing.T) {
	texts := []string{"S", "1", "12", "T", "2", "1", "T", "T"}
	for _, size := range []float64{20, 30, 48, 128} {
		for n := 1; n <= len(texts); n++ {
			all := newBadges(xy{}, size, texts[:n])
			switch {
			case len(all) == n && all[n-1].text == texts[n-1]:
			case len(all) == 1 && all[0].text == "×"+string(rune('0'+n)):
			default:
				t.Errorf("size %v: got %v for %d badges, want them or their number", size, all, n)
			}
			for i := range all {
				if all[i].look.Size < smallestText {
					t.Errorf("size %v: got text of %v, want it legible", size, all[i].look.Size)
				}
				next := newBadges(xy{size, 0}, size, texts[:n])
				for _, o := range append(next, all[i+1:]...) {
					if all[i].hides([]box{o.box}) > 0 {
						t.Errorf("size %v: got badge %q over %q, of %d", size, all[i].text, o.text, n)
					}
				}
			}
		}
	}
}

// TestNoBadgeIsHiddenBySigns puts broken trains beside, below and on the target of a selected one, selected or not.
func TestNoBadgeIsHiddenBySigns(t *testing.T) {
	for _, size := range []float64{12, 20, 30, 48} {
		_, r := record(t, "t13_tiles_malf_random")
		selected := slices.IndexFunc(r.scenario.Trains, func(t rail.Train) bool {
			return t.Target.Col > 0 && t.Target.Row > 0 && t.Target.Row < r.net.Height()-1
		})
		s := newScene(r, &Options{Selected: []int{selected}}, size)
		at := r.scenario.Trains[selected].Target
		var broken []breakdown
		for i, cell := range []rail.Cell{at, {Row: at.Row, Col: at.Col - 1}, {Row: at.Row + 1, Col: at.Col - 1}, {Row: at.Row - 1, Col: at.Col - 1}} {
			broken = append(broken, breakdown{cell: s.centre(cell), steps: 7 + 20*i})
		}
		taken := s.arrange(broken)
		if len(taken) != len(broken) {
			t.Fatalf("got %d boxes of signs, want %d", len(taken), len(broken))
		}
		for i := range broken {
			if area := broken[i].hides(s.boxes()); area > 0 {
				t.Errorf("size %v: sign %d hides %v of a badge, want nothing", size, i, area)
			}
			for k := range broken[:i] {
				if area := broken[i].hides([]box{broken[k].box}); area > 0 {
					t.Errorf("size %v: signs %d and %d overlap by %v", size, k, i, area)
				}
			}
		}
		if usual := broken[0].cell.plus(breakdownCorner.times(size)); broken[0].at != usual {
			t.Errorf("size %v: got the sign on the target's cell at %v, want %v, which is free", size, broken[0].at, usual)
		}
	}
}
