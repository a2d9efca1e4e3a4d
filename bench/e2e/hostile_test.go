package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"varve/bench/process"
)

// hostileRSS bounds the memory of a server that gets hostile requests, in bytes: what it may use for honest ones.
const hostileRSS = 700 << 20

// TestHostileRequests wants the right refusal for each, a bound on memory, and a server that goes on.
func TestHostileRequests(t *testing.T) {
	s := start(t, t.TempDir())
	const ingest = "POST /v1/ingest?table=h&pipeline_name=service_identity HTTP/1.1\r\nHost: x\r\n"
	ndjson := func(body string) string {
		return ingest + fmt.Sprintf("Content-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s", len(body),
			body)
	}
	object := func(body string) string { return strings.Replace(ndjson(body), "x-ndjson", "json", 1) }
	sql := func(text string) string {
		form := url.Values{"sql": {text}}.Encode()
		return fmt.Sprintf(
			"POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(form), form)
	}
	many := new(strings.Builder)
	for i := range 100_000 {
		fmt.Fprintf(many, `"column_%d":1,`, i)
	}
	for _, c := range []struct {
		name, request string
		want          []int
	}{
		{"garbage", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{400}},
		{"unknown path", "GET /v1/nosuch HTTP/1.1\r\nHost: x\r\n\r\n", []int{404}},
		{"wrong method", "DELETE /v1/sql HTTP/1.1\r\nHost: x\r\n\r\n", []int{405}},
		{"two framings", ingest +
			"Content-Type: text/plain\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n\r\n", []int{400}},
		{"blank in a header name", "GET /health HTTP/1.1\r\nHost: x\r\nContent Length: 5\r\n\r\n", []int{400}},
		{"header too large", "GET /health HTTP/1.1\r\nHost: x\r\nX-Fill: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
			[]int{431}},
		{"no content type", ingest + "Content-Length: 2\r\n\r\n{}", []int{400}},
		{"unfinished JSON", ndjson(`{"a":`), []int{400}},
		{"bytes that are not UTF-8", ndjson("{\"a\":\"\xff\xfe\"}"), []int{400}},
		{"deep arrays", object(strings.Repeat("[", 5_000_000)), []int{400}},
		{"deep objects", object(strings.Repeat(`{"a":`, 500_000)), []int{400}},
		{"deep closed objects", object(strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)),
			[]int{200, 400}},
		{"many columns", object("{" + many.String() + `"z":1}`), []int{400}},
		{"deep parentheses", sql("SELECT " + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000)),
			[]int{400}},
		{"deep NOT", sql("SELECT " + strings.Repeat("NOT ", 100_000) + "true"), []int{400}},
		{"deep minus", sql("SELECT " + strings.Repeat("- ", 100_000) + "1"), []int{400}},
		{"a path as table name", strings.Replace(object(`{"a":1}`), "table=h", "table=..%2F..%2Fetc%2Fpasswd", 1),
			[]int{200, 400}},
		{"body too large", ingest + fmt.Sprintf("Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n", 65<<20) +
			strings.Repeat(strings.Repeat("x", 1023)+"\n", 65<<10), []int{413}},
	} {
		t.Run(c.name, func(t *testing.T) { wantStatus(t, s, []byte(c.request), c.want) })
	}
	t.Run("gzip bomb", func(t *testing.T) {
		bomb := zip(t, 512<<20)
		head := ingest + fmt.Sprintf("Content-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n",
			len(bomb))
		wantStatus(t, s, append([]byte(head), bomb...), []int{413})
	})
	t.Run("not gzip", func(t *testing.T) {
		wantStatus(t, s, []byte(ingest+
			"Content-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain"), []int{400})
	})
	t.Run("and it serves", func(t *testing.T) {
		mustPost(t, s, write{table: "fine", contentType: "application/json", body: []byte(`{"a":1}`)}, 1)
		wantRows(t, s, "SELECT a FROM fine", "[1]")
		peak, err := process.PeakRSS(s.PID())
		if err != nil {
			t.Fatal(err)
		}
		if peak > hostileRSS {
			t.Errorf("the server used up to %d MiB of memory, want at most %d", peak>>20, hostileRSS>>20)
		}
		t.Logf("the server used up to %d MiB of memory", peak>>20)
	})
}

// wantStatus sends bytes over a connection of their own and wants an answer with one of some statuses.
func wantStatus(t *testing.T, s *process.Server, request []byte, want []int) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := c.SetDeadline(time.Now().Add(askLimit)); err != nil {
		t.Fatal(err)
	}
	// A server that refuses a body early may close before it was sent: the answer counts, not the write.
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(request)
		sent <- err
	}()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no answer: %v (sending: %v)", err, <-sent)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		t.Errorf("reading the answer: %v", err)
	}
	for _, status := range want {
		if resp.StatusCode == status {
			return
		}
	}
	t.Errorf("status %d, want one of %v: %.300s", resp.StatusCode, want, body)
}

// zip compresses n bytes of short lines.
func zip(t *testing.T, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	piece := bytes.Repeat([]byte("aaaaaaaaaaaaaaa\n"), 1<<16)
	for ; n > 0; n -= len(piece) {
		if _, err := z.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
