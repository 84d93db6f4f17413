package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// hierarchy is where this process may make control groups: below its own group, so that limits on it hold for its
// programs too.
//
// Version 1 has one tree of groups for each controller, version 2 one for all. Where a machine mounts both, the
// version that has the controllers is used.
type hierarchy struct {
	unified bool              // version 2
	parents map[string]string // by controller: the folder in which groups are made
	owner   string            // how the names of our groups begin
}

// made counts the groups of this process, whose names all differ.
var made atomic.Int64

// The controllers that limits need. Under version 2, cpu also accounts.
var (
	controllers1 = []string{"memory", "pids", "cpu", "cpuacct"}
	controllers2 = []string{"memory", "pids", "cpu"}
)

// findHierarchy looks for control groups that this process may make, and removes those of runs that have crashed.
func findHierarchy() (*hierarchy, error) {
	owner, err := processName(os.Getpid())
	if err != nil {
		return nil, err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	h, err := locate(string(mounts), string(own))
	if err != nil {
		return nil, err
	}
	h.owner = owner
	for _, dir := range h.parents {
		if err := unix.Access(dir, unix.W_OK); err != nil {
			return nil, fmt.Errorf("%s is not writable", dir)
		}
	}
	h.removeStale()
	return h, nil
}

// locate reads proc_pid_mountinfo(5) and cgroups(7) for the groups of this process.
func locate(mounts, own string) (*hierarchy, error) {
	paths := map[string]string{} // by controller, "" for version 2: the group of this process
	for line := range strings.Lines(own) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		names, path, _ := strings.Cut(rest, ":")
		for _, name := range strings.Split(names, ",") {
			paths[name] = path
		}
	}
	h := &hierarchy{parents: map[string]string{}}
	var unifiedMount, unifiedOwn string
	for line := range strings.Lines(mounts) {
		left, right, _ := strings.Cut(strings.TrimSpace(line), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if len(l) < 5 || len(r) < 3 {
			continue
		}
		root, mount := l[3], l[4]
		switch r[0] {
		case "cgroup":
			for _, name := range strings.Split(r[2], ",") {
				if path, ok := paths[name]; ok && slices.Contains(controllers1, name) {
					h.parents[name] = ownFolder(mount, root, path)
				}
			}
		case "cgroup2":
			unifiedMount, unifiedOwn = mount, ownFolder(mount, root, paths[""])
		}
	}
	missing := without(controllers1, func(c string) bool { return h.parents[c] != "" })
	switch {
	case len(missing) == 0:
		return h, nil
	case unifiedMount == "":
		return nil, fmt.Errorf("no control groups with %s are mounted", strings.Join(missing, ", "))
	}
	parent, err := unifiedParent(unifiedMount, unifiedOwn)
	if err != nil {
		return nil, err
	}
	h.unified, h.parents = true, map[string]string{}
	for _, c := range controllers2 {
		h.parents[c] = parent
	}
	return h, nil
}

// ownFolder is where the group of this process is. In a container the mount may begin further down than the path of the
// group does, or not show the group at all.
func ownFolder(mount, root, path string) string {
	if rest, ok := below(path, root); ok {
		path = rest
	}
	if dir := filepath.Join(mount, path); isDir(dir) {
		return dir
	}
	return mount
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func without(all []string, drop func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(all), drop)
}

// selfGroup is the group into which a process moves itself to make place for groups beside it.
const selfGroup = "skyrail-self"

// unifiedParent finds a group of version 2 whose children can have limits. Such a group holds no process itself, except
// if it is the root of all. So if this process is alone in its group (which systemd-run with -p Delegate=yes, or a
// container, makes for it) it moves one down, to selfGroup, and stays there. Otherwise root may use the root of all.
func unifiedParent(mount, own string) (string, error) {
	if filepath.Base(own) == selfGroup {
		own = filepath.Dir(own)
	}
	err := vacate(own)
	if err != nil && own != mount && enable(mount) == nil {
		return mount, nil
	}
	return own, err
}

func vacate(dir string) error {
	if enable(dir) == nil {
		return nil
	}
	if has, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers")); err != nil {
		return err
	} else if missing := lacking(has); len(missing) > 0 {
		return fmt.Errorf("%s has no controller %s", dir, strings.Join(missing, ", "))
	}
	procs, err := groupProcesses(dir)
	if err != nil {
		return err
	}
	self := os.Getpid()
	if slices.ContainsFunc(procs, func(pid int) bool { return pid != self }) {
		return fmt.Errorf("%s holds other processes", dir)
	}
	leaf := filepath.Join(dir, selfGroup)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := setFile(leaf, "cgroup.procs", strconv.Itoa(self)); err != nil {
		return err
	}
	return enable(dir)
}

// enable lets the children of a group have controllers.
func enable(dir string) error {
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fmt.Errorf("%s is not writable", dir)
	}
	on, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return err
	}
	if missing := lacking(on); len(missing) > 0 {
		return setFile(dir, "cgroup.subtree_control", "+"+strings.Join(missing, " +"))
	}
	return nil
}

func lacking(list []byte) []string {
	has := strings.Fields(string(list))
	return without(controllers2, func(c string) bool { return slices.Contains(has, c) })
}

// setFile writes a control file, which fails with the kernel's reason.
func setFile(dir, name, value string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(value), 0o644)
}

// processName begins the names of the groups of a process. It is unlike that of any other process, earlier or later, here
// or in another container: it has the process namespace, the number and when it was started.
func processName(pid int) (string, error) {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The second field is a name in parentheses that may itself contain some; the start is the 22nd.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return "", fmt.Errorf("/proc/%d/stat: %d fields after the name", pid, len(fields))
	}
	return fmt.Sprintf("skyrail.%s.%d.%s.", strings.Trim(space, "pid:[]"), pid, fields[19]), nil
}

// removeStale removes the groups of processes of this process namespace that are gone. What resists does no harm, and
// another process may be removing the same, so it has no error.
func (h *hierarchy) removeStale() {
	stale := map[string]bool{}
	space := h.owner[:strings.Index(h.owner[len("skyrail."):], ".")+len("skyrail.")+1]
	for _, dir := range h.parents {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			rest, ok := strings.CutPrefix(e.Name(), space)
			if !ok {
				continue
			}
			number, _, _ := strings.Cut(rest, ".")
			pid, err := strconv.Atoi(number)
			if err != nil {
				continue
			}
			if name, err := processName(pid); errors.Is(err, os.ErrNotExist) || err == nil && !strings.HasPrefix(e.Name(), name) {
				stale[e.Name()] = true
			}
		}
	}
	for name := range stale {
		g := h.group(name)
		if g.kill() == nil {
			g.remove()
		}
	}
}

// newGroup makes a group with limits, and with room for as many more processes as are extra.
func (h *hierarchy) newGroup(l Limits, extra int) (*group, error) {
	g := h.group(h.owner + strconv.FormatInt(made.Add(1), 10))
	g.extra = extra
	err := g.create()
	if err == nil {
		err = g.limit(l)
	}
	if err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

func (h *hierarchy) group(name string) *group {
	g := &group{unified: h.unified, dirs: map[string]string{}}
	for c, parent := range h.parents {
		g.dirs[c] = filepath.Join(parent, name)
	}
	return g
}
