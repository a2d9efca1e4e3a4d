package ingest_test

import (
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestEntriesNoPartTakes holds that ingestion refuses a row whose primary key no part takes, and that the table goes
// on.
func TestEntriesNoPartTakes(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Upload("tagged",
		"transform:\n  - {field: host, type: string, index: tag}\n  - {field: ts, type: 'epoch, ms', index: timestamp}\n")
	post := func(host string) servertest.Answer {
		return h.Do("POST", "/v1/ingest?pipeline_name=tagged&table=t", `{"host":"`+host+`","ts":1}`, "Content-Type",
			"application/json")
	}
	h.Want(post("a"), 200, `"affectedrows":1`)
	h.Want(post(strings.Repeat("k", 1_200_000)), 400, "the primary key up to column host takes 1200010 bytes")
	h.Want(post(strings.Repeat(`\u0000`, 600_000)), 400, "(zero bytes count twice), the limit is 1048576")
	h.Want(post("b"), 200, `"affectedrows":1`)
	h.Want(h.Do("POST", "/v1/sql", "sql=ADMIN flush_table('t')", "Content-Type", "application/x-www-form-urlencoded"),
		200, "")
	if _, rows := queried(h, "SELECT host FROM t ORDER BY host"); servertest.Match("rows",
		[]any{[]any{"a"}, []any{"b"}}, rows) != "" {
		t.Errorf("got %v", rows)
	}
}
