package logql

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/logql/stage"
	"varve/sqlexec/logql/syntax"
	"varve/sqlexec/promql"
)

// sampleName is the name of the function that makes samples, in statements.
const sampleName = "logql_sample"

// sampler is the private function that makes a sample of a row: eight bytes, which are its bucket or its value, and the
// labels of its series.
type sampler struct {
	pool     sync.Pool
	stats    *Stats
	frame    frame
	grouping *syntax.Grouping // nil: all labels
	without  []string         // labels that no series has
	streams  bool             // series have labels of streams only
	bucketed bool             // the bytes are a bucket
	lengths  bool             // the value is the length of the line
	unwrap   bool             // the value is that of the stage unwrap
}

// function is the private function over the rows of a source.
func (f *sampler) function(s *source, p *stage.Pipeline, also derived) *expr.Private {
	f.pool.New = func() any { return &sampleRows{f: f, w: newWorker(s, p, also)} }
	return expr.NewPrivate(sampleName, vector.BinaryType,
		func() expr.PrivateRows { return f.pool.Get().(*sampleRows) })
}

// sampleRows computes sampler over the rows of a batch.
type sampleRows struct {
	f      *sampler
	w      *worker
	lines  int64
	bytes  int64
	kept   int64
	labels []stage.Label
	out    []byte
}

// Begin takes the rows of a batch.
func (r *sampleRows) Begin(n int, args []*vector.Vector) error {
	r.lines, r.bytes, r.kept = int64(n), 0, 0
	return r.w.rows.begin(args)
}

// Row makes the sample of a row.
func (r *sampleRows) Row(i int) ([]byte, bool, error) {
	f, w := r.f, r.w
	if !w.run(i) {
		r.bytes += int64(len(w.rows.line))
		return nil, false, nil
	}
	r.bytes += int64(len(w.rows.line))
	e := w.e
	head := uint64(0)
	switch {
	case f.bucketed:
		bucket, ok := f.frame.bucketOf(w.rows.at)
		if !ok {
			return nil, false, nil
		}
		head = uint64(bucket)
	case !f.frame.covered(w.rows.at):
		return nil, false, nil
	case f.lengths:
		head = math.Float64bits(float64(len(e.Line)))
	case f.unwrap:
		head = math.Float64bits(e.Value)
	default:
		head = math.Float64bits(1)
	}
	if e.Err != "" && !e.KeepErr {
		return nil, false, pipelineError(e)
	}
	r.kept++
	r.out = binary.BigEndian.AppendUint64(r.out[:0], head)
	r.labels = f.choose(r.labels[:0], e)
	for k := range r.labels {
		r.out = binary.AppendUvarint(r.out, uint64(len(r.labels[k].Name)))
		r.out = append(r.out, r.labels[k].Name...)
		r.out = binary.AppendUvarint(r.out, uint64(len(r.labels[k].Value)))
		r.out = append(r.out, r.labels[k].Value...)
	}
	return r.out, true, nil
}

// End counts the rows and gives the worker back.
func (r *sampleRows) End() {
	r.f.stats.Lines.Add(r.lines)
	r.f.stats.Bytes.Add(r.bytes)
	r.f.stats.Kept.Add(r.kept)
	r.w.rows.cols = nil
	r.f.pool.Put(r)
}

// choose appends the labels of the series of an entry, sorted by name. An entry that is kept in spite of its error has
// all labels, that of the error included.
func (f *sampler) choose(dst []stage.Label, e *stage.Entry) []stage.Label {
	for i := range e.Labels {
		l := &e.Labels[i]
		if len(l.Value) > 0 && (l.Kind == stage.Stream || !f.streams) && (e.Err != "" || f.keeps(l.Name)) {
			dst = append(dst, *l)
		}
	}
	if e.Err != "" {
		dst = append(dst, stage.Label{Name: syntax.LabelError, Value: []byte(e.Err)})
	}
	for i := 1; i < len(dst); i++ { // few, and mostly in order
		for k := i; k > 0 && dst[k].Name < dst[k-1].Name; k-- {
			dst[k], dst[k-1] = dst[k-1], dst[k]
		}
	}
	return dst
}

// keeps reports whether series have a label.
func (f *sampler) keeps(name string) bool {
	g := f.grouping
	if g != nil && !g.Without {
		return slices.Contains(g.Names, name)
	}
	return !slices.Contains(f.without, name) && (g == nil || !slices.Contains(g.Names, name))
}

// pipelineError is the error of a query of numbers over a line that a stage failed on. It tells the labels of the line
// but TableLabel.
func pipelineError(e *stage.Entry) error {
	all := withError(labelsOf(e, func(stage.Kind) bool { return true }), e)
	all = slices.DeleteFunc(all, func(l Label) bool { return l.Name == TableLabel })
	return status.New(status.InvalidArguments, "pipeline error: '%s' for series: '%s'.\n"+
		"Use a label filter to intentionally skip this error. (e.g | __error__!=\"%s\").\n"+
		"To skip all potential errors you can match empty errors.(e.g __error__=\"\")\n"+
		"The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__=\"\" )\n",
		e.Err, all, e.Err)
}

// String is the set in the notation of the language.
func (l Labels) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range l {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(l[i].Name + "=" + quote(l[i].Value))
	}
	b.WriteByte('}')
	return b.String()
}

// seriesLabels reads the labels of a series as sampleRows wrote them.
func seriesLabels(key string) (promql.Labels, error) {
	var pairs []string
	for len(key) > 0 {
		n, k := binary.Uvarint([]byte(key[:min(len(key), binary.MaxVarintLen64)]))
		if k <= 0 || n > uint64(len(key)-k) {
			return nil, status.New(status.Internal, "the labels of a series are damaged")
		}
		pairs, key = append(pairs, key[k:k+int(n)]), key[k+int(n):]
	}
	return promql.NewLabels(pairs...), nil
}
