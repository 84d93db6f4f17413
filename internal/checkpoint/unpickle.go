package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// unpickle reads the pickle that torch.save makes of a state dictionary: an OrderedDict of tensors by name, in its
// order. It knows the instructions that torch uses for that (pickle protocol 2) and no other, so there is no way to
// name a function but the two below, or to call anything.
//
// Memory: an instruction of n bytes adds one value of a fixed size, and strings of n bytes, so a pickle costs a small
// multiple of its length, which maxPickle limits. Nothing recurses into what was read, however deep it nests.
func unpickle(data []byte) ([]namedTensor, error) {
	r := pickleReader{rest: data}
	for {
		at := len(data) - len(r.rest)
		op, err := r.bytes(1)
		if err != nil {
			return nil, err
		}
		if op[0] == opStop {
			break
		}
		if err := r.do(op[0]); err != nil {
			return nil, fmt.Errorf("at byte %d: %w", at, err)
		}
	}
	top, err := r.pop()
	if err != nil {
		return nil, err
	}
	dict, ok := top.(*dictionary)
	if !ok || len(r.rest)+len(r.stack)+len(r.marks) > 0 {
		return nil, errors.New("it does not hold one dictionary of tensors")
	}
	var all []namedTensor
	for i, k := range dict.keys {
		t, ok := dict.values[i].(*storedTensor)
		if !ok {
			return nil, fmt.Errorf("%s is not a tensor", quote(k))
		}
		all = append(all, namedTensor{k, t})
	}
	return all, nil
}

type namedTensor struct {
	name string
	*storedTensor
}

// storedTensor is a view of a storage.
type storedTensor struct {
	storage storage
	offset  int // values
	shape   []int
	strides []int
}

// storage is a file of values, one after the other.
type storage struct {
	kind   global // torch's class of it
	key    string // its file
	values int
}

// The kinds of values a pickle is made of; besides them nil, bool, int and string.
type (
	tuple      []any
	dictionary struct { // dict and OrderedDict
		keys   []string
		values []any
	}
	global string // "module name"
)

const (
	orderedDict   global = "collections OrderedDict"
	rebuildTensor global = "torch._utils _rebuild_tensor_v2"
	floatStorage  global = "torch FloatStorage"
)

// globals is all that a pickle may name. Tensors that are not float32 are read so far that an error can say so.
var globals = map[global]bool{
	orderedDict: true, rebuildTensor: true, floatStorage: true,
	"torch DoubleStorage": true, "torch HalfStorage": true, "torch BFloat16Storage": true,
	"torch LongStorage": true, "torch IntStorage": true, "torch ShortStorage": true,
	"torch CharStorage": true, "torch ByteStorage": true, "torch BoolStorage": true,
}

// The instructions, named as in Python's pickletools.
const (
	opProto       = 0x80
	opStop        = '.'
	opMark        = '('
	opNone        = 'N'
	opTrue        = 0x88
	opFalse       = 0x89
	opBinInt      = 'J'
	opBinInt1     = 'K'
	opBinInt2     = 'M'
	opBinUnicode  = 'X'
	opEmptyTuple  = ')'
	opTuple       = 't'
	opTuple1      = 0x85
	opTuple2      = 0x86
	opTuple3      = 0x87
	opEmptyDict   = '}'
	opSetItem     = 's'
	opSetItems    = 'u'
	opBinPut      = 'q'
	opLongBinPut  = 'r'
	opBinGet      = 'h'
	opLongBinGet  = 'j'
	opGlobal      = 'c'
	opReduce      = 'R'
	opBuild       = 'b'
	opBinPersID   = 'Q'
	pickleVersion = 2
)

type pickleReader struct {
	rest  []byte
	stack []any
	marks []int // heights of the stack
	memo  []any
}

// do carries out one instruction.
func (r *pickleReader) do(op byte) error {
	switch op {
	case opProto:
		b, err := r.bytes(1)
		if err == nil && b[0] != pickleVersion {
			err = fmt.Errorf("it is pickle protocol %d; torch writes tensors in protocol %d", b[0], pickleVersion)
		}
		return err
	case opMark:
		r.marks = append(r.marks, len(r.stack))
		return nil
	case opNone:
		return r.push(nil)
	case opTrue, opFalse:
		return r.push(op == opTrue)
	case opBinInt, opBinInt1, opBinInt2:
		return r.number(op)
	case opBinUnicode:
		return r.unicode()
	case opEmptyTuple:
		return r.push(tuple{})
	case opTuple1, opTuple2, opTuple3:
		return r.tuple(int(op-opTuple1) + 1)
	case opTuple:
		n, err := r.sinceMark()
		if err != nil {
			return err
		}
		return r.tuple(n)
	case opEmptyDict:
		return r.push(&dictionary{})
	case opSetItem:
		return r.setItems(2)
	case opSetItems:
		n, err := r.sinceMark()
		if err != nil {
			return err
		}
		return r.setItems(n)
	case opBinPut, opLongBinPut:
		return r.put(op == opLongBinPut)
	case opBinGet, opLongBinGet:
		return r.get(op == opLongBinGet)
	case opGlobal:
		return r.global()
	case opReduce:
		return r.reduce()
	case opBinPersID:
		return r.persistent()
	case opBuild:
		return r.build()
	}
	return fmt.Errorf("instruction %#x, which torch does not use for tensors", op)
}

// bytes takes the next n bytes of the input.
func (r *pickleReader) bytes(n int) ([]byte, error) {
	if n > len(r.rest) {
		return nil, errors.New("it ends too early")
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b, nil
}

// uint takes a little-endian number of 4 bytes, or of 1 byte.
func (r *pickleReader) uint(long bool) (uint32, error) {
	if !long {
		b, err := r.bytes(1)
		if err != nil {
			return 0, err
		}
		return uint32(b[0]), nil
	}
	b, err := r.bytes(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (r *pickleReader) push(v any) error {
	r.stack = append(r.stack, v)
	return nil
}

// popN takes the last n values; what a mark stands before stays out of reach.
func (r *pickleReader) popN(n int) ([]any, error) {
	floor := 0
	if len(r.marks) > 0 {
		floor = r.marks[len(r.marks)-1]
	}
	at := len(r.stack) - n
	if at < floor {
		return nil, errors.New("a value is missing")
	}
	values := r.stack[at:]
	r.stack = r.stack[:at]
	return values, nil // valid until the next push
}

func (r *pickleReader) pop() (any, error) {
	v, err := r.popN(1)
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// sinceMark returns the number of values since the last mark, and takes the mark away.
func (r *pickleReader) sinceMark() (int, error) {
	if len(r.marks) == 0 {
		return 0, errors.New("a mark is missing")
	}
	at := r.marks[len(r.marks)-1]
	r.marks = r.marks[:len(r.marks)-1]
	return len(r.stack) - at, nil
}

func (r *pickleReader) number(op byte) error {
	var width int
	switch op {
	case opBinInt1:
		width = 1
	case opBinInt2:
		width = 2
	default:
		width = 4
	}
	b, err := r.bytes(width)
	if err != nil {
		return err
	}
	switch width {
	case 1:
		return r.push(int(b[0]))
	case 2:
		return r.push(int(binary.LittleEndian.Uint16(b)))
	}
	return r.push(int(int32(binary.LittleEndian.Uint32(b))))
}

func (r *pickleReader) unicode() error {
	n, err := r.uint(true)
	if err != nil {
		return err
	}
	if uint64(n) > uint64(len(r.rest)) {
		return errors.New("a text is longer than the file")
	}
	b, err := r.bytes(int(n))
	if err != nil {
		return err
	}
	if !utf8.Valid(b) {
		return errors.New("a text is not UTF-8")
	}
	return r.push(string(b))
}

func (r *pickleReader) tuple(n int) error {
	values, err := r.popN(n)
	if err != nil {
		return err
	}
	return r.push(tuple(append([]any(nil), values...)))
}

// setItems adds n/2 pairs of key and value to the dictionary below them.
func (r *pickleReader) setItems(n int) error {
	values, err := r.popN(n)
	if err != nil {
		return err
	}
	if n%2 != 0 {
		return errors.New("a key has no value")
	}
	d, err := r.dictionary()
	if err != nil {
		return err
	}
	for i := 0; i < n; i += 2 {
		key, ok := values[i].(string)
		if !ok {
			return errors.New("a key is not a text")
		}
		d.keys, d.values = append(d.keys, key), append(d.values, values[i+1])
	}
	return nil
}

// dictionary returns the dictionary on top of the stack and leaves it there.
func (r *pickleReader) dictionary() (*dictionary, error) {
	v, err := r.pop()
	if err != nil {
		return nil, err
	}
	d, ok := v.(*dictionary)
	if !ok {
		return nil, errors.New("a dictionary is missing")
	}
	return d, r.push(d)
}

// put remembers the value on top of the stack. The numbers of what is remembered count up, as Python makes them.
func (r *pickleReader) put(long bool) error {
	n, err := r.uint(long)
	if err != nil {
		return err
	}
	if uint64(n) != uint64(len(r.memo)) {
		return fmt.Errorf("value %d is remembered as number %d", len(r.memo), n)
	}
	v, err := r.pop()
	if err != nil {
		return err
	}
	r.memo = append(r.memo, v)
	return r.push(v)
}

func (r *pickleReader) get(long bool) error {
	n, err := r.uint(long)
	if err != nil {
		return err
	}
	if uint64(n) >= uint64(len(r.memo)) {
		return fmt.Errorf("value %d was never remembered", n)
	}
	return r.push(r.memo[n])
}

func (r *pickleReader) global() error {
	var lines [2][]byte
	for i := range lines {
		line, rest, ok := bytes.Cut(r.rest, []byte("\n"))
		if !ok {
			return errors.New("it ends too early")
		}
		lines[i], r.rest = line, rest
	}
	g := global(string(lines[0]) + " " + string(lines[1]))
	if !globals[g] {
		return fmt.Errorf("it names %s, and only tensors are read", quote(string(lines[0])+"."+string(lines[1])))
	}
	return r.push(g)
}

// reduce applies one of the two known functions.
func (r *pickleReader) reduce() error {
	values, err := r.popN(2)
	if err != nil {
		return err
	}
	args, ok := values[1].(tuple)
	if !ok {
		return errors.New("a call has no arguments")
	}
	switch {
	case values[0] == orderedDict && len(args) == 0:
		return r.push(&dictionary{})
	case values[0] == rebuildTensor:
		t, err := newStoredTensor(args)
		if err != nil {
			return err
		}
		return r.push(t)
	}
	return errors.New("a call of something else than OrderedDict() or a tensor")
}

// newStoredTensor takes storage, offset, size, strides, requires_grad, backward hooks and, since torch 2, metadata.
func newStoredTensor(args tuple) (*storedTensor, error) {
	if len(args) < 6 || len(args) > 7 {
		return nil, fmt.Errorf("a tensor has %d arguments", len(args))
	}
	s, okStorage := args[0].(storage)
	offset, okOffset := args[1].(int)
	shape, okShape := wholes(args[2])
	strides, okStrides := wholes(args[3])
	if !okStorage || !okOffset || !okShape || !okStrides || len(shape) != len(strides) {
		return nil, errors.New("a tensor has arguments of the wrong kind")
	}
	return &storedTensor{s, offset, shape, strides}, nil
}

// wholes returns a short tuple of whole numbers that are not negative. Short, because a pickle can refer to one tuple
// many times, and each is a copy.
func wholes(v any) ([]int, bool) {
	const most = 8
	t, ok := v.(tuple)
	if !ok || len(t) > most {
		return nil, false
	}
	all := make([]int, len(t))
	for i, v := range t {
		n, ok := v.(int)
		if !ok || n < 0 {
			return nil, false
		}
		all[i] = n
	}
	return all, true
}

// persistent replaces ("storage", class, file, device, values) by the storage it means.
func (r *pickleReader) persistent() error {
	v, err := r.pop()
	if err != nil {
		return err
	}
	id, ok := v.(tuple)
	if !ok || len(id) != 5 || id[0] != "storage" {
		return errors.New("a reference is not to a storage")
	}
	kind, okKind := id[1].(global)
	key, okKey := id[2].(string)
	values, okValues := id[4].(int)
	if !okKind || !okKey || !okValues || values < 0 || kind == orderedDict || kind == rebuildTensor {
		return errors.New("a reference to a storage is malformed")
	}
	return r.push(storage{kind, key, values})
}

// build would set attributes. State dictionaries have some (_metadata, the versions of the layers); they say nothing
// about the values.
func (r *pickleReader) build() error {
	if _, err := r.pop(); err != nil {
		return err
	}
	_, err := r.dictionary()
	return err
}
