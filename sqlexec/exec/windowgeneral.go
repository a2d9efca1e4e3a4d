package exec

import (
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// growing is an aggregate over a frame that takes up rows.
type growing struct {
	state  *expr.State
	lo     int            // where the frame begins
	result *vector.Vector // of the frame; nil: not known
	fresh  bool           // row given of the column has the result
	given  int
	n      int      // rows that wait
	groups []uint32 // all 0
	rows   []uint32 // scratch
	picked []*vector.Vector
}

func (g *growing) begin(state *expr.State) {
	g.state, g.result = state, nil
	state.Grow(1)
}

func (g *growing) free() {
	if g.state != nil {
		g.state.Free()
		g.state = nil
	}
}

// general computes an aggregate that has no loop here: rows are added as a frame grows, and it begins anew where a
// frame lost rows.
func (r *framer) general() error {
	g := &r.grown
	g.fresh = g.fresh && r.n > 0 // the column may be another one
	for k, lo := range r.lo {
		r.frame(lo, r.hi[k])
		if g.state == nil || lo != g.lo {
			g.free()
			g.begin(r.f.Agg.Within(r.memory))
			g.lo, r.high.at = lo, lo
		}
		r.low.at = lo
		if err := r.extend(r.hi[k]); err != nil {
			return err
		}
		if err := r.give(); err != nil {
			return err
		}
	}
	return nil
}

// extend adds the rows up to a place that pass the FILTER, as many at a time whatever pages they are in.
func (r *framer) extend(to int) error {
	g := &r.grown
	err := r.high.walk(to, func(page *rowPage, a, b int) error {
		for a < b {
			g.rows = g.rows[:0]
			for ; a < b && g.n+len(g.rows) < checkRows; a++ {
				if r.counting(page, a) {
					g.rows = append(g.rows, uint32(a))
				}
			}
			r.wait(page)
			if g.n < checkRows {
				continue
			}
			if err := r.addWaiting(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.addWaiting()
}

// wait copies rows that are to be added.
func (r *framer) wait(page *rowPage) {
	g := &r.grown
	for len(g.picked) < r.argCount {
		g.picked = append(g.picked, &vector.Vector{})
	}
	for k, v := range g.picked {
		from := page.cols[r.args+k]
		if g.n == 0 {
			v.Reset(from.Type)
		}
		v.AppendRows(g.n, from, g.rows)
	}
	g.n += len(g.rows)
}

// addWaiting adds the rows that wait.
func (r *framer) addWaiting() error {
	g := &r.grown
	if g.n == 0 {
		return nil
	}
	for len(g.groups) < g.n {
		g.groups = append(g.groups, 0)
	}
	g.result = nil
	n := g.n
	g.n = 0
	return g.state.Add(n, g.groups[:n], g.picked, nil)
}

// give appends the result. Rows with the same result share its bytes.
func (r *framer) give() error {
	g, v := &r.grown, r.out
	if g.result == nil {
		var err error
		if g.result, err = g.state.Result(1); err != nil {
			return err
		}
		g.fresh = false
	}
	if err := r.room.take(g.result, 0); err != nil { // shared or not: what reads the rows does as much work
		return err
	}
	if g.fresh && v.Type.Kind() == vector.Bytes && !g.result.IsNull(0) {
		v.Views = append(v.Views, v.Views[g.given])
		if v.Valid != nil {
			v.Valid = v.Valid.With(r.n)
		}
	} else {
		v.Append(r.n, g.result, 0, 1)
		g.fresh, g.given = true, r.n
	}
	r.n++
	return nil
}
