package pyvalue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"unicode/utf8"
)

// readMsgpack reads one value. It is our own reader because others make room for what a length states before they see
// whether it is there, and do not say where a file is at fault. See the MessagePack specification for the formats.
func readMsgpack(data []byte, o Options) (Value, error) {
	r := msgpackReader{data: data, owed: 1, options: o}
	v, err := r.value(0)
	if err == nil && r.at < len(data) {
		err = fmt.Errorf("%d bytes come after its end", len(data)-r.at)
	}
	if err != nil {
		return nil, fmt.Errorf("format %#02x at byte %d: %w", r.format, r.formatAt, err)
	}
	return v, nil
}

// msgpackReader reads values that arrays and maps, all those that are open together, have stated. A value takes a byte
// or more, so no more of them may be owed than there are bytes left: the room made for them all is a
// small multiple of the file.
type msgpackReader struct {
	data     []byte
	at       int // bytes read
	options  Options
	owed     int // values that are stated and still to come
	stated   int
	format   byte // of the value being read
	formatAt int
}

func (r *msgpackReader) value(depth int) (Value, error) {
	if depth > r.options.MaxDepth {
		return nil, fmt.Errorf("values nest deeper than %d", r.options.MaxDepth)
	}
	r.formatAt = r.at
	b, err := r.take(1)
	if err != nil {
		return nil, err
	}
	r.format = b[0]
	r.owed--
	switch f := b[0]; {
	case f <= 0x7f || f >= 0xe0:
		return Int(int8(f)), nil
	case f <= 0x8f:
		return r.mapping(int(f&0x0f), depth)
	case f <= 0x9f:
		return r.array(int(f&0x0f), depth)
	case f <= 0xbf:
		return r.text(int(f & 0x1f))
	case f == 0xc0:
		return None{}, nil
	case f == 0xc2 || f == 0xc3:
		return Bool(f == 0xc3), nil
	case f >= 0xc4 && f <= 0xc6:
		b, err := r.counted(1 << (f - 0xc4))
		return Bytes(b), err
	case f == 0xca:
		bits, err := r.uint(4)
		return Float(math.Float32frombits(uint32(bits))), err
	case f == 0xcb:
		bits, err := r.uint(8)
		return Float(math.Float64frombits(bits)), err
	case f >= 0xcc && f <= 0xcf:
		n, err := r.uint(1 << (f - 0xcc))
		return Integer(new(big.Int).SetUint64(n)), err
	case f >= 0xd0 && f <= 0xd3:
		width := 1 << (f - 0xd0)
		n, err := r.uint(width)
		unused := 64 - 8*width
		return Int(int64(n<<unused) >> unused), err
	case f >= 0xd9 && f <= 0xdb:
		n, err := r.length(1 << (f - 0xd9))
		if err != nil {
			return nil, err
		}
		return r.text(n)
	case f == 0xdc || f == 0xdd:
		n, err := r.length(2 << (f - 0xdc))
		if err != nil {
			return nil, err
		}
		return r.array(n, depth)
	case f == 0xde || f == 0xdf:
		n, err := r.length(2 << (f - 0xde))
		if err != nil {
			return nil, err
		}
		return r.mapping(n, depth)
	}
	return nil, errors.New("it is not accepted: environments have no extensions")
}

func (r *msgpackReader) take(n int) ([]byte, error) {
	if n > len(r.data)-r.at {
		return nil, errShort
	}
	b := r.data[r.at : r.at+n]
	r.at += n
	return b, nil
}

// uint reads a whole number of 1, 2, 4 or 8 bytes.
func (r *msgpackReader) uint(width int) (uint64, error) {
	b, err := r.take(width)
	if err != nil {
		return 0, err
	}
	var padded [8]byte
	copy(padded[8-width:], b)
	return binary.BigEndian.Uint64(padded[:]), nil
}

func (r *msgpackReader) length(width int) (int, error) {
	n, err := r.uint(width)
	return int(min(n, math.MaxInt)), err // no file is that long
}

func (r *msgpackReader) counted(width int) ([]byte, error) {
	n, err := r.length(width)
	if err != nil {
		return nil, err
	}
	return r.take(n)
}

func (r *msgpackReader) text(n int) (Value, error) {
	b, err := r.take(n)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(b) {
		return nil, errNotUTF8
	}
	return Str(b), nil
}

// owe promises n values, each of perItem.
func (r *msgpackReader) owe(n, perItem int) error {
	if n > (len(r.data)-r.at-r.owed)/perItem {
		return errors.New("it states more values than the file can hold")
	}
	r.owed += n * perItem
	if r.stated += n * perItem; r.stated > r.options.MaxValues {
		return tooMany(r.options.MaxValues)
	}
	return nil
}

func (r *msgpackReader) array(n, depth int) (Value, error) {
	if err := r.owe(n, 1); err != nil {
		return nil, err
	}
	t := &Tuple{make([]Value, n)}
	for i := range t.Items {
		var err error
		if t.Items[i], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (r *msgpackReader) mapping(n, depth int) (Value, error) {
	at, format := r.formatAt, r.format
	if err := r.owe(n, 2); err != nil {
		return nil, err
	}
	d := &Dict{make([]Entry, n)}
	for i := range d.Entries {
		var err error
		if d.Entries[i].Key, err = r.value(depth + 1); err != nil {
			return nil, err
		}
		if d.Entries[i].Value, err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	if isNumPy, ok := d.numpyField("nd"); ok {
		r.formatAt, r.format = at, format
		return numpyValue(d, isNumPy)
	}
	return d, nil
}

// numpyField returns an entry of a NumPy value, whose keys are bytes, or text if an old release wrote them.
func (d *Dict) numpyField(key string) (Value, bool) {
	for _, e := range d.Entries {
		if e.Key == Bytes(key) || e.Key == Str(key) {
			return e.Value, true
		}
	}
	return nil, false
}

// numpyValue makes an array or a scalar of the map that msgpack-numpy writes for it.
func numpyValue(d *Dict, nd Value) (Value, error) {
	isArray, ok := nd.(Bool)
	fields := 3 // nd, type, data
	if kind, ok := d.numpyField("kind"); ok {
		fields++
		if kind != Bytes("") && kind != Str("") {
			return nil, errors.New("a NumPy array of objects or records is not accepted")
		}
	}
	if isArray {
		fields++
	}
	typeField, _ := d.numpyField("type")
	dataField, _ := d.numpyField("data")
	data, okData := rawText(dataField)
	code, okType := rawText(typeField)
	if !ok || !okData || !okType || len(d.Entries) != fields {
		return nil, errors.New("a NumPy value does not have the fields nd, type, data and, for an array, shape")
	}
	typ, err := typeOf(code)
	if err != nil {
		return nil, err
	}
	if !isArray {
		s, err := NewScalar(typ, data)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	shapeField, _ := d.numpyField("shape")
	shape, err := sizes(shapeField)
	if err != nil {
		return nil, err
	}
	a, err := NewArray(typ, shape, data)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// rawText returns the content of bytes or of a text.
func rawText(v Value) (string, bool) {
	switch v := v.(type) {
	case Bytes:
		return string(v), true
	case Str:
		return string(v), true
	}
	return "", false
}
