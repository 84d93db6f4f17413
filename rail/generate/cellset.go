package generate

import (
	"math/bits"

	"skyrail/rail"
)

// cellSet is a set of cells that is gone through in the order of a set in CPython, which is that of its hash table: the
// order in which the cells of the cities are repaired.
type cellSet struct {
	slots []slot // a power of two
	used  int
}

type slot struct {
	cell  rail.Cell
	hash  uint64
	taken bool
}

const (
	smallestTable = 8
	linearProbes  = 9
)

func newCellSet() *cellSet { return &cellSet{slots: make([]slot, smallestTable)} }

// hashCell is CPython's hash of a tuple of two whole numbers from 0 on, as an unsigned number.
func hashCell(c rail.Cell) uint64 {
	const prime1, prime2, prime5 = 11400714785074694791, 14029467366897019727, 2870177450012600261
	acc := uint64(prime5)
	for _, x := range [2]int{c.Row, c.Col} {
		acc += uint64(x) * prime2
		acc = bits.RotateLeft64(acc, 31) * prime1
	}
	acc += 2 ^ (prime5 ^ 3527539)
	if acc == 1<<64-1 { // -1 says that there is no hash
		return 1546275796
	}
	return acc
}

// add puts a cell into the set.
func (s *cellSet) add(c rail.Cell) { s.insert(slot{c, hashCell(c), true}) }

func (s *cellSet) insert(n slot) {
	if s.place(n) {
		s.used++
		if mask := len(s.slots) - 1; s.used*5 >= mask*3 {
			factor := 4
			if s.used > 50000 {
				factor = 2
			}
			s.grow(s.used * factor)
		}
	}
}

// place puts a cell into the first free slot on its way through the table; it says false if it is there already.
func (s *cellSet) place(n slot) bool {
	mask := uint64(len(s.slots) - 1)
	i, perturb := n.hash&mask, n.hash
	for {
		probes := uint64(0)
		if i+linearProbes <= mask {
			probes = linearProbes
		}
		for at := i; at <= i+probes; at++ {
			if !s.slots[at].taken {
				s.slots[at] = n
				return true
			}
			if s.slots[at].cell == n.cell {
				return false
			}
		}
		perturb >>= 5
		i = (i*5 + 1 + perturb) & mask
	}
}

// grow makes the table larger than so many slots.
func (s *cellSet) grow(more int) {
	size := smallestTable
	for size <= more {
		size *= 2
	}
	old := s.slots
	s.slots = make([]slot, size)
	for _, n := range old {
		if n.taken {
			s.place(n)
		}
	}
}

// merge puts the cells of another set into this one.
func (s *cellSet) merge(o *cellSet) {
	if (s.used+o.used)*5 >= (len(s.slots)-1)*3 {
		s.grow((s.used + o.used) * 2)
	}
	if s.used == 0 && len(s.slots) == len(o.slots) {
		copy(s.slots, o.slots)
		s.used = o.used
		return
	}
	for _, n := range o.slots {
		if n.taken {
			s.insert(n)
		}
	}
}

// cells are the cells in the order of the table.
func (s *cellSet) cells() []rail.Cell {
	all := make([]rail.Cell, 0, s.used)
	for _, n := range s.slots {
		if n.taken {
			all = append(all, n.cell)
		}
	}
	return all
}
