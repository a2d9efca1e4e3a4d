package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time a process has used so far, user and system, by its clock.
func CPU(pid int) (time.Duration, error) {
	if pid < 1 || pid > maxPID {
		return 0, fmt.Errorf("%d is no process", pid)
	}
	var used unix.Timespec
	if err := unix.ClockGettime(cpuClock(pid), &used); err != nil {
		return 0, fmt.Errorf("processor time of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
}

// maxPID bounds the numbers of processes on Linux.
const maxPID = 1 << 22

// cpuClock is the number of the clock of a process's processor time, which counts nanoseconds. Source:
// clock_getcpuclockid(3) of Linux.
func cpuClock(pid int) int32 { return int32(^pid<<3 | 2) }

// PeakRSS is the largest resident set a process has had, in bytes: VmHWM of /proc/PID/status.
func PeakRSS(pid int) (int64, error) { return memory(pid, "VmHWM:") }

// RSS is the resident set a process has now, in bytes: VmRSS of /proc/PID/status.
func RSS(pid int) (int64, error) { return memory(pid, "VmRSS:") }

// AnonRSS is what of the resident set lies in no file, in bytes: RssAnon of /proc/PID/status. Pages of files are there
// as long as nobody else wants the room.
func AnonRSS(pid int) (int64, error) { return memory(pid, "RssAnon:") }

// memory reads a line of /proc/PID/status that counts kB.
func memory(pid int, key string) (int64, error) {
	name := fmt.Sprintf("/proc/%d/status", pid)
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("%s: no %s", name, key)
}

// Disk is what lies in a data directory.
type Disk struct {
	DataBytes int64 // everything but the log and the ballast
	LogBytes  int64 // files below a directory named wal
	Files     int
}

// DiskUse adds up the files below dir. Files that vanish meanwhile are left out.
func DiskUse(dir string) (d Disk, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return nil
		}
		var info fs.FileInfo
		if err == nil {
			info, err = e.Info()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.Name() == "BALLAST":
			return nil
		}
		d.Files++
		if rel, err := filepath.Rel(dir, path); err == nil && strings.HasPrefix(rel, "wal"+string(filepath.Separator)) {
			d.LogBytes += info.Size()
		} else {
			d.DataBytes += info.Size()
		}
		return nil
	})
	return d, err
}
