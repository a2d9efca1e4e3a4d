package web

import (
	"io"
	"net/netip"
)

// ErrSlow is the error of reads of a stream that was given up.
var ErrSlow error = errGivenUp

// Stream is a message of a protocol without requests as it arrives, with its share of an intake. It belongs to one
// goroutine.
type Stream struct {
	Share
	from io.Reader
}

// Stream begins the share of a message that r reads, of a sender at an address. When messages wait for room, the next
// one is of the sender that holds least. A message that comes slower than rate bytes/s is then given up: giveUp ends
// the reads of r, without waiting.
func (i *Intake) Stream(r io.Reader, sender netip.Addr, rate int, giveUp func()) *Stream {
	s := &Stream{from: r}
	s.begin(i, sender)
	s.pace.rate, s.pace.stop = int64(rate), giveUp
	return s
}

// Read reads, and notes how long that took.
func (s *Stream) Read(p []byte) (int, error) { return s.pace.read(s.from, p) }
