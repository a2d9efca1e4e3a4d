package encoding

import (
	"bytes"
	"encoding/binary"

	"varve/engine/vector"
)

// JSON objects are templates too (template.go): the text between the values is constant, and each value is a slot: a
// text without its quotes, an array as a whole, any other value as written. The values of a key form one stream,
// whatever else the objects contain, so they are encoded like a column.

// Limits of the objects of one block.
const (
	// maxMembers is the greatest width of a memberSlot.
	maxMembers = maxHexWidth
	// shapeRows: objects whose keys rarely repeat are encoded as text. A block may have a few shapes, and one more for
	// so many rows.
	shapeRows = 4
	fewShapes = 64
)

// objects is what an encoder keeps for blocks of JSON objects.
type objects struct {
	inner   *Encoder    // encodes the streams
	shapes  *Dictionary // the objects without their values: templates
	codes   []uint32    // shape of each row
	counts  []int       // rows of each shape
	found   []variable  // the values of all rows, row by row
	values  []variable  // the same, stream by stream
	first   []int
	fields  []field
	streams []textStream
	views   []vector.View
	body    []byte

	shape []byte // of the row in hand
	last  []byte // the shape before, and where its slots lie
	slots []int  // in last
	code  uint32 // of last
	words blockTexts
}

// blockTexts are texts that together hold every word of a block.
type blockTexts struct {
	views []vector.View
	heap  []byte
	known bool // of the block at hand
}

func (t *blockTexts) reset() { t.views, t.heap, t.known = t.views[:0], t.heap[:0], false }

func (t *blockTexts) add(text []byte) {
	t.views = append(t.views, vector.View{Off: uint32(len(t.heap)), Len: uint32(len(text))})
	t.heap = append(t.heap, text...)
}

// members is what the blocks of a column have shown about the values of its objects.
type members struct {
	keys   *Dictionary
	learnt [maxMembers + 1]learnt // by width
	wait   int                    // blocks for which objects are not tried
}

// width is the width of the slots of a key: the first keys have a width each, all others share one.
func (m *members) width(key []byte) int {
	if m.keys.Len() < maxMembers-1 {
		return 1 + int(m.keys.Code(key))
	}
	if c, ok := m.keys.Find(key); ok {
		return 1 + int(c)
	}
	return maxMembers
}

func newObjects() *objects {
	o := &objects{inner: NewEncoder(), shapes: NewDictionary(maxTemplates, MaxHeap)}
	o.inner.level, o.inner.textual = memberLevel, true
	return o
}

// probeObjects is the number of rows that must look like objects before a block is tried.
const probeObjects = 8

// areObjects reports whether strings look like JSON objects.
func areObjects(views []vector.View, heap []byte) bool {
	for i := 0; i < len(views); i += max(1, len(views)/probeObjects) {
		w := views[i]
		if w.Len < 2 || heap[w.Off] != '{' || heap[w.Off+w.Len-1] != '}' {
			return false
		}
	}
	return true
}

// append encodes objects; false: they are none that have much in common.
func (o *objects) append(dst []byte, views []vector.View, heap []byte, m *members) ([]byte, bool) {
	o.words.reset()
	if !o.parseAll(views, heap, m) {
		return dst, false
	}
	o.assign()
	dst = binary.AppendUvarint(dst, uint64(o.shapes.Len()))
	dst = o.inner.appendPlain(dst, o.shapes.Views, o.shapes.Heap)
	dst = o.inner.appendCodes(dst, o.codes)
	words := vector.Words(len(o.fields))
	dst = appendSection(dst, make([]byte, 8*words), savePlain) // no slot has a stream of its own
	for i := range o.streams {
		s := &o.streams[i]
		o.body = o.appendStream(o.body[:0], s, heap, &m.learnt[s.width])
		dst = binary.AppendUvarint(dst, uint64(len(o.body)))
		dst = append(dst, o.body...)
	}
	for i := range o.shapes.Len() {
		from := len(o.words.heap)
		o.words.add(o.shapes.Bytes(i))
		blankSlots(o.words.heap[from:])
	}
	o.words.known = true
	return dst, true
}

// parseAll finds the shape and the values of each row.
func (o *objects) parseAll(views []vector.View, heap []byte, m *members) bool {
	o.shapes.Reset()
	o.codes, o.counts, o.found, o.last = o.codes[:0], o.counts[:0], o.found[:0], o.last[:0]
	others := 0
	for i, w := range views {
		from, to := int(w.Off), int(w.Off+w.Len)
		if !o.again(heap, from, to) {
			if !o.parse(heap, from, to, m) {
				others++
				o.shape = append(o.shape[:0], restTemplate...)
				o.found = append(o.found, spanOf(from, to))
			}
			o.take()
		}
		o.counts[o.code]++
		o.codes = append(o.codes, o.code)
		if n := len(o.counts); n > maxTemplates || len(o.shapes.Heap) > maxTemplateText || n > fewShapes+i/shapeRows ||
			others > fewShapes+i/maxRestShare {
			return false
		}
	}
	return true
}

// take makes the shape in hand the last one.
func (o *objects) take() {
	o.code, _ = o.shapes.code(o.shape)
	if int(o.code) == len(o.counts) {
		o.counts = append(o.counts, 0)
	}
	o.last, o.slots = append(o.last[:0], o.shape...), o.slots[:0]
	for at := 0; at < len(o.shape); at++ {
		if o.shape[at] == slotMark {
			o.slots = append(o.slots, at)
			at += slotSize - 1
		}
	}
}

// again finds the values of a row that has the shape of the one before; false: it has not.
func (o *objects) again(heap []byte, from, to int) bool {
	if len(o.last) == 0 || o.last[0] == slotMark {
		return false
	}
	mark, row, done := len(o.found), heap[from:to], 0
	at := 0
	for _, slot := range o.slots {
		text := o.last[done:slot]
		done = slot + slotSize
		if len(row)-at < len(text) || string(row[at:at+len(text)]) != string(text) {
			o.found = o.found[:mark]
			return false
		}
		at += len(text)
		end := len(row)
		if slotKind(o.last[slot+1]) == memberSlot {
			if end = valueEnd(row, at, text[len(text)-1] == '"'); end < 0 {
				o.found = o.found[:mark]
				return false
			}
		}
		o.found = append(o.found, spanOf(from+at, from+end))
		at = end
	}
	if string(row[at:]) != string(o.last[done:]) {
		o.found = o.found[:mark]
		return false
	}
	return true
}

// parse finds the shape and the values of a row; false: it is no object that can be taken apart.
func (o *objects) parse(heap []byte, from, to int, m *members) bool {
	mark, row, done := len(o.found), heap[from:to], 0 // row[:done] is in the shape
	o.shape = o.shape[:0]
	for at := 0; at < len(row); {
		if row[at] != '"' {
			at++
			continue
		}
		end := textEnd(row, at+1)
		if end < 0 || end+2 >= len(row) || row[end+1] != ':' {
			o.found = o.found[:mark]
			return false // a text that is not a key: it does not follow a value
		}
		key := row[at+1 : end]
		for at = end + 2; at < len(row)-1 && row[at] == ' '; at++ {
		}
		quoted := row[at] == '"'
		if row[at] == '{' {
			continue
		}
		if quoted {
			at++
		}
		width, kind := m.width(key), memberSlot
		if end = valueEnd(row, at, quoted); len(o.found)-mark == maxSlots-1 {
			kind, width, end = restSlot, 0, len(row)
		}
		if end < 0 || bytes.IndexByte(row[done:at], slotMark) >= 0 {
			o.found = o.found[:mark]
			return false
		}
		o.shape = append(append(o.shape, row[done:at]...), slotMark, byte(kind), byte(width))
		o.found = append(o.found, spanOf(from+at, from+end))
		if at, done = end, end; quoted {
			at++
		}
	}
	if bytes.IndexByte(row[min(done, len(row)):], slotMark) >= 0 {
		o.found = o.found[:mark]
		return false
	}
	o.shape = append(o.shape, row[done:]...)
	return true
}

// textEnd is where the text ends that goes on at row[at]: at its quote; -1: it has none.
func textEnd(row []byte, at int) int {
	for from := at; ; {
		i := bytes.IndexByte(row[at:], '"')
		if i < 0 {
			return -1
		}
		at += i
		escapes := at
		for escapes > from && row[escapes-1] == '\\' {
			escapes--
		}
		if (at-escapes)&1 == 0 {
			return at
		}
		at++
	}
}

// valueEnd returns the end of the value at row[at]; for a text, the position of its closing quote; -1 if there is no
// end.
func valueEnd(row []byte, at int, quoted bool) int {
	switch {
	case quoted:
		return textEnd(row, at)
	case at == len(row) || row[at] == '"' || row[at] == '{':
		return -1
	case row[at] == '[':
		return arrayEnd(row, at)
	}
	for ; at < len(row); at++ {
		switch row[at] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return at
		}
	}
	return -1
}

// arrayEnd is where the array at row[at] ends; -1: it does not.
func arrayEnd(row []byte, at int) int {
	for depth := 0; at < len(row); at++ {
		switch row[at] {
		case '"':
			if at = textEnd(row, at+1); at < 0 {
				return -1
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return -1
}

// assign puts the values of all rows where their streams want them.
func (o *objects) assign() {
	o.first, o.fields = fieldsOf(o.first, o.fields, o.shapes.Views, o.shapes.Heap)
	o.streams = layout(o.streams, o.first, o.fields, o.counts, vector.MakeBitmap(len(o.fields)))
	o.values = vector.Sized(o.values, len(o.found))
	at := 0
	for _, c := range o.codes {
		fields := o.fields[o.first[c]:o.first[c+1]]
		for i := range fields {
			f := &fields[i]
			o.values[f.from] = o.found[at]
			f.from++
			at++
		}
	}
}

// appendStream appends the values of a stream, and their words to those of the block.
func (o *objects) appendStream(dst []byte, s *textStream, heap []byte, l *learnt) []byte {
	values := o.values[s.from : s.from+s.count]
	o.views = vector.Sized(o.views, len(values))
	for i, v := range values {
		o.views[i] = viewOf(v)
	}
	e := o.inner
	if e.templates != nil {
		e.templates.parsed = false
	}
	mark := len(dst)
	dst = e.appendStrings(dst, o.views, heap, nil, l)
	views := o.views
	switch texts, from, ok := e.WordTexts(); {
	case ok:
		views, heap = texts, from
	case ID(dst[mark]) == Constant:
		views = views[:1]
	case ID(dst[mark]) == Local:
		views, heap = e.LocalValues()
	}
	for _, w := range views {
		o.words.add(heap[w.Off : w.Off+w.Len])
	}
	return dst
}
