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

// withRollup reads WITH ROLLUP and WITH CUBE behind the keys, which are ROLLUP (keys) and CUBE (keys).
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
	kind := ""
	switch {
	case p.isAny("rollup", "cube") && p.peek().op("("):
		kind = p.tok.text
	case p.is("grouping") && p.peek().is("sets"):
		kind = "grouping sets"
		if err := p.advance(); err != nil {
			return GroupItem{}, err
		}
	default:
		x, err := p.exprOrAll()
		return GroupItem{X: x}, err
	}
	if err := p.advance(); err != nil {
		return GroupItem{}, err
	}
	if err := p.expectOp("("); err != nil {
		return GroupItem{}, err
	}
	g := GroupItem{Kind: kind, Sets: [][]Expr{}}
	for {
		x, err := p.expr()
		if err != nil {
			return g, err
		}
		if t, ok := x.(*Tuple); ok {
			g.Sets = append(g.Sets, t.Items)
		} else {
			g.Sets = append(g.Sets, []Expr{x})
		}
		if ok, err := p.more(); err != nil {
			return g, err
		} else if !ok {
			return g, p.expectOp(")")
		}
	}
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
