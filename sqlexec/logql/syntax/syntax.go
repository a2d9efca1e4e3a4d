// Package syntax reads the language of log queries, LogQL, and prints it.
//
// A query is a selector with a pipeline of stages, which yields lines, or an expression over such queries, which yields
// numbers:
//
//	{app="shop"} |= "error" | json | status >= 500 | line_format "{{.msg}}"
//	sum by (host) (rate({app="shop"} | logfmt | unwrap duration(took) | __error__="" [5m] offset 1h)) > 2
//
// tree.go holds the tree, lex.go the words, parse.go, stages.go and metrics.go the grammar, check.go what the grammar
// cannot say, print.go one line and pretty.go many. Parse(q.String()) is q again.
//
// # Bounds
//
// MaxText bounds the text, MaxDepth how deep expressions and conditions nest, MaxStages a pipeline. A query beyond a
// bound is an error that names the bound.
package syntax
