package checkpoint

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// about is what a checkpoint says of itself, beside its tensors.
type about struct {
	algorithm   string
	version     string
	class       class
	kwargs      map[string]json.RawMessage // policy_kwargs
	useSDE      bool
	observation int // values
	actions     int
}

// class is a Python class.
type class struct{ module, name string }

func (c class) String() string {
	if c.module == "" || c.name == "" {
		return c.module + c.name
	}
	return c.module + "." + c.name
}

// readAbout reads the file "data": JSON in which Stable-Baselines3 writes whatever JSON cannot hold as an object with a
// pickle and, beside it, the attributes of the value as text.
func readAbout(files archive) (a about, err error) {
	data, err := files.readFile(dataFile, maxData)
	if err != nil {
		return a, err
	}
	if data == nil {
		return a, invalid("the checkpoint", "it has no file %q, so it is not from Stable-Baselines3", dataFile)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(strictJSON(data), &all); err != nil {
		return a, invalid(dataFile, "it is not JSON: %v", err)
	}
	if a.version, err = readVersion(files); err != nil {
		return a, err
	}
	policyClass, err := object(all, "policy_class")
	if err != nil {
		return a, err
	}
	if policyClass == nil {
		return a, invalid(dataFile, "it has no policy_class, so it is not from Stable-Baselines3")
	}
	a.class = classOf(policyClass)
	a.algorithm = algorithmOf(all, a.class)
	if a.kwargs, err = object(all, "policy_kwargs"); err != nil {
		return a, err
	}
	if raw, ok := all["use_sde"]; ok {
		if err := json.Unmarshal(raw, &a.useSDE); err != nil {
			return a, invalid(dataFile, "use_sde is neither true nor false")
		}
	}
	if err := a.readSpaces(all); err != nil {
		return a, withAbout(err, a)
	}
	return a, nil
}

func readVersion(files archive) (string, error) {
	data, err := files.readFile(versionFile, maxSmall)
	if err != nil {
		return "", err
	}
	version := string(bytes.TrimSpace(data))
	if !regexp.MustCompile(`^[0-9A-Za-z.+-]*$`).MatchString(version) {
		return "", invalid(versionFile, "%s is no version", quote(version))
	}
	return version, nil
}

// object returns a member of data that is an object; an empty one if it is missing or null.
func object(all map[string]json.RawMessage, name string) (map[string]json.RawMessage, error) {
	raw, ok := all[name]
	if !ok {
		return nil, nil
	}
	var o map[string]json.RawMessage
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, invalid(dataFile, "%s is not an object", name)
	}
	return o, nil
}

// text returns a member that is a string, "" if it is missing or of another kind.
func text(o map[string]json.RawMessage, name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

// whole returns a member that is a whole number, or the text of one; missing is 0.
func whole(o map[string]json.RawMessage, name string) (int, error) {
	raw, ok := o[name]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil {
		return 0, invalid(dataFile, "%s is %s and not a whole number", name, quote(string(raw)))
	}
	return n, nil
}

var function = regexp.MustCompile(`^<function ([A-Za-z_][A-Za-z0-9_]*)\.`)

// classOf reads the attributes of a class. They do not include its name; but the text of a method begins with it.
func classOf(o map[string]json.RawMessage) class {
	c := class{module: text(o, "__module__")}
	for _, k := range append([]string{"__init__"}, slices.Sorted(maps.Keys(o))...) {
		if m := function.FindStringSubmatch(text(o, k)); m != nil {
			c.name = m[1]
			break
		}
	}
	return c
}

var family = regexp.MustCompile(`^(?:stable_baselines3|sb3_contrib)\.([a-z0-9]+)\.policies$`)

// algorithmOf tells the algorithm, which the file does not name, by the settings and classes that only it has. ""
// stands for one that is not known.
func algorithmOf(all map[string]json.RawMessage, policy class) string {
	has := func(name string) bool { _, ok := all[name]; return ok }
	buffer, _ := object(all, "rollout_buffer_class")
	from := func(folder string) bool {
		return strings.HasPrefix(policy.module, folder) || strings.HasPrefix(text(buffer, "__module__"), folder)
	}
	if m := family.FindStringSubmatch(policy.module); m != nil && m[1] != "common" {
		return strings.ToUpper(m[1]) // stable_baselines3.dqn.policies
	}
	switch {
	case from("sb3_contrib.common.maskable."):
		return "MaskablePPO"
	case from("sb3_contrib.common.recurrent."):
		return "RecurrentPPO"
	case has("cg_max_steps"): // conjugate gradients
		return "TRPO"
	case has("clip_range"):
		return "PPO"
	case has("gae_lambda"):
		return "A2C"
	case has("exploration_initial_eps"):
		return "DQN"
	}
	return ""
}

// readSpaces reads the observation and the action space. Only a flat Box and a Discrete from 0 on are read.
func (a *about) readSpaces(all map[string]json.RawMessage) error {
	box, err := object(all, "observation_space")
	if err != nil {
		return err
	}
	if kind := typeOf(box); kind.name != "Box" {
		return unsupported("the observation space is %s and not a flat Box", kind)
	}
	var shape []int
	if err := json.Unmarshal(box["_shape"], &shape); err != nil {
		return invalid(dataFile, "observation_space has no shape")
	}
	if len(shape) != 1 {
		return unsupported("the observation has the shape %v and is not flat", shape)
	}
	a.observation = shape[0]

	discrete, err := object(all, "action_space")
	if err != nil {
		return err
	}
	if kind := typeOf(discrete); kind.name != "Discrete" {
		return unsupported("the action space is %s and not Discrete", kind)
	}
	if a.actions, err = whole(discrete, "n"); err != nil {
		return err
	}
	start, err := whole(discrete, "start")
	if err != nil {
		return err
	}
	if start != 0 {
		return unsupported("the action space counts from %d and not from 0", start)
	}
	if min(a.observation, a.actions) < 1 || max(a.observation, a.actions) > maxValues {
		return invalid(dataFile, "the spaces are of %d values and %d actions", a.observation, a.actions)
	}
	return nil
}

var classText = regexp.MustCompile(`^<class '(?:([A-Za-z0-9_.]+)\.)?([A-Za-z0-9_]+)'>$`)

// typeOf returns the class of a value that is stored as a pickle with its attributes.
func typeOf(o map[string]json.RawMessage) class { return parseClass(text(o, ":type:")) }

// parseClass inverts Python's str of a class; the name is the whole text if it is something else.
func parseClass(s string) class {
	if m := classText.FindStringSubmatch(s); m != nil {
		return class{m[1], m[2]}
	}
	return class{name: quote(s)}
}

// classKwarg returns the text of a policy_kwargs entry that is a class.
func (a about) classKwarg(name string) (c class, ok bool) {
	if _, ok := a.kwargs[name]; !ok {
		return class{}, false
	}
	return parseClass(text(a.kwargs, name)), true
}

// flag returns a policy_kwargs entry that is true or false.
func (a about) flag(name string) (bool, error) {
	raw, ok := a.kwargs[name]
	if !ok {
		return false, nil
	}
	var b bool
	if err := json.Unmarshal(raw, &b); err != nil {
		return false, invalid(dataFile, "policy_kwargs: %s is %s, neither true nor false", name, quote(string(raw)))
	}
	return b, nil
}

// strictJSON replaces the three words that Python writes for numbers JSON does not have, outside of strings, by null.
// No setting that matters here can be one.
func strictJSON(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	var out []byte
	for i, inString := 0, false; i < len(data); i++ {
		c := data[i]
		switch {
		case inString && c == '\\' && i+1 < len(data):
			out = append(out, c)
			i++
			c = data[i]
		case c == '"':
			inString = !inString
		case !inString && (c == '-' || c == 'N' || c == 'I'):
			word := 0
			for _, w := range []string{"NaN", "Infinity", "-Infinity"} {
				if bytes.HasPrefix(data[i:], []byte(w)) {
					word = len(w)
				}
			}
			if word > 0 {
				out = append(out, "null"...)
				i += word - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}
