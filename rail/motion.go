package rail

// A resource is what one train holds at a time: a cell, or one axis of a bridge. As a number it is twice the cell,
// plus 1 for the east-west axis of a bridge; noResource stands for the place off the map that every train has of its
// own.
type resource int32

const noResource resource = -1

func (e *Env) resource(n Node) resource {
	if n == NoNode {
		return noResource
	}
	r := resource(n>>2) * 2
	if e.levelFree != nil && e.levelFree[n>>2] {
		r += resource(n & 1)
	}
	return r
}

// motion finds who may move. It keeps, for every resource, its holders and the first train that wants to come; the
// entries touched in a step are cleared at its end, so nothing is proportional to the grid.
type motion struct {
	from, to []resource // of each train
	blocked  []bool     // must keep its place
	headOn   []bool     // wants to change places with another
	holder   []int32    // of each resource 1 + its last holder, or 0
	below    []int32    // of each train 1 + the holder of the same resource before it, or 0
	first    []int32    // of each resource 1 + the mover of lowest handle that wants it, or 0
}

func newMotion(net *Network, trains int) motion {
	return motion{
		from:    make([]resource, trains),
		to:      make([]resource, trains),
		blocked: make([]bool, trains),
		headOn:  make([]bool, trains),
		holder:  make([]int32, 2*net.width*net.height),
		below:   make([]int32, trains),
		first:   make([]int32, 2*net.width*net.height),
	}
}

// resolve sets blocked for every train that has to keep its place. It is the smallest set with these rules:
//
//   - a train that wants to stay is blocked;
//   - of those that want to come to the same place all but the lowest handle are blocked: nothing else gives priority;
//   - two trains that want to change places are blocked;
//   - who wants the place of a blocked train is blocked.
//
// So a chain of followers moves if its first train does, and a ring of three or more turns.
func (m *motion) resolve() {
	for i := range m.from {
		from, to := m.from[i], m.to[i]
		m.blocked[i], m.headOn[i] = from == to, false
		if from != noResource {
			m.below[i] = m.holder[from]
			m.holder[from] = int32(i + 1)
		}
		if from != to && to != noResource {
			if m.first[to] == 0 {
				m.first[to] = int32(i + 1)
			} else {
				m.blocked[i] = true
			}
		}
	}
	for i := range m.from {
		from, to := m.from[i], m.to[i]
		if from == noResource || to == noResource || from == to {
			continue
		}
		for j := m.holder[to]; j > 0; j = m.below[j-1] {
			if m.to[j-1] == from {
				m.blocked[i], m.headOn[i] = true, true
			}
		}
	}
	for i := range m.from {
		if m.blocked[i] {
			m.blockFollowers(i)
		}
	}
	m.clear()
}

// blockFollowers blocks the train that wants the place of a blocked one, the one that wants that one's, and so on.
// Those of higher handle that want the same places are blocked already.
func (m *motion) blockFollowers(i int) {
	for {
		from := m.from[i]
		if from == noResource {
			return
		}
		j := m.first[from] - 1
		if j < 0 || m.blocked[j] {
			return
		}
		m.blocked[j] = true
		i = int(j)
	}
}

func (m *motion) clear() {
	for i := range m.from {
		if m.from[i] != noResource {
			m.holder[m.from[i]] = 0
		}
		if m.to[i] != noResource {
			m.first[m.to[i]] = 0
		}
	}
}
