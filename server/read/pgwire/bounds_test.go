package pgwire_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"varve/server"
)

// pgCertificate makes a certificate of this machine.
func pgCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// pgRaw is a client that sends messages one by one.
type pgRaw struct {
	*pgServer
	c net.Conn
	f *pgproto3.Frontend
}

// raw connects and begins a session.
func (s *pgServer) raw() *pgRaw {
	s.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.Close() }) // tests close it as well
	c.SetDeadline(time.Now().Add(30 * time.Second))
	r := &pgRaw{s, c, pgproto3.NewFrontend(c, c)}
	r.send(&pgproto3.StartupMessage{ProtocolVersion: 196608, Parameters: map[string]string{"user": "ann"}})
	r.until('Z')
	return r
}

func (r *pgRaw) send(list ...pgproto3.FrontendMessage) {
	r.Helper()
	for _, m := range list {
		r.f.Send(m)
	}
	if err := r.f.Flush(); err != nil {
		r.Fatal(err)
	}
}

// until reads messages until one of a kind comes, and returns the kinds in order; rows that follow each other are one.
func (r *pgRaw) until(kind byte) string {
	r.Helper()
	var kinds []byte
	for {
		m, err := r.f.Receive()
		if err != nil {
			r.Fatalf("after %q: %v", kinds, err)
		}
		b, err := m.(interface{ Encode([]byte) ([]byte, error) }).Encode(nil)
		if err != nil {
			r.Fatal(err)
		}
		if len(kinds) == 0 || kinds[len(kinds)-1] != b[0] || b[0] != 'D' {
			kinds = append(kinds, b[0])
		}
		if b[0] == kind {
			return string(kinds)
		}
	}
}

func TestPGPortals(t *testing.T) {
	s := startPG(t, nil)
	r := s.raw()
	r.send(&pgproto3.Parse{Query: "SELECT a.number FROM numbers a, numbers b ORDER BY 1"}, &pgproto3.Bind{},
		&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{MaxRows: 7}, &pgproto3.Execute{MaxRows: 9000},
		&pgproto3.Execute{MaxRows: 9000}, &pgproto3.Sync{})
	if got := r.until('Z'); got != "12TDsDsDCZ" {
		t.Errorf("got %s", got)
	}
	// Without a transaction portals end at Sync; in one they go on.
	r.send(&pgproto3.Parse{Query: "SELECT number FROM numbers"}, &pgproto3.Bind{DestinationPortal: "p"},
		&pgproto3.Execute{Portal: "p", MaxRows: 5}, &pgproto3.Sync{}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Sync{})
	if got := r.until('Z') + r.until('Z'); got != "12DsZEZ" {
		t.Errorf("got %s", got)
	}
	r.send(&pgproto3.Query{String: "BEGIN"})
	r.until('Z')
	r.send(&pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 5}, &pgproto3.Sync{},
		&pgproto3.Execute{Portal: "p"}, &pgproto3.Close{ObjectType: 'P', Name: "p"}, &pgproto3.Sync{})
	if got := r.until('Z') + r.until('Z'); got != "2DsZDC3Z" {
		t.Errorf("got %s", got)
	}
}

func TestPGPipelines(t *testing.T) {
	s := startPG(t, nil)
	r := s.raw()
	one := func(text string) []pgproto3.FrontendMessage {
		return []pgproto3.FrontendMessage{&pgproto3.Parse{Query: text}, &pgproto3.Bind{}, &pgproto3.Execute{}}
	}
	r.send(append(append(one("SELECT 1"), one("SELECT x")...), append(one("SELECT 2"), &pgproto3.Sync{})...)...)
	r.send(append(one("SELECT 3"), &pgproto3.Sync{})...)
	if got := r.until('Z') + r.until('Z'); got != "12DC1EZ12DCZ" && got != "12DC12EZ12DCZ" {
		t.Errorf("got %s", got)
	}
	// Flush sends what there is without Sync.
	r.send(&pgproto3.Parse{Query: ""}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{},
		&pgproto3.Flush{})
	if got := r.until('I'); got != "12nI" {
		t.Errorf("got %s", got)
	}
	r.send(&pgproto3.Sync{}, &pgproto3.Query{String: " ; "})
	if got := r.until('Z') + r.until('Z'); got != "ZIZ" {
		t.Errorf("got %s", got)
	}
}

func TestPGCursors(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	_, err := c.PgConn().Exec(t.Context(), "DECLARE c CURSOR FOR SELECT 1").ReadAll()
	s.refused(err, "25P01", "transaction")
	s.do(c, "BEGIN", "DECLARE c NO SCROLL CURSOR FOR SELECT number FROM numbers ORDER BY 1")
	for _, one := range []struct {
		sql  string
		want string
	}{
		{"FETCH c", "0"}, {"FETCH FORWARD 3 FROM c", "1 2 3"}, {"MOVE 2 IN c; FETCH NEXT FROM c", "6"},
		{"MOVE 90 FROM c; FETCH ALL FROM c", "97 98 99"}, {"FETCH 5 FROM c", ""},
	} {
		if got := strings.Join(s.texts(c, one.sql), " "); got != one.want {
			t.Errorf("%s: got %q, want %q", one.sql, got, one.want)
		}
	}
	s.do(c, "CLOSE c", "COMMIT")
	_, err = c.PgConn().Exec(t.Context(), "FETCH c").ReadAll()
	s.refused(err, "34000", "does not exist")
}

func TestPGConnectionsAreBounded(t *testing.T) {
	s := startPG(t, func(o *server.Options) { o.PG.MaxConnections, o.PG.MaxPerAddress = 3, 2 })
	a, b := s.connect("ann"), s.connect("bea")
	_, err := pgx.Connect(t.Context(), s.url("cay", "sslmode=disable"))
	if err == nil || !strings.Contains(err.Error(), "too many connections") {
		t.Errorf("the third of an address: %v", err)
	}
	a.Close(t.Context())
	s.await("a place is free", func() bool {
		c, err := pgx.Connect(t.Context(), s.url("cay", "sslmode=disable"))
		if err == nil {
			c.Close(context.Background())
		}
		return err == nil
	})
	if got := s.texts(b, "SELECT 1"); got[0] != "1" {
		t.Errorf("got %q", got)
	}
}

func TestPGMessagesAreBounded(t *testing.T) {
	const most = 128 << 10
	s := startPG(t, func(o *server.Options) { o.PG.MaxMessage = most })
	c := s.connect("ann")
	text := "SELECT length('" + strings.Repeat("x", most-18) + "')"
	if got := s.texts(c, text); got[0] != fmt.Sprint(most-18) {
		t.Errorf("a message at the limit: got %q", got)
	}
	_, err := c.PgConn().Exec(t.Context(), text+" ").ReadAll()
	s.refused(err, "08P01", "the limit is")

	r := s.raw()
	for i := range 1024 {
		r.f.Send(&pgproto3.Parse{Name: fmt.Sprint("s", i), Query: "SELECT 1"})
	}
	r.send(&pgproto3.Sync{})
	if got := r.until('Z'); strings.Contains(got, "E") {
		t.Error("1,024 prepared statements are refused")
	}
	r.send(&pgproto3.Parse{Name: "more", Query: "SELECT 1"}, &pgproto3.Sync{})
	if got := r.until('Z'); got != "EZ" {
		t.Errorf("one more prepared statement: got %s", got)
	}
	r.send(&pgproto3.Query{String: "BEGIN"})
	r.until('Z')
	for i := range 64 {
		r.f.Send(&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", i), PreparedStatement: "s0"})
	}
	r.send(&pgproto3.Sync{})
	if got := r.until('Z'); strings.Contains(got, "E") {
		t.Error("64 portals are refused")
	}
	r.send(&pgproto3.Bind{DestinationPortal: "more", PreparedStatement: "s0"}, &pgproto3.Sync{})
	if got := r.until('Z'); got != "EZ" {
		t.Errorf("one more portal: got %s", got)
	}
}

// TestPGHostileBytes sends bytes that are no session. The server closes the connection, at once or after an error, and
// serves others.
func TestPGHostileBytes(t *testing.T) {
	s := startPG(t, nil)
	start := []byte("\x00\x00\x00\x12\x00\x03\x00\x00user\x00ann\x00\x00")
	for name, bytes := range map[string][]byte{
		"a request of HTTP":           []byte("GET / HTTP/1.1\r\n\r\n"),
		"a huge first message":        []byte("\xff\xff\xff\xff\x00\x03\x00\x00"),
		"an empty first message":      []byte("\x00\x00\x00\x00\x00\x00\x00\x00"),
		"a protocol of another age":   []byte("\x00\x00\x00\x08\x00\x02\x00\x00"),
		"no user":                     []byte("\x00\x00\x00\x09\x00\x03\x00\x00\x00"),
		"a user that is no text":      []byte("\x00\x00\x00\x10\x00\x03\x00\x00user\x00\xff\x00\x00"),
		"a parameter without its end": []byte("\x00\x00\x00\x0c\x00\x03\x00\x00user"),
		"TLS":                         []byte("\x16\x03\x01\x00\x05aaaaa"),
		"a damaged cancel request":    []byte("\x00\x00\x00\x09\x04\xd2\x16\x2e\x00"),
		"an unknown kind":             append(append([]byte(nil), start...), "!\x00\x00\x00\x04"...),
		"a negative length":           append(append([]byte(nil), start...), "Q\x80\x00\x00\x00"...),
		"a length below four":         append(append([]byte(nil), start...), "Q\x00\x00\x00\x03"...),
		"a text without its end":      append(append([]byte(nil), start...), "Q\x00\x00\x00\x05x"...),
		"a damaged Bind":              append(append([]byte(nil), start...), "B\x00\x00\x00\x08\xff\xff\xff\xff"...),
	} {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := c.Write(bytes); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection is not closed: %v", name, err)
		}
		c.Close()
	}
	if got := s.texts(s.connect("ann"), "SELECT 1"); got[0] != "1" {
		t.Errorf("got %q", got)
	}
}

// TestPGStreams reads rows of a query that has more than memory could hold, and stops.
func TestPGStreams(t *testing.T) {
	s := startPG(t, nil)
	r := s.raw()
	r.send(&pgproto3.Query{String: "BEGIN"})
	r.until('Z')
	r.send(&pgproto3.Parse{Query: strings.Replace(endless, "count(*)", "repeat('x', 1000)", 1)},
		&pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 3000}, &pgproto3.Sync{})
	if got := r.until('Z'); got != "12DsZ" {
		t.Fatalf("got %s", got)
	}
	r.send(&pgproto3.Execute{Portal: "p", MaxRows: 3000}, &pgproto3.Sync{})
	if got := r.until('Z'); got != "DsZ" {
		t.Errorf("got %s", got)
	}
	r.send(&pgproto3.Query{String: "COMMIT"})
	r.until('Z')
	s.await("the query is over", func() bool { return len(s.sql.Running()) == 0 })
}

// TestPGShutdown stops a server with a connection that waits.
func TestPGShutdown(t *testing.T) {
	var c net.Conn
	t.Run("server", func(t *testing.T) { c = startPG(t, nil).raw().c })
	b, err := io.ReadAll(c)
	if err == nil && !bytes.Contains(b, []byte("57P01")) {
		t.Errorf("got %q, %v", b, err)
	}
}

// TestPGPatience: a client that names no user in time is cut off, one that did so waits as long as it likes.
func TestPGPatience(t *testing.T) {
	s := startPG(t, func(o *server.Options) { o.PG.Patience = 300 * time.Millisecond })
	var c *pgx.Conn
	s.await("a client names its user in time", func() bool { // where much else runs some are too late
		var err error
		c, err = pgx.Connect(t.Context(), s.url("ann", "sslmode=disable"))
		return err == nil
	})
	defer c.Close(t.Context())
	for _, sent := range []string{"", "\x00\x00", "\x00\x00\x00\x12\x00\x03\x00\x00us"} {
		silent, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		silent.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(silent, sent); err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(silent); err != nil {
			t.Errorf("%q: got %q, %v", sent, b, err)
		}
		silent.Close()
	}
	if got := s.texts(c, "SELECT 1"); got[0] != "1" {
		t.Errorf("got %q", got)
	}
}

// TestPGIdleTimeout: a client that waits for too long is told why it is cut off.
func TestPGIdleTimeout(t *testing.T) {
	s := startPG(t, func(o *server.Options) { o.PG.IdleTimeout = 300 * time.Millisecond })
	m, err := s.raw().f.Receive()
	if e, ok := m.(*pgproto3.ErrorResponse); !ok || e.Code != "57P05" {
		t.Errorf("an idle connection: got %+v, %v", m, err)
	}
}
