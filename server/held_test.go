package server_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/status"
	"varve/pipeline"
	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
)

// heldStore looks at what requests hold when rows are written.
type heldStore struct {
	web.Store
	intake *web.Intake
	least  atomic.Int64
}

func (s *heldStore) Write(ctx context.Context, set *engine.WriteSet) ([]engine.Written, error) {
	held := s.intake.Bytes()
	for least := s.least.Load(); held < least && !s.least.CompareAndSwap(least, held); least = s.least.Load() {
	}
	return s.Store.Write(ctx, set)
}

// TestRowsOfManyAreCounted sends many small bodies at once whose rows are much in memory: together they hold no more
// than one more than their share, all get through, and what they hold is counted until the store has it.
func TestRowsOfManyAreCounted(t *testing.T) {
	const share, clients, rowBytes = 2 << 20, 24, 1 << 20
	var cells, list strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&cells, "{\"c%d\":1}\n", i%80)
	}
	list.WriteString(`{"l":[1` + strings.Repeat(",1", 4000) + "]}")
	for _, c := range []struct{ name, document, body string }{
		{"service_identity", "", cells.String()},
		{"columns",
			"version: 2\nprocessors:\n  - vrl:\n      source: |\n        .ts = now()\n        .\ntransform: [{field: ts, type: time, index: time}]\n", cells.String()},
		{"split",
			"version: 2\nprocessors:\n  - vrl:\n      source: |\n        out = []\n        for_each(array!(.l)) -> |i, v| { out = push(out, {\"ts\": now(), \"s\": \"" + strings.Repeat("x", 200) + "\"}) }\n" +
				"        . = out\ntransform: [{field: ts, type: time, index: time}]\n", list.String()},
	} {
		t.Run(c.name, func(t *testing.T) {
			var most atomic.Int64
			store := &heldStore{}
			store.least.Store(1 << 40)
			h := servertest.Real(t, func(o *server.Options) {
				o.Intake = web.IntakeOf(ledger.Single(admission.Body, share, func(held int64) {
					for m := most.Load(); held > m && !most.CompareAndSwap(m, held); m = most.Load() {
					}
				}), time.Minute, status.RegionBusy)
				store.Store, store.intake = o.Admin.Store.(web.Store), o.Intake
				o.Rows.Writer = web.NewWriter(store)
			})
			if c.document != "" {
				h.Want(h.Do("POST", "/v1/pipelines/"+c.name, c.document, "Content-Type", "application/x-yaml"), 200,
					c.name)
			}
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					h.Want(h.Do("POST", "/v1/ingest?table=t&pipeline_name="+c.name, c.body, "Content-Type",
						"application/x-ndjson"), 200, "")
				})
			}
			all.Wait()
			if m := most.Load(); m > 2*share || m < rowBytes {
				t.Errorf("requests held %d bytes, their share is %d", m, share)
			}
			if l := store.least.Load(); l < rowBytes/2 {
				t.Errorf("a request held %d bytes when its rows were written", l)
			}
			if left := store.intake.Bytes(); left != 0 {
				t.Errorf("%d bytes are held by nobody", left)
			}
		})
	}
}

// TestDryAnswersAreBounded: from both sides of the bound, for answers of tables and of entries.
func TestDryAnswersAreBounded(t *testing.T) {
	h := servertest.Real(t, nil)
	document := "version: 2\nprocessors:\n  - vrl:\n      source: |\n        out = []\n        for_each(array!(.l)) -> |i, v| { out = push(out, {\"ts\": now(), \"s\": \"" +
		strings.Repeat("x", 1000) + "\"}) }\n        . = out\ntransform: [{field: ts, type: time, index: time}]\n"
	for rows, want := range map[int]int{10_000: 200, 16_000: 400} {
		data := `{"l":[1` + strings.Repeat(",1", rows-1) + "]}"
		text := "dry_run"
		if want == 400 {
			text = "the limit is 16777216: send fewer entries"
		}
		body := fmt.Sprintf(`{"pipeline":%q,"data_type":"application/x-ndjson","data":%q}`, document, data)
		a := h.Do("POST", "/v1/pipelines/dryrun", body, "Content-Type", "application/json")
		h.Want(a, want, text)
		if len(a.Body) > 17<<20 || want == 200 && strings.Count(a.Body, "xxx\"") != rows {
			t.Errorf("%d rows: an answer of %d bytes", rows, len(a.Body))
		}
		form := "--b\r\nContent-Disposition: form-data; name=\"pipeline\"\r\n\r\n" + document +
			"\r\n--b\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\n" + data + "\r\n--b--\r\n"
		h.Want(h.Do("POST", "/v1/pipelines/dryrun", form, "Content-Type", "multipart/form-data; boundary=b"), want,
			text)
	}
}

// TestTextsThatAreNotRunAreBounded: from both sides of the bound, and far from it at once.
func TestTextsThatAreNotRunAreBounded(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, path := range []string{"/v1/sql/format", "/v1/sql/parse"} {
		for size, want := range map[int]int{1 << 20: 200, 1<<20 + 1: 400, 30 << 20: 400} {
			text := "select+1" + strings.Repeat("+", size-len("select 1"))
			start := time.Now()
			a := h.Do("POST", path, "sql="+text, "Content-Type", "application/x-www-form-urlencoded")
			if a.Status != want || want == 400 &&
				!strings.Contains(a.Body, fmt.Sprintf("SQL text of %d bytes is longer than 1048576", size)) {
				t.Errorf("%s of %d bytes: %d %.200s", path, size, a.Status, a.Body)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s of %d bytes took %v", path, size, took)
			}
		}
	}
}

// TestRowsOfOneAreBounded: what one request may hold is bounded however much room there is.
func TestRowsOfOneAreBounded(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Rows.Pipelines = pipeline.New(pipeline.Options{RowBytes: 1 << 20})
	})
	body := strings.Repeat(`{"a":"`+strings.Repeat("x", 1000)+"\"}\n", 1000)
	h.Want(h.Do("POST", servertest.IngestPath, body[:len(body)/2], "Content-Type", "application/x-ndjson"), 200, "")
	h.Want(h.Do("POST", servertest.IngestPath, body+body, "Content-Type", "application/x-ndjson"), 400,
		"the limit is 1048576, send fewer entries at a time")
}

// TestMessagesOfManyAreCounted: what is made of the messages of a listener is held with the bodies of requests, one
// that finds no room is tried again, and all are stored.
func TestMessagesOfManyAreCounted(t *testing.T) {
	const share, clients, entries = 2 << 20, 12, 20_000
	var most atomic.Int64
	store := &heldStore{}
	store.least.Store(1 << 40)
	h := servertest.Real(t, func(o *server.Options) {
		o.Intake = web.IntakeOf(ledger.Single(admission.Body, share, func(held int64) {
			for m := most.Load(); held > m && !most.CompareAndSwap(m, held); m = most.Load() {
			}
		}), 5*time.Millisecond, status.RegionBusy)
		store.Store, store.intake = o.Admin.Store.(web.Store), o.Intake
		o.Forward.Store = store
	})
	addr, stop := h.Forward()
	body := strings.Repeat("\x92\x01\x81\xa1a\x01", entries)
	message := "\x93\xa1t\xc6" + string(binary.BigEndian.AppendUint32(nil, uint32(len(body)))) + body +
		"\x81\xa5chunk\xa2id"
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(2 * time.Minute)) // a message that finds no room is tried again ever later
			answer := make([]byte, len("\x81\xa3ack\xda\x00\x02id"))
			if _, err := io.WriteString(c, message); err != nil {
				t.Error(err)
			} else if _, err := io.ReadFull(c, answer); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+count(*)+FROM+t", ""), 200, fmt.Sprintf("[[%d]]", clients*entries))
	if l, m := store.least.Load(), most.Load(); l < int64(len(body)) || m > 4*share {
		t.Errorf("a batch held %d bytes when its rows were written, all together %d, their share is %d", l, m, share)
	}
	if left := store.intake.Bytes(); left != 0 {
		t.Errorf("%d bytes are held by nobody", left)
	}
	stop()
}
