package railfile

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/rail"
)

// smallScene is a scene of one train on three cells.
const smallScene = `{
  "gridDimensions": {"rows": 1, "cols": 3, "cellSize": 12.5},
  "grid": [[4, 1025, 256]],
  "overpasses": [],
  "stations": [{"id": 1, "r": 0, "c": 0, "colour": "blue"}],
  "nextStationId": 2,
  "lines": [],
  "timetables": [{"id": 18446744073709551615, "name": "IC 1.1 <é&𝄞>", "lineId": 1, "trainCategoryId": 1, "trainCategory": "IC",
    "travelFactor": 1.0, "dwellTime": 2, "stops": [{"stationId": 1, "earliestDeparture": 0, "latestArrival": null}], "season": "<null>"}],
  "trainCategories": {"RE": {"id": 2, "description": "", "speed": 0.8}, "IC": {"id": 1, "description": "fast", "speed": 1}},
  "flatlandLine": {
    "agent_positions": [[[[0, 0]], [[0, 1], [0, 1]], [[0, 2]]]],
    "agent_directions": [[[1], [1]]],
    "agent_targets": [[0, 2]],
    "agent_speeds": [0.33]
  },
  "flatlandTimetable": {"earliest_departures": [[0, 7, null]], "latest_arrivals": [[null, 6, 9]], "max_episode_steps": 20},
  "notes": {"by": null}
}`

func TestSceneKeepsWhatItDoesNotKnow(t *testing.T) {
	s, err := ReadScene(strings.NewReader(smallScene))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := s.Write(&got); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n  \"notes\": {\n    \"by\": null\n  }\n}", `"season": "<null>"`, `"name": "IC 1.1 <\u00e9&\ud834\udd1e>"`, `"cellSize": 12.5`,
		`"travelFactor": 1.0`, `"overpasses": [],`, `"id": 18446744073709551615`, "\"trainCategories\": {\n    \"RE\": {",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("got %s\nwant in it %s", got.String(), want)
		}
	}
	if strings.Contains(got.String(), "colour") {
		t.Error("a key of a station that the format does not name was written")
	}
}

// TestScenePairing: the shortest list wins, stop by stop and alternative by alternative.
func TestScenePairing(t *testing.T) {
	s, err := ReadScene(strings.NewReader(smallScene))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	at := func(col int, h rail.Heading) []rail.Configuration {
		return []rail.Configuration{{Cell: rail.Cell{Row: 0, Col: col}, Heading: h}}
	}
	want := &rail.Scenario{
		Width: 3, Height: 1, Grid: []rail.Transitions{4, 1025, 256}, MaxEpisodeSteps: 20,
		Trains: []rail.Train{{
			Initial: at(0, rail.East)[0], Target: rail.Cell{Row: 0, Col: 2}, MaxSpeed: rail.Frac(1, 3), LatestArrival: 9,
			Stops: []rail.Stop{
				{Alternatives: at(0, rail.East), EarliestDeparture: rail.At(0)},
				{Alternatives: at(1, rail.East), LatestArrival: rail.At(6), EarliestDeparture: rail.At(7)},
				{Alternatives: at(2, rail.NoHeading), LatestArrival: rail.At(9)},
			},
		}},
	}
	if err := scenarioDifference(got, want); err != nil {
		t.Error(err)
	}
	if _, err := rail.New(got, rail.Options{}); err != nil {
		t.Error(err)
	}
}

func TestSceneRefusals(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no grid":                 {`"grid"`, `"gird"`, "there is no grid"},
		"a cell that is no mask":  {"1025", "65536", "grid[0]: number 65536 where a whole number that is not too large is needed"},
		"half a cell":             {"1025", "1.5", "grid[0]: number 1.5 where a whole number"},
		"no cell":                 {"1025", "null", "grid: null where"},
		"a row short":             {`"rows": 1`, `"rows": 2`, "grid has 1 rows, want 2"},
		"a column more":           {"[[4, 1025, 256]]", "[[4, 1025, 256, 0]]", "grid[0] has 4 columns, want 3"},
		"a station without row":   {`"r": 0, "c": 0, "col`, `"c": 0, "col`, "stations[0]: there is no r"},
		"a station twice":         {`"id": 1, "r": 0`, `"id": 1, "id": 1, "r": 0`, `stations[0]: key "id" comes twice`},
		"a name that is a number": {`"name": "IC 1.1 <é&𝄞>"`, `"name": 1`, "timetables[0].name: number where a text is needed"},
		"a speed that is a text":  {`"speed": 0.8`, `"speed": "fast"`, "trainCategories.RE.speed: "},
		"a target of one number":  {`"agent_targets": [[0, 2]]`, `"agent_targets": [[0]]`, `flatlandLine.agent_targets[0]: "[0]" is not a cell`},
		"two targets":             {`"agent_targets": [[0, 2]]`, `"agent_targets": [[0, 2], [0, 2]]`, "flatlandLine.agent_targets is about 2 trains, want 1"},
		"no speed":                {`"agent_speeds": [0.33]`, `"agent_speeds": []`, "flatlandLine.agent_speeds is about 0 trains, want 1"},
		"no start":                {`"agent_directions": [[[1], [1]]]`, `"agent_directions": [[]]`, "train 0: it has no start"},
		"a heading":               {`[[[1], [1]]]`, `[[[4], [1]]]`, "train 0: direction 4 at stop 0"},
		"a time short":            {`[[0, 7, null]]`, `[[0, 7]]`, "train 0: 2 earliest departures and 3 latest arrivals, want 3"},
		"no departure":            {`[[0, 7, null]]`, `[[null, 7, null]]`, "train 0: want an earliest departure"},
		"no arrival":              {`[[null, 6, 9]]`, `[[null, 6, null]]`, "train 0: want an earliest departure from the start and a latest arrival"},
		"a key twice":             {`"notes"`, `"grid"`, `key "grid" comes twice`},
	} {
		text := strings.Replace(smallScene, c.old, c.new, 1)
		if text == smallScene {
			t.Fatalf("%s: nothing changed", name)
		}
		s, err := ReadScene(strings.NewReader(text))
		if err == nil {
			_, err = s.Scenario()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
}

func FuzzReadScene(f *testing.F) {
	f.Add([]byte(smallScene))
	f.Add(golden.Read(f, filepath.Join(goldenJSON, "example_2_initial.json.gz")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadScene(bytes.NewReader(data))
		if err != nil {
			return
		}
		if sc, err := s.Scenario(); err == nil {
			rail.New(sc, rail.Options{}) // may refuse it
		}
		var first, second bytes.Buffer
		if err := s.Write(&first); err != nil {
			t.Fatal(err)
		}
		again, err := ReadScene(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first.Bytes())
		}
		if err := again.Write(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("got %s, want %s, error %v", second.Bytes(), first.Bytes(), err)
		}
	})
}
