package engine

import (
	"varve/engine/schema"
	"varve/engine/status"
)

// A name belongs to a table or to a view. The store knows only the names of views. It gives out both kinds of names
// under one lock: if CREATE VIEW and a first write use the same name at the same time, the later one fails. Otherwise
// the view would hide the table.

// TakeName gives a name to a view; TableAlreadyExists where it is a table's.
func (e *Engine) TakeName(n schema.Name) error {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	if _, ok := e.catalog.Load().byName[n]; ok {
		return status.New(status.TableAlreadyExists, "Table already exists: `%s`", n)
	}
	e.viewNames[n] = struct{}{}
	return nil
}

// FreeName takes the name of a view back.
func (e *Engine) FreeName(n schema.Name) {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	delete(e.viewNames, n)
}

// nameOfView is the error of a table whose name is a view's. The caller holds e.ddl.
func (e *Engine) nameOfView(n schema.Name) error {
	if _, ok := e.viewNames[n]; !ok {
		return nil
	}
	return errOfView(n)
}

func errOfView(n schema.Name) error {
	return status.New(status.InvalidArguments, "%s is a view: rows cannot be written to it", n)
}
