//go:build dashboard && browser

package dashboard

import (
	"fmt"
	"testing"
)

// TestModules runs functions of modules in the page, where they are at home. Each expression is compared as JSON.
func TestModules(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s, "/dashboard/ingest")
	p.wait("the page", `document.querySelector('.try')`)
	for _, c := range []struct{ module, name, expression, want string }{
		{"exposition", "labels with quotes",
			`new m.Figures('# HELP a b\na{x="1\\"2",y="\\n"} 3\na 4e1\nb +Inf 17\n', 0).samples('a')`,
			`[{"labels":{"x":"1\"2","y":"\n"},"value":3},{"labels":{},"value":40}]`},
		{"exposition", "sum of some", `new m.Figures('r{s="200"} 5\nr{s="400"} 2\n', 0).sum('r', (l) => l.s >= '400')`,
			`2`},
		{"exposition", "rate", `m.rate(new m.Figures('c 10', 1000), new m.Figures('c 30', 6000), 'c')`, `4`},
		{"exposition", "rate of a counter that began anew",
			`m.rate(new m.Figures('c 100', 0), new m.Figures('c 5', 5000), 'c')`, `1`},
		{"exposition", "quantile",
			`m.quantile(new m.Figures('h_bucket{le="1"} 0\nh_bucket{le="2"} 0\nh_bucket{le="+Inf"} 0', 0), new m.Figures('h_bucket{le="1"} 50\nh_bucket{le="2"} 100\nh_bucket{le="+Inf"} 100', 1), 'h', 0.75)`, `1.5`},
		{"exposition", "quantile of nothing",
			`Number.isNaN(m.quantile(new m.Figures('', 0), new m.Figures('', 1), 'h', 0.5))`, `true`},

		{"samples", "JSON lines", `m.guessKind('{"a":1}\n\n{"b":2}\n')`, `"ndjson"`},
		{"samples", "an array", `m.guessKind('[{"a":1},\n{"b":2}]')`, `"json"`},
		{"samples", "one bad line of many", `m.guessKind('{"a":1}\n{"a":2}\n{"a":\n')`, `"ndjson"`},
		{"samples", "text in brackets", `m.guessKind('[2026-11-21] started\n[2026-11-21] stopped')`, `"text"`},
		{"samples", "the line that is none", `m.badLine('{"a":1}\n\n{"a":\n', 'ndjson')`, `3`},
		{"samples", "times by name and unit",
			`m.timeFields([{ n: 1742814853, ts: '2026-11-21T03:46:00Z', day: 'x' }, { n: 1742814854, ts: '2026-11-21T03:46:01.5+02:00' }]).map((f) => f.index)`, `["ts;datestr;%+","n;epoch;s"]`},
		{"samples", "milliseconds", `m.timeFields([{ t: 1742814853123 }])[0]`,
			`{"field":"t","index":"t;epoch;ms","shown":["2025-03-24T11:14:13.123Z"]}`},
		{"samples", "numbers that are no times", `m.timeFields([{ t: 1742814853 }, { t: 7 }])`, `[]`},

		{"send", "pieces end with lines", `m.cut('aa\nbb\ncc', 4)`, `["aa\n","bb\n","cc"]`},
		{"send", "a line longer than a piece", `m.cut('aaaaaa\nb\n', 4)`, `["aaaaaa\n","b\n"]`},
		{"send", "nothing is lost", `m.cut('x\n'.repeat(1000), 7).join('') === 'x\n'.repeat(1000)`, `true`},
		{"send", "a line by index", `m.failedLine('Invalid request parameter: invalid JSON at index: 3', '')`, `4`},
		{"send", "a line by entry", `m.failedLine('failed (entry 2 of 3, field "a")', 'a\n\nb\nc')`, `3`},

		{"diff", "a changed line", `m.lines('a\nb\nc', 'a\nx\nc').map((l) => l.kind + l.text)`,
			`["=a","-b","+x","=c"]`},
		{"diff", "equal texts", `m.lines('a\nb', 'a\nb').map((l) => l.kind + l.text)`, `["=a","=b"]`},
		{"diff", "moved lines", `m.lines('a\nb\nc\nd', 'c\nd\na\nb').filter((l) => l.kind === '=').length`, `2`},
		{"diff", "fields", `m.fields({ a: 1, b: 2, c: 3 }, { b: 2, c: 4, d: 5 }).map((f) => f.kind + f.key)`,
			`["-a","=b","~c","+d"]`},

		{"pipelinedoc", "processors",
			`m.processorLines('version: 2\nprocessors:\n  # first\n  - dissect:\n      patterns:\n        - x\n  - date: {field: t}\ntransform:\n  - {field: t}\n')`, `[4,7]`},
		{"pipelinedoc", "a script in a block",
			`m.place('Failed to compile VRL, error\n  --> 2:6 (byte 12)\n  | ^^^\n: at line 3, column 15 of the document', 'processors:\n  - vrl:\n      source: |\n        .a = 1\n        .b = nosuch\n')`, `{"line":5,"column":14,"length":3,"text":"Failed to compile VRL, error\n  --> 2:6 (byte 12)\n  | ^^^\n"}`},
		{"pipelinedoc", "a failed processor",
			`m.place('no (entry 1 of 2, processor 2, date, field "t")', 'processors:\n  - dissect: {}\n  - date: {}\n').line`, `3`},
		{"pipelinedoc", "no place", `m.place('something else', 'a: b')`, `null`},
		{"pipelinedoc", "lines of scripts",
			`m.scriptLines(['- vrl:', '    source: |', '      .a', '', '      .', '', '- date:'])`, `[3,4,5]`},

		{"rules", "runs of an alert", `m.runsOf({ firing: [null, 1, 1, null, 1], pending: [1, 1, null, null, null] })`,
			`[{"state":"pending","from":0,"to":1},{"state":"firing","from":1,"to":3},{"state":"firing","from":4,"to":5}]`},
		{"rules", "rules that are called alike",
			`m.itemsOf([{ name: 'g', rules: [{ name: 'a' }, { name: 'a' }] }, { name: 'h', rules: [{ name: 'a' }] }]).flatMap((g) => g.items.map((i) => i.id))`,
			`["g/a","g/a#2","h/a"]`},
		{"rules", "labels", `[m.labelsOf('a=b, c = "d e"'), m.labelsOf(''), m.labelsOf('a')]`,
			`[{"a":"b","c":"d e"},{},null]`},
		{"rules", "a document and back",
			`m.draftOf(m.documentOf({ kind: 'alert', name: 'A', language: 'sql', expr: 'SELECT 1', every: '1m', holds: '5m', labels: 'a=b, c=d', summary: 's' }))`,
			`{"kind":"alert","name":"A","language":"sql","expr":"SELECT 1","every":"1m","holds":"5m","labels":"a=b, c=d","summary":"s"}`},
		{"rules", "documents with more than a draft knows",
			`['groups: []', '{"groups":[]}', '{"groups":[{"name":"A","limit":3,"rules":[{"alert":"A","expr":"x"}]}]}', '{"groups":[{"name":"A","rules":[{"alert":"A","expr":"x","labels":{"a":"b, c"}}]}]}', '{"groups":[{"name":"A","rules":[{"alert":"B","expr":"x"}]}]}'].map(m.draftOf)`,
			`[null,null,null,null,null]`},

		{"toml", "sections",
			`m.settings('a = 1\n[http]\naddr = "x:1"\nhosts = []\n').map((s) => s.key + '=' + m.plain(s.value))`,
			`["a=1","http.addr=x:1","http.hosts=[]"]`},
		{"toml", "sizes", `['64MiB', '1GB', '0B', '50%'].map(m.size)`, `[67108864,1000000000,0,null]`},
		{"snappy", "a request", `atob(m.remoteWrite({ __name__: 'm' }, 1, 0)).length`, `32`},
		{"draft", "nothing", `m.draft('').document`, `""`},
		{"draft", "a quote in a name", `m.draft('{"it\'s":"2026-11-21T03:46:00Z"}').document.includes("'it''s'")`,
			`true`},
	} {
		t.Run(c.module+" "+c.name, func(t *testing.T) {
			got := eval[string](p,
				fmt.Sprintf(
					`import(new URL('./core/%s.js', document.querySelector('script[type=module]').src)).then((m) => JSON.stringify(%s))`, c.module, c.expression))
			if got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.expression, got, c.want)
			}
		})
	}
}
