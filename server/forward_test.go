package server

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"varve/engine"
	"varve/server/web"
)

// TestForward: entries are rows of the table of their tag, answered when they are stored; one that does not fit is left out alone, and what came last is there when the
// server has stopped.
func TestForward(t *testing.T) {
	h := real(t, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.s.ServeForward(ln) }()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	exchange := func(send, want string) {
		t.Helper()
		if _, err := io.WriteString(c, send); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
			t.Fatalf("answer %q, %v; want %q", got, err, want)
		}
	}
	const ack = "\x81\xa3ack\xda\x00\x02"
	exchange("\x93\xa8kube.log\x92\x92\x01\x82\xa3msg\xa3one\xa1n\x01\x92\x02\x82\xa3msg\xa3two\xa1k\x81\xa1p\xa1q\x81\xa5chunk\xa2c1", ack+"c1")
	exchange("\x93\xa8kube.log\x92\x92\x03\x82\xa3msg\xa5three\xa1n\xa4text\x92\x04\x81\xa3msg\xa4four\x81\xa5chunk\xa2c2", ack+"c2")
	h.want(h.do("GET", "/v1/sql?sql=SELECT+msg,n,%22k.p%22+FROM+%22kube.log%22+ORDER+BY+service_timestamp", ""), 200, `["one",1,null],["two",null,"q"]`)
	h.want(h.do("GET", "/v1/sql?sql=SELECT+count(*)+FROM+%22kube.log%22+WHERE+msg='four'", ""), 200, `[[1]]`)

	if _, err := io.WriteString(c, "\x93\xa4last\x07\x81\xa1a\x01"); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); h.do("GET", "/v1/sql?sql=SELECT+a+FROM+last", "").status != 200; <-tick.C {
		if time.Now().After(end) {
			t.Fatal("a message that nobody waits for is not stored")
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := h.s.listeners.shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// brokenStore stores nothing, for reasons that are not in what it is sent.
type brokenStore struct{ web.Store }

func (brokenStore) Write(context.Context, *engine.WriteSet) ([]engine.Written, error) {
	return nil, errors.New("the disk is gone")
}

// TestForwardAnswersOnlyWhatIsStored: a message that is not stored is not answered, also where it fills its batch.
func TestForwardAnswersOnlyWhatIsStored(t *testing.T) {
	h := real(t, func(o *Options) { o.Forward.Store = brokenStore{o.Admin.Store.(web.Store)} })
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.s.ServeForward(ln) }()
	text := func(size int) string {
		return "\x93\xa1t\x91\x92\x01\x81\xa1a\xdb" + string(binary.BigEndian.AppendUint32(nil, uint32(size))) + strings.Repeat("x", size) + "\x81\xa5chunk\xa2id"
	}
	const unanswered = "\x93\xa1t\x01\x81\xa1a\xa1x"
	for name, send := range map[string]string{
		"small": text(10), "nearly a batch": text(250 << 10), "a batch": text(256 << 10), "large": text(1 << 20),
		"the last of many": strings.Repeat(unanswered, 4095) + text(10), "beside another": unanswered + text(256<<10-40),
	} {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(c, send); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(c); len(answer) > 0 || err != nil {
			t.Errorf("%s: answer %q, %v", name, answer, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := h.s.listeners.shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
