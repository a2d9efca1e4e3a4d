package logapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"varve/server/servertest"
)

// message is a message of a tail.
type message struct {
	Streams []struct {
		Stream map[string]string
		Values [][]any
	}
	EncodingFlags  []string
	DroppedEntries []struct{ Timestamp string } `json:"dropped_entries"`
}

// tailed opens a tail.
func tailed(t *testing.T, h *servertest.House, path string, header http.Header) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.URL, "http")+api+path, header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// next is the next message, and its lines.
func next(t *testing.T, conn *websocket.Conn) (m message, lines []string) {
	t.Helper()
	kind, body, err := conn.ReadMessage()
	if err != nil || kind != websocket.TextMessage {
		t.Fatalf("message of kind %d: %v", kind, err)
	}
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	for _, s := range m.Streams {
		for _, v := range s.Values {
			lines = append(lines, v[1].(string))
		}
	}
	return m, lines
}

func pushNow(t *testing.T, h *servertest.House, lines ...string) {
	t.Helper()
	for i, line := range lines {
		h.Want(h.Do("POST", api+"push", fmt.Sprintf(`{"streams":[{"stream":{"app":"a"},"values":[["%d",%q]]}]}`,
			time.Now().UnixNano()+int64(i), line), "Content-Type", "application/json"), 204, "")
	}
}

// TestTail: a tail sends the newest lines, then those that come, each once.
func TestTail(t *testing.T) {
	h := servertest.Real(t, nil)
	pushNow(t, h, "too old", "zero x", "one x", "two x", "none")
	conn := tailed(t, h, "tail?limit=2&"+q(`{app="a"} |= "x"`), nil)
	pings := make(chan struct{}, 100)
	conn.SetPingHandler(func(string) error { pings <- struct{}{}; return nil })
	if _, lines := next(t, conn); strings.Join(lines, "|") != "one x|two x" {
		t.Errorf("the first lines are %q", lines)
	}
	pushNow(t, h, "three x", "three x", "other")
	var got []string
	for len(got) < 2 {
		_, lines := next(t, conn)
		got = append(got, lines...)
	}
	pushNow(t, h, "four x")
	_, lines := next(t, conn)
	if got = append(got, lines...); strings.Join(got, "|") != "three x|three x|four x" {
		t.Errorf("the lines that came are %q", got)
	}
	if len(pings) == 0 {
		t.Error("the server never asked whether the client lives")
	}
}

// TestTailFlags: with the flag, lines have their labels by kind.
func TestTailFlags(t *testing.T) {
	h := servertest.Real(t, nil)
	pushNow(t, h, "k=v")
	conn := tailed(t, h, "tail?"+q(`{app="a"} | logfmt | drop detected_level`),
		http.Header{"X-Loki-Response-Encoding-Flags": {"categorize-labels"}})
	m, _ := next(t, conn)
	if got := fmt.Sprint(m.EncodingFlags, m.Streams[0].Stream, m.Streams[0].Values[0][2]); got !=
		"[categorize-labels] map[app:a service_name:a service_table:loki_logs] map[parsed:map[k:v]]" {
		t.Errorf("got %s", got)
	}
}

// TestTailNumbers: a query of numbers is refused once the connection is there.
func TestTailNumbers(t *testing.T) {
	h := servertest.Real(t, nil)
	conn := tailed(t, h, "tail?"+q(`rate({app="a"}[1m])`), nil)
	_, _, err := conn.ReadMessage()
	var closed *websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != 1011 || closed.Text != "only log selector is supported" {
		t.Errorf("the connection ends with %v", err)
	}
}

// TestTailPlaces: a user has so many tails at a time; one that left gives its place back.
func TestTailPlaces(t *testing.T) {
	h := servertest.Real(t, nil)
	var conns []*websocket.Conn
	for range 10 {
		conns = append(conns, tailed(t, h, "tail?"+q(`{app="a"}`), nil))
	}
	path := "ws" + strings.TrimPrefix(h.URL, "http") + api + "tail?" + q(`{app="a"}`)
	_, resp, err := websocket.DefaultDialer.Dial(path, nil)
	if err == nil || resp == nil || resp.StatusCode != 429 {
		t.Fatalf("the eleventh tail: %v %v", resp, err)
	}
	conns[0].Close()
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, _, err := websocket.DefaultDialer.Dial(path, nil)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a tail that left is not free")
		}
	}
}

// pushMany pushes lines with times of now.
func pushMany(h *servertest.House, what string, n int) {
	h.Helper()
	var values []string
	now := time.Now().UnixNano()
	for i := range n {
		values = append(values, fmt.Sprintf(`["%d","%s %d"]`, now+int64(i), what, i))
	}
	h.Want(h.Do("POST", api+"push", `{"streams":[{"stream":{"app":"a"},"values":[`+strings.Join(values, ",")+`]}]}`,
		"Content-Type", "application/json"), 204, "")
}

// TestTailDropped: lines that were left out are told; those that were sent before are no reason.
func TestTailDropped(t *testing.T) {
	h := servertest.Real(t, nil)
	pushMany(h, "first", 1)
	conn := tailed(t, h, "tail?"+q(`{app="a"}`), nil)
	next(t, conn)
	for _, c := range []struct {
		what       string
		push, want int
		dropped    bool
	}{{"a", 3000, 3000, false}, {"b", 3000, 3000, false}, {"c", 6000, 5000, true}} {
		pushMany(h, c.what, c.push)
		m, lines := next(t, conn)
		if len(lines) != c.want || len(m.DroppedEntries) > 0 != c.dropped {
			t.Errorf("%s: %d lines, %d dropped entries", c.what, len(lines), len(m.DroppedEntries))
		}
	}
}
