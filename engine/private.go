package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// The database PrivateDB belongs to the server. Every change of a table there is refused unless its context says that
// the server asks for it itself, so that no door has to think of it. What an older program let others write there is
// looked at before it is used: a table that is not as the server makes it gets another name, and the server goes on
// without it.

// The server's own tables, all in PrivateDB.
const (
	PipelinesTable   = "pipelines"
	ViewsTable       = "views"
	DashboardsTable  = "dashboard"
	SlowQueriesTable = "slow_queries"
	MetadataTable    = "metric_metadata"
	ExemplarsTable   = "metric_exemplars"
	RejectedTable    = "rejected"
	RulesTable       = "rules"
	AlertsTable      = "rule_alerts"
)

var ownTables = []string{PipelinesTable, ViewsTable, DashboardsTable, SlowQueriesTable, MetadataTable, ExemplarsTable,
	RejectedTable, RulesTable, AlertsTable}

// asideMark comes before the number in the name of a table that was set aside.
const asideMark = ".aside-"

type serverKey struct{}

// AsServer marks what the server does for itself, on no client's word: it alone changes tables of PrivateDB.
func AsServer(ctx context.Context) context.Context {
	return context.WithValue(ctx, serverKey{}, true)
}

// MayChange refuses changes in PrivateDB that the server does not ask for itself.
func MayChange(ctx context.Context, db string) error {
	if db != PrivateDB || ctx.Value(serverKey{}) != nil {
		return nil
	}
	return status.New(status.Unsupported,
		"database %s belongs to the server, and only the server writes to it: use another database", PrivateDB)
}

// mayDrop is MayChange for a table that is dropped: in PrivateDB those may be that the server does not use.
func (v *inventory) mayDrop(ctx context.Context, n schema.Name) error {
	if n.DB == PrivateDB && !slices.Contains(ownTables, n.Table) && !v.o.ReadOnly {
		return nil
	}
	return v.mayChange(ctx, n.DB)
}

// checkOwner refuses a set with rows for a table that its writer may not change.
func (s *WriteSet) checkOwner(ctx context.Context) error {
	for _, w := range s.entries {
		if err := MayChange(ctx, w.name.DB); err != nil {
			return err
		}
	}
	return nil // of samples their series are checked, see Series
}

// OwnTable is the required form of one of the server's own tables.
type OwnTable struct {
	Name string
	// Columns are those that the server reads and writes; others may be there.
	Columns []vector.Field
	// Later are the names of those that tables of older programs lack, until a row brings them.
	Later []string
	// Time is the time index, Tags are the rest of the key.
	Time       string
	Tags       []string
	AppendMode bool // the table shows every row
}

// Own finds one of the server's own tables. A table without the required form is set aside; the result is then
// TableNotFound.
func (e *Engine) Own(want *OwnTable) (*Table, error) {
	n := schema.Name{DB: PrivateDB, Table: want.Name}
	if !slices.Contains(ownTables, want.Name) {
		return nil, fmt.Errorf("%s is not among the server's own tables", n)
	}
	t, err := e.Table(n)
	if err != nil {
		return nil, err
	}
	fault := want.fault(t.Schema)
	if fault == "" {
		return t, nil
	}
	if err := e.setTableAside(n, t.Schema.ID, fault); err != nil {
		e.o.Logger.Error("a table of the server's own cannot be used and cannot be set aside", "table", n, "reason",
			fault, "error", err)
	}
	return nil, status.New(status.TableNotFound, "Table not found: %s: one of this name %s", n, fault)
}

// fault says what is wrong with a table; empty: nothing is.
func (want *OwnTable) fault(t *schema.Table) string {
	for _, f := range want.Columns {
		at := t.Column(f.Name)
		switch {
		case at < 0 && slices.Contains(want.Later, f.Name):
		case at < 0:
			return "has no column " + f.Name
		case t.Columns[at].Type != f.Type:
			return fmt.Sprintf("has a column %s of type %s, not %s", f.Name, t.Columns[at].Type, f.Type)
		}
	}
	if name := t.Columns[t.Time].Name; name != want.Time {
		return fmt.Sprintf("has the time index %s, not %s", name, want.Time)
	}
	var tags []string
	for _, at := range t.Tags {
		tags = append(tags, t.Columns[at].Name)
	}
	if !slices.Equal(tags, want.Tags) {
		return fmt.Sprintf("has the tags %q, not %q", tags, want.Tags)
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		known := slices.ContainsFunc(want.Columns, func(f vector.Field) bool { return f.Name == c.Name })
		if !known && !c.Nullable && c.Default == nil && i != t.Time {
			return fmt.Sprintf("has a further column %s, which is NOT NULL", c.Name)
		}
	}
	switch {
	case t.Shared() || t.Physical != 0:
		return "is a table of metrics"
	case t.Options.AppendMode != want.AppendMode:
		return fmt.Sprintf("has append_mode = '%v'", t.Options.AppendMode)
	}
	return ""
}

// setTableAside gives a table another name, under which its rows can be read and it can be dropped. Its comment says
// why.
func (e *Engine) setTableAside(n schema.Name, id schema.TableID, fault string) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	e.ddl.Lock()
	defer e.ddl.Unlock()
	c := e.catalog.Load()
	p, ok := c.byName[n]
	if !ok || p.schema().ID != id { // somebody else was first, and may have made a new one
		return nil
	}
	next := *p.schema()
	next.Version++
	next.Options = next.Options.WithComment("the table " + fault)
	for number, taken := 1, true; taken; number++ {
		next.Name.Table = fmt.Sprintf("%s%s%d", n.Table, asideMark, number)
		_, taken = c.byName[next.Name]
	}
	if err := e.alterer.publish(&Table{p.schema(), p}, &next); err != nil {
		return err
	}
	e.o.Logger.Error(
		"a table of the server's own is set aside, its rows are not used: it is not as the server makes it", "table", n,
		"now", next.Name, "reason", "the table "+fault)
	return nil
}

// TableAside is a table of the server's own that was set aside.
type TableAside struct {
	Name   schema.Name
	Reason string
}

// TablesAside lists the tables that were set aside and are still there, by name.
func (e *Engine) TablesAside() (list []TableAside) {
	for n, p := range e.catalog.Load().byName {
		if of, _, ok := strings.Cut(n.Table, asideMark); ok && n.DB == PrivateDB && slices.Contains(ownTables, of) {
			list = append(list, TableAside{n, p.schema().Options.Comment})
		}
	}
	slices.SortFunc(list, func(a, b TableAside) int { return strings.Compare(a.Name.Table, b.Name.Table) })
	return list
}
