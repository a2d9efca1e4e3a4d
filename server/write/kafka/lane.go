package kafka

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"varve/engine"
	"varve/engine/status"
	"varve/server/web"
)

// batch are messages of one topic in the order of their offsets, by partition.
type batch struct {
	records []*kgo.Record
	owners  map[int32]*partition // that the messages were fetched for
	bytes   int64
	share   *web.Share
}

// recordBytes is about the memory of a message besides its value and key.
const recordBytes = 200

// pieces divides a batch into batches of at most the given bytes, or of one message, and counts their bytes: what one
// fetch unpacks to may be more than the account of memory has. most 0: there is one piece.
func (b *batch) pieces(most int64) (list []*batch) {
	from, bytes := 0, int64(0)
	for i, r := range b.records {
		one := int64(len(r.Value)+len(r.Key)) + recordBytes
		if most > 0 && i > from && bytes+one > most {
			list = append(list, &batch{records: b.records[from:i], owners: b.owners, bytes: bytes})
			from, bytes = i, 0
		}
		bytes += one
	}
	return append(list, &batch{records: b.records[from:], owners: b.owners, bytes: bytes})
}

// lane writes the messages of one topic, one batch after the other.
type lane struct {
	s       *source
	topic   string
	format  *format
	queue   chan *batch
	took    chan struct{} // has one when a batch was written
	ended   chan struct{}
	writing sync.Mutex // held while messages are written

	mu      sync.Mutex // protects what follows
	waiting int        // batches in the queue and in hand
	paused  bool       // the topic is not fetched

	body     []byte
	rejects  []reject // of the attempt in hand, not written yet
	internal int      // internal errors of the message in hand
}

func newLane(s *source, topic string) *lane {
	return &lane{s: s, topic: topic, format: formatOf(s.config.Format), queue: make(chan *batch, maxWaiting),
		took: make(chan struct{}, 1), ended: make(chan struct{})}
}

// maxWaiting is more than the batches of several fetches: a topic is paused, or waits for memory, before.
const maxWaiting = 64

// enqueue adds a batch. If the lane is busy, it waits for a moment, and then the topic is not fetched until the lane is
// empty: other topics go on.
func (l *lane) enqueue(ctx context.Context, b *batch) {
	l.mu.Lock()
	l.waiting++
	busy := l.waiting > 2
	l.mu.Unlock()
	select {
	case l.queue <- b:
	case <-ctx.Done():
		b.share.Release()
		return
	}
	if !busy {
		return
	}
	moment := time.NewTimer(laneWait)
	defer moment.Stop()
	select {
	case <-l.took:
		return
	case <-ctx.Done():
		return
	case <-moment.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting > 0 && !l.paused {
		l.paused = true
		l.s.client.PauseFetchTopics(l.topic)
	}
}

// laneWait is how long other topics wait for one whose lane is busy.
const laneWait = 500 * time.Millisecond

// run writes batches until ctx ends.
func (l *lane) run(ctx context.Context) {
	defer close(l.ended)
	for {
		select {
		case b := <-l.queue:
			l.write(ctx, b)
			l.wrote()
		case <-ctx.Done():
			l.drop()
			return
		}
	}
}

// wrote notes that a batch is written.
func (l *lane) wrote() {
	select {
	case l.took <- struct{}{}:
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting--; l.waiting == 0 && l.paused {
		l.paused = false
		l.s.client.ResumeFetchTopics(l.topic)
	}
}

// drop gives back what waits.
func (l *lane) drop() {
	for {
		select {
		case b := <-l.queue:
			b.share.Release()
		default:
			return
		}
	}
}

// write writes a batch, however long that takes. It ends early only with ctx, or for messages of partitions that the
// source has no more.
func (l *lane) write(ctx context.Context, b *batch) {
	defer b.share.Release()
	for try := 0; ctx.Err() == nil; try++ {
		left, err := l.attempt(ctx, b)
		if left == 0 {
			return
		}
		if err == nil || ctx.Err() != nil {
			try = 0
			continue
		}
		l.s.failed()
		l.s.troubled(&topicError{l.topic, err})
		pause(ctx, pauseAfter(try))
	}
}

// await waits for the write that is under way.
func (l *lane) await() {
	l.writing.Lock()
	defer l.writing.Unlock()
}

// topicError is why a topic is not written.
type topicError struct {
	topic string
	err   error
}

func (e *topicError) Error() string { return "topic " + e.topic + ": " + e.err.Error() }
func (e *topicError) Unwrap() error { return e.err }

// attempt writes what is wanted of messages, run by run. left is how many were wanted when it began.
func (l *lane) attempt(ctx context.Context, b *batch) (left int, err error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.rejects = nil
	list := l.s.wanted(b)
	left = len(list)
	for len(list) > 0 && err == nil {
		var run []*kgo.Record
		var why error
		run, list, why = l.cut(list)
		if why != nil {
			l.rejects = append(l.rejects, reject{run[0], why.Error()})
			continue
		}
		err = l.store(ctx, run)
	}
	if err == nil {
		err = l.flushRejects(ctx)
	}
	if err == nil {
		l.s.well()
	}
	return left, err
}

// cut takes off the messages that go into one body. why: the first one is at fault, and alone.
func (l *lane) cut(list []*kgo.Record) (run, rest []*kgo.Record, why error) {
	bytes := int64(0)
	for i, r := range list {
		err := l.check(r)
		alone := err != nil || l.format.alone(r.Value)
		switch {
		case i == 0 && alone:
			return list[:1], list[1:], err
		case alone, i > 0 && bytes+int64(len(r.Value)) > l.s.config.BatchBytes:
			return list[:i], list[i:], nil
		}
		bytes += int64(len(r.Value))
	}
	return list, nil, nil
}

// check refuses a message that no body may have.
func (l *lane) check(r *kgo.Record) error {
	if n := int64(len(r.Value)); n > l.s.config.MaxMessage {
		return status.New(status.InvalidArguments,
			"the message has %d bytes, the limit is %d", n, l.s.config.MaxMessage)
	}
	return l.format.check(r.Value)
}

// store stores messages, or keeps those that cannot be stored as rejects: it halves the list until they are alone. An
// error passes: the same may succeed later.
func (l *lane) store(ctx context.Context, list []*kgo.Record) error {
	err := l.send(ctx, list)
	switch {
	case err == nil || l.passes(err, len(list)):
		return err
	case len(list) == 1:
		l.internal = 0
		l.rejects = append(l.rejects, reject{list[0], err.Error()})
		if len(l.rejects) >= maxRejects {
			return l.flushRejects(ctx)
		}
		return nil
	}
	if err := l.store(ctx, list[:len(list)/2]); err != nil {
		return err
	}
	return l.store(ctx, list[len(list)/2:])
}

// maxRejects bounds the rejects that are written at a time.
const maxRejects = 256

// notAnEntry is the code for entries that are no objects. It is answered with 500, as interfaces say.
const notAnEntry status.Code = 1006

// mostInternal is how often a message alone may meet an internal error of the server before it is at fault.
const mostInternal = 5

// passes reports whether the error of a number of messages is not their fault.
func (l *lane) passes(err error, messages int) bool {
	var r *Refusal
	if !errors.As(err, &r) {
		return true
	}
	switch status.Code(r.Code) {
	case status.DatabaseNotFound, status.TableNotFound: // somebody has to make it
		return true
	}
	switch r.Status {
	case 400, 413, 415, 422:
		for _, text := range [...]string{"Pipeline not found", "Make the database first", "auto_create_table",
			"auto-create table is disabled"} {
			if strings.Contains(r.Text, text) {
				return true
			}
		}
		return false
	case 500:
		if messages > 1 || status.Code(r.Code) == notAnEntry {
			return false
		}
		l.internal++
		return l.internal < mostInternal
	}
	return true
}

// send stores messages with the steps behind them. Rejects before them are written first.
func (l *lane) send(ctx context.Context, list []*kgo.Record) error {
	l.body = l.body[:0]
	var bytes int64
	var first []byte
	for _, r := range list {
		bytes += int64(len(r.Value))
		if len(r.Value) == 0 { // a tombstone, or nothing at all
			continue
		}
		if first == nil {
			first = r.Value
		}
		l.body = l.format.add(l.body, l.s.config, r)
	}
	if err := l.flushRejects(ctx); err != nil {
		return err
	}
	taking := &engine.Taking{Steps: l.s.steps(list)}
	var err error
	if len(l.body) > 0 {
		r := l.format.request(l.s.config, l.topic, first)
		r.Body = l.body
		err = l.s.all.o.Door(engine.WithTaking(ctx, taking), r)
	}
	if err != nil && !taking.Done() {
		return err
	}
	if err := l.s.all.o.Store.Take(ctx, taking); err != nil {
		return err
	}
	l.s.advance(taking.Steps)
	l.s.took(l.topic, len(list), bytes)
	return nil
}

// flushRejects writes the rejects in hand.
func (l *lane) flushRejects(ctx context.Context) error {
	if len(l.rejects) == 0 {
		return nil
	}
	list := make([]*kgo.Record, len(l.rejects))
	for i := range l.rejects {
		list[i] = l.rejects[i].record
	}
	taking := &engine.Taking{Steps: l.s.steps(list)}
	if err := l.writeRejects(ctx, l.rejects, taking); err != nil && !taking.Done() {
		return err
	}
	l.s.advance(taking.Steps)
	l.s.counts.rejected.Add(int64(len(list)))
	l.s.all.figures.rejected.WithLabelValues(l.s.config.Name, l.topic).Add(float64(len(list)))
	last := l.rejects[len(list)-1]
	l.s.log.Warn("messages cannot be stored; they are in the table of rejects", "topic", l.topic, "messages", len(list),
		"partition", last.record.Partition, "offset", last.record.Offset, "error", readable(last.why))
	l.rejects = nil
	return nil
}

// readable is a text of bounded length, with U+FFFD in place of bytes that are not UTF-8.
func readable(text string) string {
	text = text[:min(len(text), 4<<10)]
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
