package promql

import (
	"context"
	"math"
	"regexp"
	"strconv"

	"varve/sqlexec/promql/histogram"
)

// staleBits is the NaN that marks the end of a series.
const staleBits = 0x7ff0000000000002

// Stale is the staleness marker.
var Stale = math.Float64frombits(staleBits)

// isStale reports whether a value is the staleness marker.
func isStale(v float64) bool { return math.Float64bits(v) == staleBits }

// MatchType is the kind of a matcher.
type MatchType uint8

// The kinds, in the order of the protocols' numbers.
const (
	MatchEqual MatchType = iota
	MatchNotEqual
	MatchRegexp
	MatchNotRegexp
)

// Matcher selects series by the value of a label; a label that is absent has the empty value.
type Matcher struct {
	Type        MatchType
	Name, Value string

	pattern *regexp.Regexp
}

// NewMatcher makes a matcher. Patterns are anchored at both ends and their dot matches any character.
func NewMatcher(t MatchType, name, value string) (*Matcher, error) {
	m := &Matcher{Type: t, Name: name, Value: value}
	if t == MatchRegexp || t == MatchNotRegexp {
		var err error
		if m.pattern, err = regexp.Compile("^(?s:" + value + ")$"); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Matches reports whether a value passes.
func (m *Matcher) Matches(value string) bool {
	switch m.Type {
	case MatchEqual:
		return value == m.Value
	case MatchNotEqual:
		return value != m.Value
	case MatchRegexp:
		return m.pattern.MatchString(value)
	}
	return !m.pattern.MatchString(value)
}

// String is the matcher in the notation of the language.
func (m *Matcher) String() string {
	return m.Name + m.Type.String() + strconv.Quote(m.Value)
}

// String is the operator in the notation of the language.
func (t MatchType) String() string { return [...]string{"=", "!=", "=~", "!~"}[t] }

// Selection describes the requested series and the requested time. Times are in ms; both ends are included.
type Selection struct {
	Matchers   []*Matcher
	Start, End int64
	// Presence: of floats only the times are needed, and whether they are NaN; the value may be any number.
	Presence bool
	// Labels, when not nil, are the only labels that are wanted, besides the name; label sets may then be equal. A
	// storage may return other labels, too.
	Labels []string
}

// Storage has series. Safe for concurrent use.
type Storage interface {
	// Select finds the series that pass all matchers. They may come without samples in the time asked for.
	Select(ctx context.Context, sel Selection) (SeriesSet, error)

	// LabelNames and LabelValues list the names and values of the series that pass any of the selections; without
	// selections, of all series. The lists are sorted. The time need not be respected exactly.
	LabelNames(ctx context.Context, sels []Selection) ([]string, error)
	LabelValues(ctx context.Context, name string, sels []Selection) ([]string, error)
}

// SeriesSet is the series of a selection. The label sets differ from each other; samples are read
// by Scan. Safe for concurrent use but for Close.
type SeriesSet interface {
	Len() int
	// Labels is a label set, which may be made anew at each call.
	Labels(i int) Labels

	// Scan visits the series from..to-1 in order, each once, with its samples in the selection's time. What visit gets
	// is good until it returns. An error of visit ends the scan and is its error.
	Scan(ctx context.Context, from, to int, visit func(i int, s Samples) error) error

	Close()
}

// Samples are the samples of one series, sorted by time, with at most one at a time.
type Samples struct {
	T []int64   // ms
	V []float64 // of the same length; where H has a histogram V does not count

	// H has the histograms; nil when all samples are floats. A histogram whose Sum is the staleness marker marks the
	// end of the series as the float does.
	H []*histogram.Histogram

	// ST are start times in ms, 0 if unknown; nil if all are unknown.
	ST []int64
}
