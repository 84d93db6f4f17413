package sandbox

import (
	"os"
	"os/exec"
)

// plain runs programs as they are, with a private folder.
type plain struct{}

func (plain) hold(c Command, out *os.File) (*held, error) {
	folder, err := os.MkdirTemp("", privateFolders())
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Path, c.Args...)
	// Many programs do not start without SYSTEMROOT.
	cmd.Env = append(append([]string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, c.Env...),
		"HOME="+folder, "USERPROFILE="+folder, "TMPDIR="+folder, "TEMP="+folder, "TMP="+folder)
	cmd.Dir = c.Dir
	if cmd.Dir == "" {
		cmd.Dir = folder
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.ExtraFiles = c.Files // of which Windows refuses any
	return &held{
		cmd:   cmd,
		root:  func() (int, error) { return cmd.Process.Pid, nil },
		letGo: func() error { return nil },
		kill:  func() { cmd.Process.Kill() },
		close: func(bool) error { return os.RemoveAll(folder) },
	}, nil
}

func closeOnExec() {} // nothing is inherited without being asked for

func limitProcess(int, Limits, bool) error { return nil }

func exitStatus(s *os.ProcessState) int { return s.ExitCode() }

func outOfTime(*os.ProcessState) bool { return false }

func processUsage(s *os.ProcessState) usage { return usage{cpu: s.UserTime() + s.SystemTime()} }
