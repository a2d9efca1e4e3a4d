package exec

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// DefaultMemory is the default memory of all queries together.
const DefaultMemory = 1 << 30

// Pool is the memory that all queries share. Safe for concurrent use.
type Pool struct {
	memory    *ledger.Ledger
	limit     int64
	heldLimit int64 // what the store may keep for queries when another begins
	idle      atomic.Int64
}

// NewPool makes a pool of its own of limit bytes; 0 is DefaultMemory.
func NewPool(limit int64) *Pool {
	if limit <= 0 {
		limit = DefaultMemory
	}
	var limits admission.Limits
	limits.Of[admission.Query], limits.Of[admission.Held] = limit, limit/2
	return PoolOf(ledger.New(limits, nil))
}

// PoolOf makes a pool that takes its bytes from an account. If the account also counts answers, those with slow readers
// give way to queries that wait.
func PoolOf(memory *ledger.Ledger) *Pool {
	return &Pool{memory: memory, limit: memory.Limit(admission.Query), heldLimit: memory.Limit(admission.Held)}
}

// Used is the number of bytes taken by running queries.
func (p *Pool) Used() int64 { return p.memory.Bytes(admission.Query) }

// Held is the number of bytes that the store keeps for running queries.
func (p *Pool) Held() int64 { return p.memory.Bytes(admission.Held) }

// Waiting is the number of queries that wait for memory before they begin.
func (p *Pool) Waiting() int64 { return int64(p.memory.Waiting(admission.Query)) }

// Budget counts the bytes that the sinks of one query keep, and knows whether the query still runs. Safe for concurrent
// use. The nil budget has no limit.
type Budget struct {
	ctx    context.Context
	pool   *Pool
	disk   *spill.Space // nil: what does not fit is an error
	ticket ledger.Ticket
	used   atomic.Int64
	peak   atomic.Int64
	begun  atomic.Bool
	joined struct{ bytes, files atomic.Int64 } // written by joins
	waited atomic.Int64                        // ns, for others that perhaps never give way
	idle   *Allowance                          // see Allowance.Idle; nil: it is a query's
}

// Allowance is what one client keeps while it runs nothing. Safe for concurrent use. The nil one has no limit.
type Allowance struct {
	pool *Pool
	used atomic.Int64
}

// Allowance begins that of a client. All together have at most half of the pool, one of them three quarters of
// that: no client takes everything.
func (p *Pool) Allowance() *Allowance { return &Allowance{pool: p} }

// Idle makes a budget of what the client keeps while it runs nothing, such as values of parameters. Nobody knows when
// it gives them back.
func (s *Allowance) Idle(ctx context.Context) *Budget {
	if s == nil {
		return nil
	}
	b := s.pool.Budget(ctx)
	b.idle = s
	return b
}

// take counts bytes more of the client.
func (s *Allowance) take(bytes int64) error {
	all := s.pool.limit / 2
	if one := all / 4 * 3; s.used.Add(bytes) > one {
		s.used.Add(-bytes)
		return status.New(status.RuntimeResourcesExhausted,
			"a client that runs nothing may keep %d MiB of memory: close statements and portals, or send less", one>>20)
	}
	if s.pool.idle.Add(bytes) > all {
		s.give(bytes)
		return status.New(status.RuntimeResourcesExhausted,
			"clients that run nothing may keep %d MiB of memory together: close statements and portals, or send less",
			all>>20)
	}
	return nil
}

func (s *Allowance) give(bytes int64) {
	s.used.Add(-bytes)
	s.pool.idle.Add(-bytes)
}

// Budget makes the budget of a query that draws from the pool until it is closed. The query ends with the context.
func (p *Pool) Budget(ctx context.Context) *Budget {
	b := &Budget{ctx: ctx, pool: p}
	b.For(netip.Addr{})
	return b
}

// For says whose query it is, before it takes anything: the network of the client.
func (b *Budget) For(client netip.Addr) { b.pool.memory.Begin(&b.ticket, admission.Query, client, nil) }

// NewBudget makes a budget of its own; limit 0 is DefaultMemory.
func NewBudget(limit int64) *Budget { return NewPool(limit).Budget(context.Background()) }

// Err returns the context's error once the query has ended. Loops whose length a batch does not bound call it every few
// thousand rows.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	return b.ctx.Err()
}

// context is what the query ends with.
func (b *Budget) context() context.Context {
	if b == nil {
		return context.Background()
	}
	return b.ctx
}

// SpillTo lets the query put rows into files when they do not fit. The budget closes the space.
func (b *Budget) SpillTo(s *spill.Space) { b.disk = s }

// space is where rows go that do not fit; nil: nowhere.
func (b *Budget) space() *spill.Space {
	if b == nil {
		return nil
	}
	return b.disk
}

// spilled is the number of bytes and files that the query has written, without those of joins, which count for
// themselves: they write while sinks above them work.
func (b *Budget) spilled() (bytes, files int64) {
	if s := b.space(); s != nil {
		bytes, files = s.Written()
		return bytes - b.joined.bytes.Load(), files - b.joined.files.Load()
	}
	return 0, 0
}

// Release returns bytes that were reserved.
func (b *Budget) Release(bytes int64) {
	if b != nil {
		b.used.Add(-bytes)
		b.ticket.Give(bytes)
		b.giveIdle(bytes)
	}
}

// Reserve takes bytes; RuntimeResourcesExhausted when they are not there.
func (b *Budget) Reserve(bytes int64) error {
	if b == nil {
		return nil
	}
	if b.idle != nil {
		if err := b.idle.take(bytes); err != nil {
			return err
		}
	}
	if !b.ticket.Take(bytes) && !b.await(bytes) {
		b.giveIdle(bytes)
		return b.exceeded()
	}
	b.count(bytes)
	return nil
}

// giveIdle returns bytes to what idle clients may keep.
func (b *Budget) giveIdle(bytes int64) {
	if b.idle != nil {
		b.idle.give(bytes)
	}
}

// await takes bytes when others give them back. It waits for queries that are about to give way, and once in a query
// for those that may still do. Where somebody gives way no query begins meanwhile: it would take what was given.
func (b *Budget) await(bytes int64) bool {
	if b.pool.memory.Limit(admission.Answer) == 0 {
		return false // nobody gives way here
	}
	defer b.ticket.Await(false)
	for start := time.Now(); b.others() > b.pool.limit/2 && time.Since(start) < giveWayTime; {
		if b.pool.memory.GiveWay(1) > 0 {
			b.ticket.Await(true)
		} else if b.waited.Add(int64(giveWayLook)) > int64(giveWayTime) {
			return false
		}
		select {
		case <-time.After(giveWayLook):
		case <-b.ctx.Done():
			return false
		}
		if b.ticket.Take(bytes) {
			return true
		}
	}
	return b.ticket.Take(bytes) // others may have gone since the last look
}

// others is what the pool has given to other queries.
func (b *Budget) others() int64 { return b.pool.Used() + b.pool.Held() - b.Used() }

// count notes bytes that were taken from the pool.
func (b *Budget) count(bytes int64) {
	for used, peak := b.used.Add(bytes), b.peak.Load(); used > peak &&
		!b.peak.CompareAndSwap(peak, used); peak = b.peak.Load() {
	}
}

// exceeded is the error for bytes that are not there.
func (b *Budget) exceeded() error {
	if others := b.others(); others > b.pool.limit/2 {
		return status.New(status.RuntimeResourcesExhausted,
			"queries may keep %d MiB of memory together, and others that are running keep %d MiB: try again later",
			b.pool.limit>>20, others>>20)
	}
	return status.New(status.RuntimeResourcesExhausted,
		"the query needs more than %d MiB of memory; narrow its time range, select fewer columns or use LIMIT",
		b.pool.limit>>20)
}

// Admit refuses a query that opens a table while the store keeps much for others: it may need little itself and yet
// make the store keep more.
func (b *Budget) Admit() error {
	if b == nil {
		return nil
	}
	if held := b.pool.Held(); held > b.pool.heldLimit {
		return status.New(status.RuntimeResourcesExhausted,
			"queries that are running keep %d MiB of rows in memory that are on disk by now, at most %d MiB may be "+
				"kept when one begins: try again later", held>>20, b.pool.heldLimit>>20)
	}
	return nil
}

// Left is how many bytes the query may still take.
func (b *Budget) Left() int64 {
	if b == nil {
		return DefaultMemory
	}
	return max(0, b.pool.limit-b.pool.Used()-b.pool.Held())
}

// Memory is the budget for what expressions make; nil of no budget.
func (b *Budget) Memory() expr.Memory {
	if b == nil {
		return nil
	}
	return b
}

// Close returns everything and removes the files. The query keeps nothing any more.
func (b *Budget) Close() {
	if b == nil {
		return
	}
	b.giveIdle(b.used.Swap(0))
	b.ticket.Release()
	if b.disk != nil {
		b.disk.Close()
	}
}

// Peak is the largest number of bytes that were taken at a time.
func (b *Budget) Peak() int64 {
	if b == nil {
		return 0
	}
	return b.peak.Load()
}

// Used is the number of bytes taken.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// BatchBytes is about the memory of a copy of a batch.
func BatchBytes(b *vector.Batch) int64 {
	var n int64
	for _, c := range b.Cols {
		n += vectorBytes(c, b.N)
	}
	return n
}

// roomBytes is the memory of a batch of Flat columns of its own, with the room that they have grown to.
func roomBytes(b *vector.Batch) (bytes int64) {
	for _, c := range b.Cols {
		bytes += int64(8*(cap(c.Bools)+cap(c.Valid)+cap(c.Ints)+cap(c.Uints)+cap(c.Floats)+cap(c.Views)) + cap(c.Heap))
	}
	return bytes
}

// vectorBytes is about the memory of a Flat copy of n rows of a vector.
func vectorBytes(v *vector.Vector, n int) int64 {
	if v.Type.Kind() != vector.Bytes {
		if v.Valid == nil {
			return int64(n) * 8
		}
		return int64(n)*8 + int64(n)/8
	}
	switch v.Form { // rows of equal value share their bytes, see Append
	case vector.Const:
		return int64(n)*8 + int64(len(v.Bytes(0)))
	case vector.Dict:
		return int64(n)*8 + dictionaryBytes(v, n)
	}
	return int64(n)*8 + lengths(v.Views[:n])
}

// dictionaryBytes is what the texts of n rows of a dictionary take where equal rows share theirs. A dictionary that is
// small beside the rows counts as a whole: looking at each code takes half as long as numbering it (DISTINCT of a
// column 1.45 times as long in all).
func dictionaryBytes(v *vector.Vector, n int) int64 {
	all := int64(len(v.Values.Heap))
	if all <= int64(n)*8 {
		return all
	}
	return min(all, codedBytes(v, n))
}

// codedBytes is the sum of the lengths of n rows of a dictionary.
func codedBytes(v *vector.Vector, n int) (bytes int64) {
	if len(v.Values.Views) == 0 {
		return 0
	}
	for _, c := range v.Codes[:n] {
		bytes += int64(v.Values.Views[c].Len)
	}
	return bytes
}
