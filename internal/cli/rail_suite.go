package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"skyrail/contests"
	"skyrail/rail/contest"
	"skyrail/rail/generate"
)

func newRailSuite(a *app) *cobra.Command {
	var f railFlags
	var s railSuite
	cmd := &cobra.Command{
		Use:   "suite",
		Short: "Build a full suite of a competition's levels from a seed, to practise on",
		Long: `Build all scenarios of the railway competition, seven levels of five, on its public map: with the regions, numbers of trains,
stops, speeds and kinds of malfunctions of the published table. The lines are drawn from the seed; the levels follow from
them and the metadata by the competition's own rules.

What the organisers did not publish is chosen here: where the lines run, how often, how much time they have, how often trains
break down from level 3 on, and the infrastructure disruptions of level 6. All of that is written to suite.yaml and may
be changed and given back with --parameters. So a suite is like the hidden one in kind, not in numbers.

--out gets an environment for each scenario, such as level_0/level_0_scenario_1.pkl, and what they were made of: suite.yaml,
scene.json and metadata.json. 'skyrail rail compare --suite' judges policies on it.`,
		Example: `  skyrail rail suite --contest contests/ecml-2026.yaml --seed 1 --out suite
  skyrail rail suite --seed 1 --parameters suite/suite.yaml --out other`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				return usage(errors.New("--seed is missing; the same seed gives the same suite"))
			}
			if err := s.prepare(); err != nil {
				return err
			}
			return s.batch.run(a, cmd, &f)
		},
	}
	cmd.Flags().StringVar(&s.competition, "contest", "", "the competition's file (default: contests/ecml-2026.yaml, which the program carries)")
	cmd.Flags().Var(number[uint64]{&s.seed, parseResetSeed}, "seed", "the seed of the suite, 0 to 2^64-1")
	cmd.Flags().StringVar(&s.parameters, "parameters", "", "a suite.yaml whose parameters to use (default: those of this program)")
	cmd.Flags().StringVar(&s.mapFile, "map", "", "the map: a scene's JSON with the regions of its stations (default: the competition's, which the program carries)")
	s.batch.flags(cmd, &f, "pkl")
	return cmd
}

// railSuite is a suite that is to be built.
type railSuite struct {
	competition, parameters, mapFile string
	seed                             uint64
	batch                            batch
}

// suiteFile is suite.yaml.
type suiteFile struct {
	Competition string                   `yaml:"competition"`
	Seed        uint64                   `yaml:"seed"`
	Parameters  generate.SuiteParameters `yaml:"parameters"`
}

// prepare reads the flags and derives all scenarios.
func (s *railSuite) prepare() error {
	if err := s.batch.prepare(); err != nil {
		return err
	}
	if !slices.Contains(s.batch.formats, ".pkl") {
		return usage(errors.New("--format json: a suite needs pkl, as a json has neither malfunctions nor closures; pkl,json is both"))
	}
	c, err := readCompetition(s.competition)
	if err != nil {
		return err
	}
	m, err := s.readMap()
	if err != nil {
		return usage(fmt.Errorf("--map: %w", err))
	}
	p, err := s.readParameters(c.Name)
	if err != nil {
		return usage(fmt.Errorf("--parameters: %w", err))
	}
	levels := suiteLevels(c)
	scene, err := generate.SuiteScene(m, levels, p, s.seed)
	if err != nil {
		return usage(s.blame(err))
	}
	metadata, err := generate.SuiteMetadata(scene, levels, p)
	if err != nil {
		return usage(s.blame(err))
	}
	var sceneJSON, metadataJSON bytes.Buffer
	if err := errors.Join(scene.Write(&sceneJSON), metadata.Write(&metadataJSON)); err != nil {
		return err
	}
	parameters, err := suiteYAML(suiteFile{c.Name, s.seed, p})
	if err != nil {
		return err
	}
	s.batch.sources = []source{{"suite.yaml", parameters}, {"scene.json", sceneJSON.Bytes()}, {"metadata.json", metadataJSON.Bytes()}}
	if err := generate.MarkScenes(scene); err != nil {
		return err
	}
	s.batch.whole, s.batch.inputs = true, cmp.Or(s.parameters, "the parameters of this program")
	if s.batch.plan, err = deriveLevels(scene, metadata, s.seed); err != nil {
		return usage(s.blame(err))
	}
	return nil
}

// blame says whose parameters are wrong.
func (s *railSuite) blame(err error) error {
	return fmt.Errorf("%s: %w", cmp.Or(s.parameters, "the parameters of this program do not fit"), err)
}

// suiteLevels is the table of a competition.
func suiteLevels(c *contest.Competition) []generate.SuiteLevel {
	levels := make([]generate.SuiteLevel, len(c.Levels))
	for i, l := range c.Levels {
		levels[i] = generate.SuiteLevel{Name: l.Name, Trains: l.Trains, Stops: l.Stops}
	}
	return levels
}

func (s *railSuite) readMap() (*generate.Map, error) {
	data, err := contests.ECML2026Map, error(nil)
	name := "the map that the program carries"
	if s.mapFile != "" {
		name = s.mapFile
		if data, err = readRailFile(name); err != nil {
			return nil, err
		}
	}
	m, err := generate.ReadMap(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// readParameters reads those of a suite.yaml.
func (s *railSuite) readParameters(competition string) (generate.SuiteParameters, error) {
	if s.parameters == "" {
		return generate.DefaultSuiteParameters(), nil
	}
	data, err := readRailFile(s.parameters)
	if err != nil {
		return generate.SuiteParameters{}, err
	}
	f, err := readSuiteFile(data)
	if err == nil && f.Competition != competition {
		err = fmt.Errorf("its competition is %q, and this is %q; choose with --contest", f.Competition, competition)
	}
	if err != nil {
		return f.Parameters, fmt.Errorf("%s: %w", s.parameters, err)
	}
	return f.Parameters, nil
}

// readSuiteFile reads a suite.yaml, in which every key has to be there, but for those that may be left out.
func readSuiteFile(data []byte) (f suiteFile, err error) {
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := d.Decode(&f); err != nil {
		return f, err
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return f, errors.New("there is more than one document")
	}
	// What was understood is written again and compared: a key that is missing or null would count as 0, and a decimal
	// where a whole number belongs would be cut.
	var written, understood any
	again, err := yaml.Marshal(f)
	if err == nil {
		err = errors.Join(yaml.Unmarshal(data, &written), yaml.Unmarshal(again, &understood))
	}
	if err == nil {
		err = sameValue("", written, understood)
	}
	return f, err
}

// sameValue says where a file does not say what was understood.
func sameValue(path string, written, understood any) error {
	switch u := understood.(type) {
	case map[string]any:
		w, _ := written.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(u)) {
			below := strings.TrimPrefix(path+"."+key, ".")
			value, ok := w[key]
			if !ok || value == nil {
				return fmt.Errorf("%s is missing", below)
			}
			if err := sameValue(below, value, u[key]); err != nil {
				return err
			}
		}
		return nil
	case []any:
		w, _ := written.([]any)
		if len(w) != len(u) {
			return fmt.Errorf("%s has %d entries that are none, want %d", path, len(u)-len(w), len(u))
		}
		for i := range u {
			if err := sameValue(fmt.Sprintf("%s[%d]", path, i), w[i], u[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if sameText(written) != sameText(understood) {
		return fmt.Errorf("%s is %v, want a value such as %v", path, written, understood)
	}
	return nil
}

// sameText is a value as text, in which 2 and 2.0 are the same.
func sameText(v any) string {
	if f, err := strconv.ParseFloat(fmt.Sprint(v), 64); err == nil {
		return fmt.Sprint(f)
	}
	return fmt.Sprint(v)
}

// suiteYAML is suite.yaml with its explanations.
func suiteYAML(f suiteFile) ([]byte, error) {
	const head = `# A suite of 'skyrail rail suite'. The organisers published the map, the regions, the numbers of trains and stops and the kinds
# of malfunctions; the parameters below are this program's own choice. Change them and give the file back:
#
#     skyrail rail suite --seed N --parameters suite.yaml --out DIR
#
# Times are in steps, distances in cells. An interval is the mean number of steps between two breakdowns or departure delays
# of a train, or between two closures of track on the whole map.

`
	body, err := yaml.MarshalWithOptions(f, yaml.Indent(2), yaml.IndentSequence(true))
	return append([]byte(head), body...), err
}
