package pyvalue

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// EncodePickle writes a value for Python's pickle.loads, in protocol 4. What is one pointer here is one object there, and
// texts, bytes, classes and NumPy types that are used again are stored once, as Python does. A value that [Decode] would
// refuse by the default limits, such as one that contains itself, is an error.
func EncodePickle(v Value) ([]byte, error) {
	o := Options{}.withDefaults()
	if err := inspect(v, o.MaxDepth, o.MaxValues); err != nil {
		return nil, fmt.Errorf("write a pickle: %w", err)
	}
	w := pickleWriter{memo: map[any]int{}}
	w.op(opProto)
	w.out = append(w.out, 4)
	w.value(v)
	w.op(opStop)
	return w.out, nil
}

type pickleWriter struct {
	out  []byte
	memo map[any]int // values and NumPy types, and the numbers under which they are remembered
}

func (w *pickleWriter) op(op opcode) { w.out = append(w.out, byte(op)) }

func (w *pickleWriter) value(v Value) {
	switch v := v.(type) {
	case None:
		w.op(opNone)
	case Bool:
		if v {
			w.op(opNewTrue)
		} else {
			w.op(opNewFalse)
		}
	case Int:
		w.integer(int64(v))
	case *BigInt:
		w.long(v.Big())
	case Float:
		w.op(opBinFloat)
		w.out = binary.BigEndian.AppendUint64(w.out, math.Float64bits(float64(v)))
	default:
		w.once(v, func() { w.object(v) })
	}
}

// once writes what can be remembered, or where it was.
func (w *pickleWriter) once(key any, write func()) {
	if n, ok := w.memo[key]; ok {
		if n < 256 {
			w.op(opBinGet)
			w.out = append(w.out, byte(n))
		} else {
			w.op(opLongBinGet)
			w.out = binary.LittleEndian.AppendUint32(w.out, uint32(n))
		}
		return
	}
	write()
	w.memo[key] = len(w.memo)
	w.op(opMemoize)
}

// object writes a value that is remembered when this is done, before anything refers to it, as it cannot contain itself.
func (w *pickleWriter) object(v Value) {
	switch v := v.(type) {
	case Str:
		w.counted(string(v), opShortBinUnicode, opBinUnicode)
	case Bytes:
		w.counted(string(v), opShortBinBytes, opBinBytes)
	case *Tuple:
		w.tuple(v.Items...)
	case *List:
		w.op(opEmptyList)
		w.marked(opAppends, v.Items)
	case *Set:
		if v.Frozen {
			w.op(opMark)
			w.values(v.Items)
			w.op(opFrozenSet)
			return
		}
		w.op(opEmptySet)
		w.marked(opAddItems, v.Items)
	case *Dict:
		w.op(opEmptyDict)
		w.setItems(v)
	case Class:
		w.value(Str(v.Module))
		w.value(Str(v.Name))
		w.op(opStackGlobal)
	case *Member:
		w.member(v)
	case *Object:
		w.value(v.Class)
		w.tuple(v.Args...)
		if v.Called {
			w.op(opReduce)
		} else {
			w.op(opNewObj)
		}
		if v.Items != nil {
			w.setItems(v.Items)
		}
		if v.State != nil {
			w.value(v.State)
			w.op(opBuild)
		}
	case *Scalar:
		w.value(multiarray("scalar"))
		w.dtype(v.typ)
		w.value(Bytes(v.data))
		w.op(opTuple2)
		w.op(opReduce)
	case *Array:
		w.array(v)
	case Persistent:
		w.value(v.ID)
		w.op(opBinPersID)
	}
}

// multiarray is where NumPy 1 has its constructors; NumPy 2 still finds them there.
func multiarray(name string) Class { return Class{"numpy.core.multiarray", name} }

func (w *pickleWriter) member(m *Member) {
	if m.Name != "" {
		w.value(Class{"builtins", "getattr"})
		w.tuple(m.Class, Str(m.Name))
	} else {
		w.value(m.Class)
		w.tuple(Int(m.Number))
	}
	w.op(opReduce)
}

func (w *pickleWriter) array(a *Array) {
	w.value(multiarray("_reconstruct"))
	w.tuple(Class{"numpy", "ndarray"}, &Tuple{[]Value{Int(0)}}, Bytes("b"))
	w.op(opReduce)
	shape := make([]Value, len(a.shape))
	for i, d := range a.shape {
		shape[i] = Int(d)
	}
	w.op(opMark)
	w.value(Int(1))
	w.tuple(shape...)
	w.dtype(a.typ)
	w.value(Bool(false))
	w.value(Bytes(a.data))
	w.op(opTuple)
	w.op(opBuild)
}

func (w *pickleWriter) dtype(t Type) {
	w.once(t, func() {
		w.value(Class{"numpy", "dtype"})
		w.tuple(Str(t[1:]), Bool(false), Bool(true))
		w.op(opReduce)
		w.tuple(Int(3), Str(t[:1]), None{}, None{}, None{}, Int(-1), Int(-1), Int(0))
		w.op(opBuild)
	})
}

func (w *pickleWriter) values(items []Value) {
	for _, v := range items {
		w.value(v)
	}
}

// marked writes the instruction that adds items to what was written last.
func (w *pickleWriter) marked(op opcode, items []Value) {
	if len(items) > 0 {
		w.op(opMark)
		w.values(items)
		w.op(op)
	}
}

func (w *pickleWriter) setItems(d *Dict) {
	all := make([]Value, 0, 2*len(d.Entries))
	for _, e := range d.Entries {
		all = append(all, e.Key, e.Value)
	}
	w.marked(opSetItems, all)
}

func (w *pickleWriter) tuple(items ...Value) {
	switch n := len(items); n {
	case 0:
		w.op(opEmptyTuple)
	case 1, 2, 3:
		w.values(items)
		w.op(opTuple1 + opcode(n-1))
	default:
		w.op(opMark)
		w.values(items)
		w.op(opTuple)
	}
}

// counted writes a text, bytes or a number after their length, of 1 or of 4 bytes.
func (w *pickleWriter) counted(s string, short, long opcode) {
	if len(s) < 256 {
		w.op(short)
		w.out = append(w.out, byte(len(s)))
	} else {
		w.op(long)
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(len(s)))
	}
	w.out = append(w.out, s...)
}

func (w *pickleWriter) integer(n int64) {
	switch {
	case n >= 0 && n < 1<<8:
		w.op(opBinInt1)
		w.out = append(w.out, byte(n))
	case n >= 0 && n < 1<<16:
		w.op(opBinInt2)
		w.out = binary.LittleEndian.AppendUint16(w.out, uint16(n))
	case n == int64(int32(n)):
		w.op(opBinInt)
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(n))
	default:
		w.long(big.NewInt(n))
	}
}

// long writes a whole number in two's complement, the least significant byte first.
func (w *pickleWriter) long(n *big.Int) {
	magnitude := n
	if n.Sign() < 0 {
		magnitude = new(big.Int).Not(n) // -n-1, all of whose bits are the opposite
	}
	b := make([]byte, magnitude.BitLen()/8+1)
	magnitude.FillBytes(b)
	if n.Sign() < 0 {
		for i := range b {
			b[i] = ^b[i]
		}
	}
	slices.Reverse(b)
	w.counted(string(b), opLong1, opLong4)
}
