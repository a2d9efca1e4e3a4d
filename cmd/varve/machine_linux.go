package main

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory is the memory of the machine or, if smaller, what the process's control groups may take.
func machineMemory() int64 {
	total := int64(unknownMemory)
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		total = int64(info.Totalram) * int64(info.Unit)
	}
	return min(total, groupMemory())
}

// groupMemory is the memory that the process's control groups may take; math.MaxInt64: they do not bound it.
func groupMemory() int64 { return groupMemoryOf(os.DirFS("/")) }

// groupMemoryOf is the least of the bounds of the process's control group and of those around it, in version 2 of
// control groups and in version 1. In a container /proc/self/cgroup may name a group by its place on the host, which is
// not to be found; the mount's own group bounds it then. Source: cgroups(7).
func groupMemoryOf(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		groups = []byte("0::/")
	}
	least := int64(math.MaxInt64)
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mount, files := "sys/fs/cgroup", []string{"memory.max", "memory.high"}
		if parts[1] == "memory" {
			mount, files = "sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"}
		} else if parts[1] != "" {
			continue // a controller of other things
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			for _, file := range files {
				least = min(least, boundIn(root, path.Join(mount, group, file)))
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// boundIn reads a file with a number of bytes, or the word max; math.MaxInt64: it bounds nothing.
func boundIn(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 {
		return math.MaxInt64
	}
	return n
}
