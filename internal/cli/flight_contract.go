package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"skyrail/flight"
	"skyrail/internal/ingest"
)

func newContract(a *app) *cobra.Command {
	var settings ingest.Settings
	var env, root string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "contract",
		Short: "Check an environment of your own as an organiser will",
		Long: `Run the 24 checks of the contract suite on an environment, in a cage, up to the first that fails. A submission that
fails is not scored.

Then the environment is flown beside ours, with the same actions, and the first figure that parts from ours is
told. That is advice, and stops nothing: only our environment scores.`,
		Example: "  skyrail flight contract --env envs.my_env:MyFlightEnv --root .",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if env == "" {
				return usage(errors.New("no environment; name its class with --env, such as envs.my_env:MyFlightEnv"))
			}
			if info, err := os.Stat(root); err != nil || !info.IsDir() {
				return usage(fmt.Errorf("--root %s is not a folder", root))
			}
			c, err := ingest.New(settings).Contract(cmd.Context(), root, env, flight.DefaultConfig())
			if err != nil {
				return intakeFault(env, err)
			}
			if asJSON {
				err = printJSON(a.out, struct {
					ingest.Contract
					Passed  bool   `json:"passed"`
					Verdict string `json:"verdict"`
				}{c, c.Passed(), c.Verdict()})
			} else {
				a.printContract(c)
			}
			if err == nil && !c.Passed() {
				err = refused(errors.New("contract suite: " + c.Verdict()))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&env, "env", "", "the environment's class, as package.module:Class")
	cmd.Flags().StringVar(&root, "root", ".", "the folder that its package is in")
	pythonFlags(cmd, &settings)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the same facts as JSON")
	return cmd
}

func (a *app) printContract(c ingest.Contract) {
	t := newTable("#", "check", "")
	for i, check := range c.Checks {
		note := "passed"
		switch {
		case !check.Passed:
			note = "FAILED: " + check.Reason
		case check.Reason != "":
			note += ": " + check.Reason
		}
		t.AppendRow(table.Row{i + 1, check.Name, note})
	}
	printTable(a.out, t)
	for _, advice := range c.Advice {
		fmt.Fprintf(a.out, "! %s\n", advice)
	}
	if c.Passed() {
		fmt.Fprintf(a.out, "contract suite: %s\n", c.Verdict())
	}
}
