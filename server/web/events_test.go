package web

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// TestEvents reads events, the comments of silence between them, and the end: also that of a sender that fails.
func TestEvents(t *testing.T) {
	c := NewCtx(&fasthttp.RequestCtx{}, t.Context(), 0)
	more := make(chan struct{})
	c.Events(func(send func(string, []byte)) {
		send("first", []byte(`{"n":1}`))
		<-more
		send("last", []byte(`{"n":2}`))
		panic("after the last")
	})
	e := c.Response.BodyStream().(*eventReader)
	e.silence = time.Millisecond
	r := bufio.NewReaderSize(e, 16) // smaller than an event
	const comment = ": keep-alive\n\n"
	text := ""
	for !strings.Contains(text, "}\n\n"+comment) { // the sender is silent
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(text, err)
		}
		text += line
	}
	if text = strings.ReplaceAll(text, comment, ""); text != "event: first\ndata: {\"n\":1}\n\n" {
		t.Errorf("at first %q", text)
	}
	close(more)
	rest, err := io.ReadAll(r)
	if text := strings.ReplaceAll(string(rest), comment, ""); err != nil || text != "event: last\ndata: {\"n\":2}\n\n" {
		t.Errorf("in the end %q, %v", text, err)
	}
	e.Close()
}

// TestEventsLeft: who sends ends when nobody reads any more, and the request only then.
func TestEventsLeft(t *testing.T) {
	c := NewCtx(&fasthttp.RequestCtx{}, t.Context(), 0)
	ended, over := false, false
	c.Finally(func() {
		if over = true; !ended {
			t.Error("the request is over while events are made")
		}
	})
	c.Events(func(send func(string, []byte)) {
		for c.Context.Err() == nil {
			send("more", []byte(`{}`))
		}
		send("last", []byte(`{}`))
		ended = true
	})
	e := c.Response.BodyStream().(*eventReader)
	if _, err := e.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if e.Close(); !over {
		t.Error("the request is not over")
	}
}
