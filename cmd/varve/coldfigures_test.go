package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve/engine/bucket/buckettest"
)

// The store of TestColdFigures is so far away: each answer begins after this time, and comes at this rate.
const (
	farDelay = 30 * time.Millisecond
	farRate  = 100 << 20 // bytes a second
)

// figureQueries are asked in TestColdFigures.
var figureQueries = []struct {
	name, sql string
}{
	{"a day by hour", "SELECT date_bin('1 hour'::INTERVAL, ts) AS t, level, count(*), avg(n) FROM logs " +
		"WHERE ts >= 1700086400000 AND ts < 1700172800000 GROUP BY t, level ORDER BY t, level"},
	{"a day's errors", "SELECT ts, message FROM logs WHERE ts >= 1700086400000 AND ts < 1700172800000 " +
		"AND level = 'l0' ORDER BY ts DESC LIMIT 100"},
	{"a needle", "SELECT n, message FROM logs WHERE matches_term(message, 'needle777')"},
	{"no needle", "SELECT count(*) FROM logs WHERE matches_term(message, 'nosuchneedle')"},
	{"a count", "SELECT count(*) FROM logs"},
}

// TestColdFigures measures what a move costs and what queries of a bucket take that is 30 ms away, at 100 MB/s:
// make cold-figures, with as many million rows as VARVE_COLD_MILLIONS says. Without it the rows are few, and that the
// answers agree is all that is held.
func TestColdFigures(t *testing.T) {
	rows := 20_000
	if text := os.Getenv("VARVE_COLD_MILLIONS"); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		rows = int(n * 1e6)
	}
	store := buckettest.Store(t)
	proxy := buckettest.NewProxy(t, store.Endpoint)
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, coldEnviron(store.URL, proxy.URL), "--data-dir", data)
	s.ask("csv", "CREATE TABLE logs (ts TIMESTAMP(3) TIME INDEX, level STRING, message STRING, n BIGINT) "+
		"WITH (append_mode='true')")
	const batch = 20_000
	var body strings.Builder
	for from := 0; from < rows; from += batch {
		body.Reset()
		for i := from; i < min(rows, from+batch); i++ {
			needle := "words"
			if i == rows/2 {
				needle = "needle777"
			}
			fmt.Fprintf(&body, `{"ts":%d,"level":"l%d","message":"GET /shop/items/%d took %d ms, %s of user%d","n":%d}`,
				1_700_000_000_000+int64(i)*864_000_000/int64(rows), mixed(i, 4), mixed(i, 100_003), mixed(i+1, 977),
				needle, mixed(i+2, 5003), i)
			body.WriteByte('\n')
		}
		s.ingest("logs", "ts;epoch;ms", "application/x-ndjson", body.String())
	}
	s.ask("csv", "ADMIN flush_table('logs')")
	s.ask("csv", "ADMIN compact_table('logs')")
	s.stop() // nothing is decoded yet when the queries come, as later
	s = serve(t, coldEnviron(store.URL, proxy.URL), "--data-dir", data)
	proxy.Slow(farDelay, farRate)
	local, want := map[string]time.Duration{}, map[string]string{}
	for _, q := range figureQueries {
		began := time.Now()
		want[q.name] = s.ask("csv", q.sql)
		local[q.name] = time.Since(began)
	}
	before := s.cpu()
	s.ask("csv", "ALTER TABLE logs SET 'cold_after'='1s'")
	waitFor(t, func() bool { return s.cold().Parts > 0 && s.cold().Waiting == 0 && s.hotParts() == 0 })
	t.Logf("%d rows, %d cold parts of %d bytes; a move takes %.3f processor seconds a million rows", rows,
		s.cold().Parts, s.cold().Bytes, (s.cpu()-before)*1e6/float64(rows))
	s.stop()
	s = serve(t, append(coldEnviron(store.URL, proxy.URL), "VARVE_STORAGE__COLD_CACHE_SIZE=1GiB"), "--data-dir", data)
	for _, q := range figureQueries {
		requests := proxy.Requests.Load()
		var took [2]time.Duration
		for i := range took {
			began := time.Now()
			got := s.ask("csv", q.sql)
			took[i] = time.Since(began)
			if got != want[q.name] {
				t.Errorf("%s: of the bucket\n%.300s\nwant\n%.300s", q.name, got, want[q.name])
			}
		}
		round := func(d time.Duration) time.Duration { return d.Round(time.Millisecond / 10) }
		t.Logf("%-15s on the disk %8s, of the bucket %8s (%.1f times, %d requests), again %8s", q.name,
			round(local[q.name]), round(took[0]), float64(took[0])/float64(local[q.name]),
			proxy.Requests.Load()-requests, round(took[1]))
	}
}

// mixed is a number below n that looks random and is the same each time.
func mixed(i, n int) int { return int(uint64(i+1) * 0x9E3779B97F4A7C15 >> 33 % uint64(n)) }

// cpu is the processor time of a server, in seconds.
func (s *served) cpu() float64 {
	s.t.Helper()
	m := regexp.MustCompile(`(?m)^process_cpu_seconds_total (\S+)$`).FindStringSubmatch(s.get("/metrics"))
	if m == nil {
		s.t.Fatal("there is no figure of processor time")
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// hotParts is the number of parts of the table logs that lie on the disk.
func (s *served) hotParts() int {
	n, err := strconv.Atoi(strings.TrimSpace(s.ask("csv", "SELECT count(*) FROM information_schema.ssts_manifest m "+
		"JOIN information_schema.tables t ON m.table_id = t.table_id WHERE t.table_name = 'logs' "+
		"AND m.file_path NOT LIKE 'parts/%/%'")))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
