package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// tree makes a folder of files, which stands for mounted control groups: what is written there stays, and no kernel acts.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLocateFindsTheGroupOfThisProcess(t *testing.T) {
	self := strconv.Itoa(os.Getpid())
	for name, c := range map[string]struct {
		files  map[string]string
		mounts string // ROOT stands for the folder
		own    string
		want   map[string]string // below the folder
		err    string
	}{
		"version 1, each controller in its own tree": {
			files: map[string]string{"memory/a/b/f": "", "pids/f": "", "cpu/a/f": "", "cpuacct/f": ""},
			mounts: "31 25 0:26 / ROOT/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n32 25 0:27 / ROOT/pids rw - cgroup cgroup rw,pids\n" +
				"33 25 0:28 / ROOT/cpu rw - cgroup cgroup rw,cpu\n34 25 0:28 / ROOT/cpuacct rw - cgroup cgroup rw,cpuacct\n35 25 0:30 / ROOT/unified rw - cgroup2 cgroup2 rw\n",
			own:  "4:memory:/a/b\n3:cpuacct:/\n2:cpu:/a\n8:pids:/\n1:name=systemd:/x\n0::/y\n",
			want: map[string]string{"memory": "memory/a/b", "pids": "pids", "cpu": "cpu/a", "cpuacct": "cpuacct"},
		},
		"version 1, two controllers in one tree": {
			files: map[string]string{"memory/f": "", "pids/f": "", "cpu,cpuacct/a/f": ""},
			mounts: "31 25 0:26 / ROOT/memory rw - cgroup cgroup rw,memory\n32 25 0:27 / ROOT/pids rw - cgroup cgroup rw,pids\n" +
				"33 25 0:28 / ROOT/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
			own:  "4:memory:/\n3:cpu,cpuacct:/a\n8:pids:/\n",
			want: map[string]string{"memory": "memory", "pids": "pids", "cpu": "cpu,cpuacct/a", "cpuacct": "cpu,cpuacct/a"},
		},
		"version 1 in a container, whose mounts begin at its group": {
			files: map[string]string{"memory/f": "", "pids/f": "", "cpu/f": "", "cpuacct/f": ""},
			mounts: "31 25 0:26 /docker/abc ROOT/memory rw - cgroup cgroup rw,memory\n32 25 0:27 /docker/abc ROOT/pids rw - cgroup cgroup rw,pids\n" +
				"33 25 0:28 /docker/abc ROOT/cpu rw - cgroup cgroup rw,cpu\n34 25 0:28 /docker/abc ROOT/cpuacct rw - cgroup cgroup rw,cpuacct\n",
			own:  "4:memory:/docker/abc\n3:cpuacct:/docker/abc\n2:cpu:/docker/abc\n8:pids:/docker/abc\n",
			want: map[string]string{"memory": "memory", "pids": "pids", "cpu": "cpu", "cpuacct": "cpuacct"},
		},
		"version 2, at the root of all": {
			files:  map[string]string{"cgroup.procs": "1\n2\n", "cgroup.controllers": "cpu memory pids io", "cgroup.subtree_control": "memory"},
			mounts: "30 25 0:26 / ROOT rw - cgroup2 cgroup2 rw\n",
			own:    "0::/\n",
			want:   map[string]string{"memory": ".", "pids": ".", "cpu": "."},
		},
		"version 2, in a group made earlier": {
			files: map[string]string{
				"s/cgroup.controllers": "cpu memory pids", "s/cgroup.subtree_control": "cpu memory pids", "s/cgroup.procs": "",
				"s/skyrail-self/cgroup.procs": self,
			},
			mounts: "30 25 0:26 / ROOT rw - cgroup2 cgroup2 rw\n",
			own:    "0::/s/skyrail-self\n",
			want:   map[string]string{"memory": "s", "pids": "s", "cpu": "s"},
		},
		"neither": {
			mounts: "26 25 0:5 / /proc rw - proc proc rw\n", own: "", err: "no control groups with memory, pids, cpu, cpuacct are mounted",
		},
		"half of version 1": {
			files: map[string]string{"memory/f": ""}, mounts: "31 25 0:26 / ROOT/memory rw - cgroup cgroup rw,memory\nnonsense\n",
			own: "4:memory:/\n", err: "no control groups with pids, cpu, cpuacct are mounted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, c.files)
			h, err := locate(strings.ReplaceAll(c.mounts, "ROOT", root), c.own)
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("got error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for k, v := range c.want {
				want[k] = filepath.Join(root, v)
			}
			if !maps.Equal(h.parents, want) {
				t.Errorf("got %v, want %v", h.parents, want)
			}
		})
	}
}

func TestAProcessAloneInItsGroupMovesDown(t *testing.T) {
	self := strconv.Itoa(os.Getpid())
	root := tree(t, map[string]string{
		"s/cgroup.controllers": "cpu io memory pids", "s/cgroup.procs": self + "\n", "s/skyrail-self/cgroup.procs": "",
	})
	own := filepath.Join(root, "s")
	// The kernel refuses to enable controllers while the group has a process; here it does so once, for want of the file.
	if err := vacate(own); err == nil || !strings.Contains(err.Error(), "subtree_control") {
		t.Errorf("got error %v, want the one of the missing file", err)
	}
	if got := content(t, own, "skyrail-self/cgroup.procs"); got != self {
		t.Errorf("got %q in the group below, want this process", got)
	}
	if err := os.WriteFile(filepath.Join(own, "cgroup.subtree_control"), []byte("memory"), 0o644); err != nil {
		t.Fatal(err)
	}
	if parent, err := unifiedParent(root, filepath.Join(own, selfGroup)); parent != own || err != nil {
		t.Errorf("got parent %s, %v, want %s", parent, err, own)
	}
	if got := content(t, own, "cgroup.subtree_control"); got != "+pids +cpu" {
		t.Errorf("got %q enabled, want +pids +cpu", got)
	}
}

func TestAGroupThatCannotBeUsedIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"it holds others":        {map[string]string{"s/cgroup.controllers": "cpu memory pids", "s/cgroup.procs": "1\n"}, "holds other processes"},
		"it lacks a controller":  {map[string]string{"s/cgroup.controllers": "memory", "s/cgroup.procs": ""}, "has no controller pids, cpu"},
		"its list is not a list": {map[string]string{"s/cgroup.controllers": "cpu memory pids", "s/cgroup.procs": "one\n"}, "cgroup.procs"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, c.files)
			_, err := unifiedParent(root, filepath.Join(root, "s"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q in it", err, c.want)
			}
		})
	}
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLimitsAndUsageOfVersion2(t *testing.T) {
	dir := tree(t, nil)
	h := &hierarchy{unified: true, parents: map[string]string{}, owner: "skyrail.test."}
	for _, c := range controllers2 {
		h.parents[c] = dir
	}
	g, err := h.newGroup(Limits{Memory: 1 << 20, Processes: 7}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(g.folders()); got != 1 {
		t.Fatalf("got %d folders, want one", got)
	}
	own := g.folders()[0]
	for name, v := range map[string]string{
		"cpu.stat": "user_usec 5\nusage_usec 1500000\n", "memory.events": "low 0\noom 3\noom_kill 2\noom_group_kill 1\n",
		"pids.events": "max 4\n", "memory.swap.max": "max\n", "memory.oom.group": "0\n",
	} {
		if err := os.WriteFile(filepath.Join(own, name), []byte(v), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// These two exist on newer kernels only.
	if err := g.limit(Limits{Memory: 1 << 20, Processes: 7}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range []string{"memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max"} {
		got[name] = content(t, own, name)
	}
	want := map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "8", "cpu.max": "100000 100000"}
	if d := gocmp.Diff(got, want); d != "" {
		t.Error(d)
	}
	u, err := g.usage()
	if w := (usage{cpu: 1500 * time.Millisecond, oomKills: 2, forksRefused: 4}); u != w || err != nil {
		t.Errorf("got %+v, %v, want %+v: a kernel without memory.peak", u, err, w)
	}
	if err := os.WriteFile(filepath.Join(own, "memory.peak"), []byte("4096\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if u, err := g.usage(); u.peak != 4096 || err != nil {
		t.Errorf("got peak %d, %v, want 4096", u.peak, err)
	}
	for name, v := range map[string]string{"cpu.stat": "nothing\n", "memory.events": "oom_kill many\n", "pids.events": ""} {
		was := content(t, own, name)
		os.WriteFile(filepath.Join(own, name), []byte(v), 0o644)
		if _, err := g.usage(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is %q: got error %v, want one that names the file", name, v, err)
		}
		os.WriteFile(filepath.Join(own, name), []byte(was), 0o644)
	}
}

func TestProcessNamesDiffer(t *testing.T) {
	mine, err := processName(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	parents, err := processName(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	if parts := strings.Split(mine, "."); mine == parents || len(parts) != 5 || slices.Contains(parts[:4], "") {
		t.Errorf("got %q and %q, want two names of space, number and start", mine, parents)
	}
}
