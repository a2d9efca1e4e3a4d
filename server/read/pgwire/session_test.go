package pgwire_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"varve/server"
	"varve/server/servertest"
)

// pgUsers starts a server with users of a file; become replaces them.
func pgUsers(t *testing.T, lines ...string) (s *pgServer, become func(lines ...string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users")
	write := func(lines []string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(lines)
	users := servertest.Users(t, "static_user_provider:file:"+path)
	s = startPG(t, func(o *server.Options) { o.Users = users })
	return s, func(lines ...string) {
		t.Helper()
		write(lines)
		if changed, err := users.Reload(); err != nil || !changed {
			t.Fatal(changed, err)
		}
	}
}

// fails runs a text by the simple protocol and returns its error.
func (s *pgServer) fails(c *pgx.Conn, text string) error {
	_, err := c.PgConn().Exec(s.Context(), text).ReadAll()
	return err
}

// TestPGRightsOfRemovedUsers: a connection has the rights that its user has now, not those of its beginning.
func TestPGRightsOfRemovedUsers(t *testing.T) {
	for name, list := range map[string]string{"removed": "bea=pass", "another password": "ann=other"} {
		s, become := pgUsers(t, "ann=pass")
		c := s.connect("ann:pass")
		s.do(c, pgTable)
		become(list)
		s.refused(s.fails(c, "SELECT 1"), "57P01", "authenticate again")
		if err := s.fails(c, "SELECT 1"); err == nil {
			t.Errorf("%s: the connection is open", name)
		}
	}
}

func TestPGRightsOfDemotedUsers(t *testing.T) {
	s, become := pgUsers(t, "ann=pass")
	c := s.connect("ann:pass")
	insert := "INSERT INTO t VALUES (1, 'a', 1, 1)"
	s.do(c, pgTable)
	for name, sql := range map[string]string{"write": insert, "read": "SELECT n FROM t"} {
		if _, err := c.Prepare(t.Context(), name, sql); err != nil {
			t.Fatal(err)
		}
	}
	become("ann:ro=pass")
	s.refused(s.fails(c, insert), "42501", "not authorized")
	_, err := c.Exec(t.Context(), "write")
	s.refused(err, "42501", "not authorized")
	if _, err = c.Exec(t.Context(), "read"); err != nil {
		t.Error(err)
	}
	s.do(c, "BEGIN", "DECLARE d CURSOR FOR SELECT number FROM numbers ORDER BY 1")
	if got := s.texts(c, "FETCH 2 FROM d"); len(got) != 2 {
		t.Fatalf("got %q", got)
	}
	become("ann:wo=pass")
	s.refused(s.fails(c, "FETCH 2 FROM d"), "42501", "not authorized")
	s.do(c, "ROLLBACK")
	_, err = c.Exec(t.Context(), "read")
	s.refused(err, "42501", "not authorized")
	if _, err := c.Exec(t.Context(), "write"); err != nil {
		t.Error(err)
	}
	if err := s.fails(c, "SELECT hst FROM t"); err == nil || strings.Contains(err.Error(), "host") {
		t.Errorf("an error tells a column: %v", err)
	}
	become("ann=pass")
	if got := s.texts(c, "SELECT n FROM t"); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

// TestPGRightsWhileRowsComeIn: a COPY of a user that was demoted writes no more.
func TestPGRightsWhileRowsComeIn(t *testing.T) {
	s, become := pgUsers(t, "ann=pass")
	c := s.connect("ann:pass")
	s.do(c, pgTable)
	f := c.PgConn().Frontend()
	f.Send(&pgproto3.Query{String: "COPY t FROM STDIN"})
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	if m, err := f.Receive(); err != nil {
		t.Fatal(m, err)
	}
	become("ann:ro=pass")
	f.Send(&pgproto3.CopyData{Data: []byte("2026-01-01\ta\t1\t1\n")})
	f.Send(&pgproto3.CopyDone{})
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	m, err := f.Receive()
	if e, ok := m.(*pgproto3.ErrorResponse); !ok || e.Code != "42501" {
		t.Errorf("got %v, %v", m, err)
	}
}

// TestPGFetchFromPortals: FETCH takes rows of portals of queries only.
func TestPGFetchFromPortals(t *testing.T) {
	s := startPG(t, nil)
	r := s.raw()
	for _, sql := range []string{"SHOW timezone", "", "FETCH 1 FROM p", "BEGIN"} {
		r.send(&pgproto3.Query{String: "BEGIN"})
		r.until('Z')
		r.send(&pgproto3.Parse{Query: sql}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Sync{})
		if got := r.until('Z'); got != "12Z" {
			t.Errorf("%q: got %s", sql, got)
		}
		r.send(&pgproto3.Query{String: "FETCH 1 FROM p"})
		if m, err := r.f.Receive(); err != nil {
			t.Fatalf("%q: %v", sql, err)
		} else if e, ok := m.(*pgproto3.ErrorResponse); !ok || e.Code != "55000" {
			t.Errorf("%q: got %v", sql, m)
		}
		r.until('Z')
		r.send(&pgproto3.Query{String: "ROLLBACK"})
		r.until('Z')
		r.send(&pgproto3.Query{String: "BEGIN"})
		r.until('Z')
		r.send(&pgproto3.Parse{Query: sql}, &pgproto3.Bind{DestinationPortal: "p"},
			&pgproto3.Describe{ObjectType: 'P', Name: "p"}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Sync{})
		if got := r.until('Z'); strings.HasPrefix(sql, "FETCH") && got != "12EZ" {
			t.Errorf("a portal that fetches from itself: got %s", got)
		}
		r.send(&pgproto3.Query{String: "ROLLBACK"})
		r.until('Z')
	}
}

// shows checks what SHOW says of parameters, written name=value.
func (s *pgServer) shows(c *pgx.Conn, when string, list ...string) {
	s.Helper()
	for _, one := range list {
		name, want, _ := strings.Cut(one, "=")
		if got := s.texts(c, "SHOW "+name); got[0] != want {
			s.Errorf("%s: %s is %q, want %q", when, name, got[0], want)
		}
	}
}

// TestPGSettingsOfTransactions: ROLLBACK undoes SET, and SET LOCAL lasts until the end of the transaction.
func TestPGSettingsOfTransactions(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, "CREATE DATABASE other", "SET TimeZone = 'UTC'", "SET statement_timeout = 70000")
	first := []string{"TimeZone=UTC", "statement_timeout=70000", "search_path=public", "application_name="}
	change := []string{"SET TimeZone = 'Asia/Tokyo'", "SET statement_timeout = 90000", "SET search_path = other",
		"SET application_name = 'x'"}
	second := []string{"TimeZone=Asia/Tokyo", "statement_timeout=90000", "search_path=other", "application_name=x"}
	at, day := "SELECT TIMESTAMP '2026-07-01 12:00:00Z', current_schema()", "2026-07-01 "
	for _, local := range []string{"SET", "SET LOCAL"} {
		for _, end := range []string{"ROLLBACK", "COMMIT", "SELECT absent; COMMIT"} {
			s.do(c, "BEGIN")
			for _, one := range change {
				s.do(c, strings.Replace(one, "SET", local, 1))
			}
			s.shows(c, local, second...)
			if got := s.texts(c, at); got[0] != day+"21:00:00+09|other" {
				t.Errorf("%s: got %q", local, got)
			}
			if fail, commit, ok := strings.Cut(end, "; "); ok {
				if s.fails(c, fail) == nil {
					t.Error("no error")
				}
				s.do(c, commit)
			} else {
				s.do(c, end)
			}
			if local == "SET" && end == "COMMIT" {
				s.shows(c, "after COMMIT", second...)
				s.do(c, "SET TimeZone = 'UTC'; SET statement_timeout = 70000; USE public; SET application_name = ''")
				continue
			}
			s.shows(c, local+" and "+end, first...)
			if got := s.texts(c, at); got[0] != day+"12:00:00+00|public" {
				t.Errorf("%s and %s: got %q", local, end, got)
			}
			if got := c.PgConn().ParameterStatus("TimeZone"); got != "UTC" {
				t.Errorf("%s and %s: the client was told of %s", local, end, got)
			}
		}
	}
	s.do(c, "SET LOCAL TimeZone = 'Asia/Tokyo'") // outside a transaction: a warning
	s.shows(c, "SET LOCAL outside a transaction", "TimeZone=UTC")
	s.do(c, "BEGIN; SET LOCAL TimeZone = 'Asia/Tokyo'; SET TimeZone = 'Europe/Berlin'; COMMIT")
	s.shows(c, "SET after SET LOCAL", "TimeZone=Europe/Berlin")
	s.do(c, "BEGIN; SET LOCAL search_path = public; USE other; COMMIT")
	s.shows(c, "USE after SET LOCAL", "search_path=other")
	s.do(c, "BEGIN; SET TimeZone = 'UTC'; SET LOCAL TimeZone = 'Asia/Tokyo'; COMMIT")
	s.shows(c, "SET LOCAL after SET", "TimeZone=UTC")
}

func TestPGSettingsOfSavepoints(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, "SET work_mem = 1", "BEGIN", "SET work_mem = 2", "SET LOCAL jit = a", "SAVEPOINT s",
		"SET LOCAL work_mem = 3",
		"SET jit = b", "SET LOCAL TimeZone = 'Asia/Tokyo'")
	if s.fails(c, "SELECT absent") == nil {
		t.Error("no error")
	}
	s.do(c, "ROLLBACK TO SAVEPOINT s")
	s.shows(c, "ROLLBACK TO", "work_mem=2", "jit=a", "TimeZone=UTC")
	s.do(c, "SET LOCAL work_mem = 4", "RELEASE s")
	s.shows(c, "RELEASE", "work_mem=4")
	s.do(c, "COMMIT")
	s.shows(c, "COMMIT", "work_mem=2", "jit=off", "TimeZone=UTC")
}

// TestPGSetConfig: set_config changes a parameter when its statement runs, once.
func TestPGSetConfig(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	const zone, column = "TimeZone", "SELECT set_config('TimeZone', '%s', %s)"
	if got := s.texts(c, fmt.Sprintf(column, "Asia/Tokyo", "false")); got[0] != "Asia/Tokyo" {
		t.Errorf("got %q", got)
	}
	s.shows(c, "set_config", "TimeZone=Asia/Tokyo")
	s.do(c, "BEGIN", fmt.Sprintf(column, "Europe/Rome", "true"))
	s.shows(c, "set_config for a transaction", "TimeZone=Europe/Rome")
	s.do(c, "COMMIT")
	s.shows(c, "after the transaction", "TimeZone=Asia/Tokyo")
	s.do(c, fmt.Sprintf(column, "Europe/Rome", "true"))
	s.do(c, "BEGIN", fmt.Sprintf(column, "Europe/Rome", "false"), "ROLLBACK")
	s.shows(c, "undone", "TimeZone=Asia/Tokyo")
	for _, bad := range []string{fmt.Sprintf(column, "UTC", "false") + " WHERE false",
		fmt.Sprintf(column, "UTC", "false") + " FROM numbers", fmt.Sprintf(column, "UTC", "false") + " LIMIT 0",
		"SELECT CASE WHEN false THEN set_config('TimeZone', 'UTC', false) END",
		"SELECT set_config('Time'||'Zone', 'UTC', true)",
		"EXPLAIN " + fmt.Sprintf(column, "UTC", "false")} {
		s.refused(s.fails(c, bad), "0A000", "set_config")
	}
	s.refused(s.fails(c, "SELECT set_config('jit', 'x', false), set_config('TimeZone', 'Mars', false)"), "22023", "Mars")
	s.refused(s.fails(c, "SELECT set_config('absent', 'x', false)"), "42704", "absent")
	s.shows(c, "after errors", "TimeZone=Asia/Tokyo", "jit=off")

	if _, err := c.Prepare(t.Context(), "p", "SELECT set_config('TimeZone', $1, $2::bool)"); err != nil {
		t.Fatal(err)
	}
	s.shows(c, "prepared only", "TimeZone=Asia/Tokyo")
	got := ""
	if err := c.QueryRow(t.Context(), "p", "Europe/Rome", false).Scan(&got); err != nil || got != "Europe/Rome" {
		t.Errorf("got %q, %v", got, err)
	}
	s.shows(c, "with parameters", "TimeZone=Europe/Rome")
	s.do(c, "SELECT set_config('TimeZone', NULL, false)")
	s.shows(c, "NULL", "TimeZone=UTC")
	r := s.raw()
	r.send(&pgproto3.Parse{Query: "SELECT set_config('jit', 'x', false)"}, &pgproto3.Bind{}, &pgproto3.Sync{})
	r.until('Z')
	r.send(&pgproto3.Query{String: "SHOW jit"})
	r.until('T')
	if m, err := r.f.Receive(); err != nil || string(m.(*pgproto3.DataRow).Values[0]) != "off" {
		t.Errorf("bound but not executed, set_config has had its effect: %v, %v", m, err)
	}
}

// TestPGReadOnlyTransactions: what a transaction says of writes holds, however it is said.
func TestPGReadOnlyTransactions(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	insert := "INSERT INTO t VALUES (1, 'a', 1, 1)"
	s.do(c, pgTable)
	for _, one := range []string{"BEGIN; SET transaction_read_only = on", "BEGIN READ ONLY",
		"BEGIN; SET LOCAL transaction_read_only TO on", "BEGIN; SET TRANSACTION READ ONLY",
		"START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY",
		"BEGIN; SELECT set_config('transaction_read_only', 'on', true)",
		"SET default_transaction_read_only = on; BEGIN; RESET default_transaction_read_only",
		"BEGIN READ ONLY; SAVEPOINT a; ROLLBACK TO a"} {
		s.do(c, one)
		s.shows(c, one, "transaction_read_only=on")
		s.refused(s.fails(c, insert), "25006", "read-only")
		s.do(c, "ROLLBACK", "SET default_transaction_read_only = off")
		s.shows(c, "after "+one, "transaction_read_only=off")
	}
	s.do(c, "BEGIN READ ONLY", "SELECT 1")
	s.refused(s.fails(c, "SET transaction_read_only = off"), "25001", "before any query")
	s.do(c, "ROLLBACK", "BEGIN", "SAVEPOINT a", "SET TRANSACTION READ ONLY", "ROLLBACK TO a", insert, "COMMIT")

	s.do(c, "SET default_transaction_read_only = on")
	s.shows(c, "by default", "transaction_read_only=on")
	s.refused(s.fails(c, insert), "25006", "read-only")
	for _, one := range []string{"BEGIN READ WRITE", "BEGIN; SET TRANSACTION READ WRITE",
		"START TRANSACTION READ WRITE, NOT DEFERRABLE"} {
		s.do(c, one)
		s.shows(c, one, "transaction_read_only=off")
		s.do(c, insert, "COMMIT")
	}
	s.do(c, "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", insert)
}

// TestPGTransactionSyntax: words that a command of transactions does not know are errors, not left out.
func TestPGTransactionSyntax(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	for _, bad := range []string{"BEGIN garbage", "BEGIN READ", "BEGIN ISOLATION LEVEL x", "START TRANSACTION x",
		"BEGIN 1",
		"COMMIT garbage", "COMMIT AND CHAIN", "END AND", "ROLLBACK AND CHAIN", "ROLLBACK x", "ROLLBACK TO", "SAVEPOINT",
		"SAVEPOINT a b", "RELEASE", "RELEASE SAVEPOINT a b", "ABORT TO a", "DISCARD", "DISCARD x", "SET TRANSACTION x",
		"COMMIT PREPARED 'a'"} {
		s.refused(s.fails(c, bad), "42601", "")
		if state := c.PgConn().TxStatus(); state != 'I' {
			t.Errorf("%s: state %c", bad, state)
		}
	}
	s.do(c, "BEGIN WORK;", "COMMIT WORK;", "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE DEFERRABLE",
		"END TRANSACTION", "START TRANSACTION", "SAVEPOINT a", "SAVEPOINT \"B c\"",
		"ROLLBACK WORK TO SAVEPOINT \"B c\"",
		"ROLLBACK TO a", "RELEASE a", "COMMIT AND NO CHAIN", "BEGIN", "ABORT")
	if _, err := c.Prepare(t.Context(), "p", "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	s.do(c, "DISCARD PLANS", "DISCARD SEQUENCES", "DISCARD TEMP")
	if _, err := c.Exec(t.Context(), "p"); err != nil {
		t.Errorf("after DISCARD PLANS: %v", err)
	}
}

// TestPGPlacesAreFull: a request to end a statement needs no place, and other clients read why they get none, when they
// have said who they are.
func TestPGPlacesAreFull(t *testing.T) {
	pair := pgCertificate(t)
	s := startPG(t, func(o *server.Options) {
		o.PG.MaxConnections = 1
		o.PG.Telling = time.Minute // many clients at once derive their keys of TLS slowly
		o.PG.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	})
	connect := func(mode string) (c *pgx.Conn) {
		s.await("the place is free", func() bool {
			var err error
			c, err = pgx.Connect(t.Context(), s.url("ann", mode))
			return err == nil
		})
		return c
	}
	for _, mode := range []string{"sslmode=disable", "sslmode=require"} {
		c := connect(mode)
		ended := s.begin(c)
		if err := c.PgConn().CancelRequest(t.Context()); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		s.refused(<-ended, "57014", "cancelled")
		var wait sync.WaitGroup
		for range 40 {
			wait.Go(func() {
				_, err := pgx.Connect(t.Context(), s.url("ann", mode))
				s.refused(err, "53300", "too many connections")
			})
		}
		wait.Wait()
		c.Close(t.Context())
	}
}

// TestPGSilentClients: a client without a place that says nothing is cut off, untold.
func TestPGSilentClients(t *testing.T) {
	s := startPG(t, func(o *server.Options) {
		o.PG.MaxConnections = 1
		o.PG.Telling = 100 * time.Millisecond
	})
	c := s.connect("ann")
	raw, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	raw.SetDeadline(time.Now().Add(20 * time.Second))
	if b, err := io.ReadAll(raw); err != nil || len(b) > 0 {
		t.Errorf("a client that says nothing is told %q, %v", b, err)
	}
	if got := s.texts(c, "SELECT 1"); got[0] != "1" {
		t.Errorf("got %q", got)
	}
}

// TestPGNamesOfClients: the name that a client gives itself is shown in lists, cleaned.
func TestPGNamesOfClients(t *testing.T) {
	s := startPG(t, nil)
	raw, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	raw.SetDeadline(time.Now().Add(20 * time.Second))
	r := &pgRaw{s, raw, pgproto3.NewFrontend(raw, raw)}
	long := strings.Repeat("ä", 40)
	r.send(&pgproto3.StartupMessage{ProtocolVersion: 196608, Parameters: map[string]string{"user": "ann",
		"application_name": "a\xff\x1b[31m\nb\u202e" + long}})
	r.until('Z')
	list := "SELECT frontend FROM information_schema.process_list"
	r.send(&pgproto3.Query{String: list})
	r.until('T')
	want := "a??[31m?b?" + long[:54]
	if m, err := r.f.Receive(); err != nil || string(m.(*pgproto3.DataRow).Values[0]) != want {
		t.Errorf("got %q, %v, want %q", m, err, want)
	}
	c := s.connect("ann")
	var got string
	err = c.QueryRow(t.Context(), "SELECT set_config('application_name', $1, false)", "x\x01\u200by").Scan(&got)
	if err != nil {
		t.Fatal(err)
	}
	s.shows(c, "set_config", "application_name=x??y")
	_, err = c.Exec(t.Context(), "SELECT set_config('work_mem', $1, false)", "x\x00y")
	s.refused(err, "22021", "")
}

// TestPGErrorsWithZeroBytes: the byte 0 of a value does not end the message of an error.
func TestPGErrorsWithZeroBytes(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	err := s.fails(c, "SELECT CAST(concat('7', chr(0), 'C99999') AS INT)")
	s.refused(err, "22P02", "'7C99999'")
	if got := s.texts(c, "SELECT 1"); got[0] != "1" {
		t.Errorf("got %q", got)
	}
}

// TestPGIdleConnectionsAreSmall: after a large statement and a large answer a connection that waits keeps little.
func TestPGIdleConnectionsAreSmall(t *testing.T) {
	const count, most = 100, 20 << 10
	s := startPG(t, nil)
	heap := func() int64 {
		s.mu.Lock()
		s.ended = nil // has the texts of statements
		s.mu.Unlock()
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what pools keep lives for one more
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	buffer := make([]byte, 64<<10)
	ask := func(c net.Conn, message string) {
		t.Helper()
		c.SetDeadline(time.Now().Add(30 * time.Second)) // of this answer: the connection waits for all others
		if _, err := io.WriteString(c, message); err != nil {
			t.Fatal(err)
		}
		for end := []byte(nil); !bytes.HasSuffix(end, []byte("Z\x00\x00\x00\x05I")); {
			n, err := c.Read(buffer)
			if err != nil {
				t.Fatal(err)
			}
			end = append(end[max(0, len(end)-6):], buffer[:n]...)
		}
	}
	text := "SELECT a.number, length('" + strings.Repeat("x", 32<<10) + "') FROM numbers a, numbers b\x00"
	query := string(binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(len(text)+4))) + text
	var conns []net.Conn
	var before int64
	for range count {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ask(c, "\x00\x00\x00\x12\x00\x03\x00\x00user\x00ann\x00\x00")
		if len(conns) == 0 {
			ask(c, query) // what is made once
			before = heap()
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		ask(c, query)
	}
	if grown := (heap() - before) / count; grown > most {
		t.Errorf("a connection that waits keeps %d bytes, want at most %d", grown, most)
	} else {
		t.Logf("a connection that waits keeps %d bytes", grown)
	}
}
