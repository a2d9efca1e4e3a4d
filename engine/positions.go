package engine

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/wal"
)

// A reader of a queue stores each message once, because the log record of the rows says how far the reader has come.
// All records of such a write are one record of the log, so that rows and position are there together or not at all:
//
//	version 1B = 3 | kind 1B = 4 | 0 12B | positions u16
//	(source length uvarint | source | topic length uvarint | topic | queue 16B | partition u32 |
//	 from i64 | next i64 | flags 1B)*
//	(length u32 | record of version 1 or 2)*
//
// An edit of the manifest that gives segments of the log up has the positions of these segments: their rows are in
// parts by then. A start takes the positions of the manifest and goes on with those of the log.
const (
	recordTaken        = 4
	recordTakenVersion = 3
	positionFixed      = 16 + 4 + 8 + 8 + 1
	positionRewound    = 1 // flag: the position went back on purpose
)

// maxPositionName bounds the names of sources and topics, bytes.
const maxPositionName = 1 << 10

// Position is how far a source has read a partition of a queue.
type Position = manifest.Position

// Advance is a step of a source: it has taken the messages from From up to, but without, Next.
type Advance struct {
	Position
	From int64
	// Rewound says that Next is set whatever was taken before.
	Rewound bool
}

// Taking is what a write takes from a queue. One goroutine at a time.
type Taking struct {
	Steps []Advance
	done  bool
}

// Done reports whether a write has logged the steps.
func (t *Taking) Done() bool { return t.done }

// takingContext is the key of the taking in a context.
type takingContext struct{}

// WithTaking makes the first write of rows with the context log the steps together with its rows. Later writes with the
// context log rows alone.
func WithTaking(ctx context.Context, t *Taking) context.Context {
	return context.WithValue(ctx, takingContext{}, t)
}

// takingOf is the taking of a context; nil: there is none, or an earlier write has logged it.
func takingOf(ctx context.Context) *Taking {
	t, _ := ctx.Value(takingContext{}).(*Taking) //nolint:errcheck // nil: the rows are of no queue
	if t == nil || t.done {
		return nil
	}
	return t
}

// Take logs the steps of a taking for which no write had rows. If a write has logged them, it does nothing.
func (e *Engine) Take(ctx context.Context, t *Taking) error {
	if t.done {
		return nil
	}
	if err := e.door.enter(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, PublicDB); err != nil {
		return err
	}
	if err := e.committer.admit(ctx); err != nil {
		return err
	}
	_, err := e.committer.commit(WithTaking(ctx, t), nil)
	return err
}

// Positions returns the positions of a source. It waits until the store is ready.
func (e *Engine) Positions(source string) ([]Position, error) {
	if err := e.door.enter(); err != nil {
		return nil, err
	}
	defer e.door.leave()
	return e.positions.of(source), nil
}

// partitionKey names a partition among all that are read.
type partitionKey struct {
	source, topic string
	partition     int32
}

func keyOf(p *Position) partitionKey { return partitionKey{p.Source, p.Topic, p.Partition} }

// notedPosition is a position that a record in a segment of the log has; segment 0: the manifest has it.
type notedPosition struct {
	Position
	segment uint64
}

// positions knows how far sources have read. Safe for concurrent use.
type positions struct {
	mu    sync.Mutex
	noted map[partitionKey][]notedPosition // of each segment the last, oldest first; the first may be the manifest's
	holds map[*Taking]wal.LSN              // of writes under way: the log holds their record at or behind this place

	// replayed says up to which offset a table has the rows of a partition, in the order of the log. nil after replay.
	replayed map[replayedKey]int64
}

type replayedKey struct {
	partitionKey
	queue string
	table schema.TableID
}

func newPositions() *positions {
	return &positions{noted: map[partitionKey][]notedPosition{}, holds: map[*Taking]wal.LSN{},
		replayed: map[replayedKey]int64{}}
}

// begin takes over the positions of the manifest.
func (s *positions) begin(list []Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		s.noted[keyOf(&list[i])] = []notedPosition{{Position: list[i]}}
	}
}

// of returns the positions of a source.
func (s *positions) of(source string) (list []Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, all := range s.noted {
		if k.source == source {
			list = append(list, all[len(all)-1].Position)
		}
	}
	return list
}

// hold keeps the log from its end on until release, because a record with steps is about to be appended.
func (s *positions) hold(t *Taking, log *wal.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds[t] = log.End()
}

func (s *positions) release(t *Taking) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.holds, t)
}

// needed returns the least of a place in the log and of those that are held.
func (s *positions) needed(before wal.LSN) wal.LSN {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.holds {
		before = min(before, at)
	}
	return before
}

// stored notes steps that a segment of the log has.
func (s *positions) stored(steps []Advance, segment uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range steps {
		k := keyOf(&steps[i].Position)
		all := s.noted[k]
		if n := len(all); n > 0 && all[n-1].segment == segment && segment != 0 {
			all[n-1].Position = steps[i].Position
		} else {
			s.noted[k] = append(all, notedPosition{steps[i].Position, segment})
		}
	}
}

// before returns the positions that the segments before first have and that a state of the manifest lacks.
func (s *positions) before(first uint64, known *manifest.State) (list []Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, all := range s.noted {
		last := -1
		for last+1 < len(all) && all[last+1].segment < first {
			last++
		}
		if last < 0 {
			continue
		}
		if p := all[last].Position; !known.HasPosition(p) {
			list = append(list, p)
		}
		if last > 0 {
			s.noted[k] = append([]notedPosition(nil), all[last:]...)
		}
	}
	return list
}

// record returns the record of the steps and of records that are logged with them.
func (t *Taking) record(records []wal.Record) (wal.Record, error) {
	head := make([]byte, recordHead, recordHead+len(t.Steps)*(positionFixed+64))
	head[0], head[1] = recordTakenVersion, recordTaken
	binary.LittleEndian.PutUint16(head[14:], uint16(len(t.Steps)))
	for i := range t.Steps {
		a := &t.Steps[i]
		queue, err := hex.DecodeString(a.Queue)
		if err != nil || len(queue) != 16 || len(a.Source) > maxPositionName || len(a.Topic) > maxPositionName ||
			len(t.Steps) > 1<<16-1 {
			return nil, fmt.Errorf("position of source %q, topic %q, queue %q: names are too long, or the queue has no "+
				"16 bytes", a.Source, a.Topic, a.Queue)
		}
		head = append(binary.AppendUvarint(head, uint64(len(a.Source))), a.Source...)
		head = append(binary.AppendUvarint(head, uint64(len(a.Topic))), a.Topic...)
		head = append(head, queue...)
		head = binary.LittleEndian.AppendUint32(head, uint32(a.Partition))
		head = binary.LittleEndian.AppendUint64(head, uint64(a.From))
		head = binary.LittleEndian.AppendUint64(head, uint64(a.Next))
		flags := byte(0)
		if a.Rewound {
			flags = positionRewound
		}
		head = append(head, flags)
	}
	all := wal.Record{head}
	size := int64(len(head))
	for _, r := range records {
		size += 4 + int64(r.Size())
		all = append(append(all, binary.LittleEndian.AppendUint32(nil, uint32(r.Size()))), r...)
	}
	if size > wal.MaxRecord {
		return nil, status.New(status.InvalidArguments, "a log record of %d bytes exceeds the limit of %d", size,
			wal.MaxRecord)
	}
	return all, nil
}

// isTaken reports whether a record of the log is one of kind recordTaken, of this version.
func isTaken(rec []byte) bool {
	return len(rec) >= recordHead && rec[0] == recordTakenVersion && rec[1] == recordTaken
}

// readTaken reads the steps of a record of kind recordTaken and returns the records behind them.
func readTaken(rec []byte) (steps []Advance, records [][]byte, err error) {
	damaged := func() ([]Advance, [][]byte, error) {
		return nil, nil, fmt.Errorf("log record of positions with %d bytes is cut", len(rec))
	}
	n, src := int(binary.LittleEndian.Uint16(rec[14:])), rec[recordHead:]
	for range n {
		var a Advance
		for _, name := range [...]*string{&a.Source, &a.Topic} {
			length, k := binary.Uvarint(src)
			if k <= 0 || length > maxPositionName || int(length) > len(src)-k {
				return damaged()
			}
			*name, src = string(src[k:k+int(length)]), src[k+int(length):]
		}
		if len(src) < positionFixed {
			return damaged()
		}
		a.Queue = hex.EncodeToString(src[:16])
		a.Partition = int32(binary.LittleEndian.Uint32(src[16:]))
		a.From = int64(binary.LittleEndian.Uint64(src[20:]))
		a.Next = int64(binary.LittleEndian.Uint64(src[28:]))
		a.Rewound = src[36]&positionRewound != 0
		steps, src = append(steps, a), src[positionFixed:]
	}
	for len(src) > 0 {
		if len(src) < 4 || int64(binary.LittleEndian.Uint32(src)) > int64(len(src)-4) {
			return damaged()
		}
		end := 4 + int(binary.LittleEndian.Uint32(src))
		if isTaken(src[4:end]) {
			return nil, nil, fmt.Errorf("log record of positions inside another")
		}
		records, src = append(records, src[4:end]), src[end:]
	}
	return steps, records, nil
}

// eachRecord passes the records of rows of a record of the log to f: those behind positions, or the record itself. An
// error of f does not end it; eachRecord returns the first.
func eachRecord(rec []byte, f func(rec []byte) error) error {
	if !isTaken(rec) {
		return f(rec)
	}
	_, records, err := readTaken(rec)
	for _, r := range records {
		if failed := f(r); err == nil {
			err = failed
		}
	}
	return err
}

// has reports whether a table has the rows of all steps, by records that were replayed before: the log holds them
// twice if the answer of the log to the first write was an error.
func (s *positions) has(steps []Advance, table schema.TableID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range steps {
		a := &steps[i]
		if s.replayed[replayedKey{keyOf(&a.Position), a.Queue, table}] < a.Next || a.Rewound {
			return false
		}
	}
	return len(steps) > 0
}

// replay notes that a table has the rows of the steps.
func (s *positions) replay(steps []Advance, table schema.TableID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range steps {
		a := &steps[i]
		s.replayed[replayedKey{keyOf(&a.Position), a.Queue, table}] = a.Next
	}
}

// endReplay forgets what only replay needs.
func (s *positions) endReplay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replayed = nil
}

// replayTaken applies a record with positions.
func (st *starting) replayTaken(at wal.LSN, rec []byte) error {
	steps, records, err := readTaken(rec)
	if err != nil {
		st.keepRecord(at, err)
		return nil
	}
	if len(records) == 0 { // a position that went back on purpose comes alone
		st.positions.rewind(steps)
	}
	for _, sub := range records {
		head, _, err := readRecordHead(sub)
		if err == nil && st.positions.has(steps, head.table) {
			st.committer.seen(head.seq)
			continue
		}
		before := st.found.ReplayedRows
		if err := st.replayRecord(at, sub); err != nil {
			return err
		}
		if st.found.ReplayedRows > before {
			st.positions.replay(steps, head.table)
		}
	}
	st.positions.stored(steps, at.Segment())
	return nil
}

// rewind forgets what tables have of partitions whose position went back.
func (s *positions) rewind(steps []Advance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range steps {
		for k := range s.replayed {
			if steps[i].Rewound && k.partitionKey == keyOf(&steps[i].Position) {
				delete(s.replayed, k)
			}
		}
	}
}

// dumpTaken prints a record with positions.
func dumpTaken(w io.Writer, rec []byte) error {
	steps, records, err := readTaken(rec)
	if err != nil {
		_, err := fmt.Fprintf(w, "            %v\n", err)
		return err
	}
	for i := range steps {
		a := &steps[i]
		how := ""
		if a.Rewound {
			how = ", set back"
		}
		if _, err := fmt.Fprintf(w, "            source %q, topic %q (%s), partition %d: messages %d to %d%s\n", a.Source,
			a.Topic, a.Queue, a.Partition, a.From, a.Next, how); err != nil {
			return err
		}
	}
	for _, r := range records {
		if err := DumpRecord(w, r); err != nil {
			return err
		}
	}
	return nil
}
