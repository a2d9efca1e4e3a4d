package syntax

import "time"

// Query is a parsed query: *LogQuery, which selects lines, or an Expr that computes numbers. String returns the query
// in one line, in a form that Parse reads again as the same tree.
type Query interface {
	String() string
	query()
}

// Expr is a query that computes numbers: *RangeAggregation, *VectorAggregation, *Binary, *LabelReplace, *Vector or
// *Literal.
type Expr interface {
	Query
	expr()
}

// MatchOp compares a label or a line with a text.
type MatchOp string

// The operators of matchers. The two of regular expressions match the whole value.
const (
	MatchEqual     MatchOp = "="
	MatchNotEqual  MatchOp = "!="
	MatchRegexp    MatchOp = "=~"
	MatchNotRegexp MatchOp = "!~"
)

// Matcher compares the value of a label with a text; a label that is missing has the empty value.
type Matcher struct {
	Name  string
	Op    MatchOp
	Value string // text, or a regular expression of package regexp, which must match the whole value
}

// LogQuery selects the lines of streams and runs stages over each line.
type LogQuery struct {
	Matchers []Matcher // all of them hold
	Stages   []Stage   // in order; nil: none
}

// Stage is a step of a pipeline: *LineFilter, *LabelFilter, *JSON, *Logfmt, *Pattern, *Regexp, *Unpack, *LineFormat,
// *LabelFormat, *Decolorize, *Drop or *Keep.
type Stage interface {
	String() string
	stage()
}

// LineOp compares a line with a text.
type LineOp string

// The operators of line filters. Those of regular expressions and patterns look anywhere in the line.
const (
	LineContains    LineOp = "|="
	LineContainsNot LineOp = "!="
	LineMatches     LineOp = "|~"
	LineMatchesNot  LineOp = "!~"
	LinePattern     LineOp = "|>"
	LinePatternNot  LineOp = "!>"
)

// LineFilter keeps lines by their text. With a positive operator a line passes if any value holds; with a negative one
// if no value is found.
type LineFilter struct {
	Op     LineOp
	Values []LineValue // at least one; those after the first were written after "or"
}

// LineValue is one text of a line filter.
type LineValue struct {
	Text string
	IP   bool // Text is the argument of ip(): an address, a range or a network
}

// LabelFilter keeps lines by a condition on labels.
type LabelFilter struct{ Cond Cond }

// Cond is a condition on labels: *And, *Or, *Matched, *Compared or *InNetwork.
type Cond interface {
	String() string
	cond()
}

// And holds if both conditions hold. The right one is not asked, and raises no error, if the left one does not hold.
type And struct{ Left, Right Cond }

// Or holds if one of the conditions holds. The right one is not asked if the left one holds.
type Or struct{ Left, Right Cond }

// Matched compares a label with a text. It is the one condition that can test __error__.
type Matched struct{ Matcher }

// CompareOp compares numbers.
type CompareOp string

// The operators that compare numbers, in label filters and between expressions.
const (
	Equal        CompareOp = "=="
	NotEqual     CompareOp = "!="
	Greater      CompareOp = ">"
	GreaterEqual CompareOp = ">="
	Less         CompareOp = "<"
	LessEqual    CompareOp = "<="
)

// Unit is what the value of a label is read as.
type Unit int

// The units of values that conditions compare.
const (
	UnitNumber   Unit = iota // a decimal number
	UnitDuration             // such as 1h30m or 250ms; compared in nanoseconds
	UnitBytes                // such as 20KB or 5 MiB; compared in bytes
)

// Compared converts the value of a label to a unit and compares it.
type Compared struct {
	Name  string
	Op    CompareOp
	Unit  Unit
	Value float64 // number; nanoseconds for UnitDuration; bytes for UnitBytes
	Text  string  // the value in a text of its unit, as it is printed
}

// InNetwork asks whether the value of a label is an address of a network or range.
type InNetwork struct {
	Name    string
	Op      MatchOp // MatchEqual or MatchNotEqual
	Pattern string  // an address, a range a-b or a network a/n
}

// Extraction names a label and the place of its value: a path for json, a key for logfmt.
type Extraction struct{ Name, Expression string }

// JSON makes labels of an object's values: of all of them, with names flattened by "_", or of those named.
type JSON struct{ Extractions []Extraction }

// Logfmt makes labels of key=value pairs: of all of them, or of those named.
type Logfmt struct {
	Strict      bool // stop at the first pair that is not well formed
	KeepEmpty   bool // make labels of keys without a value
	Extractions []Extraction
}

// Pattern makes labels of the captures <name> of a pattern, which begins at the line's begin.
type Pattern struct{ Text string }

// Regexp makes labels of the named groups of a regular expression.
type Regexp struct{ Text string }

// Unpack makes labels of the texts of a flat JSON object; its key _entry becomes the line.
type Unpack struct{}

// LineFormat replaces the line by what a template yields.
type LineFormat struct{ Template string }

// LabelFormat changes labels, in order.
type LabelFormat struct{ Formats []Format }

// Format changes one label: it takes another label's name, or what a template yields.
type Format struct {
	Name   string
	Value  string // name of the label to rename, or a template
	Rename bool
}

// Decolorize takes the escape sequences of terminal colours out of the line.
type Decolorize struct{}

// Drop removes labels: by name, or by a matcher that holds.
type Drop struct{ Labels []LabelPick }

// Keep removes all labels but those picked. __error__ and __error_details__ stay.
type Keep struct{ Labels []LabelPick }

// LabelPick names a label of drop or keep. Matcher is nil for a name alone.
type LabelPick struct {
	Name    string
	Matcher *Matcher
}

// Conversion is what the value of an unwrapped label is read as.
type Conversion string

// The conversions of unwrap.
const (
	ConvertNone            Conversion = ""
	ConvertBytes           Conversion = "bytes"
	ConvertDuration        Conversion = "duration"
	ConvertDurationSeconds Conversion = "duration_seconds" // the same as ConvertDuration
)

// Unwrap makes the sample of a line from a label.
type Unwrap struct {
	Name       string
	Conversion Conversion
	Filters    []*LabelFilter // asked after the conversion; __error__ is then set
}

// LogRange is the lines of a query in the window (t-Interval-Offset, t-Offset].
type LogRange struct {
	Query    *LogQuery
	Unwrap   *Unwrap // nil: samples are lines
	Interval time.Duration
	Offset   time.Duration // negative: later than t
}

// RangeOp aggregates the lines or samples of a window.
type RangeOp string

// The range aggregations.
const (
	OpCountOverTime    RangeOp = "count_over_time"
	OpRate             RangeOp = "rate"
	OpRateCounter      RangeOp = "rate_counter"
	OpBytesOverTime    RangeOp = "bytes_over_time"
	OpBytesRate        RangeOp = "bytes_rate"
	OpSumOverTime      RangeOp = "sum_over_time"
	OpAvgOverTime      RangeOp = "avg_over_time"
	OpMaxOverTime      RangeOp = "max_over_time"
	OpMinOverTime      RangeOp = "min_over_time"
	OpFirstOverTime    RangeOp = "first_over_time"
	OpLastOverTime     RangeOp = "last_over_time"
	OpStddevOverTime   RangeOp = "stddev_over_time"
	OpStdvarOverTime   RangeOp = "stdvar_over_time"
	OpQuantileOverTime RangeOp = "quantile_over_time"
	OpAbsentOverTime   RangeOp = "absent_over_time"
)

// Grouping is a by or without clause.
type Grouping struct {
	Without bool
	Names   []string // may be empty
}

// RangeAggregation computes one number for each series and window.
type RangeAggregation struct {
	Op       RangeOp
	Param    float64 // of quantile_over_time; else 0
	Range    LogRange
	Grouping *Grouping // nil: none was written
}

// VectorOp aggregates the series of one instant.
type VectorOp string

// The vector aggregations.
const (
	OpSum        VectorOp = "sum"
	OpAvg        VectorOp = "avg"
	OpCount      VectorOp = "count"
	OpMax        VectorOp = "max"
	OpMin        VectorOp = "min"
	OpStddev     VectorOp = "stddev"
	OpStdvar     VectorOp = "stdvar"
	OpTopK       VectorOp = "topk"
	OpBottomK    VectorOp = "bottomk"
	OpApproxTopK VectorOp = "approx_topk"
	OpSort       VectorOp = "sort"
	OpSortDesc   VectorOp = "sort_desc"
)

// VectorAggregation aggregates the series of one instant.
type VectorAggregation struct {
	Op       VectorOp
	Param    int // of topk, bottomk and approx_topk, at least 1; else 0
	Expr     Expr
	Grouping *Grouping // nil: none was written
}

// BinaryOp combines two expressions.
type BinaryOp string

// The binary operators.
const (
	OpOr     BinaryOp = "or"
	OpAnd    BinaryOp = "and"
	OpUnless BinaryOp = "unless"
	OpEq     BinaryOp = "=="
	OpNe     BinaryOp = "!="
	OpGt     BinaryOp = ">"
	OpGe     BinaryOp = ">="
	OpLt     BinaryOp = "<"
	OpLe     BinaryOp = "<="
	OpAdd    BinaryOp = "+"
	OpSub    BinaryOp = "-"
	OpMul    BinaryOp = "*"
	OpDiv    BinaryOp = "/"
	OpMod    BinaryOp = "%"
	OpPow    BinaryOp = "^"
)

// Binary combines two expressions. Modifiers that would change nothing are left out. n / 0 and n % 0 are NaN. An
// operator over two literals is a Literal: Parse computes it.
type Binary struct {
	Op          BinaryOp
	Left, Right Expr
	Bool        bool      // a comparison yields 0 or 1 instead of leaving samples out
	Matching    *Matching // nil: neither on nor ignoring was written
}

// Group says whether one series of a side may meet many of the other side.
type Group string

// The forms of grouping in vector matching.
const (
	GroupNone  Group = ""
	GroupLeft  Group = "group_left"  // many series on the left
	GroupRight Group = "group_right" // many series on the right
)

// Matching says which labels of two series must be equal for them to meet.
type Matching struct {
	On      bool // true: the names; false: all but the names
	Names   []string
	Group   Group
	Include []string // labels of the one side that the result takes over
}

// LabelReplace sets a label from a regular expression over another, which must match the whole value.
type LabelReplace struct {
	Expr                            Expr
	Dst, Replacement, Source, Regex string
}

// Vector is vector(n): one series without labels.
type Vector struct{ Value float64 }

// Literal is a number.
type Literal struct{ Value float64 }

func (*LogQuery) query()          {}
func (*RangeAggregation) query()  {}
func (*VectorAggregation) query() {}
func (*Binary) query()            {}
func (*LabelReplace) query()      {}
func (*Vector) query()            {}
func (*Literal) query()           {}

func (*RangeAggregation) expr()  {}
func (*VectorAggregation) expr() {}
func (*Binary) expr()            {}
func (*LabelReplace) expr()      {}
func (*Vector) expr()            {}
func (*Literal) expr()           {}

func (*LineFilter) stage()  {}
func (*LabelFilter) stage() {}
func (*JSON) stage()        {}
func (*Logfmt) stage()      {}
func (*Pattern) stage()     {}
func (*Regexp) stage()      {}
func (*Unpack) stage()      {}
func (*LineFormat) stage()  {}
func (*LabelFormat) stage() {}
func (*Decolorize) stage()  {}
func (*Drop) stage()        {}
func (*Keep) stage()        {}

func (*And) cond()       {}
func (*Or) cond()        {}
func (*Matched) cond()   {}
func (*Compared) cond()  {}
func (*InNetwork) cond() {}
