package flatten

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// clock is the tests' clock.
func clock() time.Time { return time.Unix(1000, 0) }

// groups collects the builders that a body fills, in order of first use.
type groups struct {
	vars     []OptionVars
	builders []*vector.Builder
}

func (g *groups) rows(v OptionVars) (*vector.Builder, error) {
	if text, _ := v.Value(optionVariables["service_ttl"]); text == "bad" {
		return nil, status.New(status.InvalidArguments, "bad ttl")
	} else if text == "same" { // says no more than the request does
		return g.builders[0], nil
	}
	for i := range g.vars {
		if g.vars[i] == v {
			return g.builders[i], nil
		}
	}
	g.vars, g.builders = append(g.vars, v), append(g.builders, vector.NewBuilder())
	return g.builders[len(g.builders)-1], nil
}

// String is all groups with rows: options, columns, rows. Times of the clock are shown as now.
func (g *groups) String() string {
	var s strings.Builder
	for i, b := range g.builders {
		if b.Rows() == 0 {
			continue
		}
		for o := range OptionCount {
			if text, ok := g.vars[i].Value(o); ok {
				fmt.Fprintf(&s, "%s=%q ", o, text)
			}
		}
		fields, batch := b.Finish()
		for _, f := range fields {
			fmt.Fprintf(&s, "%s:%s ", f.Name, f.Type)
		}
		for r := range batch.N {
			s.WriteString("| ")
			for c := range fields {
				fmt.Fprintf(&s, "%s ", cell(batch.Cols[c], r))
			}
		}
	}
	return strings.TrimSpace(s.String())
}

func cell(v *vector.Vector, r int) string {
	if v.IsNull(r) {
		return "NULL"
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return strconv.FormatBool(v.Bool(r))
	case vector.Int64:
		if v.Type.IsTimestamp() && v.Type.Precision == 9 && v.Int(r) >= 1000e9 && v.Int(r) < 1000e9+1e6 {
			return "now"
		}
		return strconv.FormatInt(v.Int(r), 10)
	case vector.Float64:
		return strconv.FormatFloat(v.Float(r), 'g', -1, 64)
	}
	return strconv.Quote(string(v.Bytes(r)))
}

// describe decodes a body and shows what came of it: rows or the error.
func describe(t *testing.T, body string, f Framing, o Options) string {
	t.Helper()
	o.Now = clock
	var g groups
	res, err := NewDecoder().Decode(strings.NewReader(body), f, o, g.rows)
	got := outcome(&g, res, err)
	// The same, with every byte in a read of its own.
	var again groups
	res, err = NewDecoder().Decode(iotest.OneByteReader(strings.NewReader(body)), f, o, again.rows)
	if s := outcome(&again, res, err); s != got {
		t.Errorf("body %.200q\n at once     %s\n byte by byte %s", body, got, s)
	}
	return got
}

func outcome(g *groups, res Result, err error) string {
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), " (") // what follows is told by TestExplained
		return fmt.Sprintf("%d %s", status.Of(err), text)
	}
	s := g.String()
	if res.Skipped > 0 {
		s += fmt.Sprintf(" skipped %d", res.Skipped)
	}
	return s
}

const ts = "service_timestamp:TimestampNanosecond "

func TestEntries(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"scalars", `{"s":"x","i":42,"f":3.5,"b":true}`,
			ts + `b:Boolean f:Float64 i:Int64 s:String | now true 3.5 42 "x"`},
		{"null makes no column", `{"a":null,"c":"v"}`, ts + `c:String | now "v"`},
		{"null before a value", "{\"a\":null}\n{\"a\":1}", ts + `a:Int64 | now NULL | now 1`},
		{"array", `{"arr":[1, 2,3]}`, ts + `arr:String | now "[1,2,3]"`},
		{"nested", `{"o":{"a":1,"b":{"c":"x"}}}`, ts + `o.a:Int64 o.b.c:String | now 1 "x"`},
		{"bytewise order", `{"b":1,"_x":2,"A":3}`, ts + `A:Int64 _x:Int64 b:Int64 | now 3 2 1`},
		{"columns entry by entry", "{\"b\":1}\n{\"a\":2,\"c\":3}",
			ts + `b:Int64 a:Int64 c:Int64 | now 1 NULL NULL | now NULL 2 3`},
		{"empty object", `{"a":{},"b":1}`, ts + `b:Int64 | now 1`},
		{"nothing", `{}`, ts + `| now`},
		{"repeated key", `{"a":1,"a":2}`, ts + `a:Int64 | now 2`},
		{"repeated key of another kind", `{"a":"x","a":2}`, ts + `a:Int64 | now 2`},
		{"repeated key, null last", `{"a":1,"b":2,"a":null}`, ts + `b:Int64 | now 2`},
		{"repeated object", `{"a":{"x":1},"a":{"y":2}}`, ts + `a.y:Int64 | now 2`},
		{"object then scalar", `{"a":{"x":1},"a":3}`, ts + `a:Int64 | now 3`},
		{"repeated by escape", `{"a":1,"\u0061":2}`, ts + `a:Int64 | now 2`},
		{"dotted key wins", `{"a.b":2,"a":{"b":1}}`, ts + `a.b:Int64 | now 2`},
		{"dotted null wins", `{"a":{"b":1},"a.b":null}`, ts + `| now`},
		{"dotted objects", `{"a.b":{"c":1},"a":{"b.c":2}}`, ts + `a.b.c:Int64 | now 1`},
		{"escapes", `{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","b\n":1}`,
			ts + "a:String b\n:Int64 | now \"\\\"\\\\/\\b\\f\\n\\r\\té😀\" 1"},
		{"half surrogates", `{"a":"\ud800","b":"\udc00x","c":"\ud800\u0041"}`,
			ts + `a:String b:String c:String | now "�" "�x" "�A"`},
		{"integers", `{"a":9223372036854775807,"b":-9223372036854775808,"c":0,"d":-0}`,
			ts + `a:Int64 b:Int64 c:Int64 d:Int64 | now 9223372036854775807 -9223372036854775808 0 0`},
		{"integers beyond 64 bits",
			`{"a":9223372036854775808,"b":-9223372036854775809,"c":18446744073709551615,"d":100000000000000000000}`,
			ts +
				`a:Float64 b:Float64 c:Float64 d:Float64 | now 9.223372036854776e+18 -9.223372036854776e+18 1.8446744073709552e+19 1e+20`},
		{"floats", `{"a":1.0,"b":1e2,"c":1E+2,"d":-2.5e-3,"e":0.1,"f":123456789012345678901234567890.5,"g":1e-400}`,
			ts +
				`a:Float64 b:Float64 c:Float64 d:Float64 e:Float64 f:Float64 g:Float64 | now 1 100 100 -0.0025 0.1 1.2345678901234568e+29 0`},
		{"blanks", "  {\t\"a\" : 1 ,\t\"b\":[ ]\t, \"c\" :{ } }  ", ts + `a:Int64 b:String | now 1 "[]"`},
		{"text of values",
			`{"a":[{"b":1.0,"a":[1e2,null,true,false,"x\"\u0001\u00e9</>&"],"b":18446744073709551615},{}]}`,
			ts +
				`a:String | now "[{\"a\":[100.0,null,true,false,\"x\\\"\\u0001é</>&\"],\"b\":1.8446744073709552e19},{}]"`},
		{"own service_timestamp", `{"service_timestamp":5,"x":1}`, ts + `x:Int64 | now 1`},
		{"own service_timestamp of any kind",
			"{\"service_timestamp\":\"x\"}\n{\"service_timestamp\":[1]}\n{\"service_timestamp\":1.5}\n{\"service_timestamp\":true}", ts + `| now | now | now | now`},
		{"int after float", "{\"s\":99.5}\n{\"s\":88}", ts + "s:Float64 | now 99.5 | now 88"},
		{"string after float", "{\"s\":99.5}\n{\"s\":\"x\"}",
			`1004 Column datatype mismatch. For column: s, expected datatype: Float64, actual datatype: String`},
		{"int after bool", "{\"v\":true}\n{\"v\":1}",
			`1004 Column datatype mismatch. For column: v, expected datatype: Boolean, actual datatype: Int64`},
		{"first clash in byte order", "{\"a\":1,\"b\":1}\n{\"b\":\"x\",\"a\":\"x\"}",
			`1004 Column datatype mismatch. For column: a, expected datatype: Int64, actual datatype: String`},
		{"clash mended by a later key", "{\"a\":1}\n{\"a\":\"x\",\"a\":2}", ts + `a:Int64 | now 1 | now 2`},
		{"options",
			`{"a":1,"service_ttl":"1d","service_append_mode":false,"service_table_suffix":"_x","service_skip_wal":1}`,
			`ttl="1d" skip_wal="1" append_mode="false" ` + ts + `a:Int64 | now 1`},
		{"options by row",
			"{\"a\":1}\n{\"a\":2,\"service_ttl\":\"1d\"}\n{\"a\":3}\n{\"service_ttl\":\"1d\",\"a\":4,\"b\":5}",
			ts + `a:Int64 b:Int64 | now 1 NULL | now 3 NULL ttl="1d" ` + ts + `a:Int64 b:Int64 | now 2 NULL | now 4 5`},
		{"options that change nothing", "{\"a\":1}\n{\"a\":2,\"service_ttl\":\"same\"}\n{\"a\":3}",
			ts + `a:Int64 | now 1 | now 2 | now 3`},
		{"null option", `{"a":1,"service_ttl":null}`, ts + `a:Int64 | now 1`},
		{"options of one type", "{\"a\":1,\"service_ttl\":\"1d\"}\n{\"a\":\"x\"}",
			`1004 Column datatype mismatch. For column: a, expected datatype: Int64, actual datatype: String`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(t, c.in, NDJSON, Options{}); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
			}
			stream := c.in
			if strings.Contains(stream, "\n{") {
				stream = "[" + strings.ReplaceAll(stream, "\n{", ",\n {") + "]"
			}
			if got := describe(t, stream, JSONStream, Options{}); got != c.want {
				t.Errorf("as a stream: %s\n got %s\nwant %s", stream, got, c.want)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	for _, c := range []struct {
		name  string
		depth int
		in    string
		want  string
	}{
		{"object at the limit", 3,
			`{"a":{"b":{"c":{"d":[1,2,3]}}},"e":["foo","bar"],"f":{"g":{"h":123,"j":{"k":true}}}}`,
			ts +
				`a.b.c:String e:String f.g.h:Int64 f.g.j:String | now "{\"d\":[1,2,3]}" "[\"foo\",\"bar\"]" 123 "{\"k\":true}"`},
		{"one level", 1, `{"a":{"b":1},"c":2,"d":{}}`, ts + `a:String c:Int64 d:String | now "{\"b\":1}" 2 "{}"`},
		{"keys of text sorted, last wins", 1, `{"a":{"z":1,"b":{"y":1,"x":2},"z":3}}`,
			ts + `a:String | now "{\"b\":{\"x\":2,\"y\":1},\"z\":3}"`},
		{"default of ten", 0, nest(10, "1"), ts + `a.a.a.a.a.a.a.a.a.a:Int64 | now 1`},
		{"eleventh", 0, nest(11, "1"), ts + `a.a.a.a.a.a.a.a.a.a:String | now "{\"a\":1}"`},
		{"at the nesting limit", 1000, nest(maxNesting, "1"),
			ts + strings.Repeat("a.", maxNesting-1) + "a:Int64 | now 1"},
		{"beyond the nesting limit", 1000, nest(maxNesting+1, "1"),
			"1004 Invalid request parameter: invalid JSON at index: 0"},
		{"deep array", 0, `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
			"1004 Invalid request parameter: invalid JSON at index: 0"},
		{"deep array in a deep limit", 0, `{"a":` + strings.Repeat("[", 127) + strings.Repeat("]", 127) + `}`,
			ts + `a:String | now "` + strings.Repeat("[", 127) + strings.Repeat("]", 127) + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(t, c.in, NDJSON, Options{MaxDepth: c.depth}); got != c.want {
				t.Errorf("%.300s\n got %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

func nest(n int, v string) string {
	return strings.Repeat(`{"a":`, n) + v + strings.Repeat("}", n)
}

func TestBodies(t *testing.T) {
	ndjson, stream, text := Options{}, Options{}, Options{}
	ignore := Options{IgnoreErrors: true}
	skip := Options{SkipErrors: true}
	one := ts + `a:Int64 | now 1`
	jsonError := "1004 Failed to parse payload as json: "
	for _, c := range []struct {
		name string
		f    Framing
		o    Options
		in   string
		want string
	}{
		{"empty", NDJSON, ndjson, "", ""},
		{"empty lines", NDJSON, ndjson, "\n\r\n\n", ""},
		{"lines", NDJSON, ndjson, "{\"a\":1}\r\n\r\n{\"a\":2}\n", one + " | now 2"},
		{"byte order mark", NDJSON, ndjson, "\uFEFF{\"a\":1}", one},
		{"no line end", NDJSON, ndjson, `{"a":1}`, one},
		{"bad line", NDJSON, ndjson, "{\"a\":1}\n\n{\"b\": 2\"}\n{\"c\":1}\n",
			"1004 Invalid request parameter: invalid JSON at index: 2"},
		{"bad line ignored", NDJSON, ignore, "{\"a\":1}\n{\"b\": 2\"}\n{\"c\":1}\n",
			ts + `a:Int64 c:Int64 | now 1 NULL | now NULL 1`},
		{"blank line", NDJSON, ndjson, "{\"a\":1}\n  \n", "1004 Invalid request parameter: invalid JSON at index: 1"},
		{"two values on a line", NDJSON, ndjson, `{"a":1} {"a":2}`,
			"1004 Invalid request parameter: invalid JSON at index: 0"},
		{"invalid UTF-8 line", NDJSON, ndjson, "{\"a\":1}\n{\"a\":\"\xff\"}\n",
			"1004 Invalid request parameter: invalid line at index: 1"},
		{"invalid UTF-8 line ignored", NDJSON, ignore, "{\"a\":1}\n{\"a\":\"\xff\"}\n{\"a\":2}", one + " | now 2"},
		{"no object on a line", NDJSON, ndjson, "{\"a\":1}\n[{\"a\":1}]\n", "1006 Top level value must be map"},
		{"no object on a line skipped", NDJSON, skip, "{\"a\":1}\n[{\"a\":1}]\n1\n", one + " skipped 2"},
		{"error of the body beats one of an entry", NDJSON, ndjson, "1\n{\n",
			"1004 Invalid request parameter: invalid JSON at index: 1"},
		{"clash skipped, its columns stay", NDJSON, skip,
			"{\"a\":1}\n{\"_\":true,\"a\":\"x\",\"b\":1}\n{\"a\":3,\"b\":1.5}",
			ts + `a:Int64 _:Boolean b:Float64 | now 1 NULL NULL | now 3 NULL 1.5 skipped 1`},

		{"stream empty", JSONStream, stream, " \r\n\t", ""},
		{"stream empty array", JSONStream, stream, "[ ]", ""},
		{"concatenated", JSONStream, stream, "{\"a\":1}\n[{\"a\":2},{\"a\":3}]{\"a\":4}[]",
			one + " | now 2 | now 3 | now 4"},
		{"byte order mark of a stream", JSONStream, stream, "\uFEFF[{\"a\":1}]", one},
		{"scalar", JSONStream, stream, "42",
			"1004 Invalid request parameter: json format error, please check the date is valid JSON."},
		{"scalar between", JSONStream, stream, `{"a":1} "x" {"a":2}`,
			"1004 Invalid request parameter: json format error, please check the date is valid JSON."},
		{"scalar between ignored", JSONStream, ignore, `{"a":1} "x" null {"a":2}`, one + " | now 2"},
		{"element no object", JSONStream, stream, `[{"a":1},"text"]`, "1006 Top level value must be map"},
		{"element no object skipped", JSONStream, skip, `[{"a":1},"text",[],{"a":2}]`, one + " | now 2 skipped 2"},
		{"syntax", JSONStream, stream, `{"a":1} {"a":}`, jsonError + "unexpected character at byte 13"},
		{"syntax ignored", JSONStream, ignore, `{"a":1} {"a":} {"a":2}`, one},
		{"cut short", JSONStream, stream, `[{"a":1},{"a":2`, jsonError + "unexpected end at byte 15"},
		{"array not closed", JSONStream, stream, `[{"a":1}`, jsonError + "unexpected end at byte 8"},
		{"comma at the end", JSONStream, stream, `[{"a":1},]`, jsonError + "unexpected character at byte 9"},
		{"comma first", JSONStream, stream, `[,{"a":1}]`, jsonError + "unexpected character at byte 1"},
		{"commas between values", JSONStream, stream, `{"a":1},{"a":2}`, jsonError + "unexpected character at byte 7"},
		{"invalid UTF-8", JSONStream, stream, "{\"a\":1} {\"a\":\"\xff\"}", jsonError + "invalid UTF-8 at byte 14"},
		{"invalid UTF-8 ignored", JSONStream, ignore, "{\"a\":1} {\"a\":\"\xff\"}", one},
		{"UTF-8 cut short", JSONStream, stream, "{\"a\":\"\xe2\x82", jsonError + "invalid UTF-8 at byte 6"},
		{"error of the body after one of an entry", JSONStream, stream, `[1,{"a":1},`,
			jsonError + "unexpected end at byte 11"},

		{"bad option", NDJSON, skip, "{\"a\":1}\n{\"a\":2,\"service_ttl\":\"bad\"}", "1004 bad ttl"},
		{"bad option before a bad line", NDJSON, skip, "{\"a\":2,\"service_ttl\":\"bad\"}\n{",
			"1004 Invalid request parameter: invalid JSON at index: 1"},

		{"text", Lines, text, "\nhello world\n\r\n two \n", ts + `message:String | now "hello world" | now " two "`},
		{"text invalid UTF-8", Lines, text, "a\n\xff\nb", ts + `message:String | now "a" | now "b"`},
		{"text of one long line", Lines, text, strings.Repeat("x", 600<<10),
			ts + `message:String | now "` + strings.Repeat("x", 600<<10) + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(t, c.in, c.f, c.o); got != c.want {
				t.Errorf("%.300q\n got %.400s\nwant %.400s", c.in, got, c.want)
			}
		})
	}
}

// TestInvalid holds what RFC 8259 forbids.
func TestInvalid(t *testing.T) {
	for _, in := range []string{
		`{`, `}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{a:1}`, `{'a':1}`, `{"a":1 "b":2}`, `{"a":1}}`,
		`{"a":01}`, `{"a":+1}`, `{"a":.5}`, `{"a":1.}`,
		`{"a":1e}`, `{"a":1e+}`, `{"a":-}`, `{"a":--1}`, `{"a":0x1}`, `{"a":NaN}`, `{"a":Infinity}`, `{"a":tru}`,
		`{"a":True}`, `{"a":nul}`, `{"a":falsey}`,
		`{"a":"x}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u12"}`, "{\"a\":\"\t\"}", "{\"a\x01\":1}",
		"{\"a\":\"\x00\"}", `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":[}`,
		`{"a":{"b":1}`, `{"a":[{"b":1]}`, `{"a":1e400}`, `{"a":-1e400}`, `{"a" 1}`, `{"a"::1}`, `{"a":1};`,
		"{\"a\":1}\x00", `{"\ud8":1}`, "{\"a\":\v1}", `{1:2}`, `{"a":1}x`,
	} {
		if got, want := describe(t, in, NDJSON, Options{}),
			"1004 Invalid request parameter: invalid JSON at index: 0"; got != want {
			t.Errorf("line %q: %s", in, got)
		}
		if got := describe(t, in, JSONStream, Options{}); !strings.HasPrefix(got,
			"1004 Failed to parse payload as json: ") {
			t.Errorf("stream %q: %s", in, got)
		}
		if got := describe(t, "{\"b\":1}\n"+in+"\n{\"b\":2}", NDJSON, Options{IgnoreErrors: true}); got !=
			ts+"b:Int64 | now 1 | now 2" {
			t.Errorf("line %q ignored: %s", in, got)
		}
	}
}

func TestTimeIndex(t *testing.T) {
	const cast = "1004 Failed to cast type, msg: "
	for _, c := range []struct {
		name, config string
		o            Options
		in, want     string
	}{
		{"epoch", "t;epoch;s", Options{}, `{"a":1,"t":1453809242}`, `t:TimestampSecond a:Int64 | 1453809242 1`},
		{"epoch text", "t;epoch;ms", Options{}, `{"t":"1752749137000","a":1}`,
			`t:TimestampMillisecond a:Int64 | 1752749137000 1`},
		{"epoch text escaped", "t;epoch;ms", Options{}, `{"t":"\u0031752749137000","a":1}`,
			`t:TimestampMillisecond a:Int64 | 1752749137000 1`},
		{"datestr", "t;datestr;%Y-%m-%d %H:%M:%S%z", Options{}, `{"t":"2019-01-16 02:42:01+08:00","a":"x"}`,
			`t:TimestampNanosecond a:String | 1547577721000000000 "x"`},
		{"nested field", "m.t;epoch;us", Options{}, `{"m":{"t":5},"a":1}`, `m.t:TimestampMicrosecond a:Int64 | 5 1`},
		{"own service_timestamp is a column", "t;epoch;ns", Options{}, `{"t":1,"service_timestamp":5}`,
			`t:TimestampNanosecond service_timestamp:Int64 | 1 5`},
		{"service_timestamp itself", "service_timestamp;epoch;ns", Options{}, `{"service_timestamp":5}`,
			`service_timestamp:TimestampNanosecond | 5`},
		{"repeated", "t;epoch;ns", Options{}, `{"t":"x","t":5}`, `t:TimestampNanosecond | 5`},
		{"missing", "t;epoch;s", Options{}, `{"a":1}`, cast + "missing field"},
		{"null", "t;epoch;s", Options{}, `{"t":null}`, cast + "unsupported value type to convert to timestamp: null"},
		{"float", "t;epoch;s", Options{}, `{"t":1.5}`, cast + "unsupported value type to convert to timestamp: 1.5"},
		{"no number", "t;epoch;s", Options{}, `{"t":"abc"}`, cast + "failed to convert abc to number"},
		{"array", "t;epoch;s", Options{}, `{"t":[1]}`, cast + "failed to convert [1] to number"},
		{"datestr of a number", "t;datestr;%s", Options{}, `{"t":1}`,
			cast + "unsupported value type to convert to date string: 1"},
		{"datestr without offset", "t;datestr;%Y-%m-%d", Options{}, `{"t":"2019-01-16"}`,
			cast + "failed to parse date string: 2019-01-16, format: %Y-%m-%d"},
		{"skipped", "t;epoch;s", Options{SkipErrors: true},
			"{\"t\":1,\"a\":1}\n{\"a\":2}\n{\"t\":\"x\",\"a\":3}\n{\"t\":\"4\",\"a\":4}",
			`t:TimestampSecond a:Int64 | 1 1 | 4 4 skipped 2`},
		{"ignored", "t;epoch;s", Options{IgnoreErrors: true},
			"{\"t\":\"x\",\"a\":3}\n{\"a\":4}\n{\"t\":null,\"a\":5}\n{\"t\":1.5,\"a\":6}\n{\"t\":\"x\",\"t\":7,\"a\":8}\n{\"t\":{\"x\":1}}",
			`t:TimestampSecond a:Int64 t.x:Int64 | 1000 3 NULL | 1000 4 NULL | 1000 5 NULL | 1000 6 NULL | 7 8 NULL | 1000 NULL 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			if c.o.Time, err = ParseTimeIndex(c.config); err != nil {
				t.Fatal(err)
			}
			if got := describe(t, c.in, NDJSON, c.o); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
			}
		})
	}
	t.Run("text", func(t *testing.T) {
		o := Options{}
		o.Time, _ = ParseTimeIndex("message;epoch;s")
		if got, want := describe(t, "12\n13\n", Lines, o), "message:TimestampSecond | 12 | 13"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestParseTimeIndexErrors(t *testing.T) {
	for config, reason := range map[string]string{
		"t;epoch":        "config format: '<field>;<type>;<config>'",
		"t;epoch;s;x":    "config format: '<field>;<type>;<config>'",
		";epoch;s":       "config format: '<field>;<type>;<config>'",
		"t;iso;s":        "identity time index type must be one of epoch, datestr",
		"t;epoch;second": "epoch type must be one of ns, us, ms, s",
		"t;datestr;%Q":   `time format "%Q": unknown specifier %Q`,
	} {
		_, err := ParseTimeIndex(config)
		if want := "Invalid custom time index config: " + config + ", reason: " + reason; err == nil ||
			err.Error() != want || status.Of(err) != status.InvalidArguments {
			t.Errorf("ParseTimeIndex(%q)\n got %v\nwant %s", config, err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	var bomb strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&bomb, `,"k%04d":%d`, i, i)
	}
	columns := "{" + bomb.String()[1:] + "}"
	if got, want := describe(t, columns, NDJSON, Options{}),
		`1004 column "k4095": a request can have at most 4096 columns`; got != want {
		t.Errorf("10,000 columns: %.200s", got)
	}
	if got, want := describe(t, columns+"\n{\"k0001\":2}", NDJSON, Options{SkipErrors: true}),
		"skipped 1"; !strings.HasSuffix(got, want) {
		t.Errorf("10,000 columns skipped: ...%s", got[max(0, len(got)-200):])
	}
	name := strings.Repeat("n", schema.MaxNameBytes)
	if got := describe(t, `{"`+name+`":1}`, NDJSON, Options{}); got != ts+name+":Int64 | now 1" {
		t.Errorf("longest name: %.200s", got)
	}
	if got := describe(t, `{"x`+name+`":1}`, NDJSON, Options{}); got !=
		"1004 Invalid column name: 513 bytes, the limit is 512 and it may not be empty" {
		t.Errorf("longer name: %.200s", got)
	}
	for _, bad := range []string{"", "x" + name} {
		body := `{"a":1}` + "\n" + `{"b":2,"` + bad + `":1}` + "\n" + `{"a":3}`
		if got := describe(t, body, NDJSON, Options{SkipErrors: true}); !strings.HasSuffix(got, "skipped 1") {
			t.Errorf("name of %d bytes skipped: %.300s", len(bad), got)
		}
	}
	wide := "{" + bomb.String()[1:strings.Index(bomb.String(), `,"k4000`)] + "}"
	// The bound is looked at as rows come, not at the end: what is held until then is the bound of the memory.
	if got := describe(t, wide+strings.Repeat("\n{}", 20000), NDJSON, Options{}); !strings.HasPrefix(got,
		"1004 255 rows of 4001 columns have more cells than") {
		t.Errorf("few bytes, many cells: %.200s", got)
	}
	// Many small requests at once: what one may take beyond its bytes counts as often as there are clients.
	if got := describe(t, wide+strings.Repeat("\n{}", 200), NDJSON, Options{}); !strings.HasPrefix(got,
		"1004 138 rows of 4001 columns have more cells than") {
		t.Errorf("a small body, many cells: %.200s", got)
	}
	var options strings.Builder
	for i := range maxGroups + 1 {
		fmt.Fprintf(&options, "{\"service_ttl\":\"%ds\"}\n", i+1)
	}
	if got := describe(t, options.String(), NDJSON, Options{}); got !=
		"1004 option variables change more than 64 times in a request" {
		t.Errorf("groups: %.200s", got)
	}
}

// TestLongValues holds what is longer than a window, and than the limit.
func TestLongValues(t *testing.T) {
	long := strings.Repeat("y\\n", 500<<10)
	line := `{"a":"` + long + `","b":1}`
	for f, body := range map[Framing]string{NDJSON: "{\"b\":0}\n" + line + "\n{\"b\":2}",
		JSONStream: "[{\"b\":0}," + line + ",{\"b\":2}]"} {
		var g groups
		res, err := NewDecoder().Decode(strings.NewReader(body), f, Options{}, g.rows)
		if err != nil || res.Rows != 3 {
			t.Fatalf("framing %d: %d rows, %v", f, res.Rows, err)
		}
		_, b := g.builders[0].Finish()
		if got := string(b.Cols[2].Bytes(1)); got != strings.Repeat("y\n", 500<<10) {
			t.Errorf("framing %d: %d bytes", f, len(got))
		}
	}
	for f, what := range map[Framing]string{NDJSON: "a line", JSONStream: "an entry", Lines: "an entry"} {
		body := "{}\n" + `{"a":"` + strings.Repeat("y", maxValueBytes+windowBytes) + `"}`
		_, err := NewDecoder().Decode(strings.NewReader(body), f, Options{}, (&groups{}).rows)
		if want := "Invalid request parameter: " + what + " is longer than 16 MiB (" + strings.Fields(what)[1] +
			" 2 of 2 or more)"; err == nil || err.Error() != want {
			t.Errorf("framing %d: %v, want %s", f, err, want)
		}
	}
}

func TestReaderError(t *testing.T) {
	broken := errors.New("the line is dead")
	for _, f := range []Framing{NDJSON, JSONStream, Lines} {
		_, err := NewDecoder().Decode(iotest.ErrReader(broken), f, Options{IgnoreErrors: true}, (&groups{}).rows)
		if !errors.Is(err, broken) {
			t.Errorf("framing %d: %v", f, err)
		}
	}
}

// TestWindows cuts bodies at every place: nothing may depend on where a window ends.
func TestWindows(t *testing.T) {
	entry := `{"k":"é\u00e9\"x","n":-12.5e1,"o":{"p":[1,{"b":2,"a":null}],"q":true},"r":null,"s":12345}`
	for pad := range 100 {
		body := "[" + strings.Repeat(" ", windowBytes-150+pad) + strings.Repeat(entry+",", 3) + entry + "]"
		var g groups
		res, err := NewDecoder().Decode(strings.NewReader(body), JSONStream, Options{Now: clock}, g.rows)
		want := ts + `k:String n:Float64 o.p:String o.q:Boolean s:Int64` +
			strings.Repeat(` | now "éé\"x" -125 "[1,{\"a\":null,\"b\":2}]" true 12345`, 4)
		if got := outcome(&g, res, err); got != want {
			t.Fatalf("%d blanks:\n got %s\nwant %s", pad, got, want)
		}
	}
}

// TestTimesRise: rows without a time of their own keep their order and never replace each other.
func TestTimesRise(t *testing.T) {
	var g groups
	if _, err := NewDecoder().Decode(strings.NewReader(strings.Repeat("{\"a\":1}\n", 100000)), NDJSON,
		Options{Now: clock}, g.rows); err != nil {
		t.Fatal(err)
	}
	_, b := g.builders[0].Finish()
	for i, x := range b.Cols[0].Ints[1:] {
		if x <= b.Cols[0].Ints[i] {
			t.Fatalf("row %d: %d after %d", i+1, x, b.Cols[0].Ints[i])
		}
	}
}

// whole is an error with its code.
func whole(err error) string { return fmt.Sprintf("%d %v", status.Of(err), err) }
