package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"skyrail/flight/contest"
)

func newSeeds(a *app) *cobra.Command {
	var f flightFlags
	var salt, saltFile, out string
	var number int
	cmd := &cobra.Command{
		Use:   "seeds",
		Short: "Derive a list of seeds from a salt",
		Long: `Print the published seeds or, with a salt, the list that follows from it: the same salt gives the same list.
An organiser makes the private list from a salt of their own and keeps both where participants cannot read
them. A salt on the command line can be seen in the shell's history; --salt-file reads it from a file.`,
		Example: `  skyrail flight seeds
  skyrail flight seeds --salt-file salt.txt --count 100 --out private-seeds.txt`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if salt != "" && saltFile != "" {
				return usage(errors.New("--salt and --salt-file: one salt is enough"))
			}
			salted := cmd.Flags().Changed("salt") || cmd.Flags().Changed("salt-file")
			if saltFile != "" {
				var err error
				if salt, err = a.readSalt(saltFile); err != nil {
					return err
				}
			}
			if salt == contest.PublicSalt && salted {
				return usage(errors.New("this is the public salt, anyone can derive its seeds; choose a secret one of your own, or leave the salt out to get the published list"))
			}
			if number > contest.MaxSeeds {
				return usage(fmt.Errorf("--count %d: at most %d", number, contest.MaxSeeds))
			}
			comment := fmt.Sprintf("The first %d seeds of a private salt. Keep this file secret.", number)
			if !salted {
				salt, comment = contest.PublicSalt, fmt.Sprintf("Flight Challenge: the first %d seeds of the public salt %s.", number, contest.PublicSalt)
			}
			mode := os.FileMode(0)
			if salted {
				mode = 0o600 // for the organiser's eyes
			}
			seeds := contest.DeriveSeeds(salt, number)
			err := a.writeFiles(cmd, file{out, func(w io.Writer) error {
				if f.json {
					return printJSON(w, struct {
						Public bool     `json:"public"`
						Seeds  []uint64 `json:"seeds"`
					}{!salted, seeds})
				}
				return contest.WriteSeeds(w, seeds, comment)
			}, mode})
			if err == nil && out != "-" {
				_, err = fmt.Fprintf(a.out, "Wrote %s: %s.\n", out, count(len(seeds), "seed"))
			}
			return err
		},
	}
	f.machine(cmd)
	cmd.Flags().StringVar(&salt, "salt", "", "derive the seeds from this secret text (default the published list's)")
	cmd.Flags().StringVar(&saltFile, "salt-file", "", "read the salt from the first line of a file; - is standard input")
	positive(cmd, &number, "count", "", contest.PublicCount, "how many seeds")
	cmd.Flags().StringVar(&out, "out", "-", "the file to write; - is standard output")
	return cmd
}

// readSalt takes the first line of a file, without white space around it.
func (a *app) readSalt(name string) (salt string, err error) {
	const most = 4096
	err = a.readInput("salt-file", name, func(r io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(r, most+1))
		if err != nil {
			return err
		}
		if strings.HasPrefix(string(text), "\ufeff") {
			return usage(errors.New("the file begins with a byte order mark, which would become part of the salt; save it without one"))
		}
		first, _, _ := strings.Cut(string(text), "\n")
		salt = strings.TrimSpace(first)
		if salt == "" || len(text) > most {
			return usage(fmt.Errorf("its first line must hold the salt, and the file no more than %d bytes", most))
		}
		return nil
	})
	return salt, err
}

// makeFolder makes the folder that files are to be written to, if it is not there.
func makeFolder(name string) error {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return usage(fmt.Errorf("folder %s: %w", name, err))
	}
	return nil
}
