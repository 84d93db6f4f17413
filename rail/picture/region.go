package picture

import (
	"fmt"
	"strconv"
	"strings"

	"skyrail/rail"
)

// Region is a rectangle of cells of the map. The zero value stands for the whole map.
type Region struct {
	Row, Col      int // of the top left cell
	Height, Width int // in cells
}

// ParseRegion reads ROW,COL,HEIGHT,WIDTH. The error names the size of the map.
func ParseRegion(text string, net *rail.Network) (Region, error) {
	var g Region
	fields := strings.Split(text, ",")
	numbers := []*int{&g.Row, &g.Col, &g.Height, &g.Width}
	ok := len(fields) == len(numbers)
	for i := 0; ok && i < len(fields); i++ {
		var err error
		*numbers[i], err = strconv.Atoi(strings.TrimSpace(fields[i]))
		ok = err == nil
	}
	if !ok {
		return Region{}, fmt.Errorf("%q: want four whole numbers, ROW,COL,HEIGHT,WIDTH, inside the map of %d rows and %d columns",
			text, net.Height(), net.Width())
	}
	return g, g.Check(net)
}

// Check returns an error if a region is not a part of the map, or has no cell.
func (g Region) Check(net *rail.Network) error {
	// The differences cannot overflow where the sums could.
	if g.Row < 0 || g.Height < 1 || g.Row > net.Height()-g.Height || g.Col < 0 || g.Width < 1 || g.Col > net.Width()-g.Width {
		return fmt.Errorf("%d rows from row %d and %d columns from column %d: want at least one of each, inside the map of %d rows and %d columns",
			g.Height, g.Row, g.Width, g.Col, net.Height(), net.Width())
	}
	return nil
}

// of is the region itself, or all of a map.
func (g Region) of(net *rail.Network) Region {
	if g == (Region{}) {
		return Region{Height: net.Height(), Width: net.Width()}
	}
	return g
}

// holds tells whether a cell is in the region.
func (g Region) holds(c rail.Cell) bool {
	return c.Row >= g.Row && c.Row < g.Row+g.Height && c.Col >= g.Col && c.Col < g.Col+g.Width
}
