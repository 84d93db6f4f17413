// Command skyrail runs, enters and wins competitions of traffic-control agents.
package main

import (
	"os"

	"skyrail/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
