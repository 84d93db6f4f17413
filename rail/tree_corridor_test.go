package rail

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCorridorsAreWalks asks for the corridors of random networks in random order and compares each with a walk cell by
// cell, which knows nothing of the others.
func TestCorridorsAreWalks(t *testing.T) {
	circled := 0
	for range 50 { // most hundreds of networks have a circle
		checkCorridors(t, &circled)
		if circled > 0 {
			return
		}
	}
	t.Error("no corridor ran in a circle")
}

func checkCorridors(t *testing.T, circled *int) {
	rapid.Check(t, func(t *rapid.T) {
		const width, height = 4, 4
		// Straight tracks, curves, a switch, a dead end, a crossing, nothing, and what no generator makes.
		pieces := []Transitions{0x8020, 0x0401, 0x4800 >> 1, 0x0120, 0x1200, 0x4008, 0x0048, 0x9220, 0x2000, DiamondCrossing, 0}
		grid := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.Map(rapid.Uint16(), func(v uint16) Transitions { return Transitions(v) })),
			width*height, width*height).Draw(t, "grid")
		net, err := NewNetwork(width, height, grid)
		if err != nil {
			t.Fatal(err)
		}
		c := newCorridors(net)
		for _, n := range rapid.Permutation(allNodes(net)).Draw(t, "order") {
			got, want := c.way(n), walkCorridor(net, n)
			if got != want {
				t.Fatalf("from %v: got %+v, want %+v", net.Configuration(n), got, want)
			}
			if got.end == circles {
				*circled++
			}
			if at := n; net.rank[n] >= 0 {
				for range got.cells - 1 {
					at = c.next[at]
				}
				if at != got.last {
					t.Fatalf("from %v: %d cells on is %v, want %v", net.Configuration(n), got.cells, net.Configuration(at), net.Configuration(got.last))
				}
			}
		}
	})
}

func allNodes(net *Network) []Node {
	var nodes []Node
	for n := range Node(4 * len(net.grid)) {
		nodes = append(nodes, n)
	}
	return nodes
}

// walkCorridor is the corridor from a node, found by walking until there is a choice, no way on, or a place seen before.
func walkCorridor(net *Network, n Node) corridor {
	single := corridors{net: net}
	way := corridor{unusable: notMet}
	seen := map[Node]bool{}
	for {
		next, here := single.begin(n)
		if here.unusable == 0 && way.unusable == notMet {
			way.unusable = way.cells
		}
		way.last, way.end = n, here.end
		way.cells++
		if seen[n] {
			way.end = circles
			return way
		}
		seen[n] = true
		if next == NoNode {
			return way
		}
		n = next
	}
}
