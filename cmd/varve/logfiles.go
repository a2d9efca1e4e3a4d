package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/vfs"
)

// logFileName is the name of the file of an hour, UTC: varve-2026-01-31-23.log. Names sort as hours do.
const logFileName = "varve-2006-01-02-15.log"

// logFiles writes lines into files of an hour each and removes the oldest. What cannot be written, as the disk is full
// say, is counted and gone: a write never fails. Safe for concurrent use.
type logFiles struct {
	dir     string
	most    int       // files, the one that is written among them
	trouble io.Writer // is told when lines begin to be lost
	now     func() time.Time
	open    func(name string) (io.WriteCloser, error)
	lost    atomic.Int64

	mu      sync.Mutex
	file    io.WriteCloser // nil: none is open
	name    string         // of file
	torn    bool           // the last line was written in part
	failing bool           // the last line was lost
	stuck   bool           // the file of the hour could not be opened, an older one is written
}

// openLogFiles opens the file of the hour in a directory, which is made when it is not there. A full disk is no reason
// to fail.
func openLogFiles(dir string, most int, trouble io.Writer, now func() time.Time) (*logFiles, error) {
	l := &logFiles{dir: dir, most: most, trouble: trouble, now: now, open: appendTo}
	err := os.MkdirAll(dir, 0o750)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		err = l.turn(l.now().UTC().Format(logFileName))
	}
	if err != nil && !vfs.IsNoSpace(err) {
		return nil, fmt.Errorf("logging.dir = %q: %w", dir, err)
	}
	return l, nil
}

// appendTo opens a file to write behind what it has.
func appendTo(name string) (io.WriteCloser, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
}

// Write writes a line, or several.
func (l *logFiles) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.write(p)
	if err != nil {
		l.lost.Add(1)
		if !l.failing {
			fmt.Fprintf(l.trouble, "lines of the log are lost: %v\n", err)
		}
	}
	l.failing = err != nil
	return len(p), nil
}

// write writes lines to the file of the hour; the caller holds mu.
func (l *logFiles) write(p []byte) error {
	if name := l.now().UTC().Format(logFileName); l.file == nil || name != l.name {
		if err := l.turn(name); err != nil {
			if l.file == nil {
				return err
			}
			if !l.stuck { // the file of before goes on
				fmt.Fprintf(l.trouble, "the log goes on in %s: %v\n", l.name, err)
			}
			l.stuck = true
		}
	}
	if l.torn {
		if _, err := l.file.Write([]byte("\n")); err != nil {
			return err
		}
		l.torn = false
	}
	n, err := l.file.Write(p)
	l.torn = err != nil && n > 0
	return err
}

// turn goes on to the file of another hour, and removes the oldest; the caller holds mu.
func (l *logFiles) turn(name string) error {
	file, err := l.open(filepath.Join(l.dir, name))
	if err != nil {
		return err
	}
	err = l.close()
	l.file, l.name, l.torn, l.stuck = file, name, false, false
	if err = errors.Join(err, l.remove()); err != nil { // lines are written all the same
		fmt.Fprintf(l.trouble, "old files of the log: %v\n", err)
	}
	return nil
}

// remove removes the oldest files until there are no more than may be.
func (l *logFiles) remove() error {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if at, err := time.Parse(logFileName, e.Name()); err == nil && at.Format(logFileName) == e.Name() &&
			e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for _, name := range names[:max(0, len(names)-l.most)] {
		if name != l.name {
			err = errors.Join(err, os.Remove(filepath.Join(l.dir, name)))
		}
	}
	return err
}

func (l *logFiles) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Close ends writing.
func (l *logFiles) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.close()
}

// collector counts what was lost.
func (l *logFiles) collector() prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "varve_log_lines_lost_total",
		Help: "Lines of the log that could not be written to logging.dir."},
		func() float64 { return float64(l.lost.Load()) })
}

// both writes to two places; what happens at the first one does not keep the second from its lines.
type both struct{ first, second io.Writer }

func (b both) Write(p []byte) (int, error) {
	b.first.Write(p) //nolint:errcheck // a reader of standard error that left
	return b.second.Write(p)
}

// openLogs opens what lines of the log are written to. What the server says at its start goes to the streams that are
// returned, so that files begin with it.
func (c *Config) openLogs(io streams, f *filter) (*logs, streams, error) {
	if c.Logging.Dir == "" {
		return newLogs(io.err, c.Logging.Format, f), io, nil
	}
	files, err := openLogFiles(c.Logging.Dir, c.Logging.MaxFiles, io.err, time.Now)
	return c.logsInto(files, err, io, f)
}

// logsInto is openLogs with the files that were opened, or the error of that. A read-only file system does not keep the
// server from starting, as its own data directory may lie there: the log then goes to standard error.
func (c *Config) logsInto(files *logFiles, err error, io streams, f *filter) (*logs, streams, error) {
	if vfs.IsReadOnly(err) {
		l := newLogs(io.err, c.Logging.Format, f)
		l.logger("varve").Warn("the log goes to standard error alone: the file system of logging.dir is read-only",
			"error", err)
		return l, io, nil
	}
	if err != nil {
		return nil, io, err
	}
	everywhere := both{io.err, files}
	l := newLogs(files, c.Logging.Format, f)
	if c.Logging.AppendStdout {
		l = newLogs(everywhere, c.Logging.Format, f)
	}
	l.files, io.err = files, everywhere
	return l, io, nil
}
