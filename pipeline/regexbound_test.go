package pipeline

import (
	"strings"
	"testing"

	"varve/engine/status"
)

// TestExpressionsAreBounded: patterns that are work for minutes over a text of an entry fail that entry after a while,
// in processors and in scripts, however they look for matches.
func TestExpressionsAreBounded(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	many := strings.Repeat("ab", 200_000) // a search for each match goes to the end of the text
	for name, c := range map[string]struct{ processor, text string }{
		"regex":       {"regex: {fields: [a], pattern: '(?P<x>(a?){500}b)'}", long},
		"gsub":        {"gsub: {field: a, pattern: '(a?){500}b', replacement: x}", long},
		"digest":      {"digest: {field: a, regex: ['(a?){500}b']}", long},
		"match":       {`vrl: {source: ".b = match(string!(.a), r'(a?){500}b')\n."}`, long},
		"parse_regex": {`vrl: {source: ".b = parse_regex(string!(.a), r'(?P<x>(a?){500}b)') ?? 1\n."}`, long},
		"parse_grok": {`vrl: {source: ".b = parse_grok(string!(.a), \"(a?){500}b%{GREEDYDATA:x}\") ?? 1\n."}`,
			long},
		"in a closure": {`vrl: {source: "for_each(array!(split(\"` + strings.Repeat("x,", 200) +
			`\", \",\"))) -> |i, v| { .b = match(string!(.a), r'(a?){50}b') }\n."}`, long},
		"gsub of many":    {"gsub: {field: a, pattern: 'a(.*c)?', replacement: x}", many},
		"replace of many": {`vrl: {source: ".b = replace(string!(.a), r'a(.*c)?', \"x\")\n."}`, many},
		"digest of many":  {"digest: {field: a, regex: ['a(.*c)?']}", many},
		"redact of many":  {`vrl: {source: ".b = redact(string!(.a), filters: [r'a(.*c)?'])\n."}`, many},
	} {
		t.Run(name, func(t *testing.T) {
			m := managerWith(t, map[string]string{"p": "version: 2\nprocessors:\n  - " + c.processor + "\n" + roomTail})
			_, out, err := collect(m, Request{SkipError: true},
				`{"ts":1,"a":"short"}`+"\n"+`{"ts":1,"a":"`+c.text+"\"}\n"+`{"ts":1,"a":"short"}`)
			if err != nil || out.Rows != 2 || len(out.Failures) != 1 ||
				!strings.Contains(out.Failures[0].Err.Error(), "regular expressions take too long on an entry") {
				t.Errorf("%+v %v", out, err)
			}
		})
	}
}

// TestRepetitionsAreBounded: repetitions in each other are refused before they are multiplied.
func TestRepetitionsAreBounded(t *testing.T) {
	for _, pattern := range []string{"(a{1,500}){1,500}", "((a{100}){100}){100}", "(?:(?:[a-z]{1000}){2}){30}",
		strings.Repeat("(a|b){200}", 200)} {
		for _, processor := range []string{"regex: {fields: [a], pattern: '(?P<x>" + pattern + ")'}",
			"gsub: {field: a, pattern: '" + pattern + "', replacement: x}",
			`vrl: {source: ".b = match(string!(.a), r'` + pattern + `')\n."}`,
			`vrl: {source: ".b = parse_grok(string!(.a), \"` + pattern + `\") ?? 1\n."}`} {
			_, err := Compile([]byte("version: 2\nprocessors:\n  - " + processor + "\n" + roomTail))
			if status.Of(err) != status.InvalidArguments || !strings.Contains(err.Error(), "more than 10000 steps") &&
				!strings.Contains(err.Error(), "invalid repeat count") {
				t.Errorf("%.60s: %v", processor, err)
			}
		}
	}
}
