package engine

import (
	"sync/atomic"

	"varve/engine/schema"
	"varve/engine/status"
)

// Views are the names of views. A name belongs to a table or to a view. The store knows only the names of views. It
// gives out both kinds of names under one lock: if CREATE VIEW and a first write use the same name at the same time,
// the later one fails. Otherwise the view would hide the table. Safe for concurrent use.
type Views struct {
	tables *inventory
	given  map[schema.Name]struct{}               // names of views; under inventory.ddl
	isView atomic.Pointer[func(schema.Name) bool] // see KnownBy; nil: there are none
}

func newViews(tables *inventory) *Views {
	return &Views{tables: tables, given: map[schema.Name]struct{}{}}
}

// Views returns the names of the store's views.
func (e *Engine) Views() *Views { return e.views }

// Take gives a name to a view; TableAlreadyExists where it is a table's.
func (v *Views) Take(n schema.Name) error {
	v.tables.ddl.Lock()
	defer v.tables.ddl.Unlock()
	if _, ok := v.tables.catalog.Load().byName[n]; ok {
		return status.New(status.TableAlreadyExists, "Table already exists: `%s`", n)
	}
	v.given[n] = struct{}{}
	return nil
}

// Free takes the name of a view back.
func (v *Views) Free(n schema.Name) {
	v.tables.ddl.Lock()
	defer v.tables.ddl.Unlock()
	delete(v.given, n)
}

// KnownBy sets a function that reports whether a name is the name of a view. The store calls it before a write
// creates a table, because a view of the same name would hide the table. isView may read tables; it is not called for
// the server's own tables.
func (v *Views) KnownBy(isView func(schema.Name) bool) { v.isView.Store(&isView) }

// taken is the error of a table whose name is a view's. The caller holds inventory.ddl.
func (v *Views) taken(n schema.Name) error {
	if _, ok := v.given[n]; !ok {
		return nil
	}
	return errOfView(n)
}

// refuse refuses rows for a view. The caller has not entered the store yet: who is asked may wait for others that do.
func (v *Views) refuse(n schema.Name) error {
	isView := v.isView.Load()
	if isView == nil || n.DB == PrivateDB {
		return nil
	}
	if _, ok := v.tables.catalog.Load().byName[n]; ok || !(*isView)(n) {
		return nil
	}
	return errOfView(n)
}

// refuseAll is refuse for all rows of a set.
func (v *Views) refuseAll(s *WriteSet) error {
	for _, w := range s.entries {
		if w.builder.Rows() == 0 {
			continue
		}
		if err := v.refuse(w.name); err != nil {
			return err
		}
	}
	return nil
}

func errOfView(n schema.Name) error {
	return status.New(status.InvalidArguments, "%s is a view: rows cannot be written to it", n)
}
