package sqlexec

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/vfs"
)

// TestNothingToDoOnReadOnly: a read-only store takes statements that create what is there if it is not there, and those
// that drop what is not there if it is there. Statements that change something are refused.
func TestNothingToDoOnReadOnly(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	open := func(fs vfs.FS) (*engine.Engine, func(text string) error) {
		e, err := engine.Open(engine.Options{FS: fs, Dir: "data", NoBackground: true, MinFree: 1})
		if err != nil {
			t.Fatal(err)
		}
		x := New(e, Options{})
		s := &Session{}
		return e, func(text string) error {
			list, err := x.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, st := range list {
				r, err := x.Execute(ctx, s, st)
				if err != nil {
					return err
				}
				if r.Rows != nil {
					r.Rows.Close()
				}
			}
			return nil
		}
	}
	e, run := open(fs)
	if err := run(`CREATE TABLE t (ts TIMESTAMP TIME INDEX, v BIGINT); CREATE VIEW w AS SELECT v FROM t;
		CREATE TABLE p (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE=metric WITH ('physical_metric_table'='');
		CREATE TABLE m (ts TIMESTAMP TIME INDEX, v DOUBLE, host STRING PRIMARY KEY) ENGINE=metric
			WITH ('on_physical_table'='p')`); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(ctx, true); err != nil {
		t.Fatal(err)
	}
	e, run = open(vfs.ReadOnly(fs))
	defer e.Close(ctx, false)
	for _, text := range []string{
		"CREATE TABLE IF NOT EXISTS t (ts TIMESTAMP TIME INDEX, v BIGINT)",
		"CREATE TABLE IF NOT EXISTS t (ts TIMESTAMP TIME INDEX, other STRING)",
		"CREATE TABLE IF NOT EXISTS t AS SELECT * FROM t",
		"CREATE TABLE IF NOT EXISTS t LIKE t",
		"CREATE DATABASE IF NOT EXISTS public",
		"CREATE VIEW IF NOT EXISTS w AS SELECT v FROM t",
		"ALTER TABLE t ADD COLUMN IF NOT EXISTS v BIGINT",
		"ALTER TABLE t DROP COLUMN IF EXISTS none",
		"ALTER TABLE m ADD COLUMN IF NOT EXISTS host STRING PRIMARY KEY",
		"DROP TABLE IF EXISTS none",
		"DROP VIEW IF EXISTS none",
		"DROP DATABASE IF EXISTS none",
	} {
		if err := run(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"CREATE TABLE IF NOT EXISTS fresh (ts TIMESTAMP TIME INDEX)",
		"CREATE OR REPLACE TABLE t (ts TIMESTAMP TIME INDEX)",
		"CREATE VIEW IF NOT EXISTS fresh AS SELECT v FROM t",
		"CREATE DATABASE IF NOT EXISTS fresh", "DROP TABLE IF EXISTS t",
		"ALTER TABLE t ADD COLUMN IF NOT EXISTS x BIGINT", "ALTER TABLE t DROP COLUMN IF EXISTS v",
		"ALTER TABLE t MODIFY COLUMN v DOUBLE", "ALTER TABLE t SET 'ttl' = '1d'", "ALTER TABLE t RENAME fresh",
		"ALTER TABLE m ADD COLUMN IF NOT EXISTS zone STRING PRIMARY KEY", "ALTER DATABASE public SET 'ttl' = '1d'",
		"CREATE TABLE fresh (ts TIMESTAMP TIME INDEX)", "TRUNCATE TABLE t", "DROP TABLE m",
	} {
		if err := run(text); err == nil || !strings.Contains(fmt.Sprint(err), "read-only") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
