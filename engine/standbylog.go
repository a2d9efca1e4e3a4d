package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/vfs"
	"varve/wal"
)

// maxTries is how often a part is asked for that the primary lists and does not have, or has damaged. After that the
// standby does without, as the primary does.
const maxTries = 3

// followParts copies the parts that the primary lists.
func (s *Standby) followParts(ctx context.Context) {
	for ctx.Err() == nil {
		news := s.changed.wait()
		remote, m := s.missing()
		if m == nil {
			select {
			case <-ctx.Done():
			case <-news:
			}
			continue
		}
		if err := s.fetch(ctx, m); err != nil {
			s.failed(ctx, ofParts, fmt.Errorf("%s: %w", entryOfPart(m), err))
			continue
		}
		if s.arrived(remote, m) {
			if err := s.install(s.wanted()); err != nil {
				s.failed(ctx, ofState, err)
			}
		}
	}
}

// missing returns a part that is not there yet; nil: all are.
func (s *Standby) missing() (*manifest.State, *manifest.PartMeta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.remote == nil {
		return nil, nil
	}
	for _, t := range s.remote.Tables {
		for i := range t.Parts {
			if m := &t.Parts[i]; !s.has(m) {
				return s.remote, m
			}
		}
	}
	return nil, nil
}

// lists reports whether the newest state of the primary lists an entry.
func (s *Standby) listed(e parts.Entry) bool {
	for _, t := range s.wanted().Tables {
		for i := range t.Parts {
			if entryOfPart(&t.Parts[i]) == e {
				return true
			}
		}
	}
	return false
}

// arrived reports whether a table became whole by a part.
func (s *Standby) arrived(remote *manifest.State, m *manifest.PartMeta) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range remote.Tables {
		if !t.Lists(m.File) {
			continue
		}
		for i := range t.Parts {
			if !s.has(&t.Parts[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// fetch copies a part, and holds it against its checksums.
func (s *Standby) fetch(ctx context.Context, m *manifest.PartMeta) error {
	e := entryOfPart(m)
	err := s.parts.PublishEntry(e, func(out vfs.File) error {
		for off := int64(0); ; {
			if !s.listed(e) {
				return errMoved
			}
			b, size, err := s.o.Source.Part(ctx, e, off, stretchBytes)
			if err != nil {
				return err
			}
			if _, err := out.Write(b); err != nil {
				return err
			}
			off += int64(len(b))
			s.received(len(b))
			if off == size {
				return nil
			}
			if len(b) == 0 {
				return fmt.Errorf("it ends at byte %d of %d", off, size)
			}
		}
	})
	if err == nil {
		err = s.verify(ctx, e, m)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.there[e] = true
		delete(s.tries, e)
		delete(s.errors, ofParts)
	case ctx.Err() != nil || isMoved(err):
		return nil
	case isLost(err):
		s.tries[e]++
	}
	return err
}

// verify holds a part that was copied against its checksums. One that the primary has noted damage of is taken as it
// is; so is one that came damaged several times.
func (s *Standby) verify(ctx context.Context, e parts.Entry, m *manifest.PartMeta) error {
	if e.Cold || len(m.Damage) > 0 {
		return nil
	}
	meta, errs := s.parts.Verify(ctx, e.File, false)
	var err error
	switch {
	case len(errs) > 0:
		err = errs[0]
	case meta.Checksum != m.Checksum:
		err = fmt.Errorf("checksum %08x, the manifest has %08x", meta.Checksum, m.Checksum)
	default:
		return nil
	}
	s.mu.Lock()
	again := s.tries[e]+1 < maxTries
	s.mu.Unlock()
	if !again {
		s.log.Error("a part is damaged on the primary, and copied as it is", "part", e.String(), "error", err)
		return nil
	}
	if err := s.parts.Remove(e); err != nil {
		return err
	}
	return lostPart{err}
}

// received counts bytes of parts and of the log.
func (s *Standby) received(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures.CopiedBytes += int64(n)
}

// followLog copies the log, and tells the primary how far.
func (s *Standby) followLog(ctx context.Context) {
	f := logFollower{Standby: s, at: s.copy.End()}
	f.copied = f.at
	for ctx.Err() == nil {
		if err := f.next(ctx); err != nil {
			s.failed(ctx, ofLog, err)
		}
	}
}

// logFollower copies the log. One goroutine at a time.
type logFollower struct {
	*Standby
	at     wal.LSN // where the next bytes belong; 0: not known yet
	copied wal.LSN // up to here all is on the disk
	needs  uint64  // the edit after which all tables of it are known
	told   wal.LSN // up to here the rows can be shown, and the primary knows that they are here
}

// next asks for a piece of the log and appends it.
func (f *logFollower) next(ctx context.Context) error {
	news := f.changed.wait()
	if !f.place() {
		await(ctx, news, stateWait)
		return nil
	}
	f.confirm()
	asked := f.now()
	l, err := f.o.Source.Log(ctx, f.at, stretchBytes, logWait,
		Progress{f.o.Address, f.told, f.manifest.State().Edit})
	if err != nil {
		return err
	}
	f.succeeded(ofLog)
	if l.First > 0 {
		if !f.skip(l.First) {
			await(ctx, news, logWait)
		}
		return nil
	}
	if len(l.Bytes) > 0 {
		if err := f.copy.Append(l.At, l.Bytes); err != nil {
			f.at = f.copy.End()
			return err
		}
		f.received(len(l.Bytes))
		f.at = l.At + wal.LSN(len(l.Bytes))
	}
	f.copied, f.needs = f.at, max(f.needs, l.Redefined)
	if l.Next > 0 {
		f.at = wal.Beginning(l.Next)
	}
	f.aim(l.End, asked.Add(l.Waited-l.Unsynced))
	f.settle(ctx)
	return nil
}

// place finds where the copy goes on; false: nobody knows yet. A state that lists the rows of earlier segments in parts
// has them skipped.
func (f *logFollower) place() bool {
	f.installing.Lock()
	defer f.installing.Unlock()
	have := f.manifest.State()
	switch {
	case have.Standing.Whole:
		if first := wal.Beginning(max(have.Log.First, 1)); f.at < first {
			f.at, f.copied = first, first
		}
	case f.at == 0:
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.remote == nil {
			return false
		}
		f.begins = max(f.remote.Log.First, 1)
		f.at = wal.Beginning(f.begins)
		f.copied = f.at
	}
	return true
}

// confirm lets the rows be shown that are here, once their tables are known, and tells the next question of them.
func (f *logFollower) confirm() (all bool) {
	f.mu.Lock()
	more := f.told != f.copied && f.current >= f.needs && f.figures.Whole
	if more {
		f.told, f.limit = f.copied, f.copied
	}
	f.mu.Unlock()
	if more {
		f.changed.broadcast()
	}
	return f.told == f.copied
}

// settle waits a moment for the tables of the rows that are here.
func (f *logFollower) settle(ctx context.Context) {
	for end := f.now().Add(logWait); ; {
		news := f.changed.wait()
		if f.confirm() || !f.now().Before(end) || !await(ctx, news, logWait) {
			return
		}
	}
}

// skip goes on behind a gap, if it can: the primary has no more of the log before a segment. The rows of the gap are in
// parts of the primary, and a state that lists them says from where on the log is needed, see place.
func (f *logFollower) skip(first uint64) bool {
	f.installing.Lock()
	defer f.installing.Unlock()
	if f.manifest.State().Standing.Whole {
		return false
	}
	// What was copied so far has no use: the copy is whole only with a state that needs the log from here on.
	if err := f.copy.Remove(first); err != nil {
		f.log.Warn("segments of the log that are not needed cannot be removed", "error", err)
		return false
	}
	f.begins, f.at = first, wal.Beginning(first)
	f.copied = f.at
	return true
}

// await waits for news, at most for some time; false: ctx is over.
func await(ctx context.Context, news <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-news:
	case <-timer.C:
	}
	return true
}

// maxTargets bounds the places that are to be shown.
const maxTargets = 1000

// aim notes that the log of the primary ended at a place at some time.
func (f *logFollower) aim(end wal.LSN, fresh time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.copied >= end && f.figures.Whole && f.current >= f.needs {
		f.figures.Copied = fresh
	}
	if len(f.targets) < maxTargets {
		f.targets = append(f.targets, target{end, fresh})
	}
}

// showBytes is how much of the log is shown before states may take effect.
const showBytes = 8 << 20

// showLog shows the rows of the log as it grows.
func (s *Standby) showLog(ctx context.Context) {
	for ctx.Err() == nil {
		news := s.changed.wait()
		more, err := s.showSome()
		if err != nil {
			s.failed(ctx, ofRows, err)
		}
		if !more && err == nil {
			await(ctx, news, logWait) // memory may get room without news
		}
	}
}

// showSome shows some rows; more: there are others that can be shown at once.
func (s *Standby) showSome() (more bool, err error) {
	s.installing.Lock()
	defer s.installing.Unlock()
	s.mu.Lock()
	limit := s.limit
	s.mu.Unlock()
	if !s.manifest.State().Standing.Whole {
		return false, nil
	}
	left, stalled := showBytes, false
	more, err = s.reader.Read(limit, func(at wal.LSN, rec []byte) (bool, error) {
		if stalled = left <= 0 || s.memory.full(); stalled { // a flush of the primary makes room
			return false, nil
		}
		left -= len(rec)
		return true, s.st.replayRecord(at, rec)
	})
	s.count()
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.reader.At()
	if err == nil && !more && !stalled {
		shown = limit // what lies between is no record
	}
	for len(s.targets) > 0 && s.targets[0].at <= shown {
		s.figures.Shown, s.targets = s.targets[0].fresh, s.targets[1:]
	}
	return more || left <= 0, err
}

// lostPart is the error of a part that came and was damaged.
type lostPart struct{ error }

func (l lostPart) Unwrap() error { return l.error }

// isMoved reports whether a part was not copied because the primary lists it no more.
func isMoved(err error) bool { return errors.Is(err, errMoved) }

// isLost reports whether the primary does not have a part, or has it damaged.
func isLost(err error) bool {
	var lost lostPart
	return errors.Is(err, ErrNoPart) || errors.As(err, &lost)
}
