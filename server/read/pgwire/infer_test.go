package pgwire_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"varve/engine/vector"
	"varve/server"
	"varve/server/read/pgwire"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// describing counts how often the types of a query are asked for.
type describing struct {
	pgwire.Executor
	calls atomic.Int64
}

func (d *describing) Describe(ctx context.Context, s *sqlexec.Session, st parse.Statement) ([]vector.Field, error) {
	d.calls.Add(1)
	return d.Executor.Describe(ctx, s, st)
}

func TestPGManyParametersAreDescribedOnce(t *testing.T) {
	d := &describing{}
	s := startPG(t, func(o *server.Options) {
		d.Executor = o.PG.Executor
		o.PG.Executor = d
	})
	c := s.connect("ann")
	s.do(c, pgTable)
	list := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strings.ReplaceAll(form, "$", fmt.Sprintf("$%d", i+1)))
		}
		return b.String()
	}
	var rows strings.Builder
	for i := 1; i < 65534; i += 2 {
		fmt.Fprintf(&rows, ",($%d,$%d)", i, i+1)
	}
	for name, one := range map[string]struct {
		sql  string
		n    int
		last uint32
		most int64 // calls, that of the client's Describe included
	}{
		"rows":      {"INSERT INTO t (ts, n) VALUES " + rows.String()[1:], 65534, 23, 2},
		"in":        {"SELECT v FROM t WHERE n IN (" + list(65535, "$") + ")", 65535, 23, 2},
		"or":        {"SELECT v FROM t WHERE n < 0" + strings.ReplaceAll(list(2000, " OR n = $"), ",", ""), 2000, 23, 2},
		"operators": {"SELECT n" + strings.ReplaceAll(list(2000, " + $"), ",", "") + " FROM t", 2000, 23, 2},
		"items":     {"SELECT " + list(2000, "v = $") + " FROM t", 2000, 701, 2},
	} {
		d.calls.Store(0)
		p, err := c.Prepare(t.Context(), name, one.sql)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := len(p.ParamOIDs); n != one.n || p.ParamOIDs[n-1] != one.last {
			t.Errorf("%s: %d types, the last is %d, want %d and %d", name, n, p.ParamOIDs[n-1], one.n, one.last)
		}
		if n := d.calls.Load(); n > one.most {
			t.Errorf("%s: Describe was called %d times, want at most %d", name, n, one.most)
		}
	}
}

func TestPGTypesOfParameters(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, "CREATE TABLE t (ts TIMESTAMP(6) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE, n INT, d DATE, b BYTEA)")
	for i, one := range []struct {
		sql  string
		want []uint32
	}{
		{"SELECT * FROM t WHERE ts > now() - $1", []uint32{1186}},
		{"SELECT * FROM t WHERE ts BETWEEN now() - $1 AND now()", []uint32{1186}},
		{"SELECT now() - $1", []uint32{1184}}, // the operator of two times, as PostgreSQL finds it
		{"SELECT now() + $1", []uint32{1186}},
		{"SELECT INTERVAL '1 day' * $1, $2 * INTERVAL '1 day', INTERVAL '1 day' / $3", []uint32{701, 701, 701}},
		{"SELECT INTERVAL '1 day' + $1", []uint32{1186}},
		{"SELECT coalesce(n, $1), coalesce($2, v), greatest(n, $3), nullif(ts, $4) FROM t", []uint32{23, 701, 23, 1184}},
		{"SELECT CASE WHEN $1 THEN n ELSE $2 END, CASE n WHEN $3 THEN $4 ELSE v END FROM t",
			[]uint32{16, 23, 23, 701}},
		{"SELECT * FROM t WHERE n = abs($1) AND v < sqrt($2) AND n = -$3", []uint32{701, 701, 701}},
		{"SELECT n = coalesce($1, n) FROM t", []uint32{23}},
		{"INSERT INTO t SELECT $1, $2, $3, $4, $5, $6", []uint32{1184, 25, 701, 23, 1082, 17}},
		{"INSERT INTO t (n, ts) SELECT $1, ts FROM t WHERE v = $2", []uint32{23, 701}},
		{"INSERT INTO t (ts, v) SELECT $1, 1 UNION ALL SELECT ts, $2 FROM t", []uint32{1184, 701}},
		{"INSERT INTO t (ts, n) VALUES ($1, coalesce($2::int, n)), ($3, $4)", []uint32{1184, 23, 1184, 23}},
		{"SELECT * FROM t WHERE n = -- next\n $1", []uint32{23}},
		{"SELECT * FROM t WHERE n = /* limit */ $1 OR \"host\" = /* offset */ $2", []uint32{23, 25}},
		{"SELECT * FROM t LIMIT /* rows */ $1 OFFSET ($2)", []uint32{20, 20}},
		{"SELECT * FROM t FETCH FIRST $1 ROWS ONLY", []uint32{20}},
		{"SELECT host || $1, n || $2, $3 AND true FROM t", []uint32{25, 25, 16}},
		{"SELECT * FROM t WHERE n = ANY($1) AND host ~ $2", []uint32{1007, 25}},
		{"DELETE FROM t WHERE d = $1 AND ts < now() - $2", []uint32{1082, 1186}},
	} {
		p, err := c.Prepare(t.Context(), fmt.Sprint(i), one.sql)
		if err != nil && p == nil {
			t.Errorf("%s: %v", one.sql, err)
			continue
		}
		if fmt.Sprint(p.ParamOIDs) != fmt.Sprint(one.want) {
			t.Errorf("%s: got %v, want %v", one.sql, p.ParamOIDs, one.want)
		}
	}
	s.gives(c, "1", "SELECT count(*) FROM numbers WHERE number < 10 AND number = /* limit */ $1", pgText(0, "7"))
	s.gives(c, "2 days", "SELECT INTERVAL '1 day' * $1", pgText(0, "2"))
}

// TestPGTypesInListsAndSeries: parameters in rows of values, in lists, in tuples and in series have the types of what
// stands beside them, and so have columns of these.
func TestPGTypesInListsAndSeries(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, "CREATE TABLE t (ts TIMESTAMP(6) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE, n INT)",
		"INSERT INTO t VALUES ('2026-01-02 00:00:00Z', 'a', 1.5, 7)")
	const day, next = "2026-01-02 00:00:00Z", "2026-01-03 00:00:00Z"
	for _, one := range []struct {
		sql                 string
		parameters, columns []uint32
		rows                string
		values              []string
	}{
		{"SELECT * FROM (VALUES ($1::int4, $2::text), (3, 'x')) AS l(a, b)", []uint32{23, 25}, []uint32{20, 25},
			"7|y\n3|x", []string{"7", "y"}},
		{"SELECT n FROM t WHERE n IN (SELECT a FROM (VALUES ($1), (3)) AS l(a))", []uint32{20}, []uint32{23}, "7",
			[]string{"7"}},
		{"SELECT ARRAY[$1, n] FROM t", []uint32{23}, []uint32{1007}, "{1,7}", []string{"1"}},
		{"SELECT n FROM t WHERE (ts, host) > ($1, $2)", []uint32{1184, 25}, []uint32{23}, "7", []string{day, "A"}},
		{"SELECT n FROM t WHERE (n, host) IN (($1, $2), (8, 'b'))", []uint32{23, 25}, []uint32{23}, "7",
			[]string{"7", "a"}},
		{"SELECT mod(n, $1) FROM t", []uint32{23}, []uint32{23}, "1", []string{"2"}},
		{"SELECT width_bucket(v, $1, $2, $3) FROM t", []uint32{701, 701, 20}, []uint32{20}, "2",
			[]string{"0", "3", "3"}},
		{"SELECT ntile($1) OVER (ORDER BY ts), row_number() OVER (ORDER BY ts), rank() OVER (ORDER BY ts) FROM t",
			[]uint32{20}, []uint32{20, 20, 20}, "1|1|1", []string{"3"}},
		{"SELECT r - 5 FROM (SELECT dense_rank() OVER (ORDER BY ts) AS r FROM t) AS x WHERE r <= $1", []uint32{20},
			[]uint32{20}, "-4", []string{"3"}},
		{"SELECT count(*) FROM generate_series($1::timestamptz, $2::timestamptz, '12 hours') AS g", []uint32{1184, 1184},
			[]uint32{20}, "3", []string{day, next}},
		{"SELECT g FROM generate_series($1::timestamptz, $2, $3) AS g WHERE g > $4", []uint32{1184, 1184, 1186, 1184},
			[]uint32{1184}, "2026-01-03 00:00:00+00", []string{day, next, "1 day", day}},
		{"SELECT count(*) FROM generate_series($1, $2, INTERVAL '1 day') AS g", []uint32{1184, 1184}, []uint32{20}, "2",
			[]string{day, next}},
		{"SELECT generate_series($1, 3)", []uint32{20}, []uint32{20}, "2\n3", []string{"2"}},
		{"SELECT ARRAY(SELECT generate_series(1, $1) AS n)", []uint32{20}, []uint32{1016}, "{1,2}", []string{"2"}},
		{"SELECT ARRAY(SELECT n FROM t WHERE n < $1), ARRAY(SELECT ts FROM t WHERE n < $1), " +
			"ARRAY(SELECT host FROM t WHERE n < $1)", []uint32{23}, []uint32{1007, 1185, 1009}, "{}|{}|{}",
			[]string{"0"}},
		{"SELECT at.n AT FROM t at WHERE at.ts AT TIME ZONE 'UTC' >= $1", []uint32{1184}, []uint32{23}, "7", []string{day}},
		{"SELECT array_length($1::json[], 1), $1::json[]", []uint32{199}, []uint32{20, 199}, `2|{"{\"a\":1}",2}`,
			[]string{`{"{\"a\": 1}",2}`}},
	} {
		s.described(c, one.sql, one.parameters, one.columns, one.rows, one.values...)
	}
}
