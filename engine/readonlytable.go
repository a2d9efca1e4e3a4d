package engine

import (
	"context"
	"reflect"

	"varve/engine/schema"
	"varve/engine/status"
)

// An operator may stop changes of a table (option read_only) and of the whole store (Options.ReadOnly). Rows, keys to
// delete and changes of schemas are refused then; ALTER still takes options, so that it can take read_only off.
// Flushes, merges, expiry and max_size go on, and so do the server's own tables. A store whose file system is read-only
// is another thing, see space.

// errReadOnlyTable refuses a change of a table that is read-only.
func errReadOnlyTable(n schema.Name) error {
	return status.Because(status.New(status.InvalidArguments, "table %s is read-only: it has read_only = 'true'", n),
		status.ReadOnlyTable)
}

// ErrReadOnly refuses changes of a store that is read-only by its options.
var ErrReadOnly = status.New(status.RegionReadonly,
	"the server is read-only: the configuration has read_only = true. Queries are answered, changes are refused")

// refusing returns the error for changes of a table that is read-only itself, or by its physical table; nil: it is not.
func (p home) refusing() error {
	t := p.schema()
	switch {
	case t.Draft: // it is being filled
		return nil
	case t.Options.ReadOnly:
		return errReadOnlyTable(t.Name)
	}
	if of := p.region.snap.Load().schema; p.logical != nil && of.Options.ReadOnly {
		return status.Because(status.New(status.InvalidArguments,
			"table %s is read-only: its physical table %s has read_only = 'true'", t.Name, of.Name.Table),
			status.ReadOnlyTable)
	}
	return nil
}

// refuses reports whether a table that is there is read-only.
func (p home) refuses() bool { return p.region != nil && p.refusing() != nil }

// refusing returns the error for new tables in a physical table that is read-only; nil: it is not, or does not exist.
func (c *catalog) refusing(n *SeriesName) error {
	if n.Physical == "" {
		return nil
	}
	p, ok := c.byName[schema.Name{DB: n.Table.DB, Table: n.Physical}]
	if !ok {
		return nil
	}
	return p.refusing()
}

// mayChange refuses changes on a store that is read-only, and changes in PrivateDB, that the server does not ask for
// itself.
func (v *inventory) mayChange(ctx context.Context, db string) error {
	if v.o.ReadOnly && ctx.Value(serverKey{}) == nil {
		return ErrReadOnly
	}
	return MayChange(ctx, db)
}

// MayChange refuses changes in a database on a store that is read-only, and changes in PrivateDB, that the server does
// not ask for itself.
func (e *Engine) MayChange(ctx context.Context, db string) error { return e.mayChange(ctx, db) }

// optionsOnly returns a change that a table which is read-only takes only if it changes nothing but options.
func optionsOnly(change func(*schema.Table) (*schema.Table, error)) func(*schema.Table) (*schema.Table, error) {
	return func(old *schema.Table) (*schema.Table, error) {
		next, err := change(old)
		if err != nil || next == old || !old.Options.ReadOnly {
			return next, err
		}
		same := *next
		same.Version, same.Altered, same.Options = old.Version, old.Altered, old.Options
		if !sameTable(&same, old) {
			return nil, errReadOnlyTable(old.Name)
		}
		return next, nil
	}
}

// sameTable reports whether two schemas are equal in everything.
func sameTable(a, b *schema.Table) bool { return reflect.DeepEqual(a, b) }

// liveOptions are the options of a physical table that may change, and hold for the rows of all its logical tables.
var liveOptions = []string{"ttl", schema.ReadOnlyOption, schema.RowRateOption, schema.ByteRateOption,
	schema.ColdOption, schema.OpenOption}
