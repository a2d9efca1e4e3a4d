package rules

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"varve/engine"
	"varve/engine/private"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/rules/file"
)

// Limits of documents. A list is answered as a whole.
const (
	MaxDocumentName  = 256       // bytes
	MaxDocument      = 256 << 10 // bytes
	maxDocuments     = 1000
	maxDocumentBytes = 16 << 20 // of all
)

// documentsTable keeps a row for each document. Its time is 0, so that the last one written replaces those before.
var documentsTable = private.Table{TTL: "forever", OwnTable: engine.OwnTable{
	Name: engine.RulesTable, Time: "saved_at", Tags: []string{"name"},
	Columns: []vector.Field{{Name: "definition", Type: vector.StringType}, {Name: "name", Type: vector.StringType},
		{Name: "saved_at", Type: vector.Timestamp(3)}},
}}

// Document is a file of rules that the server keeps.
type Document struct{ Name, Definition string }

// documents lists the documents by name.
func (m *Manager) documents(ctx context.Context) (all []Document, err error) {
	for row, err := range documentsTable.Rows(ctx, m.o.Store, private.Query{Columns: []string{"name", "definition"}}) {
		if err != nil {
			return nil, err
		}
		if !row.AnyNull(2) {
			all = append(all, Document{row.Text(0), row.Text(1)})
		}
	}
	slices.SortFunc(all, func(a, b Document) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Documents lists the documents by name.
func (m *Manager) Documents(ctx context.Context) ([]Document, error) { return m.documents(ctx) }

// ErrNoDocument says that there is no document of a name.
var ErrNoDocument = status.New(status.InvalidArguments, "there are no rules of this name")

// Document is the one of a name; the error may be ErrNoDocument.
func (m *Manager) Document(ctx context.Context, name string) (Document, error) {
	all, err := m.documents(ctx)
	if err != nil {
		return Document{}, err
	}
	for _, d := range all {
		if d.Name == name {
			return d, nil
		}
	}
	return Document{}, ErrNoDocument
}

// Save keeps a document in place of one of its name, and evaluates its rules from now on. One that is wrong is
// InvalidArguments, and nothing is changed.
func (m *Manager) Save(ctx context.Context, d Document) error {
	f, err := file.Parse(documentPrefix+d.Name, []byte(d.Definition))
	if err != nil {
		return status.New(status.InvalidArguments, "%s", err)
	}
	if f.Rules() == 0 {
		return status.New(status.InvalidArguments, "%s has no rules: groups: with a list of groups is expected", d.Name)
	}
	if err := m.ready(ctx); err != nil {
		return err
	}
	m.changing.Lock()
	defer m.changing.Unlock()
	all, err := m.documents(ctx)
	if err != nil {
		return err
	}
	count, total := 1, len(d.Name)+len(d.Definition)
	for _, old := range all {
		if old.Name != d.Name {
			count++
			total += len(old.Name) + len(old.Definition)
		}
	}
	if count > maxDocuments || total > maxDocumentBytes {
		return status.New(status.InvalidArguments,
			"this would make %d documents of rules of %d bytes, the limits are %d and %d: delete some", count, total,
			maxDocuments, maxDocumentBytes)
	}
	if err := documentsTable.Put(ctx, m.o.Store, []any{d.Definition, d.Name, int64(0)}); err != nil {
		return err
	}
	m.reloadAfter(ctx, d.Name)
	return nil
}

// Remove deletes a document, whose alerts end. The error may be ErrNoDocument.
func (m *Manager) Remove(ctx context.Context, name string) error {
	if err := m.ready(ctx); err != nil {
		return err
	}
	m.changing.Lock()
	defer m.changing.Unlock()
	if _, err := m.Document(ctx, name); err != nil {
		return err
	}
	if err := documentsTable.Delete(ctx, m.o.Store, []any{name, int64(0)}); err != nil {
		return err
	}
	m.reloadAfter(ctx, name)
	return nil
}

// reloadAfter loads all rules after a document changed. What is wrong with others is logged and shown. The caller holds
// m.changing.
func (m *Manager) reloadAfter(ctx context.Context, name string) {
	if err := m.load(context.WithoutCancel(ctx)); err != nil && strings.Contains(err.Error(), documentPrefix+name+":") {
		m.log.Error("a document of rules was changed and cannot be evaluated", "name", name, "error", err)
	}
}
