package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/contest"
	"skyrail/flight/planner"
	"skyrail/internal/ingest"
	railcontest "skyrail/rail/contest"
)

// flightFlags are the flags that the flight commands share. A command takes the groups it uses, so that a flag
// without effect is an unknown one.
type flightFlags struct {
	agents     []string
	entries    bool // only agents that may be handed in; set before the flags are added
	budget     planner.Budget
	seeds      string
	private    string
	limit      int
	stochastic bool
	nLo, nHi   int
	jobs       int
	json       bool
	intake     ingest.Settings // for agents that are zips
}

func (f *flightFlags) agent(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.agents, "agent", nil, "an agent: "+f.agentNames()+", or the zip of a submission or a checkpoint (repeat for several)")
	f.budgetFlag(cmd)
	pythonFlags(cmd, &f.intake)
}

func (f *flightFlags) list(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.seeds, "seeds", "", "fly the seeds of this file instead of the published ones (one integer a line, # comments)")
	positive(cmd, &f.limit, "limit", "", 0, "fly only the first N seeds of the list (default all)")
}

func (f *flightFlags) secret(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.private, "private", "", "fly the organiser's secret seeds of this file too, as a board of their own")
}

// scenario is for commands that fly agents, converging for those that fly what is recorded.
func (f *flightFlags) scenario(cmd *cobra.Command) {
	f.converging(cmd)
	cmd.Flags().BoolVar(&f.stochastic, "stochastic", false, "sample the actions of agents that have an action distribution (OFF-LEADERBOARD)")
}

func (f *flightFlags) converging(cmd *cobra.Command) {
	d := flight.DefaultConfig()
	positive(cmd, &f.nLo, "n-lo", "", d.NLo, "fewest converging aircraft (another value is OFF-LEADERBOARD)")
	positive(cmd, &f.nHi, "n-hi", "", d.NHi, "most converging aircraft (another value is OFF-LEADERBOARD)")
}

func (f *flightFlags) parallel(cmd *cobra.Command) {
	positive(cmd, &f.jobs, "jobs", "j", runtime.NumCPU(), "episodes flown at once; the results are the same for every number (but with a --budget in time)")
}

func (f *flightFlags) machine(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print the same facts as JSON")
}

// config returns the configuration the flags ask for, and why its figures do not belong on a leaderboard, if
// they do not.
func (f *flightFlags) config() (cfg flight.Config, offLeaderboard []string, err error) {
	cfg = flight.DefaultConfig()
	cfg.NLo, cfg.NHi = f.nLo, f.nHi
	if err := cfg.Validate(); err != nil {
		return cfg, nil, usage(fmt.Errorf("--n-lo %d --n-hi %d: %w", f.nLo, f.nHi, err))
	}
	if f.stochastic {
		offLeaderboard = append(offLeaderboard, "sampled actions")
	}
	if !cfg.Ranked() {
		offLeaderboard = append(offLeaderboard, fmt.Sprintf("%d to %d converging aircraft", cfg.NLo, cfg.NHi))
	}
	return cfg, append(offLeaderboard, f.offLeaderboardAgents()...), nil
}

// plan is what to fly: every entrant over the list.
type plan struct {
	cfg            flight.Config
	offLeaderboard []string
	entrants       []entrant
	list           seedList
}

// plan reads the flags of the commands that fly agents over a list. What it returns must be closed.
func (f *flightFlags) plan(cmd *cobra.Command) (p plan, err error) {
	if p.cfg, p.offLeaderboard, err = f.config(); err != nil {
		return p, err
	}
	if p.list, err = f.mainList(); err != nil {
		return p, err
	}
	p.entrants, err = f.entrants(cmd, p.cfg)
	return p, err
}

// close removes what the entrants left on the disk.
func (p plan) close() error { return closeAll(p.entrants) }

// seedList is a list of seeds with the name a board gives it.
type seedList struct {
	ranking string // the board: public, live, hidden, private, or file
	title   string
	of      string // what the seeds are, in the title
	seeds   []uint64
}

// mainList returns the list to fly: the published one or that of --seeds, cut by --limit.
func (f *flightFlags) mainList() (seedList, error) {
	l := seedList{ranking: "public", seeds: contest.PublicSeeds()}
	of := "published seeds"
	if f.seeds != "" {
		seeds, err := readSeedFile("seeds", f.seeds)
		if err != nil {
			return l, err
		}
		l.seeds, l.ranking, of = seeds, "file", "seeds of "+f.seeds
	}
	l.title, l.of = fmt.Sprintf("all %d %s", len(l.seeds), of), of
	return l.first(f.limit), nil
}

// first returns the list cut to its first n seeds; 0 does not cut it.
func (l seedList) first(n int) seedList {
	if n > 0 && n < len(l.seeds) {
		l.title = fmt.Sprintf("the first %d of %d %s", n, len(l.seeds), l.of)
		l.seeds = l.seeds[:n]
		l.ranking = "partial"
	}
	return l
}

// privateList returns the organiser's list. One that shares a seed with the published list is no secret and is
// refused.
func (f *flightFlags) privateList() (seedList, error) {
	seeds, err := readSeedFile("private", f.private)
	if err != nil {
		return seedList{}, err
	}
	// Whatever the public salt gives, published or not, anyone can derive.
	public := make(map[uint64]bool)
	for _, s := range contest.DeriveSeeds(contest.PublicSalt, contest.MaxSeeds) {
		public[s] = true
	}
	shared := 0
	for _, s := range seeds {
		if public[s] {
			shared++
		}
	}
	if shared > 0 {
		return seedList{}, usage(fmt.Errorf("--private %s: %d of its seeds are those of the public salt; make it from a salt of your own with 'skyrail flight seeds --salt-file F'", f.private, shared))
	}
	const of = "secret seeds of the organiser"
	return seedList{"private", fmt.Sprintf("%d %s", len(seeds), of), of, seeds}, nil
}

func readSeedFile(flag, name string) ([]uint64, error) {
	file, err := openInput(name)
	if err != nil {
		return nil, usage(fmt.Errorf("--%s: %w", flag, err))
	}
	defer file.Close()
	seeds, err := contest.ReadSeeds(file)
	if err != nil {
		return nil, usage(fmt.Errorf("--%s %s: %w", flag, name, err))
	}
	return seeds, nil
}

// entrants returns a maker of fresh agents for every --agent. They must be closed. Warnings about what was handed in go
// to standard error.
func (f *flightFlags) entrants(cmd *cobra.Command, cfg flight.Config) (all []entrant, err error) {
	if err := f.checkAgents(cmd); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(all))
		}
	}()
	harness := ingest.New(f.intake)
	for _, name := range f.agents {
		e, err := f.newEntrant(cmd, name, cfg, harness)
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

// entrant is an agent by name.
type entrant struct {
	name   string
	zip    string                      // the file it is from; empty for one of ours
	fresh  func() (agent.Agent, error) // as it is scored
	plain  func() (agent.Agent, error) // not yet sampled; nil if that is fresh
	serial bool                        // its episodes are flown by one agent, in order
	close  func() error                // nil if there is nothing to close
}

// unsampled returns what makes the agent with its action distribution, if it has one.
func (e entrant) unsampled() func() (agent.Agent, error) {
	if e.plain != nil {
		return e.plain
	}
	return e.fresh
}

// label names the entrant where names alone do not tell agents apart: by its file too.
func (e entrant) label() string {
	if e.zip == "" {
		return e.name
	}
	return fmt.Sprintf("%s (%s)", e.name, shown(filepath.Base(e.zip)))
}

func closeAll(entrants []entrant) error {
	var errs []error
	for _, e := range entrants {
		if e.close != nil {
			errs = append(errs, e.close())
		}
	}
	return errors.Join(errs...)
}

func (f *flightFlags) newEntrant(cmd *cobra.Command, name string, cfg flight.Config, harness *ingest.Harness) (entrant, error) {
	if b, ok := builtInOf(name); ok {
		within := f.budget
		within.Done = cmd.Context().Done()
		return entrant{name: name, fresh: func() (agent.Agent, error) { return b.fresh(cfg, within) }}, nil
	}
	if _, missing := os.Stat(name); missing != nil && !strings.HasSuffix(name, ".zip") {
		return entrant{}, usage(fmt.Errorf("unknown agent %q; the agents are %s, or a zip", name, f.agentNames()))
	}
	return openEntrant(cmd, harness, name, cfg, f.stochastic)
}

// repeat spells the command line that gives the same figures again: the flags that were given, in their order,
// but for those that change no figure.
func repeat(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Visit(func(f *pflag.Flag) {
		switch v := f.Value.(type) {
		case pflag.SliceValue:
			for _, item := range v.GetSlice() {
				words = append(words, "--"+f.Name, shellWord(item))
			}
		default:
			switch {
			case f.Name == "json" || f.Name == "jobs":
			case v.Type() == "bool" && v.String() == "true":
				words = append(words, "--"+f.Name)
			case v.Type() == "bool": // given as false, which is what it is without
			default:
				words = append(words, "--"+f.Name, shellWord(v.String()))
			}
		}
	})
	if slices.ContainsFunc(flags.Args(), func(arg string) bool { return strings.HasPrefix(arg, "-") }) {
		words = append(words, "--")
	}
	for _, arg := range flags.Args() {
		words = append(words, shellWord(arg))
	}
	return strings.Join(words, " ")
}

// number is the value of a flag that is a whole number, written in decimal digits: 010 is ten.
type number[T int | uint32 | uint64] struct {
	v     *T
	parse func(string) (T, error)
}

func (n number[T]) Type() string { return "int" }

func (n number[T]) String() string {
	if n.v == nil {
		return "0"
	}
	return fmt.Sprint(*n.v)
}

func (n number[T]) Set(text string) error {
	v, err := n.parse(text)
	if err == nil {
		*n.v = v
	}
	return err
}

// positive adds a flag that is a whole number of at least 1; value is its default.
func positive(cmd *cobra.Command, v *int, name, short string, value int, usage string) {
	between(cmd, v, name, short, value, 1, math.MaxInt, usage)
}

// notNegative adds a flag that is a whole number of at least 0; value is its default.
func notNegative(cmd *cobra.Command, v *int, name, short string, value int, usage string) {
	between(cmd, v, name, short, value, 0, math.MaxInt, usage)
}

// upTo adds a flag that is a whole number from 1 to most; value is its default.
func upTo(cmd *cobra.Command, v *int, name, short string, value, most int, usage string) {
	between(cmd, v, name, short, value, 1, most, usage)
}

func between(cmd *cobra.Command, v *int, name, short string, value, least, most int, usage string) {
	*v = value
	cmd.Flags().VarP(number[int]{v, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if errors.Is(err, strconv.ErrRange) {
			return 0, errors.New("it is too large")
		}
		if err != nil {
			return 0, errors.New("it is not a whole number")
		}
		if n < least {
			return 0, fmt.Errorf("it must be at least %d", least)
		}
		if n > most {
			return 0, fmt.Errorf("it must be at most %d", most)
		}
		return n, nil
	}}, name, short, usage)
}

// seedFlag adds a flag that is a seed.
func seedFlag(cmd *cobra.Command, v *uint64, name, usage string) {
	cmd.Flags().Var(number[uint64]{v, contest.ParseSeed}, name, usage)
}

// shellWord quotes a word for a POSIX shell where it has to be. What cannot be printed is written as an escape.
func shellWord(s string) string {
	if railcontest.Printable(s, 0) != s {
		return "$'" + railcontest.Printable(strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s), 0) + "'"
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=+,@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
