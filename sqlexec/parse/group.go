package parse

import "strings"

func (p *parser) groupBy(s *Select) error {
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expect("by"); err != nil {
		return err
	}
	s.GroupBy = []GroupItem{}
	for {
		item, err := p.groupItem()
		if err != nil {
			return err
		}
		s.GroupBy = append(s.GroupBy, item)
		if err := p.checkColumns("GROUP BY", len(s.GroupBy)); err != nil {
			return err
		}
		if ok, err := p.more(); err != nil {
			return err
		} else if !ok {
			return p.withRollup(s)
		}
	}
}

// withRollup reads WITH ROLLUP and WITH CUBE after the keys, which mean ROLLUP (keys) and CUBE (keys).
func (p *parser) withRollup(s *Select) error {
	for _, kind := range []string{"rollup", "cube"} {
		ok, err := p.takeWords("with", kind)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		g := GroupItem{Kind: kind, Sets: [][]Expr{}}
		for _, item := range s.GroupBy {
			if item.X == nil {
				return p.expected("GROUP BY expressions before WITH " + strings.ToUpper(kind))
			}
			g.Sets = append(g.Sets, []Expr{item.X})
		}
		s.GroupBy = []GroupItem{g}
		return nil
	}
	return nil
}

func (p *parser) groupItem() (GroupItem, error) {
	if !p.atGroupSets() {
		x, err := p.exprOrAll()
		return GroupItem{X: x}, err
	}
	return p.groupSets()
}

// atGroupSets reports whether ROLLUP (, CUBE ( or GROUPING SETS comes next.
func (p *parser) atGroupSets() bool {
	return p.isAny("rollup", "cube") && p.peek().op("(") || p.is("grouping") && p.peek().is("sets")
}

// groupSets reads ROLLUP, CUBE or GROUPING SETS, whose sets may be any of them again.
func (p *parser) groupSets() (GroupItem, error) {
	if err := p.enter(); err != nil {
		return GroupItem{}, err
	}
	defer p.leave()
	g := GroupItem{Kind: p.tok.text, Sets: [][]Expr{}}
	if p.is("grouping") {
		g.Kind = "grouping sets"
		if err := p.advance(); err != nil {
			return g, err
		}
	}
	if err := p.advance(); err != nil {
		return g, err
	}
	if err := p.expectOp("("); err != nil {
		return g, err
	}
	for {
		if err := p.groupSet(&g); err != nil {
			return g, err
		}
		if ok, err := p.more(); err != nil {
			return g, err
		} else if !ok {
			return g, p.expectOp(")")
		}
	}
}

// groupSet reads a set.
func (p *parser) groupSet(g *GroupItem) error {
	if g.Kind == "grouping sets" && p.atGroupSets() {
		nested, err := p.groupSets()
		g.Sets, g.Nested = append(g.Sets, nil), append(g.Nested, &nested)
		return err
	}
	x, err := p.expr()
	if err != nil {
		return err
	}
	set := []Expr{x}
	if t, ok := x.(*Tuple); ok {
		set = t.Items
	}
	g.Sets, g.Nested = append(g.Sets, set), append(g.Nested, nil)
	return nil
}

// align reads ALIGN step [TO origin] [BY (..)] [FILL f]; the parts may come in any order.
func (p *parser) align() (*Align, error) {
	a := &Align{At: p.tok.pos}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	if a.Step, err = p.prefix(); err != nil {
		return nil, err
	}
	for {
		switch {
		case p.is("to") && a.To == nil:
			if err := p.advance(); err != nil {
				return nil, err
			}
			if a.To, err = p.expr(); err != nil {
				return nil, err
			}
		case p.is("by") && !a.HasBy:
			if err := p.alignBy(a); err != nil {
				return nil, err
			}
		case p.is("fill") && a.Fill == nil:
			if a.Fill, err = p.fill(); err != nil {
				return nil, err
			}
		default:
			return a, nil
		}
	}
}

func (p *parser) alignBy(a *Align) error {
	a.HasBy = true
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expectOp("("); err != nil {
		return err
	}
	if ok, err := p.takeOp(")"); ok || err != nil {
		return err
	}
	var err error
	if a.By, err = p.exprList(); err != nil {
		return err
	}
	return p.expectOp(")")
}
