package parse

// Slot is a column of the binder's input by position. The grammar never makes it: the binder does when it expands a
// star.
type Slot struct {
	Node
	Index int
	Name  string
}

func (*Slot) expr() {}

// Children are the expressions directly inside x, subqueries and what chooses the columns of COLUMNS left out.
func Children(x Expr) []Expr {
	switch x := x.(type) {
	case *Unary:
		return []Expr{x.X}
	case *Binary:
		return []Expr{x.L, x.R}
	case *Is:
		return []Expr{x.X}
	case *Between:
		return []Expr{x.X, x.Lo, x.Hi}
	case *In:
		return append([]Expr{x.X}, x.List...)
	case *Like:
		return []Expr{x.X, x.Pattern}
	case *Quantified:
		return append([]Expr{x.X}, x.List...)
	case *Case:
		var list []Expr
		if x.Operand != nil {
			list = append(list, x.Operand)
		}
		for _, w := range x.Whens {
			list = append(list, w.If, w.Then)
		}
		if x.Else != nil {
			list = append(list, x.Else)
		}
		return list
	case *Cast:
		return []Expr{x.X}
	case *Array:
		return x.Items
	case *Index:
		return []Expr{x.X, x.I}
	case *Tuple:
		return x.Items
	case *Struct:
		return x.Items
	case *AtTimeZone:
		return []Expr{x.X, x.Zone}
	case *Range:
		return []Expr{x.X}
	case *Lambda:
		return []Expr{x.Body}
	case *Call:
		list := append([]Expr(nil), x.Args...)
		for _, o := range x.OrderBy {
			list = append(list, o.X)
		}
		if x.Filter != nil {
			list = append(list, x.Filter)
		}
		if x.Over != nil {
			list = append(list, x.Over.Partition...)
			for _, o := range x.Over.OrderBy {
				list = append(list, o.X)
			}
		}
		return list
	}
	return nil
}

// Walk calls visit for x and, where it answers true, for what is inside x, subqueries left out.
func Walk(x Expr, visit func(Expr) bool) {
	if x == nil || !visit(x) {
		return
	}
	for _, c := range Children(x) {
		Walk(c, visit)
	}
}
