package expr

import (
	"encoding/binary"
	"fmt"
	"math"

	"varve/engine/vector"
)

// An expression that several places of a program need is computed once a batch: the first place that needs its values
// computes them, and later places take them. So nothing is computed that no place needs. A branch of a CASE that looks
// at some rows only, for example after an error among all of them, computes the values of these rows by itself.

// compiler makes the nodes of one program.
type compiler struct {
	run    *batchRun
	ids    numbering
	uses   map[int]int         // by number of an expression: in how many places it is
	shared map[int]*sharedNode // those in several
}

// batchRun is the evaluation of a program that is under way.
type batchRun struct {
	b *vector.Batch
	n uint64 // counts evaluations

	memory Memory // nil: no bound
	untold int64  // bytes that memory does not know of yet
	told   int64  // bytes that it knows of
}

// sharedNode is an expression that is computed once for all its places.
type sharedNode struct {
	node node
	run  *batchRun
	done uint64 // the evaluation that v belongs to
	v    *vector.Vector
}

// placeNode is one place of a shared expression.
type placeNode struct {
	of  *sharedNode
	e   Expr
	own node // computes rows that are not those of the batch; nil: not needed so far
}

func (p *placeNode) eval(b *vector.Batch) (*vector.Vector, error) {
	s := p.of
	if b != s.run.b {
		if p.own == nil {
			var err error
			if p.own, err = (&compiler{run: s.run}).node(p.e); err != nil {
				return nil, err
			}
		}
		return p.own.eval(b)
	}
	if s.done != s.run.n {
		v, err := s.node.eval(b)
		if err != nil {
			return nil, err
		}
		s.v, s.done = v, s.run.n
	}
	return s.v, nil
}

// newCompiler counts the subexpressions that stand in several places.
func newCompiler(exprs []Expr, run *batchRun) *compiler {
	c := &compiler{run: run, ids: newNumbering(), uses: map[int]int{}, shared: map[int]*sharedNode{}}
	for _, e := range exprs {
		c.count(e)
	}
	return c
}

// count counts the places of e and of the expressions in it. If e was counted before, the expressions in it have one
// place, like e.
func (c *compiler) count(e Expr) {
	switch e.(type) {
	case *Column, *Const:
		return
	}
	id := c.ids.of(e)
	if c.uses[id]++; c.uses[id] > 1 {
		return
	}
	for _, in := range inputs(e) {
		c.count(in)
	}
}

// node compiles an expression.
func (c *compiler) node(e Expr) (node, error) {
	switch e := e.(type) {
	case *Column:
		return &columnNode{e}, nil
	case *Const:
		return &constNode{e.Value}, nil
	}
	if c.uses == nil {
		return c.single(e)
	}
	id := c.ids.of(e)
	if c.uses[id] < 2 {
		return c.single(e)
	}
	s := c.shared[id]
	if s == nil {
		n, err := c.single(e)
		if err != nil {
			return nil, err
		}
		s = &sharedNode{node: n, run: c.run}
		c.shared[id] = s
	}
	return &placeNode{of: s, e: e}, nil
}

// nodes compiles a list.
func (c *compiler) nodes(list []Expr) ([]node, error) {
	nodes := make([]node, len(list))
	for i, e := range list {
		var err error
		if nodes[i], err = c.node(e); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// numbering gives equal computations the same number. A volatile expression equals no other.
type numbering struct {
	ids   map[string]int
	known map[Expr]int
	next  int
}

func newNumbering() numbering { return numbering{ids: map[string]int{}, known: map[Expr]int{}} }

func (n *numbering) of(e Expr) int {
	if id, ok := n.known[e]; ok {
		return id
	}
	key, ok := n.key(e)
	id, seen := n.ids[key]
	if !ok || !seen {
		id = n.next
		n.next++
		if ok {
			n.ids[key] = id
		}
	}
	n.known[e] = id
	return id
}

// key identifies the computation of an expression; ok is false if its result differs from call to call.
func (n *numbering) key(e Expr) (key string, ok bool) {
	t := e.Type()
	b := []byte{byte(t.ID), t.Precision, t.Scale}
	switch e := e.(type) {
	case *Column:
		return string(binary.AppendUvarint(append(b, 'c'), uint64(e.Index))), true
	case *Const:
		return string(appendConst(append(b, 'k'), e.Value)), true
	case *Call:
		if e.Fn.volatile {
			return "", false
		}
		b = fmt.Appendf(append(b, 'f'), "%s %q ", e.Fn.Name, e.bound)
	case *Cast:
		b = fmt.Appendf(append(b, 't'), "%v %p ", e.Try, e.zone)
	case *In:
		b = fmt.Appendf(append(b, 'i'), "%v %p ", e.Not, e.Values)
	case *Case:
		b = fmt.Appendf(append(b, 's'), "%d %v ", len(e.When), e.Else != nil)
	default:
		return "", false
	}
	for _, in := range inputs(e) {
		b = binary.AppendUvarint(b, uint64(n.of(in)))
	}
	return string(b), true
}

// appendConst appends the bits of a value of one row.
func appendConst(b []byte, v *vector.Vector) []byte {
	if v.IsNull(0) {
		return append(b, 0)
	}
	b = append(b, 1)
	switch v.Type.Kind() {
	case vector.Bool:
		return append(b, byte(vector.Bit(v.Bool(0))))
	case vector.Int64:
		return binary.LittleEndian.AppendUint64(b, uint64(v.Int(0)))
	case vector.Uint64:
		return binary.LittleEndian.AppendUint64(b, v.Uint(0))
	case vector.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float(0)))
	}
	return append(b, v.Bytes(0)...)
}

// boundKey says which constants are among the arguments that a function was bound with.
func boundKey(args []Expr) string {
	var b []byte
	for _, a := range args {
		t := a.Type()
		b = append(b, byte(t.ID), t.Precision, t.Scale)
		if k, ok := a.(*Const); ok {
			value := appendConst(nil, k.Value)
			b = append(binary.AppendUvarint(append(b, 'k'), uint64(len(value))), value...)
		}
	}
	return string(b)
}

// Same reports whether two calls are calls of one function that was bound alike: with equal arguments they give equal
// results.
func (c *Call) Same(o *Call) bool { return c.Fn == o.Fn && c.T == o.T && c.bound == o.bound }

// Shared groups the expressions of a list that have common parts worth computing once. Expressions with the same number
// belong together; the number is the position of the first of them.
func Shared(list []Expr) []int {
	groups := make([]int, len(list))
	ids, first := newNumbering(), map[int]int{}
	var join func(i int, e Expr)
	join = func(i int, e Expr) {
		switch e.(type) {
		case *Column, *Const:
			return
		}
		id := ids.of(e)
		if at, ok := first[id]; ok {
			from, to := max(groups[i], groups[at]), min(groups[i], groups[at])
			for k := range groups[:i+1] {
				if groups[k] == from {
					groups[k] = to
				}
			}
			return
		}
		first[id] = i
		for _, in := range inputs(e) {
			join(i, in)
		}
	}
	for i, e := range list {
		groups[i] = i
		join(i, e)
	}
	return groups
}

// AllOf is true where all BOOLEAN expressions of a list are.
func AllOf(list []Expr) Expr {
	if len(list) == 1 {
		return list[0]
	}
	return &Call{Fn: functions["and"], Args: list, T: vector.BoolType}
}
