package write_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"varve/engine"
	"varve/engine/status"
	"varve/pipeline"
	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
	"varve/server/write/rows/rejects"
)

// tellers are the ways of objects into a table whose answers tell of each entry. Columns of the event collector have
// its prefix.
var tellers = map[string]func(h *servertest.House, table string, objects []string) servertest.Answer{
	"bulk": func(h *servertest.House, table string, objects []string) servertest.Answer {
		const action = `{"create":{}}` + "\n"
		return h.Do("POST", servertest.BulkPath+"/"+table+"/_bulk", action+strings.Join(objects, "\n"+action)+"\n",
			"Content-Type", "application/x-ndjson")
	},
	"through": func(h *servertest.House, table string, objects []string) servertest.Answer {
		const action = `{"create":{}}` + "\n"
		text := action + strings.Join(objects, "\n"+action) + "\n"
		text = strings.NewReplacer(`{"g`, `{"ts":1,"g`, `{"a0`, `{"ts":1,"a0`, `{"b0`, `{"ts":1,"b0`, `{"c0`,
			`{"ts":1,"c0`).Replace(text)
		return h.Do("POST", servertest.BulkPath+"/"+table+"/_bulk?pipeline_name=asis", text, "Content-Type",
			"application/x-ndjson")
	},
	"hec": func(h *servertest.House, table string, objects []string) servertest.Answer {
		event := `{"index":"` + table + `","event":`
		return h.Do("POST", servertest.CollectorPath+"/services/collector", event+strings.Join(objects, "}"+event)+"}",
			"Content-Type", "application/json")
	},
	"agents": func(h *servertest.House, table string, objects []string) servertest.Answer {
		return h.Do("POST", servertest.AgentLogs+"?table="+table, "["+strings.Join(objects, ",")+"]", "Content-Type",
			"application/json")
	},
}

// asIs makes a pipeline that stores objects as they are.
func asIs(h *servertest.House) {
	h.Want(h.Do("POST", "/v1/pipelines/asis", "processors: [{epoch: {field: ts}}]", "Content-Type",
		"application/x-yaml"), 200, "")
}

// newFields are n objects that bring a field each.
func newFields(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf(`{"g%d":1}`, i))
	}
	return list
}

// newFieldsMessage is a message of the forward protocol with n records that bring a field each.
func newFieldsMessage(n int) string {
	b := append([]byte("\x93\xa6fields\xdc"), byte(n>>8), byte(n))
	for i := range n {
		name := fmt.Sprintf("g%d", i)
		b = append(append(append(b, "\x92\x01\x81"...), 0xa0|byte(len(name))), name+"\x01"...)
	}
	return string(append(b, "\x81\xa5chunk\xa2id"...))
}

// TestManyNewFields: entries that a batch in memory cannot hold together are stored in parts. JSON ingest is all or
// nothing.
func TestManyNewFields(t *testing.T) {
	h := rejecting(t)
	asIs(h)
	for name, send := range tellers {
		if a := send(h, name, newFields(1000)); a.Status > 202 || strings.Contains(a.Body, `"errors":true`) {
			t.Errorf("%s: %d %.300s", name, a.Status, a.Body)
		}
		h.Holds("SELECT count(*) FROM \""+name+"\"", "[[1000]]")
	}
	h.Want(h.Do("POST", "/v1/ingest?pipeline_name=service_identity&table=whole", strings.Join(newFields(1000), "\n"),
		"Content-Type", "application/x-ndjson"), 400, "more cells")
	h.Want(h.SQL("SELECT count(*) FROM whole"), 400, "Table not found")

	addr, _ := h.Forward()
	answered(h, addr, newFieldsMessage(2000), servertest.BigAnswer)
	h.Holds("SELECT count(*), sum(g0), sum(g1999) FROM fields", "[[2000 1 1]]")
	answered(h, addr, newFieldsMessage(4400), servertest.BigAnswer)
	h.Holds(`SELECT (SELECT count(*) FROM fields), count(*) FROM service_private.rejected WHERE "table" = 'fields'`,
		"[[6095 305]]")
}

// answered sends to an address and wants an answer.
func answered(h *servertest.House, addr, send, want string) {
	h.Helper()
	c := h.Connect(addr)
	if _, err := io.WriteString(c, send); err != nil {
		h.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		h.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestWideEntriesFailAlone: an entry with more fields than its table has columns, alone or with those before it, takes
// no place from entries behind it.
func TestWideEntriesFailAlone(t *testing.T) {
	h := rejecting(t)
	asIs(h)
	wide := func(prefix string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%s%d":1`, prefix, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	for name, send := range tellers {
		good := "good"
		if name == "hec" {
			good = `"event.good"`
		}
		if a := send(h, name, []string{wide("a", 3000), wide("b", 3000), wide("c", 5000),
			`{"good":1}`}); !strings.Contains(a.Body, "at most 4096 columns") {
			t.Errorf("%s: %d %.300s", name, a.Status, a.Body)
		}
		h.Holds("SELECT count(*), sum("+good+") FROM \""+name+"\"", "[[2 1]]")
	}

	var journal strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&journal, "F%d=1\n", i)
	}
	h.Want(h.Do("POST", "/v1/journald/upload",
		journal.String()+"\nMESSAGE=a\nF2=x\n\n"+journal.String()+"\nMESSAGE=b\n\n", "Content-Type",
		"application/vnd.fdo.journal"), 200, "OK")
	h.Holds(`SELECT "MESSAGE", "F2" FROM journald_logs ORDER BY "MESSAGE"`, "[[a x] [b <nil>]]")
	h.Holds("SELECT count(*) FROM service_private.rejected WHERE reason LIKE '%F409_''%'", "[[2]]")

	tags := strings.ReplaceAll(wide("t", 5000), ":1", `:"x"`)
	h.Want(h.Do("POST", "/v1/jsonput/api/put?details",
		`[{"metric":"put","timestamp":1,"value":1,"tags":`+tags+
			`},{"metric":"put","timestamp":2,"value":2,"tags":{"good":"x"}}]`), 200, `"success":1,"failed":1`)
	h.Holds("SELECT good, service_value FROM put", "[[x 2]]")
}

// refusing is a store that refuses rejects some times, for a time or for good.
type refusing struct {
	web.Store
	left atomic.Int64
	why  error
}

func (r *refusing) Write(ctx context.Context, s *engine.WriteSet) ([]engine.Written, error) {
	if r.left.Add(-1) >= 0 {
		return nil, r.why
	}
	return r.Store.Write(ctx, s)
}

// TestRejectsFindNoRoom: what is left out of a message and finds no place among the rejects either is not acknowledged.
// The sender waits where time helps.
func TestRejectsFindNoRoom(t *testing.T) {
	full := status.New(status.StorageUnavailable, "memtables are full")
	store := &refusing{why: full}
	h := servertest.Real(t, func(o *server.Options) {
		store.Store = o.Admin.Store.(web.Store)
		o.Rows.Rejects = rejects.New(store, nil)
	})
	addr, _ := h.Forward()
	message := func(value string) string {
		// the second record is no map
		return "\x93\xa1t\x92\x92\x01\x81\xa1a" + value + "\x92\x02\x07" + "\x81\xa5chunk\xa2id"
	}
	store.left.Store(3)
	answered(h, addr, message("\x01"), servertest.BigAnswer)
	h.Holds("SELECT count(*) FROM t", "[[1]]") // the rows are not written again
	h.Holds("SELECT count(*) FROM service_private.rejected", "[[1]]")

	store.why = errors.New("the disk is gone")
	store.left.Store(1)
	c := h.Connect(addr)
	if _, err := io.WriteString(c, message("\x02")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); len(got) > 0 || err != nil {
		t.Errorf("answer %q, %v", got, err)
	}
	answered(h, addr, message("\x02"), servertest.BigAnswer)
	h.Holds("SELECT count(*) FROM service_private.rejected", "[[2]]")

	store.why = full
	store.left.Store(2)
	ln := h.Listen()
	h.Serving(func() error { return h.Server.ServeSyslog(ln) })
	h.Want(
		h.SQL(
			`CREATE TABLE syslog (service_timestamp TIMESTAMP(9) TIME INDEX, message BIGINT) WITH (append_mode = 'true')`), 200, "")
	if _, err := io.WriteString(h.Connect(ln.Addr().String()), "<34>1 2026-01-02T03:04:05Z web su 7 - - one\n"); err !=
		nil {
		t.Fatal(err)
	}
	await(h, "SELECT count(*) FROM service_private.rejected", "[[3]]")

	h.Want(
		h.SQL(
			`CREATE TABLE journald_logs (service_timestamp TIMESTAMP(9) TIME INDEX, "N" BIGINT) WITH (append_mode = 'true')`), 200, "")
	store.left.Store(1)
	for _, want := range []int{503, 200} {
		h.Want(h.Do("POST", "/v1/journald/upload", "N=x\n\n", "Content-Type", "application/vnd.fdo.journal"), want, "")
	}
	h.Holds("SELECT count(*) FROM service_private.rejected", "[[4]]")
}

// TestForwardTags: every tag makes the name of a table.
func TestForwardTags(t *testing.T) {
	h := rejecting(t)
	addr, _ := h.Forward()
	for tag, table := range map[string]string{"": "_", ".": "_", "..": "__", "a/b": "a_b", "...": "..."} {
		var count int64
		if rows := h.SQL(`SELECT count(*) FROM "` + table + `"`); rows.Status == 200 {
			count = 1
		}
		answered(h, addr, "\x94"+string([]byte{0xa0 | byte(len(tag))})+tag+"\x01\x81\xa1a\x01\x81\xa5chunk\xa2id",
			servertest.BigAnswer)
		h.Holds(`SELECT count(*) FROM "`+table+`"`, fmt.Sprintf("[[%d]]", count+1))
	}
}

// TestCutAgentBody: a body of logs without its end is told of; the logs before it are stored.
func TestCutAgentBody(t *testing.T) {
	h := servertest.Real(t, nil)
	const whole = ` [{"message":"a"},{"message":"b"}] `
	for n := strings.LastIndex(whole, "}") + 1; n <= len(whole); n++ {
		status, text := 202, "{}"
		if !strings.Contains(whole[:n], "]") {
			status, text = 400, "log 3, one of 1 that are not stored: the body ends before"
		}
		h.Want(h.Do("POST", servertest.AgentLogs+"?table=cut", whole[:n], "Content-Type", "application/json"), status,
			text)
	}
	h.Want(h.Do("POST", servertest.AgentLogs+"?table=cut", `{"message":"a"} {"message":"]"}`, "Content-Type",
		"application/json"), 202, "")
	h.Holds("SELECT count(*) FROM cut", "[[8]]")
}

// TestPutRefusedWhole: points that a database or a view refuses are told of as they were sent.
func TestPutRefusedWhole(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.SQL("CREATE TABLE of (ts TIMESTAMP TIME INDEX); CREATE VIEW shown AS SELECT * FROM of"), 200, "")
	const bad, first, second = `{"metric":"shown","timestamp":1,"value":"x","tags":{"a":"b"}}`,
		`{"metric":"shown","timestamp":1,"value":1,"tags":{"a":"b"}}`,
		`{"metric":"shown","timestamp":2,"value":1,"tags":{"a":"b"}}`
	for path, reason := range map[string]string{"": "is a view", "&db=absent": "Failed to find schema"} {
		a := h.Do("POST", "/v1/jsonput/api/put?details"+path, "["+first+","+bad+","+second+"]")
		h.Want(a, 200, `"success":0,"failed":3`)
		h.Want(a, 200, `{"datapoint":`+first+`,"error":`)
		h.Want(a, 200, `{"datapoint":`+second+`,"error":`)
		if n := strings.Count(a.Body, reason); n != 2 {
			t.Errorf("%d points with %q: %s", n, reason, a.Body)
		}
	}
}

// TestLargeRowsInParts: records whose rows together are larger than a batch may be are stored in parts; one that is so
// alone is kept with the reason.
func TestLargeRowsInParts(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Rows.Pipelines = pipeline.New(pipeline.Options{RowBytes: 1 << 20})
		o.Rows.Rejects = rejects.New(o.Admin.Store.(web.Store), nil)
	})
	addr, _ := h.Forward()
	b := append([]byte("\x93\xa1t\xdc"), 0, 201)
	for i := range 201 {
		size := 16 << 10
		if i == 100 {
			size = 2 << 20
		}
		b = binary.BigEndian.AppendUint32(append(b, "\x92\x01\x81\xa1a\xdb"...), uint32(size))
		b = append(b, strings.Repeat("x", size)...)
	}
	answered(h, addr, string(b)+"\x81\xa5chunk\xa2id", servertest.BigAnswer)
	h.Holds("SELECT count(*), max(length(a)) FROM t", "[[200 16384]]")
	h.Holds("SELECT count(*) FROM service_private.rejected WHERE reason LIKE '%the limit is 1048576%'", "[[1]]")
}
