package generate

import (
	"fmt"
	"math"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// SparseRail lays tracks: cities with stations, and single tracks from city to city (sparse_rail_generator). All its
// random numbers come from the stream it is given, but for those of repairs (see [SparseRail.Generate]).
type SparseRail struct {
	Cities             int     // at most (max_num_cities); there are fewer if they do not fit
	GridMode           bool    // cities in rows and columns instead of at random
	RailsBetweenCities int     // tracks that leave a city to one side, at most (max_rails_between_cities)
	RailPairsInCity    int     // pairs of tracks in a city, at most (max_rail_pairs_in_city); below 1 counts as 1
	LevelFree          float64 // share of the crossings that are bridges, 0 to 1 (p_level_free)
}

// Generate lays the tracks of a grid. The hints of the product are those of the reference; scenes has no meaning here.
//
// It draws: at random, a randint for each city; for each city its orientation (grid mode), its number of tracks and of
// those that lead out; one double, and if there are bridges a permutation of all crossings. Repairs draw from a stream of
// their own, RandomState(12), which is new each time (quirk).
//
// It is a ParameterError if not even two cities fit, or if a city's tracks reach the edge of the grid. Cities that cannot
// be connected stay unconnected.
func (g SparseRail) Generate(width, height int, rng *numpyrand.RandomState) (*railfile.RailProduct, error) {
	b, err := newBuilder(g, width, height, rng)
	if err != nil {
		return nil, err
	}
	return b.build()
}

// ParameterError is a parameter with which nothing can be generated.
type ParameterError struct {
	Name  string // the reference's, such as n_cities
	Value any
	Why   string // and what to change
}

// Error names the parameter.
func (e *ParameterError) Error() string { return fmt.Sprintf("%s %v: %s", e.Name, e.Value, e.Why) }

// builder is a railway as it grows.
type builder struct {
	SparseRail
	width, height int
	pairs         int // of tracks in a city, at most
	between       int // tracks that leave a city to one side, at most
	radius        int // a city is a square of 2*radius+1 cells
	most          int // cities
	rng           *numpyrand.RandomState
	repairs       numpyrand.RandomState

	grid    []rail.Transitions
	cities  []city
	lines   []rail.Cell    // cells of the tracks between cities, in the order in which they were laid
	inCity  []bool         // by cell
	facing  []rail.Heading // by cell of a city, the direction its repair prefers; NoHeading outside
	bridges []rail.Cell
	search  *search
}

// city is a city and its tracks.
type city struct {
	center      rail.Cell
	orientation rail.Heading
	inner       [4][]rail.Cell // by side, the ends of its tracks inside
	outer       [4][]rail.Cell // by side, where tracks leave it
	skipped     int            // tracks before the first one that leaves it
	stations    []railfile.StationTrack
}

func newBuilder(g SparseRail, width, height int, rng *numpyrand.RandomState) (*builder, error) {
	switch {
	case width < 1 || height < 1 || width > maxCells || height > maxCells || width*height > maxCells:
		return nil, &ParameterError{"x_dim, y_dim", fmt.Sprintf("%d, %d", width, height), fmt.Sprintf("want at least 1, and at most %d cells", maxCells)}
	case !(g.LevelFree >= 0 && g.LevelFree <= 1):
		return nil, &ParameterError{"p_level_free", g.LevelFree, "want a share, 0 to 1"}
	case g.RailsBetweenCities < 1:
		return nil, &ParameterError{"max_rails_between_cities", g.RailsBetweenCities, "want at least 1"}
	case g.RailPairsInCity > maxPairs:
		return nil, &ParameterError{"max_rail_pairs_in_city", g.RailPairsInCity, fmt.Sprintf("want at most %d", maxPairs)}
	}
	b := &builder{SparseRail: g, width: width, height: height, rng: rng, repairs: numpyrand.NewRandomState(12)}
	b.pairs = max(1, g.RailPairsInCity)
	b.between = min(g.RailsBetweenCities, 2*b.pairs)
	b.radius = b.pairs + 2
	size := 2 * (b.radius + 1)
	fit := max(0, height-2) / size * (max(0, width-2) / size)
	b.most = min(g.Cities, fit)
	switch {
	case g.Cities < 2:
		return nil, &ParameterError{"n_cities", g.Cities, "a railway needs two cities, want at least 2"}
	case fit < 2:
		return nil, &ParameterError{"x_dim, y_dim", fmt.Sprintf("%d, %d", width, height), fmt.Sprintf(
			"two cities do not fit: with max_rail_pairs_in_city %d a city takes %d rows and columns, and 2 more are left at the border; want a larger grid or fewer pairs",
			g.RailPairsInCity, size)}
	}
	b.grid = make([]rail.Transitions, width*height)
	b.inCity = make([]bool, width*height)
	b.facing = make([]rail.Heading, width*height)
	for i := range b.facing {
		b.facing[i] = rail.NoHeading
	}
	return b, nil
}

const (
	maxCells = 1 << 20 // of a grid, so that there is room for all of them in a file
	maxPairs = 1 << 12 // of tracks in a city
)

// build lays the tracks. The order of the stages is part of the result.
func (b *builder) build() (*railfile.RailProduct, error) {
	b.placeCities()
	if err := b.planCities(); err != nil {
		return nil, err
	}
	b.connectCities()
	b.layInnerTracks()
	b.repairAll(b.brokenCells())
	b.chooseBridges()
	return b.product(), nil
}

func (b *builder) product() *railfile.RailProduct {
	p := &railfile.RailProduct{Width: b.width, Height: b.height, Grid: b.grid}
	for i := range b.cities {
		c := &b.cities[i]
		p.Cities = append(p.Cities, c.center)
		p.Orientations = append(p.Orientations, c.orientation)
		p.Tracks = append(p.Tracks, c.stations)
	}
	p.LevelFree = b.bridges
	return p
}

// placeCities says where the cities are.
func (b *builder) placeCities() {
	var centers []rail.Cell
	if !b.GridMode {
		centers = b.randomPositions()
	}
	if len(centers) < 2 { // quirk: what was drawn for a city that found no second one stays drawn
		centers = evenPositions(b.width, b.height, b.radius, b.most)
	}
	b.cities = make([]city, len(centers))
	for i, c := range centers {
		b.cities[i].center = c
	}
}

// randomPositions draws one cell after the other of those that are far enough from the cities before, counted row by row.
func (b *builder) randomPositions() []rail.Cell {
	free := make([]bool, len(b.grid))
	inRow, left := make([]int, b.height), 0 // free cells
	set := func(fromRow, toRow, fromCol, toCol int, to bool) {
		for r := max(fromRow, 0); r < min(toRow, b.height); r++ {
			for c := max(fromCol, 0); c < min(toCol, b.width); c++ {
				if at := r*b.width + c; free[at] != to {
					free[at] = to
					change := 1
					if !to {
						change = -1
					}
					inRow[r] += change
					left += change
				}
			}
		}
	}
	border, reach := b.radius+1, 2*(b.radius+1)
	set(border, b.height-border, border, b.width-border, true)
	var centers []rail.Cell
	for len(centers) < b.most && left > 0 {
		pick := int(b.rng.Randint(0, int64(left)))
		row := 0
		for ; pick >= inRow[row]; row++ {
			pick -= inRow[row]
		}
		col := 0
		for ; ; col++ {
			if free[row*b.width+col] {
				if pick == 0 {
					break
				}
				pick--
			}
		}
		centers = append(centers, rail.Cell{Row: row, Col: col})
		set(row-reach, row+reach+1, col-reach, col+reach+1, false)
	}
	return centers
}

// evenPositions are cities in rows and columns, column by column.
func evenPositions(width, height, radius, most int) []rail.Cell {
	size := 2 * (radius + 1)
	maxRows, maxCols := (height-2)/size, (width-2)/size
	rows := min(int(math.Ceil(math.Sqrt(float64(most)*(float64(height)/float64(width))))), maxRows)
	cols := min((most+rows-1)/rows, maxCols)
	rowAt, colAt := evenly(radius+2, height-(radius+2), rows), evenly(radius+2, width-(radius+2), cols)
	var centers []rail.Cell
	for k := range min(most, rows*cols) {
		centers = append(centers, rail.Cell{Row: rowAt[k%rows], Col: colAt[k/rows]})
	}
	return centers
}

// evenly returns n whole numbers from start to end (numpy.linspace with integers).
func evenly(start, end, n int) []int {
	at := make([]int, n)
	step := float64(end-start) / float64(max(n-1, 1))
	for i := range at {
		at[i] = int(math.Floor(float64(float64(i)*step) + float64(start)))
	}
	if n > 1 {
		at[n-1] = end
	}
	return at
}

// chooseBridges makes some of the crossings bridges.
//
// quirk: a double is drawn even if there are to be none.
func (b *builder) chooseBridges() {
	var crossings []rail.Cell
	for cell, t := range b.grid {
		if t == rail.DiamondCrossing {
			crossings = append(crossings, b.cell(cell))
		}
	}
	share := b.LevelFree * float64(len(crossings))
	part := math.Mod(share, 1)
	bridges := int(math.Floor(share))
	if k, _ := b.rng.ChoiceWeighted([]float64{part, 1 - part}); k == 0 { // the two add up to 1
		bridges++
	}
	if bridges == 0 {
		return
	}
	chosen := make([]int, bridges)
	_ = b.rng.ChoiceDistinct(chosen, len(crossings)) // no more than there are
	for _, k := range chosen {
		b.bridges = append(b.bridges, crossings[k])
	}
}

func (b *builder) cell(index int) rail.Cell {
	return rail.Cell{Row: index / b.width, Col: index % b.width}
}

func (b *builder) index(c rail.Cell) int { return c.Row*b.width + c.Col }

func (b *builder) inside(c rail.Cell) bool {
	return c.Row >= 0 && c.Row < b.height && c.Col >= 0 && c.Col < b.width
}

// allow lets trains that travel with heading in leave a cell towards out.
func (b *builder) allow(cell int, in, out rail.Heading) {
	b.grid[cell] |= way(in, out)
}

// way is a cell with one way.
func way(in, out rail.Heading) rail.Transitions { return 1 << (15 - 4*uint(in) - uint(out)) }

func mirror(h rail.Heading) rail.Heading { return (h + 2) & 3 }

// toward is the direction of a cell as seen from another: north or south if it is at least as far that way as to the
// side, and south if they are the same (get_closest_direction).
func toward(from, to rail.Cell) rail.Heading {
	a, b := from.Row-to.Row, from.Col-to.Col
	switch {
	case a*a >= b*b && a > 0:
		return rail.North
	case a*a >= b*b:
		return rail.South
	case b > 0:
		return rail.West
	}
	return rail.East
}

func distance(a, b rail.Cell) int { return abs(a.Row-b.Row) + abs(a.Col-b.Col) }

func abs(n int) int { return max(n, -n) }
