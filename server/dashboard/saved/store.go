package saved

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"varve/engine"
	"varve/engine/private"
	"varve/engine/status"
	"varve/engine/vector"
)

// Limits of what is saved. A list is answered as a whole.
const (
	maxName       = 256       // bytes
	maxDefinition = 256 << 10 // bytes
	maxCount      = 1000
	maxTotal      = 16 << 20 // bytes of all names and definitions
)

// table keeps a row for each definition. Its time is zero, so that the last one written replaces those before.
var table = private.Table{TTL: "forever", OwnTable: engine.OwnTable{
	Name: engine.DashboardsTable, Time: "saved_at", Tags: []string{"name"},
	Columns: []vector.Field{{Name: "definition", Type: vector.StringType}, {Name: "name", Type: vector.StringType},
		{Name: "saved_at", Type: vector.Timestamp(3)}},
}}

// definition is one that was saved.
type definition struct{ name, text string }

// store reads and writes the table. Safe for concurrent use.
type store struct {
	engine *engine.Engine
	mu     sync.Mutex // held while a definition is saved or removed: the limits count all of them
}

// list returns the definitions, by name.
func (s *store) list(ctx context.Context) ([]definition, error) {
	var all []definition
	for row, err := range table.Rows(ctx, s.engine, private.Query{Columns: []string{"name", "definition"}}) {
		if err != nil {
			return nil, err
		}
		if !row.AnyNull(2) {
			all = append(all, definition{row.Text(0), row.Text(1)})
		}
	}
	slices.SortFunc(all, func(a, b definition) int { return cmp.Compare(a.name, b.name) })
	return all, nil
}

// find returns one definition.
func (s *store) find(ctx context.Context, name string) (definition, error) {
	all, err := s.list(ctx)
	if err != nil {
		return definition{}, err
	}
	for _, d := range all {
		if d.name == name {
			return d, nil
		}
	}
	return definition{}, missing(name)
}

// errMissing is the error that there is no definition of a name.
type errMissing struct{ error }

func (e errMissing) Unwrap() error { return e.error }

func missing(name string) error {
	return errMissing{status.New(status.InvalidArguments, "Dashboard not found: %s", name)}
}

// save writes a definition in place of one of its name.
func (s *store) save(ctx context.Context, d definition) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	count, total := 1, len(d.name)+len(d.text)
	for _, old := range all {
		if old.name != d.name {
			count++
			total += len(old.name) + len(old.text)
		}
	}
	if count > maxCount || total > maxTotal {
		return status.New(status.InvalidArguments,
			"this would make %d dashboards of %d bytes, the limits are %d and %d: delete some", count, total, maxCount,
			maxTotal)
	}
	return table.Put(ctx, s.engine, []any{d.text, d.name, int64(0)})
}

// remove deletes a definition.
func (s *store) remove(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(ctx, name); err != nil {
		return err
	}
	return table.Delete(ctx, s.engine, []any{name, int64(0)})
}
