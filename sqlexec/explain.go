package sqlexec

import (
	"context"
	"fmt"
	"time"

	"varve/engine/scan"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// explain shows the plan of a query; with ANALYZE it runs the query and shows what it cost.
func (x *Executor) explain(ctx context.Context, s *Session, st *parse.Explain) (*Result, error) {
	sel, ok := st.Of.(*parse.SelectStmt)
	if !ok {
		return nil, status.New(status.Unsupported, "EXPLAIN is supported for queries, not for %s", firstWords(st.Of.Source()))
	}
	began := time.Now()
	ectx := x.context(s)
	n, err := plan.Bind(ctx, ectx, x.catalog(s), x.runner(s), s.Database(), sel.Query)
	if err != nil {
		return nil, err
	}
	logical := plan.Print(n)
	best := plan.Optimize(ectx, n)
	if st.Analyze {
		return x.analyze(ctx, s, st, best, time.Since(began))
	}
	t := newTable("plan_type", "plan")
	t.add("logical_plan", logical)
	t.add("physical_plan", plan.Print(best))
	return t.result()
}

// analyze runs an optimized plan to its end and shows it with the counts of its scans.
func (x *Executor) analyze(ctx context.Context, s *Session, st *parse.Explain, n plan.Node, planned time.Duration) (*Result, error) {
	text := plan.Print(n)
	p := x.physical(s)
	p.Stats = new(scan.Stats)
	began := time.Now()
	rows, err := plan.Run(ctx, p, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	total := 0
	var b vector.Batch
	for {
		ok, err := rows.Next(&b)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		total += b.N
	}
	took := time.Since(began)
	text += fmt.Sprintf("\nrows: %d, planning: %s, running: %s", total, planned.Round(time.Microsecond), took.Round(time.Microsecond))
	text += fmt.Sprintf("\nscan: runs=%d, blocks=%d, pruned=%d, read=%d, rows scanned=%d, rows out=%d",
		p.Stats.Runs.Load(), p.Stats.BlocksTotal.Load(), p.Stats.BlocksPruned.Load(), p.Stats.BlocksRead.Load(), p.Stats.RowsScanned.Load(), p.Stats.RowsOut.Load())
	if st.Verbose {
		text += fmt.Sprintf(", bytes read=%d", p.Stats.BytesRead.Load())
	}
	t := newTable("stage", "node", "plan").typed("stage", vector.Int64Type).typed("node", vector.Int64Type)
	t.add(0, 0, text)
	t.add(1, 0, fmt.Sprintf("Total rows: %d", total))
	return t.result()
}
