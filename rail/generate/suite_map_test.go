package generate

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"skyrail/internal/golden"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

var updateMap = flag.Bool("update-map", false, "write the public map of the railway competition into contests/")

const (
	publicMapFile  = "../../contests/ecml-2026-map.json.gz"
	publicScene    = "../railfile/testdata/files/scenario_json/scene_sample_initial.json.gz"
	publicStations = "../railfile/testdata/files/auxiliary/stations.pkl.gz"
)

// publicMapScene makes the map of the two public files.
func publicMapScene(t testing.TB, sceneJSON []byte) (*railfile.Scene, error) {
	t.Helper()
	scene, err := railfile.ReadScene(bytes.NewReader(sceneJSON))
	if err != nil {
		return nil, err
	}
	stations, err := railfile.ReadStations(golden.Read(t, publicStations))
	if err != nil {
		return nil, err
	}
	if err := MarkScenes(scene); err != nil {
		return nil, err
	}
	var ids []uint64
	for _, s := range scene.Stations {
		if !slices.Contains(ids, s.ID) {
			ids = append(ids, s.ID)
		}
	}
	slices.Sort(ids)
	scenes := make([][]string, len(ids)) // by station
	city := 0
	for i, id := range ids {
		var tracks []railfile.StationTrack
		for _, s := range scene.Stations {
			if s.ID == id {
				tracks = append(tracks, railfile.StationTrack{Cell: rail.Cell{Row: s.R, Col: s.C}, Track: len(tracks)})
			}
		}
		if len(tracks) > 1 {
			if !slices.Equal(tracks, stations.Tracks[city]) {
				return nil, errors.New("a station's platforms are not those of its city")
			}
			scenes[i] = stations.Scenes[city]
			city++
			continue
		}
		for _, t := range scene.Timetables {
			if t.Stops[len(t.Stops)-1].StationID == id {
				scenes[i] = append(scenes[i], t.Scene...)
			}
		}
	}
	if city != len(stations.Cities) {
		return nil, errors.New("there are cities without a station")
	}
	regions := make([]MapRegion, len(suiteScenes))
	for k, name := range suiteScenes {
		regions[k].Name = name
		for i, id := range ids {
			if slices.Contains(scenes[i], name) {
				regions[k].Stations = append(regions[k].Stations, id)
			}
		}
	}
	value, err := json.Marshal(regions)
	if err != nil {
		return nil, err
	}
	scene.Extra = []railfile.Member{{Key: regionsKey, Value: value}}
	scene.Lines, scene.Timetables = []railfile.Line{}, []railfile.Timetable{}
	scene.FlatlandLine = railfile.FlatlandLine{
		AgentPositions: [][][]railfile.SceneCell{}, AgentDirections: [][][]rail.Heading{},
		AgentTargets: []railfile.SceneCell{}, AgentSpeeds: []railfile.Number{},
	}
	scene.FlatlandTimetable = railfile.FlatlandTimetable{EarliestDepartures: [][]*int{}, LatestArrivals: [][]*int{}}
	return scene, nil
}

// TestPublicMapIsThatOfThePublicFiles: nothing in it is not in the published scene and the starter kit's stations.
func TestPublicMapIsThatOfThePublicFiles(t *testing.T) {
	public := golden.Read(t, publicScene)
	made := func(sceneJSON []byte) ([]byte, error) {
		scene, err := publicMapScene(t, sceneJSON)
		if err != nil {
			return nil, err
		}
		return scene.MarshalJSON()
	}
	want, err := made(public)
	if err != nil {
		t.Fatal(err)
	}
	if *updateMap {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(append(want, '\n')); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(publicMapFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := bytes.TrimSpace(golden.Read(t, publicMapFile))
	if !bytes.Equal(got, want) {
		t.Fatalf("%s differs from what the public files make: run go test ./rail/generate -run PublicMap -update-map", publicMapFile)
	}
	// Of the scene only what is about trains may change unnoticed.
	unread := func(path string) bool {
		return strings.HasPrefix(path, "lines") || strings.HasPrefix(path, "timetables") || strings.HasPrefix(path, "flatland")
	}
	golden.Mutate(t, public, 20, unread, func(data []byte) error {
		other, err := made(data)
		if err == nil && !bytes.Equal(other, got) {
			err = errors.New("another map")
		}
		return err
	})
}

var readPublicMap = sync.OnceValues(func() (*Map, error) {
	f, err := os.Open(publicMapFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadMap(f)
})

func publicMap(t testing.TB) *Map {
	t.Helper()
	m, err := readPublicMap()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestReadMapFindsStationsAndRegions in the public map.
func TestReadMapFindsStationsAndRegions(t *testing.T) {
	m := publicMap(t)
	var borders []uint64
	for i := range m.stations {
		if m.stations[i].border() {
			borders = append(borders, m.stations[i].id)
		}
	}
	if len(m.stations) != 28 || m.platforms != 87 || len(m.stands) != 174 {
		t.Errorf("got %d stations of %d platforms with %d stands, want 28, 87, 174", len(m.stations), m.platforms, len(m.stands))
	}
	if !slices.Equal(borders, []uint64{11, 32, 33}) {
		t.Errorf("got borders %v, want 11, 32, 33", borders)
	}
	var sizes []int
	for _, r := range m.Regions {
		sizes = append(sizes, len(r.Stations))
	}
	if want := []int{9 + 2, 10 + 1, 12 + 1, 19 + 2, 28}; !slices.Equal(sizes, want) {
		t.Errorf("got regions of %v stations, want %v: cities and borders", sizes, want)
	}
}

// TestReadMapRefuses what is no map, and says where.
func TestReadMapRefuses(t *testing.T) {
	public := string(golden.Read(t, publicMapFile))
	if m, err := ReadMap(strings.NewReader(public)); err != nil || len(m.stations) != 28 {
		t.Fatalf("the map as plain text: got %v", err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"no JSON":                   {`{"gridDimensions"`, `"gridDimensions"`, "line 1"},
		"a key less":                {`"overpasses"`, `"bridges"`, "there is no overpasses"},
		"no regions":                {`"regions"`, `"areas"`, "there are no regions: add a list"},
		"regions of another kind":   {`"regions":[`, `"regions":["x",`, "regions: json"},
		"a misspelt key":            {`"stationIds":[1,6`, `"stations":[1,6`, `regions: json: unknown field "stations"`},
		"a region twice":            {`"name":"scene_2"`, `"name":"scene_1"`, `regions[1]: its name is "scene_1", want one of its own`},
		"a region without a name":   {`"name":"scene_2"`, `"name":""`, `regions[1]: its name is "", want one of its own`},
		"an unknown station":        {`"stationIds":[1,6`, `"stationIds":[1,2`, "regions[0]: there is no station 2"},
		"a station twice":           {`"stationIds":[1,6`, `"stationIds":[1,1`, "regions[0]: station 1 is there twice"},
		"a platform off the grid":   {`{"id":6,"r":35`, `{"id":6,"r":350`, "stations[8]: (350, 81) is outside the grid of 120 rows and 150 columns"},
		"a platform without tracks": {`{"id":6,"r":35`, `{"id":6,"r":0`, "stations: there is no track at (0, 81), a platform of station 6"},
		"a platform twice":          {`"r":35,"c":82`, `"r":35,"c":81`, "stations[9]: (35, 81) is a platform already"},
		"a row less":                {`"rows":120`, `"rows":121`, "grid has 120 rows, want 121"},
		"trains that stand":         {`"speed":0.6`, `"speed":0`, "trainCategories.S.speed is 0 cells per step"},
	} {
		text := strings.Replace(public, c.old, c.new, 1)
		if text == public {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := ReadMap(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	if _, err := ReadMap(strings.NewReader("\x1f\x8b no gzip")); err == nil {
		t.Error("a broken gzip file is read")
	}
}

// FuzzReadMap: any bytes are a map on which lines are laid, or an error says why not.
func FuzzReadMap(f *testing.F) {
	data, err := os.ReadFile("../../contests/ecml-2026-map.json.gz")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"gridDimensions": {"rows": 1, "cols": 3, "cellSize": 1}, "grid": [[4, 1025, 256]], "overpasses": [],
		"stations": [{"id": 1, "r": 0, "c": 0}, {"id": 2, "r": 0, "c": 1}, {"id": 2, "r": 0, "c": 2}], "nextStationId": 3, "lines": [], "timetables": [],
		"trainCategories": {"IC": {"id": 1, "description": "", "speed": 1}},
		"flatlandLine": {"agent_positions": [], "agent_directions": [], "agent_targets": [], "agent_speeds": []},
		"flatlandTimetable": {"earliest_departures": [], "latest_arrivals": [], "max_episode_steps": 1},
		"regions": [{"name": "scene_1", "stationIds": [1, 2]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadMap(bytes.NewReader(data))
		if err != nil {
			if m != nil {
				t.Fatal("a map beside an error")
			}
			return
		}
		if m.platforms > 20 {
			return // it takes its time
		}
		p := DefaultSuiteParameters()
		p.Groups = []SuiteGroup{{"1", m.Regions[0].Name, []SuiteLines{{"IC", 2}}}}
		p.Levels = []SuiteLevelParameters{{"level_0", []SuiteScenario{{Scene: "scene_1", TravelFactor: 1}}}}
		_, _ = SuiteScene(m, []SuiteLevel{{"level_0", []int{2}, []int{1}}}, p, 1)
	})
}
