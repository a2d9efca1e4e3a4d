package engine

import (
	"bytes"
	"slices"

	"varve/engine/automaton"
	"varve/engine/convert"
	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// Matcher is a test of a label. Series that lack the label have the empty value, and so have those whose tag is NULL.
type Matcher struct {
	Label string
	Op    MatchOp
	Value string
}

// MatchOp is the comparison of a matcher.
type MatchOp uint8

// The tests of labels. Expressions are of the syntax of package regexp, match the whole value, and the dot matches any
// character.
const (
	MatchEqual MatchOp = iota + 1
	MatchNotEqual
	MatchRegex
	MatchNotRegex
)

// mostChoices bounds the texts of an expression that is a choice among texts: up to so many are looked up in the index
// instead of matching the expression.
const mostChoices = 4096

// labelTest is a matcher ready to test texts. Safe for concurrent use.
type labelTest struct {
	label  string
	values [][]byte // rising: the only texts that pass, none of them empty; nil: match decides
	match  func(text []byte) bool
	empty  bool // the empty text passes
}

// compile reads the matcher; cancelled returns the reason why the request must end.
func (m *Matcher) compile(cancelled func() error) (*labelTest, error) {
	t := &labelTest{label: m.Label}
	value := []byte(m.Value)
	switch m.Op {
	case MatchEqual:
		t.among([]string{m.Value})
	case MatchNotEqual:
		t.match = func(text []byte) bool { return !bytes.Equal(text, value) }
	case MatchRegex, MatchNotRegex:
		re, err := automaton.Compile("^(?s:" + m.Value + ")$")
		if err != nil {
			return nil, status.Wrap(err, status.InvalidArguments, "matcher of label %s: %v", m.Label, err)
		}
		passes := m.Op == MatchRegex
		t.match = func(text []byte) bool { return re.Match(text, cancelled) == passes }
		if texts, ok := filter.Choice(m.Value, mostChoices); ok && passes {
			t.among(texts)
		}
	default:
		return nil, status.New(status.InvalidArguments, "matcher of label %s: unknown test %d", m.Label, m.Op)
	}
	t.empty = t.test(nil)
	return t, nil
}

// among has the test pass some texts.
func (t *labelTest) among(texts []string) {
	if slices.Contains(texts, "") {
		t.match = func(text []byte) bool { return slices.Contains(texts, string(text)) }
		return
	}
	for _, s := range texts {
		t.values = append(t.values, []byte(s))
	}
	slices.SortFunc(t.values, bytes.Compare)
}

func (t *labelTest) test(text []byte) bool {
	if t.values != nil {
		_, ok := slices.BinarySearchFunc(t.values, text, bytes.Compare)
		return ok
	}
	return t.match(text)
}

// on is the test of a tag. Tags of other types than text are tested by their text.
func (t *labelTest) on(c schema.Column) scan.TagTest {
	test := scan.TagTest{Column: readColumn(c), Null: t.empty}
	if c.Type.IsText() {
		test.Values, test.Match = t.values, t.match
	} else {
		test.Match = func(val []byte) bool { return t.test(tagText(c.Type, val)) }
	}
	return test
}

// tagText is the text of a tag's value in the form of series keys, that of one that is damaged is empty.
func tagText(typ vector.Type, val []byte) []byte {
	v, err := schema.TagVector(typ, [][]byte{val})
	if err != nil {
		return nil
	}
	text := convert.All(&vector.Vector{}, v, vector.StringType, 1)
	if text.IsNull(0) {
		return nil
	}
	return text.Bytes(0)
}
