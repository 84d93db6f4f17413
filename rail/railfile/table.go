package railfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// TableLimits bound what the reader of a table takes in. A file that exceeds one is an error.
type TableLimits struct {
	FileBytes int64 // of a table, after decompression
	LineBytes int   // of a line
	Rows      int   // of a table
}

// DefaultTableLimits leave room for an episode of 532 trains and 3000 steps, ten times over in rows.
func DefaultTableLimits() TableLimits {
	return TableLimits{FileBytes: 1 << 30, LineBytes: 64 << 10, Rows: 16_000_000}
}

// TableError is a fault of a table: where it is and what was expected there.
type TableError struct {
	File   string // as named inside its directory
	Line   int    // from 1; 0: the file as a whole
	Column string // "" if it is not about one cell
	Err    error
}

// Error names file, line and column.
func (e *TableError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, " line %d", e.Line)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ", column %s", e.Column)
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap returns what is wrong there.
func (e *TableError) Unwrap() error { return e.Err }

// column is one that a table is read for. Columns are found by their names in the header; any others are passed over.
type column struct {
	name     string
	aliases  []string // what older files call it
	optional bool
}

// maxColumns bounds a header; the widest table has 6.
const maxColumns = 64

// tableReader reads a table of tab-separated cells row by row: LF or CRLF line ends, cells in quotation marks where
// they need them. Memory does not grow with the table.
type tableReader struct {
	file    string
	lines   *bufio.Reader
	limits  TableLimits
	columns []column
	width   int   // of the header
	at      []int // of each of columns its place in the header, -1: not there
	line    int   // of the row returned last
	rows    int
	all     [][]byte // the cells of a row
	cells   [][]byte // those of columns; nil: not there
}

func newTableReader(file string, r io.Reader, limits TableLimits, columns []column) (*tableReader, error) {
	t := &tableReader{file: file, limits: limits, columns: columns}
	t.lines = bufio.NewReaderSize(&capped{r, limits.FileBytes, limits.FileBytes}, max(limits.LineBytes, 16)+2)
	return t, t.header()
}

func (t *tableReader) header() error {
	line, err := t.next()
	if err == io.EOF {
		return t.fault("", errors.New("it is empty, want a header"))
	}
	if err != nil {
		return err
	}
	if bytes.HasPrefix(line, []byte("\ufeff")) {
		return t.fault("", errors.New("it begins with a byte order mark; save it as plain UTF-8 without one"))
	}
	if err := t.split(line); err != nil {
		return err
	}
	t.width = len(t.all)
	t.at = make([]int, len(t.columns))
	t.cells = make([][]byte, len(t.columns))
	for i, c := range t.columns {
		t.at[i] = -1
		for k, name := range t.all {
			if string(name) != c.name && !slices.Contains(c.aliases, string(name)) {
				continue
			}
			if t.at[i] >= 0 {
				return t.fault("", fmt.Errorf("the header names column %s twice", c.name))
			}
			t.at[i] = k
		}
		if t.at[i] < 0 && !c.optional {
			return t.fault("", fmt.Errorf("the header has no column %s: %s", c.name, quote(string(line))))
		}
	}
	return nil
}

// row returns the cells of the next row, nil for a column that is not there, or io.EOF. They are overwritten by the
// next call.
func (t *tableReader) row() ([][]byte, error) {
	line, err := t.next()
	if err != nil {
		return nil, err
	}
	if t.rows++; t.rows > t.limits.Rows {
		return nil, t.fault("", fmt.Errorf("more than %d rows", t.limits.Rows))
	}
	if err := t.split(line); err != nil {
		return nil, err
	}
	if len(t.all) != t.width {
		return nil, t.fault("", fmt.Errorf("%d cells, want %d as in the header", len(t.all), t.width))
	}
	for i, at := range t.at {
		if at >= 0 {
			t.cells[i] = t.all[at]
		}
	}
	return t.cells, nil
}

func (t *tableReader) next() ([]byte, error) {
	line, err := t.lines.ReadSlice('\n')
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	t.line++
	switch {
	case errors.Is(err, bufio.ErrBufferFull), err == nil && len(line) > t.limits.LineBytes+2:
		return nil, t.fault("", fmt.Errorf("longer than %d bytes", t.limits.LineBytes))
	case err != nil && err != io.EOF:
		return nil, t.fault("", err)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if !utf8.Valid(line) {
		return nil, t.fault("", errors.New("it is not UTF-8"))
	}
	return line, nil
}

func (t *tableReader) split(line []byte) error {
	t.all = t.all[:0]
	for {
		if len(t.all) == maxColumns {
			return t.fault("", fmt.Errorf("more than %d cells", maxColumns))
		}
		if len(line) == 0 || line[0] != '"' {
			end := bytes.IndexByte(line, '\t')
			if end < 0 {
				t.all = append(t.all, line)
				return nil
			}
			t.all = append(t.all, line[:end])
			line = line[end+1:]
			continue
		}
		cell, rest, ok := unquote(line)
		if !ok {
			return t.fault("", errors.New("a cell in quotation marks has no end on its line"))
		}
		t.all = append(t.all, cell)
		if len(rest) == 0 {
			return nil
		}
		if rest[0] != '\t' {
			return t.fault("", errors.New("a cell goes on after its closing quotation mark"))
		}
		line = rest[1:]
	}
}

// unquote takes the cell in quotation marks at the start of a line; inside, two of them stand for one. It works in
// place.
func unquote(line []byte) (cell, rest []byte, ok bool) {
	cell = line[:0]
	for i := 1; i < len(line); i++ {
		if line[i] == '"' {
			if i+1 == len(line) || line[i+1] != '"' {
				return cell, line[i+1:], true
			}
			i++
		}
		cell = append(cell, line[i])
	}
	return nil, nil, false
}

func (t *tableReader) fault(column string, err error) error {
	return &TableError{t.file, t.line, column, err}
}

// capped reads no more than so many bytes; then it fails, other than at the end of what there is.
type capped struct {
	r           io.Reader
	left, limit int64
}

func (c *capped) Read(b []byte) (int, error) {
	if int64(len(b)) > c.left+1 {
		b = b[:c.left+1]
	}
	n, err := c.r.Read(b)
	if int64(n) > c.left {
		return 0, fmt.Errorf("larger than %d bytes", c.limit)
	}
	c.left -= int64(n)
	return n, err
}

// gunzipped is a compressed file whose content is read.
type gunzipped struct {
	*gzip.Reader
	file io.Closer
}

func (g gunzipped) Close() error { return errors.Join(g.Reader.Close(), g.file.Close()) }

// appendCell appends text as a cell, in quotation marks if it needs them.
func appendCell(dst []byte, text string, separator byte) []byte {
	if strings.IndexByte(text, separator) < 0 && !strings.ContainsAny(text, "\"\r\n") {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(text, `"`, `""`)...)
	return append(dst, '"')
}

// parseInt reads a whole number in decimal digits.
func parseInt(cell []byte) (int, error) {
	digits := bytes.TrimPrefix(cell, []byte("-"))
	if len(digits) == 0 || len(digits) > 10 || !allDigits(digits) {
		return 0, fmt.Errorf("%s is not a whole number of at most 10 digits", quote(string(cell)))
	}
	n := 0
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	if len(digits) < len(cell) {
		n = -n
	}
	if n != int(int32(n)) {
		return 0, fmt.Errorf("%s is out of range", quote(string(cell)))
	}
	return n, nil
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// quote shows foreign text in a message, cut to a readable length.
func quote(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return strconv.Quote(string(r[:most])) + "…"
	}
	return strconv.Quote(text)
}
