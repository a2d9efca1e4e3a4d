package flatten

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"varve/engine/vector"
)

// TestExplained: the error of a body names the entry, of how many, the field, the value and what was tried.
func TestExplained(t *testing.T) {
	long := strings.Repeat("ä", 100)
	const two = "integers and floats are two kinds because of widen_numbers=false, of the request or as ingest.widen_numbers of the configuration"
	for _, c := range []struct {
		name, config, in string
		f                Framing
		want             string
	}{
		{"integer after float", "", "{\"a\":1.5}\n{\"a\":1}\n{}", NDJSON,
			`1004 Column datatype mismatch. For column: a, expected datatype: Float64, actual datatype: Int64 ` +
				`(entry 2 of 3, field "a", value 1: ` + two + `)`},
		{"float after integer", "", `[{"a":1},{"a":{"b":2}},{"a":1.5},{"a":3}]`, JSONStream,
			`1004 Column datatype mismatch. For column: a, expected datatype: Int64, actual datatype: Float64 ` +
				`(entry 3 of 4, field "a", value 1.5: ` + two + `)`},
		{"text after integer", "", "{\"a\":1}\n{\"a\":\"" + long + "\"}", NDJSON,
			`1004 Column datatype mismatch. For column: a, expected datatype: Int64, actual datatype: String ` +
				`(entry 2 of 2, field "a", value "` + long[:2*79] + `...)`},
		{"no object", "", `[{"a":1},[2]]`, JSONStream, `1006 Top level value must be map (entry 2 of 2, value [2])`},
		{"no time", "t;epoch;s", "{\"t\":1}\n{\"a\":1}", NDJSON, `1004 Failed to cast type, msg: missing field ` +
			`(entry 2 of 2, field "t": read as a whole number of seconds since 1970; a pipeline's epoch processor reads fractions)`},
		{"fraction", "t;epoch;ms", `{"t":1.5}`, NDJSON,
			`1004 Failed to cast type, msg: unsupported value type to convert to timestamp: 1.5 ` +
				`(entry 1 of 1, field "t", value 1.5: read as a whole number of milliseconds since 1970; a pipeline's epoch processor reads fractions)`},
		{"bad line", "", "{\"a\":1}\n\n{\"a\":}\n{}\n{}", NDJSON,
			`1004 Invalid request parameter: invalid JSON at index: 2 (line 3 of 5, value {"a":}: unexpected character at byte 5 of the line)`},
		{"line that is not text", "", "{\"a\":1}\n\xff\n", NDJSON,
			"1004 Invalid request parameter: invalid line at index: 1 (line 2 of 2, value \uFFFD: it is not UTF-8)"},
		{"bad stream", "", `{"a":1} {"a" 2}`, JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 13 (entry 2 of 2, value {"a" 2})`},
		{"bad stream of lines", "", "{\"a\":1}\n\n{\"a\" \"}\\\"\"}\n\n {\"a\":2}\r\n{\"b\":{\"c\":[3]}}", JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 14 (entry 2 of 4, value {"a" "}\""}` +
				"\n\n {\"a\":2}\r\n" + `{"b":{"c":[3]}})`},
		{"line that is cut", "", "{\"a\":\n{\"a\":1}\n{}", JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 14 (entry 1 of 3, value {"a":` +
				"\n{\"a\":1}\n{})"},
		{"two on a line", "", `{"a" 1} {"a":2}`, JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 5 (entry 1 of 2, value {"a" 1} {"a":2})`},
		{"two on a later line", "", "{\"a\" 1}\n{} {}", JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 5 (entry 1 of 3, value {"a" 1}` +
				"\n{} {})"},
		{"in an array", "", `[{"a" 1},{"a":2}]`, JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 6 (entry 1 of 2, value {"a" 1},{"a":2}])`},
		{"in a later array", "", `{} [{"a":1},{"a" "]}"},7,{"b":[{},{}]}] {}`, JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 17 (entry 3 of 6, value {"a" "]}"},7,{"b":[{},{}]}] {})`},
		{"line end behind", "", "[{\"a\" 1}]\n", JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 6 (entry 1 of 1, value {"a" 1}])`},
		{"no comma", "", "[{}\n {\"a\":1}]", JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 5 (entry 2 of 2, value {"a":1}])`},
		{"comma too many", "", `[{},,{},{}]`, JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 4 (entry 2 of 4, value ,{},{}])`},
		{"comma at the end", "", `[{},{},]`, JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 7 (entry 3 of 3, value ])`},
		{"no bracket", "", `[{"a":{"b":1},{"a":2}]`, JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 14 (entry 1 of 1 or more, value {"a":{"b":1},{"a":2}])`},
		{"no end of a text", "", "[{\"a\":\"x},\n{\"a\":2}]", JSONStream,
			`1004 Failed to parse payload as json: unexpected character at byte 10 (entry 1 of 1 or more, value {"a":"x},` + "\n{\"a\":2}])"},
		{"too deep", "", "[{},{\"a\":" + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "},{}]", JSONStream,
			"1004 Failed to parse payload as json: nesting is deeper than 128 at byte 136 (entry 2 of 3, value {\"a\":" + strings.Repeat("[", 75) + "...)"},
		{"no text", "", "[{},{\"a\":\"\xff\"},{}]", JSONStream,
			"1004 Failed to parse payload as json: invalid UTF-8 at byte 10 (entry 2 of 2 or more, value {\"a\":\")"},
		{"cut body", "", `{"a":1} [{"a":2},{"a":`, JSONStream,
			`1004 Failed to parse payload as json: unexpected end at byte 22 (entry 3 of 3, value {"a":)`},
		{"scalar before a fault", "", `{"a":1} 7 {`, JSONStream,
			`1004 Invalid request parameter: json format error, please check the date is valid JSON. (entry 2 of 3, value 7: no object)`},
		{"scalar before what is not text", "", "{} 7 \xff", JSONStream,
			`1004 Invalid request parameter: json format error, please check the date is valid JSON. (entry 2 of 2 or more, value 7: no object)`},
		{"scalar after a clash", "", `{"a":1} {"a":"x"} 7`, JSONStream,
			`1004 Invalid request parameter: json format error, please check the date is valid JSON. (entry 3 of 3, value 7: no object)`},
		{"empty name", "", `{"a":1} {"":"x"}`, JSONStream,
			`1004 Invalid column name: 0 bytes, the limit is 512 and it may not be empty (entry 2 of 2, value "x")`},
		{"long name", "", `{"` + strings.Repeat("n", 513) + `":7}`, JSONStream,
			`1004 Invalid column name: 513 bytes, the limit is 512 and it may not be empty ` +
				`(entry 1 of 1, field "` + strings.Repeat("n", 80) + `...", value 7)`},
		{"scalar in a stream", "", `{"a":1} 7 {}`, JSONStream,
			`1004 Invalid request parameter: json format error, please check the date is valid JSON. (entry 2 of 3, value 7: no object)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			index, err := ParseTimeIndex(c.config)
			if err != nil {
				t.Fatal(err)
			}
			var g groups
			_, err = NewDecoder().Decode(strings.NewReader(c.in), c.f,
				Options{Time: index, Now: clock, StrictNumbers: true}, g.rows)
			if got := whole(err); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

// TestExplainedLater: the field that an error names is the field, whatever was read before the error is written.
func TestExplainedLater(t *testing.T) {
	for name, bad := range map[string]string{"another type": `"field":"x"`,
		"too long": `"` + strings.Repeat("field", 200) + `":1`} {
		var g groups
		body := "{\"field\":1}\n{" + bad + "}\n" +
			strings.Repeat("{\"other\":\""+strings.Repeat("y", 1000)+"\"}\n", 2000)
		_, err := NewDecoder().Decode(strings.NewReader(body), NDJSON, Options{Now: clock}, g.rows)
		if got := whole(err); !strings.Contains(got, `(entry 2 of 2002, field "field`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestFailures: where failing entries are skipped the first few are told of.
func TestFailures(t *testing.T) {
	var g groups
	body := "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":2}\n{\"a\":true}\n5\n{\"a\":\"y\"}\n"
	res, err := NewDecoder().Decode(strings.NewReader(body), NDJSON, Options{SkipErrors: true, Now: clock}, g.rows)
	if err != nil || res.Rows != 2 || res.Skipped != 4 || res.Entries != 6 || len(res.Failures) != MaxFailures {
		t.Fatalf("%+v %v", res, err)
	}
	for i, want := range []string{`(entry 2 of 6, field "a", value "x")`, `(entry 4 of 6, field "a", value true)`,
		"1006 Top level value must be map (entry 5 of 6, value 5)"} {
		if got := whole(res.Failures[i].Explain(res.Entries)); !strings.HasSuffix(got, want) {
			t.Errorf("failure %d: %s, want %s", i, got, want)
		}
	}
}

// TestWiden: integers and floats are one kind, whichever came first, also where the table has the column.
func TestWiden(t *testing.T) {
	table := func(name string) (vector.Type, bool) {
		types := map[string]vector.Type{"f": vector.FloatType, "i": vector.Int64Type, "s": vector.StringType,
			"n": vector.Int32Type}
		t, ok := types[name]
		return t, ok
	}
	for _, c := range []struct{ name, in, want string }{
		{"float first", "{\"a\":1.5}\n{\"a\":2}\n{\"a\":3}", "a:Float64 | now 1.5 | now 2 | now 3"},
		{"integer first", "{\"a\":1}\n{}\n{\"a\":2.5}\n{\"a\":3}\n{\"a\":4.5}",
			"a:Float64 | now 1 | now NULL | now 2.5 | now 3 | now 4.5"},
		{"one entry", `{"a":1,"a":2.5}`, "a:Float64 | now 2.5"},
		{"column of the table", "{\"f\":1}\n{\"f\":2}\n{\"f\":2.5}", "f:Float64 | now 1 | now 2 | now 2.5"},
		{"clash with the table", "{\"i\":1.5}\n{\"i\":1}\n{\"s\":1}\n{\"f\":true}",
			`i:Float64 s:String f:Float64 | now 1.5 NULL NULL | now 1 NULL NULL skipped 2`},
		{"types that are not inferred", `{"n":1}`, "n:Int64 | now 1"},
		{"groups", "{\"a\":1,\"service_ttl\":\"1d\"}\n{\"a\":2}\n{\"a\":2.5,\"service_ttl\":\"1d\"}",
			"a:Float64 | now 2 ttl=\"1d\" " + ts + "a:Float64 | now 1 | now 2.5"},
		{"text", "{\"a\":1}\n{\"a\":\"x\"}", "a:Int64 | now 1 skipped 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(t, c.in, NDJSON, Options{TableType: table, SkipErrors: true}); got != ts+c.want {
				t.Errorf("%s\n got %s\nwant %s", c.in, got, ts+c.want)
			}
		})
	}
}

// TestFaultyEntriesAreCounted: whichever entry cannot be read, the error tells which of how many, however the body is
// laid out and read.
func TestFaultyEntriesAreCounted(t *testing.T) {
	entries := []string{`{"a":1,"b":"x,}]"}`, `{"b":{"c":[1,{"d":2}]}}`, `{"e":"\\\""}`, `{"f":[]}`, `{"g":null}`}
	faults := []func(string) string{
		func(e string) string { return strings.Replace(e, ":", " ", 1) },
		func(e string) string { return strings.Replace(e, ":", ":x", 1) },
		func(e string) string { return strings.Replace(e, "{", "{,", 1) },
		func(e string) string { return strings.TrimSuffix(e, "}") + ",}" },
		func(e string) string { return e[:1] + "1" + e[1:] },
		func(e string) string { return "x" + e[len(e):] },
	}
	for layout, join := range map[string]func([]string) string{
		"array":          func(list []string) string { return "[" + strings.Join(list, ",") + "]" },
		"array of lines": func(list []string) string { return "[\n" + strings.Join(list, ",\r\n") + "\n]\n" },
		"two arrays": func(list []string) string {
			return "[" + list[0] + "] [" + strings.Join(list[1:], " , ") + "]"
		},
		"lines":           func(list []string) string { return strings.Join(list, "\n") },
		"blanks":          func(list []string) string { return strings.Join(list, " ") },
		"lines and array": func(list []string) string { return list[0] + "\n[" + strings.Join(list[1:], ",") + "]" },
	} {
		for k, fault := range faults {
			for i := range entries {
				for _, window := range []int{32, windowBytes} {
					list := slices.Clone(entries)
					list[i] = fault(list[i])
					d := NewDecoder()
					d.window = window
					_, err := d.Entries(strings.NewReader(join(list)), JSONStream, Options{},
						func([]byte) error { return nil })
					if want := fmt.Sprintf("(entry %d of %d, ", i+1, len(list)); !strings.Contains(fmt.Sprint(err),
						want) {
						t.Errorf("%s, fault %d, window %d: %s\n got %v\nwant %s", layout, k, window, join(list), err,
							want)
					}
				}
			}
		}
	}
}
