package planner

import (
	"math/bits"

	"skyrail/flight"
)

// draft is a plan in the making: a track for every aircraft of a window, and where they lose separation on these.
type draft struct {
	window
	n        int
	tracks   []*track
	lost     []uint64 // at i*n+j: steps at which i and j lose separation, but for those borne
	borne    []uint64 // at i*n+j: losses of separation that are put up with
	trouble  int      // losses of separation that are not
	losses   int      // those that are
	offEnds  uint64   // aircraft that may end off their level
	offCount int      // how many
	used     uint64   // steps with a clearance
	count    int      // clearances
	touched  uint64   // aircraft with one
	needs    [maxStacks][maxStacked]need
	leasts   leastCache
	alone    []track // every aircraft without a clearance
}

// start makes d the plan that does nothing, from the state of env.
func (d *draft) start(env *flight.Env) {
	d.build(env)
	if n := len(d.planes); d.n != n {
		d.n = n
		d.tracks, d.alone = make([]*track, n), make([]track, n)
		d.lost, d.borne, d.trouble = make([]uint64, n*n), make([]uint64, n*n), 0
	}
	for i := range d.alone {
		d.alone[i].n = 0
		d.fly(&d.alone[i], i)
	}
	d.stackUp()
	clear(d.leasts[:])
	d.clear()
}

// clear makes d the plan that does nothing.
func (d *draft) clear() {
	for i := range d.tracks {
		d.tracks[i] = &d.alone[i]
	}
	d.begin()
}

// begin works out what follows from the tracks; nothing is put up with.
func (d *draft) begin() {
	clear(d.borne)
	d.losses, d.offEnds, d.offCount = 0, 0, 0
	d.used, d.count, d.touched = 0, 0, 0
	for i, t := range d.tracks {
		for _, o := range t.commands[:t.n] {
			d.used |= 1 << o.step
			d.touched |= 1 << i
		}
		d.count += int(t.n)
		for j := range i {
			d.setLost(i, j, d.window.losses(i, j, t, d.tracks[j]))
		}
		d.seeNeeds(i)
	}
}

func (d *draft) setLost(i, j int, steps uint64) {
	d.trouble += bits.OnesCount64(steps) - bits.OnesCount64(d.lost[i*d.n+j])
	d.lost[i*d.n+j], d.lost[j*d.n+i] = steps, steps
}

// put sets the track of aircraft i, which has one clearance more, at a step. The losses it had are kept in was, of n
// words. The needs are not looked at.
func (d *draft) put(i int, t *track, step int8, was []uint64) {
	copy(was, d.lost[i*d.n:(i+1)*d.n])
	d.tracks[i] = t
	d.count++
	d.used |= 1 << step
	d.touched |= 1 << i
	for j, o := range d.tracks {
		if j != i {
			d.setLost(i, j, d.window.losses(i, j, t, o)&^d.borne[i*d.n+j])
		}
	}
}

// back undoes put: t is the track of before.
func (d *draft) back(i int, t *track, step int8, was []uint64) {
	d.tracks[i] = t
	d.count--
	d.used &^= 1 << step
	if t.n == 0 {
		d.touched &^= 1 << i
	}
	for j, steps := range was {
		d.setLost(i, j, steps)
	}
}

// bear puts up with trouble, or no more.
func (d *draft) bear(tr trouble, yes bool) {
	i, j := int(tr.i), int(tr.j)
	if j < 0 {
		d.offEnds ^= 1 << i
		d.offCount = bits.OnesCount64(d.offEnds)
		d.seeNeeds(i)
		return
	}
	b := uint64(1) << tr.step
	d.borne[i*d.n+j] ^= b
	d.borne[j*d.n+i] ^= b
	if yes {
		d.losses++
		d.setLost(i, j, d.lost[i*d.n+j]&^b)
	} else {
		d.losses--
		d.setLost(i, j, d.lost[i*d.n+j]|b)
	}
}

// endsOff reports whether aircraft i must yet be brought back to its level.
func (d *draft) endsOff(i int) bool { return d.tracks[i].end != 0 && d.offEnds>>i&1 == 0 }

// seeNeeds works out what aircraft i needs in the stacks.
func (d *draft) seeNeeds(i int) {
	for k := range d.stacks {
		st := &d.stacks[k]
		for a, j := range st.aircraft {
			if int(j) == i {
				d.needs[k][a] = *d.needed.of(&d.window, d.tracks[i], i, st.step, d.offEnds>>i&1 != 0)
			}
		}
	}
}

// stacked returns how many clearances more the stacks ask for at least, if so many losses more may be put up with;
// never or more if they cannot be had in time.
func (d *draft) stacked(losses int) (least int) {
	for k := range d.stacks {
		st := &d.stacks[k]
		slots := bits.OnesCount64(d.full &^ d.used &^ from(st.step+1))
		tooClose := losses
		if d.losses > 0 {
			for a, i := range st.aircraft {
				for _, j := range st.aircraft[:a] {
					tooClose += int(d.borne[int(i)*d.n+int(j)] >> st.step & 1)
				}
			}
		}
		key := uint64(k)<<32 | uint64(slots)<<16 | uint64(tooClose) + 1
		for a := range st.aircraft {
			key = mix(key ^ d.needs[k][a].id)
		}
		at := &d.leasts[key%uint64(len(d.leasts))]
		if at.key != key {
			at.key, at.least = key, int32(st.least(&d.needs[k], slots, tooClose))
		}
		least = max(least, int(at.least))
	}
	return least
}

// more returns how many clearances the draft needs more at least, if so many losses more may be put up with.
func (d *draft) more(losses int) int { return max(d.cover(losses), d.stacked(losses)) }

// cover returns how many aircraft at least need a clearance more, if so many losses more may be put up with.
func (d *draft) cover(losses int) int {
	var edges [flight.MaxFlights]uint64
	forced, paired := uint64(0), uint64(0)
	for i := range d.tracks {
		if d.endsOff(i) {
			forced |= 1 << i
		}
		if d.trouble == 0 {
			continue
		}
		for j, steps := range d.lost[i*d.n : (i+1)*d.n] {
			if steps != 0 && (losses == 0 || bits.OnesCount64(steps) > losses) {
				edges[i] |= 1 << j
			}
		}
		if edges[i] != 0 {
			paired |= 1 << i
		}
	}
	const few = 10
	if left := paired &^ forced; bits.OnesCount64(left) > few {
		return bits.OnesCount64(forced) + matching(&edges, left)
	}
	return smallestCover(&edges, paired, forced)
}

// smallestCover returns the size of the smallest set of aircraft that has one of every edge, and all the forced ones.
func smallestCover(edges *[flight.MaxFlights]uint64, paired, forced uint64) int {
	for left := paired &^ forced; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		if e := edges[i] &^ forced; e != 0 {
			return min(smallestCover(edges, paired, forced|1<<i), smallestCover(edges, paired, forced|e))
		}
	}
	return bits.OnesCount64(forced)
}

// matching returns a number of edges that share no aircraft: no cover is smaller.
func matching(edges *[flight.MaxFlights]uint64, left uint64) (size int) {
	for left != 0 {
		i := bits.TrailingZeros64(left)
		left &^= 1 << i
		if e := edges[i] & left; e != 0 {
			left &^= 1 << bits.TrailingZeros64(e)
			size++
		}
	}
	return size
}
