package rail

// plan is what the engine looks up in a timetable, in its own numbers. It does not change and may be shared.
type plan struct {
	targetOf []int32 // of each train its target
	targets  []Node  // the different target cells

	platforms []platform // of all trains, each train's together
	first     []int32    // of each train its first platform; one more entry at the end
	stops     [][]stop   // of each train its intermediate stops
	waypoints [][]Node   // of each train the configurations of all its stops
}

// platform is a configuration in which a train may serve one of its intermediate stops, or several.
type platform = Node

// stop is an intermediate stop.
type stop struct {
	platforms         []int32 // in the order of its alternatives, each once
	latest, departure int
}

func newPlan(s *Scenario, net *Network) *plan {
	p := &plan{
		targetOf:  make([]int32, len(s.Trains)),
		first:     make([]int32, 1, len(s.Trains)+1),
		stops:     make([][]stop, len(s.Trains)),
		waypoints: make([][]Node, len(s.Trains)),
	}
	known := make(map[Node]int32)
	for i := range s.Trains {
		t := &s.Trains[i]
		target := net.Node(Configuration{t.Target, North})
		k, ok := known[target]
		if !ok {
			k = int32(len(p.targets))
			known[target] = k
			p.targets = append(p.targets, target)
		}
		p.targetOf[i] = k

		for _, entry := range t.Stops {
			for _, a := range entry.Alternatives {
				if n := net.Node(a); n != NoNode {
					p.waypoints[i] = append(p.waypoints[i], n)
				}
			}
		}
		for _, entry := range t.Intermediate() {
			st := stop{latest: entry.LatestArrival.Step, departure: entry.EarliestDeparture.Step}
			for _, a := range entry.Alternatives {
				if n := net.Node(a); n != NoNode { // without a heading none is ever reached
					st.add(p.platform(i, n))
				}
			}
			p.stops[i] = append(p.stops[i], st)
		}
		p.first = append(p.first, int32(len(p.platforms)))
	}
	return p
}

func (s *stop) add(platform int32) {
	for _, k := range s.platforms {
		if k == platform {
			return
		}
	}
	s.platforms = append(s.platforms, platform)
}

// platform returns the index of a platform of the train that is being added.
func (p *plan) platform(i int, n Node) int32 {
	if k := p.at(i, n, int32(len(p.platforms))); k >= 0 {
		return k
	}
	p.platforms = append(p.platforms, n)
	return int32(len(p.platforms) - 1)
}

// at returns the index of train i's platform in a configuration, -1 if there is none.
func (p *plan) at(i int, n Node, end int32) int32 {
	for k := p.first[i]; k < end; k++ {
		if p.platforms[k] == n {
			return k
		}
	}
	return -1
}

func (p *plan) isWaypoint(i int, n Node) bool {
	for _, w := range p.waypoints[i] {
		if w == n {
			return true
		}
	}
	return false
}
