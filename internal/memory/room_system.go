//go:build linux || darwin

package memory

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// room is how many bytes there are, as far as that is known, of so many that are needed.
func room(needed int64) int64 {
	left := min(available(), groups())
	if needed > left {
		return left
	}
	// The limits of the process are known best by asking.
	if given(needed) {
		return left
	}
	left = 0
	for step := needed / 2; step >= Small; step /= 2 {
		if given(left + step) {
			left += step
		}
	}
	return left
}

// given says whether the process is given so much at once, with something besides for the collector.
func given(bytes int64) bool {
	const collector = 64 << 20
	if bytes > math.MaxInt64-collector {
		return false
	}
	all, err := syscall.Mmap(-1, 0, int(bytes+collector), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	return err == nil && syscall.Munmap(all) == nil
}

// available is what Linux says that can be had without others losing theirs.
func available() int64 {
	figures := read("/proc/meminfo")
	if free, ok := figures["MemAvailable:"]; ok {
		return (free + figures["SwapFree:"]) << 10
	}
	return math.MaxInt64
}

// groups is what is left in the control groups of the process, of either version.
func groups() int64 {
	left := int64(math.MaxInt64)
	lines, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(lines)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 || part[1] != "" && part[1] != "memory" {
			continue
		}
		root, most, own := "/sys/fs/cgroup", "memory.max", "anon"
		if part[1] == "memory" {
			root, most, own = "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "total_rss"
		}
		// A group of a container may be the root of what is to be seen in there.
		for dir := path.Clean("/" + part[2]); ; dir = path.Dir(dir) {
			text, _ := os.ReadFile(root + dir + "/" + most)
			if bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
				left = min(left, max(0, bytes-read(root + dir + "/memory.stat")[own]))
			}
			if dir == "/" {
				break
			}
		}
	}
	return left
}

// read is the numbers of a file of names and numbers; none if there is no such file.
func read(name string) map[string]int64 {
	text, _ := os.ReadFile(name)
	figures := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 {
			figures[words[0]], _ = strconv.ParseInt(words[1], 10, 64)
		}
	}
	return figures
}
