package generate

import "math/bits"

// argsort returns the indices that sort values, with equal ones in the order in which NumPy's default sort leaves them:
// introsort on the indices, as in its portable code. That order is part of the railway, since cities can be equally far.
//
// quirk: on a CPU with AVX-512, NumPy from 1.25 on may order equal values in another way, and the reference then lays
// other tracks.
func argsort(values []int) []int {
	s := sorter{values, make([]int, len(values))}
	for i := range s.index {
		s.index[i] = i
	}
	if len(values) > 1 {
		s.sort(0, len(values)-1, 2*(bits.Len(uint(len(values)))-1))
	}
	return s.index
}

type sorter struct{ values, index []int }

// less compares the values of two indices.
func (s *sorter) less(a, b int) bool { return s.values[a] < s.values[b] }

// order swaps the indices at a and b if the value at b is the smaller.
func (s *sorter) order(a, b int) {
	if s.less(s.index[b], s.index[a]) {
		s.index[a], s.index[b] = s.index[b], s.index[a]
	}
}

// smallRange is the length up to which a range is sorted by insertion.
const smallRange = 16

// sort sorts the indices at lo to hi, the larger part of each range with one division less to go.
func (s *sorter) sort(lo, hi, depth int) {
	if depth < 0 {
		s.heapSort(lo, hi)
		return
	}
	for hi-lo >= smallRange {
		mid := lo + (hi-lo)/2
		s.order(lo, mid)
		s.order(mid, hi)
		s.order(lo, mid)
		pivot := s.index[mid]
		s.index[mid], s.index[hi-1] = s.index[hi-1], s.index[mid]
		i, j := lo, hi-1
		for {
			for i++; s.less(s.index[i], pivot); i++ {
			}
			for j--; s.less(pivot, s.index[j]); j-- {
			}
			if i >= j {
				break
			}
			s.index[i], s.index[j] = s.index[j], s.index[i]
		}
		s.index[i], s.index[hi-1] = s.index[hi-1], s.index[i]
		depth--
		if i-lo < hi-i {
			s.sort(i+1, hi, depth)
			hi = i - 1
		} else {
			s.sort(lo, i-1, depth)
			lo = i + 1
		}
	}
	for k := lo + 1; k <= hi; k++ {
		moved, at := s.index[k], k
		for ; at > lo && s.less(moved, s.index[at-1]); at-- {
			s.index[at] = s.index[at-1]
		}
		s.index[at] = moved
	}
}

// heapSort is the way out of a range that quicksort divides badly.
func (s *sorter) heapSort(lo, hi int) {
	heap := s.index[lo : hi+1]
	sink := func(root, n int) {
		moved := heap[root]
		for child := 2*root + 1; child < n; child = 2*root + 1 {
			if child+1 < n && s.less(heap[child], heap[child+1]) {
				child++
			}
			if !s.less(moved, heap[child]) {
				break
			}
			heap[root], root = heap[child], child
		}
		heap[root] = moved
	}
	for root := len(heap)/2 - 1; root >= 0; root-- {
		sink(root, len(heap))
	}
	for n := len(heap) - 1; n > 0; n-- {
		heap[0], heap[n] = heap[n], heap[0]
		sink(0, n)
	}
}
