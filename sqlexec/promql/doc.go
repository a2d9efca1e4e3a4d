// Package promql evaluates the metrics query language.
//
// # Shape
//
// A query is parsed (parse.go), its durations and times are made numbers (prepare.go), and the tree is evaluated over
// all steps at once: each node yields a matrix of rows, one for each label set, a row being one value a step with a
// bitmap of where there is a value (matrix.go). Presence apart from value keeps NaN a value like any other, and makes
// and, unless and absent words of bits. Label sets are computed once for each node, never for each step.
//
//	selector            rows from samples, one look-back each          selector.go
//	range functions     windows over samples by two moving indexes     window.go, rate.go, overtime.go
//	aggregations        groups x steps, rows added as they are read    aggregate*.go
//	binary operators    partners found once, then rows by rows         binary.go, matching.go
//	functions           rows by rows                                   functions.go, labelfuncs.go, ...
//
// Rows never change once a node has yielded them, so rows are shared and a subtree that occurs twice is evaluated once.
//
// # Storage
//
// Storage (storage.go) is what the evaluator asks for series: label sets first, then their samples, as slices of times
// and values. Package sqlexec has one over the tables of the engine.
//
// # Names
//
// The metric name is dropped at the end of a query, not at each operator: rows carry a mark.
package promql
