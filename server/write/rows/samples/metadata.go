package samples

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"varve/engine"
	"varve/engine/private"
	"varve/engine/schema"
	"varve/engine/vector"
)

// Metadata is what a sender says of a metric.
type Metadata struct {
	Metric           string
	Type, Unit, Help string
}

// described is metadata with the table that the metric had when its sender said so; 0: it had none.
type described struct {
	Metadata
	table schema.TableID
}

// Limits of metadata: it is kept in memory, and help is text for people.
const (
	maxMetadata      = 100_000
	maxMetadataBytes = 16 << 20
	maxHelp          = 4 << 10
	maxUnit          = 256
)

// NewMetadata makes metadata. It cuts unit and help to the bytes that are kept before it copies them: in a message many
// metrics may refer to one long text.
func NewMetadata(metric, kind string, unit, help []byte) Metadata {
	return Metadata{Metric: metric, Type: kind, Unit: cut(unit, maxUnit), Help: cut(help, maxHelp)}
}

// cut is a text, cut to at most most bytes.
func cut(text []byte, most int) string {
	return strings.ToValidUTF8(string(text[:min(len(text), most)]), "")
}

// Bytes is the memory of it, about.
func (m *Metadata) Bytes() int { return metadataBytes + len(m.Metric) + len(m.Unit) + len(m.Help) }

// metadataBytes is the memory of a metric's metadata besides its texts.
const metadataBytes = 128

// metadataTable keeps a row for each metric that has metadata. The time of all rows is 0, so that the last row of a
// metric replaces those before.
var metadataTable = private.Table{OwnTable: engine.OwnTable{
	Name: engine.MetadataTable, Time: "described_at", Tags: []string{"database", "metric"}, Later: originColumns,
	Columns: []vector.Field{
		{Name: "database", Type: vector.StringType}, {Name: "database_made", Type: vector.Int64Type},
		{Name: "described_at", Type: vector.Timestamp(3)},
		{Name: "help", Type: vector.StringType}, {Name: "metric", Type: vector.StringType},
		{Name: "table_id", Type: vector.Int64Type},
		{Name: "type", Type: vector.StringType}, {Name: "unit", Type: vector.StringType},
	},
}}

// owner is a database, told apart by made from databases that had its name before.
type owner struct {
	name string
	made int64
}

// owner is the database with a name as it is now; false: there is none.
func (t *Tables) owner(name string) (owner, bool) {
	d, ok := t.o.Store.Database(name)
	return owner{name, d.Made}, ok
}

// Metadata belongs to the database and the table that had the names when it was sent, not to later ones with the same
// names. The columns madeColumn and tableColumn tell them apart; rows of older programs lack them.
const (
	madeColumn  = "database_made"
	tableColumn = "table_id"
)

var originColumns = []string{madeColumn, tableColumn}

// tableID is the table of a metric; 0: there is none.
func tableID(store *engine.Engine, db, metric string) schema.TableID {
	t, err := store.Table(schema.Name{DB: db, Table: metric})
	if err != nil {
		return 0
	}
	return t.Schema.ID
}

// metadataByDB is the metadata of metrics, by database. Safe for concurrent use.
type metadataByDB struct {
	store *engine.Engine

	mu     sync.Mutex // protects what follows; held while metadata is read from the store and written
	loaded bool
	byName map[owner]map[string]described
	count  int
	bytes  int
}

// Describe keeps the metadata of metrics of a database. The last metadata of a metric counts. Metadata that is known
// already is not written again; for a database that is not there nothing is kept.
func (t *Tables) Describe(ctx context.Context, db string, list []Metadata) error {
	of, ok := t.owner(db)
	if len(list) == 0 || !ok {
		return nil
	}
	return t.metadata.put(ctx, of, list)
}

// Metadata lists the metadata of the metrics of a database, sorted by name; of one metric if metric is not empty.
func (t *Tables) Metadata(ctx context.Context, db, metric string) ([]Metadata, error) {
	m := &t.metadata
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	of, _ := t.owner(db)
	var list []Metadata
	for name, one := range m.byName[of] {
		if (metric == "" || metric == name) && (one.table == 0 || one.table == tableID(m.store, db, name)) {
			list = append(list, one.Metadata)
		}
	}
	slices.SortFunc(list, func(a, b Metadata) int { return cmp.Compare(a.Metric, b.Metric) })
	return list, nil
}

func (m *metadataByDB) put(ctx context.Context, of owner, list []Metadata) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.load(ctx); err != nil {
		return err
	}
	var fresh []described
	for _, said := range list {
		one := described{said, tableID(m.store, of.name, said.Metric)}
		if old, ok := m.byName[of][one.Metric]; old != one && m.hasRoom(old, one, ok) {
			fresh = append(fresh, one)
			m.set(of, one)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	rows := make([][]any, len(fresh))
	for i, one := range fresh {
		rows[i] = []any{of.name, of.made, int64(0), one.Help, one.Metric, int64(one.table), one.Type, one.Unit}
	}
	err := metadataTable.Put(ctx, m.store, rows...)
	if err != nil {
		m.loaded = false
	}
	return err
}

// hasRoom reports whether there is room for one in place of an old one. The caller holds m.mu.
func (m *metadataByDB) hasRoom(old, one described, known bool) bool {
	more := one.Bytes()
	if known {
		more -= old.Bytes()
	}
	fits := func() bool { return (known || m.count < maxMetadata) && m.bytes+more <= maxMetadataBytes }
	return fits() || m.forgetDropped() && fits()
}

// forgetDropped drops the metadata of databases that are gone, and reports whether there was any. The caller holds
// m.mu.
func (m *metadataByDB) forgetDropped() (any bool) {
	for of, metrics := range m.byName {
		if d, ok := m.store.Database(of.name); ok && d.Made == of.made {
			continue
		}
		for _, one := range metrics {
			m.count--
			m.bytes -= one.Bytes()
		}
		delete(m.byName, of)
		any = true
	}
	return any
}

// set enters the metadata of a metric. The caller holds m.mu.
func (m *metadataByDB) set(of owner, one described) {
	if m.byName[of] == nil {
		m.byName[of] = map[string]described{}
	}
	if old, ok := m.byName[of][one.Metric]; ok {
		m.bytes -= old.Bytes()
	} else {
		m.count++
	}
	m.bytes += one.Bytes()
	m.byName[of][one.Metric] = one
}

// load reads what is stored, once.
func (m *metadataByDB) load(ctx context.Context) error {
	if m.loaded {
		return nil
	}
	m.byName, m.count, m.bytes = map[owner]map[string]described{}, 0, 0
	for row, err := range metadataTable.Rows(ctx, m.store,
		private.Query{Columns: []string{"database", "metric", "type", "unit", "help", madeColumn, tableColumn}}) {
		if err != nil {
			return err
		}
		of, one := owner{row.Text(0), row.Int(5)},
			Metadata{Metric: row.Text(1), Type: row.Text(2), Unit: row.Text(3), Help: row.Text(4)}
		// older programs let users write this table
		if d, ok := m.store.Database(of.name); ok && d.Made == of.made && one.Metric != "" {
			m.set(of, described{one, schema.TableID(row.Int(6))})
		}
	}
	m.loaded = true
	return nil
}
