package server

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestNamesThatIngestGives: a table of any name that ingest can make can be copied with its database, out and in.
func TestNamesThatIngestGives(t *testing.T) {
	h := real(t, nil)
	names := []string{
		strings.Repeat("x", 240), strings.Repeat("é", 120), strings.Repeat("%", 80), `a"b'c` + "`d", "a b", " ", "...",
		"-x", "1", "select", "a;b", "%2F", ".partial",
	}
	for _, name := range names {
		h.want(h.do("POST", "/v1/ingest?pipeline_name=service_identity&table="+url.QueryEscape(name), `{"v":1}`,
			"Content-Type", "application/json"), 200, `"affectedrows":1`)
	}
	for _, name := range []string{strings.Repeat("x", 241), strings.Repeat("é", 121), strings.Repeat("%", 81), "a/b",
		`a\b`, "..", "a\nb", "a\x7f", "a\xff"} {
		if a := h.do("POST", "/v1/ingest?pipeline_name=service_identity&table="+url.QueryEscape(name), `{"v":1}`,
			"Content-Type", "application/json"); a.status != 400 {
			t.Errorf("a table called %q: got %d %s", name, a.status, a.body)
		}
	}
	for i, with := range []string{"FORMAT = 'parquet'", "FORMAT = 'csv'",
		"FORMAT = 'json', COMPRESSION_TYPE = 'bzip2'"} {
		copied := fmt.Sprintf(`"affectedrows":%d}`, len(names)<<i) // what is loaded comes beside what is there
		h.want(h.sql(fmt.Sprintf("COPY DATABASE public TO 'd%d/' WITH (%s)", i, with)), 200, copied)
		h.want(h.sql(fmt.Sprintf("COPY DATABASE public FROM 'd%d/' WITH (%s)", i, with)), 200, copied)
	}
}
