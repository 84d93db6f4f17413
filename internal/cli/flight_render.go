package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/flight/contest"
	"skyrail/flight/picture"
)

func newRender(a *app) *cobra.Command {
	var f flightFlags
	var seed uint64
	var out string
	cmd := &cobra.Command{
		Use:   "render",
		Short: "Draw an episode: a strip of moments or an animation",
		Long: `Fly an episode and draw it. The ending of the file says how: .svg and .png are a strip of moments, .gif is an
animation of every step. Several agents are drawn beside one another, at the same moments.`,
		Example: `  skyrail flight render --agent rule-based --seed 1829385696 --out episode.svg
  skyrail flight render --agent noop --agent rule-based --seed 1829385696 --out episode.gif`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg, off, err := f.config()
			if err != nil {
				return err
			}
			entrants, err := f.entrants(cmd, cfg)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closeAll(entrants)) }()
			if len(entrants) > picture.MaxFilms {
				return usage(fmt.Errorf("%d agents in a picture, at most %d fit", len(entrants), picture.MaxFilms))
			}
			format, err := picture.FormatOf(out)
			if err != nil {
				return usage(fmt.Errorf("--out: %w", err))
			}
			if !cmd.Flags().Changed("seed") {
				seed = contest.PublicSeeds()[0]
			}
			var films []picture.Film
			flown := rendered{Seed: seed, OffLeaderboard: off, File: out, NotReproducible: f.notReproducible(), Repeat: repeat(cmd)}
			for _, e := range entrants {
				film, episode, err := f.shoot(cmd.Context(), cfg, e, seed)
				if err != nil {
					return err
				}
				films = append(films, film)
				flown.Episodes = append(flown.Episodes, agentEpisode{e.name, episode})
			}
			if err := a.writeFiles(cmd, file{out, func(w io.Writer) error { return picture.Write(w, format, films) }, 0}); err != nil {
				return err
			}
			if f.json {
				return printJSON(a.out, flown)
			}
			flown.print(a.out)
			return nil
		},
	}
	f.agent(cmd)
	f.scenario(cmd)
	f.machine(cmd)
	seedFlag(cmd, &seed, "seed", "the episode's seed (default the first published one)")
	cmd.Flags().StringVar(&out, "out", "episode.svg", "the file to write: .svg, .png or .gif")
	return cmd
}

// shoot flies one episode of an entrant and records it.
func (f *flightFlags) shoot(ctx context.Context, cfg flight.Config, e entrant, seed uint64) (picture.Film, contest.Episode, error) {
	episode, err := f.flyOne(ctx, cfg, e, seed)
	if err != nil {
		return picture.Film{}, contest.Episode{}, err
	}
	film, err := picture.Record(cfg, seed, episode.Actions, e.name)
	return film, episode, err
}

// flyOne flies one episode of an entrant.
func (f *flightFlags) flyOne(ctx context.Context, cfg flight.Config, e entrant, seed uint64) (contest.Episode, error) {
	episodes, err := contest.Run(ctx, cfg, []uint64{seed}, 1, e.fresh, nil)
	if err != nil {
		return contest.Episode{}, f.agentFault(e.label(), err)
	}
	return episodes[0], nil
}

// rendered is what the picture shows, in figures.
type rendered struct {
	Seed            uint64         `json:"seed"`
	OffLeaderboard  []string       `json:"off_leaderboard,omitempty"`
	Episodes        []agentEpisode `json:"episodes"`
	File            string         `json:"file"`
	NotReproducible string         `json:"not_reproducible,omitempty"`
	Repeat          string         `json:"repeat"`
}

type agentEpisode struct {
	Agent string `json:"agent"`
	contest.Episode
}

func (r rendered) print(w io.Writer) {
	printStamp(w, r.OffLeaderboard)
	t := newTable("agent", "state", "steps", "congestion", "exit miss", "clearances", "touched")
	for _, e := range r.Episodes {
		t.AppendRow(table.Row{e.Agent, stateOf(e.Episode), e.Steps, e.Congestion, miss(e.ExitMiss), e.Clearances, e.Touched})
	}
	printTable(w, t)
	fmt.Fprintf(w, "\nWrote %s: seed %d.\n", r.File, r.Seed)
	printRepeat(w, r.NotReproducible, r.Repeat)
}
