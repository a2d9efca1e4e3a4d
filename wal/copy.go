package wal

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"

	"varve/engine/vfs"
)

// Copy is the log of another server as a standby has it: the same segments, byte by byte, the last perhaps not to its
// end. A Log opens the directory afterwards as its own. Safe for concurrent use.
type Copy struct {
	fs  vfs.FS
	dir string

	mu       sync.Mutex // protects what follows; held while bytes are written
	segments []segment  // rising, each whole but the last
	f        vfs.File   // the last segment; nil: not open
}

// OpenCopy opens the copy of a store's log in a directory, and makes it. What a crash left behind the last whole frame
// is cut off.
func OpenCopy(fs vfs.FS, dir, store string) (*Copy, error) {
	if err := fs.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("log directory: %w", err)
	}
	o, err := Options{Store: store}.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := claim(fs, dir, o); err != nil {
		return nil, err
	}
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("log directory: %w", err)
	}
	c := &Copy{fs: fs, dir: dir}
	for _, name := range names {
		n, ok := segmentNumber(name)
		if !ok {
			continue
		}
		info, err := fs.Stat(path.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("log segment %s: %w", name, err)
		}
		c.segments = append(c.segments, segment{n, info.Size()})
	}
	slices.SortFunc(c.segments, func(a, b segment) int { return int(int64(a.number) - int64(b.number)) })
	return c, c.settle()
}

// settle cuts the last segment after its last whole frame. Without a whole header it is removed.
func (c *Copy) settle() error {
	k := len(c.segments) - 1
	if k < 0 {
		return nil
	}
	s := &c.segments[k]
	name := path.Join(c.dir, segmentName(s.number))
	m, err := c.fs.Map(name)
	if err != nil {
		return fmt.Errorf("log segment %s: %w", name, err)
	}
	whole, there := 0, 0
	err = vfs.Reading(m, func(src []byte) error {
		there = len(src)
		h, err := readHead(src)
		if err != nil {
			return nil //nolint:nilerr // a crash cut the header: whole stays 0
		}
		for whole = h.size(); ; {
			_, length, _, ok := ReadFrame(src[whole:])
			if !ok {
				return nil
			}
			whole += length
		}
	})
	if err = errors.Join(err, m.Unmap()); err != nil {
		return fmt.Errorf("log segment %s: %w", name, err)
	}
	if whole == 0 {
		c.segments = c.segments[:k]
		return errors.Join(c.fs.Remove(name), c.fs.SyncDir(c.dir))
	}
	s.size = int64(whole)
	f, err := c.fs.OpenAppend(name)
	if err != nil {
		return fmt.Errorf("log segment %s: %w", name, err)
	}
	if whole < there {
		err = f.Truncate(s.size)
	}
	// Bytes that only the page cache has are not on the disk yet, although the copy says so from now on.
	return errors.Join(err, f.Sync(), f.Close(), c.fs.SyncDir(c.dir))
}

// End is the place of the next byte; 0: there is no segment.
func (c *Copy) End() LSN {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := len(c.segments) - 1
	if k < 0 {
		return 0
	}
	return lsnAt(c.segments[k].number, c.segments[k].size)
}

// Segments is the range of segments that are there; zero if there are none.
func (c *Copy) Segments() Range {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := len(c.segments) - 1
	if k < 0 {
		return Range{}
	}
	return Range{c.segments[0].number, c.segments[k].number}
}

// Append adds bytes and syncs them. They begin at End, or at the beginning of a later segment. After an error the copy
// ends after a whole frame that it had.
func (c *Copy) Append(at LSN, b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.append(at, b)
	if err != nil && c.f != nil {
		err = errors.Join(err, c.f.Close())
		c.f = nil
	}
	if err != nil {
		return errors.Join(err, c.settle())
	}
	return nil
}

func (c *Copy) append(at LSN, b []byte) error {
	k := len(c.segments) - 1
	begins := k < 0 || at.Segment() > c.segments[k].number
	if begins && at.Offset() != 0 || !begins && (at != lsnAt(c.segments[k].number, c.segments[k].size)) {
		return fmt.Errorf("copy of the log: bytes for %s do not follow those that are there", at)
	}
	name := path.Join(c.dir, segmentName(at.Segment()))
	var err error
	if begins {
		if c.f != nil {
			if err := c.f.Close(); err != nil {
				return err
			}
			c.f = nil
		}
		if c.f, err = c.fs.Create(name); err != nil {
			return fmt.Errorf("copy of the log: %w", err)
		}
		c.segments, k = append(c.segments, segment{number: at.Segment()}), k+1
	}
	if c.f == nil {
		if c.f, err = c.fs.OpenAppend(name); err != nil {
			return fmt.Errorf("copy of the log: %w", err)
		}
	}
	if _, err = c.f.Write(b); err == nil {
		err = c.f.Sync()
	}
	if err == nil && begins {
		err = c.fs.SyncDir(c.dir)
	}
	if err != nil {
		return fmt.Errorf("copy of the log: %w", err)
	}
	c.segments[k].size += int64(len(b))
	return nil
}

// Remove removes the segments before a number, the oldest first.
func (c *Copy) Remove(before uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.segments) > 0 && c.segments[0].number < before {
		if len(c.segments) == 1 && c.f != nil {
			if err := c.f.Close(); err != nil {
				return err
			}
			c.f = nil
		}
		if err := c.fs.Remove(path.Join(c.dir, segmentName(c.segments[0].number))); err != nil && !vfs.NotExist(err) {
			return fmt.Errorf("copy of the log: %w", err)
		}
		if err := c.fs.SyncDir(c.dir); err != nil {
			return fmt.Errorf("copy of the log: %w", err)
		}
		c.segments = c.segments[1:]
	}
	return nil
}

// Edit is the highest number that Options.Edit gave for a segment of the copy.
func (c *Copy) Edit() (edit uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.segments {
		src := make([]byte, min(s.size, segmentHead))
		f, err := c.fs.Open(path.Join(c.dir, segmentName(s.number)))
		if err != nil {
			return 0, err
		}
		_, err = f.ReadAt(src, 0)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
		if h, err := readHead(src); err == nil {
			edit = max(edit, h.edit)
		}
	}
	return edit, nil
}

// Close closes the open segment. All of it is on the disk already.
func (c *Copy) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.f == nil {
		return nil
	}
	err := c.f.Close()
	c.f = nil
	return err
}

// Reader reads the records of a copy while it grows. One goroutine at a time.
type Reader struct {
	c    *Copy
	at   LSN    // of the next frame
	last uint64 // highest number of a frame
}

// Reader begins at the oldest record.
func (c *Copy) Reader() *Reader { return &Reader{c: c} }

// At is the place up to which records were read.
func (r *Reader) At() LSN { return r.at }

// Skip goes on at a segment, if the reader is before it.
func (r *Reader) Skip(segment uint64) {
	if r.at.Segment() < segment {
		r.at = lsnAt(segment, 0)
	}
}

// Read calls apply for the records up to limit, in order, until apply returns false. rec is valid during the call. Each
// call of Read ends with a segment at the latest; more says that there is another one.
func (r *Reader) Read(limit LSN, apply func(at LSN, rec []byte) (next bool, err error)) (more bool, err error) {
	number, following := r.c.find(r.at.Segment())
	if number == 0 || number > limit.Segment() {
		return false, nil
	}
	if number > r.at.Segment() {
		r.at = lsnAt(number, 0)
	}
	name := segmentName(number)
	m, err := r.c.fs.Map(path.Join(r.c.dir, name))
	if vfs.NotExist(err) {
		return true, nil // it was removed meanwhile
	}
	if err != nil {
		return false, fmt.Errorf("log segment %s: %w", name, err)
	}
	ended := false
	err = vfs.Reading(m, func(src []byte) (err error) {
		if limit.Segment() == number {
			src = src[:min(int64(len(src)), limit.Offset())]
		}
		ended, err = r.frames(src, following > 0, apply)
		return err
	})
	if err = errors.Join(err, m.Unmap()); err != nil {
		return false, fmt.Errorf("log segment %s: %w", name, err)
	}
	if ended && following > 0 && following <= limit.Segment() {
		r.at = lsnAt(following, 0)
		return true, nil
	}
	return false, nil
}

// find returns the number of the first segment at or after one, and of the segment that follows it; 0: there is none.
func (c *Copy) find(from uint64) (number, following uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.segments, func(s segment) bool { return s.number >= from })
	if i < 0 {
		return 0, 0
	}
	if i+1 < len(c.segments) {
		following = c.segments[i+1].number
	}
	return c.segments[i].number, following
}

// frames reads frames of a segment at r.at; ended: up to the end of src. Of a segment that grows no more, it passes
// over what is no frame, as Replay does.
func (r *Reader) frames(src []byte, whole bool, apply func(LSN, []byte) (bool, error)) (ended bool, err error) {
	off := int(r.at.Offset())
	number := r.at.Segment()
	if off == 0 {
		h, err := readHead(src)
		switch {
		case err == nil:
			off = h.size()
		case !whole:
			return false, nil
		default:
			off = resync(src, 0, r.last)
		}
	}
	for off < len(src) {
		f, length, _, ok := ReadFrame(src[off:])
		if !ok && !whole {
			break
		}
		if !ok || f.Number <= r.last {
			off = resync(src, off, r.last)
			continue
		}
		if f.Type == typeRecord {
			next, err := apply(lsnAt(number, int64(off)), f.Body)
			if err != nil || !next {
				r.at = lsnAt(number, int64(off))
				return false, err
			}
		}
		r.last = f.Number
		off += length
	}
	r.at = lsnAt(number, int64(min(off, len(src))))
	return off >= len(src), nil
}

// Record calls f with the record at a place where Reader has found one.
func (c *Copy) Record(at LSN, f func(rec []byte) error) error {
	name := segmentName(at.Segment())
	m, err := c.fs.Map(path.Join(c.dir, name))
	if err != nil {
		return fmt.Errorf("log segment %s: %w", name, err)
	}
	err = vfs.Reading(m, func(src []byte) error {
		if at.Offset() < int64(len(src)) {
			if frame, _, _, ok := ReadFrame(src[at.Offset():]); ok {
				return f(frame.Body)
			}
		}
		return fmt.Errorf("no frame at %d", at.Offset())
	})
	if err = errors.Join(err, m.Unmap()); err != nil {
		return fmt.Errorf("log segment %s: %w", name, err)
	}
	return nil
}
