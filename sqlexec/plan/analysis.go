package plan

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"varve/engine/scan"
	"varve/sqlexec/exec"
)

// Analysis holds the figures of the nodes of one plan, after it ran or while it runs. Safe for concurrent use. The nil
// Analysis records nothing.
type Analysis struct {
	mu      sync.Mutex // of the maps, not of what is counted: parts of a plan run while others are built
	figures map[Node]*exec.Figures
	scans   map[*Scan]*scan.Stats
	inputs  map[Node]Node // the node that was put below another when the plan was built
}

// NewAnalysis is an empty analysis.
func NewAnalysis() *Analysis {
	return &Analysis{figures: map[Node]*exec.Figures{}, scans: map[*Scan]*scan.Stats{}, inputs: map[Node]Node{}}
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

// insert notes that a node reads another one than the plan says.
func (a *Analysis) insert(n, in Node) {
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.inputs[n] = in
	}
}

// seen returns the figures of a node and of its scan; nil if none were taken.
func (a *Analysis) seen(n Node) (*exec.Figures, *scan.Stats) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, _ := n.(*Scan)
	return a.figures[n], a.scans[s]
}

// measured measures what a node has added to a stream: its operators, else its source.
func (a *Analysis) measured(n Node, s exec.Stream) exec.Stream {
	f := a.of(n)
	own := 0
	for own < len(s.Ops) && !exec.Measured(s.Ops[len(s.Ops)-1-own]) {
		own++
	}
	if !exec.Measured(s.Source) {
		_, union := n.(*Union) // whose inputs are measured themselves
		s.Source = exec.MeasureSource(s.Source, f, own == 0, !union)
	}
	ops := append([]exec.Operator(nil), s.Ops...)
	for i := len(ops) - own; i < len(ops); i++ {
		ops[i] = exec.MeasureOp(ops[i], f, i == len(ops)-own, i == len(ops)-1)
	}
	s.Ops = ops
	return s
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

// read returns the nodes that n read.
func (a *Analysis) read(n Node) []Node {
	if a == nil {
		return n.inputs()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if in := a.inputs[n]; in != nil {
		return []Node{in}
	}
	return n.inputs()
}

// Print draws a plan as a tree, one node on each line, with its figures.
func (a *Analysis) Print(n Node, verbose bool) string {
	var b strings.Builder
	a.print(&b, n, verbose, 0)
	return strings.TrimRight(b.String(), "\n")
}

func (a *Analysis) print(b *strings.Builder, n Node, verbose bool, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(n.line())
	list := a.nodeFigures(n, verbose)
	texts := make([]string, len(list))
	for i, f := range list {
		texts[i] = f.text()
	}
	if len(list) > 0 {
		b.WriteString("  [" + strings.Join(texts, ", ") + "]")
	} else if !shownOnly(n) {
		b.WriteString("  [not run]")
	}
	b.WriteByte('\n')
	for _, in := range a.read(n) {
		a.print(b, in, verbose, depth+1)
	}
}

// Tree is a plan as EXPLAIN FORMAT JSON shows it.
type Tree struct {
	Node    string           `json:"node"`
	Figures map[string]int64 `json:"figures,omitempty"` // times in nanoseconds
	Inputs  []Tree           `json:"inputs,omitempty"`
}

// NewTree makes the tree of a plan; a is nil where it did not run.
func NewTree(n Node, a *Analysis, verbose bool) Tree {
	t := Tree{Node: n.line()}
	if a != nil {
		t.Figures = map[string]int64{}
		for _, f := range a.nodeFigures(n, verbose) {
			switch v := f.Value.(type) {
			case time.Duration:
				t.Figures[f.Name+"_ns"] = int64(v)
			case int64:
				t.Figures[f.Name] = v
			}
		}
	}
	for _, in := range a.read(n) {
		t.Inputs = append(t.Inputs, NewTree(in, a, verbose))
	}
	return t
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
