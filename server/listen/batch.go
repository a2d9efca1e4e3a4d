package listen

import (
	"time"

	"varve/engine"
	"varve/engine/status"
	"varve/server/web"
	"varve/server/write/rows/rejects"
)

// Batch are messages that wait to be written. One goroutine at a time.
type Batch struct {
	s     *Server
	text  []byte      // of all messages
	ends  []int       // of each in text
	at    []time.Time // when each arrived
	first time.Time   // when the first arrived
}

// NewBatch begins a batch.
func (s *Server) NewBatch() *Batch { return &Batch{s: s} }

// Len is the number of messages in the batch.
func (b *Batch) Len() int { return len(b.ends) }

// Add adds a message, and writes the batch when it is full or old; false: it was written, but messages are lost without
// being at fault, see Flush.
func (b *Batch) Add(text []byte, at time.Time) (stored bool) {
	b.s.messages.Inc()
	b.s.waiting.Add(1)
	if len(b.text)+len(text) > batchBytes {
		b.Flush()
	}
	if len(text) >= batchBytes {
		return b.s.store([]Message{{Text: text[:len(text):len(text)], At: at}}) // not copied: it may be large
	}
	if len(b.ends) == 0 {
		b.first = at
	}
	b.text = append(b.text, text...)
	b.ends, b.at = append(b.ends, len(b.text)), append(b.at, at)
	if len(b.text) >= batchBytes || len(b.ends) >= batchMessages || b.due(at) {
		return b.Flush()
	}
	return true
}

// due reports whether the batch is to be written at a time.
func (b *Batch) due(now time.Time) bool { return len(b.ends) > 0 && now.Sub(b.first) >= batchAge }

// Flush writes the batch, however long that takes. It leaves out messages at fault, and the log says why; false: other
// messages are not stored either.
func (b *Batch) Flush() bool {
	if len(b.ends) == 0 {
		return true
	}
	list := make([]Message, len(b.ends))
	from := 0
	for i, end := range b.ends {
		list[i] = Message{Text: b.text[from:end:end], At: b.at[i]}
		from = end
	}
	stored := b.s.store(list)
	b.text, b.ends, b.at = b.text[:0], b.ends[:0], b.at[:0]
	return stored
}

// store writes messages as Flush does.
func (s *Server) store(list []Message) bool {
	defer s.waiting.Add(-int64(len(list)))
	w := write{s: s}
	w.store(list)
	if w.refused > 0 {
		s.refused.Add(float64(w.refused))
		s.Warn("messages are not stored", "messages", w.refused, "reason", w.reason)
	}
	return !w.lost
}

// maxTroubles bounds the messages at fault that are sought in a batch one by one. After that many, what is left of the
// batch is refused with them.
const maxTroubles = 16

// write is the way of a batch into the store.
type write struct {
	s        *Server
	refused  int   // messages
	troubles int   // times that messages were refused
	lost     bool  // messages that are not at fault are among the refused
	reason   error // why messages were refused last
}

// store stores messages. If one of them is at fault, it stores the others.
func (w *write) store(list []Message) {
	err := w.all(list)
	switch {
	case err == nil:
	case len(list) == 1 || w.troubles >= maxTroubles || w.s.ctx.Err() != nil || !atFault(err):
		w.refused += len(list)
		w.reject(list, err)
		w.troubles++
		w.lost = w.lost || !atFault(err) || passing(err)
		w.reason = err
	default:
		w.store(list[:len(list)/2])
		w.store(list[len(list)/2:])
	}
}

// patiently calls do again and again while its error is one that passes.
func (w *write) patiently(do func() error) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := do()
		if err == nil || !passing(err) || w.s.ctx.Err() != nil {
			return err
		}
		w.s.Warn("the store takes nothing, senders wait", "reason", err)
		select {
		case <-time.After(pause):
		case <-w.s.ctx.Done():
			return err
		}
	}
}

// all writes messages, and keeps those that are left out as rejects.
func (w *write) all(list []Message) error {
	var left []rejects.Entry
	err := w.patiently(func() (err error) {
		left, err = w.once(list)
		return err
	})
	if err == nil && len(left) > 0 {
		w.refused += len(left)
		w.reason = left[0].Why
		w.keep(left)
	}
	return err
}

// once writes messages; left are the entries that are left out.
func (w *write) once(list []Message) (left []rejects.Entry, err error) {
	s := w.s
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	set := s.sets.Get()
	defer s.sets.Put(set)
	share := s.o.Intake.Share()
	defer share.Release()
	bytes := int64(0)
	for _, m := range list {
		bytes += int64(len(m.Text))
	}
	hold := func(made int64) error { return share.Hold(s.ctx, bytes+made) }
	if err := hold(0); err != nil {
		return nil, err
	}
	made, err := s.o.Rows(s.ctx, list, set, hold, func() error {
		// the messages are not begun again: parts of them are stored
		return w.patiently(func() error { return s.write(set) })
	})
	if err == nil && made.Rows > 0 {
		err = s.write(set)
	}
	if err != nil || made.Left == nil {
		return nil, err
	}
	return made.Left(), nil
}

// write writes rows.
func (s *Server) write(set *engine.WriteSet) error {
	written, err := s.o.Store.Write(s.ctx, set)
	for _, t := range written {
		s.rows.Add(float64(t.Rows))
	}
	return err
}

// reject keeps messages as rejects if they are at fault.
func (w *write) reject(list []Message, why error) {
	if !atFault(why) {
		return
	}
	left := make([]rejects.Entry, len(list))
	for i, m := range list {
		left[i] = rejects.Entry{Why: why, Text: m.Text}
	}
	w.keep(left)
}

// keep adds entries to the rejects, however long that takes. If it cannot, their messages are lost: their senders get
// no answer.
func (w *write) keep(left []rejects.Entry) {
	for i := range left {
		left[i].Protocol = w.s.o.Name
	}
	if err := w.patiently(func() error { return w.s.o.Rejects.Add(w.s.ctx, left) }); err != nil {
		w.lost, w.reason = true, err
	}
}

// passing reports whether an error passes: the same write may succeed later.
func passing(err error) bool {
	switch web.HTTPStatus(status.Of(err)) {
	case 408, 429, 503, 504:
		return true
	}
	return false
}

// atFault reports whether an error is the fault of the messages.
func atFault(err error) bool {
	s := web.HTTPStatus(status.Of(err))
	return s >= 400 && s < 500
}
