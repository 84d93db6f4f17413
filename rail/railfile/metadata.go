package railfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"skyrail/rail"
)

// Metadata says what scenarios the generator derives from a scene: levels of scenarios, each with what is asked of its
// timetables and malfunctions.
//
// Keys that the format does not name are an error: one that is misspelt would otherwise silently change a competition.
type Metadata struct {
	Levels []MetadataLevel
}

// MetadataLevel is a row of scenarios that share their defaults.
type MetadataLevel struct {
	Name      string
	Defaults  Specs
	Scenarios []ScenarioSpecs
}

// ScenarioSpecs is one scenario of a level.
type ScenarioSpecs struct {
	Name string
	Specs
	Seed *uint64 // nil: none is given
}

// Specs is what is asked of a scenario. What is nil is not given.
type Specs struct {
	Timetable            *TimetableSpecs
	Malfunction          *MalfunctionSpecs // breakdowns anywhere
	DepartureMalfunction *MalfunctionSpecs // breakdowns of trains at their stops

	Infrastructure *InfrastructureSpecs // tracks that are closed for a time
}

// TimetableSpecs is what is asked of the timetables.
type TimetableSpecs struct {
	AttributeFilter *AttributeFilter
	TrainCategories []CategorySpecs // in their order in the file; nil: the key is not there
	PostSampler     *PostSampler
}

// AttributeFilter keeps the timetables one of whose values of an attribute is one of these.
type AttributeFilter struct {
	Key    string
	Values []AttributeValue
	List   bool // they were written as a list
}

// AttributeValue is a text or a number.
type AttributeValue struct {
	Text   string
	Number Number
	IsText bool
}

// PostSampler keeps so many timetables, drawn at random.
type PostSampler struct{ Num int }

// CategorySpecs is what is asked of the trains of a category. What is nil is not given.
type CategorySpecs struct {
	Name                                           string
	InitialShift, Periodicity, Times, TravelFactor *Range
}

// Range is a number, or two from which a whole number is drawn.
type Range struct {
	Low  Number
	High Number // not included; of a drawn one alone
	Draw bool
}

// MalfunctionSpecs say how often trains break down and for how long. What is nil is not given.
type MalfunctionSpecs struct {
	DurationMin, DurationMax *int    // steps
	Interval                 *Number // steps between two breakdowns of a train, on average
}

// InfrastructureSpecs say how often track is closed, for how long and how much of it. What is nil is not given.
//
// The key infrastructureSpecs is this project's own: flatland-rl has none like it.
type InfrastructureSpecs struct {
	Interval                 *Number // steps between the starts of two closures on the whole map, on average
	DurationMin, DurationMax *int    // steps
	Length                   *int    // cells of track at most
}

// ReadMetadata reads the JSON of the metadata.
func ReadMetadata(r io.Reader) (*Metadata, error) {
	data, err := readJSON(r)
	if err != nil {
		return nil, err
	}
	m := &Metadata{}
	if err := m.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return m, nil
}

// Write writes the metadata indented by two blanks, keys in the order of the published files.
func (m *Metadata) Write(w io.Writer) error {
	data, err := indented(m)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// Specs is what is asked of a scenario of the level: the defaults, overlaid with its own.
//
// quirk: the overlay is one key deep, so a scenario with train categories replaces all of the default ones.
func (l *MetadataLevel) Specs(scenario int) Specs {
	specs, own := l.Defaults, l.Scenarios[scenario].Specs
	if specs.Timetable == nil {
		specs.Timetable = own.Timetable
	} else if own.Timetable != nil {
		t := *specs.Timetable
		if own.Timetable.AttributeFilter != nil {
			t.AttributeFilter = own.Timetable.AttributeFilter
		}
		if own.Timetable.TrainCategories != nil {
			t.TrainCategories = own.Timetable.TrainCategories
		}
		if own.Timetable.PostSampler != nil {
			t.PostSampler = own.Timetable.PostSampler
		}
		specs.Timetable = &t
	}
	specs.Malfunction = specs.Malfunction.overlaid(own.Malfunction)
	specs.DepartureMalfunction = specs.DepartureMalfunction.overlaid(own.DepartureMalfunction)
	specs.Infrastructure = specs.Infrastructure.overlaid(own.Infrastructure)
	return specs
}

func (m *MalfunctionSpecs) overlaid(own *MalfunctionSpecs) *MalfunctionSpecs {
	if m == nil || own == nil {
		if own != nil {
			return own
		}
		return m
	}
	o := *m
	if own.DurationMin != nil {
		o.DurationMin = own.DurationMin
	}
	if own.DurationMax != nil {
		o.DurationMax = own.DurationMax
	}
	if own.Interval != nil {
		o.Interval = own.Interval
	}
	return &o
}

func (s *InfrastructureSpecs) overlaid(own *InfrastructureSpecs) *InfrastructureSpecs {
	if s == nil || own == nil {
		if own != nil {
			return own
		}
		return s
	}
	o := *s
	if own.Interval != nil {
		o.Interval = own.Interval
	}
	if own.DurationMin != nil {
		o.DurationMin = own.DurationMin
	}
	if own.DurationMax != nil {
		o.DurationMax = own.DurationMax
	}
	if own.Length != nil {
		o.Length = own.Length
	}
	return &o
}

// Effects are the malfunctions of a scenario, in their order: departures first. There are none if none are asked for.
// Closures of track are not among them: where they are depends on the rails.
func (s Specs) Effects() ([]rail.Effect, error) {
	var effects []rail.Effect
	if s.DepartureMalfunction != nil {
		p, err := s.DepartureMalfunction.Parameters()
		if err != nil {
			return nil, fmt.Errorf("departureMalfunctionSpecs: %w", err)
		}
		effects = append(effects, rail.NewDepartureMalfunctions(p, 0))
	}
	if s.Malfunction != nil {
		p, err := s.Malfunction.Parameters()
		if err != nil {
			return nil, fmt.Errorf("malfunctionSpecs: %w", err)
		}
		effects = append(effects, rail.NewBreakdowns(p))
	}
	return effects, nil
}

// Parameters are the malfunctions with their rate, 1/interval. All three values must be given.
func (m *MalfunctionSpecs) Parameters() (rail.MalfunctionParameters, error) {
	switch {
	case m.DurationMin == nil || m.DurationMax == nil || m.Interval == nil:
		return rail.MalfunctionParameters{}, errors.New("want malfunction_duration_min, malfunction_duration_max and malfunction_interval")
	case m.Interval.Value <= 0:
		return rail.MalfunctionParameters{}, fmt.Errorf("malfunction_interval is %s, want more than 0", *m.Interval)
	}
	return rail.MalfunctionParameters{Rate: 1 / m.Interval.Value, MinDuration: *m.DurationMin, MaxDuration: *m.DurationMax}, nil
}

// readExactly is readObject for objects that have no other keys.
func readExactly(data []byte, fields ...field) error {
	extra, err := readObject(data, fields...)
	if err == nil && len(extra) > 0 {
		err = fmt.Errorf("key %s is none of the format", quote(extra[0].Key))
	}
	return err
}

// UnmarshalJSON reads the object.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	return readExactly(data, field{"levels", &elements[MetadataLevel]{&m.Levels}, must})
}

// MarshalJSON writes the object.
func (m *Metadata) MarshalJSON() ([]byte, error) {
	var o object
	o.put("levels", m.Levels)
	return o.json()
}

// UnmarshalJSON reads the object.
func (l *MetadataLevel) UnmarshalJSON(data []byte) error {
	return readExactly(data,
		field{"name", &l.Name, must},
		field{"defaults", &l.Defaults, may},
		field{"scenarios", &elements[ScenarioSpecs]{&l.Scenarios}, must},
	)
}

// MarshalJSON writes the object.
func (l MetadataLevel) MarshalJSON() ([]byte, error) {
	var o object
	o.put("name", l.Name)
	o.put("defaults", l.Defaults)
	o.put("scenarios", l.Scenarios)
	return o.json()
}

func (s *Specs) fields() []field {
	return []field{
		{"timetableSpecs", &s.Timetable, may},
		{"malfunctionSpecs", &s.Malfunction, may},
		{"departureMalfunctionSpecs", &s.DepartureMalfunction, may},
		{"infrastructureSpecs", &s.Infrastructure, may},
	}
}

func (s *Specs) put(o *object) {
	if s.Timetable != nil {
		o.put("timetableSpecs", s.Timetable)
	}
	if s.Malfunction != nil {
		o.put("malfunctionSpecs", s.Malfunction)
	}
	if s.DepartureMalfunction != nil {
		o.put("departureMalfunctionSpecs", s.DepartureMalfunction)
	}
	if s.Infrastructure != nil {
		o.put("infrastructureSpecs", s.Infrastructure)
	}
}

// UnmarshalJSON reads the object.
func (s *Specs) UnmarshalJSON(data []byte) error { return readExactly(data, s.fields()...) }

// MarshalJSON writes the object.
func (s Specs) MarshalJSON() ([]byte, error) {
	var o object
	s.put(&o)
	return o.json()
}

// UnmarshalJSON reads the object.
func (s *ScenarioSpecs) UnmarshalJSON(data []byte) error {
	return readExactly(data, append(s.fields(), field{"name", &s.Name, must}, field{"seed", &s.Seed, may})...)
}

// MarshalJSON writes the object.
func (s ScenarioSpecs) MarshalJSON() ([]byte, error) {
	var o object
	o.put("name", s.Name)
	s.put(&o)
	if s.Seed != nil {
		o.put("seed", *s.Seed)
	}
	return o.json()
}

// UnmarshalJSON reads the object.
func (t *TimetableSpecs) UnmarshalJSON(data []byte) error {
	return readExactly(data,
		field{"attributeFilter", &t.AttributeFilter, may},
		field{"trainCategories", (*categorySpecs)(&t.TrainCategories), may},
		field{"postSampler", &t.PostSampler, may},
	)
}

// MarshalJSON writes the object.
func (t TimetableSpecs) MarshalJSON() ([]byte, error) {
	var o object
	if t.AttributeFilter != nil {
		o.put("attributeFilter", t.AttributeFilter)
	}
	if t.TrainCategories != nil {
		o.put("trainCategories", categorySpecs(t.TrainCategories))
	}
	if t.PostSampler != nil {
		o.put("postSampler", t.PostSampler)
	}
	return o.json()
}

// categorySpecs are written as an object with the names as keys.
type categorySpecs []CategorySpecs

func (c *categorySpecs) UnmarshalJSON(data []byte) error {
	all, err := members(data)
	if err != nil {
		return err
	}
	*c = make(categorySpecs, len(all))
	for i, m := range all {
		s := &(*c)[i]
		s.Name = m.Key
		err := readExactly(m.Value,
			field{"initialShift", &s.InitialShift, may},
			field{"periodicity", &s.Periodicity, may},
			field{"times", &s.Times, may},
			field{"travelFactor", &s.TravelFactor, may},
		)
		if err != nil {
			return within(m.Key, err)
		}
	}
	return nil
}

func (c categorySpecs) MarshalJSON() ([]byte, error) {
	var all object
	for _, s := range c {
		var o object
		for _, v := range []struct {
			key string
			to  *Range
		}{{"initialShift", s.InitialShift}, {"periodicity", s.Periodicity}, {"times", s.Times}, {"travelFactor", s.TravelFactor}} {
			if v.to != nil {
				o.put(v.key, v.to)
			}
		}
		data, err := o.json()
		if err != nil {
			return nil, err
		}
		all.put(s.Name, json.RawMessage(data))
	}
	return all.json()
}

// UnmarshalJSON reads a number or a list of two.
func (r *Range) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &r.Low); err == nil {
		return nil
	}
	var pair []Number
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 {
		return fmt.Errorf("%s is neither a number, a whole one within ±2^53, nor a list of two", quote(string(data)))
	}
	*r = Range{pair[0], pair[1], true}
	return nil
}

// MarshalJSON writes a number or a list of two.
func (r Range) MarshalJSON() ([]byte, error) {
	if !r.Draw {
		return r.Low.MarshalJSON()
	}
	return fmt.Appendf(nil, "[%s,%s]", r.Low, r.High), nil
}

// UnmarshalJSON reads the object.
func (f *AttributeFilter) UnmarshalJSON(data []byte) error {
	var val json.RawMessage
	if err := readExactly(data, field{"key", &f.Key, must}, field{"val", &val, must}); err != nil {
		return err
	}
	var one AttributeValue
	if err := json.Unmarshal(val, &one); err == nil {
		f.Values = []AttributeValue{one}
		return nil
	}
	f.List = true
	if err := json.Unmarshal(val, &elements[AttributeValue]{&f.Values}); err != nil {
		return within("val", err)
	}
	return nil
}

// MarshalJSON writes the object.
func (f AttributeFilter) MarshalJSON() ([]byte, error) {
	var o object
	o.put("key", f.Key)
	if f.List || len(f.Values) != 1 {
		o.put("val", f.Values)
	} else {
		o.put("val", f.Values[0])
	}
	return o.json()
}

// UnmarshalJSON reads a text or a number.
func (v *AttributeValue) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		v.IsText = true
		return json.Unmarshal(data, &v.Text)
	}
	if err := v.Number.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("%s is neither a text nor a number", quote(string(data)))
	}
	return nil
}

// MarshalJSON writes a text or a number.
func (v AttributeValue) MarshalJSON() ([]byte, error) {
	if v.IsText {
		return appendJSONText(nil, v.Text), nil
	}
	return v.Number.MarshalJSON()
}

// UnmarshalJSON reads the object.
func (p *PostSampler) UnmarshalJSON(data []byte) error {
	return readExactly(data, field{"num", &p.Num, must})
}

// MarshalJSON writes the object.
func (p PostSampler) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"num":%d}`, p.Num), nil }

// UnmarshalJSON reads the object.
func (m *MalfunctionSpecs) UnmarshalJSON(data []byte) error {
	return readExactly(data,
		field{"malfunction_duration_min", &m.DurationMin, may},
		field{"malfunction_duration_max", &m.DurationMax, may},
		field{"malfunction_interval", &m.Interval, may},
	)
}

// MarshalJSON writes the object.
func (m MalfunctionSpecs) MarshalJSON() ([]byte, error) {
	var o object
	if m.DurationMin != nil {
		o.put("malfunction_duration_min", *m.DurationMin)
	}
	if m.DurationMax != nil {
		o.put("malfunction_duration_max", *m.DurationMax)
	}
	if m.Interval != nil {
		o.put("malfunction_interval", *m.Interval)
	}
	return o.json()
}

// UnmarshalJSON reads the object.
func (s *InfrastructureSpecs) UnmarshalJSON(data []byte) error {
	return readExactly(data,
		field{"closure_interval", &s.Interval, may},
		field{"closure_duration_min", &s.DurationMin, may},
		field{"closure_duration_max", &s.DurationMax, may},
		field{"closure_length", &s.Length, may},
	)
}

// MarshalJSON writes the object.
func (s InfrastructureSpecs) MarshalJSON() ([]byte, error) {
	var o object
	if s.Interval != nil {
		o.put("closure_interval", *s.Interval)
	}
	if s.DurationMin != nil {
		o.put("closure_duration_min", *s.DurationMin)
	}
	if s.DurationMax != nil {
		o.put("closure_duration_max", *s.DurationMax)
	}
	if s.Length != nil {
		o.put("closure_length", *s.Length)
	}
	return o.json()
}
