package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/wal"
)

// A client may give the batches that it sends an id, and then send one again whose answer it did not get: what is in
// the log already is passed over, and answered as if it were new. Each record of such a batch has the key of its part
// of it. Before a memtable with such records is given up, and before a segment of the log goes that has keys, all keys
// that are remembered are written into the log once more, in a record of kind recordBatches:
//
//	version 1B = 2 | kind 1B = 3 | 0 14B | (table u32 | key 16B | seconds since 1970 i64)*
//
// A start remembers the key of a record of rows only if it applies the record: a record whose write failed may be in
// the log as well, below the sequence number up to which everything is in parts.
const (
	recordBatches = 3
	batchKeySize  = 16
	batchNoteSize = 4 + batchKeySize + 8
)

// The last rememberedBatches parts of batches are remembered, each for rememberBatches: a client that was cut off comes
// back within that time.
const (
	rememberedBatches = 64 << 10
	rememberBatches   = 24 * time.Hour
	// batchBytes is about the memory of one remembered part.
	batchBytes = 128
)

type batchKey [batchKeySize]byte

// batchNote is a part of a batch that a table has.
type batchNote struct {
	table schema.TableID
	key   batchKey
}

// batches remembers parts of batches that were stored. Safe for concurrent use.
type batches struct {
	now   func() time.Time
	log   *slog.Logger
	count atomic.Int64 // len(at), for readers without mu

	mu    sync.Mutex
	at    map[batchNote]int64      // when the part was stored, in seconds since 1970
	order []batchNote              // the oldest first
	busy  map[string]chan struct{} // ids whose write is under way; the channel is closed when the write ends
	added uint64                   // number of parts that were added so far
	saved uint64                   // the value of added when all parts were last written into the log
	in    uint64                   // segment of the log that save wrote them into
}

func newBatches(now func() time.Time, log *slog.Logger) *batches {
	return &batches{now: now, log: log, at: map[batchNote]int64{}, busy: map[string]chan struct{}{}}
}

// batchContext is the key of the batch in a context.
type batchContext struct{}

// batch is a batch that its client may send again. One goroutine at a time.
type batch struct {
	id    string
	parts int // so far, including failed ones: a part is the rows of one table in one write
}

// WithBatch gives the writes of a request the id of its batch. Parts of the batch that are already stored are not
// stored again.
func WithBatch(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, batchContext{}, &batch{id: id})
}

func batchOf(ctx context.Context) *batch {
	b, _ := ctx.Value(batchContext{}).(*batch) //nolint:errcheck // nil: the request has no batch
	return b
}

// enter waits until no other write of the batch is under way. leave is to be called after the write.
func (s *batches) enter(ctx context.Context, b *batch) (leave func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	for {
		s.mu.Lock()
		other, busy := s.busy[b.id]
		if !busy {
			over := make(chan struct{})
			s.busy[b.id] = over
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				delete(s.busy, b.id)
				s.mu.Unlock()
				close(over)
			}, nil
		}
		s.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, status.Wrap(ctx.Err(), status.DeadlineExceeded,
				"the request ended while it waited for an earlier one with the same batch id")
		}
	}
}

// name names the parts of a batch that are about to be written. The name includes the number of rows: a part of another
// size is another part, because the batch was divided differently.
func (b *batch) name(all []*tableWrite) {
	if b == nil {
		return
	}
	for i, w := range all {
		text := binary.LittleEndian.AppendUint64([]byte(b.id), uint64(b.parts+i))
		w.part = binary.LittleEndian.AppendUint64(text, uint64(w.batch.N))
	}
	b.parts += len(all)
}

// partKey is the key of a part in a table. A TRUNCATE changes the keys: earlier rows are gone, so their parts may be
// stored again.
func partKey(part []byte, t *schema.Table) batchKey {
	text := slices.Clip(part)
	if t.Emptied != 0 {
		text = binary.LittleEndian.AppendUint64(text, t.Emptied)
	}
	sum := sha256.Sum256(text)
	return batchKey(sum[:batchKeySize])
}

// pass leaves out the writes whose parts their tables already have.
func (s *batches) pass(ws []*tableWrite) {
	for _, w := range ws {
		if w.rec == nil || w.part == nil || w.schema.Options.SkipWAL { // rows that a crash loses are not remembered
			continue
		}
		if w.rec.key = partKey(w.part, w.schema); s.knows(w.rec) {
			w.rec, w.known = nil, true
		}
	}
}

// knows reports whether the rows of a record were stored before, as the same part of the same batch.
func (s *batches) knows(r *record) bool {
	if r.key == (batchKey{}) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.at[batchNote{r.table, r.key}]
	return there
}

// stored remembers that the rows of a record are stored. Rows that belong to no batch with an id have no key, and are
// not remembered.
func (s *batches) stored(r *record) {
	if r.key != (batchKey{}) {
		s.remember(batchNote{r.table, r.key}, s.now().Unix())
	}
}

// remember adds a part and forgets parts that are too old or too many.
func (s *batches) remember(n batchNote, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.at[n]; there {
		return
	}
	s.at[n] = at
	s.added++
	s.order = append(s.order, n)
	old := s.now().Add(-rememberBatches).Unix()
	for len(s.order) > rememberedBatches || len(s.order) > 0 && s.at[s.order[0]] < old {
		delete(s.at, s.order[0])
		s.order = s.order[1:]
	}
	s.count.Store(int64(len(s.order)))
}

// save writes all remembered parts into the log, unless a segment that stays has them. first is the first segment that
// stays. If the disk is full and save cannot write, the next start forgets the ids; the caller makes room all the same.
func (s *batches) save(log *wal.Log, first uint64) {
	rec, added := s.unsaved(first)
	if rec == nil {
		return
	}
	at, err := log.Append(wal.Record{rec})
	if err != nil {
		s.log.Warn("the ids of batches cannot be written into the log; after a crash they are not known", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if added >= s.saved {
		s.saved, s.in = added, at.Segment()
	}
}

// unsaved returns the record of all remembered parts; nil: a segment that stays has them.
func (s *batches) unsaved(first uint64) (rec []byte, added uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 || s.saved == s.added && s.in >= first {
		return nil, 0
	}
	rec = make([]byte, recordHead, recordHead+len(s.order)*batchNoteSize)
	rec[0], rec[1] = recordBatchVersion, recordBatches
	for _, n := range s.order {
		rec = binary.LittleEndian.AppendUint32(rec, uint32(n.table))
		rec = append(rec, n.key[:]...)
		rec = binary.LittleEndian.AppendUint64(rec, uint64(s.at[n]))
	}
	return rec, s.added
}

// found remembers the parts in a record of the log.
func (s *batches) found(body []byte) error {
	if len(body)%batchNoteSize != 0 {
		return fmt.Errorf("log record of batches with %d bytes", len(body))
	}
	for ; len(body) > 0; body = body[batchNoteSize:] {
		n := batchNote{table: schema.TableID(binary.LittleEndian.Uint32(body)), key: batchKey(body[4 : 4+batchKeySize])}
		s.remember(n, int64(binary.LittleEndian.Uint64(body[4+batchKeySize:])))
	}
	return nil
}

// bytes is about the memory of the remembered parts. It takes no lock.
func (s *batches) bytes() int64 { return s.count.Load() * batchBytes }
