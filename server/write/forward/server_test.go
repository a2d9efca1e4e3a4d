package forward_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"varve/engine"
	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
)

// TestForward: entries are rows of the table of their tag, answered when they are stored; one that does not fit is left
// out alone, and what came last is there when the server has stopped.
func TestForward(t *testing.T) {
	h := servertest.Real(t, nil)
	addr, stop := h.Forward()
	c := h.Connect(addr)
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
	exchange(
		"\x93\xa8kube.log\x92\x92\x01\x82\xa3msg\xa3one\xa1n\x01\x92\x02\x82\xa3msg\xa3two\xa1k\x81\xa1p\xa1q\x81\xa5chunk\xa2c1", ack+"c1")
	exchange(
		"\x93\xa8kube.log\x92\x92\x03\x82\xa3msg\xa5three\xa1n\xa4text\x92\x04\x81\xa3msg\xa4four\x81\xa5chunk\xa2c2",
		ack+"c2")
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+msg,n,%22k.p%22+FROM+%22kube.log%22+ORDER+BY+service_timestamp", ""), 200,
		`["one",1,null],["two",null,"q"]`)
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+count(*)+FROM+%22kube.log%22+WHERE+msg='four'", ""), 200, `[[1]]`)

	if _, err := io.WriteString(c, "\x93\xa4last\x07\x81\xa1a\x01"); err != nil {
		t.Fatal(err)
	}
	// nobody waits for its answer
	h.Eventually(func() bool { return h.Do("GET", "/v1/sql?sql=SELECT+a+FROM+last", "").Status == 200 })
	stop()
}

// brokenStore stores nothing, for reasons that are not in what it is sent.
type brokenStore struct{ web.Store }

func (brokenStore) Write(context.Context, *engine.WriteSet) ([]engine.Written, error) {
	return nil, errors.New("the disk is gone")
}

// TestForwardAnswersOnlyWhatIsStored: a message that is not stored is not answered, also where it fills its batch.
func TestForwardAnswersOnlyWhatIsStored(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Forward.Store = brokenStore{o.Admin.Store.(web.Store)} })
	addr, _ := h.Forward()
	const unanswered = "\x93\xa1t\x01\x81\xa1a\xa1x"
	for name, send := range map[string]string{
		"small": servertest.BigMessage(10), "nearly a batch": servertest.BigMessage(
			250 << 10), "a batch": servertest.BigMessage(256 << 10),
		"large":            servertest.BigMessage(1 << 20),
		"the last of many": strings.Repeat(unanswered, 4095) + servertest.BigMessage(10),
		"beside another":   unanswered + servertest.BigMessage(256<<10-40),
	} {
		c := h.Connect(addr)
		if _, err := io.WriteString(c, send); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(c); len(answer) > 0 || err != nil {
			t.Errorf("%s: answer %q, %v", name, answer, err)
		}
	}
}
