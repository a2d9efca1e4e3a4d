// Package promql evaluates the metrics query language.
//
// # Shape
//
// A query is parsed (parse.go) and compiled into nodes (compile.go, node.go): its durations and times become numbers,
// each selector learns what is read of its samples, equal nodes are found (commonparts.go), and aggregations learn
// whether they add series as they are read. Nodes never change after that; their text is the plan (plan.go). Then they
// are evaluated over all steps at once (eval.go): each node yields a matrix with one row for each label set
// (matrix.go). A row holds one value a step, and a bitmap of the steps that have a value. The bitmap keeps NaN an
// ordinary value and turns and, unless and absent into bit operations. Label sets are computed once for each node,
// never for each step.
//
//	selector            rows from samples, one look-back each          selector.go
//	range functions     windows over samples by two moving indexes     window.go, rate.go, overtime.go
//	aggregations        groups x steps, rows added as they are read    aggregate*.go
//	binary operators    partners found once, then rows by rows         binary.go, matching.go
//	functions           rows by rows                                   functions.go, labelfuncs.go, ...
//
// What is known of each function of the language is one line of a table (functiontable.go), which a call holds.
//
// A row never changes once a node has yielded it. So nodes share rows, and a node that is needed twice is evaluated
// once.
//
// # Storage
//
// The evaluator reads series through Storage (storage.go): first their label sets, then their samples, as slices of
// times and values. This package also implements it over the tables of the engine.
//
// # Names
//
// The metric name is dropped at the end of a query, not at each operator; until then a mark on the row says so.
package promql
