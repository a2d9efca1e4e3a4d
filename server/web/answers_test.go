package web

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"varve/engine/status"
)

// reader is a client that reads an answer as it is sent.
type reader struct {
	answer *Answer
	conn   net.Conn // the client's end
	ended  error    // of the writer; after done
	done   chan struct{}
}

// newReader begins an endless answer; bytes are made of it, 0: it is made while it is read.
func newReader(t *testing.T, a *Answers, of netip.Addr, bytes int64) *reader {
	t.Helper()
	client, server := net.Pipe()
	r := &reader{conn: client, done: make(chan struct{})}
	r.answer = a.Begin(of, func() { server.SetWriteDeadline(time.Unix(1, 0)) })
	var err error
	if bytes == 0 {
		err = r.answer.Stream(t.Context(), false)
	} else {
		err = r.answer.Made(t.Context(), bytes)
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		for r.ended == nil {
			_, r.ended = r.answer.Write(server, make([]byte, 1<<10))
		}
		r.answer.End()
		server.Close()
	}()
	return r
}

// read reads n bytes after every pause until the answer is over.
func (r *reader) read(n int64, pause time.Duration) {
	for tick := time.NewTicker(pause); ; {
		select {
		case <-tick.C:
			if _, err := io.CopyN(io.Discard, r.conn, n); err != nil {
				return
			}
		case <-r.done:
			return
		}
	}
}

func (r *reader) over() bool {
	synctest.Wait()
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// TestSlowReadersGiveWay: answers that are made while they are read are let go when queries wait and their readers
// stand still or trickle, no more than wait, those of the client with the most first; nobody is let go while none
// waits, and who reads goes on.
func TestSlowReadersGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewAnswers(1<<20, AnswerWait)
		many, few := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		still, trickle, other, quick := newReader(t, a, many, 0), newReader(t, a, many, 0), newReader(t, a, few, 0),
			newReader(t, a, many, 0)
		go trickle.read(100, 100*time.Millisecond)
		go quick.read(64<<10, 100*time.Millisecond)
		<-time.After(time.Minute + 50*time.Millisecond)
		if still.over() || trickle.over() || other.over() || quick.over() {
			t.Fatal("somebody is let go although nobody waits")
		}
		a.GiveWay(2)
		if !still.over() || !trickle.over() || other.over() || quick.over() || a.Given() != 2 {
			t.Errorf("two wait: let go are %v %v %v %v", still.over(), trickle.over(), other.over(), quick.over())
		}
		a.GiveWay(4)
		if !other.over() || quick.over() {
			t.Errorf("four wait: let go are %v %v", other.over(), quick.over())
		}
		quick.conn.Close()
		if quick.over(); a.made.memory.GiveWay(1) != 0 || a.Given() != 3 {
			t.Errorf("an answer is left, %d were let go", a.Given())
		}
	})
}

// TestCrowdsHaveLessTime: where more wait than there are readers, these have a quarter of the time.
func TestCrowdsHaveLessTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewAnswers(1<<20, AnswerWait)
		r := newReader(t, a, netip.Addr{}, 0)
		<-time.After(slowGrace / 2)
		if a.GiveWay(1); r.over() {
			t.Error("one waits: the reader is let go before its time")
		}
		if a.GiveWay(2); !r.over() {
			t.Error("a crowd waits: the reader goes on")
		}
	})
}

// TestAnswersHaveRoom: an answer that is made waits for room, which slow readers give way for and others only as they
// read on.
func TestAnswersHaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewAnswers(1<<20, AnswerWait)
		quick := newReader(t, a, netip.Addr{}, 1<<20)
		go quick.read(64<<10, 100*time.Millisecond)
		refused := a.Begin(netip.Addr{}, nil)
		if err := refused.Made(t.Context(), 512<<10); status.Of(err) != status.RuntimeResourcesExhausted ||
			quick.over() {
			t.Errorf("all are read quickly: %v", err)
		}
		refused.End()
		quick.conn.Close()
		<-quick.done
		slow := newReader(t, a, netip.Addr{}, 1<<20)
		next := a.Begin(netip.Addr{}, nil)
		if err := next.Made(t.Context(), 512<<10); err != nil || !slow.over() || a.Given() != 1 {
			t.Errorf("a slow reader: %v", err)
		}
		next.End()
		packed := a.Begin(netip.Addr{}, nil)
		if err := packed.Stream(t.Context(), true); err != nil || a.Bytes() < encoderBytes-FreeAnswer {
			t.Errorf("a compressed answer: %v, %d bytes", err, a.Bytes())
		}
		packed.End()
		if a.Bytes() != 0 {
			t.Errorf("%d bytes are left", a.Bytes())
		}
	})
}
