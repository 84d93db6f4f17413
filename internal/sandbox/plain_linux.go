package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// shellLimits is empty: limitProcess is exact.
func shellLimits(Limits) string { return "" }

// limitProcess puts the limits of single processes on one, for it and all that it starts. Memory and CPU time are limited
// here only if there is no control group that does it for the tree.
func limitProcess(pid int, l Limits, grouped bool) error {
	limits := []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_NOFILE, openFiles},
		{unix.RLIMIT_FSIZE, uint64(l.FileSize)},
	}
	if !grouped {
		limits = append(limits, []struct {
			resource int
			value    uint64
		}{
			{unix.RLIMIT_AS, uint64(l.Memory)},
			{unix.RLIMIT_CPU, seconds(l.CPU)},
		}...)
	}
	for _, v := range limits {
		var is unix.Rlimit
		if err := unix.Prlimit(pid, v.resource, nil, &is); err != nil {
			return os.NewSyscallError("prlimit", err)
		}
		soft := min(v.value, is.Max)
		hard := soft
		if v.resource == unix.RLIMIT_CPU {
			hard = min(soft+1, is.Max) // at the soft limit comes a signal that tells the cause
		}
		if err := unix.Prlimit(pid, v.resource, &unix.Rlimit{Cur: soft, Max: hard}, nil); err != nil {
			return fmt.Errorf("prlimit %d to %d: %w", v.resource, v.value, err)
		}
	}
	return nil
}

func seconds(d time.Duration) uint64 { return uint64((d + time.Second - 1) / time.Second) }

// processUsage is what a process and those that it waited for have taken.
func processUsage(s *os.ProcessState) usage {
	u := usage{cpu: s.UserTime() + s.SystemTime()}
	if r, ok := s.SysUsage().(*syscall.Rusage); ok {
		u.peak = r.Maxrss << 10
	}
	return u
}
