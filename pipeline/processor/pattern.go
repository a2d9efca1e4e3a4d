package processor

import (
	"regexp/syntax"

	"varve/pipeline/value"
)

// namedGroups are the named groups that lie in no other named group, by name and number.
func namedGroups(re *value.Regex) (names []string, numbers []int) {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil, nil // it has been compiled from the same text
	}
	var walk func(x *syntax.Regexp)
	walk = func(x *syntax.Regexp) {
		if x.Op == syntax.OpCapture && re.Names[x.Cap] != "" {
			names, numbers = append(names, re.Names[x.Cap]), append(numbers, x.Cap)
			return
		}
		for _, sub := range x.Sub {
			walk(sub)
		}
	}
	walk(tree)
	return names, numbers
}
