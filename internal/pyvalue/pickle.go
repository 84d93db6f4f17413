package pyvalue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"unicode/utf8"
)

// readPickle carries out a pickle's instructions, on a stack as Python does, but makes nothing except a [Value].
//
// Memory: an instruction adds at most one value of a fixed size and as many bytes as it has itself; what it takes off the
// stack to put it into a tuple was put there one by one. So a pickle costs a small multiple of its length. Only
// arrays in Fortran's order are copied, which fromFortran is allowed once for each byte of the file.
//
// Most values are small and many, and asking for memory once for each takes longer than reading them: so they come out
// of blocks.
func readPickle(data []byte, o Options) (Value, error) {
	r := pickleReader{data: data, options: o, copies: len(data)}
	r.stack = make([]Value, 0, min(len(data), 1024)) // room for a NumPy stream
	r.memo = make([]Value, 0, len(data)/16)          // pickles remember about so much
	for {
		at := r.at
		if at == len(data) {
			return nil, errShort
		}
		op := opcode(data[at])
		r.at++
		if op == opStop {
			break
		}
		var err error
		if (op == opProto) != (at == 0) {
			err = errors.New("the protocol is stated at the beginning, and only there")
		} else {
			err = r.do(op)
		}
		if err == nil && r.made > o.MaxValues {
			err = tooMany(o.MaxValues)
		}
		if err != nil {
			return nil, fmt.Errorf("opcode %s at byte %d: %w", op, at, err)
		}
	}
	if len(r.stack) != 1 || len(r.marks) > 0 || r.at != len(data) {
		return nil, fmt.Errorf("opcode STOP at byte %d: it leaves %d values, %d marks and %d bytes; it must leave one value",
			r.at-1, len(r.stack), len(r.marks), len(data)-r.at)
	}
	return r.stack[0], nil
}

type pickleReader struct {
	data    []byte
	at      int // bytes read
	options Options
	stack   []Value
	marks   []int // heights of the stack
	memo    []Value
	made    int // values pushed, marked or remembered
	copies  int // bytes of arrays that may still be copied

	tuples   block[Tuple]
	lists    block[List]
	dicts    block[Dict]
	objects  block[Object]
	items    block[Value]
	entries  block[Entry]
	integers [256]Value // some that were read, by their lowest byte
	kept     [16]struct {
		class Class
		use   Use
	}
}

// block is memory for many values, which stays as long as one of them is in use.
type block[T any] []T

// blockSize is how many values a block is for.
const blockSize = 64

// one returns a value, which is zero.
func (b *block[T]) one() *T { return &b.many(1)[0] }

// many returns n values, which are zero; what is appended to them goes elsewhere.
func (b *block[T]) many(n int) []T {
	if n > len(*b) {
		if n > blockSize/4 {
			return make([]T, n) // so little of a block is lost
		}
		*b = make([]T, blockSize)
	}
	values := (*b)[:n:n]
	*b = (*b)[n:]
	return values
}

func (b *block[T]) clone(values []T) []T {
	if len(values) == 0 {
		return nil
	}
	c := b.many(len(values))
	copy(c, values)
	return c
}

// do carries out one instruction.
func (r *pickleReader) do(op opcode) error {
	switch op {
	case opProto:
		return r.protocol()
	case opFrame:
		n, err := r.length(8)
		if err == nil && n > len(r.data)-r.at {
			return errShort
		}
		return err
	case opMark:
		r.marks = append(r.marks, len(r.stack))
		r.made++
		return nil
	case opPop:
		_, err := r.popN(1)
		return err
	case opPopMark:
		_, err := r.popMark()
		return err
	case opNone:
		return r.push(None{})
	case opNewTrue, opNewFalse:
		return r.push(Bool(op == opNewTrue))
	case opBinInt1:
		return r.integer(1)
	case opBinInt2:
		return r.integer(2)
	case opBinInt:
		return r.integer(4)
	case opLong1:
		return r.long(1)
	case opLong4:
		return r.long(4)
	case opBinFloat:
		b, err := r.take(8)
		if err != nil {
			return err
		}
		return r.push(Float(math.Float64frombits(binary.BigEndian.Uint64(b))))
	case opShortBinUnicode:
		return r.text(1)
	case opBinUnicode:
		return r.text(4)
	case opBinUnicode8:
		return r.text(8)
	case opShortBinBytes:
		return r.bytes(1)
	case opBinBytes:
		return r.bytes(4)
	case opBinBytes8:
		return r.bytes(8)
	case opEmptyTuple:
		return r.tuple(nil, nil)
	case opTuple1, opTuple2, opTuple3:
		return r.tuple(r.popN(int(op-opTuple1) + 1))
	case opTuple:
		return r.tuple(r.popMark())
	case opEmptyList:
		return r.list(nil, nil)
	case opList:
		return r.list(r.popMark())
	case opEmptySet:
		return r.push(&Set{})
	case opFrozenSet:
		items, err := r.popMark()
		return r.pushIf(err, &Set{Items: r.items.clone(items), Frozen: true})
	case opAppend:
		items, err := r.popN(1)
		return r.extend(items, err)
	case opAppends, opAddItems:
		items, err := r.popMark()
		return r.extend(items, err)
	case opEmptyDict:
		return r.push(r.dicts.one())
	case opDict:
		items, err := r.popMark()
		if err != nil {
			return err
		}
		d := r.dicts.one()
		return r.pushIf(r.add(d, items), d)
	case opSetItem:
		items, err := r.popN(2)
		return r.setItems(items, err)
	case opSetItems:
		items, err := r.popMark()
		return r.setItems(items, err)
	case opGlobal:
		return r.global()
	case opStackGlobal:
		return r.stackGlobal()
	case opNewObj:
		return r.newObject(2)
	case opNewObjEx:
		return r.newObject(3)
	case opReduce:
		return r.reduce()
	case opBuild:
		return r.build()
	case opBinPersID:
		if !r.options.Persistent {
			return errRefused
		}
		id, err := r.popN(1)
		if err != nil {
			return err
		}
		return r.push(Persistent{id[0]})
	case opBinPut, opLongBinPut, opMemoize:
		return r.put(op)
	case opBinGet:
		return r.get(1)
	case opLongBinGet:
		return r.get(4)
	}
	return errRefused
}

var (
	errRefused = errors.New("it is not accepted: files of data do not need it")
	errNotUTF8 = errors.New("a text is not UTF-8")
)

// take reads the next n bytes.
func (r *pickleReader) take(n int) ([]byte, error) {
	if n > len(r.data)-r.at {
		return nil, errShort
	}
	b := r.data[r.at : r.at+n]
	r.at += n
	return b, nil
}

// length reads a length of 1, 2, 4 or 8 bytes.
func (r *pickleReader) length(width int) (int, error) {
	if width == 1 && r.at < len(r.data) {
		r.at++
		return int(r.data[r.at-1]), nil
	}
	b, err := r.take(width)
	if err != nil {
		return 0, err
	}
	var padded [8]byte
	copy(padded[:], b)
	return int(min(binary.LittleEndian.Uint64(padded[:]), math.MaxInt)), nil // no file is that long
}

func (r *pickleReader) push(v Value) error {
	r.stack = append(r.stack, v)
	r.made++
	return nil
}

func (r *pickleReader) pushIf(err error, v Value) error {
	if err != nil {
		return err
	}
	return r.push(v)
}

// floor is how much of the stack is out of reach: what the last mark stands behind.
func (r *pickleReader) floor() int {
	if len(r.marks) == 0 {
		return 0
	}
	return r.marks[len(r.marks)-1]
}

var errMissing = errors.New("a value is missing")

// popN takes the last n values, which are valid until the next push.
func (r *pickleReader) popN(n int) ([]Value, error) {
	at := len(r.stack) - n
	if at < r.floor() {
		return nil, errMissing
	}
	values := r.stack[at:]
	r.stack = r.stack[:at]
	return values, nil
}

// popMark takes the values since the last mark, and the mark.
func (r *pickleReader) popMark() ([]Value, error) {
	if len(r.marks) == 0 {
		return nil, errors.New("a mark is missing")
	}
	at := r.marks[len(r.marks)-1]
	r.marks = r.marks[:len(r.marks)-1]
	return r.popN(len(r.stack) - at)
}

// top is the value that an instruction changes. What was popped from above it stays valid.
func (r *pickleReader) top() (Value, error) {
	if len(r.stack) <= r.floor() {
		return nil, errMissing
	}
	return r.stack[len(r.stack)-1], nil
}

func (r *pickleReader) protocol() error {
	n, err := r.length(1)
	if err == nil && (n < 2 || n > maxProtocol) {
		err = fmt.Errorf("protocol %d; 2 to %d are read", n, maxProtocol)
	}
	return err
}

// integer reads a whole number of a fixed width. Those of 4 bytes have a sign.
func (r *pickleReader) integer(width int) error {
	b, err := r.take(width)
	if err != nil {
		return err
	}
	switch width {
	case 1:
		return r.push(Int(b[0]))
	case 2:
		return r.push(r.integerValue(Int(binary.LittleEndian.Uint16(b))))
	}
	return r.push(r.integerValue(Int(int32(binary.LittleEndian.Uint32(b)))))
}

// integerValue is the number as a [Value], for which it takes memory: the same if the number was seen of late.
func (r *pickleReader) integerValue(n Int) Value {
	last := &r.integers[uint8(n)]
	if *last != n {
		*last = n
	}
	return *last
}

func (r *pickleReader) long(width int) error {
	b, err := r.counted(width)
	if err != nil {
		return err
	}
	if len(b) > maxLong {
		return fmt.Errorf("a whole number of %d bytes, more than the %d that are read", len(b), maxLong)
	}
	return r.push(twosComplement(b))
}

// maxLong keeps numbers so short that it takes no time to print them.
const maxLong = 1024

// twosComplement reads a whole number with a sign, the least significant byte first.
func twosComplement(b []byte) Value {
	if len(b) <= 8 {
		var n uint64
		for i, x := range b {
			n |= uint64(x) << (8 * i)
		}
		unused := 64 - 8*len(b)
		return Int(int64(n<<unused) >> unused)
	}
	reversed := slices.Clone(b)
	slices.Reverse(reversed)
	n := new(big.Int).SetBytes(reversed)
	if b[len(b)-1] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return Integer(n)
}

// counted reads bytes after their number, which is of so many bytes.
func (r *pickleReader) counted(width int) ([]byte, error) {
	n, err := r.length(width)
	if err != nil {
		return nil, err
	}
	return r.take(n)
}

func (r *pickleReader) tuple(items []Value, err error) error {
	if err != nil {
		return err
	}
	t := r.tuples.one()
	t.Items = r.items.clone(items)
	return r.push(t)
}

func (r *pickleReader) list(items []Value, err error) error {
	if err != nil {
		return err
	}
	l := r.lists.one()
	l.Items = r.items.clone(items)
	return r.push(l)
}

func (r *pickleReader) text(width int) error {
	b, err := r.counted(width)
	if err != nil {
		return err
	}
	if !utf8.Valid(b) {
		return errNotUTF8
	}
	return r.push(Str(b))
}

func (r *pickleReader) bytes(width int) error {
	b, err := r.counted(width)
	if err != nil {
		return err
	}
	return r.push(Bytes(b))
}

// extend adds to the list or set on top of the stack.
func (r *pickleReader) extend(items []Value, err error) error {
	if err != nil {
		return err
	}
	v, err := r.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *List:
		v.Items = r.append(v.Items, items)
		return nil
	case *Set:
		if !v.Frozen {
			v.Items = r.append(v.Items, items)
			return nil
		}
	}
	return errors.New("there is no list or set to add to")
}

func (r *pickleReader) append(to, items []Value) []Value {
	if to == nil {
		return r.items.clone(items)
	}
	return append(to, items...)
}

func (r *pickleReader) setItems(items []Value, err error) error {
	if err != nil {
		return err
	}
	v, err := r.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *Dict:
		return r.add(v, items)
	case *Object:
		if r.use(v.Class).Items {
			if v.Items == nil {
				v.Items = r.dicts.one()
			}
			return r.add(v.Items, items)
		}
	}
	return errors.New("there is no dict to add to")
}

// add appends keys and what they lead to, in turn. Whether a key can be one is asked later, by inspect.
func (r *pickleReader) add(d *Dict, items []Value) error {
	if len(items)%2 != 0 {
		return errors.New("a key has no value")
	}
	if d.Entries == nil {
		d.Entries = r.entries.many(len(items) / 2)[:0]
	}
	for i := 0; i < len(items); i += 2 {
		d.Entries = append(d.Entries, Entry{items[i], items[i+1]})
	}
	return nil
}

// put remembers the value on top of the stack. The numbers of what is remembered count up, as Python makes them.
func (r *pickleReader) put(op opcode) error {
	n, err := len(r.memo), error(nil)
	switch op {
	case opBinPut:
		n, err = r.length(1)
	case opLongBinPut:
		n, err = r.length(4)
	}
	if err != nil {
		return err
	}
	if n != len(r.memo) {
		return fmt.Errorf("value %d is remembered as number %d", len(r.memo), n)
	}
	v, err := r.top()
	if err != nil {
		return err
	}
	r.memo = append(r.memo, v)
	r.made++
	return nil
}

func (r *pickleReader) get(width int) error {
	n, err := r.length(width)
	if err != nil {
		return err
	}
	if n >= len(r.memo) {
		return fmt.Errorf("value %d was never remembered", n)
	}
	return r.push(r.memo[n])
}

func (r *pickleReader) global() error {
	var lines [2]string
	for i := range lines {
		line, _, ok := bytes.Cut(r.data[r.at:], []byte("\n"))
		if !ok {
			return errShort
		}
		r.at += len(line) + 1
		lines[i] = string(line)
	}
	return r.name(lines[0], lines[1])
}

func (r *pickleReader) stackGlobal() error {
	v, err := r.popN(2)
	if err != nil {
		return err
	}
	module, okModule := v[0].(Str)
	name, okName := v[1].(Str)
	if !okModule || !okName {
		return errors.New("a name is not a text")
	}
	return r.name(string(module), string(name))
}
