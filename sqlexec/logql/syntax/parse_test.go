package syntax

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestPrint holds what queries mean, by their canonical print, which shows each group in parentheses.
func TestPrint(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{app="a"}`, `{app="a"}`},
		{"{ app = `a\\d` , host!=\"b\",c=~\"x|y\", d!~`z` } # comment", `{app="a\\d", host!="b", c=~"x|y", d!~"z"}`},
		{`{app="a"} |= "x" != "y" |~ "z+" !~ "w"`, `{app="a"} |= "x" != "y" |~ "z+" !~ "w"`},
		{`{app="a"}|="x"or"y" or ip("10.0.0.0/8")`, `{app="a"} |= "x" or "y" or ip("10.0.0.0/8")`},
		{"{app=\"a\"} |> `<_> x <_>` !> \"y\"", `{app="a"} |> "<_> x <_>" !> "y"`},
		{`{app="a"} | json | status >= 500`, `{app="a"} | json | status>=500`},
		{`{app="a"} | a > 1m30s`, `{app="a"} | a>1m30s`},
		{`{app="a"} | a = 1h`, `{app="a"} | a==1h0m0s`},
		{`{app="a"} | a = 1.5KiB, b != 20MB`, `{app="a"} | ( a==1.5KiB , b!=20MB )`},
		{`{app="a"} | a > -5.5`, `{app="a"} | a>-5.5`},
		{`{app="a"} | a == 20kb`, `{app="a"} | a==20kB`},
		{`{app="a"} | a = ip("::1") or b != ip("1.2.3.4-1.2.3.9")`,
			`{app="a"} | ( a=ip("::1") or b!=ip("1.2.3.4-1.2.3.9") )`},
		// and binds more tightly than or.
		{`{app="a"} | a="1" or b="2" and c="3"`, `{app="a"} | ( a="1" or ( b="2" , c="3" ) )`},
		{`{app="a"} | a="1" and b="2" or c="3"`, `{app="a"} | ( ( a="1" , b="2" ) or c="3" )`},
		{`{app="a"} | a="1" or b="2" or c="3"`, `{app="a"} | ( ( a="1" or b="2" ) or c="3" )`},
		{`{app="a"} | (a="1" or b="2") and c="3"`, `{app="a"} | ( ( a="1" or b="2" ) , c="3" )`},
		// A comma or nothing takes all that follows as its right side.
		{`{app="a"} | a="1" or b="2", c="3"`, `{app="a"} | ( a="1" or ( b="2" , c="3" ) )`},
		{`{app="a"} | a="1", b="2" or c="3"`, `{app="a"} | ( a="1" , ( b="2" or c="3" ) )`},
		{`{app="a"} | a="1" b="2" or c="3"`, `{app="a"} | ( a="1" , ( b="2" or c="3" ) )`},
		{`{app="a"} | a="1" and b="2" c="3" or d="4"`, `{app="a"} | ( a="1" , ( b="2" , ( c="3" or d="4" ) ) )`},
		{`{app="a"} | a="1" (b="2" or c="3")`, `{app="a"} | ( a="1" , ( b="2" or c="3" ) )`},
		{`{app="a"} | json a="b.c[0]", d | json`, `{app="a"} | json a="b.c[0]",d="d" | json`},
		{`{app="a"} | logfmt --keep-empty --strict a, b="c"`, `{app="a"} | logfmt --strict --keep-empty a="a",b="c"`},
		{"{app=\"a\"} | pattern `<ip> - <_>` | regexp `(?P<x>.)` | unpack | decolorize",
			`{app="a"} | pattern "<ip> - <_>" | regexp "(?P<x>.)" | unpack | decolorize`},
		{"{app=\"a\"} | line_format `{{.x}}` | label_format a=b, c=`{{.d}}`",
			`{app="a"} | line_format "{{.x}}" | label_format a=b,c="{{.d}}"`},
		{`{app="a"} | drop a, b="c", d=~"e" | keep __error__, f`, `{app="a"} | drop a,b="c",d=~"e" | keep __error__,f`},
		// Words of functions are names where no parenthesis follows.
		{`{sum="a"} | count > 1 | bytes = 5 | ip="x" | duration > 3s`,
			`{sum="a"} | count>1 | bytes==5 | ip="x" | duration>3s`},
		{`({app="a"} |= "x")`, `{app="a"} |= "x"`},
		// Keywords and functions may be written in any case, names of labels keep theirs.
		{`{App="a", Sum="b"} | JSON | LogFmt --strict A | Rate="x" AND Bytes>1 Or c=IP("::1") | Line_Format "x"`,
			`{App="a", Sum="b"} | json | logfmt --strict A="A" | ( ( Rate="x" , Bytes>1 ) or c=ip("::1") ) | line_format "x"`},
		{`SUM BY (A) (Count_Over_Time({a="b"}[1m] OFFSET 1m)) > BOOL Vector(1)`,
			`(sum by (A)(count_over_time({a="b"}[1m] offset 1m0s)) > bool vector(1.000000))`},
		{`Sum(Sum_Over_Time({a="b"} | Unwrap Duration(D) [1m])) Without (x)`,
			`sum without (x)(sum_over_time({a="b"} | unwrap duration(D)[1m]))`},
		// A filter that takes out one of several texts is one filter for each text.
		{`{app="a"} != "x" or "y" or ip("::1") |= "z" or "w" !~ "v" or "u"`,
			`{app="a"} != "x" != "y" != ip("::1") |= "z" or "w" !~ "v" !~ "u"`},
		{"{a=\"\\xff\"}", `{a="\xff"}`},

		{`rate({app="a"}[5m])`, `rate({app="a"}[5m])`},
		{`rate({app="a"}[5m] |= "x" | json)`, `rate({app="a"} |= "x" | json[5m])`},
		{`rate({app="a"} |= "x" | json [1h30m] offset 1d)`, `rate({app="a"} |= "x" | json[1h30m] offset 24h0m0s)`},
		{`rate({app="a"}[5m] offset -30s |= "x")`, `rate({app="a"} |= "x"[5m] offset -30s)`},
		{`rate(({app="a"} |= "x")[5m])`, `rate({app="a"} |= "x"[5m])`},
		{`rate((({app="a"})[1.5h]))`, `rate({app="a"}[1h30m])`},
		{`sum_over_time({app="a"} | json | unwrap x [1w])`, `sum_over_time({app="a"} | json | unwrap x[1w])`},
		{`avg_over_time({app="a"}[1500ms] | unwrap duration(x) | __error__="" | a>1) by (b,c)`,
			`avg_over_time({app="a"} | unwrap duration(x) | __error__="" | a>1[1s500ms]) by (b,c)`},
		{`quantile_over_time(0.99,{app="a"}|unwrap bytes(x)[1m]) without ()`,
			`quantile_over_time(0.99,{app="a"} | unwrap bytes(x)[1m]) without ()`},
		{`sum(rate({app="a"}[1m])) by (x)`, `sum by (x)(rate({app="a"}[1m]))`},
		{`topk without(x) (3, rate({app="a"}[1m]))`, `topk without (x)(3,rate({app="a"}[1m]))`},
		{`sort_desc(approx_topk(5, sum by () (rate({app="a"}[1m]))))`,
			`sort_desc(approx_topk(5,sum by ()(rate({app="a"}[1m]))))`},
		{`vector(1) + vector(2) * vector(3)`, `(vector(1.000000) + (vector(2.000000) * vector(3.000000)))`},
		{`vector(1) - vector(2) - vector(3)`, `((vector(1.000000) - vector(2.000000)) - vector(3.000000))`},
		{`vector(1) ^ vector(2) ^ vector(3)`, `(vector(1.000000) ^ (vector(2.000000) ^ vector(3.000000)))`},
		{`vector(1) or vector(2) and vector(3) unless vector(4)`,
			`(vector(1.000000) or ((vector(2.000000) and vector(3.000000)) unless vector(4.000000)))`},
		{`vector(1) > bool 2 == 1`, `((vector(1.000000) > bool 2) == 1)`},
		{`vector(-1) * -2`, `(vector(-1.000000) * -2)`},
		{`vector(1) / on (a, b) group_left (c) vector(2)`,
			`(vector(1.000000) / on (a,b) group_left (c) vector(2.000000))`},
		{`vector(1) * ignoring () group_right vector(2)`, `(vector(1.000000) * ignoring () group_right () vector(2.000000))`},
		{`vector(1) * on (a) group_left (vector(2))`, `(vector(1.000000) * on (a) group_left () vector(2.000000))`},
		// Modifiers that change nothing are left out.
		{`vector(1) + bool vector(2)`, `(vector(1.000000) + vector(2.000000))`},
		{`vector(1) and on (a) group_left (b) vector(2)`, `(vector(1.000000) and on (a) vector(2.000000))`},
		{`vector(1) > on (a) 2`, `(vector(1.000000) > 2)`},
		{`vector(1) / on (a) group_right (a, b) vector(2)`,
			`(vector(1.000000) / on (a) group_right (b) vector(2.000000))`},
		// Numbers are computed.
		{`1 + 2 * 3 ^ 2 ^ 0`, `7`},
		{`2 ^ 3 ^ 2`, `512`},
		{`-2 ^ 2`, `4`},
		{`1 > 2`, `0`},
		{`7 % 4 - 1e3 / 16`, `-59.5`},
		{`1 / 0`, `(0 / 0)`},
		{`10 ^ 400`, `(10 ^ 400)`},
		{`vector(0.1) + .5`, `(vector(0.100000) + 0.5)`},
		{`vector(0.12345678)`, `vector(0.12345678)`},
		{"label_replace(rate({app=\"a\"}[1m]), \"d\", \"$1\", \"s\", `(.*)-\\d`)",
			`label_replace(rate({app="a"}[1m]),"d","$1","s","(.*)-\\d")`},
		{"# first\nrate( # second\n{app=\"#a\"}[1m])", `rate({app="#a"}[1m])`},
	} {
		q, err := Parse(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := q.String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
		checkRoundTrip(t, q)
	}
}

// checkRoundTrip holds that both prints of a query are read as the query.
func checkRoundTrip(t *testing.T, q Query) {
	t.Helper()
	for _, text := range []string{q.String(), Pretty(q)} {
		back, err := Parse(text)
		if err != nil {
			t.Fatalf("print of a query is not read: %s: %v", text, err)
		}
		if !reflect.DeepEqual(back, q) && back.String() != q.String() {
			t.Errorf("read again: %s\n got %s\nwant %s", text, back, q)
		}
	}
}

// TestErrors holds error texts with their places.
func TestErrors(t *testing.T) {
	empty := `parse error : queries require at least one regexp or equality matcher that does not have an ` +
		`empty-compatible value. For instance, app=~".*" does not meet this requirement, but app=~".+" will`
	for _, c := range []struct{ in, want string }{
		{``, `parse error at line 1, col 1: syntax error: unexpected $end`},
		{`{app=`, `parse error at line 1, col 6: syntax error: unexpected $end, expecting STRING`},
		{`{`, `parse error at line 1, col 2: syntax error: unexpected $end, expecting IDENTIFIER or }`},
		{`{app`, `parse error at line 1, col 5: syntax error: unexpected $end, expecting = or =~ or !~ or !=`},
		{`{app="a"`, `parse error at line 1, col 9: syntax error: unexpected $end, expecting } or ,`},
		{`{app="a",}`, `parse error at line 1, col 10: syntax error: unexpected }, expecting IDENTIFIER`},
		{`{app="a"} |=`, `parse error at line 1, col 13: syntax error: unexpected $end, expecting STRING or ip`},
		{"{app=\"a\"}\n  | ", `parse error at line 2, col 5: syntax error: unexpected $end`},
		{`{app="ä"} | line_format x`, `parse error at line 1, col 25: syntax error: unexpected IDENTIFIER, expecting STRING`},
		{`{app="a"} | a == "x"`, `parse error at line 1, col 18: syntax error: unexpected STRING`},
		{`{app="a"} |= "x" or |= "y"`, `parse error at line 1, col 21: syntax error: unexpected |=, expecting STRING or ip`},
		{`{app="a"} |= "x" {`, `parse error at line 1, col 18: syntax error: unexpected {`},
		{`{app="a`, `parse error at line 1, col 6: literal not terminated`},
		{`{app="a"} ?`, `parse error at line 1, col 11: syntax error: unexpected character '?'`},
		{`{}`, empty}, {`{app=""}`, empty}, {`{app=~".*"}`, empty}, {`{app!="x"}`, empty}, {`{app!~"x"}`, empty},
		{`{app=~"("}`, "parse error : error parsing regexp: missing closing ): `(`"},
		{`{app="a"} |~ "a**"`, "parse error : error parsing regexp: invalid nested repetition operator: `**`"},
		{`{app="a"} |~ ip("1.2.3.4")`, `parse error : stage '|~ ip("1.2.3.4")' : ip: invalid operation`},
		{`{app="a"} | regexp "x"`, `parse error : invalid regexp parser: at least one named capture must be supplied`},
		{`{app="a"} | regexp "(?P<a>.)(?P<a>.)"`,
			"parse error : invalid regexp parser: duplicate extracted label name 'a'"},
		{`{app="a"} |> "<a>"`, `parse error : stage '|> "<a>"' : named captures are not allowed: found '<a>'`},
		{`{app="a"} | pattern ""`,
			`parse error : invalid pattern parser: syntax error: unexpected $end, expecting IDENTIFIER or LITERAL`},
		{`{app="a"} | pattern "x"`, `parse error : invalid pattern parser: at least one capture is required`},
		{`{app="a"} | pattern "<_>"`, `parse error : invalid pattern parser: at least one capture is required`},
		{`{app="a"} | pattern "<a><b>"`,
			`parse error : invalid pattern parser: found consecutive capture '<a><b>': invalid expression`},
		{`{app="a"} | pattern "<a> <a>"`,
			`parse error : invalid pattern parser: duplicate capture name (a): invalid expression`},
		{`{app="a"} | label_format a=b,a="c"`,
			`parse error : multiple label name 'a' not allowed in a single format operation`},
		{`{app="a"} | label_format __error__=b`, `parse error : __error__ cannot be formatted`},
		{`{app="a"} | logfmt --lax`, `parse error : unknown flag: --lax`},
		{`{app="a"} | b > 0x10`,
			`parse error at line 1, col 17: unable to parse literal as a float: strconv.ParseFloat: parsing "0x10": invalid syntax`},
		{`{app="a"} | b > 1e999`,
			`parse error at line 1, col 17: unable to parse literal as a float: strconv.ParseFloat: parsing "1e999": value out of range`},
		{`{app="a"} | unwrap x`, `parse error at line 1, col 11: syntax error: unexpected |`},

		{`min({ foo = "bar" }[5m])`, `parse error at line 1, col 20: syntax error: unexpected RANGE`},
		{`topk(he,count_over_time({ foo = "bar" }[5h]))`, `parse error at line 1, col 6: syntax error: unexpected IDENTIFIER`},
		{`unk({ foo = "bar" }[5m])`, `parse error at line 1, col 1: syntax error: unexpected IDENTIFIER`},
		{`rate({ foo = "bar" }[5minutes])`,
			`parse error at line 1, col 21: unknown unit "minutes" in duration "5minutes"`},
		{`rate({ foo = "bar" }[5)`, `parse error at line 1, col 21: missing closing ']' in duration`},
		{`rate({ foo = "bar" }[0s])`, `parse error at line 1, col 21: duration must be greater than 0: "0s"`},
		{`rate({ foo = "bar" })`, `parse error at line 1, col 21: syntax error: unexpected )`},
		{`rate({ foo = "bar" })[5m]`, `parse error at line 1, col 21: syntax error: unexpected )`},
		{`rate({ foo = "bar" }[5m]) offset 1m`, `parse error at line 1, col 27: syntax error: unexpected offset`},
		{`rate({ foo = "bar" }[5m]) by (x)`, `parse error : grouping not allowed for rate aggregation`},
		{`sum(3 ,count_over_time({ foo = "bar" }[5h]))`, `parse error : unsupported parameter for operation sum(3,`},
		{`topk(count_over_time({ foo = "bar" }[5h]))`, `parse error : parameter required for operation topk`},
		{`topk(0,count_over_time({ foo = "bar" }[5h]))`,
			`parse error : invalid parameter (must be greater than 0) topk(0`},
		{`quantile_over_time({ foo = "bar" }|unwrap x[5h])`,
			`parse error : parameter required for operation quantile_over_time`},
		{`rate(2,{ foo = "bar" }[5h])`, `parse error : parameter 2 not supported for operation rate`},
		{`sum_over_time({ foo = "bar" }[5h])`, `parse error : invalid aggregation sum_over_time without unwrap`},
		{`bytes_rate({ foo = "bar" }|unwrap x[5h])`, `parse error : invalid aggregation bytes_rate with unwrap`},
		{`sum(vector(1)) by (a b)`, `parse error at line 1, col 22: syntax error: unexpected IDENTIFIER, expecting , or )`},
		{`{a="b"} + 1`, `parse error : unexpected type for left leg of binary operation (+): *syntax.MatchersExpr`},
		{`1 or vector(1)`, `parse error : unexpected literal for left leg of logical/set binary operation (or): 1.000000`},
		{`vector(rate({a="b"}[1m]))`, `parse error at line 1, col 8: syntax error: unexpected RATE, expecting NUMBER`},
		{`count by (sum({a="b"}))`, `parse error at line 1, col 11: syntax error: unexpected SUM, expecting IDENTIFIER or )`},
		{`{a="b"} | duration(x)`, `parse error at line 1, col 11: syntax error: unexpected DURATION_CONV`},
		{`sum_over_time({a="b"} | unwrap "x" [1m])`, `parse error at line 1, col 32: syntax error: ` +
			`unexpected STRING, expecting IDENTIFIER or BYTES_CONV or DURATION_CONV or DURATION_SECONDS_CONV`},
		{`quantile_over_time(x,{a="b"}|unwrap y[1m])`,
			`parse error at line 1, col 20: syntax error: unexpected IDENTIFIER, expecting NUMBER or { or (`},
		{`rate(x)`, `parse error at line 1, col 6: syntax error: unexpected IDENTIFIER, expecting NUMBER or { or (`},
		{`topk(1.5,vector(1))`, `parse error : invalid parameter topk(1.5,`},
		{`sort(vector(1)) by (a)`, `parse error : sort and sort_desc doesn't allow grouping by`},
		{`sort_desc without (a) (vector(1))`, `parse error : sort and sort_desc doesn't allow grouping by`},
		{`approx_topk(1, vector(1)) by (a)`, `parse error : grouping not allowed for approx_topk aggregation`},
		{"{a=~\"\xff\"}", `parse error at line 1, col 5: invalid UTF-8 encoding`},
		{"{a=`\xc3`}", `parse error at line 1, col 4: invalid UTF-8 encoding`},
		{"{a=\"b\"} \x80", `parse error at line 1, col 9: invalid UTF-8 encoding`},
		{`{BY="x"}`, `parse error at line 1, col 2: syntax error: unexpected by, expecting IDENTIFIER or }`},

		{`label_replace(vector(1),"a","b","c","(")`,
			"parse error : invalid regex in label_replace: error parsing regexp: missing closing ): `(`"},
		{`variants(rate({a="b"}[1m])) of ({a="b"}[1m])`,
			`parse error at line 1, col 1: variants queries are not supported`},
		{`sum({a="b"})`, `parse error at line 1, col 12: syntax error: unexpected )`},
	} {
		_, err := Parse(c.in)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.in, err, c.want)
		}
	}
}

// numbered repeats a text with numbers more often than captures may be.
func numbered(format string) string {
	var b strings.Builder
	for i := range MaxCaptures + 1 {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestBounds holds that a query beyond a bound is an error that names the bound.
func TestBounds(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text", `{a="` + strings.Repeat("x", MaxText) + `"}`, fmt.Sprint(MaxText)},
		{"parentheses", strings.Repeat("(", MaxDepth+1) + "vector(1)" + strings.Repeat(")", MaxDepth+1), "limit of 64"},
		{"powers", strings.Repeat("vector(1)^", MaxDepth+1) + "vector(1)", "limit of 64"},
		{"conditions", `{a="b"} | ` + strings.Repeat("(", MaxDepth+1) + `a="b"`, "limit of 64"},
		{"chain", strings.Repeat("vector(1)+", MaxChain+1) + "vector(1)", "limit of 512"},
		{"stages", `{a="b"}` + strings.Repeat(`|="x"`, MaxStages+1), "limit of 128"},
		{"filters behind unwrap", `sum_over_time({a="b"}|unwrap x` + strings.Repeat(`|a="x"`, MaxStages+1) + "[1m])",
			"limit of 128"},
		{"texts", `{a="b"} |= "x"` + strings.Repeat(` or "x"`, MaxNodes), "limit of 4096"},
		{"commas", `{a="b"} | a="b"` + strings.Repeat(`, a="b"`, MaxNodes), "limit of 4096"},
		{"matchers", `{a="b"` + strings.Repeat(`, a="b"`, MaxNodes) + `}`, "limit of 4096"},
		{"captures", "{a=`b`} | pattern `" + numbered("<a%d> ") + "`", "limit of 500 captures"},
		{"groups", "{a=`b`} | regexp `" + numbered("(?P<a%d>.)") + "`", "limit of 500 named captures"},
		{"paths", "{a=`b`} | json " + strings.TrimSuffix(numbered("a%d, "), ", "), "limit of 500 expressions"},
		{"keys", "{a=`b`} | logfmt " + strings.TrimSuffix(numbered("a%d, "), ", "), "limit of 500 expressions"},
		{"ranges", "rate(" + strings.Repeat("(", MaxDepth), "limit of 64"},
	} {
		if _, err := Parse(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// TestSelector holds what endpoints of streams take.
func TestSelector(t *testing.T) {
	got, err := ParseSelector(`{a="b", c!="d"}`)
	want := []Matcher{{"a", MatchEqual, "b"}, {"c", MatchNotEqual, "d"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := ParseSelector(`{}`); err != nil || len(got) != 0 {
		t.Errorf("empty selector: got %v, %v", got, err)
	}
	if _, err := ParseSelector(`{a="b"} |= "x"`); err == nil || err.Error() !=
		"parse error : only label matchers are supported" {
		t.Errorf("got %v", err)
	}
	if _, err := ParseLog(`vector(1)`); err == nil {
		t.Errorf("a metric query was read as a log query")
	}
}

// TestParseBytes holds sizes and what is none.
func TestParseBytes(t *testing.T) {
	for _, c := range []struct {
		in   string
		want uint64
	}{{"0", 0}, {"42", 42}, {"1.5KiB", 1536}, {"5 MiB", 5 << 20}, {"3k", 3000}, {"1,000 kb", 1e6}, {"2Gi", 2 << 30},
		{"7B", 7}, {"1e", 1e18}} {
		if got, err := ParseBytes(c.in); err != nil || got != c.want {
			t.Errorf("%q: got %d, %v, want %d", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", "x", "-1", "5 miles", "5bb", "20e", "1.2.3"} {
		if got, err := ParseBytes(in); err == nil {
			t.Errorf("%q: got %d, want an error", in, got)
		}
	}
}

// FuzzParse holds that any text gives a query whose prints are read as the same query, or an error of the query.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{app="a"} |= "x" or "y" | json a="b[0]" | c>1m or d<5KB, e=ip("::1/8")`,
		`sum by (a)(rate({a=~"b+"}[5m] offset -1h | logfmt --strict)) / on(b) group_left() vector(-1.5e3) ^ 2`,
		"topk(3, quantile_over_time(.9, {a=`b`} | unwrap duration(x) | __error__=\"\" [1d])) > bool 1",
		`label_replace(absent_over_time({a="b"} | drop x,y="z" | keep w | label_format a=b,c="d" [1ms]),"a","b","c","d")`,
		"{a=\"b\"} | pattern `<x> y` | unpack | decolorize | line_format `{{.a}}` # c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		checkRoundTrip(t, q)
	})
}
