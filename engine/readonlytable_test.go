package engine

import (
	"slices"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// setOption gives a table an option by ALTER.
func setOption(e *Engine, table, key, value string) error {
	return e.Alter(ctx, public(table), func(old *schema.Table) (*schema.Table, error) {
		options := map[string]string{}
		for _, o := range old.Options.All {
			options[o.Key] = o.Value
		}
		options[key] = value
		next := *old
		var err error
		next.Options, err = schema.ParseOptions(options)
		return &next, err
	})
}

// TestReadOnlyTable: a table with read_only takes no rows, no keys to delete and no change of its columns, before and
// after a restart; what it has is read, flushed, merged and expires; ALTER takes the option off.
func TestReadOnlyTable(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	for i := range int64(2) {
		putPart(t, e, "t", lastRow, rowsAt(i*10, i*10+5, i)...)
	}
	if err := put(e, "t", lastRow, rowsAt(20, 25, 2)); err != nil {
		t.Fatal(err)
	}
	if err := setOption(e, "t", "read_only", "true"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		refused := map[string]error{
			"write":  put(e, "t", lastRow, rowsAt(50, 51, 1)),
			"column": put(e, "t", lastRow, []modelRow{{"ts": int64(51), "x1": int64(1)}}),
			"delete": remove(e, "t", rowsAt(0, 1, 0)),
			"drop":   e.DropTables(ctx, []schema.Name{public("t")}),
			"empty":  e.Truncate(ctx, public("t")),
			"rename": e.Alter(ctx, public("t"), func(old *schema.Table) (*schema.Table, error) {
				next := *old
				next.Name.Table = "other"
				return &next, nil
			}),
		}
		for what, err := range refused {
			if status.Of(err) != status.InvalidArguments || status.ReasonOf(err) != status.ReadOnlyTable {
				t.Errorf("%s: %v, want a refusal", what, err)
			}
		}
		if err := e.Flush(ctx, public("t")); err != nil {
			t.Error(err)
		}
		if err := mergeEach(e, "t"); err != nil {
			t.Error(err)
		}
		if err := setOption(e, "t", "ttl", "1000000h"); err != nil {
			t.Errorf("another option: %v", err)
		}
		if lines, err := scanTable(e, public("t"), everything); err != nil || len(lines) != 15 {
			t.Errorf("%d rows, %v; want 15", len(lines), err)
		}
		mustClose(t, e)
		e = mustOpen(t, o)
	}
	if err := setOption(e, "t", "read_only", "false"); err != nil {
		t.Fatal(err)
	}
	if err := put(e, "t", lastRow, rowsAt(50, 51, 1)); err != nil {
		t.Error(err)
	}
	if err := e.DropTables(ctx, []schema.Name{public("t")}); err != nil {
		t.Error(err)
	}
	mustClose(t, e)
}

// TestReadOnlyWhileWritten: a table that gets read_only while a write finds that columns are lacking, or have to become
// columns of floats, keeps its columns, and the write is refused.
func TestReadOnlyWhileWritten(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	for table, row := range map[string]modelRow{
		"lacking": {"ts": int64(2), "x1": int64(1)},
		"wider":   {"ts": int64(2), "value": 1.5},
	} {
		if err := put(e, table, appendOnly, []modelRow{{"ts": int64(1)}}); err != nil {
			t.Fatal(err)
		}
		if table == "wider" {
			err := e.Alter(ctx, public(table), func(old *schema.Table) (*schema.Table, error) {
				next := *old
				next.Columns = append(slices.Clone(old.Columns),
					schema.Column{ID: 99, Name: "value", Type: vector.Int64Type, Nullable: true})
				return &next, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var set WriteSet
		if err := fill(set.Rows(public(table), hintOf(appendOnly)), []modelRow{row}); err != nil {
			t.Fatal(err)
		}
		w := &tableWrite{writeEntry: set.entries[0]}
		w.fields, w.batch = w.builder.Finish()
		_, evolving, err := e.writer.alignAll([]*tableWrite{w})
		if err != nil || len(evolving) != 1 {
			t.Fatalf("%s: %d writes lack something, %v; want 1", table, len(evolving), err)
		}
		if err := setOption(e, table, "read_only", "true"); err != nil {
			t.Fatal(err)
		}
		before, err := e.Table(public(table))
		if err != nil {
			t.Fatal(err)
		}
		refused := func(err error) bool { return status.ReasonOf(err) == status.ReadOnlyTable }
		if err := e.writer.widen(ctx, evolving); err != nil && !refused(err) {
			t.Errorf("%s: %v", table, err)
		}
		if err := e.definer.addColumns(evolving); err != nil && !refused(err) {
			t.Errorf("%s: %v", table, err)
		}
		if err := e.writer.prepare(ctx, []*tableWrite{w}); !refused(err) {
			t.Errorf("%s: the write ends with %v, want a refusal", table, err)
		}
		if after, err := e.Table(public(table)); err != nil || !sameTable(after.Schema, before.Schema) {
			t.Errorf("%s: the schema is %+v, %v; want %+v", table, after.Schema, err, before.Schema)
		}
	}
}

// TestReadOnlyTableAmongOthers: of a write to several tables the rows of the one that is read-only are named, and the
// others are stored, where rows can be left out; else nothing is stored.
func TestReadOnlyTableAmongOthers(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	for _, table := range []string{"open", "shut"} {
		putPart(t, e, table, appendOnly, rowsAt(0, 1, 0)...)
	}
	if err := setOption(e, "shut", "read_only", "true"); err != nil {
		t.Fatal(err)
	}
	for _, partial := range []bool{false, true} {
		var set WriteSet
		named := 0
		for _, table := range []string{"open", "shut"} {
			hint := hintOf(appendOnly)
			if partial {
				hint.Reject = func(_ int, why error) {
					named++
					if status.ReasonOf(why) != status.ReadOnlyTable {
						t.Errorf("a row is refused because %v", why)
					}
				}
			}
			if err := fill(set.Rows(public(table), hint), rowsAt(5, 8, 1)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := e.Write(ctx, &set)
		want, rows := 0, 1
		if partial {
			want, rows = 3, 4
		}
		if (err == nil) != partial || named != want {
			t.Errorf("partial %v: %d rows are named, %v", partial, named, err)
		}
		if lines, err := scanTable(e, public("open"), everything); err != nil || len(lines) != rows {
			t.Errorf("partial %v: the other table has %d rows, %v; want %d", partial, len(lines), err, rows)
		}
	}
}

// TestReadOnlyPhysicalTable: the option of a physical table holds for its logical tables, old and new.
func TestReadOnlyPhysicalTable(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	row := []modelRow{{"ts": int64(1), "host": "a", "value": 1.0}}
	putPart(t, e, "m", metric, row...)
	if err := setOption(e, "phys", "read_only", "true"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"old": put(e, "m", metric, row),
		"drop": e.DropTables(ctx, []schema.Name{public("m")}), "truncate": e.Truncate(ctx, public("m"))} {
		if status.ReasonOf(err) != status.ReadOnlyTable {
			t.Errorf("%s: %v, want a refusal", what, err)
		}
	}
	if err := setOption(e, "phys", "read_only", "false"); err != nil {
		t.Fatal(err)
	}
	if err := put(e, "m", metric, row); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyPhysicalTableWhileWritten: a physical table that gets read_only after a write to one of its logical
// tables is prepared refuses the write.
func TestReadOnlyPhysicalTableWhileWritten(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	row := []modelRow{{"ts": int64(1), "host": "a", "value": 1.0}}
	putPart(t, e, "m", metric, row...)
	var set WriteSet
	row[0]["ts"] = int64(2)
	if err := fill(set.Rows(public("m"), hintOf(metric)), row); err != nil {
		t.Fatal(err)
	}
	w := &tableWrite{writeEntry: set.entries[0]}
	w.fields, w.batch = w.builder.Finish()
	all := []*tableWrite{w}
	if err := e.writer.prepare(ctx, all); err != nil || w.rec == nil {
		t.Fatalf("the write is not prepared: %v", err)
	}
	if err := setOption(e, "phys", "read_only", "true"); err != nil {
		t.Fatal(err)
	}
	again, err := e.committer.commit(ctx, all)
	if err != nil || len(again) != 1 {
		t.Errorf("%d writes are to be prepared again, %v; want 1", len(again), err)
	}
	if err := e.writer.prepare(ctx, again); status.ReasonOf(err) != status.ReadOnlyTable {
		t.Errorf("the write ends with %v, want a refusal", err)
	}
	if got := timesOf(t, e, "m"); got != "1" {
		t.Errorf("the table has the times %q, want 1", got)
	}
}

// TestReadOnlyStore: a store with the option refuses what clients change and takes what the server writes for itself;
// it is read, flushed and merged.
func TestReadOnlyStore(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	putPart(t, e, "t", appendOnly, rowsAt(0, 5, 0)...)
	if err := put(e, "t", appendOnly, rowsAt(5, 9, 0)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	o.ReadOnly = true
	e = mustOpen(t, o)
	defer mustClose(t, e)
	if err := e.ReadOnly(); err != ErrReadOnly {
		t.Errorf("it says %v", err)
	}
	table := privateTable("x")
	table.Name = public("x")
	_, created := e.CreateTable(ctx, table)
	for what, err := range map[string]error{
		"write": put(e, "t", appendOnly, rowsAt(9, 10, 0)), "table": created, "alter": setOption(e, "t", "ttl", "1d"),
		"drop": e.DropTables(ctx, []schema.Name{public("t")}), "truncate": e.Truncate(ctx, public("t")),
		"database":      e.CreateDatabase(ctx, Database{Name: "d"}),
		"its options":   e.AlterDatabase(ctx, Database{Name: PublicDB}),
		"drop database": e.DropDatabase(ctx, "d"),
	} {
		if status.Of(err) != status.RegionReadonly {
			t.Errorf("%s: %v, want a refusal", what, err)
		}
	}
	if _, err := e.Write(AsServer(ctx), privateRow(t, RejectedTable)); err != nil {
		t.Errorf("the server's own rows: %v", err)
	}
	if err := e.Flush(ctx, public("t")); err != nil {
		t.Error(err)
	}
	if err := e.Compact(ctx, public("t")); err != nil {
		t.Error(err)
	}
	if lines, err := scanTable(e, public("t"), everything); err != nil || len(lines) != 9 {
		t.Errorf("%d rows, %v; want 9", len(lines), err)
	}
}
