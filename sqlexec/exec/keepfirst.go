package exec

import (
	"bytes"
	"sync"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// KeepFirst drops rows before which others of the same keys come in an order. It is a sieve under a sort whose consumer looks only
// at the first row of each key: every such row comes through, and of the others few. A worker keeps one row of each key, up
// to maxFirst keys at a time; what it keeps at the end is the operator's own. Keys that are NULL are equal.
func KeepFirst(keys []expr.Expr, order []expr.SortKey, types []vector.Type, budget *Budget) (Operator, error) {
	k := &keepFirst{keys: keys, types: types, budget: budget, list: append([]expr.Expr(nil), keys...)}
	for _, o := range order {
		if !isKey(o.Expr, keys) { // it does not tell rows of a key apart
			k.order = append(k.order, o)
			k.list = append(k.list, o.Expr)
		}
	}
	_, err := expr.Compile(k.list)
	return k, err
}

func isKey(e expr.Expr, keys []expr.Expr) bool {
	col, ok := e.(*expr.Column)
	for _, k := range keys {
		c, is := k.(*expr.Column)
		if ok && is && c.Index == col.Index {
			return true
		}
	}
	return false
}

const (
	// maxFirst is the number of keys for which a worker keeps rows; then it passes them on and begins anew.
	maxFirst = 1 << 14
	// fewDropped: when of the rows so far less than one in so many was dropped, the others pass as they are.
	fewDropped = 4
)

type keepFirst struct {
	keys   []expr.Expr
	order  []expr.SortKey // without keys
	list   []expr.Expr    // keys, then those of order
	types  []vector.Type
	budget *Budget

	mu      sync.Mutex // protects workers
	workers []*firstRows
}

func (k *keepFirst) String() string {
	return "KeepFirst: by [" + texts(k.keys, ", ") + "] in order " + orderText(k.order)
}

// firstRows is what a worker keeps.
type firstRows struct {
	groups  *groups
	rows    *vector.Batch // kept, and those that better ones have replaced
	at      []uint32      // by group: its row, or its row of the batch at hand while this is looked at
	fresh   []bool        // by group: it is among better
	better  []uint32      // groups that have a better row in the batch at hand
	picked  []uint32      // their rows
	best    []span        // by group: the sort key of its row
	keys    []byte        // sort keys
	scratch []byte
	seen    int // rows since the beginning
	held    int64
	passing bool
}

// span is a part of some bytes.
type span struct{ from, to int }

func (k *keepFirst) newRows() *firstRows {
	return &firstRows{groups: newGroups(k.keys), rows: vector.NewBatch(k.types...)}
}

// Step keeps the rows that come first.
func (k *keepFirst) Step(next Step) Step {
	w := k.newRows()
	k.mu.Lock()
	k.workers = append(k.workers, w)
	k.mu.Unlock()
	program := mustCompile(k.list)
	out := make([]*vector.Vector, len(k.list))
	return func(b *vector.Batch) error {
		if w.passing {
			return next(b)
		}
		if err := program.Eval(b, out); err != nil {
			return err
		}
		ids, err := w.groups.number(out[:len(k.keys)], b.N)
		if err != nil {
			return err
		}
		w.look(k.order, out[len(k.keys):], ids)
		w.take(b, k.types)
		if w.groups.n > maxFirst {
			return k.flush(w, next)
		}
		return w.account(k.budget)
	}
}

// look finds the groups that have a better row in a batch, and which.
func (w *firstRows) look(order []expr.SortKey, keys []*vector.Vector, ids []uint32) {
	known := len(w.best)
	w.best, w.at, w.fresh = extended(w.best, w.groups.n), extended(w.at, w.groups.n), extended(w.fresh, w.groups.n)
	w.seen += len(ids)
	for i, g := range ids {
		key := w.scratch[:0]
		for j, v := range keys {
			key = expr.AppendSortKey(key, v, i, order[j].Desc, order[j].NullsFirst)
		}
		w.scratch = key
		had := &w.best[g]
		if (int(g) < known || w.fresh[g]) && bytes.Compare(key, w.keys[had.from:had.to]) >= 0 {
			continue
		}
		if len(key) <= had.to-had.from {
			had.to = had.from + copy(w.keys[had.from:], key)
		} else {
			*had = span{len(w.keys), len(w.keys) + len(key)}
			w.keys = append(w.keys, key...)
		}
		if !w.fresh[g] {
			w.fresh[g] = true
			w.better = append(w.better, g)
		}
		w.at[g] = uint32(i)
	}
}

// extended gives s with n elements, zero from its former end on.
func extended[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	return append(s, make([]T, n-len(s))...)
}

// take copies the better rows of a batch. When most rows have been replaced, those go.
func (w *firstRows) take(b *vector.Batch, types []vector.Type) {
	w.picked = w.picked[:0]
	for _, g := range w.better {
		w.picked = append(w.picked, w.at[g])
		w.at[g] = uint32(w.rows.N + len(w.picked) - 1)
		w.fresh[g] = false
	}
	w.better = w.better[:0]
	appendPicked(w.rows, b, w.picked)
	if w.rows.N >= 4*vector.Size && w.rows.N >= 4*w.groups.n {
		w.compact(types)
	}
}

// compact leaves the kept rows alone, group by group.
func (w *firstRows) compact(types []vector.Type) {
	rows := vector.NewBatch(types...)
	appendPicked(rows, w.rows, w.at)
	for g := range w.at {
		w.at[g] = uint32(g)
	}
	keys := make([]byte, 0, len(w.keys))
	for g, s := range w.best {
		w.best[g] = span{len(keys), len(keys) + s.to - s.from}
		keys = append(keys, w.keys[s.from:s.to]...)
	}
	w.rows, w.keys = rows, keys
}

func appendPicked(to, from *vector.Batch, rows []uint32) {
	for i, c := range to.Cols {
		c.AppendRows(to.N, from.Cols[i], rows)
	}
	to.N += len(rows)
}

// account reserves what the rows have grown by.
func (w *firstRows) account(budget *Budget) error {
	bytes := batchBytes(w.rows) + w.groups.bytes() + int64(len(w.keys)) + 24*int64(len(w.at))
	if bytes <= w.held {
		return nil
	}
	grown := bytes - w.held
	w.held = bytes
	return budget.Reserve(grown)
}

// flush passes the kept rows on and begins anew, or no more when too few rows are dropped.
func (k *keepFirst) flush(w *firstRows, next Step) error {
	w.compact(k.types)
	kept, seen, held := w.rows, w.seen, w.held
	*w = *k.newRows()
	w.held, w.passing = held, kept.N > seen-seen/fewDropped
	r := Values(kept).Reader(0)
	for b := (vector.Batch{}); ; {
		ok, err := r.Next(&b)
		if err != nil || !ok {
			return err
		}
		if err := next(&b); err != nil {
			return err
		}
	}
}

// Rest gives what the workers kept at the end.
func (k *keepFirst) Rest() Source {
	out := &pieces{}
	for _, w := range k.workers {
		w.compact(k.types)
		out.list = append(out.list, Values(w.rows).Reader(0))
	}
	return out
}
