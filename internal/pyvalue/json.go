package pyvalue

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
)

// AppendJSON appends a value, of [Decode], as JSON that keeps the kinds of Python's values apart:
//
//	None, bool, int, float, text   null, true, 3 of any size, 3.0, "text"; a float always has a . or an e
//	inf, nan                       {"$float": "inf"}
//	list                           [...]
//	tuple, set, frozenset          {"$tuple": [...]}, {"$set": [...]}, {"$frozenset": [...]}
//	dict                           {...} if its keys are texts, otherwise {"$dict": [[key, value], ...]}
//	bytes                          {"$bytes": base64}
//	NumPy scalar                   {"$np": "<i8", "value": 3}
//	NumPy array                    {"$ndarray": "<f8", "shape": [2, 3], "data": [...]}, in C order
//	class                          {"$class": "module.Class"}
//	object, member by number       {"$obj": "module.Class", "args": [...], "state": ...}; no state if none is set
//	member by name                 {"$obj": "builtins.getattr", "args": [{"$class": "module.Enum"}, "NAME"]}
//	outside reference              {"$persistent": ...}
//
// Sets are in the order of their items' JSON. An object's items, if it is a kind of dict, are in "items". A dict with a
// text key that begins with $ is written as one with other keys.
func AppendJSON(b []byte, v Value) []byte {
	switch v := v.(type) {
	case None:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, bool(v))
	case Int:
		return strconv.AppendInt(b, int64(v), 10)
	case *BigInt:
		return v.Big().Append(b, 10)
	case Float:
		return appendFloat(b, float64(v))
	case Str:
		return appendText(b, string(v))
	case Bytes:
		b = append(b, `{"$bytes":"`...)
		return append(base64.StdEncoding.AppendEncode(b, []byte(v)), `"}`...)
	case *List:
		return appendItems(b, v.Items)
	case *Tuple:
		return append(appendItems(append(b, `{"$tuple":`...), v.Items), '}')
	case *Set:
		if v.Frozen {
			b = append(b, `{"$frozenset":`...)
		} else {
			b = append(b, `{"$set":`...)
		}
		return append(appendSorted(b, v.Items), '}')
	case *Dict:
		return appendDict(b, v)
	case *Scalar:
		b = appendText(append(b, `{"$np":`...), string(v.typ))
		return append(AppendJSON(append(b, `,"value":`...), v.Value()), '}')
	case *Array:
		return appendArray(b, v)
	case Class:
		return append(appendText(append(b, `{"$class":`...), v.String()), '}')
	case *Member:
		if v.Name != "" {
			b = append(AppendJSON(append(b, `{"$obj":"builtins.getattr","args":[`...), v.Class), ',')
			return append(appendText(b, v.Name), "]}"...)
		}
		b = appendText(append(b, `{"$obj":`...), v.Class.String())
		return append(strconv.AppendInt(append(b, `,"args":[`...), v.Number, 10), "]}"...)
	case *Object:
		b = appendText(append(b, `{"$obj":`...), v.Class.String())
		b = appendItems(append(b, `,"args":`...), v.Args)
		if v.Items != nil {
			b = appendDict(append(b, `,"items":`...), v.Items)
		}
		if v.State != nil {
			b = AppendJSON(append(b, `,"state":`...), v.State)
		}
		return append(b, '}')
	case Persistent:
		return append(AppendJSON(append(b, `{"$persistent":`...), v.ID), '}')
	}
	return append(b, "null"...) // no value of Decode
}

func appendItems(b []byte, items []Value) []byte {
	b = append(b, '[')
	for i, v := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendJSON(b, v)
	}
	return append(b, ']')
}

// appendSorted writes items in the order of their JSON, as their own depends on the hashes of one run of Python.
func appendSorted(b []byte, items []Value) []byte {
	all := make([]string, len(items))
	for i, v := range items {
		all[i] = string(AppendJSON(nil, v))
	}
	slices.Sort(all)
	return append(append(append(b, '['), strings.Join(all, ",")...), ']')
}

func appendDict(b []byte, d *Dict) []byte {
	plain := !slices.ContainsFunc(d.Entries, func(e Entry) bool {
		key, ok := e.Key.(Str)
		return !ok || strings.HasPrefix(string(key), "$")
	})
	before, between, after, end := `{"$dict":[`, "[", "]", "]}"
	if plain {
		before, between, after, end = "{", "", "", "}"
	}
	b = append(b, before...)
	for i, e := range d.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendJSON(append(b, between...), e.Key)
		if plain {
			b = append(b, ':')
		} else {
			b = append(b, ',')
		}
		b = append(AppendJSON(b, e.Value), after...)
	}
	return append(b, end...)
}

func appendArray(b []byte, a *Array) []byte {
	b = append(appendText(append(b, `{"$ndarray":`...), string(a.typ)), `,"shape":[`...)
	for i, d := range a.shape {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(d), 10)
	}
	b = append(b, `],"data":[`...)
	for i := range a.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendJSON(b, a.At(i))
	}
	return append(b, "]}"...)
}

// appendFloat writes a float as Python's repr does.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `{"$float":"nan"}`...)
	case math.IsInf(f, 1):
		return append(b, `{"$float":"inf"}`...)
	case math.IsInf(f, -1):
		return append(b, `{"$float":"-inf"}`...)
	case f != 0 && (math.Abs(f) < 1e-4 || math.Abs(f) >= 1e16):
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	from := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	if slices.Contains(b[from:], '.') {
		return b
	}
	return append(b, ".0"...)
}

// appendText writes a text in ASCII, as Python's json does.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	unit := func(u rune) {
		b = append(b, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	b = append(b, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c >= ' ' && c < 0x7f:
			b = append(b, byte(c))
		case c >= '\b' && c <= '\r' && c != '\v':
			b = append(b, '\\', "btn_fr"[c-'\b'])
		case c < 0x10000:
			unit(c)
		default:
			c -= 0x10000
			unit(0xd800 | c>>10)
			unit(0xdc00 | c&0x3ff)
		}
	}
	return append(b, '"')
}
