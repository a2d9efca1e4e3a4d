// Package admission gives out the memory of the process: it decides which work gets some now, and which work waits.
//
// A body, answer, query, write or merge that wants memory has a Ticket of a Class. Every class has a share of the
// memory limit (Limits) and one queue. A ticket goes through these states:
//
//	            Grow: yes
//	  +--------------------------------+
//	  |                                v
//	begun --Grow: no--> waits --Grow--> holds --Release--> gone
//	                      |  ^            |
//	                Yield |  | Grow: no   | Grow, Give
//	                      v  |            v
//	                    begun            holds more, holds less
//
// The next ticket of a queue is one of the network that holds least of the class, of its tickets the oldest. A ticket
// whose client is slow is given up while others of its class wait (Relieve). A query at work holds rows and cannot wait
// in the queue: it takes bytes that are free (Take). A query whose answer is read while it is made keeps its memory
// until the end; the ticket of such an answer (Stream) is given up if its reader is slow while queries wait (GiveWay).
//
// The bytes of all tickets, weighted by class, make one total (Control.Heap): how far the collector may let the heap
// grow.
//
// The package has no clock, no lock and no goroutine. The owner of a Control has them: it calls with its lock held,
// waits when Grow says no, and tries again when the Control calls Holder.Turn. So a test plays crowds, slow readers and
// giants through in no time. Package ledger is the owner in the server.
package admission

import (
	"cmp"
	"container/list"
	"math"
	"net/netip"
	"slices"
	"time"
)

// Class is the use of memory.
type Class uint8

// The classes.
const (
	Body     Class = iota // bodies of requests, or the rows made of them
	Answer                // answers that clients have not read yet
	Query                 // rows and tables of running queries
	Held                  // memtables that are in parts by now, and that readers keep in memory
	Memtable              // rows in memtables
	Series                // keys of the series of these rows
	Merge                 // rows in hand of merges that a caller waits for
	Classes               // the number of classes
)

// Limits are how many bytes tickets of each class hold before others wait.
type Limits struct {
	Of [Classes]int64
	// HeldBeside bytes of Held take no room from Query, and SeriesBeside bytes of Series none from Memtable. Bytes
	// beyond them do.
	HeldBeside, SeriesBeside int64
}

// rule says how memory of a class is given out.
type rule struct {
	// oldest lets the oldest ticket of the class grow whatever its size. Without it, tickets that all hold something
	// and want more would wait for each other for ever.
	oldest bool
	// byTurns takes tickets alternately from both ends of the queue. With the oldest first, a crowd whose work takes
	// longer than tickets wait would let nobody finish.
	byTurns bool
	// weight is how many bytes the heap may grow for each byte of the class past free. It is 2 for memory that is
	// copied as it grows and is garbage for a while once it is given back. The target of the heap has room for free
	// bytes, for memtables and for merges.
	weight, free int64
}

var rules = [Classes]rule{
	Body:   {oldest: true, weight: 2, free: 32 << 20},
	Answer: {oldest: true, weight: 2, free: 32 << 20},
	Query:  {byTurns: true, weight: 2},
	Held:   {weight: 2},
	Series: {weight: 1},
	Merge:  {oldest: true},
}

const (
	// SlowGrace is how long a client may be behind before its ticket is given up for others.
	SlowGrace = time.Second
	// CrowdGrace is that time when more queries wait than there are answers to give up: with SlowGrace for one reader
	// after the other, the last queries of the crowd would be refused before their turn.
	CrowdGrace = SlowGrace / 4
)

// Holder has a ticket. The Control calls it in the middle of its work: its methods must not wait, nor call the Control.
type Holder interface {
	// Turn says that a ticket that waits may grow now, if there is room.
	Turn()
	// Behind is how much longer the server has waited for the client than the bytes moved may take; 0: the server does
	// not wait for it.
	Behind() time.Duration
	// GiveUp ends the client's transfer. The ticket is released soon.
	GiveUp()
}

// Control keeps the account. Its owner's lock protects it, and all of its tickets.
type Control struct {
	limits  Limits
	classes [Classes]classAccount
	streams map[*Ticket]struct{} // of answers that are read while they are made
	given   [Classes]int64       // tickets given up
}

// classAccount is the account of one class.
type classAccount struct {
	used     int64
	tickets  list.List // of *Ticket that hold or wait, oldest first
	entered  uint64    // how many tickets ever came into the list
	networks map[netip.Addr]*network
	waiting  int
	awaiting int  // tickets at work that wait for bytes that others are giving back
	newest   bool // the newest is next of a network, not the oldest
}

// network is the account of one network in a class.
type network struct {
	bytes   int64     // that its tickets hold; always 0 of the zero Addr
	tickets int       // how many hold or wait
	waits   list.List // of *Ticket that wait, oldest first
}

// New makes the account of no tickets.
func New(limits Limits) *Control {
	c := &Control{limits: limits, streams: map[*Ticket]struct{}{}}
	for i := range c.classes {
		c.classes[i].networks = map[netip.Addr]*network{}
	}
	return c
}

// Ticket stands for one body, answer, query, write or merge: for the bytes that it holds or waits for.
type Ticket struct {
	control *Control
	class   Class
	address netip.Addr // of the network; tickets of the zero Addr hold nothing of a network
	holder  Holder

	bytes    int64
	place    *list.Element // among the tickets of its class; nil: it neither holds nor waits
	age      uint64        // place as a number: older tickets have less
	network  *network      // nil while place is
	waits    *list.Element // in network.waits; nil: it does not wait
	awaiting bool
	givenUp  bool
}

// Begin fills a ticket in. It holds nothing.
func (c *Control) Begin(t *Ticket, of Class, network netip.Addr, holder Holder) {
	*t = Ticket{control: c, class: of, address: network, holder: holder}
}

// Bytes is what the ticket holds.
func (t *Ticket) Bytes() int64 { return t.bytes }

// Grow takes n bytes more if there is room and it is the ticket's turn. If not, the ticket waits in the queue, where it
// stays until it grows or yields.
func (t *Ticket) Grow(n int64) bool {
	k, rule := &t.control.classes[t.class], &rules[t.class]
	t.wait(true)
	next := t.control.next(t.class) == t
	if !(rule.oldest && k.tickets.Front() == t.place) && !(next && k.awaiting == 0 && t.control.fits(t.class, n)) {
		if !next { // it may have been when it was told
			t.control.turn(t.class)
		}
		return false
	}
	if rule.byTurns && k.waiting > 1 {
		k.newest = !k.newest
	}
	t.wait(false)
	t.add(n)
	t.leave()
	t.control.turn(t.class)
	return true
}

// Take takes n bytes more if there is room, whoever waits: a query at work comes before queries that begin.
func (t *Ticket) Take(n int64) bool {
	fits := t.control.fits(t.class, n)
	if fits {
		t.add(n)
	}
	return fits
}

// Await notes whether a ticket at work waits for bytes that others are giving back. Meanwhile no ticket of the class
// grows except by Take.
func (t *Ticket) Await(waits bool) {
	if t.awaiting == waits {
		return
	}
	k := &t.control.classes[t.class]
	if t.awaiting = waits; waits {
		k.awaiting++
		return
	}
	k.awaiting--
	t.control.turn(t.class)
}

// Yield ends waiting in the queue. The ticket keeps what it holds.
func (t *Ticket) Yield() {
	t.wait(false)
	t.leave()
	t.control.turn(t.class)
}

// Give gives n bytes back.
func (t *Ticket) Give(n int64) {
	t.add(-n)
	t.leave()
	t.control.freed(t.class)
}

// Release gives everything back and ends waiting. The ticket may grow again: then it is the youngest.
func (t *Ticket) Release() {
	delete(t.control.streams, t)
	t.Await(false)
	t.add(-t.bytes)
	t.Yield()
	t.control.freed(t.class)
	t.givenUp = false
}

// Stream notes that the ticket's answer is read while it is made: its query keeps memory until the answer is over.
func (t *Ticket) Stream() { t.control.streams[t] = struct{}{} }

// Add counts n bytes more of a class, or fewer, that need no ticket: they are taken whatever the limit.
func (c *Control) Add(of Class, n int64) {
	c.classes[of].used += n
	if n < 0 {
		c.freed(of)
	}
}

// TryAdd is Add if there is room, whoever waits.
func (c *Control) TryAdd(of Class, n int64) bool {
	fits := c.fits(of, n)
	if fits {
		c.classes[of].used += n
	}
	return fits
}

// Bytes is what a class holds.
func (c *Control) Bytes(of Class) int64 { return c.classes[of].used }

// Load is the bytes that count against the limit of a class: its own, and those of another class beyond that one's
// room.
func (c *Control) Load(of Class) int64 {
	used := c.classes[of].used
	switch of {
	case Query:
		used += max(0, c.classes[Held].used-c.limits.HeldBeside)
	case Memtable:
		used += max(0, c.classes[Series].used-c.limits.SeriesBeside)
	}
	return used
}

// Limit is what tickets of a class may hold.
func (c *Control) Limit(of Class) int64 { return c.limits.Of[of] }

// Full reports whether nothing more of a class fits.
func (c *Control) Full(of Class) bool { return !c.fits(of, 0) }

// Over reports whether a class holds more than its limit.
func (c *Control) Over(of Class) bool { return c.Load(of) > c.limits.Of[of] }

// Waiting is how many tickets of a class wait.
func (c *Control) Waiting(of Class) int { return c.classes[of].waiting }

// Given is how many tickets of a class were given up.
func (c *Control) Given(of Class) int64 { return c.given[of] }

// Heap is the total: how many bytes the heap may grow beyond what it takes when nothing is held.
func (c *Control) Heap() (total int64) {
	for i := range c.classes {
		rule := &rules[i]
		total += rule.weight * max(0, c.classes[i].used-rule.free)
	}
	return total
}

// Relieve makes room for n bytes of a ticket, if it is the next that waits: it gives up tickets with slow clients until
// the bytes fit.
func (c *Control) Relieve(t *Ticket, n int64) {
	if c.next(t.class) != t {
		return
	}
	over := c.Load(t.class) + n - c.limits.Of[t.class]
	var slow []slowTicket
	of := map[netip.Addr]int{}
	for e := c.classes[t.class].tickets.Front(); e != nil; e = e.Next() {
		o := e.Value.(*Ticket)
		of[o.address]++
		if o.givenUp {
			over -= o.bytes // it is about to go
		} else if late := o.late(SlowGrace); late > 0 && o.bytes > 0 {
			slow = append(slow, slowTicket{o, late})
		}
	}
	sortSlow(slow, of)
	for _, s := range slow {
		if over <= 0 {
			return
		}
		s.giveUp()
		over -= s.bytes
	}
}

// GiveWay gives up answers with slow readers, one for each query that waits. soon is for how many of these queries
// there will be room, or will be if readers stand still a little longer.
func (c *Control) GiveWay(waiting int) (soon int) {
	grace := SlowGrace
	if waiting > len(c.streams) {
		grace = CrowdGrace
	}
	var slow []slowTicket
	of := map[netip.Addr]int{}
	left := waiting
	for t := range c.streams {
		of[t.address]++
		if t.givenUp || t.late(CrowdGrace) > 0 {
			soon++
		}
		if t.givenUp {
			left-- // it is about to go
		} else if late := t.late(grace); late > 0 {
			slow = append(slow, slowTicket{t, late})
		}
	}
	sortSlow(slow, of)
	for _, s := range slow[:min(len(slow), max(left, 0))] {
		s.giveUp()
	}
	return min(soon, waiting)
}

// Queue is the length of a ticket's queue if the ticket is the next of it; else 0.
func (t *Ticket) Queue() int {
	if t.control.next(t.class) != t {
		return 0
	}
	return t.control.Waiting(t.class)
}

// slowTicket is a ticket whose client is slow, by so much.
type slowTicket struct {
	*Ticket
	late time.Duration
}

// sortSlow puts the slowest tickets of the network with the most tickets first.
func sortSlow(slow []slowTicket, of map[netip.Addr]int) {
	slices.SortFunc(slow, func(x, y slowTicket) int {
		return cmp.Or(cmp.Compare(of[y.address], of[x.address]), cmp.Compare(y.late, x.late))
	})
}

// late is how much longer than grace a ticket's client is behind; not above zero where it is not.
func (t *Ticket) late(grace time.Duration) time.Duration {
	if t.holder == nil {
		return 0
	}
	return t.holder.Behind() - grace
}

func (t *Ticket) giveUp() {
	t.givenUp = true
	t.control.given[t.class]++
	t.holder.GiveUp()
}

// fits reports whether n bytes more of a class fit; n 0: whether any would.
func (c *Control) fits(of Class, n int64) bool { return c.Load(of)+max(n, 1) <= c.limits.Of[of] }

// add counts n bytes more of the ticket.
func (t *Ticket) add(n int64) {
	if n == 0 {
		return
	}
	t.enter()
	t.bytes += n
	t.control.classes[t.class].used += n
	if t.address.IsValid() {
		t.network.bytes += n
	}
}

// wait notes whether the ticket waits.
func (t *Ticket) wait(waits bool) {
	if waits == (t.waits != nil) {
		return
	}
	k := &t.control.classes[t.class]
	if !waits {
		t.network.waits.Remove(t.waits)
		t.waits = nil
		k.waiting--
		return
	}
	t.enter()
	k.waiting++
	queue := &t.network.waits
	for e := queue.Back(); ; e = e.Prev() {
		if e == nil {
			t.waits = queue.PushFront(t)
			return
		}
		if e.Value.(*Ticket).age < t.age {
			t.waits = queue.InsertAfter(t, e)
			return
		}
	}
}

// enter lists a ticket that will hold something or wait.
func (t *Ticket) enter() {
	if t.place != nil {
		return
	}
	k := &t.control.classes[t.class]
	k.entered++
	t.place, t.age, t.network = k.tickets.PushBack(t), k.entered, k.networks[t.address]
	if t.network == nil {
		t.network = &network{}
		k.networks[t.address] = t.network
	}
	t.network.tickets++
}

// leave takes a ticket off the list that neither holds nor waits.
func (t *Ticket) leave() {
	if t.place == nil || t.bytes != 0 || t.waits != nil {
		return
	}
	k := &t.control.classes[t.class]
	k.tickets.Remove(t.place)
	if t.network.tickets--; t.network.tickets == 0 {
		delete(k.networks, t.address)
	}
	t.place, t.network = nil, nil
}

// freed notes that a class holds less: tickets that wait for its room may go on.
func (c *Control) freed(of Class) {
	switch of {
	case Held:
		of = Query
	case Series:
		of = Memtable
	}
	c.turn(of)
}

// turn tells the tickets of a class that may grow now: the next, and the oldest where it goes on whatever its size.
func (c *Control) turn(of Class) {
	next := c.next(of)
	if next == nil {
		return
	}
	next.tell()
	oldest := c.classes[of].tickets.Front().Value.(*Ticket)
	if rules[of].oldest && oldest.waits != nil && oldest != next {
		oldest.tell()
	}
}

func (t *Ticket) tell() {
	if t.holder != nil {
		t.holder.Turn()
	}
}

// next is the ticket that waits whose network holds least of the class, of such tickets the oldest, or the newest if it
// is its turn; nil: none waits.
func (c *Control) next(of Class) (next *Ticket) {
	k := &c.classes[of]
	if k.waiting == 0 {
		return nil
	}
	least := int64(math.MaxInt64)
	for _, n := range k.networks {
		end := n.waits.Front()
		if k.newest {
			end = n.waits.Back()
		}
		if end == nil || n.bytes > least {
			continue
		}
		if t := end.Value.(*Ticket); n.bytes < least || (t.age < next.age) != k.newest {
			next, least = t, n.bytes
		}
	}
	return next
}
