package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/status"
	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
)

// TestFraming sends requests whose end is not certain, each followed by one that must not be run.
func TestFraming(t *testing.T) {
	h := servertest.Open(t, nil)
	const smuggled = "GET /v1/sql?sql=select+1 HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, c := range []struct{ name, request, status string }{
		{"length and chunked", "POST " + servertest.IngestPath +
			" HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
		{"two lengths", "POST " + servertest.IngestPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
			"400"},
		{"length list", "POST " + servertest.IngestPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 0\r\n\r\n",
			"400"},
		{"length with a sign", "POST " + servertest.IngestPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n",
			"400"},
		{"other coding", "POST " + servertest.IngestPath +
			" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "400"},
		{"coding twice", "POST " + servertest.IngestPath +
			" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
		{"blank before the colon", "GET /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n", "400"},
		{"blank in a name", "GET /health HTTP/1.1\r\nHost: x\r\nX Y: 1\r\n\r\n", "400"},
		{"folded line", "GET /health HTTP/1.1\r\nHost: x\r\nX-Y: 1\r\n 2\r\n\r\n", "400"},
		{"two hosts", "GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400"},
		{"not HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
		{"bad chunk", "POST " + servertest.IngestPath +
			" HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n", "400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := servertest.StatusLines(h.Raw(c.request + smuggled))
			if !slices.Equal(got, []string{c.status}) {
				t.Errorf("answers %v, want only %s", got, c.status)
			}
		})
	}
	if n := h.Bodies.Taken(); n != 0 {
		t.Errorf("%d bodies were taken", n)
	}
}

// TestBrokenChunksAreAnsweredAtOnce: what follows a chunk that cannot be read is no chunk either, and is not waited
// for.
func TestBrokenChunksAreAnsweredAtOnce(t *testing.T) {
	h := servertest.Open(t, nil)
	for _, size := range []string{"zz", "-1", "0x3", strings.Repeat("f", 16), strings.Repeat("f", 17),
		strings.Repeat("f", 18), strings.Repeat("f", 40)} {
		got := servertest.StatusLines(h.Raw("POST " + servertest.IngestPath +
			" HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n" + size +
			"\r\nabc\r\n0\r\n\r\n"))
		if !slices.Equal(got, []string{"400"}) {
			t.Errorf("a chunk of size %s: answers %v, want only 400", size, got)
		}
	}
}

// TestUnreadBodyIsNotARequest sends bodies that handlers do not read and that look like requests.
func TestUnreadBodyIsNotARequest(t *testing.T) {
	h := servertest.Open(t, nil)
	inner := "GET /v1/sql?sql=select+1 HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, c := range []struct {
		name, method, path string
		answers            []string
	}{
		{"read away", "POST", "/health", []string{"200", "200"}},
		{"refused", "POST", "/v1/ingest", []string{"400", "200"}},
		{"unknown path", "POST", "/nowhere", []string{"404", "200"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := servertest.StatusLines(
				h.Raw(fmt.Sprintf(
					"%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%sGET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
					c.method, c.path, len(inner), inner)))
			if !slices.Equal(got, c.answers) {
				t.Errorf("answers %v, want %v", got, c.answers)
			}
		})
	}
	t.Run("body of a GET", func(t *testing.T) {
		got := servertest.StatusLines(h.Raw(fmt.Sprintf(
			"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(inner), inner)))
		if !slices.Equal(got, []string{"200"}) {
			t.Errorf("answers %v, want one 200", got)
		}
	})
	t.Run("large", func(t *testing.T) {
		body := strings.Repeat(inner, 20000)
		got := servertest.StatusLines(h.Raw(fmt.Sprintf("POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s",
			len(body), body)))
		if !slices.Equal(got, []string{"200"}) {
			t.Errorf("answers %v, want one 200 and the end of the connection", got)
		}
	})
}

// TestHalfABodyIsNoBody ends the connection in the middle of a body.
func TestHalfABodyIsNoBody(t *testing.T) {
	h := servertest.Open(t, nil)
	for _, head := range []string{
		"POST " + servertest.IngestPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 20000\r\n\r\n" +
			strings.Repeat("line\n", 3000),
		"POST " + servertest.IngestPath +
			" HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nline\n\r\n",
	} {
		c, err := net.Dial("tcp", h.Addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, head)
		c.(*net.TCPConn).CloseWrite()
		b, _ := io.ReadAll(c)
		c.Close()
		if got := servertest.StatusLines(string(b)); !slices.Equal(got, []string{"400"}) {
			t.Errorf("answers %v, want 400\n%s", got, b)
		}
	}
	if n := h.Bodies.Taken(); n != 0 {
		t.Errorf("%d halves were taken for bodies", n)
	}
}

func compressed(t *testing.T, encoding string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		e, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = e
	}
	w.Write(text)
	w.Close()
	return b.Bytes()
}

func TestBodyLimit(t *testing.T) {
	h := servertest.Open(t, nil) // 1 MiB
	zeros := make([]byte, 64<<20)
	for _, c := range []struct {
		name, body string
		headers    []string
		status     int
		contains   string
	}{
		{"fits", strings.Repeat("x", 1<<20), nil, 200, "affectedrows"},
		{"one byte more", strings.Repeat("x", 1<<20+1), nil, 413, "length limit exceeded"},
		{"gzip bomb", string(compressed(t, "gzip", zeros)), []string{"Content-Encoding", "gzip"}, 413,
			"length limit exceeded"},
		{"zstd bomb", string(compressed(t, "zstd", zeros)), []string{"Content-Encoding", "zstd"}, 413,
			"length limit exceeded"},
		{"not gzip", "plain text", []string{"Content-Encoding", "gzip"}, 400, "decompress"},
		{"not zstd", "plain text", []string{"Content-Encoding", "zstd"}, 400, "decompress"},
		{"not deflate", "\xff\xff\xff\xff", []string{"Content-Encoding", "deflate"}, 400, "decompress"},
		{"not brotli", "\xff\xff\xff\xff\xff\xff", []string{"Content-Encoding", "br"}, 400, "decompress"},
		{"cut gzip", string(compressed(t, "gzip", []byte(strings.Repeat("abc", 1000)))[:20]),
			[]string{"Content-Encoding", "gzip"}, 400, "decompress"},
		{"zstd window of 2 GiB", "\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", []string{"Content-Encoding", "zstd"}, 400,
			"decompress"},
		{"unknown coding", "plain", []string{"Content-Encoding", "snappy"}, 415, "is not supported"},
		{"empty gzip", "", []string{"Content-Encoding", "gzip"}, 200, "affectedrows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := h.As(t)
			h.Want(h.Do("POST", servertest.IngestPath, c.body, append(c.headers, "Content-Type", "text/plain")...),
				c.status, c.contains)
		})
	}
}

func TestHeaderTooLarge(t *testing.T) {
	h := servertest.Open(t, nil)
	got := servertest.StatusLines(h.Raw("GET /health HTTP/1.1\r\nHost: x\r\nX: " +
		strings.Repeat("y", server.HeaderBytes) + "\r\n\r\n"))
	if !slices.Equal(got, []string{"431"}) {
		t.Errorf("answers %v, want 431", got)
	}
}

// TestErrorTextInHeader has an error text with line ends and other letters in it.
func TestErrorTextInHeader(t *testing.T) {
	h := servertest.Open(t, nil)
	a := h.Do("GET", "/v1/sql?db=x%0d%0aSet-Cookie:+a%3db%00%c3%a9&sql=select+1", "")
	if a.Status != 400 || a.Header.Get("Set-Cookie") != "" || a.Header.Get("x-service-err-code") != "4004" {
		t.Errorf("got %d %v", a.Status, a.Header)
	}
	if got := a.Header.Get("x-service-err-msg"); !strings.Contains(got, `x\x0d\x0aSet-Cookie: a=b\x00\xc3\xa9`) ||
		!strings.Contains(got, "execution_time_ms: ") {
		t.Errorf("x-service-err-msg is %q", got)
	}
	a = h.Do("GET", "/v1/sql?db="+strings.Repeat("z", 4000)+"&sql=select+1", "")
	if got := a.Header.Get("x-service-err-msg"); len(got) > 1024 {
		t.Errorf("x-service-err-msg has %d bytes", len(got))
	}
}

func TestParameters(t *testing.T) {
	h := servertest.Open(t, nil)
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		contains                 string
	}{
		{"boolean", "POST", servertest.IngestPath + "&skip_error=True", "x", []string{"Content-Type", "text/plain"},
			400, "Failed to deserialize query string"},
		{"twice", "GET", "/v1/sql?sql=select+1&sql=select+2", "", nil, 400,
			"Failed to deserialize query string: duplicate field `sql`"},
		{"negative limit", "GET", "/v1/sql?sql=select+1&limit=-1", "", nil, 400, "Failed to deserialize query string"},
		{"unknown name", "GET", "/v1/sql?sql=select+1&other=1&other=2", "", nil, 200, "records"},
		{"form type missing", "POST", "/v1/sql?sql=select+1", "x", []string{"Content-Type", "application/json"}, 415,
			"Form requests must have"},
		{"post without a body", "POST", "/v1/sql?sql=select+1", "", nil, 200, "records"},
		{"form twice", "POST", "/v1/sql", "sql=a&sql=b", []string{"Content-Type", "application/x-www-form-urlencoded"},
			422, "Failed to deserialize form body"},
		{"no content type", "POST", servertest.IngestPath, "x", nil, 400, "Header of type `content-type` was missing"},
		{"odd content type", "POST", servertest.IngestPath, "x", []string{"Content-Type", "nonsense"}, 400,
			"content-type"},
		{"header not UTF-8", "POST", servertest.IngestPath, "x",
			[]string{"Content-Type", "text/plain", "x-service-pipeline-name", "a\xff"}, 400,
			"header is not valid UTF-8 string type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := h.As(t)
			h.Want(h.Do(c.method, c.path, c.body, c.headers...), c.status, c.contains)
		})
	}
}

// TestIntake: while the bodies in hand fill their bound, the oldest is read on, small requests are answered, and others
// are refused and say when to come again.
func TestIntake(t *testing.T) {
	begun := make(chan int64, 100)
	h := servertest.Open(t, func(o *server.Options) {
		o.Intake = web.IntakeOf(ledger.Single(admission.Body, 100<<10, func(bytes int64) { begun <- bytes }),
			time.Millisecond, status.RegionBusy)
	})
	body := strings.Repeat("x", 900_000)
	nc, err := net.Dial("tcp", h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	send := func(text string) {
		t.Helper()
		if _, err := io.WriteString(nc, text); err != nil {
			t.Fatal(err)
		}
	}
	send("POST " + servertest.IngestPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 900000\r\n\r\n" +
		body[:500_000])
	for bytes := <-begun; bytes < 500_000-(64<<10); bytes = <-begun {
	}
	a := h.Do("POST", servertest.IngestPath, body, "Content-Type", "text/plain")
	h.Want(a, 503, "try again later")
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	h.Want(h.Do("POST", servertest.IngestPath, body[:60_000], "Content-Type", "text/plain"), 200, "affectedrows")
	h.Want(h.Do("GET", "/metrics", ""), 200, "varve_http_bodies_held_bytes 524288\n")
	send(body[500_000:])
	if resp, err := http.ReadResponse(bufio.NewReader(nc), nil); err != nil || resp.StatusCode != 200 {
		t.Errorf("the oldest body: %v %v", resp, err)
	}
	h.Want(h.Do("POST", servertest.IngestPath, body, "Content-Type", "text/plain"), 200, "affectedrows")
}

// TestStoredIsAnswered: a bulk request whose documents are stored is not refused because there is no room for its
// answer: the sender would send them again.
func TestStoredIsAnswered(t *testing.T) {
	begun := make(chan int64, 1000)
	h := servertest.Real(t, func(o *server.Options) {
		o.Intake = web.IntakeOf(ledger.Single(admission.Body, 4<<20, func(bytes int64) { begun <- bytes }),
			time.Millisecond, status.RegionBusy)
	})
	nc, err := net.Dial("tcp", h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	const held = 2 << 20
	if _, err := fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
		servertest.IngestPath, 2*held, strings.Repeat("x", held)); err != nil {
		t.Fatal(err)
	}
	for bytes := <-begun; bytes < held-(64<<10); bytes = <-begun {
	}
	const documents = 8000 // with answers of 128 bytes each, counted twice
	a := h.Do("POST", "/v1/elasticsearch/b/_bulk", strings.Repeat("{\"create\":{}}\n{}\n", documents), "Content-Type",
		"application/x-ndjson")
	h.Want(a, 200, `"errors":false`)
	h.Holds("SELECT count(*) FROM b", fmt.Sprintf("[[%d]]", documents))
}

// TestIntakeOfChunks: bodies that announce no length count as well.
func TestIntakeOfChunks(t *testing.T) {
	begun := make(chan int64, 100)
	h := servertest.Open(t, func(o *server.Options) {
		o.Intake = web.IntakeOf(ledger.Single(admission.Body, 100<<10, func(bytes int64) { begun <- bytes }),
			0, status.RateLimited)
	})
	head := "POST " + servertest.IngestPath +
		" HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
	chunk := "40000\r\n" + strings.Repeat("x", 0x40000) + "\r\n"
	nc, err := net.Dial("tcp", h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, head+chunk); err != nil {
		t.Fatal(err)
	}
	<-begun
	if got := h.Raw(strings.Replace(head, "Host: x", "Host: x\r\nConnection: close", 1) + chunk +
		"0\r\n\r\n"); !strings.Contains(got, "HTTP/1.1 429 ") || !strings.Contains(got,
		"Request body memory limit exceeded: ") {
		t.Errorf("a second body: %.200s", got)
	}
	if _, err := io.WriteString(nc, "0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.ReadResponse(bufio.NewReader(nc), nil); err != nil || resp.StatusCode != 200 {
		t.Errorf("the first body: %v %v", resp, err)
	}
}

// TestSlowSendersLockNobodyOut: many clients that send a part of a body and stand still hold all memory that bodies
// have, and more wait for it; ordinary requests get through, and the clients are told.
func TestSlowSendersLockNobodyOut(t *testing.T) {
	const share, stalled = 8 << 20, 80
	h := servertest.Open(t, func(o *server.Options) {
		o.Intake = web.NewIntake(share, 5*time.Second, status.RegionBusy)
	})
	sent := strings.Repeat("x", 300_000)
	var clients []net.Conn
	for range stalled {
		nc, err := net.Dial("tcp", h.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if _, err := io.WriteString(nc, "POST "+servertest.IngestPath+
			" HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 900000\r\n\r\n"+sent); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, nc)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			h.Want(h.Do("POST", servertest.IngestPath, sent, "Content-Type", "text/plain"), 200, "affectedrows")
		})
	}
	all.Wait()
	codes := make(chan int, stalled)
	for _, nc := range clients {
		nc.SetReadDeadline(time.Now().Add(20 * time.Second))
		go func() {
			resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
			if err != nil {
				codes <- 0
				return
			}
			codes <- resp.StatusCode
		}()
	}
	told := 0
	for heard := 0; heard < stalled && told < share/(512<<10); heard++ { // those that hold the room; the others wait on
		if <-codes == 408 {
			told++
		}
	}
	if told < share/(512<<10) {
		t.Errorf("%d clients were told that they are slow", told)
	}
}
