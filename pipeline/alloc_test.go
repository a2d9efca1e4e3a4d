package pipeline

import (
	"context"
	"testing"

	"varve/engine"
	"varve/engine/vector"
)

// TestNoAllocation takes the same entry again and again through pipelines that must not allocate.
func TestNoAllocation(t *testing.T) {
	const text, json = "text/plain", "application/x-ndjson"
	tail := "transform:\n  - {field: ts, type: \"epoch, ms\", index: timestamp}\n"
	for _, c := range []struct{ name, document, contentType, entry string }{
		{"dissect, date, transforms", dissectDocument, text, combined(1)[:len(combined(1))-1]},
		{"regex, date, transforms", regexDocument, text, combined(1)[:len(combined(1))-1]},
		{"regex without a simple shape that does not match",
			"processors:\n  - epoch: {field: ts}\n  - regex: {field: a, pattern: '(?<x>a|bc)+d'}\n" + tail, json,
			`{"ts":1,"a":"xyz"}`},
		{"date, default formats",
			"processors:\n  - date: {field: ts}\ntransform:\n  - {field: ts, type: time, index: timestamp}\n", json,
			`{"ts":"2024-05-17T12:34:56.123+02:00"}`},
		{"dissect with orders",
			"processors:\n  - dissect: {field: m, patterns: ['nothing %{x}', '%{+n/2} %{+n/1} %{k->} %{?l}']}\n" + tail,
			json, `{"ts":1,"m":"a b c      d"}`},
		{"epoch", "processors:\n  - epoch: {fields: [ts, 'a, b'], resolution: ms}\n" + tail, json,
			`{"ts":"1722580862123","a":17}`},
		{"gsub without a match", "processors:\n  - gsub: {field: a, pattern: '\\d+', replacement: x}\n" + tail, json,
			`{"ts":1,"a":"no digits in here"}`},
		{"gsub of a literal", "processors:\n  - gsub: {field: a, pattern: ':', replacement: ''}\n" + tail, json,
			`{"ts":1,"a":"12:34:56"}`},
		{"letter", "processors:\n  - letter: {field: a, method: upper}\n  - letter: {field: b}\n" + tail, json,
			`{"ts":1,"a":"Text","b":"low"}`},
		{"select", "processors:\n  - select: {fields: [ts, 'a, b']}\n" + tail, json,
			`{"ts":1,"a":"Text","b":"low","c":3}`},
		{"filter", "processors:\n  - filter: {field: a, targets: [debug, trace]}\n" + tail, json,
			`{"ts":1,"a":"Info"}`},
		{"filter that drops", "processors:\n  - filter: {field: a, targets: [debug]}\n" + tail, json,
			`{"ts":1,"a":"DEBUG"}`},
		{"csv", "processors:\n  - csv: {field: m, target_fields: 'a,b,c,d', empty_value: x}\n" + tail, json,
			`{"ts":1,"m":"1,\"two\",\"th\"\"ree\""}`},
		{"decolorize, urlencoding", "processors:\n  - decolorize: {field: a}\n  - urlencoding: {field: b}\n" + tail,
			json, `{"ts":1,"a":"\u001b[1mx\u001b[0m","b":"a%20b"}`},
		{"transforms of every kind", `
transform:
  - {fields: [a, b], type: int8}
  - {field: c, type: uint64, on_failure: default}
  - {fields: [d, e], type: float32}
  - {fields: [f, g], type: boolean, on_failure: ignore}
  - {fields: [h, i, j], type: string}
  - {field: k, type: json}
  - {field: l, type: string, default: none}
  - {field: ts, type: "epoch, us", index: timestamp}
`, json,
			`{"a":"-12","b":3.7,"c":"12","d":"1.5e3","e":1,"f":"true","g":"maybe","h":1.5,"i":true,"j":12,"k":{"z":[1,2,null],"y":"é"},"ts":1}`},
		{"inferred columns", "version: 2\n" + tail, json,
			`{"ts":1,"a":"x","b":2,"c":1.5,"d":true,"e":null,"f":[1,{"g":2}]}`},
		{"options and suffix", "table_suffix: '_${a}'\n" + tail, json,
			`{"ts":1,"a":"x","service_ttl":"1d","service_merge_mode":"last_row"}`},
		{"the clock", "transform:\n  - {field: a, type: string}\n", json, `{"a":"x"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := managerWith(t, map[string]string{"p": c.document})
			p, err := m.find(context.Background(), "p", "")
			if err != nil {
				t.Fatal(err)
			}
			builder := vector.NewBuilder()
			w := m.worker(&finder{m: m, ctx: context.Background()}, m.holding(nil), &Request{}, p,
				func(string, engine.Hint) *vector.Builder { return builder }, c.contentType == text)
			run := func() {
				if err := w.guard([]byte(c.entry)); err != nil {
					t.Fatal(err)
				}
			}
			entry := []byte(c.entry)
			for range 3000 {
				run()
			}
			if n := testing.AllocsPerRun(2000, func() { _ = w.guard(entry) }); n != 0 {
				t.Errorf("%v allocations for an entry", n)
			}
			if w.out.Rows == 0 && w.count(p).dropped == 0 {
				t.Errorf("nothing came out: %+v", w.out)
			}
		})
	}
}
