//go:build unix

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// plain runs programs as they are, in a session of their own and with a private folder.
//
// The shell that becomes the program first waits for a line, so that limits can be put on it. If we end before we send
// one, it ends too.
type plain struct{}

const shell = "/bin/sh"

func (plain) hold(c Command, out *os.File) (*held, error) {
	folder, err := os.MkdirTemp("", privateFolders())
	if err != nil {
		return nil, err
	}
	gateR, gateW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, os.Remove(folder))
	}
	args := []string{"-c", shellLimits(c.Limits) + `read -r go && exec </dev/null && exec "$@"`, "sh", "/usr/bin/env", "-i"}
	args = append(args, c.Env...)
	args = append(args, "HOME="+folder, "TMPDIR="+folder, c.Path)
	cmd := exec.Command(shell, append(args, c.Args...)...)
	cmd.Env = []string{}
	cmd.Dir = c.Dir
	if cmd.Dir == "" {
		cmd.Dir = folder
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = gateR, out, out
	cmd.ExtraFiles = c.Files
	cmd.SysProcAttr = ownSession()
	return &held{
		cmd:    cmd,
		inside: []*os.File{gateR},
		root:   func() (int, error) { return cmd.Process.Pid, nil },
		letGo: func() error {
			_, err := gateW.WriteString("go\n")
			return err
		},
		// The processes that have stayed in the session. After the program has been waited for, its number is free only if
		// none has.
		kill: func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) },
		close: func(bool) error {
			return errors.Join(gateW.Close(), removeAll(folder))
		},
	}, nil
}

// closeOnExec keeps files that we have inherited ourselves, say from a shell, from the programs that we start. Those that Go
// has opened are kept anyway.
func closeOnExec() {
	open, _ := os.ReadDir("/dev/fd")
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// removeAll removes a folder whose owner may have taken away its own permission to do so.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700) // before it is read
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// exitStatus is how a shell tells the status.
func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// outOfTime reports whether a process has run into its own limit on CPU time.
func outOfTime(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGXCPU
}
