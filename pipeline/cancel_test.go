package pipeline

import (
	"context"
	"io"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
)

// cancelAtEnd is a body whose client goes away when all of it has been read.
type cancelAtEnd struct {
	io.Reader
	cancel context.CancelFunc
}

func (c cancelAtEnd) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF {
		c.cancel()
	}
	return n, err
}

// TestEntriesOfNobody: a request that was given up when its body had been read is not worked on to its end, however
// its entries are worked on: a body of a few bytes may be work for minutes.
func TestEntriesOfNobody(t *testing.T) {
	const document = "version: 2\ntransform: [{field: ts, type: 'epoch, ms', index: time}]\n"
	for name, entries := range map[string]int{"one worker": 100, "chunks": 50_000} {
		for _, skip := range []bool{false, true} {
			m := managerWith(t, map[string]string{"p": document})
			ctx, cancel := context.WithCancel(context.Background())
			body := cancelAtEnd{strings.NewReader(strings.Repeat(`{"ts":1,"a":"bcdefgh"}`+"\n", entries)), cancel}
			r := Request{DB: "public", Table: "t", Pipeline: "p", ContentType: "application/x-ndjson", SkipError: skip}
			out, err := m.run(ctx, &r, body, func(string, engine.Hint) *vector.Builder { return vector.NewBuilder() })
			if status.Of(err) != status.Cancelled {
				t.Errorf("%s, skip_error %v: %+v %v", name, skip, out, err)
			}
			cancel()
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	body := cancelAtEnd{strings.NewReader(`{"ts":1}{"ts":2}`), cancel}
	for _, each := range []bool{false, true} {
		_, err := managerWith(t, nil).DryRun(ctx,
			DryRun{Document: []byte(document), ContentType: "application/json", EachEntry: each}, body)
		if status.Of(err) != status.Cancelled {
			t.Errorf("dry run of each %v: %v", each, err)
		}
	}
}
