package pipeline

import (
	"context"
	"errors"
	"strings"

	"varve/engine"
	"varve/engine/private"
	"varve/engine/scan"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// documentsTable keeps a row for each version of a document.
var documentsTable = private.Table{TTL: "forever", OwnTable: engine.OwnTable{
	Name: engine.PipelinesTable, Time: "created_at", Tags: []string{"name", "schema", "content_type"},
	Columns: []vector.Field{
		{Name: "name", Type: vector.StringType}, {Name: "schema", Type: vector.StringType},
		{Name: "content_type", Type: vector.StringType},
		{Name: "pipeline", Type: vector.StringType}, {Name: "created_at", Type: vector.Timestamp(9)},
	},
}}

// maxPipelineName bounds the name of a pipeline, in bytes.
const maxPipelineName = 512

// Document is a stored version of a pipeline.
type Document struct {
	Name string
	// Version is the time of creation, in ns since the epoch.
	Version int64
	// Text is the document as it was uploaded.
	Text string
	// Warnings are the warnings about a document that was just stored.
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

// put writes a version.
func (d *documents) put(ctx context.Context, doc *Document) error {
	if d.store == nil {
		return status.New(status.Unsupported, "this server keeps no pipeline documents")
	}
	return documentsTable.Put(ctx, d.store, []any{doc.Name, doc.schema, doc.contentType, doc.Text, doc.Version})
}

// remove deletes versions.
func (d *documents) remove(ctx context.Context, docs []Document) error {
	keys := make([][]any, len(docs))
	for i, doc := range docs {
		keys[i] = []any{doc.Name, doc.schema, doc.contentType, doc.Version}
	}
	return documentsTable.Delete(ctx, d.store, keys...)
}

// latest is the version that stands for the newest.
const latest = -1 << 63

// errNoDocument reports that the version does not exist.
var errNoDocument = errors.New("no such pipeline")

// get reads a version, or the newest one. The error is errNoDocument if there is none.
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

// each visits the rows of a pipeline: of one version, or of all.
func (d *documents) each(ctx context.Context, name string, version int64, show func(Document)) error {
	if d.store == nil {
		return nil
	}
	query := private.Query{Columns: []string{"schema", "content_type", "pipeline", "created_at"},
		Where: map[string]string{"name": name}}
	if version != latest {
		query.Time = &scan.Range{From: version, To: version}
	}
	for row, err := range documentsTable.Rows(ctx, d.store, query) {
		if err != nil {
			return err
		}
		show(Document{Name: name, schema: row.Text(0), contentType: row.Text(1), Text: row.Text(2),
			Version: row.Int(3)})
	}
	return nil
}

// maxNames bounds the versions whose names are looked at for one that is like a name that is not there.
const maxNames = 10_000

// names lists the pipelines, those of many versions several times.
func (d *documents) names(ctx context.Context) (list []string, err error) {
	if d.store == nil {
		return nil, nil
	}
	for row, err := range documentsTable.Rows(ctx, d.store, private.Query{Columns: []string{"name"}}) {
		if err != nil || len(list) >= maxNames {
			return list, err
		}
		if !row.IsNull(0) {
			list = append(list, row.Text(0))
		}
	}
	return list, nil
}
