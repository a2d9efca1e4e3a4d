package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"varve/cmd/varve/client"
)

// saveEvery is how often the state is written while entries are sent.
const saveEvery = time.Second

// stateVersion is that of the file.
const stateVersion = 1

// state says of each input up to where it is stored. Its file may be shared by several runs: each writes its own
// records and leaves the others as they are.
type state struct {
	path   string
	server stateFile // but its inputs
	asked  bool      // for by the user: that it cannot be kept is an error
	run    *running

	old   []*record // as they were found
	ended chan struct{}
	saver sync.WaitGroup

	mu      sync.Mutex // protects what is below
	inputs  []*input   // with a record
	written bool       // once
	err     error      // of writing it since it was last written
	told    bool       // that there was one
}

// stateFile is the file, in JSON.
type stateFile struct {
	Version int       `json:"version"`
	Server  string    `json:"server"`
	DB      string    `json:"db"`
	Table   string    `json:"table"`
	Inputs  []*record `json:"inputs"`
}

// record is what is known of an input.
type record struct {
	fingerprint
	At    mark   `json:"position"`        // all before it is stored, or among the rejects
	Ahead []span `json:"ahead,omitempty"` // and these, behind a gap
	Done  bool   `json:"done"`            // that is all of it
	Open  bool   `json:"open"`            // a run sends it, or was cut off while it did

	target        // where it is stored
	Stream string `json:"stream,omitempty"` // see sent.go; empty: an older program wrote the record
	Batch  int    `json:"batch,omitempty"`  // bytes, at most, of what is sent at once
}

// openState reads the state of a table.
func openState(o *Options, server string) (*state, error) {
	s := &state{path: o.State, asked: o.State != "" || o.Resume,
		server: stateFile{Version: stateVersion, Server: server, DB: o.DB, Table: o.Table}, ended: make(chan struct{})}
	if s.path == "" {
		key := sha256.Sum256([]byte(server + "\x00" + o.DB + "\x00" + o.Table))
		s.path = filepath.Join(o.StateDir, hex.EncodeToString(key[:8])+".json")
	}
	var err error
	s.old, err = s.load()
	return s, err
}

// load reads the records of the file.
func (s *state) load() ([]*record, error) {
	text, err := os.ReadFile(s.path)
	if isAbsent(err) {
		return nil, nil
	}
	var f stateFile
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the state %s cannot be read: %w", s.path, err)
	case f.Version != stateVersion:
		return nil, fmt.Errorf("the state %s has version %d, this program reads version %d", s.path, f.Version,
			stateVersion)
	case f.Server != s.server.Server || f.DB != s.server.DB || f.Table != s.server.Table:
		return nil, fmt.Errorf("the state %s is of table %s.%s at %s, not of %s.%s at %s", s.path, f.DB, f.Table,
			f.Server, s.server.DB, s.server.Table, s.server.Server)
	}
	return f.Inputs, nil
}

// isAbsent reports whether a file is not there.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// add gives an input a record that is written from now on.
func (s *state) add(in *input, r *record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Stream = cmp.Or(r.Stream, newStream())
	in.record = r
	s.inputs = append(s.inputs, in)
}

// follow gives the file that took the place of a followed one a record.
func (s *state) follow(in *input) {
	p, err := takeFingerprint(in.path, headSize)
	if err == nil {
		s.add(in, &record{fingerprint: p, Open: true, target: s.run.targets[in.table], Stream: in.stream})
	}
}

// leave forgets the record of a followed file that was truncated: what it says is of a content that is gone, and would
// be taken for one of the content that took its place.
func (s *state) leave(in *input) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inputs = slices.DeleteFunc(s.inputs, func(other *input) bool { return other == in })
}

// begun begins to write the state. Where the user asked for one, nothing is sent without it.
func (s *state) begun(r *running) error {
	s.run = r
	for _, in := range s.inputs {
		in.record.Batch = max(in.record.Batch, r.o.Batch)
	}
	s.save()
	if s.err != nil && s.asked {
		return fmt.Errorf("%w: nothing was sent", s.err)
	}
	s.saver.Go(func() {
		tick := time.NewTicker(saveEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.save()
			case <-s.ended:
				return
			}
		}
	})
	return nil
}

// finish writes the state for the last time. That it could not is a part that was not done, if somebody asked for it.
func (s *state) finish() error {
	close(s.ended)
	s.saver.Wait()
	s.mu.Lock()
	for _, in := range s.inputs {
		in.record.Open = false
		in.ledger.touch()
	}
	s.err = nil
	s.mu.Unlock()
	s.save()
	if s.err != nil && s.asked {
		return &client.PartialError{Err: s.err}
	}
	return nil
}

// fail tells once that the state cannot be written.
func (s *state) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed(err)
}

func (s *state) failed(err error) {
	if s.err != nil {
		return
	}
	s.err = fmt.Errorf("the state cannot be written, so this run cannot be resumed: %w", err)
	if !s.told {
		s.told = true
		s.run.report.note("%v", s.err)
	}
}

// save writes what has changed. That it cannot be written is told once.
func (s *state) save() {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := len(s.inputs) > 0 && !s.written
	for _, in := range s.inputs {
		if s.written && !s.identified(in) {
			continue
		}
		at, ahead, news := in.ledger.take()
		if !news {
			continue
		}
		changed = true
		in.record.At, in.record.Ahead, in.record.Done = at, ahead, in.ledger.whole()
		in.record.refresh(in)
	}
	if !changed {
		return
	}
	s.written = true
	err := s.run.send.rejects.sync() // they have to be on disk before the state says that their lines are dealt with
	if err == nil {
		err = s.write()
	}
	if err != nil {
		s.failed(err)
		return
	}
	for _, in := range s.inputs {
		if in.record.Done {
			s.forget(in.record.Stream)
		}
	}
}

// identified learns what the table of an input is, once rows may have made it: without that the state would hold for
// the table's successor, too. false: it is not known yet, and the server cannot be asked for the moment.
func (s *state) identified(in *input) bool {
	t := s.run.targets[in.table]
	if !t.known() || in.record.Table != 0 || !in.ledger.moved() {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), saveEvery)
	defer cancel()
	now, err := s.run.identify(ctx, in.table)
	if err == nil && now.Store == t.Store {
		in.record.target = now
	}
	return err == nil
}

// forget removes the file of what was sent of a stream: all of it is dealt with, or nobody will go on with it.
func (s *state) forget(stream string) {
	if err := os.Remove(s.sentName(stream)); err != nil && !isAbsent(err) {
		s.failed(err)
	}
}

// write puts the records of this run into the file.
func (s *state) write() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	unlock, err := lock(s.path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	others, err := s.load()
	if err != nil {
		return err
	}
	file := s.server
	for _, in := range s.inputs {
		others = slices.DeleteFunc(others, func(o *record) bool {
			replaced := o.Path == in.record.Path || o.sameFile(&in.record.fingerprint)
			if replaced && o.Stream != "" && o.Stream != in.record.Stream {
				s.forget(o.Stream)
			}
			return replaced
		})
		file.Inputs = append(file.Inputs, in.record)
	}
	// Of a path that was rotated, the newest record is the last.
	file.Inputs = append(others, file.Inputs...)
	text, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return err
	}
	return client.Replace(s.path, text, 0o600)
}

// lock waits for the sole use of a file.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil //nolint:errcheck // that lets go of it
}
