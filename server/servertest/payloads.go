package servertest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"
)

// payloads are bodies that clients really sent, and lists of them by protocol with what must be stored.
//
//go:embed testdata/payloads
var payloads embed.FS

// StoredRows is what a table must hold after a client's body: so many rows, one of which has these values.
type StoredRows struct {
	Rows  int
	First map[string]json.RawMessage `json:"first_row"`
}

// Captured is a body that a client really sent, as a list of them has it.
type Captured struct {
	Request struct {
		Path    string `json:"path_and_query"`
		Headers map[string]string
	}
	Stored map[string]StoredRows
}

// CapturedIn reads a list of bodies, by the names of their files.
func CapturedIn(t testing.TB, list string) (files map[string]Captured) {
	t.Helper()
	if err := json.Unmarshal(Payload(t, list), &files); err != nil {
		t.Fatal(err)
	}
	return files
}

// Payload is the body in a file.
func Payload(t testing.TB, name string) []byte {
	t.Helper()
	body, err := payloads.ReadFile(path.Join("testdata/payloads", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Headers are those of the request, name and value in turn.
func (c Captured) Headers() (list []string) {
	for k, v := range c.Request.Headers {
		list = append(list, k, v)
	}
	return list
}

// SentByClients sends each of count bodies that clients really sent, with their headers, to a server of its own and has
// check look at the tables. file lists the bodies, of which those count whose names begin with prefix. Rows of these
// protocols replace each other, so they are sent twice.
func SentByClients(t *testing.T, file, prefix string, count int, check func(h *House, table string, want StoredRows)) {
	t.Helper()
	SendBodies(t, file, prefix, count, 2, check)
}

// SendBodies is SentByClients for protocols that keep all rows, or answer otherwise.
func SendBodies(t *testing.T, file, prefix string, count, times int,
	check func(h *House, table string, want StoredRows)) {
	t.Helper()
	for name, f := range CapturedIn(t, file) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		count--
		t.Run(name, func(t *testing.T) {
			h, body, headers := Real(t, nil), Payload(t, name), f.Headers()
			for range times { // a sender that did not get the answer sends it again
				if a := h.Do("POST", f.Request.Path, string(body), headers...); a.Status != 204 && a.Status != 200 {
					t.Fatalf("got %d %q", a.Status, a.Body)
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

// WantStoredTwice is WantStored for tables that keep equal rows: the body was sent twice. Those without equal rows have
// their times in the year 2100.
func (h *House) WantStoredTwice(table string, want StoredRows) {
	h.Helper()
	if at := want.First["timestamp"]; string(at) == "4102444800000000000" {
		h.WantStored(table, want)
		return
	}
	h.wantRows(table, want, 2)
}

// WantStored holds a table against what must be in it.
func (h *House) WantStored(table string, want StoredRows) { h.Helper(); h.wantRows(table, want, 1) }

// wantRows holds a table against what must be in it so many times.
func (h *House) wantRows(table string, want StoredRows, times int) {
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
	rows := h.Selected(fmt.Sprintf("SELECT count(*), count(CASE WHEN %s THEN 1 END) FROM %q",
		strings.Join(where, " AND "), table))
	if fmt.Sprint(rows[0]) != fmt.Sprintf("[%d %d]", times*want.Rows, times) {
		h.Errorf("%s: %v rows in all and equal to the first, want %d and %d: %s", table, rows[0], times*want.Rows,
			times, where)
	}
}

// Packed is a body compressed by gzip.
func Packed(body string) string {
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
