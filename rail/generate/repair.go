package generate

import (
	"slices"

	"skyrail/rail"
)

var legal = rail.Kinds()

// brokenCells are the cells of the cities and of the tracks between them that have no regular form or do not join their
// neighbours. A cell in which several tracks were laid may come several times.
func (b *builder) brokenCells() []rail.Cell {
	var broken []rail.Cell
	for _, cells := range [][]rail.Cell{b.cityCells(), b.lines} {
		for _, c := range cells {
			if !b.valid(c) {
				broken = append(broken, c)
			}
		}
	}
	return broken
}

func (b *builder) repairAll(cells []rail.Cell) {
	for _, c := range cells {
		b.repair(c)
	}
}

// cityCells are the cells of all cities, in the order in which Python goes through their set.
func (b *builder) cityCells() []rail.Cell {
	all := newCellSet()
	for i := range b.cities {
		own := newCellSet()
		for _, cell := range b.citySquare(&b.cities[i]) {
			own.add(cell)
		}
		all.merge(own)
	}
	return all.cells()
}

// valid says whether a cell has a regular form and joins its neighbours.
func (b *builder) valid(c rail.Cell) bool {
	t := b.grid[b.index(c)]
	if !slices.Contains(legal, t) {
		return false
	}
	for h := rail.North; h <= rail.West; h++ {
		n := c.Toward(h)
		switch {
		case t == 0:
			if b.leads(n, mirror(h)) {
				return false
			}
		case leaves(t, h):
			if !b.inside(n) || b.grid[b.index(n)].Exits(h) == 0 {
				return false
			}
		}
	}
	return true
}

// leaves says whether a train of any heading may leave a cell in a direction.
func leaves(t rail.Transitions, h rail.Heading) bool {
	return t&(way(rail.North, h)|way(rail.East, h)|way(rail.South, h)|way(rail.West, h)) != 0
}

// leads says whether a cell is there and has a way out in a direction.
func (b *builder) leads(c rail.Cell, h rail.Heading) bool {
	return b.inside(c) && leaves(b.grid[b.index(c)], h)
}

// repair gives a cell the form that takes in all tracks that lead to it.
func (b *builder) repair(c rail.Cell) {
	at := b.index(c)
	var sides []rail.Heading // from which tracks lead in
	hole := rail.North       // the last without
	for h := rail.North; h <= rail.West; h++ {
		if b.leads(c.Toward(h), mirror(h)) {
			sides = append(sides, h)
		} else {
			hole = h
		}
	}
	switch len(sides) {
	case 1:
		if b.grid[at] != 0 {
			b.grid[at] = way(mirror(sides[0]), sides[0])
		}
	case 2:
		b.grid[at] = way(mirror(sides[0]), sides[1]) | way(mirror(sides[1]), sides[0])
	case 3:
		b.grid[at] = b.switchFor(hole, b.facing[at]).Rotated(int(hole))
	case 4:
		b.grid[at] = rail.DoubleSlip.Rotated(b.repairs.Choice(2))
	}
}

// switchFor is the switch of a cell without a track on one side, before it is turned there: its point lies where the
// cell's city wants it, or at random.
func (b *builder) switchFor(hole, preferred rail.Heading) rail.Transitions {
	forms := [2]rail.Transitions{rail.SwitchRight.Rotated(1), rail.SwitchLeft.Rotated(3)}
	if preferred != rail.NoHeading {
		switch (preferred - hole + 3) & 3 {
		case 0:
			return forms[1]
		case 2:
			return forms[0]
		}
	}
	return forms[b.repairs.Choice(2)]
}
