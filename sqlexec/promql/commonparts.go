package promql

import "encoding/binary"

// sharedKey is the value of equal nodes at the steps of a grid.
type sharedKey struct {
	class int32
	grid  grid
}

// shareCommon finds the nodes whose value is needed more than once: it is evaluated once for all that are equal. What
// such a node is made of is needed once for all of them.
func shareCommon(x node) {
	if !branches(x) {
		return // no part is as long as another
	}
	c := commonParts{byKey: map[string]int32{}}
	c.classify(x)
	c.uses = make([]int, len(c.byKey))
	c.count(x)
	c.mark(x)
}

// branches reports whether a node has two parts that are not literals.
func branches(x node) bool {
	parts := 0
	for _, part := range x.operands() {
		switch part.(type) {
		case *numberNode, *textNode:
			continue
		}
		if parts++; parts > 1 || branches(part) {
			return true
		}
	}
	return false
}

// commonParts sorts nodes into classes of equal ones, from the leaves up: a node is known by what it is itself and by
// the classes of its operands, so that a query takes time by its length.
type commonParts struct {
	byKey map[string]int32
	uses  []int // by class: how often a value is needed
}

func (c *commonParts) classify(x node) {
	operands := x.operands()
	for _, part := range operands {
		c.classify(part)
	}
	key := append(x.appendSelf(make([]byte, 0, 64)), 0)
	for _, part := range operands {
		key = binary.LittleEndian.AppendUint32(key, uint32(part.base().class))
	}
	class, ok := c.byKey[string(key)]
	if !ok {
		class = int32(len(c.byKey))
		c.byKey[string(key)] = class
	}
	x.base().class = class
}

// count counts how often values are needed. The operands of a node whose value is known are not needed again.
func (c *commonParts) count(x node) {
	if evaluated(x) {
		if c.uses[x.base().class]++; c.uses[x.base().class] > 1 {
			return
		}
	}
	if _, windows := x.(*rangeNode); windows {
		return // the range function reads the selector
	}
	for _, part := range x.operands() {
		c.count(part)
	}
}

func (c *commonParts) mark(x node) {
	own := x.base()
	own.shared = evaluated(x) && c.uses[own.class] > 1
	if _, windows := x.(*rangeNode); windows {
		return
	}
	for _, part := range x.operands() {
		c.mark(part)
	}
}

// evaluated reports whether a node has rows of its own that are worth keeping.
func evaluated(x node) bool {
	switch x.(type) {
	case *selectorNode, *callNode, *aggregateNode, *binaryNode, *unaryNode:
		return true
	}
	return false
}
