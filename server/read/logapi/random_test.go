package logapi_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"varve/server/servertest"
)

// randomLine is a line of logfmt and what it holds.
type randomLine struct {
	at     int64 // ns
	labels map[string]string
	level  string // that the line names; empty: it names none
	word   string
	n      int
}

func (l *randomLine) text() string {
	text := fmt.Sprintf("w=%s n=%d", l.word, l.n)
	if l.level != "" {
		text = "lvl=" + l.level + " " + text
	}
	return text
}

// derived is a label that follows from the others and the line.
func (l *randomLine) derived(name string) string {
	switch {
	case name == "service_name":
		return l.labels["app"]
	case name == "detected_level" && l.level == "":
		return "unknown"
	case name == "detected_level":
		return map[string]string{"ERR": "error", "warning": "warn", "info": "info"}[l.level]
	}
	return ""
}

var words = []string{"alpha", "beta", "gamma", "delta", "alphabet"}

// randomLines are lines of a few streams, in the order of time.
func randomLines(r *rand.Rand) (list []randomLine) {
	for range 60 + r.IntN(200) {
		l := randomLine{at: base*1e9 + int64(r.IntN(240))*5e8, word: words[r.IntN(len(words))], n: r.IntN(50),
			labels: map[string]string{"app": string(rune('a' + r.IntN(3)))}}
		if r.IntN(3) > 0 {
			l.labels["host"] = fmt.Sprintf("h%d", r.IntN(2))
		}
		if r.IntN(2) == 0 {
			l.level = []string{"ERR", "warning", "info"}[r.IntN(3)]
		}
		if r.IntN(6) == 0 {
			l.labels["meta"] = "m" // structured metadata
		}
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b randomLine) int { return cmp.Compare(a.at, b.at) })
	return list
}

func (l *randomLine) push() string {
	metadata := ""
	if l.labels["meta"] != "" {
		metadata = `,{"meta":"m"}`
	}
	stream := fmt.Sprintf(`"app":%q`, l.labels["app"])
	if l.labels["host"] != "" {
		stream += fmt.Sprintf(`,"host":%q`, l.labels["host"])
	}
	return fmt.Sprintf(`{"streams":[{"stream":{%s},"values":[["%d",%q%s]]}]}`, stream, l.at, l.text(), metadata)
}

// randomQuery is the text of a query, and which lines pass with which labels.
type randomQuery struct {
	text   string
	parsed bool
	tests  []func(l *randomLine) bool
}

func newRandomQuery(r *rand.Rand) *randomQuery {
	q := &randomQuery{}
	add := func(text string, test func(l *randomLine) bool) {
		q.text += text
		q.tests = append(q.tests, test)
	}
	add([]string{`{app="a"}`, `{app=~"a|b"}`, `{app!="c",app=~".+"}`, `{app=~".+",host="h0"}`, `{app=~".+",host!="h0"}`,
		`{app=~".+",host=""}`, `{service_name="b"}`, `{service_name=~"a|unknown_service"}`}[r.IntN(8)], nil)
	text := q.text
	q.tests[0] = func(l *randomLine) bool {
		app, host := l.labels["app"], l.labels["host"]
		switch {
		case strings.Contains(text, `{app="a"}`):
			return app == "a"
		case strings.Contains(text, `service_name="b"`):
			return app == "b"
		case strings.Contains(text, `a|unknown`):
			return app == "a"
		case strings.Contains(text, `a|b`):
			return app != "c"
		case strings.Contains(text, `app!="c"`):
			return app != "c"
		case strings.Contains(text, `host="h0"`):
			return host == "h0"
		case strings.Contains(text, `host!="h0"`):
			return host != "h0"
		}
		return host == ""
	}
	for range r.IntN(3) {
		w := words[r.IntN(len(words))]
		switch r.IntN(3) {
		case 0:
			add(` |= "`+w+`"`, func(l *randomLine) bool { return strings.Contains(l.text(), w) })
		case 1:
			add(` != "`+w+`"`, func(l *randomLine) bool { return !strings.Contains(l.text(), w) })
		default:
			add(" |~ `w="+w+` n=\d$`+"`", func(l *randomLine) bool { return l.word == w && l.n < 10 })
		}
	}
	if r.IntN(2) == 0 {
		q.text += " | logfmt"
		q.parsed = true
		k, w := r.IntN(50), words[r.IntN(len(words))]
		switch r.IntN(6) {
		case 4:
			add(` | detected_level="error"`, func(l *randomLine) bool { return l.level == "ERR" })
		case 5:
			add(` | detected_level!="error", service_name=~"a|c"`, func(l *randomLine) bool {
				return l.level != "ERR" && l.labels["app"] != "b"
			})
		case 0:
			add(fmt.Sprintf(" | n >= %d", k), func(l *randomLine) bool { return l.n >= k })
		case 1:
			add(fmt.Sprintf(" | w=%q or n<%d", w, k), func(l *randomLine) bool { return l.word == w || l.n < k })
		case 2:
			add(` | meta=""`, func(l *randomLine) bool { return l.labels["meta"] == "" })
		}
	}
	return q
}

func (q *randomQuery) passes(l *randomLine) bool {
	return !slices.ContainsFunc(q.tests, func(test func(*randomLine) bool) bool { return !test(l) })
}

// labelsOf are the labels of a line behind the stages.
func (q *randomQuery) labelsOf(l *randomLine) map[string]string {
	out := maps.Clone(l.labels)
	if q.parsed {
		out["w"], out["n"] = l.word, strconv.Itoa(l.n)
		if l.level != "" {
			out["lvl"] = l.level
		}
	}
	return out
}

// lines are the rows of an answer of lines.
func (q *randomQuery) lines(all []randomLine, from, to int64) (rows []string) {
	for i := range all {
		if l := &all[i]; l.at >= from && l.at < to && q.passes(l) {
			rows = append(rows, fmt.Sprintf("%s %s %s", seconds(float64(l.at-base*1e9)/1e9), shownLabels(q.labelsOf(l)),
				l.text()))
		}
	}
	slices.Sort(rows)
	return rows
}

// aggregation is an aggregation of a range, and perhaps one over it.
type aggregation struct {
	op     string
	unwrap bool
	sum    []string // sum by these; nil: no sum
	window int64    // s
	offset int64    // s
}

func newAggregation(r *rand.Rand) aggregation {
	a := aggregation{window: []int64{5, 10, 30, 60, 45}[r.IntN(5)], offset: []int64{0, 0, 10, -5}[r.IntN(4)]}
	a.op = []string{"count_over_time", "rate", "bytes_over_time", "sum_over_time", "max_over_time"}[r.IntN(5)]
	a.unwrap = a.op == "sum_over_time" || a.op == "max_over_time"
	if r.IntN(3) > 0 {
		a.sum = [][]string{{}, {"app"}, {"host"}, {"app", "meta"}, {"w"}, {"service_name"}, {"detected_level"},
			{"detected_level", "host", "service_name"}}[r.IntN(8)]
	}
	return a
}

func (a *aggregation) text(q *randomQuery) string {
	inner := q.text
	if a.unwrap {
		if !q.parsed {
			inner += " | logfmt"
		}
		inner += " | unwrap n"
	}
	text := fmt.Sprintf("%s(%s [%ds]", a.op, inner, a.window)
	if a.offset != 0 {
		text += fmt.Sprintf(" offset %ds", a.offset)
	}
	if text += ")"; a.sum != nil {
		text = "sum by (" + strings.Join(a.sum, ",") + ") (" + text + ")"
	}
	return text
}

// rows are the values at steps, line by line.
func (a *aggregation) rows(q *randomQuery, all []randomLine, start, end, step int64) (rows []string) {
	out := map[string]string{}
	for t := start; t <= end; t += step {
		values := map[string]float64{}
		sets := map[string]map[string]string{}
		for i := range all {
			l := &all[i]
			to := t - a.offset*1e9
			if l.at <= to-a.window*1e9 || l.at > to || !q.passes(l) {
				continue
			}
			labels := q.labelsOf(l)
			if a.unwrap {
				labels["w"] = l.word
				if l.level != "" {
					labels["lvl"] = l.level
				}
				delete(labels, "n")
			}
			for _, name := range []string{"service_name", "detected_level"} {
				if strings.Contains(a.text(q), name) { // series have them where the query names them
					labels[name] = l.derived(name)
				}
			}
			key := shownLabels(labels)
			sets[key] = labels
			switch a.op {
			case "count_over_time":
				values[key]++
			case "rate":
				values[key] += 1 / float64(a.window)
			case "bytes_over_time":
				values[key] += float64(len(l.text()))
			case "sum_over_time":
				values[key] += float64(l.n)
			case "max_over_time":
				values[key] = max(values[key], float64(l.n))
			}
		}
		if a.sum != nil {
			values = sumBy(values, sets, a.sum)
		}
		for key, v := range values {
			out[key] += " " + seconds(float64(t-base*1e9)/1e9) + ":" + rounded(v)
		}
	}
	for key, row := range out {
		rows = append(rows, key+row)
	}
	slices.Sort(rows)
	return rows
}

func sumBy(values map[string]float64, sets map[string]map[string]string, by []string) map[string]float64 {
	out := map[string]float64{}
	for key, v := range values {
		kept := map[string]string{}
		for _, name := range by {
			if sets[key][name] != "" {
				kept[name] = sets[key][name]
			}
		}
		out[shownLabels(kept)] += v
	}
	return out
}

// rounded leaves out the digits that depend on the order of additions.
func rounded(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }

func roundedRows(rows []string) []string {
	for i, row := range rows {
		at := strings.LastIndexByte(row, '}') + 1
		points := strings.Fields(row[at:])
		for k, p := range points {
			time, text, _ := strings.Cut(p, ":")
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				points[k] = time + ":" + rounded(v)
			}
		}
		rows[i] = row[:at] + " " + strings.Join(points, " ")
	}
	return rows
}

// TestRandom compares random queries over random lines with an evaluator that goes through them line by line.
func TestRandom(t *testing.T) {
	filled := 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 31))
		all := randomLines(r)
		var s script
		for _, i := range r.Perm(len(all)) {
			s.pushes = append(s.pushes, all[i].push())
		}
		in := states[seed%uint64(len(states))]
		h := pushed(t, s, in)
		for range 40 {
			q := newRandomQuery(r)
			from := base*1e9 + int64(r.IntN(100))*1e9
			to := from + int64(1+r.IntN(80))*1e9
			what := fmt.Sprintf("seed %d, %s", seed, in)
			request := fmt.Sprintf("query_range?limit=5000&start=%d&end=%d&query=%s", from, to, url.QueryEscape(q.text))
			compareRows(t, what, h, request, q.lines(all, from, to), false)
			a := newAggregation(r)
			step := []int64{5, 10, 15, 60}[r.IntN(4)] * 1e9
			from, to = from-from%step, to+step-1-(to+step-1)%step
			request = fmt.Sprintf("query_range?start=%d&end=%d&step=%d&query=%s", from, to, step/1e9,
				url.QueryEscape(a.text(q)))
			rows := a.rows(q, all, from, to, step)
			compareRows(t, what, h, request, rows, true)
			if len(rows) > 0 {
				filled++
			}
		}
	}
	if filled < 100 {
		t.Errorf("%d answers have numbers: the queries find too little", filled)
	}
}

func compareRows(t *testing.T, what string, h *servertest.House, request string, want []string, numbers bool) {
	t.Helper()
	got := shownRows(t, h.Do("GET", "/loki/api/v1/"+request, ""), false)
	if numbers {
		got = roundedRows(got)
	}
	if !slices.Equal(got, want) {
		text, _ := url.QueryUnescape(request)
		t.Errorf("%s: %s\n got %s\nwant %s", what, text, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}
