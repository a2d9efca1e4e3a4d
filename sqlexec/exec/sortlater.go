package exec

import (
	"bytes"
	"context"
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

const (
	// leadKeys is the number of keys of an order that every row has from the start. Few rows are alike in so many, and
	// a row of 1,000 keys would take 9 KB: 320,000 of them went to files, for minutes.
	leadKeys = 8
	// numberKey is the bytes of a key of a number.
	numberKey = 9
	// settleRows is about the number of rows that one goroutine orders by further keys at a time.
	settleRows = 1 << 14
)

// leading is the number of keys that rows have from the start. Keys that are never twice the same are computed once for
// each row.
func leading(order []expr.SortKey) int {
	if len(order) <= leadKeys || slices.ContainsFunc(order, func(k expr.SortKey) bool { return expr.Varies(k.Expr) }) {
		return len(order)
	}
	return leadKeys
}

// stretch is the rows [from, to) of an order that are alike in all keys so far.
type stretch struct{ from, to int }

// settle orders rows that are in the order of their keys, and among those that are alike in the order they came in, by
// the later keys: leadKeys of them at a time, which are computed for the rows that are alike in all before.
func (s *sorter) settle(ctx context.Context, rows []uint32, workers int) error {
	if len(s.later) == 0 {
		return nil
	}
	var alike []stretch
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && bytes.Equal(s.key(int(rows[from])), s.key(int(rows[to]))) {
			to++
		}
		if to-from > 1 {
			alike = append(alike, stretch{from, to})
		}
		from = to
	}
	if s.weigh(); len(alike) == 0 {
		return ctx.Err()
	}
	for at := 0; at < len(s.later) && len(alike) > 0; at += leadKeys {
		keys := s.later[at:min(at+leadKeys, len(s.later))]
		tasks := tasksOf(alike)
		still := make([][]stretch, len(tasks))
		err := Spread(ctx, len(tasks), workers, func(i int) (err error) {
			still[i], err = s.settleTask(ctx, rows, tasks[i], keys)
			return err
		})
		if err != nil {
			return err
		}
		alike = slices.Concat(still...)
	}
	return nil
}

// tasksOf cuts stretches into lists of about settleRows rows.
func tasksOf(list []stretch) (tasks [][]stretch) {
	from, rows := 0, 0
	for i, a := range list {
		if rows += a.to - a.from; rows >= settleRows || i == len(list)-1 {
			tasks = append(tasks, list[from:i+1])
			from, rows = i+1, 0
		}
	}
	return tasks
}

// settleTask orders the rows of each stretch by further keys and returns the stretches that are still alike.
func (s *sorter) settleTask(ctx context.Context, rows []uint32, list []stretch, order []expr.SortKey) (still []stretch,
	err error) {
	var of []uint32 // the rows of all stretches
	for _, a := range list {
		of = append(of, rows[a.from:a.to]...)
	}
	bytes := int64(len(of)) * (sortBytes + 4)
	if err := s.budget.Reserve(bytes); err != nil {
		return nil, err
	}
	t := &sorter{order: order, budget: s.budget}
	defer func() { s.budget.Release(bytes + t.reserved) }()
	if err := s.keysOf(ctx, t, of); err != nil {
		return nil, err
	}
	entries, places := t.entries()
	w := wordSorter{s: t, spare: make([]entry, len(entries)), cancelled: ctx.Err}
	for at := 0; len(list) > 0; list = list[1:] {
		a, n := list[0], list[0].to-list[0].from
		part := entries[at : at+n]
		w.sort(part)
		if w.err != nil {
			return nil, w.err
		}
		for i, e := range part {
			rows[a.from+i] = of[places[e.row/chunkRows]+int(e.row%chunkRows)]
		}
		still = t.alike(still, part, a.from)
		at += n
	}
	return still, nil
}

// alike appends the stretches of sorted entries with equal keys, for the rows from a position on.
func (s *sorter) alike(to []stretch, list []entry, place int) []stretch {
	for from := 0; from < len(list); {
		end := from + 1
		for end < len(list) && list[end].prefix == list[from].prefix &&
			bytes.Equal(s.key(int(list[from].row)), s.key(int(list[end].row))) {
			end++
		}
		if end-from > 1 {
			to = append(to, stretch{place + from, place + end})
		}
		from = end
	}
	return to
}

// entries are the entries of all rows, and the place of the first row of each chunk among them.
func (s *sorter) entries() (list []entry, places []int) {
	list = make([]entry, s.n)
	at := 0
	for i, c := range s.chunks {
		places = append(places, at)
		s.fill(list[at:at+len(c.ends)], i)
		at += len(c.ends)
	}
	return list, places
}

// keysOf gives t, which has no rows, keys for rows of s. The budget counts them as what t has reserved.
func (s *sorter) keysOf(ctx context.Context, t *sorter, rows []uint32) error {
	keys := s.laterKeys(t.order)
	var part vector.Batch
	for from := 0; from < len(rows); {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := s.portion(rows, from)
		s.gatherColumns(&part, rows[from:to], keys.need)
		from = to
		if err := keys.eval(&part); err != nil {
			return err
		}
		more := keys.bytes(part.N)
		if err := s.budget.Reserve(more); err != nil {
			return err
		}
		t.reserved += more
		c, err := t.room(part.N)
		if err != nil {
			return err
		}
		if len(c.ends) == 0 {
			c.keys = slices.Grow(c.keys, int(min(more*int64(len(rows)-from+part.N)/int64(part.N), fullBytes+more)))
		}
		for i := range part.N {
			c.keys = keys.append(c.keys, i)
			c.ends = append(c.ends, len(c.keys))
		}
		t.n += part.N
	}
	return nil
}

// laterKeys computes keys of rows that are kept.
type laterKeys struct {
	order   []expr.SortKey
	program *expr.Program
	need    []bool // the columns that keys are made of
	out     []*vector.Vector
}

func (s *sorter) laterKeys(order []expr.SortKey) *laterKeys {
	k := &laterKeys{order: order, program: mustCompile(expr.KeyExprs(order), s.budget),
		need: make([]bool, len(s.types)), out: make([]*vector.Vector, len(order))}
	for _, o := range order {
		expr.EachColumn(o.Expr, func(c *expr.Column) { k.need[c.Index] = true })
	}
	return k
}

// eval computes the keys of a batch; there may be none.
func (k *laterKeys) eval(b *vector.Batch) error {
	if len(k.order) == 0 {
		return nil
	}
	return k.program.Eval(b, k.out)
}

// bytes is what the keys of the batch take that was evaluated last, of n rows.
func (k *laterKeys) bytes(n int) (bytes int64) {
	for _, v := range k.out {
		bytes += keyBytes(v, n)
	}
	return bytes
}

// append appends the keys of row i of the batch that was evaluated last.
func (k *laterKeys) append(dst []byte, i int) []byte {
	for n, v := range k.out {
		if v != nil {
			dst = expr.AppendSortKey(dst, v, i, k.order[n].Desc, k.order[n].NullsFirst)
		}
	}
	return dst
}
