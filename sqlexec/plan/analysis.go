package plan

import (
	"fmt"
	"sync"
	"time"

	"varve/engine/scan"
	"varve/sqlexec/exec"
)

// Analysis holds the figures of the nodes of one plan, after it ran or while it runs. Safe for concurrent use. The nil
// Analysis records nothing.
type Analysis struct {
	mu      sync.Mutex // of the maps, not of what is counted: a plan may be asked about before it has run
	figures map[Node]*exec.Figures
	scans   map[*Scan]*scan.Stats
	graphs  map[Node]*Graph
}

// NewAnalysis is an empty analysis.
func NewAnalysis() *Analysis {
	return &Analysis{figures: map[Node]*exec.Figures{}, scans: map[*Scan]*scan.Stats{}, graphs: map[Node]*Graph{}}
}

// of returns the figures of a node.
func (a *Analysis) of(n Node) *exec.Figures {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.figures[n]
	if f == nil {
		f = new(exec.Figures)
		a.figures[n] = f
	}
	return f
}

// scan returns the figures of a scan; nil if none are taken.
func (a *Analysis) scan(n *Scan) *scan.Stats {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.scans[n] == nil {
		a.scans[n] = new(scan.Stats)
	}
	return a.scans[n]
}

// graph returns the graph of an optimized plan: the same one whenever it is asked for.
func (a *Analysis) graph(n Node) *Graph {
	if a == nil {
		return Compile(n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.graphs[n] == nil {
		a.graphs[n] = Compile(n)
	}
	return a.graphs[n]
}

// seen returns the figures of a node and of its scan; nil if none were taken.
func (a *Analysis) seen(n Node) (*exec.Figures, *scan.Stats) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, _ := n.(*Scan)
	return a.figures[n], a.scans[s]
}

// Figure is a number of a node under its name.
type Figure struct {
	Name  string
	Value any // int64, or time.Duration
}

// nodeFigures are the figures of a node that ran; nil otherwise. Times are those of all workers together.
func (a *Analysis) nodeFigures(n Node, verbose bool) []Figure {
	f, st := a.seen(n)
	if f == nil || !f.Began() {
		return nil
	}
	var list []Figure
	add := func(name string, value int64, always bool) {
		if always || value != 0 {
			list = append(list, Figure{name, value})
		}
	}
	add("rows", f.Out.Load(), true)
	add("rows_in", f.In.Load(), len(n.inputs()) > 0)
	add("rows_kept", f.Kept.Load(), false)
	list = append(list, Figure{"time", f.Busy()}, Figure{"elapsed", f.Wall()})
	add("memory_bytes", f.Memory.Load(), false)
	add("spilled_bytes", f.Spilled.Load(), false)
	add("spilled_files", f.Files.Load(), false)
	add("partitions", f.Partitions.Load(), false)
	if verbose {
		add("batches", f.OutBatches.Load(), true)
		add("batches_in", f.InBatches.Load(), false)
	}
	if st != nil {
		add("runs", st.Runs.Load(), true)
		add("blocks", st.BlocksTotal.Load(), true)
		add("pruned", st.BlocksPruned.Load(), true)
		add("pruned_by_time", st.PrunedByTime.Load(), false)
		add("pruned_by_postings", st.PrunedByPostings.Load(), false)
		add("pruned_by_zones", st.PrunedByZones.Load(), false)
		add("pruned_by_tokens", st.PrunedByTokens.Load(), false)
		add("pruned_by_series", st.PrunedBySeries.Load(), false)
		add("read", st.BlocksRead.Load(), true)
		add("rows_scanned", st.RowsScanned.Load(), true)
		add("bytes_read", st.BytesRead.Load(), true)
	}
	return list
}

// text is a figure as EXPLAIN shows it.
func (f Figure) text() string {
	if d, ok := f.Value.(time.Duration); ok {
		return f.Name + "=" + d.Round(time.Microsecond).String()
	}
	return fmt.Sprintf("%s=%d", f.Name, f.Value)
}

// Scanned adds up what all scans did.
func (a *Analysis) Scanned() *scan.Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := new(scan.Stats)
	for _, st := range a.scans {
		sum.Add(st)
	}
	return sum
}
