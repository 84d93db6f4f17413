package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skyrail/rail/contest"
)

// version is what --version prints; CHANGELOG.md says what it brought.
const version = "0.1.0"

// The exit statuses.
const (
	exitDone    = 0
	exitFault   = 1 // something broke, or the run was interrupted
	exitUsage   = 2 // the command line, or a file it names, cannot be used
	exitRefused = 3 // the submission was refused or failed
	exitDiffers = 4 // a check found a difference
)

// exitError is an error with the exit status it leads to.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage is an error of the command line or of a file that it names as input.
func usage(err error) error { return &exitError{exitUsage, err} }

// refused is an error of what a team handed in.
func refused(err error) error { return &exitError{exitRefused, err} }

// app is what every command needs: the streams of the process.
type app struct {
	in       io.Reader
	out, err io.Writer
}

// grace is how long an interrupted command may take to end by itself.
const grace = 2 * time.Second

// Main runs the command line args and returns the exit status. An interrupt stops long work cleanly; a second
// one kills the process.
func Main(args []string, in io.Reader, out, err io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	finished := context.AfterFunc(ctx, func() {
		stop() // give the signals back, so that a second one kills
		// What cannot be cancelled, such as a wait for a named pipe, is not waited for; files are only renamed
		// into place when they are whole.
		time.Sleep(grace)
		fmt.Fprintln(err, "skyrail: interrupted")
		os.Exit(exitFault)
	})
	defer finished()
	return run(ctx, args, &app{in, out, err})
}

func run(ctx context.Context, args []string, a *app) int {
	out := &output{w: a.out}
	a.out = out
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("standard output: %w", out.err)
	}
	if err == nil {
		return exitDone
	}
	var left *interrupted
	if errors.As(err, &left) {
		a.complain(cmd, left)
		return exitFault
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintf(a.err, "%s: interrupted, nothing was written\n", cmd.CommandPath())
		return exitFault
	}
	a.complain(cmd, err)
	var e *exitError
	if !errors.As(err, &e) {
		return exitFault
	}
	if e.status == exitUsage {
		fmt.Fprintf(a.err, "'%s --help' shows how it is used\n", cmd.CommandPath())
	}
	return e.status
}

// mostComplained is how many runes of an error are printed.
const mostComplained = 20_000

// complain prints an error, in which there may be text of a submission.
func (a *app) complain(cmd *cobra.Command, err error) {
	fmt.Fprintf(a.err, "%s: %s\n", cmd.CommandPath(), contest.Printable(err.Error(), mostComplained, '\n', '\t'))
}

func newRoot(a *app) *cobra.Command {
	root := group(&cobra.Command{
		Use:     "skyrail",
		Version: version,
		Short:   "Run, enter and win competitions of traffic-control agents",
		Long: `Skyrail runs competitions of traffic-control agents.

  flight   the Flight Challenge: an air sector where aircraft converge on a hotspot
  rail     the railway challenge: Flatland, with stops, time windows and malfunctions

Exit status: 0 done, 1 fault or interrupted, 2 usage or a file that cannot be used, 3 the submission was
refused or failed, 4 a check found a difference.`,
		Example:       "  skyrail flight compare --agent noop --agent random --agent rule-based",
		SilenceErrors: true,
		SilenceUsage:  true,
	}, newFlight(a), newRail(a))
	root.CompletionOptions.HiddenDefaultCmd = true
	strictArguments(root)
	return root
}

func newFlight(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "flight",
		Short: "The Flight Challenge: an air sector where aircraft converge on a hotspot",
		Long: `The Flight Challenge: five aircraft cross a sector, two to four of them converge on a hotspot. An agent
gives at most one clearance a step and is ranked by failed episodes, congestion, exit miss, clearances
and touched aircraft, in this order, lower is better.`,
		Example: "  skyrail flight compare --agent noop --agent random --agent rule-based",
	},
		newCompare(a), newSubmit(a), newReplay(a), newPostmortem(a), newRender(a), newExplain(a), newDecode(a), newSeeds(a),
		newIngest(a), newScoreZips(a), newContract(a), newStarter(a),
		group(&cobra.Command{
			Use:     "kaggle",
			Short:   "Files and score of the hosted board",
			Example: "  skyrail flight kaggle export --out board",
		}, newKaggleExport(a), newKaggleScore(a)),
	)
}

// group gives parent its commands; called without one, or with one it lacks, it says so.
func group(parent *cobra.Command, children ...*cobra.Command) *cobra.Command {
	parent.AddCommand(children...)
	parent.Args = cobra.ArbitraryArgs
	parent.SuggestionsMinimumDistance = 2
	noSuchCommand := func(cmd *cobra.Command, name string) error {
		message := fmt.Sprintf("there is no command %q", name)
		if s := cmd.SuggestionsFor(name); len(s) > 0 {
			message += "; did you mean " + strings.Join(s, " or ") + "?"
		}
		return usage(errors.New(message))
	}
	parent.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return noSuchCommand(cmd, args[0])
	}
	parent.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// The flags of a mistyped command are unknown to the group; the command is what is wrong.
		if args := cmd.Flags().Args(); cmd == parent && len(args) > 0 {
			return noSuchCommand(cmd, args[0])
		}
		return usage(err)
	})
	return parent
}

// strictArguments makes a wrong number of arguments and a flag with an empty value usage errors that say so.
func strictArguments(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		strictArguments(c)
	}
	check := cmd.Args
	if check == nil {
		check = noArguments
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage(err)
		}
		var empty error
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if f.Value.Type() == "string" && f.Value.String() == "" && empty == nil {
				empty = usage(fmt.Errorf("--%s is empty", f.Name))
			}
		})
		return empty
	}
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

// oneArgument demands exactly one argument, called what it is.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s is missing", what)
		case 1:
			return nil
		}
		return noArguments(cmd, args[1:])
	}
}
