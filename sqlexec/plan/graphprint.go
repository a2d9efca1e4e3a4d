package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// PrintGraph draws the pipelines of an optimized plan, from the answer down: each with its sink first and its source
// last, so that a line reads what the lines below it give. Plans of subqueries follow.
func PrintGraph(n Node) string { return (*Analysis)(nil).PrintGraph(n, false) }

// PrintGraph draws the pipelines of an optimized plan with the figures of its nodes. The nil Analysis has none.
func (a *Analysis) PrintGraph(n Node, verbose bool) string {
	var b strings.Builder
	a.printGraph(&b, n, verbose, 0)
	return strings.TrimRight(b.String(), "\n")
}

func (a *Analysis) printGraph(b *strings.Builder, n Node, verbose bool, depth int) {
	indent := strings.Repeat("  ", depth)
	switch n := n.(type) {
	case *Subqueries:
		b.WriteString(indent + n.line() + "\n")
		for _, in := range n.inputs() {
			a.printGraph(b, in, verbose, depth+1)
		}
		return
	case *Subquery:
		b.WriteString(indent + n.line() + "\n")
		a.printGraph(b, n.Input, verbose, depth+1)
		return
	}
	g := a.graph(n)
	for i := len(g.Pipelines) - 1; i >= 0; i-- {
		p := &g.Pipelines[i]
		fmt.Fprintf(b, "%s%s\n", indent, p.head(i))
		for s := range p.down {
			fmt.Fprintf(b, "%s  %s%s\n", indent, s.line(), a.hung(s, verbose))
		}
	}
}

// head names a pipeline, its workers and what it waits for.
func (p *Pipeline) head(i int) string {
	text := fmt.Sprintf("Pipeline %d: %s", i+1, p.workers())
	if len(p.After) > 0 {
		text += ", after " + numbers(p.After)
	}
	if len(p.Unless) > 0 {
		text += ", skipped if " + strings.ReplaceAll(numbers(p.Unless), ", ", " or ") + " can match nothing"
	}
	return text
}

func (p *Pipeline) workers() string {
	if p.Serial {
		return "one worker"
	}
	return "all workers"
}

// numbers lists pipelines, from 1.
func numbers(list []int) string {
	texts := make([]string, len(list))
	for i, at := range list {
		texts[i] = fmt.Sprint(at + 1)
	}
	return strings.Join(texts, ", ")
}

// down yields the stages from the sink to the source. The line of a scan has its residual conditions.
func (p *Pipeline) down(yield func(*Stage) bool) {
	if !yield(&p.Sink) {
		return
	}
	for i := len(p.Operators) - 1; i >= 0; i-- {
		if s := &p.Operators[i]; !s.residual() && !yield(s) {
			return
		}
	}
	yield(&p.Source)
}

// residual reports whether a stage tests the conditions that a scan leaves over.
func (s *Stage) residual() bool { return s.Kind == FilterRows && s.Node != s.For }

// line describes a stage.
func (s *Stage) line() (text string) {
	switch s.Kind {
	case Answer:
		return "Answer"
	case Feed:
		return fmt.Sprintf("Feed: pipeline %d", s.Into+1)
	case ReadResult:
		return "Result: pipeline " + numbers(s.Reads)
	case ReadBranches:
		return "Union: pipelines " + numbers(s.Reads)
	case BuildJoin:
		text = "Build: " + s.Node.line()
	case KeepFirst:
		text = fmt.Sprintf("KeepFirst: %d of %s", s.Node.(*Sort).First.N, exprTexts(s.Node.(*Sort).First.Keys, ", "))
	default:
		text = s.Node.line()
	}
	switch {
	case s.Kind == ProbeJoin:
		text += " build=" + numbers(s.Reads)
	case len(s.Reads) > 0:
		text += " pipelines=[" + numbers(s.Reads) + "]"
	}
	if len(s.Bounds) > 0 {
		bounds := make([]string, len(s.Bounds))
		for i, b := range s.Bounds {
			bounds[i] = b.Scan.Rel.Name.Table + "." + b.Scan.Cols[b.At].Name
		}
		text += " bounds=[" + strings.Join(bounds, ", ") + "]"
	}
	if s.Newest {
		text += " newest first"
	} else if s.Oldest {
		text += " oldest first"
	}
	if s.Statistics {
		text += " statistics first"
	}
	if m := s.Kind.Memory(); m != Batch {
		text += " memory=" + m.String()
	}
	return text
}

// hung are the figures that hang at a stage, as text.
func (a *Analysis) hung(s *Stage, verbose bool) string {
	if a == nil || !s.hangs() {
		return ""
	}
	list := a.nodeFigures(s.For, verbose)
	if len(list) == 0 {
		return "  [not run]"
	}
	texts := make([]string, len(list))
	for i, f := range list {
		texts[i] = f.text()
	}
	return "  [" + strings.Join(texts, ", ") + "]"
}

// Tree is a plan as EXPLAIN FORMAT JSON shows it.
type Tree struct {
	Node string `json:"node"`
	// Pipeline is the pipeline in which the node does its work, from 1: a join in that of its probe. 0: in none.
	Pipeline  int              `json:"pipeline,omitempty"`
	Figures   map[string]int64 `json:"figures,omitempty"` // times in nanoseconds
	Inputs    []Tree           `json:"inputs,omitempty"`
	Pipelines []PipelineTree   `json:"pipelines,omitempty"` // of the plan whose root it is
}

// PipelineTree is a pipeline as EXPLAIN FORMAT JSON shows it.
type PipelineTree struct {
	ID      int      `json:"id"`
	Workers string   `json:"workers"`          // all or one
	After   []int    `json:"after,omitempty"`  // that it waits for
	Unless  []int    `json:"unless,omitempty"` // it is not needed where nothing can match the rows of these
	Stages  []string `json:"stages"`           // from the source to the sink
}

// NewTree makes the tree of a plan that does not run.
func NewTree(n Node) Tree {
	t := Tree{Node: n.line()}
	for _, in := range n.inputs() {
		t.Inputs = append(t.Inputs, NewTree(in))
	}
	return t
}

// GraphTree makes the tree of an optimized plan, whose nodes say in which pipeline they are. The nil Analysis has no
// figures.
func (a *Analysis) GraphTree(n Node, verbose bool) Tree {
	if shownOnly(n) {
		t := Tree{Node: n.line()}
		for _, in := range n.inputs() {
			t.Inputs = append(t.Inputs, a.GraphTree(in, verbose))
		}
		return t
	}
	g, at := a.graph(n), map[Node]int{}
	for i := range g.Pipelines {
		for s := range g.Pipelines[i].down {
			if s.hangs() {
				at[s.For] = i + 1
			}
		}
	}
	t := a.tree(n, at, verbose)
	for i := range g.Pipelines {
		t.Pipelines = append(t.Pipelines, g.Pipelines[i].tree(i))
	}
	return t
}

func (a *Analysis) tree(n Node, at map[Node]int, verbose bool) Tree {
	t := Tree{Node: n.line(), Pipeline: at[n]}
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
	for _, in := range n.inputs() {
		t.Inputs = append(t.Inputs, a.tree(in, at, verbose))
	}
	return t
}

func (p *Pipeline) tree(i int) PipelineTree {
	t := PipelineTree{ID: i + 1, Workers: "all"}
	if p.Serial {
		t.Workers = "one"
	}
	for _, j := range p.After {
		t.After = append(t.After, j+1)
	}
	for _, j := range p.Unless {
		t.Unless = append(t.Unless, j+1)
	}
	for s := range p.down {
		t.Stages = append(t.Stages, s.line())
	}
	slices.Reverse(t.Stages)
	return t
}
