package engine

import (
	"cmp"
	"context"
	"math"
	"slices"

	"varve/engine/convert"
	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// Alter publishes the schema that change makes from the current one (with the same table id). change may be called
// again if another change came in between. A new name in the result renames the table.
func (e *Engine) Alter(ctx context.Context, n schema.Name, change func(*schema.Table) (*schema.Table, error)) error {
	if err := e.door.enter(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := MayChange(ctx, n.DB); err != nil {
		return err
	}
	tab, err := e.Table(n)
	switch {
	case err != nil:
		return err
	case tab.Schema.Shared():
		return e.alterOwn(ctx, n, onlyTTL(change), false)
	case tab.logical != nil:
		next, err := change(tab.Schema)
		if err != nil || next == tab.Schema {
			return err
		}
		return e.alterLogical(tab.Schema, next)
	}
	return e.alterOwn(ctx, n, change, false)
}

// alterOwn alters a table that has a region of its own. What takes long is done without the DDL lock, so that other
// tables get their columns meanwhile. exact refuses a change to floats if a stored integer has no exact float.
func (e *Engine) alterOwn(ctx context.Context, n schema.Name, change func(*schema.Table) (*schema.Table, error),
	exact bool) error {
	tab, err := e.Table(n)
	if err != nil {
		return err
	}
	if err := tab.region.altering.lock(ctx); err != nil {
		return err
	}
	defer tab.region.altering.unlock()
	for {
		if tab, err = e.Table(n); err != nil {
			return err
		}
		next, err := nextSchema(tab.Schema, change)
		if err != nil || next == tab.Schema {
			return err
		}
		if err := e.space.readOnly(); err != nil { // before the rows are rewritten
			return err
		}
		need := rewriteOf(tab.Schema, next)
		need.exact = exact && len(need.columns) > 0
		done, err := e.alterTo(ctx, tab.home, n, need, change)
		if err != nil || done {
			return err
		}
	}
}

// alterTo prepares the rows for a change that needs the given rewrite, and publishes it. false: the change needs
// another one by now.
func (e *Engine) alterTo(ctx context.Context, p home, n schema.Name, need rewrite,
	change func(*schema.Table) (*schema.Table, error)) (bool, error) {
	if !need.none() {
		open, err := e.rewrite(ctx, p.region, need)
		if err != nil {
			return false, err
		}
		defer open()
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	tab, err := e.Table(n)
	switch {
	case err != nil:
		return false, err
	case tab.home != p:
		return false, status.New(status.TableNotFound, "Table not found: %s", n) // dropped; another has its name
	}
	next, err := nextSchema(tab.Schema, change)
	if err != nil || next == tab.Schema {
		return true, err
	}
	if err := MayChange(ctx, next.Name.DB); err != nil {
		return true, err
	}
	if !need.equal(rewriteOf(tab.Schema, next)) {
		return false, nil
	}
	return true, e.publishAltered(tab, next)
}

// publishAltered replaces the schema of a table. The caller holds e.ddl.
func (e *Engine) publishAltered(tab *Table, next *schema.Table) error {
	old, c := tab.Schema.Name, e.catalog.Load()
	if next.Name != old {
		if _, ok := c.databases[next.Name.DB]; !ok {
			return status.New(status.DatabaseNotFound, "Database not found: %s", next.Name.DB)
		}
		if _, ok := c.byName[next.Name]; ok {
			return status.New(status.TableAlreadyExists, "Table already exists: `%s`", next.Name)
		}
		if err := e.nameOfView(next.Name); err != nil {
			return err
		}
	}
	if err := e.newDefinition().hasColumns(next, len(next.Columns)-len(tab.Schema.Columns)); err != nil {
		return err
	}
	if err := e.putAltered(tab, next); err != nil {
		return err
	}
	if next.Name != old {
		e.change(func(c *catalog) {
			delete(c.byName, old)
			c.byName[next.Name] = tab.home
		})
	}
	return nil
}

// putAltered makes the next schema of a table its schema. A table that keeps no rows from now on loses those it has by
// the same edit: they do not come back when its time to live changes again.
func (e *Engine) putAltered(tab *Table, next *schema.Table) error {
	if next.Options.TTL == schema.TTLInstant {
		return e.empty(tab.region, tab.Schema.Name, next)
	}
	tab.region.mu.Lock()
	defer tab.region.mu.Unlock()
	if err := e.redefine(manifest.Edit{PutTable: []*schema.Table{next}}); err != nil {
		return err
	}
	tab.home.publish(next)
	return nil
}

// nextSchema is what a change makes of a schema; the schema itself when nothing changes.
func nextSchema(old *schema.Table, change func(*schema.Table) (*schema.Table, error)) (*schema.Table, error) {
	next, err := change(old)
	if err != nil || next == old {
		return old, err
	}
	if next.Name != old.Name {
		if err := schema.CheckName("table", next.Name.Table); err != nil {
			return nil, err
		}
	}
	if err := checkTable(next); err != nil {
		return nil, err
	}
	next = keepInitial(old, next)
	next.Version, next.Altered = old.Version+1, old.Altered+1
	return next, nil
}

// keepInitial returns next with what rows read that were written before a column existed: as in the old schema,
// whatever the default is now, and as the column's type where that is another.
func keepInitial(old, next *schema.Table) *schema.Table {
	n := *next
	n.Columns = slices.Clone(next.Columns)
	for i := range n.Columns {
		c := &n.Columns[i]
		p := old.ByID(c.ID)
		switch {
		case p < 0:
			c.Initial = c.Default
		case old.Columns[p].Type == c.Type || old.Columns[p].Initial == nil:
			c.Initial = old.Columns[p].Initial
		default:
			c.Initial = convert.One(old.Columns[p].Initial, c.Type)
		}
	}
	return &n
}

// rewrite is the work that a change of a schema causes for existing rows.
type rewrite struct {
	columns []retyped
	// appends: rows that are replaced or deleted must be gone, the table shows every row that it has.
	appends bool
	// exact: all columns hold integers and become columns of floats, provided that a float holds each value exactly.
	exact bool
}

// retyped is a column that gets another type.
type retyped struct {
	id       schema.ColumnID
	from, to vector.Type
}

func rewriteOf(old, next *schema.Table) rewrite {
	w := rewrite{appends: next.Options.AppendMode && !old.Options.AppendMode}
	for _, c := range old.Columns {
		if p := next.ByID(c.ID); p >= 0 && next.Columns[p].Type != c.Type {
			w.columns = append(w.columns, retyped{c.ID, c.Type, next.Columns[p].Type})
		}
	}
	return w
}

func (w rewrite) none() bool { return !w.appends && len(w.columns) == 0 }

func (w rewrite) equal(o rewrite) bool {
	return w.appends == o.appends && slices.Equal(w.columns, o.columns)
}

// rewrite prepares a region's rows for the next schema. Afterwards all rows are in parts that can be read under it, and
// writers wait until open is called. Most of the work is done before writers have to wait.
func (e *Engine) rewrite(ctx context.Context, r *region, w rewrite) (open func(), err error) {
	err = e.flusher.flush(ctx, r)
	if err == nil && w.exact {
		err = e.exact(r, w.columns)
	}
	if err == nil {
		err = e.settle(ctx, r, w)
	}
	if err == nil && w.appends {
		err = e.unify(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	open = r.close()
	if err = e.flusher.flush(ctx, r); err == nil && w.exact {
		err = e.exact(r, w.columns)
	}
	if err == nil && w.appends {
		err = e.unify(ctx, r)
	}
	if err == nil && w.appends && !unified(r.snap.Load().parts) {
		err = status.New(status.Unsupported,
			"append_mode cannot be switched on: the table has more than one part may hold (%d rows, %d bytes of "+
				"keys), so that replaced rows would come back", e.o.maxPart.rows, e.o.maxPart.keys)
	}
	if err != nil {
		open()
		return nil, err
	}
	return open, nil
}

// close keeps writers from adding rows until open is called.
func (r *region) close() (open func()) {
	altered := make(chan struct{})
	r.mu.Lock()
	r.closed = altered
	r.mu.Unlock()
	return func() {
		r.mu.Lock()
		r.closed = nil
		r.mu.Unlock()
		close(altered)
	}
}

// unify merges all of a table's parts, so that rows that were replaced or deleted are gone and not only hidden: a table
// that becomes append-only shows every row it has.
func (e *Engine) unify(ctx context.Context, r *region) error {
	last := e.committer.seq.Load()
	for again := true; again; {
		s := r.snap.Load()
		if _, damaged := sound(s.parts); len(damaged)+len(e.damages.asideOf(r, s)) > 0 {
			return status.New(status.Unsupported,
				"append_mode cannot be switched on while parts of the table are damaged: the rows that they replace "+
					"would come back")
		}
		var err error
		if again, err = e.mergeAll(ctx, r, math.MinInt64, last); err != nil {
			return err
		}
	}
	return nil
}

// unified reports whether no row of the parts replaces or deletes another.
func unified(parts []*part) bool {
	for i, p := range parts {
		if !p.meta.Unique || slices.ContainsFunc(parts[:i], p.overlaps) {
			return false
		}
	}
	return true
}

// settle rewrites the parts that still store one of the columns under a type from before its present type, because the
// column is about to get a third type. Values that do not convert are thus lost with the first change, whether or not a
// merge came in between. settle waits for merges under way: they may have begun before the column got its present type.
// For a change from integers to floats it does so only if a part stores an older type, because writers wait meanwhile.
func (e *Engine) settle(ctx context.Context, r *region, w rewrite) error {
	var damage error
	older := func(p *part) bool {
		return slices.ContainsFunc(w.columns, func(c retyped) bool {
			t, ok, err := p.file.TypeOf(c.id)
			if err != nil {
				damage = e.damages.met(r, p, err)
			}
			return ok && t != c.from
		})
	}
	again := len(w.columns) > 0
	if w.exact {
		s := r.pin()
		again = slices.ContainsFunc(s.parts, older)
		r.unpin(s)
	}
	for again {
		var err error
		again, err = e.mergeChosen(ctx, r, func(s *regionSnap, _ windows) []*part {
			for _, p := range s.parts {
				if p.whole() && older(p) {
					return []*part{p}
				}
			}
			return nil
		})
		if err = cmp.Or(err, damage); err != nil {
			return err
		}
	}
	return damage
}
