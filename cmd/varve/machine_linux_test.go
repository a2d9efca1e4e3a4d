package main

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestGroupMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no control groups", nil, math.MaxInt64},
		{"a container's own root",
			map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1073741824\n"}, 1 << 30},
		{"no bound", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"},
			math.MaxInt64},
		{"a service's group", map[string]string{
			"proc/self/cgroup": "0::/system.slice/varve.service\n",
			"sys/fs/cgroup/system.slice/varve.service/memory.max": "536870912\n",
			"sys/fs/cgroup/system.slice/memory.max":               "max\n",
		}, 512 << 20},
		{"a group around it", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "8589934592\n",
			"sys/fs/cgroup/a/memory.max": "4294967296\n",
		}, 4 << 30},
		{"slowed down before the bound", map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "8589934592\n",
			"sys/fs/cgroup/a/memory.high": "4294967296\n",
		}, 4 << 30},
		{"a group named by its place on the host", map[string]string{
			"proc/self/cgroup": "0::/docker/0123\n", "sys/fs/cgroup/memory.max": "1073741824\n",
		}, 1 << 30},
		{"version 1", map[string]string{
			"proc/self/cgroup":                                       "5:cpu,cpuacct:/x\n4:memory:/docker/0123\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":             "9223372036854771712\n",
			"sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
		{"nonsense", map[string]string{"proc/self/cgroup": "x\n0::/../..\n", "sys/fs/cgroup/memory.max": "-3\n"},
			math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range c.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := groupMemoryOf(root); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
