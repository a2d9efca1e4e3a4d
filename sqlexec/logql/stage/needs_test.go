package stage

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"varve/sqlexec/logql/syntax"
)

// TestNeeds holds that stages make what is read behind them, and no more: a parser whose labels nobody reads raises no
// errors, one that found all of them stops, and a line_format whose line nobody reads does not run.
func TestNeeds(t *testing.T) {
	names := func(n ...string) Need { return Need{Names: n} }
	const object = " !JSONParserErr(Value looks like object, but can't find closing '}' symbol)"
	for _, c := range []struct {
		pipeline, line string
		need           Need
		want           string // "any": not looked at
		reads          string
		needsLine      bool
	}{
		{`| json`, `{"a":1,"b":{"c":2,"d":3}}`, names("b_c"), "b_c=2", "[b_c]", true},
		{`| json`, `no json`, Need{}, "", "[]", false},
		{`| json`, `no json`, names("__error__"), object, "[__error__]", true},
		{`| json`, `{"a":1 broken`, names("a"), "a=1", "[a]", true},
		{`| json`, `{"a":1 broken`, names("a", "__error__"), "a=1" + object, "[__error__ a]", true},
		{`| json`, `{"app":1,"b":2}`, names("app_extracted"), "app_extracted=1", "[app_extracted]", true},
		{`| json`, `{"a":{"b":1},"a_c":2,"x":3}`, names("a_b", "a_c"), "a_b=1 a_c=2", "[a_b a_c]", true},
		{`| json | b > 1`, `{"a":1,"b":2,"c":3}`, names("a"), "a=1 b=2", "[a b]", true},
		{`| json x="a"`, `no json`, Need{}, "", "[]", false},
		{`| logfmt`, `a=1 b=2 c==`, names("b"), "b=2", "[b]", true},
		{`| logfmt --strict`, `a=1 b=2 c==`, names("b"), "b=2", "[b]", true},
		{`| logfmt --strict`, `c==`, Need{}, "", "[]", false},
		{"| pattern `<a> <b>`", `1 2`, names("b"), "b=2", "[b]", true},
		{"| regexp `(?P<a>.) (?P<b>.)`", `1 2`, names("a"), "a=1", "[a]", true},
		{"| line_format `{{ div 1 0 }}`", `x`, names("a"), "", "[a]", false},
		{"| line_format `a={{.app}}` | logfmt", `x`, names("a"), "a=shop", "[a app]", false},
		{"| label_format a=`{{.c}}`, d=e", `x`, names("a"), "a=", "[a c e]", false},
		{"| label_format a=`{{ . }}`", `x`, names("a"), "any", "all", false},
		{"| label_format a=`{{__line__}}`", `x`, names("a"), "a=x", "[a]", true},
		{"| json | keep a", `{"a":1,"c":2 broken`, everything, "a=1" + object, "[__error__ __error_details__ a]", true},
		{"| drop a, b=`2`", `x`, names("c"), "", "[b c]", false},
		{`|= "x"`, `x`, Need{}, "", "[]", true},
		{`| decolorize`, `x`, Need{}, "", "[]", false},
	} {
		name := c.pipeline + fmt.Sprint(c.need)
		p := compile(t, c.pipeline, c.need)
		e := p.NewEntry()
		e.SetStream(labelsOf("app", "shop"))
		passed := p.Run(e, 1, []byte(c.line), nil)
		got := strings.Replace(describe(e, string(e.Line)), "s:app=shop", "", 1)
		got = strings.Join(strings.Fields(got), " ")
		if want := strings.TrimSpace(c.want); !passed || want != "any" && got != want {
			t.Errorf("%s: got %q (%v), want %q", name, got, passed, want)
		}
		reads, all := p.Reads()
		if got := fmt.Sprint(reads); all != (c.reads == "all") || !all && got != c.reads {
			t.Errorf("%s: reads %s (all %v), want %s", name, got, all, c.reads)
		}
		if p.NeedsLine() != c.needsLine {
			t.Errorf("%s: needs the line: %v", name, p.NeedsLine())
		}
	}
}

// TestHints holds what lines must contain.
func TestHints(t *testing.T) {
	for _, c := range []struct{ pipeline, want string }{
		{`|= "a" != "b" |~ "c.*dd" !~ "e"`, `[{[a]  false} {[dd]  false}]`},
		{`|= "a" or "b"`, `[{[a b]  false}]`}, {`|~ "a" or "(?i)b"`, `[]`}, {`|= "x" or ip("1.2.3.4")`, `[]`},
		{"|> `<_>abc<_>de`", `[{[abc]  false}]`}, {`|= ""`, `[]`},
		{`| a="x"`, `[]`},
		{`| json | a="x"`, `[{[x] a true}]`}, {`| json | a="x" and b=~"y.*" or c="z"`, `[]`},
		{`| json | a="x", b=~"yy.*z", c!="w", d=""`, `[{[x] a true} {[yy] b true}]`},
		{"| pattern `<a> b` | a=`x`", `[{[x] a false}]`}, {"| pattern `<a>b` | a=`x yy`", `[{[x yy] a false}]`},
		{`| json | a="x yyy zz"`, `[{[yyy] a true}]`}, {`| logfmt | a=" "`, `[]`}, {`| json | a>1`, `[]`},
		{`| json | __error__="x"`, `[]`}, {`| line_format "{{.x}}" |= "a"`, `[]`}, {`| unpack |= "a"`, `[]`},
		{`|= "a" | decolorize |= "b"`, `[{[a]  false}]`}, {`| json | label_format a=b | a="x"`, `[]`},
	} {
		if got := fmt.Sprint(compile(t, c.pipeline, everything).Hints()); got != c.want {
			t.Errorf("%s: got %s, want %s", c.pipeline, got, c.want)
		}
	}
}

// TestUnwrap holds samples, their errors, and the filters behind.
func TestUnwrap(t *testing.T) {
	for _, c := range []struct {
		unwrap, line string
		passes       bool
		value        float64
		err          string
		keep         bool
	}{
		{`a`, "a=1.5", true, 1.5, "", false}, {`a`, "a=-2e3", true, -2000, "", false},
		{`a`, "b=1", false, 0, "", false},
		{`a`, `a=""`, false, 0, "", false}, {`a`, "a=x", true, 0, ErrSample, false},
		{`duration(a)`, "a=1m30s", true, 90, "", false}, {`duration_seconds(a)`, "a=250ms", true, .25, "", false},
		{`duration(a)`, "a=-5s", true, -5, "", false}, {`duration(a)`, "a=5", true, 0, ErrSample, false},
		{`bytes(a)`, `a="5 MiB"`, true, 5 << 20, "", false}, {`bytes(a)`, `a=1,000`, true, 1000, "", false},
		{`bytes(a)`, `a=3k`, true, 3000, "", false}, {`bytes(a)`, `a=x`, true, 0, ErrSample, false},
		{`a | __error__=""`, "a=x", false, 0, "", false}, {`a | __error__=""`, "a=1", true, 1, "", false},
		{`a | __error__!=""`, "a=x", true, 0, ErrSample, true},
		{`a | __error__=~".*"`, "a=x", true, 0, ErrSample, true},
		{`a | __error__="" or b="2"`, "a=x b=2", true, 0, ErrSample, false},
		{`a | __error__="SampleExtractionErr"`, "a=x b=2", true, 0, ErrSample, true},
		{`a | a>1`, "a=1", false, 0, "", false}, {`a | b="2"`, "a=1 b=2", true, 1, "", false},
		{`trace`, "a=1", true, 7, "", false}, {`app`, "a=1", true, 0, ErrSample, false},
	} {
		q, err := syntax.Parse(`max_over_time({x="y"} | logfmt --keep-empty | unwrap ` + c.unwrap + ` [1m])`)
		if err != nil {
			t.Fatal(err)
		}
		r := q.(*syntax.RangeAggregation).Range
		p, err := Compile(r.Query.Stages, r.Unwrap, Need{Labels: true})
		if err != nil {
			t.Fatal(err)
		}
		e := p.NewEntry()
		e.SetStream(labelsOf("app", "shop"))
		passes := p.Run(e, 1, []byte(c.line), labelsOf("trace", "7"))
		if passes != c.passes || passes && (e.Value != c.value || e.Err != c.err || e.KeepErr != c.keep) {
			t.Errorf("%s on %s: got %v %v %q %v, want %v %v %q %v", c.unwrap, c.line, passes, e.Value, e.Err, e.KeepErr,
				c.passes, c.value, c.err, c.keep)
		}
	}
}

// TestCompileErrors holds the errors of stages.
func TestCompileErrors(t *testing.T) {
	for _, c := range []struct{ pipeline, want string }{
		{`|= ip("1.2.3")`, `parse error : stage '|= ip("1.2.3")' : ip: invalid pattern`},
		{`|= ip("1.2.3.4-1.2.3.3")`, `parse error : stage '|= ip("1.2.3.4-1.2.3.3")' : ip: invalid pattern`},
		{`| a=ip("1.2.3.4-::1")`, `parse error : stage '| a=ip("1.2.3.4-::1")' : ip: invalid pattern`},
		{`| line_format "{{.x"`,
			`parse error : stage '| line_format "{{.x"' : invalid line template: template: line:1: unclosed action`},
		{`| label_format a="{{ nope }}"`, `parse error : stage '| label_format a="{{ nope }}"' : ` +
			`invalid template for label 'a': template: label:1: function "nope" not defined`},
		{`| line_format "{{define \"t\"}}{{template \"t\"}}{{end}}{{template \"t\"}}"`, `calls itself`},
		{`| json a="b["`, `parse error : stage '| json a="b["' : cannot parse expression [b[]: ` +
			`syntax error: unexpected $end, expecting STRING or INDEX`},
		{`| json a="b..c"`, `syntax error: unexpected DOT, expecting FIELD`},
		{`| json a="b."`, `syntax error: unexpected $end, expecting FIELD`},
		{`| json a=".b"`, `syntax error: unexpected DOT, expecting LSB or FIELD`},
		{`| json a="b[-1]"`, `unexpected FIELD, expecting STRING or INDEX`},
		{`| json a="b[99999999999999999999]"`, `is no index`},
		{`| json a="b c"`, `cannot parse expression [b c]: syntax error: unexpected FIELD`},
		{`| json a="\"b\"]"`, `syntax error: unexpected STRING, expecting LSB or FIELD`},
		{`| json a="[\"b\""`, `syntax error: unexpected $end, expecting RSB`},
		{`| json a="[\"b"`, `syntax error: unexpected $end, expecting RSB`},
		{`| json a="[\"b\"\"c\"]"`, `syntax error: unexpected STRING, expecting RSB`},
		{`| json a="[0]x"`, `syntax error: unexpected FIELD`}, {`| json a="b=c"`, `syntax error: unexpected "=c"`},
		{`| json a="x` + strings.Repeat(".x", maxPath) + `"`, "limit of 64 parts"},
		{`| logfmt a=""`, `it is no key`}, {`| logfmt a="b=c"`, `syntax error: unexpected "=c"`},
		{`| logfmt a="b c"`, `cannot parse expression [b c]: syntax error: unexpected KEY`},
	} {
		q, err := syntax.ParseLog(`{x="y"} ` + c.pipeline)
		if err != nil {
			t.Errorf("%s: %v", c.pipeline, err)
			continue
		}
		if _, err = Compile(q.Stages, nil, everything); err == nil || !strings.HasSuffix(err.Error(), c.want) &&
			!strings.Contains(err.Error(), "calls itself") {
			t.Errorf("%s:\n got %v\nwant %s", c.pipeline, err, c.want)
		}
	}
}

// TestBoundsOfLines holds that lines beyond a bound have an error that names the bound.
func TestBoundsOfLines(t *testing.T) {
	many := func(format string) string {
		var b strings.Builder
		for i := range maxLabels + 10 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	big := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ name, pipeline, line, want string }{
		{"json labels", `| json`, `{` + many(`"k%d":1,`) + `}`, "limit of 1000 labels"},
		{"logfmt labels", `| logfmt`, many("k%d=1 "), "limit of 1000 labels"},
		{"unpack labels", `| unpack`, `{` + many(`"k%d":"1",`) + `"_entry":""}`, "limit of 1000 labels"},
		{"json levels", `| json`, strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), "limit of 64 levels"},
		{"line", "| line_format `{{__line__}}{{__line__}}`", big, "limit of 1048576 bytes"},
		{"label", "| label_format a=`{{__line__ | upper}}{{__line__}}`", big, "limit of 1048576 bytes"},
		{"repeat", "| line_format `{{ repeat 1000000000 \"x\" }}`", "", "limit of 8388608 bytes"},
		{"indent", "| line_format `{{ indent 1000000000 \"x\" }}`", "", "limit of 8388608 bytes"},
		{"align", "| line_format `{{ alignLeft 1000000000 \"x\" }}`", "", "limit of 8388608 bytes"},
		{"replace", "| line_format `{{ replace \"x\" \"xxxxxxxxxxxxxxxxxxxx\" __line__ }}`", big,
			"limit of 8388608 bytes"},
		{"regex", "| line_format `{{ regexReplaceAll \"x\" __line__ \"xxxxxxxxxxxxxxxxxxxxxxx\" }}`", big,
			"limit of 8388608 bytes"},
		{"printf", "| line_format `{{ printf __line__ }}`", strings.Repeat("%1000000d", 100), "limit of 64 verbs"},
		{"number", "| line_format `{{ range 1000000000 }}{{ end }}`", "", "range can't iterate over 1000000000"},
		{"print", "| line_format `{{ $x := repeat 1000000 \"x\" }}{{ $y := print " + strings.Repeat("$x ", 300) + "}}`", "",
			"limit of 8388608 bytes"},
		{"html", "| line_format `{{ $x := repeat 1000000 \"&\" }}{{ $x " + strings.Repeat("| html ", 100) + "| len }}`",
			"", "limit of 8388608 bytes"},
		{"printf of one value", "| line_format `{{ $x := repeat 500000 \"x\" }}{{ printf \"" +
			strings.Repeat("%[1]s", 60) + "\" $x | len }}`", "", "limit of 8388608 bytes"},
		{"upper in a loop", "| line_format `{{ $x := repeat 100000 \"x\" }}{{ range fromJson __line__ }}" +
			"{{ $y := upper $x }}{{ end }}`", "[" + strings.Repeat("1,", 5000) + "1]", "limit of 8388608 bytes"},
		{"large loop", "| line_format `{{ range fromJson __line__ }}" + strings.Repeat("{{ $x := 1 }}", 1000) +
			"{{ end }}`",
			"[" + strings.Repeat("1,", 5000) + "1]", "limit of 8388608 bytes"},
		{"matches", "| line_format `{{ count \"(((x)))\" __line__ }}`", big, "limit of 8388608 bytes"},
		{"large expression", "| line_format `{{ count \"(.{0,200}y){3}x\" __line__ }}`",
			strings.Repeat("xy", 1<<18) + "x", "limit of 8388608 bytes"},
		{"value in an error", "| label_format a=`{{ __line__ }}` | a > 1", strings.Repeat("ä", 5000), "parsing"},
		{"loops", "| line_format `{{ $l := fromJson __line__ }}{{ range $l }}{{ range $l }}{{ end }}{{ end }}`",
			"[" + strings.Repeat("1,", 5000) + "1]", "more than 131072 elements"},
	} {
		p := compile(t, c.pipeline, everything)
		e := p.NewEntry()
		if !p.Run(e, 1, []byte(c.line), nil) || !strings.Contains(e.Details, c.want) || len(e.Labels) > maxLabels ||
			len(e.Details) > maxDetails || !utf8.ValidString(e.Details) {
			t.Errorf("%s: got %s %.200s with %d labels, want an error with %q", c.name, e.Err, e.Details, len(e.Labels),
				c.want)
		}
	}
}

// TestForget holds that an entry that met many names, keys and streams forgets them and works on.
func TestForget(t *testing.T) {
	p := compile(t, `| json | logfmt | k_x="1"`, everything)
	e := p.NewEntry()
	for i := range maxNames + 3*maxKeys {
		if i%1000 == 0 {
			e.SetStream(labelsOf("app", fmt.Sprint(i)))
		}
		line := fmt.Sprintf(`{"k":{"x":1},"n%d":2}`, i)
		if !p.Run(e, 1, []byte(line), labelsOf(fmt.Sprintf("m%d", i%7), "3")) {
			t.Fatalf("line %d does not pass", i)
		}
		want := fmt.Sprintf("s:app=%d k_x=1 m:m%d=3 n%d=2", i/1000*1000, i%7, i)
		if got := describe(e, line); got != want {
			t.Fatalf("line %d: got %s, want %s", i, got, want)
		}
	}
	if len(e.names) > maxNames+100 {
		t.Errorf("the entry remembers %d names", len(e.names))
	}
}
