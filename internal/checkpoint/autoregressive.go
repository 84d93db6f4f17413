package checkpoint

import (
	"fmt"
	"slices"

	"skyrail/flight/agent"
	"skyrail/internal/elementary"
)

// autoregressive is the challenge's own policy: one small network reads every aircraft; heads then say which aircraft
// to talk to, or none, and what to tell it.
type autoregressive struct {
	flights, features, globals, clearances int
	width                                  int // of an aircraft's embedding

	encode1, encode2 linear
	idle             head
	aircraft         pairHead
	clearance        pairHead
}

// head is two layers with a ReLU between.
type head struct{ hidden, out linear }

// pairHead is a head on an aircraft's embedding and the context. The context, which is the larger part, is the same for
// every aircraft, so its share of the first layer is computed once.
type pairHead struct{ onEach, onContext, out linear }

// autoregressivePolicy is the name of the class; teams import it from a module of theirs.
const autoregressivePolicy = "AutoregressivePolicy"

var autoregressiveLayers = []string{
	"encoder.per_flight.0", "encoder.per_flight.2", "aircraft_head.0", "aircraft_head.2", "clearance_head.0", "clearance_head.2",
	"idle_head.0", "idle_head.2", "value_net_.0", "value_net_.2",
}

// isAutoregressive reports whether the tensors are those of the challenge's policy, and no other.
func isAutoregressive(all tensors) bool {
	if len(all) != 2*len(autoregressiveLayers) {
		return false
	}
	for _, l := range autoregressiveLayers {
		if all.get(l+".weight") == nil || all.get(l+".bias") == nil {
			return false
		}
	}
	return true
}

func newAutoregressive(a about, all tensors) (network, error) {
	switch {
	case a.algorithm != "PPO" && a.algorithm != "A2C":
		return nil, unsupported("only PPO and A2C are read with %s", autoregressivePolicy)
	case !isAutoregressive(all):
		return nil, unsupported("its tensors are not those of the challenge's %s", autoregressivePolicy)
	}
	layers := map[string]linear{}
	for _, name := range autoregressiveLayers {
		l, err := newLinear(all, name)
		if err != nil {
			return nil, err
		}
		layers[name] = l
	}
	n := &autoregressive{encode1: layers["encoder.per_flight.0"], encode2: layers["encoder.per_flight.2"]}
	n.features, n.width = n.encode1.in, n.encode2.out
	context := layers["idle_head.0"].in
	n.globals = context - 2*n.width
	n.clearances = layers["clearance_head.2"].out

	fits := func(name string, in, out int) error {
		if l := layers[name]; l.in != in || l.out != out {
			return invalid(weightsFile, "layer %s is %d to %d, it must be %d to %d", name, l.in, l.out, in, out)
		}
		return nil
	}
	each := n.width + context
	for _, err := range []error{
		fits("encoder.per_flight.2", n.encode1.out, n.width),
		fits("aircraft_head.0", each, layers["aircraft_head.0"].out),
		fits("aircraft_head.2", layers["aircraft_head.0"].out, 1),
		fits("clearance_head.0", each, layers["clearance_head.0"].out),
		fits("clearance_head.2", layers["clearance_head.0"].out, n.clearances),
		fits("idle_head.2", layers["idle_head.0"].out, 1),
	} {
		if err != nil {
			return nil, err
		}
	}
	n.flights = (a.observation - n.globals - 1) / (n.features + n.clearances)
	observation := n.flights*(n.features+n.clearances) + n.globals + 1
	if n.globals < 0 || n.flights < 1 || observation != a.observation || 1+n.flights*n.clearances != a.actions {
		return nil, invalid(weightsFile, "%d features, %d globals and %d clearances do not make %d observation values and %d actions",
			n.features, n.globals, n.clearances, a.observation, a.actions)
	}
	n.idle = head{layers["idle_head.0"], layers["idle_head.2"]}
	n.aircraft = newPairHead(layers["aircraft_head.0"], layers["aircraft_head.2"], n.width)
	n.clearance = newPairHead(layers["clearance_head.0"], layers["clearance_head.2"], n.width)
	return n, nil
}

func newPairHead(hidden, out linear, width int) pairHead {
	onContext := hidden.columns(width, hidden.in)
	copy(onContext.bias, hidden.bias)
	return pairHead{hidden.columns(0, width), onContext, out}
}

func (n *autoregressive) shape() string {
	return fmt.Sprintf("autoregressive, %d flights, hidden %d", n.flights, n.width)
}

func (n *autoregressive) agent(a about) agent.Agent {
	hidden := max(n.encode1.out, n.idle.hidden.out, n.aircraft.out.in, n.clearance.out.in)
	return &autoregressiveRun{
		autoregressive: n,
		each:           make([]float64, n.flights*n.width),
		context:        make([]float64, 2*n.width+n.globals),
		hidden:         make([]float64, hidden),
		shared:         make([]float64, hidden),
		who:            make([]float64, 1+n.flights),
		what:           make([]float64, n.flights*n.clearances),
		chances:        chances{make([]float64, a.actions)},
		input:          make([]float64, n.features),
	}
}

// autoregressiveRun is the network with the memory for one observation at a time.
type autoregressiveRun struct {
	*autoregressive
	input   []float64 // features of an aircraft
	each    []float64 // embeddings, one after the other
	context []float64 // mean and maximum of them, then the globals
	hidden  []float64
	shared  []float64 // the context's share of a hidden layer
	who     []float64 // idle, then the aircraft
	what    []float64 // clearances, aircraft after aircraft
	chances chances
}

// Reset does nothing.
func (*autoregressiveRun) Reset() {}

// Act returns the most probable pair of aircraft and clearance, or idling.
func (r *autoregressiveRun) Act(obs []float32) int { return r.decide(obs).best() }

// Probabilities writes p(idle) and p(aircraft) p(clearance | aircraft).
func (r *autoregressiveRun) Probabilities(obs []float32, p []float64) { r.decide(obs).write(p) }

// decide goes through the network in the order of the policy's Python.
func (r *autoregressiveRun) decide(obs []float32) *chances {
	for i := range r.flights {
		r.embed(obs[i*r.features:(i+1)*r.features], r.each[i*r.width:(i+1)*r.width])
	}
	r.gather(obs[r.flights*r.features:])
	mask := obs[r.flights*r.features+r.globals+1:]

	r.idle.hidden.apply(r.context, r.hidden, relu)
	r.idle.out.apply(r.hidden, r.who[:1], identity)
	r.run(r.aircraft, r.who[1:])
	r.run(r.clearance, r.what)
	for i := range r.flights {
		legal := mask[i*r.clearances : (i+1)*r.clearances]
		what := r.what[i*r.clearances : (i+1)*r.clearances]
		for c, m := range legal {
			if !(m > 0.5) {
				what[c] = illegal
			}
		}
		if !slices.ContainsFunc(legal, func(m float32) bool { return m > 0.5 }) {
			r.who[1+i] = illegal
		}
		logSoftmax(what)
	}
	logSoftmax(r.who)

	// The policy ranks actions by the float32 logarithm of their probability. The exponential of one keeps the rank.
	r.chances.p[0] = elementary.Exp(r.who[0])
	for i, w := range r.what {
		r.chances.p[1+i] = elementary.Exp(round(r.who[1+i/r.clearances] + w))
	}
	return &r.chances
}

// embed reads one aircraft.
func (r *autoregressiveRun) embed(features []float32, embedding []float64) {
	for i, v := range features {
		r.input[i] = float64(v)
	}
	r.encode1.apply(r.input, r.hidden, relu)
	r.encode2.apply(r.hidden, embedding, relu)
}

// gather makes the context of the embeddings and of the globals, with which rest begins.
func (r *autoregressiveRun) gather(rest []float32) {
	mean, top := r.context[:r.width], r.context[r.width:2*r.width]
	for j := range r.width {
		var sum float64
		best := r.each[j]
		for i := range r.flights {
			v := r.each[i*r.width+j]
			sum += v
			best = max(best, v)
		}
		mean[j], top[j] = round(sum/float64(r.flights)), best
	}
	for i := range r.globals {
		r.context[2*r.width+i] = float64(rest[i])
	}
}

// run applies a head to every aircraft and the context; the answers follow each other in out.
func (r *autoregressiveRun) run(h pairHead, out []float64) {
	shared, hidden := r.shared[:h.onEach.out], r.hidden[:h.onEach.out]
	h.onContext.sums(r.context, shared)
	for i := range r.flights {
		h.onEach.sums(r.each[i*r.width:(i+1)*r.width], hidden)
		for j, s := range shared {
			hidden[j] = relu(round(hidden[j] + s))
		}
		h.out.apply(hidden, out[i*h.out.out:(i+1)*h.out.out], identity)
	}
}
