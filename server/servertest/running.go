package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"varve/engine/status"
	"varve/sqlexec/plan"
)

// AnalyzeEvent is an event of /v1/sql/analyze/stream.
type AnalyzeEvent struct {
	event   string
	Seq     int
	State   string
	Partial *bool
	Elapsed int64 `json:"elapsed_ms"`
	Metrics *struct {
		Plan plan.Tree
		Rows int64
	}
	Output *struct {
		Records struct {
			Rows [][]any
		}
	}
	Reason   string
	Code     status.Code
	Position *struct{ Line, Column, Length int }
}

// Events are those of an answer as they come.
type Events struct {
	*House
	Answer *http.Response
	Lines  *bufio.Reader
	Leave  context.CancelFunc
}

// Analyze asks for the events of a query; more are headers in pairs.
func (h *House) Analyze(sql, more string, headers ...string) *Events {
	h.Helper()
	ctx, leave := context.WithCancel(h.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/v1/sql/analyze/stream?"+more,
		strings.NewReader("sql="+url.QueryEscape(sql)))
	if err != nil {
		h.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { leave(); resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode == 200 && kind != "text/event-stream" {
		h.Errorf("the answer is %s", kind)
	}
	return &Events{h, resp, bufio.NewReader(resp.Body), leave}
}

// Next is the next event; false: there is none.
func (e *Events) Next() (got AnalyzeEvent, more bool) {
	e.Helper()
	for {
		line, err := e.Lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return got, false
		}
		if err != nil {
			e.Fatalf("%q: %v", line, err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			got.event = value
		case "data":
			if err := json.Unmarshal([]byte(value), &got); err != nil {
				e.Fatalf("%s: %v", value, err)
			}
			if got.event != got.State || got.Partial == nil || *got.Partial == (got.State == "final") {
				e.Errorf("event %s with %s", got.event, value)
			}
		case "":
			if got.event != "" {
				return got, true
			}
		}
	}
}

// Last reads to the last event; the numbers of the events go up by one.
func (e *Events) Last(from int) (last AnalyzeEvent) {
	e.Helper()
	for {
		got, more := e.Next()
		if !more {
			return last
		}
		if from++; got.Seq != from {
			e.Errorf("event %d has the number %d", from, got.Seq)
		}
		last = got
	}
}

// Endless is a query that does not end by itself in the time of a test.
const Endless = "SELECT count(*) FROM generate_series(0, 99999) AS a(n), generate_series(0, 99999) AS b(n), generate_series(0, 99999) AS c(n) WHERE a.n + b.n * c.n = 7"

// RunningID is the id of the query whose text has a word.
func (h *House) RunningID(word string) string {
	h.Helper()
	body := h.SQL("SELECT id FROM information_schema.process_list WHERE query LIKE '%" + word +
		"%' ORDER BY start_timestamp LIMIT 1").Body
	_, rest, _ := strings.Cut(body, `"rows":[["`)
	id, _, ok := strings.Cut(rest, `"`)
	if !ok {
		h.Fatalf("no such query runs: %s", body)
	}
	return id
}

// Until asks for the figures until a line is there.
func (h *House) Until(line string) {
	h.Helper()
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); {
		if strings.Contains(h.Do("GET", "/metrics", "").Body, "\n"+line+"\n") {
			return
		}
	}
	h.Fatalf("no %q after 40 seconds", line)
}
