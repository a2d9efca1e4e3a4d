package vrl

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"varve/pipeline/value"
	"varve/pipeline/vrl/regex"
)

// tooLargeConst reports whether a literal is made at run time although all of it is known: types and the freezing of
// constants look at every part.
func tooLargeConst(v value.Value) bool { return v.Nodes() > maxTypeNodes }

// pattern compiles a regular expression or timestamp.
func (c *compiler) pattern(n *patternNode) (operand, bool) {
	if n.kind == regexToken {
		re, err := c.options.Room.Compile(n.text)
		if err == nil {
			if c.regexSize += regexSize(re); c.regexSize > maxRegexSize {
				err = errors.New("the regular expressions of the script are too large together")
			}
		}
		if err != nil {
			c.reportLabels(codeInvalidRegex, titleInvalidRegex, labelled(n.span, regexTexts(n.text, err)...))
			return operand{}, false
		}
		return constOperand(n, re.Of()), true
	}
	t, err := time.Parse(time.RFC3339Nano, n.text)
	if err == nil {
		if v, ok := value.Time(t); ok {
			return constOperand(n, v), true
		}
	}
	c.reportLabels(codeInvalidTimestamp, titleInvalidTimestamp,
		labelled(n.span, "invalid timestamp format: "+timestampFault(n.text),
			"a timestamp is written t'2006-01-02T15:04:05Z'"))
	return operand{}, false
}

// regexTexts are the texts of the label of a regular expression that cannot be read: what is wrong with what, and
// where.
func regexTexts(source string, err error) []string {
	wrong := (*regex.Error)(nil)
	if !errors.As(err, &wrong) {
		return []string{err.Error()}
	}
	return []string{"regex parse error: " + wrong.Text + ": " + source,
		fmt.Sprintf("at byte %d of the expression", wrong.At)}
}

// timestampForm is a timestamp with a 9 in the place of each digit, up to its fraction.
const timestampForm = "9999-99-99T99:99:99"

// timestampFault describes the fault of a timestamp in the source.
func timestampFault(text string) string {
	for i := range min(len(text), len(timestampForm)) {
		same := text[i] == timestampForm[i]
		switch timestampForm[i] {
		case '9':
			same = isDigit(text[i])
		case 'T':
			same = same || text[i] == 't' || text[i] == ' '
		}
		if !same {
			return "input contains invalid characters"
		}
	}
	rest := text[min(len(text), len(timestampForm)):]
	if strings.HasPrefix(rest, ".") {
		rest = strings.TrimLeft(rest[1:], "0123456789")
	}
	switch {
	case rest == "":
		return "premature end of input"
	case strings.IndexByte("Zz+-", rest[0]) < 0:
		return "input contains invalid characters"
	case rest[0]|0x20 == 'z' && len(rest) > 1:
		return "trailing input"
	}
	return "input is out of range"
}

// regexSize is about how many instructions a regular expression takes: repetitions are written out.
func regexSize(re *value.Regex) int {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return 0 // compiled before, so this does not happen
	}
	return int(regex.Size(tree))
}

// expanded is a string with templates as a sum of texts and variables.
func (n *templateNode) expanded() node {
	var sum node
	for _, part := range n.parts {
		at := span{part.start, part.end}
		var x node = &literalNode{at, value.String(part.text)}
		if part.variable {
			x = &variableNode{at, part.text}
		}
		if sum == nil {
			sum = x
		} else {
			sum = &opNode{n.span, "+", n.span, sum, x}
		}
	}
	return sum
}

func (c *compiler) array(n *arrayNode) (operand, bool) {
	x := operand{node: n, typ: Type{kinds: Array, array: &members{}}, isConst: true}
	runs := make([]op, 0, len(n.items))
	list := (*value.Arena)(nil).Array(len(n.items))
	for i, item := range n.items {
		m, ok := c.expr(item)
		if !ok {
			return operand{}, false
		}
		x.fallible = x.fallible || m.fallible
		x.isConst = x.isConst && m.isConst
		if i < maxKnown {
			x.typ.array.known = append(x.typ.array.known, knownMember{index: i, typ: m.typ.settled()})
		} else {
			rest := Union(x.typ.array.restOf(), m.typ.settled())
			x.typ.array.rest = &rest
		}
		list.Push(nil, m.constant)
		runs = append(runs, m.run)
	}
	x.typ.array = x.typ.array.sized()
	if x.isConst && !tooLargeConst(list.Of()) {
		return constOperand(n, list.Of()), true
	}
	x.isConst = false
	x.run = func(f *Frame) (value.Value, *Failure) {
		l := f.Arena.Array(len(runs))
		for _, run := range runs {
			v, fl := run(f)
			if fl != nil {
				return value.Null, fl
			}
			l.Push(f.Arena, v)
		}
		return f.sized(l.Of())
	}
	return x, true
}

// object compiles { "key": value, ... }; at run time the values are computed in the order of the keys, and of equal
// keys only the last one.
func (c *compiler) object(n *objectNode) (operand, bool) {
	type field struct {
		key string
		x   operand
	}
	byKey := map[string]operand{}
	complete, isConst, fallible := true, true, false
	for i, key := range n.keys {
		m, ok := c.expr(n.values[i])
		complete = complete && ok
		isConst = isConst && m.isConst
		fallible = fallible || m.fallible
		byKey[key] = m
	}
	if !complete {
		return operand{}, false
	}
	fields := make([]field, 0, len(byKey))
	for key, m := range byKey {
		fields = append(fields, field{key, m})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.key, b.key) })
	x := operand{node: n, typ: Type{kinds: Object, object: &members{}}, fallible: fallible}
	object := (*value.Arena)(nil).Object(len(fields))
	for i, m := range fields {
		if i < maxKnown {
			x.typ.object.known = append(x.typ.object.known, knownMember{key: m.key, typ: m.x.typ.settled()})
		} else {
			rest := Union(x.typ.object.restOf(), m.x.typ.settled())
			x.typ.object.rest = &rest
		}
		object.Append(nil, m.key, m.x.constant)
	}
	x.typ.object = x.typ.object.sized()
	if isConst && !tooLargeConst(object.Of()) {
		return constOperand(n, object.Of()), true
	}
	x.run = func(f *Frame) (value.Value, *Failure) {
		o := f.Arena.Object(len(fields))
		for i := range fields {
			v, fl := fields[i].x.run(f)
			if fl != nil {
				return value.Null, fl
			}
			o.Append(f.Arena, fields[i].key, v)
		}
		return f.sized(o.Of())
	}
	return x, true
}
