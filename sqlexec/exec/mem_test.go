package exec

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/status"
)

// TestPoolHolds: what the store keeps for queries takes from what they may keep, but for what its own limit gives it
// beyond half of that, and past its limit no query begins.
func TestPoolHolds(t *testing.T) {
	pool := func(held int64) *Pool {
		var limits admission.Limits
		limits.Of[admission.Query], limits.Of[admission.Held], limits.HeldBeside = 100, held, held-50
		return PoolOf(ledger.New(limits, nil))
	}
	p := pool(50)
	hold := func(bytes int64) { p.memory.Add(admission.Held, bytes) }
	hold(50)
	b := p.Budget(context.Background())
	defer b.Close()
	refused := func(err error, why string) bool {
		return status.Of(err) == status.RuntimeResourcesExhausted && strings.Contains(err.Error(), why)
	}
	if err := b.Admit(); err != nil {
		t.Errorf("half of the pool is held: %v", err)
	}
	if err := b.Reserve(51); !refused(err, "the query needs") {
		t.Errorf("more than is left: %v", err)
	}
	if err := b.Reserve(50); err != nil || p.Used()+p.Held() != 100 {
		t.Errorf("what is left, %d bytes are taken: %v", p.Used()+p.Held(), err)
	}
	hold(10)
	if err := b.Admit(); !refused(err, "on disk by now") {
		t.Errorf("more than half of the pool is held: %v", err)
	}
	if err := b.Reserve(1); !refused(err, "others") {
		t.Errorf("nothing is left: %v", err)
	}
	p = pool(110) // 60 beyond half of the pool
	hold(60)
	b = p.Budget(context.Background())
	if err := b.Admit(); err != nil {
		t.Errorf("so much may be held: %v", err)
	}
	if err := b.Reserve(100); err != nil {
		t.Errorf("the pool is the queries' own: %v", err)
	}
	if err := b.Reserve(1); !refused(err, "others") {
		t.Errorf("more than the pool has: %v", err)
	}
	b.Release(100)
	hold(-60)
	if p.Used()+p.Held() != 0 {
		t.Errorf("nothing is held any more, %d bytes are taken", p.Used()+p.Held())
	}
}

func TestPoolIsShared(t *testing.T) {
	var told int64
	p := PoolOf(ledger.Single(admission.Query, 100, func(bytes int64) { told = bytes }))
	a, b := p.Budget(context.Background()), p.Budget(context.Background())
	if err := a.Reserve(60); err != nil {
		t.Fatal(err)
	}
	if err := b.Reserve(40); err != nil {
		t.Fatal(err)
	}
	if told != 100 || p.Used() != 100 {
		t.Errorf("%d bytes taken, told %d", p.Used(), told)
	}
	err := b.Reserve(1)
	if status.Of(err) != status.RuntimeResourcesExhausted || !strings.Contains(err.Error(), "others") {
		t.Errorf("more than the pool has, most of it with others: %v", err)
	}
	if err := a.Reserve(1); status.Of(err) != status.RuntimeResourcesExhausted ||
		!strings.Contains(err.Error(), "the query needs") {
		t.Errorf("more than the pool has: %v", err)
	}
	a.Close()
	a.Close()
	if p.Used() != 40 || told != 40 || a.Used() != 0 {
		t.Errorf("%d bytes taken after a query ended, told %d", p.Used(), told)
	}
	if err := b.Reserve(60); err != nil {
		t.Errorf("what another query gave back: %v", err)
	}
	b.Close()
	if p.Used() != 0 {
		t.Errorf("%d bytes left over", p.Used())
	}
}

// reader is a client that reads an answer while its query makes it, and how long it is behind.
type reader struct {
	behind time.Duration
	ticket ledger.Ticket
	given  atomic.Int64
}

func (r *reader) Behind() time.Duration { return r.behind }
func (r *reader) GiveUp()               { r.given.Add(1) }

// newReader is a reader of an answer on a server with a pool of 64 MiB.
func newReader(behind time.Duration) (*reader, *Pool) {
	var limits admission.Limits
	limits.Of[admission.Query], limits.Of[admission.Answer] = 64<<20, 1<<20
	memory, r := ledger.New(limits, nil), &reader{behind: behind}
	memory.Begin(&r.ticket, admission.Answer, netip.Addr{}, r)
	r.ticket.Stream()
	return r, PoolOf(memory)
}

// TestQueriesAtOnce: a pool bounds how many queries read tables at a time, small as they are. Others wait for a while,
// until one of these ends or they do.
func TestQueriesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(64 << 20)
		var all []*Budget
		for range queryShare {
			b := p.Budget(context.Background())
			for range 2 { // the second scan of a query takes nothing
				if err := b.Begin(); err != nil {
					t.Fatal(err)
				}
			}
			all = append(all, b)
		}
		begin := func(ctx context.Context) (*Budget, chan error) {
			b, done := p.Budget(ctx), make(chan error, 1)
			go func() { done <- b.Begin() }()
			synctest.Wait()
			return b, done
		}
		late, done := begin(context.Background())
		if n := p.Waiting(); n != 1 {
			t.Errorf("%d queries wait, want 1", n)
		}
		if err := <-done; status.Of(err) != status.RuntimeResourcesExhausted ||
			!strings.Contains(err.Error(), "try again later") {
			t.Errorf("nobody ends: %v", err)
		}
		late.Close()
		ctx, cancel := context.WithCancel(context.Background())
		gone, done := begin(ctx)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends itself: %v", err)
		}
		gone.Close()
		next, done := begin(context.Background())
		all[0].Close()
		if err := <-done; err != nil {
			t.Errorf("another ends: %v", err)
		}
		for _, b := range append(all[1:], next) {
			b.Close()
		}
		if p.Used() != 0 {
			t.Errorf("%d bytes are left", p.Used())
		}
	})
}

// TestQueriesTakeTurns: of the queries that wait, one of the client that holds least is next, of those the
// oldest and the newest by turns; a slow reader of an answer gives way when they have waited a little.
func TestQueriesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, p := newReader(admission.CrowdGrace + 1)
		many, few := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		query := func(of netip.Addr) *Budget {
			b := p.Budget(t.Context())
			b.For(of)
			return b
		}
		var begun []string
		running := map[string]*Budget{}
		begin := func(name string, of netip.Addr) {
			b := query(of)
			go func() {
				if err := b.Begin(); err != nil {
					t.Error(name, err)
				}
				begun = append(begun, name)
				running[name] = b
			}()
			synctest.Wait()
		}
		var first []*Budget
		for range queryShare {
			b := query(many)
			if err := b.Begin(); err != nil {
				t.Fatal(err)
			}
			first = append(first, b)
		}
		for _, name := range []string{"a", "b", "c", "d"} {
			begin(name, many)
		}
		begin("other", few)
		begin("another", few)
		<-time.After(queryLook - time.Millisecond)
		synctest.Wait()
		if slow.given.Load() != 0 {
			t.Error("a reader that is a little slow gave way at once")
		}
		<-time.After(time.Millisecond)
		synctest.Wait()
		if n := slow.given.Load(); n != 1 {
			t.Errorf("a reader that is a little slow gave way to a crowd %d times", n)
		}
		for i := range 6 {
			first[i].Close()
			synctest.Wait()
		}
		if want := []string{"other", "another", "a", "d", "b", "c"}; !slices.Equal(begun, want) {
			t.Errorf("begun are %v, want %v", begun, want)
		}
		for _, b := range first[6:] {
			b.Close()
		}
		for _, b := range running {
			b.Close()
		}
		if p.Used() != 0 || p.Waiting() != 0 {
			t.Errorf("%d bytes are left, %d wait", p.Used(), p.Waiting())
		}
	})
}

// TestQueriesWaitForThoseThatGiveWay: a query at work gets memory that others keep who give way, and fails at once
// where nobody does.
func TestQueriesWaitForThoseThatGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gives, p := newReader(time.Minute)
		slow, b := p.Budget(t.Context()), p.Budget(t.Context())
		if err := slow.Reserve(60 << 20); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		time.AfterFunc(time.Second, slow.Close)
		if err := b.Reserve(10 << 20); err != nil || time.Since(start) < time.Second {
			t.Errorf("the other gives way after a second: %v after %v", err, time.Since(start))
		}
		if err := slow.Reserve(54 << 20); err != nil {
			t.Fatal(err)
		}
		start = time.Now()
		if err := b.Reserve(10 << 20); status.Of(err) != status.RuntimeResourcesExhausted ||
			time.Since(start) > giveWayTime+time.Second {
			t.Errorf("the other does not go: %v after %v", err, time.Since(start))
		}
		gives.ticket.Release()
		start = time.Now()
		if err := b.Reserve(10 << 20); status.Of(err) != status.RuntimeResourcesExhausted ||
			time.Since(start) != giveWayTime {
			t.Errorf("nobody gives way as far as is known: %v after %v", err, time.Since(start))
		}
		start = time.Now()
		if err := b.Reserve(10 << 20); status.Of(err) != status.RuntimeResourcesExhausted || time.Since(start) > 0 {
			t.Errorf("nobody gives way, for the second time: %v after %v", err, time.Since(start))
		}
		slow.Close()
		b.Close()
	})
}

// TestWhatIsGivenIsForQueriesAtWork: what somebody gives back for a query at work is not taken by one that waits to
// begin.
func TestWhatIsGivenIsForQueriesAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := newReader(time.Minute)
		slow, slower, b, next := p.Budget(t.Context()), p.Budget(t.Context()), p.Budget(t.Context()),
			p.Budget(t.Context())
		if err := errors.Join(slow.Reserve(28<<20), slower.Reserve(36<<20)); err != nil {
			t.Fatal(err)
		}
		var order []string
		go func() {
			if err := next.Begin(); err != nil {
				t.Error("the one that begins:", err)
			}
			order = append(order, "next")
		}()
		synctest.Wait()
		go func() {
			if err := b.Reserve(63 << 20); err != nil { // beside it there is no room to begin
				t.Error("the one at work:", err)
			}
			order = append(order, "at work")
			b.Release(63 << 20)
		}()
		time.AfterFunc(time.Second, slow.Close)
		time.AfterFunc(2*time.Second, slower.Close)
		<-time.After(3 * time.Second)
		synctest.Wait()
		if !slices.Equal(order, []string{"at work", "next"}) {
			t.Errorf("room had, in turn, %v", order)
		}
		b.Close()
		next.Close()
	})
}
