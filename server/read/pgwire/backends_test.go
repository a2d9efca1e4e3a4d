package pgwire_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"varve/server"
	"varve/server/servertest"
)

// TestPGEndsOthers: pg_cancel_backend ends the statement of a connection, pg_terminate_backend the connection, by the
// pid that pg_backend_pid() and pg_stat_activity tell. Read-only users may do so to their own connections.
func TestPGEndsOthers(t *testing.T) {
	users := servertest.Users(t,
		"static_user_provider:cmd:ann:ro=pass,ben:ro=pass,"+servertest.UserLine(t, "bea", "secret"))
	s := startPG(t, func(o *server.Options) { o.Users = users })
	c, own, stranger, admin := s.connect("ann:pass"), s.connect("ann:pass"), s.connect("ben:pass"),
		s.connect("bea:secret")
	pid := c.PgConn().PID()
	if got := s.texts(c, "SELECT pg_backend_pid()"); !slices.Equal(got, []string{fmt.Sprint(pid)}) {
		t.Fatalf("pg_backend_pid() is %s, the client was told %d", got, pid)
	}
	for _, name := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		for _, one := range []struct{ argument, want string }{{"99999", "f"}, {"-99999", "f"}, {"NULL", "f"},
			{"9223372036854775807", "f"}, {"-9223372036854775808", "f"}} {
			if got := s.texts(admin, "SELECT "+name+"("+one.argument+")"); !slices.Equal(got, []string{one.want}) {
				t.Errorf("%s(%s) is %s, want %s", name, one.argument, got, one.want)
			}
		}
		_, err := stranger.PgConn().Exec(t.Context(), fmt.Sprintf("SELECT %s(%d)", name, pid)).ReadAll()
		s.refused(err, "42501", "not authorized")
		_, err = stranger.PgConn().Exec(t.Context(), fmt.Sprintf("SELECT %s('x')", name)).ReadAll()
		s.refused(err, "22P02", "")
	}
	for _, by := range []*pgx.Conn{own, admin} {
		ended := s.begin(c)
		if got := s.texts(by, "SELECT pid, pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'ann' AND pid "+
			"<> pg_backend_pid()"); !slices.Equal(got, []string{fmt.Sprintf("%d|t", pid)}) {
			t.Errorf("cancelling what runs gives %s", got)
		}
		s.refused(<-ended, "57014", "cancelled")
		s.texts(c, "SELECT 1") // the connection goes on
	}
	var done bool // nothing is ended by a statement that is only described
	if _, err := own.Prepare(t.Context(), "end", fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid)); err != nil {
		t.Fatal(err)
	}
	s.texts(c, "SELECT 1")
	if err := own.QueryRow(t.Context(), "SELECT pg_cancel_backend($1)", pid).Scan(&done); err != nil || !done {
		t.Errorf("a parameter: %v, %v", done, err)
	}
	ended := s.begin(c)
	s.texts(own, fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = '%d'", pid))
	s.refused(<-ended, "57P01", "terminating connection")
	s.await("the connection ends", func() bool {
		return slices.Equal(s.texts(own, fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid)), []string{"f"})
	})
	idle := s.connect("ann:pass")
	s.do(admin, fmt.Sprintf("SELECT pg_terminate_backend(%d)", idle.PgConn().PID()))
	_, err := idle.PgConn().ReceiveMessage(t.Context())
	s.refused(err, "57P01", "terminating connection")
}

// TestPGSleeps: pg_sleep takes its time, is on the list of what runs, and ends as every statement does.
func TestPGSleeps(t *testing.T) {
	s := startPG(t, nil)
	c, other := s.connect("ann"), s.connect("bea")
	began := time.Now()
	if got := s.texts(c, "SELECT pg_sleep(0.05), 7"); !slices.Equal(got, []string{"|7"}) {
		t.Errorf("got %q", got)
	}
	if d := time.Since(began); d < 50*time.Millisecond {
		t.Errorf("it took %s", d)
	}
	for sql, want := range map[string]string{"SELECT pg_sleep(-1)": "", "SELECT pg_sleep(NULL)": "NULL"} {
		if got := s.texts(c, sql); !slices.Equal(got, []string{want}) {
			t.Errorf("%s gives %q", sql, got)
		}
	}
	var text string
	if err := c.QueryRow(t.Context(), "SELECT pg_sleep($1)", 0.001).Scan(&text); err != nil || text != "" {
		t.Errorf("a parameter: %q, %v", text, err)
	}
	for _, sql := range []string{"SELECT pg_sleep(number) FROM numbers", "SELECT pg_sleep('x')",
		"SELECT 1 WHERE pg_sleep(1) = ''", "SELECT length(pg_sleep(1))"} {
		_, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
		s.refused(err, "0A000", "pg_sleep")
	}
	sleeps := func() <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := c.PgConn().Exec(context.Background(), "SELECT pg_sleep(1e300)").ReadAll()
			ended <- err
		}()
		s.await("it sleeps", func() bool { return len(s.sql.Running()) == 1 })
		return ended
	}
	ended := sleeps()
	if err := c.PgConn().CancelRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.refused(<-ended, "57014", "cancelled")
	ended = sleeps()
	s.do(other, "KILL "+s.sql.Running()[0].ID)
	s.refused(<-ended, "57014", "killed")
	ended = sleeps()
	s.do(other, fmt.Sprintf("SELECT pg_cancel_backend(%d)", c.PgConn().PID()))
	s.refused(<-ended, "57014", "cancelled")
	s.do(c, "SET statement_timeout = '50ms'")
	_, err := c.PgConn().Exec(t.Context(), "SELECT pg_sleep(60)").ReadAll()
	s.refused(err, "57014", "time limit")
}
