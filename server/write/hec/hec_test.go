package hec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"varve/server/write/rows/entries"
)

func newDecoder() *decoder {
	return &decoder{set: entries.New(0, func(int64) error { return nil }), fallback: []byte("f"), now: 7}
}

// lines are the entries of a table.
func lines(t testing.TB, d *decoder, table string) string {
	t.Helper()
	of, err := d.set.Table([]byte(table))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(of.Lines())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEvents(t *testing.T) {
	d := newDecoder()
	if err := d.read([]byte(`{"event":"x","time":1.5,"host":1,"source":null,"fields":{"a":true,"host":"q","n":null}}` +
		"\n" + `{"event":{"k":[1,` + "\n" + `2]},"index":"a/b"},{"event":2}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := lines(t, d, "f"),
		`{"service_timestamp":1500000000,"host":"1","event":"x","a":"true","fields.host":"q"}`+"\n"+
			`{"service_timestamp":8,"event":"2"}`+"\n"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := lines(t, d, "a_b"), `{"service_timestamp":7,"event":{"k":[1, 2]}}`+"\n"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func benchBody(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b,
			`{"time":%d.%03d,"host":"h%d","source":"web","sourcetype":"access","event":{"msg":"GET /api/v1/items/%d HTTP/1.1","status":%d,"bytes":%d},"fields":{"zone":"eu"}}`, 1700000000+i, i%1000, i%100, i*7, 200+i%5, i*13)
	}
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	body := benchBody(5000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := newDecoder().read(body); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzRead: any bytes give events, each a line, or a fault; as text they are always taken unless there are none.
func FuzzRead(f *testing.F) {
	f.Add(benchBody(2))
	f.Add([]byte("[{\"event\":\"x\"} {\"event\":{\"a\":\n1}},{\"event\":\"\\ud800\",\"fields\":{\"event\":[1,\n2]}}]"))
	f.Add([]byte(`{"event":1,"time":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := newDecoder()
		if err := d.read(body); err != nil {
			if f := (*fault)(nil); !errors.As(err, &f) || texts[f.code] == "" {
				t.Fatal(err)
			}
		} else if got := strings.Count(lines(t, d, "f"), "\n") + len(d.faults); got > d.count || !bytes.Contains(body,
			[]byte("index")) && got != d.count {
			t.Fatalf("%d lines of %d events", got, d.count)
		}
		d = newDecoder()
		if err := d.raw(body, "\n"); (err != nil) != (len(bytes.Trim(body, "\r\n")) == 0) {
			t.Fatal(err)
		}
	})
}
