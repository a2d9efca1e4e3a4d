package bulk

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"varve/engine"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows/entries"
)

func free(int64) error { return nil }

// document is a line as web servers write.
func document(i int) string {
	return fmt.Sprintf(
		`{"@timestamp":"2023-11-14T22:13:20.%03dZ","level":"info","msg":"GET /api/v1/items/%d HTTP/1.1","status":%d,"bytes":%d,"host":{"name":"h%d","ip":"10.0.0.%d"},"agent":"Mozilla/5.0 (X11; Linux x86_64)","took":%d.25,"ok":true}`,
		i%1000, i*7, 200+i%5, i*13, i%100, i%256, i%50)
}

// bodies are the same documents, as lines and in bulk.
func bodies(n int) (lines, inBulk []byte) {
	for i := range n {
		text := document(i) + "\n"
		lines = append(lines, text...)
		inBulk = append(append(inBulk, `{"create":{"_index":"logs"}}`+"\n"...), text...)
	}
	return lines, inBulk
}

func run(m *pipeline.Manager, d *decoder, body []byte, set *engine.WriteSet) (int, error) {
	d.set = entries.New(0, free)
	if err := d.read(body); err != nil {
		return 0, err
	}
	return d.set.Run(context.Background(), m,
		&pipeline.Request{DB: "public", Pipeline: pipeline.Identity, SkipError: true, AllFailures: true}, set, nil)
}

func TestActions(t *testing.T) {
	d := &decoder{set: entries.New(0, free), index: "path"}
	if err := d.read(
		[]byte(
			"\n{\"index\":{\"_index\":\"a\",\"_id\":null,\"x\":[{}]}}\r\n{\"n\":1}\r\n{\"create\":{}}\n{\"n\":2}\n{\"create\":{}}\n{\"n\":3}")); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, it := range d.items {
		got += fmt.Sprintf("%s %s %d,", it.action, it.table.Name, it.entry)
	}
	if got != "index a 1,create path 1,create path 2," {
		t.Error(got)
	}
}

// TestManyFailures: the first reasons are told, all failures are.
func TestManyFailures(t *testing.T) {
	var body strings.Builder
	body.WriteString("{\"index\":{\"_index\":\"x\"}}\n{\"n\":1}\n")
	for range 3000 {
		body.WriteString("{\"index\":{\"_index\":\"x\"}}\n{\"n\":\"text\"}\n")
	}
	d := &decoder{}
	rows, err := run(pipeline.New(pipeline.Options{}), d, []byte(body.String()), new(engine.WriteSet))
	if err != nil || rows != 1 || len(d.items[0].table.Failed) != 3000 || d.items[0].table.Failed[1] != nil {
		t.Fatalf("%d rows, %v, %d failures", rows, err, len(d.items[0].table.Failed))
	}
	if last := d.items[0].table.Failed[3001].Error(); !strings.Contains(last, "only the first 1000 reasons are kept") {
		t.Error(last)
	}
}

// TestTables: the tables of a request are bounded.
func TestTables(t *testing.T) {
	var body strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&body, "{\"index\":{\"_index\":\"t%d\"}}\n{}\n", i)
	}
	body.WriteString("{\"index\":{\"_index\":\"t5\"}}\n{}\n")
	d := &decoder{set: entries.New(0, free)}
	if err := d.read([]byte(body.String())); err != nil || len(d.items) != 2001 || len(d.set.Tables()) != 1024 {
		t.Fatal(err, len(d.items), len(d.set.Tables()))
	}
	for i := range d.items {
		err := d.failure(&d.items[i])
		if (err != nil) != (i >= 1024 && i < 2000) ||
			err != nil && !strings.Contains(err.Error(), "more than 1024 tables") {
			t.Fatal(i, err)
		}
	}
}

// BenchmarkDecode compares documents in bulk with the same ones as the lines of an ingest request.
func BenchmarkDecode(b *testing.B) {
	lines, inBulk := bodies(5000)
	m := pipeline.New(pipeline.Options{})
	set := new(engine.WriteSet)
	b.Run("ndjson", func(b *testing.B) {
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		for b.Loop() {
			set.Reset()
			r := &pipeline.Request{DB: "public", Table: "logs", Pipeline: pipeline.Identity,
				ContentType: "application/x-ndjson"}
			if out, err := m.Run(context.Background(), r, bytes.NewReader(lines), set); err != nil || out.Rows != 5000 {
				b.Fatal(out, err)
			}
		}
	})
	b.Run("bulk with time", func(b *testing.B) {
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		var f *entries.Fields
		for b.Loop() {
			set.Reset()
			if rows, err := run(m, &decoder{fields: f.WithTime(timeField)}, inBulk, set); err != nil || rows != 5000 {
				b.Fatal(rows, err)
			}
		}
	})
	b.Run("bulk", func(b *testing.B) {
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		for b.Loop() {
			set.Reset()
			if rows, err := run(m, &decoder{}, inBulk, set); err != nil || rows != 5000 {
				b.Fatal(rows, err)
			}
		}
	})
}

// FuzzRead: any bytes give documents, each with its answer, or an error of the client's.
func FuzzRead(f *testing.F) {
	_, some := bodies(3)
	f.Add(some, "", "")
	f.Add(
		[]byte(
			"{\"index\":{\"_index\":\"a\"}}\n{\"log\":\"{\\\"k\\\":1}\",\"x\":{}}\n{\"create\":{\"_index\":\"b\"}}\n[1]\n"), "log", "")
	f.Add(
		[]byte(
			"{\"index\":{}}\r\n{\"a\":1,\"t\":\"2023-11-14\"}\r\n{\"index\":{}}\n{\"a\":\"x\",\"\xff\":1}\n{\"index\":{}}\nnot json"), "", "t")
	m := pipeline.New(pipeline.Options{Now: func() time.Time { return time.Unix(1700000000, 0) }})
	f.Fuzz(func(t *testing.T, body []byte, message, moment string) {
		d := &decoder{index: "i", message: message}
		if moment != "" {
			var args fasthttp.Args
			args.Set("_time_field", moment)
			var err error
			if d.fields, err = entries.ParseFields(&args); err != nil {
				return
			}
		}
		rows, err := run(m, d, body, new(engine.WriteSet))
		if err != nil {
			if _, text := web.Message(err); strings.HasPrefix(text, "Internal") {
				t.Fatalf("no client's error: %v", err)
			}
			return
		}
		failed := 0
		for _, it := range d.items {
			if it.table.Failed[int(it.entry)] != nil {
				failed++
			}
		}
		if rows+failed != len(d.items) {
			t.Fatalf("%d documents: %d rows, %d failures", len(d.items), rows, failed)
		}
	})
}
