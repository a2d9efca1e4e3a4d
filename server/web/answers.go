package web

import (
	"context"
	"io"
	"net/netip"
	"time"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/status"
)

// FreeAnswer is what every answer may have without being counted.
const FreeAnswer = freeIntake

// AnswerWait is how long an answer waits for room on a server, to be refused then.
const AnswerWait = 10 * time.Second

// Answers bounds the bytes of the answers that are made and not read yet by their clients, and lets go those of slow
// readers when others wait: for room, or for what a query keeps whose answer is read while it is made. A client that
// reads slowly does no harm on a server where nobody waits. Safe for concurrent use.
type Answers struct {
	made  Intake
	turns chan struct{} // of who makes a long answer
}

// NewAnswers makes room for answers with an account of its own, of most bytes. An answer waits for wait, then it is
// refused.
func NewAnswers(most int64, wait time.Duration) *Answers {
	return AnswersOf(ledger.Single(admission.Answer, most, nil), wait)
}

// AnswersOf makes room for answers that take their bytes from an account. While queries of that account wait, slow
// readers of answers give way.
func AnswersOf(memory *ledger.Ledger, wait time.Duration) *Answers {
	return &Answers{turns: newTurns(), made: Intake{memory: memory, class: admission.Answer, wait: wait,
		full: status.RuntimeResourcesExhausted}}
}

// Bytes is how many bytes are made and not read yet.
func (a *Answers) Bytes() int64 { return a.made.Bytes() }

// Wait is how long an answer waits for room or for its turn.
func (a *Answers) Wait() time.Duration { return a.made.wait }

// Limit is how many bytes may be.
func (a *Answers) Limit() int64 { return a.made.Limit() }

// Given is how many answers were let go because their readers were slow and others waited; 0 of no answers.
func (a *Answers) Given() int64 {
	if a == nil {
		return 0
	}
	return a.made.memory.Given(admission.Answer)
}

// GiveWay lets go of answers with slow readers for so many requests that wait.
func (a *Answers) GiveWay(waiting int) { a.made.memory.GiveWay(waiting) }

// Answer is one that is sent. It belongs to the goroutine that writes to the connection.
type Answer struct {
	Share
	of *Answers
}

// Begin begins to send an answer to a client of a network. giveUp makes the writes fail, the one that waits too; it
// must not wait.
func (a *Answers) Begin(client netip.Addr, giveUp func()) *Answer {
	s := &Answer{of: a}
	s.begin(&a.made, client)
	s.pace.stop = giveUp
	return s
}

// Made counts an answer of so many bytes, and waits for room.
func (s *Answer) Made(ctx context.Context, bytes int64) error {
	err := s.Hold(ctx, bytes)
	if status.Of(err) == status.RuntimeResourcesExhausted {
		return status.New(status.RuntimeResourcesExhausted,
			"Answers that clients have not read yet hold %d MiB, at most %d MiB may be held: try again later",
			s.of.Bytes()>>20, s.of.Limit()>>20)
	}
	return err
}

// Stream says that the answer is made while it is read: its query waits for the reader. One that is compressed waits
// for room for that.
func (s *Answer) Stream(ctx context.Context, compressed bool) error {
	s.ticket.Stream()
	if compressed {
		return s.Made(ctx, encoderBytes)
	}
	return nil
}

// Write writes to the connection, and notes how long that took.
func (s *Answer) Write(to io.Writer, p []byte) (int, error) { return s.pace.write(to, p) }

// End says that the answer is read, or its connection closed.
func (s *Answer) End() { s.Release() }
