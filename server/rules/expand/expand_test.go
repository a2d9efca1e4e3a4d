package expand

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// samples answers queries.
func samples(_ context.Context, expr string) ([]*Sample, error) {
	if expr == "none" {
		return nil, nil
	}
	return []*Sample{{map[string]string{"host": "b"}, 21}, {map[string]string{"host": "a"}, 11}}, nil
}

func expanded(text string, value float64) (string, error) {
	t, err := New(text)
	if err != nil {
		return "", err
	}
	return t.Expand(context.Background(), &Data{Labels: map[string]string{"host": "web.example.org:80", "n": "3"},
		ExternalLabels: map[string]string{"site": "north"}, ExternalURL: "http://v.example/metrics", Value: value},
		time.UnixMilli(1_700_000_000_500), samples)
}

// TestFunctions: templates give what Prometheus gives.
func TestFunctions(t *testing.T) {
	for _, c := range []struct {
		text  string
		value float64
		want  string
	}{
		{"as it is", 1, "as it is"},
		{"{{ $labels.host }} {{ .Labels.n }} {{ $value }} {{ $externalLabels.site }} {{ $externalURL }}", 1.5,
			"web.example.org:80 3 1.5 north http://v.example/metrics"},
		{"{{ $labels.absent }}|", 1, "|"},
		{"{{ humanize $value }}", 1234567, "1.235M"}, {"{{ humanize $value }}", 0.0012, "1.2m"},
		{"{{ humanize $value }}", 0, "0"}, {"{{ humanize $value }}", -1234, "-1.234k"},
		{`{{ humanize "12e3" }}`, 0, "12k"},
		{"{{ humanize1024 $value }}", 1048576, "1Mi"}, {"{{ humanize1024 $value }}", 0.5, "0.5"},
		{"{{ humanizeDuration $value }}", 3661, "1h 1m 1s"}, {"{{ humanizeDuration $value }}", 90061, "1d 1h 1m 1s"},
		{"{{ humanizeDuration $value }}", 59.5, "59.5s"}, {"{{ humanizeDuration $value }}", 0.012, "12ms"},
		{"{{ humanizeDuration $value }}", 0, "0s"}, {"{{ humanizeDuration $value }}", -61, "-1m 1s"},
		{"{{ humanizePercentage $value }}", 0.1234567, "12.35%"},
		{"{{ humanizeTimestamp $value }}", 1435065584.128, "2015-06-23 13:19:44.128 +0000 UTC"},
		{"{{ (toTime $value).Year }}", 1435065584, "2015"}, {"{{ toDuration $value }}", 90, "1m30s"},
		{`{{ parseDuration "1h30m" }}`, 0, "5400"}, {"{{ now }}", 0, "1.7000000005e+09"},
		{`{{ toUpper "abc" }}{{ toLower "ABC" }}{{ title "an old-hat" }}`, 0, "ABCabcAn Old-Hat"},
		{`{{ match "a.*" "abc" }} {{ reReplaceAll "(a)b" "$1-" "abab" }}`, 0, "true a-a-"},
		{"{{ stripPort $labels.host }} {{ stripDomain $labels.host }} {{ stripDomain \"10.0.0.1:80\" }}", 0,
			"web.example.org web:80 10.0.0.1:80"},
		{`{{ urlQueryEscape "a b&c" }} {{ pathPrefix }} {{ externalURL }}`, 0,
			"a+b%26c /metrics http://v.example/metrics"},
		{`{{ query "up" | first | value }} {{ query "up" | sortByLabel "host" | first | label "host" }}`, 0, "21 a"},
		{`{{ range query "up" }}{{ .Labels.host }}={{ .Value }},{{ end }}`, 0, "b=21,a=11,"},
		{`{{ with query "none" }}some{{ else }}nothing{{ end }}`, 0, "nothing"},
		{`{{ define "x" }}{{ .arg0 }}-{{ .arg1 }}{{ end }}{{ template "x" (args 1 "b") }}`, 0, "1-b"},
		{`{{ printf "%.2f" $value }}`, 1.005, "1.00"},
		{`{{ if gt $value 1.0 }}high{{ else }}low{{ end }}`, 2, "high"},
	} {
		if got, err := expanded(c.text, c.value); err != nil || got != c.want {
			t.Errorf("%s of %v\n got %q, %v\nwant %q", c.text, c.value, got, err, c.want)
		}
	}
}

// TestTemplatesAreBounded: a template that loops, recurses or writes without end fails soon.
func TestTemplatesAreBounded(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{{ range 1000000000 }}{{ end }}", "steps"},
		{"{{ range 1000000000 }}{{ if false }}{{ end }}{{ end }}", "steps"},
		{`{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`, "steps"},
		{`{{ if true }}{{ range 1000 }}{{ with 1 }}{{ range 1000 }}{{ end }}{{ end }}{{ end }}{{ end }}`, "steps"},
		{`{{ range 2000 }}{{ printf "%1000d" 1 }}{{ end }}`, "bytes"},
		{`{{ query "none" | first | value }}`, "no elements"},
		{`{{ match "(" "a" }}`, "parsing regexp"},
		{`{{ label "a" nil }}`, ""},
	} {
		if got, err := expanded(c.text, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.40q, %v", c.text, got, err)
		}
	}
}

// TestTemplatesHeedTheContext: an expansion whose time is over ends.
func TestTemplatesHeedTheContext(t *testing.T) {
	tmpl, err := New("{{ range 10 }}x{{ end }}")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tmpl.Expand(ctx, &Data{}, time.Now(), samples); err == nil {
		t.Error("it is expanded")
	}
}

func TestCheck(t *testing.T) {
	for text, good := range map[string]bool{
		"plain": true, "{{ $labels.a }}": true, `{{ query "up" | first | value }}`: true, "{{ $x }}": false,
		"{{ nothing }}": false, "{{": false, "{{ humanize $labels.a }}": true,
	} {
		if err := Check(text); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTextsInBetweenAreBounded: what a template makes on its way is bounded as its text is, in memory and in time.
func TestTextsInBetweenAreBounded(t *testing.T) {
	const loop = `{{ $x := "1212" }}{{ range $i, $e := query "many" }}{{ $x = %s }}{{ end }}`
	many := func(context.Context, string) ([]*Sample, error) { return make([]*Sample, 60), nil }
	for _, text := range []string{
		fmt.Sprintf(loop, `printf "%s%s" $x $x`), fmt.Sprintf(loop, `print $x $x`), fmt.Sprintf(loop, `println $x $x`),
		fmt.Sprintf(loop, `html $x $x`), fmt.Sprintf(loop, `js $x $x`), fmt.Sprintf(loop, `urlquery $x $x`),
		fmt.Sprintf(loop, `reReplaceAll "." "$0$0" $x`), fmt.Sprintf(loop, `args $x $x`) + "{{ print $x }}",
		fmt.Sprintf(loop, `(toTime 1.0e9).Format $x`), fmt.Sprintf(loop, `$x | (toTime 1.0e9).Format`),
		`{{ printf "` + strings.Repeat("%100000d", 1000) + `" 1 }}`, `{{ printf "%*d" 1000000 1 }}`,
		`{{ reReplaceAll "` + strings.Repeat("()", 100) + `" "" "" }}`,
	} {
		before := allocated()
		got, err := expandedWith(t, text, many)
		if used := allocated() - before; err == nil || used > 1<<30 {
			t.Errorf("%.80s makes %.20q, %v, with %d bytes", text, got, err, used)
		}
	}
	for text, want := range map[string]string{
		`{{ printf "%05.1f%%" 1.25 }} {{ print "a" 1 }} {{ html "<" }}`:                   "001.2% a1 &lt;",
		`{{ reReplaceAll "(a*)(b|$)" "[$1]" "aabxab" }} {{ (toTime 0.0).Format "2006" }}`: regexp.MustCompile("(a*)(b|$)").ReplaceAllString("aabxab", "[$1]") + " 1970",
		`{{ with $labels.Format }}{{ . }}{{ end }}{{ define "t" }}{{ .arg0 }}{{ end }}` +
			`{{ template "t" args 7 }}`: "7",
	} {
		if got, err := expandedWith(t, text, many); err != nil || got != want {
			t.Errorf("%s makes %q, %v, want %q", text, got, err, want)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// expandedWith is what a text becomes; the error may be one of reading it.
func expandedWith(t *testing.T, text string, query Query) (string, error) {
	tree, err := New(text)
	if err != nil {
		return "", err
	}
	return tree.Expand(t.Context(), &Data{}, time.Unix(0, 0), query)
}
