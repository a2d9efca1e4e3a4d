package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

func openStore(t testing.TB, fs vfs.FS, dir string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Options{FS: fs, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background(), false); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestStore takes bodies through the manager into a store.
func TestStore(t *testing.T) {
	e := openStore(t, vfs.NewMem(), "data")
	m := New(Options{Now: func() time.Time { return time.Unix(1000, 0) }})
	var set engine.WriteSet
	post := func(body string) ([]engine.Written, error) {
		t.Helper()
		set.Reset()
		r := Request{DB: "public", Table: "t", Pipeline: Identity, ContentType: "application/x-ndjson"}
		if _, err := m.Run(context.Background(), &r, strings.NewReader(body), &set); err != nil {
			return nil, err
		}
		return e.Write(context.Background(), &set)
	}
	if w, err := post(""); err != nil || len(w) != 0 {
		t.Errorf("nothing: %v, %v", w, err)
	}
	if _, err := e.Table(schema.Name{DB: "public", Table: "t"}); status.Of(err) != status.TableNotFound {
		t.Errorf("a body without rows made a table: %v", err)
	}
	if w, err := post("{\"b\":1,\"a\":\"x\"}\n{\"b\":2,\"service_ttl\":\"1d\",\"c\":{\"d\":true}}\n{\"b\":3}"); err !=
		nil || fmt.Sprint(w) != "[{2} {1}]" {
		t.Errorf("rows of two groups: %v, %v", w, err)
	}
	if _, err := post(`{"b":"text"}`); status.Of(err) != status.InvalidArguments ||
		!strings.Contains(err.Error(), "column b expect type") {
		t.Errorf("a clash with the table: %v", err)
	}
	if _, err := post("{\"e\":1}\n{\"e\":\"x\"}"); status.Of(err) != status.InvalidArguments {
		t.Errorf("a clash within the body: %v", err)
	}
	table, err := e.Table(schema.Name{DB: "public", Table: "t"})
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, c := range table.Schema.Columns {
		columns = append(columns, fmt.Sprintf("%s %s %s", c.Name, c.Type, c.Semantic))
	}
	want := "service_timestamp TimestampNanosecond TIMESTAMP, a String FIELD, b Int64 FIELD, c.d Boolean FIELD"
	if got := strings.Join(columns, ", "); got != want {
		t.Errorf("columns\n got %s\nwant %s", got, want)
	}
	if mode, ok := table.Schema.Options.Find("append_mode"); !ok || mode != "true" ||
		table.Schema.Options.Comment != "Created on insertion" {
		t.Errorf("options %+v", table.Schema.Options)
	}
}

// BenchmarkIngest is the way of a body from its bytes to the acknowledged write, on a disk.
func BenchmarkIngest(b *testing.B) {
	var body bytes.Buffer
	for i := range 10000 {
		fmt.Fprintf(&body,
			`{"ts":%d,"level":"info","service":"frontend","host":"frontend-%03d","method":"GET","path":"/api/v1/products/%d","status":200,"bytes":%d,"latency_ms":%d.5,"user_id":%d,"trace_id":"%032x","cached":false,"message":"session %x renewed for user %d"}`+"\n",
			1793491200000+i, i%40, i%500, i*7%100000, i%300, i*13%1000000, i*7919, i*104729, i)
	}
	e := openStore(b, vfs.OS(), b.TempDir())
	m := New(Options{})
	var set engine.WriteSet
	var r bytes.Reader
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		set.Reset()
		r.Reset(body.Bytes())
		q := Request{DB: "public", Table: "t", Pipeline: Identity, ContentType: "application/x-ndjson",
			CustomTimeIndex: "ts;epoch;ms"}
		if _, err := m.Run(context.Background(), &q, &r, &set); err != nil {
			b.Fatal(err)
		}
		if _, err := e.Write(context.Background(), &set); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*10000/b.Elapsed().Seconds(), "rows/s")
}
