//go:build unix && !linux

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// shellLimits are commands of the shell: no process can limit another here. Not every system limits memory, and none of
// these lines is to end the shell where it does not.
func shellLimits(l Limits) string {
	const block = 512 // bytes, by POSIX
	return fmt.Sprintf("ulimit -c 0; ulimit -f %d; ulimit -n %d; ulimit -t %d; ulimit -v %d 2>/dev/null; ",
		(l.FileSize+block-1)/block, openFiles, (l.CPU+time.Second-1)/time.Second, l.Memory>>10)
}

func limitProcess(int, Limits, bool) error { return nil }

// processUsage is what a process and those that it waited for have taken.
func processUsage(s *os.ProcessState) usage {
	u := usage{cpu: s.UserTime() + s.SystemTime()}
	if r, ok := s.SysUsage().(*syscall.Rusage); ok {
		u.peak = int64(r.Maxrss)
		if runtime.GOOS != "darwin" { // the others count in KiB
			u.peak <<= 10
		}
	}
	return u
}
