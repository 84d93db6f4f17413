package pyvalue

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"
)

// inspect walks over a value as any reader of it would, and refuses what such a walk could not bear: values that contain
// themselves, that nest too deep or are too many; and what is no value of Python: half-made ones, keys that cannot be
// hashed or are there twice. The count is of what a walk meets, so it also bounds what texts and arrays take when
// they are written out.
func inspect(v Value, maxDepth, maxValues int) error {
	i := inspector{left: maxValues, maxDepth: maxDepth, maxValues: maxValues}
	return i.value(v, 0)
}

type inspector struct {
	left, maxValues, maxDepth int
	key                       []byte
}

func (i *inspector) value(v Value, depth int) error {
	if depth > i.maxDepth {
		return fmt.Errorf("values nest deeper than %d, or contain themselves", i.maxDepth)
	}
	switch v := v.(type) {
	case None, Bool, Int, Float, Class, *Member:
		return i.count(0)
	case Str:
		if !utf8.ValidString(string(v)) {
			return errNotUTF8
		}
		return i.count(len(v))
	case Bytes:
		return i.count(len(v))
	case *BigInt:
		if v.Big().BitLen() < 8*maxLong {
			return i.count(v.Big().BitLen() / 8)
		}
		return fmt.Errorf("a whole number of %d bits", v.Big().BitLen())
	case *Scalar:
		if v.typ != "" {
			return i.count(0)
		}
	case *Array:
		if v.typ != "" { // it was filled
			return i.count(len(v.data))
		}
	case *Tuple:
		return i.all(v.Items, depth)
	case *List:
		return i.all(v.Items, depth)
	case *Set:
		if err := i.all(v.Items, depth); err != nil {
			return err
		}
		return i.distinct(v.Items, "an item of a set")
	case *Dict:
		return i.dict(v, depth)
	case *Object:
		if err := i.all(v.Args, depth); err != nil {
			return err
		}
		if v.Items != nil {
			if err := i.value(v.Items, depth+1); err != nil {
				return err
			}
		}
		if v.State != nil {
			return i.value(v.State, depth+1)
		}
		return nil
	case Persistent:
		if err := i.count(0); err != nil {
			return err
		}
		return i.value(v.ID, depth+1)
	case *dtype, function:
		return errors.New("a function or a NumPy type is no value by itself")
	}
	return errors.New("a value is missing")
}

// all walks over the items of a value, which counts too.
func (i *inspector) all(items []Value, depth int) error {
	if err := i.count(0); err != nil {
		return err
	}
	for _, v := range items {
		if _, isInt := v.(Int); isInt && depth < i.maxDepth && i.left > 0 { // most are
			i.left--
			continue
		}
		if err := i.value(v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (i *inspector) dict(d *Dict, depth int) error {
	if err := i.count(0); err != nil {
		return err
	}
	keys := make([]Value, 0, few)
	for _, e := range d.Entries {
		if err := i.value(e.Key, depth+1); err != nil {
			return err
		}
		if err := i.value(e.Value, depth+1); err != nil {
			return err
		}
		keys = append(keys, e.Key)
	}
	return i.distinct(keys, "a key")
}

// count takes a value and what it holds of bytes off what is left.
func (i *inspector) count(bytes int) error {
	if i.left -= 1 + bytes/16; i.left < 0 {
		return tooMany(i.maxValues)
	}
	return nil
}

func tooMany(n int) error { return fmt.Errorf("more than the %d values that are read", n) }

// distinct demands that values can be hashed and that none is there twice. They have been walked over.
func (i *inspector) distinct(values []Value, what string) error {
	if fewTexts(values) {
		return nil
	}
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		var err error
		if i.key, err = appendKey(i.key[:0], v); err != nil {
			return fmt.Errorf("%s is %w", what, err)
		}
		if seen[string(i.key)] {
			return fmt.Errorf("%s is there twice: %s", what, quote(show(v)))
		}
		seen[string(i.key)] = true
	}
	return nil
}

// few is how many values are compared with each other.
const few = 8

// fewTexts says that values are a handful of different texts, as the attributes of most objects are.
func fewTexts(values []Value) bool {
	var texts [few]Str
	if len(values) > few {
		return false
	}
	for k, v := range values {
		text, ok := v.(Str)
		if !ok || slices.Contains(texts[:k], text) {
			return false // the slower way says what is there twice
		}
		texts[k] = text
	}
	return true
}

// show is a value in an error.
func show(v Value) string {
	if s, ok := v.(Str); ok {
		return string(s)
	}
	return string(AppendJSON(nil, v))
}

// appendKey appends text that is the same for values that are equal for Python: 1, True, 1.0 and numpy.int8(1) are.
func appendKey(b []byte, v Value) ([]byte, error) {
	sequence := func(b []byte, kind byte, items []Value) ([]byte, error) {
		b = strconv.AppendInt(append(b, kind), int64(len(items)), 10)
		for _, item := range items {
			var err error
			if b, err = appendKey(append(b, ','), item); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	text := func(b []byte, kind byte, s string) []byte {
		return append(append(strconv.AppendInt(append(b, kind), int64(len(s)), 10), ':'), s...)
	}
	switch v := v.(type) {
	case None:
		return append(b, 'N'), nil
	case Bool:
		if v {
			return append(b, "#1"...), nil
		}
		return append(b, "#0"...), nil
	case Int:
		return strconv.AppendInt(append(b, '#'), int64(v), 10), nil
	case *BigInt:
		return v.Big().Append(append(b, '#'), 10), nil
	case Float:
		if f := float64(v); f == math.Trunc(f) && !math.IsInf(f, 0) {
			n, _ := big.NewFloat(f).Int(nil)
			return n.Append(append(b, '#'), 10), nil
		}
		return strconv.AppendFloat(append(b, '#'), float64(v), 'e', -1, 64), nil
	case Str:
		return text(b, 's', string(v)), nil
	case Bytes:
		return text(b, 'b', string(v)), nil
	case Class:
		return text(b, 'c', v.String()), nil
	case *Scalar:
		return appendKey(b, v.Value())
	case *Tuple:
		return sequence(b, 't', v.Items)
	case *Member:
		return strconv.AppendInt(text(text(b, 'm', v.Class.String()), '.', v.Name), v.Number, 10), nil
	case *Object:
		if v.State != nil || v.Items != nil {
			return nil, fmt.Errorf("an object %s with a state", quote(v.Class.String()))
		}
		return sequence(text(b, 'o', v.Class.String()), '(', v.Args)
	}
	return nil, errors.New("a list, dict, set or array, which cannot be one")
}
