package pyvalue

import (
	"errors"
	"fmt"
	"strconv"
)

// Options says what a file may hold. The zero Options allows plain values and NumPy's, up to the default limits.
type Options struct {
	// Globals are the names that a pickle may use. Those of NumPy's scalars and arrays are always known, and so is
	// builtins.getattr where it names a member of an allowed enum.
	Globals Globals
	// Persistent allows references to something outside of the pickle.
	Persistent bool
	// MaxBytes is the longest file, 64 MiB if 0.
	MaxBytes int
	// MaxDepth is how deep values may nest, 64 if 0.
	MaxDepth int
	// MaxValues is how many values a file may hold, 8 Mi if 0. One that is referred to twice counts twice, and 16 bytes of
	// text or of an array count as one more. What a pickle needs to make its value may not be more either.
	MaxValues int
}

// Globals are names that a pickle may use.
type Globals map[Class]Use

// Use is how a name may be used. The zero Use is a class that may only be mentioned.
type Use struct {
	New   []int // numbers of arguments for __new__
	Call  []int // numbers of arguments for a call
	Enum  bool  // its members may be given, by number or by name
	Items bool  // it is a kind of dict, to whose instances entries may be added
	State State // what the state of an instance may be
}

// State is a set of kinds of state.
type State uint8

// The kinds of state. An instance is given one state, or none.
const (
	DictState  State = 1 << iota // the attributes by name
	TupleState                   // as with a class that has a __getstate__
)

// Container is a file format.
type Container uint8

// The formats.
const (
	Unknown Container = iota
	Pickle
	Msgpack
)

// String returns the name in lower case.
func (c Container) String() string { return [...]string{"unknown", "pickle", "msgpack"}[c] }

// Detect tells the formats apart by their first bytes: a pickle of protocol 2 or later says so, and the MessagePack of
// an environment is a map. The suffix of a file's name is no help, as many a .pkl holds MessagePack.
func Detect(data []byte) Container {
	switch {
	case len(data) > 1 && data[0] == 0x80 && data[1] >= 2 && data[1] <= maxProtocol:
		return Pickle
	case len(data) > 0 && (data[0] >= 0x80 && data[0] <= 0x8f || data[0] == 0xde || data[0] == 0xdf):
		return Msgpack
	}
	return Unknown
}

// Decode reads a file of either format.
func Decode(data []byte, o Options) (Value, error) {
	switch Detect(data) {
	case Pickle:
		return DecodePickle(data, o)
	case Msgpack:
		return DecodeMsgpack(data, o)
	}
	return nil, fmt.Errorf("neither a pickle of protocol 2 to %d nor a MessagePack map", maxProtocol)
}

// DecodePickle reads a pickle of protocol 2 to 5.
func DecodePickle(data []byte, o Options) (Value, error) {
	return decode(data, o, "pickle", readPickle)
}

// DecodeMsgpack reads MessagePack. Arrays become tuples, and NumPy's values are recognised.
func DecodeMsgpack(data []byte, o Options) (Value, error) {
	return decode(data, o, "msgpack", readMsgpack)
}

func decode(data []byte, o Options, format string, read func([]byte, Options) (Value, error)) (Value, error) {
	o = o.withDefaults()
	if len(data) > o.MaxBytes {
		return nil, fmt.Errorf("%s: %d bytes, more than the %d that are read", format, len(data), o.MaxBytes)
	}
	v, err := read(data, o)
	if err == nil {
		err = inspect(v, o.MaxDepth, o.MaxValues)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", format, err)
	}
	return v, nil
}

func (o Options) withDefaults() Options {
	for _, l := range []struct {
		limit *int
		value int
	}{{&o.MaxBytes, 64 << 20}, {&o.MaxDepth, 64}, {&o.MaxValues, 8 << 20}} {
		if *l.limit == 0 {
			*l.limit = l.value
		}
	}
	return o
}

var errShort = errors.New("the file ends too early")

// quote shows foreign text in an error, the beginning of it if it is long.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
