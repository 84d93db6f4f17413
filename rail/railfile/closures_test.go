package railfile

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"skyrail/internal/golden"
	"skyrail/internal/pyvalue"
	"skyrail/rail"
)

// withClosures is a recorded environment whose trains meet closed tracks, between other effects.
func withClosures(t testing.TB) (*rail.Env, []rail.Closure) {
	t.Helper()
	_, e := openFile(t, "testdata/files/generated/byvalue_initial.pkl")
	closures := []rail.Closure{
		{From: 30, Until: 90, Cells: []rail.Cell{e.Network().Cell(e.Initial(4)), e.Network().Cell(e.Initial(0))}},
		{From: 5, Until: 40, Cells: []rail.Cell{{Row: 7, Col: 33}}},
	}
	p := rail.MalfunctionParameters{Rate: 0.01, MinDuration: 1, MaxDuration: 3}
	effects := append(e.Effects(), &rail.TrackClosures{Closures: closures}, rail.NewDepartureMalfunctions(p, 0), &rail.TrackClosures{})
	if err := e.SetEffects(effects); err != nil {
		t.Fatal(err)
	}
	return e, closures
}

// TestClosuresAreSavedAndRead saves an environment before and in the middle of an episode; what is read goes on as it does.
func TestClosuresAreSavedAndRead(t *testing.T) {
	for _, steps := range []int{0, 45} {
		e, closures := withClosures(t)
		actions := make([]rail.Action, e.Trains())
		for i := range actions {
			actions[i] = rail.MoveForward
		}
		step := func(e *rail.Env) {
			if err := e.Step(actions); err != nil {
				t.Fatal(err)
			}
		}
		for range steps {
			step(e)
		}
		data, err := SaveEnvironment(e)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ReadEnvironment(data)
		if err != nil {
			t.Fatal(err)
		}
		if f.NeedsSeed() {
			t.Error("a file with a stream asks for a seed")
		}
		if got := f.State.Effects[1].(*rail.TrackClosures).Closures; !reflect.DeepEqual(got, closures) {
			t.Errorf("got closures %v, want %v", got, closures)
		}
		again, err := f.Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !again.Equal(e) || !e.Equal(again) {
			t.Errorf("after step %d: it became another environment", steps)
		}
		once, err := SaveEnvironment(again)
		if err != nil || !bytes.Equal(once, data) {
			t.Errorf("saved once more it has other bytes, error %v", err)
		}
	}
}

// TestClosuresNeedNoStream: what draws nothing is known without a random state.
func TestClosuresNeedNoStream(t *testing.T) {
	draws := &rail.LegacyMalfunctions{}
	for _, c := range []struct {
		effects []rail.Effect
		want    bool
	}{
		{[]rail.Effect{&rail.TrackClosures{}}, false},
		{[]rail.Effect{&rail.TrackClosures{}, draws}, true},
	} {
		f := Environment{State: rail.Snapshot{Effects: c.effects}}
		if got := f.NeedsSeed(); got != c.want {
			t.Errorf("%T: got %v, want %v", c.effects, got, c.want)
		}
	}
}

// TestClosuresNoticeEveryChange reads a file in which one value of the closures is another.
func TestClosuresNoticeEveryChange(t *testing.T) {
	e, _ := withClosures(t)
	data, err := SaveEnvironment(e)
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	for at := 0; ; at++ {
		value, err := pyvalue.Decode(data, pyvalue.Options{Globals: globals})
		if err != nil {
			t.Fatal(err)
		}
		effects, _ := value.(*pyvalue.Dict).Get("effects_generator")
		specs, _ := effects.(*pyvalue.Dict).Get("specs")
		parts, _ := specs.(*pyvalue.Dict).Get("args")
		numbers := wholeNumbers(&parts.(*pyvalue.List).Items[1])
		if at == len(numbers) {
			break
		}
		*numbers[at] = (*numbers[at]).(pyvalue.Int) - 1
		changed, err := pyvalue.EncodePickle(value)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ReadEnvironment(changed)
		if err != nil {
			t.Fatal(err)
		}
		other, err := f.Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		if other.Equal(e) {
			t.Errorf("number %d of the closures as %d went unnoticed", at, *numbers[at])
		}
		changes++
	}
	if want := 2*2 + 3*2; changes != want {
		t.Errorf("%d numbers were changed, want %d", changes, want)
	}
}

// wholeNumbers are the places of the whole numbers in a value.
func wholeNumbers(v *pyvalue.Value) []*pyvalue.Value {
	var all []*pyvalue.Value
	switch v := (*v).(type) {
	case *pyvalue.Dict:
		for i := range v.Entries {
			all = append(all, wholeNumbers(&v.Entries[i].Value)...)
		}
	case *pyvalue.List:
		for i := range v.Items {
			all = append(all, wholeNumbers(&v.Items[i])...)
		}
	case *pyvalue.Tuple:
		for i := range v.Items {
			all = append(all, wholeNumbers(&v.Items[i])...)
		}
	}
	if _, ok := (*v).(pyvalue.Int); ok {
		all = append(all, v)
	}
	return all
}

func TestClosureRefusals(t *testing.T) {
	number := func(n int) pyvalue.Value { return pyvalue.Int(n) }
	cells := &pyvalue.List{Items: []pyvalue.Value{tupleOf(number(1), number(2))}}
	good := dictOf("from_step", number(2), "until_step", number(9), "cells", cells)
	with := func(key string, v pyvalue.Value) pyvalue.Value {
		d := dictOf("from_step", number(2), "until_step", number(9), "cells", cells)
		d.Set(key, v)
		return &pyvalue.List{Items: []pyvalue.Value{good, d}}
	}
	const second = "effects_generator.specs.kwargs.closures[1]"
	for name, c := range map[string]struct {
		closures pyvalue.Value
		want     string
	}{
		"no list":            {pyvalue.None{}, "effects_generator.specs.kwargs.closures: want a list"},
		"a text":             {pyvalue.Str("none"), "closures: want a list"},
		"no dictionary":      {&pyvalue.List{Items: []pyvalue.Value{good, tupleOf(number(2), number(9))}}, second + ": want a dictionary with from_step"},
		"no begin":           {with("from_step", pyvalue.None{}), second + ".from_step: want a whole number"},
		"half a step":        {with("until_step", pyvalue.Float(8.5)), second + ".until_step: want a whole number"},
		"a cell of three":    {with("cells", &pyvalue.List{Items: []pyvalue.Value{tupleOf(number(1), number(2), number(3))}}), second + ".cells[0]: want a cell"},
		"cells that are one": {with("cells", tupleOf(number(1), number(2))), second + ".cells[0]: want a cell"},
		"a cell of texts":    {with("cells", tupleOf(tupleOf(pyvalue.Str("1"), number(2)))), second + ".cells[0]: want a cell"},
		"no cells":           {with("cells", &pyvalue.List{}), "effect 0: closure 1: it has no cells"},
		"cells not there":    {with("cells", pyvalue.None{}), "effect 0: closure 1: it has no cells"},
		"a cell outside":     {with("cells", tupleOf(tupleOf(number(35), number(0)))), "cell (35, 0) is outside the grid of 35 rows and 35 columns"},
		"an end at once":     {with("until_step", number(2)), "effect 0: closure 1: from step 2 until step 2: want"},
		"a begin below 0":    {with("from_step", number(-2)), "from step -2"},
		"an end too far":     {with("until_step", number(1<<20+1)), "until step 1048577"},
	} {
		t.Run("it refuses "+name, func(t *testing.T) {
			f, err := ReadEnvironment(spoilt(t, func(d *pyvalue.Dict) {
				d.Set("effects_generator", dictOf("cls", pyvalue.Str(closuresEffect), "specs", dictOf("kwargs", dictOf("closures", c.closures))))
			}))
			if err == nil {
				_, err = f.Open(nil)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestInfrastructureSpecs: they are read, overlaid key by key and written again, and are no effects.
func TestInfrastructureSpecs(t *testing.T) {
	const text = `{
  "levels": [
    {
      "name": "level_6",
      "defaults": {
        "infrastructureSpecs": {
          "closure_interval": 12.5,
          "closure_duration_min": 20,
          "closure_duration_max": 50,
          "closure_length": 8
        }
      },
      "scenarios": [
        {
          "name": "a"
        },
        {
          "name": "b",
          "infrastructureSpecs": {
            "closure_interval": 40
          }
        },
        {
          "name": "c",
          "infrastructureSpecs": {
            "closure_duration_min": 1,
            "closure_duration_max": 2,
            "closure_length": 3
          }
        }
      ]
    },
    {
      "name": "level_7",
      "defaults": {},
      "scenarios": [
        {
          "name": "d",
          "infrastructureSpecs": {}
        },
        {
          "name": "e"
        }
      ]
    }
  ]
}`
	golden.Mutate(t, []byte(text), 100, nil, func(data []byte) error {
		m, err := ReadMetadata(bytes.NewReader(data))
		if err != nil {
			return err
		}
		var got bytes.Buffer
		if err := m.Write(&got); err != nil {
			return err
		}
		return sameValue(got.Bytes(), []byte(text))
	})
	m, err := ReadMetadata(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := m.Write(&written); err != nil || written.String() != text {
		t.Errorf("got %s, error %v", written.String(), err)
	}
	for i, want := range []string{"12.5 20 50 8", "40 20 50 8", "12.5 1 2 3"} {
		specs := m.Levels[0].Specs(i)
		s := specs.Infrastructure
		if got := fmt.Sprint(*s.Interval, *s.DurationMin, *s.DurationMax, *s.Length); got != want {
			t.Errorf("scenario %d: got %s, want %s", i, got, want)
		}
		if effects, err := specs.Effects(); err != nil || effects != nil {
			t.Errorf("scenario %d: got effects %v, error %v", i, effects, err)
		}
	}
	if got := m.Levels[1].Specs(0).Infrastructure; got == nil || *got != (InfrastructureSpecs{}) {
		t.Errorf("empty specs: got %+v", got)
	}
	if got := m.Levels[1].Specs(1).Infrastructure; got != nil {
		t.Errorf("no specs: got %+v", got)
	}
	for name, c := range map[string]struct{ specs, want string }{
		"a misspelt key": {`{"closure_lenght": 3}`, `infrastructureSpecs: key "closure_lenght" is none of the format`},
		"half a cell":    {`{"closure_length": 3.5}`, "infrastructureSpecs.closure_length: "},
		"a text":         {`{"closure_interval": "9"}`, "infrastructureSpecs.closure_interval: "},
		"a list":         {`[]`, "infrastructureSpecs"},
	} {
		_, err := ReadMetadata(strings.NewReader(`{"levels": [{"name": "a", "defaults": {"infrastructureSpecs": ` + c.specs + `}, "scenarios": []}]}`))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
}
