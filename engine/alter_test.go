package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// retype is a change of the types of two columns.
func retype(v, at vector.Type) func(*schema.Table) (*schema.Table, error) {
	return func(s *schema.Table) (*schema.Table, error) {
		n := *s
		n.Columns = append([]schema.Column(nil), s.Columns...)
		n.Columns[n.Column("v")].Type, n.Columns[n.Column("at")].Type = v, at
		return &n, nil
	}
}

// alteredRow writes row number i under the types that the table has now, until it is taken.
func alteredRow(e *Engine, i int64) error {
	for {
		tab, err := e.Table(public("t"))
		if err != nil {
			return err
		}
		s := tab.Schema
		var set WriteSet
		b := set.Rows(public("t"), hintOf(lastRow))
		for _, name := range []string{"ts", "v", "at"} {
			c, err := b.Column(name, s.Columns[s.Column(name)].Type)
			if err != nil {
				return err
			}
			switch {
			case name == "at" && c.Type() == vector.Timestamp(6):
				c.SetInt(i * 1000)
			case c.Type() == vector.StringType:
				c.SetString(fmt.Sprint(i))
			default:
				c.SetInt(i)
			}
		}
		b.EndRow()
		if _, err = e.Write(ctx, &set); err == nil || !strings.Contains(err.Error(), "expect type") {
			return err
		}
	}
}

// checkAltered holds that rows 0 to n-1 are there and have their values.
func checkAltered(t *testing.T, e *Engine, n int64, when string) {
	t.Helper()
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	s := tab.Schema
	r := Request{Table: tab, Time: everything.time}
	for _, name := range []string{"ts", "v", "at"} {
		r.Columns = append(r.Columns, s.Columns[s.Column(name)].ID)
	}
	wrong, seen := 0, make([]bool, n)
	readAll(t, e, r, func(b *vector.Batch) {
		for k := range b.N {
			i, v, at := b.Cols[0].Int(k), "", b.Cols[2].Int(k)
			if b.Cols[1].Type == vector.StringType {
				v = b.Cols[1].Str(k)
			} else {
				v = fmt.Sprint(b.Cols[1].Int(k))
			}
			if b.Cols[2].Type == vector.Timestamp(6) {
				at /= 1000
			}
			if i < 0 || i >= n || seen[i] || v != fmt.Sprint(i) || at != i || b.Cols[1].IsNull(k) ||
				b.Cols[2].IsNull(k) {
				wrong++
				continue
			}
			seen[i] = true
		}
	})
	missing := 0
	for _, s := range seen {
		if !s {
			missing++
		}
	}
	if wrong+missing > 0 {
		t.Errorf("%s: of %d rows %d are wrong and %d are missing", when, n, wrong, missing)
	}
}

// TestAlterWhileWriting changes the types of columns while several write: each row acknowledged has its values,
// whatever schema it met, at once and after a start. No change is refused, and no write.
func TestAlterWhileWriting(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.NoBackground = false
	e := mustOpen(t, o)
	const writers, rows, changes = 4, 300, 24
	if err := put(e, "t", lastRow, []modelRow{{"ts": int64(0), "v": int64(0)}}); err != nil {
		t.Fatal(err)
	}
	err := e.Alter(ctx, public("t"), func(s *schema.Table) (*schema.Table, error) {
		return s.Evolve([]schema.Column{{Name: "at", Type: vector.Timestamp(3), Nullable: true}})
	})
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	var next atomic.Int64
	for range writers {
		writing.Go(func() {
			for range rows {
				if err := alteredRow(e, next.Add(1)-1); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for k := range changes {
		v, at := vector.StringType, vector.Timestamp(6)
		if k%2 == 1 {
			v, at = vector.Int64Type, vector.Timestamp(3)
		}
		if err := e.Alter(ctx, public("t"), retype(v, at)); err != nil {
			t.Errorf("change %d: %v", k, err)
		}
	}
	writing.Wait()
	checkAltered(t, e, writers*rows, "at once")
	mustClose(t, e)
	e = mustOpen(t, o)
	defer mustClose(t, e)
	checkAltered(t, e, writers*rows, "after a start")
}

// TestAppendModeWhileWriting switches append_mode on while several replace rows of the same keys: of each key the last
// row from before is there, and every row from then on.
func TestAppendModeWhileWriting(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.NoBackground = false
	e := mustOpen(t, o)
	defer mustClose(t, e)
	const writers, rounds, keys = 4, 150, 5
	var writing sync.WaitGroup
	started := make(chan struct{}, writers)
	for w := range writers {
		writing.Go(func() {
			for i := range rounds {
				var batch []modelRow
				for k := range keys {
					batch = append(batch, modelRow{"ts": int64(k), "host": fmt.Sprint(w), "v": int64(i)})
				}
				if err := put(e, "t", lastRow, batch); err != nil {
					t.Error(err)
				}
				if i == rounds/3 {
					started <- struct{}{}
				}
			}
		})
	}
	for range writers {
		<-started
	}
	options, err := schema.ParseOptions(map[string]string{"append_mode": "true"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Alter(ctx, public("t"), func(s *schema.Table) (*schema.Table, error) {
		n := *s
		n.Options = options
		return &n, nil
	}); err != nil {
		t.Fatal(err)
	}
	writing.Wait()
	lines, err := scanTable(e, public("t"), everything)
	if err != nil {
		t.Fatal(err)
	}
	// The values of a key are the last ones written, without a gap and each once.
	for w := range writers {
		for k := range keys {
			count, least := 0, rounds
			for _, l := range lines {
				var v int
				if n, _ := fmt.Sscanf(l, fmt.Sprintf("host=%d ts=%d v=%%d", w, k), &v); n == 1 {
					count, least = count+1, min(least, v)
				}
			}
			if count != rounds-least {
				t.Errorf("key %d of writer %d: %d rows from %d on, want %d", k, w, count, least, rounds-least)
			}
		}
	}
}

// TestAlterHoldsNobodyUp holds that new columns of another table do not wait for a change that writes parts anew.
func TestAlterHoldsNobodyUp(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	defer mustClose(t, e)
	for _, table := range []string{"t", "other"} {
		if err := put(e, table, lastRow, []modelRow{{"ts": int64(1), "v": int64(1), "w": int64(1)}}); err != nil {
			t.Fatal(err)
		}
	}
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	j, err := e.merger.alone(ctx, tab.region) // the change has to wait for it
	if err != nil {
		t.Fatal(err)
	}
	altered := make(chan error)
	go func() {
		altered <- e.Alter(ctx, public("t"), func(s *schema.Table) (*schema.Table, error) {
			n := *s
			n.Columns = append([]schema.Column(nil), s.Columns...)
			n.Columns[n.Column("v")].Type = vector.StringType
			return &n, nil
		})
	}()
	for len(tab.region.altering) == 0 {
		select {
		case err := <-altered:
			t.Fatalf("the change did not wait: %v", err)
		default:
		}
	}
	for _, table := range []string{"t", "other"} {
		if err := put(e, table, lastRow, []modelRow{{"ts": int64(2), "new": int64(1)}}); err != nil {
			t.Errorf("%s: %v", table, err)
		}
	}
	e.merger.end(j, false)
	if err := <-altered; err != nil {
		t.Error(err)
	}
}

// TestWriteWaitsForAlter holds that a write to a table that is closed for a change waits, for as long as it may.
func TestWriteWaitsForAlter(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.WriteWait = 1
	e := mustOpen(t, o)
	defer mustClose(t, e)
	row := []modelRow{{"ts": int64(1), "v": int64(1)}}
	if err := put(e, "t", lastRow, row); err != nil {
		t.Fatal(err)
	}
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	open := tab.region.close()
	if err := put(e, "t", lastRow, row); status.Of(err) != status.RegionBusy {
		t.Errorf("got %v, want that the table is busy", err)
	}
	open()
	if err := put(e, "t", lastRow, row); err != nil {
		t.Error(err)
	}
}

// TestTypedWrite writes a row that was made for types that the table had, as a statement does that was planned before
// the change: it is what it would be had it been written then. Without the hint the types must fit.
func TestTypedWrite(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	if err := put(e, "t", lastRow, []modelRow{{"ts": int64(0), "v": int64(0)}}); err != nil {
		t.Fatal(err)
	}
	hint := hintOf(lastRow)
	planned, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	var made [2]WriteSet
	for i := range made {
		hint.Planned = nil
		if i == 0 {
			hint.Planned = planned.Schema
		}
		if err := fill(made[i].Rows(public("t"), hint), []modelRow{{"ts": int64(1), "v": int64(42)}}); err != nil {
			t.Fatal(err)
		}
	}
	err = e.Alter(ctx, public("t"), func(s *schema.Table) (*schema.Table, error) {
		n := *s
		n.Columns = append([]schema.Column(nil), s.Columns...)
		n.Columns[n.Column("v")].Type = vector.StringType
		return &n, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Write(ctx, &made[0]); err != nil {
		t.Error(err)
	}
	if _, err := e.Write(ctx, &made[1]); status.Of(err) != status.InvalidArguments {
		t.Errorf("without the hint: %v", err)
	}
	lines, err := scanTable(e, public("t"), everything)
	if got := strings.Join(lines, "|"); err != nil || got != " ts=0 v=0| ts=1 v=42" {
		t.Errorf("got %q: %v", got, err)
	}
}

// TestAlteredBeforeTheScan: who found a table before a column got another type, and reads it with rows of that type in
// memory or in a part, is told to look again; the values would be read as what they are not.
func TestAlteredBeforeTheScan(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to vector.Type
	}{{"another kind", vector.Int64Type, vector.StringType}, {"another unit", vector.Timestamp(3), vector.Timestamp(6)},
		{"another scale", vector.Type{ID: vector.TypeDecimal, Precision: 10, Scale: 2},
			vector.Type{ID: vector.TypeDecimal, Precision: 10, Scale: 4}}} {
		for _, flushed := range []bool{false, true} {
			e := mustOpen(t, testOptions(vfs.NewMem()))
			if err := put(e, "t", lastRow, []modelRow{{"ts": int64(1), "host": "a"}}); err != nil {
				t.Fatal(err)
			}
			alter := func(change func(*schema.Table) (*schema.Table, error)) {
				t.Helper()
				if err := e.Alter(ctx, public("t"), change); err != nil {
					t.Fatal(err)
				}
			}
			alter(func(s *schema.Table) (*schema.Table, error) {
				return s.Evolve([]schema.Column{{Name: "x", Type: c.from, Nullable: true}})
			})
			before, err := e.Table(public("t"))
			if err != nil {
				t.Fatal(err)
			}
			x := before.Schema.Columns[before.Schema.Column("x")].ID
			host := before.Schema.Columns[before.Schema.Column("host")].ID
			read := func(column schema.ColumnID) error {
				s, err := e.Scan(ctx, Request{Table: before, Time: everything.time, Columns: []schema.ColumnID{column}})
				if err == nil {
					err = s.Each(func(*vector.Batch) (bool, error) { return true, nil })
				}
				return err
			}
			if err := read(x); err != nil {
				t.Errorf("%s: before: %v", c.name, err)
			}
			alter(func(s *schema.Table) (*schema.Table, error) {
				n := *s
				n.Columns = slices.Clone(s.Columns)
				n.Columns[n.Column("x")].Type = c.to
				return &n, nil
			})
			if err := put(e, "t", lastRow, []modelRow{{"ts": int64(2), "host": "a"}}); err != nil {
				t.Fatal(err)
			}
			if flushed {
				if err := e.Flush(ctx, public("t")); err != nil {
					t.Fatal(err)
				}
			}
			if err := read(x); !Overtaken(err) || status.Of(err) != status.RegionBusy {
				t.Errorf("%s, flushed %v: %v, want that the table was altered", c.name, flushed, err)
			}
			if err := read(host); err != nil {
				t.Errorf("%s: a column that is as it was: %v", c.name, err)
			}
			selected := func() error {
				s, err := e.Select(ctx, SelectRequest{Tables: []SelectTable{{before, []schema.ColumnID{x}}},
					From: math.MinInt64, To: math.MaxInt64})
				if err == nil {
					s.Close()
				}
				return err
			}
			if err := selected(); !Overtaken(err) {
				t.Errorf("%s, flushed %v: a selection: %v", c.name, flushed, err)
			}
			mustClose(t, e)
		}
	}
}

// schemaOf is what a table is now.
func schemaOf(t *testing.T, e *Engine, n schema.Name) *schema.Table {
	t.Helper()
	tab, err := e.Table(n)
	if err != nil {
		t.Fatal(err)
	}
	return tab.Schema
}

// TestKeysOfAnotherTable deletes by keys that were read before their table got another tag, or another table its name:
// nothing is deleted, and the error says that the statement begins again.
func TestKeysOfAnotherTable(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(e *Engine) error
	}{
		{"a tag more", func(e *Engine) error {
			return e.Alter(ctx, public("t"), func(s *schema.Table) (*schema.Table, error) {
				more := schema.Column{Name: "more", Type: vector.StringType, Nullable: true, Semantic: schema.Tag}
				return s.Evolve([]schema.Column{more})
			})
		}},
		{"another table", func(e *Engine) error {
			if err := e.DropTables(ctx, []schema.Name{public("t")}); err != nil {
				return err
			}
			return put(e, "t", lastRow, []modelRow{{"host": "a", "zone": "b", "ts": int64(1)}})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := mustOpen(t, Options{FS: vfs.NewMem(), Dir: "data", MinFree: 1})
			defer mustClose(t, e)
			if err := put(e, "t", lastRow, []modelRow{{"host": "a", "zone": "b", "ts": int64(1)}}); err != nil {
				t.Fatal(err)
			}
			before := schemaOf(t, e, public("t"))
			if err := c.change(e); err != nil {
				t.Fatal(err)
			}
			key := &vector.Batch{N: 1, Cols: []*vector.Vector{vector.ConstString("a"), vector.ConstString("b"),
				vector.ConstInt(vector.Timestamp(3), 1)}}
			if n, err := e.Delete(ctx, before, key); n != 0 || !Overtaken(err) {
				t.Errorf("%d deleted: %v", n, err)
			}
			if lines, err := scanTable(e, public("t"), everything); err != nil || len(lines) != 1 {
				t.Errorf("%d rows, want one: %v", len(lines), err)
			}
		})
	}
}
