package syntax

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"varve/engine/automaton"
)

// ErrNetwork is the error of an ip() whose argument is no address, range or network.
var ErrNetwork = errors.New("ip: invalid pattern")

// Anchored returns the expression that matches a whole value, as the matchers of labels do. A point stands for any
// character, the end of a line included.
func Anchored(expr string) string { return "^(?s:" + expr + ")$" }

// checkMatcher holds that the expression of a matcher can be compiled.
func checkMatcher(m Matcher) error {
	if m.Op != MatchRegexp && m.Op != MatchNotRegexp {
		return nil
	}
	return checkExpression(m.Value)
}

// checkExpression holds that an expression can be compiled and is not too large.
func checkExpression(expr string) error {
	if err := automaton.CheckPattern(expr); err != nil {
		return Invalid("%v", err)
	}
	if _, err := syntax.Parse(expr, syntax.Perl); err != nil {
		return Invalid("%v", err)
	}
	if _, err := automaton.Compile(Anchored(expr)); err != nil {
		return Invalid("%v", err)
	}
	return nil
}

// checkMatchers holds that a selector leaves out streams without any of its labels.
func checkMatchers(matchers []Matcher) error {
	for _, m := range matchers {
		if !m.MatchesEmpty() {
			return nil
		}
	}
	return Invalid("queries require at least one regexp or equality matcher that does not have an empty-compatible " +
		"value. For instance, app=~\".*\" does not meet this requirement, but app=~\".+\" will")
}

// MatchesEmpty reports whether the matcher holds for a label that is missing.
func (m Matcher) MatchesEmpty() bool {
	switch m.Op {
	case MatchEqual:
		return m.Value == ""
	case MatchNotEqual:
		return m.Value != ""
	}
	re, err := regexp.Compile(Anchored(m.Value))
	return err == nil && re.MatchString("") == (m.Op == MatchRegexp)
}

// checkLineFilter holds that the expressions of a filter can be compiled and that ip() stands where it may.
func checkLineFilter(f *LineFilter) error {
	for _, v := range f.Values {
		switch {
		case v.IP && f.Op != LineContains && f.Op != LineContainsNot:
			return InvalidStage(f, errors.New("ip: invalid operation"))
		case !v.IP && (f.Op == LineMatches || f.Op == LineMatchesNot):
			if err := checkExpression(v.Text); err != nil {
				return err
			}
		case f.Op == LinePattern || f.Op == LinePatternNot:
			if err := checkPatternFilter(v.Text); err != nil {
				return InvalidStage(f, err)
			}
		}
	}
	return nil
}

// checkRegexpParser holds that an expression has named groups with names of labels, each once.
func checkRegexpParser(expr string) error {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return Invalid("invalid regexp parser: %v", err)
	}
	if err := automaton.CheckPattern(expr); err != nil {
		return Invalid("invalid regexp parser: %v", err)
	}
	names := map[string]bool{}
	for _, n := range tree.CapNames() {
		if n == "" {
			continue
		}
		if !IsName(n) {
			return Invalid("invalid regexp parser: invalid extracted label name '%s'", n)
		}
		if names[n] {
			return Invalid("invalid regexp parser: duplicate extracted label name '%s'", n)
		}
		names[n] = true
	}
	if len(names) == 0 {
		return Invalid("invalid regexp parser: at least one named capture must be supplied")
	}
	if len(names) > MaxCaptures {
		return Invalid("invalid regexp parser: more than the limit of %d named captures", MaxCaptures)
	}
	return nil
}

// IsName reports whether s can be the name of a label.
func IsName(s string) bool { return s != "" && nameLength(s, "") == len(s) }

// checkFormats holds that each label is formatted once, and no label of errors.
func checkFormats(formats []Format) error {
	seen := map[string]bool{}
	for _, f := range formats {
		if f.Name == LabelError {
			return Invalid("%s cannot be formatted", f.Name)
		}
		if seen[f.Name] {
			return Invalid("multiple label name '%s' not allowed in a single format operation", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// Labels that stages set when they fail.
const (
	LabelError        = "__error__"
	LabelErrorDetails = "__error_details__"
)

// checkLabelReplace holds that the expression of a call can be compiled.
func checkLabelReplace(e *LabelReplace) error {
	if err := checkExpression(e.Regex); err != nil {
		var wrong *Error
		if errors.As(err, &wrong) {
			return Invalid("invalid regex in label_replace: %s", wrong.Message)
		}
		return err
	}
	if !IsName(e.Dst) {
		return Invalid("invalid destination label name in label_replace(): %s", e.Dst)
	}
	return nil
}
