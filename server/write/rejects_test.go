package write_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/status"
	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
	"varve/server/write/rows/rejects"
)

// rejecting is a server that keeps what cannot be stored.
func rejecting(t *testing.T) *servertest.House {
	return servertest.Real(t, func(o *server.Options) {
		left := rejects.New(o.Admin.Store.(web.Store), nil)
		o.Rows.Rejects = left
	})
}

// await waits until a query gives what is wanted.
func await(h *servertest.House, query, want string) {
	h.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(40 * time.Second); ; {
		a := h.SQL(query)
		if strings.Contains(a.Body, want) {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			h.Fatalf("%s: got %s, want %s", query, a.Body, want)
		}
	}
}

// TestSyslogRejects: a message that its table does not take is kept with the reason, the others are rows; so are those
// before a broken length.
func TestSyslogRejects(t *testing.T) {
	h := rejecting(t)
	h.Want(
		h.SQL(
			`CREATE TABLE syslog (service_timestamp TIMESTAMP(9) TIME INDEX, hostname STRING, app_name STRING, proc_id STRING NOT NULL, PRIMARY KEY (hostname, app_name)) WITH (append_mode = 'true')`), 200, "")
	ln := h.Listen()
	h.Serving(func() error { return h.Server.ServeSyslog(ln) })
	line := func(process, text string) string {
		return fmt.Sprintf("<34>1 2026-01-02T03:04:05Z web su %s - - %s", process, text)
	}
	c := h.Connect(ln.Addr().String())
	if _, err := io.WriteString(c, line("7", "one")+"\n"+line("-", "two")+"\n"+line("8", "three")+"\n"); err != nil {
		t.Fatal(err)
	}
	await(h, "SELECT proc_id, message FROM syslog ORDER BY proc_id", `[["7","one"],["8","three"]]`)
	await(h, `SELECT protocol, "table", entry, reason LIKE '%proc_id is NOT NULL%' FROM service_private.rejected`,
		`[["syslog","syslog","`+line("-", "two")+`",true]]`)

	c = h.Connect(ln.Addr().String())
	text := line("9", "four")
	if _, err := io.WriteString(c, fmt.Sprintf("%d %sx %s", len(text), text, line("9", "lost"))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the server answers")
	}
	await(h, "SELECT count(*), max(message) FROM syslog", `[[3,"three"]]`)
	await(h, "SELECT entry, reason FROM service_private.rejected WHERE reason LIKE '%length%'",
		`[["x `+line("9", "lost")+`","expected the length of a message, found 'x'"]]`)
	c = h.Connect(ln.Addr().String())
	if _, err := io.WriteString(c, "100 "+line("9", "cut")); err != nil {
		t.Fatal(err)
	}
	c.Close()
	await(h, "SELECT entry FROM service_private.rejected WHERE reason LIKE '%inside a message%'",
		`[["`+line("9", "cut")+`"]]`)
}

// TestSyslogFits: messages are stored without the fields for which their table has columns of other types; one of
// another role is as the table has it. Where the text itself does not fit, they are kept with the reason.
func TestSyslogFits(t *testing.T) {
	h := rejecting(t)
	h.Want(
		h.SQL(
			`CREATE TABLE syslog (service_timestamp TIMESTAMP(9) TIME INDEX, hostname STRING, app_name STRING PRIMARY KEY, facility BIGINT, severity DOUBLE, structured_data STRING, message STRING) WITH (append_mode = 'true')`), 200, "")
	ln := h.Listen()
	h.Serving(func() error { return h.Server.ServeSyslog(ln) })
	const line = `<34>1 2026-01-02T03:04:05Z web su 7 - [a b="c"] one`
	c := h.Connect(ln.Addr().String())
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		t.Fatal(err)
	}
	await(h, "SELECT hostname, app_name, facility, severity, proc_id, structured_data, message FROM syslog",
		`[["web","su",null,null,"7","{\"a\":{\"b\":\"c\"}}","one"]]`)
	h.Want(h.SQL("DROP TABLE syslog; CREATE TABLE syslog (service_timestamp TIMESTAMP(9) TIME INDEX, message BIGINT)"),
		200, "")
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		t.Fatal(err)
	}
	await(h, "SELECT reason FROM service_private.rejected", "column message expect type Int64, given: String")
}

// TestJournalRejects: entries that cannot be stored, and what stands behind a broken length, are kept with the reason;
// their upload is taken.
func TestJournalRejects(t *testing.T) {
	h := rejecting(t)
	h.Want(
		h.SQL(
			`CREATE TABLE journald_logs (service_timestamp TIMESTAMP(9) TIME INDEX, "_HOSTNAME" STRING PRIMARY KEY, "N" BIGINT) WITH (append_mode = 'true')`), 200, "")
	send := func(body string, status int, want string) {
		t.Helper()
		h.Want(h.Do("POST", "/v1/journald/upload", body, "Content-Type", "application/vnd.fdo.journal"), status, want)
	}
	send("MESSAGE=a\n\nMESSAGE=b\nN=1\n\n__REALTIME_TIMESTAMP=x\nMESSAGE=c\n\nMESSAGE=d\n\n", 200, "OK")
	h.Holds(`SELECT "MESSAGE" FROM journald_logs ORDER BY "MESSAGE"`, "[[a] [d]]")
	h.Holds(
		`SELECT protocol, "table", reason LIKE '%column N expect type Int64%', reason LIKE '%not a time in microseconds%' FROM service_private.rejected ORDER BY entry DESC`, "[[journald journald_logs false true] [journald journald_logs true false]]")

	send("MESSAGE=e\n\nMESSAGE\n\xff\x00\x00\x00\x00\x00\x00\x00rest\n\nMESSAGE=f\n\n", 200, "OK")
	h.Holds(`SELECT count(*), max("MESSAGE") FROM journald_logs`, "[[3 e]]")
	h.Holds(
		`SELECT count(*) FROM service_private.rejected WHERE reason LIKE '%255 bytes%' AND entry LIKE 'MESSAGE%rest%MESSAGE=f%'`, "[[1]]")
	send("MESSAGE\n\xff\x00\x00\x00\x00\x00\x00\x00rest\n", 400, "255 bytes")
}

// deaf is a store that takes no rejects while it is busy.
type deaf struct {
	web.Store
	busy atomic.Bool
}

func (d *deaf) Write(ctx context.Context, s *engine.WriteSet) ([]engine.Written, error) {
	if d.busy.Load() {
		return nil, status.New(status.RegionBusy, "memory is full")
	}
	return d.Store.Write(ctx, s)
}

// TestJournalStoredIsAnswered: an upload of which rows are stored is taken although its other entries can be kept
// nowhere: its sender would send the rows again. One of which nothing is stored is refused, and sent again.
func TestJournalStoredIsAnswered(t *testing.T) {
	var store deaf
	h := servertest.Real(t, func(o *server.Options) {
		store.Store = o.Admin.Store.(web.Store)
		o.Rows.Rejects = rejects.New(&store, nil)
	})
	h.Want(
		h.SQL(
			`CREATE TABLE journald_logs (service_timestamp TIMESTAMP(9) TIME INDEX, "_HOSTNAME" STRING PRIMARY KEY, "N" BIGINT) WITH (append_mode = 'true')`), 200, "")
	send := func(body string, status int, want string) {
		t.Helper()
		h.Want(h.Do("POST", "/v1/journald/upload", body, "Content-Type", "application/vnd.fdo.journal"), status, want)
	}
	store.busy.Store(true)
	send("MESSAGE=a\n\nMESSAGE=b\nN=x\n\n", 200, "OK")
	h.Holds(`SELECT "MESSAGE" FROM journald_logs`, "[[a]]")
	send("MESSAGE=c\nN=x\n\n", 503, "memory is full")
	store.busy.Store(false)
	send("MESSAGE=c\nN=x\n\n", 200, "OK")
	h.Holds(`SELECT "MESSAGE" FROM journald_logs`, "[[a]]")
	h.Holds("SELECT entry LIKE '%MESSAGE=c%' FROM service_private.rejected", "[[true]]")
}

// TestSignedAndUnsigned: integers with and without a sign are two types until a float makes the column one of floats.
func TestSignedAndUnsigned(t *testing.T) {
	h := servertest.Real(t, nil)
	for i, c := range []struct {
		value, want string
		status      int
	}{{"1i", "", 204}, {"1u", "expect type Int64, given: UInt64", 400}, {"1.5", "", 204}, {"2u", "", 204},
		{"-2i", "", 204}} {
		h.Want(h.Do("POST", "/v1/lineproto/write", fmt.Sprintf("signs v=%s %d", c.value, i)), c.status, c.want)
	}
	h.Holds("SELECT count(*), sum(v) FROM signs", "[[4 2.5]]")
}
