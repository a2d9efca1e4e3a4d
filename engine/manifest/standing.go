package manifest

import (
	"fmt"
	"sync"

	"varve/engine/vfs"
	"varve/wal"
)

// Standing says which of several servers may write to a store.
type Standing struct {
	// Epoch counts how often a standby took the store over.
	Epoch uint64 `json:"epoch,omitempty"`
	// Follows is the address of the server whose standby this is; empty: it is none.
	Follows string `json:"follows,omitempty"`
	// Whole says of a standby that it has all rows that its primary had at some time.
	Whole bool `json:"whole,omitempty"`
	// Took is the address of the former primary, of a standby that took over; empty: it is none.
	Took string `json:"took,omitempty"`
	// Standby is the address of the server that followed this one last; empty: none did.
	Standby string `json:"standby,omitempty"`
	// Replaced is the epoch of the server that took over from this one, By its address; 0: none did.
	Replaced uint64 `json:"replaced,omitempty"`
	By       string `json:"by,omitempty"`
}

// recent is the newest edits of a manifest, as frames. Safe for concurrent use.
type recent struct {
	mu        sync.Mutex // protects what follows
	from      uint64     // the number of the edit before them
	frames    [][]byte
	bytes     int
	redefined uint64        // the last edit that changed databases or tables
	news      chan struct{} // closed by the next edit; nil: nobody waits
}

// redefines reports whether an edit changes databases or tables.
func (e *Edit) redefines() bool {
	return len(e.PutDatabase)+len(e.DropDatabase)+len(e.PutTable)+len(e.DropTable) > 0
}

// publish shows a state that is on disk; frame is the edit that led to it, nil if there was none. The caller holds
// m.mu, or nobody else knows m yet.
func (m *Manifest) publish(s *State, frame []byte, redefines bool) {
	r := &m.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	m.state.Store(s)
	switch {
	case frame == nil || r.bytes+len(frame) > foldBytes:
		r.from, r.frames, r.bytes = s.Edit, nil, 0
	default:
		r.frames, r.bytes = append(r.frames, frame), r.bytes+len(frame)
	}
	if redefines {
		r.redefined = s.Edit
	}
	if r.news != nil {
		close(r.news)
		r.news = nil
	}
}

// Redefined is the number of the last edit that changed databases or tables. An earlier one that the manifest does not
// remember counts as the first that it read.
func (m *Manifest) Redefined() uint64 {
	m.recent.mu.Lock()
	defer m.recent.mu.Unlock()
	return m.recent.redefined
}

// Since returns frames that lead from the state after an edit to the present one, which is that after the edit to. They
// are a snapshot if the edits are not remembered. There are none if there are no later edits; the next one closes news.
func (m *Manifest) Since(edit uint64) (frames []byte, to uint64, news <-chan struct{}, err error) {
	r := &m.recent
	r.mu.Lock()
	s := m.State()
	if edit == s.Edit {
		if r.news == nil {
			r.news = make(chan struct{})
		}
		news = r.news
		r.mu.Unlock()
		return nil, s.Edit, news, nil
	}
	if edit >= r.from && edit < s.Edit {
		for _, f := range r.frames[edit-r.from:] {
			frames = append(frames, f...)
		}
		r.mu.Unlock()
		return frames, s.Edit, nil, nil
	}
	r.mu.Unlock()
	body, err := encodeSnapshot(s)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("manifest: %w", err)
	}
	return wal.AppendFrame(nil, wal.Frame{Type: typeSnapshot, Number: s.Edit, Synced: s.Edit - 1, Body: body}), s.Edit,
		nil, nil
}

// Follow returns the state to which frames of Since lead from s; nil: from none. It is ErrCorrupt if the frames are not
// intact or do not follow.
func Follow(s *State, frames []byte) (*State, error) {
	for len(frames) > 0 {
		f, length, _, ok := wal.ReadFrame(frames)
		if !ok {
			return nil, fmt.Errorf("%w: a frame of edits was cut or garbled", ErrCorrupt)
		}
		frames = frames[length:]
		if f.Type == typeSnapshot {
			next, err := decodeSnapshot(f.Body)
			if err != nil {
				return nil, fmt.Errorf("%w: snapshot: %v", ErrCorrupt, err)
			}
			s, next.Edit = next, f.Number
			continue
		}
		if s == nil || f.Number != s.Edit+1 {
			return nil, fmt.Errorf("%w: edit %d does not follow", ErrCorrupt, f.Number)
		}
		e, err := decodeEdit(f.Body)
		if err == nil {
			s, err = s.apply(e)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: edit %d: %v", ErrCorrupt, f.Number, err)
		}
	}
	if s == nil {
		return nil, fmt.Errorf("%w: there are no frames", ErrCorrupt)
	}
	return s, s.reachable()
}

// Install makes s the state of the directory, written through fs, and shows it. It is for standbys, whose manifest is
// opened on a file system that refuses changes.
func (m *Manifest) Install(fs vfs.FS, s *State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := Replace(fs, m.dir, s); err != nil {
		return err
	}
	m.publish(s, nil, true)
	return nil
}
