package admission

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// tick is the step of simulated time.
const tick = 50 * time.Millisecond

// world plays clients of an account through: it has the clock, and nobody else moves.
type world struct {
	*testing.T
	control *Control
	now     time.Duration
	random  *rand.Rand
	clients []*client
	most    [Classes]int64 // that classes held at a time
	ended   map[string]int // by name and how
	waited  map[string]time.Duration
}

// client wants memory: size bytes, step by step, then it keeps them for a while.
type client struct {
	world  *world
	name   string
	class  Class
	ticket Ticket
	size   int64
	step   int64
	keeps  time.Duration // from when it has all
	wait   time.Duration // how long it waits for a step
	stalls bool          // it never comes to an end by itself
	stream bool          // it is an answer whose query keeps memory: of
	extra  int64         // bytes that it takes once, without a turn, when it has all
	deaf   bool          // it tries again only when it is told

	of      *client
	since   time.Duration // when it began to wait, or has had all
	whole   bool
	gone    bool
	givenUp bool
	looked  time.Duration // when it last tried to grow
	told    bool          // it may be its turn
}

// look is how often one that waits looks whether it may grow though nobody told it.
const look = 5 * tick

func (c *client) Turn() { c.told = true }

func (c *client) Behind() time.Duration {
	if !c.stalls || c.gone {
		return 0
	}
	return c.world.now - c.since
}

func (c *client) GiveUp() { c.givenUp = true }

const mib = 1 << 20

// newWorld has the shares of a limit of 512 MiB.
func newWorld(t *testing.T, seed uint64) *world {
	limits := Limits{HeldBeside: 0}
	limits.Of = [Classes]int64{Body: 32 * mib, Answer: 32 * mib, Query: 256 * mib, Held: 128 * mib, Memtable: 64 * mib,
		Merge: 25 * mib}
	return &world{T: t, control: New(limits), random: rand.New(rand.NewPCG(seed, 1)), ended: map[string]int{},
		waited: map[string]time.Duration{}}
}

// add lets a client come.
func (w *world) add(network string, c client) *client {
	c.world, c.since = w, w.now
	var from netip.Addr
	if network != "" {
		from = netip.MustParseAddr(network)
	}
	added := &c
	w.control.Begin(&added.ticket, c.class, from, added)
	w.clients = append(w.clients, added)
	if c.stream {
		added.ticket.Stream()
	}
	return added
}

// play lets time pass, in which every client does what it can, in an order by chance.
func (w *world) play(d time.Duration) {
	for end := w.now + d; w.now < end; w.now += tick {
		w.random.Shuffle(len(w.clients), func(i, j int) { w.clients[i], w.clients[j] = w.clients[j], w.clients[i] })
		for _, c := range w.clients {
			c.move()
		}
		w.clients = slices.DeleteFunc(w.clients, func(c *client) bool { return c.gone })
		w.check()
	}
}

// move is what a client does in a tick.
func (c *client) move() {
	switch {
	case c.gone:
	case c.givenUp:
		c.end("given up")
	case c.whole:
		if c.extra > 0 && c.ticket.Take(c.extra) {
			c.extra = 0
		}
		if !c.stalls && c.world.now-c.since >= c.keeps {
			c.end("done")
		}
	case c.ticket.Bytes() >= c.size:
		c.whole, c.since = true, c.world.now
	case c.ticket.waits != nil && !c.told && (c.deaf || c.world.now-c.looked < look) && c.world.now-c.since <= c.wait:
	case c.ticket.Grow(min(c.step, c.size-c.ticket.Bytes())):
		c.waits()
		c.since = c.world.now
	case c.world.now-c.since > c.wait:
		c.end("refused")
	default:
		c.waits()
		c.looked, c.told = c.world.now, false
		if c.class == Query {
			if n := c.ticket.Queue(); n > 0 {
				c.world.control.GiveWay(n)
			}
		} else {
			c.world.control.Relieve(&c.ticket, c.step)
		}
	}
}

func (c *client) waits() {
	c.world.waited[c.name] = max(c.world.waited[c.name], c.world.now-c.since)
}

func (c *client) end(how string) {
	c.gone = true
	c.ticket.Release()
	c.world.ended[c.name+" "+how]++
	if c.of != nil && !c.of.gone {
		c.of.end(how)
	}
}

// check looks whether the account is right, and keeps what classes held at most.
func (w *world) check() {
	w.Helper()
	var used [Classes]int64
	var waiting [Classes]int
	for _, c := range w.clients {
		used[c.class] += c.ticket.bytes
		if c.ticket.waits != nil {
			waiting[c.class]++
		}
	}
	for of := range Classes {
		if got := w.control.Bytes(of); got != used[of] || w.control.Waiting(of) != waiting[of] {
			w.Fatalf("%v: class %d holds %d bytes, its tickets %d; %d wait, %d of them", w.now, of, got, used[of],
				w.control.Waiting(of), waiting[of])
		}
		w.most[of] = max(w.most[of], used[of])
	}
}

// empty checks that nothing is left of an account when all are gone.
func (w *world) empty() {
	w.Helper()
	for _, c := range w.clients {
		c.end("left")
	}
	w.clients = nil
	w.check()
	for of := range w.control.classes {
		if k := &w.control.classes[of]; len(k.networks) > 0 || k.tickets.Len() > 0 || k.awaiting > 0 {
			w.Errorf("class %d: %d networks and %d tickets are left", of, len(k.networks), k.tickets.Len())
		}
	}
	if len(w.control.streams) > 0 || w.control.Heap() != 0 {
		w.Errorf("%d streams are left, the heap may grow by %d", len(w.control.streams), w.control.Heap())
	}
}

// each runs a scenario in worlds of several seeds.
func each(t *testing.T, play func(w *world)) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			play(w)
			w.empty()
		})
	}
}

// TestCrowdOfBodies: many bodies that are half of the share each are never more than the share and the oldest, all come
// to an end, and none waits much longer than those before it take.
func TestCrowdOfBodies(t *testing.T) {
	each(t, func(w *world) {
		for range 24 {
			w.add("", client{name: "body", class: Body, size: 16 * mib, step: mib, keeps: 200 * time.Millisecond,
				wait: time.Minute})
		}
		w.play(time.Minute)
		if w.ended["body done"] != 24 || w.most[Body] > (32+16)*mib {
			w.Errorf("ended are %v, bodies held %d MiB", w.ended, w.most[Body]/mib)
		}
	})
}

// TestGiantBody: one body that is twice the share grows when it is the oldest, and holds others up no longer than it
// takes itself.
func TestGiantBody(t *testing.T) {
	each(t, func(w *world) {
		w.add("", client{name: "giant", class: Body, size: 64 * mib, step: mib, keeps: time.Second, wait: time.Minute})
		for range 20 {
			w.add("", client{name: "small", class: Body, size: mib / 4, step: mib / 4, wait: 10 * time.Second})
		}
		w.play(time.Minute)
		if w.ended["giant done"] != 1 || w.ended["small done"] != 20 || w.waited["small"] > 6*time.Second ||
			w.most[Body] > 96*mib {
			w.Errorf("ended are %v, they waited %v, bodies held %d MiB", w.ended, w.waited, w.most[Body]/mib)
		}
	})
}

// TestSlowSenders: senders that stand still and hold all the room are left alone while nobody waits, and give way to
// others within a second or two.
func TestSlowSenders(t *testing.T) {
	each(t, func(w *world) {
		for range 32 {
			w.add("", client{name: "slow", class: Body, size: mib, step: mib, stalls: true, wait: time.Minute})
		}
		w.play(30 * time.Second)
		if len(w.ended) > 0 {
			w.Fatalf("%v although nobody waits", w.ended)
		}
		for range 40 {
			w.add("", client{name: "quick", class: Body, size: mib, step: mib, keeps: tick, wait: 5 * time.Second})
		}
		w.play(20 * time.Second)
		if w.ended["quick done"] != 40 || w.ended["slow given up"] == 0 || w.waited["quick"] > 4*time.Second {
			w.Errorf("ended are %v, they waited %v", w.ended, w.waited)
		}
	})
}

// TestSlowReaders: 200 clients that do not read the answers that queries make hold no query up for long, and where a
// crowd of them waits as well, others still get through.
func TestSlowReaders(t *testing.T) {
	each(t, func(w *world) {
		for range 200 {
			q := w.add("192.0.2.1", client{name: "query of a slow reader", class: Query, size: 8 * mib, step: 8 * mib,
				stalls: true, wait: 10 * time.Second})
			w.add("192.0.2.1", client{name: "slow reader", class: Answer, stalls: true, stream: true, of: q})
		}
		w.play(2 * time.Second)
		for range 10 {
			w.add("192.0.2.2", client{name: "small", class: Query, size: 8 * mib, step: 8 * mib,
				keeps: 100 * time.Millisecond, wait: 10 * time.Second})
			w.play(time.Second)
		}
		w.play(5 * time.Second)
		if w.ended["small done"] != 10 || w.waited["small"] > 2*time.Second || w.most[Query] > 256*mib {
			w.Errorf("ended are %v, they waited %v, queries held %d MiB", w.ended, w.waited, w.most[Query]/mib)
		}
	})
}

// TestCrowdOfQueries: a network with hundreds of queries keeps that with one query out no longer than one of its own
// takes, and where a crowd takes longer than queries wait, some of it are still the first.
func TestCrowdOfQueries(t *testing.T) {
	each(t, func(w *world) {
		query := client{name: "many", class: Query, size: 8 * mib, step: 8 * mib, keeps: time.Second,
			wait: 10 * time.Second}
		for range 400 {
			w.add("192.0.2.1", query)
		}
		w.play(5 * time.Second)
		query.name = "few"
		w.add("192.0.2.2", query)
		w.play(30 * time.Second)
		if w.ended["few done"] != 1 || w.waited["few"] > 2*time.Second {
			w.Errorf("ended are %v, they waited %v", w.ended, w.waited)
		}
		if done := w.ended["many done"]; done < 250 || done+w.ended["many refused"] != 400 {
			w.Errorf("ended are %v", w.ended)
		}
	})
}

// TestNobodyIsForgotten: bodies and queries of several networks that try again only when they are told all come to an
// end, while some leave the queue, and others take bytes without a turn.
func TestNobodyIsForgotten(t *testing.T) {
	each(t, func(w *world) {
		const each = 60
		for i := range each {
			network := fmt.Sprint("192.0.2.", i%3)
			between := func(lo, hi int64) int64 { return (lo + w.random.Int64N(hi-lo)) * mib }
			keeps := time.Duration(w.random.Int64N(int64(time.Second)))
			w.add(network, client{name: "body", class: Body, size: between(1, 48), step: 3 * mib, keeps: keeps,
				wait: time.Hour, deaf: true})
			w.add(network, client{name: "query", class: Query, size: between(1, 48), step: 48 * mib, keeps: keeps,
				extra: between(1, 100), wait: time.Hour, deaf: true})
			w.add(network, client{name: "hasty", class: Class(i % 2 * int(Query)), size: between(1, 32), step: 32 * mib,
				wait: time.Second, deaf: true})
			w.play(time.Duration(w.random.Int64N(int64(time.Second))))
		}
		w.play(10 * time.Minute)
		if w.ended["body done"] != each || w.ended["query done"] != each || w.ended["hasty refused"] == 0 {
			w.Errorf("ended are %v", w.ended)
		}
	})
}

// TestOldestIsTold: the oldest body goes on whatever its size, and whatever its network holds: it is told when it
// becomes the oldest.
func TestOldestIsTold(t *testing.T) {
	c := New(Limits{Of: [Classes]int64{Body: 100}})
	var first, held, other Ticket
	var turns, others turnHolder
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	c.Begin(&first, Body, a, nil)
	c.Begin(&held, Body, a, &turns)
	c.Begin(&other, Body, b, &others)
	if !first.Grow(50) || !held.Grow(50) || held.Grow(100) || other.Grow(100) {
		t.Fatal("there is room, or was none")
	}
	turns, others = 0, 0
	if first.Release(); turns == 0 || others == 0 || other.Grow(100) || !held.Grow(100) {
		t.Errorf("the oldest was told %d times, the next %d times, or the oldest had no room", turns, others)
	}
}

// TestNextIsTold: a ticket that is told when it is no longer the next passes the word on.
func TestNextIsTold(t *testing.T) {
	c := New(Limits{Of: [Classes]int64{Query: 100}})
	var full, works, told, other Ticket
	var turns, others turnHolder
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	c.Begin(&full, Query, netip.Addr{}, nil)
	c.Begin(&works, Query, a, nil)
	c.Begin(&told, Query, a, &turns)
	c.Begin(&other, Query, b, &others)
	if !full.Grow(100) || told.Grow(10) || other.Grow(10) {
		t.Fatal("there is room, or was none")
	}
	turns, others = 0, 0
	if full.Give(50); turns == 0 || others != 0 {
		t.Fatalf("the older was told %d times, the other %d times", turns, others)
	}
	if !works.Take(1) || told.Grow(10) || others == 0 || !other.Grow(10) {
		t.Errorf("the other, whose network holds less, was told %d times, or had no room", others)
	}
}

// TestGiantQuery: a query at work takes what is free before those that wait to begin, and while it awaits what others
// give back, none begins.
func TestGiantQuery(t *testing.T) {
	w := newWorld(t, 1)
	var giant, other, next Ticket
	w.control.Begin(&giant, Query, netip.Addr{}, nil)
	w.control.Begin(&other, Query, netip.Addr{}, nil)
	w.control.Begin(&next, Query, netip.Addr{}, nil)
	if !giant.Grow(8*mib) || !giant.Take(192*mib) || !other.Grow(56*mib) || giant.Take(1) || next.Grow(8*mib) {
		t.Fatal("the pool is not full, or had no room")
	}
	giant.Await(true)
	if other.Give(56 * mib); next.Grow(8 * mib) {
		t.Error("one began while the giant awaited what others give back")
	}
	if !giant.Take(40 * mib) {
		t.Error("the giant did not have what was given back")
	}
	if giant.Await(false); !next.Grow(8 * mib) {
		t.Error("there is room, and one that waits does not begin")
	}
	if got := w.control.Heap(); got != 2*(240+8)*mib {
		t.Errorf("the heap may grow by %d MiB", got/mib)
	}
	giant.Release()
	other.Release()
	next.Release()
	w.empty()
}

// TestOthersTakeFrom: what the store holds for queries, and the keys of series, take from queries and memtables what
// they are beyond their own room.
func TestOthersTakeFrom(t *testing.T) {
	limits := Limits{HeldBeside: 10, SeriesBeside: 20}
	limits.Of[Query], limits.Of[Memtable] = 100, 100
	c := New(limits)
	for _, of := range [...]struct {
		class, from Class
		beside      int64
	}{{Held, Query, 10}, {Series, Memtable, 20}} {
		if c.Add(of.class, of.beside); c.Load(of.from) != 0 {
			t.Errorf("class %d: its own room counts %d", of.class, c.Load(of.from))
		}
		if c.Add(of.class, 99); c.Load(of.from) != 99 || c.Full(of.from) {
			t.Errorf("class %d: 99 beyond its own room count %d", of.class, c.Load(of.from))
		}
		if c.Add(of.class, 1); !c.Full(of.from) || c.Over(of.from) {
			t.Errorf("class %d: 100 beyond its own room do not fill %d", of.class, of.from)
		}
		var turns turnHolder
		var w Ticket
		c.Begin(&w, of.from, netip.Addr{}, &turns)
		if w.Grow(0) {
			t.Errorf("class %d: one has room in %d", of.class, of.from)
		}
		if c.Add(of.class, -of.beside-100); turns != 1 || !w.Grow(0) || w.place != nil {
			t.Errorf("class %d: one that waited was told %d times, or had no room", of.class, turns)
		}
	}
}

// turnHolder counts how often it was its turn.
type turnHolder int

func (h *turnHolder) Turn()                 { *h++ }
func (h *turnHolder) Behind() time.Duration { return 0 }
func (h *turnHolder) GiveUp()               {}
