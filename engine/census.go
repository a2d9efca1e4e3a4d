package engine

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/memtable"
)

// census counts the series of the store where their number is bounded: it knows each by a hash of its key. What is
// written for the first time is entered before it is logged, so the bounds hold whoever writes at the same time. Series
// that are gone, with dropped tables or expired parts, are found when the census is taken anew: before anything is
// refused, and at a start. A nil census bounds nothing. Safe for concurrent use.
//
// A table without tags has one series. The server's own tables do not count.
type census struct {
	of              *inventory
	refused         *prometheus.CounterVec // writes, by reason
	most, mostOfOne int                    // 0: no bound
	seed            maphash.Seed
	generation      atomic.Uint32 // of the sets: one more when series were found to be gone
	mu              sync.Mutex    // protects what follows
	tables          map[schema.TableID]map[uint64]struct{}
	// underWay are the writes whose series were entered and whose rows may not be in a memtable yet.
	underWay map[*admitted]struct{}
	total    atomic.Int64        // of tables; read without mu as well, by who holds what a census waits for
	promised map[entry]time.Time // series that were let in and have no rows yet
	taken    time.Time           // when it was last taken
	took     time.Duration       // how long that took
}

// countedBytes is about the memory of a series that is counted.
const countedBytes = 20

// After a census of duration d, no other is taken for restBetween*d, so that a sender who is refused again and again
// does not keep a processor busy. A census shorter than briefCensus needs no rest.
const (
	restBetween = 20
	briefCensus = 5 * time.Millisecond
)

// promiseKept is how long a series counts that was let in and has no rows: its request has failed by then.
const promiseKept = time.Minute

// newCensus returns nil if no bounds are set.
func newCensus(of *inventory, refused *prometheus.CounterVec) *census {
	if of.o.MaxSeries <= 0 && of.o.MaxSeriesPerTable <= 0 {
		return nil
	}
	return &census{of: of, refused: refused, most: of.o.MaxSeries, mostOfOne: of.o.MaxSeriesPerTable,
		seed: maphash.MakeSeed(), tables: map[schema.TableID]map[uint64]struct{}{}, underWay: map[*admitted]struct{}{},
		promised: map[entry]time.Time{}}
}

// admitted is a request whose series were entered. Until its rows are in memtables nobody changes its writes.
type admitted struct{ writes []*tableWrite }

// entry is a series that was entered.
type entry struct {
	table schema.TableID
	hash  uint64
}

// ofServer reports whether a table is the server's own.
func ofServer(t *schema.Table) bool { return t.Name.DB == PrivateDB }

// admit enters the series of a write, all or none but for rows that may be left out. Until done is called, a census
// counts them although no memtable has them.
func (c *census) admit(ws []*tableWrite) (done func(), err error) {
	if c == nil {
		return func() {}, nil
	}
	for leave := false; ; {
		if done, err = c.enterAll(ws, leave); err == nil {
			return done, nil
		}
		switch {
		case leave:
			return nil, err
		case !c.retake():
			c.refused.WithLabelValues("series").Inc()
			leave = true
		}
	}
}

// enterAll enters the series of all writes or of none, and notes that the writes are under way until done is called.
// leave: rows without room are left out of writes that allow it.
func (c *census) enterAll(ws []*tableWrite, leave bool) (done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var fresh []entry
	for _, w := range ws {
		if err := c.enterWrite(w, leave && w.leavesOut(), &fresh); err != nil {
			for _, x := range fresh {
				delete(c.tables[x.table], x.hash)
			}
			c.total.Add(int64(-len(fresh)))
			return nil, err
		}
	}
	a := &admitted{ws}
	c.underWay[a] = struct{}{}
	return func() {
		c.mu.Lock()
		delete(c.underWay, a)
		c.mu.Unlock()
	}, nil
}

// enterWrite enters the series of a write and notes those that are new. leave: rows without room are left out. The
// caller holds c.mu.
func (c *census) enterWrite(w *tableWrite, leave bool, fresh *[]entry) (err error) {
	switch {
	case w.rec == nil:
		return nil
	case w.samples != nil:
		for _, s := range w.samples.series {
			if s.counted.Load() != c.generation.Load()<<1 {
				c.keepPromise(s)
			}
		}
		return nil
	case ofServer(w.schema):
		return nil
	}
	var keep []uint32 // rows with room, once some have none
	from, out := 0, error(nil)
	rows := func(to int) { // of the series of row from
		for ; from < to; from++ {
			if out == nil {
				keep = append(keep, uint32(from))
			}
		}
	}
	memtable.EachKey(w.schema, w.rec.fields, w.rec.batch, func(row int, key []byte) {
		if err != nil {
			return
		}
		if leave {
			rows(row)
		}
		x, isNew, e := c.enter(w.schema, key)
		if isNew {
			*fresh = append(*fresh, x)
		}
		if out = e; !leave {
			err = e
		} else if e != nil && w.leftWhy == nil {
			w.leftWhy = e
		}
	})
	if leave && err == nil {
		rows(w.rec.batch.N)
		w.leaveOut(keep)
	}
	return err
}

// keepPromise enters a series whose rows are on their way and which was let in before, so there is room. The caller
// holds c.mu.
func (c *census) keepPromise(s *Series) {
	if !ofServer(s.home.schema()) {
		delete(c.promised, c.put(s.ref.Key()))
	}
	s.counted.Store(c.generation.Load() << 1)
}

// enter enters a series of a table, if there is room. The caller holds c.mu.
func (c *census) enter(t *schema.Table, key []byte) (x entry, isNew bool, err error) {
	x = entry{t.ID, maphash.Bytes(c.seed, key)}
	if _, ok := c.tables[x.table][x.hash]; ok {
		return x, false, nil
	}
	if err := c.room(t); err != nil {
		return x, false, err
	}
	c.insert(x)
	return x, true, nil
}

// put enters a series whether there is room or not. The caller holds c.mu.
func (c *census) put(key []byte) entry {
	x := entry{schema.KeyTable(key), maphash.Bytes(c.seed, key)}
	if _, ok := c.tables[x.table][x.hash]; !ok {
		c.insert(x)
	}
	return x
}

func (c *census) insert(x entry) {
	set := c.tables[x.table]
	if set == nil {
		set = map[uint64]struct{}{}
		c.tables[x.table] = set
	}
	set[x.hash] = struct{}{}
	c.total.Add(1)
}

// room says why a table can have no further series. The caller holds c.mu.
func (c *census) room(t *schema.Table) error {
	if n := len(c.tables[t.ID]); t.ID != 0 && c.mostOfOne > 0 && n >= c.mostOfOne {
		return status.New(status.InvalidArguments,
			"table %s has %d series, storage.max_series_per_table is %d: a new one is refused", t.Name, n, c.mostOfOne)
	}
	if n := c.total.Load(); c.most > 0 && n >= int64(c.most) {
		return status.New(status.InvalidArguments,
			"there are %d series, storage.max_series is %d: a new one, of table %s, is refused", n, c.most, t.Name)
	}
	return nil
}

// vacant says why a table, which need not be there yet, can have no further series, so that nothing is made for one.
func (c *census) vacant(t *schema.Table) error {
	if c == nil || ofServer(t) {
		return nil
	}
	for {
		c.mu.Lock()
		err := c.room(t)
		c.mu.Unlock()
		if err == nil || !c.retake() {
			return err
		}
	}
}

// roomFor returns those of the writes to absent tables whose tables may be created: there is room for their series. The
// rows of the others are left out. If a write does not allow that, the error says why there is no room.
func (c *census) roomFor(absent []*tableWrite) (room []*tableWrite, err error) {
	for _, w := range absent {
		switch err := c.vacant(&schema.Table{Name: w.name}); {
		case err == nil:
			room = append(room, w)
		case w.hint.Reject != nil:
			w.refuseAll(err)
		case w.hint.LeftOut == nil:
			return nil, err
		default:
			w.left, w.leftWhy = w.batch.N, err
		}
	}
	return room, nil
}

// leaveVacant leaves, of the series that lack a table or a label, those for which there is room. The others become
// errors.
func (c *census) leaveVacant(of *catalog, r *SeriesRequest, lacking []int, errs []error) []int {
	if c == nil {
		return lacking
	}
	return slices.DeleteFunc(lacking, func(i int) bool {
		t := &schema.Table{Name: r.Names[i].Table}
		if p, ok := of.byName[t.Name]; ok {
			t = p.schema()
		}
		err := c.vacant(t)
		if err != nil {
			errs[i] = err
		}
		return err != nil
	})
}

// admitSeries enters series that were found by their labels. Those without room become errors.
func (c *census) admitSeries(found []*Series, errs []error) {
	if c == nil {
		return
	}
	for i, s := range found {
		if s == nil || errs[i] != nil {
			continue
		}
		if errs[i] = c.admitOne(s); errs[i] != nil {
			found[i] = nil
			c.refused.WithLabelValues("series").Inc()
		}
	}
}

func (c *census) admitOne(s *Series) error {
	for {
		c.mu.Lock()
		s.counted.Store(c.generation.Load() << 1)
		var err error
		if t := s.home.schema(); !ofServer(t) {
			var x entry
			var isNew bool
			if x, isNew, err = c.enter(t, s.ref.Key()); isNew {
				c.promised[x] = time.Now()
				s.counted.Add(1)
			}
		}
		c.mu.Unlock()
		if err == nil || !c.retake() {
			return err
		}
	}
}

// stale reports whether series may be gone since one of them was let in.
func (c *census) stale(s *Series) bool { return c != nil && s.counted.Load()>>1 != c.generation.Load() }

// len is the number of series that count. It waits for nobody: memory is counted under locks that a census waits for.
func (c *census) len() int {
	if c == nil {
		return 0
	}
	return int(c.total.Load())
}

// retake takes the census anew and reports whether series are gone. It does nothing when it was taken a short while
// ago.
func (c *census) retake() bool {
	c.mu.Lock()
	resting := c.took > briefCensus && time.Since(c.taken) < restBetween*c.took
	c.mu.Unlock()
	return !resting && c.take()
}

// take counts the series of all parts and memtables, and of the writes that are under way, and reports whether some of
// those known are gone. It waits for no write: one that syncs the log, or waits for a table that is altered, may take
// long.
func (c *census) take() (gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := time.Now()
	old := c.tables
	c.tables = map[schema.TableID]map[uint64]struct{}{}
	c.total.Store(0)
	all := c.of.catalog.Load()
	put := c.taker(all)
	for _, r := range all.regions {
		c.takeRegion(r, put)
	}
	for a := range c.underWay {
		for _, w := range a.writes {
			w.eachKey(put)
		}
	}
	for x, at := range c.promised {
		if _, ok := all.find(x.table); !ok || start.Sub(at) > promiseKept {
			delete(c.promised, x)
		} else if _, ok := c.tables[x.table][x.hash]; !ok {
			c.insert(x)
		}
	}
	for id, set := range old {
		gone = gone || !contains(c.tables[id], set)
	}
	if gone {
		c.generation.Add(1)
	}
	c.taken, c.took = time.Now(), time.Since(start)
	return gone
}

// taker returns what counts a series by its key if its table is in a catalog. The caller holds c.mu.
func (c *census) taker(all *catalog) (put func(key []byte)) {
	wanted := map[schema.TableID]bool{}
	return func(key []byte) {
		id := schema.KeyTable(key)
		is, known := wanted[id]
		if !known {
			p, ok := all.find(id)
			is = ok && !ofServer(p.schema())
			wanted[id] = is
		}
		if is {
			c.put(key)
		}
	}
}

// takeRegion counts the series of a region.
func (c *census) takeRegion(r *region, put func(key []byte)) {
	snap := r.pin()
	defer r.unpin(snap)
	for _, m := range snap.mems() {
		m.series.EachKey(put)
	}
	for _, p := range snap.parts {
		if err := p.file.EachKey(put); err != nil {
			c.of.o.Logger.Error("series of a part cannot be counted", "part", parts.Name(p.meta.File), "error", err)
		}
	}
}

// eachKey calls put with the keys of the series whose rows a write has; the key is valid during the call.
func (w *tableWrite) eachKey(put func(key []byte)) {
	switch {
	case w.rec == nil:
	case w.samples != nil:
		for _, s := range w.samples.series {
			put(s.ref.Key())
		}
	default:
		memtable.EachKey(w.schema, w.rec.fields, w.rec.batch, func(_ int, key []byte) { put(key) })
	}
}

func contains(set, some map[uint64]struct{}) bool {
	for x := range some {
		if _, ok := set[x]; !ok {
			return false
		}
	}
	return true
}
