package web

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/status"
)

// Intake bounds the bytes of the bodies in hand, decompressed, or of their rows if these take more: rows lie in memory
// until the request is answered. A body without room waits in the queue of its class, see package admission; it is
// refused if there is no room in time. Safe for concurrent use.
type Intake struct {
	memory *ledger.Ledger
	class  admission.Class
	wait   time.Duration
	full   status.Code
}

const (
	// freeIntake is the size up to which bodies are not counted, so that queries and commands never wait for room.
	freeIntake = 64 << 10
	// intakeStep is what a body takes at a time.
	intakeStep = 256 << 10
)

// NewIntake makes an intake with an account of its own, of most bytes. A request waits for wait, then it is refused
// with code full.
func NewIntake(most int64, wait time.Duration, full status.Code) *Intake {
	return IntakeOf(ledger.Single(admission.Body, most, nil), wait, full)
}

// IntakeOf makes an intake that takes its bytes from an account.
func IntakeOf(memory *ledger.Ledger, wait time.Duration, full status.Code) *Intake {
	return &Intake{memory: memory, class: admission.Body, wait: wait, full: full}
}

// Bytes is how many bytes are in hand; 0 of no intake.
func (i *Intake) Bytes() int64 {
	if i == nil {
		return 0
	}
	return i.memory.Bytes(i.class)
}

// Limit is how many bytes may be in hand before others wait; 0 of no intake.
func (i *Intake) Limit() int64 {
	if i == nil {
		return 0
	}
	return i.memory.Limit(i.class)
}

// Waiting is how many bodies wait for room; 0 of no intake.
func (i *Intake) Waiting() int {
	if i == nil {
		return 0
	}
	return i.memory.Waiting(i.class)
}

// begin begins a ticket of a sender; pace is how slow its client is.
func (i *Intake) begin(t *ledger.Ticket, sender netip.Addr, pace *pace) {
	i.memory.Begin(t, i.class, sender, pace)
}

// grow takes n bytes more for a ticket, waiting for room.
func (i *Intake) grow(ctx context.Context, t *ledger.Ticket, n int64) error {
	err := t.Grow(ctx, n, ledger.Wait{Most: i.wait, Each: slowGrace / 4})
	if errors.Is(err, ledger.ErrFull) {
		return status.New(i.full,
			"Request body memory limit exceeded: the requests in progress hold %d bytes, "+
				"the limit is %d: try again later", i.Bytes(), i.Limit())
	}
	return err
}
