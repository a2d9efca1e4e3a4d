package exec

import (
	"bytes"
	"fmt"
	"sync"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// First describes the rows of each key that a consumer reads: the first N in an order. Ties: also the rows that are
// equal in the order to the last of them.
type First struct {
	Keys []expr.Expr
	N    int
	Ties bool
}

// KeepFirst drops rows that have enough other rows of the same keys before them in an order. It is a sieve below a
// sort: every needed row passes, and few others do. A worker keeps the rows of some keys, up to maxFirst at a time; the
// operator emits the rows that are kept at the end. Keys that are NULL are equal.
func KeepFirst(f First, order []expr.SortKey, types []vector.Type, budget *Budget) (Operator, error) {
	k := &keepFirstOp{First: f, types: types, budget: budget, list: append([]expr.Expr(nil), f.Keys...)}
	for _, o := range order {
		if !isKey(o.Expr, f.Keys) { // it does not tell rows of a key apart
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
	// maxFirst is the number of rows that a worker keeps; then it passes them on and begins anew.
	maxFirst = 1 << 14
	// fewDropped: when of the rows so far less than one in so many was dropped, the others pass as they are.
	fewDropped = 4
)

type keepFirstOp struct {
	First
	order  []expr.SortKey // without keys
	list   []expr.Expr    // keys, then those of order
	types  []vector.Type
	budget *Budget

	mu      sync.Mutex // protects workers
	workers []*firstRows
}

func (k *keepFirstOp) String() string {
	return fmt.Sprintf("KeepFirst: %d by [%s] in order %s", k.N, texts(k.Keys, ", "), orderText(k.order))
}

// firstRows holds the rows that a worker keeps. Group g has the slots from g*n on; filled[g] of them have a row.
type firstRows struct {
	n       int
	groups  *groups
	rows    *vector.Batch // kept rows, and rows that better ones have replaced
	filled  []int         // by group
	worst   []int         // by group: the slot of the last row in the order, when all are filled
	at      []uint32      // by slot: its row, or its row of the batch at hand while this is looked at
	fresh   []bool        // by slot: it is among better
	best    []span        // by slot: the sort key of its row
	better  []int         // slots that have a better row in the batch at hand
	picked  []uint32      // their rows
	keys    []byte        // sort keys
	scratch []byte
	seen    int // rows since the beginning
	held    int64
	passing bool

	ties *vector.Batch // rows that pass because they equal the last kept row; nil: equal rows are dropped
	tied []uint32      // such rows of the batch at hand
	last []byte        // scratch
}

// span is a part of some bytes.
type span struct{ from, to int }

func (k *keepFirstOp) newRows() *firstRows {
	w := &firstRows{n: k.N, groups: newGroups(k.Keys), rows: vector.NewBatch(k.types...)}
	if k.Ties {
		w.ties = vector.NewBatch(k.types...)
	}
	return w
}

// Step keeps the rows that come first.
func (k *keepFirstOp) Step(next Step) Step {
	w := k.newRows()
	k.mu.Lock()
	k.workers = append(k.workers, w)
	k.mu.Unlock()
	program := mustCompile(k.list, k.budget)
	out := make([]*vector.Vector, len(k.list))
	return inCopies(func(b *vector.Batch) error {
		if w.passing {
			return next(b)
		}
		if err := program.Eval(b, out); err != nil {
			return err
		}
		ids, err := w.groups.number(out[:len(k.Keys)], b.N)
		if err != nil {
			return err
		}
		w.look(k.order, out[len(k.Keys):], ids)
		w.take(b, k.types)
		if w.ties != nil && w.ties.N > 0 {
			tied := w.ties
			w.ties = vector.NewBatch(k.types...)
			if err := pass(tied, next); err != nil {
				return err
			}
		}
		if w.groups.n*w.n > maxFirst {
			return k.flush(w, next)
		}
		return w.account(k.budget)
	})
}

// look finds the slots that have a better row in a batch, and which.
func (w *firstRows) look(order []expr.SortKey, keys []*vector.Vector, ids []uint32) {
	groups, slots := w.groups.n, w.groups.n*w.n
	w.filled, w.worst = vector.Extended(w.filled, groups), vector.Extended(w.worst, groups)
	w.best, w.at, w.fresh = vector.Extended(w.best, slots), vector.Extended(w.at, slots),
		vector.Extended(w.fresh, slots)
	w.seen += len(ids)
	for i, g := range ids {
		key := w.scratch[:0]
		for j, v := range keys {
			key = expr.AppendSortKey(key, v, i, order[j].Desc, order[j].NullsFirst)
		}
		w.scratch = key
		if w.filled[g] < w.n {
			w.filled[g]++
			w.put(int(g)*w.n+w.filled[g]-1, key, i)
			w.findWorst(int(g))
			continue
		}
		switch d := bytes.Compare(key, w.key(w.worst[g])); {
		case d < 0:
			w.replaceWorst(int(g), key, i)
		case d == 0 && w.ties != nil:
			w.tied = append(w.tied, uint32(i))
		}
	}
}

func (w *firstRows) key(slot int) []byte { return w.keys[w.best[slot].from:w.best[slot].to] }

// replaceWorst puts into the slot of a group's worst row row i of the batch at hand. The worst row passes when it is
// equal to the one that is the worst now.
func (w *firstRows) replaceWorst(g int, key []byte, i int) {
	slot := w.worst[g]
	row, fresh := w.at[slot], w.fresh[slot]
	if w.ties != nil {
		w.last = append(w.last[:0], w.key(slot)...)
	}
	w.put(slot, key, i)
	w.findWorst(g)
	switch {
	case w.ties == nil || !bytes.Equal(w.last, w.key(w.worst[g])):
	case fresh:
		w.tied = append(w.tied, row)
	default:
		appendPicked(w.ties, w.rows, []uint32{row})
	}
}

// put makes row i of the batch at hand that of a slot.
func (w *firstRows) put(slot int, key []byte, i int) {
	had := &w.best[slot]
	if len(key) <= had.to-had.from {
		had.to = had.from + copy(w.keys[had.from:], key)
	} else {
		*had = span{len(w.keys), len(w.keys) + len(key)}
		w.keys = append(w.keys, key...)
	}
	if !w.fresh[slot] {
		w.fresh[slot] = true
		w.better = append(w.better, slot)
	}
	w.at[slot] = uint32(i)
}

// findWorst finds the last row of a group in the order, when all of its slots are filled.
func (w *firstRows) findWorst(g int) {
	if w.filled[g] < w.n {
		return
	}
	worst := g * w.n
	for slot := worst + 1; slot < (g+1)*w.n; slot++ {
		if bytes.Compare(w.key(slot), w.key(worst)) > 0 {
			worst = slot
		}
	}
	w.worst[g] = worst
}

// take copies the better rows of a batch. When most rows have been replaced, those go.
func (w *firstRows) take(b *vector.Batch, types []vector.Type) {
	w.picked = w.picked[:0]
	for _, slot := range w.better {
		w.picked = append(w.picked, w.at[slot])
		w.at[slot] = uint32(w.rows.N + len(w.picked) - 1)
		w.fresh[slot] = false
	}
	w.better = w.better[:0]
	appendPicked(w.rows, b, w.picked)
	if len(w.tied) > 0 {
		appendPicked(w.ties, b, w.tied)
		w.tied = w.tied[:0]
	}
	if w.rows.N >= 4*vector.Size && w.rows.N >= 4*w.groups.n*w.n {
		w.compact(types)
	}
}

// compact leaves the kept rows alone, group by group.
func (w *firstRows) compact(types []vector.Type) {
	rows, keys := vector.NewBatch(types...), make([]byte, 0, len(w.keys))
	w.picked = w.picked[:0]
	for g, n := range w.filled {
		for slot := g * w.n; slot < g*w.n+n; slot++ {
			key := w.key(slot)
			w.best[slot] = span{len(keys), len(keys) + len(key)}
			keys = append(keys, key...)
			w.picked = append(w.picked, w.at[slot])
			w.at[slot] = uint32(len(w.picked) - 1)
		}
	}
	appendPicked(rows, w.rows, w.picked)
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
	bytes := roomBytes(w.rows) + w.groups.bytes() + int64(cap(w.keys)) + 40*int64(len(w.at))
	if w.ties != nil {
		bytes += roomBytes(w.ties)
	}
	if bytes <= w.held {
		return nil
	}
	grown := bytes - w.held
	w.held = bytes
	return budget.Reserve(grown)
}

// flush passes the kept rows on and begins anew, or no more when too few rows are dropped.
func (k *keepFirstOp) flush(w *firstRows, next Step) error {
	w.compact(k.types)
	kept, seen, held := w.rows, w.seen, w.held
	*w = *k.newRows()
	w.held, w.passing = held, kept.N > seen-seen/fewDropped
	return pass(kept, next)
}

// pass passes rows on in batches.
func pass(rows *vector.Batch, next Step) error {
	r := Values(rows).Reader(0)
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

// Rest returns what the workers kept at the end.
func (k *keepFirstOp) Rest() Source {
	out := &shards{}
	for _, w := range k.workers {
		w.compact(k.types)
		out.list = append(out.list, Values(w.rows).Reader(0))
	}
	return out
}
