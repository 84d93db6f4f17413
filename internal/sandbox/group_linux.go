package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// group is one control group, or under version 1 one of each controller, that holds the tree of a program.
type group struct {
	unified bool
	dirs    map[string]string // by controller
	extra   int               // processes of ours that live in it
	refused *int64            // how many forks were, when kill began to refuse all
}

// period is over which the share of a core is measured, in microseconds: the kernel's default.
const period = "100000"

// create makes the group.
func (g *group) create() error {
	for _, dir := range g.folders() {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// limit puts limits on the group.
func (g *group) limit(l Limits) error {
	memory := strconv.FormatInt(l.Memory, 10)
	pids := strconv.Itoa(l.Processes + g.extra)
	type setting struct {
		controller, file, value string
		optional                bool // not on every kernel
	}
	settings := []setting{
		{"memory", "memory.limit_in_bytes", memory, false},
		{"memory", "memory.memsw.limit_in_bytes", memory, true}, // memory and swap together, so no swap
		{"pids", "pids.max", pids, false},
		{"cpu", "cpu.cfs_period_us", period, false},
		{"cpu", "cpu.cfs_quota_us", period, false},
	}
	if g.unified {
		settings = []setting{
			{"memory", "memory.max", memory, false},
			{"memory", "memory.swap.max", "0", true},
			{"memory", "memory.oom.group", "1", true},
			{"pids", "pids.max", pids, false},
			{"cpu", "cpu.max", period + " " + period, false},
		}
	}
	for _, s := range settings {
		if s.optional {
			if _, err := os.Stat(filepath.Join(g.dirs[s.controller], s.file)); errors.Is(err, os.ErrNotExist) {
				continue
			}
		}
		if err := setFile(g.dirs[s.controller], s.file, s.value); err != nil {
			return err
		}
	}
	return nil
}

// folders are the folders of the group, each once.
func (g *group) folders() []string {
	var dirs []string
	for _, dir := range g.dirs {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// add moves a process into the group. What it has taken before does not count.
func (g *group) add(pid int) error {
	for _, dir := range g.folders() {
		if err := setFile(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return err
		}
	}
	return nil
}

// usage reads what the processes of the group, those that have ended too, have taken.
func (g *group) usage() (u usage, err error) {
	var errs [4]error
	if g.unified {
		var us int64
		us, errs[0] = keyed(g.dirs["cpu"], "cpu.stat", "usage_usec")
		u.cpu = time.Duration(us) * time.Microsecond
		u.peak, errs[1] = number(g.dirs["memory"], "memory.peak")
		if errors.Is(errs[1], os.ErrNotExist) { // before Linux 5.19
			errs[1] = nil
		}
		u.oomKills, errs[2] = keyed(g.dirs["memory"], "memory.events", "oom_kill")
	} else {
		var ns int64
		ns, errs[0] = number(g.dirs["cpuacct"], "cpuacct.usage")
		u.cpu = time.Duration(ns)
		u.peak, errs[1] = number(g.dirs["memory"], "memory.max_usage_in_bytes")
		u.oomKills, errs[2] = keyed(g.dirs["memory"], "memory.oom_control", "oom_kill")
	}
	if g.refused != nil {
		u.forksRefused = *g.refused
	} else {
		u.forksRefused, errs[3] = keyed(g.dirs["pids"], "pids.events", "max")
	}
	return u, errors.Join(errs[:]...)
}

// number reads a file that holds one.
func number(dir, file string) (int64, error) {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
	}
	return n, nil
}

// keyed reads the number after a key at the beginning of a line.
func keyed(dir, file, key string) (int64, error) {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		if k, v, ok := strings.Cut(lines.Text(), " "); ok && k == key {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s has no %s", filepath.Join(dir, file), key)
}

// The kernel gives no sign under both versions when a group is empty, so it is asked, at growing intervals. A process
// that is killed ends within milliseconds unless it waits for a device.
const (
	askSoonest = time.Millisecond
	askLatest  = 50 * time.Millisecond
	askAtMost  = 30 * time.Second
)

// until asks ready until it says so.
func until(ready func() (bool, error)) error {
	deadline := time.Now().Add(askAtMost)
	for pause := askSoonest; ; pause = min(2*pause, askLatest) {
		ok, err := ready()
		if ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return errors.New("the kernel does not finish")
		}
		time.Sleep(pause)
	}
}

// kill ends all processes of the group, and returns when there is none.
func (g *group) kill() error {
	dir := g.dirs["pids"]
	felling := false
	err := until(func() (bool, error) {
		pids, err := groupProcesses(dir)
		if errors.Is(err, os.ErrNotExist) || err == nil && len(pids) == 0 {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if !felling {
			felling = true
			// A tree that grows while it is felled: from here on it cannot.
			if n, err := keyed(dir, "pids.events", "max"); err == nil && g.refused == nil {
				g.refused = &n
			}
			if err := setFile(dir, "pids.max", "0"); err != nil {
				return false, err
			}
			if g.unified && setFile(dir, "cgroup.kill", "1") == nil { // since Linux 5.14
				return false, nil
			}
		}
		for _, pid := range pids {
			if err := killIn(dir, pid); err != nil {
				return false, err
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("end the processes of control group %s: %w", dir, err)
	}
	return nil
}

// killIn kills a process of a group. It takes hold of the process and then looks again whether that is in the group, since
// the number may have gone over to a process of somebody else.
func killIn(dir string, pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer p.Release()
	pids, err := groupProcesses(dir)
	if err != nil {
		return err
	}
	if !slices.Contains(pids, pid) {
		return nil
	}
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return nil
}

// groupProcesses lists a group. A zero stands for a process that another namespace hides.
func groupProcesses(dir string) ([]int, error) {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, f := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("%s/cgroup.procs: %w", dir, err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// remove removes the empty group.
func (g *group) remove() error {
	var errs []error
	for _, dir := range g.folders() {
		err := until(func() (bool, error) {
			err := unix.Rmdir(dir)
			switch err {
			case nil, unix.ENOENT:
				return true, nil
			case unix.EBUSY: // the last process is gone and not yet unlinked
				return false, nil
			}
			return false, err
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("remove control group %s: %w", dir, err))
		}
	}
	return errors.Join(errs...)
}
