package railfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"skyrail/rail"
)

// Reward is a reward as a table holds it: one number, a tuple, or named components. Its zero value is the tuple ().
type Reward struct {
	Form   RewardForm
	Values []Number
	Names  []string // of NamedReward, as many as Values
}

// RewardForm is how a reward is written.
type RewardForm int8

// The forms.
const (
	TupleReward  RewardForm = iota // (0, -1.0, 0.0)
	NumberReward                   // -107.5
	NamedReward                    // {'COLLISION': 0, 'TARGET_LATE_ARRIVAL': 0, …}
)

// NewNumberReward is a reward of one number.
func NewNumberReward(n Number) Reward { return Reward{NumberReward, []Number{n}, nil} }

// NewTupleReward is a reward of several numbers.
func NewTupleReward(values ...Number) Reward { return Reward{TupleReward, values, nil} }

// componentNames is shared by all rewards of components.
var componentNames = rail.ComponentNames()

// NewComponentReward is a reward of the [rail.Components] components of the default reward.
func NewComponentReward(values [rail.Components]Number) Reward {
	return Reward{NamedReward, values[:], componentNames}
}

// Equal says whether two rewards are written in the same way.
func (r Reward) Equal(o Reward) bool {
	return r.Form == o.Form && slices.Equal(r.Values, o.Values) && slices.Equal(r.Names, o.Names)
}

// Kind is the reward function that gives rewards like this one; ok is false if none does.
func (r Reward) Kind() (kind rail.RewardKind, ok bool) {
	switch {
	case r.Form == NumberReward:
		return rail.ScalarReward, true
	case r.Form == NamedReward:
		return rail.ComponentReward, slices.Equal(r.Names, componentNames)
	case len(r.Values) == 3:
		return rail.MultiObjectiveReward, true
	}
	return rail.PunctualityReward, len(r.Values) == 2
}

// String is the reward as Python prints it.
func (r Reward) String() string { return string(r.append(nil)) }

func (r Reward) append(dst []byte) []byte {
	switch r.Form {
	case NumberReward:
		return r.Values[0].append(dst)
	case NamedReward:
		dst = append(dst, '{')
		for i, v := range r.Values {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(dst, '\'')
			dst = append(dst, r.Names[i]...)
			dst = append(dst, "': "...)
			dst = v.append(dst)
		}
		return append(dst, '}')
	}
	dst = append(dst, '(')
	for i, v := range r.Values {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = v.append(dst)
	}
	if len(r.Values) == 1 {
		dst = append(dst, ',')
	}
	return append(dst, ')')
}

// maxValues bounds the values of a reward; the widest has 8.
const maxValues = 16

// parseReward reads a number, a tuple of numbers or a dict of numbers.
func parseReward(cell []byte) (Reward, error) {
	s := literal{text: cell}
	switch {
	case s.take("("):
		var r Reward
		commas := 0
		for s.err == nil && !s.take(")") {
			if len(r.Values) > 0 {
				s.want(",")
				if commas++; s.take(")") {
					break
				}
			}
			if r.Values = append(r.Values, s.number()); len(r.Values) > maxValues {
				s.fail("at most %d values", maxValues)
			}
		}
		if len(r.Values) == 1 && commas == 0 {
			s.fail("a comma, as in (0,)")
		}
		return r, s.end()
	case s.take("{"):
		r := Reward{Form: NamedReward}
		for !s.take("}") && s.err == nil {
			if len(r.Values) > 0 {
				s.want(",")
			}
			name := s.name()
			if slices.Contains(r.Names, name) {
				s.fail("each component once, and %s comes twice", quote(name))
			}
			s.want(":")
			r.Names, r.Values = append(r.Names, name), append(r.Values, s.number())
			if len(r.Values) > maxValues {
				s.fail("at most %d components", maxValues)
			}
		}
		if slices.Equal(r.Names, componentNames) {
			r.Names = componentNames
		}
		return r, s.end()
	}
	n, err := parseNumber(cell)
	if err != nil {
		return Reward{}, fmt.Errorf("%s is no reward: want a finite number, a tuple like (0, 0.0) or a dict like {'COLLISION': 0}", quote(string(cell)))
	}
	return NewNumberReward(n), nil
}

// parseInfo reads a dict like {'action_required': False, 'malfunction': 10, 'speed': Fraction(1, 3), 'state':
// <TrainState.MALFUNCTION_OFF_MAP: 2>}; older files have a plain number for the speed and the state.
func parseInfo(cell []byte) (Info, error) {
	var info Info
	seen := map[string]bool{}
	s := literal{text: cell}
	s.want("{")
	for len(seen) == 0 || s.err == nil && !s.take("}") {
		if len(seen) > 0 {
			s.want(",")
		}
		name := s.name()
		if seen[name] {
			s.fail("each entry once, and %s comes twice", quote(name))
		}
		seen[name] = true
		s.want(":")
		switch name {
		case "action_required":
			info.ActionRequired = s.bool()
		case "malfunction":
			info.Malfunction = s.int()
		case "speed":
			info.Speed = s.fraction()
		case "state":
			info.State = s.state()
		default:
			s.fail("the entries action_required, malfunction, speed and state, not %s", quote(name))
		}
	}
	if s.err == nil && len(seen) < 4 {
		s.fail("all of action_required, malfunction, speed and state")
	}
	return info, s.end()
}

func (i Info) append(dst []byte, state func([]byte, rail.State) []byte) []byte {
	dst = append(dst, "{'action_required': "...)
	dst = appendBool(dst, i.ActionRequired)
	dst = append(dst, ", 'malfunction': "...)
	dst = WholeNumber(i.Malfunction).append(dst)
	dst = append(dst, ", 'speed': "...)
	dst = appendFraction(dst, i.Speed)
	dst = append(dst, ", 'state': "...)
	return append(state(dst, i.State), '}')
}

func appendFraction(dst []byte, f rail.Fraction) []byte {
	num, den, slash := strings.Cut(f.String(), "/")
	if !slash {
		den = "1"
	}
	dst = append(dst, "Fraction("...)
	dst = append(dst, num...)
	dst = append(dst, ", "...)
	dst = append(dst, den...)
	return append(dst, ')')
}

// appendState appends a state as Python prints the member of an enum.
func appendState(dst []byte, s rail.State) []byte {
	dst = append(dst, "<TrainState."...)
	dst = append(dst, s.String()...)
	dst = append(dst, ": "...)
	return append(appendStateNumber(dst, s), '>')
}

func appendStateNumber(dst []byte, s rail.State) []byte { return WholeNumber(int(s)).append(dst) }

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "True"...)
	}
	return append(dst, "False"...)
}

// parsePosition reads ((row, col), heading). Off the map are an empty cell, (None, heading) and (None, None).
func parsePosition(cell []byte) (rail.Configuration, error) {
	if len(cell) == 0 {
		return rail.Nowhere, nil
	}
	c := rail.Nowhere
	s := literal{text: cell}
	s.want("(")
	if s.take("None") {
		s.want(",")
		if !s.take("None") {
			s.heading()
		}
		s.want(")")
		return rail.Nowhere, s.end()
	}
	s.want("(")
	c.Row = s.int()
	s.want(",")
	c.Col = s.int()
	s.want(")")
	s.want(",")
	c.Heading = s.heading()
	s.want(")")
	if err := s.end(); err != nil {
		return rail.Nowhere, err
	}
	return c, nil
}

func appendPosition(dst []byte, c rail.Configuration) []byte {
	if c == rail.Nowhere {
		return dst
	}
	dst = append(dst, "(("...)
	dst = WholeNumber(c.Row).append(dst)
	dst = append(dst, ", "...)
	dst = WholeNumber(c.Col).append(dst)
	dst = append(dst, "), "...)
	dst = WholeNumber(int(c.Heading)).append(dst)
	return append(dst, ')')
}

func parseBool(cell []byte) (bool, error) {
	switch string(cell) {
	case "True":
		return true, nil
	case "False":
		return false, nil
	}
	return false, fmt.Errorf("%s is neither True nor False", quote(string(cell)))
}

// literal reads the few Python literals that tables hold. The first fault stays, and everything after it reads as zero.
type literal struct {
	text []byte
	at   int
	err  error
}

func (s *literal) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%s: at character %d want "+format, append([]any{quote(string(s.text)), s.at + 1}, args...)...)
	}
}

// skip passes over blanks and says whether there is more to read.
func (s *literal) skip() bool {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
	return s.err == nil
}

func (s *literal) take(token string) bool {
	if s.skip() && bytes.HasPrefix(s.text[s.at:], []byte(token)) {
		s.at += len(token)
		return true
	}
	return false
}

func (s *literal) want(token string) {
	if !s.take(token) {
		s.fail("%s", token)
	}
}

// word takes the characters up to one of the stops.
func (s *literal) word(stops string) []byte {
	if !s.skip() {
		return nil
	}
	end := bytes.IndexAny(s.text[s.at:], stops)
	if end < 0 {
		end = len(s.text) - s.at
	}
	w := s.text[s.at : s.at+end]
	s.at += end
	return w
}

func (s *literal) number() Number {
	n, err := parseNumber(bytes.TrimRight(s.word(",)}"), " "))
	if err != nil {
		s.fail("a finite number")
	}
	return n
}

func (s *literal) int() int {
	n, err := parseInt(bytes.TrimRight(s.word(",)}>"), " "))
	if err != nil {
		s.fail("a whole number")
	}
	return n
}

func (s *literal) heading() rail.Heading {
	h := s.int()
	if h < int(rail.North) || h > int(rail.West) {
		s.fail("a heading, 0 to 3")
		return rail.NoHeading
	}
	return rail.Heading(h)
}

func (s *literal) bool() bool {
	b, err := parseBool(bytes.TrimRight(s.word(",)}"), " "))
	if err != nil {
		s.fail("True or False")
	}
	return b
}

// name reads a plain text in quotation marks.
func (s *literal) name() string {
	if !s.take("'") {
		s.fail("a name like 'state'")
		return ""
	}
	w := s.word("'\\")
	s.want("'")
	return string(w)
}

func (s *literal) fraction() rail.Fraction {
	if !s.take("Fraction(") {
		n := s.number()
		if s.err != nil {
			return rail.Fraction{}
		}
		f, err := rail.Snap(n.Value)
		if err != nil {
			s.fail("a speed")
		}
		return f
	}
	num := bytes.TrimRight(s.word(",)"), " ")
	s.want(",")
	den := bytes.TrimRight(s.word(",)"), " ")
	s.want(")")
	f, err := rail.ParseFraction(string(num) + "/" + string(den))
	if err != nil {
		s.fail("a fraction like Fraction(1, 3)")
	}
	return f
}

func (s *literal) state() rail.State {
	name := ""
	named := s.take("<TrainState.")
	if named {
		name = string(s.word(":>"))
		s.want(":")
	}
	n := s.int()
	if named {
		s.want(">")
	}
	state := rail.State(n)
	if n < int(rail.Waiting) || n > int(rail.Done) || named && name != state.String() {
		s.fail("a state like <TrainState.MOVING: 3>")
		return rail.NoState
	}
	return state
}

// end is the first fault; anything that is left is one.
func (s *literal) end() error {
	if s.skip() && s.at < len(s.text) {
		s.fail("no more")
	}
	return s.err
}
