// Package logql runs queries of the language of log queries over the tables of logs. Package syntax reads the text of a
// query, package stage runs the stages of a query line by line. This package finds the tables, makes SQL of selectors,
// times and filters, and hands the rest to SQL as private functions (sqlexec/expr.Private), so that workers of scans
// run the stages. What is computed above the aggregation of a range, such as sum or topk, the engine of metrics
// computes.
//
//	tables.go few.go derived.go   tables as streams, labels of few values, labels that no column holds
//	conditions.go                 matchers and line filters as SQL
//	rows.go level.go stages.go    rows, the level of a line, stages over them
//	lines.go cursor.go            queries of lines
//	metrics.go translate.go       queries of numbers, what the engine of metrics computes of them
//	leaf.go samples.go grouped.go windows.go overtime.go    aggregations of ranges
//	streams.go volumes.go sizes.go    streams, labels, their size
//	fields.go patterns.go         fields, shapes of lines
//	heed.go                       sorts that end when nobody asks any more
package logql

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/logql/syntax"
)

// Label is a name and a value.
type Label struct{ Name, Value string }

// Labels is a set of labels, sorted by name.
type Labels []Label

// Get is the value of a label; empty: it is not there.
func (l Labels) Get(name string) string {
	for i := range l {
		if l[i].Name == name {
			return l[i].Value
		}
	}
	return ""
}

// Compare orders sets by the first name or value that differs, then the shorter first.
func (l Labels) Compare(o Labels) int {
	return slices.CompareFunc(l, o, func(a, b Label) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Value, b.Value)
	})
}

// Rows are the rows of a statement. The caller closes them.
type Rows interface {
	Next(b *vector.Batch) (bool, error)
	Close()
}

// Store is the tables of a database as one request sees them, and runs its statements.
type Store interface {
	// Tables lists the tables of the database.
	Tables() ([]*engine.Table, error)
	// Run runs a statement, which may call a private function; f nil: it calls none.
	Run(ctx context.Context, statement string, f *expr.Private) (Rows, error)
	// TextSizes sums up the bytes of texts of a table.
	TextSizes(ctx context.Context, r engine.SizeRequest) error
	// Few lists those of some columns of a table that are known to have few values.
	Few(ctx context.Context, t *engine.Table, columns []string) ([]string, error)
	// Reserve takes memory for what the request keeps.
	Reserve(bytes int64) error
}

// Stats is what a query did. Safe for concurrent use.
type Stats struct {
	Lines, Bytes atomic.Int64 // that stages saw, or that were read
	Kept         atomic.Int64 // lines that passed
	Tables       atomic.Int64
}

// sources are the tables whose rows can pass all matchers.
func sources(ctx context.Context, store Store, list []test) ([]*source, error) {
	tables, err := store.Tables()
	if err != nil {
		return nil, err
	}
	var out []*source
	for _, t := range tables {
		columns := candidates(t.Schema)
		s := sourceOf(t, columns)
		if s == nil || !new(where).matched(s, list) {
			continue // not even if all of them have few values
		}
		if len(columns) > 0 {
			few, err := store.Few(ctx, t, columns)
			if err != nil {
				return nil, err
			}
			s = sourceOf(t, few)
		}
		if new(where).matched(s, list) {
			out = append(out, s)
		}
	}
	return out, nil
}

// checkMatchers refuses a selector that every stream passes.
func checkMatchers(list []test) error {
	for i := range list {
		if !list[i].matches("") {
			return nil
		}
	}
	return status.New(status.InvalidSyntax, "parse error : queries require at least one regexp or equality matcher "+
		"that does not have an empty-compatible value. For instance, app=~\".*\" does not meet this requirement, "+
		"but app=~\".+\" will")
}

// names reports whether a query names a label elsewhere than in its selectors.
func names(q syntax.Query, label string) bool {
	n := strings.Count(q.String(), label)
	for _, list := range Selectors(q) {
		for _, m := range list {
			n -= strings.Count(m.String(), label)
		}
	}
	return n > 0
}
