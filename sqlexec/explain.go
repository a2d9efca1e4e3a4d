package sqlexec

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// explain shows the plan of a query; with ANALYZE it runs the query and shows what it cost.
func (x *Executor) explain(ctx context.Context, s *Session, st *parse.Explain) (*Result, error) {
	sel, ok := st.Of.(*parse.SelectStmt)
	if !ok {
		return nil, status.New(status.Unsupported, "EXPLAIN is supported for queries, not for %s",
			firstWords(st.Of.Source()))
	}
	if f := st.Format; f != "" && !strings.EqualFold(f, "json") && !strings.EqualFold(f, "text") {
		return nil, status.New(status.InvalidArguments, "EXPLAIN has the formats TEXT and JSON, not %s", f)
	}
	ectx := x.context(s)
	stmt := x.statement(s, ectx)
	if st.Analyze {
		return x.analyze(ctx, s, st, stmt, sel.Query)
	}
	n, err := stmt.Sketch(ctx, sel.Query)
	if err != nil {
		return nil, err
	}
	best := stmt.Shown(plan.Optimize(ectx, n, x.without), true)
	n = stmt.Shown(n, false)
	t := newTable("plan_type", "plan")
	if strings.EqualFold(st.Format, "json") {
		for _, p := range []struct {
			name string
			tree plan.Tree
		}{{"logical_plan", plan.NewTree(n)}, {"physical_plan", (*plan.Analysis)(nil).GraphTree(best, st.Verbose)}} {
			text, err := json.Marshal(p.tree)
			if err != nil {
				return nil, err
			}
			t.add(p.name, string(text))
		}
		return t.result()
	}
	t.add("logical_plan", plan.Print(n))
	t.add("physical_plan", plan.PrintGraph(best))
	for _, w := range ectx.Warnings() {
		t.add("warning", w)
	}
	return t.result()
}

// Measured are the figures of a query that EXPLAIN ANALYZE runs: those of its end, or those so far.
type Measured struct {
	Plan       plan.Tree `json:"plan"`
	Rows       int64     `json:"rows"`
	PlanningNS int64     `json:"planning_ns"`
	RunningNS  int64     `json:"running_ns"`
}

// analysis is the run of an optimized plan by EXPLAIN ANALYZE.
type analysis struct {
	*plan.Analysis
	plan    plan.Node
	verbose bool
	planned time.Duration
	began   time.Time
	took    atomic.Int64 // ns; 0: it runs
	rows    atomic.Int64
}

// measured returns the figures so far. It may be called while the query runs.
func (a *analysis) measured() Measured {
	running := a.took.Load()
	if running == 0 {
		running = int64(time.Since(a.began))
	}
	return Measured{a.GraphTree(a.plan, a.verbose), a.rows.Load(), int64(a.planned), running}
}

// analyze runs a query to its end, its subqueries first, and shows the plans with the counts of their scans.
func (x *Executor) analyze(ctx context.Context, s *Session, st *parse.Explain, stmt *plan.Statement,
	q *parse.Query) (*Result, error) {
	p := x.physical(s)
	p.Analysis = plan.NewAnalysis()
	run, answering := x.runner(s, p.Analysis), time.Duration(0)
	stmt.Run = func(ctx context.Context, n plan.Node, most int) (*vector.Batch, error) {
		began := time.Now()
		defer func() { answering += time.Since(began) }()
		return run(ctx, n, most)
	}
	began := time.Now()
	n, err := stmt.Complete(ctx, q)
	if err != nil {
		return nil, err
	}
	n = plan.Optimize(stmt.Context, n, x.without)
	a := &analysis{Analysis: p.Analysis, plan: stmt.Shown(n, true), verbose: st.Verbose,
		planned: time.Since(began) - answering, began: time.Now().Add(-answering)}
	if s.Analyzing != nil {
		s.Analyzing(a.measured)
	}
	err = drain(ctx, p, n, &a.rows)
	took, total := time.Since(a.began), a.rows.Load()
	a.took.Store(int64(took))
	if err != nil {
		return nil, err
	}
	t, text := analyzeTable(), ""
	if strings.EqualFold(st.Format, "json") {
		tree, err := json.Marshal(a.measured())
		if err != nil {
			return nil, err
		}
		text = string(tree)
	} else {
		text = a.text(took)
	}
	t.add(0, 0, text)
	t.add(1, 0, fmt.Sprintf("Total rows: %d", total))
	return t.result()
}

// analyzeTable is the answer of EXPLAIN ANALYZE without its rows.
func analyzeTable() *table {
	return newTable("stage", "node", "plan").typed("stage", vector.Int64Type).typed("node", vector.Int64Type)
}

// text draws the plan with the figures of each node and of the whole query.
func (a *analysis) text(took time.Duration) string {
	text := a.PrintGraph(a.plan, a.verbose)
	sum := a.Scanned()
	text += fmt.Sprintf("\nrows: %d, planning: %s, running: %s", a.rows.Load(), a.planned.Round(time.Microsecond),
		took.Round(time.Microsecond))
	text += fmt.Sprintf("\nscan: runs=%d, blocks=%d, pruned=%d, read=%d, rows scanned=%d, rows out=%d",
		sum.Runs.Load(), sum.BlocksTotal.Load(), sum.BlocksPruned.Load(), sum.BlocksRead.Load(), sum.RowsScanned.Load(),
		sum.RowsOut.Load())
	if a.verbose {
		text += fmt.Sprintf(", bytes read=%d", sum.BytesRead.Load())
	}
	return text +
		"\ntime is what all workers together spent in a node, those below it excluded; elapsed is from its first row " +
		"to its last"
}

// drain runs a plan to its end and counts its rows.
func drain(ctx context.Context, p plan.Physical, n plan.Node, count *atomic.Int64) error {
	rows, err := plan.Run(ctx, p, n)
	if err != nil {
		return err
	}
	defer rows.Close()
	for b := (vector.Batch{}); ; count.Add(int64(b.N)) {
		if ok, err := rows.Next(&b); err != nil || !ok {
			return err
		}
	}
}
