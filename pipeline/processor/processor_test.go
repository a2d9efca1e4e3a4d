package processor

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"varve/pipeline/value"
)

// build compiles a processor of a document.
func build(text string, names *Names) (Processor, error) {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		return nil, err
	}
	return New(n.Content[0], names)
}

// apply runs a processor on an entry and gives the context after it as JSON, or the error.
func apply(t testing.TB, text, entry string) string {
	t.Helper()
	names := NewNames()
	p, err := build(text, names)
	if err != nil {
		return "create: " + err.Error()
	}
	var a value.Arena
	v, fault := value.ReadJSON(&a, entry, value.JSONOptions{})
	if fault.Failed() {
		t.Fatalf("%s: %s", entry, fault.In(entry))
	}
	e := NewEvent(names, &a)
	e.Load(v)
	if err := p.Run(e); err != nil {
		return "error: " + err.Error()
	}
	return string(value.AppendJSON(nil, e.Context()))
}

func sampleJSON(t testing.TB) value.Value {
	t.Helper()
	v, fault := value.ReadJSON(nil, `{"a":[1,{"b":"x","c":[true,null,2.5]},"s"],"b":{"a":{"b":3}},"hello":"world"}`,
		value.JSONOptions{})
	if fault.Failed() {
		t.Fatal("the sample is not JSON")
	}
	return v
}

// TestProcessors has the rules of the contract, one a line. A want that ends in * is a begin.
func TestProcessors(t *testing.T) {
	for _, c := range []struct{ processor, entry, want string }{
		// Reading the element.
		{`date`, `{}`, `create: Processor must be a map*`},
		{`{}`, `{}`, `create: Processor must have a string key*`},
		{`1: {field: a}`, `{}`, `create: Processor key must be a string*`},
		{`{date: , field: a}`, `{}`, `create: Processor must be a map*`},
		{`timestamp: {field: a}`, `{}`, `create: Unsupported timestamp processor*`},
		{`letter: {1: a}`, `{}`, `create: Key must be a string, but got 1*`},
		{`letter: {fields: a}`, `{}`, `create: Field fields must be a list*`},
		{`letter: {field: [a]}`, `{}`, `create: Field field must be a string or key-rename_to map, but got*`},
		{`letter: {field: ""}`, `{}`, `create: Empty input field*`},
		{`letter: {field: " ,x"}`, `{}`, `create: Empty input field*`},
		{`letter: {field: {key: a}}`, `{}`,
			`create: Field renaming must be a string pair of 'key' and 'rename_to', got: *`},
		{`letter: {field: a, ignore_missing: yes}`, `{}`, `create: Field ignore_missing must be a boolean*`},
		{`letter: {field: a, method: 1}`, `{}`,
			`create: Field method must be a string, but got 1: write it in quotes, '1'*`},
		{`letter: {fields: [], unknown: 1}`, `{"a":1}`, `{"a":1}`},
		{`letter: {field: a, fields: [b]}`, `{"a":"X","b":"Y"}`, `{"a":"X","b":"y"}`},
		{`letter: {fields: ["a, b, c", {key: d, rename_to: e}]}`, `{"a":"X","d":"Y"}`,
			`{"a":"X","b":"x","d":"Y","e":"y"}`},

		// Missing fields and kinds.
		{`letter: {field: a}`, `{}`, `error: Processor letter: missing field: a`},
		{`letter: {field: a}`, `{"a":null}`, `error: Processor letter: missing field: a`},
		{`letter: {fields: [a, b], ignore_missing: true}`, `{"a":null,"b":"X"}`, `{"a":null,"b":"x"}`},
		{`letter: {field: a, ignore_missing: true}`, `{"a":1}`,
			`error: Processor letter: expect string value, but got Integer(1)`},
		{`decolorize: {field: a}`, `{"a":1998.08}`,
			`error: Processor decolorize: expect string value, but got Float(1998.08)`},

		// date
		{`date: {field: t}`, `{"t":"2014-5-17T04:34:56+00:00"}`, `{"t":"2014-05-17T04:34:56Z"}`},
		{`date: {field: t}`, `{"t":"2014-5-17T12:34:56Z"}`, `{"t":"2014-05-17T12:34:56Z"}`},
		{`date: {field: t}`, `{"t":"2014-5-17T12:34:56-0930"}`, `{"t":"2014-05-17T22:04:56Z"}`},
		{`date: {field: t, timezone: Asia/Tokyo}`, `{"t":"2014-5-17T13:34:56"}`, `{"t":"2014-05-17T04:34:56Z"}`},
		{`date: {field: t, formats: ["%Y-%m-%dT%H:%M:%S%.3fZ"], timezone: Asia/Shanghai}`,
			`{"t":"2024-06-27T06:13:36.991Z"}`, `{"t":"2024-06-26T22:13:36.991Z"}`},
		{`date: {field: "t, u", formats: ["%d/%b/%Y:%H:%M:%S %z"]}`, `{"t":"01/Aug/2024:14:22:47 +0800"}`,
			`{"t":"01/Aug/2024:14:22:47 +0800","u":"2024-08-01T06:22:47Z"}`},
		{`date: {field: t, formats: ["%Y-%m-%d %H:%M:%S%.3f"]}`, `{"t":"2024-05-25"}`,
			`error: Processor date: failed to parse 2024-05-25`},
		{`date: {field: t}`, `{"t":"2014-05-17T12:34:56 tail"}`,
			`error: Processor date: failed to parse 2014-05-17T12:34:56 tail`},
		{`date: {field: t, timezone: Mars/Base}`, `{"t":"2014-05-17T12:34:56"}`,
			`error: Parse date timezone error Mars/Base`},
		{`date: {field: t, timezone: Europe/Berlin}`, `{"t":"2024-03-31T02:30:00"}`,
			`error: Processor date: failed to parse 2024-03-31T02:30:00`},
		{`date: {field: t, formats: []}`, `{"t":"2014-05-17T12:34:56"}`, `{"t":"2014-05-17T12:34:56Z"}`},

		// epoch
		{`epoch: {field: t, resolution: s}`, `{"t":"1722580862"}`, `{"t":"2024-08-02T06:41:02Z"}`},
		{`epoch: {field: t}`, `{"t":-1.9}`, `{"t":"1969-12-31T23:59:59.998100Z"}`},
		{`epoch: {field: t, resolution: s}`, `{"t":1742814853.1}`, `{"t":"2025-03-24T11:14:13.100Z"}`},
		{`epoch: {field: t, resolution: s}`, `{"t":"-0.5"}`, `{"t":"1969-12-31T23:59:59.500Z"}`},
		{`epoch: {field: t, resolution: ms}`, `{"t":"1742814853123.4567899"}`,
			`{"t":"2025-03-24T11:14:13.123456789Z"}`},
		{`epoch: {field: t, resolution: s}`, `{"t":"1.5x"}`, `error: Failed to parse 1.5x to int*`},
		{`epoch: {field: t, resolution: s}`, `{"t":"9223372037.5"}`, `error: Failed to parse 9223372037.5 to int*`},
		{`epoch: {field: t, resolution: ns}`, `{"t":7.9}`, `{"t":"1970-01-01T00:00:00.000000007Z"}`},
		{`epoch: {field: t, resolution: ns}`, `{"t":"+12"}`, `{"t":"1970-01-01T00:00:00.000000012Z"}`},
		{`epoch: {field: t, resolution: minute}`, `{}`, `create: Invalid resolution: minute*`},
		{`epoch: {field: t}`, `{"t":" 1"}`, `error: Failed to parse  1 to int: invalid digit found in string`},
		{`epoch: {field: t}`, `{"t":true}`, `error: Processor epoch: unsupported value true`},
		{`epoch: {field: t, resolution: s}`, `{"t":9223372036854775807}`,
			`error: Invalid epoch value '9223372036854775807' for resolution 'second'`},

		// dissect
		{`dissect: {field: m, pattern: "%{a} %{b}"}`, `{"m":"123 456"}`, `{"a":"123","b":"456","m":"123 456"}`},
		{`dissect: {field: m, pattern: "%{key1} %{key2} %{+key3} %{+key3/2} %{key5->} %{?key6}"}`,
			`{"m":"key1 key2 key3 key4 key5       key6"}`,
			`{"key1":"key1","key2":"key2","key3":"key3 key4","key5":"key5","m":"key1 key2 key3 key4 key5       key6"}`},
		{`dissect: {field: m, pattern: "%{+n/2} %{+n/4} %{+n/3} %{+n/1}"}`, `{"m":"john jacob jingleheimer schmidt"}`,
			`{"m":"john jacob jingleheimer schmidt","n":"schmidt john jingleheimer jacob"}`},
		{`dissect: {field: m, pattern: "%{+key1} %{+key1}", append_separator: _}`, `{"m":"key1 key2"}`,
			`{"key1":"key1_key2","m":"key1 key2"}`},
		{`dissect: {field: m, pattern: "[%{ts}]%{->}[%{level}]"}`,
			`{"m":"[1998-08-10T17:15:42,466]            [WARN]"}`,
			`{"level":"WARN","m":"[1998-08-10T17:15:42,466]            [WARN]","ts":"1998-08-10T17:15:42,466"}`},
		{`dissect: {field: m, pattern: "%{key1} %{key2} %{key3}"}`, `{"m":"key1 key2"}`,
			`error: No matching pattern found`},
		{`dissect: {field: m, pattern: "%{a}, %{b}"}`, `{"m":"x,y, z"}`, `{"a":"x,y","b":"z","m":"x,y, z"}`},
		{`dissect: {field: m, pattern: "[%{a}]"}`, `{"m":"[x] tail"}`, `{"a":"x","m":"[x] tail"}`},
		{`dissect: {field: m, pattern: "%{a} %{}"}`, `{"m":"x y z"}`, `{"":"y z","a":"x","m":"x y z"}`},
		{`dissect: {field: m, pattern: "%{} %{a}"}`, `{"m":"x y"}`, `{"a":"y","m":"x y"}`},
		{`dissect: {field: m, pattern: "%{*k}=%{&k}"}`, `{"m":"name=value"}`, `{"m":"name=value","name":"value"}`},
		{`dissect: {field: m, patterns: ["x%{a}", "%{m}-%{b}"]}`, `{"m":"1-2"}`, `{"b":"2","m":"1"}`},
		{`dissect: {field: m, pattern: ""}`, `{}`,
			`create: Field parse from string failed: pattern: Empty pattern is not allowed*`},
		{`dissect: {field: m, patterns: ["%{a}%{b}"]}`, `{}`,
			`create: Field parse from string failed: patterns: Invalid Pattern: '%{a}%{b}'. consecutive names are not allowed: 'a' 'b'*`},
		{`dissect: {field: m, pattern: "%{a"}`, `{}`,
			`create: Field parse from string failed: pattern: Invalid Pattern: '%{a'. 'a' is not closed*`},
		{`dissect: {field: m, pattern: "%{a-}"}`, `{}`, `create: *Expected '->' but only '-'*`},
		{`dissect: {field: m, pattern: "%{a->x}"}`, `{}`, `create: *Expected '}' after '->'*`},
		{`dissect: {field: m, pattern: "%{+a/}"}`, `{}`, `create: *Digit order must be set after '/'*`},
		{`dissect: {field: m, pattern: "%{+}"}`, `{}`, `create: *only '+' modifier is invalid*`},
		{`dissect: {field: m, pattern: "%{+?a}"}`, `{}`, `create: *Invalid '?'*`},
		{`dissect: {field: m, pattern: "%{a b}"}`, `{}`, `create: *Invalid ' ' in 'a'*`},
		{`dissect: {field: m, pattern: "%{+a/1/2}"}`, `{}`,
			`create: *Append Order modifier is already set to '1', cannot be set to 2*`},
		{`dissect: {field: m, pattern: "%{*a} %{*a} %{&a}"}`, `{}`, `create: *Duplicate map key: 'a'*`},
		{`dissect: {field: m, pattern: "%{&a} %{&a} %{*a}"}`, `{}`, `create: *Duplicate map val: 'a'*`},
		{`dissect: {field: m, pattern: "%{*a} %{&b}"}`, `{}`, `create: *key and value not matched: 'a'*`},

		// gsub
		{`gsub: {field: a, pattern: '\.', replacement: ''}`, `{"a":"1573840000.000"}`, `{"a":"1573840000000"}`},
		{`gsub: {field: a, pattern: '(?<x>\w)(\d)', replacement: '${x}-$2$$$9'}`, `{"a":"a1 b2"}`, `{"a":"a-1$ b-2$"}`},
		{`gsub: {field: a, pattern: '(', replacement: ''}`, `{}`, `create: Invalid regex pattern: (*`},
		{`gsub: {field: a, pattern: x}`, `{}`, `create: Replacement is required*`},
		{`gsub: {field: a, pattern: x, replacement: 1}`, `{}`,
			`create: Field replacement must be a string, but got 1: write it in quotes, '1'*`},
		{`gsub: {field: a, pattern: '\d', replacement: x}`, `{"a":"٣"}`, `{"a":"x"}`},
		{`gsub: {field: a, pattern: x, replacement: y}`, `{"a":["x"]}`,
			`error: Processor gsub: expect string value, but got Array(["x"])`},

		// join
		{`join: {field: a, separator: "-"}`, `{"a":[1,true,"a",1.1,null,[1],{"b":2}]}`,
			`{"a":"1-true-a-1.1-<null>-[1]-{\"b\":2}"}`},
		{`join: {field: a, separator: "-"}`, `{"a":[]}`, `{"a":""}`},
		{`join: {field: a, separator: "-"}`, `{"a":"x"}`,
			`error: Processor join: expect string value, but got String(x)`},
		{`join: {field: a}`, `{}`, `create: Separator is required*`},

		// letter
		{`letter: {field: a, method: UPPER}`, `{"a":"aéZ"}`, `{"a":"AéZ"}`},
		{`letter: {field: a, method: capital}`, `{"a":"éA"}`, `{"a":"ÉA"}`},
		{`letter: {field: a, method: capital}`, `{"a":""}`, `{"a":""}`},
		{`letter: {field: a, method: capital}`, `{"a":"aBc"}`, `{"a":"ABc"}`},
		{`letter: {field: a, method: capital}`, `{"a":"ßx"}`, `{"a":"SSx"}`},
		{`letter: {field: a, method: capital}`, `{"a":" x"}`, `{"a":" x"}`},
		{`letter: {field: a, method: snake}`, `{}`, `create: Invalid method: snake*`},

		// regex
		{`regex: {fields: [str], pattern: '(?<id>\d+)'}`, `{"str":"123 456"}`, `{"str":"123 456","str_id":"123"}`},
		{`regex: {field: "queryStr, cmcd", pattern: '(?i)CMCD=//(?<version>[\d\.]+)@V/(?<data>.+$)'}`,
			`{"queryStr":"cmcd=//1.0@V/bl=21600"}`,
			`{"cmcd_data":"bl=21600","cmcd_version":"1.0","queryStr":"cmcd=//1.0@V/bl=21600"}`},
		{`regex: {field: a, pattern: '(?P<x>x)', patterns: ['(?<y>(?<z>y))']}`, `{"a":"xy"}`,
			`{"a":"xy","a_x":"x","a_y":"y"}`},
		{`regex: {field: a, patterns: ['(?<x>\d)', '(?<x>[a-z])']}`, `{"a":"1b"}`, `{"a":"1b","a_x":"b"}`},
		{`regex: {field: a, pattern: '(?<x>z)'}`, `{"a":"1b"}`, `{"a":"1b"}`},
		{`regex: {pattern: '(?<a>x)'}`, `{}`, `create: No valid field found in regex processor*`},
		{`regex: {field: a}`, `{}`, `create: No valid pattern found in regex processor*`},
		{`regex: {field: a, pattern: 'x'}`, `{}`, `create: No named group found in regex x*`},
		{`regex: {field: a, pattern: '(?<a>'}`, `{}`, `create: Invalid regex pattern: (?<a>*`},

		// urlencoding
		{`urlencoding: {field: a, method: encode}`, `{"a":"2024-06-27T06:13:36.991Z ü~"}`,
			`{"a":"2024-06-27T06%3A13%3A36.991Z%20%C3%BC~"}`},
		{`urlencoding: {field: a}`, `{"a":"a+b%2x%41%zz%4"}`, `{"a":"a+b%2xA%zz%4"}`},
		{`urlencoding: {field: a}`, `{"a":"%ff"}`, "{\"a\":\"\uFFFD\"}"},
		{`urlencoding: {field: a, method: Encode}`, `{}`, `create: Invalid method: Encode*`},

		// csv
		{`csv: {field: m, target_fields: "a, b, c"}`, `{"m":"1,2"}`, `{"a":"1","b":"2","c":null,"m":"1,2"}`},
		{`csv: {field: m, target_fields: "a,b,,c", empty_value: e}`, `{"m":"1,"}`, `{"a":"1","b":"","c":"e","m":"1,"}`},
		{`csv: {field: m, target_fields: "a,b"}`, `{"m":"1,\"x,y\",3"}`, `{"a":"1","b":"x,y","m":"1,\"x,y\",3"}`},
		{`csv: {field: m, target_fields: "a,b", trim: true, separator: ";", quote: "'"}`,
			`{"m":"\n 'x' ; 'it''s' \n2"}`, `{"a":"'x'","b":"'it''s'","m":"\n 'x' ; 'it''s' \n2"}`},
		{`csv: {field: m, target_fields: "a,b"}`, `{"m":"\"it\"\"s\",\"a\nb"}`,
			`{"a":"it\"s","b":"a\nb","m":"\"it\"\"s\",\"a\nb"}`},
		{`csv: {field: m, target_fields: "a"}`, `{"m":""}`,
			`error: Expected at least one record from csv format, but got none`},
		{`csv: {field: m, separator: "::"}`, `{}`,
			`create: Separator 'separator' must be a single character, but got '::'*`},
		{`csv: {field: m, quote: ""}`, `{}`, `create: Quote 'quote' must be a single character, but got ''*`},

		// json_parse, simple_extract, json_path
		{`json_parse: {field: a}`, `{"a":"{\"x\":[1]}"}`, `{"a":{"x":[1]}}`},
		{`json_parse: {field: a}`, `{"a":"42"}`, `error: Processor json_parse: unsupported value 42`},
		{`json_parse: {field: a}`, `{"a":"{x"}`, `error: Failed to parse json: *`},
		{`json_parse: {field: a}`, `{"a":1}`, `error: Field 1 must be a string`},
		{`json_parse: {field: a, ignore_missing: true}`, `{"a":null}`, `error: Field <null> must be a string`},
		{`json_parse: {field: a, ignore_missing: true}`, `{}`, `{}`},
		{`simple_extract: {field: "a, x", key: shop.name}`, `{"a":{"shop":{"name":"n"}}}`,
			`{"a":{"shop":{"name":"n"}},"x":"n"}`},
		{`simple_extract: {field: "a, x", key: shop.name}`, `{"a":{"shop":1}}`, `{"a":{"shop":1},"x":null}`},
		{`simple_extract: {field: "a, x", key: b}`, `{"a":null}`, `{"a":null,"x":null}`},
		{`simple_extract: {field: a, key: b}`, `{}`, `error: Processor simple_extract: missing field: a`},
		{`json_path: {field: a, json_path: $.hello, result_index: 0}`, `{"a":{"hello":"world"}}`, `{"a":"world"}`},
		{`json_path: {field: a, json_path: "$.shop.orders[?(@.active)].id"}`,
			`{"a":{"shop":{"orders":[{"id":1,"active":true},{"id":2,"active":false},{"id":3},{"id":4,"active":1}]}}}`,
			`{"a":[1,4]}`},
		{`json_path: {field: a, json_path: "$..n"}`, `{"a":{"n":1,"m":[{"n":2}]}}`, `{"a":[1,2]}`},
		{`json_path: {field: a, json_path: "$[1:]", result_index: 5}`, `{"a":[1,2]}`, `{"a":null}`},
		{`json_path: {field: a, json_path: "$[*]", result_index: -1}`, `{"a":[1,2]}`, `{"a":null}`},
		{`json_path: {field: a, json_path: "$[-1,0]['x', \"y\"]"}`, `{"a":[{"x":1},{"y":2}]}`, `{"a":[2,1]}`},
		{`json_path: {field: a, json_path: "$[?(@.p < 10 && @.q == 'x' || !@.p)].p"}`,
			`{"a":[{"p":1,"q":"x"},{"p":11,"q":"x"},{"q":1}]}`, `{"a":[1]}`},
		{`json_path: {field: a}`, `{}`, `create: Processor json_path: missing field: json_path*`},
		{`json_path: {field: a, json_path: "$["}`, `{}`, `create: Parse json path error: *`},
		{`json_path: {field: a, json_path: $.x, result_index: a}`, `{}`, `create: Json path result index not number*`},

		// digest
		{`digest: {field: "a, b", presets: [ip]}`, `{"a":"hello 192.168.1.1 world"}`,
			`{"a":"hello 192.168.1.1 world","a_digest":"hello  world"}`},
		{`digest: {field: a, presets: [bracketed, quoted, numbers]}`, `{"a":"[content} “x' 12 [y 【z】"}`,
			`{"a":"[content} “x' 12 [y 【z】","a_digest":"   [y "}`},
		{`digest: {field: a, presets: [ip, uuid], regex: [foo]}`,
			`{"a":"10.0.0.1:80 [::1]:9 123e4567-e89b-12d3-a456-426614174000 foo"}`,
			`{"a":"10.0.0.1:80 [::1]:9 123e4567-e89b-12d3-a456-426614174000 foo","a_digest":"   "}`},
		{`digest: {field: a, presets: [words]}`, `{}`, `create: Wrong digest pattern: words*`},
		{`digest: {field: a, presets: ip}`, `{}`, `create: Wrong digest pattern: presets*`},
		{`digest: {field: a, regex: x}`, `{}`, `create: Wrong digest pattern: regex*`},
		{`digest: {field: a, regex: ["("]}`, `{}`, `create: *`},

		// decolorize
		{`decolorize: {field: a}`, `{"a":"\u001b[32mSuccess\u001b[0m \u001b[x \u001b[1;31mE"}`,
			`{"a":"Success \u001b[x E"}`},

		// select, filter
		{`select: {fields: [a, "b, c"]}`, `{"a":1,"b":2,"c":3,"d":4}`, `{"a":1,"c":2}`},
		{`select: {fields: [a, z]}`, `{"a":1,"d":4}`, `{"a":1}`},
		{`select: {type: exclude, fields: [a, "b, c"]}`, `{"a":1,"b":2,"c":3,"d":4}`, `{"c":3,"d":4}`},
		{`select: {type: some, fields: [a]}`, `{}`,
			`create: Processor select: unsupported value 'some', expect 'include' or 'exclude'*`},
		{`filter: {field: a, targets: [Debug, ""]}`, `{"a":"dEBUG"}`, `null`},
		{`filter: {field: a, targets: [debug], match_op: not_in, mode: other}`, `{"a":"info"}`, `null`},
		{`filter: {field: a, targets: [É], match_op: unknown}`, `{"a":"é"}`, `null`},
		{`filter: {field: a, targets: [debug], case_insensitive: false}`, `{"a":"DEBUG"}`, `{"a":"DEBUG"}`},
		{`filter: {field: a, targets: [debug]}`, `{"b":1}`, `{"b":1}`},
		{`filter: {field: a, targets: [debug]}`, `{"a":null}`,
			`error: Processor filter: expect string value, but got Null`},
		{`filter: {field: a, targets: [""]}`, `{}`, `create: Processor filter: missing field: targets*`},

		// cmcd
		{`cmcd: {field: "q, c"}`, `{"q":"bs,br=300,pr=1.5,sid=\"a b\",nor=\"%2Fx\",zz=1,su=0,cid=a=b"}`,
			`{"c_br":300,"c_bs":true,"c_cid":"a","c_nor":"\"/x\"","c_pr":1.5,"c_sid":"\"a b\"","c_su":true,"q":"bs,br=300,pr=1.5,sid=\"a b\",nor=\"%2Fx\",zz=1,su=0,cid=a=b"}`},
		{`cmcd: {field: q}`, `{"q":"br=x"}`, `error: Failed to parse br as int: x`},
		{`cmcd: {field: q}`, `{"q":"pr=x"}`, `error: Failed to parse pr as float: x`},
		{`cmcd: {field: q}`, `{"q":"bs,br"}`, `error: Cmcd br missing value in bs,br`},

		// vrl
		{`vrl: {source: ""}`, `{}`, `create: Vrl script source is required*`},
		{`vrl: {}`, `{}`, `create: Vrl script source is required*`},
		{`vrl: {source: ". = (\n."}`, `{}`, `create: Failed to compile VRL, *`},
		{`vrl: {source: 'return {"b": .a}'}`, `{"a":1}`, `{"b":1}`},
		{`vrl: {source: 'if .a == 1 { return [.] } else { abort }'}`, `{"a":1}`, `[{"a":1}]`},
		{`vrl: {source: 'return 5'}`, `{}`,
			"create: Vrl script should return object or array in the end, got `integer`*"},
		{`vrl: {source: 'abort'}`, `{}`, "create: Vrl script should return object or array in the end, got `never`*"},
		{`vrl: {source: "if .a == 1 { return . }\n5"}`, `{}`,
			"create: Vrl script should return object or array in the end, got `integer`*"},
		{`vrl: {source: "for_each({\"a\": 1}) -> |_k, _v| { return {\"b\": 1} }\nabort"}`, `{}`,
			"create: Vrl script should return object or array in the end, got `never`*"},
		{`vrl: {source: "if .a == 1 { return {\"b\": r'x'} }\n."}`, `{}`,
			"create: Please don't use regex in Vrl script*"},
		{`vrl: {source: '"text"'}`, `{}`, "create: Vrl script should return object or array in the end, got `string`*"},
		{`vrl: {source: ".a = 1\n."}`, `{"b":2}`, `{"a":1,"b":2}`},
		{`vrl: {source: "if .b == 2 { null } else { . }"}`, `{"b":2}`, `null`},
		{`vrl: {source: "abort \"no\"\n."}`, `{}`, `error: Failed to execute VRL, no`},
	} {
		got := apply(t, c.processor, c.entry)
		want := c.want
		ok := got == want
		if strings.HasSuffix(want, "*") {
			before, part, _ := strings.Cut(strings.TrimSuffix(want, "*"), "*")
			ok = strings.HasPrefix(got, before) && strings.Contains(got, part)
		}
		if !ok {
			t.Errorf("%s on %s\n got %s\nwant %s", c.processor, c.entry, got, want)
		}
	}
}
