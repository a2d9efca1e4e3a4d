package flatten

import (
	"encoding/binary"
	"strings"

	"varve/engine/schema"
	"varve/engine/vector"
)

// The tree of names. A node is a path, the full name of a column; edges lead from an object's node to its members'.
// Two ways may lead to one node: {"a":{"b":1}} and {"a.b":1}. A node seen twice in an entry is a key that came twice,
// or such a meeting; either is the general reader's case.

// kind says what the predictive reader does with a value at a node.
type kind uint8

const (
	unbound   kind = iota // no column yet
	isInt                 // the node's column takes this kind
	isFloat               //
	isBool                //
	isString              //
	isEpoch               // the time index, a count of units
	isDate                // the time index, text
	isIgnored             // service_timestamp where the clock fills it, and the table suffix
	isOption              // an option variable
)

// node is one path.
type node struct {
	name   string // of the column
	stamp  uint64 // the last entry it was seen in
	col    *vector.ColumnBuilder
	kind   kind
	option Option           // isOption: which
	edges  map[string]*edge // members, by key
	head   edge             // its successors come first in the object
}

// edge is one key in one object.
type edge struct {
	to  *node
	raw string // the key with its quotes and colon; empty when it needs escapes
	// The first eight bytes of raw under mask, and for 9 to 16 bytes the last eight.
	first, mask, last uint64
	next, alt         *edge // what came after it in the object: last, and before that
}

// match reports whether the key lies at i.
func (e *edge) match(b []byte, i int) bool {
	if binary.LittleEndian.Uint64(b[i:])&e.mask != e.first {
		return false
	}
	n := len(e.raw)
	if n <= 8 {
		return true
	}
	if n <= 16 {
		// first has matched, so i+8 is within the text, and there are padBytes after it.
		return binary.LittleEndian.Uint64(b[i+n-8:]) == e.last
	}
	return len(b)-i >= n && string(b[i:i+n]) == e.raw
}

// after is the next or alternative edge after e, if its key lies at i.
func (e *edge) after(b []byte, i int) *edge {
	if n := e.next; n != nil && n.match(b, i) {
		return n
	}
	if n := e.alt; n != nil && n.match(b, i) {
		return n
	}
	return nil
}

// learn makes n the first guess after e.
func (e *edge) learn(n *edge) {
	if e.next != n {
		e.next, e.alt = n, e.next
	}
}

// member finds or makes the edge for a key of an object. nil: too many names, read the entry without learning.
func (d *Decoder) member(parent *node, key []byte, plainKey bool) *edge {
	if e := parent.edges[string(key)]; e != nil {
		return e
	}
	if d.edges >= maxEdges || len(parent.name)+1+len(key) > schema.MaxNameBytes {
		return nil
	}
	name := string(key)
	full := name
	if parent != &d.root {
		full = parent.name + "." + name
	}
	to := d.paths[full]
	if to == nil {
		to = &node{name: full}
		d.special(to)
		d.paths[full] = to
		d.nodes = append(d.nodes, to)
	}
	e := &edge{to: to, first: 1} // matches nothing
	if plainKey {
		e.raw = `"` + name + `":`
		e.mask = ^uint64(0)
		var pad [8]byte
		n := copy(pad[:], e.raw)
		e.mask >>= uint(8-n) * 8 // n >= 3
		e.first = binary.LittleEndian.Uint64(pad[:])
		if len(e.raw) > 8 {
			copy(pad[:], e.raw[len(e.raw)-8:])
			e.last = binary.LittleEndian.Uint64(pad[:])
		}
	}
	if parent.edges == nil {
		parent.edges = map[string]*edge{}
	}
	parent.edges[name] = e
	if d.edges++; d.edges-d.learned >= freeBytes/edgeBytes && d.making() {
		d.measure(0)
	}
	return e
}

// special marks the nodes whose values are not columns, for this body.
func (d *Decoder) special(n *node) {
	n.kind, n.col = unbound, nil
	switch {
	case d.o.Time.Kind != Now && n.name == d.o.Time.Field:
		n.kind = isEpoch
		if d.o.Time.Kind == DateStr {
			n.kind = isDate
		}
	case !strings.HasPrefix(n.name, "service_"):
	case n.name == DefaultTimeColumn && d.o.Time.Kind == Now:
		n.kind = isIgnored
	case d.o.NoVariables:
	case n.name == suffixVariable:
		n.kind = isIgnored
	default:
		if i, ok := optionVariables[n.name]; ok {
			n.kind, n.option = isOption, i
		}
	}
}

// forget makes the tree fit for another body: columns are unbound, and a tree that has grown too far is dropped.
func (d *Decoder) forget() {
	if d.edges > maxSpareEdges {
		d.shape = shape{paths: map[string]*node{}}
		return
	}
	for _, n := range d.nodes {
		d.special(n)
	}
}

// unbind releases the columns of a body. Otherwise its rows would stay in memory while the decoder is idle.
func (d *Decoder) unbind() {
	for _, n := range d.nodes {
		n.col = nil
	}
	clear(d.set[:cap(d.set)])
}

// bind sets a node's column for values of kind k. False: the general reader must decide.
func (d *Decoder) bind(n *node, k kind) bool {
	if n.kind != unbound {
		return false
	}
	t := kindTypes[k]
	c := d.b.Lookup(n.name)
	if c == nil {
		if d.b.Columns() >= schema.MaxColumns || schema.CheckColumnName(n.name) != nil {
			return false
		}
		if d.o.TableType != nil || !d.room() {
			return false
		}
		c, _ = d.b.Column(n.name, t) // absent, so no error
	}
	if c.Type() != t {
		if k == isInt && !d.o.StrictNumbers && c.Type() == vector.FloatType {
			n.col, n.kind = c, isFloat
			d.bound = append(d.bound, n)
		}
		return false
	}
	n.col, n.kind = c, k
	d.bound = append(d.bound, n)
	return true
}

var kindTypes = [...]vector.Type{isInt: vector.Int64Type, isFloat: vector.FloatType, isBool: vector.BoolType,
	isString: vector.StringType}
