package gen

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"testing"
)

func set(tb testing.TB, name string, rows int64) *Set {
	tb.Helper()
	s, err := New(name, Options{Rows: rows, Seed: 1})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestRowsAreTheSameHoweverTheyAreCut(t *testing.T) {
	for _, name := range []string{"access", "nested", "text", "analytics", "analytics-users"} {
		s := set(t, name, 1000)
		whole := s.Append(nil, 0, 1000)
		var pieces []byte
		for i := int64(0); i < 1000; i += 37 {
			pieces = s.Append(pieces, i, min(i+37, 1000))
		}
		if !bytes.Equal(whole, pieces) {
			t.Errorf("%s: rows differ with the cut", name)
		}
		if n := bytes.Count(whole, []byte("\n")); n != 1000 {
			t.Errorf("%s: %d lines, want 1000", name, n)
		}
	}
}

// TestOTLPRequests: a body of OTLP is one message, whose items are the same however they are cut.
func TestOTLPRequests(t *testing.T) {
	for _, name := range []string{"otlp-logs", "otlp-traces", "otlp-metrics"} {
		s := set(t, name, 1000)
		const before = "before"
		body := s.Append([]byte(before), 100, 300)
		if string(body[:len(before)]) != before || body[len(before)] != 1<<3|2 {
			t.Fatalf("%s begins with %q", name, body[:20])
		}
		rest := body[len(before)+1:]
		if size, n := binary.Uvarint(rest); int(size) != len(rest)-n {
			t.Errorf("%s: a request of %d bytes lies in %d", name, size, len(rest)-n)
		}
		items := s.row(nil, 299)
		if !bytes.HasSuffix(body, items) || !bytes.Contains(body, s.row(nil, 100)) {
			t.Errorf("%s: a row is another one in a request", name)
		}
	}
}

// TestOTLPJSON: the form in JSON is JSON with one item for each row.
func TestOTLPJSON(t *testing.T) {
	for name, item := range map[string]string{"otlp-logs": "timeUnixNano", "otlp-traces": "startTimeUnixNano",
		"otlp-metrics": "asDouble"} {
		body := set(t, name, 1000).OTLPJSON(nil, 100, 300)
		if !json.Valid(body) || bytes.Count(body, []byte(item)) != 200 {
			t.Errorf("%s: %d items in %.300s", name, bytes.Count(body, []byte(item)), body)
		}
	}
}

// TestTraces: a request has every span once, those of a trace with its id.
func TestTraces(t *testing.T) {
	s := set(t, "traces", 1000)
	body := s.Append(nil, 100, 300)
	for i := int64(100); i < 300; i++ {
		if n := bytes.Count(body, s.row(nil, i)); n != 1 {
			t.Errorf("span %d is there %d times", i, n)
		}
		if id, err := hex.DecodeString(s.TraceID(i)); err != nil || !bytes.Contains(s.row(nil, i), id) ||
			s.TraceID(i) != s.TraceID(i/50*50) {
			t.Errorf("span %d is not of trace %x", i, id)
		}
	}
}

func TestUnknownSetAndSize(t *testing.T) {
	if _, err := New("metrics", Options{Rows: 1}); err == nil {
		t.Error("an unknown name is taken")
	}
	if _, err := New("access", Options{}); err == nil {
		t.Error("zero rows are taken")
	}
}

// objects parses the first n rows of a set.
func objects(t *testing.T, name string, n int64) (rows []map[string]any, bytesPerRow float64) {
	t.Helper()
	body := set(t, name, n).Append(nil, 0, n)
	d := json.NewDecoder(bytes.NewReader(body))
	for range n {
		var o map[string]any
		if err := d.Decode(&o); err != nil {
			t.Fatalf("%s: row %d: %v", name, len(rows), err)
		}
		rows = append(rows, o)
	}
	return rows, float64(len(body)) / float64(n)
}

func within(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: got %.1f, want %.1f to %.1f", what, got, low, high)
	}
}

func TestAccessShape(t *testing.T) {
	const n = 20_000
	rows, size := objects(t, "access", n)
	within(t, "bytes a row", size, 480, 510)
	distinct := map[string]map[any]bool{}
	var failures, last float64
	for i, o := range rows {
		want := 17
		if o["level"] == "error" {
			failures++
			want = 18
		}
		if len(o) != want {
			t.Fatalf("row %d has %d fields, want %d: %v", i, len(o), want, o)
		}
		if ts := o["ts"].(float64); ts < last {
			t.Fatalf("row %d: time %f after %f", i, ts, last)
		} else {
			last = ts
		}
		if id := o["trace_id"].(string); len(id) != 32 {
			t.Fatalf("row %d: trace id %q", i, id)
		}
		for k, v := range o {
			if distinct[k] == nil {
				distinct[k] = map[any]bool{}
			}
			distinct[k][v] = true
		}
	}
	within(t, "failures", failures/n*1000, 12, 24)
	within(t, "distinct services", float64(len(distinct["service"])), 20, 20)
	within(t, "distinct hosts", float64(len(distinct["host"])), 240, 240)
	within(t, "distinct agents", float64(len(distinct["user_agent"])), 190, 200)
	within(t, "distinct trace ids", float64(len(distinct["trace_id"])), n, n)
	// A sample of 5,000 real-looking rows holds 3,014 paths, 2,843 clients and 2,971 users.
	within(t, "distinct paths", float64(len(distinct["path"])), 8_500, 12_500)
	within(t, "distinct clients", float64(len(distinct["client_ip"])), 8_000, 11_500)
	within(t, "distinct users", float64(len(distinct["user_id"])), 8_500, 12_000)
	within(t, "span in hours", (rows[n-1]["ts"].(float64)-rows[0]["ts"].(float64))/3.6e6, 23.9, 24)
}

func TestNestedShape(t *testing.T) {
	rows, size := objects(t, "nested", 5000)
	within(t, "bytes a row", size, 550, 600)
	kinds := map[any]int{}
	for i, o := range rows {
		kinds[o["kind"]]++
		if want := fmt.Sprint(o["kind"]); o[want] == nil {
			t.Fatalf("row %d of kind %s has no such member", i, want)
		}
		if len(o) != 6 {
			t.Fatalf("row %d has %d members, want 6", i, len(o))
		}
	}
	if len(kinds) != 3 {
		t.Errorf("kinds %v, want 3", kinds)
	}
}

func TestCurves(t *testing.T) {
	r := newRandom(1, 1)
	c := logNormal(20, 1.15)
	var below, far float64
	const n = 200_000
	for range n {
		x := c.draw(&r)
		if x < 20 {
			below++
		}
		if x > 20*math.Exp(1.15*2.326) {
			far++
		}
	}
	within(t, "per cent under the median", below/n*100, 49, 51)
	within(t, "per mille over the 99th percentile", far/n*1000, 8, 13)
	ranks := byRank(1000)
	var first float64
	for range n {
		k := ranks.rank(&r)
		if k >= 1000 {
			t.Fatalf("rank %d of 1000", k)
		}
		if k == 0 {
			first++
		}
	}
	within(t, "per cent of rank 0", first/n*100, 9, 11)
}

func TestAppendAllocatesNothing(t *testing.T) {
	for _, name := range []string{"access", "nested", "text", "analytics", "analytics-users"} {
		s := set(t, name, 1000)
		buf := s.Append(nil, 0, 100)
		if n := testing.AllocsPerRun(10, func() { buf = s.Append(buf[:0], 0, 100) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, name := range []string{"access", "nested", "text", "otlp-logs", "otlp-traces", "otlp-metrics"} {
		b.Run(name, func(b *testing.B) {
			const rows = 1000
			s := set(b, name, 1_000_000)
			buf := s.Append(nil, 0, rows)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			var i int64
			for b.Loop() {
				buf = s.Append(buf[:0], i%1_000_000, i%1_000_000+rows)
				i += rows
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
