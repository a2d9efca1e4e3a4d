package pipeline

import (
	"bytes"
	"context"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/flatten"
)

// dryIdentity is a trial of service_identity: the rows that an ingest of the entries would make.
func (m *Manager) dryIdentity(ctx context.Context, r *DryRun, f flatten.Framing, entries [][]byte) (result DryResult,
	err error) {
	index, err := flatten.ParseTimeIndex(r.TimeIndex)
	if err != nil {
		return result, err
	}
	type target struct {
		rows *vector.Builder
		time string
	}
	var targets []target
	to := func(_ string, h engine.Hint) *vector.Builder {
		b := vector.NewBuilder()
		targets = append(targets, target{b, h.TimeIndex})
		return b
	}
	request := &Request{Table: dryRunTable, Pipeline: Identity, IgnoreErrors: r.IgnoreErrors, MaxDepth: r.MaxDepth,
		Hold: r.Hold}
	d := m.decoders.Get().(*flatten.Decoder)
	defer m.decoders.Put(d)
	out, err := m.runIdentity(request, d, contextReader{ctx, bytes.NewReader(bytes.Join(entries, []byte("\n")))}, f,
		index, to)
	if err != nil {
		return result, err
	}
	result.Warnings = out.Warnings
	for _, t := range targets {
		fields, rows := t.rows.Finish()
		if rows.N == 0 {
			continue
		}
		table := DryTable{Name: dryRunTable, Rows: rows}
		for _, field := range fields {
			c := DryColumn{Field: field, Semantic: schema.Field}
			if field.Name == t.time {
				c.Semantic = schema.Timestamp
			}
			table.Columns = append(table.Columns, c)
		}
		result.Tables = append(result.Tables, table)
	}
	return result, nil
}
