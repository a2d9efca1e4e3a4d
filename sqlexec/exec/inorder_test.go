package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"varve/engine/scan"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// pieceList is a scan of given batches, some to a piece; the cursors use the memory of a batch again for the next one.
type pieceList struct {
	mu     sync.Mutex
	pieces [][]*vector.Batch
	fail   int // the cursor that fails after its first batch; -1: none
	next   int
	open   int
}

var errPiece = errors.New("a damaged piece")

func (l *pieceList) Cursor() (scan.Cursor, scan.Range, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == len(l.pieces) {
		return nil, scan.Range{}, false, nil
	}
	l.next++
	l.open++
	return &pieceCursor{l: l, list: l.pieces[l.next-1], fails: l.fail == l.next-1}, scan.Range{}, true, nil
}

type pieceCursor struct {
	l     *pieceList
	list  []*vector.Batch
	own   []vector.Vector
	fails bool
	given int
}

func (c *pieceCursor) Next(b *vector.Batch) (bool, error) {
	if c.fails && c.given > 0 {
		return false, errPiece
	}
	if len(c.list) == 0 {
		return false, nil
	}
	from := c.list[0]
	c.list, c.given = c.list[1:], c.given+1
	b.N, b.Cols = from.N, b.Cols[:0]
	if c.own == nil {
		c.own = make([]vector.Vector, len(from.Cols))
	}
	for i, v := range from.Cols {
		if v.Form == vector.Dict {
			b.Cols = append(b.Cols, v)
			continue
		}
		c.own[i].Reset(v.Type)
		c.own[i].Append(0, v, 0, from.N)
		b.Cols = append(b.Cols, &c.own[i])
	}
	return true, nil
}

func (c *pieceCursor) Close() {
	c.l.mu.Lock()
	c.l.open--
	c.l.mu.Unlock()
}

// cutUp makes pieces of a table: 0 to 5 batches each, in mixed forms.
func cutUp(r *rand.Rand, table *vector.Batch) [][]*vector.Batch {
	var out [][]*vector.Batch
	for from := 0; from < table.N; {
		var p []*vector.Batch
		for range r.IntN(6) {
			if from >= table.N {
				break
			}
			to := min(from+64*(1+r.IntN(8)), table.N)
			b := &vector.Batch{N: to - from}
			for _, c := range table.Cols {
				v := c.Slice(from, to)
				if v.Type.Kind() == vector.Bytes && r.IntN(2) == 0 {
					v = coded(v, b.N)
				}
				b.Cols = append(b.Cols, v)
			}
			p = append(p, b)
			from = to
		}
		out = append(out, p)
	}
	return out
}

func TestInOrderGivesRowsAsOneWorkerDoes(t *testing.T) {
	for seed := range uint64(30) {
		r := newRand(seed)
		specs := []spec{{vector.Int64Type, 1000, true}, {vector.StringType, 50, true}, {vector.FloatType, 100, false}}
		table := randomTable(r, r.IntN(20000), specs...)
		cols := columns(specs...)
		keep, err := Filter([]expr.Expr{call(t, "<", cols[0],
			&expr.Const{Value: vector.ConstInt(vector.Int64Type, r.Int64N(1000))})}, nil)
		if err != nil {
			t.Fatal(err)
		}
		project, err := Project([]expr.Expr{cols[1], call(t, "+", cols[0], cols[0])}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ops := []Operator{keep, project}
		pieces := cutUp(r, table)
		one := &collector{}
		want := run(t, Pipeline{Source: Values(table), Ops: ops, Sink: one}, 1)
		l := &pieceList{pieces: pieces, fail: -1}
		in := newInOrder(context.Background(), l, ops, 1+r.IntN(4))
		var got [][]string
		for b := (vector.Batch{}); ; {
			ok, err := in.Next(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, showRows(&b)...)
		}
		in.Close()
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("seed %d: %d rows of %d, or in another order", seed, len(got), len(want))
		}
		if l.open != 0 {
			t.Errorf("seed %d: %d cursors are open at the end", seed, l.open)
		}
	}
}

// TestInOrderOfLongRows: batches that are large wait for the reader and come in order too.
func TestInOrderOfLongRows(t *testing.T) {
	r := newRand(5)
	table := &vector.Batch{N: 3000, Cols: []*vector.Vector{{Type: vector.StringType}}}
	for i := range table.N {
		table.Cols[0].Append(i, vector.ConstString(fmt.Sprint(i, strings.Repeat(".", 5000))), 0, 1)
	}
	in := newInOrder(context.Background(), &pieceList{pieces: cutUp(r, table), fail: -1}, nil, 4)
	defer in.Close()
	n := 0
	for b := (vector.Batch{}); ; {
		ok, err := in.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		for i := range b.N {
			if got := b.Cols[0].Str(i); got != table.Cols[0].Str(n+i) {
				t.Fatalf("row %d begins with %.10s", n+i, got)
			}
		}
		n += b.N
	}
	if n != table.N {
		t.Errorf("%d rows, want %d", n, table.N)
	}
}

// TestInOrderEnds: with an error of a piece after the rows before it, with the context, and when the reader goes early.
func TestInOrderEnds(t *testing.T) {
	r := newRand(77)
	table := randomTable(r, 50_000, spec{vector.Int64Type, 1000, false})
	pieces := cutUp(r, table)
	fail := len(pieces) / 2
	for len(pieces[fail]) < 2 {
		fail++
	}
	before := pieces[fail][0].N
	for _, p := range pieces[:fail] {
		for _, b := range p {
			before += b.N
		}
	}
	count := func(in Reader, stop int) (n int, err error) {
		for b := (vector.Batch{}); n < stop; {
			ok, err := in.Next(&b)
			if err != nil || !ok {
				return n, err
			}
			n += b.N
		}
		return n, nil
	}
	l := &pieceList{pieces: pieces, fail: fail}
	in := newInOrder(context.Background(), l, nil, 3)
	if n, err := count(in, table.N+1); !errors.Is(err, errPiece) || n != before {
		t.Errorf("a damaged piece: %d rows and %v, want %d and its error", n, err, before)
	}
	in.Close()
	if l.open != 0 {
		t.Errorf("after an error %d cursors are open", l.open)
	}

	l = &pieceList{pieces: pieces, fail: -1}
	ctx, cancel := context.WithCancel(context.Background())
	in = newInOrder(ctx, l, nil, 3)
	if _, err := count(in, table.N/2); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := count(in, 2*table.N); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the request: %v", err)
	}
	in.Close()

	l = &pieceList{pieces: pieces, fail: -1}
	in = newInOrder(context.Background(), l, nil, 3)
	if _, err := count(in, table.N/3); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if l.open != 0 {
		t.Errorf("after a reader that left %d cursors are open", l.open)
	}
}

// TestInOrderMeasured: what is measured is read by as many workers, in the same order, and every row is counted once.
func TestInOrderMeasured(t *testing.T) {
	r := newRand(5)
	table := randomTable(r, 60_000, spec{vector.Int64Type, 1000, true})
	col := &expr.Column{Index: 0, T: vector.Int64Type, Null: true}
	keep, err := Filter([]expr.Expr{call(t, "<", col, expr.Int(0))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cut := cutUp(r, table)
	read := func(from cursors, ops []Operator) (out []int64) {
		in := newInOrder(context.Background(), from, ops, 3)
		defer in.Close()
		for b := (vector.Batch{}); ; {
			ok, err := in.Next(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return out
			}
			for i := range b.N {
				out = append(out, b.Cols[0].Int(i))
			}
		}
	}
	want := read(&pieceList{pieces: cut, fail: -1}, []Operator{keep})
	var scanned, kept Figures
	source := MeasureSource(Values(table), &scanned, true, true).(*measuredSource)
	got := read(&measuredCursors{&pieceList{pieces: cut, fail: -1}, source},
		[]Operator{MeasureOp(keep, &kept, true, true)})
	if !slices.Equal(got, want) {
		t.Errorf("%d rows when it is measured, %d else, or others", len(got), len(want))
	}
	if n := int64(table.N); scanned.Out.Load() != n || kept.In.Load() != n || kept.Out.Load() != int64(len(want)) {
		t.Errorf("scanned %d, into the filter %d, out of it %d; want %d, %d, %d", scanned.Out.Load(), kept.In.Load(),
			kept.Out.Load(), n, n, len(want))
	}
	if scanned.Busy() <= 0 || kept.Busy() <= 0 || !scanned.Began() {
		t.Error("no time was taken")
	}
	if _, ok := InOrder(context.Background(), MeasureSource(Values(table), &scanned, true, true), nil, 3); ok {
		t.Error("what is no scan is read in pieces")
	}
}
