package generate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"skyrail/rail/railfile"
)

// filter returns the indices of the timetables that a filter keeps: those one of whose values of the attribute is one of
// the filter's, as Python compares. A timetable without the attribute is an error.
func (d *levelDeriver) filter(f *railfile.AttributeFilter) ([]int, error) {
	var kept []int
	wanted := make(map[string]bool)
	if f != nil {
		for _, v := range f.Values {
			if v.IsText {
				wanted[textKey(v.Text)] = true
			} else {
				wanted[floatKey(v.Number.Value)] = true
			}
		}
	}
	for i := range d.initial.Timetables {
		if f == nil {
			kept = append(kept, i)
			continue
		}
		t := &d.initial.Timetables[i]
		keys, err := attributeKeys(t, f.Key)
		if err != nil {
			return nil, fmt.Errorf("timetable %s: attributeFilter.key is %s: %w", levelQuote(t.Name), levelQuote(f.Key), err)
		}
		if slices.ContainsFunc(keys, func(k string) bool { return wanted[k] }) {
			kept = append(kept, i)
		}
	}
	return kept, nil
}

// attributeKeys are the values of an attribute, in a form in which what is equal in Python is the same text.
func attributeKeys(t *railfile.Timetable, attribute string) ([]string, error) {
	switch attribute {
	case "id":
		return []string{integerKey(new(big.Int).SetUint64(t.ID))}, nil
	case "name":
		return []string{textKey(t.Name)}, nil
	case "lineId":
		return []string{integerKey(new(big.Int).SetUint64(t.LineID))}, nil
	case "trainCategoryId":
		return []string{integerKey(new(big.Int).SetUint64(t.TrainCategoryID))}, nil
	case "trainCategory":
		return []string{textKey(t.TrainCategory)}, nil
	case "travelFactor":
		return []string{floatKey(t.TravelFactor.Value)}, nil
	case "dwellTime":
		return []string{floatKey(t.DwellTime.Value)}, nil
	case "scene":
		if t.Scene == nil {
			return nil, errors.New("it has no scene: add the key to the timetable, or take the scenes from the names")
		}
		keys := make([]string, len(t.Scene))
		for i, name := range t.Scene {
			keys[i] = textKey(name)
		}
		return keys, nil
	case "stops":
		return nil, errNoValue
	}
	i := slices.IndexFunc(t.Extra, func(m railfile.Member) bool { return m.Key == attribute })
	if i < 0 {
		return nil, errors.New("it has no such attribute: every timetable needs it")
	}
	return jsonKeys(t.Extra[i].Value)
}

var errNoValue = errors.New("it is not a text, a number or a list of those: filter by another attribute")

// jsonKeys are the keys of a JSON value, or of the elements of a list.
//
// quirk: true and false are the numbers 1 and 0.
func jsonKeys(data []byte) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	keys := make([]string, len(list))
	for i, v := range list {
		switch v := v.(type) {
		case nil:
			keys[i] = "none"
		case string:
			keys[i] = textKey(v)
		case bool:
			keys[i] = floatKey(0)
			if v {
				keys[i] = floatKey(1)
			}
		case json.Number:
			if strings.ContainsAny(v.String(), ".eE") {
				f, _ := v.Float64() // what is too large is infinite, in Python too
				keys[i] = floatKey(f)
				break
			}
			n, ok := pythonInteger(v.String())
			if !ok {
				return nil, fmt.Errorf("a number has more than %d digits", maxLevelDigits)
			}
			keys[i] = integerKey(n)
		default:
			return nil, errNoValue
		}
	}
	return keys, nil
}

func textKey(text string) string   { return "text " + text }
func integerKey(n *big.Int) string { return "number " + n.String() }

func floatKey(f float64) string {
	if f == math.Trunc(f) && !math.IsInf(f, 0) {
		n, _ := big.NewFloat(f).Int(nil)
		return integerKey(n)
	}
	return "number " + strconv.FormatFloat(f, 'g', -1, 64)
}
