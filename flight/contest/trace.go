package contest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"skyrail/flight"
)

// Trace is the actions of many episodes, one a step: what a team submits. The zero Trace is empty.
type Trace struct {
	seeds   []uint64
	actions map[uint64][]int
	given   map[uint64]int // cells that the file had
}

// NewTrace gathers the actions of flown episodes.
func NewTrace(episodes []Episode) Trace {
	var t Trace
	for _, e := range episodes {
		t.add(e.Seed, e.Actions)
		t.given[e.Seed] = len(e.Actions)
	}
	slices.Sort(t.seeds)
	return t
}

// add leaves the seeds unsorted.
func (t *Trace) add(seed uint64, actions []int) {
	if t.actions == nil {
		t.actions, t.given = make(map[uint64][]int), make(map[uint64]int)
	}
	if _, ok := t.actions[seed]; !ok {
		t.seeds = append(t.seeds, seed)
	}
	t.actions[seed] = actions
}

// Seeds returns the seeds of the trace, ascending.
func (t Trace) Seeds() []uint64 { return slices.Clone(t.seeds) }

// Actions returns the actions of a seed, nil if the trace has none.
func (t Trace) Actions(seed uint64) []int { return t.actions[seed] }

// SeedsError names seeds that a trace lacks, or has and should not.
type SeedsError struct{ Missing, Extra []uint64 }

func (e *SeedsError) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		parts = append(parts, fmt.Sprintf("%d of the required seeds have no row: %s", len(e.Missing), listSeeds(e.Missing)))
	}
	if len(e.Extra) > 0 {
		parts = append(parts, fmt.Sprintf("%d seeds are not on the list: %s", len(e.Extra), listSeeds(e.Extra)))
	}
	return strings.Join(parts, "; ")
}

func listSeeds(seeds []uint64) string {
	const most = 5
	var names []string
	for _, s := range seeds[:min(most, len(seeds))] {
		names = append(names, strconv.FormatUint(s, 10))
	}
	if len(seeds) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// Check demands that the trace has a row of every required seed and, when strict, no other. The error is a
// SeedsError.
func (t Trace) Check(required []uint64, strict bool) error {
	var e SeedsError
	wanted := make(map[uint64]bool, len(required))
	for _, s := range required {
		wanted[s] = true
		if _, ok := t.actions[s]; !ok {
			e.Missing = append(e.Missing, s)
		}
	}
	if strict {
		for _, s := range t.seeds {
			if !wanted[s] {
				e.Extra = append(e.Extra, s)
			}
		}
	}
	if len(e.Missing)+len(e.Extra) == 0 {
		return nil
	}
	return &e
}

const traceHeader = "id,action"

// WriteTrace writes the trace as submission.csv: CRLF line ends, seeds ascending, every seed padded with idle
// steps to the horizon.
func WriteTrace(w io.Writer, t Trace, horizon int) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\r\n", traceHeader)
	for _, seed := range t.seeds {
		actions := t.actions[seed]
		for step := range horizon {
			action := flight.Idle
			if step < len(actions) {
				action = actions[step]
			}
			fmt.Fprintf(b, "%s,%d\r\n", cellID(seed, step), action)
		}
	}
	return b.Flush()
}

// cellID names one step of one episode.
func cellID(seed uint64, step int) string { return fmt.Sprintf("s%07d_t%02d", seed, step) }

// parseCellID inverts cellID for steps within the horizon; only the spelling that cellID gives is accepted.
func parseCellID(id string, horizon int) (seed uint64, step int, err error) {
	s, t, ok := strings.Cut(id, "_t")
	digits, okS := strings.CutPrefix(s, "s")
	if ok && okS && onlyDigits(digits) && onlyDigits(t) {
		if seed, err = strconv.ParseUint(digits, 10, 63); err == nil {
			if step, err = strconv.Atoi(t); err == nil && cellID(seed, step) == id {
				if step >= horizon {
					return 0, 0, fmt.Errorf("id %s: step %d is outside the horizon, the last is %d", quote(id), step, horizon-1)
				}
				return seed, step, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("id %s is malformed; it must be like %s, seed and step", quote(id), cellID(12146695, 0))
}

// ReadTrace reads submission.csv for episodes of cfg. Row order does not matter, a step without a row is
// idle, line ends may be CRLF or LF. A fault is a LineError: another header, a malformed id, a step outside the
// horizon, an action that is no integer or outside the action space, a cell given twice.
func ReadTrace(r io.Reader, cfg flight.Config) (Trace, error) {
	rows, err := newTable(r, strings.Split(traceHeader, ","))
	if err != nil {
		return Trace{}, err
	}
	var t Trace
	lineOf := make(map[uint64][]int) // per seed and step; 0 is no line
	for {
		row, line, err := rows.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Trace{}, err
		}
		seed, step, err := parseCellID(row[0], cfg.MaxSteps)
		if err != nil {
			return Trace{}, &LineError{line, err}
		}
		action, err := parseAction(row[1], cfg)
		if err != nil {
			return Trace{}, &LineError{line, err}
		}
		lines := lineOf[seed]
		if lines == nil {
			if len(lineOf) == MaxSeeds {
				return Trace{}, &LineError{line, fmt.Errorf("more than %d seeds", MaxSeeds)}
			}
			lines = make([]int, cfg.MaxSteps)
			lineOf[seed] = lines
			t.add(seed, make([]int, cfg.MaxSteps))
		}
		if lines[step] != 0 {
			return Trace{}, &LineError{line, fmt.Errorf("id %s is already on line %d", row[0], lines[step])}
		}
		lines[step] = line
		t.actions[seed][step] = action
		t.given[seed]++
	}
	if len(t.seeds) == 0 {
		return Trace{}, errors.New("no action in it, only the header")
	}
	slices.Sort(t.seeds)
	return t, nil
}

func parseAction(text string, cfg flight.Config) (int, error) {
	if !onlyDigits(strings.TrimPrefix(text, "-")) {
		return 0, fmt.Errorf("action %s is not an integer", quote(text))
	}
	// What does not fit an int is out of range all the more.
	if a, err := strconv.Atoi(text); err == nil && a >= 0 && a < cfg.Actions() {
		return a, nil
	}
	return 0, fmt.Errorf("action %s is outside 0..%d", quote(text), cfg.Actions()-1)
}

// table reads a CSV file with a fixed header.
type table struct{ rows *csv.Reader }

// newTable checks the header, which must be exactly as given.
func newTable(r io.Reader, header []string) (table, error) {
	b := bufio.NewReader(&lines{r: r, line: 1})
	if mark, _ := b.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		return table{}, &LineError{1, errByteOrderMark}
	}
	t := table{csv.NewReader(b)}
	t.rows.FieldsPerRecord = -1 // counted here, for a message of our own
	t.rows.ReuseRecord = true
	row, err := t.rows.Read()
	if err == io.EOF {
		return table{}, fmt.Errorf("the file is empty; its first line must be %s", quote(strings.Join(header, ",")))
	}
	if err != nil {
		return table{}, lineErrorOf(err)
	}
	if !slices.Equal(row, header) {
		return table{}, &LineError{1, fmt.Errorf("the header is %s, it must be exactly %s",
			quote(strings.Join(row, ",")), quote(strings.Join(header, ",")))}
	}
	t.rows.FieldsPerRecord = len(header)
	return t, nil
}

// next returns the next row and its line; the row is valid until the next call. At the end it returns io.EOF.
func (t table) next() ([]string, int, error) {
	row, err := t.rows.Read()
	if errors.Is(err, csv.ErrFieldCount) {
		line, _ := t.rows.FieldPos(0)
		return nil, 0, &LineError{line, fmt.Errorf("%d columns, there must be %d", len(row), t.rows.FieldsPerRecord)}
	}
	if err != nil {
		return nil, 0, lineErrorOf(err)
	}
	line, _ := t.rows.FieldPos(0)
	return row, line, nil
}

// maxLine is the longest line of a CSV file, in bytes; the widest solution has far shorter ones.
const maxLine = 64 << 10

// lines passes a CSV file on line by line, so to speak: it refuses a line too long to be one of ours, and a quote
// that is not closed on its line, for which the CSV reader would look through the whole file.
type lines struct {
	r      io.Reader
	line   int
	length int  // of the line so far
	open   bool // a quote is
	err    error
}

func (l *lines) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		l.length++
		switch {
		case c == '"':
			l.open = !l.open
		case c == '\n' && l.open:
			l.err = &LineError{l.line, errors.New("a quote is not closed")}
		case c == '\n':
			l.line, l.length = l.line+1, 0
		case l.length > maxLine:
			l.err = &LineError{l.line, fmt.Errorf("longer than %d bytes", maxLine)}
		}
		if l.err != nil {
			return i, l.err
		}
	}
	return n, err
}

func lineErrorOf(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return &LineError{p.Line, p.Err}
	}
	return err
}
