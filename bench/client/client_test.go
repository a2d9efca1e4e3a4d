package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answering serves the same answer to everything and checks the request with look.
func answering(t *testing.T, status int, answer string, look func(r *http.Request, body string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		look(r, string(body))
		w.WriteHeader(status)
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestPostKeepsTheConnection(t *testing.T) {
	var from []string
	base := answering(t, 200, `{"output":[{"affectedrows":2},{"affectedrows":3}]}`, func(r *http.Request, body string) {
		from = append(from, r.RemoteAddr)
		if r.Header.Get("Content-Type") != "text/plain" || r.Header.Get("X-A") != "b" ||
			r.URL.Query().Get("custom_time_index") != "ts;epoch;ms" {
			t.Errorf("request %v %v", r.URL, r.Header)
		}
		if len(body) != 1<<20 {
			t.Errorf("body of %d bytes", len(body))
		}
	})
	c, err := Dial(base)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		status, answer, err := c.Post(IngestPath("public", "t", "ts;epoch;ms"), "text/plain", "X-A: b\r\n",
			make([]byte, 1<<20), time.Now().Add(time.Minute))
		if err != nil || status != 200 {
			t.Fatal(status, err)
		}
		if n, err := Affected(answer); n != 5 || err != nil {
			t.Errorf("affected %d, %v; want 5", n, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if len(from) != 3 || from[0] != from[1] || from[1] != from[2] {
		t.Errorf("connections %v, want one", from)
	}
	if _, err := Dial("localhost:4000"); err == nil {
		t.Error("an address without http:// is taken")
	}
}

func TestSQL(t *testing.T) {
	ctx := context.Background()
	const answer = `{"output":[{"records":{"schema":{"column_schemas":[{"name":"n","data_type":"UInt64"}]},"rows":[[18446744073709551615]],"total_rows":1}}],"execution_time_ms":4}`
	base := answering(t, 200, answer, func(r *http.Request, body string) {
		if body != "sql=SELECT+1%3B" || r.URL.Query().Get("db") != "d" {
			t.Errorf("request %v %q", r.URL, body)
		}
	})
	r, err := One(ctx, base, "d", "SELECT 1;")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(r.Columns, r.Types, r.Rows); got != "[n] [UInt64] [[18446744073709551615]]" {
		t.Errorf("got %s", got)
	}
	for name, c := range map[string]struct {
		status       int
		answer, want string
	}{
		"error":    {400, `{"code":4001,"error":"Table not found"}`, "HTTP 400, code 4001: Table not found"},
		"text":     {413, "length limit exceeded", "HTTP 413, code 0: length limit exceeded"},
		"total":    {200, strings.Replace(answer, `"total_rows":1`, `"total_rows":2`, 1), "total_rows"},
		"no JSON":  {200, "<html>", "invalid character"},
		"no parts": {200, `{"output":[{}]}`, "neither"},
	} {
		base := answering(t, c.status, c.answer, func(*http.Request, string) {})
		_, err := Int(ctx, base, "d", "SELECT 1")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		var answered *Error
		if errors.As(err, &answered) != (c.status != 200) {
			t.Errorf("%s: error of type %T", name, err)
		}
	}
}

// TestPostOpensAnew: a server that refuses a write may close the connection behind its answer.
func TestPostOpensAnew(t *testing.T) {
	var from []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from = append(from, r.RemoteAddr)
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	c, err := Dial(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if status, _, err := c.Post("/", "text/plain", "", []byte("x"), time.Now().Add(time.Minute)); err != nil ||
			status != 503 {
			t.Fatal(status, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if len(from) != 2 || from[0] == from[1] {
		t.Errorf("requests came from %v", from)
	}
}
