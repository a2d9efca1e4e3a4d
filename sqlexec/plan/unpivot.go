package plan

import (
	"strconv"
	"strings"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Unpivot makes several rows of each row: one for each of Names, with the name and the values of its columns. There is
// no row for a name whose values are all NULL, unless Nulls is set.
type Unpivot struct {
	Input  Node
	Passed []int // columns of the input that each row repeats
	Names  []string
	// Sets[k][i] is the input's column with the k-th value of Names[i]; the columns of a set are of one type
	Sets  [][]int
	Nulls bool
	Cols  []Column // those passed, the name, then one of values for each set
}

// Columns are those passed on, the name and the values.
func (n *Unpivot) Columns() []Column { return n.Cols }

func (n *Unpivot) line() string { return "Unpivot: " + strings.Join(n.Names, ", ") }

// unpivot binds UNPIVOT as an Unpivot over a projection of the repeated columns and the values; the values of one set
// have one type.
func (b *binder) unpivot(u *parse.Unpivot, out *outer) (Node, error) {
	sc, err := b.source(u.Source, out)
	if err != nil {
		return nil, err
	}
	cols := sc.cols
	choices, err := b.unpivoted(u, sc)
	if err != nil {
		return nil, err
	}
	used := map[int]bool{}
	for _, c := range choices {
		for _, x := range c.parts {
			sc.uses(x, used)
		}
	}
	s := &parse.Select{Node: u.Node, From: []parse.TableRef{u.Source}}
	for i := range cols {
		if !used[i] && !cols[i].Shadow && !cols[i].Hidden {
			s.Items = append(s.Items, named(columnSlot(u.Node, i, cols), cols[i].Name))
		}
	}
	n := &Unpivot{Passed: identity(len(s.Items)), Nulls: u.Nulls, Sets: make([][]int, len(u.Values))}
	for _, c := range choices {
		n.Names = append(n.Names, c.name)
		for k, x := range c.parts {
			n.Sets[k] = append(n.Sets[k], len(s.Items))
			s.Items = append(s.Items, named(x, strconv.Itoa(len(s.Items))))
		}
	}
	in, err := b.selectBlock(s, &parse.Query{Node: u.Node}, out)
	if err != nil {
		return nil, err
	}
	n.Cols = append(append(n.Cols, in.Columns()[:len(n.Passed)]...), Column{Name: u.Name.Name, Type: vector.StringType})
	p := &Project{Input: in, Cols: append([]Column(nil), in.Columns()...)}
	for i := range p.Cols {
		p.Exprs = append(p.Exprs, (&scope{cols: p.Cols}).column(i))
	}
	for k, set := range n.Sets {
		t, err := b.oneType(p, set)
		if err != nil {
			return nil, parse.PlaceError(err, u.Position())
		}
		n.Cols = append(n.Cols, Column{Name: u.Values[k].Name, Type: t, Nullable: true})
	}
	n.Input = p
	return rename(n, u.Alias, "")
}

// oneType casts some columns of a projection to the type that they have in common.
func (b *binder) oneType(p *Project, set []int) (vector.Type, error) {
	list := make([]expr.Expr, len(set))
	for i, at := range set {
		list[i] = p.Exprs[at]
	}
	t, err := expr.CommonType(list)
	if err != nil {
		return t, err
	}
	for _, at := range set {
		if p.Exprs[at], err = b.ctx.Cast(p.Exprs[at], t, false); err != nil {
			return t, err
		}
		p.Cols[at].Type = t
	}
	return t, nil
}

func (o *optimizer) pruneUnpivot(u *Unpivot, need []bool) (Node, []int) {
	below := make([]bool, len(u.Input.Columns()))
	for i, at := range u.Passed {
		below[at] = need[i]
	}
	for _, set := range u.Sets {
		for _, at := range set {
			below[at] = true
		}
	}
	in, m := o.prune(u.Input, below)
	out := *u
	out.Input, out.Passed, out.Cols, out.Sets = in, nil, nil, make([][]int, len(u.Sets))
	for k, set := range u.Sets {
		for _, at := range set {
			out.Sets[k] = append(out.Sets[k], m[at])
		}
	}
	places := make([]int, len(u.Cols))
	for i, c := range u.Cols {
		if i < len(u.Passed) {
			if !need[i] {
				places[i] = -1
				continue
			}
			out.Passed = append(out.Passed, m[u.Passed[i]])
		}
		places[i] = len(out.Cols)
		out.Cols = append(out.Cols, c)
	}
	return &out, places
}

// pushUnpivot moves conditions on what each row repeats below.
func (o *optimizer) pushUnpivot(u *Unpivot, conds []expr.Expr) Node {
	var down, up []expr.Expr
	for _, c := range conds {
		if _, made := sides(c, len(u.Passed)); made {
			up = append(up, c)
		} else {
			down = append(down, remap(c, u.Passed))
		}
	}
	return filterOver(u.over([]Node{o.push(u.Input, down)}), up)
}
