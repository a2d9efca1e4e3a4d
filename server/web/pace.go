package web

import (
	"net"
	"sync/atomic"
	"time"
)

// A body is slow when its reader has waited for the connection slowGrace longer than its bytes take at slowRate bytes/s. A slow
// body is read on as long as nobody wants the memory that it holds: a client behind a thin line, or one that makes its entries as it
// sends them, does no harm on an idle server.
const (
	slowRate  = 16 << 10
	slowGrace = time.Second
)

// pace reports whether a body comes as fast as it should. The body's goroutine reports its reads; others may ask and give it up.
type pace struct {
	conn net.Conn // nil: the body is in memory
	// behind is how long the reader has waited beyond what the bytes that came may take, ns; not below zero.
	behind atomic.Int64
	since  atomic.Int64 // when the read began that is under way, ns after paceClock; 0: none is
	over   atomic.Bool  // the body is given up
}

// paceClock is what times of reads are measured from; monotonic.
var paceClock = time.Now()

// begin notes that a read begins.
func (p *pace) begin() { p.since.Store(int64(time.Since(paceClock))) }

// end notes that a read gave n bytes.
func (p *pace) end(n int) {
	waited := int64(time.Since(paceClock)) - p.since.Swap(0)
	p.behind.Store(max(0, p.behind.Load()+waited-int64(n)*int64(time.Second)/slowRate))
}

// late is how much longer the reader has waited than slowGrace; not above zero of a body that is not slow or not read.
func (p *pace) late() time.Duration {
	since := p.since.Load()
	if since == 0 {
		return 0
	}
	return time.Duration(int64(time.Since(paceClock))-since+p.behind.Load()) - slowGrace
}

// giveUp ends the read under way and those to come. The caller holds that the request is not over: its connection is not yet
// another request's.
func (p *pace) giveUp() {
	p.over.Store(true)
	p.conn.SetReadDeadline(time.Unix(1, 0)) // of a closed connection the reads fail already
}

// errSlow is what the reads of a body give that was given up.
var errSlow = &Reject{Status: 408, Text: "Request timeout: the body arrived too slowly while other requests wait for the memory that it holds: try again later", Close: true}
