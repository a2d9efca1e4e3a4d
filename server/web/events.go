package web

import (
	"context"
	"io"
	"time"
)

// keepAlive is the silence after which a comment is sent, so that proxies between take the connection for one in use.
const keepAlive = 15 * time.Second

// lastWords is how long a client may take to read what is sent when its request's time is over.
const lastWords = 5 * time.Second

// Events answers with server-sent events. run sends them, from a goroutine of its own. It must end soon after Context
// does; its last events still reach a client that reads. send waits until the client took the event before; if the
// client is gone, the event is lost. The request is over when run has ended.
func (c *Ctx) Events(run func(send func(event string, data []byte))) {
	c.SetStatusCode(200)
	c.SetContentType("text/event-stream")
	c.Response.Header.Set("Cache-Control", "no-cache")
	c.Response.Header.Set("X-Accel-Buffering", "no")
	e := newEvents(c, keepAlive)
	c.streamed = true
	go func() {
		defer close(e.events)
		c.Guarded(func() error { run(e.send); return nil })
	}()
	c.Response.SetBodyStream(e, -1)
}

// eventReader is a reader of events as they come.
type eventReader struct {
	c        *Ctx
	silence  time.Duration // after which a comment is sent
	events   chan []byte   // closed when no more come
	gone     chan struct{} // closed when nobody reads any more
	rest     []byte        // of the event that is being read
	unfollow func() bool
}

func newEvents(c *Ctx, silence time.Duration) *eventReader {
	e := &eventReader{c: c, silence: silence, events: make(chan []byte), gone: make(chan struct{}),
		unfollow: func() bool { return true }}
	if c.Interrupt != nil {
		e.unfollow = context.AfterFunc(c.Context, func() { // a client that does not read ends with its request's time
			select {
			case <-e.gone:
			case <-time.After(lastWords):
				c.Interrupt()
			}
		})
	}
	return e
}

// send passes an event on. data is one line.
func (e *eventReader) send(event string, data []byte) {
	text := append([]byte("event: "+event+"\ndata: "), data...)
	select {
	case e.events <- append(text, "\n\n"...):
	case <-e.gone:
	}
}

func (e *eventReader) Read(into []byte) (int, error) {
	if len(e.rest) == 0 {
		silence := time.NewTimer(e.silence)
		defer silence.Stop()
		select {
		case text, more := <-e.events:
			if !more {
				return 0, io.EOF
			}
			e.rest = text
		case <-silence.C:
			e.rest = []byte(": keep-alive\n\n")
		}
	}
	n := copy(into, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Close ends the request once run has ended.
func (e *eventReader) Close() error {
	close(e.gone)
	e.unfollow()
	e.c.Cancel()
	for range e.events {
	}
	e.c.end()
	return nil
}
