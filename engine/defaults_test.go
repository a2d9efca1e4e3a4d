package engine

import (
	"testing"

	"varve/engine/schema"
	"varve/engine/vfs"
)

// TestDatabaseDefaults: tables that writes create begin with the defaults of their database, unless the request says
// otherwise; the database's windows of compaction act on tables without their own.
func TestDatabaseDefaults(t *testing.T) {
	e := mustOpen(t, Options{FS: vfs.NewMem(), Dir: "/data", NoBackground: true})
	defer mustClose(t, e)
	options := func(given map[string]string) schema.Options {
		t.Helper()
		o, err := schema.ParseOptions(given)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for db, given := range map[string]map[string]string{
		"logs": {"append_mode": "true", "skip_wal": "true", "sst_format": "flat", "compaction.twcs.time_window": "1s",
			"ttl": "10s"},
		"latest": {"merge_mode": "last_non_null"},
	} {
		if err := e.CreateDatabase(ctx, Database{Name: db, Options: options(given).All}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  schema.Name
		given map[string]string
		want  map[string]string
	}{
		{schema.Name{DB: "logs", Table: "plain"}, nil,
			map[string]string{"append_mode": "true", "skip_wal": "true", "sst_format": "flat"}},
		{schema.Name{DB: "logs", Table: "own"}, map[string]string{"append_mode": "false", "ttl": "1day"},
			map[string]string{"append_mode": "false", "skip_wal": "true", "sst_format": "flat", "ttl": "1day"}},
		{schema.Name{DB: "logs", Table: "contrary"}, map[string]string{"merge_mode": "last_non_null"},
			map[string]string{"merge_mode": "last_non_null", "skip_wal": "true", "sst_format": "flat"}},
		{schema.Name{DB: "latest", Table: "plain"}, nil, map[string]string{"merge_mode": "last_non_null"}},
		{schema.Name{DB: "latest", Table: "contrary"}, map[string]string{"append_mode": "true"},
			map[string]string{"append_mode": "true"}},
		{schema.Name{DB: "public", Table: "plain"}, nil, nil},
	} {
		h := hintOf(lastRow)
		h.Options = options(c.given)
		var set WriteSet
		if err := fill(set.Rows(c.name, h), []modelRow{{"ts": int64(1), "host": "a"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
		tab, err := e.Table(c.name)
		if err != nil {
			t.Fatal(err)
		}
		want, got := options(c.want), tab.Schema.Options
		if !got.Equal(&want) || got.AppendMode != want.AppendMode || got.MergeMode != want.MergeMode ||
			got.SkipWAL != want.SkipWAL {
			t.Errorf("%s with %v: %v, want %v", c.name, c.given, got, want)
		}
	}
	tab, err := e.Table(schema.Name{DB: "logs", Table: "plain"})
	if err != nil {
		t.Fatal(err)
	}
	if own, _ := e.catalog.Load().option(tab.Schema, "compaction.twcs.time_window"); own != "1s" {
		t.Errorf("the windows of the database do not act on its table: %q", own)
	}
}
