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

// FreeAnswer is the size, in bytes, up to which answers are not counted.
const FreeAnswer = freeIntake

// AnswerWait is how long an answer of the server waits for room before it is refused.
const AnswerWait = 10 * time.Second

// Answers bounds the bytes of the answers that are made and not read yet by their clients. It cuts off slow readers
// when others wait: answers for room, or queries for the memory of a query whose answer is read while it is made. While
// nobody waits, a client may read as slowly as it likes. Safe for concurrent use.
type Answers struct {
	made  Intake
	turns chan struct{} // taken by requests that make a long answer
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

// Limit is the most bytes that may be made and not read yet.
func (a *Answers) Limit() int64 { return a.made.Limit() }

// Given is how many answers were cut off because their readers were slow and others waited; 0 if a is nil.
func (a *Answers) Given() int64 {
	if a == nil {
		return 0
	}
	return a.made.memory.Given(admission.Answer)
}

// GiveWay cuts off answers with slow readers in favour of a number of requests that wait.
func (a *Answers) GiveWay(waiting int) { a.made.memory.GiveWay(waiting) }

// Answer is an answer that is sent. It belongs to the goroutine that writes to the connection.
type Answer struct {
	Share
	of *Answers
}

// Begin begins to send an answer to a client of a network. giveUp makes writes fail, including one that waits; it must
// not wait itself.
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

// Stream says that the answer is made while it is read: its query waits for the reader. A compressed answer waits for
// room for its encoder.
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
