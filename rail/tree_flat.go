package rail

import "math"

// The flattened tree has three blocks, each over all nodes: the six distances along the way, the one to the target, and
// the five features of trains.
const (
	wayFeatures   = int(TreeTargetDistance)
	trainFeatures = TreeFeatures - wayFeatures - 1
)

// Flatten writes the tree as flatland-rl's FlattenedTreeObsForRailEnv does, into dst with room for as many values: for
// all nodes in pre-order their features up to [TreeNextBranch], then for all nodes [TreeTargetDistance], then for all nodes
// the rest. A missing node is -Inf in all three. The reference has none for depth 0.
func (t Tree) Flatten(dst []float64) {
	nodes := len(t.Values) / TreeFeatures
	ways, targets, trains := blocks(dst, nodes)
	for k := 0; k < nodes; k++ {
		if first := k; math.IsInf(t.Values[TreeFeatures*k], -1) {
			for k++; k < nodes && math.IsInf(t.Values[TreeFeatures*k], -1); k++ {
			}
			nothing := t.Values[TreeFeatures*first : TreeFeatures*k]
			copy(ways[wayFeatures*first:wayFeatures*k], nothing)
			copy(targets[first:k], nothing)
			copy(trains[trainFeatures*first:trainFeatures*k], nothing)
			if k == nodes {
				return
			}
		}
		n := (*[TreeFeatures]float64)(t.Values[TreeFeatures*k:])
		*(*[wayFeatures]float64)(ways[wayFeatures*k:]) = *(*[wayFeatures]float64)(n[:])
		targets[k] = n[TreeTargetDistance]
		*(*[trainFeatures]float64)(trains[trainFeatures*k:]) = *(*[trainFeatures]float64)(n[TreeSameDirection:])
	}
}

func blocks(flat []float64, nodes int) (ways, targets, trains []float64) {
	a, b := wayFeatures*nodes, (wayFeatures+1)*nodes
	return flat[:a], flat[a:b], flat[b : TreeFeatures*nodes]
}

// FlattenNormalized writes the tree as flatland-rl's FlattenedNormalizedTreeObsForRailEnv does: flattened, and each block
// brought to [-1, 1]. Distances along the way are divided by radius, in cells, the reference's default being 2, or by the
// largest of them below 1000 plus 1 if radius is not above 0; the distance to the target goes from the smallest in the
// tree to the largest plus 1; the rest is cut off. A missing node is -1, what is not met 1.
func (t Tree) FlattenNormalized(dst []float64, radius float64) {
	nodes := len(t.Values) / TreeFeatures
	ways, targets, trains := blocks(dst, nodes)
	if !(radius > 0) {
		radius = 1
		for k := range nodes {
			for _, x := range t.Values[TreeFeatures*k:][:wayFeatures] {
				radius = larger(radius, x)
			}
		}
		radius++
	}
	low, high := math.Inf(1), 1.0
	for k := int(TreeTargetDistance); k < len(t.Values); k += TreeFeatures {
		x := t.Values[k]
		if x >= 0 && x < low {
			low = x
		}
		high = larger(high, x)
	}
	high++
	if low >= high {
		low = 0
	}
	for k := range nodes {
		n := (*[TreeFeatures]float64)(t.Values[TreeFeatures*k:])
		way := (*[wayFeatures]float64)(ways[wayFeatures*k:])
		train := (*[trainFeatures]float64)(trains[trainFeatures*k:])
		if math.IsInf(n[0], -1) {
			*way, targets[k], *train = nothingThere, -1, [trainFeatures]float64(nothingThere[:])
			continue
		}
		for f := range way {
			if x := n[f]; x >= radius { // as almost all are, so that nothing is divided
				way[f] = 1
			} else {
				way[f] = clip(x / radius)
			}
		}
		targets[k] = clip((n[TreeTargetDistance] - low) / (high - low))
		for f := range train {
			train[f] = clip(n[int(TreeSameDirection)+f])
		}
	}
}

// nothingThere is the normalised form of a missing node.
var nothingThere = [wayFeatures]float64{-1, -1, -1, -1, -1, -1}

// larger is the larger of two numbers, unless the other one is 1000 or more.
func larger(most, x float64) float64 {
	if x < 1000 && x > most {
		return x
	}
	return most
}

func clip(x float64) float64 {
	switch {
	case x > 1:
		return 1
	case x < -1:
		return -1
	}
	return x
}
