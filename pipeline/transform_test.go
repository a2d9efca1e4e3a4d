package pipeline

import (
	"strings"
	"testing"
)

// TestTransforms has the contract's table of conversions, one a line: what column a of an entry gets.
func TestTransforms(t *testing.T) {
	for _, c := range []struct{ settings, entry, want string }{
		// Types.
		{`type: INT8`, `{"a":1}`, `Int8 1`},
		{`type: "Time , ms"`, `{"a":1}`, `TimestampMillisecond 1`},
		{`type: "epoch, sec"`, `{"a":1}`, `TimestampSecond 1`},
		{`type: "timestamp,us"`, `{"a":1}`, `TimestampMicrosecond 1`},
		{`type: time`, `{"a":1}`, `TimestampNanosecond 1`},
		{`type: text`, `{}`, `create: Failed to parse type: 'text'`},
		{`type: "int8, s"`, `{}`, `create: Failed to parse type: 'int8, s'`},
		{`type: "time, Ms"`, `{}`,
			`create: Invalid resolution: 'Ms'. Available resolutions: nanosecond,nano,ns,microsecond,micro,us,millisecond,milli,ms,second,sec,s`},
		{`type: [int8]`, `{}`, `create: Field type must be a string`},

		// Integers.
		{`type: int8`, `{"a":-128}`, `Int8 -128`},
		{`type: int8`, `{"a":128}`, "error: Failed to coerce value: integer value `128` is out of range for INT8"},
		{`type: uint64`, `{"a":-1}`, "error: Failed to coerce value: integer value `-1` is out of range for UINT64"},
		{`type: uint64`, `{"a":"18446744073709551615"}`, `UInt64 18446744073709551615`},
		{`type: int64`, `{"a":"9223372036854775808"}`,
			`error: Failed to coerce string value '9223372036854775808' to type 'INT64'`},
		{`type: int64`, `{"a":9.99e18}`,
			"error: Failed to coerce value: integer value `9990000000000000000` is out of range for INT64"},
		{`type: uint64`, `{"a":9.99e18}`, `UInt64 9990000000000000000`},
		{`type: int16`, `{"a":"+7"}`, `Int16 7`},
		{`type: int16`, `{"a":"-7"}`, `Int16 -7`},
		{`type: int16`, `{"a":" 7"}`, `error: Failed to coerce string value ' 7' to type 'INT16'`},
		{`type: int16`, `{"a":"7.0"}`, `error: Failed to coerce string value '7.0' to type 'INT16'`},
		{`type: int16`, `{"a":""}`, `error: Failed to coerce string value '' to type 'INT16'`},
		{`type: uint8`, `{"a":true}`, `UInt8 1`},
		{`type: int32`, `{"a":-3.99}`, `Int32 -3`},

		// Floats, booleans, text.
		{`type: float32`, `{"a":"0.1"}`, `Float32 0.10000000149011612`},
		{`type: float64`, `{"a":7}`, `Float64 7`},
		{`type: float64`, `{"a":"nan"}`, `error: Failed to coerce string value 'nan' to type 'FLOAT64'`},
		{`type: float64`, `{"a":"1_0"}`, `error: Failed to coerce string value '1_0' to type 'FLOAT64'`},
		{`type: boolean`, `{"a":0.5}`, `Boolean true`},
		{`type: boolean`, `{"a":"True"}`, `error: Failed to coerce string value 'True' to type 'BOOLEAN'`},
		{`type: string`, `{"a":1e21}`, `String "1000000000000000000000"`},
		{`type: string`, `{"a":1.0}`, `String "1"`},
		{`type: string`, `{"a":{"x":1}}`,
			`error: Can not coerce STRING to json type. we only consider object and array to be json types.`},

		// JSON.
		{`type: json`, `{"a":{"y":[1,2.0],"x":"<"}}`, `Json "{\"x\":\"<\",\"y\":[1,2.0]}"`},
		{`type: json`, `{"a":"{}"}`, `error: Failed to coerce string value '{}' to type 'BINARY'`},
		{`type: json`, `{"a":1}`, `error: Can not coerce json type to BINARY`},

		// Times.
		{`type: time`, `{"a":1.5}`, `error: Type: Float value not supported for Epoch`},
		{`type: time`, `{"a":true}`, `error: Type: Boolean value not supported for Epoch`},
		{`type: "time, s"`, `{"d":"1969-12-31T23:59:58.5+00:00"}`, `TimestampSecond -2`},
		{`type: int64`, `{"d":"1969-12-31T23:59:58.5+00:00"}`,
			`error: Failed to coerce value: Timestamp can only be coerced to another type`},

		// Absent and null.
		{`type: int8`, `{}`, `Int8 NULL`},
		{`type: int8, default: 3`, `{"a":null}`, `Int8 NULL`},
		{`type: int8, default: 3`, `{}`, `Int8 3`},
		{`type: int8, default: "3", on_failure: ignore`, `{"a":300}`, `Int8 3`},
		{`type: int8, on_failure: ignore`, `{"a":300}`, `Int8 NULL`},
		{`type: int8, on_failure: ignore`, `{"a":[1]}`,
			`error: Can not coerce INT8 to json type. we only consider object and array to be json types.`},
		{`type: int8, on_failure: default`, `{"a":"x"}`, `Int8 0`},
		{`type: int8, on_failure: default`, `{}`, `Int8 NULL`},
		{`type: float32, on_failure: default`, `{"a":"x"}`, `Float32 0`},
		{`type: boolean, on_failure: default`, `{"a":"x"}`, `Boolean false`},
		{`type: time, on_failure: ignore`, `{"a":"x"}`, `TimestampNanosecond NULL`},
		{`type: time, on_failure: default`, `{"a":"x"}`, `error: Type: Default value not supported for Epoch`},
		{`type: boolean, default: true`, `{}`, `Boolean true`},
		{`type: string, default: 1.50`, `{}`, `String "1.5"`},
		{`type: string, default: [1]`, `{}`, `String NULL`},
		{`type: string, default: ~`, `{}`, `String NULL`},
		{`type: uint8, default: -1`, `{}`, `create: Failed to parse uint8: -1`},
		{`type: boolean, default: yes`, `{}`, `create: Failed to parse boolean: yes`},
		{`type: time, default: 1`, `{}`, `create: Default value not unsupported for type TIMESTAMP_NANOSECOND`},
		{`type: json, default: x`, `{}`, `create: Default value not unsupported for type JSON`},
		{`type: int8, on_failure: skip`, `{}`, `create: Invalid transform on_failure value: skip`},

		// Indexes.
		{`type: int8, index: bloom`, `{}`, `create: Unsupported index type: bloom`},
		{`type: int8, index: Inverted`, `{}`, `create: Unsupported index type: Inverted`},
		{`type: int8, index: [x]`, `{}`, `create: Field index must be a string or map`},
		{`type: int8, index: {options: {}}`, `{}`, "create: Transform index `type` must be set."},
		{`type: int8, index: {type: skipping, more: 1}`, `{}`,
			`create: Unsupported field in transform index config: more`},
		{`type: string, index: {type: fulltext, options: {analyzer: [x]}}`, `{}`,
			"create: Transform index option `index.options.analyzer` must be a string, boolean, integer, or real scalar"},
		{`type: string, index: {type: fulltext, options: {analyzer: Klingon}}`, `{}`,
			`create: Invalid fulltext option: `},
		{`type: string, index: {type: fulltext, options: {granularity: 0}}`, `{}`, `create: Invalid fulltext option: `},
		{`type: string, index: {type: skipping, options: {false_positive_rate: 1.5}}`, `{}`,
			`create: Invalid skipping index option: `},
		{`type: string, index: {type: skipping, options: {analyzer: English}}`, `{}`,
			"create: Unsupported option `analyzer` for `skipping` index"},
		{`type: string, index: {type: inverted, options: {}}`, `{}`,
			"create: Index type `inverted` does not support options in pipeline config"},
		{`type: string, index: {type: tag, options: {}}`, `{}`,
			"create: Index type `tag` does not support options in pipeline config"},
		{`type: int64, index: fulltext`, `{}`, "create: Index `fulltext` only supports STRING columns, but got INT64"},
		{`type: int8, index: {type: skipping, options: {granularity: "5", type: bloom, false_positive_rate: 1}}, tag: true`, `{"a":1}`, `Int8 1`},
		{`type: int8, tag: "x"`, `{}`, `create: Field tag must be a boolean`},
	} {
		field := "a"
		if strings.Contains(c.entry, `"d"`) {
			field = "d, a"
		}
		document := "processors:\n  - date: {field: d, ignore_missing: true}\ntransform:\n  - {field: '" + field +
			"', " + c.settings + "}\n"
		if got := transformed(t, document, c.entry); !strings.HasPrefix(got, c.want) ||
			!strings.HasPrefix(c.want, "create: ") && got != c.want {
			t.Errorf("%s on %s\n got %s\nwant %s", c.settings, c.entry, got, c.want)
		}
	}
}

// transformed is the first column of the row of an entry: its type and value.
func transformed(t *testing.T, document, entry string) string {
	t.Helper()
	if _, err := Compile([]byte(document)); err != nil {
		return "create: " + err.Error()
	}
	got, _, err := collect(managerWith(t, map[string]string{"p": document}), Request{}, entry)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), " (") // what follows is told by TestErrorsNameTheEntry
		return "error: " + text
	}
	head, row, _ := strings.Cut(got, "\n")
	_, columns, _ := strings.Cut(head, "[{a ")
	typ, _, _ := strings.Cut(columns, "}")
	value, _, _ := strings.Cut(row, "|")
	return typ + " " + value
}

func TestDocuments(t *testing.T) {
	const ts = "transform: [{field: ts, type: 'epoch, ms', index: time}]\n"
	for _, c := range []struct{ name, document, err string }{
		{"no version", ts, ""},
		{"null version", "version: ~\n" + ts, ""},
		{"version as text", "version: '2'\n" + ts, ""},
		{"unknown keys", "nonsense: {a: [1]}\ndescription: 7\n" + ts, ""},
		{"processors of another kind", "processors: 7\n" + ts, ""},
		{"transforms beat transform", "transform: [1]\ntransforms: [{field: ts, type: time, index: time}]", ""},
		{"empty transforms", "transforms: []\n" + ts, ""},
		{"a key that is a number", "transform: [{1: x}]", "Key must be a string, but got 1"},
		{"no fields", "transform: [{type: int8}]", "Transform fields must be set."},
		{"no type", "transform: [{fields: [a, 'b, c']}]", "Transform a, c type MUST BE set."},
		{"two times", "transform: [{field: a, type: time, index: time}, {field: 'x, b', type: time, index: timestamp}]",
			"Transform must have exactly one field specified as timestamp Index, but got 2: a, b"},
		{"no time in version 2", "version: 2\ntransform: [{field: a, type: time}]", "but got 0: "},
		{"a time of two fields", "transform: [{fields: [a, b], type: time, index: time}]",
			"Illegal to set multiple timestamp Index columns, please set only one: a, b"},
		{"a column twice", "transform: [{fields: [a, 'b, a', c, 'd, c'], type: int8}]",
			"Column name must be unique, but got duplicated: a, c"},
		{"nothing at all", "{}",
			"Exactly one time-related processor and one timestamp value is required to use auto transform. `ignore_missing` can not be set to true."},
		{"a list", "[1]", "Exactly one time-related processor"},
		{"two fields in one date", "processors: [{date: {fields: [a, b]}}]", "Exactly one time-related processor"},
		{"dispatcher without field", "dispatcher: {rules: []}\n" + ts, "Field is required for dispatcher"},
		{"rule without suffix", "dispatcher: {field: a, rules: [{value: 1}]}\n" + ts,
			"Table_suffix is required for dispatcher rule"},
		{"rule without value", "dispatcher: {field: a, rules: [{table_suffix: x}]}\n" + ts,
			"Value is required for dispatcher rule"},
		{"dispatcher without rules", "dispatcher: {field: a}\n" + ts, ""},
		{"a billion laughs",
			"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n" + ts, "Yaml load error.: more than"},
		{"deep", "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "\n" + ts, "nesting is deeper than 64"},
		{"large", "#" + strings.Repeat("x", maxDocument), "the limit is 1048576"},
		{"many keys", "processors: [{csv: {field: a, target_fields: '" + manyNames(maxKeys) + "'}}]\n" + ts, "names"},
	} {
		_, err := Compile([]byte(c.document))
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("k")
		for ; i > 0; i /= 26 {
			b.WriteByte('a' + byte(i%26))
		}
		b.WriteString(",")
	}
	return b.String()
}
