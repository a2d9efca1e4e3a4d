package pipeline

import (
	"strings"
	"testing"
	"time"

	"varve/engine/status"
)

// TestHostileDocuments compiles documents of the largest size that make careless readers slow or deep.
func TestHostileDocuments(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, maxDocument/len(s)) }
	for name, text := range map[string]string{
		"brackets": fill("["), "braces": fill("{"), "pairs of brackets": fill("[]"), "dashes": fill("- "),
		"question marks": fill("? "),
		"keys":           fill("a: "), "lines of keys": fill("a:\n"), "anchors": fill("&a "),
		"aliases": "a: &a b\nc: [" + fill("*a,"), "tags": fill("!"),
		"quotes": fill(`"`), "blanks": fill(" "), "tabs": fill("\t"), "documents": fill("---\n"),
		"comments": fill("#\n"), "bytes": fill("\xff"),
		"block": "a: |\n" + fill("  x\n"), "merge": fill("<<: *a\n"), "percent": fill("%Y\n"), "colons": fill(":"),
		"nested flow": fill("[{a: "),
	} {
		start := time.Now()
		_, err := Compile([]byte(text[:min(len(text), maxDocument)]))
		if status.Of(err) != status.InvalidArguments {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		} else {
			t.Logf("%s: %s, %.120v", name, took, err)
		}
	}
}

// TestHostileEntries runs entries that must end in rows or in errors of the client's.
func TestHostileEntries(t *testing.T) {
	const all = "version: 2\nprocessors:\n" +
		"  - json_path: {field: a, json_path: '$..*', ignore_missing: true}\n" +
		"  - epoch: {field: ts}\ntransform:\n  - {field: ts, type: time, index: time}\n"
	for name, body := range map[string]string{
		"deep":        `{"ts":1,"x":` + strings.Repeat("[", 127) + strings.Repeat("]", 127) + "}",
		"too deep":    strings.Repeat(`{"a":`, 5000),
		"wide":        `{"ts":1,` + manyKeys(5000) + `"z":1}`,
		"a long name": `{"ts":1,"` + strings.Repeat("x", 2000) + `":1}`,
		"half a pair": `{"ts":1,"a":"\ud800"}`, "numbers": `{"ts":1,"a":1e400}`, "nothing": "", "blanks": "  \n\t",
		"a path that multiplies": `{"ts":1,"a":` + strings.Repeat("[[],", 100) + "1" + strings.Repeat("]", 100) + "}",
	} {
		for _, contentType := range []string{"application/json", "application/x-ndjson", "text/plain"} {
			m := managerWith(t, map[string]string{"p": all})
			_, _, err := collect(m, Request{ContentType: contentType}, body)
			if c := status.Of(err); c != status.Success && c != status.InvalidArguments && c != status.IllegalState {
				t.Errorf("%s as %s: %d %v", name, contentType, c, err)
			}
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"k`)
		for ; i > 0; i /= 10 {
			b.WriteByte('0' + byte(i%10))
		}
		b.WriteString(`":1,`)
	}
	return b.String()
}

// TestManyTables sends every entry to another table.
func TestManyTables(t *testing.T) {
	var b strings.Builder
	for i := range 1100 {
		b.WriteString(`{"ts":1,"kind":`)
		b.WriteString(strings.Repeat("1", i%17+1) + string(rune('0'+i%10)) + string(rune('0'+i/10%10)) +
			string(rune('0'+i/100%10)))
		b.WriteString("}\n")
	}
	_, _, err := collect(managerWith(t, map[string]string{"p": inferDocument}), Request{SkipError: true}, b.String())
	if err == nil || !strings.Contains(err.Error(), "more than 1024 tables") {
		t.Errorf("got %v", err)
	}
}

// TestManyColumns sends entries with columns of their own to tables of their own.
func TestManyColumns(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		b.WriteString(`{"ts":1,"kind":` + strings.Repeat("1", i%17+1) + string(rune('0'+i%10)) +
			string(rune('0'+i/10%10)) + `,` + manyKeys(4000) + `"z":1}` + "\n")
	}
	_, _, err := collect(managerWith(t, map[string]string{"p": inferDocument}), Request{SkipError: true}, b.String())
	if err == nil || !strings.Contains(err.Error(), "columns in all their tables") {
		t.Errorf("got %v", err)
	}
}

// TestManyCells has one wide entry and many that are nearly empty.
func TestManyCells(t *testing.T) {
	body := `{"ts":1,` + manyKeys(4000) + `"z":1}` + strings.Repeat("\n{\"ts\":1}", 200_000)
	for _, helpers := range []int{0, 2} {
		m := managerWith(t, map[string]string{"p": inferDocument})
		m.helpers = make(chan struct{}, helpers)
		_, _, err := collect(m, Request{SkipError: true}, body)
		if err == nil || !strings.Contains(err.Error(), "have more cells than") {
			t.Errorf("got %v", err)
		}
	}
}
