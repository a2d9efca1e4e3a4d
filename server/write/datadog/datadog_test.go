package datadog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"varve/server/write/rows/entries"
)

func newDecoder(t testing.TB) *decoder {
	t.Helper()
	table, err := entries.New(0, func(int64) error { return nil }).Table([]byte("t"))
	if err != nil {
		t.Fatal(err)
	}
	return &decoder{table: table, now: 7, ddtags: []byte("team:a")}
}

func (d *decoder) text(t testing.TB) []byte {
	t.Helper()
	text, err := io.ReadAll(d.table.Lines())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestLogs(t *testing.T) {
	d := newDecoder(t)
	d.defaults[2] = []byte("q")
	if err := d.read(
		[]byte(
			`[{"message":"x","hostname":"h","ddtags":" env:a,env:b,env:a,flag,u:x:y,","timestamp":"1970-01-01T00:00:01Z","o":{"p":` + "\n" + `[1]}},{"timestamp":"now"}]`)); err != nil {
		t.Fatal(err)
	}
	want := `{"message":"x","o":{"p": [1]},"hostname":"h","service":"q","ddtags.team":"a","ddtags.env":"a,b,a","ddtags.flag":"","ddtags.u":"x:y","service_timestamp":1000000000}` + "\n" +
		`{"timestamp":"now","service":"q","ddtags.team":"a","service_timestamp":7}` + "\n"
	if got := string(d.text(t)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func benchBody(n int) []byte {
	b := []byte{'['}
	for i := range n {
		b = fmt.Appendf(b,
			`{"message":"GET /api/v1/items/%d HTTP/1.1 200 %d","ddsource":"nginx","ddtags":"env:prod,version:5.1,team:web","hostname":"h%d","service":"web","status":"info","timestamp":%d},`, i*7, i*13, i%100, 1700000000000+i)
	}
	b[len(b)-1] = ']'
	return b
}

func BenchmarkRead(b *testing.B) {
	body := benchBody(5000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := newDecoder(b).read(body); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzRead: any text gives logs, each a line of JSON, or an error.
func FuzzRead(f *testing.F) {
	f.Add(benchBody(2))
	f.Add([]byte("[{\"a\":[1,\n2],\"\\u0061\":{},\"ddtags\":1},{}] {\"timestamp\":1e3,\"service\":null}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if !utf8.Valid(body) {
			return // refused before
		}
		for _, read := range []func(*decoder, []byte) error{(*decoder).read, (*decoder).lines} {
			d := newDecoder(t)
			if read(d, body) != nil {
				continue
			}
			n := 0
			for line := range bytes.Lines(d.text(t)) {
				if n++; !json.Valid(line) {
					t.Fatalf("%q", line)
				}
			}
			if n != d.table.Len() {
				t.Fatalf("%d lines of %d logs", n, d.table.Len())
			}
		}
	})
}

// TestManyTags: however many tags a log has, what is made of them is bounded, and each is looked at once: a megabyte of
// one key, and one of many.
func TestManyTags(t *testing.T) {
	var again, others strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&again, "k:%d,", i)
		fmt.Fprintf(&others, "k%d:v,", i)
	}
	d := &decoder{}
	d.beginPairs()
	d.addPairs([]byte(again.String()))
	if len(d.pairs) != 1 || len(d.pairs[0].value) > maxJoined ||
		!strings.HasPrefix(string(d.pairs[0].value), "0,1,2,3,") {
		t.Errorf("%d pairs, %d bytes", len(d.pairs), len(d.pairs[0].value))
	}
	d.beginPairs()
	d.addPairs([]byte(others.String()))
	d.addPairs([]byte("k255:w,k9:w"))
	if len(d.pairs) != maxPairs || string(d.pairs[255].value) != "v,w" || string(d.pairs[9].value) != "v,w" {
		t.Errorf("%d pairs, %q %q", len(d.pairs), d.pairs[255].value, d.pairs[9].value)
	}
	d.beginPairs()
	if d.addPairs([]byte("a:1,k9:2")); len(d.pairs) != 2 || string(d.pairs[1].value) != "2" {
		t.Errorf("the next log: %d pairs", len(d.pairs))
	}
}
