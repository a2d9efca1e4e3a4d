package manifest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
	"varve/wal"
)

// The manifest file:
//
//	+---------------------+-------------+--------+-----------------------+---------------------+
//	| magic "VARVMAN1" 8B | version 4B  | crc 4B | frame: snapshot       | frame: edit | ...   |
//	+---------------------+-------------+--------+-----------------------+---------------------+
//
// Frames have the form of the log's frames. Their numbers, State.Edit, rise by one, also from one file to the next.
const (
	// FileName is the manifest's name in the data directory.
	FileName = "MANIFEST"

	// Magic begins the file.
	Magic = "VARVMAN1"

	fileVersion  = 1
	fileHead     = 16
	typeSnapshot = 1
	typeEdit     = 2

	// Edits are folded into a new snapshot when they outgrow it and this many bytes.
	foldBytes = 1 << 20
)

// ErrCorrupt is wrapped by every error about the file's content.
var ErrCorrupt = errors.New("manifest is damaged")

// Manifest is the open file. Safe for concurrent use.
type Manifest struct {
	fs  vfs.FS
	dir string

	state atomic.Pointer[State]

	mu       sync.Mutex // protects what follows; held while an edit is written
	f        vfs.File   // nil: the file cannot be trusted, the next edit writes a new one
	snapshot int64      // bytes of the snapshot frame
	edits    int64      // bytes of edits behind it

	recent recent // the newest edits, for standbys
}

// Open reads the manifest of a data directory, or creates an empty one. It cuts off an unacknowledged edit that a crash
// left at the end; damage before that is ErrCorrupt.
func Open(fs vfs.FS, dir string) (*Manifest, *State, error) {
	m := &Manifest{fs: fs, dir: dir}
	name := path.Join(dir, FileName)
	mapping, err := fs.Map(name)
	if vfs.NotExist(err) {
		s := newState()
		s.Edit = 1
		m.publish(s, nil, true)
		return m, s, m.rewrite(s)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("manifest: %w", err)
	}
	s, clean, err := m.readMapped(mapping)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	m.publish(s, nil, true)
	if clean {
		// Everything is intact: go on at the end. After a crash the last edit may be in the page cache only, and after
		// a sync of the directory that failed so may the name of the file.
		if m.f, err = fs.OpenAppend(name); err == nil {
			err = errors.Join(m.f.Sync(), fs.SyncDir(dir))
		}
		if err == nil {
			return m, s, nil
		}
	}
	next := *s
	next.Edit++
	if err := m.rewrite(&next); err != nil {
		m.abandon() // for example on a full disk: the state is known all the same, and the first edit tries again
		return m, s, nil
	}
	m.publish(&next, nil, true)
	return m, &next, nil
}

// readMapped reads a mapped file and unmaps it.
func (m *Manifest) readMapped(mapping vfs.Mapping) (s *State, clean bool, err error) {
	err = vfs.Reading(mapping, func(src []byte) error {
		if s, clean, err = m.read(src); err == nil {
			err = s.reachable()
		}
		return err
	})
	return s, clean, errors.Join(err, mapping.Unmap())
}

// read returns the state of a file's content; clean is false when an unfinished edit lies at the end.
func (m *Manifest) read(src []byte) (s *State, clean bool, err error) {
	if err := checkHead(src); err != nil {
		return nil, false, err
	}
	f, length, _, ok := wal.ReadFrame(src[fileHead:])
	if !ok || f.Type != typeSnapshot {
		return nil, false, fmt.Errorf("%w: the snapshot is not intact", ErrCorrupt)
	}
	if s, err = decodeSnapshot(f.Body); err != nil {
		return nil, false, fmt.Errorf("%w: snapshot: %v", ErrCorrupt, err)
	}
	m.snapshot, s.Edit = int64(length), f.Number
	for off := fileHead + length; off < len(src); off += length {
		if f, length, _, ok = wal.ReadFrame(src[off:]); !ok {
			if later, found := intactBehind(src[off:], s.Edit); found {
				return nil, false, fmt.Errorf("%w: edit %d at offset %d cannot be read, but edit %d after it can",
					ErrCorrupt, s.Edit+1, off, later)
			}
			return s, false, nil
		}
		if f.Number != s.Edit+1 || f.Type != typeEdit {
			return nil, false, fmt.Errorf("%w: offset %d: frame %d of type %d after frame %d", ErrCorrupt, off,
				f.Number, f.Type, s.Edit)
		}
		e, err := decodeEdit(f.Body)
		if err == nil {
			s, err = s.apply(e)
		}
		if err != nil {
			return nil, false, fmt.Errorf("%w: edit %d at offset %d: %v", ErrCorrupt, f.Number, off, err)
		}
		m.edits += int64(length)
	}
	return s, true, nil
}

func checkHead(src []byte) error {
	if len(src) < fileHead {
		return fmt.Errorf("%w: %d bytes", ErrCorrupt, len(src))
	}
	if string(src[:8]) != Magic {
		return fmt.Errorf("%w: magic %q is not %q", ErrCorrupt, src[:8], Magic)
	}
	if got, want := wal.Checksum(src[:12]), binary.LittleEndian.Uint32(src[12:]); got != want {
		return fmt.Errorf("%w: header checksum %08x, want %08x", ErrCorrupt, got, want)
	}
	return vfs.CheckVersion(binary.LittleEndian.Uint32(src[8:]), fileVersion, fileVersion)
}

// intactBehind looks for an intact edit after a bad one. Each edit is synced before the next is written, so an intact
// edit proves damage, not a crash.
func intactBehind(src []byte, last uint64) (uint64, bool) {
	for off := 1; off+wal.FrameHead <= len(src); off++ {
		if n := binary.LittleEndian.Uint64(src[off+12:]); n <= last+1 || n > last+1<<24 {
			continue
		}
		if f, _, _, ok := wal.ReadFrame(src[off:]); ok {
			return f.Number, true
		}
	}
	return 0, false
}

// State is the current state. It never changes; Apply publishes a new one.
func (m *Manifest) State() *State { return m.state.Load() }

// Apply makes an edit durable and publishes the state after it. On an error nothing is published; the edit may
// nevertheless be found by the next Open, wholly, unless another Apply succeeds in between. So files that a failed edit
// would have added must stay where they are.
func (m *Manifest) Apply(e Edit) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := m.State().apply(&e)
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	body, err := encodeEdit(&e)
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if m.f == nil || m.edits > max(foldBytes, m.snapshot) {
		if err := m.rewrite(next); err != nil {
			return err
		}
		m.publish(next, editFrame(next.Edit, body), e.redefines())
		return nil
	}
	frame := editFrame(next.Edit, body)
	if _, err = m.f.Write(frame); err == nil {
		err = m.f.Sync()
	}
	if err != nil {
		m.abandon()
		return status.Wrap(err, status.StorageUnavailable, "the manifest cannot be written: %s", vfs.Reason(err))
	}
	m.edits += int64(len(frame))
	m.publish(next, frame, e.redefines())
	return nil
}

// editFrame is the frame of an edit.
func editFrame(number uint64, body []byte) []byte {
	return wal.AppendFrame(nil, wal.Frame{Type: typeEdit, Number: number, Synced: number - 1, Body: body})
}

// abandon gives up a file whose end is not known: the next edit writes the whole state anew.
func (m *Manifest) abandon() {
	if m.f != nil {
		_ = m.f.Close() // its content is not trusted any more
	}
	m.f = nil
}

// rewrite publishes a new file with s as its snapshot.
func (m *Manifest) rewrite(s *State) error {
	m.abandon()
	frame, length, err := encodeFile(s)
	if err != nil {
		return err
	}
	err = vfs.Publish(m.fs, m.dir, FileName, func(f vfs.File) error {
		_, err := f.Write(frame)
		return err
	})
	if err == nil {
		m.f, err = m.fs.OpenAppend(path.Join(m.dir, FileName))
	}
	if err != nil {
		return status.Wrap(err, status.StorageUnavailable, "the manifest cannot be written: %s", vfs.Reason(err))
	}
	m.snapshot, m.edits = length, 0
	return nil
}

// encodeFile returns a file with s as its snapshot. length is the size of the snapshot's frame, in bytes.
func encodeFile(s *State) (file []byte, length int64, err error) {
	body, err := encodeSnapshot(s)
	if err != nil {
		return nil, 0, fmt.Errorf("manifest: %w", err)
	}
	head := append([]byte(Magic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(head[8:], fileVersion)
	binary.LittleEndian.PutUint32(head[12:], wal.Checksum(head[:12]))
	file = wal.AppendFrame(head, wal.Frame{Type: typeSnapshot, Number: s.Edit, Synced: s.Edit - 1, Body: body})
	return file, int64(len(file) - fileHead), nil
}

// Close closes the file. Everything is on disk already.
func (m *Manifest) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.f == nil {
		return nil
	}
	err := m.f.Close()
	m.f = nil
	return err
}

func (s *State) tableIDs() []schema.TableID {
	ids := make([]schema.TableID, 0, len(s.Tables))
	for id := range s.Tables {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
