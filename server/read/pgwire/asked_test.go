package pgwire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// TestPGHints: an error says apart what may have been meant.
func TestPGHints(t *testing.T) {
	s := clientServer(t)
	c := s.connect("ann")
	for _, one := range []struct{ sql, code, want string }{
		{"SELECT hots FROM logs", "42703", "Did you mean 'logs.host'?"},
		{"SELECT * FROM lgs", "42P01", "Did you mean 'logs'?"},
		{"SELECT lenght('a')", "42883", "Did you mean 'length'?"},
		{"SELEC 1", "0A000", "Did you mean SELECT?"},
		{"SELECT absentabsent", "42703", ""},
	} {
		_, err := c.PgConn().Exec(t.Context(), one.sql).ReadAll()
		e := s.refused(err, one.code, "")
		if e.Hint != one.want {
			t.Errorf("%s: the hint is %q, want %q", one.sql, e.Hint, one.want)
		}
		if one.want != "" && strings.Contains(e.Message, one.want) {
			t.Errorf("%s: the message %q has the hint", one.sql, e.Message)
		}
		if e.Position == 0 {
			t.Errorf("%s: no position", one.sql)
		}
	}
}

// TestPGNumbersOfThings: columns of the catalog that have numbers of things are told as oid, in both formats, also in
// lists and through a cursor; columns of other tables are not.
func TestPGNumbersOfThings(t *testing.T) {
	s := clientServer(t)
	c := s.connect("ann")
	for _, one := range []struct {
		sql  string
		want []uint32
	}{
		{"SELECT oid, typlen, typelem > 0 FROM pg_type WHERE typname = 'int4'", []uint32{26, 21, 16}},
		{"SELECT array_agg(atttypid ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'logs'::regclass", []uint32{1028}},
		{"SELECT 7::INT UNSIGNED, number FROM numbers LIMIT 1", []uint32{20, 20}},
	} {
		for _, format := range []int16{0, 1} {
			r := c.PgConn().ExecParams(t.Context(), one.sql, nil, nil, nil, []int16{format}).Read()
			if r.Err != nil {
				t.Fatalf("%s: %v", one.sql, r.Err)
			}
			var got []uint32
			for i, f := range r.FieldDescriptions {
				got = append(got, f.DataTypeOID)
				if f.DataTypeOID == 26 && format == 1 && len(r.Rows[0][i]) != 4 {
					t.Errorf("%s: a number has %d bytes", one.sql, len(r.Rows[0][i]))
				}
			}
			if !slices.Equal(got, one.want) {
				t.Errorf("%s: types %v, want %v", one.sql, got, one.want)
			}
		}
	}
	var list []uint32
	if err := c.QueryRow(t.Context(), "SELECT array_agg(oid ORDER BY oid) FROM pg_type WHERE oid = ANY($1::oid[])",
		[]uint32{25, 16}).Scan(&list); err != nil || !slices.Equal(list, []uint32{16, 25}) {
		t.Errorf("got %v, %v", list, err)
	}
	s.do(c, "BEGIN", "DECLARE x CURSOR FOR SELECT oid FROM pg_type WHERE typname = 'bool'")
	r := c.PgConn().ExecParams(t.Context(), "FETCH 1 FROM x", nil, nil, nil, []int16{1}).Read()
	if r.Err != nil || r.FieldDescriptions[0].DataTypeOID != 26 || string(r.Rows[0][0]) != "\x00\x00\x00\x10" {
		t.Errorf("a cursor gives %v, %q, %v", r.FieldDescriptions, r.Rows, r.Err)
	}
}

// TestPGBytesAreRead: a text stands for bytes where bytes are stored or compared, also through a query in FROM, and in
// the text that a view keeps.
func TestPGBytesAreRead(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, "CREATE TABLE b (ts TIMESTAMP TIME INDEX, raw VARBINARY)",
		`INSERT INTO b SELECT * FROM (VALUES ('2020-01-01'::timestamp, '\x01')) AS v(a, r)`,
		`INSERT INTO b (raw, ts) SELECT v.r, a FROM (SELECT * FROM
			(VALUES ('2020-01-02'::timestamp, '\x02')) AS w(p, q)) AS v(a, r)`,
		`INSERT INTO b (VALUES ('2020-01-03', '\x03'))`,
		`CREATE VIEW one AS SELECT ts FROM b WHERE raw = '\x01'`,
		`CREATE VIEW many AS WITH x AS (SELECT * FROM b) SELECT count(*) AS n FROM x WHERE raw IN ('\x02', '\003')`)
	want := []string{`\x01`, `\x02`, `\x03`}
	if got := s.texts(c, "SELECT raw FROM b ORDER BY ts"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := s.texts(c, "SELECT * FROM one"); !slices.Equal(got, []string{"2020-01-01 00:00:00+00"}) {
		t.Errorf("the view has %q", got)
	}
	if got := s.texts(c, "SELECT n FROM many"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("the view of several values has %q", got)
	}
	_, err := c.PgConn().Exec(t.Context(), `CREATE VIEW bad AS SELECT ts FROM b WHERE raw = '\xzz'`).ReadAll()
	s.refused(err, "22P02", "")
}

// TestPGTypesOfArguments: a parameter that is an argument has the type that the function takes, and Describe tells the
// columns of a statement that needs its value as a constant.
func TestPGTypesOfArguments(t *testing.T) {
	s := clientServer(t)
	c := s.connect("ann")
	for _, one := range []struct {
		sql             string
		params, columns []uint32
	}{
		{"SELECT percentile_cont($1) WITHIN GROUP (ORDER BY took) FROM logs", []uint32{701}, []uint32{701}},
		{"SELECT approx_percentile_cont(took, $1) FROM logs", []uint32{701}, []uint32{701}},
		{"SELECT * FROM generate_series(1, $1)", []uint32{20}, []uint32{20}},
		{"SELECT * FROM generate_series($1, $2, $3)", []uint32{20, 20, 20}, []uint32{20}},
		{"SELECT g.x FROM generate_series(1, $1) AS g(x) JOIN logs ON g.x = logs.status WHERE status = $2",
			[]uint32{20, 23}, []uint32{20}},
		{"SELECT nth_value(host, $1) OVER (ORDER BY ts), lag(status, $2, $3) OVER (ORDER BY ts) FROM logs",
			[]uint32{20, 20, 23}, []uint32{25, 23}},
		{"SELECT left(host, $1), split_part(host, $2, $3) FROM logs", []uint32{20, 25, 20}, []uint32{25, 25}},
	} {
		d, err := c.Prepare(t.Context(), one.sql, one.sql)
		if err != nil {
			t.Errorf("%s: %v", one.sql, err)
			continue
		}
		var columns []uint32
		for _, f := range d.Fields {
			columns = append(columns, f.DataTypeOID)
		}
		if !slices.Equal(d.ParamOIDs, one.params) || !slices.Equal(columns, one.columns) {
			t.Errorf("%s: parameters %v, columns %v, want %v and %v", one.sql, d.ParamOIDs, columns, one.params,
				one.columns)
		}
	}
	var median float64
	if err := c.QueryRow(t.Context(), "SELECT percentile_cont($1) WITHIN GROUP (ORDER BY number) FROM numbers",
		0.5).Scan(&median); err != nil || median != 49.5 {
		t.Errorf("the median is %v, %v", median, err)
	}
}

// TestPGShareOfAConnection: one connection cannot keep the memory that idle connections may have.
func TestPGShareOfAConnection(t *testing.T) {
	s, pool := withMemory(t, 16<<20)
	value := []byte(strings.Repeat("x", 1<<20))
	fill := func(r *pgRaw, most int) (open int) {
		r.send(&pgproto3.Query{String: "BEGIN"}, &pgproto3.Parse{Name: "s", Query: "SELECT $1::TEXT"}, &pgproto3.Sync{})
		r.until('Z')
		r.until('Z')
		for ; open < most; open++ {
			r.f.Send(&pgproto3.Bind{DestinationPortal: string(rune('a' + open)), PreparedStatement: "s",
				Parameters: [][]byte{value}})
			r.send(&pgproto3.Sync{})
			if e, _ := r.failure(); e != nil {
				if e.Code != "53200" || !strings.Contains(e.Message, "a client that runs nothing") {
					t.Errorf("portal %d: %+v", open, e)
				}
				return open
			}
		}
		return open
	}
	first, second, third := s.raw(), s.raw(), s.raw()
	if open := fill(first, 4); open != 4 { // of six that one may have, of eight
		t.Fatalf("%d portals are open", open)
	}
	if open := fill(second, 2); open != 2 {
		t.Errorf("another connection has %d portals", open)
	}
	if used := pool.Used(); used < 6<<20 {
		t.Errorf("%d bytes are counted", used)
	}
	first.c.Close()
	second.c.Close()
	s.await("the connections are over", func() bool { return pool.Used() == 0 })
	if open := fill(third, 8); open < 4 || open > 6 {
		t.Errorf("one connection has %d portals of 1 MiB", open)
	}
}
