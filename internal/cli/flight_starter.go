package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"skyrail/internal/pyworker"
)

func newStarter(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "starter DIR",
		Short: "Write what a team starts from",
		Long: `Write the environment in Python, to be read and edited, an example policy, a manifest and a training script into a new
or empty folder. Its README says how to go on.`,
		Example: "  skyrail flight starter my-team",
		Args:    oneArgument("the folder to write"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if dir == "" {
				return usage(errors.New("the folder to write is empty"))
			}
			if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
				return usage(fmt.Errorf("%s is not empty; name a new folder", dir))
			} else if err != nil && !errors.Is(err, os.ErrNotExist) {
				return usage(err)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			names, err := pyworker.Starter(dir)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "Wrote %s to %s; begin with its README.md.\n", count(len(names), "file"), dir)
			return err
		},
	}
}
