package expr

import (
	"encoding/json"

	"varve/engine/vector"
)

// Lambdas are expressions over the elements of lists: their columns are the parameters and, behind these, values of the
// row that the list is of, which are arguments of the call. They are computed for a batch of elements at a time, of as
// many rows as have them.

// Lambda is what the lambda of a call computes.
type Lambda struct {
	Text string // as written
	Body Expr
	// Params are the columns of Body that the function provides: the element and its position in the list from 1; for
	// array_reduce, the result so far comes first. The following columns are the arguments of the call after the list.
	Params int
	// Starts says that the last argument of the call is the value that array_reduce begins with.
	Starts bool
}

// LambdaForm is what a function gives its lambda.
type LambdaForm uint8

// The forms.
const (
	NoLambda LambdaForm = iota
	MapForm             // the element and its place, the latter at will
	FoldForm            // the result so far, the element and, at will, its place
)

// lambdaFunction is a function with a lambda.
type lambdaFunction struct {
	names []string
	form  LambdaForm
	does  lambdaWork
}

type lambdaWork uint8

const (
	transforms lambdaWork = iota
	filters
	reduces
	anyMatch
	allMatch
	noneMatch
)

var lambdaFunctions = map[string]*lambdaFunction{}

func init() {
	for _, f := range []*lambdaFunction{
		{[]string{"list_transform", "array_transform", "list_apply", "array_apply"}, MapForm, transforms},
		{[]string{"list_filter", "array_filter"}, MapForm, filters},
		{[]string{"list_reduce", "array_reduce"}, FoldForm, reduces},
		{[]string{"any_match", "list_any_match", "array_any_match"}, MapForm, anyMatch},
		{[]string{"all_match", "list_all_match", "array_all_match"}, MapForm, allMatch},
		{[]string{"none_match", "list_none_match", "array_none_match"}, MapForm, noneMatch},
	} {
		most := 2
		if f.does == reduces {
			most = 3
		}
		register(&Function{lazy: true, makesNull: true, min: 2, max: most,
			bind: func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
				return nil, vector.NullType, nil,
					planError("function '%s' takes a lambda, such as x -> x + 1", f.names[0])
			}}, f.names...)
		for _, n := range f.names {
			lambdaFunctions[n] = f
		}
	}
}

// LambdaOf is the form of the lambda that a function takes.
func LambdaOf(function string) LambdaForm {
	if f := lambdaFunctions[function]; f != nil {
		return f.form
	}
	return NoLambda
}

// CallLambda binds a function with a lambda to a list and to the values that the lambda takes from its row. The list of
// array_reduce may have a first result before it: start, or nil, which is of the type of the lambda's body.
func (c *Context) CallLambda(function string, list Expr, start Expr, row []Expr, l *Lambda) (Expr, error) {
	f := lambdaFunctions[function]
	t := l.Body.Type()
	switch f.does {
	case transforms:
		if t == vector.NullType {
			t = list.Type().Elem()
		}
		t = vector.List(t)
	case reduces:
	default:
		if t != vector.BoolType && t != vector.NullType {
			return nil, planError("function '%s' takes a lambda that gives BOOLEAN, found %s of type %s", f.names[0],
				l.Text, t)
		}
		body, err := c.Cast(l.Body, vector.BoolType, false)
		if err != nil {
			return nil, err
		}
		l = &Lambda{Text: l.Text, Body: body, Params: l.Params}
		if t = vector.BoolType; f.does == filters {
			t = list.Type()
		}
	}
	args := append([]Expr{list}, row...)
	fn := functions[f.names[0]]
	if Varies(l.Body) {
		volatile := *fn
		volatile.volatile = true
		fn = &volatile
	}
	call := &Call{Fn: fn, T: t, Args: args, bound: l.Text + " " + l.Body.String(), lambda: l}
	if start != nil {
		l.Starts = true
		call.Args, call.bound = append(args, start), call.bound+" from"
	}
	if k, ok := list.(*Const); fn.volatile || ok && len(k.Value.Heap) > smallText {
		return call, nil // a long list is left to the query, which can be ended
	}
	return c.fold(call)
}

// lambdaNode computes a function with a lambda.
type lambdaNode struct {
	call  *Call
	does  lambdaWork
	args  []node
	body  *Program
	run   *batchRun
	in    []*vector.Vector // the arguments, Flat
	flat  []vector.Vector  // scratch of in
	value vector.Vector    // scratch of what the body gives
	out   vector.Vector
	held  int64
	heap  heapRoom // of out

	// Of the elements that are computed together:
	rows     []uint32          // the row of each
	raw      []json.RawMessage // as the list has them
	elements vector.Vector
	places   vector.Vector
	params   vector.Batch    // of the body, with the row's values behind them
	ofRow    []vector.Vector // scratch of those
	answer   []*vector.Vector
	count    int // elements of the open row that were answered
	open     int // the row whose result is being made
	begin    int // where its text begins
}

func (c *compiler) lambda(e *Call) (node, error) {
	args, err := c.nodes(e.Args)
	if err != nil {
		return nil, err
	}
	body, err := CompileWithin([]Expr{e.lambda.Body}, c.run.memory)
	n := &lambdaNode{call: e, does: lambdaFunctions[e.Fn.Name].does, args: args, body: body, run: c.run,
		in: make([]*vector.Vector, len(args)), flat: make([]vector.Vector, len(args)),
		answer: make([]*vector.Vector, 1)}
	return n, err
}

func (l *lambdaNode) eval(b *vector.Batch) (*vector.Vector, error) {
	n, constant := b.N, !l.call.Fn.volatile
	for i, a := range l.args {
		v, err := a.eval(b)
		if err != nil {
			return nil, err
		}
		l.in[i] = v
		constant = constant && v.Form == vector.Const
	}
	if constant {
		n = 1
	}
	for i, v := range l.in {
		l.in[i] = flatten(v, n, &l.flat[i])
	}
	l.out = vector.Vector{Type: l.call.T, Bools: l.out.Bools[:0], Ints: l.out.Ints[:0], Uints: l.out.Uints[:0],
		Floats: l.out.Floats[:0],
		Views:  l.out.Views[:0], Heap: l.out.Heap[:0], Room: l.heap.room(l.run, &l.held)}
	var err error
	if l.does == reduces {
		err = l.reduce(n)
	} else {
		err = l.each(n)
	}
	l.out.Room = nil
	if e := l.grown(0); err == nil {
		err = e
	}
	if constant {
		v := l.out
		v.Form = vector.Const
		return &v, err
	}
	return &l.out, err
}

// grown counts the memory of the node's vectors and of more bytes beside them, where that is more than ever before.
func (l *lambdaNode) grown(more int) error {
	bytes := heldBytes(&l.out) + heldBytes(&l.elements) + int64(more)
	if bytes <= l.held {
		return nil
	}
	grown := bytes - l.held
	l.held = bytes
	return l.run.hold(grown)
}

// cancelled is nil as long as the query runs.
func (l *lambdaNode) cancelled() error {
	if l.run.memory == nil {
		return nil
	}
	return l.run.memory.Err()
}

// each answers the elements of n rows, a batch at a time.
func (l *lambdaNode) each(n int) error {
	l.out.Valid = vector.MakeBitmap(n)
	l.out.Valid.Fill(n)
	if l.call.T == vector.BoolType {
		l.out.Bools = l.out.Bools.Emptied(n)
	}
	l.clear()
	l.begun(0)
	list := l.in[0]
	for i := range n {
		if list.IsNull(i) {
			continue
		}
		for k, m := range listItems(list.Bytes(i)) {
			l.add(i, k, m)
			if len(l.rows) == vector.Size {
				if err := l.flush(); err != nil {
					return err
				}
			}
		}
	}
	if err := l.flush(); err != nil {
		return err
	}
	return l.advance(n)
}

func (l *lambdaNode) clear() {
	l.rows, l.raw = l.rows[:0], l.raw[:0]
	l.elements.Reset(l.in[0].Type.Elem())
	l.places.Reset(vector.Int64Type)
}

// add takes an element, the k'th of row i.
func (l *lambdaNode) add(i, k int, m json.RawMessage) {
	at := len(l.rows)
	if !appendFromJSON(&l.elements, l.elements.Type, at, m) {
		l.elements.AppendNulls(at, 1)
	} else if l.elements.Valid != nil {
		l.elements.Valid = l.elements.Valid.With(at)
	}
	l.rows, l.raw, l.places.Ints = append(l.rows, uint32(i)), append(l.raw, m), append(l.places.Ints, int64(k)+1)
}

// compute returns the body's values for rows of its parameters and the values of the rows that these are of.
func (l *lambdaNode) compute(params []*vector.Vector, row []*vector.Vector, rows []uint32) (*vector.Vector, error) {
	if err := l.cancelled(); err != nil {
		return nil, err
	}
	if len(l.ofRow) < len(row) {
		l.ofRow = make([]vector.Vector, len(row))
	}
	l.params.N, l.params.Cols = len(rows), append(l.params.Cols[:0], params...)
	for i, v := range row {
		l.ofRow[i].Gather(v, rows)
		l.params.Cols = append(l.params.Cols, &l.ofRow[i])
	}
	if err := l.body.Eval(&l.params, l.answer); err != nil {
		return nil, err
	}
	return flatten(l.answer[0], len(rows), &l.value), nil
}

// flush answers the elements that there are.
func (l *lambdaNode) flush() error {
	if len(l.rows) == 0 {
		return nil
	}
	v, err := l.compute([]*vector.Vector{&l.elements, &l.places}, l.in[1:], l.rows)
	if err != nil {
		return err
	}
	for k, r := range l.rows {
		if err := l.advance(int(r)); err != nil {
			return err
		}
		switch {
		case l.does == transforms:
			if err := checkHeap(&l.out, JSONSize(v, k)+listMarks); err != nil {
				return err
			}
			l.comma()
			l.out.Heap = AppendJSON(l.out.Heap, v, k)
		case l.does == filters:
			if !v.IsNull(k) && v.Bool(k) {
				if err := checkHeap(&l.out, int64(len(l.raw[k]))+listMarks); err != nil {
					return err
				}
				l.comma()
				l.out.Heap = append(l.out.Heap, l.raw[k]...)
			}
		default:
			l.match(int(r), v, k)
		}
	}
	l.clear()
	return nil
}

func (l *lambdaNode) comma() {
	if l.count++; l.count > 1 {
		l.out.Heap = append(l.out.Heap, ',')
	}
}

// begun begins the result of a row.
func (l *lambdaNode) begun(row int) {
	l.open, l.count, l.begin = row, 0, len(l.out.Heap)
	if l.does != transforms && l.does != filters {
		return
	}
	l.out.Heap = append(l.out.Heap, '[')
}

// advance ends the results of the rows before row, those without elements among them.
func (l *lambdaNode) advance(row int) error {
	lists := l.does == transforms || l.does == filters
	for l.open < row {
		i := l.open
		if null := l.in[0].IsNull(i); null {
			l.out.Valid.Clear(i)
			l.out.Heap = l.out.Heap[:l.begin]
		} else if lists {
			l.out.Heap = append(l.out.Heap, ']')
		} else if l.count == 0 && l.does != anyMatch { // nothing has decided it
			l.out.Bools.Set(i)
		}
		if lists {
			if err := endText(&l.out, l.begin); err != nil {
				return err
			}
		}
		l.begun(i + 1)
	}
	return nil
}

// match notes an answer of row i. Until one decides, count is 0; an unknown answer makes the row NULL until then.
func (l *lambdaNode) match(i int, v *vector.Vector, k int) {
	switch decided := l.count > 0 && l.out.Valid.Get(i); {
	case decided:
	case v.IsNull(k):
		l.count++
		l.out.Valid.Clear(i)
	case v.Bool(k) == (l.does != allMatch):
		l.count++
		l.out.Valid.Set(i)
		if l.does == anyMatch {
			l.out.Bools.Set(i)
		}
	}
}

// reduce folds the lists of n rows: the first elements of all of them, then the second ones of those that have more,
// and so on.
func (l *lambdaNode) reduce(n int) error {
	f := &folding{lambdaNode: l, row: l.in[1:], from: make([]uint32, n+1), done: &vector.Vector{Type: l.call.T},
		place: make([]uint32, n)}
	var start *vector.Vector
	if l.call.lambda.Starts {
		start, f.row = f.row[len(f.row)-1], f.row[:len(f.row)-1]
	}
	l.clear()
	for i := range n {
		if !l.in[0].IsNull(i) {
			for k, m := range listItems(l.in[0].Bytes(i)) {
				if len(l.rows)%vector.Size == 0 {
					if err := l.grown(itemBytes * (len(l.rows) + vector.Size)); err != nil {
						return err
					}
				}
				l.add(i, k, m)
			}
			if start == nil && len(l.rows) == int(f.from[i]) {
				return execError("%s of an empty list needs a first value: %s(list, lambda, value)", l.call.Fn.Name,
					l.call.Fn.Name)
			}
		}
		f.from[i+1] = uint32(len(l.rows))
	}
	f.first(n, start)
	for len(f.active) > 0 {
		if err := f.step(); err != nil {
			return err
		}
	}
	l.out.Gather(f.done, f.place)
	return l.heap.within(int64(len(f.done.Heap)))
}

// folding is the lists of some rows while they are folded.
type folding struct {
	*lambdaNode
	row    []*vector.Vector
	from   []uint32 // the elements of row i are from[i] to from[i+1]
	asked  uint32   // elements of each row that are in its result
	active []uint32 // rows that have more
	acc    *vector.Vector
	spare  *vector.Vector // becomes acc: a step overwrites the vector that the previous step has read
	done   *vector.Vector // results of the rows that have not
	place  []uint32       // of each row's result in done
	ended  int

	// Scratch of a step:
	at           []uint32 // the elements that it takes
	element, nth vector.Vector
}

// end keeps the result of a row, which is row j of v.
func (f *folding) end(row uint32, v *vector.Vector, j int) {
	f.done.Append(f.ended, v, j, j+1)
	f.place[row] = uint32(f.ended)
	f.ended++
}

// first returns the results before the lambda is asked: start, or the first elements.
func (f *folding) first(n int, start *vector.Vector) {
	f.acc, f.spare = &vector.Vector{Type: f.call.T}, &vector.Vector{}
	if start == nil {
		f.asked = 1
	}
	for i := range n {
		v, at := start, i
		if start == nil {
			v, at = &f.elements, int(f.from[i])
		}
		switch {
		case f.in[0].IsNull(i):
			f.end(uint32(i), vector.ConstNull(f.call.T), 0)
		case f.from[i]+f.asked < f.from[i+1]:
			f.acc.Append(len(f.active), v, at, at+1)
			f.active = append(f.active, uint32(i))
		default:
			f.end(uint32(i), v, at)
		}
	}
}

// step takes one more element of each active row into its result.
func (f *folding) step() error {
	f.at = f.at[:0]
	for _, r := range f.active {
		f.at = append(f.at, f.from[r]+f.asked)
	}
	f.element.Gather(&f.elements, f.at)
	f.nth.Gather(&f.places, f.at)
	v, err := f.compute([]*vector.Vector{f.acc, &f.element, &f.nth}, f.row, f.active)
	if err != nil {
		return err
	}
	f.asked++
	next := f.spare
	next.Reset(f.call.T)
	more := f.active[:0] // writes no further than it has read
	for j, r := range f.active {
		if f.from[r]+f.asked < f.from[r+1] {
			next.Append(len(more), v, j, j+1)
			more = append(more, r)
		} else {
			f.end(r, v, j)
		}
	}
	f.active, f.acc, f.spare = more, next, f.acc
	if err := f.heap.within(int64(len(next.Heap) + len(f.done.Heap))); err != nil {
		return err
	}
	return f.grown(int(heldBytes(next) + heldBytes(f.done)))
}
