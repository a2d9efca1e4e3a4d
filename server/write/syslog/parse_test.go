package syslog

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
	"unicode/utf8"
)

// show is a message on one line.
func show(m *message) string {
	at := "-"
	if m.timed {
		at = time.Unix(0, m.ns).UTC().Format(time.RFC3339Nano)
	}
	data := ""
	if len(m.data) > 0 {
		data = string(appendData(nil, m.data))
	}
	return fmt.Sprintf("%d|%s|%s|%s|%s|%s|%s|%s", m.priority, at, m.hostname, m.appName, m.procID, m.msgID, data, m.msg)
}

func TestParse(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range [][2]string{
		{`<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - ` + "\uFEFF" + `'su root' failed`,
			`34|2003-10-11T22:14:15.003Z|mymachine.example.com|su||ID47||'su root' failed`},
		{`<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time.`,
			`165|2003-08-24T12:14:15.000003Z|192.0.2.1|myproc|8710|||%% It's time.`},
		{`<165>1 2003-10-11T22:14:15.003Z h evntslog - ID47 [a@32473 iut="3" b="x\"y\\\]\n"][b@1] text`,
			`165|2003-10-11T22:14:15.003Z|h|evntslog||ID47|{"a@32473":{"b":"x\"y\\]\\n","iut":"3"},"b@1":{}}|text`},
		{`<165>1 - h app - - [origin ip="10.0.0.1" ip="10.0.0.2" v="1" ip="10.0.0.3"][empty][z a="1"] text`,
			`165|-|h|app|||{"empty":{},"origin":{"ip":["10.0.0.1","10.0.0.2","10.0.0.3"],"v":"1"},"z":{"a":"1"}}|text`},
		{`<0>1 - - - - - -`, `0|-|||||` + `|`},
		{`<0>1 - - - - - [x y="1]`, `0|-|||||` + `|[x y="1]`},
		{`<34>Oct 11 22:14:15 mymachine su: 'su root' failed`,
			`34|2025-10-11T22:14:15Z|mymachine|su||||'su root' failed`},
		{`<13>Jan  1 00:00:01 h app[12]: text: more`, `13|2026-01-01T00:00:01Z|h|app|12|||text: more`},
		{`<13>Dec 31 23:59:59 h app[12]: last year`, `13|2025-12-31T23:59:59Z|h|app|12|||last year`},
		{`<13>Jan  1 00:00:01.25 app[12]: no host`, `13|2026-01-01T00:00:01.25Z||app|12|||no host`},
		{`<13>Feb 30 00:00:01 h app: never`, `13|-|||||` + `|Feb 30 00:00:01 h app: never`},
		{`<13>2026-01-01T01:00:00+01:00 h app: x`, `13|2026-01-01T00:00:00Z|h|app||||x`},
		{`<13>Mar 1 2020 00:00:01 h app: x`, `13|2020-03-01T00:00:01Z|h|app||||x`},
		{`<13>app[1]: x`, `13|-||app|1|||x`},
		{`error: x`, `-1|-|||||` + `|error: x`},
		{`<192>x`, `-1|-|||||` + `|<192>x`},
		{`<>x`, `-1|-|||||` + `|<>x`},
		{`<999999>x`, `-1|-|||||` + `|<999999>x`},
		{``, `-1|-|||||` + `|`},
		{`<13>1 9999-01-01T00:00:00Z h a - - - far`, `13|-|||||` + `|1 9999-01-01T00:00:00Z h a - - - far`},
	} {
		var m message
		m.parse([]byte(c[0]), now)
		if got := show(&m); got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`<34>1 2003-10-11T22:14:15.003Z h su 1 ID [a b="c\""][d] x`,
		`<34>Oct 11 22:14:15 h su[1]: x`, `<1>1 - - - - - [`, `<13>Jan 2 2026 0:`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var m message
		m.parse(line, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		if m.priority < -1 || m.priority > 191 || len(m.msg) > len(line) {
			t.Errorf("%+v", m)
		}
		if out := appendData(nil, m.data); len(m.data) > 0 && utf8.Valid(line) && !json.Valid(out) {
			t.Errorf("%q is not JSON", out)
		}
	})
}
