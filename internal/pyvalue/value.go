package pyvalue

import (
	"math/big"
	"strings"
)

// Value is a value of Python: [None], [Bool], [Int], [*BigInt], [Float], [Str], [Bytes], [*Tuple], [*List], [*Dict],
// [*Set], [*Scalar], [*Array], [Class], [*Member], [*Object] or [Persistent].
//
// What a file holds once and refers to many times is one pointer. Such a value may be changed in place only if
// that is meant for all who refer to it.
type Value interface{ isValue() }

type (
	// None is Python's None.
	None struct{}
	// Bool is True or False.
	Bool bool
	// Int is a whole number of 64 bits. Larger ones are a [*BigInt].
	Int int64
	// BigInt is a whole number that is no [Int]; see [Integer].
	BigInt big.Int
	// Float is a float, of any value.
	Float float64
	// Str is a text, which is valid UTF-8.
	Str string
	// Bytes is a bytes object.
	Bytes string
)

// Integer returns n as an [Int] or a [*BigInt].
func Integer(n *big.Int) Value {
	if n.IsInt64() {
		return Int(n.Int64())
	}
	return (*BigInt)(new(big.Int).Set(n))
}

// Big returns the number, which is not to be changed.
func (n *BigInt) Big() *big.Int { return (*big.Int)(n) }

// Tuple is a tuple. MessagePack's arrays are tuples too, as the Flatland simulator reads them.
type Tuple struct{ Items []Value }

// List is a list.
type List struct{ Items []Value }

// Set is a set, or a frozenset. No item is there twice.
type Set struct {
	Items  []Value // in the order of the file
	Frozen bool
}

// Dict is a dict, in its order. No key is there twice, and keys are values that Python can hash.
type Dict struct{ Entries []Entry }

// Entry is a key of a [Dict] and what it leads to.
type Entry struct{ Key, Value Value }

// Get returns what a text leads to.
func (d *Dict) Get(key string) (Value, bool) {
	for _, e := range d.Entries {
		if text, ok := e.Key.(Str); ok && string(text) == key {
			return e.Value, true
		}
	}
	return nil, false
}

// Set changes what a text leads to, or adds it as the last key.
func (d *Dict) Set(key string, v Value) {
	for i, e := range d.Entries {
		if e.Key == Str(key) {
			d.Entries[i].Value = v
			return
		}
	}
	d.Entries = append(d.Entries, Entry{Str(key), v})
}

// Class is a class or a function by its name.
type Class struct{ Module, Name string }

// ClassOf is the class of "module name", as protocol 2 writes names but with a space.
func ClassOf(global string) Class {
	module, name, _ := strings.Cut(global, " ")
	return Class{module, name}
}

// String returns the dotted name.
func (c Class) String() string { return c.Module + "." + c.Name }

// Member is a member of an enum. A file gives either its number or its name.
type Member struct {
	Class  Class
	Name   string // "" if the number is given
	Number int64
}

// Object is an instance of a class.
type Object struct {
	Class Class
	// Called says that the class is called with the arguments, as Python does for Fraction; otherwise they go
	// to its __new__ alone, as with a NamedTuple or, without arguments, most objects.
	Called bool
	Args   []Value
	Items  *Dict // of a class that is a kind of dict; nil unless [Use] allows for them
	State  Value // what __setstate__ is given; nil if the file sets none, which is not [None]
}

// Persistent is a reference to something that lies outside of a pickle. What ID means is up to the program that wrote it.
type Persistent struct{ ID Value }

func (None) isValue()       {}
func (Bool) isValue()       {}
func (Int) isValue()        {}
func (*BigInt) isValue()    {}
func (Float) isValue()      {}
func (Str) isValue()        {}
func (Bytes) isValue()      {}
func (*Tuple) isValue()     {}
func (*List) isValue()      {}
func (*Set) isValue()       {}
func (*Dict) isValue()      {}
func (*Scalar) isValue()    {}
func (*Array) isValue()     {}
func (Class) isValue()      {}
func (*Member) isValue()    {}
func (*Object) isValue()    {}
func (Persistent) isValue() {}
