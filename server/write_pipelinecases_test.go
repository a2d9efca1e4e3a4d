package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pipelineCase is an ingest case: requests into one table, then what the tables hold.
type pipelineCase struct {
	Name         string
	Pipeline     string
	PipelineName string            `json:"pipeline_name"`
	Extra        map[string]string `json:"extra_pipelines"`
	UsePipeline  string            `json:"use_pipeline"`
	NoPipeline   bool              `json:"no_pipeline"`
	CreateError  *pipelineError    `json:"create_error"`
	Requests     []pipelineRequest
	Tables       map[string]pipelineTable
	AbsentTables []string `json:"absent_tables"`
}

type pipelineRequest struct {
	Entries     json.RawMessage
	Body        *string
	ContentType string `json:"content_type"`
	Query       map[string]any
	Headers     map[string]string
	ExpectError *pipelineError `json:"expect_error"`
	Affected    *int
	OutputEmpty bool `json:"output_empty"`
}

type pipelineError struct {
	Status   []int
	Code     *int
	Contains any
}

type pipelineTable struct {
	Columns        [][]any
	Rows           []any
	Desc           []any
	CreateContains any `json:"create_contains"`
	CreateLacks    any `json:"create_lacks"`
}

func TestPipelineCases(t *testing.T) {
	h := real(t, nil)
	var n count
	for _, path := range files(t, "pipeline") {
		var cases []pipelineCase
		load(t, path, &cases)
		area := strings.TrimSuffix(filepath.Base(path), ".json")
		for i, c := range cases {
			n.run(t, "pipeline/"+area+"/"+c.Name, func(t *testing.T) {
				h := h.as(t)
				h.pipelineCase(c, fmt.Sprintf("p_%s_%d", strings.ReplaceAll(area, "-", "_"), i))
			})
		}
	}
	n.report(t)
}

func (h *house) pipelineCase(c pipelineCase, table string) {
	name := "service_identity"
	if c.UsePipeline != "" {
		name = c.UsePipeline
	}
	for extra, document := range c.Extra {
		h.want(h.do("POST", "/v1/pipelines/"+extra, document, "Content-Type", "application/x-yaml"), 200, extra)
	}
	if c.Pipeline != "" {
		if name = c.PipelineName; name == "" {
			name = "doc_" + table
		}
		a := h.do("POST", "/v1/pipelines/"+name, c.Pipeline, "Content-Type", "application/x-yaml")
		if c.CreateError != nil {
			if d := (&pipelineRequest{ExpectError: c.CreateError}).compare(a); d != "" {
				h.Error(d)
			}
			return
		}
		h.want(a, 200, name)
	}
	for i, r := range c.Requests {
		q := url.Values{"table": {table}}
		if !c.NoPipeline {
			q.Set("pipeline_name", name)
		}
		for k, v := range r.Query {
			q.Set(k, fmt.Sprint(v))
		}
		body, contentType := []byte(r.Entries), "application/json"
		if r.Body != nil {
			body, contentType = []byte(*r.Body), r.ContentType
		}
		headers := map[string]string{"Content-Type": contentType}
		maps.Copy(headers, r.Headers)
		a, err := h.exchange("POST", "/v1/ingest?"+q.Encode(), body, headers)
		if err != nil {
			h.Fatal(err)
		}
		if d := r.compare(a); d != "" {
			h.Fatalf("request %d: %s", i+1, d)
		}
	}
	for _, suffix := range slices.Sorted(maps.Keys(c.Tables)) {
		h.table(table+suffix, c.Tables[suffix])
	}
	for _, suffix := range c.AbsentTables {
		h.want(h.sql("SELECT * FROM "+table+suffix), 400, `"code":4001`)
	}
}

// compare says how an answer differs.
func (r *pipelineRequest) compare(a answer) string {
	var got struct {
		Code   int
		Error  string
		Output []struct{ AffectedRows int }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		return fmt.Sprintf("status %d, the body is not JSON: %s", a.status, a.body)
	}
	if e := r.ExpectError; e != nil {
		switch {
		case !slices.Contains(e.Status, a.status):
			return fmt.Sprintf("status %d, want %v: %s", a.status, e.Status, a.body)
		case e.Code != nil && got.Code != *e.Code:
			return fmt.Sprintf("code %d, want %d: %s", got.Code, *e.Code, a.body)
		case e.Contains != nil:
			return matchContains("error", e.Contains, any(got.Error))
		}
		return ""
	}
	if a.status != 200 {
		return fmt.Sprintf("status %d: %s", a.status, a.body)
	}
	sum := 0
	for _, o := range got.Output {
		sum += o.AffectedRows
	}
	if r.Affected != nil && sum != *r.Affected {
		return fmt.Sprintf("%d rows affected, want %d: %s", sum, *r.Affected, a.body)
	}
	if r.OutputEmpty && !strings.Contains(a.body, `"output":[]`) {
		return fmt.Sprintf("the output is not empty: %s", a.body)
	}
	return ""
}

func (h *house) sql(text string) answer {
	h.Helper()
	return h.do("GET", "/v1/sql?sql="+url.QueryEscape(text), "")
}

// rows are a query's columns and rows.
func (h *house) rows(text string) (columns []any, rows any) {
	h.Helper()
	a := h.sql(text)
	var got struct {
		Output []struct {
			Records struct {
				Schema struct {
					Columns []struct {
						Name     string
						DataType string `json:"data_type"`
					} `json:"column_schemas"`
				}
				Rows []any
			}
		}
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 || len(got.Output) != 1 {
		h.Fatalf("%s: %d %s", text, a.status, a.body)
	}
	for _, c := range got.Output[0].Records.Schema.Columns {
		columns = append(columns, []any{c.Name, c.DataType})
	}
	return columns, got.Output[0].Records.Rows
}

// table checks a table's columns, rows and definition.
func (h *house) table(name string, want pipelineTable) {
	h.Helper()
	columns, rows := h.rows("SELECT * FROM " + name)
	var wantColumns []any
	for _, c := range want.Columns {
		wantColumns = append(wantColumns, c)
	}
	if want.Columns != nil {
		if d := match("columns", any(wantColumns), any(columns)); d != "" {
			h.Error(d)
		}
	}
	if want.Rows != nil {
		if d := matchSet("rows", any(want.Rows), rows, true); d != "" {
			h.Error(d)
		}
	}
	if want.Desc != nil {
		_, desc := h.rows("DESC TABLE " + name)
		if d := match("desc", any(want.Desc), desc); d != "" {
			h.Error(d)
		}
	}
	if want.CreateContains == nil && want.CreateLacks == nil {
		return
	}
	_, create := h.rows("SHOW CREATE TABLE " + name)
	statement := create.([]any)[0].([]any)[1]
	if want.CreateContains != nil {
		if d := matchContains("create", want.CreateContains, statement); d != "" {
			h.Error(d)
		}
	}
	if want.CreateLacks != nil {
		if d := matchLacks("create", want.CreateLacks, statement); d != "" {
			h.Error(d)
		}
	}
}
