package samples

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// Metadata is what senders say of a metric.
type Metadata struct {
	Metric           string
	Type, Unit, Help string
}

// Limits of metadata: it is kept in memory, and help is text for people.
const (
	maxMetadata      = 100_000
	maxMetadataBytes = 16 << 20
	maxHelp          = 4 << 10
	maxUnit          = 256
)

// NewMetadata is what a sender says of a metric, help and unit cut to what is kept of them before they are copied: in a message
// many metrics may refer to one text.
func NewMetadata(metric, kind string, unit, help []byte) Metadata {
	return Metadata{Metric: metric, Type: kind, Unit: cut(unit, maxUnit), Help: cut(help, maxHelp)}
}

// cut is a text, of one that is too long its beginning.
func cut(text []byte, most int) string {
	return strings.ToValidUTF8(string(text[:min(len(text), most)]), "")
}

// Bytes is the memory of it, about.
func (m *Metadata) Bytes() int { return metadataBytes + len(m.Metric) + len(m.Unit) + len(m.Help) }

// metadataBytes is the memory of a metric's metadata besides its texts.
const metadataBytes = 128

// metadataTable keeps a row for each metric that was described.
var metadataTable = schema.Name{DB: engine.PrivateDB, Table: engine.MetadataTable}

var metadataForm = engine.OwnTable{
	Name: engine.MetadataTable, Time: "described_at", Tags: metadataColumns[:2],
	Columns: []vector.Field{
		{Name: "database", Type: vector.StringType}, {Name: "metric", Type: vector.StringType}, {Name: "type", Type: vector.StringType},
		{Name: "unit", Type: vector.StringType}, {Name: "help", Type: vector.StringType}, {Name: "described_at", Type: vector.Timestamp(3)},
	},
}

// metadataColumns are the columns of texts, the key before the rest.
var metadataColumns = [...]string{"database", "metric", "type", "unit", "help"}

// owner is a database: not another that had its name before.
type owner struct {
	name string
	made int64
}

// owner is the database with a name as it is now; false: there is none.
func (t *Tables) owner(name string) (owner, bool) {
	d, ok := t.o.Store.Database(name)
	return owner{name, d.Made}, ok
}

// madeColumn says of which of the databases that had the name a row is; rows from before there was the column lack it.
const madeColumn = "database_made"

// metadata is what is known of metrics, by database. Safe for concurrent use.
type metadata struct {
	store *engine.Engine

	mu     sync.Mutex // protects what follows; held while it is read from the store and written
	loaded bool
	byName map[owner]map[string]Metadata
	count  int
	bytes  int
}

// Describe keeps what a request says of metrics of a database; the last word counts. What is known already is not written again, and
// of a database that is not there nothing is kept.
func (t *Tables) Describe(ctx context.Context, db string, list []Metadata) error {
	of, ok := t.owner(db)
	if len(list) == 0 || !ok {
		return nil
	}
	return t.metadata.put(ctx, of, list)
}

// Metadata lists what is known of the metrics of a database, by name; metric, if not empty, is the only one asked for.
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
		if metric == "" || metric == name {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b Metadata) int { return cmp.Compare(a.Metric, b.Metric) })
	return list, nil
}

func (m *metadata) put(ctx context.Context, of owner, list []Metadata) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.load(ctx); err != nil {
		return err
	}
	var fresh []Metadata
	for _, one := range list {
		if old, ok := m.byName[of][one.Metric]; old != one && m.hasRoom(old, one, ok) {
			fresh = append(fresh, one)
			m.set(of, one)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	var set engine.WriteSet
	b := set.Rows(metadataTable, engine.Hint{AutoCreate: true, TimeIndex: "described_at", Tags: metadataColumns[:2]})
	for _, one := range fresh {
		for i, text := range []string{of.name, one.Metric, one.Type, one.Unit, one.Help} {
			c, err := b.Column(metadataColumns[i], vector.StringType)
			if err != nil {
				return err
			}
			c.SetString(text)
		}
		at, err := b.Column("described_at", vector.Timestamp(3))
		if err != nil {
			return err
		}
		at.SetInt(0) // one row a metric: the last replaces those before
		made, err := b.Column(madeColumn, vector.Int64Type)
		if err != nil {
			return err
		}
		made.SetInt(of.made)
		b.EndRow()
	}
	_, err := m.store.Write(engine.AsServer(ctx), &set)
	if err != nil {
		m.loaded = false
	}
	return err
}

// hasRoom reports whether there is room for one in place of an old one. The caller holds m.mu.
func (m *metadata) hasRoom(old, one Metadata, known bool) bool {
	more := one.Bytes()
	if known {
		more -= old.Bytes()
	}
	fits := func() bool { return (known || m.count < maxMetadata) && m.bytes+more <= maxMetadataBytes }
	return fits() || m.forgetDropped() && fits()
}

// forgetDropped drops what is known of metrics of databases that are gone, and reports whether there was any. The caller holds m.mu.
func (m *metadata) forgetDropped() (any bool) {
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

// set enters one. The caller holds m.mu.
func (m *metadata) set(of owner, one Metadata) {
	if m.byName[of] == nil {
		m.byName[of] = map[string]Metadata{}
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
func (m *metadata) load(ctx context.Context) error {
	if m.loaded {
		return nil
	}
	m.byName, m.count, m.bytes = map[owner]map[string]Metadata{}, 0, 0
	t, err := m.store.Own(&metadataForm)
	if status.Of(err) == status.TableNotFound {
		m.loaded = true
		return nil
	}
	if err != nil {
		return err
	}
	request := engine.Request{Table: t, Time: scan.All, Columns: append(t.Schema.IDs(metadataColumns[:]...), madeID(t.Schema)...)}
	s, err := m.store.Scan(ctx, request)
	if err != nil {
		return err
	}
	if err := s.Each(func(b *vector.Batch) (bool, error) {
		for i := range b.N {
			var texts [len(metadataColumns)]string
			for k, v := range b.Cols[:len(texts)] {
				if !v.IsNull(i) {
					texts[k] = string(v.Bytes(i))
				}
			}
			of := owner{texts[0], madeIn(b, len(texts), i)}
			if d, ok := m.store.Database(of.name); !ok || d.Made != of.made || texts[1] == "" { // an older program let others write here
				continue
			}
			m.set(of, Metadata{Metric: texts[1], Type: texts[2], Unit: texts[3], Help: texts[4]})
		}
		return true, nil
	}); err != nil {
		return err
	}
	m.loaded = true
	return nil
}
