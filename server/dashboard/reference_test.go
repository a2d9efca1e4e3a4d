package dashboard

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/prometheus/prometheus/promql/parser"

	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// group is a subject with the functions of it, as they are written.
type group struct {
	title string
	forms []string
}

func (g group) MarshalJSON() ([]byte, error) { return json.Marshal([]any{g.title, g.forms}) }

// codeSpan is a piece of code in a document, callForm a function with or without its arguments.
var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	callForm = regexp.MustCompile(`^([a-z_][a-z0-9_]*)(\(.*\))?$`)
	known    = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
)

// sqlFunctions lists the executor's functions under the headings of docs/sql.md that name them; the others come last.
func sqlFunctions(t *testing.T) []group {
	text, err := os.ReadFile("../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, name := range slices.Concat(expr.Names(), expr.AggregateNames(), exec.RankingNames()) {
		left[name] = known.MatchString(name)
	}
	var groups []group
	type mention struct {
		group      int
		name, form string
	}
	var mentions []mention
	code := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && !code && line[0] == '#' {
			groups = append(groups, group{title: strings.TrimSpace(heading)})
		}
		if code || len(groups) == 0 {
			continue
		}
		for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
			if f := callForm.FindStringSubmatch(m[1]); f != nil && left[f[1]] {
				mentions = append(mentions, mention{len(groups) - 1, f[1], m[1]})
			}
		}
	}
	// The first mention with arguments is the one; a function that has none anywhere stands where it is named first.
	for _, bare := range []bool{false, true} {
		for _, m := range mentions {
			if left[m.name] && (m.form == m.name) == bare && !strings.Contains(m.form, "DISTINCT") {
				left[m.name] = false
				groups[m.group].forms = append(groups[m.group].forms, m.form)
			}
		}
	}
	maps.DeleteFunc(left, func(_ string, is bool) bool { return !is })
	groups = append(groups, group{"Others", slices.Sorted(maps.Keys(left))})
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.forms) == 0 })
}

// metricsFunctions lists the functions of the metrics language by what they return, and its aggregations.
func metricsFunctions() []group {
	ranges, others := group{title: "Of ranges"}, group{title: "Of instants"}
	for _, name := range slices.Sorted(maps.Keys(parser.Functions)) {
		f := parser.Functions[name]
		var args []string
		for i, a := range f.ArgTypes {
			text := string(a)
			if f.Variadic != 0 && i == len(f.ArgTypes)-1 {
				text = "[" + text + "]"
			}
			args = append(args, text)
		}
		form := name + "(" + strings.Join(args, ", ") + ")"
		if slices.Contains(f.ArgTypes, parser.ValueTypeMatrix) {
			ranges.forms = append(ranges.forms, form)
		} else {
			others.forms = append(others.forms, form)
		}
	}
	aggregations := group{title: "Aggregations"}
	for item, word := range parser.ItemTypeStr {
		if item.IsAggregator() {
			arg := "vector"
			if item.IsAggregatorWithParam() {
				arg = "parameter, vector"
			}
			aggregations.forms = append(aggregations.forms, word+" by (label) ("+arg+")")
		}
	}
	slices.Sort(aggregations.forms)
	return []group{aggregations, ranges, others}
}

// TestReference: the functions that help shows are those of this build; -update packs them anew.
func TestReference(t *testing.T) {
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string][]group{"sql": sqlFunctions(t), "metrics": metricsFunctions()}); err != nil {
		t.Fatal(err)
	}
	const file = "web/core/reference.json.br"
	if *update {
		var packed bytes.Buffer
		w := brotli.NewWriterLevel(&packed, brotli.BestCompression)
		w.Write(want.Bytes()) // a buffer takes everything
		w.Close()
		if err := os.WriteFile(file, packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := unpacked(t, "br", packed); !bytes.Equal(got, want.Bytes()) {
		t.Errorf(
			"%s is not the list of this build: go test ./server/dashboard -run TestReference -update\n got %s\nwant %s",
			file, got, want.Bytes())
	}
}
