package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skyrail/rail"
	"skyrail/rail/agent"
	"skyrail/rail/contest"
	"skyrail/rail/picture"
)

func newRailRender(a *app) *cobra.Command {
	var f railFlags
	var d railDrawing
	cmd := &cobra.Command{
		Use:   "render [DIR]",
		Short: "Draw a trajectory: a moment, an animation, or a page with a time slider",
		Long: `Run the recorded actions of a trajectory, or a policy (--env, --agent), and draw what happens. The ending of the
file says how: .svg and .png are one step, .gif is an animation, .html is a page of its own with play, pause, a time slider,
zoom, and the timetable of every train at a click.`,
		Example: `  skyrail rail render run --out run.html
  skyrail rail render run --step 120 --train 3 --out step120.svg
  skyrail rail render run --step 120 --region 40,60,30,40 --out station.png
  skyrail rail render --env level_0_scenario_1.pkl --agent shortest-path --from 100 --to 160 --out jam.gif`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("unexpected argument %q", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := picture.FormatOf(d.out)
			if err != nil {
				return usage(fmt.Errorf("--out: %w", err))
			}
			options, err := d.options(cmd, format)
			if err != nil {
				return err
			}
			shot, err := d.source(cmd, &f, args)
			if err != nil {
				return err
			}
			if options.Title == "" {
				options.Title = shot.title
			}
			if d.region != "" {
				if options.Region, err = picture.ParseRegion(d.region, shot.env.Network()); err != nil {
					return usage(fmt.Errorf("--region: %w", err))
				}
			}
			recording, figures, err := shot.shoot(cmd.Context(), options.To)
			if err != nil {
				return played(shot.title, err)
			}
			write := func(w io.Writer) error {
				if err := picture.Write(w, format, recording, options); err != nil {
					return usage(err)
				}
				return nil
			}
			if err := a.writeFiles(cmd, file{d.out, write, 0}); err != nil {
				return err
			}
			done := drawn{Episode: shot.title, Trains: figures.Trains, Steps: figures.Steps, Arrived: figures.Arrived,
				replay: shot.replay, File: d.out, Repeat: repeat(cmd)}
			if f.json {
				return printJSON(a.out, done)
			}
			done.print(a.out)
			return nil
		},
	}
	cmd.Flags().StringVar(&d.out, "out", "railway.html", "the file to write: .svg, .png, .gif or .html")
	cmd.Flags().StringVar(&d.env, "env", "", "the environment file (default: that of the trajectory)")
	f.policyFlags(cmd, "")
	f.episodeID(cmd, "the episode to draw (default: the only one)")
	f.reset(cmd)
	notNegative(cmd, &d.step, "step", "", 0, "draw this step (.svg, .png; default: the last)")
	notNegative(cmd, &d.from, "from", "", 0, "the first step (.gif, .html; default: the first)")
	notNegative(cmd, &d.to, "to", "", 0, "the last step (.gif, .html; default: the last)")
	cmd.Flags().IntSliceVar(&d.trains, "train", nil, "mark this train's start, stops and target (repeat for several)")
	positive(cmd, &d.cell, "cell", "", 0, fmt.Sprintf("the size of a cell in pixels, %d to %d (default: by the size of what is drawn)", picture.MinCell, picture.MaxCell))
	cmd.Flags().StringVar(&d.region, "region", "", "draw this part of the map only: `ROW,COL,HEIGHT,WIDTH` in cells, from its top left cell")
	cmd.Flags().StringVar(&d.title, "title", "", "the title (default: the episode)")
	f.machine(cmd)
	return cmd
}

// railDrawing is what is to be drawn.
type railDrawing struct {
	out, env, title string
	step, from, to  int
	trains          []int
	cell            int
	region          string // empty: the whole map
}

func (d *railDrawing) options(cmd *cobra.Command, format picture.Format) (picture.Options, error) {
	o := picture.Options{Title: d.title, Selected: d.trains, Cell: d.cell}
	moment := format == picture.SVG || format == picture.PNG
	for _, flag := range []string{"step", "from", "to"} {
		if cmd.Flags().Changed(flag) && (flag == "step") != moment {
			return o, usage(fmt.Errorf("--%s has no effect on %s", flag, d.out))
		}
	}
	if cmd.Flags().Changed("from") && cmd.Flags().Changed("to") && d.from > d.to {
		return o, usage(fmt.Errorf("--from %d is after --to %d", d.from, d.to))
	}
	set := func(flag string, value int, to *rail.Time) {
		if cmd.Flags().Changed(flag) {
			*to = rail.At(value)
		}
	}
	set("step", d.step, &o.To)
	set("from", d.from, &o.From)
	set("to", d.to, &o.To)
	return o, nil
}

// shot is an environment and what gives the actions.
type shot struct {
	env    *rail.Env
	policy agent.Policy
	replay *replay // nil: a policy gives them
	title  string
}

// source returns what is to be run: a trajectory or a policy.
func (d *railDrawing) source(cmd *cobra.Command, f *railFlags, args []string) (s shot, err error) {
	if (len(args) == 1) == (f.agent != "") {
		return s, usage(errors.New("give either the directory of a trajectory, or --env and --agent"))
	}
	if f.agent != "" {
		return d.played(cmd, f)
	}
	found, err := findTrajectories(args, f.episode)
	if err != nil {
		return s, err
	}
	if len(found) > 1 {
		return s, usage(fmt.Errorf("%s holds %d episodes, choose one with --ep-id", args[0], len(found)))
	}
	source, err := newEnvSource(d.env)
	if err != nil {
		return s, err
	}
	file, _, err := found[0].environment(source)
	if err != nil {
		return s, err
	}
	rows, err := found[0].rows(0)
	if err != nil {
		return s, usage(err)
	}
	if s.env, err = openEnvironment(file, f.resetSeed(cmd)); err != nil {
		return s, usage(err)
	}
	recorded, err := found[0].replay(s.env, rows.Of(found[0].episode))
	s.replay, s.policy, s.title = &recorded, contest.Replay(recorded.actions), found[0].episode
	return s, err
}

// played is the source of a policy that was not recorded.
func (d *railDrawing) played(cmd *cobra.Command, f *railFlags) (s shot, err error) {
	if d.env == "" {
		return s, usage(errors.New("--agent needs --env"))
	}
	if s.policy, err = f.newPolicy(); err != nil {
		return s, err
	}
	file, err := readEnvironment(d.env)
	if err != nil {
		return s, usage(err)
	}
	s.title = envStem(d.env) + " · " + f.agent
	if s.env, err = openEnvironment(file, f.resetSeed(cmd)); err != nil {
		return s, usage(err)
	}
	return s, nil
}

// shoot records what happens up to a step, or to the end; of a trajectory no more than is recorded of it.
func (s *shot) shoot(ctx context.Context, end rail.Time) (*picture.Recording, contest.Figures, error) {
	if s.replay != nil {
		if last := s.replay.end(); last.Given && (!end.Given || last.Step < end.Step) {
			end = last
		}
	}
	if s.env.MaxEpisodeSteps() == 0 && !end.Given {
		return nil, contest.Figures{}, usage(fmt.Errorf("%w, and may never end; give --step or --to", contest.ErrNoLimit))
	}
	recording := picture.New(s.env)
	figures, err := contest.Play(ctx, s.env, s.policy, contest.PlayOptions{
		Rewards: rail.DefaultRewards(), EndStep: end, After: func() error { return recording.Record(s.env) },
	})
	if s.replay != nil {
		s.replay.ran(s.env)
	}
	return recording, figures, err
}

// drawn is what a picture shows.
type drawn struct {
	Episode string `json:"episode"`
	Trains  int    `json:"trains"`
	Steps   int    `json:"steps"` // that were run, up to the last one in the picture
	Arrived int    `json:"arrived"`
	*replay        // nil: a policy was drawn
	File    string `json:"file"`
	Repeat  string `json:"repeat"`
}

func (d drawn) print(w io.Writer) {
	fmt.Fprintf(w, "Wrote %s: %s, %s, %d steps, %d arrived.\n",
		shown(d.File), shown(d.Episode), count(d.Trains, "train"), d.Steps, d.Arrived)
	if d.replay != nil {
		d.replay.print(w, shown(d.Episode), d.Steps)
	}
	fmt.Fprintf(w, "To repeat: %s\n", d.Repeat)
}
