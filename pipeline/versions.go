package pipeline

import (
	"context"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
)

// reserved begins the names of built-in pipelines.
const reserved = "service_"

// Put compiles a document and stores it as a new version, the newest at once.
func (m *Manager) Put(ctx context.Context, name string, text []byte) (Document, error) {
	switch {
	case strings.HasPrefix(name, reserved):
		return Document{}, status.New(status.InvalidArguments,
			"Invalid request parameter: pipeline_name cannot start with service_")
	case name == "" || len(name) > maxPipelineName:
		return Document{}, status.New(status.InvalidArguments,
			"Invalid request parameter: pipeline_name has %d bytes, it needs 1 to %d", len(name), maxPipelineName)
	case len(text) == 0:
		return Document{}, status.New(status.InvalidArguments,
			"Invalid request parameter: pipeline is required in body")
	}
	p, err := m.library.compile(ctx, text)
	if err != nil {
		return Document{}, err
	}
	p.name = name
	version := m.Times(1)
	newest, err := m.library.documents.get(ctx, name, latest)
	switch {
	case err == nil: // the clock may have gone back since
		version = max(version, newest.Version+1)
	case err != errNoDocument:
		return Document{}, err
	}
	doc := Document{Name: name, Version: version, Text: string(text), contentType: "yaml"}
	if err := m.library.save(ctx, p, doc); err != nil {
		return Document{}, err
	}
	doc.Warnings = p.warnings
	return doc, nil
}

// Get returns a version of a document by its text, or the newest.
func (m *Manager) Get(ctx context.Context, name, version string) (Document, error) {
	at, err := versionOf(version)
	if err != nil {
		return Document{}, err
	}
	doc, err := m.library.documents.get(ctx, name, at)
	if err == errNoDocument {
		return Document{}, m.library.documents.notFound(ctx, name, version)
	}
	return doc, err
}

// Remove deletes a version; ok is false if it does not exist.
func (m *Manager) Remove(ctx context.Context, name, version string) (ok bool, err error) {
	if version == "" {
		return false, status.New(status.InvalidArguments, "Invalid request parameter: version is required")
	}
	at, err := ParseVersion(version)
	if err != nil {
		return false, err
	}
	return m.library.remove(ctx, name, at)
}

// versionOf is the version that a text names; none is the newest.
func versionOf(text string) (int64, error) {
	if text == "" {
		return latest, nil
	}
	return ParseVersion(text)
}

// Schema is the table that a pipeline's transforms would create. warning, when not empty, says why the rows may go
// elsewhere.
func (m *Manager) Schema(ctx context.Context, name, version string, table schema.Name) (t *schema.Table, warning string,
	err error) {
	switch {
	case table.Table == "":
		return nil, "", status.New(status.InvalidArguments, "Invalid request parameter: table name is required")
	case strings.HasPrefix(name, reserved):
		return nil, "", status.New(status.InvalidArguments,
			"Invalid request parameter: built-in pipelines don't have fixed table schema")
	}
	p, err := m.find(ctx, name, version)
	if err != nil {
		return nil, "", err
	}
	if len(p.columns) == 0 {
		return nil, "", status.New(status.InvalidArguments,
			"Invalid request parameter: auto transform doesn't have fixed table schema")
	}
	options, err := schema.ParseOptions(map[string]string{"append_mode": "true"})
	if err != nil {
		return nil, "", err
	}
	t = &schema.Table{Name: table, Options: options, Engine: "mito"}
	for i := range p.columns {
		t.Columns = append(t.Columns, p.columns[i].definition())
		switch t.Columns[i].Semantic {
		case schema.Timestamp:
			t.Time = i
		case schema.Tag:
			t.Tags = append(t.Tags, i)
		}
	}
	return t, m.warning(p, table), nil
}

func (m *Manager) warning(p *Program, table schema.Name) string {
	var reasons []string
	if m.o.Store != nil {
		if _, err := m.o.Store.Table(table); err == nil {
			reasons = append(reasons, "table "+table.Table+" already exists")
		}
	}
	if p.dispatcher != nil {
		reasons = append(reasons, "the pipeline has a dispatcher: rows may go to other tables, with other columns")
	}
	if p.suffix != nil {
		reasons = append(reasons, "the pipeline has a table_suffix: the names of the tables vary with the rows")
	}
	if p.version == 2 {
		reasons = append(reasons, "the pipeline has version 2: keys that no transform names become further columns")
	}
	return strings.Join(reasons, "; ")
}

// definition is the column as a write creates it.
func (c *column) definition() schema.Column {
	d := schema.Column{Name: c.name, Type: c.typ, Nullable: !c.time, Semantic: c.semantic()}
	if c.index != nil {
		d.Indexes = []schema.Index{*c.index}
	}
	return d
}

func (c *column) semantic() schema.Semantic {
	switch {
	case c.time:
		return schema.Timestamp
	case c.tag:
		return schema.Tag
	}
	return schema.Field
}

// semantic is the role of a column of a sink.
func (s *sink) semantic(name string) schema.Semantic {
	if p := s.target.program; p != nil {
		if i := find(p.columns, name); i >= 0 {
			return p.columns[i].semantic()
		}
	}
	if name == s.hint.TimeIndex {
		return schema.Timestamp
	}
	return schema.Field
}
