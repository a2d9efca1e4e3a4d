package sqlexec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
	"varve/sqlexec/promql"
)

// tql runs a statement of the language of metrics.
func (x *Executor) tql(ctx context.Context, s *Session, st *parse.TQL) (*Result, error) {
	switch st.Kind {
	case "explain":
		return x.explainTQL(ctx, s, st)
	case "analyze":
		return x.analyzeTQL(ctx, s, st)
	}
	fields, b, err := x.evaluate(ctx, s, st)
	if err != nil {
		return nil, err
	}
	return rowsResult(fields, b), nil
}

// explainTQL shows an expression as it was understood, and its plan.
func (x *Executor) explainTQL(ctx context.Context, s *Session, st *parse.TQL) (*Result, error) {
	text, plan, err := x.planTQL(ctx, s, st)
	if err != nil {
		return nil, err
	}
	t := newTable("plan_type", "plan")
	t.add("logical_plan", text)
	t.add("physical_plan", plan)
	return t.result()
}

// planTQL is an expression as it was understood, and its plan as text.
func (x *Executor) planTQL(ctx context.Context, s *Session, st *parse.TQL) (text, plan string, err error) {
	if text, err = promql.Format(st.Expr); err != nil {
		return "", "", st.Within(err)
	}
	q := promql.Query{Expr: st.Expr}
	if err := x.grid(ctx, s, st, &q); err != nil {
		return "", "", err
	}
	p, err := q.Compile()
	if err != nil {
		return "", "", st.Within(err)
	}
	return text, strings.Join(p.Lines(), "\n"), nil
}

// analyzeTQL runs an expression and reports its plan and its cost.
func (x *Executor) analyzeTQL(ctx context.Context, s *Session, st *parse.TQL) (*Result, error) {
	_, plan, err := x.planTQL(ctx, s, st)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	_, b, err := x.evaluate(ctx, s, st)
	if err != nil {
		return nil, err
	}
	t := newTable("stage", "node", "plan").typed("stage", vector.Int64Type).typed("node", vector.Int64Type)
	t.add(0, 0, plan)
	t.add(1, 0, fmt.Sprintf("Total rows: %d, running time: %v", b.N, time.Since(began).Round(time.Microsecond)))
	return t.result()
}

// TQL is a common table expression in the language of metrics.
func (c *storeCatalog) TQL(ctx context.Context, st *parse.TQL) ([]vector.Field, *vector.Batch, error) {
	if st.Kind != "eval" {
		return nil, nil, status.New(status.InvalidSyntax,
			"Invalid SQL syntax: a common table expression is TQL EVAL, not TQL %s", strings.ToUpper(st.Kind))
	}
	return c.x.evaluate(ctx, c.sess, st)
}

// evaluate returns the value of an expression at every step as rows.
func (x *Executor) evaluate(ctx context.Context, s *Session, st *parse.TQL) ([]vector.Field, *vector.Batch, error) {
	store := &promql.Tables{Engine: x.e, DB: s.database()}
	if s.memory != nil {
		store.Memory = s.memory
	}
	q := promql.Query{Expr: st.Expr}
	if err := x.grid(ctx, s, st, &q); err != nil {
		return nil, nil, err
	}
	s.observed.evaluatedAt(st, &q)
	var fields []vector.Field
	var rows *vector.Batch
	var tableErr error
	err := x.o.Metrics.Evaluate(ctx, q, store, func(r *promql.Result) error {
		fields, rows, tableErr = statementTable(ctx, s, st, store, r)
		return nil
	})
	if err != nil {
		return nil, nil, st.Within(err)
	}
	return fields, rows, tableErr
}

// statementTable is the result of a statement as rows.
func statementTable(ctx context.Context, s *Session, st *parse.TQL, store *promql.Tables,
	r *promql.Result) ([]vector.Field, *vector.Batch, error) {
	source, err := store.Source(st.Expr)
	if err != nil {
		return nil, nil, err
	}
	if st.Alias != "" {
		source.Value = st.Alias
	}
	return tabled(ctx, s.memory, r, source)
}

// grid reads start, end, step and lookback. A statement without a grid means the value at the epoch.
func (x *Executor) grid(ctx context.Context, s *Session, st *parse.TQL, q *promql.Query) (err error) {
	if st.Start == nil {
		q.Step = promql.DefaultLookback.Milliseconds()
		return nil
	}
	if q.Start, err = x.gridTime(ctx, s, st.Start); err != nil {
		return err
	}
	if q.End, err = x.gridTime(ctx, s, st.End); err != nil {
		return err
	}
	step, err := x.gridDuration(ctx, s, st.Step)
	if err != nil {
		return err
	}
	if q.Step = step.Milliseconds(); q.Step <= 0 {
		return status.New(status.InvalidArguments, "step %s of TQL is not positive", parse.PrintExpr(st.Step))
	}
	if st.Lookback != nil {
		q.Lookback, err = x.gridDuration(ctx, s, st.Lookback)
	}
	return err
}

// gridValue evaluates a value of the grid, which refers to no column.
func (x *Executor) gridValue(ctx context.Context, s *Session, e parse.Expr) (*vector.Vector, error) {
	bound, err := x.statement(s, x.context(s)).Scalar(ctx, e)
	if err != nil {
		return nil, err
	}
	if bound, err = expr.Constant(bound); err != nil {
		return nil, err
	}
	k, ok := bound.(*expr.Const)
	if !ok || k.Value.IsNull(0) {
		return nil, status.New(status.InvalidSyntax, "Invalid SQL syntax: %s is not a constant", parse.PrintExpr(e))
	}
	return k.Value, nil
}

// gridTime is a time, ms: seconds since the epoch, RFC 3339, or a time of SQL.
func (x *Executor) gridTime(ctx context.Context, s *Session, e parse.Expr) (int64, error) {
	v, err := x.gridValue(ctx, s, e)
	if err != nil {
		return 0, err
	}
	text := string(expr.AppendText(nil, v, 0))
	if !v.Type.IsTimestamp() && v.Type.ID != vector.TypeDate {
		return promql.ParseTime(text)
	}
	ms, ok := convert.Time(v.Int(0), v.Type, vector.Timestamp(3))
	if !ok || ms < promql.FirstTime || ms > promql.LastTime {
		return 0, status.New(status.InvalidArguments, "the time %q of TQL is not between the years 1677 and 2262", text)
	}
	return ms, nil
}

// gridDuration is a duration: seconds, 1h30m, or an interval.
func (x *Executor) gridDuration(ctx context.Context, s *Session, e parse.Expr) (time.Duration, error) {
	v, err := x.gridValue(ctx, s, e)
	if err != nil {
		return 0, err
	}
	if v.Type == vector.Interval && !v.IsNull(0) {
		ns, ok := convert.IntervalLength(v.Bytes(0))
		if !ok {
			return 0, status.New(status.InvalidArguments,
				"a duration of TQL is less than 292 years; years and months have no fixed length")
		}
		return time.Duration(ns), nil
	}
	text := string(expr.AppendText(nil, v, 0))
	d, ok := promql.ParseDuration(text)
	if !ok {
		return 0, status.New(status.InvalidArguments, "duration %q of TQL is neither seconds nor of the form 1h30m",
			text)
	}
	return d, nil
}

// tabled is an answer as a table: the time, the labels, the value. Histograms, where there are any, come as JSON in a
// column of their own. What the table takes is taken from memory before it is made.
func tabled(ctx context.Context, memory *exec.Budget, r *promql.Result, source promql.Source) ([]vector.Field,
	*vector.Batch, error) {
	names := labelNames(r)
	all := 0
	for i := range r.Len() {
		for range r.Samples(i) {
			all++
		}
	}
	if err := memory.Reserve(int64(all) * int64(8+8+4*len(names))); err != nil {
		return nil, nil, err
	}
	times := &vector.Vector{Type: vector.Timestamp(3), Ints: make([]int64, 0, all)}
	values := &vector.Vector{Type: vector.FloatType, Floats: make([]float64, 0, all)}
	labels := make([]dictionary, len(names))
	for k := range labels {
		labels[k] = dictionary{memory: memory, codes: make([]uint32, 0, all)}
	}
	var histograms []string
	for i := range r.Len() {
		if i%askSeries == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		rows := 0
		for t, p := range r.Samples(i) {
			times.Ints, values.Floats = append(times.Ints, t), append(values.Floats, p.V)
			if p.H != nil || histograms != nil {
				histograms = append(histograms, make([]string, len(times.Ints)-len(histograms))...)
				if p.H != nil {
					text := string(p.H.AppendJSON(nil))
					if err := memory.Reserve(int64(len(text)) + histogramBytes); err != nil {
						return nil, nil, err
					}
					histograms[len(histograms)-1] = text
				}
			}
			rows++
		}
		ls := r.Labels(i)
		for k, name := range names {
			if err := labels[k].add(ls.Get(name), rows); err != nil {
				return nil, nil, err
			}
		}
	}
	b := &vector.Batch{N: len(times.Ints), Cols: []*vector.Vector{times}}
	fields := []vector.Field{{Name: source.Time, Type: times.Type}}
	for k, name := range names {
		fields, b.Cols = append(fields, vector.Field{Name: name, Type: vector.StringType}),
			append(b.Cols, labels[k].vector())
	}
	fields, b.Cols = append(fields, vector.Field{Name: source.Value, Type: values.Type}), append(b.Cols, values)
	if histograms != nil {
		texts, err := histogramColumn(memory, values, histograms)
		if err != nil {
			return nil, nil, err
		}
		fields, b.Cols = append(fields, vector.Field{Name: "histogram", Type: vector.StringType}), append(b.Cols, texts)
	}
	return fields, b, nil
}

// histogramColumn makes a column of the texts of histograms; rows beyond them have none. Values of rows with one become
// NULL.
func histogramColumn(memory *exec.Budget, values *vector.Vector, histograms []string) (*vector.Vector, error) {
	d, rows := dictionary{memory: memory}, len(values.Floats)
	values.Valid = vector.MakeBitmap(rows)
	values.Valid.Fill(rows)
	for i := range rows {
		text := ""
		if i < len(histograms) {
			text = histograms[i]
		}
		if err := d.add(text, 1); err != nil {
			return nil, err
		}
		if text != "" {
			values.Valid.Clear(i)
		}
	}
	return d.vector(), nil
}

// histogramBytes is the memory of a histogram's row without its text, textBytes the memory of each text of a dictionary
// without its bytes.
const (
	histogramBytes = 16 + 4
	textBytes      = 64
)

// askSeries is the number of series of an answer after which the context is checked.
const askSeries = 1024

// labelNames are the labels of an answer, sorted.
func labelNames(r *promql.Result) []string {
	seen := map[string]bool{promql.NameLabel: true}
	var names []string
	for i := range r.Len() {
		for _, l := range r.Labels(i) {
			if !seen[l.Name] {
				seen[l.Name] = true
				names = append(names, l.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// dictionary creates a column of texts in which many rows have the same text; the empty text is NULL.
type dictionary struct {
	values vector.Vector
	codes  []uint32
	byText map[string]uint32
	nulls  bool
	memory *exec.Budget // of the texts; codes are counted by their owner
}

// add adds so many rows of a text.
func (d *dictionary) add(text string, rows int) error {
	code, ok := d.byText[text]
	if !ok {
		if err := d.memory.Reserve(int64(len(text)) + textBytes); err != nil {
			return err
		}
		if d.byText == nil {
			d.byText = map[string]uint32{}
		}
		code = uint32(len(d.byText))
		d.byText[text] = code
		d.values.Views = append(d.values.Views, vector.View{Off: uint32(len(d.values.Heap)), Len: uint32(len(text))})
		d.values.Heap = append(d.values.Heap, text...)
	}
	d.nulls = d.nulls || text == ""
	for range rows {
		d.codes = append(d.codes, code)
	}
	return nil
}

func (d *dictionary) vector() *vector.Vector {
	d.values.Type = vector.StringType
	v := &vector.Vector{Type: vector.StringType, Form: vector.Dict, Values: &d.values, Codes: d.codes}
	if d.nulls {
		none := d.byText[""]
		v.Valid = vector.MakeBitmap(len(d.codes))
		for i, c := range d.codes {
			if c != none {
				v.Valid.Set(i)
			}
		}
	}
	return v
}
