package regex

import (
	"regexp/syntax"

	"varve/pipeline/value"
)

// Certain says for each group whether it takes part in every match; the whole match does.
func Certain(re *value.Regex) []bool {
	certain := make([]bool, len(re.Names))
	certain[0] = true
	if tree, err := syntax.Parse(re.Regexp.String(), syntax.Perl); err == nil {
		markCertain(tree, certain)
	}
	return certain
}

// markCertain marks the groups that every match of a tree goes through.
func markCertain(tree *syntax.Regexp, certain []bool) {
	switch tree.Op {
	case syntax.OpCapture:
		if tree.Cap < len(certain) {
			certain[tree.Cap] = true
		}
	case syntax.OpConcat, syntax.OpPlus:
	case syntax.OpRepeat:
		if tree.Min == 0 {
			return
		}
	default: // an alternative, or what may be there no times
		return
	}
	for _, sub := range tree.Sub {
		markCertain(sub, certain)
	}
}
