package write_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestBatchIDs: by each way that rows come in, a request that is sent again under its id is answered as before and
// stored once, and stored again under another id or none. What fails is tried again.
func TestBatchIDs(t *testing.T) {
	const sql = "/v1/sql"
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	for _, c := range []struct {
		name, path, body string
		headers          []string
		table            string
	}{
		{"ingest", "/v1/ingest?table=t&pipeline_name=service_identity", `{"a":1}` + "\n" + `{"a":2}`,
			[]string{"Content-Type", "application/x-ndjson"}, "t"},
		{"insert", sql, "sql=" + url.QueryEscape("INSERT INTO made VALUES (1, 1), (2, 2)"), form, "made"},
		{"statements", sql, "sql=" + url.QueryEscape("INSERT INTO made VALUES (3, 3); INSERT INTO made VALUES (5, 5)"),
			form, "made"},
		{"lines", "/v1/lineproto/write?precision=ms", "l v=1 1000\nl v=2 2000\n",
			[]string{"x-service-hints", "append_mode=true"}, "l"},
		{"push", "/v1/logpush/api/v1/push",
			`{"streams":[{"stream":{"a":"b"},"values":[["1700000000000000000","x"],["1700000000000000001","y"]]}]}`,
			[]string{"Content-Type", "application/json", "x-service-log-table-name", "p"}, "p"},
		{"bulk", servertest.BulkPath + "/_bulk", `{"create":{"_index":"b"}}` + "\n" + `{"x":1}` + "\n" +
			`{"create":{"_index":"b"}}` + "\n" + `{"x":2}` + "\n", []string{"Content-Type", servertest.BulkType}, "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := servertest.Real(t, nil)
			h.Want(h.Do("POST", sql+"?sql="+url.QueryEscape(
				"CREATE TABLE made (ts TIMESTAMP(3) TIME INDEX, n BIGINT) WITH (append_mode = 'true')"), ""), 200, "")
			h.Want(h.Do("POST", sql+"?sql="+url.QueryEscape("INSERT INTO made VALUES (0, 0)"), ""), 200, "")
			count := func() (n int) {
				t.Helper()
				a := h.Do("GET", sql+"?format=csv&sql="+url.QueryEscape("SELECT count(*) FROM "+c.table), "")
				if _, err := fmt.Sscan(a.Body, &n); err != nil {
					t.Fatal(a.Body)
				}
				return n
			}
			send := func(id string) servertest.Answer {
				t.Helper()
				a := h.Do("POST", c.path, c.body, append(c.headers, "x-service-batch-id", id)...)
				if a.Status/100 != 2 {
					t.Fatalf("%d %s", a.Status, a.Body)
				}
				return a
			}
			first := send("one")
			rows := count()
			if again := send("one"); count() != rows ||
				!strings.Contains(again.Body, strings.Split(first.Body, `,"execution`)[0]) && c.name != "bulk" {
				t.Errorf("sent again: %d rows, were %d; answer %s, was %s", count(), rows, again.Body, first.Body)
			}
			if send("two"); count() <= rows {
				t.Errorf("another id: %d rows, were %d", count(), rows)
			}
			h.Want(h.Do("POST", c.path, c.body, append(c.headers, "x-service-batch-id", strings.Repeat("x", 257))...),
				400, "x-service-batch-id has 257 bytes")
		})
	}
}

// TestTarget: a table that is dropped and made anew is told from the one before, and one that is truncated from what it
// was.
func TestTarget(t *testing.T) {
	h := servertest.Real(t, nil)
	target := func() string { return h.Do("GET", "/v1/ingest/target?table=t", "").Body }
	absent := target()
	if !strings.HasPrefix(absent, `{"store":"`) || !strings.HasSuffix(absent, `,"table_id":null}`) {
		t.Fatal(absent)
	}
	create := "/v1/sql?sql=" + url.QueryEscape("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX)")
	h.Want(h.Do("POST", create, ""), 200, "")
	first := target()
	h.Want(h.Do("POST", "/v1/sql?sql="+url.QueryEscape("DROP TABLE t"), ""), 200, "")
	h.Want(h.Do("POST", create, ""), 200, "")
	if second := target(); first == absent || second == first ||
		strings.Split(second, ",")[0] != strings.Split(absent, ",")[0] {
		t.Errorf("%s, then %s, then %s", absent, first, second)
	}
	seen := []string{target()}
	for range 2 {
		h.Want(h.Do("POST", "/write?db=public&precision=ms", "t v=1 1"), 204, "")
		h.Want(h.Do("POST", "/v1/sql?sql="+url.QueryEscape("TRUNCATE TABLE t"), ""), 200, "")
		if now := target(); slices.Contains(seen, now) {
			t.Errorf("truncated: %s, before: %s", now, seen)
		} else {
			seen = append(seen, now)
		}
	}
}
