package generate

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/numpyrand"
	"skyrail/rail"
	"skyrail/rail/railfile"
)

// levelScene is a scene of three stations in a row. The second timetable has the first one's name.
const levelScene = `{"gridDimensions": {"rows": 1, "cols": 5, "cellSize": 20}, "grid": [[4, 1025, 1025, 1025, 256]], "overpasses": [],
	"stations": [{"id": 1, "r": 0, "c": 0}, {"id": 2, "r": 0, "c": 2}, {"id": 3, "r": 0, "c": 4}], "nextStationId": 4,
	"lines": [{"id": 10, "name": "there", "stationIds": [1, 2, 3], "startCell": {"r": 0, "c": 0}, "endCell": {"r": 0, "c": 4}},
		{"id": 20, "name": "back", "stationIds": [3, 1], "startCell": {"r": 0, "c": 4}, "endCell": {"r": 0, "c": 0}}],
	"timetables": [
		{"id": 1, "name": "IC 1.1", "lineId": 10, "trainCategoryId": 1, "trainCategory": "IC", "travelFactor": 1, "dwellTime": 2, "stops": [
			{"stationId": 1, "earliestDeparture": 0, "latestArrival": null},
			{"stationId": 2, "earliestDeparture": 7, "latestArrival": 5},
			{"stationId": 3, "earliestDeparture": 99, "latestArrival": 12}],
			"track": "left", "weight": 18446744073709551615, "tags": ["a", 2, true, null]},
		{"id": 2, "name": "IC 1.1", "lineId": 20, "trainCategoryId": 2, "trainCategory": "RE", "travelFactor": 1.5, "dwellTime": 2, "stops": [
			{"stationId": 3, "earliestDeparture": 3, "latestArrival": null},
			{"stationId": 1, "earliestDeparture": null, "latestArrival": 10}],
			"track": "right", "weight": 2.5, "tags": false},
		{"id": 3, "name": "S back", "lineId": 20, "trainCategoryId": 3, "trainCategory": "S", "travelFactor": 1, "dwellTime": 2, "stops": [
			{"stationId": 3, "earliestDeparture": 3, "latestArrival": null},
			{"stationId": 1, "earliestDeparture": null, "latestArrival": 10}],
			"track": "left", "weight": 1e1, "tags": {"a": 1}}],
	"trainCategories": {"IC": {"id": 1, "description": "", "speed": 1}},
	"flatlandLine": {"agent_positions": [[[[0, 0]], [[0, 2]], [[0, 4]]], [[[0, 4]]], [[[0, 4]]]], "agent_directions": [[[1], [1]], [[3]], [[3]]],
		"agent_targets": [[0, 4], [0, 0], [0, 0]], "agent_speeds": [1, 0.8, 0.5]},
	"flatlandTimetable": {"earliest_departures": [], "latest_arrivals": [], "max_episode_steps": 0}, "notes": "kept"}`

// levelMetadata is metadata of one scenario with these timetableSpecs.
func levelMetadata(specs string) string {
	return `{"levels": [{"name": "l", "scenarios": [{"name": "s", "timetableSpecs": ` + specs + `}]}]}`
}

func deriveLevels(t testing.TB, scene, metadata string, seed uint32) ([]Derived, error) {
	t.Helper()
	m, err := railfile.ReadMetadata(strings.NewReader(metadata))
	if err != nil {
		t.Fatal(err)
	}
	global, ids := numpyrand.NewRandomState(seed), numpyrand.NewRandomState(seed+1)
	return Levels(readLevelScene(t, []byte(scene)), m, &global, &ids)
}

// levelTimes shows the trains of a scene: name, travel factor, and the times of each stop.
func levelTimes(s *railfile.Scene) string {
	var b strings.Builder
	for i, t := range s.Timetables {
		fmt.Fprintf(&b, "%s x%s:", t.Name, t.TravelFactor)
		for j, stop := range t.Stops {
			for _, times := range [][2]*int{{stop.LatestArrival, s.FlatlandTimetable.LatestArrivals[i][j]},
				{stop.EarliestDeparture, s.FlatlandTimetable.EarliestDepartures[i][j]}} {
				switch {
				case (times[0] == nil) != (times[1] == nil) || times[0] != nil && *times[0] != *times[1]:
					b.WriteString(" differ")
				case times[0] == nil:
					b.WriteString(" -")
				default:
					fmt.Fprintf(&b, " %d", *times[0])
				}
			}
		}
		fmt.Fprintf(&b, " @%s; ", s.FlatlandLine.AgentSpeeds[i])
	}
	fmt.Fprintf(&b, "%d", s.FlatlandTimetable.MaxEpisodeSteps)
	return b.String()
}

func TestLevelRules(t *testing.T) {
	by := func(key, val string) string {
		return `{"attributeFilter": {"key": "` + key + `", "val": ` + val + `}, "trainCategories": {"IC": {}, "S": {}}}`
	}
	const ic, back = "IC 1.1 x1: - 0 5 7 12 - @1; ", "S back.0 x1: - 3 10 - @0.5; "
	for name, c := range map[string]struct{ old, new, specs, want string }{
		"it rounds a travel time up, and keeps a factor of whole numbers whole": {"", "", `{"trainCategories": {"IC": {"travelFactor": 2}}}`,
			"IC 1.1 x2: - 0 10 12 22 - @1; 44"},
		"it makes a decimal of a decimal factor": {"", "", `{"trainCategories": {"IC": {"travelFactor": 1.0}}}`, "IC 1.1 x1.0: - 0 5 7 12 - @1; 24"},
		"it rounds the product, not the factor":  {"", "", `{"trainCategories": {"IC": {"travelFactor": 1.1}}}`, "IC 1.1 x1.1: - 0 6 8 14 - @1; 28"},
		"it shifts each copy by a period more": {"", "", `{"trainCategories": {"S": {"times": 2, "initialShift": -3, "periodicity": 10}}}`,
			"S back.0 x1: - 0 7 - @0.5; S back.1 x1: - 10 17 - @0.5; 34"},
		"it shifts an arrival at the start too": {`"earliestDeparture": 0, "latestArrival": null`, `"earliestDeparture": 0, "latestArrival": -1`,
			`{"trainCategories": {"IC": {"initialShift": 4}}}`, "IC 1.1 x1: 3 4 9 11 16 - @1; 32"},
		"it keeps the departure of a timetable with one stop": {`[
			{"stationId": 3, "earliestDeparture": 3, "latestArrival": null},
			{"stationId": 1, "earliestDeparture": null, "latestArrival": 10}],
			"track": "left"`, `[{"stationId": 3, "earliestDeparture": 3, "latestArrival": 2}], "track": "left"`,
			`{"trainCategories": {"S": {}}}`, "S back.0 x1: 2 3 @0.5; 4"},
		"it has no limit of steps before the start": {"", "", `{"trainCategories": {"S": {"initialShift": -100}}}`, "S back.0 x1: - -97 -90 - @0.5; 0"},
		"it counts on from any whole number": {`"S back"`, `"S. -0_7 "`, `{"trainCategories": {"S": {"times": 2}}}`,
			"S.-7 x1: - 3 10 - @0.5; S.-6 x1: - 3 10 - @0.5; 20"},
		"it counts on from large numbers": {`"S back"`, `"a.b.+18446744073709551615"`, `{"trainCategories": {"S": {"times": 2}}}`,
			"a.b.18446744073709551615 x1: - 3 10 - @0.5; a.b.18446744073709551616 x1: - 3 10 - @0.5; 20"},
		"it makes no copies of less than none":         {"", "", `{"trainCategories": {"IC": {"times": -2}}}`, "0"},
		"it needs no categories where nothing is kept": {"", "", `{"attributeFilter": {"key": "name", "val": "none"}}`, "0"},
		"it keeps nothing that is in an empty list":    {"", "", by("name", `[]`), "0"},
		"it filters by text":                           {"", "", by("trainCategory", `["S", 1]`), back + "20"},
		"it filters by name":                           {"", "", by("name", `"S back"`), back + "20"},
		"it filters by line":                           {"", "", by("lineId", `[20.0]`), back + "20"},
		"it filters by id":                             {"", "", by("id", `[3, 4]`), back + "20"},
		"it filters by dwelling time": {`"dwellTime": 2, "stops": [
			{"stationId": 1`, `"dwellTime": 2.5, "stops": [
			{"stationId": 1`, by("dwellTime", `2`), back + "20"},
		"it filters by factor":                        {"", "", by("travelFactor", `1`), ic + back + "24"},
		"it filters by any key":                       {"", "", by("track", `"left"`), ic + back + "24"},
		"it filters by a decimal that is whole":       {"", "", by("weight", `10`), back + "20"},
		"it does not take a text for a number":        {"", "", by("weight", `["10", "10.0"]`), "0"},
		"it does not round a large number":            {"", "", by("weight", `18446744073709551616.0`), "0"},
		"it knows a large number":                     {`18446744073709551615,`, `18446744073709551616,`, by("weight", `18446744073709551616.0`), ic + "24"},
		"it filters by an element (quirk: true is 1)": {`{"a": 1}`, `[3]`, by("tags", `[1, "none"]`), ic + "24"},
		"it filters by one of a list":                 {`{"a": 1}`, `[3, 0.0]`, by("tags", `0`), back + "20"},
		"it filters by false, which is 0 (quirk)": {`{"a": 1}`, `[]`, `{"attributeFilter": {"key": "tags", "val": 0}, "trainCategories": {"RE": {}}}`,
			ic + "24"},
		// quirk: the second timetable is kept and counts, but its name is the first one's.
		"it copies the first of a name (quirk)": {"", "", `{"trainCategories": {"RE": {"times": 2, "travelFactor": 1.5}}}`,
			"IC 1.1 x1.5: - 0 8 10 18 - @1; IC 1.2 x1.5: - 0 8 10 18 - @1; 36"},
		"it samples, and does not double the limit (quirk)": {"", "", `{"trainCategories": {"S": {"times": 3, "periodicity": 10}}, "postSampler": {"num": 3}}`,
			"S back.0 x1: - 3 10 - @0.5; S back.2 x1: - 23 30 - @0.5; S back.1 x1: - 13 20 - @0.5; 30"},
	} {
		scene := strings.Replace(levelScene, c.old, c.new, 1)
		if c.old != "" && scene == levelScene {
			t.Fatalf("%s: nothing changed", name)
		}
		all, err := deriveLevels(t, scene, levelMetadata(c.specs), 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := levelTimes(all[0].Scene); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestLinesAreCollected: it has every line of its trains once, in the order of the trains, also those that a sample drops;
// of lines with the same id it takes the first.
func TestLinesAreCollected(t *testing.T) {
	const specs = `{"trainCategories": {"S": {"times": 2}, "RE": {}, "IC": {}}, "postSampler": {"num": 1}}`
	for _, c := range []struct{ scene, want string }{
		{levelScene, "there back"},
		{strings.NewReplacer(`"id": 20`, `"id": 10`, `"lineId": 20`, `"lineId": 10`).Replace(levelScene), "there"},
		{strings.Replace(levelScene, `"lineId": 10`, `"lineId": 20`, 1), "back"},
	} {
		all, err := deriveLevels(t, c.scene, levelMetadata(specs), 1)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range all[0].Scene.Lines {
			names = append(names, l.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("got lines %s, want %s", got, c.want)
		}
	}
}

// TestQuirkRangesAreCutToWholeNumbers: it draws what NumPy 1.26 does after seed(1), and takes as much.
func TestQuirkRangesAreCutToWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		low, high railfile.Number
		want, pos int
	}{
		{railfile.Decimal(1), railfile.Decimal(2.9), 1, 624},
		{railfile.Decimal(1.5), railfile.WholeNumber(3), 2, 1},
		{railfile.Decimal(-1.5), railfile.Decimal(1.2), 0, 1},
	} {
		global := numpyrand.NewRandomState(1)
		d := levelDeriver{global: &global}
		got, err := d.number("times", &railfile.Range{Low: c.low, High: c.high, Draw: true}, 0)
		if pos := global.State().Pos; err != nil || got != railfile.WholeNumber(c.want) || pos != c.pos {
			t.Errorf("[%s, %s]: got %s at %d, error %v, want %d at %d", c.low, c.high, got, pos, err, c.want, c.pos)
		}
	}
}

func TestMarkScenes(t *testing.T) {
	s := &railfile.Scene{}
	for _, name := range []string{"IC 1.1", "IC 2", "a 34 b", "S 4", "S 5.1", "S é"} {
		s.Timetables = append(s.Timetables, railfile.Timetable{Name: name, Scene: []string{"old"}})
	}
	if err := MarkScenes(s); err != nil {
		t.Fatal(err)
	}
	want := []string{"scene_1 scene_4 scene_5", "scene_2 scene_5", "scene_3 scene_4 scene_5", "scene_4 scene_5", "scene_5", "scene_5"}
	for i, w := range want {
		if got := strings.Join(s.Timetables[i].Scene, " "); got != w {
			t.Errorf("%s: got %s, want %s", s.Timetables[i].Name, got, w)
		}
	}
	for _, name := range []string{"", "IC", "IC ", "IC  1.1", " "} {
		s.Timetables[0].Scene = nil
		s.Timetables[1].Name = name
		err := MarkScenes(s)
		if err == nil || !strings.Contains(err.Error(), "timetables[1]: ") || s.Timetables[0].Scene != nil {
			t.Errorf("%q: got error %v, scene %v, want an error and nothing marked", name, err, s.Timetables[0].Scene)
		}
	}
}

func TestLevelRefusals(t *testing.T) {
	asked := func(category, keys string) string {
		return levelMetadata(`{"trainCategories": {"` + category + `": {` + keys + `}}}`)
	}
	filtered := func(key string) string { return levelMetadata(`{"attributeFilter": {"key": "` + key + `", "val": 1}}`) }
	first := func(rest string) string { return `l, s: timetable "IC 1.1": trainCategories.IC: ` + rest }
	for name, c := range map[string]struct{ old, new, metadata, want string }{
		"no timetableSpecs":           {"", "", `{"levels": [{"name": "l", "scenarios": [{"name": "s"}]}]}`, "l, s: there are no timetableSpecs: give them"},
		"no trainCategories":          {"", "", levelMetadata(`{}`), `l, s: timetable "IC 1.1": there are no trainCategories`},
		"a name with no number":       {`"IC 1.1"`, `"IC 1.x"`, asked("IC", ""), `l, s: timetable "IC 1.x": trainCategories.IC: the name has "x" behind its last point: want`},
		"a name with a point":         {`"IC 1.1"`, `"IC."`, asked("IC", ""), `the name has "" behind`},
		"a name with two signs":       {`"IC 1.1"`, `"IC.+-1"`, asked("IC", ""), `the name has "+-1" behind`},
		"a name with underscores":     {`"IC 1.1"`, `"IC.1__0"`, asked("IC", ""), `the name has "1__0" behind`},
		"a name that ends in one":     {`"IC 1.1"`, `"IC.1_"`, asked("IC", ""), `the name has "1_" behind`},
		"a name that begins with one": {`"IC 1.1"`, `"IC._1"`, asked("IC", ""), `the name has "_1" behind`},
		"a name with a blank":         {`"IC 1.1"`, `"IC.1 0"`, asked("IC", ""), `the name has "1 0" behind`},
		"a name of digits":            {`"IC 1.1"`, `"IC.` + strings.Repeat("1", 4301) + `"`, asked("IC", ""), `1"… behind its last point`},
		"an empty range":              {"", "", asked("IC", `"times": [3, 3]`), first("times is [3, 3], which is empty: the second")},
		"a range of decimals":         {"", "", asked("IC", `"travelFactor": [1.0, 1.9]`), first("travelFactor is [1.0, 1.9], which is empty")},
		"a range that is too far":     {"", "", asked("IC", `"periodicity": [0, 1e300]`), first("periodicity is [0, 1e+300]: want")},
		"a decimal shift":             {"", "", asked("IC", `"initialShift": 0.5`), first("initialShift is 0.5: want a whole number, without")},
		"a decimal period":            {"", "", asked("IC", `"periodicity": 5.0`), first("periodicity is 5.0: want a whole number, without")},
		"decimal times":               {"", "", asked("IC", `"times": 2.0`), first("times is 2.0: want a whole number, without")},
		"a shift that is too far":     {"", "", asked("IC", `"initialShift": 1099511627777`), first("initialShift is 1099511627777: want a number within")},
		"a time that is too far":      {"", "", asked("IC", `"initialShift": 1099511627776`), first("stops[1], shifted by 1099511627776: step 1099511627781 is too far away")},
		"a stop that is too far":      {`"latestArrival": 12`, `"latestArrival": 1099511627777`, asked("IC", ""), first("stops[2]: step 1099511627777 is too far away")},
		"stops that add up":           {`"earliestDeparture": 7`, `"earliestDeparture": 1099511627776`, asked("IC", `"travelFactor": -1`), first("stops[2]: step 2199023255530 is too far away")},
		"too many trains":             {"", "", asked("IC", `"times": 65537`), first("times is 65537, which makes more than 65536 trains")},
		"too many trains in all":      {"", "", levelMetadata(`{"trainCategories": {"IC": {"times": 1}, "S": {"times": 65536}}}`), `l, s: timetable "S back": trainCategories.S: times is 65536`},
		"a factor too large":          {"", "", asked("IC", `"travelFactor": 1e308`), first("stops[1]: a travel time of 5 steps times the travelFactor 1e+308 is too long")},
		"a product too large": {`"travelFactor": 1, "dwellTime": 2, "stops": [
			{"stationId": 1`, `"travelFactor": 9007199254740992, "dwellTime": 2, "stops": [
			{"stationId": 1`, asked("IC", `"travelFactor": 2`), first("its travelFactor 9007199254740992 times 2 is too large")},
		"no line":               {`"lineId": 10`, `"lineId": 11`, asked("IC", ""), first("lineId is 11, which no line of the scene has")},
		"no way":                {`"agent_speeds": [1, 0.8, 0.5]`, `"agent_speeds": [1, 0.8]`, asked("S", ""), "it is timetables[2] of the scene, but flatlandLine has 2 trains"},
		"no position":           {`[[[0, 4]]], [[[0, 4]]]]`, `[[[0, 4]]]]`, asked("S", ""), "flatlandLine has 2 trains"},
		"no direction":          {`[[3]], [[3]]]`, `[[3]]]`, asked("S", ""), "flatlandLine has 2 trains"},
		"no target":             {`[0, 0], [0, 0]]`, `[0, 0]]`, asked("S", ""), "flatlandLine has 2 trains"},
		"no start time":         {`"earliestDeparture": 0`, `"earliestDeparture": null`, asked("IC", ""), first("stops[0] has no earliestDeparture")},
		"no time in the middle": {`"earliestDeparture": 7`, `"earliestDeparture": null`, asked("IC", ""), first("stops[1] has no earliestDeparture")},
		"no arrival there":      {`"latestArrival": 5`, `"latestArrival": null`, asked("IC", ""), first("stops[1] has no latestArrival")},
		"no last arrival":       {`"latestArrival": 12`, `"latestArrival": null`, asked("IC", ""), first("stops[2] has no latestArrival")},
		"no stops": {`[
			{"stationId": 3, "earliestDeparture": 3, "latestArrival": null},
			{"stationId": 1, "earliestDeparture": null, "latestArrival": 10}],
			"track": "left"`, `[], "track": "left"`, asked("S", ""), `timetable "S back": trainCategories.S: it has no stops`},
		"one stop without arrival": {`[
			{"stationId": 3, "earliestDeparture": 3, "latestArrival": null},
			{"stationId": 1, "earliestDeparture": null, "latestArrival": 10}],
			"track": "left"`, `[{"stationId": 3, "earliestDeparture": 3, "latestArrival": null}], "track": "left"`,
			asked("S", ""), "stops[0] has no latestArrival: the train's time at its target"},
		"a sample of too many":      {"", "", levelMetadata(`{"trainCategories": {"IC": {}}, "postSampler": {"num": 2}}`), "l, s: postSampler.num: 2 of 1 trains cannot be drawn"},
		"a sample of none":          {"", "", levelMetadata(`{"trainCategories": {}, "postSampler": {"num": 0}}`), "postSampler.num: 0 of 0 trains"},
		"a negative sample":         {"", "", levelMetadata(`{"trainCategories": {"IC": {}}, "postSampler": {"num": -1}}`), "postSampler.num: -1 of 1 trains"},
		"an unmarked scene":         {"", "", filtered("scene"), `l, s: timetable "IC 1.1": attributeFilter.key is "scene": it has no scene: add the key`},
		"an unknown attribute":      {"", "", filtered("colour"), `attributeFilter.key is "colour": it has no such attribute`},
		"an object":                 {"", "", filtered("tags"), `timetable "S back": attributeFilter.key is "tags": it is not a text`},
		"stops":                     {"", "", filtered("stops"), `attributeFilter.key is "stops": it is not a text`},
		"a long number":             {"18446744073709551615", strings.Repeat("1", 4301), filtered("weight"), "more than 4300 digits"},
		"a level that is a path":    {"", "", `{"levels": [{"name": "../l", "scenarios": []}]}`, "levels[0].name, which becomes part of file names: "},
		"a scenario that is a path": {"", "", `{"levels": [{"name": "l", "scenarios": [{"name": "a/b"}]}]}`, "levels[0].scenarios[0].name, which becomes part of a file name: "},
		"a scenario twice": {"", "", `{"levels": [{"name": "l", "defaults": {"timetableSpecs": {"trainCategories": {}}},
			"scenarios": [{"name": "s"}, {"name": "s"}]}]}`, "l, s comes twice"},
	} {
		scene := strings.ReplaceAll(levelScene, c.old, c.new)
		if c.old == "" {
			scene = levelScene
		} else if scene == levelScene {
			t.Fatalf("%s: nothing changed", name)
		}
		all, err := deriveLevels(t, scene, c.metadata, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
		if all != nil {
			t.Errorf("%s: got %d scenarios beside the error", name, len(all))
		}
	}
	var many strings.Builder
	for i := range 11 { // of 65536 trains with 3 stops
		fmt.Fprintf(&many, `, {"name": "s%d"}`, i)
	}
	_, err := deriveLevels(t, levelScene, `{"levels": [{"name": "l",
		"defaults": {"timetableSpecs": {"trainCategories": {"IC": {"times": 65536}}}}, "scenarios": [`+many.String()[2:]+`]}]}`, 1)
	want := `l, s10: timetable "IC 1.1": trainCategories.IC: the trains of all scenarios have more than 2097152 stops`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("too many stops: got error %v, want %q", err, want)
	}
}

// TestSameSeedsSameLevels: it gives the same scenarios with the same seeds, others with others, and leaves the initial
// scene alone.
func TestSameSeedsSameLevels(t *testing.T) {
	run, err := readLevelRun(golden.Read(t, goldenLevels+"/synthetic_seven_levels.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	initial := run.initial(t)
	var before, after bytes.Buffer
	if err := initial.Write(&before); err != nil {
		t.Fatal(err)
	}
	derive := func(seed, idSeed uint32) []Derived {
		global, ids := numpyrand.NewRandomState(seed), numpyrand.NewRandomState(idSeed)
		all, err := Levels(initial, &run.Metadata, &global, &ids)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	first := derive(3, 4)
	if !reflect.DeepEqual(derive(3, 4), first) {
		t.Error("the same seeds give other scenarios")
	}
	if reflect.DeepEqual(derive(4, 4), first) {
		t.Error("another global seed gives the same scenarios")
	}
	others := derive(3, 5)
	ids := numpyrand.NewRandomState(5)
	for i := range 2 {
		high, low := ids.Uint32(), ids.Uint32()
		if got, want := others[0].Scene.Timetables[i].ID, uint64(high)<<32+uint64(low); got != want {
			t.Errorf("train %d: got id %d, want %d", i, got, want)
		}
	}
	seen := make(map[uint64]bool)
	for i := range first {
		for j := range first[i].Scene.Timetables {
			a, b := &first[i].Scene.Timetables[j], &others[i].Scene.Timetables[j]
			if a.ID == b.ID || seen[a.ID] {
				t.Errorf("%s, train %d: id %d is not new", first[i].FileStem(), j, a.ID)
			}
			seen[a.ID] = true
			b.ID = a.ID
		}
	}
	if !reflect.DeepEqual(others, first) {
		t.Error("another seed of the ids changes more than the ids")
	}
	// What may be changed in a derived scene is its own: also times of two copies, and in the two lists of times.
	for i := range first {
		s := first[i].Scene
		for j := range s.Timetables {
			s.Timetables[j].Name = "changed"
			for k := range s.Timetables[j].Stops {
				if at := s.Timetables[j].Stops[k].EarliestDeparture; at != nil {
					*at += 1000
				}
				if at := s.Timetables[j].Stops[k].LatestArrival; at != nil {
					*at += 1000
				}
			}
		}
		if !reflect.DeepEqual(s.FlatlandTimetable, others[i].Scene.FlatlandTimetable) {
			t.Fatalf("%s: times of flatlandTimetable changed with those of the timetables", first[i].FileStem())
		}
	}
	if err := initial.Write(&after); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before.Bytes(), after.Bytes()) {
		t.Error("the initial scene changed")
	}
	if got, want := first[0].FileStem(), "level_0/level_0_scenario_1"; got != want {
		t.Errorf("got file %s, want %s", got, want)
	}
}

// TestDerivedEnvironment: it takes the seed and the rewards it is given, and says which scenario it cannot open.
func TestDerivedEnvironment(t *testing.T) {
	const metadata = `{"levels": [{"name": "l", "defaults": {"timetableSpecs": {"trainCategories": {"IC": {}}}}, "scenarios": [
		{"name": "a", "seed": 7},
		{"name": "b", "departureMalfunctionSpecs": {"malfunction_duration_min": 1, "malfunction_duration_max": 2, "malfunction_interval": 4}},
		{"name": "c", "malfunctionSpecs": {"malfunction_duration_min": 1, "malfunction_duration_max": 2, "malfunction_interval": 0}},
		{"name": "d", "malfunctionSpecs": {"malfunction_duration_min": 3, "malfunction_duration_max": 2, "malfunction_interval": 5}}]}]}`
	all, err := deriveLevels(t, levelScene, metadata, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := all[0].Environment(11, rail.ECML2026Rewards())
	if err != nil {
		t.Fatal(err)
	}
	if e.Seed().Value != 11 || *all[0].Seed != 7 || !slices.Equal(e.RewardFunctions(), []rail.Rewards{rail.ECML2026Rewards()}) {
		t.Errorf("got seed %+v of metadata's %d and rewards %+v", e.Seed(), *all[0].Seed, e.RewardFunctions())
	}
	// quirk: the effect of malfunctions anywhere is there in any case, and last.
	none := rail.NewBreakdowns(rail.MalfunctionParameters{})
	departures := rail.NewDepartureMalfunctions(rail.MalfunctionParameters{Rate: 0.25, MinDuration: 1, MaxDuration: 2}, 0)
	if got, want := e.Effects(), []rail.Effect{none}; !reflect.DeepEqual(got, want) {
		t.Errorf("without malfunctions: got %+v, want %+v", got, want)
	}
	if e, err = all[1].Environment(11); err != nil {
		t.Fatal(err)
	}
	if got, want := e.Effects(), []rail.Effect{departures, none}; !reflect.DeepEqual(got, want) {
		t.Errorf("with departures alone: got %+v, want %+v", got, want)
	}
	for i, want := range []string{2: "l, c: malfunctionSpecs: malfunction_interval is 0", 3: "l, d: effect 0: "} {
		if want == "" {
			continue
		}
		if _, err := all[i].Environment(11); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

func FuzzLevels(f *testing.F) {
	f.Add([]byte(levelMetadata(`{"attributeFilter": {"key": "track", "val": ["left"]}, "postSampler": {"num": 2},
		"trainCategories": {"IC": {"times": [1, 9], "travelFactor": 1.05}, "S": {"periodicity": [1, 5], "initialShift": 2}}}`)))
	for _, name := range []string{"competition_sample", "example_scenarios", "example_scenarios_test_post_sampler", "example_scenarios_test_ranges"} {
		f.Add(golden.Read(f, filepath.Join(goldenScenes, "metadata_"+name+".json.gz")))
	}
	initial := readLevelScene(f, []byte(levelScene))
	if err := MarkScenes(initial); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := railfile.ReadMetadata(bytes.NewReader(data))
		if err != nil {
			return
		}
		global, ids := numpyrand.NewRandomState(1), numpyrand.NewRandomState(2)
		all, err := Levels(initial, m, &global, &ids)
		if err != nil && all != nil {
			t.Fatal("scenarios beside an error")
		}
		for i := range all {
			s := all[i].Scene
			if len(s.Timetables) > maxLevelTrains {
				t.Fatalf("got %d trains", len(s.Timetables))
			}
			if len(s.Timetables) > 100 || i > 9 {
				continue
			}
			var b bytes.Buffer
			if err := s.Write(&b); err != nil {
				t.Fatal(err)
			}
			if _, err := railfile.ReadScene(&b); err != nil {
				t.Fatalf("what was written cannot be read: %v", err)
			}
			all[i].Environment(1) // may refuse it
		}
	})
}
