package engine

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// refusedRow is a row of TestRowsRefused: its columns with texts or integers.
type refusedRow struct {
	row  modelRow
	want string // part of why it is refused; empty: it is stored
}

// TestRowsRefused: of the rows of a write those are left out alone that their table does not take, with the reason of
// each.
func TestRowsRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		there *schema.Table // before the write; nil: none
		hint  func(h *Hint)
		rows  []refusedRow
	}{
		{name: "another type", there: refusing(schema.Column{Name: "x", Type: vector.Int64Type, Nullable: true}),
			rows: []refusedRow{
				{modelRow{"v": int64(1)}, ""}, {modelRow{"x": "text"}, "column x expect type Int64, given: String"},
				{modelRow{"v": int64(2)}, ""},
			}},
		{name: "another role", there: refusing(schema.Column{Name: "x", Type: vector.StringType, Semantic: schema.Tag,
			Nullable: true}), hint: func(h *Hint) { h.Strict = true }, rows: []refusedRow{
			{modelRow{"x": "a"}, "column x expect semantic type TAG, given: FIELD"}, {modelRow{"v": int64(2)}, ""},
		}},
		{name: "no value", there: refusing(schema.Column{Name: "x", Type: vector.StringType}), rows: []refusedRow{
			{modelRow{"x": "a"}, ""}, {modelRow{"v": int64(2)}, "column x is NOT NULL, a row has no value for it"},
		}},
		{name: "no value at all", there: refusing(schema.Column{Name: "x", Type: vector.StringType}),
			rows: []refusedRow{
				{modelRow{"v": int64(2)}, "column x is NOT NULL and has no default value"},
			}},
		{name: "a value too long", rows: []refusedRow{
			{modelRow{"x": strings.Repeat("a", 65)}, "the value has 65 bytes, the limit is 64"},
			{modelRow{"x": "b"}, ""},
		}},
		{name: "no room for columns", there: refusing(manyColumns()...), rows: []refusedRow{
			{modelRow{"v": int64(1)}, ""}, {modelRow{"new1": "a"}, ""},
			{modelRow{"new2": "a"}, "would have 4097 columns, the limit is 4096"},
		}},
		{name: "columns may not be made", there: refusing(), hint: func(h *Hint) { h.AutoCreate = false },
			rows: []refusedRow{
				{modelRow{"v": int64(1)}, ""}, {modelRow{"new": "a"}, "column new does not exist in table `t`"},
			}},
		{name: "tables may not be made", hint: func(h *Hint) { h.AutoCreate = false },
			rows: []refusedRow{{modelRow{"v": int64(1)}, "Table `t` does not exist"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := testOptions(vfs.NewMem())
			o.MaxValue = 64
			e := mustOpen(t, o)
			defer mustClose(t, e)
			if c.there != nil {
				if _, err := e.CreateTable(ctx, c.there); err != nil {
					t.Fatal(err)
				}
			}
			got := make([]string, len(c.rows))
			var set WriteSet
			h := hintOf(appendOnly)
			h.Reject = func(entry int, why error) { got[entry-1] = why.Error() }
			if c.hint != nil {
				c.hint(&h)
			}
			b := set.Rows(public("t"), h)
			other := set.Rows(public("other"), hintOf(appendOnly))
			stored := 0
			for i, one := range c.rows {
				one.row["ts"] = int64(i)
				b.From(i + 1)
				if err := fillTyped(b, one.row); err != nil {
					t.Fatal(err)
				}
				if one.want == "" {
					stored++
				}
			}
			if err := fill(other, []modelRow{{"ts": int64(1), "v": int64(1)}}); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Write(ctx, &set); err != nil {
				t.Fatal(err)
			}
			for i, one := range c.rows {
				if (got[i] == "") != (one.want == "") || !strings.Contains(got[i], one.want) {
					t.Errorf("row %d: %q, want %q", i, got[i], one.want)
				}
			}
			for table, want := range map[string]int{"t": stored, "other": 1} {
				lines, err := scanTable(e, public(table), everything)
				if len(lines) != want || err != nil && want > 0 {
					t.Errorf("table %s: %d rows, want %d: %v", table, len(lines), want, err)
				}
			}
		})
	}
}

// refusing is a table with a time index, an integer and more columns.
func refusing(more ...schema.Column) *schema.Table {
	t := &schema.Table{Name: public("t"), Options: hintOf(appendOnly).Options, Columns: []schema.Column{
		{Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
		{Name: "v", Type: vector.Int64Type, Nullable: true},
	}}
	for _, c := range more {
		if t.Columns = append(t.Columns, c); c.Semantic == schema.Tag {
			t.Tags = append(t.Tags, len(t.Columns)-1)
		}
	}
	return t
}

// manyColumns leave room for one more in a table of refusing.
func manyColumns() (list []schema.Column) {
	for i := range schema.MaxColumns - 3 {
		list = append(list, schema.Column{Name: fmt.Sprint("c", i), Type: vector.Int64Type, Nullable: true})
	}
	return list
}

// fillTyped adds a row whose columns have the types of their values.
func fillTyped(b *vector.Builder, r modelRow) error {
	for name, v := range r {
		typ := vector.Int64Type
		if _, is := v.(string); is {
			typ = vector.StringType
		}
		if name == "ts" {
			typ = vector.Timestamp(3)
		}
		c, err := b.Column(name, typ)
		if err != nil {
			return err
		}
		if s, is := v.(string); is {
			c.SetString(s)
		} else {
			c.SetInt(v.(int64))
		}
	}
	b.EndRow()
	return nil
}
