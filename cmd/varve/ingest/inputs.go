package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"varve/cmd/varve/client"
	"varve/engine/vector"
)

// input is a file or standard input.
type input struct {
	name   string // as the user knows it
	path   string // absolute; empty: standard input
	walked bool   // found in a directory: left out with a note where it is nothing to send
	note   string // to be said before it is read

	table     string
	timeIndex string // custom_time_index
	format    *format
	ledger    ledger
	record    *record // in the state; nil: it has none
	resume    []span  // what is stored already: the first begins at the beginning
	stream    string  // see sent.go
	ends      []int64 // places at which earlier runs cut it

	file   *os.File
	packed string // how it is compressed; empty: not
	// columns are those of the table that exported rows go to.
	columns []client.TableColumn
	fields  []vector.Field // of a file of rows that goes into a table as it is
	fresh   bool           // its table was just made: what the state says of an earlier one does not hold
	size    int64          // of the file; 0: not known
	src     *source
	cut     cutter // of src; nil: not opened yet
}

// findInputs makes inputs of the arguments, in order, each file once.
func findInputs(o *Options) ([]*input, error) {
	var all []*input
	seen := map[string]bool{}
	add := func(name string, walked bool) error {
		path, err := filepath.Abs(name)
		if err != nil || seen[path] {
			return err
		}
		seen[path] = true
		all = append(all, &input{name: name, path: path, walked: walked})
		return nil
	}
	for _, arg := range o.Args {
		if arg == "-" {
			if o.Resume || seen["-"] {
				return nil,
					&client.UsageError{Err: errors.New("standard input can be read only once: name files to resume")}
			}
			seen["-"] = true
			all = append(all, &input{name: "standard input"})
			continue
		}
		names, err := expand(arg)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			info, err := os.Stat(name)
			switch {
			case err != nil:
				return nil, err
			case info.IsDir():
				err = walk(name, o, add)
			default:
				err = add(name, false)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	for _, in := range all {
		if in.table = strings.ReplaceAll(o.Table, "{name}", baseName(in.path)); in.path == "" && in.table != o.Table {
			return nil, &client.UsageError{Err: errors.New(
				"--table '{name}' takes the name of a file, and standard input has none")}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there is no file to send", strings.Join(o.Args, " "))
	}
	return all, nil
}

// expand gives the files of a pattern; a name that exists is no pattern.
func expand(arg string) ([]string, error) {
	_, err := os.Lstat(arg)
	switch {
	case err == nil:
		return []string{arg}, nil
	case !strings.ContainsAny(arg, "*?["):
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: there is no such file", arg)
		}
		return nil, err
	}
	names, err := filepath.Glob(arg)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s: no file has this name", arg)
	}
	return slices.DeleteFunc(names, func(name string) bool { return isHidden(name) && !isHidden(arg) }), err
}

func isHidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// walk adds the plain files below a directory in the order of their names. Hidden files are named and left out.
func walk(dir string, o *Options, add func(name string, walked bool) error) error {
	rejects, _ := filepath.Abs(o.Rejects) //nolint:errcheck // it is told when it is opened
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != dir && isHidden(path):
			if !o.Quiet {
				fmt.Fprintf(o.Notes, "varve: %s: hidden, left out\n", client.Visible(path))
			}
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return err
		}
		if full, err := filepath.Abs(path); err != nil || o.Rejects != "" && full == rejects {
			return err
		}
		return add(path, true)
	})
}

// baseName is the name of a file without directory, compression and format, fit for a table.
func baseName(path string) string {
	name := filepath.Base(path)
	for range 2 {
		if ext := strings.ToLower(filepath.Ext(name)); ext != name && endings[ext] {
			name = name[:len(name)-len(ext)]
		}
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, name)
}

// endings are those of names that say how a file is written, not what it is about.
var endings = map[string]bool{
	".gz": true, ".zst": true, ".bz2": true, ".ndjson": true, ".jsonl": true, ".json": true, ".csv": true, ".log": true,
	".txt": true, ".lp": true,
	".parquet": true, ".arrow": true, ".arrows": true, ".feather": true,
}

// headSize is how much of an input is looked at to tell what it is.
const headSize = 64 << 10

// open begins to read an input where its resume says.
func (in *input) open(r *running) error {
	raw, live := &countingReader{done: r.report.read}, in.path == ""
	if live {
		raw.r = newPump(r.o.Stdin, r.stop)
	} else {
		var err error
		if in.file, err = os.Open(in.path); err != nil {
			return err
		}
		info, err := in.file.Stat()
		if err != nil {
			return err
		}
		raw.r = in.file
		if in.size = info.Size(); !info.Mode().IsRegular() {
			live, in.size, raw.r = true, 0, newPump(in.file, r.stop)
		}
	}
	src, err := in.unpack(raw)
	if err != nil {
		return err
	}
	src.stop = r.stop
	in.src, in.packed, src.live = src, src.packed, live
	src.follow = r.o.Follow && src.packed == "" && !live
	if err := in.choose(r.o, src); err != nil {
		return err
	}
	if len(src.head) == 0 && src.whole && !src.follow {
		r.report.note("%s is empty: there is nothing to store", in.name)
	}
	if err := in.findTime(r.o, src); err != nil {
		return err
	}
	r.report.took(in)
	var at mark
	var ahead []span
	if len(in.resume) > 0 {
		at, ahead = in.resume[0].To, in.resume[1:]
	}
	in.ledger.start(at, ahead)
	in.cut, err = in.format.newCutter(in, r.o, src, at, ahead)
	return err
}

// unpack gives the text of what is read.
func (in *input) unpack(raw *countingReader) (*source, error) {
	if in.size > 0 && isParquet(in.file) {
		return openParquet(in.file, in.size, raw.done)
	}
	return unpack(raw)
}

// close lets go of the file.
func (in *input) close() {
	if in.file != nil {
		in.file.Close() //nolint:errcheck // it was only read
		in.file = nil
	}
}
