package stage

import (
	"strings"
	"testing"

	"varve/sqlexec/logql/syntax"
)

// pairStages are stages of each kind. They share names, so that each gives, takes or changes what another one reads.
var pairStages = []string{`|= "a"`, `!~ "zz|b=9"`, `|> "<_>a<_>"`, `|= ip("10.0.0.0/8") or "x"`, `| a="1"`, `| a > 0`,
	`| app="shop" or b < 1KB`, `| trace != 8`, `| c=ip("10.0.0.1") or a!=""`, `| json`, `| json a="b", x="a[0]"`,
	`| logfmt`, `| logfmt --strict`, `| logfmt --keep-empty`, `| logfmt x="a", trace`,
	"| pattern `<a>=<_> <app>=<b>`", "| pattern `<x> <trace>`", "| regexp `(?P<a>\\d+).(?P<app>\\w)`", `| unpack`,
	"| line_format `{{.a}} a={{.app}} {{.trace}}`", "| line_format `{{__line__ | upper}}{{.b | trunc 1}}`",
	"| label_format a=b, x=app", "| label_format trace=app, app=a", "| label_format a=`{{.b}}1`, b=`{{.a}}`",
	"| label_format app=`{{.app | upper}}`", `| decolorize`, `| drop a, app`, `| drop trace="7", b=~"."`,
	`| keep a, trace, app`, `| drop __error__`}

// pairLines are lines of several forms, some of no form.
var pairLines = []string{``, `a=1 b=2`, `a=1 app=x trace=9 b= a=3`, `{"a":1,"b":{"c":"2"},"app":"x","trace":null}`,
	`{"a":["y"],"b":"10.0.0.1","_entry":"a=5 b=\"q\\u0041\""}`, `{"a":1,"b":`, `a="1`, `a==b =c "d`,
	"\x1b[1ma=\xff b=\"\xfe\"\x1b[0m c=10.0.0.1", "{\"a\":\"\xff\uFFFD\",\"app_extracted\":\"z\"}",
	"x\x00a=1\n\tb=2\r\n"}

// TestPairs holds, for each stage behind each other one: the same result for the same line again, labels with names no
// two of which are equal, the same label whether all labels are needed or it alone, and hints that hold.
func TestPairs(t *testing.T) {
	stream, meta := labelsOf("app", "shop", "host", "h"), labelsOf("trace", "7", "app", "no", "b", "m")
	for _, first := range pairStages {
		for _, second := range pairStages {
			q, err := syntax.ParseLog(`{x="y"} ` + first + " " + second)
			if err != nil {
				t.Fatal(err)
			}
			all := compile(t, first+" "+second, everything)
			e := all.NewEntry()
			e.SetStream(stream)
			alone := map[string]*Entry{}
			for _, name := range []string{"a", "b", "app", "app_extracted", "trace", "trace_extracted", "x"} {
				alone[name] = compile(t, first+" "+second, Need{Names: []string{name}}).NewEntry()
				alone[name].SetStream(stream)
			}
			for _, line := range pairLines {
				passes, whole := all.Run(e, 1, []byte(line), meta), ""
				if passes {
					checkEntry(t, e)
					checkHints(t, all, q, e, []byte(line))
					whole = describe(e, line)
				}
				if again := all.Run(e, 1, []byte(line), meta); again != passes || again && describe(e, line) != whole {
					t.Errorf("%s on %q: first %v %s, then %v %s", q, line, passes, whole, again, describe(e, line))
				}
				if passes && e.Err != "" || strings.Contains(second, "__error__") {
					continue // what is wrong behind the last label that is needed is not seen
				}
				checkAlone(t, q, e, alone, line, meta, passes)
			}
		}
	}
}

// checkAlone holds that a label is what it is in an entry if it alone is needed: alone are the entries of such
// pipelines.
func checkAlone(t *testing.T, q *syntax.LogQuery, e *Entry, alone map[string]*Entry, line string, meta []Label,
	passes bool) {
	t.Helper()
	for name, one := range alone {
		ok := one.p.Run(one, 1, []byte(line), meta)
		want, had := e.Get(name)
		got, has := one.Get(name)
		if ok != passes || ok && one.Err == "" && (has != had || string(got) != string(want)) {
			t.Errorf("%s on %q: label %s alone is %q (%v, passes %v), want %q (%v, passes %v)", q, line, name, got, has, ok,
				want, had, passes)
		}
	}
}
