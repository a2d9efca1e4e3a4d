package web

import (
	"cmp"
	"context"
	"io"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/status"
)

// FreeAnswer is what every answer may have without being counted.
const FreeAnswer = freeIntake

// AnswerWait is how long an answer waits for room on a server, to be refused then.
const AnswerWait = 10 * time.Second

// crowdGrace is slowGrace where a crowd waits.
const crowdGrace = slowGrace / 4

// Answers bounds the bytes of the answers that are made and not read yet by their clients, and lets go those of slow
// readers when others wait: for room, or for what a query keeps whose answer is read while it is made. A client that
// reads slowly does no harm on a server where nobody waits. Safe for concurrent use.
type Answers struct {
	made  *Intake
	wait  time.Duration // for room, or for a turn
	turns chan struct{} // of who makes a long answer
	given atomic.Int64  // answers that were let go

	mu      sync.Mutex
	streams map[*Answer]struct{}
}

// NewAnswers makes room for so many bytes, for which an answer waits so long. changed, if not nil, is told how many
// there are after each change; it must not wait.
func NewAnswers(most int64, wait time.Duration, changed func(bytes int64)) *Answers {
	return &Answers{made: NewIntake(most, wait, status.RuntimeResourcesExhausted, changed), wait: wait,
		turns: newTurns(), streams: map[*Answer]struct{}{}}
}

// Bytes is how many bytes are made and not read yet.
func (a *Answers) Bytes() int64 { return a.made.Bytes() }

// Wait is how long an answer waits for room or for its turn.
func (a *Answers) Wait() time.Duration { return a.wait }

// Limit is how many bytes may be.
func (a *Answers) Limit() int64 { return a.made.Limit() }

// Given is how many answers were let go because their readers were slow and others waited; 0 of no answers.
func (a *Answers) Given() int64 {
	if a == nil {
		return 0
	}
	return a.given.Load() + a.made.given()
}

// Answer is one that is sent. It belongs to the goroutine that writes to the connection.
type Answer struct {
	Share
	of *Answers
}

// Begin begins to send an answer to a client of a network. giveUp makes the writes fail, the one that waits too; it
// must not wait.
func (a *Answers) Begin(client netip.Addr, giveUp func()) *Answer {
	s := &Answer{of: a}
	s.begin(a.made)
	s.part.sender, s.part.pace.stop = client, giveUp
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
	s.of.mu.Lock()
	s.of.streams[s] = struct{}{}
	s.of.mu.Unlock()
	if compressed {
		return s.Made(ctx, encoderBytes)
	}
	return nil
}

// Write writes to the connection, and notes how long that took.
func (s *Answer) Write(to io.Writer, p []byte) (int, error) { return s.part.pace.write(to, p) }

// End says that the answer is read, or its connection closed.
func (s *Answer) End() {
	s.of.mu.Lock()
	delete(s.of.streams, s)
	s.of.mu.Unlock()
	s.Release()
}

// GiveWay lets go of answers with slow readers for so many queries that wait, the slowest of the clients with the most
// first. Where more wait than there are answers that are made while they are read, a reader has a quarter of the time:
// a crowd of slow ones, each in its turn, would keep others waiting for longer than they do. soon is how many are about
// to go, or will be if they stand still a little longer.
func (a *Answers) GiveWay(waiting int) (soon int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	patience := slowGrace
	if waiting > len(a.streams) {
		patience = crowdGrace
	}
	type slowReader struct {
		pace   *pace
		client netip.Addr
		late   time.Duration
	}
	var slow []slowReader
	clients := map[netip.Addr]int{}
	left := waiting
	for s := range a.streams {
		p := &s.part.pace
		clients[s.part.sender]++
		if p.cancelled.Load() || p.behindBy(crowdGrace) > 0 {
			soon++
		}
		if p.cancelled.Load() {
			left-- // it is about to go
		} else if late := p.behindBy(patience); late > 0 {
			slow = append(slow, slowReader{p, s.part.sender, late})
		}
	}
	slices.SortFunc(slow, func(x, y slowReader) int {
		return cmp.Or(cmp.Compare(clients[y.client], clients[x.client]), cmp.Compare(y.late, x.late))
	})
	for _, s := range slow[:min(len(slow), max(left, 0))] {
		a.given.Add(1)
		s.pace.cancel()
	}
	return min(soon, waiting)
}
