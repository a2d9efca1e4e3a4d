package metricsapi_test

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	refhistogram "github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/convertnhcb"

	"varve/sqlexec/promql"
)

// The published scripts of the metrics language are lines: what to load, what to evaluate and what must come of it.
// Comments begin with #, a blank line ends a command.
var (
	scriptLoad    = regexp.MustCompile(`^load(_with_nhcb)?\s+(\S+)$`)
	scriptInstant = regexp.MustCompile(`^eval(?:_(\w+))?\s+instant\s+at\s+(\S+)\s+(.+)$`)
	scriptRange   = regexp.MustCompile(`^eval(?:_(\w+))?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.+)$`)
	scriptVector  = regexp.MustCompile(`^expect\s+range\s+vector\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)$`)
	scriptString  = regexp.MustCompile(`^expect\s+string\s+(.+)$`)
	scriptExpect  = regexp.MustCompile(`^expect\s+(ordered|fail|warn|no_warn|info|no_info)(?:\s+(regex|msg):\s*(.+))?$`)
	scriptStart   = regexp.MustCompile(`^(.+?)@st\s+(.+)$`)
	scriptOffset  = regexp.MustCompile(`^(_|[-+]?\w+?(?:[-+]\w+?)?)(?:x(\d+))?$`)
)

// promqlScript is a script: what it does, in order.
type promqlScript struct {
	commands []scriptCommand
}

// scriptCommand is one of three: samples to store, an evaluation, or neither, which forgets all samples.
type scriptCommand struct {
	load []scriptSeries
	eval *scriptEval
}

// scriptSeries is a series with samples.
type scriptSeries struct {
	labels  labels.Labels
	samples []scriptSample
}

// scriptSample is a float, or a histogram. Times are in ms, a start of 0 is unknown.
type scriptSample struct {
	t, start int64
	v        float64
	h        *refhistogram.FloatHistogram
	hinted   bool // the script names the hint of h, so it matters
}

// scriptEval is an expression and what it must come to.
type scriptEval struct {
	line             int
	expr             string
	ranged           bool
	at               int64 // of an instant query, ms
	start, end, step int64 // of the times of the samples expected

	want    map[string][]*regexp.Regexp // kinds of expectation, and what their texts must match
	vector  bool                        // an instant query for a range vector
	text    *string
	scalar  *float64
	samples []scriptSeries
}

func (e *scriptEval) fails() bool { return e.want["fail"] != nil }

// readScript reads a script.
func readScript(text string) (*promqlScript, error) {
	s := &promqlScript{}
	var block []string
	lines := append(strings.Split(text, "\n"), "")
	for i, line := range lines {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			line = ""
		}
		if line != "" {
			block = append(block, line)
			// A clear stands alone, whatever follows.
			if line != "clear" && i+1 < len(lines) {
				continue
			}
		}
		if len(block) == 0 {
			continue
		}
		c, err := readCommand(block, i+1-len(block))
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", i+1-len(block), block[0], err)
		}
		s.commands, block = append(s.commands, c), nil
	}
	return s, nil
}

func readCommand(block []string, line int) (c scriptCommand, err error) {
	head, rest := block[0], block[1:]
	if head == "clear" {
		return c, nil
	}
	if m := scriptLoad.FindStringSubmatch(head); m != nil {
		c.load, err = readLoad(rest, milliseconds(m[2]), m[1] != "")
		return c, err
	}
	e := &scriptEval{line: line, want: map[string][]*regexp.Regexp{}}
	kind := ""
	if m := scriptInstant.FindStringSubmatch(head); m != nil {
		kind, e.at, e.expr = m[1], milliseconds(m[2]), m[3]
		e.start, e.end, e.step = e.at, e.at, 1
	} else if m := scriptRange.FindStringSubmatch(head); m != nil {
		kind, e.ranged, e.expr = m[1], true, m[5]
		e.start, e.end, e.step = milliseconds(m[2]), milliseconds(m[3]), milliseconds(m[4])
	} else {
		return c, fmt.Errorf("no command")
	}
	if kind != "" {
		e.want[kind] = []*regexp.Regexp{regexp.MustCompile("")}
	}
	c.eval = e
	for _, l := range rest {
		if err := e.expect(l); err != nil {
			return c, fmt.Errorf("%s: %w", l, err)
		}
	}
	return c, nil
}

// expect reads a line of what must come.
func (e *scriptEval) expect(line string) error {
	if m := scriptVector.FindStringSubmatch(line); m != nil {
		e.vector, e.start, e.end, e.step = true, milliseconds(m[1]), milliseconds(m[2]), milliseconds(m[3])
		e.at = e.end
		return nil
	}
	if m := scriptString.FindStringSubmatch(line); m != nil {
		s, err := strconv.Unquote(m[1])
		e.text = &s
		return err
	}
	if m := scriptExpect.FindStringSubmatch(line); m != nil {
		pattern := m[3]
		if m[2] == "msg" {
			pattern = "^" + regexp.QuoteMeta(strings.TrimSpace(pattern)) + "$"
		}
		x, err := regexp.Compile(pattern)
		e.want[m[1]] = append(e.want[m[1]], x)
		return err
	}
	if v, err := strconv.ParseFloat(line, 64); err == nil {
		e.scalar = &v
		return nil
	}
	s, err := readSamples(line, e.start, e.step, nil)
	e.samples = append(e.samples, s)
	return err
}

// readLoad reads series; a line of start times comes before the one of its samples.
func readLoad(lines []string, step int64, custom bool) (out []scriptSeries, err error) {
	var starts []*int64
	for _, line := range lines {
		if m := scriptStart.FindStringSubmatch(line); m != nil {
			if starts, err = readStarts(m[2]); err != nil {
				return nil, err
			}
			continue
		}
		s, err := readSamples(line, 0, step, starts)
		if err != nil {
			return nil, err
		}
		out, starts = append(out, s), nil
	}
	if custom {
		more, err := customHistograms(out)
		return append(out, more...), err
	}
	return out, nil
}

// readSamples reads a series in the notation of tests. starts[i], where there is one, is how far sample i's start is
// from it.
func readSamples(line string, at, step int64, starts []*int64) (s scriptSeries, err error) {
	ls, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(line)
	if err != nil {
		return s, err
	}
	s.labels = ls
	for i, v := range values {
		x := scriptSample{t: at + int64(i)*step, v: v.Value, h: v.Histogram, hinted: v.CounterResetHintSet}
		if i < len(starts) && starts[i] != nil {
			x.start = x.t + *starts[i]
		}
		if !v.Omitted {
			s.samples = append(s.samples, x)
		}
	}
	return s, nil
}

// readStarts reads distances of start times: _, -1m, -1mx3 and -30s-1mx3 are items, x3 repeats three times more.
func readStarts(text string) (out []*int64, err error) {
	for _, item := range strings.Fields(text) {
		m := scriptOffset.FindStringSubmatch(item)
		if m == nil {
			return nil, fmt.Errorf("%s is not a start time", item)
		}
		count := 0
		if m[2] != "" {
			if count, err = strconv.Atoi(m[2]); err != nil {
				return nil, err
			}
		}
		if m[1] == "_" {
			out = append(out, make([]*int64, max(count, 1))...)
			continue
		}
		base, step := m[1], int64(0)
		if at := strings.LastIndexAny(base, "+-"); at > 0 {
			base, step = base[:at], milliseconds(base[at:])
		}
		for i := range count + 1 {
			x := milliseconds(base) + int64(i)*step
			out = append(out, &x)
		}
	}
	return out, nil
}

// milliseconds reads a duration with a sign. What is none comes out as a time that no script means.
func milliseconds(text string) int64 {
	positive, negative := strings.CutPrefix(strings.TrimPrefix(text, "+"), "-")
	d, ok := promql.ParseDuration(positive)
	switch {
	case !ok:
		return math.MinInt64
	case negative:
		return -d.Milliseconds()
	}
	return d.Milliseconds()
}

// customHistograms makes a native histogram with custom bounds of each classic one.
func customHistograms(series []scriptSeries) (out []scriptSeries, err error) {
	type classic struct {
		labels labels.Labels
		at     map[int64]*convertnhcb.TempHistogram
	}
	found := map[string]*classic{}
	for _, s := range series {
		kind, name := convertnhcb.GetHistogramMetricBaseName(s.labels.Get("__name__"))
		if kind == convertnhcb.SuffixNone {
			continue
		}
		bound, err := strconv.ParseFloat(s.labels.Get(labels.BucketLabel), 64)
		if kind == convertnhcb.SuffixBucket && (err != nil || math.IsNaN(bound)) {
			continue
		}
		base := convertnhcb.GetHistogramMetricBase(s.labels, name)
		c := found[base.String()]
		if c == nil {
			c = &classic{base, map[int64]*convertnhcb.TempHistogram{}}
			found[base.String()] = c
		}
		for _, x := range s.samples {
			if c.at[x.t] == nil {
				h := convertnhcb.NewTempHistogram()
				c.at[x.t] = &h
			}
			switch kind { // what is wrong with a histogram comes to light when it is made
			case convertnhcb.SuffixBucket:
				_ = c.at[x.t].SetBucketCount(bound, x.v)
			case convertnhcb.SuffixCount:
				_ = c.at[x.t].SetCount(x.v)
			case convertnhcb.SuffixSum:
				_ = c.at[x.t].SetSum(x.v)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		c := found[key]
		s := scriptSeries{labels: c.labels}
		for _, t := range slices.Sorted(maps.Keys(c.at)) {
			whole, h, err := c.at[t].Convert()
			if err != nil {
				return nil, err
			}
			if h == nil {
				h = whole.ToFloat(nil)
			}
			s.samples = append(s.samples, scriptSample{t: t, h: h})
		}
		out = append(out, s)
	}
	return out, nil
}
