package promql

import (
	"math"
	"strconv"
	"time"

	"varve/engine/jsontext"
	"varve/sqlexec/promql/histogram"
)

// Type is the kind of an answer.
type Type string

// The kinds.
const (
	Vector Type = "vector"
	Matrix Type = "matrix"
	Scalar Type = "scalar"
	String Type = "string"
)

// Result is the answer of a query.
type Result struct {
	Type Type
	// Warnings and Infos are what the client should know, with positions in the query.
	Warnings, Infos []string

	grid    grid
	rows    nodeMatrix
	stored  bool        // rows are series of the storage: no two have the same labels
	samples []rawSeries // of a range selector
	text    string
	workers int

	limits                             *queryLimits
	prepared, evaluated, sorted, total time.Duration
}

// Len is the number of series.
func (r *Result) Len() int { return len(r.rows) + len(r.samples) }

// Labels is the label set of a series.
func (r *Result) Labels(i int) Labels {
	if i < len(r.rows) {
		return r.rows[i].labels()
	}
	return r.samples[i-len(r.rows)].labels
}

// Samples yields the points of a series: the time in ms, and a float unless there is a histogram.
func (r *Result) Samples(i int) func(yield func(t int64, p Point) bool) {
	return func(yield func(int64, Point) bool) {
		if i >= len(r.rows) {
			s := &r.samples[i-len(r.rows)]
			for k, t := range s.T {
				p := Point{V: s.V[k]}
				if s.H != nil {
					p.H = s.H[k]
				}
				if !yield(t, p) {
					return
				}
			}
			return
		}
		row := &r.rows[i]
		for step := range row.has.steps {
			if !yield(r.grid.at(step), Point{V: row.vals[step], H: row.histogram(step)}) {
				return
			}
		}
	}
}

// Point is a value: a histogram or, without one, a float.
type Point struct {
	V float64
	H *histogram.Histogram
}

// samplesRead is how many samples the storage gave.
func (r *Result) samplesRead() int64 { return r.limits.read.Load() }

// peakSamples is how many samples were held at a time.
func (r *Result) peakSamples() int64 { return r.limits.peak.Load() }

func appendTexts(dst []byte, member string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	dst = append(dst, member...)
	sep := byte('[')
	for _, s := range texts {
		dst = append(dst, sep)
		dst = jsontext.AppendString(dst, s)
		sep = ','
	}
	return append(dst, ']')
}

// appendPoints writes the members values and histograms of a series and its closing brace.
func appendPoints(dst []byte, at func(func(int) bool), time func([]byte, int) []byte, vals []float64,
	hist []*histogram.Histogram) []byte {
	start := len(dst)
	dst = append(dst, `"values":`...)
	sep := byte('[')
	mixed := false
	var last uint64  // bits of the value before
	from, to := 0, 0 // its text
	for i := range at {
		if hist != nil && hist[i] != nil {
			mixed = true
			continue
		}
		dst = time(append(dst, sep), i)
		if bits := math.Float64bits(vals[i]); bits == last && to > 0 { // gauges often stay
			at := len(dst)
			dst = append(dst, dst[from:to]...)
			from, to = at, len(dst)
		} else {
			from = len(dst)
			dst = histogram.AppendNumber(dst, vals[i])
			last, to = bits, len(dst)
		}
		dst = append(dst, ']')
		sep = ','
	}
	switch {
	case sep == ',':
		dst = append(dst, ']')
	case mixed: // histograms only
		dst = dst[:start]
	default:
		dst = append(dst, '[', ']')
	}
	if mixed {
		if sep == ',' {
			dst = append(dst, ',')
		}
		dst = append(dst, `"histograms":`...)
		sep = '['
		for i := range at {
			if hist[i] == nil {
				continue
			}
			dst = time(append(dst, sep), i)
			dst = append(hist[i].AppendJSON(dst), ']')
			sep = ','
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func (r *Result) appendStats(dst []byte) []byte {
	seconds := func(name string, d time.Duration) {
		dst = append(dst, '"')
		dst = append(dst, name...)
		dst = append(dst, `":`...)
		dst = strconv.AppendFloat(dst, d.Seconds(), 'f', 9, 64)
	}
	dst = append(dst, `,"stats":{"timings":{`...)
	seconds("evalTotalTime", r.prepared+r.evaluated+r.sorted)
	dst = append(dst, ',')
	seconds("resultSortTime", r.sorted)
	dst = append(dst, ',')
	seconds("queryPreparationTime", r.prepared)
	dst = append(dst, ',')
	seconds("innerEvalTime", r.evaluated)
	dst = append(dst, ',')
	seconds("execQueueTime", 0)
	dst = append(dst, ',')
	seconds("execTotalTime", r.total)
	dst = append(dst, `},"samples":{"totalQueryableSamples":`...)
	dst = strconv.AppendInt(dst, r.samplesRead(), 10)
	dst = append(dst, `,"samplesRead":`...)
	dst = strconv.AppendInt(dst, r.samplesRead(), 10)
	dst = append(dst, `,"peakSamples":`...)
	dst = strconv.AppendInt(dst, r.peakSamples(), 10)
	return append(dst, `}}`...)
}

// AppendTime appends a time in seconds: whole, or with exactly three decimals.
func AppendTime(dst []byte, ms int64) []byte {
	if ms < 0 {
		dst, ms = append(dst, '-'), -ms
	}
	dst = strconv.AppendInt(dst, ms/1000, 10)
	if f := ms % 1000; f != 0 {
		dst = append(dst, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
	}
	return dst
}

// AppendLabels appends a label set as an object.
func AppendLabels(dst []byte, ls Labels) []byte {
	sep := byte('{')
	for _, l := range ls {
		dst = jsontext.AppendString(append(dst, sep), l.Name)
		dst = jsontext.AppendString(append(dst, ':'), l.Value)
		sep = ','
	}
	if sep == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}
