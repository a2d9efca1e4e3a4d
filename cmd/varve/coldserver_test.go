package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/bucket/buckettest"
)

// coldEnviron are the variables of a server whose parts move to a store of objects as soon as they can.
func coldEnviron(url, endpoint string) []string {
	return []string{"VARVE_STORAGE__COLD_URL=" + url, "VARVE_STORAGE__COLD_ENDPOINT=" + endpoint,
		"VARVE_STORAGE__COLD_ACCESS_KEY=a", "VARVE_STORAGE__COLD_SECRET_KEY=not-shown",
		"VARVE_STORAGE__COLD_CACHE_SIZE=16MiB"}
}

// coldRows makes three tables of rows that are old: logs, last values, metrics of series.
func coldRows(s *served) {
	s.t.Helper()
	s.ask("csv", "CREATE TABLE logs (ts TIMESTAMP(3) TIME INDEX, level STRING, message STRING, n BIGINT) "+
		"WITH (append_mode='true')")
	s.ask("csv", "CREATE TABLE last (ts TIMESTAMP(3) TIME INDEX, host STRING, v DOUBLE, PRIMARY KEY(host))")
	s.ask("csv", "CREATE TABLE cpu (ts TIMESTAMP(3) TIME INDEX, host STRING, core STRING, used DOUBLE, "+
		"PRIMARY KEY(host, core))")
	var logs, last, cpu []string
	for i := range 3000 {
		ts := 1_700_000_000_000 + i*1000
		logs = append(logs,
			fmt.Sprintf("(%d, 'l%d', 'request %d took a while on host%d', %d)", ts, i%4, i*7919, i%9, i))
		last = append(last, fmt.Sprintf("(%d, 'host%d', %d.5)", ts-ts%60_000, i%7, i%100))
		cpu = append(cpu, fmt.Sprintf("(%d, 'host%d', 'core%d', %d)", ts, i%5, i%3, i%50))
	}
	for table, rows := range map[string][]string{"logs": logs, "last": last, "cpu": cpu} {
		s.ask("csv", "INSERT INTO "+table+" VALUES "+strings.Join(rows, ","))
		s.ask("csv", "ADMIN flush_table('"+table+"')")
	}
}

// coldQueries ask for all columns of the tables of coldRows, in ten ways.
var coldQueries = []string{
	"SELECT count(*), sum(n), min(ts), max(ts) FROM logs",
	"SELECT level, count(*), avg(n) FROM logs GROUP BY level ORDER BY level",
	"SELECT * FROM logs WHERE message LIKE '%79190 took%' ORDER BY n",
	"SELECT n, message FROM logs WHERE n BETWEEN 100 AND 140 ORDER BY n",
	"SELECT DISTINCT level FROM logs WHERE ts < 1700000500000 ORDER BY level",
	"SELECT host, count(*), sum(v) FROM last GROUP BY host ORDER BY host",
	"SELECT * FROM last WHERE host = 'host3' ORDER BY ts",
	"SELECT date_bin('10 minutes'::INTERVAL, ts) AS t, max(used) FROM cpu GROUP BY t ORDER BY t",
	"SELECT host, core, avg(used) FROM cpu WHERE used > 7 GROUP BY host, core ORDER BY host, core",
	"SELECT count(*) FROM logs l JOIN cpu c ON l.ts = c.ts WHERE l.level = 'l1' AND c.host = 'host2'",
}

// coldAnswers are the answers to coldQueries.
func coldAnswers(s *served) (answers []string) {
	s.t.Helper()
	for _, q := range coldQueries {
		answers = append(answers, s.ask("csv", q))
	}
	return answers
}

// coldState is the member cold of /status.
type coldState struct {
	Parts   int  `json:"parts"`
	Bytes   int  `json:"bytes"`
	Waiting int  `json:"waiting"`
	Failing bool `json:"failing"`
}

func (s *served) cold() coldState {
	var status struct {
		Cold coldState `json:"cold"`
	}
	if err := json.Unmarshal([]byte(s.get("/status")), &status); err != nil {
		return coldState{}
	}
	return status.Cold
}

func sameAnswers(t *testing.T, when string, got, want []string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] || strings.Count(want[i], "\n") == 0 {
			t.Errorf("%s: %s\n got %.300s\nwant %.300s", when, coldQueries[i], got[i], want[i])
		}
	}
}

func mustRun(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	out, err := program(environ, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestColdServer moves the parts of a server to a bucket, backs it up and restores it, as a directory and as a stream,
// then kills it and makes another one of the bucket and of the log: the answers are always the same. The one that was
// killed is refused afterwards.
func TestColdServer(t *testing.T) {
	store := buckettest.Store(t)
	environ := coldEnviron(store.URL, store.Endpoint)
	cold := append(environ, "VARVE_STORAGE__COLD_AFTER=1s")
	tmp := t.TempDir()
	data, backup := filepath.Join(tmp, "data"), filepath.Join(tmp, "backup")
	s := serve(t, environ, "--data-dir", data)
	coldRows(s)
	want := coldAnswers(s)
	s.stop()

	s = serve(t, cold, "--data-dir", data)
	waitFor(t, func() bool { return s.cold().Parts == 3 })
	sameAnswers(t, "cold", coldAnswers(s), want)
	mustRun(t, nil, "backup", backup, "--url", s.url)
	tar, err := program(nil, "backup", "-", "--url", s.url).Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tmp, "backup.tar")
	if err := os.WriteFile(file, tar, 0o600); err != nil {
		t.Fatal(err)
	}

	for name, source := range map[string]string{"of a directory": backup, "of a stream": file} {
		dir := filepath.Join(t.TempDir(), "restored")
		if out := mustRun(t, nil, "restore", source, "--check"); !strings.Contains(out, "4 files") {
			t.Errorf("%s: %s", name, out)
		}
		mustRun(t, nil, "restore", source, "--data", dir)
		out := mustRun(t, environ, "check", dir, "--cold", "--deep")
		if !strings.Contains(out, "3 parts") || !strings.Contains(out, "0 faults") {
			t.Errorf("%s: %s", name, out)
		}
		r := serve(t, cold, "--data-dir", dir)
		sameAnswers(t, name, coldAnswers(r), want)
		if !strings.Contains(r.said(), "another server's prefix") {
			t.Errorf("%s: it says nothing of the other server:\n%s", name, r.said())
		}
		r.stop()
	}

	// Rows that are in the log alone, and then the disk of the server is gone, but for the log.
	s.ask("csv", "INSERT INTO logs VALUES (1700009000000, 'l9', 'the last request', 12345)")
	want = coldAnswers(s)
	s.command.Process.Kill() //nolint:errcheck // it ends
	<-s.ended
	dir, log := filepath.Join(tmp, "made"), filepath.Join(data, "wal")
	out := mustRun(t, environ, "restore", "--from", store.URL, "--data", dir, "--wal-dir", log)
	if !strings.Contains(out, "3 tables, 3 parts with ") || !strings.Contains(out, "cannot use") {
		t.Errorf("restore of the bucket: %s", out)
	}
	if out := mustRun(t, environ, "check", dir, "--cold", "--wal-dir", log); !strings.Contains(out, "0 faults") {
		t.Error(out)
	}
	n := serve(t, cold, "--data-dir", dir, "--set", "wal.dir="+log)
	sameAnswers(t, "made of the bucket", coldAnswers(n), want)
	n.stop()
	code, _, errs := commandIn(cold, "serve", "--data-dir", data, "--http-addr", "127.0.0.1:0")
	if code == 0 || !strings.Contains(errs, dir) || !strings.Contains(errs, "is used by another server") {
		t.Errorf("the server that was killed starts again: %d %s", code, errs)
	}
}

// commandIn is command with variables.
func commandIn(environ []string, args ...string) (code int, out, errs string) {
	c := program(environ, args...)
	var o, e strings.Builder
	c.Stdout, c.Stderr = &o, &e
	c.Run() //nolint:errcheck // its state says how it ended
	return c.ProcessState.ExitCode(), o.String(), e.String()
}

// TestColdKilled kills a server at each of its requests to the bucket, before the store hears of it or before the
// server hears of the answer: the next one goes on, nothing is lost, and a server can be made of the bucket.
func TestColdKilled(t *testing.T) {
	store := buckettest.Store(t)
	proxy := buckettest.NewProxy(t, store.Endpoint)
	environ := coldEnviron(store.URL, proxy.URL)
	cold := append(environ, "VARVE_STORAGE__COLD_AFTER=1s")
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, environ, "--data-dir", data)
	coldRows(s)
	want := coldAnswers(s)
	s.stop()
	for at := int64(1); ; at++ {
		before := proxy.Requests.Load()
		var killed atomic.Pointer[served]
		reached := make(chan struct{}) // the server is to be killed
		proxy.Set(func(r *http.Request) buckettest.Trouble {
			if proxy.Requests.Load()-before != at {
				return buckettest.None
			}
			close(reached)
			if s := killed.Load(); s != nil {
				<-s.ended
			}
			if at%2 == 0 {
				return buckettest.Lost
			}
			return buckettest.Refused
		})
		done := killAt(t, cold, data, reached, &killed)
		proxy.Set(nil)
		if done {
			if at < 8 { // each server goes on where the one before was killed, behind requests for the epoch
				t.Errorf("the server has moved all with %d requests", at)
			}
			break
		}
		if at > 200 {
			t.Fatal("parts never move")
		}
	}
	s = serve(t, cold, "--data-dir", data)
	waitFor(t, func() bool { return s.cold().Parts == 3 })
	sameAnswers(t, "after all kills", coldAnswers(s), want)
	s.stop()
	if out := mustRun(t, environ, "check", data, "--cold", "--deep"); !strings.Contains(out, "0 faults") {
		t.Error(out)
	}
	dir := filepath.Join(t.TempDir(), "made")
	mustRun(t, environ, "restore", "--from", store.URL, "--data", dir)
	s = serve(t, cold, "--data-dir", dir)
	sameAnswers(t, "made of the bucket", coldAnswers(s), want)
	s.stop()
}

// killAt starts a server and kills it when reached is closed; true: all parts had moved before.
func killAt(t *testing.T, environ []string, data string, reached chan struct{}, running *atomic.Pointer[served]) bool {
	t.Helper()
	s := &served{t: t, ended: make(chan struct{}), grown: make(chan struct{}, 1)}
	s.command = program(environ, "serve", "--data-dir", data, "--http-addr", "127.0.0.1:0")
	s.command.Stderr = s
	running.Store(s)
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		s.command.Wait() //nolint:errcheck // its state says how it ended
		close(s.ended)
	}()
	defer func() {
		s.command.Process.Kill() //nolint:errcheck // it may have ended
		<-s.ended
	}()
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		for {
			if m := listening.FindStringSubmatch(s.said()); m != nil {
				s.url = m[1]
				break
			}
			select {
			case <-s.grown:
			case <-s.ended:
				return
			}
		}
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for s.cold().Parts < 3 {
			select {
			case <-s.ended:
				return
			case <-tick.C:
			}
		}
	}()
	select {
	case <-reached:
		s.command.Process.Kill() //nolint:errcheck // it ends
		<-moved
		return false
	case <-s.ended:
		t.Fatalf("the server ended by itself:\n%s", s.said())
	case <-moved:
	}
	return true
}
