package railfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a number of a file that tells whole numbers from decimals: Python writes 0 and 0.0, and files are written
// back as they were. Its zero value is the decimal 0.0.
type Number struct {
	Value float64
	Whole bool // written without a decimal point
}

// maxWhole is the largest whole number that every Number can hold exactly.
const maxWhole = 1 << 53

// WholeNumber is n without a decimal point. n must be within ±2^53.
func WholeNumber(n int) Number { return Number{float64(n), true} }

// Decimal is f with a decimal point or exponent.
func Decimal(f float64) Number { return Number{Value: f} }

// String is the number as Python prints it.
func (n Number) String() string { return string(n.append(nil)) }

// append appends the number as Python prints it: the shortest decimal that reads back to the same bits.
func (n Number) append(dst []byte) []byte {
	if n.Whole {
		return strconv.AppendInt(dst, int64(n.Value), 10)
	}
	switch a := math.Abs(n.Value); {
	case math.IsNaN(n.Value):
		return append(dst, "nan"...)
	case math.IsInf(n.Value, 0):
		if n.Value < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "inf"...)
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.AppendFloat(dst, n.Value, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, n.Value, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// parseNumber reads a number as Python prints it. It must be finite, and a whole one within ±2^53.
func parseNumber(text []byte) (Number, error) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) > 0 && len(digits) <= 16 && allDigits(digits) {
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err == nil && n <= maxWhole && n >= -maxWhole {
			return Number{float64(n), true}, nil
		}
		return Number{}, fmt.Errorf("%s is too large for a whole number", quote(string(text)))
	}
	if len(digits) == 0 || len(digits) > 64 || !isDecimal(digits) {
		return Number{}, fmt.Errorf("%s is not a finite number", quote(string(text)))
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return Number{}, fmt.Errorf("%s is not a finite number", quote(string(text)))
	}
	return Number{Value: f}, nil
}

// isDecimal says whether text is made of the characters of a decimal, begins as one and has a point or exponent.
func isDecimal(text []byte) bool {
	if text[0] != '.' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	marked := false
	for _, c := range text {
		switch {
		case c == '.' || c == 'e' || c == 'E':
			marked = true
		case (c < '0' || c > '9') && c != '+' && c != '-':
			return false
		}
	}
	return marked
}

// UnmarshalJSON reads a JSON number.
func (n *Number) UnmarshalJSON(b []byte) error {
	v, err := parseNumber(b)
	if err != nil {
		return err
	}
	*n = v
	return nil
}

// MarshalJSON writes the number as Python's json module does.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
		return nil, fmt.Errorf("%v is not a finite number", n.Value)
	}
	return n.append(nil), nil
}

var (
	_ json.Marshaler   = Number{}
	_ json.Unmarshaler = (*Number)(nil)
)
