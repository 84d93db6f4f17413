package rail

import "testing"

// The heading that CPython 3.11 finds first in set(set of all four) of the cells of 16 rows of 16, row by row.
const firstOfFour = "2001330033022331001300030012000010000200110003001220010022301120300100223302301201300120001300100012000300110003100022301100233012200300223013300003001200033001022001120023001323011001330220023000230033002330033003000200023012200220113313301233011002330110"

// The same of the cells of 8 rows of 8, for each the sets of valid headings 3, 5, 7, 11, 13, 14 and 9 (bit 0 is north).
const firstOfSome = "0223223000001000000101211213000333300033330000010000001000000100000010121121300033330000010000001000000100003333121121300000100000010000001000000100223223000001000000101211213022322302232230000010000001012112130000010000001000033330000010000001012112130000010000001002232230223223000001012112130003333000001000000101211213022322300000100000010000001012112130223223000001000000100000010000333312112130000010000001000000100223223022322300033330000010"

// gridFor is a network of cells in which a train can be with the headings of a mask.
func gridFor(t *testing.T, width, height int, mask uint8) *Network {
	t.Helper()
	cells := make([]Transitions, width*height)
	for h := North; h <= West; h++ {
		for c := range cells {
			cells[c] |= Transitions(mask>>h&1) << (15 - 4*h)
		}
	}
	net, err := NewNetwork(width, height, cells)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// TestTargetOrderQuirkIsCPythons compares with the order of the real sets.
func TestTargetOrderQuirkIsCPythons(t *testing.T) {
	all := gridFor(t, 16, 16, 15)
	for cell := range Node(16 * 16) {
		if got, want := firstTarget(all, cell).Heading(), Heading(firstOfFour[cell]-'0'); got != want {
			t.Errorf("cell %s: got %s, want %s", all.Cell(cell<<2), got, want)
		}
	}
	masks := []uint8{3, 5, 7, 11, 13, 14, 9}
	for k, mask := range masks {
		net := gridFor(t, 8, 8, mask)
		for cell := range Node(8 * 8) {
			if got, want := firstTarget(net, cell).Heading(), Heading(firstOfSome[int(cell)*len(masks)+k]-'0'); got != want {
				t.Errorf("cell %s with headings %b: got %s, want %s", net.Cell(cell<<2), mask, got, want)
			}
		}
	}
	if got := firstTarget(gridFor(t, 1, 1, 0), 0); got != NoNode {
		t.Errorf("got %d in a cell where no train can be, want none", got)
	}
}

// TestTargetOrderQuirkOfALargeGrid compares a whole order.
func TestTargetOrderQuirkOfALargeGrid(t *testing.T) {
	net := gridFor(t, 5, 1001, 15)
	var got [4]Heading
	for k, n := range targetOrder(nil, net, net.Node(Configuration{Cell{1000, 3}, North})>>2) {
		got[k] = n.Heading()
	}
	if want := [4]Heading{East, South, West, North}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
