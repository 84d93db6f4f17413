package railfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/rail"
)

// tableDir is a directory with some of the tables, or other files.
func tableDir(t testing.TB, files map[string]string) *TrajectoryDir {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &TrajectoryDir{Path: dir}
}

const (
	actionHeader   = "episode_id\tenv_time\tagent_id\taction\n"
	positionHeader = "episode_id\tenv_time\tagent_id\tposition\n"
	arrivedHeader  = "episode_id\tenv_time\tsuccess_rate\tnormalized_reward\n"
	rewardHeader   = "episode_id\tenv_time\tagent_id\treward\tinfo\tdone\n"
	someInfo       = "{'action_required': True, 'malfunction': 3, 'speed': Fraction(1, 3), 'state': <TrainState.MALFUNCTION: 5>}"
)

// TestRowsStayAsTheyAre: nothing is merged, sorted or left out.
func TestRowsStayAsTheyAre(t *testing.T) {
	d := tableDir(t, map[string]string{
		ActionsFile: "\tenv_time\tepisode_id\tagent_id\tcomment\taction\r\n" + // by the header, CRLF
			"0\t1\tb\t0\tx\tMOVE_LEFT\n" + "1\t0\ta\t7\t\tRailEnvActions.STOP_MOVING\n" + "2\t0\ta\t7\t\t2\n" + "3\t0\ta\t7\t\t2\n" +
			"4\t-1\ta\t-3\t\tFLY\n" + "5\t0\ta\t0\t\t\n" + "6\t0\ta\t0\t\t1.0\n" + "7\t0\t\"x\"\"\t\"\t0\t\t5",
		PositionsFile: positionHeader + "a\t1\t0\t\n" + "a\t1\t0\t(None, 2)\n" + "a\t1\t0\t(None, None)\n" + "a\t1\t0\t((12, 3), 0)\n" + "a\t1\t0\t((-1,3),3)\n",
		ArrivedFile:   "episode_id\tenv_time\tsuccess_rate\n" + "a\t9\t0.5\n" + "a\t9\t1\n",
	})
	got, err := d.Read()
	if err != nil {
		t.Fatal(err)
	}
	want := []ActionRow{
		{2, "b", 1, 0, rail.MoveLeft, false, ""}, {3, "a", 0, 7, rail.StopMoving, false, ""}, {4, "a", 0, 7, rail.MoveForward, false, ""},
		{5, "a", 0, 7, rail.MoveForward, false, ""}, {6, "a", -1, -3, rail.DoNothing, true, "FLY"}, {7, "a", 0, 0, rail.DoNothing, true, ""},
		{8, "a", 0, 0, rail.DoNothing, true, "1.0"}, {9, "x\"\t", 0, 0, rail.DoNothing, true, "5"},
	}
	if !slices.Equal(got.Actions, want) {
		t.Errorf("got actions\n%+v\nwant\n%+v", got.Actions, want)
	}
	var at []rail.Configuration
	for _, r := range got.Positions {
		at = append(at, r.At)
	}
	if want := []rail.Configuration{rail.Nowhere, rail.Nowhere, rail.Nowhere, {Cell: rail.Cell{Row: 12, Col: 3}}, {Cell: rail.Cell{Row: -1, Col: 3}, Heading: 3}}; !slices.Equal(at, want) {
		t.Errorf("got positions %v, want %v", at, want)
	}
	if want := []ArrivedRow{{2, "a", 9, Decimal(0.5), Number{}, false}, {3, "a", 9, WholeNumber(1), Number{}, false}}; !slices.Equal(got.Arrived, want) {
		t.Errorf("got arrived %+v, want %+v", got.Arrived, want)
	}
	if !slices.Equal(got.Missing, []string{RewardsFile}) || got.Rewards != nil {
		t.Errorf("got missing %q and rewards %v", got.Missing, got.Rewards)
	}
	if of := got.Of("b"); of.EpisodeID != "b" || len(of.Actions) != 1 || len(of.Positions) != 0 {
		t.Errorf("of episode b: got %+v", of)
	}
	episodes, err := d.Episodes()
	if err != nil || !slices.Equal(episodes, []string{"a", "b", "x\"\t"}) {
		t.Errorf("got episodes %q, error %v", episodes, err)
	}
	for _, err := range d.Rewards() {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of a table that is not there: got error %v", err)
		}
	}
}

func TestRewardCells(t *testing.T) {
	for text, want := range map[string]Reward{
		"0":                     NewNumberReward(WholeNumber(0)),
		"-107.5":                NewNumberReward(Decimal(-107.5)),
		"-0.0":                  NewNumberReward(Decimal(math.Copysign(0, -1))),
		"0.14285714285714285":   NewNumberReward(Decimal(1.0 / 7)),
		"1e-05":                 NewNumberReward(Decimal(1e-5)),
		"1e+16":                 NewNumberReward(Decimal(1e16)),
		"9007199254740992":      NewNumberReward(WholeNumber(1 << 53)),
		"(0, -1.0, 0.0)":        NewTupleReward(WholeNumber(0), Decimal(-1), Decimal(0)),
		"(2, 3)":                NewTupleReward(WholeNumber(2), WholeNumber(3)),
		"(2,)":                  NewTupleReward(WholeNumber(2)),
		"()":                    {},
		"{'COLLISION': -250.0}": {NamedReward, []Number{Decimal(-250)}, []string{"COLLISION"}},
	} {
		got, err := parseReward([]byte(text))
		if err != nil || !got.Equal(want) || got.String() != text {
			t.Errorf("%s: got %v, error %v", text, got, err)
		}
	}
	for _, c := range []struct {
		r    Reward
		kind rail.RewardKind
		ok   bool
	}{
		{NewNumberReward(Decimal(1)), rail.ScalarReward, true}, {NewTupleReward(Number{}, Number{}), rail.PunctualityReward, true},
		{NewTupleReward(Number{}, Number{}, Number{}), rail.MultiObjectiveReward, true}, {NewComponentReward([rail.Components]Number{}), rail.ComponentReward, true},
		{Reward{}, rail.PunctualityReward, false}, {Reward{NamedReward, []Number{{}}, []string{"X"}}, rail.ComponentReward, false},
	} {
		if kind, ok := c.r.Kind(); kind != c.kind || ok != c.ok {
			t.Errorf("%v: got kind %v, %v, want %v, %v", c.r, kind, ok, c.kind, c.ok)
		}
	}
}

func TestInfoCells(t *testing.T) {
	want := Info{true, 3, rail.Frac(1, 3), rail.Malfunction}
	for _, text := range []string{
		someInfo, strings.Replace(someInfo, "Fraction(1, 3)", "0.33", 1), strings.Replace(someInfo, "<TrainState.MALFUNCTION: 5>", "5", 1),
		"{'state':5,'speed':0.3333333333333333,'malfunction':3,'action_required':True}", "{ 'state' : 5 , 'speed' : Fraction( 1 , 3 ) , 'malfunction' : 3 , 'action_required' : True }",
	} {
		got, err := parseInfo([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, error %v", text, got, err)
		}
	}
	if got := string(want.append(nil, appendState)); got != someInfo {
		t.Errorf("got %s, want %s", got, someInfo)
	}
}

// TestMalformedCells: the error names file, line and column, and says what was expected.
func TestMalformedCells(t *testing.T) {
	info := func(old, new string) string {
		return rewardHeader + "a\t1\t0\t0.0\t" + strings.Replace(someInfo, old, new, 1) + "\tTrue\n"
	}
	reward := func(r string) string { return rewardHeader + "a\t1\t0\t" + r + "\t" + someInfo + "\tTrue\n" }
	for name, c := range map[string]struct{ file, text, want string }{
		"nothing":              {ActionsFile, "", "event_logs/ActionEvents.discrete_action.tsv: it is empty"},
		"a byte order mark":    {ActionsFile, "\ufeff" + actionHeader, "line 1: it begins with a byte order mark"},
		"a column short":       {ActionsFile, "episode_id\tenv_time\taction\n", "line 1: the header has no column agent_id"},
		"a column twice":       {ArrivedFile, "episode_id\tenv_time\tsuccess_rate\tnormalized_reward\tmean_normalized_reward\n", "line 1: the header names column normalized_reward twice"},
		"a cell short":         {ActionsFile, actionHeader + "a\t0\t0\n", "line 2: 3 cells, want 4"},
		"a cell more":          {ActionsFile, actionHeader + "a\t0\t0\t0\t0\n", "line 2: 5 cells, want 4"},
		"an empty line":        {ActionsFile, actionHeader + "a\t0\t0\t0\n\n", "line 3: 1 cells, want 4"},
		"too many cells":       {ActionsFile, strings.Repeat("x\t", 64) + "x\n", "line 1: more than 64 cells"},
		"no episode":           {ActionsFile, actionHeader + "\t0\t0\t0\n", "line 2, column episode_id: it is empty"},
		"a time with a point":  {ActionsFile, actionHeader + "a\t0.0\t0\t0\n", `line 2, column env_time: "0.0" is not a whole number`},
		"a huge train":         {ActionsFile, actionHeader + "a\t0\t2147483648\t0\n", `line 2, column agent_id: "2147483648" is out of range`},
		"a sign":               {ActionsFile, actionHeader + "a\t0\t+1\t0\n", `"+1" is not a whole number`},
		"not UTF-8":            {ActionsFile, actionHeader + "\xff\t0\t0\t0\n", "line 2: it is not UTF-8"},
		"an open quotation":    {ActionsFile, actionHeader + "\"a\t0\t0\t0\n", "line 2: a cell in quotation marks has no end"},
		"text after one":       {ActionsFile, actionHeader + "\"a\"b\t0\t0\t0\n", "line 2: a cell goes on after"},
		"a place":              {PositionsFile, positionHeader + "a\t1\t0\t(1, 2, 3)\n", `line 2, column position: "(1, 2, 3)": at character 2 want (`},
		"a heading":            {PositionsFile, positionHeader + "a\t1\t0\t((1, 2), 4)\n", "want a heading, 0 to 3"},
		"no heading":           {PositionsFile, positionHeader + "a\t1\t0\t((1, 2), None)\n", "want a whole number"},
		"more than a place":    {PositionsFile, positionHeader + "a\t1\t0\t((1, 2), 3) \t\n", "5 cells, want 4"},
		"a place and a half":   {PositionsFile, positionHeader + "a\t1\t0\t((1, 2), 3))\n", "at character 12 want no more"},
		"no success":           {ArrivedFile, arrivedHeader + "a\t1\t\t\n", "column success_rate: \"\" is not a finite number"},
		"NaN":                  {ArrivedFile, arrivedHeader + "a\t1\t1.0\tnan\n", "column normalized_reward: \"nan\" is not a finite number"},
		"no reward":            {RewardsFile, reward(""), "line 2, column reward: \"\" is no reward"},
		"an infinite reward":   {RewardsFile, reward("-inf"), "want a finite number"},
		"a reward too large":   {RewardsFile, reward("1e999"), "want a finite number"},
		"a hexadecimal reward": {RewardsFile, reward("0x1p4"), "want a finite number"},
		"an open tuple":        {RewardsFile, reward("(1, 2"), "at character 6 want ,"},
		"parentheses":          {RewardsFile, reward("(1)"), "want a comma"},
		"a tuple of text":      {RewardsFile, reward("(1, 'x')"), "want a finite number"},
		"a component twice":    {RewardsFile, reward("{'A': 0, 'A': 0}"), "comes twice"},
		"an endless tuple":     {RewardsFile, reward("(" + strings.Repeat("0, ", 65) + "0)"), "want at most 16 values"},
		"an endless dict":      {RewardsFile, reward("{" + manyComponents(65) + "}"), "want at most 16 components"},
		"no state":             {RewardsFile, info(", 'state': <TrainState.MALFUNCTION: 5>", ""), "line 2, column info: "},
		"another entry":        {RewardsFile, info("'malfunction'", "'deadlocked'"), "want the entries action_required, malfunction, speed and state"},
		"an entry twice":       {RewardsFile, info("'malfunction': 3", "'malfunction': 3, 'malfunction': 3"), "comes twice"},
		"a wrong state":        {RewardsFile, info("MALFUNCTION: 5", "MALFUNCTION: 4"), "want a state like <TrainState.MOVING: 3>"},
		"state 7":              {RewardsFile, info("<TrainState.MALFUNCTION: 5>", "7"), "want a state"},
		"division by zero":     {RewardsFile, info("Fraction(1, 3)", "Fraction(1, 0)"), "want a fraction"},
		"a flag":               {RewardsFile, info("True", "1"), "want True or False"},
		"an empty info":        {RewardsFile, info(someInfo, "{}"), "want a name"},
		"done":                 {RewardsFile, rewardHeader + "a\t1\t0\t0.0\t" + someInfo + "\ttrue\n", `line 2, column done: "true" is neither True nor False`},
	} {
		_, err := tableDir(t, map[string]string{c.file: c.text}).Read()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.file) {
			t.Errorf("%s: got error %v, want %s … %s", name, err, c.file, c.want)
		}
		var at *TableError
		if !errors.As(err, &at) {
			t.Errorf("%s: got a %T, want a TableError", name, err)
		}
	}
}

func manyComponents(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("'%d': 0", i))
	}
	return strings.Join(parts, ", ")
}

func TestLimits(t *testing.T) {
	rows := actionHeader + strings.Repeat("a\t0\t0\t0\n", 100)
	d := tableDir(t, map[string]string{ActionsFile: rows, PositionsFile + ".gz": string(compressed(t, positionHeader+strings.Repeat("a\t1\t0\t\n", 100_000)))})
	for name, c := range map[string]struct {
		limits TableLimits
		want   string
	}{
		"rows":         {TableLimits{1 << 20, 1000, 99}, "line 101: more than 99 rows"},
		"bytes":        {TableLimits{500, 1000, 1000}, "larger than 500 bytes"},
		"a line":       {TableLimits{1 << 20, 20, 1000}, "line 1: longer than 20 bytes"},
		"decompressed": {TableLimits{100_000, 1000, 1000_000}, "larger than 100000 bytes"},
	} {
		d.Limits = c.limits
		if _, err := d.Read(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
	e := tableDir(t, map[string]string{"serialised_state/a.pkl": "123456789", "serialised_state/b.pkl.gz": string(compressed(t, "123456789"))})
	for _, episode := range []string{"a", "b"} {
		e.Limits = TableLimits{8, 8, 8}
		if _, err := e.Environment(episode); err == nil || !strings.Contains(err.Error(), "larger than 8 bytes") {
			t.Errorf("environment %s: got error %v", episode, err)
		}
		e.Limits = TableLimits{9, 8, 8}
		if data, err := e.Environment(episode); err != nil || string(data) != "123456789" {
			t.Errorf("environment %s just within the limit: got %q, error %v", episode, data, err)
		}
	}
	d.Limits = TableLimits{int64(len(rows)), 40, 100_000}
	n := 0
	for _, err := range d.Actions() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 100 {
		t.Errorf("just within the limits: got %d rows, want 100", n)
	}
}

func TestReadingStopsWhenAskedTo(t *testing.T) {
	d := tableDir(t, map[string]string{ActionsFile: actionHeader + "a\t0\t0\t0\na\tx\t0\t0\n"})
	for r, err := range d.Actions() {
		if err != nil || r.Line != 2 {
			t.Errorf("got %+v, error %v", r, err)
		}
		break
	}
}

func TestDamagedCompression(t *testing.T) {
	whole := compressed(t, actionHeader+strings.Repeat("a\t0\t0\t0\n", 1000))
	for name, data := range map[string][]byte{"not compressed": []byte(actionHeader), "cut": whole[:len(whole)-9]} {
		_, err := tableDir(t, map[string]string{ActionsFile + ".gz": string(data)}).Read()
		if err == nil || !strings.HasPrefix(err.Error(), ActionsFile) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// TestWhatIsNoTable: the error names the table once, whatever is in its place.
func TestWhatIsNoTable(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"a file for a folder": {"event_logs": ""},
		"a folder for a file": {ActionsFile + "/inside": ""},
	} {
		_, err := tableDir(t, files).Read()
		if err == nil || strings.Count(err.Error(), ActionsFile) != 1 || strings.Contains(err.Error(), "stat") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// TestEpisodesStayInside: no episode's name and no link leads out of the directory.
func TestEpisodesStayInside(t *testing.T) {
	d := tableDir(t, map[string]string{
		"serialised_state/a.pkl": "A", "serialised_state/a_step0007.pkl": "A7", "serialised_state/a_step12345.pkl": "A12345", "serialised_state/a_step7.pkl": "other",
		"serialised_state/b.pkl.gz": string(compressed(t, "B")), "serialised_state/note.txt": "", "secret.pkl": "S",
	})
	for _, id := range []string{"", "../secret", "..", ".", "/secret", `..\secret`, "a/b", "a:b", "a\x00", "a\n", "\xff", ".hidden", strings.Repeat("x", 201)} {
		if err := CheckEpisodeID(id); err == nil {
			t.Errorf("%q was accepted", id)
		}
		if _, err := d.Environment(id); err == nil {
			t.Errorf("%q was opened", id)
		}
		if _, err := d.Snapshots(id); err == nil {
			t.Errorf("%q has snapshots", id)
		}
	}
	for want, read := range map[string]func() ([]byte, error){
		"A": func() ([]byte, error) { return d.Environment("a") }, "B": func() ([]byte, error) { return d.Environment("b") },
		"A7": func() ([]byte, error) { return d.Snapshot("a", 7) }, "A12345": func() ([]byte, error) { return d.Snapshot("a", 12345) },
	} {
		if got, err := read(); err != nil || string(got) != want {
			t.Errorf("got %q, error %v, want %q", got, err, want)
		}
	}
	if steps, err := d.Snapshots("a"); err != nil || !slices.Equal(steps, []int{7, 12345}) {
		t.Errorf("got snapshots %v, error %v", steps, err)
	}
	if episodes, err := d.Episodes(); err != nil || !slices.Equal(episodes, []string{"a", "a_step7", "b"}) {
		t.Errorf("got episodes %q, error %v", episodes, err)
	}
	if environments, err := d.Environments(); err != nil || !slices.Equal(environments, []string{"a", "a_step7", "b"}) {
		t.Errorf("got environments %q, error %v", environments, err)
	}
	if _, err := d.Snapshot("a", -1); err == nil {
		t.Error("a snapshot of step -1")
	}
	if runtime.GOOS != "windows" { // where links need a privilege
		outside := tableDir(t, map[string]string{ActionsFile: actionHeader}).Path
		inside := tableDir(t, nil)
		if err := os.Symlink(filepath.Join(outside, "event_logs"), filepath.Join(inside.Path, "event_logs")); err != nil {
			t.Fatal(err)
		}
		if _, err := inside.Read(); err == nil || !strings.Contains(err.Error(), "escapes") {
			t.Errorf("through a link: got error %v", err)
		}
	}
	if _, err := tableDir(t, map[string]string{ActionsFile + "/x": ""}).Read(); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder for a table: got error %v", err)
	}
}

// TestTablesAppearWhenCommitted: whole or not at all.
func TestTablesAppearWhenCommitted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	w, err := CreateTrajectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	row := RewardRow{Episode: "a\tb", Time: 1, Reward: NewNumberReward(WholeNumber(-3))}
	if err := w.Reward(row); err != nil {
		t.Fatal(err)
	}
	visible := func() (names []string) {
		entries, err := os.ReadDir(filepath.Join(dir, "event_logs"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				names = append(names, e.Name())
			}
		}
		return names
	}
	if names := visible(); len(names) != 0 {
		t.Errorf("before Commit: got %q", names)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if names := visible(); len(names) != 4 {
		t.Errorf("after Commit: got %q", names)
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "event_logs"))
	if len(entries) != 4 {
		t.Errorf("temporary files stay: %v", entries)
	}
	d := &TrajectoryDir{Path: dir}
	got, err := d.Read()
	row.Line = 2
	if err != nil || len(got.Rewards) != 1 || got.Rewards[0].Episode != row.Episode || !got.Rewards[0].Reward.Equal(row.Reward) {
		t.Errorf("got %+v, error %v", got, err)
	}
	if _, err := CreateTrajectory(dir); err == nil || !strings.Contains(err.Error(), "already has rows") {
		t.Errorf("into a directory with rows: got error %v", err)
	}
}

func TestRewardsOfTwoFormsAreRefused(t *testing.T) {
	dir := t.TempDir()
	w, err := CreateTrajectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	w.Reward(RewardRow{Episode: "a", Reward: NewNumberReward(Decimal(0))})
	if err := w.Reward(RewardRow{Episode: "a", Reward: NewTupleReward()}); err == nil {
		t.Error("no error")
	}
	if err := w.Commit(); err == nil || !strings.Contains(err.Error(), "is of another form") {
		t.Errorf("got error %v", err)
	}
	w.Abort()
	entries, err := os.ReadDir(filepath.Join(dir, "event_logs"))
	if err != nil || len(entries) != 0 {
		t.Errorf("after Abort: got %v, error %v", entries, err)
	}
}

// TestQuirkWholeRewardsOfAColumn: one decimal makes all of the column decimals.
func TestQuirkWholeRewardsOfAColumn(t *testing.T) {
	for want, rewards := range map[string][]Number{
		"0,-3":     {WholeNumber(0), WholeNumber(-3)},
		"0.0,-3.0": {WholeNumber(0), Decimal(-3)},
	} {
		dir := t.TempDir()
		t1 := &Trajectory{}
		for _, r := range rewards {
			t1.Rewards = append(t1.Rewards, RewardRow{Episode: "a", Reward: NewNumberReward(r)})
		}
		if err := WriteTrajectory(dir, t1); err != nil {
			t.Fatal(err)
		}
		var cells []string
		for _, line := range strings.Split(string(writtenTables(t, dir)[RewardsFile]), "\n")[1:3] {
			cells = append(cells, strings.Split(line, "\t")[3])
		}
		if got := strings.Join(cells, ","); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// fuzzTable reads a table of any bytes, and what is written of its rows once more.
func fuzzTable(f *testing.F, file string) {
	for name, run := range goldenRuns(f) {
		if name == "morl_tuple" || name == "late_base" || name == "whole_numbers" || name == "default_malfunction" {
			data := golden.Read(f, filepath.Join(run.dir, file+".gz"))
			f.Add(data[:min(len(data), 2000)])
		}
	}
	dir := f.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "event_logs"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := readTable(file, data)
		if err != nil {
			return
		}
		out := t.TempDir()
		if err := WriteTrajectory(out, read); err != nil {
			return // two forms of rewards
		}
		written, err := os.ReadFile(filepath.Join(out, file))
		if err != nil {
			t.Fatal(err)
		}
		again, err := readTable(file, written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%q", err, written)
		}
		if n := len(again.Actions) + len(again.Positions) + len(again.Arrived) + len(again.Rewards); n != len(read.Actions)+len(read.Positions)+len(read.Arrived)+len(read.Rewards) {
			t.Errorf("got %d rows of %q", n, written)
		}
	})
}

func readTable(file string, data []byte) (*Trajectory, error) {
	t := &Trajectory{}
	r, limits := bytes.NewReader(data), TableLimits{1 << 20, 4096, 10_000}
	switch file {
	case ActionsFile:
		return t, gather(t, &t.Actions, file, rowsOf(file, r, limits, actionColumns, actionRow), 1)
	case PositionsFile:
		return t, gather(t, &t.Positions, file, rowsOf(file, r, limits, positionColumns, positionRow), 1)
	case ArrivedFile:
		return t, gather(t, &t.Arrived, file, rowsOf(file, r, limits, arrivedColumns, arrivedRow), 1)
	}
	return t, gather(t, &t.Rewards, file, rowsOf(file, r, limits, rewardColumns, rewardRow), 1)
}

func FuzzActions(f *testing.F)   { fuzzTable(f, ActionsFile) }
func FuzzPositions(f *testing.F) { fuzzTable(f, PositionsFile) }
func FuzzArrived(f *testing.F)   { fuzzTable(f, ArrivedFile) }
func FuzzRewards(f *testing.F)   { fuzzTable(f, RewardsFile) }

// BenchmarkRewards reads a table of the size of the largest scenario's: 532 trains in 3000 steps.
func BenchmarkRewards(b *testing.B) {
	dir := b.TempDir()
	w, err := CreateTrajectory(dir)
	if err != nil {
		b.Fatal(err)
	}
	for step := range 3000 {
		for train := range 532 {
			r := NewNumberReward(Decimal(-float64(step*train%97) / 3))
			w.Reward(RewardRow{Episode: "level_6_scenario_5", Time: step + 1, Agent: train, Reward: r, Info: Info{true, step % 50, rail.Frac(1, int64(1+train%4)), rail.Moving}})
		}
	}
	if err := w.Commit(); err != nil {
		b.Fatal(err)
	}
	d := &TrajectoryDir{Path: dir}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range d.Rewards() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 532*3000 {
			b.Fatalf("got %d rows", n)
		}
	}
}
