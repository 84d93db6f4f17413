package checkpoint

import (
	"errors"
	"fmt"
	"strings"

	"skyrail/internal/pyvalue"
)

// pickleVersion is the protocol in which torch writes tensors.
const pickleVersion = 2

// unpickle reads the pickle that torch.save makes of a state dictionary: a dict or an OrderedDict of tensors by name, in
// its order.
func unpickle(data []byte) ([]namedTensor, error) {
	if len(data) > 1 && data[0] == 0x80 && data[1] != pickleVersion {
		return nil, fmt.Errorf("it is pickle protocol %d; torch writes tensors in protocol %d", data[1], pickleVersion)
	}
	v, err := pyvalue.DecodePickle(data, pyvalue.Options{
		Globals: globals, Persistent: true,
		MaxBytes: maxPickle, MaxValues: maxPickle, // a value takes a byte or more
	})
	if err != nil {
		return nil, err
	}
	// An OrderedDict has a state, _metadata: the versions of the layers. They say nothing about the values.
	if o, ok := v.(*pyvalue.Object); ok && o.Class == orderedDict {
		v = o.Items
	}
	dict, ok := v.(*pyvalue.Dict)
	if !ok {
		return nil, errors.New("it does not hold one dictionary of tensors")
	}
	if dict == nil { // an OrderedDict that was given no items
		return nil, nil
	}
	var all []namedTensor
	for _, e := range dict.Entries {
		name, ok := e.Key.(pyvalue.Str)
		if !ok {
			return nil, errors.New("a key is not a text")
		}
		t, ok := e.Value.(*pyvalue.Object)
		if !ok || t.Class != rebuildTensor {
			return nil, fmt.Errorf("%s is not a tensor", quote(string(name)))
		}
		stored, err := newStoredTensor(t.Args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", quote(string(name)), err)
		}
		all = append(all, namedTensor{string(name), stored})
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
	kind   string // of the values, as in torch's class: "Float", "Long", …
	key    string // its file
	values int
}

const floatStorage = "Float"

var (
	orderedDict   = pyvalue.ClassOf("collections OrderedDict")
	rebuildTensor = pyvalue.ClassOf("torch._utils _rebuild_tensor_v2")
)

// globals is all that a pickle may name. Tensors that are not float32 are read so far that an error can say so.
var globals = pyvalue.Globals{
	orderedDict:                             {Call: []int{0}, Items: true, State: pyvalue.DictState},
	rebuildTensor:                           {Call: []int{6, 7}},
	{Module: "torch", Name: "FloatStorage"}: {}, {Module: "torch", Name: "DoubleStorage"}: {},
	{Module: "torch", Name: "HalfStorage"}: {}, {Module: "torch", Name: "BFloat16Storage"}: {},
	{Module: "torch", Name: "LongStorage"}: {}, {Module: "torch", Name: "IntStorage"}: {},
	{Module: "torch", Name: "ShortStorage"}: {}, {Module: "torch", Name: "CharStorage"}: {},
	{Module: "torch", Name: "ByteStorage"}: {}, {Module: "torch", Name: "BoolStorage"}: {},
}

// newStoredTensor takes storage, offset, size, strides, requires_grad, backward hooks and, since torch 2, metadata.
func newStoredTensor(args []pyvalue.Value) (*storedTensor, error) {
	s, err := newStorage(args[0])
	if err != nil {
		return nil, err
	}
	offset, okOffset := args[1].(pyvalue.Int)
	shape, okShape := wholes(args[2])
	strides, okStrides := wholes(args[3])
	if !okOffset || !okShape || !okStrides || len(shape) != len(strides) {
		return nil, errors.New("a tensor has arguments of the wrong kind")
	}
	return &storedTensor{s, int(offset), shape, strides}, nil
}

// wholes returns a short tuple of whole numbers that are not negative. Short, because a pickle can refer to one tuple
// many times, and each is a copy.
func wholes(v pyvalue.Value) ([]int, bool) {
	const most = 8
	t, ok := v.(*pyvalue.Tuple)
	if !ok || len(t.Items) > most {
		return nil, false
	}
	all := make([]int, len(t.Items))
	for i, v := range t.Items {
		n, ok := v.(pyvalue.Int)
		if !ok || n < 0 || n > maxSize {
			return nil, false
		}
		all[i] = int(n)
	}
	return all, true
}

// maxSize bounds a dimension, so that two of them can be multiplied.
const maxSize = 1<<31 - 1

// newStorage takes the reference ("storage", class, file, device, values).
func newStorage(v pyvalue.Value) (storage, error) {
	p, ok := v.(pyvalue.Persistent)
	if !ok {
		return storage{}, errors.New("a tensor has no storage")
	}
	id, ok := p.ID.(*pyvalue.Tuple)
	if !ok || len(id.Items) != 5 || id.Items[0] != pyvalue.Str("storage") {
		return storage{}, errors.New("a reference is not to a storage")
	}
	class, okClass := id.Items[1].(pyvalue.Class)
	kind, okKind := strings.CutSuffix(class.Name, "Storage")
	key, okKey := id.Items[2].(pyvalue.Str)
	values, okValues := id.Items[4].(pyvalue.Int)
	if !okClass || !okKind || !okKey || !okValues || values < 0 || values > maxSize {
		return storage{}, errors.New("a reference to a storage is malformed")
	}
	return storage{kind, string(key), int(values)}, nil
}
