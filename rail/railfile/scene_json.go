package railfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxFile bounds the files of scenes, metadata and runs, in bytes; the largest of the competition has less than 2 MB.
const maxFile = 64 << 20

// Member is a key of a JSON object that the format does not name, with its value as it was.
type Member struct {
	Key   string
	Value json.RawMessage
}

// readJSON reads a whole file, which must hold one JSON value.
func readJSON(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(&capped{r, maxFile, maxFile})
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8")
	}
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		var at *json.SyntaxError
		if errors.As(err, &at) {
			before := data[:min(int(at.Offset), len(data))]
			return nil, fmt.Errorf("line %d: %w", 1+bytes.Count(before, []byte("\n")), err)
		}
		return nil, err
	}
	return data, nil
}

// members are the keys of an object with their values, in their order. A key must not come twice.
func members(data []byte) ([]Member, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, fmt.Errorf("%s is not an object", quote(string(data)))
	}
	var all []Member
	seen := make(map[string]bool)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := Member{Key: key.(string)} // an object has no other keys
		if seen[m.Key] {
			return nil, fmt.Errorf("key %s comes twice", quote(m.Key))
		}
		seen[m.Key] = true
		if err := d.Decode(&m.Value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// field is a key of an object that the format names, and where its value is put.
type field struct {
	name string
	to   any
	rule rule
}

// rule says what else than a value of its type a field may have.
type rule int8

const (
	must  rule = iota // it must be there and not be null, nor a number in it
	may               // it need not be there, and null is as if it were not
	nulls             // it must be there, and it or a number in it may be null
)

// readObject reads the fields of an object and returns the keys that are none of them.
func readObject(data []byte, fields ...field) ([]Member, error) {
	all, err := members(data)
	if err != nil {
		return nil, err
	}
	var extra []Member
	given := make(map[string]bool)
	for _, m := range all {
		known := false
		for _, f := range fields {
			if f.name != m.Key {
				continue
			}
			known, given[f.name] = true, true
			if f.rule == may && string(m.Value) == "null" {
				continue
			}
			// Where there are texts, their readers look for null.
			if f.rule != nulls && bytes.Contains(m.Value, []byte("null")) && bytes.IndexByte(m.Value, '"') < 0 {
				return nil, within(f.name, errors.New("null where a value is needed"))
			}
			if err := json.Unmarshal(m.Value, f.to); err != nil {
				return nil, within(f.name, err)
			}
		}
		if !known {
			extra = append(extra, m)
		}
	}
	for _, f := range fields {
		if f.rule != may && !given[f.name] {
			return nil, fmt.Errorf("there is no %s", f.name)
		}
	}
	return extra, nil
}

// placeError is a fault with the place in the file, outermost key first.
type placeError struct {
	place string
	err   error
}

func (e *placeError) Error() string { return e.place + ": " + e.err.Error() }
func (e *placeError) Unwrap() error { return e.err }

// within says that a fault is inside of a key or element.
func within(place string, err error) error {
	if place == "" { // a key may be empty
		place = `""`
	}
	var inner *placeError
	if errors.As(err, &inner) {
		if !strings.HasPrefix(inner.place, "[") {
			place += "."
		}
		return &placeError{place + inner.place, inner.err}
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		err = fmt.Errorf("%s where %s is needed", wrong.Value, kindName(wrong.Type))
	}
	return &placeError{place, err}
}

// kindName is what people call a type.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number that is not too large"
}

// elements reads an array whose elements read themselves, so that faults name the element.
type elements[T any] struct{ to *[]T }

func (l *elements[T]) UnmarshalJSON(data []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if raw == nil {
		return errors.New("null where a list is needed")
	}
	all := make([]T, len(raw))
	for i, r := range raw {
		if err := json.Unmarshal(r, &all[i]); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
	*l.to = all
	return nil
}

// object writes a JSON object key by key.
type object struct {
	b   []byte
	err error
}

func (o *object) put(key string, v any) {
	if o.err != nil {
		return
	}
	if len(o.b) == 0 {
		o.b = append(o.b, '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = append(appendJSONText(o.b, key), ':')
	switch v := v.(type) {
	case string:
		o.b = appendJSONText(o.b, v)
	case json.RawMessage:
		o.b = append(o.b, v...)
	default:
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		o.err = e.Encode(v)
		o.b = append(o.b, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	}
}

func (o *object) putAll(extra []Member) {
	for _, m := range extra {
		o.put(m.Key, m.Value)
	}
}

func (o *object) json() ([]byte, error) {
	if len(o.b) == 0 {
		o.b = append(o.b, '{')
	}
	return append(o.b, '}'), o.err
}

// indented is JSON as the reference's tools write it: two blanks a level, no line end after the last line.
func indented(v json.Marshaler) ([]byte, error) {
	data, err := v.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, data, "", "  ")
	return b.Bytes(), err
}

// text is a string that is written as Python's json module does, in ASCII.
type text string

func (t text) MarshalJSON() ([]byte, error) { return appendJSONText(nil, string(t)), nil }

func appendJSONText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\b':
			dst = append(dst, `\b`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		case r >= ' ' && r <= '~' || r == 0x7f:
			dst = append(dst, byte(r))
		case r >= 0x10000:
			hi, lo := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, hi, lo)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return append(dst, '"')
}
