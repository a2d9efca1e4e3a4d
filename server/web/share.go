package web

import (
	"context"
	"sync"
	"sync/atomic"
)

// Share is what a request, or a batch of messages of a protocol without requests, has of an intake: its body, or what
// is made of it where that is more.
type Share struct {
	part    intakePart
	growing sync.Mutex   // held while part grows; protects refused
	refused error        // that it found no room
	counted atomic.Int64 // bytes that the intake knows of, or need not know of
}

// Share begins a share; of no intake it counts nothing.
func (i *Intake) Share() *Share {
	s := new(Share)
	s.begin(i)
	return s
}

func (s *Share) begin(i *Intake) {
	s.part.in = i
	s.counted.Store(freeIntake)
}

// Hold makes the share at least so many bytes, and waits for room as bodies do. It may be called by several goroutines,
// which wait for each other.
func (s *Share) Hold(ctx context.Context, bytes int64) error {
	if bytes <= s.counted.Load() || s.part.in == nil {
		return nil
	}
	s.growing.Lock()
	defer s.growing.Unlock()
	more := bytes - s.counted.Load()
	if more <= 0 || s.refused != nil {
		return s.refused
	}
	more = (more + intakeStep - 1) / intakeStep * intakeStep
	if s.refused = s.part.take(ctx, more); s.refused == nil {
		s.counted.Add(more)
	}
	return s.refused
}

// try counts so many bytes more if there is room for them now.
func (s *Share) try(bytes int64) bool {
	if s.part.in == nil || bytes <= freeIntake {
		return true
	}
	if !s.part.try(bytes) {
		s.part.standDown()
		return false
	}
	s.counted.Add(bytes)
	return true
}

// Release gives everything back.
func (s *Share) Release() { s.part.giveBack() }
