package plan

import (
	"varve/sqlexec/exec"
)

// Graph is how an optimized plan runs: pipelines, each behind those that it waits for. The last one gives the answer.
// Compile makes it and runs nothing; nothing changes it afterwards.
type Graph struct{ Pipelines []Pipeline }

// Pipeline is a source, the operators that its rows pass, and a sink. Pipelines are known by their place in the graph.
type Pipeline struct {
	Source    Stage
	Operators []Stage
	Sink      Stage
	// Serial: one worker moves the rows, because their order counts or because they cannot be shared. Otherwise all do.
	Serial bool
	// After are the pipelines whose sinks have all their rows before this one begins.
	After []int
	// Unless are the build sides above it, all of them in After: where one of them has no row that can be a partner, no
	// row of this pipeline is wanted, and it does not run.
	Unless []int
}

// Stage is a source, an operator or a sink of a pipeline.
type Stage struct {
	Kind StageKind
	// Node says what the stage does, and For is the node of the plan that it belongs to. They differ where a node needs
	// several stages, as a join needs its build side, its probe and the order of its columns.
	Node, For Node
	// Reads are the pipelines that a source reads, and the build side of a probe.
	Reads []int
	// Into is the pipeline that reads the rows of a feed.
	Into int
	// Join is the kind of join of a build side and a probe.
	Join exec.JoinKind
	// Bounds are the columns of scans that what a sink keeps puts bounds on.
	Bounds []ScanBound
	// Newest and Oldest: the scan of a sink that keeps the first rows reads its newest rows first, or its oldest.
	Newest, Oldest bool
	// Statistics: an aggregation without keys asks the statistics of its table first, which may know the answer.
	Statistics bool
}

// ScanBound is a bound on column At of a scan: by key Key of a join, or by the first key of an order.
type ScanBound struct {
	Scan *Scan
	At   int
	Key  int
}

// StageKind is what a stage does.
type StageKind uint8

// The stages: sources, operators, sinks.
const (
	ReadPieces   StageKind = iota // of a table, in any order
	ReadOrdered                   // a table in its natural order
	ReadVirtual                   // a table that is made when it is read
	ReadNothing                   // a scan with a condition that is false
	ReadValues                    // constants
	ReadSeries                    // of numbers or times
	ReadResult                    // what a sink has made
	ReadBranches                  // the rows of several pipelines, one after the other
	ReadWindow                    // the rows of a pipeline with window functions beside them
	ReadAsof                      // pairs of the rows of two sorted pipelines

	FilterRows
	ProjectRows
	LimitRows
	ProbeJoin
	KeepFirst  // of each partition
	FirstOfRun // of rows with equal keys
	MakeSlots
	UnnestLists
	UnpivotColumns

	BuildJoin
	GroupRows
	DistinctRows
	SortRows
	TopRows
	FillSlotRows
	Feed   // gives its rows to the source that reads it, while that asks for them
	Answer // gives them to the client
)

// Memory is what a stage keeps in memory.
type Memory uint8

// What stages keep.
const (
	Batch   Memory = iota // a batch at a time
	Few                   // a bounded number of rows
	AllRows               // all rows; the query fails where they do not fit
	Spills                // all rows; they go to disk where they do not fit
)

var memoryNames = [...]string{Batch: "batch", Few: "few", AllRows: "all", Spills: "spills"}

func (m Memory) String() string { return memoryNames[m] }

// stageKinds are the properties of stages.
var stageKinds = [...]struct {
	serial bool // it wants, or gives, rows in an order that counts
	memory Memory
	// part: it is not the stage at which the figures of its node hang.
	part bool
}{
	ReadPieces:     {},
	ReadOrdered:    {serial: true},
	ReadVirtual:    {serial: true, memory: AllRows},
	ReadNothing:    {serial: true},
	ReadValues:     {serial: true},
	ReadSeries:     {serial: true},
	ReadResult:     {serial: true, part: true},
	ReadBranches:   {},
	ReadWindow:     {serial: true, memory: Spills},
	ReadAsof:       {serial: true},
	FilterRows:     {},
	ProjectRows:    {},
	LimitRows:      {serial: true},
	ProbeJoin:      {},
	KeepFirst:      {memory: Few, part: true},
	FirstOfRun:     {serial: true},
	MakeSlots:      {},
	UnnestLists:    {},
	UnpivotColumns: {},
	BuildJoin:      {memory: Spills, part: true},
	GroupRows:      {memory: Spills},
	DistinctRows:   {memory: Spills},
	SortRows:       {memory: Spills},
	TopRows:        {memory: Few},
	FillSlotRows:   {serial: true, memory: AllRows},
	Feed:           {part: true},
	Answer:         {serial: true, part: true},
}

// Memory is what stages of the kind keep.
func (k StageKind) Memory() Memory { return stageKinds[k].memory }

// hangs reports whether the figures of the node hang at this stage.
func (s *Stage) hangs() bool {
	return !stageKinds[s.Kind].part && (s.Node == s.For || s.Kind == ProbeJoin)
}

// counts reports whether rows that pass operator at are the first and the last ones of its node in this pipeline.
// Sinks count what goes into their nodes themselves.
func (p *Pipeline) counts(at int) (first, last bool) {
	n := p.Operators[at].For
	switch {
	case p.Sink.For == n:
	case at > 0:
		first = p.Operators[at-1].For != n
	default: // what a scan reads goes into its own conditions
		first = p.Source.Kind != ReadResult || p.Source.For != n
	}
	return first, p.above(at+1) != n
}

// above is the node of operator at, or of the sink behind the last operator.
func (p *Pipeline) above(at int) Node {
	if at < len(p.Operators) {
		return p.Operators[at].For
	}
	return p.Sink.For
}
