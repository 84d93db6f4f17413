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
	"skyrail/rail/railfile"
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
			e, p, title, err := d.source(cmd, &f, args)
			if err != nil {
				return err
			}
			if options.Title == "" {
				options.Title = title
			}
			recording, figures, err := d.shoot(cmd.Context(), e, p, options.To)
			if err != nil {
				return played(title, err)
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
			done := drawn{Episode: title, Figures: figures, File: d.out, Repeat: repeat(cmd)}
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
	positive(cmd, &d.cell, "cell", "", 0, fmt.Sprintf("the size of a cell in pixels, %d to %d (default: by the size of the map)", picture.MinCell, picture.MaxCell))
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

// source returns the environment and what gives the actions: a trajectory or a policy.
func (d *railDrawing) source(cmd *cobra.Command, f *railFlags, args []string) (*rail.Env, agent.Policy, string, error) {
	if (len(args) == 1) == (f.agent != "") {
		return nil, nil, "", usage(errors.New("give either the directory of a trajectory, or --env and --agent"))
	}
	var file *railfile.Environment
	var p agent.Policy
	var title string
	if f.agent != "" {
		if d.env == "" {
			return nil, nil, "", usage(errors.New("--agent needs --env"))
		}
		var err error
		if p, err = f.newPolicy(); err != nil {
			return nil, nil, "", err
		}
		if file, err = readEnvironment(d.env); err != nil {
			return nil, nil, "", usage(err)
		}
		found, err := findEnvironments([]string{d.env})
		if err != nil {
			return nil, nil, "", err
		}
		title = found[0].stem() + " · " + f.agent
	} else {
		found, err := findTrajectories(args, f.episode)
		if err != nil {
			return nil, nil, "", err
		}
		if len(found) > 1 {
			return nil, nil, "", usage(fmt.Errorf("%s holds %d episodes, choose one with --ep-id", args[0], len(found)))
		}
		source, err := newEnvSource(d.env)
		if err != nil {
			return nil, nil, "", err
		}
		if file, _, err = found[0].environment(source); err != nil {
			return nil, nil, "", err
		}
		rows, err := found[0].rows(0)
		if err != nil {
			return nil, nil, "", usage(err)
		}
		p, title = contest.Replay(rows.Of(found[0].episode).Actions), found[0].episode
	}
	e, err := openEnvironment(file, f.resetSeed(cmd))
	if err != nil {
		return nil, nil, "", usage(err)
	}
	return e, p, title, nil
}

// shoot records what happens up to a step, or to the end.
func (d *railDrawing) shoot(ctx context.Context, e *rail.Env, p agent.Policy, end rail.Time) (*picture.Recording, contest.Figures, error) {
	recording := picture.New(e)
	figures, err := contest.Play(ctx, e, p, contest.PlayOptions{
		Rewards: rail.DefaultRewards(), EndStep: end, After: func() error { return recording.Record(e) },
	})
	return recording, figures, err
}

// drawn is what a picture shows.
type drawn struct {
	Episode string          `json:"episode"`
	Figures contest.Figures `json:"figures"`
	File    string          `json:"file"`
	Repeat  string          `json:"repeat"`
}

func (d drawn) print(w io.Writer) {
	fmt.Fprintf(w, "Wrote %s: %s, %s, %d steps, %d arrived.\nTo repeat: %s\n",
		shown(d.File), shown(d.Episode), count(d.Figures.Trains, "train"), d.Figures.Steps, d.Figures.Arrived, d.Repeat)
}
