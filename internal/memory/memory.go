// Package memory says beforehand whether something fits into memory, for callers that need an error: when Go gets no memory, or
// the machine has none left, the whole process ends.
//
//	each := memory.Size(first, second) - memory.Size(first) // what is shared counts once
//	err := memory.Fits(each * int64(n))
//
// Both are estimates. What others take at the same time is not known.
package memory

import (
	"fmt"
	"math"
	"reflect"
)

// Error says that there is not as much memory as is needed. Needed and Room are bytes.
type Error struct{ Needed, Room int64 }

func (e *Error) Error() string {
	return fmt.Sprintf("this needs about %s of memory, there are %s", amount(e.Needed), amount(e.Room))
}

func amount(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// Small is how many bytes always fit, as far as Fits is concerned.
const Small = 1 << 20

// Fits returns an [Error] if so many bytes more are not to be had: more than the machine or the control group has left, or
// than the limits of the process allow.
func Fits(bytes int64) error {
	if bytes <= Small {
		return nil
	}
	// What the allocator and the collector take beside it.
	needed := bytes + min(bytes/8, math.MaxInt64-bytes)
	if room := room(needed); needed > room {
		return &Error{Needed: needed, Room: room}
	}
	return nil
}

// Size is how many bytes the values take, with all that they refer to. What is referred to from several places counts once.
func Size(values ...any) int64 {
	s := sizer{seen: map[uintptr]bool{}, plain: map[reflect.Type]bool{}}
	total := int64(0)
	for _, v := range values {
		if v != nil {
			total += int64(reflect.TypeOf(v).Size()) + s.beyond(reflect.ValueOf(v))
		}
	}
	return total
}

type sizer struct {
	seen  map[uintptr]bool      // addresses that are counted
	plain map[reflect.Type]bool // whether a type refers to nothing
}

// beyond is how many bytes a value refers to, without itself.
func (s *sizer) beyond(v reflect.Value) (bytes int64) {
	if s.isPlain(v.Type()) {
		return 0
	}
	switch v.Kind() {
	case reflect.Pointer:
		if s.fresh(v.Pointer()) {
			bytes = int64(v.Type().Elem().Size()) + s.beyond(v.Elem())
		}
	case reflect.Slice:
		if v.Cap() > 0 && s.fresh(v.Pointer()) {
			bytes = int64(v.Cap()) * int64(v.Type().Elem().Size())
			for i := 0; i < v.Len() && !s.isPlain(v.Type().Elem()); i++ {
				bytes += s.beyond(v.Index(i))
			}
		}
	case reflect.String:
		bytes = int64(v.Len())
	case reflect.Interface:
		if !v.IsNil() {
			bytes = s.beyond(v.Elem())
			if v.Elem().Kind() != reflect.Pointer {
				bytes += int64(v.Elem().Type().Size())
			}
		}
	case reflect.Map:
		if s.fresh(v.Pointer()) {
			for each := v.MapRange(); each.Next(); {
				key, value := each.Key(), each.Value()
				bytes += 2 * int64(key.Type().Size()+value.Type().Size()) // a map is half empty
				bytes += s.beyond(key) + s.beyond(value)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			bytes += s.beyond(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += s.beyond(v.Field(i))
		}
	}
	return bytes
}

func (s *sizer) fresh(address uintptr) bool {
	if address == 0 || s.seen[address] {
		return false
	}
	s.seen[address] = true
	return true
}

// isPlain says whether values of a type refer to nothing that can be counted.
func (s *sizer) isPlain(t reflect.Type) bool {
	plain, known := s.plain[t]
	if known {
		return plain
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.String, reflect.Interface, reflect.Map:
		plain = false
	case reflect.Array:
		plain = s.isPlain(t.Elem())
	case reflect.Struct:
		plain = true
		for i := range t.NumField() {
			plain = plain && s.isPlain(t.Field(i).Type)
		}
	default:
		plain = true
	}
	s.plain[t] = plain
	return plain
}
