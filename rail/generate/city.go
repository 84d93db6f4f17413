package generate

import (
	"fmt"

	"skyrail/rail"
	"skyrail/rail/railfile"
)

// planCities says for each city which way it lies, how many tracks it has and where they end.
//
// quirk: if many tracks leave it, the last ones lie outside the square of a city. The reference fails (IndexError) where one
// of them is in the last row or column, or beyond.
func (b *builder) planCities() error {
	for i := range b.cities {
		c := &b.cities[i]
		if b.GridMode {
			c.orientation = rail.Heading(b.rng.Randint(0, 4))
		} else {
			c.orientation = toward(c.center, b.nearestCity(i))
		}
		b.planTracks(c)
		b.takeCells(c)
		for _, ends := range c.inner {
			for _, end := range ends {
				if end.Row >= b.height-1 || end.Col >= b.width-1 {
					return &ParameterError{"max_rails_between_cities", b.RailsBetweenCities, fmt.Sprintf(
						"the city at %s has %d tracks, and the last ones reach the edge of the grid; want fewer, fewer max_rail_pairs_in_city than %d, or another seed",
						c.center, len(ends), b.RailPairsInCity)}
				}
			}
		}
	}
	return nil
}

// nearestCity is the nearest of the other cities, the first of equally far ones.
func (b *builder) nearestCity(i int) rail.Cell {
	from, nearest := b.cities[i].center, -1
	for k := range b.cities {
		if k != i && (nearest < 0 || distance(from, b.cities[k].center) < distance(from, b.cities[nearest].center)) {
			nearest = k
		}
	}
	return b.cities[nearest].center
}

// planTracks draws the number of tracks and of those that lead out of the city, and places their ends: on the side of its
// orientation and on the opposite one, tracks beside each other, the outer ones shorter.
func (b *builder) planTracks(c *city) {
	tracks := 2 * int(b.rng.Randint(1, int64(b.pairs+1)))
	leaving := int(b.rng.Randint(1, int64(min(b.between, tracks)+1)))
	c.skipped = (tracks - leaving) / 2
	for _, side := range []rail.Heading{c.orientation, mirror(c.orientation)} {
		for k := range tracks {
			lateral, off := k-c.skipped, k-tracks/2
			depth := abs(off) + 1
			if off >= 1 {
				depth++
			}
			c.inner[side] = append(c.inner[side], b.onSide(c.center, side, b.radius-depth, lateral))
			if k >= c.skipped && k < c.skipped+leaving {
				c.outer[side] = append(c.outer[side], b.onSide(c.center, side, b.radius, lateral))
			}
		}
	}
}

// onSide is the cell so far out from a city's centre to a side, and so far to the right or down of it.
func (b *builder) onSide(center rail.Cell, side rail.Heading, out, lateral int) rail.Cell {
	switch side {
	case rail.North:
		return rail.Cell{Row: center.Row - out, Col: center.Col + lateral}
	case rail.South:
		return rail.Cell{Row: center.Row + out, Col: center.Col + lateral}
	case rail.East:
		return rail.Cell{Row: center.Row + lateral, Col: center.Col + out}
	}
	return rail.Cell{Row: center.Row + lateral, Col: center.Col - out}
}

// takeCells notes the cells of a city, and the direction that a repair of each prefers: away from its middle.
func (b *builder) takeCells(c *city) {
	for _, cell := range b.citySquare(c) {
		h := rail.Heading(0)
		switch c.orientation {
		case rail.North, rail.South:
			if cell.Row > c.center.Row {
				h = 2
			}
		default:
			h = 1
			if cell.Col < c.center.Col {
				h = 3
			}
		}
		b.inCity[b.index(cell)] = true
		b.facing[b.index(cell)] = h
	}
}

// citySquare are the cells of a city, row by row.
func (b *builder) citySquare(c *city) []rail.Cell {
	cells := make([]rail.Cell, 0, (2*b.radius+1)*(2*b.radius+1))
	for r := -b.radius; r <= b.radius; r++ {
		for k := -b.radius; k <= b.radius; k++ {
			cells = append(cells, rail.Cell{Row: c.center.Row + r, Col: c.center.Col + k})
		}
	}
	return cells
}

// layInnerTracks lays the tracks inside the cities, their switches and the way out of those that lead out, and makes the
// middle of each track a station.
func (b *builder) layInnerTracks() {
	for i := range b.cities {
		c := &b.cities[i]
		side := rail.North
		for len(c.inner[side]) == 0 {
			side++
		}
		ends, others := c.inner[side], c.inner[mirror(side)]
		for k := range ends {
			line := b.layStraight(ends[k], others[k])
			c.stations = append(c.stations, railfile.StationTrack{Cell: line[len(line)/2], Track: k})
		}
		for k := range ends {
			b.joinTracks(ends[k])
			b.joinTracks(others[k])
			if out := k - c.skipped; out >= 0 && out < len(c.outer[side]) {
				b.layStraight(ends[k], c.outer[side][out])
				b.layStraight(others[k], c.outer[mirror(side)][out])
			}
		}
	}
}

// layStraight lays a straight track and returns its cells, from the top or the left on.
func (b *builder) layStraight(from, to rail.Cell) []rail.Cell {
	h := toward(from, to)
	first, last := from, to
	if to.Row < from.Row || to.Col < from.Col {
		first, last = to, from
	}
	var cells []rail.Cell
	for r := first.Row; r <= last.Row; r++ {
		for c := first.Col; c <= last.Col; c++ {
			cell := rail.Cell{Row: r, Col: c}
			cells = append(cells, cell)
			b.allow(b.index(cell), h, h)
			b.allow(b.index(cell), mirror(h), mirror(h))
		}
	}
	return cells
}

// joinTracks makes the end of a track a bend to the track beside it, if it has two neighbours, and opens both towards it.
func (b *builder) joinTracks(end rail.Cell) {
	var sides []rail.Heading
	for h := rail.North; h <= rail.West; h++ {
		if n := end.Toward(h); b.inside(n) && b.grid[b.index(n)] != 0 {
			sides = append(sides, h)
		}
	}
	if len(sides) != 2 {
		return
	}
	x, y := sides[0], sides[1]
	b.grid[b.index(end)] = way(mirror(x), y) | way(mirror(y), x)
	b.allow(b.index(end.Toward(x)), x, mirror(x))
	b.allow(b.index(end.Toward(y)), y, mirror(y))
}
