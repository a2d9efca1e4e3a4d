// Package write_test tests what holds for all protocols that write rows, by a whole server.
package write_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
	"varve/server/write/rows/rejects"
)

// senders are the ways in which a number comes for the field v of a table, five times in a request.
var senders = map[string]func(h *servertest.House, table, v string) servertest.Answer{
	"bulk": func(h *servertest.House, table, v string) servertest.Answer {
		return h.Do("POST", servertest.BulkPath+"/_bulk",
			strings.Repeat(`{"index":{"_index":"`+table+`"}}`+"\n"+`{"v":`+v+"}\n", 5), "Content-Type",
			"application/x-ndjson")
	},
	"event_collector": func(h *servertest.House, table, v string) servertest.Answer {
		return h.Do("POST", servertest.CollectorPath+"/services/collector",
			strings.Repeat(`{"index":"`+table+`","event":{"v":`+v+`}}`, 5), "Content-Type", "application/json")
	},
	"agents": func(h *servertest.House, table, v string) servertest.Answer {
		return h.Do("POST", servertest.AgentLogs+"?table="+table, "["+strings.Repeat(`{"v":`+v+"},", 4)+`{"v":`+v+"}]",
			"Content-Type", "application/json")
	},
	"lines": func(h *servertest.House, table, v string) servertest.Answer {
		if !strings.Contains(v, ".") {
			v += "i"
		}
		var body strings.Builder
		for i := range 5 {
			fmt.Fprintf(&body, "%s,k=%s%d v=%s\n", table, v, i, v)
		}
		return h.Do("POST", "/v1/lineproto/write", body.String())
	},
	"ingest": func(h *servertest.House, table, v string) servertest.Answer {
		return h.Do("POST", "/v1/ingest?pipeline_name=service_identity&table="+table,
			strings.Repeat(`{"v":`+v+"}\n", 5), "Content-Type", "application/x-ndjson")
	},
}

// TestTwoSendersOfOneField: one brings a new field as 1, the other at once as 1.5, by each protocol. Nothing is
// refused, and all is there.
func TestTwoSendersOfOneField(t *testing.T) {
	h := servertest.Real(t, nil)
	for name, send := range senders {
		for round := range 8 {
			table := fmt.Sprintf("%s_%d", name, round)
			var sending sync.WaitGroup
			for _, v := range []string{"1", "1.5"} {
				sending.Go(func() {
					if a := send(h, table, v); a.Status > 204 || strings.Contains(a.Body, `"errors":true`) {
						t.Errorf("%s: %d %s", name, a.Status, a.Body)
					}
				})
			}
			sending.Wait()
			column := map[bool]string{true: `"event.v"`, false: "v"}[name == "event_collector"]
			if got := fmt.Sprint(h.Selected("SELECT count(*), sum(" + column + ") FROM " + table)); got !=
				"[[10 12.5]]" {
				t.Errorf("%s: %s", table, got)
			}
		}
	}
}

// TestEntriesFailAlone: where an answer can name entries, a bad one costs no other.
func TestEntriesFailAlone(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(
		h.SQL(
			`CREATE TABLE fixed (service_timestamp TIMESTAMP(9) TIME INDEX, need STRING NOT NULL, n BIGINT, big BIGINT) WITH (append_mode = 'true')`), 200, "")
	h.Want(h.SQL(`INSERT INTO fixed VALUES (1, 'a', 1, 9007199254740993)`), 200, "")
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	bulk := func(documents ...string) servertest.Answer {
		body := ""
		for _, d := range documents {
			index, document, _ := strings.Cut(d, " ")
			body += `{"index":{"_index":"` + index + `"}}` + "\n" + document + "\n"
		}
		return h.Do("POST", servertest.BulkPath+"/_bulk", body, "Content-Type", "application/x-ndjson")
	}
	statuses := func(a servertest.Answer) (list string) {
		for _, piece := range strings.Split(a.Body, `"status":`)[1:] {
			list += piece[:3] + " "
		}
		return list
	}
	a := bulk(`fixed {"need":"b"}`, `fixed {"n":2}`, `fixed {"need":"c","n":"text"}`, `fixed {"need":"d","big":0.5}`,
		`fixed {"need":"e"}`, `other {"x":1}`, `a/b {"x":1}`, `other {"x":"text"}`, `other `+deep, `other {"x":2}`)
	if got := statuses(a); got != "201 400 400 400 201 201 400 400 400 201 " {
		t.Errorf("bulk: %s: %s", got, a.Body)
	}
	h.Want(a, 200, `Column datatype mismatch. For column: n, expected datatype: Int64, actual datatype: String`)
	h.Want(a, 200, `it holds the integer 9007199254740993, which a float cannot hold exactly`)
	h.Want(h.SQL("SELECT count(*) FROM fixed"), 200, "[[3]]")
	h.Want(h.SQL("SELECT count(*) FROM other"), 200, "[[2]]")

	h.Want(h.SQL("ADMIN flush_table('fixed')"), 200, "")
	a = bulk(`fixed {"need":"f","big":1.5}`, `fixed {"need":"g","big":7}`, `fixed {"need":"h","big":-8.0}`,
		`fixed {"need":"i","big":9007199254740993}`, `fixed {"need":"j","big":1e300}`)
	if got := statuses(a); got != "400 201 201 400 400 " {
		t.Errorf("bulk: %s: %s", got, a.Body)
	}
	h.Want(h.SQL("SELECT sum(big - 9007199254740993) FROM fixed WHERE big > 1000"), 200, "[[0]]")
	h.Want(h.SQL("SELECT count(*), sum(big) FROM fixed WHERE big < 1000"), 200, "[[2,-1]]")

	a = h.Do("POST", servertest.CollectorPath+"/services/collector",
		`{"event":"one"}{"event":""}{"event":{"n":1}}[{"event":{"n":{"a":`+deep+
			`}}},{"event":{"n":"text"}},{"time":"never","event":"x"}]{"event":"last"}`, "Content-Type",
		"application/json")
	h.Want(a, 400, `"code":13,"invalid-event-number":1,`)
	h.Want(a, 400, `"stored":3,"failed":4,"failures":[{"event":1,`)
	h.Want(h.SQL("SELECT count(*) FROM splunk_logs"), 200, "[[3]]")

	a = h.Do("POST", servertest.AgentLogs+"?table=agents", `[{"n":1},{"n":"text"},5,{"n":tru},`+deep+`,{"n":2.5}]`,
		"Content-Type", "application/json")
	h.Want(a, 400, `log 2, one of 4 that are not stored: `)
	h.Want(h.SQL("SELECT count(*), sum(n) FROM agents"), 200, "[[2,3.5]]")

	h.Want(h.SQL(`CREATE TABLE points (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, service_value BIGINT)`),
		200, "")
	h.Want(h.SQL(`INSERT INTO points VALUES (1, 'a', 9007199254740993)`), 200, "")
	a = h.Do("POST", "/v1/jsonput/api/put?details",
		`[{"metric":"points","timestamp":2,"value":1.5,"tags":{"host":"a"}},{"metric":"p/q","timestamp":2,"value":1,"tags":{}},{"metric":"fine","timestamp":2,"value":1,"tags":{}}]`)
	h.Want(a, 200, `{"success":1,"failed":2,`)
	h.Want(h.SQL("SELECT count(*) FROM fine"), 200, "[[1]]")

	a = h.Do("POST", "/v1/lineproto/api/v3/write_lp?db=public",
		"m v=1\npoints,host=a service_value=0.5\nm v=2\nx/y v=1\n")
	h.Want(a, 400, `"line_number":2,`)
	h.Want(a, 400, `"line_number":4,`)
	h.Want(h.SQL("SELECT count(*) FROM m"), 200, "[[1]]") // of one series and time
}

// TestRejects: what cannot be stored and whose sender cannot be told is in a table of the server, with the reason; what
// stands beside it is stored.
func TestRejects(t *testing.T) {
	var left *rejects.Log
	h := servertest.Real(t, func(o *server.Options) {
		left = rejects.New(o.Admin.Store.(web.Store), nil)
		o.Rows.Rejects = left
	})
	h.Want(
		h.SQL(`CREATE TABLE syslog (timestamp TIMESTAMP(9) TIME INDEX, hostname STRING PRIMARY KEY, message BIGINT)`),
		200, "")
	addr, stop := h.Forward()
	c := h.Connect(addr)
	deep := strings.Repeat("\x81\xa1a", 300) + "\x01"
	send := "\x93\xabkube/a/b.log\x95\x92\x01\x81\xa1n\x01\x92\x02\x81\xa1d" + deep +
		"\x92\x03\xa4text\x92\x04\x81\xa1n\xa4text\x92\x05\x81\xa1n\x02\x81\xa5chunk\xa2c1"
	send = strings.Replace(send, "\xabkube/a/b.log", "\xackube/a/b.log", 1)
	if _, err := io.WriteString(c, send); err != nil {
		t.Fatal(err)
	}
	const ack = "\x81\xa3ack\xda\x00\x02c1"
	got := make([]byte, len(ack))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != ack {
		t.Fatalf("answer %q, %v", got, err)
	}
	h.Want(h.SQL(`SELECT count(*), sum(n) FROM "kube_a_b.log"`), 200, "[[2,3]]")
	h.Want(h.SQL(`SELECT protocol, "table", count(*) FROM service_private.rejected GROUP BY protocol, "table"`), 200,
		`[["forward","kube_a_b.log",3]]`)
	h.Want(
		h.SQL(
			`SELECT count(*) FROM service_private.rejected WHERE reason LIKE '%a record is not a map%' OR entry = '{"service_timestamp":4000000000,"n":"text"}'`), 200, `[[2]]`)
	stop()
}

// TestVariablesOfShippers: what shippers send names no options of tables, and is kept as fields, unless the
// configuration lets it.
func TestVariablesOfShippers(t *testing.T) {
	for _, steers := range []bool{false, true} {
		h := servertest.Real(t, func(o *server.Options) { o.Rows.Variables = steers })
		h.Want(h.Do("POST", servertest.BulkPath+"/t/_bulk", "{\"index\":{}}\n{\"a\":1,\"service_ttl\":\"1d\"}\n",
			"Content-Type", "application/x-ndjson"), 200, `"errors":false`)
		shown := h.SQL("SHOW CREATE TABLE t").Body
		if strings.Contains(shown, "ttl = '1day'") != steers || strings.Contains(shown, "service_ttl") == steers {
			t.Errorf("steers %v: %s", steers, shown)
		}
		a := h.Do("POST", servertest.BulkPath+"/u/_bulk",
			"{\"index\":{}}\n{\"a\":1,\"service_ttl\":\"soon\"}\n{\"index\":{}}\n{\"a\":2}\n", "Content-Type",
			"application/x-ndjson")
		h.Want(a, 200, fmt.Sprintf(`"errors":%v`, steers))
		h.Want(h.SQL("SELECT sum(a) FROM u"), 200, map[bool]string{true: "[[2]]", false: "[[3]]"}[steers])
	}
}
