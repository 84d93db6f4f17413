package cli

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/generate"
	"skyrail/rail/railfile"
)

func newRailGenerateRuns(a *app) *cobra.Command {
	var f railFlags
	var b batch
	var csv string
	var postSeed uint64
	var legacy bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Make the environments of a metadata.csv",
		Long: `Make an environment for every row of a metadata.csv of the older benchmarks: test_id/env_id.pkl below --out. The speeds are
always the four default ones, whatever the column speed_ratios says, as in flatland-trajectory-generate-from-metadata.
The published environments Test_NN/Level_M of Flatland 3 need --legacy-env-generator.`,
		Example: "  skyrail rail generate runs --metadata-csv metadata.csv --legacy-env-generator --out environments",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if csv == "" {
				return usage(errors.New("--metadata-csv is missing"))
			}
			if err := b.prepare(); err != nil {
				return err
			}
			data, err := readRailFile(csv)
			if err != nil {
				return usage(fmt.Errorf("--metadata-csv: %w", err))
			}
			rows, err := railfile.ReadRuns(bytes.NewReader(data))
			if err != nil {
				if cell := (*railfile.TableError)(nil); errors.As(err, &cell) {
					cell.File = csv
					return usage(fmt.Errorf("--metadata-csv: %w", err))
				}
				return usage(fmt.Errorf("--metadata-csv: %s: %w", csv, err))
			}
			b.inputs = "--metadata-csv " + csv
			for i := range rows {
				p := generate.FromRun(&rows[i])
				p.Legacy = legacy
				if cmd.Flags().Changed("post-seed") {
					p.PostSeed = &postSeed
				}
				b.plan = append(b.plan, planned{
					name:  rows[i].TestID + "/" + rows[i].EnvID,
					make:  func() (*rail.Env, error) { return generate.Environment(p) },
					scene: sceneOfEnvironment,
				})
			}
			return b.run(a, cmd, &f)
		},
	}
	cmd.Flags().StringVar(&csv, "metadata-csv", "", "the table: a row an environment")
	cmd.Flags().Var(number[uint64]{&postSeed, parseResetSeed}, "post-seed", "reset with this seed afterwards, which turns bridges into crossings (default: not)")
	cmd.Flags().BoolVar(&legacy, "legacy-env-generator", false, "draw the tracks as the published environments of Flatland 3 were drawn")
	b.flags(cmd, &f, "pkl")
	return cmd
}

func newRailGenerateLevels(a *app) *cobra.Command {
	var f railFlags
	var b batch
	var scene, metadata string
	var seed uint64
	var marked bool
	cmd := &cobra.Command{
		Use:   "levels",
		Short: "Derive the levels of a competition from a scene and its metadata",
		Long: `Derive scenarios from a drawn scene, as the generator of the ECML 2026 competition does: the metadata says for each level
and scenario which timetables are kept, how often each train runs, how much later and slower, and which malfunctions there
are. Each becomes level/level_scenario.json and .pkl below --out.

--seed stands for numpy.random.seed in the reference (a list of two words from 2^32 on), and also for what it takes from the
operating system: the ids of timetables and the stream of each environment. The seed that the metadata may give
is carried along and not used, as in the reference.`,
		Example: "  skyrail rail generate levels --scene initial.json --metadata metadata.json --seed 42 --out levels",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case scene == "":
				return usage(errors.New("--scene is missing"))
			case metadata == "":
				return usage(errors.New("--metadata is missing"))
			case !cmd.Flags().Changed("seed"):
				return usage(errors.New("--seed is missing; the same seed gives the same files"))
			}
			if err := b.prepare(); err != nil {
				return err
			}
			initial, err := readScene(scene)
			if err != nil {
				return usage(fmt.Errorf("--scene: %w", err))
			}
			m, err := readMetadata(metadata)
			if err != nil {
				return usage(fmt.Errorf("--metadata: %w", err))
			}
			if !marked {
				if err := generate.MarkScenes(initial); err != nil {
					return usage(fmt.Errorf("--scene: %s: %w; or say --scenes-marked if the file has the scenes of its timetables", scene, err))
				}
			}
			if _, err := initial.Scenario(); err != nil {
				return usage(fmt.Errorf("--scene: %s: %w", scene, err))
			}
			b.inputs, b.whole = "--metadata "+metadata, true
			if b.plan, err = deriveLevels(initial, m, seed); err != nil {
				return usage(fmt.Errorf("--metadata: %s: %w", metadata, err))
			}
			return b.run(a, cmd, &f)
		},
	}
	cmd.Flags().StringVar(&scene, "scene", "", "the JSON of the scene: tracks, lines and timetables")
	cmd.Flags().StringVar(&metadata, "metadata", "", "the JSON of the metadata: levels of scenarios")
	cmd.Flags().Var(number[uint64]{&seed, parseResetSeed}, "seed", "the seed of all that is drawn")
	cmd.Flags().BoolVar(&marked, "scenes-marked", false, "take the scene of every timetable from the file, not from its name")
	b.flags(cmd, &f, "pkl,json")
	return cmd
}

func readScene(name string) (*railfile.Scene, error) {
	data, err := readRailFile(name)
	if err != nil {
		return nil, err
	}
	s, err := railfile.ReadScene(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func readMetadata(name string) (*railfile.Metadata, error) {
	data, err := readRailFile(name)
	if err != nil {
		return nil, err
	}
	m, err := railfile.ReadMetadata(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// deriveLevels are the environments that metadata asks for.
func deriveLevels(initial *railfile.Scene, m *railfile.Metadata, seed uint64) ([]planned, error) {
	derived, err := generate.SeededLevels(initial, m, seed)
	if err != nil {
		return nil, err
	}
	plan := make([]planned, len(derived))
	for i := range derived {
		d := &derived[i]
		plan[i] = planned{
			name:  d.FileStem(),
			make:  func() (*rail.Env, error) { return d.Environment(generate.ScenarioSeed(seed, i)) },
			scene: func(*rail.Env) (*railfile.Scene, error) { return d.Scene, nil },
		}
	}
	return plan, nil
}

func newRailGenerateCurriculum(a *app) *cobra.Command {
	var f railFlags
	var b batch
	var env, stations string
	var seed uint64
	var lengths, trains []string
	var scenes []string
	cmd := &cobra.Command{
		Use:   "curriculum",
		Short: "Make the curriculum of the ECML 2026 starter kit",
		Long: `Send random trains over the competition's map, as the starter kit's sampling generator does: one environment for each line
length, number of trains and scene, in this order, named like 00_scene_1_ll-2_a-1. The defaults are the published
curriculum of 27. Tracks and malfunctions are those of --env, the stations those of --stations (the starter kit's stations.pkl).

A number of trains may be a range such as 5:10, the last one not included, from which one is drawn. Without --seed
every environment goes on from the random stream of the file, so all begin with the same numbers, as in the published one.
With it every one is reset with the seed.`,
		Example: `  skyrail rail generate curriculum --env level_0_scenario_1.pkl --stations stations.pkl --out curriculum
  skyrail rail generate curriculum --env level_0_scenario_1.pkl --stations stations.pkl --line-length 3 --n-agents 40 --scene scene_5 --seed 1 --out one`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case env == "":
				return usage(errors.New("--env is missing"))
			case stations == "":
				return usage(errors.New("--stations is missing"))
			}
			if err := b.prepare(); err != nil {
				return err
			}
			c := generate.Curriculum{Scenes: scenes}
			var err error
			if c.LineLengths, err = wholeNumbers(lengths, 2); err != nil {
				return usage(fmt.Errorf("--line-length: %w", err))
			}
			if len(scenes) == 0 || slices.Contains(scenes, "") {
				return usage(errors.New("--scene is empty"))
			}
			b.whole, b.inputs = true, "--env "+env+", --stations "+stations
			if len(trains) == 0 {
				return usage(errors.New("--n-agents is empty"))
			}
			for _, text := range trains {
				r, err := parseTrains(text)
				if err != nil {
					return usage(fmt.Errorf("--n-agents: %w", err))
				}
				if r.High > r.Low+1 && !cmd.Flags().Changed("seed") {
					return usage(fmt.Errorf("--n-agents %s is drawn, which needs --seed", text))
				}
				c.Trains = append(c.Trains, r)
			}
			if err := readProduct("stations", stations, "a file of stations", railfile.ReadStations, &c.Stations); err != nil {
				return err
			}
			file, err := readEnvironment(env)
			if err != nil {
				return usage(fmt.Errorf("--env: %w", err))
			}
			e, err := file.Open(nil)
			if err != nil {
				return usage(fmt.Errorf("--env: %s: %w", env, err))
			}
			var reset *uint64
			if cmd.Flags().Changed("seed") {
				reset = &seed
			}
			global := generate.GlobalStream(seed)
			lessons, err := c.Lessons(&global)
			if err != nil {
				return usage(err)
			}
			for i := range lessons {
				l := &lessons[i]
				b.plan = append(b.plan, planned{
					name:  l.Name(),
					make:  func() (*rail.Env, error) { return l.Environment(e, reset) },
					scene: func(made *rail.Env) (*railfile.Scene, error) { return railfile.SceneOf(made.Scenario(), c.Stations) },
				})
			}
			return b.run(a, cmd, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&env, "env", "", "the environment whose map is used")
	flags.StringVar(&stations, "stations", "", "its stations.pkl")
	flags.StringSliceVar(&lengths, "line-length", []string{"2", "3", "4"}, "stations on a train's line, start and target included")
	flags.StringSliceVar(&trains, "n-agents", []string{"1", "10", "25"}, "trains, or ranges of them")
	flags.StringSliceVar(&scenes, "scene", []string{"scene_1", "scene_4", "scene_5"}, "parts of the map")
	flags.Var(number[uint64]{&seed, parseResetSeed}, "seed", "reset each environment with this seed (default: go on from the file)")
	b.flags(cmd, &f, "pkl")
	return cmd
}

// wholeNumbers reads the values of a flag that are whole numbers, each at least so large.
func wholeNumbers(texts []string, least int) ([]int, error) {
	if len(texts) == 0 {
		return nil, errors.New("it is empty")
	}
	var all []int
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return nil, fmt.Errorf("%q is not a whole number of at least %d", text, least)
		}
		all = append(all, n)
	}
	return all, nil
}

// parseTrains reads a number of trains or a range of them, the end of which is not included.
func parseTrains(text string) (r generate.TrainRange, err error) {
	low, high, isRange := strings.Cut(text, ":")
	if r.Low, err = strconv.Atoi(low); err == nil {
		r.High = r.Low + 1
		if isRange {
			r.High, err = strconv.Atoi(high)
		}
	}
	if err != nil || r.Low < 1 || r.High <= r.Low {
		return r, fmt.Errorf("%q is neither a number of trains nor a range such as 5:10", text)
	}
	return r, nil
}
