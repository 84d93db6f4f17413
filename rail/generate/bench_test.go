package generate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
)

// The benchmarks in this file generate environments with recorded parameters: some of them, or those that SKYRAIL_BENCH
// names, which python/bench/generate_peer.py has flatland-rl generate too. Beside ns/op, which is what the clock says,
// they report cpu-ns/op, which the load of the machine does not disturb.

// benchSets are the names of recorded runs.
func benchSets() []string {
	if names := os.Getenv("SKYRAIL_BENCH"); names != "" {
		return strings.Fields(names)
	}
	return []string{"g01_defaults_seed42", "g12_40x40_ll4_grid_plf", "g21_80x80_17cities", "g25_100x100_200agents", "g28_158x158_41cities"}
}

// benchParameters are those of a recorded run.
func benchParameters(b *testing.B, name string) Parameters {
	b.Helper()
	var run recordedRun
	if err := golden.Decode(golden.Read(b, "testdata/generators/"+name+".json.gz"), &run); err != nil {
		b.Fatal(err)
	}
	p, err := run.parameters()
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkEnvironment is a whole environment, from its parameters to the start of the episode.
func BenchmarkEnvironment(b *testing.B) {
	for _, name := range benchSets() {
		b.Run(name, func(b *testing.B) {
			p := benchParameters(b, name)
			var e *rail.Env
			b.ReportAllocs()
			began := golden.CPUTime()
			for b.Loop() {
				var err error
				if e, err = Environment(p); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((golden.CPUTime()-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
			logGenerated(b, name, e)
		})
	}
}

// logGenerated tells what was generated, for whoever compares.
func logGenerated(b *testing.B, name string, e *rail.Env) {
	s, grid, trains, stream := e.Scenario(), sha256.New(), sha256.New(), sha256.New()
	for i, t := range s.Grid {
		held := 0
		if e.LevelFree(rail.Cell{Row: i / s.Width, Col: i % s.Width}) {
			held = 1
		}
		fmt.Fprintf(grid, "%d %d\n", t, held)
	}
	for i := range s.Trains {
		t, speed := &s.Trains[i], e.MaxSpeed(i).Rat()
		fmt.Fprintf(trains, "%d %d %d %d %d %s %d %d", t.Initial.Cell.Row, t.Initial.Cell.Col, t.Initial.Heading, t.Target.Row, t.Target.Col,
			speed.RatString(), t.EarliestDeparture, t.LatestArrival)
		for _, stop := range t.Stops {
			c := stop.Alternatives[0].Cell
			fmt.Fprintf(trains, " %d %d %s %s", c.Row, c.Col, benchTime(stop.EarliestDeparture), benchTime(stop.LatestArrival))
		}
		io.WriteString(trains, "\n")
	}
	r := e.Stream()
	state := r.State()
	_ = binary.Write(stream, binary.LittleEndian, state.Key[:])
	told, err := json.Marshal(map[string]any{
		"set": name, "width": s.Width, "height": s.Height, "trains": len(s.Trains), "max_episode_steps": e.MaxEpisodeSteps(),
		"grid": hex.EncodeToString(grid.Sum(nil)), "timetable": hex.EncodeToString(trains.Sum(nil)),
		"stream": hex.EncodeToString(stream.Sum(nil)), "position": state.Pos,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("generated %s", told)
}

func benchTime(t rail.Time) string {
	if !t.Given {
		return "-"
	}
	return fmt.Sprint(t.Step)
}

// BenchmarkStages is the same stage by stage: beside the time of all, that of each.
func BenchmarkStages(b *testing.B) {
	for _, name := range benchSets() {
		b.Run(name, func(b *testing.B) {
			p := benchParameters(b, name)
			stages := []string{"cities", "connect", "inner", "repair", "bridges", "network", "line", "timetable", "start"}
			took := make([]time.Duration, len(stages))
			var since time.Time
			next := 0
			done := func() {
				now := time.Now()
				took[next] += now.Sub(since)
				since, next = now, (next+1)%len(stages)
			}
			check := func(err error) {
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				rng := numpyrand.NewHashedRandomState(p.Seed)
				railRNG := &rng
				if p.Legacy {
					own := numpyrand.NewRandomState(uint32(p.Seed))
					railRNG = &own
				}
				since = time.Now()
				g, err := newBuilder(p.Rail, p.Width, p.Height, railRNG)
				check(err)
				g.placeCities()
				check(g.planCities())
				done()
				g.connectCities()
				done()
				g.layInnerTracks()
				done()
				g.repairAll(g.brokenCells())
				done()
				g.chooseBridges()
				product := g.product()
				done()
				r, err := NewRailway(product)
				check(err)
				done()
				line, err := p.Line.Generate(r, p.Agents, &rng)
				check(err)
				done()
				timetable, err := Timetable(r, line, &rng)
				check(err)
				done()
				made := Products{Rail: product, Line: line, Timetable: timetable, parameters: p, stream: rng}
				_, err = made.Environment()
				check(err)
				done()
			}
			for i, stage := range stages {
				b.ReportMetric(float64(took[i].Nanoseconds())/float64(b.N), stage+"-ns/op")
			}
		})
	}
}
