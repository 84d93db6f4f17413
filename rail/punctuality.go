package rail

import "slices"

// punctualityBook records, by cell, what the punctuality reward asks for. It is empty until that reward is used.
type punctualityBook struct {
	seen  []uint64    // of each train the cells it was in, as bits
	words int         // of seen for each train
	marks [][]calling // of each train the cells of its timetable
}

// calling is a cell of a train's timetable.
type calling struct {
	cell                    int32
	arrival                 int32 // the first; -1: none
	departure, lastDeparted int32 // the first and the greatest; -1: none
}

func (b *punctualityBook) clone() punctualityBook {
	c := punctualityBook{seen: slices.Clone(b.seen), words: b.words, marks: slices.Clone(b.marks)}
	for i := range c.marks {
		c.marks[i] = slices.Clone(c.marks[i])
	}
	return c
}

func (b *punctualityBook) equal(o *punctualityBook) bool {
	return slices.Equal(b.seen, o.seen) && slices.EqualFunc(b.marks, o.marks, slices.Equal[[]calling])
}

func (b *punctualityBook) open(e *Env) {
	b.words = (e.net.width*e.net.height + 63) / 64
	b.seen = make([]uint64, b.words*len(e.trains))
	b.marks = make([][]calling, len(e.trains))
	for i := range e.trains {
		t := &e.scenario.Trains[i]
		for _, s := range t.Stops {
			for _, a := range s.Alternatives {
				if e.net.Inside(a.Cell) {
					b.add(i, int32(a.Row*e.net.width+a.Col))
				}
			}
		}
		b.add(i, int32(e.trains[i].target>>2))
	}
}

func (b *punctualityBook) add(i int, cell int32) {
	if b.mark(i, cell) == nil {
		b.marks[i] = append(b.marks[i], calling{cell, -1, -1, -1})
	}
}

func (b *punctualityBook) mark(i int, cell int32) *calling {
	for k := range b.marks[i] {
		if b.marks[i][k].cell == cell {
			return &b.marks[i][k]
		}
	}
	return nil
}

// visit notes a cell, and says whether it is the first time.
func (b *punctualityBook) visit(i int, cell int32, now int) bool {
	w := &b.seen[i*b.words+int(cell>>6)]
	bit := uint64(1) << (cell & 63)
	if *w&bit != 0 {
		return false
	}
	*w |= bit
	if m := b.mark(i, cell); m != nil {
		m.arrival = int32(now)
	}
	return true
}

// record notes where a train is.
//
// quirk: a departure is noted only if the cell that follows was never visited before, and none into the target if the
// train is removed there.
func (b *punctualityBook) record(e *Env, i int) {
	if b.marks == nil {
		b.open(e)
	}
	t := &e.trains[i]
	if t.node == NoNode {
		if t.state == Done {
			b.visit(i, int32(t.target>>2), e.elapsed)
		}
		return
	}
	if !b.visit(i, int32(t.node>>2), e.elapsed) || t.old == NoNode {
		return
	}
	if m := b.mark(i, int32(t.old>>2)); m != nil {
		if m.departure < 0 {
			m.departure = int32(e.elapsed)
		}
		m.lastDeparted = max(m.lastDeparted, int32(e.elapsed))
	}
}

// count returns how many stops a train served on time, and how many it has.
//
// quirk: at most one intermediate stop counts, the first that was served on time.
func (b *punctualityBook) count(e *Env, i int) (on, all int) {
	stops := e.scenario.Trains[i].Stops
	if len(stops) == 0 || b.marks == nil {
		return 0, len(stops)
	}
	cell := func(c Cell) *calling {
		if !e.net.Inside(c) {
			return nil
		}
		return b.mark(i, int32(c.Row*e.net.width+c.Col))
	}
	if a := stops[0].Alternatives; len(a) > 0 && stops[0].EarliestDeparture.Given {
		if m := cell(a[0].Cell); m != nil && m.lastDeparted >= 0 && int(m.lastDeparted) >= stops[0].EarliestDeparture.Step {
			on++
		}
	}
	for _, s := range e.scenario.Trains[i].Intermediate() {
		if slices.ContainsFunc(s.Alternatives, func(a Configuration) bool {
			m := cell(a.Cell)
			return m != nil && m.arrival >= 0 && m.departure >= 0 &&
				int(m.arrival) <= s.LatestArrival.Step && int(m.departure) >= s.EarliestDeparture.Step
		}) {
			on++
			break
		}
	}
	if last := stops[len(stops)-1]; last.LatestArrival.Given {
		if m := cell(e.scenario.Trains[i].Target); m != nil && m.arrival >= 0 && int(m.arrival) <= last.LatestArrival.Step {
			on++
		}
	}
	return on, len(stops)
}
