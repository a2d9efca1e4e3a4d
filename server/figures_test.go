package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"varve/server/servertest"
)

// TestTableFigures reads how large a table is while its rows are in memory, after a flush and after a merge.
func TestTableFigures(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.SQL("CREATE TABLE big (ts TIMESTAMP TIME INDEX, level STRING)"), 200, "")
	insert := func(from string) {
		h.Want(h.SQL("INSERT INTO big SELECT (number + "+from+
			")::TIMESTAMP, 'info' FROM generate_series(1, 1000) AS s(number)"), 200, `"affectedrows":1000`)
	}
	insert("0")
	figures := "SELECT table_rows, avg_row_length > 0, create_time IS NOT NULL FROM information_schema.tables WHERE table_name = 'big'"
	region := "SELECT region_rows, memtable_size > 0, disk_size > 0, sst_num FROM information_schema.region_statistics s " +
		"JOIN information_schema.tables t ON s.table_id = t.table_id WHERE t.table_name = 'big'"
	h.Want(h.SQL(figures), 200, `"rows":[[1000,true,true]]`)
	h.Want(h.SQL(region), 200, `"rows":[[1000,true,false,0]]`)
	h.Want(h.SQL("ADMIN flush_table('big')"), 200, "")
	h.Want(h.SQL(region), 200, `"rows":[[1000,false,true,1]]`)
	insert("1000")
	h.Want(h.SQL(figures), 200, `"rows":[[2000,true,true]]`)
	h.Want(h.SQL("ADMIN flush_table('big')"), 200, "")
	h.Want(h.SQL("ADMIN compact_table('big')"), 200, "")
	h.Want(h.SQL(region), 200, `"rows":[[2000,false,true,1]]`)
	h.Want(h.SQL("SELECT count(*), min(ts), max(ts) FROM big"), 200, `"rows":[[2000,1,2000]]`)
}

// TestLargeAnswersAreCompressed unpacks an answer that is made at once and one that is streamed.
func TestLargeAnswersAreCompressed(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, c := range []struct {
		name, rows, accept, want string
	}{
		{"small", "10", "gzip, zstd", ""},
		{"whole", "10000", "gzip", "gzip"},
		{"streamed", "400000", "gzip", "gzip"},
		{"whole zstd", "10000", "gzip;q=0.5, zstd", "zstd"},
		{"streamed zstd", "400000", "zstd", "zstd"},
		{"not wanted", "10000", "identity", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := h.Do("GET", "/v1/sql?sql="+url.QueryEscape("SELECT number FROM generate_series(1, "+c.rows+
				") AS s(number)"), "", "Accept-Encoding", c.accept)
			if got := a.Header.Get("Content-Encoding"); got != c.want {
				t.Fatalf("Content-Encoding %q, want %q", got, c.want)
			}
			var from io.Reader = strings.NewReader(a.Body)
			var err error
			switch c.want {
			case "gzip":
				from, err = gzip.NewReader(from)
			case "zstd":
				from, err = zstd.NewReader(from)
			}
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(from)
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(plain) || !bytes.Contains(plain, []byte(`"total_rows":`+c.rows)) {
				t.Errorf("%d bytes that are no whole answer: %.100q", len(plain), plain)
			}
			if c.want != "" && len(a.Body) > len(plain)/2 {
				t.Errorf("%d bytes are %d when compressed", len(plain), len(a.Body))
			}
		})
	}
}
