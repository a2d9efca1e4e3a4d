package vrl_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// codesOf compiles a program and gives the codes of its errors.
func codesOf(source string, o vrl.Options) []int {
	_, err := vrl.Compile(source, stdlib.Library, o)
	failed := (*vrl.CompileError)(nil)
	if !errors.As(err, &failed) {
		return nil
	}
	var codes []int
	for _, d := range failed.Diagnostics {
		if !d.Warning {
			codes = append(codes, d.Code)
		}
	}
	return codes
}

// TestCompileErrors holds what the contract says of errors beyond its cases.
func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		source string
		codes  []int
	}{
		// Lexical traps.
		{"a = 1\na!= 2", []int{203}},
		{"x = 3\nx-1", []int{203}},
		{"x = 3\nx -1", []int{203}},
		{"- 1", []int{203}},
		{".5", []int{203}},
		{"\"\\u{110000}\"", []int{211}},
		{"\"\\u41\"", []int{211}},
		{"s'abc", []int{208}},
		{"r'abc", []int{208}},
		{"t'abc", []int{208}},
		{"nope()\n\"abc", []int{207}},
		{"x@y = 1", []int{203}},
		{"x = for", []int{205}},
		{"1 ^ 2", []int{203}},
		{"99_999_999_999_999_999_999", []int{206}},

		// Grammar.
		{"[if true {1}]", []int{203}},
		{"(\n1\n)", []int{203, 203}},
		{"if (\ntrue\n) && false { 1 }", []int{203}},
		{"if (\n) { 1 }", []int{203}},
		{"{a: 1}", []int{203}},
		{"x = 1\nx .a", []int{203}},
		{".a.1", []int{203}},
		{". a", []int{203}},
		{"1;;2", []int{203}},
		{"x = ", []int{204}},
		{"{ 1", []int{204}},
		{"_", []int{204}},
		{"x = _\ny = nope", []int{203, 701}},
		{"x = = 1\ny = nope\nz = 1 1", []int{203, 701, 203}},
		{"true == false == true", []int{650}},
		{"1 == 2 < 3", nil},
		{"1 < 2 == 3", []int{650}},

		// Where failures may stand.
		{"[to_int(\"a\"), to_int(\"b\")]", []int{100, 100}},
		{"{\"a\": to_int(\"a\")}", []int{100}},
		{"x = to_int(\"a\") + to_int(\"b\")", []int{103}},
		{"x = { to_int(\"q\"); 5 }", []int{103}},
		{"x = { abort; to_int(\"q\"); 5 }", nil},
		{"if true { to_int(\"q\") }\nparse_int(\"x\")", []int{100, 100}},
		{"if upcase(.a) == \"x\" { 1 }", []int{110}},
		{"for_each!([1]) -> |i, v| { to_int(\"a\") }", []int{100}},
		{"null || to_int(\"x\")", []int{100}},
		{"true || to_int(\"x\")", nil},
		{"true && to_int(\"1\") == 1 ?? false", nil},
		{"false && .a", nil},
		{"true && .a", []int{100}},
		{"to_int(\"x\") ?? to_int(\"y\")", []int{100}},
		{"x = to_int(\"1\")\nx", []int{103, 701}},
		{"x = nope()\nx", []int{105}},
		{"x, err = 1\nerr", []int{104, 701}},
		{"abort upcase(.a)", []int{631}},
		{"abort 5 + .a", []int{631}},
		{"abort null", []int{113}},
		{"return to_int(.a)", []int{631}},
		{"!(.a)", []int{660}},
		{"x = 1\n6 / x", nil},
		{"x = 1\nfor_each([1, 0]) -> |_i, v| { y = 6 / x; x = v }", []int{103}},
		{"x = 1\nif .a == 1 { x = 2 }\n6 / x", []int{100}},
		{"6 / .a", []int{100}},
		{"6 / (2 - 2)", []int{100}},
		{"6 / (2 - 1)", nil},
		{"\"a\" + null + \"b\"", nil},
		{"\"a\" + .b", []int{100}},
		{"1.0 + 2", nil},
		{"1 - \"a\"", []int{100}},

		// Calls, in the order of the checks.
		{"upcase(nope, nope2)", []int{701}},
		{"nope(\"a\", nope2)", []int{701}},
		{"split(\"a\", \",\", 1, 2)", []int{106}},
		{"split(1, x: 2)", []int{108}},
		{"split(1)", []int{110}},
		{"split(to_string(.a), 5)", []int{630}},
		{"split(\"a\")", []int{107}},
		{"upcase(1) -> |x| { x }", []int{110}},
		{"map_values(.a) -> |x, y| { x }", []int{121}},
		{"map_values([.a]) -> |x, y| { x }", []int{120}},
		{"filter([.a]) -> |x, y| { to_int(y) }", []int{100}},
		{"map_keys({}) -> |k| { .x }", []int{122}},
		{"x = \"seconds\"\nto_unix_timestamp(now(), unit: x)", nil},
		{"to_unix_timestamp(now(), unit: string!(.u))", []int{610}},
		{"del(\"x\")", []int{610}},
		{"del([1])", []int{610}},
		{"exists({\"a\": 1})", []int{610}},
		{"unnest([1])", []int{610}},
		{"del(parse_json(.a).b)", []int{630}},
		{"unnest({\"a\": 1}.a)", []int{110}},
		{"del(x)", []int{701}},

		// Assignments.
		{"_, _ = to_int(\"x\")", []int{640}},
		{"x |= {\"a\": 1}", []int{701}},
		{"x = {}\nx |= parse_json(\"{}\")", []int{652}},
		{"x = {}\nx |= object(.a)", []int{103}},
		{".a = 1\n.a.b.c = 2", []int{642}},
		{".a = {}\n.a.b.c = 2", nil},
		{".a = {}\n.a[0] = 2", []int{642}},
		{".a = null\n.a.b = 2", []int{642}},
		{".[0] = 1", []int{642}},
		{". = [1]\n.[0] = 2", nil},
		{". = 5\n.a = 1", []int{642}},
		{"x = {}\nx.a.b = 1\nx.a.b.c = 1", []int{642}},

		// Scopes.
		{"for_each([1]) -> |_i, v| { null }\nv", []int{701}},
		{"if (x = 1; x == 1) { y = 2 }\nx", nil},
		{"if (x = 1; x == 1) { y = 2 }\ny", []int{701}},
		{"x = 1\nif true { x = 2; z = 3 }\nx + z", []int{701}},

		// Limits.
		{strings.Repeat("[", 150) + strings.Repeat("]", 150), nil},
		{strings.Repeat("[", 300) + strings.Repeat("]", 300), []int{200}},
		{strings.Repeat("(", 50_000), []int{200}},
		{strings.Repeat("if true {", 7000), []int{200}},
		{strings.Repeat("!", 60_000) + "true", []int{200}},
		{"if .a == 0 { 0 }" + strings.Repeat(" else if .a == 1 { 1 }", 2900), nil},
		{"x = 1" + strings.Repeat(" + 1", 10_000), nil},
		{strings.Repeat("x = ", 15_000) + "1", []int{200}},
		{strings.Repeat("#", 70_000), []int{200}},
		{"." + strings.Repeat("a.", 30_000) + "a", nil},
	} {
		name := c.source
		if len(name) > 60 {
			name = name[:60]
		}
		t.Run(name, func(t *testing.T) {
			if got := codesOf(c.source, vrl.Options{}); !slices.Equal(got, c.codes) {
				_, err := vrl.Compile(c.source, stdlib.Library, vrl.Options{})
				t.Errorf("got %v, want %v\n%.2000v", got, c.codes, err)
			}
		})
	}
}

// TestPrograms holds what the contract says of runs beyond its cases.
func TestPrograms(t *testing.T) {
	for _, c := range []struct{ source, event, want string }{
		{"1_000.5", "{}", "1000.5"},
		{"\"a\nb\"", "{}", `"a\nb"`},
		{"\"a \\\n\n   b\"", "{}", `"a b"`},
		{"\"\\{{ x }} {{ }} {{ 1a }} {{a.b}}\"", "{}", `"{{ x }} {{ }} {{ 1a }} {{a.b}}"`},
		{"r'it\\'s \\'", "{}", ""},
		{"int(5)", "{}", "5"},
		{"split(\"a,b;c\", \",\", pattern: \";\")", "{}", `["a,b","c"]`},
		{"truncate(\"abcdef\", limit: 2, limit: 3)", "{}", `"abc"`},
		{"truncate(\"abcdef\", 4, limit: 3)", "{}", `"abc"`},
		{"[del(.a, target: .b), .]", `{"a":1,"b":2}`, `[2,{"a":1}]`},
		{".@x@y = 1\n.", "{}", `{"@x@y":1}`},
		{".\"a\\\"b\\n\" = 1\n.", "{}", `{"a\"b\n":1}`},
		{"% = {\"a\": 1}\n%.a", "{}", "1"},
		{"x.y = 1\nx.z[1] = 2\nx", "{}", `{"y":1,"z":[null,2]}`},
		{"{ \"b\": (.n = 1), \"a\": .n }", "{}", `{"a":null,"b":1}`},
		{"{ \"a\": 1, \"a\": 2 }", "{}", `{"a":2}`},
		{"if (.a == 1; .b == 2) { 1 } else { 2 }", `{"b":2}`, "1"},
		{"if (.a == 1) || .b == 2 { 1 }", `{"b":2}`, "1"},
		{"if (\n  # why\n\n  .a == 1\n\n) { 1 } else { 2 }", `{"a":1}`, "1"},
		{"if (\n  x = 1\n  x == 1;\n\n)\n{ x }", `{}`, "1"},
		{"if (.a == 1\n; .b == 2) { 1 } else { 2 }", `{"a":1}`, "2"},
		{"if false { 1 } else # why\n\n if true { 2 }", `{}`, "2"},
		{"if false { 1 }\n\n else\nif (\ntrue\n) { 2 } else\n{ 3 }", `{}`, "2"},
		{"x = if false { 1 }\nelse { 2 }\nx", "{}", "2"},
		{"x, err = .a > 1\nerr", `{"a":{}}`, `"can't compare object >= integer"`},
		{"x, err = .a > \"b\"\nerr", `{"a":1}`, `"can't compare integer >= string"`},
		{"x, err = .a && .b\n[x, err]", `{"a":true,"b":2}`,
			`[false,"can't apply an AND to types boolean and integer"]`},
		{".a || \"x\"", `{"a":false}`, `"x"`},
		{"x = \"s\"\nx, err = x * .n\nx", `{"n":3}`, `"sss"`},
		{"x, err = { if true { return 5 }; to_int(\"x\") }\nx", "{}", "5"},
		{"to_int(\"x\") ?? { abort \"no\" }", "{}", `abort no`},
		{"{ if .a == 1 { abort \"no\" }; to_int(\"x\") } ?? 7", `{"a":1}`, "7"},
		{"x, err = { .a = 1; to_int(\"x\") }\n.", "{}", `{"a":1}`},
		{"x = {}\nx, err |= object(parse_json!(\"[]\"))\n[x, err]", "{}",
			`[{},"function call error for \"object\" at (17:42): expected object, got array"]`},
		{"del(.a.b.c)\n.", `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"x = [1]\ndel(x)\nx", "{}", "[]"},
		{"[del({\"a\": 1}.a), del({\"a\": 1}.b), del([1, 2][-1]), del([1][5]), del(parse_json!(.m).x[1]), del({ .n = 1; {\"k\": .n} }.k, compact: true), .n]", `{"m":"{\"x\":[1,2]}"}`, `[1,null,2,null,2,1,1]`},
		{"[exists({\"a\": null}.a), exists({\"a\": 1}.b), exists([1][0]), exists([1][1]), exists(parse_json!(.m).x), exists(parse_json!(.m).y)]", `{"m":"{\"x\":1}"}`, `[true,false,true,false,true,false]`},
		{"[unnest({\"h\": \"a\", \"e\": [1, 2]}.e), unnest!(parse_json!(.m).x)]", `{"m":"{\"x\":[1],\"y\":2}"}`,
			`[[{"e":1,"h":"a"},{"e":2,"h":"a"}],[{"x":1,"y":2}]]`},
		{"v, err = unnest(parse_json!(.m).y)\nerr", `{"m":"{\"y\":2}"}`,
			`"function call error for \"unnest\" at (9:34): expected array, got integer"`},
		{"x = \"s\"\ndel(x)\nx", "{}", "null"},
		{"del(%a)\n%", "{}", "{}"},
		{"[exists(%a), exists(.), exists(.a[0].b)]", `{"a":[{"b":null}]}`, "[false,true,true]"},
		{". = unnest!(.e)\n.", `{"h":1,"e":[{"a":1},2]}`, `[{"e":{"a":1},"h":1},{"e":2,"h":1}]`},
		{"x = 0\nfor_each({\"a\": 1, \"b\": 2}) -> |_k, v| { if v == 1 { return 5 }; x = x + v }\nx", `{}`, `2`},
		{"filter({\"a\": 1, \"b\": 2}) -> |_k, v| { return v == 2 }", `{}`, `{"b":2}`},
		{"x = for_each({}) -> |_k, _v| { return 1 }\n[x]", `{}`, `[null]`},
		{"map_values({\"a\": 1}) -> |v| { return v }", `{}`,
			`error function call error for "map_values" at (0:40): return cannot be used inside closures`},
		{"map_keys({\"a\": 1}) -> |k| { return k }", `{}`,
			`error function call error for "map_keys" at (0:38): return cannot be used inside closures`},
		{"filter([1]) -> |_i, v| { return v == 1 }", `{}`,
			`error function call error for "filter" at (0:40): return cannot be used inside closures`},
		{"for_each({\"a\": 1}) -> |_k, v| { for_each([v]) -> |_i, w| { return w } }", `{}`,
			`error function call error for "for_each" at (0:71): function call error for "for_each" at (32:69): return cannot be used inside closures`},
		{".e = [1, \"a\"]\n. = unnest(.e)\ntype_def(.[1].e)", `{}`, `{"bytes":true}`},
		{".h = \"x\"\n. = unnest!(.e)\ntype_def(.[0].h)", `{"e":[1]}`, `{"bytes":true,"undefined":true}`},
		{".1a.2b = 1\nx = {\"3c\": 2}\n[.1a.2b, x.3c, .4e5]", `{}`, `[1,2,null]`},
		{"unnest!(.h)", `{"h":1}`, `error function call error for "unnest" at (0:11): expected array, got integer`},
		{"assert!(.h == 2)", `{"h":1}`, `error function call error for "assert" at (0:16): assertion failed: .h == 2`},
		{"assert!(.h == 2, \"why\")", `{"h":1}`, `error function call error for "assert" at (0:23): why`},
		{"assert_eq!(.h, 2)", `{"h":"q"}`,
			`error function call error for "assert_eq" at (0:17): assertion failed: "q" == 2`},
		{"type_def({ abort })", "{}", `{"never":true}`},

		// Containers are values: a change through one name is not seen through another.
		{"x = .a\n.a.b = 2\n[x, .a]", `{"a":{"b":1}}`, `[{"b":1},{"b":2}]`},
		{"x = .a.b\nx.c = 2\n.", `{"a":{"b":{"c":1}}}`, `{"a":{"b":{"c":1}}}`},
		{"x = [1]\ny = x\ny[0] = 2\n[x, y]", "{}", "[[1],[2]]"},
		{"x = (y = {\"a\": .n})\nx.a = 2\n[x, y]", `{"n":1}`, `[{"a":2},{"a":1}]`},
		{".x, err = object(.a)\n.x.b = 2\n.a", `{"a":{"b":1}}`, `{"b":1}`},
		{"x = merge(., {})\nx.a.b = 2\n.a", `{"a":{"b":1}}`, `{"b":1}`},
		{"x = [.a, .a]\nx[0].b = 2\n[x, .a]", `{"a":{"b":1}}`, `[[{"b":2},{"b":1}],{"b":1}]`},
		{"for_each(array!(.l)) -> |_i, v| { v.a = 2; .l[0].a = 3 }\n.", `{"l":[{"a":1}]}`, `{"l":[{"a":3}]}`},
		{"x = map_values(array!(.l)) -> |v| { v }\nx[0].a = 2\n.", `{"l":[{"a":1}]}`, `{"l":[{"a":1}]}`},
		{"x = {}\ny = []\nfor_each([1, 2]) -> |_i, v| { t.v = v; y = push(y, t); t.w = v }\ny", "{}",
			`[{"v":1},{"v":2}]`},
		{". |= {\"a\": .a}\n.a.b = 2\n.", `{"a":{"b":1}}`, `{"a":{"b":2}}`},
		{"x = {\"k\": {\"a\": 1}}\nx |= {\"l\": x}\nx.l.k.a = 2\nx", "{}", `{"k":{"a":1},"l":{"k":{"a":2}}}`},

		// An argument that is taken away instead of shared, and put back.
		{"x = [.a]\ny = x\nx = push(x, 2)\nz = x\nx = push(x, 3)\n[x, y, z]", `{"a":1}`, "[[1,2,3],[1],[1,2]]"},
		{"x = [.a]\ny = { x = push(x, to_int!(.b)); to_int(\"1\") } ?? 0\n[x, y]", `{"a":1}`, "[[1,0],1]"},
		{"x = [.a]\ny = { x = push(x, to_int!(.a)); to_int(\"1\") } ?? 0\n[x, y]", `{"a":"q"}`, `[["q"],0]`},
		{"x = [.a]\nx = append(x, x)\nx", `{"a":1}`, "[1,1]"},
		{"x = [.a]\nx = push(x, length(x))\nx", `{"a":1}`, "[1,1]"},
		{"x = {\"a\": {\"b\": .a}}\ny = x.a\nx = set!(x, [\"a\", \"b\"], 2)\n[x, y]", `{"a":1}`,
			`[{"a":{"b":2}},{"b":1}]`},
		{"x = {\"a\": .a}\ny = { x = set!(x, [\"c\", 99999999], 2); to_int(\"1\") } ?? 0\nx", `{"a":1}`, `{"a":1}`},
		{". = merge(., {\"b\": 2})\n.", `{"a":1}`, `{"a":1,"b":2}`},
		{". = merge(., {\"b\": .a})\n.", `{"a":1}`, `{"a":1,"b":1}`},
		{"x = .\n. = merge(., {\"b\": 2})\nx", `{"a":1}`, `{"a":1}`},
		{". = merge(., object!({ .c = 3; {\"b\": 2} }))\n.", `{"a":1}`, `{"a":1,"b":2}`},
		{"x = [1]\nfor_each(x) -> |_i, v| { x = push(x, v) }\nx", "{}", "[1,1]"},
		{"out = []\nfor_each(split(string!(.s), \",\")) -> |_i, v| { out = push(out, v) }\nlength(out)",
			`{"s":"` + strings.Repeat("x,", 50_000) + `"}`, "50001"},

		// What is computed by the compiler is what the program would compute.
		{"x = 1\ny = { to_int!(.a); x = 2; to_int(\"1\") } ?? 0\nx + 1", `{"a":"q"}`, "2"},
		{"x = 1\ny, err = { to_int!(.a); x = 2; to_int(\"1\") }\nx + 1", `{"a":"q"}`, "2"},
		{"x = 1\nfor_each(array(.l) ?? []) -> |_i, _v| { x = 2 }\nx + 1", `{}`, "2"},
		{"x = 1\nfor_each([1, 2]) -> |_i, _v| { y = x + 1; x = y * 10 }\nx", `{}`, "210"},
		{"x = 1\nif .a == 1 { x = 2 } else { x = 2 }\nx + 1", `{}`, "3"},
		{"x = 1\n.b == 1 && { x = 2; true }\nx + 1", `{}`, "2"},

		// Named arguments of the language's own functions.
		{"x = [del(path: .a), del(target: .b, compact: true), exists(field: .a)]\nx", `{"a":1,"b":2}`, "[1,2,false]"},
		{"replace_with(pattern: r'b', value: \"ab\") -> |_m| { \"c\" }", "{}", `"ac"`},
		{"replace_with(\"a\", r'(?P<string>a)') -> |_m| { \"c\" }", "{}",
			`error function call error for "replace_with" at (0:51): Capture group cannot be named "string" or "captures"`},

		// Closures.
		{"v = 1\nr = map_values([5]) -> |v| { v = 7; v + 1 }\n[r, v]", "{}", "[[8],1]"},
		{"x = 1\nmap_values([1, 2]) -> |v| { x = x * 10; v * x }", "{}", "[10,200]"},
		{"map_values({\"a\": {\"b\": 1}}, recursive: true) -> |v| { if is_object(v) { {\"c\": 2} } else { 3 } }", "{}",
			`{"a":{"c":3}}`},
		{"map_keys({\"a\": 1, \"b\": 2}) -> |_k| { \"x\" }", "{}", `{"x":2}`},
		{"replace_with(\"ab\", r'(?P<x>a)|(?P<y>b)') -> |m| { string(m.y) ?? \"-\" }", "{}", `"-b"`},
		{"replace_with(\"héé\", r'é', 1) -> |m| { m.string + m.string }", "{}", `"hééé"`},
		{"replace_with(\"ab\", r'', count: 2) -> |_m| { \"|\" }", "{}", `"|a|b"`},
		{"for_each([1, 2]) -> |i, _v| { if i == 1 { abort \"at \" + to_string(i) } }", "{}", "abort at 1"},
		{"x, err = to_int(string!(for_each([1]) -> |_i, _v| { return 1 }))\nerr", "{}",
			`"function call error for \"to_int\" at (9:64): function call error for \"string\" at (16:63): function call error for \"for_each\" at (24:62): return cannot be used inside closures"`},
	} {
		t.Run(c.source, func(t *testing.T) {
			p, err := vrl.Compile(c.source, stdlib.Library, vrl.Options{})
			if c.want == "" {
				if err == nil {
					t.Error("compiles")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			f := vrl.NewFrame(new(value.Arena))
			for range 2 {
				if got := shown(t, p, f, c.event); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}

// shown runs a program and gives its result as JSON, or what ended it.
func shown(t *testing.T, p *vrl.Program, f *vrl.Frame, text string) string {
	t.Helper()
	f.Arena.Reset()
	event, fault := value.ReadJSON(f.Arena, text, value.JSONOptions{})
	if fault.Failed() {
		t.Fatal(fault.In(text))
	}
	v, err := p.Run(f, &event)
	if err == nil {
		return string(value.AppendJSON(nil, v))
	}
	failed := (*vrl.RuntimeError)(nil)
	if !errors.As(err, &failed) {
		t.Fatalf("an error of another type: %v", err)
	}
	if failed.Aborted {
		return "abort " + failed.Message
	}
	return "error " + failed.Message
}

func TestTypeDef(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{".x", `{"any":true}`},
		{"{ abort }", `{"never":true}`},
		{"[1, \"a\"]", `{"array":{"0":{"integer":true},"1":{"bytes":true}}}`},
		{"{ if .a == 1 { 1 } }", `{"integer":true,"null":true}`},
		{"{ if .a == 1 { abort } else { 1 } }", `{"integer":true}`},
		{"{ abort\n1 }", `{"integer":true}`},
		{"{ x = 1; if .a == 1 { x = \"s\" }; x }", `{"bytes":true,"integer":true}`},
		{"{ x = {\"a\": 1}; x.b }", `{"undefined":true}`},
		{"{ x = {}; y = x.b; y }", `{"null":true}`},
		{"{ x = if .a == 1 { {\"a\": 1} } else { {\"b\": \"s\"} }; x }",
			`{"object":{"a":{"integer":true,"undefined":true},"b":{"bytes":true,"undefined":true}}}`},
		{"{ x = [1]; x[2] = \"s\"; x }", `{"array":{"0":{"integer":true},"1":{"null":true},"2":{"bytes":true}}}`},
		{"{ x[-2] = 1; x }", `{"array":{"0":{"integer":true},"1":{"null":true}}}`},
		{"{ .y = 1; del(.y); .y }", `{"any":true}`},
		{".", `{"object":{},"object_unknown_infinite":{"any":true}}`},
		{"{ .z = 1; if .b == 1 { .a = 1 }; . }",
			`{"object":{"z":{"integer":true}},"object_unknown_infinite":{"any":true}}`},
		{"{ .z = 1; if .b == 1 { .a = 1 } else { .a = \"s\" }; . }",
			`{"object":{"a":{"bytes":true,"integer":true},"z":{"integer":true}},"object_unknown_infinite":{"any":true}}`},
		{"{ .a.b = 1; . }",
			`{"object":{"a":{"object":{"b":{"integer":true}},"object_unknown_infinite":{"any":true}}},"object_unknown_infinite":{"any":true}}`},
		{"{ x, err = parse_regex(.a, r'(?P<z>y)'); x }", `{"object":{"z":{"bytes":true,"undefined":true}}}`},
		{"{ . = {\"a\": {\"b\": 1}}; del(.a.b, compact: true); . }", `{"object":{}}`},
		{"{ . = {\"a\": {\"b\": {\"c\": 1}}, \"d\": 1}; del(.a.b.c, true); . }", `{"object":{"d":{"integer":true}}}`},
		{"{ . = {\"a\": {\"b\": 1, \"c\": 2}}; del(.a.b, true); . }",
			`{"object":{"a":{"object":{"c":{"integer":true}}}}}`},
		{"{ . = {\"a\": {}}; del(.a.b, true); . }", `{"object":{"a":{"object":{},"undefined":true}}}`},
		{"del({\"a\": 1}.a)", `{"integer":true}`},
		{"del({\"a\": 1}.b)", `{"null":true}`},
		{"{ . = {\"a\": {\"b\": 1, \"c\": 2}}; del(.a.b); . }", `{"object":{"a":{"object":{"c":{"integer":true}}}}}`},
		{"{ . |= {\"b\": 1}; . }", `{"object":{"b":{"integer":true}},"object_unknown_infinite":{"any":true}}`},
		{"{\"a\": 1, \"b\": 1} | {\"b\": \"s\"}", `{"object":{"a":{"integer":true},"b":{"bytes":true}}}`},
		{"split(\"a\", \",\")", `{"array":{},"array_unknown_exact":{"bytes":true}}`},
		{"parse_json!(\"1\")", `{"json":true}`},
		{"{ x, err = parse_json(\"1\"); err }", `{"bytes":true,"null":true}`},
		{"{ x, err = to_int(.a); x }", `{"integer":true}`},
		{"{ x, err = to_int(.a) }", `{"bytes":true,"integer":true}`},
		{".a == 1 || \"x\"", `{"boolean":true,"bytes":true}`},
		{"null || 1", `{"integer":true}`},
		{"1 || \"x\"", `{"integer":true}`},
		{"to_int(.a) ?? \"x\"", `{"bytes":true,"integer":true}`},
		{".a + 1 ?? null", `{"bytes":true,"float":true,"integer":true,"null":true}`},
		{"1 / 2", `{"float":true}`},
		{"{ x = 1; for_each([1]) -> |_i, v| { x = to_string(v) }; x }", `{"bytes":true}`},
		{"map_values({\"a\": 1}) -> |v| { to_string(v) }", `{"object":{"a":{"bytes":true}}}`},
		{"filter({\"a\": 1}) -> |_k, v| { v == 1 }", `{"object":{"a":{"integer":true,"undefined":true}}}`},
		{"{ v3 = [\"true\"]; v3[0] = 0; v3 }", `{"array":{"0":{"integer":true}}}`},
	} {
		t.Run(c.source, func(t *testing.T) {
			p, err := vrl.Compile("type_def("+c.source+")", stdlib.Library, vrl.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := shown(t, p, vrl.NewFrame(new(value.Arena)), "{}"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRunLimits(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + "]"
	for _, c := range []struct{ name, source, want string }{
		{"steps", "for_each(array!(.l)) -> |_i, _v| { for_each(array!(.l)) -> |_i, _w| { null } }", "steps"},
		{"memory", "for_each(array!(.l)) -> |_i, v| { .o = map_values(array!(.l)) -> |w| { [w] } }", ""},
		{"string", "x = \"ab\"\nfor_each(array!(.l)) -> |_i, _v| { x = x + x }", "bytes would be made"},
		{"repetition", "\"abc\" * 999999999999999999", "bytes would be made"},
		{"doubling", "x = [1]\nfor_each(array!(.l)) -> |_i, _v| { x = [x, x] }", "a value would hold more than"},
		{"doubling of paths", "for_each(array!(.l)) -> |_i, _v| { .a = .; .b = . }", "a value would hold more than"},
		{"levels", "x = [1]\nfor_each(array!(.l)) -> |_i, _v| { x = [x] }", "nest deeper than"},
		{"index", ".x[1000000000] = 1", "array index 1000000000 is out of range"},
		{"negative index", ".x[-1000000000] = 1", "array index -1000000000 is out of range"},
		{"work of calls",
			"x = [1]\nx = [x, x, x, x]\nx = [x, x, x, x]\nx = [x, x, x, x]\nx = [x, x, x, x]\nx = [x, x, x, x]\nx = [x, x, x, x]\nx = [x, x, x, x]\nx = [x, x, x, x]\n" +
				strings.Repeat("length(encode_json(x))\n", 2000), "the run takes more than"},
		{"work of comparing", "x = \"a\" * 15000000\ny = x + \"\"\n" + strings.Repeat("x == y\n", 5000), "steps"},
		{"long path", "." + strings.Repeat("a.", 3000) + "a = 1", "nest deeper than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := vrl.Compile(c.source, stdlib.Library, vrl.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := shown(t, p, vrl.NewFrame(new(value.Arena)), `{"l":`+list+`}`)
			if c.want == "" {
				c.want = "error"
			}
			if !strings.HasPrefix(got, "error") || !strings.Contains(got, c.want) {
				t.Errorf("got %.200s, want %s", got, c.want)
			}
		})
	}
}

// TestManyVariables bounds the time that a script with a branch for each of many variables takes.
func TestManyVariables(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < vrl.MaxSourceBytes-100; i++ {
		fmt.Fprintf(&b, "v%d = .a\nif .b == 1 { .c%d = 1 }\n", i%vrl.MaxVariables, i)
	}
	start := time.Now()
	if codes := codesOf(b.String(), vrl.Options{}); codes != nil {
		t.Fatal(codes)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if codes := codesOf(strings.ReplaceAll(b.String(), "v0 =", "w0 =")+"w1 = 1", vrl.Options{}); codes == nil {
		t.Error("there is no limit of variables")
	}
}

// TestManyErrors bounds what a script of errors only costs.
func TestManyErrors(t *testing.T) {
	for _, line := range []string{"nop()\n", "nop\n", "to_int(\"1\")\n", ". .\n", "x = y\n"} {
		_, err := vrl.Compile(strings.Repeat(line, vrl.MaxSourceBytes/len(line)), stdlib.Library, vrl.Options{})
		failed := (*vrl.CompileError)(nil)
		if !errors.As(err, &failed) {
			t.Fatal("compiles")
		}
		if n := len(failed.Diagnostics); n < 1000 || len(failed.Error()) > 100_000 ||
			!strings.HasSuffix(failed.Error(), fmt.Sprintf("\nand %d more\n", n-vrl.MaxRendered)) {
			t.Errorf("%q: %d errors in %d bytes", line, n, len(failed.Error()))
		}
	}
}

func TestRegexesTogetherAreBounded(t *testing.T) {
	codes := codesOf(strings.Repeat("r'((a{10}){10}){9}'\n", 3000), vrl.Options{})
	if len(codes) < 1000 || codes[0] != 101 {
		t.Errorf("%d errors", len(codes))
	}
}

func TestReadOnly(t *testing.T) {
	o := vrl.Options{ReadOnly: []vrl.ReadOnlyPath{
		{Path: value.Path{value.Field("a"), value.Field("b")}},
		{Meta: true, Path: value.Path{value.Field("m")}, Recursive: true},
	}}
	for _, c := range []struct {
		source string
		codes  []int
	}{
		{".a.b = 1", []int{315}},
		{".a = 1", []int{315}},
		{". = {}", []int{315}},
		{". |= {}", []int{315}},
		{"del(.a)", []int{315}},
		{".a.b, err = to_int(.x)", []int{315}},
		{".x, .a = to_int(.x)", []int{315}},
		{".a.b.c = 1", nil},
		{".a.c = 1", nil},
		{"%m.x = 1", []int{315}},
		{"%n = 1", nil},
		{"a.b = 1", nil},
	} {
		if got := codesOf(c.source, o); !slices.Equal(got, c.codes) {
			t.Errorf("%s: got %v, want %v", c.source, got, c.codes)
		}
	}
}

func TestRender(t *testing.T) {
	_, err := vrl.Compile("x = \"é\"\n.a\t= parse_jsn(.m)\ny = to_int(\"1\")", stdlib.Library, vrl.Options{})
	const want = `error[E105]: call to undefined function
  --> 2:6 (byte 14)
  | .a = parse_jsn(.m)
  |      ^^^^^^^^^ undefined function
  |      did you mean "parse_json"?

error[E103]: unhandled fallible assignment
  --> 3:5 (byte 32)
  | y = to_int("1")
  |     ^^^^^^^^^^^ this expression is fallible
  |     update the expression to be infallible
  | ^^^^^^^^^^^^^^^ or change this to an infallible assignment:
  | y, err = to_int("1")
  = or give a default: y = to_int("1") ?? ...
`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestPlaces looks at where the first label of an error stands.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		source string
		at     int // byte
	}{
		{"x = \"a\"\nx.b = 1", 10},
		{". = \"a\"\n.b = 1", 9},
		{".a = 1\n.a[0].c = 1", 13},
		{".a.", 2},
		{"!.a", 0},
		{".a = \"x\\qy\"", 8},
		{"filter([1]) -> |_i, v| { v }", 23},
		{"filter([1]) -> |v| { v }", 0},
		{"1 + for_each(.a) -> |_i, v| { v }", 4},
		{"x = upcase(\"a\", value: nope)", 23},
		{"if .a { 1 }", 3},
		{"x, err = 1", 3},
		{"to_unix_timestamp(now(), unit: \"weeks\")", 0},
	} {
		_, err := vrl.Compile(c.source, stdlib.Library, vrl.Options{})
		failed := (*vrl.CompileError)(nil)
		if !errors.As(err, &failed) {
			t.Errorf("%s compiles", c.source)
		} else if got := failed.Diagnostics[0].Labels[0].Start; got != c.at {
			t.Errorf("%s: the error stands at %d, want %d\n%v", c.source, got, c.at, err)
		}
	}
}

// TestUnreadMessages makes sure that a program cannot tell whether the message of an error was made.
func TestUnreadMessages(t *testing.T) {
	for _, source := range []string{
		"x, err = to_int(.m)\n[err]",
		"x, err = to_int(.m)\n{ y = err; [y] }",
		"err = null\nfor_each([1]) -> |_i, _v| { x, err = to_int(.m); .x = x }\n[err]",
		"x, .err = to_int(.m)\n[.err]",
		"[{ x, err = to_int(.m) }]",
		"x, err = to_int(.m)\n\"{{ err }}\" ?? \"\"\n[err]",
	} {
		p, err := vrl.Compile(source, stdlib.Library, vrl.Options{})
		if err != nil {
			if strings.Contains(source, "{{") {
				continue
			}
			t.Fatalf("%s\n%v", source, err)
		}
		if got := shown(t, p, vrl.NewFrame(new(value.Arena)), `{"m":"q"}`); !strings.Contains(got, `Invalid integer`) {
			t.Errorf("%s\ngot %s", source, got)
		}
	}
}

// TestProgramsAreShared runs one program in several goroutines; the race detector looks on.
func TestProgramsAreShared(t *testing.T) {
	const source = `known = {"a": [{"b": 1}], "c": "x"}
known.a[0].b = 2
list = [known, known.a, {"d": [1, [2]]}]
for_each(list) -> |i, v| { .out = push(array(.out) ?? [], [i, v, list[2]]) }
.m = merge(known, {"a": [3]})
x, err = to_int(.text)
.r = replace(string!(.text), r'\w', "-")
.n = compact({"a": null, "b": [[]]})
flatten(., "_")`
	var done sync.WaitGroup
	outcomes := make([]string, 4)
	p, err := vrl.Compile(source, stdlib.Library, vrl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range outcomes {
		done.Go(func() {
			if _, err := vrl.Compile(source, stdlib.Library, vrl.Options{}); err != nil {
				t.Error(err)
			}
			f := vrl.NewFrame(new(value.Arena))
			for range 100 {
				outcomes[i] = outcome(t, p, f, `{"text":"é x"}`)
			}
		})
	}
	done.Wait()
	for _, o := range outcomes {
		if o != outcomes[0] {
			t.Errorf("got %s\nand %s", outcomes[0], o)
		}
	}
}

// TestLabels holds what the labels of each kind of error say, with the place of the first: the words of the reference.
func TestLabels(t *testing.T) {
	const begins = `expected one of: "\n", "!", "(", "[", "_", "abort", "false", "float literal", "function call", "identifier", "if", "integer literal", ` +
		`"null", "raw string literal", "regex literal", "return", "string literal", "timestamp literal", "true", "{", "path literal"`
	for _, c := range []struct {
		source string
		code   int
		at     int
		texts  []string
	}{
		{"parse_json(\"1\")", 100, 0,
			[]string{"expression can result in runtime error", "handle the error case to ensure runtime success"}},
		{"\"a\" + 1", 100, 0, []string{"expression can result in runtime error",
			"handle the error case to ensure runtime success"}},
		{"if 1 { 2 }", 102, 3, []string{"this predicate must resolve to a boolean", "instead it resolves to integer"}},
		{".a = to_int(\"1\")", 103, 5, []string{"this expression is fallible", "update the expression to be infallible",
			"or change this to an infallible assignment:", ".a, err = to_int(\"1\")"}},
		{".a = sha3(.b)", 103, 5, []string{"this expression is fallible", "update the expression to be infallible",
			"'.b' argument type is unknown and this function expects parameter 'value' of type 'string'",
			"or change this to an infallible assignment:", ".a, err = sha3(.b)"}},
		{"x, err = 1", 104, 3, []string{"this error assignment is unnecessary", "because this expression can't fail",
			"use: x = 1"}},
		{"parse_jsn(1)", 105, 0, []string{"undefined function", `did you mean "parse_json"?`}},
		{"upcase(\"a\", \"b\")", 106, 7,
			[]string{"too many function arguments", "this function takes a maximum of 1 argument"}},
		{"split(\"a\")", 107, 0, []string{`required argument missing: "pattern" (position 1)`}},
		{"upcase(val: \"a\")", 108, 7,
			[]string{"unknown keyword", `this function accepts the following keywords: "value"`}},
		{"upcase(\"a\") -> |x| { x }", 109, 12,
			[]string{"unexpected closure", "this function does not accept a closure"}},
		{"upcase(5)", 110, 7, []string{"this expression resolves to the exact type integer",
			`but the parameter "value" expects the exact type string`}},
		{"length(.a)", 110, 7, []string{"this expression resolves to any",
			`but the parameter "value" expects one of string, array or object`}},
		{"for_each([1])", 111, 0, []string{"this function expects a closure"}},
		{"abort 5", 113, 6, []string{"abort only accepts an expression argument resolving to a string",
			"this expression resolves to integer"}},
		{"for_each([1]) -> |x| { x }", 120, 0,
			[]string{"this function requires a closure with 2 argument(s)", "but 1 argument(s) are supplied"}},
		{"filter(.a) -> |i, v| { true }", 121, 0,
			[]string{"the closure tied to this function call expects a different input value",
				"expression has an inferred type of any where an array or object was expected"}},
		{"filter([1]) -> |_i, _v| {\n  return 0\n  true\n}", 122, 24,
			[]string{"block returns invalid value type", "expected: boolean", "received: integer or boolean"}},
		{"filter([1]) -> |_i, v| { v }", 122, 23,
			[]string{"block returns invalid value type", "expected: boolean", "received: integer"}},
		{"x = r'('", 101, 4, []string{"regex parse error: unclosed group: (", "at byte 0 of the expression"}},
		{"t'foo'", 601, 0, []string{"invalid timestamp format: input contains invalid characters",
			"a timestamp is written t'2006-01-02T15:04:05Z'"}},
		{"t'2021'", 601, 0, []string{"invalid timestamp format: premature end of input",
			"a timestamp is written t'2006-01-02T15:04:05Z'"}},
		{"t'2021-02-30T00:00:00Z'", 601, 0, []string{"invalid timestamp format: input is out of range",
			"a timestamp is written t'2006-01-02T15:04:05Z'"}},
		{"1 < 2 < 3", 650, 6, []string{""}},
		{"x = }", 203, 4, []string{`unexpected syntax token: "RBrace"`, begins}},
		{"x = = 1", 203, 4, []string{`unexpected syntax token: "Equals"`, begins}},
		{"\U0001F602", 203, 0, []string{`unexpected syntax token: "InvalidToken"`, begins}},
		{"5 a", 203, 2, []string{`unexpected syntax token: "Identifier"`,
			`expected one of: "\n", "!=", "&&", "*", "+", "-", "/", ";", "<", "<=", "==", ">", ">=", "??", "|", "||"`}},
		{".a[b]", 203, 3, []string{`unexpected syntax token: "Identifier"`, `expected one of: "integer literal"`}},
		{".foo.", 203, 4, []string{"unexpected end of query path",
			`expected one of: "identifier", "path field", "string literal"`}},
		{"f(1,", 204, 4, []string{"unexpected end of program",
			`expected one of: "\n", "!", "(", ")", "[", "false", "float literal", "function call", "identifier", ` +
				`"integer literal", "null", "raw string literal", "regex literal", "string literal", "timestamp literal", "true", "{", "path literal"`}},
		{"if true {", 204, 9, []string{"unexpected end of program", begins}},
		{"for = 1", 205, 0, []string{"this identifier name is reserved for future use in the language",
			"use a different name instead"}},
		{"\"a", 207, 0, []string{"invalid string literal"}},
		{"r'a", 208, 0, []string{"invalid literal"}},
		{"\"\\[\"", 209, 2, []string{"invalid escape character: ["}},
		{"del(1 + 1)", 610, 0, []string{`unexpected expression for argument "path"`, "received: operation",
			"expected: query"}},
		{"to_unix_timestamp(now(), unit: \"x\")", 610, 0,
			[]string{`invalid enum variant for argument "unit"`, `received: "x"`,
				`expected one of: "seconds", "milliseconds", "microseconds", "nanoseconds"`}},
		{"parse_grok!(\"x\", string!(.a))", 610, 0,
			[]string{`expected static expression for argument "pattern"`, "received: function call"}},
		{"upcase(to_string(.n))", 630, 7,
			[]string{"this expression can fail", "handle the error before passing it in as an argument"}},
		{"abort to_syslog_level(1)", 631, 6,
			[]string{"abort only accepts an infallible expression argument",
				"handle errors before using the expression as an abort message"}},
		{"_ = 5", 640, 4, []string{"this no-op assignment has no effect", "either assign to a path or variable here",
			"or remove the assignment"}},
		{"x = \"a\"\nx.b.c = 1", 642, 12, []string{"querying a field of a non-object type is unsupported",
			"this path resolves to a value of type undefined"}},
		{"x = \"a\"\nx[0] = 1", 642, 9,
			[]string{"indexing into a non-array type is unsupported", "this path resolves to a value of type string"}},
		{"1 ?? 2", 651, 0, []string{"this expression can't fail", "this expression never resolves",
			"remove this error coalescing operation"}},
		{"{ \"a\": 1 } | 3", 652, 13, []string{"this expression must resolve to an object"}},
		{"!5", 660, 0, []string{"negation only works on boolean values", "this expression resolves to integer"}},
		{"tru", 701, 0, []string{"undefined variable", `did you mean "true"?`}},
	} {
		_, err := vrl.Compile(c.source, stdlib.Library, vrl.Options{})
		failed, ok := err.(*vrl.CompileError)
		if !ok {
			t.Errorf("%s compiles: %v", c.source, err)
			continue
		}
		d := failed.Diagnostics[0]
		var texts []string
		for _, l := range d.Labels {
			texts = append(texts, l.Text)
		}
		if d.Code != c.code || d.Labels[0].Start != c.at || !slices.Equal(texts, c.texts) {
			t.Errorf("%s\n got %d at %d %q\nwant %d at %d %q", c.source, d.Code, d.Labels[0].Start, texts, c.code, c.at,
				c.texts)
		}
	}
}
