package promql

import (
	"context"
	"slices"

	"varve/engine/jsontext"
	"varve/sqlexec/exec"
	"varve/sqlexec/promql/histogram"
)

// Answer makes the text of a result as the metrics API writes it, a piece at a time: it takes many times the memory of
// the result, and a client may read slowly.
type Answer struct {
	r     *Result
	stats bool
	times [][]byte // the steps, with the bracket before and the comma behind, once for all rows
	next  int      // series
	names int      // about the length of the longest text of labels
	begun bool
}

const (
	// pieceBytes is about what a piece of an answer has.
	pieceBytes = 1 << 20
	// pointBytes is the size of the text of a time, a long number and the characters around them; bucketBytes that of a
	// bucket.
	pointBytes  = 36
	bucketBytes = 80
	// parallelBytes is from how much text on it is made by several goroutines.
	parallelBytes = 20_000 * pointBytes
)

// Answer returns the text of the result, with statistics if requested. A series whose text is longer than a piece takes
// memory. Its error is the error of the context or of memory.
func (r *Result) Answer(ctx context.Context, stats bool) (*Answer, error) {
	a := &Answer{r: r, stats: stats}
	longest := 0
	for i := range r.Len() {
		if i%askSeries == 0 && ctx.Err() != nil {
			return nil, asStatus(ctx.Err())
		}
		names := 0
		for _, l := range r.Labels(i) {
			names += len(l.Name) + len(l.Value) + 8
		}
		a.names, longest = max(a.names, names), max(longest, names+r.pointsBytes(i))
	}
	if longest > pieceBytes {
		if err := r.limits.reserve(2 * int64(longest)); err != nil { // the text grows by doubling
			return nil, err
		}
	}
	if r.Type == Matrix && len(r.rows) > 0 {
		a.times = make([][]byte, r.grid.n)
		for i := range a.times {
			a.times[i] = append(AppendTime([]byte{'['}, r.grid.at(i)), ',')
		}
	}
	return a, nil
}

// pointsBytes is about the length of the text of a series without its labels.
func (r *Result) pointsBytes(i int) (n int) {
	hist := []*histogram.Histogram(nil)
	if i < len(r.rows) {
		n += r.rows[i].has.count() * pointBytes
		hist = r.rows[i].histograms()
	} else {
		s := &r.samples[i-len(r.rows)]
		n += len(s.T) * pointBytes
		hist = s.H
	}
	for _, h := range hist {
		if h != nil {
			n += (2 + len(h.Positive) + len(h.Negative)) * bucketBytes
		}
	}
	return n
}

// Append appends the next piece; more tells that another follows.
func (a *Answer) Append(dst []byte) (out []byte, more bool) {
	r := a.r
	if !a.begun {
		a.begun = true
		dst = append(dst, `{"status":"success","data":{"resultType":"`...)
		dst = append(append(dst, r.Type...), `","result":`...)
		switch r.Type {
		case String:
			dst = append(AppendTime(append(dst, '['), r.grid.start), ',')
			dst = jsontext.AppendString(dst, r.text)
		case Scalar:
			dst = append(AppendTime(append(dst, '['), r.grid.start), ',')
			dst = histogram.AppendNumber(dst, r.rows[0].vals[0])
		default:
			dst = append(dst, '[')
		}
	}
	if r.Type == Vector || r.Type == Matrix {
		if dst = a.appendSeries(dst); a.next < r.Len() {
			return dst, true
		}
	}
	dst = append(dst, ']')
	if a.stats {
		dst = r.appendStats(dst)
	}
	dst = appendTexts(append(dst, '}'), `,"warnings":`, r.Warnings)
	dst = appendTexts(dst, `,"infos":`, r.Infos)
	return append(dst, '}'), false
}

// appendSeries appends as many series as make a piece.
func (a *Answer) appendSeries(dst []byte) []byte {
	from, size := a.next, 0
	for a.next < a.r.Len() && (a.next == from || size < pieceBytes) {
		size += a.names + a.r.pointsBytes(a.next)
		a.next++
	}
	dst = slices.Grow(dst, size)
	count := a.next - from
	parts := min(a.r.workers, count)
	if size < parallelBytes || parts < 2 {
		return a.appendRange(dst, from, a.next)
	}
	texts := make([][]byte, parts)
	err := exec.Spread(context.Background(), parts, parts, func(k int) error {
		texts[k] = a.appendRange(make([]byte, 0, size/parts), from+count*k/parts, from+count*(k+1)/parts)
		return nil
	})
	if err != nil {
		panic(err) // what panicked there panics here, where the request ends with it
	}
	for _, t := range texts {
		dst = append(dst, t...)
	}
	return dst
}

// appendRange appends series with what separates them from those before.
func (a *Answer) appendRange(dst []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendLabels(append(dst, `{"metric":`...), a.r.Labels(i)), ',')
		switch {
		case i >= len(a.r.rows):
			dst = a.r.samples[i-len(a.r.rows)].appendPoints(dst)
		case a.r.Type == Vector:
			dst = a.r.rows[i].appendValue(dst, a.r.grid.start)
		default:
			row := &a.r.rows[i]
			dst = appendPoints(dst, row.has.steps,
				func(dst []byte, step int) []byte { return append(dst, a.times[step]...) }, row.vals, row.histograms())
		}
	}
	return dst
}

// appendValue writes the one value of a row and the closing brace.
func (r *row) appendValue(dst []byte, at int64) []byte {
	if h := r.histogram(0); h != nil {
		dst = h.AppendJSON(append(AppendTime(append(dst, `"histogram":[`...), at), ','))
	} else {
		dst = histogram.AppendNumber(append(AppendTime(append(dst, `"value":[`...), at), ','), r.vals[0])
	}
	return append(dst, `]}`...)
}

// appendPoints writes the raw samples of a series and the closing brace.
func (s *rawSeries) appendPoints(dst []byte) []byte {
	all := func(yield func(int) bool) {
		for k := range s.T {
			if !yield(k) {
				return
			}
		}
	}
	return appendPoints(dst, all, func(dst []byte, k int) []byte {
		return append(AppendTime(append(dst, '['), s.T[k]), ',')
	}, s.V, s.H)
}
