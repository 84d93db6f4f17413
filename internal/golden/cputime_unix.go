//go:build unix

package golden

import (
	"syscall"
	"time"
)

// CPUTime is the processor time of this process so far, which the load of the machine does not disturb.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
