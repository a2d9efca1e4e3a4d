package wal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
)

// Stretch is a range of bytes of a segment that a standby may copy.
type Stretch struct {
	At LSN // where it begins
	// Bytes are at most as many as were asked for. They need not end at a frame.
	Bytes []byte
	// Next is the number of the segment that follows, if Bytes reach the end of a segment that grows no more and if
	// another one follows; otherwise 0.
	Next uint64
	// First is the oldest segment if the place that was asked for is in a segment that is gone; otherwise 0.
	First uint64
}

// Found reports whether a stretch says anything.
func (s *Stretch) Found() bool { return len(s.Bytes) > 0 || s.Next > 0 || s.First > 0 }

// Behind returns the place behind records that one Append put at l.
func (l LSN) Behind(records []Record) LSN {
	for _, r := range records {
		l += LSN(FrameHead + r.Size())
	}
	return l
}

// mayCopy notes up to which size the open segment may be copied: what is acknowledged, and under SyncInterval what is
// synced, so that a standby does not have what a crash takes from this log.
func (l *Log) mayCopy(size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open && size > l.copyable {
		l.copyable = size
		l.tell()
	}
}

// tell wakes those who wait for more to copy. The caller holds l.mu.
func (l *Log) tell() {
	if l.news != nil {
		close(l.news)
		l.news = nil
	}
}

// Copy returns at most most bytes at a place. If there are none yet, it waits until there are some or ctx is over, and
// returns an empty stretch then. The segment that is open is copied as far as it is acknowledged; all others wholly, as
// the next start reads them.
func (l *Log) Copy(ctx context.Context, at LSN, most int) (Stretch, error) {
	for {
		s, limit, news := l.look(at)
		if n := limit - at.Offset(); n > 0 {
			return l.read(s, min(n, int64(most)), limit)
		}
		if s.Found() {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return s, nil
		case <-news:
		}
	}
}

// look finds what there is to copy at a place: limit is the end of it in the segment. news is closed when that changes.
func (l *Log) look(at LSN) (s Stretch, limit int64, news <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.At = at
	if l.news == nil {
		l.news = make(chan struct{})
	}
	for i, g := range l.segments {
		switch last := i == len(l.segments)-1; {
		case g.number < at.Segment():
		case g.number > at.Segment() && i == 0:
			s.First = g.number
			return s, 0, l.news
		case g.number > at.Segment():
			s.Next = g.number
			return s, 0, l.news
		case last && l.open:
			return s, l.copyable, l.news
		default:
			if !last {
				s.Next = l.segments[i+1].number
			}
			return s, g.size, l.news
		}
	}
	return s, 0, l.news
}

// read reads n bytes of a stretch, whose segment may be copied up to limit.
func (l *Log) read(s Stretch, n, limit int64) (Stretch, error) {
	name := segmentName(s.At.Segment())
	f, err := l.fs.Open(path.Join(l.dir, name))
	if err != nil {
		return s, fmt.Errorf("log segment %s: %w", name, err)
	}
	s.Bytes = make([]byte, n)
	got, err := f.ReadAt(s.Bytes, s.At.Offset())
	if errors.Is(err, io.EOF) && int64(got) == n {
		err = nil
	}
	if s.At.Offset()+n < limit {
		s.Next = 0
	}
	return s, errors.Join(err, f.Close())
}

// CopyEnd returns the place up to which the log may be copied now.
func (l *Log) CopyEnd() LSN {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := len(l.segments) - 1
	switch {
	case k < 0:
		return lsnAt(l.upcoming, 0)
	case l.open:
		return lsnAt(l.segments[k].number, l.copyable)
	}
	return lsnAt(l.segments[k].number, l.segments[k].size)
}
