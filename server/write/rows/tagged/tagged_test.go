package tagged

import (
	"errors"
	"math"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/server/write/rows"
)

// there are tables.
type there map[string]*schema.Table

func (l there) Table(n schema.Name) (*engine.Table, error) {
	if t := l[n.Table]; t != nil {
		return &engine.Table{Schema: t}, nil
	}
	return nil, errors.New("there is no such table")
}

func newRows(set *engine.WriteSet, tables there) *Rows {
	return New(&Request{DB: "public", Tables: tables, Hint: engine.Hint{AutoCreate: true, TimeIndex: "time"},
		Time: vector.Timestamp(9), Most: 1 << 30}, set)
}

func newTable(t *testing.T, r *Rows, name string) *Table {
	t.Helper()
	of, err := r.Table([]byte(name))
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// TestThere: columns are held against the table that is there, whose time index has its own name and unit.
func TestThere(t *testing.T) {
	own := &schema.Table{Columns: []schema.Column{
		{Name: "host", Type: vector.StringType, Semantic: schema.Tag}, {Name: "text", Type: vector.StringType},
		{Name: "n", Type: vector.Int64Type}, {Name: "m", Type: vector.Int32Type},
		{Name: "ts", Type: vector.Timestamp(0), Semantic: schema.Timestamp},
	}, Time: 4}
	of := newTable(t, newRows(new(engine.WriteSet), there{"own": own}), "own")
	for _, c := range []struct {
		name string
		typ  vector.Type
		role schema.Semantic
		want string
	}{
		{"host", vector.StringType, schema.Tag, ""},
		{"host", vector.StringType, schema.Field, "Column: host, semantic_type incompatible"},
		{"text", vector.JSONType, schema.Field, ""},
		{"text", vector.FloatType, schema.Field, "Column: text, datatype incompatible"},
		{"n", vector.FloatType, schema.Field, ""},
		{"m", vector.FloatType, schema.Field, "column m expect type Int32, given: Float64"},
		{"m", vector.StringType, schema.Tag, "column m expect semantic type FIELD, given: TAG"},
		{"ts", vector.StringType, schema.Tag,
			"Column: ts, semantic_type incompatible, expected: TIMESTAMP, actual: TAG"},
		{"new", vector.StringType, schema.Tag, ""},
		{strings.Repeat("x", 600), vector.StringType, schema.Tag, "Invalid column name"},
	} {
		if _, err := of.Column([]byte(c.name), c.typ, c.role); (err == nil) != (c.want == "") ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20s as %v %v: %v, want %s", c.name, c.typ, c.role, err, c.want)
		}
	}
	of.SetTime(1_700_000_000_999_999_999)
	if err := of.EndRow(0, 0); err != nil {
		t.Fatal(err)
	}
	if !of.SetMillis(-1500) {
		t.Error("a time in ms does not fit seconds")
	}
	if err := of.EndRow(0, 0); err != nil {
		t.Fatal(err)
	}
	if _, b := of.b.Finish(); b.N != 2 || b.Cols[0].Int(0) != 1_700_000_000 || b.Cols[0].Int(1) != -2 {
		t.Errorf("%d rows, times %d and %d", b.N, b.Cols[0].Int(0), b.Cols[0].Int(1))
	}
}

// TestRows: tables by name, times out of range, rows that are dropped.
func TestRows(t *testing.T) {
	r := newRows(new(engine.WriteSet), nil)
	a, b := newTable(t, r, "a"), newTable(t, r, "b")
	if newTable(t, r, "a") != a || newTable(t, r, "b") != b || a == b {
		t.Error("a name stands for several tables")
	}
	if _, err := r.Table(nil); err == nil {
		t.Error("an empty name is taken")
	}
	if a.SetMillis(math.MaxInt64/1_000_000+1) || a.SetMillis(math.MinInt64) || !a.SetMillis(math.MaxInt64/1_000_000) {
		t.Error("the range of times is another")
	}
	a.DropRow()
	b.SetTime(5)
	if err := b.EndRow(0, 0); err != nil || r.Count() != 1 || a.b.Rows() != 0 {
		t.Errorf("%v, %d rows", err, r.Count())
	}
}

func TestHint(t *testing.T) {
	for _, c := range []struct {
		given map[string]string
		want  string // of an option
		make  bool
		err   string
	}{
		{nil, "merge_mode=last_row", true, ""},
		{map[string]string{"append_mode": "true", "ttl": "7d"}, "append_mode=true", true, ""},
		{map[string]string{"auto_create_table": "false"}, "merge_mode=last_row", false, ""},
		{map[string]string{"auto_create_table": "maybe"}, "", false, "must be a boolean"},
		{map[string]string{"ttl": "soon"}, "", false, "ttl"},
	} {
		h, err := Hint(&rows.Deps{}, c.given, map[string]string{"merge_mode": "last_row"})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: %v", c.given, err)
			}
			continue
		}
		key, value, _ := strings.Cut(c.want, "=")
		if got, _ := h.Options.Find(key); err != nil || got != value || h.AutoCreate != c.make {
			t.Errorf("%v: %v %v %v", c.given, got, h.AutoCreate, err)
		}
	}
	h, err := Hint(&rows.Deps{NoAutoCreate: true, Prefix: "p"}, nil, nil)
	if err != nil || h.AutoCreate || !h.Disabled || h.TimeIndex != "p_timestamp" {
		t.Error(h, err)
	}
	for _, c := range []struct {
		configured bool
		given      string
		strict     bool
	}{
		{false, "", false}, {true, "", true}, {true, "true", false}, {true, "1", false}, {true, "Yes", false},
		{false, "false", true}, {false, "0", true}, {true, "off", true},
	} {
		h, err := Hint(&rows.Deps{StrictNumbers: c.configured}, map[string]string{schema.NumbersHint: c.given}, nil)
		if err != nil || h.StrictNumbers != c.strict {
			t.Errorf("%v: %v %v", c, h.StrictNumbers, err)
		}
	}
}
