package promql

import (
	"strings"
	"sync"
)

const (
	// plansBytes is about the memory of the plans of a generation, planBytes that of the largest one that is kept.
	plansBytes, planBytes = 2 << 20, 64 << 10
	// textBytes is about the memory of the nodes that a byte of a query becomes, stepBytes that of a step of a regular
	// expression.
	textBytes, stepBytes = 64, 200
)

// plans keeps compiled queries by their texts: dashboards and rules ask the same ones again and again. There are two
// generations. Once the young one is full it becomes the old one, whose plans are dropped unless they are asked for
// again. Safe for concurrent use.
type plans struct {
	mu         sync.Mutex
	young, old map[string]*Plan
	bytes      int // of the young ones
}

// of is the plan of a query.
func (c *plans) of(q *Query) (*Plan, error) {
	c.mu.Lock()
	p := c.young[q.Expr]
	if p == nil {
		if p = c.old[q.Expr]; p != nil {
			c.keep(p)
		}
	}
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	own := *q
	own.Expr = strings.Clone(q.Expr) // q.Expr may be a part of a request, which a plan that is kept would keep
	p, err := own.Compile()
	if err != nil || p.timed || p.bytes() > planBytes {
		return p, err
	}
	c.mu.Lock()
	c.keep(p)
	c.mu.Unlock()
	return p, nil
}

// keep puts a plan among the young ones. The caller holds mu.
func (c *plans) keep(p *Plan) {
	if c.young[p.text] != nil {
		return
	}
	if c.bytes += p.bytes(); c.bytes > plansBytes || c.young == nil {
		c.old, c.young, c.bytes = c.young, map[string]*Plan{}, p.bytes()
	}
	c.young[p.text] = p
}

// bytes is about the memory of a plan.
func (p *Plan) bytes() int { return 1024 + textBytes*len(p.text) + stepBytes*p.steps }
