package saved

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/schema"
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

// table keeps a row for each definition: the last one written replaces those before, as their times are the same.
var table = schema.Name{DB: engine.PrivateDB, Table: engine.DashboardsTable}

// timeColumn holds zero in every row.
const timeColumn = "saved_at"

var form = engine.OwnTable{
	Name: engine.DashboardsTable, Time: timeColumn, Tags: []string{"name"},
	Columns: []vector.Field{{Name: "name", Type: vector.StringType}, {Name: "definition", Type: vector.StringType}, {Name: timeColumn, Type: vector.Timestamp(3)}},
}

// definition is one that was saved.
type definition struct{ name, text string }

// store reads and writes the table. Safe for concurrent use.
type store struct {
	engine *engine.Engine
	mu     sync.Mutex // held while one is saved or removed: the limits look at all
}

// list returns the definitions, by name.
func (s *store) list(ctx context.Context) ([]definition, error) {
	t, err := s.engine.Own(&form)
	if status.Of(err) == status.TableNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	request := engine.Request{Table: t, Time: scan.All, Columns: t.Schema.IDs("name", "definition")}
	rows, err := s.engine.Scan(ctx, request)
	if err != nil {
		return nil, err
	}
	var all []definition
	err = rows.Each(func(b *vector.Batch) (bool, error) {
		for i := range b.N {
			if !b.Cols[0].IsNull(i) && !b.Cols[1].IsNull(i) {
				all = append(all, definition{string(b.Cols[0].Bytes(i)), string(b.Cols[1].Bytes(i))})
			}
		}
		return true, nil
	})
	slices.SortFunc(all, func(a, b definition) int { return cmp.Compare(a.name, b.name) })
	return all, err
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

// errMissing is what is not there.
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
		return status.New(status.InvalidArguments, "there would be %d dashboards of %d bytes, the most are %d and %d: delete some", count, total, maxCount, maxTotal)
	}
	options, err := schema.ParseOptions(map[string]string{"ttl": "forever"})
	if err != nil {
		return err
	}
	var set engine.WriteSet
	b := set.Rows(table, engine.Hint{AutoCreate: true, TimeIndex: timeColumn, Tags: form.Tags, Options: options})
	for _, c := range []struct{ name, text string }{{"name", d.name}, {"definition", d.text}} {
		column, err := b.Column(c.name, vector.StringType)
		if err != nil {
			return err
		}
		column.SetString(c.text)
	}
	at, err := b.Column(timeColumn, vector.Timestamp(3))
	if err != nil {
		return err
	}
	at.SetInt(0)
	b.EndRow()
	_, err = s.engine.Write(engine.AsServer(ctx), &set)
	return err
}

// remove deletes a definition.
func (s *store) remove(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(ctx, name); err != nil {
		return err
	}
	keys := vector.NewBatch(vector.StringType, vector.Timestamp(3))
	keys.Append(&vector.Batch{N: 1, Cols: []*vector.Vector{vector.ConstString(name), vector.ConstInt(vector.Timestamp(3), 0)}}, 0, 1)
	_, err := s.engine.Delete(engine.AsServer(ctx), table, keys)
	return err
}
