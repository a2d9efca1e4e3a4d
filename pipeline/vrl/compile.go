package vrl

import "time"

// Compile compiles a script. The error is a *CompileError.
func Compile(source string, o Options) (*Program, error) {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	c := compiler{source: source, options: o}
	p := c.program()
	if len(c.diagnostics) > 0 {
		return nil, &CompileError{Diagnostics: c.diagnostics, text: "no expressions can be compiled yet"}
	}
	return p, nil
}

// compiler turns the tree of one script into a program.
type compiler struct {
	source      string
	options     Options
	diagnostics []Diagnostic
}

func (c *compiler) program() *Program {
	c.diagnostics = append(c.diagnostics, Diagnostic{Code: 200, Title: "syntax error"})
	return nil
}

// ownFunctions are those that work on paths, types, source text and closures.
var ownFunctions []Function
