package submission

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// badManifests finish the sentence "it refuses …".
var badManifests = map[string]struct {
	text string
	rule Rule
	says string
}{
	"an empty manifest":                {"", ManifestTeam, "submission.yaml: the manifest names no team; add a line"},
	"only comments":                    {"# team: a\n", ManifestTeam, ""},
	"no team":                          {"algo: PPO\n", ManifestTeam, ""},
	"an empty team":                    {"team: \"  \"\n", ManifestTeam, ""},
	"a team without a value":           {"team:\nalgo: PPO\n", ManifestTeam, ""},
	"a team that is null":              {"team: null\n", ManifestTeam, ""},
	"a team that is a number":          {"algo: PPO\nteam: 42\n", ManifestType, `submission.yaml:2:7: team is a number, not text; put it in quotation marks: "42"`},
	"a team that is a fraction":        {"team: 1.5\n", ManifestType, `"1.5"`},
	"a team that is octal":             {"team: 0o17\n", ManifestType, `"0o17"`},
	"a team that is infinite":          {"team: .inf\n", ManifestType, "a number"},
	"a team that is true":              {"team: true\n", ManifestType, `team is a truth value, not text; put it in quotation marks: "true"`},
	"a team that is a list":            {"team: [a, b]\n", ManifestType, "1:7: team is a list, not text"},
	"a team that is a mapping":         {"team:\n  name: a\n", ManifestType, "team is a mapping"},
	"an algo that is a number":         {"team: a\nalgo: 3\n", ManifestType, "submission.yaml:2:7: algo is a number"},
	"notes that are a list":            {"team: a\nnotes:\n  - b\n", ManifestType, "notes is a list"},
	"an entry point that is a number":  {"team: a\nenv_entry_point: 3\n", ManifestType, "env_entry_point is a number"},
	"deterministic as text":            {"team: a\ndeterministic: yes\n", ManifestType, "submission.yaml:2:16: deterministic is a text; write true or false"},
	"deterministic as a number":        {"team: a\ndeterministic: 1\n", ManifestType, "deterministic is a number"},
	"a text":                           {"my team\n", ManifestType, "the manifest is a text, not a mapping"},
	"a list":                           {"- team: a\n", ManifestType, "the manifest is a list"},
	"a team of 81 characters":          {"team: " + strings.Repeat("é", 81) + "\n", ManifestText, "team has 81 characters, more than 80"},
	"a team of two lines":              {"team: |\n  a\n  b\n", ManifestText, "a line break"},
	"a team with a control character":  {"team: \"a\\u0000b\"\n", ManifestText, "team contains control characters"},
	"a team that clears the screen":    {"team: \"\\e[2J\"\n", ManifestText, "control characters"},
	"a team that turns the writing":    {"team: \"a\\u202eb\"\n", ManifestText, "control characters"},
	"a team that is invisible":         {"team: \"\\u200b\"\n", ManifestText, "can be seen"},
	"a team of fillers":                {"team: \"\\u3164 \\u115f\\u2800\"\n", ManifestText, "can be seen"},
	"notes that ring a bell":           {"team: a\nnotes: \"\\a\"\n", ManifestText, "notes contains control"},
	"a tab for an indent":              {"team: a\nx:\n\ty: 1\n", ManifestSyntax, "submission.yaml:3:1: "},
	"an open quotation mark":           {"team: \"a\nalgo: b\n", ManifestSyntax, "submission.yaml:1:7: "},
	"a colon too many":                 {"team: a: b\n", ManifestSyntax, "submission.yaml:1:7: "},
	"a key that comes twice":           {"team: a\nalgo: b\nteam: c\n", ManifestSyntax, "submission.yaml:3:1: "},
	"a key that comes twice, quoted":   {"team: a\n\"team\": c\n", ManifestSyntax, "submission.yaml:2:1: "},
	"an unknown key that comes twice":  {"team: a\nx: {b: 1, b: 2}\n", ManifestSyntax, "submission.yaml:2:"},
	"a key that comes twice in braces": {"{team: a, team: b}\n", ManifestSyntax, "submission.yaml:1:11: "},
	"a null":                           {"~\n", ManifestType, "the manifest is empty"},
	"two documents":                    {"team: a\n---\nteam: b\n", ManifestSyntax, "submission.yaml:2:1: the manifest has more than one document"},
	"an empty second document":         {"team: a\n---\n", ManifestSyntax, "more than one document"},
	"an anchor":                        {"team: &a b\n", ManifestSyntax, "submission.yaml:1:7: "},
	"an alias":                         {"team: *winners*\n", ManifestSyntax, "put the value in quotation marks"},
	"a tag":                            {"team: !!str 42\n", ManifestSyntax, "1:7"},
	"a merge":                          {"<<: {team: a}\n", ManifestSyntax, ""},
	"a directive":                      {"%YAML 1.2\n---\nteam: a\n", ManifestSyntax, "has a meaning in YAML"},
	"a key written as a question":      {"? team\n: a\n", ManifestSyntax, ""},
	"a reserved sign":                  {"team: @a\n", ManifestSyntax, "1:7"},
	"UTF-16":                           {"\xff\xfet\x00e\x00", ManifestSyntax, "not UTF-8; save it as UTF-8"},
	"Latin-1":                          {"team: caf\xe9\n", ManifestSyntax, "not UTF-8"},
	"an anchor bomb":                   {"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nteam: a\n", ManifestSyntax, "1:4"},
	"deep nesting":                     {"team: a\nx: " + strings.Repeat("[", 60_000), ManifestSyntax, "more than 2000"},
	"an entry point of one word":       {"team: a\nenv_entry_point: MyEnv\n", ManifestEntryPoint, `submission.yaml:2:18: env_entry_point is "MyEnv", but it names no module; write it as`},
	"an entry point that is a path":    {"team: a\nenv_entry_point: envs/my_env.py:MyEnv\n", ManifestEntryPoint, `"envs/my_env" is not a Python name`},
	"an entry point with a dash":       {"team: a\npolicy_entry_point: policy.my-net:Net\n", ManifestEntryPoint, `"my-net" is not`},
	"an entry point without a class":   {"team: a\npolicy_entry_point: \"policy.net:\"\n", ManifestEntryPoint, `"" is not`},
	"an entry point within a class":    {"team: a\npolicy_entry_point: policy.net:Net.Inner\n", ManifestEntryPoint, `"Net.Inner" is not`},
	"a relative entry point":           {"team: a\npolicy_entry_point: .net:Net\n", ManifestEntryPoint, `"" is not`},
	"an entry point with a digit":      {"team: a\npolicy_entry_point: policy.2net:Net\n", ManifestEntryPoint, `"2net" is not`},
	"an entry point that is code":      {"team: a\npolicy_entry_point: \"os:system('x')\"\n", ManifestEntryPoint, "is not a Python name"},
	"an entry point without end":       {"team: a\npolicy_entry_point: a." + strings.Repeat("a", 200) + "\n", ManifestText, "more than 200"},
}

func TestItRefusesAManifestWith(t *testing.T) {
	for name, c := range badManifests {
		t.Run(name, func(t *testing.T) {
			m, err := readManifest([]byte(c.text), manifestName)
			var got *Refusal
			if !errors.As(err, &got) {
				t.Fatalf("got %+v and error %v, want the rule %s", m, err, c.rule)
			}
			if got.Rule != c.rule {
				t.Errorf("got rule %s, want %s; error %v", got.Rule, c.rule, err)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("got error %q, want it to say %q", err, c.says)
			}
			if !isLine(err.Error()) {
				t.Errorf("got error %q, want one line", err)
			}
		})
	}
}

func TestItReadsAManifest(t *testing.T) {
	base := Manifest{Team: "a", Algo: "PPO", Deterministic: true}
	with := func(change func(*Manifest)) Manifest {
		m := base
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		text string
		want Manifest
	}{
		"with defaults":                {"team: a\n", base},
		"without a line end":           {"team: a", base},
		"with every key":               {lines("team: Sky Rail", "algo: DQN", "env_entry_point: envs.e:E", "policy_entry_point: p.q.R", "deterministic: false", "notes: hello"), Manifest{"Sky Rail", "DQN", "envs.e:E", "p.q.R", false, "hello"}},
		"with nulls":                   {lines("team: a", "algo: null", "env_entry_point: ~", "policy_entry_point:", "deterministic:", "notes: \"\""), base},
		"with a byte-order mark":       {"\ufeffteam: a\n", base},
		"with the line ends of DOS":    {"team: a\r\nalgo: A2C\r\nnotes: |\r\n  one\r\n  two\r\n", with(func(m *Manifest) { m.Algo, m.Notes = "A2C", "one\ntwo" })},
		"with a number in quotes":      {"team: \"42\"\n", with(func(m *Manifest) { m.Team = "42" })},
		"with a truth value in quotes": {"team: 'true'\n", with(func(m *Manifest) { m.Team = "true" })},
		"with space around the name":   {"team: \"  a  \"\n", base},
		"with 80 characters":           {"team: " + strings.Repeat("é", 80) + "\n", with(func(m *Manifest) { m.Team = strings.Repeat("é", 80) })},
		"with an emoji":                {"team: ✈️ 👩‍✈️\n", with(func(m *Manifest) { m.Team = "✈️ 👩‍✈️" })},
		"with the name in a block":     {"team: >\n  a\n", base},
		"in braces":                    {"{team: a, deterministic: false}\n", with(func(m *Manifest) { m.Deterministic = false })},
		"behind a document mark":       {"---\nteam: a\n", base},
		"with comments":                {"# hello\nteam: a # us\n", base},
		"with letters of any alphabet": {"team: a\nenv_entry_point: envs.größe2:Übung_3\n", with(func(m *Manifest) { m.EnvEntryPoint = "envs.größe2:Übung_3" })},
		"with a class of one module":   {"team: a\npolicy_entry_point: net:Net\n", with(func(m *Manifest) { m.PolicyEntryPoint = "net:Net" })},
		"with tabs in the notes":       {"team: a\nnotes: \"one\\ttwo\\nthree\"\n", with(func(m *Manifest) { m.Notes = "one\ttwo\nthree" })},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readManifest([]byte(c.text), manifestName)
			if err != nil {
				t.Fatal(err)
			}
			if d := gocmp.Diff(got.Manifest, c.want); d != "" {
				t.Error(d)
			}
			if len(got.unknown) > 0 {
				t.Errorf("got warnings %q, want none", got.unknown)
			}
		})
	}
}

func TestItWarnsOfUnknownKeys(t *testing.T) {
	got, err := readManifest([]byte(lines("team: a", "deterministc: false", "Algo: DQN", "coach:", "  - x: [1, 2]", "1: b", "\"\\e\": c")), "t/submission.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`t/submission.yaml:2:1: unknown key "deterministc" is ignored; did you mean deterministic?`,
		`t/submission.yaml:3:1: unknown key "Algo" is ignored; did you mean algo?`,
		`t/submission.yaml:4:1: unknown key "coach" is ignored`,
		`t/submission.yaml:6:1: unknown key "1" is ignored`,
		`t/submission.yaml:7:1: unknown key "\x1b" is ignored`,
	}
	if d := gocmp.Diff(got.unknown, want); d != "" {
		t.Error(d)
	}
	if !got.Deterministic || got.Algo != "PPO" {
		t.Errorf("got %+v, want the defaults", got.Manifest)
	}
}

func TestAManifestIsJSON(t *testing.T) {
	got, err := json.Marshal(Manifest{"a", "PPO", "b.c:D", "", true, "n"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"team":"a","algo":"PPO","env_entry_point":"b.c:D","policy_entry_point":"","deterministic":true,"notes":"n"}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEntryPointsAreSplit(t *testing.T) {
	for text, want := range map[string]entryPoint{
		"a.b:C": {module: []string{"a", "b"}, class: "C"},
		"a.b.C": {module: []string{"a", "b"}, class: "C"},
		"a:C":   {module: []string{"a"}, class: "C"},
	} {
		got, err := parseEntryPoint(text)
		if err != nil || !slices.Equal(got.module, want.module) || got.class != want.class {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word, want string
		most       int
	}{{"tema", "team", 2}, {"teams", "team", 1}, {"xxxx", "", 3}, {"NOTE", "notes", 1}, {"env_entrypoint", "env_entry_point", 1}, {strings.Repeat("x", 100_000), "", 3}} {
		if got, ok := nearest(c.word, keys, c.most); got != c.want || ok != (c.want != "") {
			t.Errorf("%.20s within %d: got %q, %v, want %q", c.word, c.most, got, ok, c.want)
		}
	}
}
