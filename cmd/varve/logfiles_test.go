package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// readLogs is what lies in a directory, file by file.
func readLogs(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Name() + ": " + strings.ReplaceAll(string(text), "\n", "|") + "\n")
	}
	return b.String()
}

// TestReadOnlyLogDir: where the directory of the log is on a read-only file system, lines go to standard error, with a
// warning that says so, even if they should go to files alone. Other errors end the start.
func TestReadOnlyLogDir(t *testing.T) {
	var out bytes.Buffer
	c := &Config{}
	c.Logging.Dir, c.Logging.Format = "/ro/logs", "text"
	failed := func(why error) error {
		return fmt.Errorf("logging.dir = %q: %w", c.Logging.Dir,
			&os.PathError{Op: "open", Path: "/ro/logs/x", Err: why})
	}
	l, streams, err := c.logsInto(nil, failed(syscall.EROFS), streams{err: &out}, &filter{})
	if err != nil || streams.err != &out {
		t.Fatal(err)
	}
	l.logger("varve").Warn("second")
	if text := out.String(); !strings.Contains(text, "read-only") || !strings.Contains(text, "/ro/logs") ||
		!strings.Contains(text, "msg=second") {
		t.Errorf("the log has\n%s", text)
	}
	if _, _, err := c.logsInto(nil, failed(syscall.EACCES), streams, &filter{}); err == nil {
		t.Error("a directory without permission is taken")
	}
}

// TestLogFiles: each hour has its file, a start goes on in it, the oldest go, and what else lies there stays.
func TestLogFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "logs")
	now := time.Date(2026, 2, 28, 22, 10, 0, 0, time.FixedZone("", 3600))
	start := func(lines ...string) {
		t.Helper()
		l, err := openLogFiles(dir, 2, io.Discard, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			l.Write([]byte(line)) //nolint:errcheck // it never fails
			now = now.Add(40 * time.Minute)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	start("a\n", "b\n") // 21:10 and 21:50 UTC
	const others = "notes.txt: \nvarve-2020-01-01-00.log.gz: \nvarve-2020-13-01-00.log: \n"
	for _, other := range []string{"varve-2020-01-01-00.log.gz", "varve-2020-13-01-00.log", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start("c\n") // 22:30
	if got, want := readLogs(t, dir),
		others+"varve-2026-02-28-21.log: a|b|\nvarve-2026-02-28-22.log: c|\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	now = now.Add(-30 * time.Minute) // 22:40
	start("d\n", "e\n", "f\n")
	if got, want := readLogs(t, dir), others+"varve-2026-02-28-23.log: e|\nvarve-2026-03-01-00.log: f|\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// crowdedFile takes so many bytes, and then none.
type crowdedFile struct {
	*bytes.Buffer
	room int
}

func (f *crowdedFile) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.room -= n
	f.Buffer.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f *crowdedFile) Close() error { return nil }

// TestLogFilesOnAFullDisk: lines that find no room are counted, told once, and those after them stand in lines of their
// own.
func TestLogFilesOnAFullDisk(t *testing.T) {
	var trouble, written bytes.Buffer
	file := &crowdedFile{&written, 6}
	full := true
	l := &logFiles{dir: t.TempDir(), most: 3, trouble: &trouble, now: time.Now,
		open: func(string) (io.WriteCloser, error) {
			if full {
				return nil, syscall.ENOSPC
			}
			return file, nil
		}}
	write := func(line string) {
		t.Helper()
		if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("writing %q: %d, %v", line, n, err)
		}
	}
	write("lost\n")
	write("lost\n")
	full = false
	write("one\n")
	write("two\n")
	write("three\n")
	file.room = 100
	write("four\n")
	if got := written.String(); got != "one\ntw\nfour\n" || l.lost.Load() != 4 ||
		strings.Count(trouble.String(), "\n") != 2 {
		t.Errorf("written is %q, %d lost, told\n%s", got, l.lost.Load(), trouble.String())
	}
}

// TestLogFilesGoOn: where the file of an hour cannot be opened, the one of before takes the lines, which is told once.
func TestLogFilesGoOn(t *testing.T) {
	var trouble, first, third bytes.Buffer
	now := time.Date(2026, 2, 28, 22, 59, 0, 0, time.UTC)
	files := map[string]io.WriteCloser{"varve-2026-02-28-22.log": &crowdedFile{&first, 100},
		"varve-2026-03-01-00.log": &crowdedFile{&third, 100}}
	l := &logFiles{dir: t.TempDir(), most: 3, trouble: &trouble, now: func() time.Time { return now },
		open: func(name string) (io.WriteCloser, error) {
			if file := files[filepath.Base(name)]; file != nil {
				return file, nil
			}
			return nil, syscall.EMFILE
		}}
	for _, line := range []string{"one\n", "two\n", "three\n"} {
		io.WriteString(l, line)
		now = now.Add(30 * time.Minute)
	}
	io.WriteString(l, "four\n")
	if first.String() != "one\ntwo\nthree\n" || third.String() != "four\n" || l.lost.Load() != 0 ||
		strings.Count(trouble.String(), "\n") != 1 {
		t.Errorf("the first file has %q, the last %q, %d lost, told\n%s", first.String(), third.String(), l.lost.Load(),
			trouble.String())
	}
}

// TestLogDirectory: files have what the server says at its start and the lines of its log; these stay away from
// standard error where that is wanted.
func TestLogDirectory(t *testing.T) {
	for _, beside := range []string{"true", "false"} {
		dir := filepath.Join(t.TempDir(), "logs")
		s := serve(t, nil, "--set", "logging.dir="+dir, "--set", "logging.append_stdout="+beside)
		s.wait(regexp.MustCompile(`(?m)^users .*\n`))
		if code := s.stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		logged := readLogs(t, dir)
		for _, part := range []string{"log: varve " + version, "listening " + s.url, "msg=stopping", "msg=stopped"} {
			if !strings.Contains(logged, part) {
				t.Errorf("the files do not say %q:\n%s", part, logged)
			}
		}
		if got := strings.Contains(s.said(), "msg=stopped"); got != (beside == "true") {
			t.Errorf("standard error has lines of the log: %v, want %s", got, beside)
		}
	}
}
