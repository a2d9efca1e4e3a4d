package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"varve/cmd/varve/client"
)

// Names of what is not complete.
const (
	partEnding  = ".part"
	stateEnding = ".part.state"
)

// stateEvery is how often the state is written at most.
const stateEvery = time.Second

// progressState is what --resume goes on from: a file whose name ends with .part.state.
type progressState struct {
	Version int       `json:"version"`
	Task    task      `json:"task"`
	Sink    sinkState `json:"sink"`
	First   int64     `json:"first"` // the whole range of instants, both ends included,
	Last    int64     `json:"last"`
	Total   int64     `json:"total"` // and its rows as they were counted at the start
	Done    *int64    `json:"done"`  // the last instant that is written whole; null: none
	Rows    int64     `json:"rows"`  // written so far,
	Size    int64     `json:"size"`  // in so many bytes of the part file
}

// task is what tells one export from another.
type task struct {
	Base, DB, Table, Names string
	Columns                string // with their types
	Conditions             []string
	Format                 Format
	Packing                Packing
	NewestFirst, RawTimes  bool
}

// part is a file that is written under another name until it is complete.
type part struct {
	name string // when it is complete
	f    *os.File
	w    *bufio.Writer
	size int64 // written to w

	stated time.Time
	saved  bool // there is a state, of this run or of one before
}

// create begins a file anew.
func create(name string) (*part, error) {
	f, err := os.OpenFile(name+partEnding, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(name + stateEnding); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, f.Close())
	}
	return &part{name: name, f: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// reopen goes on with a file as its state says. nil and no error: there is nothing to go on with.
func reopen(name string, t task) (*part, *progressState, error) {
	text, err := os.ReadFile(name + stateEnding)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	var s progressState
	if err := json.Unmarshal(text, &s); err != nil || s.Version != 1 || s.Size < 0 {
		return nil, nil,
			fmt.Errorf("%s: this version cannot resume from this state: leave out --resume to begin again",
				name+stateEnding)
	}
	if want, got := fmt.Sprintf("%+v", t), fmt.Sprintf("%+v", s.Task); want != got {
		return nil, nil,
			&client.UsageError{Err: fmt.Errorf(
				"%s is that of another export (%s): use its flags, or begin again without --resume",
				name+stateEnding, s.Task.describe())}
	}
	f, err := os.OpenFile(name+partEnding, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	p := &part{name: name, f: f, w: bufio.NewWriterSize(f, 256<<10), size: s.Size, saved: true}
	if info, err := f.Stat(); err != nil || info.Size() < s.Size {
		return nil, nil, errors.Join(fmt.Errorf("%s is shorter than its state says: begin again without --resume",
			name+partEnding), err, f.Close())
	}
	return p, &s, p.cut(s.Size)
}

// describe names a task by its flags.
func (t *task) describe() string {
	text := "--table " + t.Table + " --db " + t.DB + " --url " + t.Base
	for _, c := range t.Conditions {
		text += ", " + c
	}
	return text
}

func (p *part) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.size += int64(n)
	return n, err
}

func (p *part) written() int64 { return p.size }

// cut takes back what is behind a size.
func (p *part) cut(size int64) error {
	if err := p.w.Flush(); err != nil { // what is before the size may not be in the file yet
		return err
	}
	p.size = size
	if err := p.f.Truncate(size); err != nil {
		return err
	}
	_, err := p.f.Seek(size, io.SeekStart)
	return err
}

// save writes the state by rename, so that it always is one that was; not more often than once a second unless at once
// is set.
func (p *part) save(s progressState, atOnce bool) error {
	if !atOnce && time.Since(p.stated) < stateEvery {
		return nil
	}
	p.stated = time.Now()
	s.Version, s.Size = 1, p.size
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := p.w.Flush(); err != nil {
		return err
	}
	if err := p.f.Sync(); err != nil {
		return err
	}
	if err := client.Replace(p.name+stateEnding, append(text, '\n'), 0o666); err != nil {
		return err
	}
	p.saved = true
	return nil
}

// complete gives the file its name.
func (p *part) complete() error {
	if err := p.w.Flush(); err != nil {
		return err
	}
	if err := p.f.Sync(); err != nil {
		return err
	}
	if err := p.f.Close(); err != nil {
		return err
	}
	if err := os.Rename(p.name+partEnding, p.name); err != nil {
		return err
	}
	return errors.Join(p.forget(), client.SyncDir(filepath.Dir(p.name)))
}

// forget removes what is not needed when the file is complete.
func (p *part) forget() (err error) {
	for _, ending := range []string{partEnding, stateEnding} {
		if e := os.Remove(p.name + ending); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// leave closes a file that is not complete.
func (p *part) leave() error { return errors.Join(p.w.Flush(), p.f.Close()) }
