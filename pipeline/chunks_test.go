package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/vector"
)

// managerWith is a manager without a store that knows the given documents.
func managerWith(t testing.TB, documents map[string]string) *Manager {
	t.Helper()
	m := New(Options{Now: func() time.Time { return time.Unix(1000, 0) }})
	for name, text := range documents {
		p, err := Compile([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.name = name
		m.library.cached[cacheKey{name, latest}] = &cachedProgram{program: p, until: time.Unix(1<<40, 0)}
	}
	return m
}

// collect takes a body through pipeline p and gives the tables as text.
func collect(m *Manager, r Request, body string) (string, Outcome, error) {
	r.DB, r.Table, r.Pipeline = "public", "t", "p"
	if r.ContentType == "" {
		r.ContentType = "application/x-ndjson"
	}
	var names []string
	builders := map[string]*vector.Builder{}
	out, err := m.run(context.Background(), &r, strings.NewReader(body),
		func(suffix string, h engine.Hint) *vector.Builder {
			key := fmt.Sprint("t", suffix, " ", h.Options.All)
			if builders[key] == nil {
				names = append(names, key)
				builders[key] = vector.NewBuilder()
			}
			return builders[key]
		})
	var s strings.Builder
	for _, name := range names {
		fields, rows := builders[name].Finish()
		fmt.Fprintln(&s, name, fields)
		for i := range rows.N {
			for c := range fields {
				if rows.Cols[c].IsNull(i) {
					s.WriteString("NULL|")
				} else {
					s.WriteString(valueText(rows.Cols[c], i) + "|")
				}
			}
			s.WriteByte('\n')
		}
	}
	return s.String(), out, err
}

const inferDocument = `
version: 2
processors:
  - epoch: {field: ts}
table_suffix: _${kind}
transform:
  - {field: ts, type: "epoch, ms", index: timestamp}
`

// manyEntries is a body of several chunks: now and then a new column, and near its end an entry that change alters.
func manyEntries(n int, odd string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"ts":%d,"kind":%d,"n":%d,"text":"%s"`, i, i%3, i, strings.Repeat("x", i%200))
		if i%1000 == 999 {
			fmt.Fprintf(&b, `,"c%d":true`, i/1000)
		}
		if i == 900 {
			b.WriteString(`,"late":1`)
		}
		if i == n-900 {
			b.WriteString(odd)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// TestChunks compares what comes out of a body worked on by several with what one alone makes of it.
func TestChunks(t *testing.T) {
	for _, c := range []struct {
		name, odd, err string
		skip           bool
	}{
		{"plain", "", "", false},
		{"new type of a column", `,"late":"text"`,
			"Column datatype mismatch. For column: late, expected datatype: Int64, actual datatype: String", false},
		{"new type, left out", `,"late":"text"`, "", true},
		{"an entry that fails", `,"ts":"x"`, "Failed to parse x to int", false},
		{"an entry that fails, left out", `,"ts":"x"`, "", true},
		{"a body that is cut", `,"ts":`, "invalid JSON at index: 29100", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := manyEntries(30_000, c.odd)
			m := managerWith(t, map[string]string{"p": inferDocument})
			m.helpers = nil
			want, wantOut, wantErr := collect(m, Request{SkipError: c.skip}, body)
			for _, helpers := range []int{1, 3} {
				m := managerWith(t, map[string]string{"p": inferDocument})
				m.helpers = make(chan struct{}, helpers)
				got, out, err := collect(m, Request{SkipError: c.skip}, body)
				if fmt.Sprint(err) != fmt.Sprint(wantErr) || (err != nil) != (c.err != "") ||
					err != nil && !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, alone %v, want %s", err, wantErr, c.err)
				}
				if err == nil && (got != want || fmt.Sprint(out) != fmt.Sprint(wantOut)) {
					t.Errorf("%d helpers: %+v, want %+v; %d and %d bytes of rows", helpers, out, wantOut, len(got),
						len(want))
				}
				if len(m.helpers) != 0 {
					t.Errorf("%d helpers are still at work", len(m.helpers))
				}
			}
		})
	}
}
