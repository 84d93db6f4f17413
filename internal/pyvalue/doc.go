// Package pyvalue reads and writes the values that Python programs leave on disk: pickles of the protocols 2 to 5, and
// MessagePack with NumPy's extension (msgpack-numpy). Both become a [Value].
//
//	value, err := pyvalue.Decode(data, pyvalue.Options{Globals: pyvalue.Globals{
//		{Module: "fractions", Name: "Fraction"}:              {Call: []int{1, 2}},
//		{Module: "flatland.envs.agent_utils", Name: "Agent"}: {New: []int{12, 16, 19}},
//	}})
//	env, ok := value.(*pyvalue.Dict)
//	grid, ok := env.Get("grid")
//
// Start with [Decode] and [Value]. [EncodePickle] writes a value for Python to load, [AppendJSON] shows one as JSON.
//
// A pickle is a program that makes its value, and Python's loader does whatever it says. Here nothing is looked up or
// executed. An object stays what the file says of it: the name of its class, its arguments and its state, an
// [Object]. [Globals] says which names a file may use and how; all others are refused, and so are the instructions
// that no pickle of data needs.
//
// Files are not trusted. Lengths are compared with what is left of the file before room is made for them; what has
// been read neither contains itself, nor nests deep, nor is a few bytes that mean billions of values, so it
// can be walked over without care. Where a file could be understood in two ways, as with a key that is there twice, it is
// refused. [Options] has the limits.
//
// The package does not know what a class means, does not read the text protocols 0 and 1, buffers outside of the file or
// arrays of objects, and does not write MessagePack.
package pyvalue
