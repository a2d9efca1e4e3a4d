package plan

import (
	"context"
	"net/netip"
	"slices"

	"varve/engine"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// Physical is what running a plan needs.
type Physical struct {
	Engine  *engine.Engine
	Context *expr.Context
	Workers int            // goroutines of one pipeline; 0: one for each processor
	Memory  *exec.Pool     // what queries may keep; nil: exec's default
	Client  netip.Addr     // the network of the client, which shares turns; the zero Addr: no network
	Spill   *spill.Disk    // where rows go that do not fit; nil: nowhere
	Moment  *engine.Moment // what scans see; nil: what is there
	// Analysis, if not nil, takes down what each node does.
	Analysis *Analysis
}

// Run starts an optimized plan: every pipeline but that of the answer runs now, the answer as its rows are read. The
// caller closes the reader.
func Run(ctx context.Context, p Physical, n Node) (exec.Reader, error) {
	if p.Memory == nil {
		p.Memory = exec.NewPool(0)
	}
	g := p.Analysis.graph(n)
	r := &graphRun{ctx: ctx, p: p, g: g, budget: p.Memory.Budget(ctx), made: make([]made, len(g.Pipelines)),
		workers: exec.Workers(p.Workers)}
	r.budget.For(p.Client)
	if p.Spill != nil {
		r.budget.SpillTo(p.Spill.Space())
	}
	begun := false
	defer func() { // a panic, too, gives back what was taken
		if !begun {
			r.close()
		}
	}()
	answer, err := r.run()
	begun = err == nil
	return answer, err
}

// graphRun runs a graph once and holds its scans open until the end.
type graphRun struct {
	ctx     context.Context
	p       Physical
	g       *Graph
	workers int
	budget  *exec.Budget
	scans   []*engine.Scan
	made    []made            // by pipeline
	wanted  map[*Scan]*wanted // what sinks know, or will know, of the rows of a scan
}

// made is what the sink of a pipeline has made. Who reads it takes it, so that it goes when that is done.
type made struct {
	rows     exec.Source
	join     *exec.Join // of a build side
	partners bool       // it has rows that can be partners
}

func (r *graphRun) close() {
	for _, s := range r.scans {
		s.Close()
	}
	r.scans = nil
	r.budget.Close()
}

// run runs the pipelines in their order, each when all that it waits for have ended, and begins the answer. A feed runs
// with the pipeline that reads it.
func (r *graphRun) run() (exec.Reader, error) {
	last := len(r.g.Pipelines) - 1
	for i := range last {
		if r.g.Pipelines[i].Sink.Kind == Feed || r.needless(&r.g.Pipelines[i]) {
			continue
		}
		if err := r.toEnd(i); err != nil {
			return nil, err
		}
	}
	s, err := r.stream(last)
	if err != nil {
		return nil, err
	}
	return exec.Pull(r.ctx, s, r.close), nil
}

// needless reports whether no row of a pipeline is wanted: it is below a probe that finds no partners.
func (r *graphRun) needless(p *Pipeline) bool { return slices.ContainsFunc(p.Unless, r.partnerless) }

// partnerless reports whether a build side has no row that can be a partner. One that is needless did not run.
func (r *graphRun) partnerless(build int) bool { return !r.made[build].partners }

// toEnd runs a pipeline to its end and keeps what its sink has made.
func (r *graphRun) toEnd(i int) error {
	p, to := &r.g.Pipelines[i], &r.made[i]
	sink, err := r.sink(&p.Sink, to)
	if err != nil {
		return err
	}
	s, err := r.stream(i)
	if err != nil {
		return err
	}
	if p.Sink.Statistics {
		b, ok, err := p.Sink.Node.(*Aggregate).fromStats(r.scans[len(r.scans)-1])
		if err != nil {
			return err
		}
		if ok {
			to.rows = exec.Values(b)
			return nil
		}
	}
	if f := r.figures(p.Sink.For); f != nil {
		sink = exec.MeasureSink(sink, f, r.budget, p.Sink.Kind == BuildJoin)
	}
	if to.rows, err = (&exec.Pipeline{Stream: s, Sink: sink}).Run(r.ctx, r.workers); err != nil {
		return err
	}
	if to.join != nil && !to.join.Empty() {
		to.partners = true
		r.boundProbe(to.join, p.Sink.Bounds)
	}
	return nil
}
