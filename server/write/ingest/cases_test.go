package ingest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"varve/server/servertest"
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
	h := servertest.Real(t, nil)
	var n servertest.Count
	for _, path := range servertest.Files(t, "pipeline") {
		var cases []pipelineCase
		servertest.Load(t, path, &cases)
		area := strings.TrimSuffix(filepath.Base(path), ".json")
		for i, c := range cases {
			n.Run(t, "pipeline/"+area+"/"+c.Name, func(t *testing.T) {
				h := h.As(t)
				runCase(h, c, fmt.Sprintf("p_%s_%d", strings.ReplaceAll(area, "-", "_"), i))
			})
		}
	}
	n.Report(t)
}

func runCase(h *servertest.House, c pipelineCase, table string) {
	name := "service_identity"
	if c.UsePipeline != "" {
		name = c.UsePipeline
	}
	for extra, document := range c.Extra {
		h.Want(h.Do("POST", "/v1/pipelines/"+extra, document, "Content-Type", "application/x-yaml"), 200, extra)
	}
	if c.Pipeline != "" {
		if name = c.PipelineName; name == "" {
			name = "doc_" + table
		}
		a := h.Do("POST", "/v1/pipelines/"+name, c.Pipeline, "Content-Type", "application/x-yaml")
		if c.CreateError != nil {
			if d := (&pipelineRequest{ExpectError: c.CreateError}).compare(a); d != "" {
				h.Error(d)
			}
			return
		}
		h.Want(a, 200, name)
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
		a, err := h.Exchange("POST", "/v1/ingest?"+q.Encode(), body, headers)
		if err != nil {
			h.Fatal(err)
		}
		if d := r.compare(a); d != "" {
			h.Fatalf("request %d: %s", i+1, d)
		}
	}
	for _, suffix := range slices.Sorted(maps.Keys(c.Tables)) {
		checkTable(h, table+suffix, c.Tables[suffix])
	}
	for _, suffix := range c.AbsentTables {
		h.Want(h.SQL("SELECT * FROM "+table+suffix), 400, `"code":4001`)
	}
}

// compare says how an answer differs.
func (r *pipelineRequest) compare(a servertest.Answer) string {
	var got struct {
		Code   int
		Error  string
		Output []struct{ AffectedRows int }
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
		return fmt.Sprintf("status %d, the body is not JSON: %s", a.Status, a.Body)
	}
	if e := r.ExpectError; e != nil {
		switch {
		case !slices.Contains(e.Status, a.Status):
			return fmt.Sprintf("status %d, want %v: %s", a.Status, e.Status, a.Body)
		case e.Code != nil && got.Code != *e.Code:
			return fmt.Sprintf("code %d, want %d: %s", got.Code, *e.Code, a.Body)
		case e.Contains != nil:
			return servertest.MatchContains("error", e.Contains, any(got.Error))
		}
		return ""
	}
	if a.Status != 200 {
		return fmt.Sprintf("status %d: %s", a.Status, a.Body)
	}
	sum := 0
	for _, o := range got.Output {
		sum += o.AffectedRows
	}
	if r.Affected != nil && sum != *r.Affected {
		return fmt.Sprintf("%d rows affected, want %d: %s", sum, *r.Affected, a.Body)
	}
	if r.OutputEmpty && !strings.Contains(a.Body, `"output":[]`) {
		return fmt.Sprintf("the output is not empty: %s", a.Body)
	}
	return ""
}

// queried are a query's columns and rows.
func queried(h *servertest.House, text string) (columns []any, rows any) {
	h.Helper()
	a := h.SQL(text)
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
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != 200 || len(got.Output) != 1 {
		h.Fatalf("%s: %d %s", text, a.Status, a.Body)
	}
	for _, c := range got.Output[0].Records.Schema.Columns {
		columns = append(columns, []any{c.Name, c.DataType})
	}
	return columns, got.Output[0].Records.Rows
}

// checkTable checks a table's columns, rows and definition.
func checkTable(h *servertest.House, name string, want pipelineTable) {
	h.Helper()
	columns, rows := queried(h, "SELECT * FROM "+name)
	var wantColumns []any
	for _, c := range want.Columns {
		wantColumns = append(wantColumns, c)
	}
	if want.Columns != nil {
		if d := servertest.Match("columns", any(wantColumns), any(columns)); d != "" {
			h.Error(d)
		}
	}
	if want.Rows != nil {
		if d := servertest.MatchSet("rows", any(want.Rows), rows, true); d != "" {
			h.Error(d)
		}
	}
	if want.Desc != nil {
		_, desc := queried(h, "DESC TABLE "+name)
		if d := servertest.Match("desc", any(want.Desc), desc); d != "" {
			h.Error(d)
		}
	}
	if want.CreateContains == nil && want.CreateLacks == nil {
		return
	}
	_, create := queried(h, "SHOW CREATE TABLE "+name)
	statement := create.([]any)[0].([]any)[1]
	if want.CreateContains != nil {
		if d := servertest.MatchContains("create", want.CreateContains, statement); d != "" {
			h.Error(d)
		}
	}
	if want.CreateLacks != nil {
		if d := servertest.MatchLacks("create", want.CreateLacks, statement); d != "" {
			h.Error(d)
		}
	}
}
