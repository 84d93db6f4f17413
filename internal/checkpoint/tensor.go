package checkpoint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// tensors are the trained values by name, in the order of the file.
type tensors []tensor

// tensor is float32 values, row after row.
type tensor struct {
	name   string
	shape  []int
	values []float32
}

// get returns a tensor by name, nil if there is none.
func (all tensors) get(name string) *tensor {
	i := slices.IndexFunc(all, func(t tensor) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// readTensors reads policy.pth: a zip of one folder, in it data.pkl, which says what each tensor is, byteorder, and the
// storages as data/0, data/1, …
func readTensors(files archive) (tensors, error) {
	weights, err := files.readFile(weightsFile, maxWeights)
	if err != nil {
		return nil, err
	}
	if weights == nil {
		return nil, invalid("the checkpoint", "it has no file %q", weightsFile)
	}
	inner, err := openArchive(bytes.NewReader(weights), int64(len(weights)), maxWeights)
	if err != nil {
		return nil, invalid(weightsFile, "%v", err)
	}
	folder, err := inner.folder()
	if err != nil {
		return nil, err
	}
	order, err := inner.readFile(folder+"byteorder", maxSmall)
	if err != nil {
		return nil, inside(err)
	}
	if order != nil && string(order) != "little" { // torch before 2.1 did not write it
		return nil, unsupported("the byte order of its tensors is %s and not little", quote(string(order)))
	}
	pickle, err := inner.readFile(folder+"data.pkl", maxPickle)
	if err != nil {
		return nil, inside(err)
	}
	stored, err := unpickle(pickle)
	if err != nil {
		return nil, invalid(weightsFile, "data.pkl: %v", err)
	}
	if len(stored) > maxTensors {
		return nil, invalid(weightsFile, "it has %d tensors, more than the %d that are read", len(stored), maxTensors)
	}
	return loadTensors(inner, folder, stored)
}

// folder returns the one folder of torch's zip, with its slash.
func (a archive) folder() (string, error) {
	found := ""
	for name := range a {
		folder, ok := strings.CutSuffix(name, "data.pkl")
		if !ok || strings.Count(folder, "/") != 1 || !strings.HasSuffix(folder, "/") {
			continue
		}
		if found != "" {
			return "", invalid(weightsFile, "it has more than one data.pkl")
		}
		found = folder
	}
	if found == "" {
		return "", invalid(weightsFile, "it is not from torch.save: it has no data.pkl")
	}
	return found, nil
}

// inside says that the file at fault is one in policy.pth.
func inside(err error) error {
	if e, ok := err.(*InvalidError); ok {
		e.Part = weightsFile + ": " + e.Part
	}
	return err
}

// loadTensors reads the values. Every storage must be one whole tensor: state dictionaries of the policies that are
// read have no views, and so each file is read once, and no more of it than its tensor needs.
func loadTensors(files archive, folder string, stored []namedTensor) (tensors, error) {
	all := make(tensors, 0, len(stored))
	left := maxValues
	storages := map[string]bool{}
	for _, s := range stored {
		if s.storage.kind != floatStorage {
			return nil, unsupported("tensor %s holds %s values and not float32", quote(s.name), s.storage.kind)
		}
		n := 1
		for _, d := range s.shape {
			// One factor is at most maxValues and the other below 2^31: the product does not overflow.
			if n *= d; n > left {
				return nil, invalid(weightsFile, "tensor %s: more than %d values in all, which is the most that is read", quote(s.name), maxValues)
			}
		}
		left -= n
		if s.offset != 0 || s.storage.values != n || storages[s.storage.key] || !contiguous(s.shape, s.strides) {
			return nil, unsupported("tensor %s of shape %v is not stored by itself, row after row", quote(s.name), s.shape)
		}
		storages[s.storage.key] = true
		t, err := loadTensor(files, folder, s, n)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func loadTensor(files archive, folder string, s namedTensor, n int) (tensor, error) {
	data, err := files.readFile(folder+"data/"+s.storage.key, 4*int64(n))
	if err != nil {
		return tensor{}, inside(err)
	}
	if len(data) != 4*n {
		return tensor{}, invalid(weightsFile, "tensor %s: its storage has %d bytes, it must have %d", quote(s.name), len(data), 4*n)
	}
	t := tensor{s.name, s.shape, make([]float32, n)}
	for i := range t.values {
		v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if v-v != 0 {
			return tensor{}, &InvalidError{weightsFile, fmt.Sprintf("tensor %s holds %v", quote(s.name), v), "its training has diverged, so take an earlier checkpoint"}
		}
		t.values[i] = v
	}
	return t, nil
}

// contiguous reports whether the strides are those of values row after row. The stride of a dimension of one, which
// is never stepped along, may be any.
func contiguous(shape, strides []int) bool {
	want := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 && strides[i] != want {
			return false
		}
		want *= max(shape[i], 1)
	}
	return true
}
