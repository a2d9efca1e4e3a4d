package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// storedRows is what a table must hold after a client's body: so many rows, one of which has these values.
type storedRows struct {
	Rows  int
	First map[string]json.RawMessage `json:"first_row"`
}

// captured is a body that a client really sent, as a list of them has it.
type captured struct {
	Request struct {
		Path    string `json:"path_and_query"`
		Headers map[string]string
	}
	Stored map[string]storedRows
}

// capturedIn reads a list of bodies, by the names of their files.
func capturedIn(t *testing.T, list string) (files map[string]captured) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/payloads", list))
	if err == nil {
		err = json.Unmarshal(text, &files)
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// payload is the body in a file.
func payload(t *testing.T, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata/payloads", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// headers are those of the request, name and value in turn.
func (c captured) headers() (list []string) {
	for k, v := range c.Request.Headers {
		list = append(list, k, v)
	}
	return list
}

// sentByClients sends each of count bodies that clients really sent, with their headers, to a server of its own and has
// check look at the tables. file lists the bodies, of which those count whose names begin with prefix. Rows of these
// protocols replace each other, so they are sent twice.
func sentByClients(t *testing.T, file, prefix string, count int, check func(h *house, table string, want storedRows)) {
	t.Helper()
	sendBodies(t, file, prefix, count, 2, check)
}

// sendBodies is sentByClients for protocols that keep all rows, or answer otherwise.
func sendBodies(t *testing.T, file, prefix string, count, times int,
	check func(h *house, table string, want storedRows)) {
	t.Helper()
	for name, f := range capturedIn(t, file) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		count--
		t.Run(name, func(t *testing.T) {
			h, body, headers := real(t, nil), payload(t, name), f.headers()
			for range times { // a sender that did not get the answer sends it again
				if a := h.do("POST", f.Request.Path, string(body), headers...); a.status != 204 && a.status != 200 {
					t.Fatalf("got %d %q", a.status, a.body)
				}
			}
			for table, want := range f.Stored {
				check(h, table, want)
			}
		})
	}
	if count != 0 {
		t.Errorf("%s: %d bodies more than it lists", file, count)
	}
}

// wantStoredTwice is wantStored for tables that keep equal rows: the body was sent twice. Those without equal rows have
// their times in the year 2100.
func (h *house) wantStoredTwice(table string, want storedRows) {
	h.Helper()
	if at := want.First["timestamp"]; string(at) == "4102444800000000000" {
		h.wantStored(table, want)
		return
	}
	h.wantRows(table, want, 2)
}

// wantStored holds a table against what must be in it.
func (h *house) wantStored(table string, want storedRows) { h.Helper(); h.wantRows(table, want, 1) }

// wantRows holds a table against what must be in it so many times.
func (h *house) wantRows(table string, want storedRows, times int) {
	h.Helper()
	var where []string
	for column, raw := range want.First {
		value := string(raw)
		var text string
		if json.Unmarshal(raw, &text) == nil && text == "(arrival)" {
			continue
		}
		if json.Unmarshal(raw, &text) == nil {
			value = "'" + strings.ReplaceAll(text, "'", "''") + "'"
		}
		var document any
		// keys have an order of their own
		if json.Unmarshal([]byte(text), &document) == nil && strings.ContainsAny(text[:1], "{[") {
			ordered, err := json.Marshal(document)
			if err != nil {
				h.Fatal(err)
			}
			sent, read := strings.ReplaceAll(text, "'", "''"), strings.ReplaceAll(string(ordered), "'", "''")
			where = append(where, fmt.Sprintf("CAST(%q AS STRING) IN ('%s', '%s')", column, sent, read))
			continue
		}
		// a count of units; of booleans, 0 and 1
		if column == "service_timestamp" || column == "timestamp" || column == "timestamp_end" || value == "0" ||
			value == "1" {
			column = fmt.Sprintf("CAST(%q AS BIGINT)", column)
		} else {
			column = fmt.Sprintf("%q", column)
		}
		where = append(where, column+" = "+value)
	}
	rows := h.selected(fmt.Sprintf("SELECT count(*), count(CASE WHEN %s THEN 1 END) FROM %q",
		strings.Join(where, " AND "), table))
	if fmt.Sprint(rows[0]) != fmt.Sprintf("[%d %d]", times*want.Rows, times) {
		h.Errorf("%s: %v rows in all and equal to the first, want %d and %d: %s", table, rows[0], times*want.Rows,
			times, where)
	}
}

// packed is a body compressed by gzip.
func packed(body string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(body)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.String()
}
