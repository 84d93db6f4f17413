//go:build !linux

package sandbox

import "runtime"

func newCage() (*Box, error) {
	return nil, &UnavailableError{
		Missing: []string{"it runs " + runtime.GOOS + ", and a cage needs Linux"},
		Hint:    "use a Linux machine, a virtual one or a container will do",
	}
}
