package syslog

import (
	"net"
	"sync"
	"time"
)

const (
	// queueBytes and queueLength bound the datagrams that wait. A datagram that comes while the queue is full is lost,
	// and counted.
	queueBytes  = 8 << 20
	queueLength = 16 << 10
	// socketBytes is the size of the socket's buffer that the server asks for.
	socketBytes = 4 << 20
)

// queue are datagrams between the goroutine that receives and the one that writes.
type queue struct {
	mu   sync.Mutex
	held int
	list chan datagram
}

type datagram struct {
	text []byte
	at   time.Time
}

// put adds a copy of a datagram; false: there is no room.
func (q *queue) put(text []byte, at time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held+len(text) > queueBytes {
		return false
	}
	select {
	case q.list <- datagram{append([]byte(nil), text...), at}:
		q.held += len(text)
		return true
	default:
		return false
	}
}

// took notes that a datagram has left.
func (q *queue) took(d datagram) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held -= len(d.text)
}

// ServeUDP takes the datagrams of c, a message each, until Shutdown.
func (s *Server) ServeUDP(c net.PacketConn) error {
	done, ok := s.streams.Keep(c)
	if !ok {
		return nil
	}
	if u, is := c.(*net.UDPConn); is {
		if err := u.SetReadBuffer(socketBytes); err != nil {
			s.o.Logger.Warn("syslog: the buffer of the socket stays small", "error", err)
		}
		s.drops.watch(u)
	}
	q := &queue{list: make(chan datagram, queueLength)}
	go func() {
		defer done()
		s.drain(q)
	}()
	defer close(q.list)
	buf := make([]byte, 64<<10)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			if s.streams.Stopping() {
				return nil
			}
			return err
		}
		text := trimmed(buf[:n])
		if len(text) > s.o.MaxMessage {
			s.cutOff(from)
			text = text[:s.o.MaxMessage]
		}
		if len(text) > 0 && !q.put(text, time.Now()) {
			s.lost.Inc()
		}
	}
}

// drain writes the datagrams of a queue until it is closed and empty.
func (s *Server) drain(q *queue) {
	batch := s.streams.NewBatch()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case d, open := <-q.list:
			if !open {
				batch.Flush()
				return
			}
			q.took(d)
			batch.Add(d.text, d.at)
		case <-tick.C:
			batch.Flush()
		}
	}
}
