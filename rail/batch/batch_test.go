package batch

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/generate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const published = "../railfile/testdata/files/v4/level_0_scenario_1.pkl.gz"

func fileSource(t testing.TB) *Source {
	t.Helper()
	data, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	s, err := FromFile(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parameters(seed uint64, trains int) generate.Parameters {
	p := generate.DefaultParameters()
	p.Seed, p.Agents, p.Rail.RailPairsInCity = seed, trains, 2
	p.Malfunction = rail.MalfunctionParameters{Rate: 0.02, MinDuration: 2, MaxDuration: 9}
	return p
}

func generated(t testing.TB, seed uint64, trains int) *Source {
	t.Helper()
	s, err := Generated(parameters(seed, trains))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// everything is all arrays that a batch can write; global observations only where all grids have one size.
func everything(b *Batch, depth int, global bool) Buffers {
	e, n := b.Len(), b.Len()*b.Trains()
	tree := n * rail.TreeFeatures * rail.TreeNodes(depth)
	moment := func() Arrays {
		a := Arrays{
			State: make([]int8, n), Position: make([]int32, 3*n), Malfunction: make([]int32, n), Speed: make([]float64, n),
			Travelled: make([]float64, n), Distance: make([]int32, n), ActionRequired: make([]bool, n), Deadlocked: make([]bool, n),
			Masks: make([]bool, rail.Actions*n), Elapsed: make([]int32, e), Tree: make([]float64, tree), FlatTree: make([]float64, tree),
		}
		if global {
			net := b.Env(0).Network()
			a.Global = make([]float64, n*net.Width()*net.Height()*GlobalCell)
		}
		return a
	}
	return Buffers{
		Rewards: make([]float64, n*b.Options().Rewards.Width()), Terminated: make([]bool, n), Truncated: make([]bool, n),
		AllDone: make([]bool, e), Now: moment(), Final: moment(), TreeDepth: depth, Radius: 2,
	}
}

func begin(t testing.TB, sources []*Source, o Options, depth int, global bool) (*Batch, Buffers) {
	t.Helper()
	b, err := New(sources, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	w := everything(b, depth, global)
	if err := b.Bind(w); err != nil {
		t.Fatal(err)
	}
	seeds := make([]uint64, b.Len())
	for i := range seeds {
		seeds[i] = uint64(100 + i)
	}
	if err := b.Reset(seeds, nil, nil); err != nil {
		t.Fatal(err)
	}
	return b, w
}

// TestRowsAreThoseOfSingleEnvironments steps railways of all kinds and sizes beside environments of their own.
func TestRowsAreThoseOfSingleEnvironments(t *testing.T) {
	sources := []*Source{generated(t, 1, 3), fileSource(t), generated(t, 2, 7), generated(t, 1, 3)}
	for mode := range modes {
		for _, rewards := range []rail.Rewards{rail.ECML2026Rewards(), {Kind: rail.ComponentReward, Factors: rail.ECML2026Factors()}} {
			checkRows(t, sources, Options{Rewards: rewards, Threads: 3, Autoreset: mode}, false)
		}
		checkRows(t, []*Source{generated(t, 3, 4), generated(t, 4, 6)}, Options{Rewards: rail.DefaultRewards(), Autoreset: mode}, true)
	}
}

func checkRows(t *testing.T, sources []*Source, o Options, global bool) {
	t.Helper()
	b, w := begin(t, sources, o, 1, global)
	width := o.Rewards.Width()
	own := make([]*rail.Env, len(sources))
	over := make([]bool, len(sources))
	again := func(i int, seed *uint64) {
		if p := sources[i].parameters; p != nil {
			var err error
			if own[i], err = generate.Regenerate(own[i], *p, seed); err != nil {
				t.Fatal(err)
			}
		} else {
			own[i].Reset(seed)
		}
	}
	for i := range own {
		own[i] = sources[i].first.Clone()
		own[i].SetRewards(o.Rewards)
		seed := uint64(100 + i)
		again(i, &seed)
	}
	stream := numpyrand.NewGenerator(uint64(o.Autoreset))
	actions := make([]int8, b.Len()*b.Trains())
	words := make([]int64, len(actions))
	ends := 0
	for step := range 1100 {
		for k := range actions {
			actions[k] = 2 // mostly ahead, so that trains arrive
			if stream.Choice(4) == 0 {
				actions[k] = int8(stream.Choice(rail.Actions))
			}
			words[k] = int64(actions[k])
		}
		var which []bool
		if o.Autoreset == Disabled {
			which = slices.Clone(over)
		}
		if slices.Contains(which, true) {
			if err := b.Reset(nil, nil, which); err != nil {
				t.Fatal(err)
			}
			for i := range own {
				if over[i] {
					again(i, nil)
					over[i] = false
				}
			}
		}
		var err error
		if step%2 == 0 {
			err = b.Step(actions)
		} else {
			err = b.StepWords(words)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range own {
			rewards := make([]float64, b.Trains()*width)
			terminated, truncated := make([]bool, b.Trains()), make([]bool, b.Trains())
			if over[i] && o.Autoreset == NextStep {
				again(i, nil)
				over[i] = false
			} else {
				given := make([]rail.Action, e.Trains())
				for k := range given {
					given[k] = rail.Action(actions[i*b.Trains()+k])
				}
				if err := e.Step(given); err != nil {
					t.Fatal(err)
				}
				copy(rewards, e.Rewards(0))
				over[i] = e.AllDone()
				for k := range given {
					terminated[k], truncated[k] = e.State(k) == rail.Done, e.AllDone() && e.State(k) != rail.Done
				}
			}
			for k := e.Trains(); k < b.Trains(); k++ {
				terminated[k] = true
			}
			ended := over[i]
			if ended {
				ends++
				if o.Autoreset == SameStep {
					checkRow(t, &w.Final, b, e, i)
					again(i, nil)
					over[i] = false
				}
			}
			e = own[i]
			if !slices.Equal(row(i, b.Len(), w.Rewards), rewards) || !slices.Equal(row(i, b.Len(), w.Terminated), terminated) ||
				!slices.Equal(row(i, b.Len(), w.Truncated), truncated) || w.AllDone[i] != ended {
				t.Fatalf("mode %d, step %d, environment %d: got %v %v %v %v, want %v %v %v %v", o.Autoreset, step, i,
					row(i, b.Len(), w.Rewards), row(i, b.Len(), w.Terminated), row(i, b.Len(), w.Truncated), w.AllDone[i],
					rewards, terminated, truncated, ended)
			}
			if !b.Env(i).Equal(e) {
				t.Fatalf("mode %d, step %d: environment %d is not where it should be", o.Autoreset, step, i)
			}
			if step%7 == 0 || ended {
				checkRow(t, &w.Now, b, e, i)
			}
		}
	}
	if ends < 2*len(own) {
		t.Errorf("mode %d: only %d episodes have ended", o.Autoreset, ends)
	}
}

// checkRow compares row i of the arrays of a moment with the environment itself.
func checkRow(t *testing.T, a *Arrays, b *Batch, e *rail.Env, i int) {
	t.Helper()
	rows, n := b.Len(), b.Trains()
	trees, err := rail.NewTreeObserver(b.TreeDepth())
	if err != nil {
		t.Fatal(err)
	}
	trees.Look(e)
	deadlocked := e.Deadlocked(nil)
	if got := int(a.Elapsed[i]); got != e.Elapsed() {
		t.Fatalf("environment %d: %d steps, want %d", i, got, e.Elapsed())
	}
	for k := range n {
		at := i*n + k
		state, position, malfunction, distance := int8(-1), [3]int32{-1, -1, -1}, int32(0), int32(0)
		speed, travelled, required, dead := 0.0, 0.0, false, false
		mask := []bool{true, false, false, false, false}
		tree, flat := make([]float64, trees.Len()), make([]float64, trees.Len())
		var global []float64
		if a.Global != nil {
			global = make([]float64, len(a.Global)/rows/n)
		}
		if k < e.Trains() {
			state, malfunction, required, dead = int8(e.State(k)), int32(e.Malfunction(k)), e.ActionRequired(k), deadlocked[k]
			speed, travelled = e.Speed(k).Float64(), e.Travelled(k).Float64()
			from := e.Initial(k)
			if c, ok := e.Configuration(k); ok {
				position = [3]int32{int32(c.Row), int32(c.Col), int32(c.Heading)}
				from = e.Node(k)
			}
			if e.State(k) != rail.Done {
				if distance = -1; e.DistanceTo(k, from) != rail.Unreachable {
					distance = int32(e.DistanceTo(k, from))
				}
			}
			e.ActionMask(mask, k)
			trees.Tree(tree, k).FlattenNormalized(flat, 2)
			if global != nil {
				net := e.Network()
				cells := net.Width() * net.Height()
				net.ObserveTransitions(global)
				e.ObserveGlobal(global[16*cells:], global[21*cells:], k)
			}
		}
		got := [3]int32(a.Position[3*at:])
		if a.State[at] != state || got != position || a.Malfunction[at] != malfunction || a.Distance[at] != distance ||
			a.Speed[at] != speed || a.Travelled[at] != travelled || a.ActionRequired[at] != required || a.Deadlocked[at] != dead {
			t.Fatalf("environment %d, train %d: got %v %v %v %v %v %v %v %v, want %v %v %v %v %v %v %v %v", i, k,
				a.State[at], got, a.Malfunction[at], a.Distance[at], a.Speed[at], a.Travelled[at], a.ActionRequired[at], a.Deadlocked[at],
				state, position, malfunction, distance, speed, travelled, required, dead)
		}
		if m := row(at, rows*n, a.Masks); !slices.Equal(m, mask) {
			t.Fatalf("environment %d, train %d: mask %v, want %v", i, k, m, mask)
		}
		if !slices.Equal(row(at, rows*n, a.Tree), tree) || !slices.Equal(row(at, rows*n, a.FlatTree), flat) {
			t.Fatalf("environment %d, train %d: another tree", i, k)
		}
		if !slices.Equal(row(at, rows*n, a.Global), global) {
			t.Fatalf("environment %d, train %d: another global observation", i, k)
		}
	}
}

func TestThreadsDoNotMatter(t *testing.T) {
	sources := slices.Repeat([]*Source{generated(t, 1, 5), generated(t, 2, 3)}, 10)
	var first *Batch
	var arrays Buffers
	for _, threads := range []int{1, 2, 5} {
		b, w := begin(t, sources, Options{Rewards: rail.ECML2026Rewards(), Threads: threads, Autoreset: SameStep}, 2, true)
		if b.Options().Threads != threads {
			t.Errorf("%d threads, want %d", b.Options().Threads, threads)
		}
		actions := slices.Repeat([]int8{2, 1, 2, 3, 4}, 20)
		for range 400 {
			if err := b.Step(actions); err != nil {
				t.Fatal(err)
			}
		}
		if first == nil {
			first, arrays = b, w
			continue
		}
		for i := range b.Len() {
			if !b.Env(i).Equal(first.Env(i)) {
				t.Errorf("%d threads: environment %d is another one", threads, i)
			}
		}
		if !slices.Equal(w.Now.FlatTree, arrays.Now.FlatTree) || !slices.Equal(w.Final.Global, arrays.Final.Global) {
			t.Errorf("%d threads: other observations", threads)
		}
	}
}

// TestLive steps one environment by the actions of those who are still there.
func TestLive(t *testing.T) {
	b, err := New([]*Source{fileSource(t)}, Options{Rewards: rail.ECML2026Rewards(), Autoreset: Disabled, Leave: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	w := everything(b, 1, false)
	if err := b.Bind(w); err != nil {
		t.Fatal(err)
	}
	own := b.Env(0).Clone()
	p, _ := agent.New("deadlock-avoidance", agent.Options{})
	if err := p.Reset(own); err != nil {
		t.Fatal(err)
	}
	all := make([]rail.Action, own.Trains())
	left := map[int]bool{}
	for !own.AllDone() {
		if err := p.Act(own, all); err != nil {
			t.Fatal(err)
		}
		var given []byte
		for _, k := range b.Live(0) {
			given = append(given, byte(all[k]))
		}
		before := slices.Clone(w.Now.Tree)
		o, err := b.StepLive(0, given)
		if err != nil {
			t.Fatal(err)
		}
		if err := own.Step(all); err != nil {
			t.Fatal(err)
		}
		if rewarded := slices.ContainsFunc(own.Rewards(0), func(r float64) bool { return r != 0 }); rewarded != (o&Rewarded != 0) {
			t.Fatalf("rewards %v, outcome %b", own.Rewards(0), o)
		}
		someLeft := false
		for k := range all {
			tree := row(k, len(all), w.Now.Tree)
			if left[k] && !slices.Equal(tree, row(k, len(all), before)) {
				t.Fatalf("train %d left, but is observed", k)
			}
			if own.Done(k) && !left[k] {
				left[k], someLeft = true, true
			}
		}
		if someLeft != (o&Left != 0) || own.AllDone() != (o&Over != 0) || len(b.Live(0)) != len(all)-len(left) {
			t.Fatalf("step %d: outcome %b, trains %v left, %d are live", own.Elapsed(), o, left, len(b.Live(0)))
		}
	}
	if len(left) != own.Trains() {
		t.Errorf("%d trains left", len(left))
	}
	if _, err := b.StepLive(0, nil); err != rail.ErrDone {
		t.Errorf("a step after the end: got %v, want ErrDone", err)
	}
	if err := b.Reset(nil, nil, nil); err != nil || len(b.Live(0)) != own.Trains() {
		t.Errorf("after a reset %d trains are live, %v", len(b.Live(0)), err)
	}
	for _, bad := range [][]byte{nil, {1}, {0, 0, 0, 0, 0, 5}, {0, 0, 0xff, 0, 0, 0}} {
		if _, err := b.StepLive(0, bad); err == nil {
			t.Errorf("actions %v were taken", bad)
		}
	}
	if b.Env(0).Elapsed() != 0 {
		t.Error("a refused step was made")
	}
}

// TestTheLeavingArePaid: trains get the punctuality when they leave that others, who stay, get at the end.
func TestTheLeavingArePaid(t *testing.T) {
	o := Options{Rewards: rail.Rewards{Kind: rail.PunctualityReward}, Autoreset: Disabled, Leave: true}
	b, w := begin(t, []*Source{fileSource(t)}, o, 0, false)
	own := b.Env(0).Clone()
	p, _ := agent.New("deadlock-avoidance", agent.Options{})
	if err := p.Reset(own); err != nil {
		t.Fatal(err)
	}
	got, all := make([]float64, 2*own.Trains()), make([]rail.Action, own.Trains())
	paid := 0
	for !own.AllDone() {
		if err := p.Act(own, all); err != nil {
			t.Fatal(err)
		}
		var given []byte
		for _, k := range b.Live(0) {
			given = append(given, byte(all[k]))
		}
		here := slices.Clone(b.Live(0))
		outcome, err := b.StepLive(0, given)
		if err != nil {
			t.Fatal(err)
		}
		if err := own.Step(all); err != nil {
			t.Fatal(err)
		}
		for _, k := range here {
			got[2*k] += w.Rewards[2*k]
			got[2*k+1] += w.Rewards[2*k+1]
		}
		if left := outcome&Left != 0; left != (outcome&Rewarded != 0) {
			t.Fatalf("outcome %b", outcome)
		} else if left {
			paid++
		}
	}
	if want := own.Rewards(0); !slices.Equal(got, want) || paid < 2 {
		t.Errorf("got %v in %d steps, want %v", got, paid, want)
	}
}

// TestFreshEpisodesAreAFunctionOfTheirSeed compares episodes of an environment with those of a new one.
func TestFreshEpisodesAreAFunctionOfTheirSeed(t *testing.T) {
	for name, source := range map[string]*Source{"file": fileSource(t), "generated": generated(t, 5, 4)} {
		run := func(b *Batch, seed uint64) *rail.Env {
			if err := b.Reset([]uint64{seed}, nil, nil); err != nil {
				t.Fatal(err)
			}
			actions := slices.Repeat([]int8{2}, b.Trains())
			for range 150 {
				if b.Env(0).AllDone() {
					break
				}
				if err := b.Step(actions); err != nil {
					t.Fatal(err)
				}
			}
			return b.Env(0).Clone()
		}
		b, _ := begin(t, []*Source{source}, Options{Rewards: rail.ECML2026Rewards(), Autoreset: Disabled, Fresh: true}, 0, false)
		first := run(b, 7)
		other := run(b, 8)
		if again := run(b, 7); !again.Equal(first) {
			t.Errorf("%s: the same seed gives another episode", name)
		}
		if name == "generated" && other.Equal(first) {
			t.Errorf("%s: another seed gives the same episode", name)
		}
		if err := b.Reset(nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		if a, b := b.Env(0).Stream(), first.Stream(); a.Equal(&b) != (name == "file") { // generators draw from it
			t.Errorf("%s: without a seed the stream does not go on", name)
		}
	}
	bridges, err := generate.Environment(func() generate.Parameters {
		p := parameters(3, 4)
		p.Rail.LevelFree, p.Rail.Cities, p.Width, p.Height = 1, 4, 45, 45
		return p
	}())
	if err != nil {
		t.Fatal(err)
	}
	if len(bridges.Scenario().LevelFree) == 0 {
		t.Fatal("there is no bridge")
	}
	data, _ := bridges.MarshalBinary()
	source, err := FromFile(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, fresh := range []bool{true, false} {
		b, _ := begin(t, []*Source{source}, Options{Rewards: rail.DefaultRewards(), Fresh: fresh}, 0, false)
		if got := len(b.Env(0).Scenario().LevelFree) > 0; got != fresh {
			t.Errorf("fresh %v: bridges after a reset: %v", fresh, got)
		}
	}
}

func TestSaveLoadPutAndJoin(t *testing.T) {
	o := Options{Rewards: rail.ECML2026Rewards(), Autoreset: NextStep}
	b, w := begin(t, []*Source{generated(t, 1, 3), fileSource(t), generated(t, 2, 3)}, o, 1, false)
	actions := slices.Repeat([]int8{2}, 3*b.Trains())
	for range 60 {
		if err := b.Step(actions); err != nil {
			t.Fatal(err)
		}
	}
	c := b.Clone()
	defer c.Close()
	joined, err := Join([]*Batch{b, c}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer joined.Close()
	var saved [3][]byte
	for i := range saved {
		if saved[i], err = b.Save(nil, i); err != nil {
			t.Fatal(err)
		}
	}
	at := [3]*rail.Env{b.Env(0).Clone(), b.Env(1).Clone(), b.Env(2).Clone()}
	for range 10 {
		if err := b.Step(actions); err != nil {
			t.Fatal(err)
		}
	}
	for i := range saved {
		if !c.Env(i).Equal(at[i]) || !joined.Env(i).Equal(at[i]) || !joined.Env(3+i).Equal(at[i]) {
			t.Fatalf("environment %d of a copy is another one", i)
		}
		if err := b.Load(saved[i], i); err != nil {
			t.Fatal(err)
		}
		if !b.Env(i).Equal(at[i]) {
			t.Fatalf("environment %d was not loaded", i)
		}
		checkRow(t, &w.Now, b, at[i], i)
	}
	if err := b.Load(saved[0], 2); err != nil || !b.Env(2).Equal(at[0]) {
		t.Errorf("one environment in the place of another: %v", err)
	}
	checkRow(t, &w.Now, b, at[0], 2)
	for name, err := range map[string]error{
		"nothing": b.Load(nil, 0), "a part": b.Load(saved[0][:100], 0), "other trains": b.Load(saved[1], 0), "nowhere": b.Load(saved[0], 3),
	} {
		if err == nil {
			t.Errorf("%s was loaded", name)
		}
	}
	if _, err := b.Save(nil, -1); err == nil {
		t.Error("environment -1 was saved")
	}
}

func TestRefusals(t *testing.T) {
	source := generated(t, 1, 3)
	o := Options{Rewards: rail.DefaultRewards()}
	for _, c := range []struct {
		n int
		o Options
	}{{0, o}, {MaxEnvs + 1, o}, {1, Options{Threads: -1}}, {1, Options{Autoreset: 3}}, {1, Options{Autoreset: -1}}} {
		if _, err := New(slices.Repeat([]*Source{source}, c.n), c.o); err == nil {
			t.Errorf("%d environments with %+v are a batch", c.n, c.o)
		}
	}
	b, w := begin(t, []*Source{source, generated(t, 2, 2)}, Options{Rewards: rail.DefaultRewards(), Autoreset: Disabled}, 1, true)
	kept := [2]*rail.Env{b.Env(0).Clone(), b.Env(1).Clone()}
	for name, err := range map[string]error{
		"too few actions":  b.Step(make([]int8, 5)),
		"too few words":    b.StepWords(make([]int64, 7)),
		"an action 5":      b.Step([]int8{0, 0, 0, 0, 5, 0}),
		"an action -1":     b.StepWords([]int64{-1, 0, 0, 0, 0, 0}),
		"a huge action":    b.StepWords([]int64{0, 0, 1 << 40, 0, 0, 0}),
		"one seed":         b.Reset([]uint64{1}, nil, nil),
		"one seeded":       b.Reset(nil, []bool{true}, nil),
		"one chosen":       b.Reset(nil, nil, []bool{true}),
		"an odd look":      b.Look(Arrays{State: make([]int8, 3)}),
		"another's global": b.Put(0, fileSource(t).first),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := b.Step([]int8{0, 0, 0, 0, 5, 0}); err == nil || !strings.Contains(err.Error(), "environment 1: train 1: action 5 is outside 0..4") {
		t.Errorf("got %v", err)
	}
	for i, e := range kept {
		if !b.Env(i).Equal(e) {
			t.Errorf("environment %d has changed", i)
		}
	}
	if err := b.Step([]int8{0, 0, 0, 0, 0, 77}); err != nil {
		t.Errorf("an action of padding is looked at: %v", err)
	}
	for _, mode := range []Autoreset{NextStep, SameStep} { // trains come back with a new episode
		again, arrays := begin(t, []*Source{source}, Options{Rewards: rail.DefaultRewards(), Autoreset: mode}, 0, false)
		for !arrays.AllDone[0] {
			if err := again.Step([]int8{2, 2, 2}); err != nil {
				t.Fatal(err)
			}
		}
		if mode == NextStep {
			if err := again.Step([]int8{9, 9, 9}); err != nil {
				t.Errorf("actions of the step that resets are looked at: %v", err)
			}
		}
		if len(again.Live(0)) != 3 || again.Step([]int8{2, 2, 9}) == nil {
			t.Errorf("mode %d: in the second episode trains %v are there", mode, again.Live(0))
		}
	}
	short := w
	short.Final.Speed = short.Final.Speed[1:]
	if err := b.Bind(short); err == nil || !strings.Contains(err.Error(), "final speeds") {
		t.Errorf("got %v", err)
	}
	deep := w
	deep.TreeDepth = rail.MaxTreeDepth + 1
	if err := b.Bind(deep); err == nil {
		t.Error("a tree that is too deep is bound")
	}
	mixed, err := New([]*Source{source, fileSource(t)}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer mixed.Close()
	if err := mixed.Bind(everything(mixed, 0, true)); err == nil || !strings.Contains(err.Error(), "another size") {
		t.Errorf("global observations of two sizes: got %v", err)
	}
	if err := mixed.Look(Arrays{Tree: make([]float64, 12*mixed.Len()*mixed.Trains())}); err == nil {
		t.Error("trees are looked at that are not bound")
	}
	for name, data := range map[string][]byte{"nothing": nil, "a text": []byte("hello"), "half a zip": {0x1f, 0x8b, 8}} {
		if _, err := FromFile(data); err == nil {
			t.Errorf("%s is an environment", name)
		}
	}
	p := parameters(1, 3)
	p.Rail.Cities = 1
	if _, err := Generated(p); err == nil {
		t.Error("one city is a railway")
	}
}
