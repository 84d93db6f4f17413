package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cage runs programs in bubblewrap. Bubblewrap makes the namespaces and mounts, forks the first process of the process
// namespace, which reaps orphans, and stops there until the gate opens; that process forks the program. What is put on
// it before (control groups, resource limits) the program inherits, and when it dies the kernel kills the namespace.
//
// An ordinary user becomes nobody by a user namespace. Root does without one: bubblewrap keeps the three capabilities
// that setpriv needs to become nobody, on the host as well, and to give them up.
type cage struct {
	bwrap   string
	env     string
	setpriv string // empty unless we are root
	filter  []byte // the system call filter as the kernel wants it
}

const (
	nobody = "65534"

	hintBwrap    = "install bubblewrap 0.8 or later (Debian, Ubuntu, Fedora, Arch: the package bubblewrap)"
	hintPrograms = "install coreutils and util-linux"
	hintGroups   = "run as root, or in control groups of your own: systemd-run --user --scope -p Delegate=yes skyrail …"
	hintPermit   = "permit bubblewrap to make namespaces: on the host by kernel.unprivileged_userns_clone=1 or an AppArmor profile, in a container by CAP_SYS_ADMIN"
)

func newCage() (*Box, error) {
	var missing, hints []string
	lack := func(what, hint string) { missing, hints = append(missing, what), append(hints, hint) }
	k := &cage{}
	find := func(name, hint string) string {
		path, err := exec.LookPath(name)
		if err != nil {
			lack("no program "+name, hint)
		}
		return path
	}
	k.bwrap = find("bwrap", hintBwrap)
	k.env = find("env", hintPrograms)
	if os.Geteuid() == 0 {
		k.setpriv = find("setpriv", hintPrograms)
	}
	groups, err := findHierarchy()
	if err != nil {
		lack("no control groups to use: "+err.Error(), hintGroups)
	}
	if k.filter, err = systemCallFilter(); err != nil {
		lack("no system call filter: "+err.Error(), "use an amd64 or arm64 machine")
	}
	if missing != nil {
		return nil, &UnavailableError{Missing: missing, Hint: strings.Join(hints, "; ")}
	}
	b := &Box{isolation: Cage, way: k, groups: groups}
	if err := b.try(); err != nil {
		return nil, &UnavailableError{Missing: []string{"a first run: " + err.Error()}, Hint: hintPermit}
	}
	return b, nil
}

// try runs a program that does nothing.
func (b *Box) try() error {
	path, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	limits := DefaultLimits()
	limits.Wall = 30 * time.Second
	p, err := b.Start(context.Background(), Command{Path: path, Limits: limits})
	if err != nil {
		return err
	}
	r, err := p.Wait()
	if err == nil && (r.Cause != Exited || r.Exit != 0) {
		err = fmt.Errorf("%s: %s with status %d: %s", path, r.Cause, r.Exit, r.Output)
	}
	return err
}

func (k *cage) hold(c Command, out *os.File) (_ *held, err error) {
	if err := k.reaches(c); err != nil {
		return nil, err
	}
	var ours, theirs []*os.File
	defer func() {
		if err != nil {
			closeAll(append(ours, theirs...))
		}
	}()
	// pass appends f to what bubblewrap inherits and returns its number there.
	pass := func(f *os.File) string {
		theirs = append(theirs, f)
		return strconv.Itoa(2 + len(c.Files) + len(theirs))
	}
	statusR, statusW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ours = append(ours, statusR)
	status := pass(statusW)
	gateR, gateW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ours = append(ours, gateW)
	gate := pass(gateR)
	var numbers [3]string
	for i, content := range []string{string(k.filter), passwdFile, groupFile} {
		f, err := memoryFile([]byte(content))
		if err != nil {
			return nil, err
		}
		numbers[i] = pass(f)
	}
	args := k.system()
	args = append(args,
		"--json-status-fd", status, "--block-fd", gate, "--seccomp", numbers[0],
		"--perms", "0444", "--file", numbers[1], "/etc/passwd",
		"--perms", "0444", "--file", numbers[2], "/etc/group",
		"--perms", "1777", "--size", strconv.FormatInt(c.Limits.TmpSize, 10), "--tmpfs", "/tmp")
	mounts := append([]Mount(nil), c.Mounts...)
	for _, path := range c.ReadOnly {
		mounts = append(mounts, Mount{path, path})
	}
	// What is mounted inside of another mount comes after it.
	slices.SortStableFunc(mounts, func(a, b Mount) int { return strings.Compare(a.Inside, b.Inside) })
	for _, m := range mounts {
		// Left to itself, bubblewrap makes the way to the place as closed as it is on the host, such as root's home.
		for i, r := range m.Inside {
			if r == '/' && i > 0 {
				args = append(args, "--perms", "0755", "--dir", m.Inside[:i])
			}
		}
		args = append(args, "--ro-bind", m.Host, m.Inside)
	}
	dir := c.Dir
	if dir == "" {
		dir = "/tmp"
	}
	args = append(args, "--remount-ro", "/", "--chdir", dir)
	// By a file, since the program can read the command line of bubblewrap, and host paths are not for it.
	f, err := memoryFile([]byte(strings.Join(args, "\x00") + "\x00"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(k.bwrap, append([]string{"--args", pass(f), "--"}, k.command(c)...)...)
	cmd.Env = []string{}           // not nil, which would mean ours
	cmd.SysProcAttr = ownSession() // an interrupt at the terminal is for us, and we end it
	cmd.Stdout, cmd.Stderr = out, out
	cmd.ExtraFiles = append(append([]*os.File(nil), c.Files...), theirs...)

	var root *os.Process
	reports := json.NewDecoder(statusR)
	return &held{
		cmd:    cmd,
		inside: theirs,
		extra:  1, // the reaper
		root: func() (int, error) {
			var report struct {
				Child int `json:"child-pid"`
			}
			if err := reports.Decode(&report); err != nil || report.Child == 0 {
				return 0, fmt.Errorf("%s: %w", filepath.Base(k.bwrap), errNotReached)
			}
			// It cannot be gone and its number taken by another: it is blocked, and its parent has not waited for it.
			root, err = os.FindProcess(report.Child)
			return report.Child, err
		},
		letGo: func() error {
			_, err := gateW.Write([]byte{1})
			return err
		},
		kill: func() {
			if root != nil {
				root.Kill()
			}
		},
		close: func(exited bool) error {
			var report struct {
				Exit *int `json:"exit-code"`
			}
			err := reports.Decode(&report)
			closeAll(ours)
			if root != nil {
				root.Release()
			}
			// Bubblewrap tells the status of what it has started, not its own.
			if exited && (err != nil || report.Exit == nil) {
				return errNotReached
			}
			return nil
		},
	}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// Who the program is and who runs the machine, for those that ask for names.
const (
	passwdFile = "root:x:0:0:root:/:/usr/sbin/nologin\nnobody:x:" + nobody + ":" + nobody + ":nobody:/tmp:/usr/sbin/nologin\n"
	groupFile  = "root:x:0:\nnogroup:x:" + nobody + ":\n"
)

// systemDirs are what of the host's system is in every cage.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// system is what is the same in every cage. The order is that of the mounts.
func (k *cage) system() []string {
	args := []string{
		"--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup",
		"--hostname", "cage", "--new-session", "--die-with-parent", "--cap-drop", "ALL",
	}
	if k.setpriv != "" {
		args = append(args, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
	} else {
		args = append(args, "--unshare-user", "--uid", nobody, "--gid", nobody, "--disable-userns")
	}
	for _, dir := range systemDirs {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else {
			args = append(args, "--ro-bind-try", dir, dir)
		}
	}
	args = append(args, "--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/dev")
	for _, path := range []string{"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"} {
		args = append(args, "--ro-bind-try", path, path)
	}
	args = append(args, "--proc", "/proc")
	// Fewer devices than bubblewrap's own /dev: no terminals. Shared memory and semaphores of the C library live in
	// /dev/shm, which is to count as /tmp.
	for _, device := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
		args = append(args, "--dev-bind", device, device)
	}
	for _, link := range [][2]string{
		{"/tmp", "/dev/shm"}, {"/proc/self/fd", "/dev/fd"},
		{"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"}, {"/proc/self/fd/2", "/dev/stderr"},
	} {
		args = append(args, "--symlink", link[0], link[1])
	}
	return args
}

// command is what bubblewrap starts. setpriv still has capabilities, so it runs in an empty environment, where no
// variable can make the loader run code of a team; env then brings in the environment of the program.
func (k *cage) command(c Command) []string {
	var line []string
	if k.setpriv != "" {
		line = append(line, k.setpriv, "--reuid", nobody, "--regid", nobody, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--")
	}
	line = append(line, k.env, "-i")
	line = append(line, c.Env...)
	line = append(line, "HOME=/tmp", "TMPDIR=/tmp", c.Path)
	return append(line, c.Args...)
}

// reaches tells whether the program is in the cage, behind whatever symbolic links: a virtual environment's python, for
// one, is only a link to the interpreter.
func (k *cage) reaches(c Command) error {
	host := c.Path
	roots := append(append([]string(nil), systemDirs...), c.ReadOnly...)
	for _, m := range c.Mounts {
		roots = append(roots, m.Host)
		if rest, ok := below(c.Path, m.Inside); ok {
			host = filepath.Join(m.Host, rest)
		}
	}
	real, err := filepath.EvalSymlinks(host)
	if err != nil {
		return err
	}
	for _, root := range roots {
		if root, err := filepath.EvalSymlinks(root); err == nil {
			if _, ok := below(real, root); ok {
				return nil
			}
		}
	}
	return fmt.Errorf("%s is not in the cage; name its folder in ReadOnly or Mounts", real)
}

// below returns the rest of path after dir, if path is dir or in it.
func below(path, dir string) (rest string, ok bool) {
	rest, err := filepath.Rel(dir, path)
	return rest, err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// memoryFile returns a file without a name, to be read from its beginning.
func memoryFile(content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "memory file")
	if _, err := f.Write(content); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
