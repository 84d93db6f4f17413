package railfile

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/rail"
)

// TestMetadataIsWrittenAsItWasRead: it gives the same value, and no value goes unread.
func TestMetadataIsWrittenAsItWasRead(t *testing.T) {
	for _, name := range goldenJSONFiles(t, true) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := golden.Read(t, filepath.Join(goldenJSON, name+".json.gz"))
			golden.Mutate(t, want, 100, nil, func(data []byte) error {
				m, err := ReadMetadata(bytes.NewReader(data))
				if err != nil {
					return err
				}
				var got bytes.Buffer
				if err := m.Write(&got); err != nil {
					return err
				}
				return sameValue(got.Bytes(), want)
			})
		})
	}
}

func goldenMetadata(t *testing.T, name string) *Metadata {
	t.Helper()
	m, err := ReadMetadata(bytes.NewReader(golden.Read(t, filepath.Join(goldenJSON, name+".json.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMalfunctionsOfAScenario: it puts departures first, and gives the rates that the reference stored.
func TestMalfunctionsOfAScenario(t *testing.T) {
	effects, err := goldenMetadata(t, "metadata_competition_sample").Levels[0].Specs(0).Effects()
	if err != nil {
		t.Fatal(err)
	}
	_, stored := dumpedScenario(t, "v4/level_0_scenario_1")
	if want := stored.effects(t); !reflect.DeepEqual(effects, want) {
		t.Errorf("got %+v, want %+v", effects, want)
	}
	effects, err = goldenMetadata(t, "metadata_example_scenarios").Levels[0].Specs(0).Effects()
	if err != nil || effects != nil {
		t.Errorf("without malfunctions: got %v, error %v", effects, err)
	}
}

// TestQuirkOverlayIsOneKeyDeep: it replaces all train categories at once, and keeps what a scenario does not name.
func TestQuirkOverlayIsOneKeyDeep(t *testing.T) {
	level := goldenMetadata(t, "metadata_example_scenarios_test_post_sampler").Levels[0]
	before := len(level.Defaults.Timetable.TrainCategories)
	specs := level.Specs(0)
	c := specs.Timetable.TrainCategories
	if before != 2 || len(c) != 2 || c[0].Name != "IC" || c[0].Periodicity != nil || c[0].Times.Low != WholeNumber(1) || specs.Timetable.PostSampler.Num != 3 {
		t.Errorf("got %d default categories and %+v", before, c)
	}
	if d := level.Defaults.Timetable; d.PostSampler != nil || d.TrainCategories[0].Periodicity.Low != WholeNumber(30) {
		t.Errorf("the defaults changed: %+v", d)
	}
	two, three := 2, 3
	interval := WholeNumber(10)
	own := MetadataLevel{
		Defaults:  Specs{Malfunction: &MalfunctionSpecs{DurationMin: &two, DurationMax: &two, Interval: &interval}},
		Scenarios: []ScenarioSpecs{{Specs: Specs{Malfunction: &MalfunctionSpecs{DurationMax: &three}}}},
	}.specs()
	p, err := own.Malfunction.Parameters()
	if want := (rail.MalfunctionParameters{Rate: 0.1, MinDuration: 2, MaxDuration: 3}); err != nil || p != want {
		t.Errorf("got %+v, error %v, want %+v", p, err, want)
	}
}

func (l MetadataLevel) specs() Specs { return l.Specs(0) }

func TestMetadataRefusals(t *testing.T) {
	for name, c := range map[string]struct{ json, want string }{
		"a misspelt key":      {`{"levels": [{"name": "a", "scenarios": [{"name": "b", "seeed": 1}]}]}`, `levels[0].scenarios[0]: key "seeed" is none of the format`},
		"a key twice":         {`{"levels": [], "levels": []}`, `key "levels" comes twice`},
		"no name":             {`{"levels": [{"scenarios": []}]}`, "levels[0]: there is no name"},
		"a range of three":    {`{"levels": [{"name": "a", "defaults": {"timetableSpecs": {"trainCategories": {"IC": {"times": [1, 2, 3]}}}}, "scenarios": []}]}`, "levels[0].defaults.timetableSpecs.trainCategories.IC.times: "},
		"a text for a number": {`{"levels": [{"name": "a", "scenarios": [{"name": "b", "seed": "1"}]}]}`, "levels[0].scenarios[0].seed: string where a whole number"},
		"an empty key":        {`{"levels": [{"defaults": {"timetableSpecs": {"trainCategories": {"": {"": 0}}}}}]}`, `levels[0].defaults.timetableSpecs.trainCategories."": key "" is none`},
		"no JSON":             {"{\n\n\"levels\": }", "line 3: "},
		"two values":          {`{"levels": []} {}`, "after top-level value"},
		"nothing":             {"", "unexpected end"},
		"not UTF-8":           {"{\"\xff\": 1}", "not UTF-8"},
		"null":                {`{"levels": null}`, "levels: null where"},
		"a list":              {`[]`, "is not an object"},
	} {
		_, err := ReadMetadata(strings.NewReader(c.json))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
	m, err := ReadMetadata(strings.NewReader(`{"levels": [{"name": "a", "scenarios": [{"name": "b", "malfunctionSpecs": null, "seed": null}]}]}`))
	if err != nil || m.Levels[0].Scenarios[0].Malfunction != nil || m.Levels[0].Scenarios[0].Seed != nil {
		t.Errorf("null for what need not be there: got %+v, error %v", m, err)
	}
	zero := WholeNumber(0)
	one := 1
	for _, m := range []MalfunctionSpecs{{}, {&one, &one, &zero}} {
		if p, err := m.Parameters(); err == nil {
			t.Errorf("%+v: got %+v, want an error", m, p)
		}
		if _, err := (Specs{DepartureMalfunction: &m}).Effects(); err == nil || !strings.HasPrefix(err.Error(), "departureMalfunctionSpecs: ") {
			t.Errorf("got error %v", err)
		}
	}
}

const goldenRunsFile = goldenTrajectories + "/malfunction_deadlock_avoidance_heuristics/metadata.csv.gz"

// TestRunsOfTheBenchmark: it reads every cell of the published metadata.csv.
func TestRunsOfTheBenchmark(t *testing.T) {
	data := golden.Read(t, goldenRunsFile)
	runs, err := ReadRuns(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 50 || runs[3].EpisodeID() != "Test_00_Level_3" || runs[3].Line != 5 {
		t.Fatalf("got %d runs, the fourth %+v", len(runs), runs[3])
	}
	check := func(data []byte) error {
		got, err := ReadRuns(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return difference("metadata.csv", formatRuns(got), append(golden.Read(t, goldenRunsFile), '\n'))
	}
	if err := check(data); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for column := range 15 {
		cells := strings.SplitN(lines[7], ",", 15)
		cells[column] = changedCell(cells[column])
		changed := append([]string{}, lines...)
		changed[7] = strings.Join(cells, ",")
		if err := check([]byte(strings.Join(changed, "\n"))); err == nil {
			t.Errorf("column %d changed to %q went unnoticed", column+1, cells[column])
		}
	}
}

// formatRuns writes runs as the published file is written.
func formatRuns(runs []Run) []byte {
	var b bytes.Buffer
	for i, c := range runColumns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(c.name)
	}
	b.WriteByte('\n')
	for _, r := range runs {
		b.WriteString(r.TestID + "," + r.EnvID)
		for _, n := range []int{r.Agents, r.Width, r.Height, r.Cities, r.RailPairsInCity, r.Envs, int(r.Seed)} {
			b.WriteString("," + strconv.Itoa(n))
		}
		b.WriteByte(',')
		b.Write(appendBool(nil, r.GridMode))
		for _, n := range []int{r.RailsBetweenCities, r.MalfunctionDurationMin, r.MalfunctionDurationMax, r.MalfunctionInterval} {
			b.WriteString("," + strconv.Itoa(n))
		}
		b.WriteString(`,"{`)
		for i, s := range r.SpeedRatios {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(Decimal(s.Speed).String() + ": " + Decimal(s.Share).String())
		}
		b.WriteString("}\"\n")
	}
	return b.Bytes()
}

func TestRunRefusals(t *testing.T) {
	text := string(golden.Read(t, goldenRunsFile))
	header, rest, _ := strings.Cut(text, "\n")
	row, _, _ := strings.Cut(rest, "\n")
	for name, c := range map[string]struct {
		csv, want string
	}{
		"nothing":              {"", "line 1: it is empty"},
		"no seed":              {strings.Replace(header, "seed", "sed", 1), "no column seed"},
		"a column more":        {header + ",more\n" + row + ",1\n", "16 columns, want 15"},
		"a cell less":          {header + "\nTest_00,Level_0\n", "line 2: wrong number of fields"},
		"an environment twice": {header + "\n" + row + "\n" + row + "\n", "line 3: Test_00_Level_0 is already on line 2"},
		"a path":               {header + "\n" + strings.Replace(row, "Test_00", "../x", 1), "line 2, column test_id: episode id"},
		"no trains":            {header + "\n" + strings.Replace(row, ",7,", ",0,", 1), "column n_agents: 0 is less than 1"},
		"half a train":         {header + "\n" + strings.Replace(row, ",7,", ",7.5,", 1), `column n_agents: "7.5" is not a whole number`},
		"a grid mode":          {header + "\n" + strings.Replace(row, "False", "no", 1), "neither True nor False"},
		"a negative seed":      {header + "\n" + strings.Replace(row, ",42,", ",-1,", 1), "column seed: "},
		"speeds":               {header + "\n" + strings.Replace(row, "{1.0:", "{x:", 1), "column speed_ratios: "},
	} {
		_, err := ReadRuns(strings.NewReader(c.csv))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
}

func FuzzReadMetadata(f *testing.F) {
	for _, name := range goldenJSONFiles(f, true) {
		f.Add(golden.Read(f, filepath.Join(goldenJSON, name+".json.gz")))
	}
	f.Add([]byte(`{"levels": [{"name": "a", "defaults": {"infrastructureSpecs": {"closure_interval": 1e1, "closure_length": 3}}, "scenarios": []}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadMetadata(bytes.NewReader(data))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := m.Write(&first); err != nil {
			t.Fatal(err)
		}
		again, err := ReadMetadata(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first.Bytes())
		}
		if err := again.Write(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("got %s, want %s, error %v", second.Bytes(), first.Bytes(), err)
		}
		for _, l := range m.Levels {
			for i := range l.Scenarios {
				l.Specs(i).Effects()
			}
		}
	})
}

func FuzzReadRuns(f *testing.F) {
	f.Add(golden.Read(f, goldenRunsFile)[:900])
	f.Fuzz(func(t *testing.T, data []byte) {
		runs, err := ReadRuns(bytes.NewReader(data))
		for _, r := range runs {
			if err == nil && CheckEpisodeID(r.TestID) != nil {
				t.Errorf("got test %q", r.TestID)
			}
		}
	})
}
