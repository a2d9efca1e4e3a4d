// Package stage runs the pipelines of log queries line by line: it filters lines by text and labels, makes labels of
// what lines hold, changes lines and labels, and takes the sample of a line. It reads and writes nothing else.
//
// # Use
//
//	p, err := stage.Compile(query.Stages, nil, stage.Need{Line: true, Labels: true})
//	e := p.NewEntry()         // one for each worker
//	e.SetStream(streamLabels) // when the stream changes
//	if p.Run(e, ts, line, metadata) {
//		// e.Line, e.Labels, e.Err: the line and its labels behind all stages, valid until the next Run
//	}
//
// # Labels
//
// A line has labels of three kinds: of its stream, of its metadata, and parsed from the line. A name that metadata or a
// parser gives while the stream has it becomes name_extracted; so does a parsed name that metadata has. The first value
// that a parser gives a name stays. Formats overwrite labels of any kind: a renamed label keeps its kind, one that a
// template yields is parsed. A parser overwrites what a format made before it.
//
// # Errors
//
// A line that a stage cannot work on stays, with the labels __error__ and __error_details__ (Entry.Err, Entry.Details).
// A metric query fails on such a line, unless it passed a filter that asks for lines with errors (Entry.KeepErr).
//
// # Bounds
//
// maxLabels bounds the labels of a line, maxNesting how deep JSON is read, maxOutput what a template yields, and
// maxWork what its functions take or make on the way. Beyond them a stage fails as on any line it cannot work on.
// maxDetails bounds what it says then.
package stage

import (
	"slices"

	"varve/sqlexec/logql/syntax"
)

// Bounds of a line.
const (
	maxLabels  = 1000    // labels
	maxNesting = 64      // levels of JSON
	maxOutput  = 1 << 20 // bytes that a template yields
	maxWork    = 8 << 20 // bytes that functions of a template take or make; an element of a loop counts as 64 or more
	maxDetails = 1 << 10 // bytes of __error_details__
)

// Values of __error__.
const (
	ErrJSON        = "JSONParserErr"
	ErrLogfmt      = "LogfmtParserErr"
	ErrSample      = "SampleExtractionErr"
	ErrLabelFilter = "LabelFilterErr"
	ErrTemplate    = "TemplateFormatErr"
)

// Need says what the caller reads of an entry. Stages that make what nobody reads are left out, and so are their
// errors: a parser whose labels nobody needs does not run, and one that found all that are needed stops. Errors before
// that are noted in Entry.Err, whatever the need is. A name __error__ makes parsers read each line to its end, which
// costs time and raises errors that the same query without the name does not have: a grouping should not add it.
type Need struct {
	Line   bool     // the line
	Labels bool     // all labels
	Names  []string // without Labels: these alone
}

// Pipeline is a compiled list of stages. It is immutable.
type Pipeline struct {
	filters   []*lineFilterStep // of lines, before all other steps: they need no labels
	steps     []step
	names     []string // of labels that steps name; the position is the number of the label in each entry
	hints     []Hint
	needsLine bool
	reads     []string
}

// step is a compiled stage. run reports whether the line stays.
type step interface{ run(e *Entry) bool }

// Compile makes a pipeline of stages and, unless it is nil, of the unwrap behind them. Its errors are of type
// *syntax.Error.
func Compile(stages []syntax.Stage, unwrap *syntax.Unwrap, need Need) (*Pipeline, error) {
	c := &compiler{p: &Pipeline{}, numbers: map[string]int32{}, stages: stages}
	c.needs(unwrap, need)
	c.hints()
	for i, s := range stages {
		if !c.used[i] {
			continue
		}
		c.at = i
		made, err := c.step(s)
		if err != nil {
			return nil, syntax.InvalidStage(s, err)
		}
		if f, ok := made.(*lineFilterStep); ok && len(c.p.steps) == 0 {
			c.p.filters = append(c.p.filters, f)
		} else if made != nil {
			c.p.steps = append(c.p.steps, made)
		}
	}
	if unwrap != nil {
		c.p.steps = append(c.p.steps, &unwrapStep{label: c.number(unwrap.Name), conversion: unwrap.Conversion})
		for _, f := range unwrap.Filters {
			made, err := c.condition(f.Cond)
			if err != nil {
				return nil, syntax.InvalidStage(f, err)
			}
			c.p.steps = append(c.p.steps, &labelFilterStep{cond: made})
		}
	}
	return c.p, nil
}

// NeedsLine reports whether a stage or the caller reads the line.
func (p *Pipeline) NeedsLine() bool { return p.needsLine }

// Reads returns the names of the labels that stages and caller read, sorted; all is true if they may read any. Labels
// of streams and metadata that are not among them need not be passed, but for names a parser may give: a parsed label
// is renamed if its name is taken.
func (p *Pipeline) Reads() (names []string, all bool) {
	if p.reads == nil {
		return nil, true
	}
	return slices.Clone(p.reads), false
}

// Run runs the stages over a line of the entry's stream and reports whether it stays. ts is in nanoseconds. Line and
// metadata must stay as they are until the next Run.
func (p *Pipeline) Run(e *Entry, ts int64, line []byte, metadata []Label) bool {
	e.Line = line
	for _, s := range p.filters {
		if !s.run(e) {
			return false
		}
	}
	e.begin(ts, line, metadata)
	for _, s := range p.steps {
		if !s.run(e) {
			return false
		}
	}
	e.finish()
	return true
}

// compiler makes steps of stages.
type compiler struct {
	p       *Pipeline
	numbers map[string]int32
	stages  []syntax.Stage
	used    []bool   // used[i]: stage i does something that is read
	wanted  []wanted // wanted[i]: the labels that are read behind stage i
	at      int
	scratch int // places in Entry.state that steps took
}

// wanted is a set of names of labels.
type wanted struct {
	all   bool
	names []string // sorted
}

// number returns the number of a label.
func (c *compiler) number(name string) int32 {
	n, ok := c.numbers[name]
	if !ok {
		n = int32(len(c.p.names))
		c.numbers[name] = n
		c.p.names = append(c.p.names, name)
	}
	return n
}

// step compiles a stage.
func (c *compiler) step(s syntax.Stage) (step, error) {
	switch s := s.(type) {
	case *syntax.LineFilter:
		return newLineFilter(s)
	case *syntax.LabelFilter:
		cond, err := c.condition(s.Cond)
		return &labelFilterStep{cond: cond}, err
	case *syntax.JSON:
		if len(s.Extractions) > 0 {
			return c.jsonPaths(s)
		}
		return c.json()
	case *syntax.Logfmt:
		return c.logfmt(s)
	case *syntax.Pattern:
		return c.pattern(s)
	case *syntax.Regexp:
		return c.regexp(s)
	case *syntax.Unpack:
		return unpackStep{}, nil
	case *syntax.LineFormat:
		return c.lineFormat(s)
	case *syntax.LabelFormat:
		return c.labelFormat(s)
	case *syntax.Decolorize:
		return decolorizeStep{}, nil
	case *syntax.Drop:
		return c.drop(s)
	case *syntax.Keep:
		return c.keep(s)
	}
	panic("stage of an unknown kind")
}
