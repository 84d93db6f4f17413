package pyvalue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Type is the type of NumPy's values as its dtype.str shows it: "<i8" is a whole number of 8 bytes, the least
// significant first, ">f4" a float32 with the most significant byte first, "|b1" a bool.
type Type string

// parseType makes a Type of a byte order and a code such as "f8".
func parseType(order byte, code string) (Type, error) {
	switch code {
	case "b1", "i1", "u1":
		if order != '|' && order != '<' && order != '>' {
			return "", fmt.Errorf("the byte order %q", order)
		}
		return Type("|" + code), nil
	case "i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8":
		if order != '<' && order != '>' {
			return "", fmt.Errorf("the byte order %q of %s", order, code)
		}
		return Type(string(order) + code), nil
	}
	return "", fmt.Errorf("the NumPy type %s; only bools, whole numbers, float32 and float64 are read", quote(code))
}

// typeOf makes a Type of its own text.
func typeOf(s string) (Type, error) {
	if len(s) < 2 {
		return "", fmt.Errorf("the NumPy type %s", quote(s))
	}
	return parseType(s[0], s[1:])
}

// Size is the number of bytes of a value.
func (t Type) Size() int { return int(t[2] - '0') }

// value reads one value from its bytes.
func (t Type) value(b string) Value {
	var bits uint64
	raw := []byte(b[:t.Size()])
	var padded [8]byte
	if t[0] == '>' {
		copy(padded[8-len(raw):], raw)
		bits = binary.BigEndian.Uint64(padded[:])
	} else {
		copy(padded[:], raw)
		bits = binary.LittleEndian.Uint64(padded[:])
	}
	switch t[1] {
	case 'b':
		return Bool(bits != 0)
	case 'u':
		return Integer(new(big.Int).SetUint64(bits))
	case 'i':
		unused := 64 - 8*t.Size()
		return Int(int64(bits<<unused) >> unused)
	}
	if t.Size() == 4 {
		return Float(math.Float32frombits(uint32(bits)))
	}
	return Float(math.Float64frombits(bits))
}

// Scalar is a NumPy scalar, such as numpy.int64(3).
type Scalar struct {
	typ  Type
	data string
}

// NewScalar makes a scalar of its bytes, which are as the type says.
func NewScalar(t Type, data string) (*Scalar, error) {
	if _, err := typeOf(string(t)); err != nil {
		return nil, err
	}
	if len(data) != t.Size() {
		return nil, fmt.Errorf("a NumPy scalar %s of %d bytes", t, len(data))
	}
	return &Scalar{t, data}, nil
}

// Type returns the type.
func (s *Scalar) Type() Type { return s.typ }

// Value returns the value: a [Bool], [Int], [*BigInt] or [Float].
func (s *Scalar) Value() Value { return s.typ.value(s.data) }

// Array is a NumPy array.
type Array struct {
	typ   Type
	shape []int
	data  string // C order: the last index runs fastest
}

const (
	maxDimensions = 32
	maxEmpty      = 1 << 16 // the largest size in an array without values, which bytes do not bound
)

// NewArray makes an array of its bytes, which are as the type says, in C order.
func NewArray(t Type, shape []int, data string) (*Array, error) {
	if _, err := typeOf(string(t)); err != nil {
		return nil, err
	}
	if len(shape) > maxDimensions {
		return nil, fmt.Errorf("a NumPy array of %d dimensions", len(shape))
	}
	n, largest := 1, 0
	for _, d := range shape {
		largest = max(largest, d)
		switch {
		case d < 0:
			return nil, fmt.Errorf("a NumPy array of size %d", d)
		case d > 0 && n > len(data)/d:
			n = len(data) + 1 // more than there are; zeros may follow
		default:
			n *= d
		}
	}
	if len(data)%t.Size() != 0 || len(data)/t.Size() != n {
		return nil, fmt.Errorf("a NumPy array %s of shape %v with %d bytes", t, shape, len(data))
	}
	if n == 0 && largest > maxEmpty {
		return nil, fmt.Errorf("a NumPy array without values, of shape %v", shape)
	}
	return &Array{t, append([]int(nil), shape...), data}, nil
}

// Type returns the type of the values.
func (a *Array) Type() Type { return a.typ }

// Shape returns the sizes; none for a single value. It is not to be changed.
func (a *Array) Shape() []int { return a.shape }

// Len returns the number of values, which is the product of the shape.
func (a *Array) Len() int { return len(a.data) / a.typ.Size() }

// At returns value i in C order: a [Bool], [Int], [*BigInt] or [Float].
func (a *Array) At(i int) Value { return a.typ.value(a.data[i*a.typ.Size():]) }

// fromFortran returns the data of an array in C order, given in Fortran's: there the first index runs fastest.
func fromFortran(t Type, shape []int, data string) string {
	size := t.Size()
	strides := make([]int, len(shape)) // bytes
	step := size
	for i, d := range shape {
		strides[i] = step
		step *= d
	}
	var b strings.Builder
	b.Grow(len(data))
	index, at := make([]int, len(shape)), 0
	for b.Len() < len(data) {
		b.WriteString(data[at : at+size])
		for i := len(shape) - 1; i >= 0; i-- {
			index[i]++
			at += strides[i]
			if index[i] < shape[i] {
				break
			}
			at -= index[i] * strides[i]
			index[i] = 0
		}
	}
	return b.String()
}

// sizes returns a shape, a tuple of whole numbers.
func sizes(v Value) ([]int, error) {
	t, ok := v.(*Tuple)
	if !ok || len(t.Items) > maxDimensions {
		return nil, errors.New("the shape of a NumPy array is not a short tuple")
	}
	shape := make([]int, len(t.Items))
	for i, item := range t.Items {
		n, ok := item.(Int)
		if !ok || n < 0 || n > math.MaxInt32 {
			return nil, errors.New("a size of a NumPy array is not a whole number below 2^31")
		}
		shape[i] = int(n)
	}
	return shape, nil
}
