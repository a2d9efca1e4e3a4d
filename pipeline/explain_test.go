package pipeline

import (
	"fmt"
	"strings"
	"testing"
)

// TestErrorsNameTheEntry: the error of an entry says which it is, of how many, the field, the value and what was tried.
func TestErrorsNameTheEntry(t *testing.T) {
	const tail = "transform: [{field: ts, type: 'epoch, ms', index: time}]\n"
	long := strings.Repeat("y", 100)
	for _, c := range []struct{ name, document, body, want string }{
		{"dissect",
			"processors:\n  - select: {type: exclude, field: x}\n  - dissect: {field: m, patterns: ['%{a}|%{b}', '%{a};%{b}']}\n" + tail,
			`{"m":"a|b","ts":1} {"m":"` + long + `","ts":1} {}`,
			`No matching pattern found (entry 2 of 3, processor 2, dissect, field "m", value "` + long[:79] +
				`...: tried patterns %{a}|%{b}, %{a};%{b})`},
		{"date", "processors:\n  - date: {field: t, formats: ['%Y', '%d', '%m', '%s']}\n" + tail, `{"t":"then"}`,
			`Processor date: failed to parse then (entry 1 of 1, processor 1, date, field "t", value "then": tried formats %Y, %d, %m and 1 more)`},
		{"missing", "processors:\n  - gsub: {field: t, pattern: a, replacement: b}\n" + tail, `{"ts":1}`,
			`Processor gsub: missing field: t (entry 1 of 1, processor 1, gsub, field "t")`},
		{"no text", "processors:\n  - gsub: {field: t, pattern: a, replacement: b}\n" + tail, `{"t":[1]}`,
			`Processor gsub: expect string value, but got Array([1]) (entry 1 of 1, processor 1, gsub, field "t", value [1])`},
		{"epoch", "processors:\n  - epoch: {field: t}\n" + tail, `{"t":true}`,
			`Processor epoch: unsupported value true (entry 1 of 1, processor 1, epoch, field "t", value true: read as milliseconds since 1970)`},
		{"script", "processors:\n  - vrl: {source: '. = parse_json!(.m)'}\n" + tail, `{"m":"{"}`,
			`Failed to execute VRL, function call error for "parse_json" at (4:19): unable to parse json: EOF while parsing an object at line 1 column 1 (entry 1 of 1, processor 1, vrl, value {"m":"{"})`},
		{"transform", "transform: [{field: 'n, count', type: int8}, {field: ts, type: 'epoch, ms', index: time}]\n",
			`{"n":1,"ts":1} {"n":300,"ts":1}`,
			"Failed to coerce value: integer value `300` is out of range for INT8 (entry 2 of 2, field \"n\", value 300: transform to the column count of type INT8)"},
		{"time of text", tail, `{"ts":"2024-01-01"}`,
			`Type: String value not supported for Epoch (entry 1 of 1, field "ts", value "2024-01-01": transform to the column ts of type TIMESTAMP_MILLISECOND; a date processor reads times from text)`},
		{"no time", tail, `{"t":1}`,
			`Time index must be non null. (entry 1 of 1, field "ts": transform to the column ts of type TIMESTAMP_MILLISECOND)`},
		{"inferred", "version: 2\n" + tail, `{"a":1.5,"ts":1} {"a":2,"ts":1}`,
			`Column datatype mismatch. For column: a, expected datatype: Float64, actual datatype: Int64 (entry 2 of 2, field "a", value 2: ` +
				`integers and floats are two kinds because of widen_numbers=false, of the request or as ingest.widen_numbers of the configuration)`},
		{"no object", tail, `{"ts":1} [5]`, `Top level value must be map (entry 2 of 2, value 5)`},
		{"element", "processors:\n  - vrl: {source: '[., 1]'}\n" + tail, `{"ts":1}`,
			`Array element at index 1 must be an object for one-to-many transformation, got integer (entry 1 of 1, value {"ts":1})`},
		{"no pipeline", "dispatcher: {field: a, rules: [{value: 1, table_suffix: x, pipeline: gone}]}\n" + tail,
			`{"ts":1} {"a":1}`,
			`Pipeline not found, name: gone, version: latest (entry 2 of 2)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := collect(managerWith(t, map[string]string{"p": c.document}),
				Request{ContentType: "application/json", Numbers: Strict}, c.body)
			if fmt.Sprint(err) != c.want {
				t.Errorf("%s\n got %v\nwant %s", c.body, err, c.want)
			}
		})
	}
}

// TestSkippedAreTold: the first failures of those left out come with the outcome, numbered by the body.
func TestSkippedAreTold(t *testing.T) {
	document := "processors:\n  - vrl: {source: '.x = to_int!(.x); .'}\ntransform: [{field: ts, type: 'epoch, ms', index: time}]\n"
	body := `[{"x":1,"ts":1},{"x":"a","ts":1},{"x":2,"ts":1},5,{"x":"b","ts":1},{"x":"c","ts":1}]`
	_, out, err := collect(managerWith(t, map[string]string{"p": document}),
		Request{ContentType: "application/json", SkipError: true}, body)
	if err != nil || out.Rows != 2 || out.Skipped != 4 || len(out.Failures) != 3 {
		t.Fatalf("%+v %v", out, err)
	}
	for i, want := range []string{"2 of 6, processor 1, vrl", "4 of 6, field \"ts\": transform",
		"5 of 6, processor 1, vrl"} {
		if !strings.Contains(out.Failures[i].Err.Error(), "(entry "+want) {
			t.Errorf("failure %d: %v", i, out.Failures[i].Err)
		}
	}
}

// TestWidenNumbers: integers and floats are one kind in the columns that a pipeline infers, unless a request says
// otherwise. A declared column stays as it is.
func TestWidenNumbers(t *testing.T) {
	document := "version: 2\ntransform: [{field: ts, type: 'epoch, ms', index: time}]\n"
	for body, want := range map[string]string{
		`{"ts":1,"a":1.5} {"ts":2,"a":2}`:                "1.5 2",
		`{"ts":1,"a":1} {"ts":2,"a":2.5} {"ts":3,"a":3}`: "1 2.5 3",
	} {
		m := managerWith(t, map[string]string{"p": document})
		r := Request{ContentType: "application/json"}
		r.SetParams("widen_numbers=false")
		if _, _, err := collect(m, r, body); err == nil {
			t.Errorf("%s: no error in the strict form", body)
		}
		r.Numbers = ConfiguredNumbers
		rows, _, err := collect(m, r, body)
		var got []string
		for row := range strings.SplitSeq(strings.TrimSpace(rows), "\n") {
			if _, cell, ok := strings.Cut(strings.TrimSuffix(row, "|"), "|"); ok {
				got = append(got, cell)
			}
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %s, want %s, error %v", body, got, want, err)
		}
	}
}
