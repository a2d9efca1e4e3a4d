package otlp

import (
	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/server/web"
)

// forever is the time of all rows of the side tables, 2100-01-01T00:00:00Z. So the last row of a service or an
// operation replaces the rows before it.
const forever = 4102444800 * 1_000_000_000

// sideTables are the tables of services, and of their operations, that a table of spans has.
type sideTables struct {
	services, operations sideTable
	key                  []byte // scratch
}

// sideTable has a row for each distinct combination of the texts of its columns, which all are tags.
type sideTable struct {
	name    schema.Name
	hint    engine.Hint
	columns []string
	seen    map[string]struct{}
	rows    *vector.Builder
	values  []*vector.ColumnBuilder
}

func (t *sideTables) begin(h *Handler, c *web.Ctx, spans schema.Name) error {
	for _, one := range [...]struct {
		table   *sideTable
		suffix  string
		columns []string
	}{
		{&t.services, "_services", []string{"service_name"}},
		{&t.operations, "_operations", []string{"service_name", "span_name", "span_kind"}},
	} {
		hint, err := h.hint(c, "timestamp", map[string]string{})
		if err != nil {
			return err
		}
		// never a ttl
		if hint.Options, err = schema.ParseOptions(map[string]string{"comment": hint.Comment}); err != nil {
			return err
		}
		hint.Tags = one.columns
		// A row that a side table refuses is dropped: it does not fail the spans.
		hint.Reject = func(int, error) {}
		*one.table = sideTable{name: schema.Name{DB: spans.DB, Table: spans.Table + one.suffix}, hint: hint,
			columns: one.columns}
	}
	return nil
}

// open forgets what was seen.
func (t *sideTables) open() {
	for _, one := range [...]*sideTable{&t.services, &t.operations} {
		one.seen, one.rows, one.values = map[string]struct{}{}, nil, one.values[:0]
	}
}

// add notes the service and the operation of a span, if it has a service. Their texts are valid: the span's columns
// took them.
func (t *sideTables) add(r *tracesRequest, s *spanFields) error {
	if r.service.kind == nothing {
		return nil
	}
	service := r.service.bytes
	if r.service.kind != textValue {
		service = r.scratch
	}
	if len(service) == 0 {
		return nil
	}
	kind := nameOf(spanKinds, s.kind)
	t.key = append(appendSized(appendSized(t.key[:0], service), s.name), kind...)
	if _, ok := t.operations.seen[string(t.key)]; ok {
		return nil
	}
	r.weight.held += int64(len(t.key)) + 200
	if err := t.operations.row(r.set, string(t.key), string(service), string(s.name), kind); err != nil {
		return err
	}
	if _, ok := t.services.seen[string(service)]; ok {
		return nil
	}
	return t.services.row(r.set, string(service), string(service))
}

// row adds a row.
func (t *sideTable) row(set *engine.WriteSet, key string, texts ...string) error {
	if t.rows == nil {
		t.rows = set.Rows(t.name, t.hint)
		at, err := t.rows.Column("timestamp", vector.Timestamp(9))
		if err != nil {
			return err
		}
		t.values = append(t.values, at)
		for _, name := range t.columns {
			c, err := t.rows.Column(name, vector.StringType)
			if err != nil {
				return err
			}
			t.values = append(t.values, c)
		}
		t.rows.Pin()
	}
	t.seen[key] = struct{}{}
	t.values[0].SetInt(forever)
	for i, text := range texts {
		t.values[i+1].SetString(text)
	}
	t.rows.EndRow()
	return nil
}
