package pgwire_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine"
	"varve/server"
	"varve/server/servertest"
	"varve/sqlexec"
	"varve/sqlexec/exec"
)

// withMemory starts a server whose queries have limit bytes together.
func withMemory(t *testing.T, limit int64) (*pgServer, *exec.Pool) {
	pool := exec.NewPool(limit)
	return startPG(t, func(o *server.Options) {
		x := sqlexec.New(o.Admin.Store.(*engine.Engine), sqlexec.Options{Workers: 2, Memory: pool})
		o.Query.Executor, o.PG.Executor = x, x
	}), pool
}

// failure reads messages until the server is ready, and returns the first error; nil: there was none.
func (r *pgRaw) failure() (e *pgproto3.ErrorResponse, kinds string) {
	r.Helper()
	for {
		m, err := r.f.Receive()
		if err != nil {
			r.Fatalf("after %q: %v", kinds, err)
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			kinds += "E"
			if e == nil {
				copied := *m
				e = &copied
			}
		case *pgproto3.BindComplete:
			kinds += "2"
		case *pgproto3.CopyInResponse:
			return e, kinds + "G"
		case *pgproto3.CommandComplete:
			kinds += "C(" + string(m.CommandTag) + ")"
		case *pgproto3.DataRow:
			kinds += "D"
		case *pgproto3.PortalSuspended:
			kinds += "s"
		case *pgproto3.ReadyForQuery:
			return e, kinds
		}
	}
}

// wants checks the code of the error that comes next, and that its text has a part.
func (r *pgRaw) wants(what, code, contains string) {
	r.Helper()
	e, kinds := r.failure()
	if e == nil || e.Code != code || !strings.Contains(e.Message, contains) {
		r.Errorf("%s: got %s, %+v, want %s with %q", what, kinds, e, code, contains)
	}
}

// copy begins a COPY.
func (r *pgRaw) copy(text string) {
	r.Helper()
	r.send(&pgproto3.Query{String: text})
	if e, kinds := r.failure(); kinds != "G" {
		r.Fatalf("%s: got %s, %+v", text, kinds, e)
	}
}

func TestPGValuesAreCounted(t *testing.T) {
	const limit = 16 << 20
	s, pool := withMemory(t, limit)
	r, other := s.raw(), s.connect("bea")
	r.send(&pgproto3.Query{String: "BEGIN"})
	r.until('Z')
	r.send(&pgproto3.Parse{Name: "s", Query: "SELECT $1::TEXT"}, &pgproto3.Sync{})
	r.until('Z')
	value := []byte(strings.Repeat("x", 1<<20))
	open := 0
	for ; open < 63; open++ {
		r.send(&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", open), PreparedStatement: "s",
			Parameters: [][]byte{value}}, &pgproto3.Sync{})
		if e, _ := r.failure(); e != nil {
			if e.Code != "53200" {
				t.Errorf("portal %d: %+v", open, e)
			}
			break
		}
		if used := pool.Used(); used < int64(open+1)<<20 {
			t.Fatalf("%d bytes are counted of %d MiB", used, open+1)
		}
		if got := s.texts(other, "SELECT count(*) FROM generate_series(1, 100000) AS g(x)"); got[0] != "100000" {
			t.Fatalf("another client gets %q beside %d portals", got, open)
		}
	}
	if open < limit>>22 || open >= limit>>21 { // half of the pool is for those who run something
		t.Errorf("%d portals of 1 MiB are open, of %d bytes", open, limit)
	}
	if used := pool.Used(); used > 1<<20 { // the transaction has failed: nobody gets to their rows any more
		t.Errorf("%d bytes are counted after the portals", used)
	}
	r.send(&pgproto3.Query{String: "ROLLBACK"})
	r.until('Z')
	// The literals of cursors, and texts of portals whose statement is closed, count as well.
	long := "SELECT '" + strings.Repeat("x", 1_000_000) + "'"
	for i := range 63 {
		r.send(&pgproto3.Query{String: fmt.Sprintf("BEGIN; DECLARE c%d CURSOR FOR %s", i, long)})
		if e, _ := r.failure(); e != nil {
			if i < 3 || e.Code != "53200" {
				t.Errorf("cursor %d: %+v", i, e)
			}
			break
		}
		if used := pool.Used(); used < int64(i+1)*1_000_000 {
			t.Fatalf("%d bytes are counted of %d cursors", used, i+1)
		}
	}
	r.send(&pgproto3.Query{String: "ROLLBACK; BEGIN"})
	r.until('Z')
	for i := range 63 {
		r.send(&pgproto3.Parse{Query: long}, &pgproto3.Bind{DestinationPortal: fmt.Sprint("p", i)},
			&pgproto3.Close{ObjectType: 'S'}, &pgproto3.Sync{})
		if e, _ := r.failure(); e != nil {
			if i < 3 || e.Code != "53200" {
				t.Errorf("portal %d: %+v", i, e)
			}
			break
		}
		if used := pool.Used(); used < int64(i+1)*1_000_000 {
			t.Fatalf("%d bytes are counted of %d portals", used, i+1)
		}
	}
	r.send(&pgproto3.Query{String: "ROLLBACK"})
	r.until('Z')
	if used := pool.Used(); used > 1<<20 {
		t.Errorf("%d bytes are counted after the portals", used)
	}
	// A list takes more than its text, each time that the statement names it.
	list := []byte("{" + strings.Repeat("1,", 100_000) + "1}")
	r.send(&pgproto3.Parse{Query: "SELECT 1 = ANY($1)", ParameterOIDs: []uint32{1016}},
		&pgproto3.Bind{Parameters: [][]byte{list}}, &pgproto3.Sync{})
	r.wants("a list", "53200", "memory")
	r.c.Close()
	s.await("the connection is over", func() bool { return pool.Used() == 0 })
}

func TestPGPreparedStatementsAreCounted(t *testing.T) {
	s, pool := withMemory(t, 32<<20) // a share of which is more than the bound of the statements
	r := s.raw()
	kept := 0
	for ; kept < 64; kept++ {
		r.send(&pgproto3.Parse{Name: fmt.Sprint(kept), Query: "SELECT $65535"}, &pgproto3.Sync{})
		if e, _ := r.failure(); e != nil {
			if e.Code != "53000" {
				t.Errorf("statement %d: %+v", kept, e)
			}
			break
		}
	}
	if kept == 0 || kept > 32 {
		t.Errorf("%d statements of 65,535 parameters are kept", kept)
	}
	if used := pool.Used(); used < int64(kept)*4*65535 {
		t.Errorf("%d bytes are counted of %d statements", used, kept)
	}
	r.send(&pgproto3.Query{String: "DEALLOCATE ALL"})
	r.until('Z')
	if used := pool.Used(); used != 0 {
		t.Errorf("%d bytes are counted after the statements", used)
	}
	big, pool := withMemory(t, 4<<20)
	r = big.raw()
	r.send(&pgproto3.Parse{Name: "s", Query: "SELECT 1 -- " + strings.Repeat("x", 5<<20)}, &pgproto3.Sync{})
	r.wants("a long text", "53200", "memory")
	if used := pool.Used(); used != 0 {
		t.Errorf("%d bytes are counted of a statement that was refused", used)
	}
}

func TestPGCopyIsCounted(t *testing.T) {
	s, pool := withMemory(t, 4<<20)
	s.do(s.connect("ann"), pgTable)
	for _, format := range []string{"text", "csv", "binary"} {
		r := s.raw()
		r.copy("COPY t FROM STDIN (FORMAT " + format + ")")
		part := []byte(strings.Repeat("x", 1<<20))
		if format == "binary" {
			r.send(&pgproto3.CopyData{Data: []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
				"\x00\x04\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x00\x00")})
		}
		for range 8 {
			r.send(&pgproto3.CopyData{Data: part})
		}
		r.send(&pgproto3.CopyDone{})
		r.wants(format, "53200", "memory")
		s.await("nothing is counted", func() bool { return pool.Used() == 0 })
		r.send(&pgproto3.Query{String: "SELECT 1"})
		if _, kinds := r.failure(); kinds != "DC(SELECT 1)" {
			t.Errorf("%s: afterwards got %s", format, kinds)
		}
	}
}

// TestPGCopyInPieces sends rows byte by byte, and a long value in many messages.
func TestPGCopyInPieces(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "INSERT INTO t VALUES (0, E'a\\n,\"b\\\\\\t', 1, 2), (1, '', NULL, 3)")
	want := s.texts(c, "SELECT host, v, n FROM t ORDER BY n")
	for _, options := range []string{"FORMAT text", "FORMAT csv", `FORMAT csv, ESCAPE '\'`, "FORMAT csv, HEADER",
		"FORMAT binary"} {
		rows := s.out(c, "COPY t TO STDOUT ("+options+")")
		s.do(c, "TRUNCATE TABLE t")
		r := s.raw()
		r.copy("COPY t FROM STDIN (" + options + ")")
		for i := range len(rows) {
			r.f.Send(&pgproto3.CopyData{Data: []byte{rows[i]}})
		}
		r.send(&pgproto3.CopyDone{})
		if e, kinds := r.failure(); kinds != "C(COPY 2)" {
			t.Errorf("%s: got %s, %+v", options, kinds, e)
		}
		if got := s.texts(c, "SELECT host, v, n FROM t ORDER BY n"); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", options, got, want)
		}
	}
	r := s.raw()
	r.c.SetDeadline(time.Now().Add(60 * time.Second))
	s.do(c, "CREATE TABLE long (ts TIMESTAMP TIME INDEX, text STRING)")
	r.copy("COPY long FROM STDIN (FORMAT csv)")
	begin := time.Now()
	r.f.Send(&pgproto3.CopyData{Data: []byte(`2026-01-01,"`)})
	for range 4000 {
		r.f.Send(&pgproto3.CopyData{Data: []byte(strings.Repeat("\n", 1000))})
	}
	r.f.Send(&pgproto3.CopyData{Data: []byte("\"\n")})
	r.send(&pgproto3.CopyDone{})
	if e, kinds := r.failure(); kinds != "C(COPY 1)" {
		t.Errorf("got %s, %+v", kinds, e)
	}
	if took := time.Since(begin); took > 20*time.Second { // a look at all bytes for each message takes minutes
		t.Errorf("4 MB in 4,000 messages took %v", took)
	}
	if got := s.texts(c, "SELECT length(text) FROM long"); !slices.Equal(got, []string{"4000000"}) {
		t.Errorf("got %q", got)
	}
}

// TestPGCopyEnds: what ends statements ends a COPY that waits for rows; the connection goes on.
func TestPGCopyEnds(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable)
	listed := "SELECT id FROM information_schema.process_list WHERE query LIKE 'COPY t %'"
	part := &pgproto3.CopyData{Data: []byte("2026-01-01,\"a")}
	r := s.raw()
	r.copy("COPY t FROM STDIN (FORMAT csv)")
	r.send(part)
	var id []string
	s.await("the COPY is on the list", func() bool {
		id = s.texts(c, listed)
		return len(id) == 1
	})
	s.do(c, "KILL '"+id[0]+"'")
	r.wants("KILL", "57014", "killed")
	r.send(part, &pgproto3.CopyDone{}, &pgproto3.Query{String: "SET statement_timeout = 200"})
	r.until('Z')
	r.copy("COPY t FROM STDIN (FORMAT csv)")
	r.wants("statement_timeout", "57014", "time limit")
	if got := s.texts(c, listed); len(got) != 0 {
		t.Errorf("the list has %q", got)
	}
	other := s.connect("ann")
	over := make(chan error, 1)
	reader, writer := net.Pipe()
	go func() {
		_, err := other.PgConn().CopyFrom(t.Context(), reader, "COPY t FROM STDIN")
		over <- err
	}()
	s.await("the COPY is on the list", func() bool { return len(s.texts(c, listed)) == 1 })
	if err := other.PgConn().CancelRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.await("the COPY is off the list", func() bool { return len(s.texts(c, listed)) == 0 })
	writer.Close()
	s.refused(<-over, "57014", "cancelled")

	left := s.raw()
	left.copy("COPY t FROM STDIN")
	s.await("the COPY is on the list", func() bool { return len(s.texts(c, listed)) == 1 })
	left.c.Close()
	s.await("the COPY is off the list", func() bool { return len(s.texts(c, listed)) == 0 })
}

func TestPGCopyErrors(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "CREATE TABLE nn (ts TIMESTAMP TIME INDEX, m INT NOT NULL)")
	const sig = "PGCOPY\n\xff\r\n\x00"
	many := strings.Repeat("2026-01-01\ta\t1\t1\n", 20_000)
	for _, bad := range []struct{ sql, rows, code, contains string }{
		{"COPY t FROM STDIN", "2026-01-01\ta\t1\t1\n2026-01-01\ta\t1\tx\n", "22P02", `row 2 of COPY: column "n"`},
		{"COPY t FROM STDIN", "yesterday\ta\t1\t1\n", "22P02", `row 1 of COPY: column "ts"`},
		{"COPY t (host, ts, v) FROM STDIN", "a\t2026-01-01\t1e\n", "22P02", `row 1 of COPY: column "v"`},
		{"COPY t FROM STDIN", many + many + "2026-01-01\ta\t1\tx\n", "22P02", `row 40001 of COPY: column "n"`},
		{"COPY nn FROM STDIN", "2026-01-01\t1\n2026-01-01\t\\N\n", "22023", "rows 1 to 2 of COPY"},
		{"COPY t FROM STDIN", "2026-01-01\n", "22P04", "row 1 of COPY"},
		{"COPY t FROM STDIN BINARY", "", "22P04", "signature"},
		{"COPY t FROM STDIN BINARY", sig + "\x00\x01\x00\x00\x00\x00\x00\x00\xff\xff", "22P04", "flags"},
		{"COPY t FROM STDIN BINARY", sig + "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xffmore", "22P04", "after EOF"},
		{"COPY t FROM STDIN BINARY", sig + "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "22P04", "not complete"},
	} {
		_, err := s.in(c, bad.sql, bad.rows)
		s.refused(err, bad.code, bad.contains)
	}
	if _, err := s.in(c, "COPY t FROM STDIN BINARY", sig+"\x00\x00\x00\x01\x00\x00\x00\x00\xff\xff"); err != nil {
		t.Errorf("flags that are not critical: %v", err)
	}
	for _, sql := range []string{"(DELIMITER E'\\n')", "(FORMAT csv, DELIMITER '\"')",
		"(FORMAT csv, QUOTE ';', DELIMITER ';')",
		"(DELIMITER 'a')", "(NULL E'a\\n')", "(FORMAT csv, NULL 'a,b')", "(FORMAT csv, QUOTE E'\\n')"} {
		_, err := s.in(c, "COPY t FROM STDIN "+sql, "")
		s.refused(err, "22023", "")
	}
	s.do(c, "TRUNCATE TABLE t")
	if _, err := s.in(c, "COPY t FROM STDIN", `2026-01-01`+"\t"+`\061\x31\x6aq\x\8\61z`+"\\\nend\t1\t1\n"); err != nil {
		t.Error(err)
	}
	if got := s.texts(c, "SELECT host FROM t"); !slices.Equal(got, []string{"11jqx81z\nend"}) {
		t.Errorf("got %q", got)
	}
}

func TestPGPortalsCount(t *testing.T) {
	s := startPG(t, nil)
	r := s.raw()
	r.send(&pgproto3.Query{String: "BEGIN; DECLARE c CURSOR FOR SELECT number FROM numbers; MOVE 3 FROM c"})
	r.failure()
	r.send(&pgproto3.Execute{Portal: "c", MaxRows: 2}, &pgproto3.Execute{Portal: "c"}, &pgproto3.Sync{})
	if _, kinds := r.failure(); kinds != "DDs"+strings.Repeat("D", 95)+"C(SELECT 95)" {
		t.Errorf("Execute after MOVE: got %s", kinds)
	}
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Describe{ObjectType: 'x'}, &pgproto3.Close{ObjectType: 'x'}} {
		r.send(m, &pgproto3.Sync{})
		r.wants(fmt.Sprintf("%T", m), "08P01", "subtype")
	}
}

// TestPGDescribeDoesNothing: Describe of a portal runs no statement that acts.
func TestPGDescribeDoesNothing(t *testing.T) {
	s := startPG(t, nil)
	s.do(s.connect("ann"), pgTable)
	r := s.raw()
	for _, sql := range []string{"ADMIN flush_table('t')", "EXPLAIN ANALYZE INSERT INTO t VALUES (0, 'a', 1, 1)"} {
		r.send(&pgproto3.Parse{Query: sql}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Sync{})
		r.until('Z')
	}
	if got := s.texts(s.connect("ann"), "SELECT count(*) FROM t"); got[0] != "0" {
		t.Errorf("Describe has written %s rows", got[0])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.ended {
		if strings.HasPrefix(e.Text, "ADMIN") {
			t.Errorf("Describe ran %q", e.Text)
		}
	}
}

func TestPGColumnNames(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	rows, err := c.Query(t.Context(), "SELECT 'x41', 7, length('secret'), number, 1 + number, number AS n, NULL "+
		"FROM numbers LIMIT 0")
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	var got []string
	for _, f := range rows.FieldDescriptions() {
		got = append(got, f.Name)
	}
	want := []string{"?column?", "?column?", "length", "number", "?column?", "n", "?column?"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPGCatalogTells: sizes, comments, roles and rights are those that there are.
func TestPGCatalogTells(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "INSERT INTO t VALUES (0, 'a', 1, 1)", "CREATE TABLE told (ts TIMESTAMP TIME INDEX, "+
		"host STRING COMMENT 'where it runs') WITH (comment = 'of hosts')", "CREATE VIEW w AS SELECT 1 AS n")
	for _, one := range []struct{ sql, want string }{
		{"SELECT pg_total_relation_size('t') > 0, pg_table_size('t'::regclass) = pg_relation_size('t')", "t|t"},
		{"SELECT pg_database_size('service') >= pg_total_relation_size('t') + pg_total_relation_size('told')", "t"},
		{"SELECT pg_total_relation_size(c.oid) = i.disk_size + i.memtable_size FROM pg_class c " +
			"JOIN information_schema.region_statistics i ON c.oid = 16384 + i.table_id WHERE c.relname = 't'", "t"},
		{"SELECT pg_table_size('w') IS NULL, pg_table_size(1) IS NULL, pg_size_pretty(pg_table_size('w')) IS NULL",
			"t|t|t"},
		{"SELECT pg_size_pretty(10239), pg_size_pretty(10240), pg_size_pretty(20000000), pg_size_pretty(7000000000000000)",
			"10239 bytes|10 kB|19 MB|6366 TB"},
		{"SELECT obj_description(c.oid, 'pg_class'), col_description(c.oid, 2), col_description(c.oid, 1) IS NULL " +
			"FROM pg_class c WHERE relname = 'told'", "of hosts|where it runs|t"},
		{"SELECT obj_description('t'::regclass, 'pg_class') IS NULL", "t"},
		{"SELECT rolname, rolsuper, rolcanlogin FROM pg_roles", "ann|t|t"},
		{"SELECT has_table_privilege('t', 'SELECT, INSERT'), has_table_privilege('t', 'UPDATE'), " +
			"has_table_privilege('ann', 't', 'delete'), has_table_privilege('bob', 't', 'SELECT') IS NULL", "t|f|t|t"},
	} {
		if got := s.texts(c, one.sql); !slices.Equal(got, []string{one.want}) {
			t.Errorf("%s\n got %q\nwant %q", one.sql, got, one.want)
		}
	}
	for _, sql := range []string{"SELECT pg_size_pretty(" + strings.Repeat("pg_size_pretty(", 30) + "1" +
		strings.Repeat(")", 31), "SELECT has_table_privilege('t', 'FLY')"} {
		_, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
		s.refused(err, "42883", "")
	}
	// A query that begins like one of psql is run as it is.
	_, err := c.PgConn().Exec(t.Context(), "SELECT pubname, x FROM pg_catalog.pg_publication").ReadAll()
	s.refused(err, "42703", "x")
	got := s.texts(c, "SELECT pubname_ FROM (SELECT 'x' AS pubname_, 'pg_catalog.pg_publication' AS y) z")
	if !slices.Equal(got, []string{"x"}) {
		t.Errorf("got %q", got)
	}
}

// TestPGRightsAreTold: users learn what they may do.
func TestPGRightsAreTold(t *testing.T) {
	users := servertest.Users(t, "static_user_provider:cmd:ann:ro=pass,bea:wo=pass,cay=pass")
	s := startPG(t, func(o *server.Options) { o.Users = users })
	for user, want := range map[string]string{"ann": "t|f|f|t|f", "cay": "t|t|t|t|t"} {
		c := s.connect(user + ":pass")
		got := s.texts(c, "SELECT has_table_privilege('t', 'SELECT'), has_table_privilege('t', 'INSERT'), "+
			"has_schema_privilege('public', 'CREATE'), has_schema_privilege('public', 'USAGE'), "+
			"(SELECT bool_or(rolsuper) FROM pg_roles WHERE rolname = '"+user+"')")
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %q, want %q", user, got, want)
		}
	}
}
