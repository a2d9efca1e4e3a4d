package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of the times in /proc/PID/stat: 1/100 s on every Linux port of Go.
const tick = 10 * time.Millisecond

// CPU is the processor time a process has used so far, user and system, by /proc/PID/stat.
func CPU(pid int) (time.Duration, error) {
	name := fmt.Sprintf("/proc/%d/stat", pid)
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	// The second field is the program's name in parentheses and may hold blanks; fields 14 and 15 are the times.
	rest := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(rest) < 13 {
		return 0, fmt.Errorf("%s: %d fields after the name", name, len(rest))
	}
	user, err1 := strconv.ParseInt(rest[11], 10, 64)
	system, err2 := strconv.ParseInt(rest[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// Threads is the processor time that the threads a process has now have used so far, in ns: /proc/PID/task/*/schedstat.
// It lacks threads that have ended, and is finer than CPU.
func Threads(pid int) (time.Duration, error) {
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("process %d has no threads", pid)
	}
	var sum time.Duration
	for _, name := range names {
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			return 0, err
		}
		first, _, _ := strings.Cut(string(b), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		sum += time.Duration(ns)
	}
	return sum, err
}

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
