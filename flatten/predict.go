package flatten

import "varve/engine/jsontext"

// The predictive reader. It writes values into columns while it reads; on any fault the caller undoes the row.

// object reads the members of the object that goes on at i, after its brace. depth is the number of segments of its
// members' names, and its nesting.
func (d *Decoder) object(n *node, i, depth int) (end int, f fault) {
	b := d.buf
	if i = d.blank(i); b[i] == '}' {
		return i + 1, fine
	}
	at := &n.head
	for {
		next := at.after(b, i)
		if next != nil {
			i += len(next.raw)
		} else if next, i, f = d.key(n, at, i); f != fine {
			return i, f
		}
		at = next
		c := at.to
		if c.stamp == d.stamp {
			return i, odd
		}
		c.stamp = d.stamp
		d.seen[d.seenN&63] = c
		d.seenN++
		if b[i] <= ' ' {
			i = d.blank(i)
		}
		switch b[i] {
		case '"':
			i, f = d.stringValue(c, i+1)
		case '{':
			i, f = d.objectValue(c, i, depth)
		case '[':
			i, f = d.textValue(c, i, depth)
		case 't', 'f', 'n':
			i, f = d.literalValue(c, i)
		default:
			i, f = d.numberValue(c, i)
		}
		if f != fine {
			return i, f
		}
		if b[i] <= ' ' {
			i = d.blank(i)
		}
		if b[i] != ',' {
			if b[i] != '}' {
				return i, badSyntax
			}
			return i + 1, fine
		}
		i++
		if b[i] <= ' ' {
			i = d.blank(i)
		}
	}
}

// key reads a key that was not foreseen after at, with its colon, and learns it.
func (d *Decoder) key(n *node, at *edge, i int) (next *edge, end int, f fault) {
	b := d.buf
	if b[i] != '"' {
		return nil, i, badSyntax
	}
	start := i + 1
	i = jsontext.Plain(b, start)
	key, simple := b[start:i], true
	if b[i] == '"' {
		i++
	} else {
		var ok bool
		if d.scratch, i, ok = jsontext.Unescape(d.scratch[:0], b, start); !ok {
			return nil, i, badSyntax
		}
		key, simple = d.scratch, false
	}
	i = d.blank(i)
	if b[i] != ':' {
		return nil, i, badSyntax
	}
	next = d.member(n, key, simple)
	if next == nil {
		return nil, i, odd
	}
	at.learn(next)
	return next, i + 1, fine
}

// stringValue reads a string that goes on at i into n's column.
func (d *Decoder) stringValue(n *node, i int) (end int, f fault) {
	b := d.buf
	if n.kind != isString && !d.bind(n, isString) {
		return d.specialString(n, i)
	}
	j := jsontext.Plain(b, i)
	if b[j] == '"' {
		n.col.SetBytes(b[i:j])
		return j + 1, fine
	}
	heap, end, ok := jsontext.Unescape(n.col.Heap(), b, i)
	if !ok {
		return end, badSyntax
	}
	n.col.SetHeap(heap)
	return end, fine
}

// numberValue reads the number at i into n's column.
func (d *Decoder) numberValue(n *node, i int) (end int, f fault) {
	end, kind, x, y := jsontext.ParseNumber(d.buf, i)
	switch kind {
	case jsontext.Int:
		if n.kind != isInt && !d.bind(n, isInt) {
			return end, d.specialInt(n, i, end, x)
		}
		n.col.SetInt(x)
		return end, fine
	case jsontext.Float:
		if n.kind != isFloat && !d.bind(n, isFloat) {
			if n.kind == isIgnored {
				return end, fine
			}
			return end, odd
		}
		n.col.SetFloat(y)
		return end, fine
	}
	return end, numberFault[kind]
}

// literalValue reads true, false or null at i. null sets nothing.
func (d *Decoder) literalValue(n *node, i int) (end int, f fault) {
	b := d.buf
	c := b[i]
	word := literals[c>>3&3]
	end, ok := jsontext.Word(b, i, word)
	if !ok {
		return end, badSyntax
	}
	if c == 'n' {
		if n.kind == isEpoch || n.kind == isDate {
			return end, odd
		}
		return end, fine
	}
	if n.kind != isBool && !d.bind(n, isBool) {
		switch n.kind {
		case isIgnored:
			return end, fine
		case isOption:
			d.group.take(n.option, b[i:end])
			return end, fine
		}
		return end, odd
	}
	n.col.SetBool(c == 't')
	return end, fine
}

// objectValue reads the object at i: its members, or at the depth limit its text.
func (d *Decoder) objectValue(n *node, i, depth int) (end int, f fault) {
	if depth >= d.o.MaxDepth {
		return d.textValue(n, i, depth)
	}
	if depth >= maxNesting {
		return i, badNesting
	}
	return d.object(n, i+1, depth+1)
}

// textValue writes the array or object at i as JSON text into n's column.
func (d *Decoder) textValue(n *node, i, depth int) (end int, f fault) {
	if n.kind != isString && !d.bind(n, isString) {
		if n.kind == isIgnored {
			return d.skip(i, depth+1)
		}
		return i, odd
	}
	d.text.reset()
	heap, end, f := d.appendJSON(n.col.Heap(), i, depth+1)
	if f != fine {
		return end, f
	}
	n.col.SetHeap(heap)
	return end, fine
}

// specialString reads a string that goes on at i for a node without a column of strings.
func (d *Decoder) specialString(n *node, i int) (end int, f fault) {
	b := d.buf
	j := jsontext.Plain(b, i)
	text := b[i:j]
	if b[j] == '"' {
		j++
	} else {
		var ok bool
		if d.scratch, j, ok = jsontext.Unescape(d.scratch[:0], b, i); !ok {
			return j, badSyntax
		}
		text = d.scratch
	}
	switch n.kind {
	case isIgnored:
		return j, fine
	case isOption:
		d.group.take(n.option, text)
		return j, fine
	case isEpoch, isDate:
		x, ok := d.o.Time.fromText(text)
		if !ok {
			if !d.o.IgnoreErrors {
				return j, odd
			}
			x = d.o.Time.fromClock(d.now())
		}
		d.time.SetInt(x)
		d.timed = true
		return j, fine
	}
	return j, odd
}

// specialInt takes an integer for a node without a column of integers; its text is at from:to.
func (d *Decoder) specialInt(n *node, from, to int, x int64) fault {
	switch n.kind {
	case isIgnored:
		return fine
	case isOption:
		d.group.take(n.option, d.buf[from:to])
		return fine
	case isEpoch:
		d.time.SetInt(x)
		d.timed = true
		return fine
	case isFloat:
		if !d.o.StrictNumbers {
			n.col.SetFloat(float64(x))
			return fine
		}
	}
	return odd
}
