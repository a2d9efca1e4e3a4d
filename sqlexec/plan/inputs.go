package plan

// A node lists its inputs and copies itself over other inputs. That is all that code which walks or rewrites plans has
// to know of the nodes that it is not about.

func (n *Scan) inputs() []Node       { return nil }
func (n *Values) inputs() []Node     { return nil }
func (n *Series) inputs() []Node     { return nil }
func (n *Filter) inputs() []Node     { return []Node{n.Input} }
func (n *Project) inputs() []Node    { return []Node{n.Input} }
func (n *Aggregate) inputs() []Node  { return []Node{n.Input} }
func (n *Sort) inputs() []Node       { return []Node{n.Input} }
func (n *Limit) inputs() []Node      { return []Node{n.Input} }
func (n *Distinct) inputs() []Node   { return []Node{n.Input} }
func (n *DistinctOn) inputs() []Node { return []Node{n.Input} }
func (n *Window) inputs() []Node     { return []Node{n.Input} }
func (n *Expand) inputs() []Node     { return []Node{n.Input} }
func (n *Unnest) inputs() []Node     { return []Node{n.Input} }
func (n *Unpivot) inputs() []Node    { return []Node{n.Input} }
func (n *FillSlots) inputs() []Node  { return []Node{n.Input} }
func (n *Join) inputs() []Node       { return []Node{n.L, n.R} }
func (n *AsofJoin) inputs() []Node   { return []Node{n.L, n.R} }
func (n *Union) inputs() []Node      { return n.Inputs }

func (n *Scan) over([]Node) Node {
	c := *n
	return &c
}

func (n *Values) over([]Node) Node {
	c := *n
	return &c
}

func (n *Series) over([]Node) Node {
	c := *n
	return &c
}

func (n *Filter) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Project) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Aggregate) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Sort) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Limit) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Distinct) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *DistinctOn) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Window) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Expand) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Unnest) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Unpivot) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *FillSlots) over(in []Node) Node {
	c := *n
	c.Input = in[0]
	return &c
}

func (n *Join) over(in []Node) Node {
	c := *n
	c.L, c.R = in[0], in[1]
	return &c
}

func (n *AsofJoin) over(in []Node) Node {
	c := *n
	c.L, c.R = in[0], in[1]
	return &c
}

func (n *Union) over(in []Node) Node {
	c := *n
	c.Inputs = in
	return &c
}

// mapInputs is a node over what f makes of its inputs.
func mapInputs(n Node, f func(Node) Node) Node {
	in := n.inputs()
	out := make([]Node, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return n.over(out)
}
