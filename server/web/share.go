package web

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"

	"varve/engine/admission/ledger"
)

// Share is what a request, or a batch of messages of a protocol without requests, holds of an intake: the bytes of its
// body, or of the rows made of it if these are more.
type Share struct {
	in      *Intake
	ticket  ledger.Ticket
	pace    pace
	growing sync.Mutex   // held while the ticket grows; protects refused
	refused error        // why the share found no room; nil: it never was refused
	counted atomic.Int64 // bytes that are counted, freeIntake included
}

// Share begins a share. If i is nil, the share counts nothing.
func (i *Intake) Share() *Share {
	s := new(Share)
	s.begin(i, netip.Addr{})
	return s
}

// begin begins a share of a sender; the zero Addr: of no sender in particular.
func (s *Share) begin(i *Intake, sender netip.Addr) {
	if s.in = i; i != nil {
		i.begin(&s.ticket, sender, &s.pace)
	}
	s.counted.Store(freeIntake)
}

// Hold makes the share at least bytes bytes, and waits for room as bodies do. Several goroutines may call it; they wait
// for each other.
func (s *Share) Hold(ctx context.Context, bytes int64) error {
	if bytes <= s.counted.Load() || s.in == nil {
		return nil
	}
	s.growing.Lock()
	defer s.growing.Unlock()
	more := bytes - s.counted.Load()
	if more <= 0 || s.refused != nil {
		return s.refused
	}
	more = (more + intakeStep - 1) / intakeStep * intakeStep
	if s.refused = s.in.grow(ctx, &s.ticket, more); s.refused == nil {
		s.counted.Add(more)
	}
	return s.refused
}

// try counts bytes bytes more if there is room for them now.
func (s *Share) try(bytes int64) bool {
	if s.in == nil || bytes <= freeIntake {
		return true
	}
	if !s.ticket.Try(bytes) {
		return false
	}
	s.counted.Add(bytes)
	return true
}

// Release gives everything back.
func (s *Share) Release() {
	if s.in != nil {
		s.ticket.Release()
	}
}
