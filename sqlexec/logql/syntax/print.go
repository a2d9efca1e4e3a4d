package syntax

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// String returns the selector and the stages.
func (q *LogQuery) String() string {
	var b strings.Builder
	b.WriteString(selectorString(q.Matchers))
	for _, s := range stageStrings(q.Stages) {
		b.WriteString(" ")
		b.WriteString(s)
	}
	return b.String()
}

// selectorString returns matchers in braces.
func selectorString(matchers []Matcher) string {
	texts := make([]string, len(matchers))
	for i, m := range matchers {
		texts[i] = m.String()
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// String returns the matcher, its text in double quotes.
func (m Matcher) String() string { return m.Name + string(m.Op) + strconv.Quote(m.Value) }

// stageStrings returns the prints of stages. A filter that takes out lines with one of several texts is printed as a
// filter for each text, unless these are more stages than a query may have.
func stageStrings(stages []Stage) []string {
	var texts []string
	for _, s := range stages {
		f, ok := s.(*LineFilter)
		if !ok || f.Op != LineContainsNot && f.Op != LineMatchesNot && f.Op != LinePatternNot {
			texts = append(texts, s.String())
			continue
		}
		for i := range f.Values {
			texts = append(texts, (&LineFilter{Op: f.Op, Values: f.Values[i : i+1]}).String())
		}
	}
	if len(texts) > MaxStages {
		texts = texts[:0]
		for _, s := range stages {
			texts = append(texts, s.String())
		}
	}
	return texts
}

// String returns the filter with all of its texts.
func (f *LineFilter) String() string {
	var b strings.Builder
	b.WriteString(string(f.Op))
	for i, v := range f.Values {
		if i > 0 {
			b.WriteString(" or")
		}
		if v.IP {
			fmt.Fprintf(&b, " ip(%q)", v.Text)
		} else {
			b.WriteString(" " + strconv.Quote(v.Text))
		}
	}
	return b.String()
}

// String returns the filter as a stage.
func (f *LabelFilter) String() string { return "| " + f.Cond.String() }

// String returns both conditions in parentheses.
func (c *And) String() string { return "( " + c.Left.String() + " , " + c.Right.String() + " )" }

// String returns both conditions in parentheses.
func (c *Or) String() string { return "( " + c.Left.String() + " or " + c.Right.String() + " )" }

// String returns the comparison with its value in the text of its unit.
func (c *Compared) String() string { return c.Name + string(c.Op) + c.Text }

// String returns the condition with its network as ip("..").
func (c *InNetwork) String() string {
	return c.Name + string(c.Op) + "ip(" + strconv.Quote(c.Pattern) + ")"
}

// appendExtractions appends extractions, each with its expression.
func appendExtractions(s string, list []Extraction) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = e.Name + "=" + strconv.Quote(e.Expression)
	}
	if len(texts) > 0 {
		s += " "
	}
	return s + strings.Join(texts, ",")
}

// String returns the stage with its extractions.
func (s *JSON) String() string { return appendExtractions("| json", s.Extractions) }

// String returns the stage with its flags and extractions.
func (s *Logfmt) String() string {
	text := "| logfmt"
	if s.Strict {
		text += " --strict"
	}
	if s.KeepEmpty {
		text += " --keep-empty"
	}
	return appendExtractions(text, s.Extractions)
}

// String returns the stage.
func (s *Pattern) String() string { return "| pattern " + strconv.Quote(s.Text) }

// String returns the stage.
func (s *Regexp) String() string { return "| regexp " + strconv.Quote(s.Text) }

// String returns the stage.
func (*Unpack) String() string { return "| unpack" }

// String returns the stage.
func (s *LineFormat) String() string { return "| line_format " + strconv.Quote(s.Template) }

// String returns the stage with all of its formats.
func (s *LabelFormat) String() string {
	texts := make([]string, len(s.Formats))
	for i, f := range s.Formats {
		if f.Rename {
			texts[i] = f.Name + "=" + f.Value
		} else {
			texts[i] = f.Name + "=" + strconv.Quote(f.Value)
		}
	}
	return "| label_format " + strings.Join(texts, ",")
}

// String returns the stage.
func (*Decolorize) String() string { return "| decolorize" }

// String returns the stage.
func (s *Drop) String() string { return "| drop " + picksString(s.Labels) }

// String returns the stage.
func (s *Keep) String() string { return "| keep " + picksString(s.Labels) }

// picksString returns names and matchers with commas.
func picksString(labels []LabelPick) string {
	texts := make([]string, len(labels))
	for i, l := range labels {
		texts[i] = l.Name
		if l.Matcher != nil {
			texts[i] = l.Matcher.String()
		}
	}
	return strings.Join(texts, ",")
}

// name returns the stage without the filters after it.
func (u *Unwrap) name() string {
	if u.Conversion != ConvertNone {
		return "| unwrap " + string(u.Conversion) + "(" + u.Name + ")"
	}
	return "| unwrap " + u.Name
}

// String returns the stage and the filters after it.
func (u *Unwrap) String() string {
	text := u.name()
	for _, f := range u.Filters {
		text += " " + f.String()
	}
	return text
}

// String returns the query, the range behind it and the offset.
func (r *LogRange) String() string {
	text := r.Query.String()
	if r.Unwrap != nil {
		text += " " + r.Unwrap.String()
	}
	text += "[" + durationString(r.Interval) + "]"
	if r.Offset != 0 {
		text += " offset " + r.Offset.String()
	}
	return text
}

// durationString returns a duration in whole units of the metrics language, or as Go writes it if it is not a number of
// milliseconds.
func durationString(d time.Duration) string {
	if d <= 0 || d%time.Millisecond != 0 {
		return d.String()
	}
	ms := int64(d / time.Millisecond)
	var b strings.Builder
	for _, u := range [...]struct {
		name string
		ms   int64
		only bool // the unit is written only if it takes all that is left
	}{{"y", 365 * 24 * 3600_000, true}, {"w", 7 * 24 * 3600_000, true}, {"d", 24 * 3600_000, false},
		{"h", 3600_000, false}, {"m", 60_000, false}, {"s", 1000, false}, {"ms", 1, false}} {
		if n := ms / u.ms; n > 0 && (!u.only || ms%u.ms == 0) {
			b.WriteString(strconv.FormatInt(n, 10) + u.name)
			ms -= n * u.ms
		}
	}
	return b.String()
}

// String returns the clause with a blank before it.
func (g *Grouping) String() string {
	if g == nil {
		return ""
	}
	word := " by "
	if g.Without {
		word = " without "
	}
	return word + "(" + strings.Join(g.Names, ",") + ")"
}

// String returns the call and its clause.
func (a *RangeAggregation) String() string {
	text := string(a.Op) + "("
	if a.Op == OpQuantileOverTime {
		text += numberString(a.Param) + ","
	}
	return text + a.Range.String() + ")" + a.Grouping.String()
}

// String returns the clause before the arguments.
func (a *VectorAggregation) String() string { return a.head() + a.Expr.String() + ")" }

// head returns what stands before the expression.
func (a *VectorAggregation) head() string {
	text := string(a.Op) + a.Grouping.String() + "("
	if a.Param != 0 {
		text += strconv.Itoa(a.Param) + ","
	}
	return text
}

// String returns both sides in parentheses.
func (e *Binary) String() string {
	return "(" + e.Left.String() + " " + e.operator() + " " + e.Right.String() + ")"
}

// operator returns the operator with bool, matching and group.
func (e *Binary) operator() string {
	text := string(e.Op)
	if e.Bool {
		text += " bool"
	}
	m := e.Matching
	if m == nil {
		return text
	}
	if m.On {
		text += " on "
	} else {
		text += " ignoring "
	}
	text += "(" + strings.Join(m.Names, ",") + ")"
	if m.Group != GroupNone {
		text += " " + string(m.Group) + " (" + strings.Join(m.Include, ",") + ")"
	}
	return text
}

// String returns the call.
func (e *LabelReplace) String() string {
	return "label_replace(" + e.Expr.String() + e.arguments() + ")"
}

// arguments returns the texts of the call, each with a comma before it.
func (e *LabelReplace) arguments() string {
	return fmt.Sprintf(",%q,%q,%q,%q", e.Dst, e.Replacement, e.Source, e.Regex)
}

// String returns the call, its number with at least six decimals.
func (e *Vector) String() string {
	text := strconv.FormatFloat(e.Value, 'f', 6, 64)
	if back, err := strconv.ParseFloat(text, 64); err != nil || back != e.Value {
		text = numberString(e.Value)
	}
	return "vector(" + text + ")"
}

// String returns the number.
func (e *Literal) String() string { return numberString(e.Value) }

// numberString returns the shortest text of a number. What the language has no number for is printed as a quotient or a
// power that yields it.
func numberString(v float64) string {
	switch {
	case math.IsNaN(v):
		return "(0 / 0)"
	case math.IsInf(v, 1):
		return "(10 ^ 400)"
	case math.IsInf(v, -1):
		return "(-10 ^ 401)"
	}
	if a := math.Abs(v); a < 1e21 && (a >= 1e-4 || a == 0) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
