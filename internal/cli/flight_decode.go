package cli

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"skyrail/flight/contest"
)

func newDecode(a *app) *cobra.Command {
	var f flightFlags
	cmd := &cobra.Command{
		Use:   "decode N",
		Short: "Tell what a packed score of the hosted board means",
		Long: `A hosted board that knows one number an entry shows the score packed: failed, congestion, exit miss in steps
of 0.005 and clearances, in this order of weight. decode takes it apart.`,
		Example: "  skyrail flight decode 40026885486301",
		Args:    oneArgument("the packed score"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := parsePacked(args[0])
			if err != nil {
				return usage(err)
			}
			u, ok := p.Unpack()
			if !ok {
				return usage(fmt.Errorf("%s is no packed score; they are whole numbers from 0 to %d", args[0], contest.MaxPacked))
			}
			if f.json {
				return printJSON(a.out, struct {
					Packed contest.Packed `json:"packed"`
					contest.Unpacked
				}{p, u})
			}
			_, err = fmt.Fprintf(a.out, "failed      %d\ncongestion  %d\nexit miss   %.4f (step %d of 0.005)\nclearances  %d\n",
				u.Failed, u.Congestion, u.ExitMiss, u.MissBucket, u.Clearances)
			return err
		},
	}
	f.machine(cmd)
	return cmd
}

// parsePacked reads a packed score, also in the spellings of a float that boards use.
func parsePacked(text string) (contest.Packed, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return contest.Packed(n), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
		return 0, fmt.Errorf("%q is no packed score; they are whole numbers from 0 to %d", text, contest.MaxPacked)
	}
	return contest.Packed(v), nil
}
