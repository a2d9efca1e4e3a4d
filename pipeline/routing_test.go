package pipeline

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/pipeline/processor"
)

// broken is a processor with a bug.
type broken struct{}

func (broken) Run(*processor.Event) error { panic("a bug") }

func TestPanicFailsTheRequestAlone(t *testing.T) {
	var log bytes.Buffer
	m := managerWith(t, map[string]string{"p": inferDocument})
	m.o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	p := m.library.cached[cacheKey{"p", latest}].program
	good := p.stages
	p.stages = []stage{{Processor: broken{}}}
	if _, _, err := collect(m, Request{SkipError: true}, `{"ts":1}`); status.Of(err) != status.Internal {
		t.Errorf("a panic gives %v", err)
	}
	if !strings.Contains(log.String(), "pipeline=p") || !strings.Contains(log.String(), "a bug") {
		t.Errorf("the log says %s", log.String())
	}
	p.stages = good
	if got, out, err := collect(m, Request{}, `{"ts":1}`); err != nil || out.Rows != 1 {
		t.Errorf("the next request: %q, %v", got, err)
	}
}

func TestDispatch(t *testing.T) {
	const tail = "transform:\n  - {field: ts, type: 'epoch, ms', index: timestamp}\n  - {field: a, type: string}\n"
	documents := map[string]string{
		"p": "dispatcher: {field: to, rules: [{value: q, table_suffix: _q, pipeline: q}, {value: null, table_suffix: _n, pipeline: r}," +
			" {value: loop, table_suffix: _, pipeline: p}, {value: id, table_suffix: _i}]}\ntable_suffix: _own\n" +
			tail,
		"q": "processors: [{letter: {field: a, method: upper}}]\ndispatcher: {field: a, rules: [{value: R, table_suffix: _r, pipeline: r}]}\n" + tail,
		"r": "version: 2\n" + tail,
	}
	for _, c := range []struct{ name, body, want, err string }{
		{"no rule", `{"ts":1,"a":"x"}`,
			"t_own [{append_mode true} {comment Created on insertion}] [{ts TimestampMillisecond} {a String}]\n1|\"x\"|\n", ""},
		{"another", `{"ts":1,"a":"x","to":"q"}`,
			"t_q [{append_mode true} {comment Created on insertion}] [{ts TimestampMillisecond} {a String}]\n1|\"X\"|\n", ""},
		{"a chain", `{"ts":1,"a":"r","to":"q"}`,
			"t_q_r [{append_mode true} {comment Created on insertion}] [{ts TimestampMillisecond} {a String} {to String}]\n1|\"R\"|\"q\"|\n", ""},
		{"null is a value", `{"ts":1,"a":"r","to":null}`,
			"t_n [{append_mode true} {comment Created on insertion}] [{ts TimestampMillisecond} {a String}]\n1|\"r\"|\n", ""},
		{"no object", `1`, "", "Top level value must be map"},
		{"a circle", `{"ts":1,"to":"loop"}`, "", "more than 16 pipelines"},
		{"identity",
			`{"ts":1,"to":"id","b":{"c":[1,1.0],"d":{}},"b.c":"z","service_timestamp":5,"service_ttl":"1d","service_table_suffix":"_x"}`,
			"t_i [{append_mode true} {comment Created on insertion} {ttl 1day}] [{service_timestamp TimestampNanosecond} {b.c String} {to String} {ts Int64}]\n1000000000000|\"z\"|\"id\"|1|\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := collect(managerWith(t, documents), Request{}, c.body)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if err == nil && got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestScripts(t *testing.T) {
	const tail = "transform:\n  - {field: ts, type: 'epoch, ms', index: timestamp}\n  - {field: a, type: string}\n"
	const head = "t [{append_mode true} {comment Created on insertion}] [{ts TimestampMillisecond} {a String}]\n"
	for _, c := range []struct{ name, document, body, want, err string }{
		{"before others",
			"processors:\n  - vrl: {source: \".a = upcase(string!(.a))\\n.\"}\n  - gsub: {field: a, pattern: X, replacement: y}\n", `{"ts":1,"a":"x"}`, head + "1|\"y\"|\n", ""},
		{"behind others",
			"processors:\n  - letter: {field: a, method: upper}\n  - vrl: {source: \".a = string!(.a) + \\\"!\\\"\\n.\"}\n", `{"ts":1,"a":"x"}`, head + "1|\"X!\"|\n", ""},
		{"null drops", "processors:\n  - vrl: {source: \"if .ts == 1 { null } else { . }\"}\n",
			"{\"ts\":1}\n{\"ts\":2}", head + "2|NULL|\n", ""},
		{"an array makes rows",
			"processors:\n  - vrl: {source: \"[{\\\"ts\\\": 1, \\\"a\\\": \\\"x\\\"}, {\\\"ts\\\": 2}]\"}\n", `{}`,
			head + "1|\"x\"|\n2|NULL|\n", ""},
		{"only a script may follow an array", "processors:\n  - vrl: {source: \"[.]\"}\n  - letter: {fields: []}\n",
			`{"ts":1}`, "", "Top level value must be map"},
		{"an array of others", "processors:\n  - vrl: {source: \"[., 1]\"}\n", `{"ts":1}`, "",
			"Array element at index 1 must be an object for one-to-many transformation, got integer"},
		{"an abort fails the entry", "processors:\n  - vrl: {source: \"if .ts == 1 { abort \\\"why\\\" }\\n.\"}\n",
			`{"ts":1}`, "", "Failed to execute VRL, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := collect(managerWith(t, map[string]string{"p": c.document + tail}), Request{}, c.body)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if err == nil && got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
	skipped, out, err := collect(managerWith(t,
		map[string]string{"p": "processors:\n  - vrl: {source: \"[., 1]\"}\n" +
			tail}), Request{SkipError: true}, `{"ts":1}`)
	if err != nil || out.Rows != 1 || out.Skipped != 1 || len(out.Failures) != 1 || out.Failures[0].Entry != 1 {
		t.Errorf("an element left out: %q, %+v, %v", skipped, out, err)
	}
}

// TestConsumed has the rule of version 2: a transform takes its input away.
func TestConsumed(t *testing.T) {
	const document = `
version: 2
table_suffix: _${a}
transform:
  - {field: ts, type: "epoch, ms", index: timestamp}
  - {fields: ["a, x"], type: string}
  - {fields: ["a, y", service_ttl], type: string}
`
	const head = "t [{append_mode true} {comment Created on insertion} {ttl 1day}] "
	want := head +
		"[{ts TimestampMillisecond} {x String} {y String} {service_ttl String} {B Int64} {b Boolean}]\n1|\"v\"|NULL|NULL|1|true|\n"
	got, _, err := collect(managerWith(t, map[string]string{"p": document}), Request{},
		`{"b":true,"a":"v","ts":1,"service_ttl":"1d","B":1,"n":null}`)
	if err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	got, _, err = collect(managerWith(t,
		map[string]string{"p": "transform: [{fields: [ts], type: 'epoch, ms', index: timestamp}, {fields: [service_ttl, 'a, x', 'a, y'], type: string}]"}),
		Request{}, `{"a":"v","ts":1,"service_ttl":"1d"}`)
	if want := head +
		"[{ts TimestampMillisecond} {service_ttl String} {x String} {y String}]\n1|\"1d\"|\"v\"|\"v\"|\n"; err != nil ||
		got != want {
		t.Errorf("version 1: got %s, %v\nwant %s", got, err, want)
	}
}
