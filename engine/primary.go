package engine

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"time"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/status"
	"varve/engine/vfs"
	"varve/wal"
)

// A standby copies a store while it runs: the manifest by edits, parts by their numbers, the log byte by byte. The
// primary, whose store it is, keeps nothing for it. See docs/decisions/0078-standby.md.

// Source is what a standby asks of its primary. Primary is one, in the same process; package standby of the server asks
// over HTTP.
type Source interface {
	// State returns what leads from the state of the manifest after an edit to the present one. If there is nothing,
	// the primary waits so long for it.
	State(ctx context.Context, edit uint64, wait time.Duration) (SourceState, error)
	// Part returns at most most bytes of an entry from off on, and the size of the entry. The error wraps ErrNoPart if
	// it is not there.
	Part(ctx context.Context, e parts.Entry, off int64, most int) (b []byte, size int64, err error)
	// Log returns at most most bytes of the log. If there are none, the primary waits so long for some. p tells it what
	// the standby has.
	Log(ctx context.Context, at wal.LSN, most int, wait time.Duration, p Progress) (SourceLog, error)
}

// SourceState is the manifest of a primary.
type SourceState struct {
	Edit   uint64 // after Frames
	Frames []byte // see manifest.Since; none: the standby has the present state
}

// SourceLog is a piece of the log of a primary.
type SourceLog struct {
	wal.Stretch
	// End is how far the log went when the piece was read.
	End wal.LSN
	// Redefined is an edit of the manifest. After it, all tables are known that the log has rows of, up to End.
	Redefined uint64
	// Waited is how long the primary waited for the piece.
	Waited time.Duration
	// Unsynced is how long ago rows were acknowledged, at most, that are not in the log up to End.
	Unsynced time.Duration
}

// Progress is what a standby has on its disk.
type Progress struct {
	Address string  // where it can be asked, by which the primary knows it again
	At      wal.LSN // the log up to here, with all edits of the manifest that its rows need
	Edit    uint64  // the manifest, but for parts that are still copied
}

// ErrNoPart is wrapped by the error of Source.Part for a part that is not there.
var ErrNoPart = errors.New("the part is not there")

// Primary is a store as its standby sees it. Safe for concurrent use.
type Primary struct {
	*inventory
	door *door
	log  *wal.Log
	wait time.Duration // see Options.StandbyWait
	sync bool          // writes wait for the standby

	mu   sync.Mutex // protects what follows
	has  Progress   // what the standby that asked last has
	seen time.Time  // when it asked
	news chan struct{}
}

// Primary returns the store for its standby.
func (e *Engine) Primary() *Primary { return e.primary }

// standbySilence is after what time without a question a standby counts as gone.
const standbySilence = 10 * time.Second

// enter admits a question of a standby. A store that follows or was replaced has none.
func (p *Primary) enter() error {
	if err := p.door.enter(); err != nil {
		return err
	}
	s := p.manifest.State().Standing
	err := p.space.replaced()
	if s.Follows != "" {
		err = status.New(status.RegionReadonly,
			"this server is itself a standby, of %s: follow that one", s.Follows)
	}
	if err != nil {
		p.door.leave()
	}
	return err
}

// State is Source.State.
func (p *Primary) State(ctx context.Context, edit uint64, wait time.Duration) (SourceState, error) {
	if err := p.enter(); err != nil {
		return SourceState{}, err
	}
	defer p.door.leave()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		frames, to, news, err := p.manifest.Since(edit)
		if err != nil || news == nil {
			return SourceState{to, frames}, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return SourceState{Edit: to}, nil
		case <-p.door.run.Done():
			return SourceState{}, ErrClosed
		}
	}
}

// Part is Source.Part.
func (p *Primary) Part(ctx context.Context, e parts.Entry, off int64, most int) (b []byte, size int64, err error) {
	if err := p.enter(); err != nil {
		return nil, 0, err
	}
	defer p.door.leave()
	err = p.files.local.Whole(e, func(in io.ReaderAt, all int64) error {
		size = all
		if off < 0 || off > size {
			return status.New(status.InvalidArguments, "%s has %d bytes, offset %d is beyond", e, size, off)
		}
		b = make([]byte, min(size-off, int64(most)))
		n, err := in.ReadAt(b, off)
		if errors.Is(err, io.EOF) && n == len(b) {
			err = nil
		}
		return err
	})
	if vfs.NotExist(err) {
		return nil, 0, status.Wrap(ErrNoPart, status.InvalidArguments, "%s: %v", e, ErrNoPart)
	}
	if err != nil && status.Of(err) != status.InvalidArguments {
		err = storageError(err, "a part cannot be read")
	}
	return b, size, err
}

// Log is Source.Log.
func (p *Primary) Log(ctx context.Context, at wal.LSN, most int, wait time.Duration, has Progress) (SourceLog, error) {
	if err := p.enter(); err != nil {
		return SourceLog{}, err
	}
	defer p.door.leave()
	if err := p.note(has); err != nil {
		return SourceLog{}, err
	}
	began := p.o.Now()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(p.door.run, cancel)()
	s, err := p.log.Copy(ctx, at, most)
	if err != nil {
		return SourceLog{}, storageError(err, "the log cannot be read")
	}
	if s.First > 0 && at.Offset() == 0 && at.Segment() >= p.manifest.State().Log.First {
		s.First, s.Next = 0, s.First // there never were segments in between
	}
	l := SourceLog{Stretch: s, End: p.log.CopyEnd()}
	// The edits that the rows need were made before the rows were logged.
	l.Redefined = p.manifest.Redefined()
	l.Waited = max(0, p.o.Now().Sub(began))
	if p.o.WALSync == wal.SyncInterval {
		l.Unsynced = cmp.Or(p.o.WALSyncPeriod, time.Second) // what is not synced is not copied
	}
	return l, nil
}

// note keeps what the standby has, and its address in the manifest: a start asks there whether it took over. There is
// one standby: of two, each might be taken for the one that has a write.
func (p *Primary) note(has Progress) error {
	p.mu.Lock()
	now := p.o.Now()
	if other := p.has.Address; other != has.Address && now.Sub(p.seen) < standbySilence && !p.seen.IsZero() {
		p.mu.Unlock()
		return status.New(status.RegionBusy, "another standby follows already, at %s: a server has one", other)
	}
	p.has, p.seen = has, now
	if p.news != nil {
		close(p.news)
		p.news = nil
	}
	p.mu.Unlock()
	s := p.manifest.State().Standing
	if s.Standby == has.Address {
		return nil
	}
	s.Standby = has.Address
	return p.apply(manifest.Edit{Standing: &s})
}

// standby is what the standby has and when it asked last; zero: no standby has asked.
func (p *Primary) standby() (has Progress, seen time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.has, p.seen
}

// Silent is how long ago a standby asked last; since the start, if none has.
func (p *Primary) Silent() time.Duration {
	_, seen := p.standby()
	if seen.IsZero() {
		return math.MaxInt64
	}
	return p.o.Now().Sub(seen)
}

// mayWrite refuses writes that would wait for a standby that is not there.
func (p *Primary) mayWrite() error {
	if !p.sync {
		return nil
	}
	switch has, seen := p.standby(); {
	case seen.IsZero():
		return status.New(status.StorageUnavailable,
			"wal.sync = standby: writes wait for a standby, and none has followed since the start. "+
				"Start one (varve serve --follow), or set another wal.sync")
	case p.o.Now().Sub(seen) > standbySilence:
		return status.New(status.StorageUnavailable,
			"wal.sync = standby: writes wait for the standby at %s, which has not asked for %s. "+
				"Start it again, or set another wal.sync", has.Address, p.o.Now().Sub(seen).Round(time.Second))
	}
	return nil
}

// await waits until the standby has the log up to a place and the manifest up to an edit, if writes wait for it. After
// an error the standby has it, or not.
func (p *Primary) await(ctx context.Context, end wal.LSN, edit uint64) error {
	if !p.sync {
		return nil
	}
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	for {
		p.mu.Lock()
		has := p.has
		if has.At >= end && has.Edit >= edit {
			p.mu.Unlock()
			return nil
		}
		if p.news == nil {
			p.news = make(chan struct{})
		}
		news := p.news
		p.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return status.Wrap(ctx.Err(), status.DeadlineExceeded,
				"the request ended while the write waited for the standby, which may have it or not")
		case <-p.door.run.Done():
			return ErrClosed
		case <-timer.C:
			return status.New(status.StorageUnavailable,
				"wal.sync = standby: the standby has not confirmed the write within wal.standby_timeout = %s. "+
					"It may have the write or not: send it again", p.wait)
		}
	}
}

// Standing says which of several servers may write to the store.
func (e *Engine) Standing() manifest.Standing { return e.manifest.State().Standing }

// Replace notes that the standby of the store took over at an epoch: from now on, and at each later start, nothing of
// the store can be changed. An epoch that is not above that of the store changes nothing.
func (e *Engine) Replace(epoch uint64, by string) error {
	if err := e.door.enterEarly(); err != nil {
		return err
	}
	defer e.door.leave()
	s := e.Standing()
	if epoch <= max(s.Epoch, s.Replaced) || s.Follows != "" {
		return nil
	}
	s.Replaced, s.By = epoch, by
	e.space.replace(&s) // first: an edit that fails must not let writes go on
	return e.apply(manifest.Edit{Standing: &s})
}

// replacedError says that another server took over.
func replacedError(s *manifest.Standing) *status.Error {
	return status.New(status.RegionReadonly,
		"this server takes no writes: its standby at %s took over (epoch %d, this server has epoch %d). Send writes "+
			"there. To use this machine again, follow that server with an empty data directory (varve serve --follow)",
		s.By, s.Replaced, s.Epoch)
}
