package engine

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

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
	e               *Engine
	most, mostOfOne int // 0: no bound
	seed            maphash.Seed
	generation      atomic.Uint32 // of the sets: one more when series were found to be gone
	// held for reading from when a write's series are entered until they are in a memtable
	writing  sync.RWMutex
	mu       sync.Mutex // protects what follows
	tables   map[schema.TableID]map[uint64]struct{}
	total    atomic.Int64        // of tables; read without mu as well, by who holds what a census waits for
	promised map[entry]time.Time // series that were let in and have no rows yet
	taken    time.Time           // when it was last taken
	took     time.Duration       // how long that took
}

// countedBytes is about the memory of a series that is counted.
const countedBytes = 20

// restBetween is how many times as long as taking a census took nobody takes it again, so that a sender who is refused
// again and again does not keep a processor busy; what takes less than briefCensus does not matter.
const (
	restBetween = 20
	briefCensus = 5 * time.Millisecond
)

// promiseKept is how long a series counts that was let in and has no rows: its request has failed by then.
const promiseKept = time.Minute

// newCensus returns nil if no bounds are set.
func newCensus(e *Engine) *census {
	if e.o.MaxSeries <= 0 && e.o.MaxSeriesPerTable <= 0 {
		return nil
	}
	return &census{e: e, most: e.o.MaxSeries, mostOfOne: e.o.MaxSeriesPerTable, seed: maphash.MakeSeed(),
		tables: map[schema.TableID]map[uint64]struct{}{}, promised: map[entry]time.Time{}}
}

// entry is a series that was entered.
type entry struct {
	table schema.TableID
	hash  uint64
}

// ofServer reports whether a table is the server's own.
func ofServer(t *schema.Table) bool { return t.Name.DB == PrivateDB }

// admit enters the series of a write, all or none but for rows that may be left out; they count as in flight until done
// is called.
func (c *census) admit(ws []*tableWrite) (done func(), err error) {
	if c == nil {
		return func() {}, nil
	}
	for leave := false; ; {
		c.writing.RLock()
		if err = c.enterAll(ws, leave); err == nil {
			return c.writing.RUnlock, nil
		}
		c.writing.RUnlock()
		switch {
		case leave:
			return nil, err
		case !c.retake():
			c.e.metrics.Refused.WithLabelValues("series").Inc()
			leave = true
		}
	}
}

// enterAll enters the series of all writes or of none. leave: rows without room are left out of writes that allow it.
func (c *census) enterAll(ws []*tableWrite, leave bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var fresh []entry
	for _, w := range ws {
		if err := c.enterWrite(w, leave && w.leavesOut(), &fresh); err != nil {
			for _, x := range fresh {
				delete(c.tables[x.table], x.hash)
			}
			c.total.Add(int64(-len(fresh)))
			return err
		}
	}
	return nil
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
			c.e.metrics.Refused.WithLabelValues("series").Inc()
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

// take counts the series of all parts and memtables and reports whether some of those known are gone. Writes wait
// meanwhile, as rows that are on their way would be missed.
func (c *census) take() (gone bool) {
	c.writing.Lock()
	defer c.writing.Unlock()
	start := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.tables
	c.tables = map[schema.TableID]map[uint64]struct{}{}
	c.total.Store(0)
	all := c.e.catalog.Load()
	for _, r := range all.regions {
		c.takeRegion(all, r)
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

// takeRegion counts the series of a region: those of its tables that are there. The caller holds c.mu.
func (c *census) takeRegion(all *catalog, r *region) {
	snap := r.pin()
	defer r.unpin(snap)
	wanted := map[schema.TableID]bool{}
	put := func(key []byte) {
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
	for _, m := range snap.mems() {
		m.series.EachKey(put)
	}
	for _, p := range snap.parts {
		if err := p.file.EachKey(put); err != nil {
			c.e.o.Logger.Error("series of a part cannot be counted", "part", partName(p.meta.File), "error", err)
		}
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
