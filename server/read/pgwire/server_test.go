package pgwire_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"varve/engine"
	"varve/server"
	"varve/server/servertest"
	"varve/sqlexec"
)

// pgServer is a whole server with an address for clients of PostgreSQL.
type pgServer struct {
	*testing.T
	addr string
	sql  *sqlexec.Executor

	mu    sync.Mutex
	ended []sqlexec.Ended // statements that are over
}

// note notes a statement that is over.
func (s *pgServer) note(e sqlexec.Ended) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, e)
}

// startPG starts a server on an empty store; change adapts its options.
func startPG(t *testing.T, change func(o *server.Options)) *pgServer {
	t.Helper()
	s := &pgServer{T: t}
	h := servertest.Real(t, func(o *server.Options) {
		s.sql = sqlexec.New(o.Admin.Store.(*engine.Engine), sqlexec.Options{Workers: 2, Version: "test", Ended: s.note})
		o.Query.Executor, o.PG.Executor = s.sql, s.sql
		if change != nil {
			change(o)
		}
	})
	ln := h.Listen()
	h.Serving(func() error { return h.Server.ServePG(ln) })
	s.addr = ln.Addr().String()
	return s
}

// url is the address for a client; more are parameters.
func (s *pgServer) url(user, more string) string {
	return fmt.Sprintf("postgres://%s@%s/public?%s", user, s.addr, more)
}

// connect connects without TLS.
func (s *pgServer) connect(user string) *pgx.Conn {
	s.Helper()
	c, err := pgx.Connect(s.Context(), s.url(user, "sslmode=disable"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.Close(context.Background()) }) // of a connection that a test has ended it is an error
	return c
}

// do runs statements whose answers do not matter.
func (s *pgServer) do(c *pgx.Conn, statements ...string) {
	s.Helper()
	for _, one := range statements {
		if _, err := c.Exec(s.Context(), one, pgx.QueryExecModeSimpleProtocol); err != nil {
			s.Fatalf("%s: %v", one, err)
		}
	}
}

// texts runs statements by the simple protocol and returns the rows of the last with | between values.
func (s *pgServer) texts(c *pgx.Conn, text string) (rows []string) {
	s.Helper()
	results, err := c.PgConn().Exec(s.Context(), text).ReadAll()
	if err != nil {
		s.Fatalf("%s: %v", text, err)
	}
	for _, row := range results[len(results)-1].Rows {
		cells := make([]string, len(row))
		for i, b := range row {
			if cells[i] = string(b); b == nil {
				cells[i] = "NULL"
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows
}

// refused checks the code of an error, and that its text contains a text.
func (s *pgServer) refused(err error, code, contains string) *pgconn.PgError {
	s.Helper()
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Message, contains) {
		s.Errorf("got %v, want %s with %q", err, code, contains)
		return &pgconn.PgError{}
	}
	return e
}

const pgTable = `CREATE TABLE t (ts TIMESTAMP(6) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE, n INT)`

func TestPGUsers(t *testing.T) {
	users := servertest.Users(t, "static_user_provider:cmd:ann:ro=pass,"+servertest.UserLine(t, "bea", "secret"))
	s := startPG(t, func(o *server.Options) { o.Users = users })
	for _, good := range []string{"ann:pass", "bea:secret"} {
		c := s.connect(good)
		name, _, _ := strings.Cut(good, ":")
		if got := s.texts(c, "SELECT current_user"); !slices.Equal(got, []string{name}) {
			t.Errorf("%s is %q", name, got)
		}
	}
	for _, bad := range []string{"ann:wrong", "bea:wrong", "nobody:pass"} {
		_, err := pgx.Connect(t.Context(), s.url(bad, "sslmode=disable"))
		s.refused(err, "28P01", "does not match")
	}
	if n := users.Refused(); n != 3 {
		t.Errorf("%d logins were refused, want 3", n)
	}
	_, err := s.connect("ann:pass").Exec(t.Context(), pgTable)
	s.refused(err, "42501", "not authorized")
}

func TestPGDatabases(t *testing.T) {
	s := startPG(t, nil)
	s.do(s.connect("ann"), "CREATE DATABASE other")
	for name, want := range map[string]string{"": "public", "public": "public", "service": "public", "other": "other"} {
		c, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://ann@%s/%s?sslmode=disable", s.addr, name))
		if err != nil {
			t.Fatalf("database %q: %v", name, err)
		}
		if got := s.texts(c, "SELECT current_schema()"); got[0] != want {
			t.Errorf("database %q has the schema %q, want %q", name, got[0], want)
		}
		c.Close(t.Context())
	}
	_, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://ann@%s/absent?sslmode=disable", s.addr))
	s.refused(err, "3D000", "absent")
}

func TestPGTypesAsText(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	for _, one := range pgValues {
		if got := s.texts(c, "SELECT "+one.sql); got[0] != one.text {
			t.Errorf("%s: got %q, want %q", one.sql, got[0], one.text)
		}
	}
}

// pgValues are values of all types: as SQL, as text, and as pgx reads the binary form.
var pgValues = []struct {
	sql, text string
	oid       uint32
	value     any
}{
	{"true", "t", 16, true},
	{"false", "f", 16, false},
	{"NULL", "NULL", 25, nil},
	{"-7::TINYINT", "-7", 21, int16(-7)},
	{"-700::SMALLINT", "-700", 21, int16(-700)},
	{"-70000::INT", "-70000", 23, int32(-70000)},
	{"-7000000000", "-7000000000", 20, int64(-7000000000)},
	{"200::TINYINT UNSIGNED", "200", 21, int16(200)},
	{"60000::SMALLINT UNSIGNED", "60000", 23, int32(60000)},
	{"4000000000::INT UNSIGNED", "4000000000", 20, int64(4000000000)},
	{"18446744073709551615::BIGINT UNSIGNED", "18446744073709551615", 1700, "18446744073709551615"},
	{"1.5::FLOAT", "1.5", 700, float32(1.5)},
	{"1e300", "1e+300", 701, 1e300},
	{"'a''b'", "a'b", 25, "a'b"},
	{"x'00ff'", `\x00ff`, 17, []byte{0, 255}},
	{"DATE '1999-12-31'", "1999-12-31", 1082, time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)},
	{"TIMESTAMP '2026-01-02 03:04:05.678'", "2026-01-02 03:04:05.678+00", 1184,
		time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)},
	{"'1969-12-31 23:59:59.999999999'::TIMESTAMP(9)", "1969-12-31 23:59:59.999999+00", 1184,
		time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC)},
	{"12345.6700::DECIMAL(12,4)", "12345.6700", 1700, "12345.6700"},
	{"-0.0001::DECIMAL(12,4)", "-0.0001", 1700, "-0.0001"},
	{"0::DECIMAL(5,2)", "0.00", 1700, "0"},
	{"INTERVAL '1 year 2 months 3 days 04:05:06.5'", "1 year 2 mons 3 days 04:05:06.5", 1186, nil},
	{"[1, 2, NULL]", "{1,2,NULL}", 1016, nil},
	{"['a', 'b c', '', 'null', 'q\"x']", `{a,"b c","","null","q\"x"}`, 1009, nil},
}

func TestPGTypesInBinary(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	for _, one := range pgValues {
		rows, err := c.Query(t.Context(), "SELECT "+one.sql)
		if err != nil {
			t.Fatalf("%s: %v", one.sql, err)
		}
		if !rows.Next() {
			t.Fatalf("%s: no row: %v", one.sql, rows.Err())
		}
		f := rows.FieldDescriptions()[0]
		if f.DataTypeOID != one.oid {
			t.Errorf("%s: got type %d, want %d", one.sql, f.DataTypeOID, one.oid)
		}
		if one.oid != 25 && f.Format != 1 {
			t.Errorf("%s: format %d, want binary", one.sql, f.Format)
		}
		switch want := one.value.(type) {
		case nil:
		case string:
			var got string
			if err := rows.Scan(&got); err != nil || got != want {
				t.Errorf("%s: got %q, %v, want %q", one.sql, got, err, want)
			}
		default:
			values, err := rows.Values()
			got := values[0]
			if at, ok := got.(time.Time); ok {
				got = at.UTC()
			}
			if b, ok := want.([]byte); ok {
				if err != nil || !slices.Equal(got.([]byte), b) {
					t.Errorf("%s: got %v, %v, want %v", one.sql, got, err, want)
				}
			} else if err != nil || got != want {
				t.Errorf("%s: got %v, %v, want %v", one.sql, got, err, want)
			}
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			t.Errorf("%s: %v", one.sql, err)
		}
	}
}

func TestPGLists(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	var numbers []int64
	var words []string
	if err := c.QueryRow(t.Context(), "SELECT [1, 2, 3], ['a', 'b c']").Scan(&numbers, &words); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(numbers, []int64{1, 2, 3}) || !slices.Equal(words, []string{"a", "b c"}) {
		t.Errorf("got %v and %q", numbers, words)
	}
	got := 0
	err := c.QueryRow(t.Context(), "SELECT count(*) FROM numbers WHERE number = ANY($1)", []int64{3, 5, 500}).Scan(&got)
	if err != nil || got != 2 {
		t.Errorf("ANY of a list: got %d, %v, want 2", got, err)
	}
}

func TestPGParameters(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for i, host := range []string{"a", "b'c", "d"} {
		tag, err := c.Exec(t.Context(), "INSERT INTO t VALUES ($1, $2, $3, $4)", at.Add(time.Duration(i)*time.Second),
			host, float64(i)+.5, i)
		if err != nil || tag.String() != "INSERT 0 1" {
			t.Fatalf("got %q, %v", tag, err)
		}
	}
	for _, one := range []struct {
		sql  string
		args []any
		want int
	}{
		{"SELECT count(*) FROM t WHERE host = $1", []any{"b'c"}, 1},
		{"SELECT count(*) FROM t WHERE ts > $1 AND v < $2", []any{at, 2.0}, 1},
		{"SELECT count(*) FROM t WHERE ts >= $1 AND ts <= $2", []any{at, at.Add(time.Second)}, 2},
		{"SELECT count(*) FROM t WHERE n IN ($1, $2)", []any{0, 2}, 2},
		{"SELECT count(*) FROM (SELECT * FROM t ORDER BY ts LIMIT $1)", []any{2}, 2},
		{"SELECT count(*) FROM t AS x WHERE x.n BETWEEN $1 AND $2", []any{1, 9}, 2},
		{"SELECT $1::INT + 1", []any{4}, 5},
		{"WITH w AS (SELECT n + 1 AS m FROM t) SELECT count(*) FROM w WHERE m = $1", []any{3}, 1},
		{"SELECT count(*) FROM t WHERE host = $1 OR host IS NULL", []any{nil}, 0},
		{"SELECT n FROM t WHERE host LIKE $1 ORDER BY ts LIMIT 1", []any{"d%"}, 2},
	} {
		got := -1
		if err := c.QueryRow(t.Context(), one.sql, one.args...).Scan(&got); err != nil || got != one.want {
			t.Errorf("%s of %v: got %d, %v, want %d", one.sql, one.args, got, err, one.want)
		}
	}
	if tag, err := c.Exec(t.Context(), "DELETE FROM t WHERE host = $1", "d"); err != nil || tag.String() != "DELETE 1" {
		t.Errorf("got %q, %v", tag, err)
	}
}

func TestPGErrors(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	for _, one := range []struct {
		sql, code string
		position  int32
	}{
		{"SELEC 1", "0A000", 1},
		{"SELECT 1 +", "42601", 11},
		{"SELECT 1 FROM absent", "42P01", 15},
		{"SELECT 1; SELECT x FROM numbers", "42703", 18},
		{"SELECT 'ä', x\nFROM numbers", "42703", 13},
		{"SELECT absent(1)", "42883", 8},
		{"SELECT number FROM numbers a, numbers b", "42702", 8},
		{"SELECT 1 / (number - number) FROM numbers", "22012", 0},
		{"SELECT 1 / 0", "22012", 0},
		{"SELECT CAST('x' AS INT)", "22P02", 0},
		{"SELECT CAST(concat('9'' of type Int64 to ', number) AS INT) FROM numbers", "22P02", 0},
		{"SELECT CAST('x' AS TIMESTAMP)", "22007", 0},
		{"SELECT CAST(300 AS TINYINT)", "22003", 0},
		{"DROP TABLE absent", "42P01", 0},
		{"USE absent", "3F000", 0},
		{"SET absent.x = 1", "42601", 0},
		{"SET absent = 1", "42704", 0},
		{"CREATE TABLE", "42601", 13},
	} {
		_, err := c.PgConn().Exec(t.Context(), one.sql).ReadAll()
		if e := s.refused(err, one.code, ""); one.position > 0 && e.Position != one.position {
			t.Errorf("%s: position %d, want %d", one.sql, e.Position, one.position)
		}
	}
	if got := s.texts(c, "SELECT 1"); got[0] != "1" {
		t.Errorf("after errors: got %q", got)
	}
	_, err := c.Exec(t.Context(), "SELECT y FROM numbers WHERE number = $1", 1)
	if e := s.refused(err, "42703", "y"); e.Position != 8 {
		t.Errorf("of a prepared statement: position %d, want 8", e.Position)
	}
}

func TestPGTransactions(t *testing.T) {
	s := startPG(t, nil)
	var notices []string
	config, err := pgx.ParseConfig(s.url("ann", "sslmode=disable"))
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Message) }
	c, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	other := s.connect("bea")
	insert := "INSERT INTO t VALUES (%d, 'a', 1, 1)"
	s.do(c, pgTable, fmt.Sprintf(insert, 1), "BEGIN")
	count := "SELECT count(*) FROM t"
	if got := s.texts(c, count); got[0] != "1" {
		t.Fatalf("got %q", got)
	}
	s.do(other, fmt.Sprintf(insert, 2))
	if got := s.texts(c, count); got[0] != "1" {
		t.Errorf("a transaction sees a write of another: %q", got)
	}
	s.do(c, fmt.Sprintf(insert, 3))
	if got := s.texts(c, count); got[0] != "3" {
		t.Errorf("a transaction does not see its own write: %q", got)
	}
	s.do(c, "ROLLBACK")
	if len(notices) != 1 || !strings.Contains(notices[0], "not rolled back") {
		t.Errorf("ROLLBACK after a write said %q", notices)
	}
	s.do(c, "BEGIN")
	_, err = c.PgConn().Exec(t.Context(), "SELECT x FROM t").ReadAll()
	s.refused(err, "42703", "x")
	_, err = c.PgConn().Exec(t.Context(), count).ReadAll()
	s.refused(err, "25P02", "aborted")
	if c.PgConn().TxStatus() != 'E' {
		t.Errorf("state %c, want E", c.PgConn().TxStatus())
	}
	s.do(c, "COMMIT", "BEGIN READ ONLY")
	_, err = c.PgConn().Exec(t.Context(), fmt.Sprintf(insert, 4)).ReadAll()
	s.refused(err, "25006", "read-only")
	s.do(c, "ROLLBACK", "SET default_transaction_read_only = on")
	_, err = c.PgConn().Exec(t.Context(), fmt.Sprintf(insert, 4)).ReadAll()
	s.refused(err, "25006", "read-only")
	if got := s.texts(c, count); got[0] != "3" {
		t.Errorf("got %q, want 3", got)
	}
}

func TestPGSettings(t *testing.T) {
	s := startPG(t, nil)
	c, err := pgx.Connect(t.Context(), s.url("ann",
		"sslmode=disable&application_name=tool&timezone=Europe/Berlin&options=-c%20statement_timeout%3D5000"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	for name, want := range map[string]string{"TimeZone": "Europe/Berlin", "application_name": "tool",
		"statement_timeout": "5000", "DateStyle": "ISO, MDY", "transaction isolation level": "repeatable read",
		"server_version": "15.0", "client_encoding": "UTF8", "search_path": "public"} {
		if got := s.texts(c, "SHOW "+name); got[0] != want {
			t.Errorf("SHOW %s: got %q, want %q", name, got[0], want)
		}
	}
	if got := c.PgConn().ParameterStatus("TimeZone"); got != "Europe/Berlin" {
		t.Errorf("the client was told of zone %q", got)
	}
	at := "SELECT TIMESTAMP '2026-07-01 12:00:00Z'"
	if got := s.texts(c, at); got[0] != "2026-07-01 14:00:00+02" {
		t.Errorf("got %q", got)
	}
	s.do(c, "SET TIME ZONE 'UTC'")
	if got := s.texts(c, at); got[0] != "2026-07-01 12:00:00+00" || c.PgConn().ParameterStatus("TimeZone") != "UTC" {
		t.Errorf("got %q", got)
	}
	s.do(c, "RESET ALL")
	if got := s.texts(c, "SHOW timezone"); got[0] != "Europe/Berlin" {
		t.Errorf("after RESET ALL: %q", got)
	}
	s.do(c, "CREATE DATABASE other", "SET search_path TO absent, other, public")
	if got := s.texts(c, "SELECT current_schema()"); got[0] != "other" {
		t.Errorf("search_path: got %q", got)
	}
	for _, bad := range []string{"SET client_encoding = latin1", "SET timezone = 'Mars'", "SET search_path = absent",
		"SET statement_timeout = '-1'", "SET extra_float_digits = 4", "SET default_transaction_read_only = maybe"} {
		_, err := c.PgConn().Exec(t.Context(), bad).ReadAll()
		s.refused(err, "22023", "invalid value")
	}
	list := s.texts(c, "SELECT frontend, user, query FROM information_schema.process_list")
	if len(list) != 1 || !strings.HasPrefix(list[0], "tool|ann|SELECT frontend") {
		t.Errorf("the list of what runs: %q", list)
	}
}

// endless is a query that does not end by itself.
const endless = "SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d, numbers e, numbers f, numbers g, " +
	"numbers h"

// await waits until a condition holds.
func (s *pgServer) await(what string, holds func() bool) {
	s.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit.C:
			s.Fatalf("%s: not in time", what)
		}
	}
}

// begin runs the endless query on a connection and returns its end.
func (s *pgServer) begin(c *pgx.Conn) <-chan error {
	s.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := c.PgConn().Exec(context.Background(), endless).ReadAll()
		ended <- err
	}()
	s.await("the query runs", func() bool { return len(s.sql.Running()) == 1 })
	return ended
}

func TestPGEndsStatements(t *testing.T) {
	s := startPG(t, nil)
	c, other := s.connect("ann"), s.connect("bea")

	ended := s.begin(c)
	if err := c.PgConn().CancelRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.refused(<-ended, "57014", "cancelled")

	ended = s.begin(c)
	s.do(other, "KILL "+s.sql.Running()[0].ID)
	s.refused(<-ended, "57014", "killed")

	s.do(c, "SET statement_timeout = '50ms'")
	_, err := c.PgConn().Exec(t.Context(), endless).ReadAll()
	s.refused(err, "57014", "time limit")
	s.do(c, "SET statement_timeout = 0")

	ended = s.begin(c)
	if err := c.PgConn().Conn().Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	s.await("the query of a client that left ends", func() bool { return len(s.sql.Running()) == 0 })
}

func TestPGTLS(t *testing.T) {
	pair := pgCertificate(t)
	s := startPG(t, func(o *server.Options) {
		o.PG.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"postgresql"}}
	})
	for _, mode := range []string{"sslmode=require", "sslmode=require&sslnegotiation=direct", "sslmode=disable"} {
		c, err := pgx.Connect(t.Context(), s.url("ann", mode))
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		if got := s.texts(c, "SELECT 7"); got[0] != "7" {
			t.Errorf("%s: got %q", mode, got)
		}
		if _, secure := c.PgConn().Conn().(*tls.Conn); secure != (mode != "sslmode=disable") {
			t.Errorf("%s: TLS is %v", mode, secure)
		}
		ended := s.begin(c)
		if err := c.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.refused(<-ended, "57014", "cancelled")
		c.Close(t.Context())
	}
}

// TestPGBindsToTLS: the authentication of a user belongs to the certificate of the connection, if the client wants it.
func TestPGBindsToTLS(t *testing.T) {
	users := servertest.Users(t, "static_user_provider:cmd:ann=pass")
	pair := pgCertificate(t)
	s := startPG(t, func(o *server.Options) {
		o.Users = users
		shows := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
		o.PG.TLS = &tls.Config{GetCertificate: shows}
	})
	for _, mode := range []string{"sslmode=require&channel_binding=require", "sslmode=require&channel_binding=prefer",
		"sslmode=require&channel_binding=disable", "sslmode=disable&channel_binding=prefer",
		"sslmode=require&sslnegotiation=direct&channel_binding=require"} {
		c, err := pgx.Connect(t.Context(), s.url("ann:pass", mode))
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		if got := s.texts(c, "SELECT current_user"); got[0] != "ann" {
			t.Errorf("%s: got %q", mode, got)
		}
		c.Close(t.Context())
	}
	_, err := pgx.Connect(t.Context(), s.url("ann:wrong", "sslmode=require&channel_binding=require"))
	s.refused(err, "28P01", "does not match")
	if _, err := pgx.Connect(t.Context(), s.url("ann:pass", "sslmode=disable&channel_binding=require")); err == nil {
		t.Error("a connection without TLS was bound")
	}
}

// TestPGSharesTheWay: statements have places among those that run, and are told of when they are over.
func TestPGSharesTheWay(t *testing.T) {
	s := startPG(t, func(o *server.Options) { o.Query.MaxConcurrent, o.Query.NoQueue = 1, true })
	c, other := s.connect("ann"), s.connect("bea")
	ended := s.begin(c)
	_, err := other.PgConn().Exec(t.Context(), "SELECT 1").ReadAll()
	s.refused(err, "53000", "max_concurrent_queries")
	list := s.texts(other, "SELECT query FROM information_schema.process_list")
	if len(list) != 2 {
		t.Errorf("the list of what runs waits, or is %q", list)
	}
	s.do(other, "KILL "+s.sql.Running()[0].ID)
	s.refused(<-ended, "57014", "killed")

	s.do(c, "BEGIN", "DECLARE x CURSOR FOR "+strings.Replace(endless, "count(*)", "1", 1))
	if got := s.texts(c, "FETCH 2 FROM x"); len(got) != 2 {
		t.Fatalf("got %q", got)
	}
	if got := s.texts(other, "SELECT 7"); got[0] != "7" {
		t.Errorf("a cursor that waits keeps its place: %q", got)
	}
	s.do(c, "COMMIT")
	s.mu.Lock()
	defer s.mu.Unlock()
	var told []string
	for _, e := range s.ended {
		told = append(told, e.User+": "+e.Text)
	}
	if !slices.Contains(told, "ann: "+endless) || !slices.Contains(told, "bea: SELECT 7") {
		t.Errorf("statements that are over: %q", told)
	}
}
