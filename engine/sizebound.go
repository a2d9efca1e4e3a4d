package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/schema"
)

// sizeBound keeps the parts of each database within its bound: the option max_size, or else Options.MaxDatabaseBytes.
// Above it the parts go whose newest row is oldest, whole parts by edits of the manifest, as expired ones do. The last
// group of parts of a database stays, whatever its size. Memtables and the log do not count. The groups are made in
// sizegroups.go. Safe for concurrent use.
type sizeBound struct {
	*inventory
	damages   *damages
	merger    *merger
	exchanger *exchanger

	grown chan struct{} // told when parts were added

	mu    sync.Mutex // protects known
	known map[string]*sizeState
}

// sizeState is what is known of a database since the start.
type sizeState struct {
	told               bool  // that the bound is near
	parts, rows, bytes int64 // that were dropped
	until              int64 // newest time of a row that was dropped, ns since 1970
}

// nearBound is the share of the bound, in percent, from which on the server says that parts will be dropped.
const nearBound = 90

// DatabaseSize is a database with its bound.
type DatabaseSize struct {
	Name       string
	Bytes, Max int64 // of parts, those that are set aside included; Max 0: no bound
	Near       bool  // Bytes are at least 90 % of Max
	// What the bound had dropped since the start of the server.
	DroppedParts, DroppedRows, DroppedBytes int64
	DroppedUntil                            time.Time // newest time of a dropped row; zero: none was dropped
}

// DatabaseSizes lists the databases with the sizes of their parts and their bounds, by name.
func (e *Engine) DatabaseSizes() []DatabaseSize { return e.sizes.list() }

// maxSize is the bound of a database; 0: it has none.
func (c *catalog) maxSize(db string, usual int64) int64 {
	if db == PrivateDB {
		return 0
	}
	for _, o := range c.databases[db].Options {
		if o.Key == schema.MaxSizeOption {
			n, _, err := schema.ParseMaxSize(o.Value)
			if err != nil {
				return 0 // was checked when it was set: what cannot be read drops nothing
			}
			return n
		}
	}
	return usual
}

// list is that of DatabaseSizes.
func (x *sizeBound) list() (all []DatabaseSize) {
	c := x.catalog.Load()
	sizes := x.measure(c)
	x.mu.Lock()
	defer x.mu.Unlock()
	for db := range c.databases {
		s := DatabaseSize{Name: db, Bytes: sizes[db], Max: c.maxSize(db, x.o.MaxDatabaseBytes)}
		s.Near = s.Max > 0 && isNear(s.Bytes, s.Max)
		if k := x.known[db]; k != nil && k.parts > 0 {
			s.DroppedParts, s.DroppedRows, s.DroppedBytes = k.parts, k.rows, k.bytes
			s.DroppedUntil = time.Unix(0, k.until)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b DatabaseSize) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// measure returns the bytes of the listed parts of each database.
func (x *sizeBound) measure(c *catalog) map[string]int64 {
	sizes := map[string]int64{}
	tables := x.manifest.State().Tables
	for id, r := range c.regions {
		t := tables[id]
		if t == nil {
			continue // dropped in this moment
		}
		for _, m := range t.Parts {
			sizes[r.snap.Load().schema.Name.DB] += m.Bytes
		}
	}
	return sizes
}

func isNear(bytes, most int64) bool { return float64(bytes) >= float64(most)*nearBound/100 }

// look asks the loop to compare sizes with bounds.
func (x *sizeBound) look() {
	select {
	case x.grown <- struct{}{}:
	default: // it was asked already
	}
}

// loop holds the bounds until the store closes.
func (x *sizeBound) loop(ctx context.Context) {
	x.tending(ctx, x.grown, func() {
		if err := x.hold(); err != nil && ctx.Err() == nil && x.space.isNews(err) {
			x.o.Logger.Error("parts beyond max_size cannot be dropped", "error", err)
		}
	})
}

// hold drops the oldest parts of the databases that are above their bounds. Errors of one keep it from no other.
func (x *sizeBound) hold() error {
	c := x.catalog.Load()
	sizes := x.measure(c)
	x.forget(c)
	var all []error
	for db := range c.databases {
		most := c.maxSize(db, x.o.MaxDatabaseBytes)
		if most == 0 {
			continue
		}
		x.tell(db, sizes[db], most)
		if sizes[db] <= most {
			continue
		}
		if err := x.shrink(c, db, sizes[db], most); err != nil {
			all = append(all, fmt.Errorf("database %s: %w", db, err))
		}
	}
	return errors.Join(all...)
}

// forget drops what is known of databases that are gone.
func (x *sizeBound) forget(c *catalog) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for db := range x.known {
		if _, ok := c.databases[db]; !ok {
			delete(x.known, db)
		}
	}
}

// state is what is known of a database. The caller holds x.mu.
func (x *sizeBound) state(db string) *sizeState {
	s := x.known[db]
	if s == nil {
		s = &sizeState{}
		x.known[db] = s
	}
	return s
}

// tell logs once that a database comes near its bound, before anything is dropped.
func (x *sizeBound) tell(db string, bytes, most int64) {
	x.mu.Lock()
	s := x.state(db)
	news := isNear(bytes, most) && !s.told
	s.told = isNear(bytes, most)
	x.mu.Unlock()
	if news {
		x.o.Logger.Warn("a database comes near its max_size: above it the oldest parts are dropped", "database", db,
			"bytes", bytes, "max_size", most)
	}
}

// shrink drops the oldest groups of parts of a database until it is within its bound. It stops where ALTER has
// changed the bound or moved a table, and at a group that a merge works on: newer parts must not go before it, and the
// merge ends.
func (x *sizeBound) shrink(c *catalog, db string, bytes, most int64) error {
	groups := x.groups(c, db)
	for len(groups) > 1 && bytes > most {
		g := groups[0]
		groups = groups[1:]
		moved := g.r.snap.Load().schema.Name.DB != db
		if moved || x.catalog.Load().maxSize(db, x.o.MaxDatabaseBytes) != most {
			x.look() // the next look goes by what ALTER has changed
			return nil
		}
		dropped, err := x.drop(g)
		if err != nil || !dropped {
			return err
		}
		bytes -= g.bytes
		x.note(db, g, bytes, most)
	}
	return nil
}

// drop drops a group by one edit of the manifest; one with parts that are set aside by two, those first. false: it
// cannot go now.
func (x *sizeBound) drop(g *partGroup) (bool, error) {
	if g.fresh {
		return false, nil // the next flush lists it
	}
	gone, left := x.merger.leave(g.r, g.parts)
	defer left()
	if len(gone) < len(g.parts) {
		return false, nil // the merge that has the others asks again when it ends
	}
	n, err := x.exchanger.dropAside(g.r, func(p *part) bool { return slices.ContainsFunc(g.aside, p.is) })
	if err != nil || n < len(g.aside) {
		return false, err // those that a flush or a merge has just listed are served, and counted by the next look
	}
	if len(gone) == 0 {
		return true, nil
	}
	err = x.exchanger.exchange(g.r, gone, nil)
	if err == errOverrun {
		return false, nil
	}
	return err == nil, err
}

// is reports whether two parts have the same file.
func (p *part) is(o *part) bool { return p.meta.File == o.meta.File }

// note logs and counts what was dropped.
func (x *sizeBound) note(db string, g *partGroup, bytes, most int64) {
	x.mu.Lock()
	s := x.state(db)
	s.parts, s.rows, s.bytes = s.parts+int64(len(g.parts)+len(g.aside)), s.rows+g.rows, s.bytes+g.bytes
	s.until = max(s.until, g.until)
	if s.parts == int64(len(g.parts)+len(g.aside)) {
		s.until = g.until
	}
	x.mu.Unlock()
	x.o.Logger.Warn("oldest parts dropped: the database is above its max_size", "database", db, "table",
		g.r.snap.Load().schema.Name.Table, "parts", len(g.parts)+len(g.aside), "rows", g.rows, "bytes", g.bytes,
		"until", time.Unix(0, g.until).UTC(), "bytes_left", bytes, "max_size", most)
}

var (
	databaseLabels   = []string{"db"}
	databaseBytes    = prometheus.NewDesc("varve_database_bytes", "Bytes of a database's parts.", databaseLabels, nil)
	databaseMaxBytes = prometheus.NewDesc("varve_database_max_bytes",
		"Bound of the bytes of a database's parts: max_size.", databaseLabels, nil)
	droppedParts = prometheus.NewDesc("varve_size_dropped_parts_total",
		"Oldest parts of a database dropped because it was above its max_size.", databaseLabels, nil)
	droppedBytes = prometheus.NewDesc("varve_size_dropped_bytes_total",
		"Bytes of the oldest parts of a database dropped because it was above its max_size.", databaseLabels, nil)
)

// Describe names the figures of databases that have a bound.
func (x *sizeBound) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{databaseBytes, databaseMaxBytes, droppedParts, droppedBytes} {
		to <- d
	}
}

// Collect gives the figures of databases that have a bound, the first by name.
func (x *sizeBound) Collect(to chan<- prometheus.Metric) {
	measured := 0
	for _, s := range x.list() {
		if s.Max == 0 {
			continue
		}
		if measured++; measured > maxMeasured {
			return
		}
		db := strings.ToValidUTF8(s.Name, "?")
		to <- prometheus.MustNewConstMetric(databaseBytes, prometheus.GaugeValue, float64(s.Bytes), db)
		to <- prometheus.MustNewConstMetric(databaseMaxBytes, prometheus.GaugeValue, float64(s.Max), db)
		to <- prometheus.MustNewConstMetric(droppedParts, prometheus.CounterValue, float64(s.DroppedParts), db)
		to <- prometheus.MustNewConstMetric(droppedBytes, prometheus.CounterValue, float64(s.DroppedBytes), db)
	}
}
