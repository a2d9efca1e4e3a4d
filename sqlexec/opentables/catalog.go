package opentables

import (
	"context"
	"maps"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/sqlexec/opentables/iceberg"
)

// Loaded is a table as a catalog gives it.
type Loaded struct {
	Location string // of the metadata
	Metadata *iceberg.Metadata
}

// Tables lists the open tables of a database; DatabaseNotFound.
func (x *Exporter) Tables(db string) ([]string, error) {
	list, err := x.o.Engine.Tables(db)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range list {
		if x.o.Engine.Opens(t.Schema) == schema.OpenIceberg {
			names = append(names, t.Schema.Name.Table)
		}
	}
	return names, nil
}

// Databases lists the databases.
func (x *Exporter) Databases() (names []string) {
	for _, d := range x.o.Engine.Databases() {
		names = append(names, d.Name)
	}
	return names
}

// Load returns a table; ok is false if there is none, or none that is open. A table of which nothing was written yet
// has no snapshot.
func (x *Exporter) Load(ctx context.Context, n schema.Name) (l Loaded, ok bool, err error) {
	t, err := x.o.Engine.Table(n)
	if err != nil || x.o.Engine.Opens(t.Schema) != schema.OpenIceberg {
		return Loaded{}, false, nil //nolint:nilerr // a name without a table is no error
	}
	k := x.table(t.Schema)
	m, at, err := k.current(ctx, t.Schema)
	if engine.Overtaken(err) {
		return Loaded{}, false, nil // dropped or renamed meanwhile
	}
	if err != nil {
		return Loaded{}, false, err
	}
	return Loaded{at, m}, true, nil
}

// Place is the address of the bucket.
func (x *Exporter) Place() string { return x.o.Bucket.String() }

// current is the metadata of a table and where it lies, with what the catalog knows besides. A table that is being
// written is read as of the last commit.
func (k *table) current(ctx context.Context, t *schema.Table) (*iceberg.Metadata, string, error) {
	v := k.seen.Load()
	if v == nil {
		if err := k.lock(ctx); err != nil {
			return nil, "", err
		}
		now, err := k.x.fresh(t)
		if err == nil {
			err = k.load(ctx)
		}
		if err == nil {
			err = k.prepare(ctx, now.Schema)
		}
		k.unlock()
		if err != nil {
			return nil, "", err
		}
		v = k.seen.Load()
	}
	m := *v.meta
	m.Properties = maps.Clone(m.Properties)
	if until := k.complete.Load(); until != nil {
		m.Properties[propUntil] = until.Format(time.RFC3339)
	}
	return &m, k.url(metadataPath(v.version)), nil
}

// seen is a version of a table for readers. It is never changed.
type seen struct {
	version int64
	meta    *iceberg.Metadata
}
