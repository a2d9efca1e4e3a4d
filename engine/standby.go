package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
	"varve/wal"
)

// FollowOptions make a store the standby of another.
type FollowOptions struct {
	Source  Source // of the primary
	Primary string // its address, for messages
	Address string // of this server, by which the primary knows it again
}

// Standby copies a primary and shows its rows. Its data directory is a data directory at any moment: manifest, parts
// and log of the primary, of one moment or as a crash of the primary would leave them. It is written by the goroutines
// below alone, through the file system under the store's, which refuses changes: nothing here is flushed or merged, and
// all parts have the numbers of the primary.
//
// States of the manifest, parts and the log come independently. A state takes effect table by table, as soon as the
// parts of the table are there, see combine. Rows are shown in the order of the log. Safe for concurrent use.
type Standby struct {
	*inventory
	o       FollowOptions
	disk    vfs.FS
	parts   *parts.Local // on disk
	st      *starting    // applies records, as a start does
	memory  *memory
	dropper *dropper
	door    *door
	log     *slog.Logger
	copy    *wal.Copy
	now     func() time.Time

	held    atomic.Int64 // bytes of index and early
	changed *signal      // something below changed

	installing sync.Mutex                 // held while a state takes effect or records do; protects what follows
	index      map[schema.TableID][]place // by region
	early      map[schema.TableID][]place // by table, which no state has yet
	reader     *wal.Reader
	begins     uint64 // the copy of the log begins at this segment; 0: not known, or the copy is whole

	mu      sync.Mutex      // protects what follows
	remote  *manifest.State // the newest of the primary; nil: none is known since the start
	current uint64          // the edit up to which all schemas are those of the primary
	there   map[parts.Entry]bool
	tries   map[parts.Entry]int // how often a part could not be had that the primary lists
	limit   wal.LSN             // the log may be shown up to here
	targets []target            // places that are to be shown, with the times to which they belong
	figures StandbyFigures
	errors  map[string]string // what went wrong last, by goroutine
}

// What the goroutines cannot do, in messages.
const (
	ofState = "the manifest cannot be followed"
	ofParts = "parts cannot be copied"
	ofLog   = "the log cannot be followed"
	ofRows  = "rows of the log cannot be shown"
)

// place is where the log has a record of a region whose rows are in its memtable.
type place struct {
	at  wal.LSN
	seq uint64
}

// placeBytes is the size of a place.
const placeBytes = 16

// target is a place of the log and the time at which the primary's log ended there.
type target struct {
	at    wal.LSN
	fresh time.Time
}

// StandbyFigures say how far a standby is.
type StandbyFigures struct {
	Primary string
	Whole   bool // it has all rows that the primary had at some time
	// Shown and Copied are times: all rows are visible, or on the disk, that were acknowledged before. Zero: not yet.
	Shown, Copied time.Time
	// MissingParts and MissingBytes are listed by the primary and not copied yet.
	MissingParts int
	MissingBytes int64
	// CopiedBytes were received of parts and of the log since the start.
	CopiedBytes int64
	Error       string // the last that went wrong; empty: nothing since the last success
}

// standbyFS is the file system of a store that follows: nobody changes anything, and no other server may use the
// directory.
type standbyFS struct {
	vfs.FS // refuses changes
	under  vfs.FS
}

func (s standbyFS) Lock(name string) (io.Closer, error) { return s.under.Lock(name) }

// Writable lets the space be looked at as if the store could be written to: why it takes no writes is said otherwise.
func (s standbyFS) Writable(dir string) error { return s.under.Writable(dir) }

// following changes the options of a store that follows, and says why it takes no writes.
func following(o *Options) error {
	o.FS, o.NoBackground, o.Ballast = standbyFS{vfs.ReadOnly(o.FS), o.FS}, true, 0
	return status.New(status.RegionReadonly,
		"this server is the standby of %s: it answers queries and takes no writes. Send writes there, or make it the "+
			"primary with varve promote", o.Follow.Primary)
}

// firstAnswer is how long a new standby asks for its primary.
const firstAnswer = 30 * time.Second

// prepareStandby makes an empty directory that of a standby. One of a standby stays as it is, and all others are
// refused.
func prepareStandby(disk vfs.FS, o *Options) error {
	switch _, err := disk.Stat(path.Join(o.Dir, manifest.FileName)); {
	case err == nil:
		s, _, err := manifest.Read(disk, o.Dir)
		if err == nil && s.Standing.Follows == "" {
			err = fmt.Errorf("%s is the data directory of a server of its own, no standby: following %s would lose its "+
				"rows. Give the standby an empty directory", o.Dir, o.Follow.Primary)
		}
		return err
	case !vfs.NotExist(err):
		return fmt.Errorf("data directory: %w", err)
	}
	if err := requireManifest(disk, o.Dir, o.WALDir, false); err != nil {
		return err
	}
	remote, err := firstState(o)
	if err != nil {
		return fmt.Errorf("the primary, %s, cannot be followed: %w", o.Follow.Primary, err)
	}
	return manifest.Replace(disk, o.Dir, &manifest.State{Store: remote.Store, Edit: 1, NextTable: 1, NextFile: 1,
		Standing: manifest.Standing{Epoch: remote.Standing.Epoch, Follows: o.Follow.Primary}})
}

// firstState asks the primary for its manifest until it answers, at most for firstAnswer.
func firstState(o *Options) (remote *manifest.State, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), firstAnswer)
	defer cancel()
	for {
		answer, err := o.Follow.Source.State(ctx, 0, 0)
		if err == nil {
			remote, err = manifest.Follow(nil, answer.Frames)
		}
		if err == nil {
			return remote, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(afterError):
		}
	}
}

// newStandby makes the standby of an assembled store.
func newStandby(e *Engine, st *starting, disk vfs.FS) (*Standby, error) {
	s := &Standby{inventory: e.inventory, o: *e.o.Follow, disk: disk, parts: parts.At(disk, e.o.Dir), st: st,
		memory: e.memory, dropper: e.dropper, door: e.door, log: e.o.Logger, now: e.o.Now, changed: newSignal(),
		index: map[schema.TableID][]place{}, early: map[schema.TableID][]place{}, errors: map[string]string{},
		there: map[parts.Entry]bool{}, tries: map[parts.Entry]int{}}
	var err error
	if s.copy, err = wal.OpenCopy(disk, e.o.WALDir, st.store); err != nil {
		return nil, err
	}
	s.reader = s.copy.Reader()
	s.figures.Primary = s.o.Primary
	s.limit = s.copy.End()
	st.noted = func(r *region, at wal.LSN, seq uint64) {
		s.index[r.id] = append(s.index[r.id], place{at, seq})
	}
	st.unknown = func(table schema.TableID, at wal.LSN, seq uint64) {
		if table >= s.manifest.State().NextTable { // otherwise it was dropped
			s.early[table] = append(s.early[table], place{at, seq})
		}
	}
	return s, nil
}

// openParts opens the parts that are there.
func (s *Standby) openParts() error {
	entries, err := s.parts.List()
	if err != nil {
		return fmt.Errorf("parts directory: %w", err)
	}
	for _, e := range entries {
		if e.Unfinished {
			if err := s.parts.Remove(e); err != nil {
				return err
			}
			continue
		}
		s.there[e] = true
	}
	return s.st.openParts()
}

// begin starts to follow.
func (s *Standby) begin(run context.Context, goes func(func())) {
	s.figures.Whole = s.manifest.State().Standing.Whole
	if s.figures.Whole {
		s.door.open(nil)
	}
	goes(func() { s.followState(run) })
	goes(func() { s.followParts(run) })
	goes(func() { s.followLog(run) })
	goes(func() { s.showLog(run) })
}

const (
	// stateWait and logWait are how long the primary may wait before it answers that there is nothing new.
	stateWait = 5 * time.Second
	logWait   = time.Second
	// afterError is the pause after a question that failed.
	afterError = 500 * time.Millisecond
	// stretchBytes is what is asked for of parts and of the log at a time.
	stretchBytes = 4 << 20
)

// failed notes what went wrong and waits a little.
func (s *Standby) failed(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	news := s.errors[what] != err.Error()
	s.errors[what] = err.Error()
	s.mu.Unlock()
	if news {
		s.log.Warn("the standby falls behind: "+what, "primary", s.o.Primary, "error", err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(afterError):
	}
}

// succeeded forgets what went wrong before.
func (s *Standby) succeeded(what string) {
	s.mu.Lock()
	delete(s.errors, what)
	s.mu.Unlock()
}

// followState asks for the manifest and lets its states take effect.
func (s *Standby) followState(ctx context.Context) {
	for ctx.Err() == nil {
		s.mu.Lock()
		known := s.remote
		s.mu.Unlock()
		if err := s.nextState(ctx, known); err != nil {
			s.failed(ctx, ofState, err)
		}
	}
}

func (s *Standby) nextState(ctx context.Context, known *manifest.State) error {
	edit := uint64(0)
	if known != nil {
		edit = known.Edit
	}
	answer, err := s.o.Source.State(ctx, edit, stateWait)
	if err != nil {
		return err
	}
	if len(answer.Frames) == 0 && known != nil {
		return nil
	}
	next, err := manifest.Follow(known, answer.Frames)
	if err != nil {
		s.mu.Lock()
		s.remote = nil // the next answer has all of it
		s.mu.Unlock()
		return err
	}
	if err := s.sameStore(next); err != nil {
		return err
	}
	s.mu.Lock()
	s.remote = next
	s.mu.Unlock()
	if err := s.install(next); err != nil {
		s.mu.Lock()
		s.remote = nil // ask for it again
		s.mu.Unlock()
		return err
	}
	s.succeeded(ofState)
	return nil
}

// sameStore refuses the state of another store, and of one that took another way.
func (s *Standby) sameStore(next *manifest.State) error {
	have := s.manifest.State()
	switch {
	case next.Store != have.Store:
		return fmt.Errorf("%s has another store (%s) than this standby (%s): give the standby an empty data directory",
			s.o.Primary, next.Store, have.Store)
	case next.Standing.Epoch != have.Standing.Epoch:
		return fmt.Errorf("%s has epoch %d, this standby has epoch %d: another server took over in between. "+
			"Give the standby an empty data directory", s.o.Primary, next.Standing.Epoch, have.Standing.Epoch)
	case next.Edit < have.Edit:
		return fmt.Errorf("the manifest of %s ends at edit %d, that of this standby at %d: the primary has an older "+
			"copy of its data", s.o.Primary, next.Edit, have.Edit)
	}
	return nil
}

// Standby returns what the store follows; nil: it follows none.
func (e *Engine) Standby() *Standby { return e.standby }

// Figures says how far the standby is.
func (s *Standby) Figures() StandbyFigures {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.figures
	for _, what := range []string{ofState, ofLog, ofParts, ofRows} {
		if text, ok := s.errors[what]; ok && f.Error == "" {
			f.Error = what + ": " + text
		}
	}
	if s.remote == nil {
		return f
	}
	for _, t := range s.remote.Tables {
		for i := range t.Parts {
			if !s.has(&t.Parts[i]) {
				f.MissingParts++
				f.MissingBytes += t.Parts[i].LocalBytes()
			}
		}
	}
	return f
}

// lag is the age of a time of StandbyFigures, in seconds.
func (s *Standby) lag(at time.Time) float64 {
	if at.IsZero() {
		return math.Inf(1)
	}
	return max(0, s.now().Sub(at).Seconds())
}

// Lag returns for how many seconds rows may be missing: in answers, and after the standby took over. Infinite: that is
// not known yet.
func (s *Standby) Lag() (shown, copied float64) {
	f := s.Figures()
	return s.lag(f.Shown), s.lag(f.Copied)
}

// Ready is nil when the standby can take over.
func (s *Standby) Ready() error {
	if s.manifest.State().Standing.Whole {
		return nil
	}
	return status.New(status.RegionNotReady, "the first copy of %s is not whole yet", s.o.Primary)
}

// count notes the memory that the places of records take. The caller holds installing.
func (s *Standby) count() {
	n := int64(0)
	for _, of := range []map[schema.TableID][]place{s.index, s.early} {
		for _, list := range of {
			n += int64(cap(list)) * placeBytes
		}
	}
	s.held.Store(n)
}

// errMoved says that a part is not listed any more.
var errMoved = errors.New("the part is not listed any more")
