package contest

import "slices"

// Trophy is an award and who won it; nobody may have.
type Trophy struct {
	Name    string   `json:"trophy"`
	For     string   `json:"for"`
	Winners []string `json:"winners"` // in the order of the reports
	Jury    bool     `json:"jury"`    // awarded by people, not computed
}

// Trophies computes the awards among the reports of one list of seeds, and names those that a jury gives.
func Trophies(reports []Report) []Trophy {
	scoreOf := func(r Report) Score { s, _ := r.Score(Deterministic); return s }
	all := func(Report) bool { return true }
	spotless := func(r Report) bool { s := scoreOf(r); return s.Failed == 0 && s.Congestion == 0 }
	return []Trophy{
		{"Golden Holding Pattern", "the best rank",
			best(reports, all, func(r Report) []int { k := scoreOf(r).Key(); return k[:] }), false},
		{"Zero-Conflict Wings", "no failed episode and no congestion",
			best(reports, spotless, func(Report) []int { return nil }), false},
		{"Minimal-Intervention", "the fewest clearances among those with Zero-Conflict Wings",
			best(reports, spotless, func(r Report) []int { return []int{scoreOf(r).Clearances} }), false},
		{"Iron Stomach", "the smallest stochastic gap among agents with an action distribution",
			best(reports, func(r Report) bool { return r.Distribution },
				func(r Report) []int { g := r.StochasticGap.size(); return g[:] }), false},
		{"The Brick with Wings", "beats doing nothing",
			best(reports, func(r Report) bool { return r.BeatsDoNothing }, func(Report) []int { return nil }), false},
		{"Black Box", "the jury's", []string{}, true},
		{"Icarus", "the jury's", []string{}, true},
	}
}

// best returns the agents of the eligible reports with the lowest value, all of them on a tie.
func best(reports []Report, eligible func(Report) bool, value func(Report) []int) []string {
	winners := []string{}
	var lowest []int
	for _, r := range reports {
		if !eligible(r) {
			continue
		}
		v := value(r)
		if len(winners) > 0 && slices.Compare(v, lowest) > 0 {
			continue
		}
		if len(winners) > 0 && slices.Compare(v, lowest) < 0 {
			winners = winners[:0]
		}
		winners, lowest = append(winners, r.Agent), v
	}
	return winners
}
