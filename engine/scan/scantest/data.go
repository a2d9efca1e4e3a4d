// Package scantest tests that an implementation of scan.Run keeps the contract.
package scantest

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

// The columns of the rows. Late is in no run: it reads its default.
var (
	Time  = schema.Column{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp}
	Host  = schema.Column{ID: 2, Name: "host", Type: vector.StringType, Semantic: schema.Tag, Nullable: true}
	Shard = schema.Column{ID: 3, Name: "shard", Type: vector.Int64Type, Semantic: schema.Tag, Nullable: true}
	Float = schema.Column{ID: 4, Name: "f", Type: vector.FloatType, Nullable: true}
	Text  = schema.Column{ID: 5, Name: "s", Type: vector.StringType, Nullable: true}
	Int   = schema.Column{ID: 6, Name: "i", Type: vector.Int64Type, Nullable: true}
	Late  = schema.Column{ID: 9, Name: "late", Type: vector.Int64Type, Nullable: true,
		Default: vector.ConstInt(vector.Int64Type, 42)}
)

// Table is the table of the rows.
var Table = &schema.Table{ID: 7, Columns: []schema.Column{Time, Host, Shard, Float, Text, Int}, Tags: []int{1, 2},
	Time: 0}

// storedColumns are the columns that a part keeps, in order.
var storedColumns = []schema.Column{Time, Float, Text, Int, schema.SequenceColumn, schema.KindColumn}

// row is a row by column; a column that is missing is NULL.
type row struct {
	key    []byte
	values map[schema.ColumnID]any
}

func (w row) time() int64 { return w.values[Time.ID].(int64) }
func (w row) seq() uint64 { return w.values[schema.SequenceID].(uint64) }

// value is the row's value of a column, the default of columns that no row has.
func (w row) value(c schema.Column) any {
	if c.ID == Late.ID {
		return Late.Default.Int(0)
	}
	return w.values[c.ID]
}

// Write is the rows of one write.
type Write struct {
	Seq    uint64
	Kind   uint8
	Fields []vector.Field
	Batch  *vector.Batch
}

// Data is rows for a run: as they were written, and in the order of a run.
type Data struct {
	Writes []Write
	rows   []row
}

// New draws rows of some series. Times meet again, some rows are tombstones.
func New(r *rand.Rand, series, writes, rowsOfEach int) *Data {
	d := &Data{}
	for seq := range uint64(writes) {
		w := Write{Seq: seq + 1}
		if seq%7 == 6 {
			w.Kind = schema.KindDelete
		}
		var rows []row
		for range 1 + r.IntN(rowsOfEach) {
			rows = append(rows, newRow(r, series, w))
		}
		columns := Table.Columns
		if w.Kind == schema.KindDelete {
			columns = []schema.Column{Time, Host, Shard}
		}
		w.Fields, w.Batch = batchOf(columns, rows)
		d.Writes = append(d.Writes, w)
		d.rows = append(d.rows, rows...)
	}
	slices.SortStableFunc(d.rows, func(a, b row) int {
		return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.time(), b.time()), cmp.Compare(a.seq(), b.seq()))
	})
	return d
}

func newRow(r *rand.Rand, series int, w Write) row {
	x := row{values: map[schema.ColumnID]any{Time.ID: r.Int64N(int64(2000)), schema.SequenceID: w.Seq,
		schema.KindID: uint64(w.Kind)}}
	var tags [2][]byte
	if s := r.IntN(series); s > 0 {
		host := fmt.Sprint("h", s/2)
		x.values[Host.ID], tags[0] = host, []byte(host)
		if s%2 == 1 {
			x.values[Shard.ID], tags[1] = int64(s-5), schema.AppendKeyInt(nil, int64(s-5))
		}
	}
	x.key = schema.AppendSeriesKey(nil, Table.ID, []schema.ColumnID{Host.ID, Shard.ID}, tags[:])
	if w.Kind == schema.KindDelete {
		return x
	}
	if r.IntN(4) > 0 {
		x.values[Float.ID] = float64(r.IntN(100)) / 4
	}
	if r.IntN(4) > 0 {
		x.values[Text.ID] = fmt.Sprint("text ", r.IntN(30))
	}
	x.values[Int.ID] = r.Int64N(1000)
	return x
}

// batchOf makes a batch of some columns.
func batchOf(columns []schema.Column, rows []row) ([]vector.Field, *vector.Batch) {
	b := vector.NewBuilder()
	var builders []*vector.ColumnBuilder
	for _, c := range columns {
		x, err := b.Column(c.Name, c.Type)
		if err != nil {
			panic(err)
		}
		builders = append(builders, x)
	}
	b.Pin()
	for _, w := range rows {
		for i, c := range columns {
			switch x := w.values[c.ID].(type) {
			case int64:
				builders[i].SetInt(x)
			case uint64:
				builders[i].SetUint(x)
			case float64:
				builders[i].SetFloat(x)
			case string:
				builders[i].SetString(x)
			}
		}
		b.EndRow()
	}
	return b.Finish()
}

// Stored are the columns of the batches that Series gives: the time index and the fields; sequence and kind follow.
func Stored() []schema.Column { return storedColumns[:len(storedColumns)-2] }

// Series calls f with each series and its rows, in the order of a run.
func (d *Data) Series(f func(key []byte, rows *vector.Batch) error) error {
	for from := 0; from < len(d.rows); {
		to := from + 1
		for to < len(d.rows) && bytes.Equal(d.rows[to].key, d.rows[from].key) {
			to++
		}
		_, b := batchOf(storedColumns, d.rows[from:to])
		if err := f(d.rows[from].key, b); err != nil {
			return err
		}
		from = to
	}
	return nil
}
