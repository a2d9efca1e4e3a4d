package expr

import "varve/engine/vector"

// Private is a function that a session brings with it: the code of another language, which statements made by the
// server call by name. No user can call it. Its name must not be that of another function. Safe for concurrent use.
type Private struct {
	f    *Function
	make func() PrivateRows
}

// NewPrivate makes a function whose results have a type: BOOLEAN or BINARY. Its arguments are Flat, of the types that
// the call has; they may have NULLs. Several goroutines compute rows at the same time, each by what rows makes.
func NewPrivate(name string, t vector.Type, rows func() PrivateRows) *Private {
	p := &Private{make: rows}
	p.f = &Function{Name: name, lazy: true, makesNull: true, max: -1,
		bind: func(_ *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			return args, t, p.compute, nil
		}}
	return p
}

// Volatile makes it a function that has an effect: it is not called before the statement runs.
func (p *Private) Volatile() *Private {
	p.f.volatile = true
	return p
}

// Name is the name by which statements call the function.
func (p *Private) Name() string { return p.f.Name }

// PrivateRows computes the rows of a private function; one goroutine at a time.
type PrivateRows interface {
	// Begin takes the arguments of the next n rows.
	Begin(n int, args []*vector.Vector) error
	// Row computes one row: value is valid until the next call; ok false means NULL, or FALSE.
	Row(i int) (value []byte, ok bool, err error)
	// End ends the rows that Begin began.
	End()
}

// compute is the kernel.
func (p *Private) compute(n int, args []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
	rows := p.make()
	defer rows.End()
	if err := rows.Begin(n, args); err != nil {
		return err
	}
	if out.Type == vector.BoolType {
		for i := range n {
			_, ok, err := rows.Row(i)
			if err != nil {
				return err
			}
			out.PushBool(i, ok)
		}
		return nil
	}
	out.Valid = vector.MakeBitmap(n)
	for i := range n {
		value, ok, err := rows.Row(i)
		if err != nil {
			return err
		}
		if !ok {
			value = nil
		} else {
			out.Valid.Set(i)
		}
		if err := pushText(out, value); err != nil {
			return err
		}
	}
	return nil
}
