package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
)

// testCase is one case of testdata, in the form of the reference.
type testCase struct {
	Name           string
	Pipeline       string
	NoPipeline     bool     `json:"no_pipeline"`
	AbsentTables   []string `json:"absent_tables"`
	Requests       []testRequest
	Tables         map[string]testTable
	ExtraPipelines map[string]string `json:"extra_pipelines"`
}

type testRequest struct {
	Entries     json.RawMessage
	Body        string
	ContentType string `json:"content_type"`
	Query       map[string]string
	Headers     map[string]string
	Affected    *int
	OutputEmpty bool       `json:"output_empty"`
	ExpectError *testError `json:"expect_error"`
}

type testError struct {
	Status   []int
	Code     int
	Contains string
}

type testTable struct {
	Columns [][2]string
	Rows    [][]any
}

// memTable is a table as the write door would keep it: columns in order of arrival, one type each.
type memTable struct {
	columns [][2]string
	rows    []map[string]string
}

// write adds a batch, or nothing when a column has another type. Numbers are one kind.
func (t *memTable) write(b *vector.Builder, strict bool) error {
	fields, batch := b.Finish()
	columns := slices.Clone(t.columns)
	for _, f := range fields {
		i := slices.IndexFunc(columns, func(c [2]string) bool { return c[0] == f.Name })
		if i < 0 {
			columns = append(columns, [2]string{f.Name, f.Type.String()})
		} else if numbers := [2]string{"Int64",
			"Float64"}; !strict && columns[i][1] != f.Type.String() && slices.Contains(numbers[:],
			columns[i][1]) && slices.Contains(numbers[:], f.Type.String()) {
			columns[i][1] = "Float64"
		} else if columns[i][1] != f.Type.String() {
			return status.New(status.InvalidArguments, "column %s expect type %s, given: %s", f.Name, columns[i][1],
				f.Type)
		}
	}
	t.columns = columns
	for r := range batch.N {
		row := map[string]string{}
		for c, f := range fields {
			if !batch.Cols[c].IsNull(r) {
				row[f.Name] = valueText(batch.Cols[c], r)
			}
		}
		t.rows = append(t.rows, row)
	}
	return nil
}

func valueText(v *vector.Vector, r int) string {
	switch v.Type.Kind() {
	case vector.Bool:
		return strconv.FormatBool(v.Bool(r))
	case vector.Int64:
		return strconv.FormatInt(v.Int(r), 10)
	case vector.Uint64:
		return strconv.FormatUint(v.Uint(r), 10)
	case vector.Float64:
		return strconv.FormatFloat(v.Float(r), 'g', -1, 64)
	}
	return strconv.Quote(v.Str(r))
}

// TestCases runs the reference's cases that need no pipeline document.
func TestCases(t *testing.T) {
	for _, file := range []string{"identity", "bodies-and-skip", "custom-time-index"} {
		text, err := os.ReadFile("testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var cases []testCase
		if err := d.Decode(&cases); err != nil {
			t.Fatal(err)
		}
		ran := 0
		for _, c := range cases {
			if c.Pipeline != "" {
				continue
			}
			ran++
			t.Run(c.Name, c.run)
		}
		if ran < 9 {
			t.Errorf("%s: %d cases", file, ran)
		}
	}
}

func (c testCase) run(t *testing.T) {
	m := New(Options{})
	var table *memTable
	for i := range c.Requests {
		table = c.Requests[i].run(t, m, c.NoPipeline, table)
	}
	if slices.Contains(c.AbsentTables, "") && table != nil {
		t.Errorf("there is a table: %v", table.columns)
	}
	want, ok := c.Tables[""]
	if !ok {
		return
	}
	if table == nil {
		t.Fatal("there is no table")
	}
	if !slices.Equal(table.columns, want.Columns) {
		t.Errorf("columns\n got %v\nwant %v", table.columns, want.Columns)
	}
	var got, wanted []string
	for i := range table.rows {
		got = append(got, rowText(table.columns, func(k int) string { return table.rows[i][table.columns[k][0]] }))
	}
	for _, row := range want.Rows {
		wanted = append(wanted, rowText(table.columns,
			func(k int) string { return wantText(row[k], table.columns[k][1]) }))
	}
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		t.Errorf("rows\n got %q\nwant %q", got, wanted)
	}
}

// rowText joins a row; times of the clock are left out.
func rowText(columns [][2]string, cell func(int) string) string {
	var s strings.Builder
	for k := range columns {
		text := cell(k)
		if n, err := strconv.ParseInt(text, 10, 64); k == 0 && err == nil &&
			(columns[k][0] == "service_timestamp" || n > 1760000000 && n < 1e10) {
			text = "$any"
		}
		fmt.Fprintf(&s, "%s|", text)
	}
	return s.String()
}

func wantText(v any, typ string) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if typ == "Float64" {
			x, _ := v.Float64()
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
		return v.String()
	case string:
		return strconv.Quote(v)
	}
	return "$any"
}

// run sends one request and gives the table as it is then.
func (r *testRequest) run(t *testing.T, m *Manager, noPipeline bool, table *memTable) *memTable {
	t.Helper()
	q := Request{DB: "public", Table: "t", Pipeline: Identity, ContentType: "application/json",
		CustomTimeIndex: r.Query["custom_time_index"],
		SkipError:       r.Query["skip_error"] == "true", IgnoreErrors: r.Query["ignore_errors"] == "true"}
	if noPipeline {
		q.Pipeline = ""
	}
	if p := r.Headers["x-service-pipeline-params"]; p != "" {
		q.SetParams(p)
	}
	body := r.Body
	if r.ContentType != "" {
		q.ContentType = r.ContentType
	} else {
		body = string(r.Entries)
	}
	var builders []*vector.Builder
	out, err := m.run(context.Background(), &q, strings.NewReader(body), func(_ string, h engine.Hint) *vector.Builder {
		if !h.Options.AppendMode || !h.AutoCreate || h.Comment != "Created on insertion" {
			t.Errorf("hint %+v", h)
		}
		builders = append(builders, vector.NewBuilder())
		return builders[len(builders)-1]
	})
	affected := 0
	if err == nil {
		for _, b := range builders {
			if b.Rows() == 0 {
				continue
			}
			if table == nil {
				table = &memTable{}
			}
			if err = table.write(b, q.Numbers == Strict); err != nil {
				break
			}
			affected += b.Rows()
		}
	}
	switch want := r.ExpectError; {
	case want != nil && err == nil:
		t.Errorf("no error, want %+v", *want)
	case want != nil:
		code := int(status.Of(err))
		httpStatus := 500
		if code == 1004 {
			httpStatus = 400
		}
		if want.Code != 0 && code != want.Code || !slices.Contains(want.Status, httpStatus) ||
			!strings.Contains(err.Error(), want.Contains) {
			t.Errorf("error %d %v, want %+v", code, err, *want)
		}
	case err != nil:
		t.Errorf("error %v", err)
	case r.Affected != nil && *r.Affected != affected || r.OutputEmpty && affected != 0 || out.Rows != affected:
		t.Errorf("%d rows (%d), want %v", affected, out.Rows, r.Affected)
	}
	return table
}
