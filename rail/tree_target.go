package rail

import "math/bits"

// firstTarget is the configuration in which the tree observation puts a train that has arrived in a cell: the first of
// its target set, NoNode if no train can be there.
//
// quirk: the reference takes the first element of a Python set, so the order is that of CPython's hash table.
func firstTarget(net *Network, cell Node) Node {
	var order [4]Node
	if all := targetOrder(order[:0], net, cell); len(all) > 0 {
		return all[0]
	}
	return NoNode
}

// targetOrder appends the configurations of a train's target in the order in which CPython 3.11 iterates over them: a set of
// all four headings is made, and from it in its order another of the valid ones.
func targetOrder(dst []Node, net *Network, cell Node) []Node {
	var all, valid targetSet
	for h := North; h <= West; h++ {
		all.add(net, cell<<2+Node(h))
	}
	for _, slot := range all {
		if n := Node(slot - 1); slot != 0 && net.rank[n] >= 0 {
			valid.add(net, n)
		}
	}
	for _, slot := range valid {
		if slot != 0 {
			dst = append(dst, Node(slot-1))
		}
	}
	return dst
}

// targetSet is a hash table of CPython's smallest size, which holds up to four elements. A slot has 1 + a node, 0 is
// free.
type targetSet [8]int64

// add puts a node that is not there yet into the table.
func (s *targetSet) add(net *Network, n Node) {
	c := net.Configuration(n)
	hash := tupleHash(tupleHash(uint64(c.Row), uint64(c.Col)), uint64(c.Heading))
	slot := hash & 7
	for perturb := hash; s[slot] != 0; {
		perturb >>= 5
		slot = (5*slot + 1 + perturb) & 7
	}
	s[slot] = int64(n) + 1
}

// tupleHash is CPython's hash of a pair, by the hashes of its elements; a small number is its own.
func tupleHash(a, b uint64) uint64 {
	const prime1, prime2, prime5 = 11400714785074694791, 14029467366897019727, 2870177450012600261
	acc := uint64(prime5)
	for _, x := range [2]uint64{a, b} {
		acc = bits.RotateLeft64(acc+x*prime2, 31) * prime1
	}
	acc += 2 ^ (prime5 ^ 3527539)
	if acc == 1<<64-1 {
		return 1546275796
	}
	return acc
}
