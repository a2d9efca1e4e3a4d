package pipeline

import (
	"strings"
	"testing"
)

// TestWarnings: documents that compile and hardly do what was meant.
func TestWarnings(t *testing.T) {
	const tail = "transform: [{field: ts, type: time, index: time}]\n"
	format := func(f string) string { return "processors: [{date: {field: ts, formats: ['" + f + "']}}]\n" + tail }
	for _, c := range []struct{ name, document, want string }{
		{"nothing", "version: 2\ndescription: x\ntable_suffix: _a\n" + tail, ""},
		{"root", "procesors: []\n" + tail,
			`the document has no setting "procesors", at line 1, column 1; there are version,`},
		{"processor", "processors: [{gsub: {field: a, pattern: b, replacement: c, ignoremissing: true}}]\n" + tail,
			`processor 1, gsub, has no setting "ignoremissing"`},
		{"vrl takes no field", "processors: [{vrl: {source: '.', field: a}}]\n" + tail,
			`processor 1, vrl, has no setting "field"`},
		{"two in one", "processors:\n  - letter: {field: a}\n    csv: {field: a}\n" + tail,
			`processor 1, letter, stands in one element with "csv"`},
		{"transform", "transform: [{field: ts, type: time, index: time, ignore_missing: true}]",
			`transform 1 has no setting "ignore_missing"`},
		{"dispatcher", "dispatcher: {field: a, rule: []}\n" + tail, `the dispatcher has no setting "rule"`},
		{"rule", "dispatcher: {field: a, rules: [{value: 1, table_suffix: x, table: y}]}\n" + tail,
			`rule 1 of the dispatcher has no setting "table"`},
		{"unmade",
			"processors: [{regex: {field: message, pattern: '(?<level>\\w+)'}}]\ntransform: [{field: level, type: string}]", `transform 1: no processor makes the field "level"; the processors name message, message_level`},
		{"made",
			"processors: [{regex: {field: message, pattern: '(?<level>\\w+)'}}]\ntransform: [{fields: [message_level, message], type: string}]", ""},
		{"made by a script",
			"processors: [{dissect: {field: message, pattern: '%{a}'}}, {vrl: {source: .}}]\ntransform: [{field: level, type: string}]", ""},
		{"made by a key",
			"processors: [{dissect: {field: message, pattern: '%{*a}=%{&a}'}}]\ntransform: [{field: level, type: string}]", ""},
		{"fields of the entry", "processors: [{letter: {field: a}}]\ntransform: [{field: level, type: string}]", ""},
		{"own letters", format("%Y-%m-%d %H:%M:%S%.3f %z"), ""},
		{"own letters beside others", format("MM %Y dd"), ""},
		{"java", format("yyyy-MM-dd HH:mm:ss.SSS"), `is "%Y-%m-%d %H:%M:%S%.3f" meant?`},
		{"java with T", format("yyyy-MM-dd''T''HH:mm:ssXXX"), `is "%Y-%m-%dT%H:%M:%S%:z" meant?`},
		{"go", format("02/Jan/2006:15:04:05 -0700"), `is "%d/%b/%Y:%H:%M:%S %z" meant?`},
		{"mixed", format("%Y-%m-%d HH:mm:ss"), `is "%Y-%m-%d %H:%M:%S" meant?`},
		{"no letters", format("iso8601"), "without a % in it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Compile([]byte(c.document))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(p.warnings, " | ")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("%s\n got %s\nwant %s", c.document, got, c.want)
			}
		})
	}
}
