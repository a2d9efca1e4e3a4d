package pipeline

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
)

func TestSetParams(t *testing.T) {
	for _, c := range []struct {
		header string
		before bool
		depth  int
		skip   bool
	}{
		{"max_nested_levels=3", false, 3, false}, {"max_nested_levels=0", true, 0, true},
		{"max_nested_levels=-1&skip_error=YES", false, 0, true},
		{"skip_error=false", true, 0, false}, {"skip_error=t", false, 0, true},
		{"skip_error=On&max_nested_levels= 5 ", false, 5, true},
		{"skip_error=maybe", true, 0, false}, {"flatten_json_object=true", true, 0, true}, {"", true, 0, true},
		{"max_nested_levels=99999999999999", false, 0, false},
	} {
		r := Request{SkipError: c.before}
		r.SetParams(c.header)
		if r.MaxDepth != c.depth || r.SkipError != c.skip {
			t.Errorf("%q: depth %d, skip %t, want %d, %t", c.header, r.MaxDepth, r.SkipError, c.depth, c.skip)
		}
	}
}

// send runs a request into a fresh destination and gives the hints of the groups with rows.
func send(ctx context.Context, r Request, body string) ([]engine.Hint, Outcome, error) {
	if r.ContentType == "" {
		r.ContentType = "application/x-ndjson"
	}
	var hints []engine.Hint
	var builders []*vector.Builder
	out, err := New(Options{}).run(ctx, &r, strings.NewReader(body), func(_ string, h engine.Hint) *vector.Builder {
		for i := range hints {
			if hints[i].AutoCreate == h.AutoCreate && hints[i].Options.Equal(&h.Options) {
				return builders[i]
			}
		}
		hints, builders = append(hints, h), append(builders, vector.NewBuilder())
		return builders[len(builders)-1]
	})
	var used []engine.Hint
	for i, b := range builders {
		if b.Rows() > 0 {
			used = append(used, hints[i])
		}
	}
	return used, out, err
}

func TestErrorsInOrder(t *testing.T) {
	ok := Request{DB: "public", Table: "t", Pipeline: Identity}
	with := func(f func(*Request)) Request {
		r := ok
		f(&r)
		return r
	}
	for _, c := range []struct {
		name string
		r    Request
		body string
		code status.Code
		want string
	}{
		{"no table", with(func(r *Request) { r.Table, r.Pipeline = "", "" }), "{", 1004,
			"Invalid request parameter: table is required"},
		{"no pipeline", with(func(r *Request) { r.Pipeline, r.Version = "", "x" }), "{", 1004,
			"Invalid request parameter: pipeline_name is required"},
		{"version", with(func(r *Request) { r.Version, r.CustomTimeIndex = "yesterday", "t" }), "{", 1004,
			"Invalid pipeline version format: yesterday"},
		{"time index", with(func(r *Request) { r.CustomTimeIndex, r.ContentType = "t", "text/html" }), "{", 1004,
			"Invalid custom time index config: t, reason: config format: '<field>;<type>;<config>'"},
		{"time index of another pipeline", with(func(r *Request) { r.CustomTimeIndex, r.Pipeline = "t", "p" }), "",
			1004, "Pipeline not found, name: p, version: latest"},
		{"content type", with(func(r *Request) { r.ContentType = "text/html" }), "{", 1004,
			"Invalid request parameter: invalid content type: text/html, expected: one of application/json, application/x-ndjson, text/plain"},
		{"body before pipeline", with(func(r *Request) { r.Pipeline = "p" }), "{", 1004,
			"Invalid request parameter: invalid JSON at index: 0"},
		{"pipeline before entries", with(func(r *Request) { r.Pipeline = "p" }), "1", 1004,
			"Pipeline not found, name: p, version: latest"},
		{"version of an unknown pipeline",
			with(func(r *Request) { r.Pipeline, r.Version = "p", "2024-07-04 08:31:00.987136123" }), "", 1004,
			"Pipeline not found, name: p, version: 2024-07-04 08:31:00.987136123"},
		{"body before entries", ok, "1\n{", 1004, "Invalid request parameter: invalid JSON at index: 1"},
		{"entries", ok, "1", 1006, "Top level value must be map"},
		{"hint", with(func(r *Request) { r.Hints = map[string]string{"auto_create_table": "maybe"} }), "{}", 1004,
			"Invalid InsertRequest, reason: `auto_create_table` hint must be a boolean"},
		{"ttl", ok, `{"service_ttl":"soon"}`, 1004, "Invalid value of table option ttl: "},
		{"modes", ok, `{"service_append_mode":true,"service_merge_mode":"last_row"}`, 1004,
			"`merge_mode` cannot be set for a table with `append_mode = 'true'`"},
	} {
		_, _, err := send(context.Background(), c.r, c.body)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || status.Of(err) != c.code {
			t.Errorf("%s: %v (%d)\nwant %s (%d)", c.name, err, status.Of(err), c.want, c.code)
		}
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		name  string
		hints map[string]string
		body  string
		want  string // options of each group with rows
	}{
		{"default", nil, `{"a":1}`, "append_mode=true"},
		{"of the request", map[string]string{"ttl": "7d", "skip_wal": "true", "append_mode": "false", "unknown": "x"},
			`{"a":1}`, "append_mode=true skip_wal=true ttl=7days"},
		{"of rows", map[string]string{"ttl": "7d"}, "{\"a\":1}\n{\"a\":2,\"service_ttl\":\"1d\"}",
			"append_mode=true ttl=7days, append_mode=true ttl=1day"},
		{"same as the request's", nil, "{\"a\":1}\n{\"a\":2,\"service_append_mode\":true}\n{\"a\":3}",
			"append_mode=true"},
		{"all of rows", nil, `{"a":2,"service_append_mode":"false"}`, "append_mode=false"},
		{"merging", nil, `{"a":2,"service_merge_mode":"last_non_null"}`, "append_mode=false merge_mode=last_non_null"},
		{"no table", map[string]string{"auto_create_table": "false"}, `{"a":2}`, "append_mode=true never"},
		{"no table of rows", nil, `{"a":2,"service_auto_create_table":false}`, "append_mode=true never"},
	} {
		hints, _, err := send(context.Background(),
			Request{DB: "public", Table: "t", Pipeline: Identity, Hints: c.hints}, c.body)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, h := range hints {
			s := ""
			for _, o := range h.Options.All {
				if o.Key == "comment" && o.Value == "Created on insertion" {
					continue
				}
				s += " " + o.Key + "=" + o.Value
			}
			if !h.AutoCreate {
				s += " never"
			}
			got = append(got, strings.TrimSpace(s))
			if h.TimeIndex != "service_timestamp" || h.Comment != "Created on insertion" {
				t.Errorf("%s: hint %+v", c.name, h)
			}
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: options %s, want %s", c.name, s, c.want)
		}
	}
}

func TestGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := send(ctx, Request{DB: "public", Table: "t", Pipeline: Identity}, `{"a":1}`)
	if !errors.Is(err, context.Canceled) || status.Of(err) != status.Cancelled {
		t.Errorf("error %v", err)
	}
}

// TestTimesAreUnique: rows of requests at once get times of their own, though the clock stands still.
func TestTimesAreUnique(t *testing.T) {
	at := time.Unix(1000, 0)
	m := New(Options{Now: func() time.Time { return at }})
	const requests, rows = 4, 10000
	builders := make([]*vector.Builder, requests)
	var g sync.WaitGroup
	for i := range requests {
		builders[i] = vector.NewBuilder()
		g.Go(func() {
			r := Request{DB: "public", Table: "t", Pipeline: Identity, ContentType: "text/plain"}
			if _, err := m.run(context.Background(), &r, strings.NewReader(strings.Repeat("x\n", rows)),
				func(string, engine.Hint) *vector.Builder { return builders[i] }); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	seen := map[int64]bool{}
	for _, b := range builders {
		_, batch := b.Finish()
		for _, x := range batch.Cols[0].Ints {
			seen[x] = true
		}
	}
	if len(seen) != requests*rows {
		t.Errorf("%d times for %d rows", len(seen), requests*rows)
	}
}
