package checkpoint

import "strings"

// linear is a layer y = Wx + b. Weights and inputs are float32 values held as float64: then a product is exact, and a
// sum good to 2^-50 or so.
type linear struct {
	in, out int
	weights []float64 // row after row
	bias    []float64
}

// newLinear takes NAME.weight and NAME.bias.
func newLinear(all tensors, name string) (linear, error) {
	w, b := all.get(name+".weight"), all.get(name+".bias")
	if w == nil || b == nil {
		return linear{}, invalid(weightsFile, "layer %s lacks its weight or its bias", name)
	}
	if len(w.shape) != 2 || len(b.shape) != 1 || w.shape[0] != b.shape[0] || len(w.values) == 0 {
		return linear{}, invalid(weightsFile, "layer %s has a weight of shape %v and a bias of shape %v", name, w.shape, b.shape)
	}
	return linear{w.shape[1], w.shape[0], widen(w.values), widen(b.values)}, nil
}

func widen(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}

// columns returns the layer for a part of its input, without bias.
func (l linear) columns(from, to int) linear {
	part := linear{to - from, l.out, make([]float64, 0, (to-from)*l.out), make([]float64, l.out)}
	for i := range l.out {
		part.weights = append(part.weights, l.weights[i*l.in+from:i*l.in+to]...)
	}
	return part
}

// sums writes Wx + b, not rounded, into y. The order of the sum is the same on every platform: four rows side by side
// make it fast, and each goes from left to right.
func (l linear) sums(x, y []float64) {
	x = x[:l.in]
	i := 0
	for ; i+4 <= l.out; i += 4 {
		rows := l.weights[i*l.in:]
		w0, w1 := rows[:len(x)], rows[l.in:][:len(x)]
		w2, w3 := rows[2*l.in:][:len(x)], rows[3*l.in:][:len(x)]
		var s0, s1, s2, s3 float64
		for j, v := range x {
			s0 += float64(w0[j] * v)
			s1 += float64(w1[j] * v)
			s2 += float64(w2[j] * v)
			s3 += float64(w3[j] * v)
		}
		y[i], y[i+1], y[i+2], y[i+3] = s0+l.bias[i], s1+l.bias[i+1], s2+l.bias[i+2], s3+l.bias[i+3]
	}
	for ; i < l.out; i++ {
		w := l.weights[i*l.in:][:len(x)]
		var s float64
		for j, v := range x {
			s += float64(w[j] * v)
		}
		y[i] = s + l.bias[i]
	}
}

// apply writes f(Wx + b) into y, rounded to float32 after each of the two.
func (l linear) apply(x, y []float64, f func(float64) float64) {
	l.sums(x, y)
	for i, v := range y[:l.out] {
		y[i] = round(f(round(v)))
	}
}

// round gives the float32 nearest to x.
func round(x float64) float64 { return float64(float32(x)) }

// layersOf returns the names of the tensors' layers that begin with prefix, in the order of the file; a tensor NAME.weight
// or NAME.bias belongs to layer NAME.
func (all tensors) layersOf(prefix string) []string {
	var names []string
	for _, t := range all {
		layer := strings.TrimSuffix(strings.TrimSuffix(t.name, ".weight"), ".bias")
		if strings.HasPrefix(layer, prefix) && (len(names) == 0 || names[len(names)-1] != layer) {
			names = append(names, layer)
		}
	}
	return names
}
