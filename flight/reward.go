package flight

import (
	"math"
	"slices"
)

// reward returns the reward of the step just flown, in which issued clearances (0 or 1) were given.
func (e *Env) reward(issued int) float64 {
	e.look()
	c := &e.cfg
	r := -(float64(c.WSafe*e.outlook.severity) +
		float64(c.WSafe/float64(len(e.flights))*Sum(e.outlook.deviation)) +
		float64(c.WClearance*float64(issued)))
	if e.collided {
		r -= float64(c.CollisionRate * c.WSafe * float64(max(c.MaxSteps-e.step, 0)))
	}
	return r
}

// ExitMiss returns the mean over the aircraft of |dt|/(H*DT) + |level deviation|, as of now.
func (e *Env) ExitMiss() float64 {
	return Sum(e.misses()) / float64(len(e.flights))
}

// MaxExitMiss returns the largest miss of a single aircraft.
func (e *Env) MaxExitMiss() float64 {
	return slices.Max(e.misses())
}

// misses is that of each aircraft.
func (e *Env) misses() []float64 {
	e.lookAtExits()
	unit := float64(e.cfg.HoldSteps) * DT
	views := e.outlook.views
	miss := e.outlook.miss[:len(views)]
	for i := range views {
		miss[i] = math.Abs(views[i].dt/unit) + views[i].levels
	}
	return miss
}

// Sum adds as NumPy's add.reduce does on a contiguous array: fewer than 8 values from left to right, up to
// 128 in eight interleaved partial sums, more by halves. A mean of the reference is Sum divided by the
// count.
func Sum(v []float64) float64 {
	n := len(v)
	switch {
	case n < 8:
		s := 0.0
		for _, x := range v {
			s += x
		}
		return s
	case n <= 128:
		acc := [8]float64(v[:8])
		i := 8
		for ; i+8 <= n; i += 8 {
			for k := range acc {
				acc[k] += v[i+k]
			}
		}
		s := ((acc[0] + acc[1]) + (acc[2] + acc[3])) + ((acc[4] + acc[5]) + (acc[6] + acc[7]))
		for ; i < n; i++ {
			s += v[i]
		}
		return s
	default:
		half := n / 2
		half -= half % 8
		return Sum(v[:half]) + Sum(v[half:])
	}
}
