package stage

import (
	"fmt"
	"strings"
	"testing"
)

// benchLines are lines of a kind, of which the n-th has other values than the one before it.
func benchLines(format string, n int) [][]byte {
	lines := make([][]byte, n)
	for i := range lines {
		status := 200 + i%4*100
		lines[i] = fmt.Appendf(nil, format, i*7919%100000, status, i*31%5000, i%256)
	}
	return lines
}

const (
	jsonLine = `{"ts":"2026-11-28T12:00:00Z","level":"info","msg":"request done","id":%d,"request":{"method":"GET",` +
		`"path":"/api/v1/orders","status":%d,"took":"%dms"},"client":"10.0.7.%d","agent":"probe/1.0","cached":false}`
	logfmtLine = `ts=2026-11-28T12:00:00Z level=info msg="request done" id=%d method=GET path=/api/v1/orders ` +
		`status=%d took=%dms client=10.0.7.%d agent=probe/1.0 cached=false`
	accessLine = `10.0.7.9 - u%d [28/Nov/2026:12:00:00 +0000] "GET /api/v1/orders HTTP/1.1" %d %d "-" "probe/%d"`
)

// benchCases are pipelines of usual queries.
var benchCases = []struct {
	name, format, pipeline string
	need                   Need
	allocs                 float64 // a line; -1: not held, since package regexp takes them
}{
	{"contains", jsonLine, `|= "404"`, everything, 0},
	{"regexp filter", jsonLine, `|~ "status\":[45].."`, everything, 0},
	{"ip", jsonLine, `|= ip("10.0.7.0/25")`, everything, 0},
	{"pattern filter", accessLine, "|> `<_> \"GET <_>\" 404 <_>`", everything, 0},
	{"json all", jsonLine, `| json`, everything, 0},
	{"json one of all", jsonLine, `| json | request_status >= 500`, Need{Names: []string{"request_status"}}, 0},
	{"json path", jsonLine, `| json s="request.status"`, Need{Names: []string{"s"}}, 0},
	{"logfmt all", logfmtLine, `| logfmt`, everything, 0},
	{"logfmt one of all", logfmtLine, `| logfmt | status >= 500`, Need{Names: []string{"status"}}, 0},
	{"logfmt duration", logfmtLine, `| logfmt | took > 1s and level="info"`, everything, 0},
	{"pattern", accessLine, "| pattern `<ip> - <user> [<_>] \"<method> <path> <_>\" <status> <size>`", everything, 0},
	{"line_format", logfmtLine, "| logfmt | line_format `{{.method}} {{.path}}: {{.status}}`", everything, 0},
	{"label_format", logfmtLine, "| logfmt | label_format s=status, a=`{{.client}}` | drop ts | keep s, a", everything,
		0},
	{"decolorize", "\x1b[31m" + logfmtLine + "\x1b[0m", `| decolorize`, everything, 0},
	{"regexp", accessLine, `| regexp "(?P<ip>\\S+) - (?P<user>\\S+)"`, everything, -1},
}

// TestAllocations holds that usual pipelines take no memory for a line.
func TestAllocations(t *testing.T) {
	for _, c := range benchCases {
		p := compile(t, c.pipeline, c.need)
		e := p.NewEntry()
		e.SetStream(labelsOf("app", "shop", "host", "a1"))
		lines, meta := benchLines(c.format, 256), labelsOf("trace_id", "7f")
		all := func() {
			for _, l := range lines {
				p.Run(e, 1, l, meta)
			}
		}
		all()
		if got := testing.AllocsPerRun(5, all) / float64(len(lines)); c.allocs >= 0 && got > c.allocs {
			t.Errorf("%s: %v allocations a line, want at most %v", c.name, got, c.allocs)
		}
	}
}

// BenchmarkRun measures pipelines line by line.
func BenchmarkRun(b *testing.B) {
	for _, c := range benchCases {
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			p := compile(b, c.pipeline, c.need)
			e := p.NewEntry()
			e.SetStream(labelsOf("app", "shop", "host", "a1"))
			lines, meta := benchLines(c.format, 1024), labelsOf("trace_id", "7f")
			b.SetBytes(int64(len(lines[0])))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				p.Run(e, 1, lines[i&1023], meta)
				i++
			}
		})
	}
}
