package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// Rate bounds what is written in a second; 0: no bound.
type Rate struct {
	Rows  int64
	Bytes int64 // of rows as batches hold them: 8 for a number, its length for a text, and some for each column
}

// Rates bounds the writing of users.
type Rates struct {
	Default Rate // of each user that Users does not name; of all clients together on a server without users
	Users   map[string]Rate
}

// of is the bound of a user.
func (r *Rates) of(user string) Rate {
	if own, ok := r.Users[user]; ok {
		return own
	}
	return r.Default
}

// burst is the time whose worth of a rate may be written at once after a pause.
const burst = 5 * time.Second

// RateError is the cause of RateLimited where a user or a table is written to faster than it may be. Nothing of the
// request is stored; it may come again after After.
type RateError struct{ After time.Duration }

func (e *RateError) Error() string { return fmt.Sprintf("too fast: try again in %s", e.After) }

// RetryAfter is how long a refused request should wait, in whole seconds, at least 1.
func (e *RateError) RetryAfter() int { return max(1, int(math.Ceil(e.After.Seconds()))) }

// rateBucket holds what may be written now. A write of any size passes while something is left, and what it takes too
// much is paid for by the time after it: so a body larger than a burst passes once, and none waits for ever.
type rateBucket struct {
	left float64
	at   time.Time
}

// fill lets time pass; a new bucket is full.
func (b *rateBucket) fill(rate int64, now time.Time) {
	most := float64(rate) * burst.Seconds()
	if b.at.IsZero() {
		b.left, b.at = most, now
		return
	}
	passed := max(0, now.Sub(b.at)) // the clock may have been put back
	b.left, b.at = min(most, b.left+passed.Seconds()*float64(rate)), now
}

// wait is the time until something is left.
func (b *rateBucket) wait(rate int64) time.Duration {
	if b.left > 0 {
		return 0
	}
	return time.Duration((1 - b.left) / float64(rate) * float64(time.Second))
}

// payer is who pays for a write: a user or a table, for rows or for bytes.
type payer struct {
	user  string
	table schema.TableID // 0: the user
	bytes bool
}

// toll holds writes to the rates of users and tables. Safe for concurrent use.
type toll struct {
	o       *Options
	closing <-chan struct{} // closed when the store closes

	mu      sync.Mutex // protects buckets
	buckets map[payer]*rateBucket
}

// mostBuckets is the number of buckets above which full ones are forgotten: they are as good as new.
const mostBuckets = 4096

// charge is what a write costs a payer.
type charge struct {
	payer
	of   *schema.Table // nil: the user
	key  string        // that sets the rate
	rate int64
	cost int64
}

// name names the rate and the payer.
func (f *charge) name() string {
	unit := "rows"
	if f.bytes {
		unit = "bytes"
	}
	whose := "of all clients"
	switch {
	case f.of != nil:
		whose = "of table " + f.of.Name.String()
	case f.user != "":
		whose = "of user " + f.user
	}
	return fmt.Sprintf("%s %s, %d %s a second,", f.key, whose, f.rate, unit)
}

type writerKey struct{}

// writerTicket is a request of a user. What has begun to be written is not refused any more, so that a request is
// stored as a whole or not at all. One goroutine at a time.
type writerTicket struct {
	user   string
	begun  bool
	stream bool // its later parts wait for their turn; else they only pay
}

// WithWriter names the user of a request, which pays for what it writes. A context that has a user keeps it.
func WithWriter(ctx context.Context, user string) context.Context {
	return withTicket(ctx, &writerTicket{user: user})
}

// WithStream is WithWriter for rows without end, such as those of COPY: once the first are written, the next ones wait
// until they may be.
func WithStream(ctx context.Context, user string) context.Context {
	return withTicket(ctx, &writerTicket{user: user, stream: true})
}

func withTicket(ctx context.Context, t *writerTicket) context.Context {
	if ctx.Value(writerKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, writerKey{}, t)
}

// pay takes what a write costs; RateLimited, caused by a RateError, where a bucket that pays is empty: then nothing is
// taken. What the server writes for itself costs nothing. A write that stores nothing gets back what was taken.
func (x *toll) pay(ctx context.Context, c *catalog, s *WriteSet) (*receipt, error) {
	return x.settle(ctx, func(ticket *writerTicket) []charge { return x.charges(ticket, c, s) })
}

// payKeys is pay for the keys of rows that are deleted: each takes a row of the log and of memory, as what is written.
func (x *toll) payKeys(ctx context.Context, of *schema.Table, keys *vector.Batch) (*receipt, error) {
	return x.settle(ctx, func(ticket *writerTicket) []charge {
		rows, bytes := int64(keys.N), int64(0)
		for _, c := range keys.Cols {
			bytes += c.Bytes64(keys.N)
		}
		list := appendCharges(nil, charge{payer: payer{table: of.ID}, of: of},
			Rate{of.Options.RowRate, of.Options.ByteRate}, rows, bytes, schema.RowRateOption, schema.ByteRateOption)
		return x.appendUser(list, ticket, rows, bytes)
	})
}

// receipt is what a write has paid.
type receipt struct {
	charges []charge
	ticket  *writerTicket // nil: the writer is no user
	begun   bool          // of the ticket, before
}

// refund gives back what a write has paid that stored nothing. r is nil where nothing was paid.
func (x *toll) refund(r *receipt) {
	if r == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range r.charges {
		if b := x.buckets[r.charges[i].payer]; b != nil { // else it was full, and is forgotten
			b.left = min(b.left+float64(r.charges[i].cost), float64(r.charges[i].rate)*burst.Seconds())
		}
	}
	if r.ticket != nil {
		r.ticket.begun = r.begun
	}
}

// settle takes what a request is charged, as pay does.
func (x *toll) settle(ctx context.Context, chargesOf func(*writerTicket) []charge) (*receipt, error) {
	if ctx.Value(serverKey{}) != nil {
		return nil, nil
	}
	ticket, _ := ctx.Value(writerKey{}).(*writerTicket) //nolint:errcheck // nil: the writer is no user
	paid := &receipt{charges: chargesOf(ticket), ticket: ticket, begun: ticket != nil && ticket.begun}
	if len(paid.charges) == 0 {
		return nil, nil
	}
	for {
		err := x.take(paid.charges, ticket != nil && ticket.begun && !ticket.stream)
		var rate *RateError
		if err == nil {
			if ticket != nil {
				ticket.begun = true
			}
			return paid, nil
		}
		if ticket == nil || !ticket.begun || !errors.As(err, &rate) {
			return nil, err
		}
		select {
		case <-time.After(rate.After):
		case <-x.closing:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, status.Wrap(ctx.Err(), status.DeadlineExceeded,
				"the request ended while its next rows waited: %v", err)
		}
	}
}

// ready is RateLimited where pay would refuse a write to the tables of series, by what was written before: then it
// makes no table for them.
func (x *toll) ready(ctx context.Context, c *catalog, names []SeriesName) error {
	if ctx.Value(serverKey{}) != nil {
		return nil
	}
	ticket, _ := ctx.Value(writerKey{}).(*writerTicket) //nolint:errcheck // nil: the writer is no user
	if ticket != nil && ticket.begun {
		return nil // the rest of the request only pays, or waits
	}
	list := x.appendUser(nil, ticket, 0, 0)
	var last *region
	for i := range names {
		r := c.storing(&names[i])
		if r == nil || r == last {
			continue
		}
		last = r
		t := r.snap.Load().schema
		list = appendCharges(list, charge{payer: payer{table: t.ID}, of: t},
			Rate{t.Options.RowRate, t.Options.ByteRate}, 0, 0, schema.RowRateOption, schema.ByteRateOption)
	}
	if len(list) == 0 {
		return nil
	}
	return x.take(list, false)
}

// storing is the region that stores a series, or will; nil: there is none yet.
func (c *catalog) storing(n *SeriesName) *region {
	p, ok := c.byName[n.Table]
	if !ok && n.Physical != "" {
		p = c.byName[schema.Name{DB: n.Table.DB, Table: n.Physical}]
	}
	return p.region
}

// take takes what a write costs from the buckets that pay, if none is empty; with debt, whatever they have.
func (x *toll) take(charges []charge, debt bool) error {
	now := x.o.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(now)
	for i := range charges {
		f := &charges[i]
		b := x.buckets[f.payer]
		if b == nil {
			b = new(rateBucket)
			x.buckets[f.payer] = b
		}
		b.fill(f.rate, now)
		if wait := b.wait(f.rate); wait > 0 && !debt {
			e := &RateError{wait}
			return status.Wrap(e, status.RateLimited, "%s is reached: nothing of this is stored, try again in %d s",
				f.name(), e.RetryAfter())
		}
	}
	for i := range charges {
		x.buckets[charges[i].payer].left -= float64(charges[i].cost)
	}
	return nil
}

// forget drops full buckets when there are many. The caller holds x.mu.
func (x *toll) forget(now time.Time) {
	if len(x.buckets) < mostBuckets {
		return
	}
	for p, b := range x.buckets {
		if now.Sub(b.at) > burst && b.left >= 0 {
			delete(x.buckets, p)
		}
	}
}

// sampleBytes is what a sample counts: a time and a value.
const sampleBytes = 16

// charges lists what a write costs its user and its tables, as far as they have rates.
func (x *toll) charges(ticket *writerTicket, c *catalog, s *WriteSet) (list []charge) {
	rows, bytes := int64(0), int64(0)
	add := func(t *schema.Table, r, b int64) {
		rows, bytes = rows+r, bytes+b
		if t != nil {
			list = appendCharges(list, charge{payer: payer{table: t.ID}, of: t},
				Rate{t.Options.RowRate, t.Options.ByteRate}, r, b, schema.RowRateOption, schema.ByteRateOption)
		}
	}
	for _, e := range s.entries {
		if e.builder.Rows() == 0 {
			continue
		}
		var t *schema.Table // nil: the write makes it
		if p, ok := c.byName[e.name]; ok {
			t = p.region.snap.Load().schema
		}
		add(t, int64(e.builder.Rows()), e.builder.Bytes())
	}
	for _, g := range s.samples {
		if g.Rows() > 0 {
			add(g.region.snap.Load().schema, int64(g.Rows()),
				int64(g.Rows())*sampleBytes+int64(len(g.histograms.Heap)))
		}
	}
	return x.appendUser(list, ticket, rows, bytes)
}

// appendUser appends the charges of the user of a request, if it has one.
func (x *toll) appendUser(list []charge, ticket *writerTicket, rows, bytes int64) []charge {
	if ticket == nil {
		return list
	}
	return appendCharges(list, charge{payer: payer{user: ticket.user}}, x.o.Rates.of(ticket.user), rows, bytes,
		"write_rate.rows", "write_rate.bytes")
}

// appendCharges appends the charges of a payer with a rate.
func appendCharges(list []charge, f charge, r Rate, rows, bytes int64, rowKey, byteKey string) []charge {
	if r.Rows > 0 {
		f.key, f.rate, f.cost = rowKey, r.Rows, rows
		list = append(list, f)
	}
	if r.Bytes > 0 {
		f.payer.bytes = true
		f.key, f.rate, f.cost = byteKey, r.Bytes, bytes
		list = append(list, f)
	}
	return list
}
