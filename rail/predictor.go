package rail

import (
	"fmt"
	"math"
	"math/big"
)

// Prediction is where a train will be at a moment: a row of the reference's predictions.
type Prediction struct {
	Time          int    // steps from now
	Configuration        // NoHeading once a train has arrived and was removed, where the reference has NaN
	Action        Action // that leads there, as far as the predictor says
}

// ShortestPathPredictor predicts that every train goes the shortest way at its full speed as if it were alone
// (ShortestPathPredictorForRailEnv). It is not safe for concurrent use.
type ShortestPathPredictor struct{ path []Node }

// Predict writes the next steps of a train into dst: dst[t] is the prediction for t steps from now, beginning with now.
// A prediction of the reference's max_depth has max_depth+1 rows; its default is 21. It is false, as an error is in
// the reference, if the train is nowhere, which no step leads to.
//
// The action is [StopMoving] where the train stands at the end of its way, otherwise [DoNothing].
//
// quirk: a cell takes the whole steps of 1/speed, so a train of speed 2/5 is predicted with 1/2. The way is cut off after
// max_depth cells, its first one included, and the train then stands there. Without a way it stands from the beginning.
func (p *ShortestPathPredictor) Predict(dst []Prediction, e *Env, i int) bool {
	if len(dst) == 0 {
		return true
	}
	t := &e.trains[i]
	at, running := e.start(i)
	place := Configuration{e.net.Cell(t.target), NoHeading}
	switch {
	case running:
		place = e.net.Configuration(at)
	case t.state != Done:
		return false
	case t.node != NoNode:
		place.Heading = t.node.Heading()
	}
	dst[0] = Prediction{0, place, DoNothing}
	if len(dst) == 1 {
		return true
	}
	path := e.ShortestPath(p.path[:0], i, len(dst)-1)
	if len(path) > 0 {
		p.path, path = path, path[1:]
	}
	perCell := stepsPerCell(t.maxSpeed)
	target := e.net.Cell(t.target)
	for k := 1; k < len(dst); k++ {
		if place.Cell == target || len(path) == 0 {
			dst[k] = Prediction{k, place, StopMoving}
			continue
		}
		if k%perCell == 0 {
			place, path = e.net.Configuration(path[0]), path[1:]
		}
		dst[k] = Prediction{k, place, DoNothing}
	}
	return true
}

// stepsPerCell is 1/speed without its fraction.
func stepsPerCell(speed Fraction) int {
	if speed.Sign() <= 0 {
		return math.MaxInt // the reference divides by zero here
	}
	if num, den, small := speed.Int64s(); small {
		return int(den / num)
	}
	r := speed.Rat()
	steps := new(big.Int).Quo(r.Denom(), r.Num())
	if !steps.IsInt64() {
		return math.MaxInt
	}
	return max(1, int(steps.Int64()))
}

// PredictForward writes the next steps of a train on the map into dst, as ShortestPathPredictor.Predict does, but goes
// forward, or else left, or else right, one cell in every step whatever its speed (DummyPredictorForRailEnv). ok is false,
// and dst as it was, if the train is not on the map: the reference has no prediction then. It is an error if the train cannot go
// on before it has met its target.
func (e *Env) PredictForward(dst []Prediction, i int) (ok bool, err error) {
	t := &e.trains[i]
	if !t.state.OnMap() || t.node == NoNode {
		return false, nil
	}
	n, action := t.node, DoNothing
	for k := range dst {
		switch {
		case k == 0:
		case n>>2 == t.target>>2:
			action = StopMoving
		default:
			if n, action = e.forward(n); n == NoNode {
				return false, fmt.Errorf("train %d cannot move on from %s", i, dst[k-1].Configuration)
			}
		}
		dst[k] = Prediction{k, e.net.Configuration(n), action}
	}
	return true, nil
}

func (e *Env) forward(from Node) (to Node, by Action) {
	for _, a := range [...]Action{MoveForward, MoveLeft, MoveRight} {
		if to, _ = e.net.Move(from, a); to != NoNode {
			return to, a
		}
	}
	return NoNode, DoNothing
}
