package sqlexec

import (
	"context"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// deleteBytes is about how many bytes of keys one write of a DELETE has. A tombstone takes several times its key in a
// memtable, which takes a write whole however large it is.
const deleteBytes = 2 << 20

// deleteFrom finds the keys of the rows that match and writes tombstones for them, a few thousand at a time. It begins
// again where the table gets another key meanwhile: what was deleted by then stays deleted.
func (x *Executor) deleteFrom(ctx context.Context, sess *Session, s *parse.Delete) (*Result, error) {
	var deleted int64
	for {
		r, err := x.deleteOnce(ctx, sess, s, &deleted)
		if !engine.Overtaken(err) || ctx.Err() != nil {
			return r, err
		}
		sess.moment.Close()
	}
}

// deleteOnce adds to deleted how many keys it wrote tombstones for.
func (x *Executor) deleteOnce(ctx context.Context, sess *Session, s *parse.Delete, deleted *int64) (*Result, error) {
	table, err := x.table(sess, s.Table)
	if err != nil {
		return nil, err
	}
	t := table.Schema
	if t.Options.AppendMode {
		return nil, status.New(status.InvalidArguments,
			"DELETE is not possible on table %s in append mode: its rows have no key by which one replaces another. "+
				"Rows go by age, ALTER TABLE %s SET 'ttl' = '30d', or all together, TRUNCATE TABLE %s", t.Name,
			parse.QuoteIdent(t.Name.Table), parse.QuoteIdent(t.Name.Table))
	}
	sel := &parse.Select{From: []parse.TableRef{&parse.Table{Name: s.Table}}, Where: s.Where}
	d := &deletion{e: x.e, table: t, workers: exec.Workers(x.o.Workers), deleted: deleted}
	for _, c := range t.Key() {
		sel.Items = append(sel.Items, parse.SelectItem{X: &parse.Column{Parts: parse.Name{{Name: c.Name, Quote: '"'}}}})
	}
	ectx := x.context(sess)
	n, err := x.statement(sess, ectx).Complete(ctx, &parse.Query{Body: sel})
	if err != nil {
		return nil, err
	}
	for _, f := range plan.Fields(n) {
		d.types = append(d.types, f.Type)
	}
	rows, err := x.stream(ctx, sess, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	d.held = x.held(ctx)
	defer d.held.Close()
	d.keys = exec.NewRows(d.types)
	var b vector.Batch
	for {
		ok, err := rows.Next(&b)
		if err == nil && ok {
			err = d.add(ctx, &b)
		} else if err == nil {
			err = d.write(ctx)
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			return &Result{Affected: *deleted, Warnings: ectx.Warnings()}, nil
		}
	}
}

// deletion collects keys and writes tombstones for them.
type deletion struct {
	e       *engine.Engine
	table   *schema.Table // the schema with which the keys are read
	types   []vector.Type // of the keys
	workers int
	held    *exec.Budget
	keys    *exec.Rows
	bytes   int64 // of keys
	deleted *int64
}

// add takes the keys of a batch.
func (d *deletion) add(ctx context.Context, b *vector.Batch) error {
	size := batchSize(b)
	if err := d.held.Reserve(writeCopies * size); err != nil {
		return err
	}
	d.keys.Add(b, 0, b.N)
	if d.bytes += size; d.bytes < deleteBytes {
		return nil
	}
	return d.write(ctx)
}

// write deletes the keys that were collected.
func (d *deletion) write(ctx context.Context) error {
	if d.keys.Len() == 0 {
		return nil
	}
	keys, err := exec.Together(ctx, []*exec.Rows{d.keys}, d.workers, nil) // among the copies that are counted
	if err != nil {
		return err
	}
	n, err := d.e.Delete(ctx, d.table, keys)
	if err != nil {
		return err
	}
	*d.deleted += int64(n)
	d.keys = exec.NewRows(d.types)
	d.held.Release(writeCopies * d.bytes)
	d.bytes = 0
	return nil
}

// batchSize is about the memory of a batch.
func batchSize(b *vector.Batch) (bytes int64) {
	for _, v := range b.Cols {
		bytes += v.Bytes64(b.N)
	}
	return bytes
}
