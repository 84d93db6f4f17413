package contest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"skyrail/internal/golden"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// The benchmarks in this file run recorded episodes: one of the competition, or those of the folder that SKYRAIL_BENCH
// names, which python/bench/rail_peer.py records with flatland-rl and runs there too. Beside ns/op, which is what the
// clock says, they report cpu-ns/op, which the load of the machine does not disturb.

// course is a recorded episode and what to do with it.
type course struct {
	Episode string `json:"episode"`
	First   int    `json:"first"` // of the steps with trees, counted from 0
	Trees   int    `json:"trees"` // how many steps have them
	dir     string
}

// courses are the episodes that are run.
func courses(b *testing.B) []course {
	root := os.Getenv("SKYRAIL_BENCH")
	if root == "" {
		return []course{{Episode: "level_0_scenario_1", First: 100, Trees: 100, dir: trajectories + "/ecml_level_0_scenario_1"}}
	}
	data, err := os.ReadFile(filepath.Join(root, "bench.json"))
	if err != nil {
		b.Fatal(err)
	}
	var all []course
	if err := golden.Decode(data, &all); err != nil {
		b.Fatalf("bench.json: %v", err)
	}
	for i := range all {
		all[i].dir = filepath.Join(root, all[i].Episode)
	}
	return all
}

// open reads the environment file, from the disk on.
func (c *course) open(b *testing.B) *rail.Env {
	d := railfile.TrajectoryDir{Path: c.dir}
	data, err := d.Environment(c.Episode)
	if err != nil {
		b.Fatal(err)
	}
	file, err := railfile.ReadEnvironment(data)
	if err != nil {
		b.Fatal(err)
	}
	e, err := file.Open(nil, rail.ECML2026Rewards())
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// actions are what the trains were told, by step.
func (c *course) actions(b *testing.B, trains int) [][]rail.Action {
	d := railfile.TrajectoryDir{Path: c.dir}
	var all [][]rail.Action
	for r, err := range d.Actions() {
		if err != nil {
			b.Fatal(err)
		}
		for len(all) <= r.Time {
			all = append(all, forward(trains))
		}
		all[r.Time][r.Agent] = r.Action
	}
	return all
}

// stopwatch adds up processor time, the garbage collector's included.
type stopwatch struct{ total, since time.Duration }

func (s *stopwatch) start() { s.since = golden.CPUTime() }
func (s *stopwatch) stop()  { s.total += golden.CPUTime() - s.since }

func (s *stopwatch) report(b *testing.B) {
	b.ReportMetric(float64(s.total.Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func steps(b *testing.B, e *rail.Env, actions [][]rail.Action) {
	for _, a := range actions {
		if err := e.Step(a); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad reads an environment file and makes an environment of it.
func BenchmarkLoad(b *testing.B) {
	for _, c := range courses(b) {
		b.Run(c.Episode, func(b *testing.B) {
			var watch stopwatch
			b.ReportAllocs()
			watch.start()
			for b.Loop() {
				c.open(b)
			}
			watch.stop()
			watch.report(b)
		})
	}
}

// BenchmarkEpisode is all steps of an episode in an environment that is fresh from its file: what is worked out once, as
// the random numbers of the first step and the distances in the last one, is part of it.
func BenchmarkEpisode(b *testing.B) {
	for _, c := range courses(b) {
		b.Run(c.Episode, func(b *testing.B) {
			start := c.open(b)
			actions := c.actions(b, start.Trains())
			var watch stopwatch
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				e := start.Clone()
				b.StartTimer()
				watch.start()
				steps(b, e, actions)
				watch.stop()
			}
			watch.report(b)
			b.ReportMetric(float64(len(actions)), "steps/op")
			logEnd(b, &c, start.Clone(), actions)
		})
	}
}

// logEnd tells how the episode ends, for whoever compares.
func logEnd(b *testing.B, c *course, e *rail.Env, actions [][]rail.Action) {
	tally := rail.NewTally(e, 0)
	for k := range actions {
		steps(b, e, actions[k:k+1])
		tally.Add(e.Rewards(0))
	}
	end := struct {
		Episode string  `json:"episode"`
		Steps   int     `json:"steps"`
		Over    bool    `json:"over"`
		Arrived int     `json:"arrived"`
		Reward  float64 `json:"reward"`
	}{Episode: c.Episode, Steps: e.Elapsed(), Over: e.AllDone()}
	for i, total := range tally.Totals() {
		end.Reward += total
		if e.State(i) == rail.Done {
			end.Arrived++
		}
	}
	logJSON(b, "end", end)
}

func logJSON(b *testing.B, what string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%s %s", what, text)
}

// BenchmarkStep is one step, the first and the last of an episode left out: there, some things are worked out once.
func BenchmarkStep(b *testing.B) {
	for _, c := range courses(b) {
		b.Run(c.Episode, func(b *testing.B) {
			start := c.open(b)
			actions := c.actions(b, start.Trains())
			last := len(actions) - 1
			var e *rail.Env
			k := last
			b.ReportAllocs()
			for b.Loop() {
				if k == last {
					b.StopTimer()
					e, k = start.Clone(), 1
					steps(b, e, actions[:1])
					b.StartTimer()
				}
				if err := e.Step(actions[k]); err != nil {
					b.Fatal(err)
				}
				k++
			}
			e = start.Clone()
			b.ReportMetric(mallocs(func() { steps(b, e, actions[:1]) }), "first-allocs")
			b.ReportMetric(mallocs(func() { steps(b, e, actions[1:last]) }), "between-allocs")
			b.ReportMetric(mallocs(func() { steps(b, e, actions[last:]) }), "last-allocs")
		})
	}
}

// mallocs is how often memory is asked for, not rounded as allocs/op is.
func mallocs(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

// BenchmarkTrees is steps with the trees of depth 2 of all trains after each: as they are, flattened, and normalised. The
// observer is new, so what it works out once is part of it, or kept from one episode on the same tracks to the next.
func BenchmarkTrees(b *testing.B) {
	for _, c := range courses(b) {
		start := c.open(b)
		actions := c.actions(b, start.Trains())
		steps(b, start, actions[:c.First])
		actions = actions[c.First : c.First+c.Trees]
		for _, form := range []struct {
			name string
			keep bool
			then func(flat []float64, t rail.Tree)
		}{
			{"tree", false, func([]float64, rail.Tree) {}},
			{"flat", false, func(flat []float64, t rail.Tree) { t.Flatten(flat) }},
			{"normalized", false, func(flat []float64, t rail.Tree) { t.FlattenNormalized(flat, 2) }},
			{"kept", true, func([]float64, rail.Tree) {}},
		} {
			b.Run(c.Episode+"/"+form.name, func(b *testing.B) {
				var watch stopwatch
				o := observer(b)
				o.Look(start)
				trees := make([]float64, o.Len()*start.Trains())
				flat := make([]float64, o.Len())
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					e := start.Clone()
					b.StartTimer()
					watch.start()
					if !form.keep {
						o = observer(b)
					}
					for k := range actions {
						steps(b, e, actions[k:k+1])
						o.Look(e)
						for i := range e.Trains() {
							form.then(flat, o.Tree(trees[o.Len()*i:][:o.Len()], i))
						}
					}
					watch.stop()
				}
				watch.report(b)
				b.ReportMetric(float64(len(actions)), "steps/op")
				logTrees(b, &c, trees)
			})
		}
	}
}

func observer(b *testing.B) *rail.TreeObserver {
	o, err := rail.NewTreeObserver(2)
	if err != nil {
		b.Fatal(err)
	}
	return o
}

// logTrees tells of the trees of the last step how many nodes there are and the sum of what is finite in them.
func logTrees(b *testing.B, c *course, trees []float64) {
	found := struct {
		Episode string  `json:"episode"`
		Nodes   int     `json:"nodes"`
		Sum     float64 `json:"sum"`
	}{Episode: c.Episode}
	for k, v := range trees {
		if k%rail.TreeFeatures == 0 && !math.IsInf(v, -1) {
			found.Nodes++
		}
		if !math.IsInf(v, 0) {
			found.Sum += v
		}
	}
	logJSON(b, "trees", found)
}

// BenchmarkVerify verifies a trajectory, from reading its directory on.
func BenchmarkVerify(b *testing.B) {
	rewards := rail.ECML2026Rewards()
	for _, c := range courses(b) {
		b.Run(c.Episode, func(b *testing.B) {
			var watch stopwatch
			b.ReportAllocs()
			watch.start()
			for b.Loop() {
				d := railfile.TrajectoryDir{Path: c.dir}
				rows, err := d.Read()
				if err != nil {
					b.Fatal(err)
				}
				report, err := Verify(b.Context(), c.open(b), rows, Options{Episode: c.Episode, Rewards: &rewards})
				if err != nil {
					b.Fatal(err)
				}
				if !report.Agrees {
					b.Fatal(report.First)
				}
			}
			watch.stop()
			watch.report(b)
		})
	}
}

// BenchmarkLargest opens an environment of 532 trains, as many as the largest of the competition has, on the competition's
// map, and works out all distances. Every train has a target of its own, which is the worst that can be.
func BenchmarkLargest(b *testing.B) {
	const trains = 532
	file, err := railfile.ReadEnvironment(golden.Read(b, "../railfile/testdata/files/v4/level_0_scenario_1.pkl.gz"))
	if err != nil {
		b.Fatal(err)
	}
	s := crowd(b, file.Scenario, trains)
	file = nil
	open := func() *rail.Env {
		e, err := rail.New(s, rail.Options{Rewards: []rail.Rewards{rail.ECML2026Rewards()}})
		if err != nil {
			b.Fatal(err)
		}
		for i := range e.Trains() {
			e.DistanceTo(i, e.Initial(i))
		}
		return e
	}
	before := live()
	e := open()
	megabytes := float64(live()-before) / 1e6
	runtime.KeepAlive(e)
	var watch stopwatch
	b.ReportAllocs()
	watch.start()
	for b.Loop() {
		open()
	}
	watch.stop()
	watch.report(b)
	b.ReportMetric(megabytes, "live-MB")
}

func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one found to have a finaliser
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// crowd is a scenario with more trains: the timetables of its own over and over, between places all over the map.
func crowd(b *testing.B, s *rail.Scenario, trains int) *rail.Scenario {
	net, err := rail.NewNetwork(s.Width, s.Height, s.Grid)
	if err != nil {
		b.Fatal(err)
	}
	var places []rail.Configuration // one of each cell
	for k := range s.Grid {
		cell := rail.Cell{Row: k / s.Width, Col: k % s.Width}
		for h := rail.North; h <= rail.West; h++ {
			if at := (rail.Configuration{Cell: cell, Heading: h}); net.Valid(at) {
				places = append(places, at)
				break
			}
		}
	}
	if len(places) < trains {
		b.Fatalf("%d cells with tracks for %d trains", len(places), trains)
	}
	c := s.Clone()
	c.Trains = nil
	for i := range trains {
		t := s.Trains[i%len(s.Trains)]
		t.Initial = places[i*len(places)/trains]
		t.Target = places[(i*len(places)/trains+len(places)/2)%len(places)].Cell
		c.Trains = append(c.Trains, t)
	}
	return c
}
