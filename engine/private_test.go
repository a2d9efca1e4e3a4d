package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

var privateForm = OwnTable{
	Name: DashboardsTable, Time: "at", Tags: []string{"name"},
	Columns: []vector.Field{{Name: "name", Type: vector.StringType}, {Name: "text", Type: vector.StringType},
		{Name: "at", Type: vector.Timestamp(3)}},
}

// privateTable is a table in the server's database, of the form of privateForm.
func privateTable(name string) *schema.Table {
	return &schema.Table{Name: schema.Name{DB: PrivateDB, Table: name}, Time: 2, Tags: []int{0}, Engine: "mito",
		Columns: []schema.Column{
			{Name: "name", Type: vector.StringType, Semantic: schema.Tag, Nullable: true},
			{Name: "text", Type: vector.StringType, Nullable: true},
			{Name: "at", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
		}}
}

// privateRow is a set with a row for a table of the server's database.
func privateRow(t *testing.T, name string) *WriteSet {
	t.Helper()
	set := new(WriteSet)
	b := set.Rows(schema.Name{DB: PrivateDB, Table: name},
		Hint{AutoCreate: true, TimeIndex: "at", Tags: []string{"name"}})
	for _, f := range privateForm.Columns {
		c, err := b.Column(f.Name, f.Type)
		if err != nil {
			t.Fatal(err)
		}
		if f.Type == vector.StringType {
			c.SetString("x")
		} else {
			c.SetInt(1)
		}
	}
	b.EndRow()
	return set
}

// TestPrivateDatabase: every change of a table of the server's database is refused, but for what the server does itself
// and the removal of tables that it does not use.
func TestPrivateDatabase(t *testing.T) {
	e, err := Open(Options{FS: vfs.NewMem(), Dir: "data", NoBackground: true, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background(), false)
	server := AsServer(t.Context())
	other := schema.Name{DB: PublicDB, Table: "t"}
	public := privateTable("t")
	public.Name = other
	own, stray := schema.Name{DB: PrivateDB, Table: DashboardsTable}, schema.Name{DB: PrivateDB, Table: "stray"}
	for _, made := range []*schema.Table{privateTable(own.Table), privateTable(stray.Table), public} {
		if _, err := e.CreateTable(server, made); err != nil {
			t.Fatal(err)
		}
	}
	keys := vector.NewBatch(vector.StringType, vector.Timestamp(3))
	rename := func(to schema.Name) func(*schema.Table) (*schema.Table, error) {
		return func(s *schema.Table) (*schema.Table, error) {
			next := *s
			next.Name = to
			return &next, nil
		}
	}
	for _, c := range []struct {
		name string
		do   func(ctx context.Context) error
	}{
		{"create", func(ctx context.Context) error { _, err := e.CreateTable(ctx, privateTable("u")); return err }},
		{"draft", func(ctx context.Context) error { _, err := e.CreateDraft(ctx, privateTable("v")); return err }},
		{"write", func(ctx context.Context) error { _, err := e.Write(ctx, privateRow(t, own.Table)); return err }},
		{"write to a stray table", func(ctx context.Context) error {
			_, err := e.Write(ctx, privateRow(t, stray.Table))
			return err
		}},
		{"write to a new table", func(ctx context.Context) error {
			_, err := e.Write(ctx, privateRow(t, "w"))
			return err
		}},
		{"series", func(ctx context.Context) error {
			_, errs, err := e.Series(ctx, &SeriesRequest{Columns: SampleColumns{Time: "at", Value: "v"},
				Names: []SeriesName{{Table: schema.Name{DB: PrivateDB, Table: "m"}}}})
			if err != nil {
				return err
			}
			return errs[0]
		}},
		{"delete", func(ctx context.Context) error { _, err := e.Delete(ctx, schemaOf(t, e, own), keys); return err }},
		{"alter", func(ctx context.Context) error {
			return e.Alter(ctx, own, func(s *schema.Table) (*schema.Table, error) { return s, nil })
		}},
		{"rename into it", func(ctx context.Context) error {
			return e.Alter(ctx, other, rename(schema.Name{DB: PrivateDB, Table: "views"}))
		}},
		{"options of the database", func(ctx context.Context) error {
			return e.AlterDatabase(ctx, Database{Name: PrivateDB})
		}},
		{"truncate", func(ctx context.Context) error { return e.Truncate(ctx, own) }},
		{"drop", func(ctx context.Context) error { return e.DropTables(ctx, []schema.Name{own}) }},
	} {
		if err := c.do(t.Context()); status.Of(err) != status.Unsupported ||
			!strings.Contains(err.Error(), "belongs to the server") {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := c.do(server); err != nil {
			t.Errorf("%s by the server: %v", c.name, err)
		}
	}
	if err := e.DropTables(t.Context(), []schema.Name{stray}); err != nil {
		t.Errorf("a table that the server does not use cannot be dropped: %v", err)
	}
}

// TestOwnTable: a table of the server's own that is not as the server makes it is set aside with its rows, at a restart
// too, and the server makes another; what others added to one does no harm.
func TestOwnTable(t *testing.T) {
	own := schema.Name{DB: PrivateDB, Table: DashboardsTable}
	change := func(f func(*schema.Table)) *schema.Table {
		s := privateTable(own.Table)
		f(s)
		return s
	}
	options := func(given map[string]string) func(*schema.Table) {
		return func(s *schema.Table) {
			var err error
			if s.Options, err = schema.ParseOptions(given); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, want string // want is the reason; empty: it is used
		table      *schema.Table
	}{
		{"as it is made", "", privateTable(own.Table)},
		{"a further column", "", change(func(s *schema.Table) {
			s.Columns = append(s.Columns, schema.Column{Name: "more", Type: vector.Int64Type, Nullable: true})
		})},
		{"another type", "a column text of type Int64, not String",
			change(func(s *schema.Table) { s.Columns[1].Type = vector.Int64Type })},
		{"a column is missing", "no column text", change(func(s *schema.Table) { s.Columns[1].Name = "other" })},
		{"another time index", "the time index ts", change(func(s *schema.Table) {
			s.Columns = append(s.Columns,
				schema.Column{Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp})
			s.Columns[2].Semantic, s.Columns[2].Nullable, s.Time = schema.Field, true, 3
		})},
		{"no key", "the tags []", change(func(s *schema.Table) { s.Columns[0].Semantic, s.Tags = schema.Field, nil })},
		{"a column that is needed", "more, which is NOT NULL", change(func(s *schema.Table) {
			s.Columns = append(s.Columns, schema.Column{Name: "more", Type: vector.Int64Type})
		})},
		{"all rows stay", "append_mode = 'true'", change(options(map[string]string{"append_mode": "true"}))},
		{"of metrics", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := vfs.NewMem()
			open := func() *Engine {
				e, err := Open(Options{FS: fs, Dir: "data", NoBackground: true, MinFree: 1})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			e := open()
			if c.table == nil {
				c.want = "no column name"
				physical, err := schema.ParseOptions(map[string]string{schema.PhysicalOption: "true"})
				if err != nil {
					t.Fatal(err)
				}
				s := &schema.Table{Name: schema.Name{DB: PrivateDB, Table: "all"}, Time: 0, Options: physical,
					Engine: "metric", Columns: []schema.Column{
						{Name: "at", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
						{Name: "v", Type: vector.FloatType, Nullable: true}}}
				if _, err := e.CreateTable(AsServer(t.Context()), s); err != nil {
					t.Fatal(err)
				}
				logical := *s
				logical.Name = own
				if logical.Options, err = schema.ParseOptions(map[string]string{schema.LogicalOption: "all"}); err !=
					nil {
					t.Fatal(err)
				}
				c.table = &logical
			}
			if _, err := e.CreateTable(AsServer(t.Context()), c.table); err != nil {
				t.Fatal(err)
			}
			if err := e.Close(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			e = open()
			_, err := e.Own(&privateForm)
			if c.want == "" {
				if aside := e.TablesAside(); err != nil || len(aside) > 0 {
					t.Fatalf("%v, set aside: %v", err, aside)
				}
			} else if status.Of(err) != status.TableNotFound {
				t.Fatalf("a broken table: %v", err)
			}
			if _, err := e.Write(AsServer(t.Context()), privateRow(t, own.Table)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := e.Own(&privateForm); err != nil {
					t.Error(err)
				}
				aside := e.TablesAside()
				if c.want != "" && (len(aside) != 1 || aside[0].Name.Table != "dashboard.aside-1" ||
					!strings.Contains(aside[0].Reason, c.want)) {
					t.Errorf("set aside: %v, want %q", aside, c.want)
				}
				if err := e.Close(t.Context(), false); err != nil {
					t.Fatal(err)
				}
				e = open()
			}
			for _, a := range e.TablesAside() {
				if err := e.DropTables(t.Context(), []schema.Name{a.Name}); err != nil {
					t.Error(err)
				}
			}
			if aside := e.TablesAside(); len(aside) > 0 {
				t.Errorf("still set aside: %v", aside)
			}
			if err := e.Close(t.Context(), false); err != nil {
				t.Fatal(err)
			}
		})
	}
	if !slices.Contains(ownTables, privateForm.Name) {
		t.Error("the form is of no table of the server's own")
	}
}
