package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"

	"varve/engine"
	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// Documents are kept as rows of a table of the server's own, one for each version.
var documentsTable = schema.Name{DB: engine.PrivateDB, Table: engine.PipelinesTable}

var documentsForm = engine.OwnTable{
	Name: engine.PipelinesTable, Time: "created_at", Tags: []string{"name", "schema", "content_type"},
	Columns: []vector.Field{
		{Name: "name", Type: vector.StringType}, {Name: "schema", Type: vector.StringType}, {Name: "content_type", Type: vector.StringType},
		{Name: "pipeline", Type: vector.StringType}, {Name: "created_at", Type: vector.Timestamp(9)},
	},
}

// maxPipelineName bounds the name of a pipeline, in bytes.
const maxPipelineName = 512

// Document is a stored version of a pipeline.
type Document struct {
	Name string
	// Version is the time of creation, in ns since the epoch.
	Version int64
	// Text is the document as it was uploaded.
	Text string
	// Warnings are what to tell of a document that was just stored.
	Warnings []string
	// schema and contentType are the other parts of the row's key.
	schema, contentType string
}

// FormatVersion prints a version: 2024-07-04 08:31:00.987136123.
func FormatVersion(ns int64) string {
	return strings.Replace(string(timefmt.AppendTimestamp(nil, ns, 9)), "T", " ", 1)
}

// ParseVersion reads a version.
func ParseVersion(text string) (ns int64, err error) {
	sec, nanos, err := timefmt.ParseTimestamp(text, nil)
	if err != nil || sec > 1<<33 || sec < -(1<<33) {
		return 0, status.New(status.InvalidArguments, "Invalid pipeline version format: %s", text)
	}
	return sec*1e9 + int64(nanos), nil
}

// documents reads and writes the table of documents.
type documents struct {
	store *engine.Engine // nil: there are none
}

// ensure makes the table.
func (d *documents) ensure(ctx context.Context) error {
	if d.store == nil {
		return status.New(status.Unsupported, "this server keeps no pipeline documents")
	}
	if _, err := d.store.Own(&documentsForm); status.Of(err) != status.TableNotFound {
		return err
	}
	options, err := schema.ParseOptions(map[string]string{"ttl": "forever"})
	if err != nil {
		return err
	}
	t := &schema.Table{Name: documentsTable, Time: 4, Tags: []int{0, 1, 2}, Options: options, Engine: "mito"}
	for i, f := range documentsForm.Columns {
		c := schema.Column{Name: f.Name, Type: f.Type, Nullable: i != t.Time}
		switch {
		case i == t.Time:
			c.Semantic = schema.Timestamp
		case slices.Contains(t.Tags, i):
			c.Semantic = schema.Tag
		}
		t.Columns = append(t.Columns, c)
	}
	if _, err := d.store.CreateTable(engine.AsServer(ctx), t); status.Of(err) != status.TableAlreadyExists {
		return err
	}
	return nil
}

// put writes a version.
func (d *documents) put(ctx context.Context, doc *Document) error {
	if err := d.ensure(ctx); err != nil {
		return err
	}
	var set engine.WriteSet
	b := set.Rows(documentsTable, engine.Hint{AutoCreate: true, TimeIndex: "created_at", Tags: documentsForm.Tags})
	for _, c := range []struct{ name, text string }{
		{"name", doc.Name}, {"schema", doc.schema}, {"content_type", doc.contentType}, {"pipeline", doc.Text},
	} {
		column, err := b.Column(c.name, vector.StringType)
		if err != nil {
			return err
		}
		column.SetString(c.text)
	}
	created, err := b.Column("created_at", vector.Timestamp(9))
	if err != nil {
		return err
	}
	created.SetInt(doc.Version)
	b.EndRow()
	_, err = d.store.Write(engine.AsServer(ctx), &set)
	return err
}

// remove deletes versions.
func (d *documents) remove(ctx context.Context, docs []Document) error {
	keys := vector.NewBatch(vector.StringType, vector.StringType, vector.StringType, vector.Timestamp(9))
	for i := range docs {
		keys.Append(&vector.Batch{N: 1, Cols: []*vector.Vector{
			vector.ConstString(docs[i].Name), vector.ConstString(docs[i].schema), vector.ConstString(docs[i].contentType),
			vector.ConstInt(vector.Timestamp(9), docs[i].Version),
		}}, 0, 1)
	}
	_, err := d.store.Delete(engine.AsServer(ctx), documentsTable, keys)
	return err
}

// latest is the version that stands for the newest one.
const latest = -1 << 63

// errNoDocument says that there is no such version.
var errNoDocument = errors.New("no such pipeline")

// get reads a version, or the newest one. errNoDocument.
func (d *documents) get(ctx context.Context, name string, version int64) (found Document, err error) {
	err = errNoDocument
	scanErr := d.each(ctx, name, version, func(doc Document) {
		if err != nil || doc.Version >= found.Version {
			found, err = doc, nil
		}
	})
	if scanErr != nil {
		return Document{}, scanErr
	}
	return found, err
}

// each shows the rows of a pipeline: those of one version, or all.
func (d *documents) each(ctx context.Context, name string, version int64, show func(Document)) error {
	if d.store == nil {
		return nil
	}
	if err := d.ensure(ctx); err != nil {
		return err
	}
	t, err := d.store.Own(&documentsForm)
	if err != nil {
		return err
	}
	request := engine.Request{Table: t, Time: scan.All, Columns: t.Schema.IDs("schema", "content_type", "pipeline", "created_at", "name")}
	request.Filter = filter.And{{Column: request.Columns[4], Op: filter.Equal, Args: vector.ConstString(name), NArgs: 1}}
	if version != latest {
		request.Time = scan.Range{From: version, To: version}
	}
	return d.read(ctx, request, func(b *vector.Batch) (bool, error) {
		for i := range b.N {
			text := func(column int) string {
				if b.Cols[column].IsNull(i) {
					return ""
				}
				return string(b.Cols[column].Bytes(i))
			}
			show(Document{Name: name, schema: text(0), contentType: text(1), Text: text(2), Version: b.Cols[3].Int(i)})
		}
		return true, nil
	})
}

// maxNames bounds the versions whose names are looked at for one that is like a name that is not there.
const maxNames = 10_000

// names lists the pipelines, those of many versions several times.
func (d *documents) names(ctx context.Context) (list []string, err error) {
	if d.store == nil {
		return nil, nil
	}
	t, err := d.store.Own(&documentsForm)
	if err != nil {
		return nil, err
	}
	request := engine.Request{Table: t, Time: scan.All, Columns: t.Schema.IDs("name")}
	return list, d.read(ctx, request, func(b *vector.Batch) (bool, error) {
		for i := range b.N {
			if !b.Cols[0].IsNull(i) {
				list = append(list, string(b.Cols[0].Bytes(i)))
			}
		}
		return len(list) < maxNames, nil
	})
}

func (d *documents) read(ctx context.Context, request engine.Request, rows func(*vector.Batch) (bool, error)) error {
	s, err := d.store.Scan(ctx, request)
	if err != nil {
		return err
	}
	return s.Each(rows)
}
