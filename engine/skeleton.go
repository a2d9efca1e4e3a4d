package engine

import (
	"context"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

type core struct{}
type writeSet struct{}
type table struct{}
type tableScan struct{}

func open(Options) (*Engine, error)                                 { panic("engine: open") }
func (s *writeSet) rows(schema.Name, Hint) *vector.Builder          { panic("engine: rows") }
func (s *writeSet) reset()                                          {}
func (e *core) write(context.Context, *WriteSet) ([]Written, error) { panic("engine: write") }
func (e *core) delete(context.Context, schema.Name, *vector.Batch) (int, error) {
	panic("engine: delete")
}
func (e *core) findTable(schema.Name) (*Table, error)                      { panic("engine") }
func (e *core) listTables(string) ([]*Table, error)                        { panic("engine") }
func (e *core) databases() []Database                                      { panic("engine") }
func (e *core) createDatabase(context.Context, Database) error             { panic("engine") }
func (e *core) alterDatabase(context.Context, Database) error              { panic("engine") }
func (e *core) dropDatabase(context.Context, string) error                 { panic("engine") }
func (e *core) createTable(context.Context, *schema.Table) (*Table, error) { panic("engine") }
func (e *core) alter(context.Context, schema.Name, func(*schema.Table) (*schema.Table, error)) error {
	panic("engine")
}
func (e *core) dropTables(context.Context, []schema.Name) error   { panic("engine") }
func (e *core) truncate(context.Context, schema.Name) error       { panic("engine") }
func (e *core) flush(context.Context, schema.Name) error          { panic("engine") }
func (e *core) compact(context.Context, schema.Name) error        { panic("engine") }
func (e *core) scan(context.Context, Request) (*Scan, error)      { panic("engine") }
func (s *tableScan) next() (scan.Cursor, scan.Range, bool, error) { panic("engine") }
func (s *tableScan) series(i, n int) (scan.Series, error)         { panic("engine") }
func (s *tableScan) stat(schema.ColumnID) (scan.ColumnStat, bool) { panic("engine") }
func (s *tableScan) rowBound() int                                { panic("engine") }
func (s *tableScan) unpin()                                       {}
func (e *core) recovery() Recovery                                { panic("engine") }
func (e *core) setAside() []SetAside                              { panic("engine") }
func (t *table) stats() TableStats                                { panic("engine") }
func (e *core) close(context.Context, bool) error                 { panic("engine") }
