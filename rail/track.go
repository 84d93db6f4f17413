package rail

// kinds are the regular cells, named as in the reference's table of them.
var kinds = []struct {
	value Transitions
	name  string
}{
	{0, "empty"},
	{32800, "vertical_straight"},
	{1025, "horizontal_straight"},
	{37408, "simple_switch_north_left"},
	{3089, "simple_switch_east_left"},
	{32872, "simple_switch_south_left"},
	{17411, "simple_switch_west_left"},
	{33825, "diamond_crossing"},
	{38433, "single_slip_SW"},
	{35889, "single_slip_NW"},
	{33897, "single_slip_NE"},
	{50211, "single_slip_SE"},
	{52275, "double_slip_NW_SE"},
	{38505, "double_slip_NE_SW"},
	{20994, "symmetric_switch_from_south"},
	{6672, "symmetric_switch_from_west"},
	{2136, "symmetric_switch_from_north"},
	{16458, "symmetric_switch_from_east"},
	{8192, "dead_end_from_south"},
	{256, "dead_end_from_west"},
	{128, "dead_end_from_north"},
	{4, "dead_end_from_east"},
	{16386, "right_turn_from_south"},
	{4608, "right_turn_from_west"},
	{2064, "right_turn_from_north"},
	{72, "right_turn_from_east"},
	{49186, "simple_switch_north_right"},
	{5633, "simple_switch_east_right"},
	{34864, "simple_switch_south_right"},
	{1097, "simple_switch_west_right"},
}

// Kind is the name of a regular cell, such as "simple_switch_north_left"; ok is false for any other value, with which the
// engine works all the same.
func (t Transitions) Kind() (name string, ok bool) {
	for _, k := range kinds {
		if k.value == t {
			return k.name, true
		}
	}
	return "", false
}

// Kinds are the values of the regular cells, the empty one first.
func Kinds() []Transitions {
	var all []Transitions
	for _, k := range kinds {
		all = append(all, k.value)
	}
	return all
}
