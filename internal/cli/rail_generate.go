package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/generate"
	"skyrail/rail/railfile"
)

func newRailGenerate(a *app) *cobra.Command {
	var f railFlags
	g := railGenerate{parameters: generate.DefaultParameters()}
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make environments from a seed, as flatland-rl makes them",
		Long: `Make an environment from a seed: tracks between cities, trains and a timetable. Parameters, defaults and every random
number are those of flatland-rl's env_generator, so the same seed gives the same environment. --out names a .pkl,
which flatland-rl loads, or a .json, which its drawing tool does; it may be given for both.

The commands below make many: of a metadata.csv, of a scene and its metadata, or a curriculum.

--products also writes what the generators made, one after the other: rail.pkl, line.pkl and timetable.pkl. --rail, --line and
--timetable take such a file instead of making it; nothing is drawn for what is given.`,
		Example: `  skyrail rail generate --seed 42 --out env.pkl
  skyrail rail generate --seed 7 --x-dim 60 --y-dim 60 --n-cities 9 --n-agents 50 --line-length 3 --out env.pkl --out env.json
  skyrail rail generate runs --metadata-csv metadata.csv --out environments
  skyrail rail generate levels --scene initial.json --metadata metadata.json --seed 42 --out levels
  skyrail rail generate curriculum --env level_0_scenario_1.pkl --stations stations.pkl --out curriculum`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			made, err := g.one(a, cmd, &f)
			if err != nil {
				return err
			}
			return made.print(a.out, f.json)
		},
	}
	g.flags(cmd, &f)
	cmd.AddCommand(newRailGenerateRuns(a), newRailGenerateLevels(a), newRailGenerateCurriculum(a))
	return cmd
}

// railGenerate is what one environment is to be made of.
type railGenerate struct {
	parameters generate.Parameters
	interval   int
	ratios     []string
	seed       uint64
	postSeed   uint64
	out        []string
	products   string

	rail, line, timetable string
}

func (g *railGenerate) flags(cmd *cobra.Command, f *railFlags) {
	p, flags := &g.parameters, cmd.Flags()
	flags.Var(number[uint64]{&g.seed, parseResetSeed}, "seed", "the seed from which everything is made, 0 to 2^64-1")
	positive(cmd, &p.Agents, "n-agents", "", p.Agents, "trains")
	positive(cmd, &p.Width, "x-dim", "", p.Width, "columns")
	positive(cmd, &p.Height, "y-dim", "", p.Height, "rows")
	positive(cmd, &p.Rail.Cities, "n-cities", "", p.Rail.Cities, "cities, at most; at least 2")
	positive(cmd, &p.Rail.RailPairsInCity, "max-rail-pairs-in-city", "", p.Rail.RailPairsInCity, "pairs of tracks in a city, at most")
	flags.BoolVar(&p.Rail.GridMode, "grid-mode", false, "place the cities in rows and columns instead of at random")
	positive(cmd, &p.Rail.RailsBetweenCities, "max-rails-between-cities", "", p.Rail.RailsBetweenCities, "tracks that leave a city to one side, at most")
	flags.Float64Var(&p.Rail.LevelFree, "p-level-free", 0, "the share of crossings that are bridges, 0 to 1")
	notNegative(cmd, &p.Malfunction.MinDuration, "malfunction-duration-min", "", p.Malfunction.MinDuration, "steps of a breakdown, at least")
	notNegative(cmd, &p.Malfunction.MaxDuration, "malfunction-duration-max", "", p.Malfunction.MaxDuration, "steps of a breakdown, at most")
	between(cmd, &g.interval, "malfunction-interval", "", 540, -1, 1<<53, "steps between two breakdowns of a train, on average; 0 and -1: never")
	flags.StringArrayVar(&g.ratios, "speed-ratios", nil, "a speed in cells per step and its share of the trains, such as 0.5=0.25; repeat until the shares add up to 1 (default: 1=0.25, 0.5=0.25, 0.33=0.25, 0.25=0.25)")
	between(cmd, &p.Line.LineLength, "line-length", "", p.Line.LineLength, 2, 1<<20, "cities on a train's line, start and target included")
	flags.Var(number[uint64]{&g.postSeed, parseResetSeed}, "post-seed", "reset with this seed afterwards, which turns bridges into crossings (default: not)")
	flags.BoolVar(&p.Legacy, "legacy-env-generator", false, "draw the tracks as the published environments of Flatland 3 were drawn")
	flags.StringVar(&g.rail, "rail", "", "a rail product to use instead of making tracks")
	flags.StringVar(&g.line, "line", "", "a line product to use instead of making lines")
	flags.StringVar(&g.timetable, "timetable", "", "a timetable product to use instead of making one")
	flags.StringArrayVar(&g.out, "out", nil, "the file to write, .pkl or .json (repeat for both); it is replaced if it is there")
	flags.StringVar(&g.products, "products", "", "a folder for the products of the generators")
	f.machine(cmd)
}

// prepare reads the flags into the parameters.
func (g *railGenerate) prepare(cmd *cobra.Command) error {
	p := &g.parameters
	if !cmd.Flags().Changed("seed") {
		return usage(errors.New("--seed is missing; the same seed gives the same environment"))
	}
	if len(g.out) == 0 {
		return usage(errors.New("--out is missing"))
	}
	for _, name := range g.out {
		if s := filepath.Ext(name); s != ".pkl" && s != ".json" {
			return usage(fmt.Errorf("--out %s: the name has to end in .pkl or .json", name))
		}
	}
	if err := g.checkEffects(cmd); err != nil {
		return err
	}
	p.Seed = g.seed
	if cmd.Flags().Changed("post-seed") {
		p.PostSeed = &g.postSeed
	}
	p.Malfunction.Rate = generate.MalfunctionRate(g.interval)
	if p.Malfunction.MaxDuration < p.Malfunction.MinDuration {
		return usage(fmt.Errorf("--malfunction-duration-max %d is below --malfunction-duration-min %d", p.Malfunction.MaxDuration, p.Malfunction.MinDuration))
	}
	if len(g.ratios) > 0 {
		p.Line.SpeedRatios = nil
	}
	for _, text := range g.ratios {
		speed, share, ok := strings.Cut(text, "=")
		s, err := strconv.ParseFloat(speed, 64)
		q, err2 := strconv.ParseFloat(share, 64)
		if !ok || err != nil || err2 != nil {
			return usage(fmt.Errorf("--speed-ratios %q is not a speed and a share, such as 0.5=0.25", text))
		}
		p.Line.SpeedRatios = append(p.Line.SpeedRatios, railfile.SpeedRatio{Speed: s, Share: q})
	}
	return g.readProducts()
}

// checkEffects refuses flags about what is not made.
func (g *railGenerate) checkEffects(cmd *cobra.Command) error {
	for _, given := range []struct {
		name, file string
		without    []string
	}{
		{"rail", g.rail, []string{"x-dim", "y-dim", "n-cities", "max-rail-pairs-in-city", "max-rails-between-cities", "grid-mode", "p-level-free", "legacy-env-generator"}},
		{"line", g.line, []string{"n-agents", "line-length", "speed-ratios"}},
	} {
		for _, flag := range given.without {
			if given.file != "" && cmd.Flags().Changed(flag) {
				return usage(fmt.Errorf("--%s has no effect with --%s, which says it", flag, given.name))
			}
		}
	}
	return nil
}

// readProducts reads the products that are given.
func (g *railGenerate) readProducts() error {
	given := &g.parameters.Given
	return errors.Join(
		readProduct("rail", g.rail, "a rail generator's product", railfile.ReadRailProduct, &given.Rail),
		readProduct("line", g.line, "a line generator's product", railfile.ReadLineProduct, &given.Line),
		readProduct("timetable", g.timetable, "a timetable generator's product", railfile.ReadTimetableProduct, &given.Timetable),
	)
}

// readProduct reads the file of a flag, if there is one; want says what it has to be.
func readProduct[T any](flag, name, want string, read func([]byte) (*T, error), into **T) error {
	if name == "" {
		return nil
	}
	data, err := readRailFile(name)
	if err != nil {
		return usage(fmt.Errorf("--%s: %w", flag, err))
	}
	// An environment has tracks too, and would pass for a railway without cities.
	_, err = railfile.ReadEnvironment(data)
	other := (*railfile.NotEnvironmentError)(nil)
	is := "an environment"
	if errors.As(err, &other) {
		is = other.Is
	}
	*into, err = read(data)
	if other == nil && err == nil || err != nil && is != "an environment" {
		err = fmt.Errorf("this is %s, want %s", is, want)
	}
	if err != nil {
		return usage(fmt.Errorf("--%s: %s: %w", flag, name, err))
	}
	return nil
}

// one makes one environment and writes it.
func (g *railGenerate) one(a *app, cmd *cobra.Command, f *railFlags) (*generated, error) {
	if err := g.prepare(cmd); err != nil {
		return nil, err
	}
	products, err := generate.Generate(g.parameters)
	if err != nil {
		return nil, usage(err)
	}
	e, err := products.Environment()
	if err != nil {
		return nil, usage(err)
	}
	var files []file
	for _, name := range g.out {
		content, err := environmentContent(filepath.Ext(name), e, func() (*railfile.Scene, error) {
			return railfile.SceneOf(e.Scenario(), &products.Rail.Stations)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, contentFile(name, content))
	}
	if g.products != "" {
		if err := os.MkdirAll(g.products, 0o755); err != nil {
			return nil, usage(fmt.Errorf("--products: %w", plainly(err)))
		}
		for _, p := range []struct {
			name string
			save func() ([]byte, error)
		}{
			{"rail.pkl", func() ([]byte, error) { return railfile.SaveRailProduct(products.Rail) }},
			{"line.pkl", func() ([]byte, error) { return railfile.SaveLineProduct(products.Line) }},
			{"timetable.pkl", func() ([]byte, error) { return railfile.SaveTimetableProduct(products.Timetable) }},
		} {
			content, err := p.save()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			files = append(files, contentFile(filepath.Join(g.products, p.name), content))
		}
	}
	if err := apart(files); err != nil {
		return nil, err
	}
	if err := a.writeFiles(cmd, files...); err != nil {
		return nil, err
	}
	made := describe("", e)
	made.Cities = len(products.Rail.Cities)
	for _, f := range files {
		made.Files = append(made.Files, f.name)
	}
	return &generated{Environments: []madeEnvironment{made}, Repeat: repeat(cmd)}, nil
}

// apart refuses to write two files to one place.
func apart(files []file) error {
	seen := map[string]bool{}
	for _, f := range files {
		path := filepath.Clean(f.name)
		if seen[path] {
			return usage(fmt.Errorf("%s would be written twice; give every file its own name", f.name))
		}
		seen[path] = true
	}
	return nil
}

func contentFile(name string, content []byte) file {
	return file{name: name, write: func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}}
}

// environmentContent is an environment in the format of a suffix.
func environmentContent(suffix string, e *rail.Env, scene func() (*railfile.Scene, error)) ([]byte, error) {
	if suffix == ".pkl" {
		return railfile.SaveEnvironment(e)
	}
	s, err := scene()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = s.Write(&b)
	return b.Bytes(), err
}

// generated is what a command made.
type generated struct {
	Directory    string            `json:"directory,omitempty"`
	Environments []madeEnvironment `json:"environments"`
	Repeat       string            `json:"repeat"`
}

// madeEnvironment is one environment that was made.
type madeEnvironment struct {
	Name            string   `json:"name,omitempty"`
	Rows            int      `json:"rows"`
	Columns         int      `json:"columns"`
	Cities          int      `json:"cities,omitempty"`
	Trains          int      `json:"trains"`
	MaxEpisodeSteps int      `json:"max_episode_steps"`
	Files           []string `json:"files"`
}

func describe(name string, e *rail.Env) madeEnvironment {
	s := e.Scenario()
	return madeEnvironment{Name: name, Rows: s.Height, Columns: s.Width, Trains: e.Trains(), MaxEpisodeSteps: e.MaxEpisodeSteps()}
}

// print shows one environment as a sentence and several as a table.
func (g *generated) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(w, g)
	}
	if len(g.Environments) == 1 && g.Environments[0].Name == "" {
		e := g.Environments[0]
		fmt.Fprintf(w, "%d rows, %d columns, %d cities, %s, at most %d steps\n", e.Rows, e.Columns, e.Cities, count(e.Trains, "train"), e.MaxEpisodeSteps)
	} else {
		t := newTable("environment", "rows", "columns", "trains", "steps at most")
		for _, e := range g.Environments {
			t.AppendRow([]any{shown(e.Name), e.Rows, e.Columns, e.Trains, e.MaxEpisodeSteps})
		}
		printTable(w, t)
		fmt.Fprintf(w, "\nWrote %s to %s.\n", count(len(g.Environments), "environment"), shown(g.Directory))
	}
	var empty []string
	for _, e := range g.Environments {
		if e.Trains == 0 {
			empty = append(empty, shown(e.Name))
		}
	}
	if len(empty) > 0 {
		fmt.Fprintf(w, "Note: %s without trains, which cannot be run: %s.\n", count(len(empty), "environment"), strings.Join(empty, ", "))
	}
	for _, e := range g.Environments {
		if e.Name == "" {
			fmt.Fprintf(w, "Wrote %s.\n", shown(strings.Join(e.Files, ", ")))
		}
	}
	fmt.Fprintf(w, "To repeat: %s\n", g.Repeat)
	return nil
}
