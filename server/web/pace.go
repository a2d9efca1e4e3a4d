package web

import (
	"cmp"
	"io"
	"sync/atomic"
	"time"

	"varve/engine/admission"
)

// A body is slow when its reader has waited for the connection slowGrace longer than its bytes take at slowRate
// bytes/s, or at the rate of its stream. A slow body is read on while nobody wants the memory that it holds: on an idle
// server a client with a slow connection, or one that makes its entries while it sends, does no harm.
const (
	slowRate  = 16 << 10
	slowGrace = admission.SlowGrace
)

// pace measures whether a body comes as fast as it should, or whether the client reads an answer so; for an answer,
// read "write" for "read" here. The body's goroutine reports its reads; other goroutines may call Behind and GiveUp.
type pace struct {
	stop func() // ends the read under way and those to come; nil: the body is in memory
	rate int64  // bytes/s under which the body is slow; 0: slowRate
	// behind is how much longer the reader has waited than the bytes that came may take, ns; not below zero.
	behind    atomic.Int64
	since     atomic.Int64 // when the read began that is under way, ns after paceClock; 0: none is
	cancelled atomic.Bool  // the body is given up
}

// paceClock is the time from which reads are measured; monotonic.
var paceClock = time.Now()

// begin notes that a read begins.
func (p *pace) begin() { p.since.Store(int64(time.Since(paceClock))) }

// end notes that a read gave n bytes.
func (p *pace) end(n int) {
	waited := int64(time.Since(paceClock)) - p.since.Swap(0)
	p.behind.Store(max(0, p.behind.Load()+waited-int64(n)*int64(time.Second)/cmp.Or(p.rate, slowRate)))
}

// read reads from the connection and notes how long that took.
func (p *pace) read(from io.Reader, b []byte) (int, error) {
	if p.cancelled.Load() { // after the deadline was moved: whoever gives the body up sets it last
		return 0, errGivenUp
	}
	p.begin()
	n, err := from.Read(b)
	p.end(n)
	if err != nil && p.cancelled.Load() {
		err = errGivenUp
	}
	return n, err
}

// write writes to the connection and notes how long that took.
func (p *pace) write(to io.Writer, b []byte) (int, error) {
	p.begin()
	n, err := to.Write(b)
	p.end(n)
	return n, err
}

// Behind is how much longer the reader has waited than the bytes that came may take; 0 while nothing is read.
func (p *pace) Behind() time.Duration {
	since := p.since.Load()
	if since == 0 {
		return 0
	}
	return time.Duration(int64(time.Since(paceClock)) - since + p.behind.Load())
}

// GiveUp ends the read under way and those to come. The caller makes sure that the request is not over yet: its
// connection would serve another request.
func (p *pace) GiveUp() {
	p.cancelled.Store(true)
	p.stop()
}

// errGivenUp is the error of reads of a body that was given up.
var errGivenUp = &Reject{Status: 408,
	Text: "Request timeout: the body arrived too slowly while other requests wait for the memory that it holds: try " +
		"again later", Close: true}
