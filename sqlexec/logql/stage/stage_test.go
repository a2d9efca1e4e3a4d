package stage

import (
	"fmt"
	"strings"
	"testing"

	"varve/sqlexec/logql/syntax"
)

// labelsOf returns labels from name and value in turn.
func labelsOf(pairs ...string) []Label {
	var labels []Label
	for i := 0; i < len(pairs); i += 2 {
		labels = append(labels, Label{Name: pairs[i], Value: []byte(pairs[i+1])})
	}
	return labels
}

// compile compiles the pipeline behind a selector.
func compile(t testing.TB, pipeline string, need Need) *Pipeline {
	t.Helper()
	q, err := syntax.ParseLog(`{x="y"} ` + pipeline)
	if err != nil {
		t.Fatalf("%s: %v", pipeline, err)
	}
	p, err := Compile(q.Stages, nil, need)
	if err != nil {
		t.Fatalf("%s: %v", pipeline, err)
	}
	return p
}

// everything is the need of a caller that shows lines.
var everything = Need{Line: true, Labels: true}

// describe returns what an entry holds: labels by name with the kind of each, error, and the line if it changed.
func describe(e *Entry, line string) string {
	e.Sort()
	var b strings.Builder
	for _, l := range e.Labels {
		if b.Len() > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "%s%s=%s", [...]string{"s:", "m:", ""}[l.Kind], l.Name, l.Value)
	}
	if e.Err != "" {
		fmt.Fprintf(&b, " !%s", e.Err)
		if e.Details != "" {
			fmt.Fprintf(&b, "(%s)", e.Details)
		}
	}
	if string(e.Line) != line {
		fmt.Fprintf(&b, " -> %s", e.Line)
	}
	return strings.TrimSpace(b.String())
}

// out is what describe returns of a line that does not pass.
const out = "out"

// run runs a pipeline over a line and describes the entry.
func run(t testing.TB, pipeline, line string, stream, metadata []Label) string {
	t.Helper()
	p := compile(t, pipeline, everything)
	e := p.NewEntry()
	e.SetStream(stream)
	// The second run sees what the entry keeps of the first one.
	first, second := out, out
	if p.Run(e, 1, []byte(line), metadata) {
		first = describe(e, line)
	}
	if p.Run(e, 1, []byte(line), metadata) {
		second = describe(e, line)
	}
	if first != second {
		t.Errorf("%s on %s: first run %s, second run %s", pipeline, line, first, second)
	}
	return first
}

// stageCase is a line, a pipeline and what the entry holds then.
type stageCase struct{ pipeline, line, want string }

// checkCases runs cases over lines with the label app of the stream and trace of the metadata.
func checkCases(t *testing.T, cases []stageCase) {
	t.Helper()
	for _, c := range cases {
		got := run(t, c.pipeline, c.line, labelsOf("app", "shop"), labelsOf("trace", "7"))
		want := c.want
		if got != out {
			got = strings.TrimSpace(strings.Replace(strings.Replace(got, "s:app=shop", "", 1), "m:trace=7", "", 1))
			got = strings.Join(strings.Fields(got), " ")
		}
		if got != want {
			t.Errorf("%s on %s:\n got %s\nwant %s", c.pipeline, c.line, got, want)
		}
	}
}

func TestLineFilters(t *testing.T) {
	const in, x = "", out
	checkCases(t, []stageCase{
		{`|= "b"`, "abc", in}, {`|= "x"`, "abc", x}, {`!= "b"`, "abc", x}, {`!= "x"`, "abc", in},
		{`|= ""`, "abc", in}, {`|= "B"`, "abc", x},
		{`|~ "^a.c$"`, "abc", in}, {`|~ "b"`, "abc", in}, {`|~ "^b"`, "abc", x},
		{`!~ "B"`, "abc", in}, {`!~ "b|x"`, "abc", x},
		{`|~ "(?i)B"`, "abc", in}, {`|~ "a.b"`, "a\nb", in}, {`|~ "x+b+c*"`, "xxbb", in}, {`|~ "(xb){2}"`, "axb", x},
		{`|~ "a\uFFFD"`, "a\xff", in}, {`|~ "a\uFFFDb?"`, "a\xff", in}, {`|~ ""`, "abc", in}, {`!~ ""`, "abc", x},
		{`|= "x" or "b"`, "abc", in}, {`|= "x" or "y"`, "abc", x}, {`!= "x" or "b"`, "abc", x},
		{`!= "x" or "y"`, "abc", in},
		{`|~ "x" or "b."`, "abc", in}, {`|= "a" |= "c" != "d"`, "abc", in}, {`|= "a" |= "d"`, "abc", x},
		{`|> "<_>b<_>"`, "abc", in}, {`|> "b"`, "abc", x}, {`|> "abc"`, "abc", in}, {`|> "a<_>"`, "abc", in},
		{`|> "b<_>"`, "abc", x}, {`|> "<_>c"`, "abcc", in}, {`|> "<_>b"`, "abc", x}, {`!> "<_>b<_>"`, "abc", x},
		{`!> "<_>x<_>"`, "abc", in}, {`|> "<_>a<_>a<_>"`, "xay", x},
		{`|> "<_>"`, "a", in}, {`|> "<_>"`, "", x}, {`|> ""`, "", in}, {`|> ""`, "a", x}, {`|> "<_>b<_>"`, "bc", x},
		{`|> "<_>b<_>"`, "ab", x}, {`|> "<_>b<_>"`, "bbc", in}, {`|> "a<_>c"`, "ac", x}, {`|> "a<_>c"`, "abc", in},
		{`|> "a<_>"`, "a", x}, {`|> "<_>c"`, "c", x},
		{`|= ip("10.0.0.0/8")`, "from 10.1.2.3:80 to 9.1.1.1", in}, {`|= ip("10.0.0.0/8")`, "110.1.2.3", x},
		{`|= ip("3.180.71.3")`, "93.180.71.3", x}, {`|= ip("3.180.71.3")`, "at 3.180.71.3.", in},
		{`|= ip("1.2.3.4-1.2.4.0")`, "x=1.2.3.255,", in}, {`|= ip("1.2.3.4-1.2.4.0")`, "x=1.2.3.3,", x},
		{`!= ip("1.2.3.4")`, "1.2.3.4", x}, {`!= ip("1.2.3.4")`, "no address at 12:30:45", in},
		{`|= ip("2001:db8::/32")`, "[2001:db8::1]:443", in}, {`|= ip("::1")`, "from ::1 at 12:30:45", in},
		{`|= ip("::1")`, "from ::2", x}, {`|= "x" or ip("1.2.3.4")`, "1.2.3.4", in},
	})
}

func TestLabelFilters(t *testing.T) {
	const in, x = "a=5 b=x d=1m30s s=20KB t=shop w=", out
	line := `a=5 b=x d=1m30s s=20KB t=shop w=""`
	p := `| logfmt --keep-empty `
	number := `!LabelFilterErr(strconv.ParseFloat: parsing "x": invalid syntax)`
	for _, c := range []stageCase{
		{`| app="shop"`, line, in}, {`| app!="shop"`, line, x}, {`| app=~"s.*"`, line, in}, {`| app=~"s"`, line, x},
		{`| trace="7"`, line, in}, {`| trace > 6`, line, in}, {`| trace > 7`, line, x},
		{`| none=""`, line, in}, {`| none!="x"`, line, in}, {`| none=~"x?"`, line, in}, {`| none=~".+"`, line, x},
		{`| a=~""`, line, in}, {`| a!~""`, line, x},
		{`| w=""`, line, in},
		{`| a=5`, line, in}, {`| a==5.0`, line, in}, {`| a!=5`, line, x}, {`| a>4.9`, line, in}, {`| a>=5`, line, in},
		{`| a<5`, line, x}, {`| a<=5`, line, in}, {`| a > -1`, line, in}, {`| none>0`, line, x}, {`| none!=0`, line, x},
		{`| b>0`, line, in + " " + number}, {`| b!=0`, line, in + " " + number},
		{`| b>0 | t>0`, line, in + " " + number}, // the first error stays
		{`| b>0 | a>6`, line, in + " " + number}, // only texts take out lines with an error
		{`| b>0 | none>6 | d<1s | s<1B | a="5"`, line, in + " " + number}, {`| b>0 | a="6"`, line, x},
		{`| b>0 and a>6`, line, in + " " + number}, {`| b>0 and a="6"`, line, x},
		{`| a="6" or b>0`, line, in + " " + number},
		{`| d>1m`, line, in}, {`| d=90s`, line, in}, {`| d<1m`, line, x},
		{`| a>1m`, line, in + ` !LabelFilterErr(time: missing unit in duration "5")`},
		{`| s=20KB`, line, in}, {`| s>20KiB`, line, x}, {`| s<20KiB`, line, in}, {`| a<1KB`, line, in},
		{`| b<1KB`, line, in + ` !LabelFilterErr(strconv.ParseFloat: parsing "": invalid syntax)`},
		{`| a=5 and b="y"`, line, x}, {`| a=5 or b="y"`, line, in}, {`| a=6 or b="x" and d>1h`, line, x},
		{`| a=5 or b>0`, line, in}, {`| b="y" and b>0`, line, x}, {`| b>0 or a=6`, line, in + " " + number},
		{`| a=5, b="x"`, line, in}, {`| a=5 b="y"`, line, x},
		{`| __error__=""`, line, in}, {`| __error__!=""`, line, x}, {`| b>0 | __error__=""`, line, x},
		{`| b>0 | __error__="LabelFilterErr"`, line, in + " " + number}, {`| __error__>0`, line, x},
		{`| b>0 | __error_details__=~".*invalid.*"`, line, in + " " + number},
	} {
		checkCases(t, []stageCase{{p + c.pipeline, c.line, c.want}})
	}
	checkCases(t, []stageCase{
		{`| logfmt | h=ip("10.0.0.0/8")`, `h=10.2.3.4`, "h=10.2.3.4"},
		{`| logfmt | h!=ip("10.0.0.0/8")`, `h=10.2.3.4`, out},
		{`| logfmt | g=ip("10.0.0.0/8")`, `h=10.2.3.4`, out}, {`| logfmt | g!=ip("10.0.0.0/8")`, `h=10.2.3.4`, out},
		{`| logfmt | h>0 | h!=ip("10.0.0.0/8")`, `h=10.2.3.4`,
			`h=10.2.3.4 !LabelFilterErr(strconv.ParseFloat: parsing "10.2.3.4": invalid syntax)`},
	})
}

func TestJSON(t *testing.T) {
	object := ` !JSONParserErr(Value looks like object, but can't find closing '}' symbol)`
	for _, c := range []stageCase{
		{`| json`, `{"a":"b","c":1.50,"d":true,"e":null,"f":[1,2],"g":{"h":{"i":"j"},"k":-1e3}}`,
			"a=b c=1.50 d=true g_h_i=j g_k=-1e3"},
		{`| json`, ` { "a" : "b" , "c" : { } } trailing`, "a=b"},
		{`| json`, `{"a.b":{"c d":"1"},"2x":"2","é":"3","":"4"}`, "_=3 _2x=2 a_b_c_d=1"},
		{`| json`, `{"a":"x\"\u00e9\ud83d\ude00\/","b":"\ud800z"}`, "a=x\"é😀/ b="},
		{`| json`, "{\"a\":\"x\uFFFDy\xff\xfez\"}", "a=x y z"}, {`| json x="a"`, "{\"a\":\"\\u0062\xffc\"}", "x=b c"},
		{`| json`, `{"a":"b\x"}`, "a="},
		{`| json | status >= 201`, `x`, strings.TrimSpace(object)},
		{`| json | status >= 201 or took > 1s | size < 5KB | ip=ip("1.2.3.4")`, `x`, strings.TrimSpace(object)},
		{`| json | status="201"`, `x`, out}, {`| json | status >= 201 and method="GET"`, `x`, out},
		{`| json x=""`, `{"a":1}`, `x={"a":1}`}, {`| json x="404.b"`, `{"404":{"b":1}}`, `x=1`},
		{`| json`, `{"app":"mine","trace":"8","app_extracted":"no","x":"1","x":"2"}`,
			"app_extracted=mine trace_extracted=8 x=1"},
		{`| json`, `{"a_b":"1","a":{"b":"2"}}`, "a_b=1"},
		{`| json`, `{"a":""}`, "a="},
		{`| json`, `{}`, ""}, {`| json`, ``, strings.TrimSpace(object)}, {`| json`, `[1]`, strings.TrimSpace(object)},
		{`| json`, `plain text`, strings.TrimSpace(object)},
		{`| json`, `{"a":"b","c":"d"`, "a=b c=d" + object},
		{`| json`, `{"a":"b","c":{"d":"e","f":`, "a=b" + object},
		{`| json`, `{"a":"b","c":{"d":"e","f":x}}`, "a=b c_d=e !JSONParserErr(Unknown value type)"},
		{`| json`, `{"a":"b`, `!JSONParserErr(Value looks like string, but can't find closing '"' symbol)`},
		{`| json`, `{"a":[1,`, `!JSONParserErr(Value looks like array, but can't find closing ']' symbol)`},
		{`| json`, `{"a" 1}`, `!JSONParserErr(Malformed JSON error)`},
		{`| json`, `{"a":tru}`, `!JSONParserErr(Unknown value type)`},
		{`| json`, `{"a":12`,
			`!JSONParserErr(Value looks like Number/Boolean/None, but can't find its end: ',' or '}' symbol)`},
		{`| json`, `{"a":1,}`, "a=1"},
		{`| json`, `{"__error__":"x","__error_details__":"y","z":"1"}`, "z=1"},
		{`| json | json`, `{"a":"1"}`, "a=1"},
		{`| json`, `{"a":"q\\","b":"r\\\"s"}`, `a=q\ b=r\"s`},

		{`| json x="a.b[0]", y="c"`, `{"a":{"b":["v","w"]},"c":[1, {"d":2}]}`, `x=v y=[1, {"d":2}]`},
		{`| json a, n, m`, `{"a":{"b":"\u0041"},"n":null}`, `a={"b":"\u0041"} m= n=`},
		{`| json x="[\"a b\"].c", y="a[1]"`, `{"a b":{"c":true},"a":[1]}`, "x=true y="},
		{`| json x="[1].y"`, `[{"y":1},{"y":2}]`, "x=2"},
		{`| json app, trace`, `{"app":"mine","trace":"9"}`, "app_extracted=mine trace_extracted=9"},
		{`| json app`, `{}`, ""}, {`| json x="a"`, ``, ""},
		{`| json x="a"`, `plain`, "!JSONParserErr"},
		{`| json x="a"`, `{"a":"b\u0063"}`, "x=bc"}, {`| json x="a"`, `{"\u0061":"b"}`, "x=b"},
		{`| json x="b"`, `{"a":x,"b":1}`, "!JSONParserErr(Unknown value type)"},
	} {
		checkCases(t, []stageCase{c})
	}
}

func TestLogfmt(t *testing.T) {
	checkCases(t, []stageCase{
		{`| logfmt`, `at=info method=GET path=/ fwd="1.2.3.4" q="a \"b\" \\ c" status=200`,
			`at=info fwd=1.2.3.4 method=GET path=/ q=a "b" \ c status=200`},
		{`| logfmt`, `a b=1 c= d="" e=2`, "b=1 e=2"},
		{`| logfmt --keep-empty`, `a b=1 c= d=""`, "a= b=1 c= d="},
		{`| logfmt`, `app=mine trace=8 x=1 x=2 a.b=3 9k=4`, "_9k=4 a_b=3 app_extracted=mine trace_extracted=8 x=1"},
		{`| logfmt`, `=v foo=bar=buzz fo"o=bar ok=1 q="a"b z=2`, "ok=1 q=a z=2"},
		{`| logfmt`, `a="b\n"c=d`, "a=b c=d"},
		{`| logfmt`, "a=x\uFFFDy b=\xffz c=\"\xff\\u0041\\ud800.\"", "a=x y b= z c= A ."},
		{`| logfmt`, `a="it\'s" b="x\y" c=1`, "a=it's c=1"}, {`| logfmt`, "a\uFFFD=1 b\xff=2 c=3", "c=3"},
		{`| logfmt --strict`, `a="x\y" c=1`, `!LogfmtParserErr(logfmt syntax error at pos 8 : invalid quoted value)`},
		{`| logfmt --strict`, "a\uFFFD=1", `!LogfmtParserErr(logfmt syntax error at pos 5 : invalid key)`},
		{`| logfmt --strict`, "a\xff", `!LogfmtParserErr(logfmt syntax error at pos 3 : invalid key)`},
		{`| logfmt x="\"a\""`, `a=1`, "x=1"},
		{`| logfmt`, `a=1 b="open c=2`, "a=1"},
		{`| logfmt --strict`, `a=1 foo=bar=buzz ok=1`,
			`a=1 !LogfmtParserErr(logfmt syntax error at pos 12 : unexpected '=')`},
		{`| logfmt --strict`, `a=1 =v`, `a=1 !LogfmtParserErr(logfmt syntax error at pos 5 : unexpected '=')`},
		{`| logfmt --strict`, `fo"o=bar`, `!LogfmtParserErr(logfmt syntax error at pos 3 : unexpected '"')`},
		{`| logfmt --strict`, `a="b`, `!LogfmtParserErr(logfmt syntax error at pos 5 : unterminated quoted value)`},
		{`| logfmt`, `plain text`, ""},
		{`| logfmt host, f="fwd"`, `host=h fwd=1 x=2`, "f=1 host=h"},
		{`| logfmt host, f="fwd", g="fwd"`, `fwd=1 fwd=3`, "f=1 g=1 host="},
		{`| logfmt app, x`, `app=mine x`, "app_extracted=mine x="},
		{`| logfmt __error__, a`, `__error__=x a=1`, "a=1"},
	})
}

func TestPatternRegexpUnpack(t *testing.T) {
	checkCases(t, []stageCase{
		{"| pattern `<ip> - <_> \"<method> <uri>\" <status>`", `1.2.3.4 - - "GET /x y" 200 5`,
			"ip=1.2.3.4 method=GET status=200 5 uri=/x y"},
		{"| pattern `<ip> - <_>`", `none`, "ip=none"},
		{"| pattern `level=<level> <_>`", `lvl=x level=y `, ""},
		{"| pattern `<_>level=<level> <rest>`", `x level=warn more`, "level=warn rest=more"},
		{"| pattern `<app> <trace>`", `a b`, "app_extracted=a trace_extracted=b"},
		{"| pattern `<a>< b> <c_1>`", `1< b> 2`, "a=1 c_1=2"},
		{"| pattern `<a>|<b>`", `|`, "a= b="},
		{"| regexp `(?P<m>\\w+) (?P<p>\\S+) \\((?P<s>\\d+)\\)`", `POST /api (200) 1s`, "m=POST p=/api s=200"},
		{"| regexp `(?P<m>x)`", `abc`, ""},
		{"| regexp `(?P<m>x)|(?P<app>b)`", `abc`, "app_extracted=b m="},
		{`| unpack`, `{"c":"x","n":1,"app":"y","d.e":"z","_entry":"the \"line\""}`,
			`app_extracted=y c=x d_e=z -> the "line"`},
		{`| unpack`, `{"c":"x"}`, ""},
		{`| unpack`, `plain`, `!JSONParserErr(expecting json object(6), but it is not)`},
		{`| unpack`, ``, ""},
		{`| unpack | logfmt`, `{"c":"x","_entry":"a=1 c=2"}`, `a=1 c=x -> a=1 c=2`},
	})
}

func TestFormats(t *testing.T) {
	checkCases(t, []stageCase{
		{"| logfmt | line_format `{{.a}}-{{ .none }}-{{__line__}}`", `a=1`, "a=1 -> 1--a=1"},
		{"| line_format `{{.app | ToUpper}}`", `x`, "-> SHOP"},
		{"| line_format `x` |= `x`", `y`, "-> x"}, {"| line_format `x` |= `y`", `y`, out},
		{"| line_format ``", `y`, "->"},
		{"| logfmt | label_format b=a", `a=1`, "b=1"},
		{"| logfmt | label_format b=`{{.a}}!`", `a=1`, "a=1 b=1!"},
		{"| label_format x=app, y=trace, trace=`1`", `a`, "trace=1 s:x=shop m:y=7"},
		{"| label_format x=app, y=trace | logfmt", `x=1 y=2 app=3 trace=4`,
			"app_extracted=3 trace=4 x=1 m:y=7 y_extracted=2"},
		{"| label_format x=`1` | logfmt", `x=2`, "x=2"}, {"| logfmt | label_format x=`1` | logfmt", `x=2`, "x=1"},
		{"| logfmt | label_format app=a, trace=`{{.app}}`", `a=1`, "app=1 trace=1"},
		{"| logfmt | label_format c=`{{.a}}2`, d=`{{.c}}3`, e=a, f=`{{.a}}`", `a=1`, "c=12 d=3 e=1 f=1"},
		{"| logfmt | label_format c=none", `a=1`, "a=1"},
		{"| label_format x=app | drop app", `a`, "s:x=shop"},
		{"| line_format `{{ div 1 0 }}`", `y`,
			`!TemplateFormatErr(template: line:1:3: executing "line" at <div 1 0>: ` +
				`error calling div: runtime error: integer divide by zero)`},
		{"| label_format x=`{{ .app.y }}`", `y`,
			`!TemplateFormatErr(template: label:1:7: executing "label" at <.app.y>: ` +
				`can't evaluate field y in type string)`},
		{"| logfmt | a>0 | line_format `{{.__error__}}`", `a=x`,
			`a=x !LabelFilterErr(strconv.ParseFloat: parsing "x": invalid syntax) -> LabelFilterErr`},
		{"| decolorize", "\x1b[31mred\x1b[0m \x1b]0;t\x07x\x1b(By", "-> red xy"},
		{"| decolorize", "plain", ""}, {"| decolorize", "\x1b]0;t \x1b[1mx\x1b]y", "-> \x1b]0;t x\x1b]y"},
		{"| decolorize", "\x1b]0;t\x1b\\x\x1b", "-> x\x1b"},
		{"| logfmt | drop a, app, b=`2`, c=~`4.`", `a=1 b=2 c=3 d=4`, "c=3 d=4"},
		{"| logfmt | drop b=`3`", `b=2`, "b=2"},
		{"| json | drop __error__", `x`, ""},
		{"| json | drop __error__=`other`", `x`,
			`!JSONParserErr(Value looks like object, but can't find closing '}' symbol)`},
		{"| logfmt | keep a, b=`3`, app", `a=1 b=2 c=3`, "a=1"},
		{"| logfmt | keep b=~`2|3`", `a=1 b=2 c=3`, "b=2"},
		{"| json | keep a", `x`, `!JSONParserErr(Value looks like object, but can't find closing '}' symbol)`},
	})
}
