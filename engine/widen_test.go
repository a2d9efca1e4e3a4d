package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// numbers are values of the column n, one a row, by time from at on: all int64, or float64 as well.
func putNumbers(e *Engine, kind modelKind, h Hint, at int64, typ vector.Type, values ...float64) ([]Written, error) {
	var set WriteSet
	own := hintOf(kind)
	h.AutoCreate, h.TimeIndex, h.Tags, h.Options = true, own.TimeIndex, own.Tags, own.Options
	h.Indexes = map[string][]schema.Index{"n": {{Kind: schema.Skipping}}}
	b := set.Rows(public("t"), h)
	ts, err := b.Column("ts", vector.Timestamp(3))
	if err != nil {
		return nil, err
	}
	b.Pin()
	n, err := b.Column("n", typ)
	if err != nil {
		return nil, err
	}
	for i, x := range values {
		b.From(i + 1)
		ts.SetInt(at + int64(i))
		switch typ.Kind() {
		case vector.Int64:
			n.SetInt(int64(x))
		case vector.Uint64:
			n.SetUint(uint64(x))
		case vector.Float64:
			n.SetFloat(x)
		default:
			n.SetString(fmt.Sprint(x))
		}
		b.EndRow()
	}
	return e.Write(ctx, &set)
}

// typeOfN is the type of the column n.
func typeOfN(t *testing.T, e *Engine) vector.Type {
	t.Helper()
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	return tab.Schema.Columns[tab.Schema.Column("n")].Type
}

// checkNumbers holds each way to read the column n against the values, which have the times 0, 1 and so on.
func checkNumbers(t *testing.T, e *Engine, r *rand.Rand, values []float64, when string) {
	t.Helper()
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	id := tab.Schema.Columns[tab.Schema.Column("n")].ID
	near := func() float64 { return values[r.IntN(len(values))] + []float64{0, 0, 0.5, -0.5, 1e9, -1e9}[r.IntN(6)] }
	for range 12 {
		x := near()
		op := []filter.Op{filter.Equal, filter.NotEqual, filter.Less, filter.LessEqual, filter.Greater,
			filter.GreaterEqual}[r.IntN(6)]
		test := map[filter.Op]func(float64) bool{
			filter.Equal: func(v float64) bool { return v == x }, filter.NotEqual: func(v float64) bool {
				return v != x
			}, filter.Less: func(v float64) bool { return v < x },
			filter.LessEqual: func(v float64) bool { return v <= x }, filter.Greater: func(v float64) bool {
				return v > x
			}, filter.GreaterEqual: func(v float64) bool { return v >= x },
		}[op]
		q := query{time: scan.All, newest: r.IntN(2) == 0,
			filter: filter.And{{Column: id, Op: op, Args: &vector.Vector{Type: vector.FloatType, Floats: []float64{x}},
				NArgs: 1}}}
		got, err := scanTable(e, public("t"), q)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		want := []string{}
		for at, v := range values {
			if test(v) {
				want = append(want, modelRow{"ts": int64(at), "n": v}.String())
			}
		}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Fatalf("%s: %d rows with n %v %v, want %d: %.300s", when, len(got), op, x, len(want),
				difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
		}
	}
	s, err := e.Scan(ctx, Request{Table: tab, Columns: []schema.ColumnID{id}, Time: scan.All})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	st, ok, err := s.Stat(id)
	if err != nil {
		t.Fatal(err)
	}
	if ok &&
		(st.Count != len(values) || st.Min.Float(0) != slices.Min(values) || st.Max.Float(0) != slices.Max(values)) {
		t.Errorf("%s: statistics say %d %v %v", when, st.Count, st.Min.Floats, st.Max.Floats)
	}
}

// TestWiden: integers and then floats for one column, whatever state the integers are in: what is stored reads as
// floats in each way, and goes on doing so when it is flushed, merged and read again after a start.
func TestWiden(t *testing.T) {
	for _, kind := range []modelKind{appendOnly, lastRow, lastNonNull} {
		for _, whole := range []vector.Type{vector.Int64Type, vector.Uint64Type} {
			for _, state := range []string{"in memory", "flushed", "half and half", "compacted", "in the log"} {
				t.Run(fmt.Sprint(kind, whole, state), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(kind), uint64(len(state))))
					o := testOptions(vfs.NewMem())
					e := mustOpen(t, o)
					var all []float64
					add := func(typ vector.Type, n int) {
						t.Helper()
						var values []float64
						for range n {
							x := float64(r.IntN(1000)) * float64(r.IntN(1000))
							if typ == vector.FloatType {
								x += 0.5 * float64(r.IntN(2))
							} else if typ == vector.Int64Type && r.IntN(3) == 0 {
								x = 0 - x
							}
							values = append(values, x)
						}
						if out, err := putNumbers(e, kind, Hint{}, int64(len(all)), typ, values...); err != nil ||
							out[0].Rows != n {
							t.Fatal(out, err)
						}
						all = append(all, values...)
					}
					flush := func() {
						t.Helper()
						if err := e.Flush(ctx, public("t")); err != nil {
							t.Fatal(err)
						}
					}
					reopen := func() {
						t.Helper()
						mustClose(t, e)
						e = mustOpen(t, o)
					}
					add(whole, 700)
					switch state {
					case "flushed":
						flush()
					case "half and half":
						flush()
						add(whole, 300)
					case "compacted":
						flush()
						add(whole, 300)
						flush()
						if err := e.Compact(ctx, public("t")); err != nil {
							t.Fatal(err)
						}
					case "in the log":
						reopen()
					}
					add(vector.FloatType, 300)
					if got := typeOfN(t, e); got != vector.FloatType {
						t.Fatalf("the column has the type %s", got)
					}
					checkNumbers(t, e, r, all, "at once")
					add(whole, 200)
					checkNumbers(t, e, r, all, "integers after floats")
					reopen()
					checkNumbers(t, e, r, all, "after a start")
					flush()
					checkNumbers(t, e, r, all, "flushed")
					if err := e.Compact(ctx, public("t")); err != nil {
						t.Fatal(err)
					}
					checkNumbers(t, e, r, all, "compacted")
					reopen()
					checkNumbers(t, e, r, all, "compacted, after a start")
					mustClose(t, e)
				})
			}
		}
	}
}

// TestWidenIsExact: a column of integers that no float has exactly stays one, in memory and flushed, and says why; the
// bound itself is no such.
func TestWidenIsExact(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		for _, c := range []struct {
			x    float64
			want bool
		}{{1 << 53, true}, {-(1 << 53), true}, {1<<53 + 2, false}, {-(1<<53 + 2), false}} {
			e := mustOpen(t, testOptions(vfs.NewMem()))
			if _, err := putNumbers(e, appendOnly, Hint{}, 0, vector.Int64Type, 1, c.x, 2); err != nil {
				t.Fatal(err)
			}
			if flushed {
				if err := e.Flush(ctx, public("t")); err != nil {
					t.Fatal(err)
				}
			}
			_, err := putNumbers(e, appendOnly, Hint{}, 3, vector.FloatType, 0.5)
			if (err == nil) != c.want || err != nil &&
				!strings.Contains(err.Error(), "column n expect type Int64, given: Float64: it holds the integer ") {
				t.Errorf("%v, flushed %v: %v", c.x, flushed, err)
			}
			refused := 0
			_, err = putNumbers(e, appendOnly, Hint{Reject: func(entry int, why error) { refused += entry }}, 4,
				vector.FloatType, 0.5, 1.5)
			if err != nil || (refused == 0) != c.want {
				t.Errorf("%v, flushed %v, where rows may be refused: %d, %v", c.x, flushed, refused, err)
			}
			mustClose(t, e)
		}
	}
}

// TestStrictNumbers: the strict form keeps integers and floats apart, in both orders.
func TestStrictNumbers(t *testing.T) {
	for _, c := range [][2]vector.Type{{vector.Int64Type, vector.FloatType}, {vector.FloatType, vector.Int64Type}} {
		e := mustOpen(t, testOptions(vfs.NewMem()))
		if _, err := putNumbers(e, appendOnly, Hint{}, 0, c[0], 1); err != nil {
			t.Fatal(err)
		}
		if _, err := putNumbers(e, appendOnly, Hint{StrictNumbers: true}, 1, c[1], 1); status.Of(err) !=
			status.InvalidArguments ||
			!strings.Contains(err.Error(), fmt.Sprintf("column n expect type %s, given: %s", c[0], c[1])) {
			t.Error(err)
		}
		if got := typeOfN(t, e); got != c[0] {
			t.Errorf("the column has the type %s", got)
		}
		mustClose(t, e)
	}
}

// TestNumbersOfTwoWriters: two bring a new column at once, one with integers, one with floats. Both are stored, each
// time.
func TestNumbersOfTwoWriters(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.NoBackground = false
	e := mustOpen(t, o)
	defer mustClose(t, e)
	const rounds = 60
	for round := range rounds {
		name := public(fmt.Sprint("t", round))
		var writing sync.WaitGroup
		for k, typ := range []vector.Type{vector.Int64Type, vector.FloatType, vector.Int64Type, vector.FloatType} {
			writing.Go(func() {
				var set WriteSet
				b := set.Rows(name, hintOf(appendOnly))
				ts, _ := b.Column("ts", vector.Timestamp(3))
				b.Pin()
				n, _ := b.Column("n", typ)
				for i := range 10 {
					ts.SetInt(int64(100*k + i))
					if typ == vector.Int64Type {
						n.SetInt(7)
					} else {
						n.SetFloat(7)
					}
					b.EndRow()
				}
				if out, err := e.Write(ctx, &set); err != nil || out[0].Rows != 10 {
					t.Error(out, err)
				}
			})
		}
		writing.Wait()
		lines, err := scanTable(e, name, everything)
		if err != nil || len(lines) != 40 || strings.Count(strings.Join(lines, ""), "n=7 ") != 40 {
			t.Errorf("round %d: %d rows, %v: %.200s", round, len(lines), err, lines)
		}
	}
}
