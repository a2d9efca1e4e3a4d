package vrl

import (
	"math/bits"
	"strings"

	"varve/pipeline/value"
)

// The texts of labels are those of the reference, so that users find what others wrote about them.

// labelled holds the labels of one place: the first text states the error, the others explain it.
func labelled(at span, texts ...string) []Label {
	list := make([]Label, len(texts))
	for i, text := range texts {
		list[i] = Label{at.start, at.end, text}
	}
	return list
}

// reportLabels is report with several labels.
func (c *compiler) reportLabels(code int, title string, labels []Label, notes ...string) {
	c.diagnostics = append(c.diagnostics, Diagnostic{Code: code, Title: title, Labels: labels, Notes: notes})
}

// expected is a set of kinds as labels name it.
func expected(kinds Kinds, text string) string {
	switch {
	case text == "any":
		return text
	case bits.OnesCount16(uint16(kinds)) == 1:
		return "the exact type " + text
	}
	return "one of " + text
}

// argumentLabels say that an argument may be of another type than its parameter.
func argumentLabels(a *givenArg, p *Param) []Label {
	typ := a.typ.settled()
	return labelled(a.node.expr.at(), "this expression resolves to "+expected(typ.kinds, typ.String()),
		`but the parameter "`+p.Name+`" expects `+expected(p.Kinds, p.Kinds.String()))
}

// guards are the functions that ensure a type, and the functions that convert a value to it, with their default values.
var guards = map[Kinds][2]string{
	String: {"string!", `to_string(%) ?? "default"`}, Integer: {"int!", "to_int(%) ?? 0"},
	Float:   {"float!", "to_float(%) ?? 0"},
	Boolean: {"bool!", "to_bool(%) ?? false"}, Object: {"object!", ""}, Array: {"array!", ""},
	Timestamp: {"timestamp!", ""},
}

// guardNotes are the ways out where an argument may be of another type than its parameter.
func (c *compiler) guardNotes(b *boundCall, a *givenArg, p *Param) []string {
	guard, ok := guards[p.Kinds]
	if !ok {
		return nil
	}
	argument, call := c.text(a.node.expr.at()), c.text(b.node.span)
	notes := []string{"try: ensuring an appropriate type at runtime", "",
		"    " + argument + " = " + guard[0] + "(" + argument + ")", "    " + call}
	if guard[1] != "" {
		notes = append(notes, "",
			"try: coercing to an appropriate type and specifying a default value as a fallback in case coercion fails",
			"",
			"    "+argument+" = "+strings.ReplaceAll(guard[1], "%", argument), "    "+call)
	}
	return notes
}

// coerceNote is the way out where a value has to be of one type.
const coerceNote = "hint: coerce the value to the required type using a coercion function"

// quotedNames are names as labels list them.
func quotedNames(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

// shownConstant is a value that is known as labels show it.
func shownConstant(v value.Value) string { return string(value.AppendJSON(nil, v)) }

// formOf is the form of an expression as labels name it.
func formOf(n node) string {
	switch n.(type) {
	case *pathNode:
		return "query"
	case *variableNode:
		return "variable call"
	case *callNode:
		return "function call"
	case *opNode:
		return "operation"
	case *notNode:
		return "unary operation"
	case *literalNode, *patternNode, *templateNode:
		return "literal"
	case *arrayNode:
		return "array"
	case *objectNode:
		return "object"
	case *blockNode:
		return "block"
	}
	return "expression"
}
