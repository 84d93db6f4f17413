package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elastic/go-seccomp-bpf/arch"
	gocmp "github.com/google/go-cmp/cmp"
)

// leftGroupsAndProcesses tells of control groups of ours and of children.
func leftGroupsAndProcesses() error {
	if h, err := findHierarchy(); err == nil {
		for _, dir := range h.parents {
			if left, _ := filepath.Glob(filepath.Join(dir, h.owner+"*")); len(left) > 0 {
				return fmt.Errorf("control groups %s are left", left)
			}
		}
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, s := range stats {
		b, err := os.ReadFile(s)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			return fmt.Errorf("a child is left: %s", b)
		}
	}
	return nil
}

// attempt is Python that runs statements and tells for each the name of the error, or "done".
const attempt = `
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(n, *args):
    if libc.syscall(n, *args) < 0: raise OSError(ctypes.get_errno(), "")
for a in sys.argv[1:]:
    try: exec(a)
    except OSError as e: print(errno.errorcode.get(e.errno, e))
    except Exception as e: print(type(e).__name__)
    else: print("done")
`

// wantRefused runs statements in the cage, each of which has to fail with the error beside it.
func wantRefused(t *testing.T, change func(*Command), cases [][2]string) {
	t.Helper()
	c := program(t, attempt)
	for _, v := range cases {
		c.Args = append(c.Args, v[0])
	}
	if change != nil {
		change(&c)
	}
	r := run(t, cageBox(t), c)
	got := strings.Split(strings.TrimSpace(string(r.Output)), "\n")
	if r.Exit != 0 || len(got) != len(cases) {
		t.Fatalf("got %s with status %d and output %s, want %d lines", r.Cause, r.Exit, r.Output, len(cases))
	}
	for i, v := range cases {
		if !slices.Contains(strings.Split(v[1], "|"), got[i]) {
			t.Errorf("%s: got %s, want %s", v[0], got[i], v[1])
		}
	}
}

func TestTheProgramIsNobody(t *testing.T) {
	t.Parallel()
	r := run(t, cageBox(t), program(t, `
import grp, json, os, pwd, socket
status = dict(l.split(":", 1) for l in open("/proc/self/status"))
keys = "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"
print(json.dumps({k: " ".join(status[k].split()) for k in keys} | {
    "user": pwd.getpwuid(os.getuid()).pw_name, "group": grp.getgrgid(os.getgid()).gr_name, "host": socket.gethostname(),
    "session": os.getsid(0) != 0 or os.getsid(0), "home": os.path.expanduser("~"),
    "map": " ".join(open("/proc/self/uid_map").read().split())}))`))
	var got map[string]any
	if err := json.Unmarshal(r.Output, &got); err != nil {
		t.Fatalf("%v: %s", err, r.Output)
	}
	none := strings.Repeat("0", 16)
	want := map[string]any{
		"Uid": "65534 65534 65534 65534", "Gid": "65534 65534 65534 65534", "Groups": "",
		"CapInh": none, "CapPrm": none, "CapEff": none, "CapBnd": none, "CapAmb": none, "NoNewPrivs": "1", "Seccomp": "2",
		"user": "nobody", "group": "nogroup", "host": "cage", "session": true, "home": "/tmp",
		"map": "0 0 4294967295", // no user namespace: nobody on the host too
	}
	if os.Geteuid() != 0 {
		want["map"] = "65534 65534 1" // of the inner of two user namespaces, which forbids a third
		// In a user namespace the bounding set cannot be used: nothing that is executed gains a capability.
		want["CapBnd"], want["Groups"] = got["CapBnd"], got["Groups"]
	}
	if d := gocmp.Diff(got, want); d != "" {
		t.Error(d)
	}
}

func TestTheProgramHasNoNetwork(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	// A name without a file, which only a network namespace hides.
	abstract, err := net.Listen("unix", "@skyrail-test-"+strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	wantRefused(t, nil, [][2]string{
		{`socket.create_connection(("127.0.0.1", ` + port + `), 5)`, "ECONNREFUSED"},
		{`socket.create_connection(("1.1.1.1", 53), 5)`, "ENETUNREACH"},
		{`socket.socket(socket.AF_INET6).connect(("2606:4700:4700::1111", 53))`, "ENETUNREACH|EADDRNOTAVAIL|EAFNOSUPPORT"},
		{`socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53))`, "ENETUNREACH"},
		{`socket.socket(socket.AF_UNIX).connect("\0skyrail-test-` + strconv.Itoa(os.Getpid()) + `")`, "ECONNREFUSED"},
		{`socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)`, "EAFNOSUPPORT"},
		{`socket.socket(40, socket.SOCK_STREAM)`, "EAFNOSUPPORT"}, // to the host of a virtual machine
		{`socket.socket(38, socket.SOCK_SEQPACKET)`, "EAFNOSUPPORT"},
		{`call(` + strconv.Itoa(number64("socket")) + `, ctypes.c_ulong((1 << 32) | 40), 1, 0)`, "EAFNOSUPPORT"},
		{`socket.socketpair()`, "done"},
		{`socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)`, "EPERM"},
	})
}

func number64(name string) int {
	machine, err := arch.GetInfo("")
	if err != nil {
		return -1
	}
	return machine.SyscallNames[name]
}

func TestTheProgramSeesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	team, other := teamFolder(t), teamFolder(t)
	here, err := filepath.Abs("box.go")
	if err != nil {
		t.Fatal(err)
	}
	reaper := "EACCES|EPERM"
	if os.Geteuid() != 0 {
		reaper += "|done" // it is the same user, as confined as the program, and has an empty environment
	}
	mounted := func(c *Command) { c.Mounts = []Mount{{team, "/team"}, {team, "/tmp/team"}} }
	wantRefused(t, mounted, [][2]string{
		{`open("/team/agent.py")`, "done"},
		{`open("/tmp/team/agent.py")`, "done"},
		{fmt.Sprintf("open(%q)", filepath.Join(team, "agent.py")), "ENOENT"},
		{fmt.Sprintf("open(%q)", filepath.Join(other, "agent.py")), "ENOENT"},
		{fmt.Sprintf("open(%q)", here), "ENOENT"},
		{`open("/etc/shadow")`, "ENOENT"},
		{`open("/etc/hostname")`, "ENOENT"},
		{`os.listdir("/home")`, "ENOENT"}, {`os.listdir("/sys")`, "ENOENT"}, {`os.listdir("/run")`, "ENOENT"}, {`os.listdir("/var")`, "ENOENT"},
		{`open("/dev/tty")`, "ENOENT"}, {`open("/dev/ptmx")`, "ENOENT"}, {`open("/dev/mem")`, "ENOENT"},
		{`open("/proc/1/environ").read()`, reaper},
		{`os.listdir("/proc/1/fd")`, reaper},
		{`os.readlink("/proc/1/root")`, reaper},
		{`open("/proc/kcore", "rb").read(1)`, "EACCES|EPERM|ENOENT"},
	})

	c := program(t, `
import json, os
print(json.dumps({
    "/": sorted(os.listdir("/")), "/tmp": os.listdir("/tmp"), "/team": os.listdir("/team"), "/dev": sorted(os.listdir("/dev")),
    "processes": sorted(int(p) for p in os.listdir("/proc") if p.isdigit()),
    "home": sorted(os.listdir(`+fmt.Sprintf("%q", home)+`)) if os.path.exists(`+fmt.Sprintf("%q", home)+`) else [],
    "lines": open("/proc/1/cmdline").read(), "environment": open("/proc/self/environ").read(),
}))`)
	c.Mounts = []Mount{{team, "/team"}}
	r := run(t, cageBox(t), c)
	var got struct {
		Root        []string `json:"/"`
		Tmp         []string `json:"/tmp"`
		Team        []string `json:"/team"`
		Dev         []string `json:"/dev"`
		Home        []string
		Processes   []int
		Lines       string
		Environment string
	}
	if err := json.Unmarshal(r.Output, &got); err != nil {
		t.Fatalf("%v: %s", err, r.Output)
	}
	wantRoot := []string{"dev", "etc", "proc", "team", "tmp"}
	var wantHome []string
	for _, d := range systemDirs {
		if _, err := os.Lstat(d); err == nil {
			wantRoot = append(wantRoot, strings.TrimPrefix(d, "/"))
		}
	}
	for _, path := range c.ReadOnly {
		wantRoot = append(wantRoot, strings.Split(path, "/")[1])
		if rest, ok := below(path, home); ok {
			wantHome = append(wantHome, strings.Split(rest, "/")[0])
		}
	}
	sorted := func(s []string) []string { slices.Sort(s); return slices.Compact(s) }
	for _, v := range []struct {
		name      string
		got, want []string
	}{
		{"/", got.Root, sorted(wantRoot)},
		{"the home of the host", got.Home, sorted(wantHome)},
		{"/team", got.Team, []string{"agent.py"}},
		{"/dev", got.Dev, []string{"fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"}},
	} {
		if !slices.Equal(v.got, v.want) {
			t.Errorf("%s: got %q, want %q", v.name, v.got, v.want)
		}
	}
	// A folder of the interpreter may be in /tmp.
	for _, f := range got.Tmp {
		if !slices.ContainsFunc(c.ReadOnly, func(p string) bool { return strings.HasPrefix(p, "/tmp/"+f) }) {
			t.Errorf("got %s in /tmp", f)
		}
	}
	if !slices.Equal(got.Processes, []int{1, 2}) {
		t.Errorf("got processes %v, want the reaper and itself", got.Processes)
	}
	if strings.Contains(got.Lines, team) || strings.Contains(got.Environment, secret) {
		t.Errorf("it learns of the host: %q, %q", got.Lines, got.Environment)
	}
}

func teamFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.py"), []byte("secret = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheProgramWritesOnlyToItsPrivateFolder(t *testing.T) {
	t.Parallel()
	py, err := python()
	if err != nil {
		t.Fatal(err)
	}
	team := teamFolder(t)
	// Permissions shall not be what protects it.
	if err := errors.Join(os.Chmod(team, 0o777), os.Chmod(filepath.Join(team, "agent.py"), 0o666)); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, func(c *Command) { c.Mounts = []Mount{{team, "/team"}} }, [][2]string{
		{`open("/f", "w")`, "EROFS"},
		{`open("/usr/f", "w")`, "EROFS"},
		{`open("/etc/passwd", "a")`, "EROFS|EACCES"},
		{`open("/etc/f", "w")`, "EROFS"},
		{`open("/dev/f", "w")`, "EROFS"},
		{`open("/team/f", "w")`, "EROFS"},
		{`open("/team/agent.py", "a")`, "EROFS"},
		{`os.remove("/team/agent.py")`, "EROFS"},
		{fmt.Sprintf(`open(%q, "w")`, filepath.Join(py.Folders[0], "f")), "EROFS"},
		{`open("/proc/sys/kernel/hostname", "w")`, "EROFS|EACCES"},
		{`open("/proc/self/oom_score_adj", "wb", buffering=0).write(b"-1000")`, "EACCES"},
		{`open("/tmp/f", "w").write("x")`, "done"},
		{`open("/dev/shm/f", "w").write("x")`, "done"},
		{`os.stat("/tmp/shared") if os.path.samefile("/tmp", "/dev/shm") else 0`, "ENOENT"},
		{`import multiprocessing; multiprocessing.Lock()`, "done"},
	})
	if got, err := os.ReadDir(team); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v in the folder of the team, want one file", got, err)
	}
}

func TestAFullTmpIsAnErrorOfTheProgram(t *testing.T) {
	t.Parallel()
	wantExit(t, run(t, cageBox(t), program(t, `
n, i = 0, 0
try:
    while True:
        i += 1
        with open(f"/tmp/{i}", "wb", buffering=0) as f: n += f.write(b"x" * 65536)
except OSError as e:
    print(n // (1 << 20), e.errno)
`)), 0, "16 28") // ENOSPC
}

func TestTmpCountsAsMemory(t *testing.T) {
	t.Parallel()
	c := program(t, `
for i in range(100):
    with open(f"/tmp/{i}", "wb") as f: f.write(b"x" * (4 << 20))`)
	c.Limits.TmpSize = 1 << 30
	c.Limits.Memory = 64 << 20
	wantCause(t, run(t, cageBox(t), c), Memory)
}

func TestTheProgramCannotReachOtherProcesses(t *testing.T) {
	t.Parallel()
	want := "EPERM"
	if os.Geteuid() != 0 {
		want = "EPERM|done" // the reaper is the same user, and ignores signals from its own namespace
	}
	wantRefused(t, nil, [][2]string{
		{`os.kill(os.getppid(), 9)`, want},
		{`os.kill(` + strconv.Itoa(os.Getpid()) + `, 0)`, "ESRCH"},
		{`os.setpriority(os.PRIO_PROCESS, 0, -5)`, "EACCES|EPERM"},
		{`os.setuid(0)`, "EPERM|EINVAL"},
		{`os.setgroups([0])`, "EPERM"},
		{`os.mknod("/tmp/d", 0o60666, 0x100)`, "EPERM"},
		{`import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))`, "ValueError"},
		{`import resource; resource.setrlimit(resource.RLIMIT_CORE, (1, 1))`, "ValueError"},
	})
}

func TestDeniedSystemCallsFail(t *testing.T) {
	t.Parallel()
	machine, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	var cases [][2]string
	for _, name := range denied {
		if n, ok := machine.SyscallNames[name]; ok {
			cases = append(cases, [2]string{fmt.Sprintf("call(%d, 0, 0, 0, 0, 0, 0) # %s", n, name), "EPERM"})
		}
	}
	if len(cases) < 50 {
		t.Fatalf("got %d calls on this machine, want more", len(cases))
	}
	// The list itself may not lose these.
	for _, name := range []string{"ptrace", "process_vm_writev", "unshare", "setns", "mount", "pivot_root", "bpf", "io_uring_setup", "perf_event_open", "userfaultfd", "keyctl", "open_by_handle_at"} {
		if !slices.Contains(denied, name) {
			t.Errorf("%s is not denied", name)
		}
	}
	clone := machine.SyscallNames["clone"]
	for _, flag := range []int{0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000} {
		cases = append(cases, [2]string{fmt.Sprintf("call(%d, ctypes.c_ulong(%d), 0, 0, 0, 0)", clone, flag|17), "EPERM"})
	}
	cases = append(cases,
		[2]string{fmt.Sprintf("call(%d, 0, 0)", machine.SyscallNames["clone3"]), "ENOSYS"},
		[2]string{"import threading; t = threading.Thread(target=os.getpid); t.start(); t.join()", "done"},
	)
	wantRefused(t, nil, cases)
}

func TestDeniedSystemCallsExist(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range denied {
		_, amd64 := arch.X86_64.SyscallNames[name]
		_, arm64 := arch.AARCH64.SyscallNames[name]
		if !amd64 && !arm64 {
			t.Errorf("no machine has %s", name)
		}
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
}

func TestAProgramOutsideTheCageIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "python")
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, want string
	}{
		{os.Args[0], "is not in the cage; name its folder in ReadOnly or Mounts"},
		{link, "no such file"},
		{"/usr/bin/no-such-program", "no such file"},
	} {
		_, err := cageBox(t).Start(t.Context(), Command{Path: c.path, ReadOnly: []string{dir}, Limits: DefaultLimits()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q in it", c.path, err, c.want)
		}
	}
}

func TestAFaultOfTheCageIsAnError(t *testing.T) {
	t.Parallel()
	c := program(t, "")
	c.Mounts = []Mount{{"/no/such/folder", "/team"}}
	p, err := cageBox(t).Start(t.Context(), c)
	if err == nil {
		_, err = p.Wait()
	}
	if !errors.Is(err, errNotReached) || !strings.Contains(err.Error(), "/no/such/folder") {
		t.Errorf("got error %v, want bubblewrap's about the folder", err)
	}
}

func TestAMountIsFoundWhereInsideSays(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		m := Mount{Host: teamFolder(t), Inside: "/team"}
		c := program(t, "import os, sys; print(os.getcwd() == sys.argv[1], os.listdir())", b.Inside(m))
		c.Mounts, c.Dir = []Mount{m}, b.Inside(m)
		wantExit(t, run(t, b, c), 0, "True ['agent.py']")
	})
}

func TestUnavailableTellsWhatIsMissing(t *testing.T) {
	t.Run("no programs", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := New(Cage)
		var unavailable *UnavailableError
		if !errors.As(err, &unavailable) || !slices.Contains(unavailable.Missing, "no program bwrap") {
			t.Fatalf("got error %v, want that bwrap is missing", err)
		}
		for _, want := range []string{"install bubblewrap", `isolation "process"`} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want %q in it", err, want)
			}
		}
	})
	t.Run("a bubblewrap that may not", func(t *testing.T) {
		cageBox(t)
		dir := t.TempDir()
		script := "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
		if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		_, err := New(Cage)
		var unavailable *UnavailableError
		if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "bwrap: No permissions to create new namespace") {
			t.Errorf("got error %v, want bubblewrap's words", err)
		}
	})
}

// What runs with capabilities, or beside the program, must not get our environment, and not that of the program.
func TestTheCageStartsInAnEmptyEnvironment(t *testing.T) {
	t.Parallel()
	p, r := startDaemon(t, t.Context(), cageBox(t), "while True: time.sleep(1000)")
	defer r.Close()
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.tree.cmd.Process.Pid))
	if len(environment) != 0 || err != nil {
		t.Errorf("got environment %q, %v of bubblewrap, want none", environment, err)
	}
	p.Kill()
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
	// The loader complains once for each program that it starts with this.
	c := program(t, "")
	c.Env = append(c.Env, "LD_PRELOAD=/team/evil.so")
	if got := run(t, cageBox(t), c).Output; strings.Count(string(got), "/team/evil.so") != 1 {
		t.Errorf("got %s, want one complaint of the loader", got)
	}
}

// A run that crashed has left a group, with a process in it.
func TestStaleGroupsAreRemoved(t *testing.T) {
	cageBox(t)
	h, err := findHierarchy()
	if err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Start(); err != nil {
		t.Fatal(err)
	}
	crashed, err := processName(gone.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Wait(); err != nil {
		t.Fatal(err)
	}
	stale, mine := h.group(crashed+"1"), h.group(h.owner+"test")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	sleeper := exec.CommandContext(ctx, "sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stale.create(), mine.create(), stale.add(sleeper.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if _, err := findHierarchy(); err != nil {
		t.Fatal(err)
	}
	if err := sleeper.Wait(); err == nil || ctx.Err() != nil {
		t.Errorf("got %v of the process in the stale group, want it killed", err)
	}
	for _, dir := range stale.folders() {
		if isDir(dir) {
			t.Errorf("%s is left", dir)
		}
	}
	for _, dir := range mine.folders() {
		if !isDir(dir) {
			t.Errorf("%s is gone, and its owner lives", dir)
		}
	}
	if err := mine.remove(); err != nil {
		t.Error(err)
	}
}
