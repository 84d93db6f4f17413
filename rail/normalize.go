package rail

// Tally adds up the rewards of an episode, step by step, for its score.
type Tally struct {
	rewards Rewards
	trains  int
	limit   int
	totals  []float64
	values  []float64 // of a single train, in the order of the steps
	capped  float64   // of components: the sum of all rewards, each cut off below
}

// NewTally begins to add up the rewards of a function for an environment's trains.
func NewTally(e *Env, function int) *Tally {
	r := e.functions[function]
	return &Tally{rewards: r, trains: len(e.trains), limit: e.MaxEpisodeSteps(), totals: make([]float64, r.Width()*len(e.trains))}
}

// Add takes in the rewards of a step, as [Env.Rewards] gives them.
func (t *Tally) Add(step []float64) {
	for k, v := range step {
		t.totals[k] += v
	}
	switch {
	case t.rewards.Kind == ScalarReward && t.trains == 1:
		t.values = append(t.values, step...)
	case t.rewards.Kind == ComponentReward:
		for i := range t.trains {
			p := parts(step[Components*i : Components*(i+1)])
			t.capped += max(p.sum(), -float64(t.limit))
		}
	}
}

// Totals are the rewards of the episode so far: for each train, by handle, as many as the function is wide. They must
// not be changed.
func (t *Tally) Totals() []float64 { return t.totals }

// Normalized is the normalised reward; ok is false for functions that have none, and without a limit of steps or
// trains.
//
// quirk: rewards of components are cut off one by one, and not the total of a train.
func (t *Tally) Normalized() (v float64, ok bool) {
	if t.limit <= 0 || t.trains == 0 {
		return 0, false
	}
	switch t.rewards.Kind {
	case ScalarReward:
		totals := t.totals
		if t.trains == 1 {
			totals = []float64{pairwise(t.values)}
		}
		return NormalizeTotals(totals, t.limit), true
	case ComponentReward:
		return t.capped/float64(t.limit*t.trains) + 1, true
	}
	return 0, false
}

// NormalizeTotals is the normalised reward of an episode from each train's total: 1 plus the mean of the totals, each
// at least -maxEpisodeSteps, as a share of maxEpisodeSteps. 1 is perfect, 0 is the worst.
func NormalizeTotals(totals []float64, maxEpisodeSteps int) float64 {
	limit, sum := float64(maxEpisodeSteps), 0.0
	for _, t := range totals {
		sum += max(t, -limit)
	}
	return sum/float64(maxEpisodeSteps*len(totals)) + 1
}

// pairwise is the sum of NumPy's contiguous reduction, in which the reference adds up the rewards of a single train: up
// to 128 values in eight running sums, more in halves.
func pairwise(v []float64) float64 {
	const block = 128
	switch n := len(v); {
	case n < 8:
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		return sum
	case n <= block:
		r := [8]float64(v[:8])
		i := 8
		for ; i+8 <= n; i += 8 {
			for k := range r {
				r[k] += v[i+k]
			}
		}
		sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for ; i < n; i++ {
			sum += v[i]
		}
		return sum
	default:
		half := n / 2
		half -= half % 8
		return pairwise(v[:half]) + pairwise(v[half:])
	}
}
