package stage

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// words are keys and values of random lines.
var words = []string{"a", "b", "c d", "é", "x.y", "9", "app", "trace", "long_name", "q\"uote", "back\\slash",
	"tab\t", "ü\n", "<&>", "", " ", "app_extracted", "_"}

// randomValue returns a random value of JSON as text and, for an object, its keys and values in order.
func randomObject(r *rand.Rand, depth int) (text string, keys []string, values []any) {
	var parts []string
	for range r.IntN(6) {
		key := words[r.IntN(len(words))]
		var value any
		var shown string
		switch r.IntN(8) {
		case 0:
			shown = []string{"1", "-2.50", "3e4", "true", "false"}[r.IntN(5)]
			value = json.RawMessage(shown)
		case 1:
			shown = "null"
		case 2:
			shown = `[1,{"z":"]}"},"\""]`
		case 3, 4:
			if depth < 3 {
				inner, innerKeys, innerValues := randomObject(r, depth+1)
				shown, value = inner, [2]any{innerKeys, innerValues}
				break
			}
			fallthrough
		default:
			s := words[r.IntN(len(words))]
			b, _ := json.Marshal(s)
			shown, value = string(b), s
		}
		k, _ := json.Marshal(key)
		parts = append(parts, string(k)+[]string{":", " : "}[r.IntN(2)]+shown)
		keys, values = append(keys, key), append(values, value)
	}
	return "{" + strings.Join(parts, []string{",", " ,\n"}[r.IntN(2)]) + "}", keys, values
}

// cleanName is the rule of names, character by character.
func cleanName(prefix, key string) string {
	key = strings.TrimSpace(key)
	name := prefix
	for i, c := range key {
		if prefix == "" && i == 0 && c >= '0' && c <= '9' {
			name += "_"
		}
		if c < 128 && (c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			name += string(c)
		} else {
			name += "_"
		}
	}
	return name
}

// expected collects the labels of an object one by one.
func expected(labels map[string]string, prefix string, keys []string, values []any) {
	for i, key := range keys {
		name := prefix
		if prefix != "" {
			name += "_"
		}
		name = cleanName(name, key)
		text := ""
		switch v := values[i].(type) {
		case nil:
			continue
		case [2]any:
			expected(labels, name, v[0].([]string), v[1].([]any))
			continue
		case json.RawMessage:
			text = string(v)
		case string:
			text = v
		}
		if name == "app" || name == "trace" {
			name += "_extracted"
		}
		if _, ok := labels[name]; !ok && name != "" {
			labels[name] = text
		}
	}
}

// TestRandomJSON holds that json gives the labels that a walk over the values gives, with all labels needed and with
// one.
func TestRandomJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	all := compile(t, `| json`, everything)
	e := all.NewEntry()
	e.SetStream(labelsOf("app", "shop"))
	for n := range 1500 {
		line, keys, values := randomObject(r, 0)
		want := map[string]string{}
		expected(want, "", keys, values)
		got := parsedLabels(t, all, e, line)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("line %d %s:\n got %v\nwant %v", n, line, got, want)
		}
		for name, value := range want {
			one := compile(t, `| json`, Need{Names: []string{name}})
			e := one.NewEntry()
			e.SetStream(labelsOf("app", "shop"))
			if got := parsedLabels(t, one, e, line); got[name] != value {
				t.Fatalf("line %d %s: label %s alone is %q, want %q", n, line, name, got[name], value)
			}
			break
		}
	}
}

// parsedLabels runs a pipeline and returns the parsed labels.
func parsedLabels(t *testing.T, p *Pipeline, e *Entry, line string) map[string]string {
	t.Helper()
	if !p.Run(e, 1, []byte(line), labelsOf("trace", "7")) || e.Err != "" {
		t.Fatalf("%s: %s %s", line, e.Err, e.Details)
	}
	labels := map[string]string{}
	for _, l := range e.Labels {
		if l.Kind == Parsed {
			labels[l.Name] = string(l.Value)
		}
	}
	return labels
}

// TestRandomLogfmt holds that logfmt gives the pairs that a line was written from.
func TestRandomLogfmt(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	p := compile(t, `| logfmt --keep-empty --strict`, everything)
	e := p.NewEntry()
	e.SetStream(labelsOf("app", "shop"))
	for range 1500 {
		var parts, keys []string
		var values []any
		for range r.IntN(8) {
			key := strings.Map(func(c rune) rune {
				if c <= ' ' || c == '"' || c == '=' {
					return 'k'
				}
				return c
			}, words[r.IntN(len(words))]+"k")
			value := words[r.IntN(len(words))]
			quoted, _ := json.Marshal(value)
			text := key + "=" + string(quoted)
			if !strings.ContainsAny(value, "\" =\t\n\\") && r.IntN(2) == 0 {
				text = key + "=" + value
			}
			parts, keys, values = append(parts, text), append(keys, key), append(values, value)
		}
		line := strings.Join(parts, " ")
		want := map[string]string{}
		expected(want, "", keys, values)
		if got := parsedLabels(t, p, e, line); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s:\n got %v\nwant %v", line, got, want)
		}
	}
}

// TestTogether holds that many goroutines may run one pipeline, each with its own entry.
func TestTogether(t *testing.T) {
	p := compile(t, "| json | logfmt | regexp `(?P<r>\\d+)` | a > 1 | label_format b=`{{.a | upper}}` | "+
		"line_format `{{.b}} {{range fromJson \"[1]\"}}{{.}}{{end}} {{count \"1\" __line__}}`", everything)
	var group sync.WaitGroup
	results := make([]string, 8)
	for i := range results {
		group.Go(func() {
			e := p.NewEntry()
			e.SetStream(labelsOf("app", fmt.Sprint("shop", i)))
			for n := range 200 {
				line := fmt.Sprintf(`{"a":%d}`, n%7)
				if p.Run(e, int64(n), []byte(line), nil) {
					results[i] = string(e.Line)
				}
			}
		})
	}
	group.Wait()
	if want := slices.Repeat([]string{"3 1 0"}, len(results)); !slices.Equal(results, want) {
		t.Errorf("got %v, want %v", results, want)
	}
}
