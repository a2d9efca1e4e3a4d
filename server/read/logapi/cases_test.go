package logapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"varve/server/servertest"
)

// A script of testdata/cases pushes lines and asks. Times are seconds after base.
//
//	push {labels} TIME [k=v;k=v] LINE       a line with structured metadata, which may be []
//	lines FROM TO LIMIT DIRECTION QUERY     lines of a time
//	range FROM TO STEP QUERY                numbers at steps
//	at TIME QUERY                           numbers at a time
//	error REQUEST..                         one of these that is refused; the answer follows
//
// Under a request stand the expected rows: "TIME {labels} LINE" for lines, "{labels} TIME:VALUE .." for numbers. The
// answers to requests with sorted in front come in the order of the script, others are sorted. See hideKnown for labels
// that are left out.

// base is a multiple of all steps in scripts.
const base = 1_700_000_400

// state is a way in which rows lie in the store while a script asks.
type state string

var states = []state{"memory", "flushed", "half", "compacted"}

// script is a script that was read.
type script struct {
	pushes []string // bodies
	asks   []ask
}

type ask struct {
	number         int // of its line
	text           string
	refused, order bool
	want           []string
}

func readScript(t *testing.T, path string) (s script) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "push":
			s.pushes = append(s.pushes, pushBody(t, rest))
		case "lines", "range", "at":
			s.asks = append(s.asks, ask{number: i + 1, text: line})
		case "error":
			s.asks = append(s.asks, ask{number: i + 1, text: rest, refused: true})
		case "sorted":
			s.asks = append(s.asks, ask{number: i + 1, text: rest, order: true})
		case "", "#":
		default:
			last := &s.asks[len(s.asks)-1]
			last.want = append(last.want, line)
		}
	}
	return s
}

// pushBody is the body of a push of one line.
func pushBody(t *testing.T, text string) string {
	t.Helper()
	labels, rest, ok := strings.Cut(text, "} ")
	at, rest, ok2 := strings.Cut(rest, " [")
	metadata, line, ok3 := strings.Cut(rest, "] ")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("no push: %s", text)
	}
	stream, pairs := map[string]string{}, map[string]string{}
	for pair := range strings.SplitSeq(strings.TrimPrefix(labels, "{"), ",") {
		k, v, _ := strings.Cut(pair, "=")
		stream[k] = strings.Trim(v, `"`)
	}
	for pair := range strings.SplitSeq(metadata, ";") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			pairs[k] = v
		}
	}
	body, err := json.Marshal(map[string]any{"streams": []any{map[string]any{"stream": stream,
		"values": []any{[]any{strconv.FormatInt(nanos(t, at), 10), line, pairs}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// nanos is a time of a script.
func nanos(t *testing.T, text string) int64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return base*1e9 + int64(x*1e9)
}

// target is the request of a line of a script.
func target(t *testing.T, text string) string {
	t.Helper()
	at := func(s string) string { return strconv.FormatInt(nanos(t, s), 10) }
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "at":
		time, q, _ := strings.Cut(rest, " ")
		return "query?time=" + at(time) + "&query=" + url.QueryEscape(q)
	case "range":
		p := strings.SplitN(rest, " ", 4)
		return "query_range?start=" + at(p[0]) + "&end=" + at(p[1]) + "&step=" + p[2] + "&query=" +
			url.QueryEscape(p[3])
	}
	p := strings.SplitN(rest, " ", 5)
	return "query_range?start=" + at(p[0]) + "&end=" + at(p[1]) + "&limit=" + p[2] + "&direction=" + p[3] +
		"&query=" + url.QueryEscape(p[4])
}

// pushed is a server with the lines of a script in a state.
func pushed(t *testing.T, s script, in state) *servertest.House {
	t.Helper()
	h := servertest.Real(t, nil)
	for i, body := range s.pushes {
		h.Want(h.Do("POST", "/loki/api/v1/push", body, "Content-Type", "application/json"), 204, "")
		cut := i == len(s.pushes)-1
		switch in {
		case "memory":
			cut = false
		case "half":
			cut = i == len(s.pushes)/2
		case "compacted":
			cut = cut || i%5 == 4
		}
		if cut {
			h.Want(h.SQL("ADMIN flush_table('loki_logs')"), 200, "")
		}
	}
	if in == "compacted" {
		h.Want(h.SQL("ADMIN compact_table('loki_logs')"), 200, "")
	}
	return h
}

// TestCases runs the scripts on lines in memory, in files, and in both.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range files {
		s := readScript(t, path)
		for _, in := range states {
			t.Run(filepath.Base(path)+" "+string(in), func(t *testing.T) {
				h := pushed(t, s, in)
				for _, a := range s.asks {
					got := h.Do("GET", "/loki/api/v1/"+target(t, a.text), "")
					if a.refused {
						want := strings.Join(a.want, "\n")
						if got.Status != 400 || strings.TrimSpace(got.Body) != want {
							t.Errorf("%s:%d: %s\n got %d %s\nwant %s", path, a.number, a.text, got.Status, got.Body,
								want)
						}
						continue
					}
					rows := shownRows(t, got, a.order)
					if !a.order {
						slices.Sort(a.want)
					}
					if !slices.Equal(rows, a.want) {
						t.Errorf("%s:%d: %s\n got %s\nwant %s", path, a.number, a.text, strings.Join(rows, "\n     "),
							strings.Join(a.want, "\n     "))
					}
				}
			})
		}
	}
}

// shownRows are the rows of an answer as scripts write them.
func shownRows(t *testing.T, a servertest.Answer, order bool) (rows []string) {
	t.Helper()
	var out struct {
		Data struct {
			ResultType string
			Result     []struct {
				Stream, Metric map[string]string
				Values         [][]any
				Value          []any
			}
		}
	}
	if err := json.Unmarshal([]byte(a.Body), &out); a.Status != 200 || err != nil {
		return []string{fmt.Sprintf("%d %s", a.Status, a.Body)}
	}
	for _, r := range out.Data.Result {
		hideKnown(r.Stream, r.Metric)
		switch out.Data.ResultType {
		case "streams":
			for _, v := range r.Values {
				ns, err := strconv.ParseInt(v[0].(string), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, fmt.Sprintf("%s %s %s", seconds(float64(ns-base*1e9)/1e9), shownLabels(r.Stream),
					v[1]))
			}
		case "vector":
			rows = append(rows, shownLabels(r.Metric)+" "+r.Value[1].(string))
		default:
			row := shownLabels(r.Metric)
			for _, v := range r.Values {
				row += " " + seconds(v[0].(float64)-base) + ":" + v[1].(string)
			}
			rows = append(rows, row)
		}
	}
	if !order {
		slices.Sort(rows)
	}
	return rows
}

// hideKnown takes labels away that all lines of a script have: the table of pushes, and what follows from other labels
// and lines. Others than scripts and random queries hold these (server_test.go, derived_test.go).
func hideKnown(stream, metric map[string]string) {
	delete(stream, "service_name")
	delete(stream, "detected_level")
	for _, labels := range []map[string]string{stream, metric} {
		if labels["service_table"] == "loki_logs" && (len(labels) > 1 || len(stream) > 0) {
			delete(labels, "service_table")
		}
	}
}

func seconds(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func shownLabels(labels map[string]string) string {
	var list []string
	for k, v := range labels {
		list = append(list, k+"="+strconv.Quote(v))
	}
	slices.Sort(list)
	return "{" + strings.Join(list, ",") + "}"
}
