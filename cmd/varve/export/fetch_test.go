package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"varve/cmd/varve/client"
	"varve/cmd/varve/progress"
)

// answer is a stream of batches of whole numbers.
func answer(t *testing.T, batches ...[]int64) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	for _, values := range batches {
		builder := array.NewInt64Builder(memory.DefaultAllocator)
		builder.AppendValues(values, nil)
		column := builder.NewArray()
		if err := w.Write(array.NewRecordBatch(schema, []arrow.Array{column}, int64(len(values)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// connect makes a client of a server that answers as told.
func connect(t *testing.T, handler http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := (&client.Flags{URL: server.URL}).Connect(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCutAnswers: an answer that is cut anywhere is no answer, also where its length seems right; one with something
// behind it is none.
func TestCutAnswers(t *testing.T) {
	whole := answer(t, []int64{1, 2, 3}, []int64{4})
	rows := func(text []byte) (n int64, err error) {
		err = readArrow(bytes.NewReader(text), func(_ *arrow.Schema, b arrow.RecordBatch) error {
			if b != nil {
				n += b.NumRows()
			}
			return nil
		})
		return n, err
	}
	if n, err := rows(whole); n != 4 || err != nil {
		t.Fatalf("got %d %v", n, err)
	}
	for size := 1; size < len(whole); size++ {
		var broken *brokenError
		if _, err := rows(whole[:size]); !errors.As(err, &broken) {
			t.Fatalf("%d of %d bytes: %v", size, len(whole), err)
		}
	}
	if _, err := rows(append(whole, 'x')); err == nil {
		t.Error("what is behind the end is not noticed")
	}
	if _, err := rows(nil); !errors.Is(err, errNoRows) {
		t.Errorf("got %v", err)
	}
}

// TestMisbehavingServers: what is tried again, how long, and what is said at the end.
func TestMisbehavingServers(t *testing.T) {
	good := answer(t, []int64{1})
	for _, c := range []struct {
		name   string
		answer func(n int, w http.ResponseWriter)
		asked  int
		want   string // error
		least  time.Duration
	}{
		{"good", func(_ int, w http.ResponseWriter) { w.Write(good) }, 1, "", 0},
		{"busy twice", func(n int, w http.ResponseWriter) {
			if n < 2 {
				w.Header().Set("Retry-After", "7")
				http.Error(w, `{"code":6001,"error":"Too many queries are running"}`, http.StatusTooManyRequests)
				return
			}
			w.Write(good)
		}, 3, "", 14 * time.Second},
		{"failing for ever", func(_ int, w http.ResponseWriter) { http.Error(w, "no", http.StatusInternalServerError) },
			-1, "query failed (HTTP 500): no", time.Minute},
		{"a query that fails", func(_ int, w http.ResponseWriter) {
			http.Error(w, `{"code":3001,"error":"Divide by zero error"}`, http.StatusInternalServerError)
		}, 1, "query failed (3001): Divide by zero error", 0},
		{"wrong query", func(_ int, w http.ResponseWriter) {
			http.Error(w, `{"code":3000,"error":"No field named x"}`, http.StatusBadRequest)
		}, 1, "query failed (3000): No field named x", 0},
		{"not allowed", func(_ int, w http.ResponseWriter) {
			http.Error(w, `{"code":7006,"error":"read-only"}`, http.StatusForbidden)
		}, 1, "query failed (7006): read-only", 0},
		{"cut each time", func(_ int, w http.ResponseWriter) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			w.Write(good[:len(good)-9])
		}, mostBroken, "the answer broke off: unexpected EOF, 5 times; the log of the server says why", 0},
		{"cut once", func(n int, w http.ResponseWriter) { w.Write(good[:len(good)-min(1, 1-min(n, 1))]) }, 2, "", 0},
		{"a page", func(_ int, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>")
		}, 1, " did not answer with rows: text/html", 0},
		{"not Arrow", func(_ int, w http.ResponseWriter) { io.WriteString(w, "<html>") }, mostBroken,
			"the log of the server says why", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			server := connect(t, func(w http.ResponseWriter, _ *http.Request) {
				asked++
				w.Header().Set("Content-Type", "application/arrow")
				c.answer(asked-1, w)
			})
			var waited time.Duration
			r := &running{notes: newNotes(io.Discard, true)}
			r.tries = progress.Tries{First: progress.FirstWait, For: time.Hour, Again: mends, Say: r.sayAgain}
			r.tries.Sleep = func(_ context.Context, d time.Duration) error {
				if waited += d; waited > time.Minute && c.asked < 0 {
					r.tries.For = 0
				}
				return nil
			}
			err := r.patiently(t.Context(), func() error {
				return fetch(t.Context(), server, "public", "SELECT 1",
					func(*arrow.Schema, arrow.RecordBatch) error { return nil })
			})
			if c.asked > 0 && asked != c.asked || waited < c.least {
				t.Errorf("it was asked %d times within %s", asked, waited)
			}
			switch {
			case c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			case c.want == "" && err != nil:
				t.Error(err)
			}
		})
	}
}

// TestEndedWhileItWaits: Ctrl-C is the error of what waits for a server to come back, and of what reads.
func TestEndedWhileItWaits(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := &running{tries: progress.Tries{First: progress.FirstWait, For: time.Hour, Again: mends,
		Say: func(error, time.Duration) { cancel(stop) }}}
	server := connect(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "", http.StatusServiceUnavailable)
	})
	err := r.patiently(ctx, func() error {
		return fetch(ctx, server, "", "SELECT 1", func(*arrow.Schema, arrow.RecordBatch) error { return nil })
	})
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	server = connect(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/arrow")
		w.Write(answer(t, []int64{1})[:20])
		w.(http.Flusher).Flush()
		cancel(stop)
		<-r.Context().Done()
	})
	if err := fetch(ctx, server, "", "SELECT 1",
		func(*arrow.Schema, arrow.RecordBatch) error { return nil }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
