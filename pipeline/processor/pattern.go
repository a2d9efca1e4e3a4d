package processor

import (
	"regexp"
	"regexp/syntax"

	"varve/pipeline/vrl/regex"
)

// compileRegex compiles a regular expression of a document, in the syntax that scripts have too.
func compileRegex(text string) (*regexp.Regexp, error) {
	re, err := regex.Compile(text)
	if err != nil {
		return nil, err
	}
	return re.Regexp, nil
}

// namedGroups are the named groups that lie in no other named group, by name and number.
func namedGroups(re *regexp.Regexp) (names []string, numbers []int) {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil, nil // it has been compiled from the same text
	}
	var walk func(x *syntax.Regexp)
	walk = func(x *syntax.Regexp) {
		if x.Op == syntax.OpCapture && x.Name != "" {
			names, numbers = append(names, x.Name), append(numbers, x.Cap)
			return
		}
		for _, sub := range x.Sub {
			walk(sub)
		}
	}
	walk(tree)
	return names, numbers
}
