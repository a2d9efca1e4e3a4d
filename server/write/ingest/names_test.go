package ingest_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestNamesThatIngestGives: a table of any name that ingest can make can be copied with its database, out and in.
func TestNamesThatIngestGives(t *testing.T) {
	h := servertest.Real(t, nil)
	names := []string{
		strings.Repeat("x", 240), strings.Repeat("é", 120), strings.Repeat("%", 80), `a"b'c` + "`d", "a b", " ", "...",
		"-x", "1", "select", "a;b", "%2F", ".partial",
	}
	for _, name := range names {
		h.Want(h.Do("POST", "/v1/ingest?pipeline_name=service_identity&table="+url.QueryEscape(name), `{"v":1}`,
			"Content-Type", "application/json"), 200, `"affectedrows":1`)
	}
	for _, name := range []string{strings.Repeat("x", 241), strings.Repeat("é", 121), strings.Repeat("%", 81), "a/b",
		`a\b`, "..", "a\nb", "a\x7f", "a\xff"} {
		if a := h.Do("POST", "/v1/ingest?pipeline_name=service_identity&table="+url.QueryEscape(name), `{"v":1}`,
			"Content-Type", "application/json"); a.Status != 400 {
			t.Errorf("a table called %q: got %d %s", name, a.Status, a.Body)
		}
	}
	for i, with := range []string{"FORMAT = 'parquet'", "FORMAT = 'csv'",
		"FORMAT = 'json', COMPRESSION_TYPE = 'bzip2'"} {
		copied := fmt.Sprintf(`"affectedrows":%d}`, len(names)<<i) // what is loaded comes beside what is there
		h.Want(h.SQL(fmt.Sprintf("COPY DATABASE public TO 'd%d/' WITH (%s)", i, with)), 200, copied)
		h.Want(h.SQL(fmt.Sprintf("COPY DATABASE public FROM 'd%d/' WITH (%s)", i, with)), 200, copied)
	}
}
