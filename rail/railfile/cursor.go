package railfile

import (
	"fmt"
	"math"
	"strconv"

	"skyrail/internal/pyvalue"
	"skyrail/numpyrand"
	"skyrail/rail"
)

// FormatError is something in an environment file that is not what its place asks for.
type FormatError struct {
	Path string // such as agents[3].speed_counter.speed
	Want string
	Got  string
}

// Error names the place.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: want %s, got %s", e.Path, e.Want, e.Got)
}

// cursor is a value of a file and how one comes to it: from another, by a name, or by a number if there is no name. The
// text of that is made only for errors. A value that is not there is a cursor with a nil value.
type cursor struct {
	from  *cursor // nil: the file
	name  string
	index int
	value pyvalue.Value
}

func at(v pyvalue.Value) cursor { return cursor{value: v} }

// String is the way to the value, such as agents[3].speed_counter.
func (c cursor) String() string {
	way := ""
	for at := &c; at.from != nil; at = at.from {
		part := at.name
		if part == "" {
			part = "[" + strconv.Itoa(at.index) + "]"
		}
		if way != "" && way[0] != '[' {
			part += "."
		}
		way = part + way
	}
	if way == "" || way[0] == '[' {
		return "the file" + way
	}
	return way
}

func (c cursor) wrong(want string) error {
	got := "nothing"
	if c.value != nil {
		got = string(pyvalue.AppendJSON(nil, c.value))
		if r := []rune(got); len(r) > 60 {
			got = string(r[:60]) + "…"
		}
	}
	return &FormatError{c.String(), want, got}
}

// sub is what a name leads to.
func (c *cursor) sub(name string, v pyvalue.Value) cursor {
	return cursor{from: c, name: name, value: v}
}

// item is one of the items.
func (c *cursor) item(i int, v pyvalue.Value) cursor { return cursor{from: c, index: i, value: v} }

// with is another value in the same place.
func (c cursor) with(v pyvalue.Value) cursor {
	c.value = v
	return c
}

func (c cursor) isNone() bool {
	_, none := c.value.(pyvalue.None)
	return c.value == nil || none
}

func (c cursor) isDict() bool {
	_, ok := c.value.(*pyvalue.Dict)
	return ok
}

func (c cursor) isText(s string) bool { return c.value == pyvalue.Str(s) }

// key is an entry of a dictionary by its name; its value is nil if it is not there.
func (c *cursor) key(name string) cursor {
	if d, ok := c.value.(*pyvalue.Dict); ok {
		if v, ok := d.Get(name); ok {
			return c.sub(name, v)
		}
	}
	return c.sub(name, nil)
}

type entry struct{ key, value cursor }

// entries are those of a dictionary; none if it is not there.
func (c *cursor) entries() ([]entry, error) {
	if c.isNone() {
		return nil, nil
	}
	d, ok := c.value.(*pyvalue.Dict)
	if !ok {
		return nil, c.wrong("a dictionary")
	}
	all := make([]entry, len(d.Entries))
	for i, e := range d.Entries {
		name := fmt.Sprintf("[%s]", pyvalue.AppendJSON(nil, e.Key))
		all[i] = entry{c.sub(name, e.Key), c.sub(name, e.Value)}
	}
	return all, nil
}

// items are those of a list, a tuple, a set or an array.
func (c cursor) items() ([]cursor, error) {
	values, err := c.values()
	if err != nil {
		return nil, err
	}
	all := make([]cursor, len(values))
	for i, v := range values {
		all[i] = c.item(i, v)
	}
	return all, nil
}

// values are those of the items.
func (c cursor) values() ([]pyvalue.Value, error) {
	switch v := c.value.(type) {
	case *pyvalue.List:
		return v.Items, nil
	case *pyvalue.Tuple:
		return v.Items, nil
	case *pyvalue.Set:
		return v.Items, nil
	case *pyvalue.Array:
		return c.arrayValues(v)
	}
	return nil, c.wrong("a list")
}

// arrayValues are the elements of a one-dimensional array, or the rows of a two-dimensional one.
func (c cursor) arrayValues(a *pyvalue.Array) ([]pyvalue.Value, error) {
	shape := a.Shape()
	if len(shape) == 0 || len(shape) > 2 {
		return nil, c.wrong("a list or an array of one or two dimensions")
	}
	all := make([]pyvalue.Value, shape[0])
	for i := range all {
		if len(shape) == 1 {
			all[i] = a.At(i)
			continue
		}
		row := &pyvalue.Tuple{Items: make([]pyvalue.Value, shape[1])}
		for j := range row.Items {
			row.Items[j] = a.At(i*shape[1] + j)
		}
		all[i] = row
	}
	return all, nil
}

// optionalItems is items of a list that may not be there.
func (c cursor) optionalItems() ([]cursor, error) {
	if c.isNone() {
		return nil, nil
	}
	return c.items()
}

// plain is the value of a NumPy scalar, and any other value itself.
func (c cursor) plain() pyvalue.Value {
	if s, ok := c.value.(*pyvalue.Scalar); ok {
		return s.Value()
	}
	return c.value
}

// integer reads a whole number in any of its forms.
func (c cursor) integer() (int64, error) {
	if n, ok := c.value.(pyvalue.Int); ok { // most are
		return int64(n), nil
	}
	switch v := c.plain().(type) {
	case pyvalue.Int:
		return int64(v), nil
	case pyvalue.Float:
		if f := float64(v); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), nil
		}
	case *pyvalue.Member:
		if v.Name == "" {
			return v.Number, nil
		}
		if v.Class == headingClass {
			for n, name := range []string{"NORTH", "EAST", "SOUTH", "WEST"} {
				if v.Name == name {
					return int64(n), nil
				}
			}
		}
	}
	return 0, c.wrong("a whole number")
}

// step reads a step of the timetable.
func (c cursor) step() (int, error) {
	v, err := c.integer()
	return int(v), err
}

// count reads a number of steps; None and nothing are 0.
func (c cursor) count() (int, error) {
	if c.isNone() {
		return 0, nil
	}
	v, err := c.integer()
	if err != nil || v < 0 {
		return 0, c.wrong("a number of steps, 0 or more")
	}
	return int(v), nil
}

// time reads a step of the timetable or None.
func (c cursor) time() (rail.Time, error) {
	if c.isNone() {
		return rail.Time{}, nil
	}
	v, err := c.step()
	return rail.At(v), err
}

// times reads a list of at least n of them.
func (c cursor) times(n int) ([]rail.Time, error) {
	values, err := c.values()
	if err != nil {
		return nil, err
	}
	if len(values) < n {
		return nil, c.wrong(fmt.Sprintf("%d times, one for each stop", n))
	}
	all := make([]rail.Time, len(values))
	for i, v := range values {
		if all[i], err = c.item(i, v).time(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c cursor) boolean() (bool, error) {
	if b, ok := c.plain().(pyvalue.Bool); ok {
		return bool(b), nil
	}
	if n, err := c.integer(); err == nil && (n == 0 || n == 1) {
		return n == 1, nil
	}
	return false, c.wrong("True or False")
}

func (c cursor) float() (float64, error) {
	switch v := c.plain().(type) {
	case pyvalue.Float:
		return float64(v), nil
	case pyvalue.Int:
		return float64(v), nil
	}
	return 0, c.wrong("a number")
}

// seed reads a whole number below 2^64.
func (c cursor) seed() (uint64, error) {
	switch v := c.plain().(type) {
	case pyvalue.Int:
		if v >= 0 {
			return uint64(v), nil
		}
	case *pyvalue.BigInt:
		if n := v.Big(); n.IsUint64() {
			return n.Uint64(), nil
		}
	}
	return 0, c.wrong("a seed, 0 to 2^64-1")
}

// fraction reads a Fraction, a whole number or a float, which is snapped.
func (c cursor) fraction() (rail.Fraction, error) {
	switch v := c.plain().(type) {
	case pyvalue.Int:
		return rail.Whole(int64(v)), nil
	case pyvalue.Float:
		f, err := rail.Snap(float64(v))
		if err != nil {
			return f, c.wrong("a finite number")
		}
		return f, nil
	case *pyvalue.Object:
		if v.Class != fractionClass {
			break
		}
		if len(v.Args) == 2 {
			num, numOK := v.Args[0].(pyvalue.Int)
			den, denOK := v.Args[1].(pyvalue.Int)
			if numOK && denOK && den > 0 {
				return rail.Frac(int64(num), int64(den)), nil
			}
		}
		text := ""
		for i, arg := range v.Args {
			switch a := arg.(type) {
			case pyvalue.Int:
				text += fmt.Sprint(int64(a))
			case *pyvalue.BigInt:
				text += a.Big().String()
			case pyvalue.Str:
				text += string(a)
			default:
				return rail.Fraction{}, c.wrong("a fraction")
			}
			if i == 0 && len(v.Args) == 2 {
				text += "/"
			}
		}
		if f, err := rail.ParseFraction(text); err == nil {
			return f, nil
		}
	}
	return rail.Fraction{}, c.wrong("a fraction or a number")
}

// cell reads (row, column).
func (c cursor) cell() (rail.Cell, error) {
	values, err := c.values()
	if err != nil || len(values) != 2 {
		return rail.Cell{}, c.wrong("a cell (row, column)")
	}
	row, rowErr := c.with(values[0]).integer()
	col, colErr := c.with(values[1]).integer()
	if rowErr != nil || colErr != nil {
		return rail.Cell{}, c.wrong("a cell (row, column)")
	}
	return rail.Cell{Row: int(row), Col: int(col)}, nil
}

// cells reads a list of them; none if it is not there.
func (c cursor) cells() ([]rail.Cell, error) {
	items, err := c.optionalItems()
	if err != nil {
		return nil, err
	}
	var cells []rail.Cell
	for _, item := range items {
		cell, err := item.cell()
		if err != nil {
			return nil, err
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

// heading reads 0 to 3, or none.
func (c cursor) heading() (rail.Heading, error) {
	if c.isNone() {
		return rail.NoHeading, nil
	}
	v, err := c.integer()
	if err != nil || v < 0 || v > 3 {
		return rail.NoHeading, c.wrong("a heading, 0 to 3 or None")
	}
	return rail.Heading(v), nil
}

// configuration reads a cell and a heading, Nowhere if one of them is None.
func configuration(cell, heading cursor) (rail.Configuration, error) {
	if cell.isNone() || heading.isNone() {
		return rail.Nowhere, nil
	}
	return waypoint(cell, heading)
}

// waypoint reads a cell and a heading, which may be None.
func waypoint(cell, heading cursor) (rail.Configuration, error) {
	var c rail.Configuration
	var err error
	if c.Cell, err = cell.cell(); err != nil {
		return c, err
	}
	c.Heading, err = heading.heading()
	return c, err
}

// state reads a TrainState by number or name, NoState if it is None.
func (c cursor) state() (rail.State, error) {
	if c.isNone() {
		return rail.NoState, nil
	}
	if m, ok := c.value.(*pyvalue.Member); ok && m.Name != "" {
		for s := rail.Waiting; s <= rail.Done; s++ {
			if s.String() == m.Name {
				return s, nil
			}
		}
		return rail.NoState, c.wrong("a train's state")
	}
	v, err := c.integer()
	if err != nil || v < int64(rail.Waiting) || v > int64(rail.Done) {
		return rail.NoState, c.wrong("a train's state, 0 to 6")
	}
	return rail.State(v), nil
}

// action reads a RailEnvActions by number or name; the reference takes what it does not know for DO_NOTHING.
func (c cursor) action() (rail.Action, error) {
	if m, ok := c.value.(*pyvalue.Member); ok && m.Name != "" {
		a, ok := rail.ParseAction(m.Name)
		if !ok {
			return a, c.wrong("an action")
		}
		return a, nil
	}
	v, err := c.integer()
	if err != nil {
		return rail.DoNothing, err
	}
	if v < 0 || v > int64(rail.StopMoving) {
		return rail.DoNothing, nil
	}
	return rail.Action(v), nil
}

// stream reads the state of a RandomState.
func (c cursor) stream() (*numpyrand.RandomState, error) {
	const want = `a state of NumPy's MT19937: ("MT19937", 624 words, position, has_gauss, gauss)`
	items, err := c.items()
	if err != nil || len(items) != 5 || !items[0].isText("MT19937") {
		return nil, c.wrong(want)
	}
	words, err := items[1].values()
	if err != nil {
		return nil, err
	}
	var s numpyrand.MT19937State
	if len(words) != len(s.Key) {
		return nil, items[1].wrong("624 words")
	}
	for i, w := range words {
		v, err := cursor{value: w}.integer()
		if err != nil || v < 0 || v > math.MaxUint32 {
			return nil, items[1].item(i, w).wrong("a word of 32 bits")
		}
		s.Key[i] = uint32(v)
	}
	if s.Pos, err = items[2].count(); err != nil {
		return nil, err
	}
	if s.HasGauss, err = items[3].boolean(); err != nil {
		return nil, err
	}
	if s.Gauss, err = items[4].float(); err != nil {
		return nil, err
	}
	var r numpyrand.RandomState
	if err := r.SetState(s); err != nil {
		return nil, fmt.Errorf("%s: %w", c.String(), err)
	}
	return &r, nil
}

// instance returns the attributes of an object of a class, as a dictionary.
func (c cursor) instance(of pyvalue.Class) (cursor, error) {
	if o, ok := c.value.(*pyvalue.Object); ok && o.Class == of {
		if d, ok := o.State.(*pyvalue.Dict); ok {
			return c.with(d), nil
		}
	}
	return c, c.wrong("an object " + of.String())
}

// texts reads a list of texts.
func (c cursor) texts() ([]string, error) {
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	all := make([]string, len(items))
	for i, item := range items {
		s, ok := item.value.(pyvalue.Str)
		if !ok {
			return nil, item.wrong("a text")
		}
		all[i] = string(s)
	}
	return all, nil
}
