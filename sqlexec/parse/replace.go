package parse

// Replace returns x with some expressions replaced. Where f returns an expression, that takes the place of the old one;
// where f returns nil, Replace keeps the expression and continues inside it. x itself is unchanged; subqueries are
// shared.
func Replace(x Expr, f func(Expr) Expr) Expr {
	if x == nil {
		return nil
	}
	if y := f(x); y != nil {
		return y
	}
	in := func(x Expr) Expr { return Replace(x, f) }
	switch x := x.(type) {
	case *Unary:
		c := *x
		c.X = in(x.X)
		return &c
	case *Binary:
		c := *x
		c.L, c.R = in(x.L), in(x.R)
		return &c
	case *Is:
		c := *x
		c.X = in(x.X)
		return &c
	case *Between:
		c := *x
		c.X, c.Lo, c.Hi = in(x.X), in(x.Lo), in(x.Hi)
		return &c
	case *In:
		c := *x
		c.X, c.List = in(x.X), replaceAll(x.List, f)
		return &c
	case *Like:
		c := *x
		c.X, c.Pattern = in(x.X), in(x.Pattern)
		return &c
	case *Quantified:
		c := *x
		c.X, c.List = in(x.X), replaceAll(x.List, f)
		return &c
	case *Case:
		return replaceCase(x, f)
	case *Cast:
		c := *x
		c.X = in(x.X)
		return &c
	case *Array:
		return &Array{x.Node, replaceAll(x.Items, f)}
	case *Index:
		return &Index{x.Node, in(x.X), in(x.I)}
	case *Tuple:
		return &Tuple{x.Node, replaceAll(x.Items, f)}
	case *Struct:
		return &Struct{x.Node, x.Keys, replaceAll(x.Items, f)}
	case *AtTimeZone:
		return &AtTimeZone{x.Node, in(x.X), in(x.Zone)}
	case *Range:
		c := *x
		c.X = in(x.X)
		return &c
	case *Lambda:
		return &Lambda{x.Node, x.Params, in(x.Body)}
	case *Call:
		return replaceCall(x, f)
	}
	return x
}

func replaceAll(list []Expr, f func(Expr) Expr) []Expr {
	if list == nil {
		return nil
	}
	out := make([]Expr, len(list))
	for i, x := range list {
		out[i] = Replace(x, f)
	}
	return out
}

func replaceCase(x *Case, f func(Expr) Expr) Expr {
	c := &Case{Node: x.Node, Operand: Replace(x.Operand, f), Else: Replace(x.Else, f)}
	for _, w := range x.Whens {
		c.Whens = append(c.Whens, When{Replace(w.If, f), Replace(w.Then, f)})
	}
	return c
}

func replaceCall(x *Call, f func(Expr) Expr) Expr {
	c := *x
	c.Args, c.OrderBy, c.Filter = replaceAll(x.Args, f), replaceOrder(x.OrderBy, f), Replace(x.Filter, f)
	if x.Over != nil {
		w := *x.Over
		w.Partition, w.OrderBy = replaceAll(w.Partition, f), replaceOrder(w.OrderBy, f)
		c.Over = &w
	}
	return &c
}

func replaceOrder(list []OrderItem, f func(Expr) Expr) []OrderItem {
	var out []OrderItem
	for _, o := range list {
		o.X = Replace(o.X, f)
		out = append(out, o)
	}
	return out
}
