package encoding

import (
	"bytes"
	"encoding/binary"

	"varve/engine/vector"
)

// templater is what an encoder keeps for templates.
type templater struct {
	parser
	parsed bool        // words and the first found templates are those of the block at hand
	inner  *Encoder    // encodes the streams
	dict   *Dictionary // templates; number 0 is the rest
	counts []uint32    // rows of each
	codes  []uint32    // template of each row, as it was found
	found  []variable  // of all rows, row by row
	// became[i] is the template that the i-th found template has become; wilds[i] marks its words that are variables
	// there.
	became []uint32
	wilds  [][]uint16
	// frequency is the number of rows in which a constant word occurs, once for each time it does.
	frequency map[string]uint32
	first     []int
	fields    []field
	streams   []textStream
	byField   []variable // of all rows, field by field
	values    []variable // the same, stream by stream
	views     []vector.View
	body      []byte
	packed    []byte
	seen      map[string]bool
}

// learnt is what the blocks of a column have shown about text.
type learnt struct {
	plain   float64 // size of plain strings by their bytes, as measured last
	wait    int     // blocks for which templates are not tried
	blocks  int
	members *members // of objects; nil: there were none
}

// When what was learnt is checked again.
const (
	// remeasure is the number of blocks between comparisons with plain strings. A comparison encodes a block both ways;
	// a column whose texts have changed is written the longer way for half a million rows at most.
	remeasure = 64
	// giveUp is the number of blocks for which templates are left out once they were of no use: looking in vain takes
	// 0.4 ms for a block of prose, and the 4 ms of encoding it where only the end shows that they save too little.
	giveUp = 32
)

// saveTemplates: templates must save one byte in so many; they take longer to read than plain text.
const saveTemplates = 10

// minTemplateRows is the number of rows below which templates cost more than they save, because each block writes its
// own templates.
const minTemplateRows = 32

// minTemplateBytes is the mean of a row by level: numbers with a fraction are worth it among the values of objects.
var minTemplateBytes = [...]int{columnLevel: 10, memberLevel: 4}

// leastTemplates: templates are for text of a column, or of the members of its objects, of enough rows and bytes.
func leastTemplates(e *Encoder, b *textBlock) int {
	if e.level == slotLevel || !e.textual || b.learnt == nil || len(b.views) < minTemplateRows ||
		b.size() < minTemplateBytes[e.level]*len(b.views) {
		return never
	}
	return 0
}

// planTemplates appends text as templates, unless the blocks before had no use for them.
func planTemplates(e *Encoder, dst []byte, b *textBlock) (out []byte, cost int) {
	if b.learnt.wait > 0 {
		b.learnt.wait--
		return dst, never
	}
	b.learnt.blocks++
	b.parted = true
	out, ok := e.appendTemplates(dst, b.views, b.heap, b.learnt)
	if !ok {
		return dst, never
	}
	size := len(out) - len(dst)
	return out, size + size/saveTemplates
}

// leastPlain is what the blocks before tell of the size of plain strings, where templates are tried too. Once in
// remeasure blocks it is found out anew.
func leastPlain(e *Encoder, b *textBlock) int {
	if l := b.learnt; leastTemplates(e, b) != never && l.wait == 0 && (l.blocks+1)%remeasure != 1 {
		return int(l.plain * float64(b.size()))
	}
	return 0
}

func planPlain(e *Encoder, dst []byte, b *textBlock) (out []byte, cost int) {
	out = e.appendPlain(dst, b.views, b.heap)
	b.plain = len(out) - len(dst)
	return out, b.plain
}

// appendTemplates encodes text that has templates, objects by their shapes; false: it has none.
func (e *Encoder) appendTemplates(dst []byte, views []vector.View, heap []byte, l *learnt) ([]byte, bool) {
	if e.level == columnLevel && areObjects(views, heap) {
		if e.objects == nil {
			e.objects = newObjects()
		}
		if l.members == nil {
			l.members = &members{keys: NewDictionary(maxMembers, MaxHeap)}
		}
		if l.members.wait > 0 {
			l.members.wait--
		} else if out, ok := e.objects.append(dst, views, heap, l.members); ok {
			return out, true
		} else {
			l.members.wait = giveUp
		}
	}
	if e.templates == nil {
		e.templates = newTemplater()
	}
	return e.templates.append(dst, views, heap)
}

func newTemplater() *templater {
	t := &templater{inner: NewEncoder(), dict: NewDictionary(maxTemplates, MaxHeap), frequency: map[string]uint32{},
		seen: map[string]bool{}}
	t.inner.level = slotLevel
	return t
}

// WordTexts returns texts that together hold every word of the block that was encoded last, most of them once, when it
// was looked at for templates; else ok is false.
func (e *Encoder) WordTexts() (texts []vector.View, heap []byte, ok bool) {
	if o := e.objects; o != nil && o.words.known {
		return o.words.views, o.words.heap, true
	}
	t := e.templates
	if t == nil || !t.parsed {
		return nil, nil, false
	}
	views := t.views[:0]
	heap = t.body[:0]
	add := func(text []byte) {
		views = append(views, vector.View{Off: uint32(len(heap)), Len: uint32(len(text))})
		heap = append(heap, text...)
	}
	add(t.words)
	for i := range t.became { // as they were found; made more general, they lack words
		from := len(heap)
		add(t.dict.Bytes(i))
		blankSlots(heap[from:])
	}
	t.views, t.body = views, heap
	return views, heap, true
}

// blankSlots puts blanks in place of the slots of a template. Words that touch a slot are among the words of the rows,
// and a text of ASCII has its words found faster than one with a mark in it.
func blankSlots(template []byte) {
	for at := bytes.IndexByte(template, slotMark); at >= 0; at = bytes.IndexByte(template, slotMark) {
		template = template[at:]
		n := copy(template, "   ") // slotSize
		template = template[n:]
	}
}

// probeTemplates is the number of rows after which text that has a new template in three rows of four is given up: such
// templates are hardly shorter than the rows, and the work that is left takes longer than all other encodings together.
const probeTemplates = 2048

// append encodes the rows; ok is false when they are no text with templates.
func (t *templater) append(dst []byte, views []vector.View, heap []byte) (_ []byte, ok bool) {
	if t.parsed = t.parseAll(views, heap); !t.parsed {
		return dst, false
	}
	t.generalise()
	texts, rest := t.number()
	if rest > minTemplateRows && rest > len(views)/maxRestShare {
		return dst, false
	}
	var heads vector.Vector
	for _, s := range texts {
		heads.Views = append(heads.Views, vector.View{Off: uint32(len(heads.Heap)), Len: uint32(len(s))})
		heads.Heap = append(heads.Heap, s...)
	}
	// assign also records in the templates which characters their words contain
	own, streams := t.assign(heads.Views, heads.Heap, views, heap)
	dst = binary.AppendUvarint(dst, uint64(len(texts)))
	dst = t.inner.appendPlain(dst, heads.Views, heads.Heap)
	dst = t.inner.appendCodes(dst, t.codes)
	dst = appendSection(dst, bitBytes(nil, own, len(own)*64), savePlain)
	for i := range streams {
		t.body = t.appendStream(t.body[:0], &streams[i], heap)
		dst = binary.AppendUvarint(dst, uint64(len(t.body)))
		dst = append(dst, t.body...)
	}
	return dst, true
}

// restTemplate is the template of rows that have none of their own.
var restTemplate = []byte{slotMark, byte(restSlot), 0}

// parseAll finds the template and the variables of each row.
func (t *templater) parseAll(views []vector.View, heap []byte) bool {
	t.dict.Reset()
	t.codes, t.found, t.counts = t.codes[:0], t.found[:0], append(t.counts[:0], 0)
	t.dict.code(restTemplate)
	t.words, t.last = t.words[:0], -1
	for i, w := range views {
		code := uint32(0)
		if t.parse(heap, int(w.Off), int(w.Off+w.Len), nil) {
			code, _ = t.dict.code(t.template)
			t.found = append(t.found, t.vars...)
		} else {
			t.found = append(t.found, spanOf(int(w.Off), int(w.Off+w.Len)))
			t.gather(0, len(t.row))
		}
		if int(code) == len(t.counts) {
			t.counts = append(t.counts, 0)
			if code == maxTemplates || len(t.dict.Heap) > maxTemplateText || i >= probeTemplates && int(code) > i*3/4 {
				return false
			}
		}
		t.counts[code]++
		t.codes = append(t.codes, code)
	}
	t.became, t.wilds = vector.Sized(t.became, t.dict.Len()), vector.Sized(t.wilds, t.dict.Len())
	for i := range t.became {
		t.became[i], t.wilds[i] = uint32(i), nil
	}
	return true
}

// generalise makes words of rare templates variables: those that are much rarer in the block than the most frequent
// word of their template. What is left of the template is added to the dictionary.
func (t *templater) generalise() {
	n, rare := t.dict.Len(), false
	clear(t.frequency)
	for g := 1; g < n; g++ {
		c := t.counts[g]
		rare = rare || c < 2*rareRows
		text := t.dict.Bytes(g)
		eachPiece(text, func(from, to, word int) {
			if word >= 0 {
				t.frequency[string(text[from:to])] += c
			}
		})
	}
	if !rare {
		return
	}
	for g := 1; g < n; g++ {
		if t.counts[g] >= 2*rareRows {
			continue
		}
		text := t.dict.Bytes(g)
		most := uint32(0)
		eachPiece(text, func(from, to, word int) {
			if word >= 0 {
				most = max(most, t.frequency[string(text[from:to])])
			}
		})
		var wild []uint16
		t.template = t.template[:0]
		slots := countSlots(text)
		eachPiece(text, func(from, to, word int) {
			if word >= 0 && t.frequency[string(text[from:to])] < most/8 && slots < maxSlots-3 {
				wild = append(wild, uint16(word))
				t.template = append(t.template, slotMark, byte(wordSlot), 0)
				slots++
				return
			}
			t.template = append(t.template, text[from:to]...)
		})
		if wild == nil {
			continue
		}
		to, fresh := t.dict.code(t.template)
		if fresh {
			t.counts = append(t.counts, 0)
		}
		t.counts[to] += t.counts[g]
		t.counts[g] = 0
		t.became[g], t.wilds[g] = to, wild
	}
}

// eachPiece calls f for the slots, the words and the text between them. word is the number of a constant word, else -1.
// Letters next to a slot belong to the slot and are not a word.
func eachPiece(template []byte, f func(from, to, word int)) {
	word, afterSlot := 0, false
	for at := 0; at < len(template); {
		start := at
		switch {
		case template[at] == slotMark:
			at += slotSize
			f(start, at, -1)
			afterSlot = true
			continue
		case wordChar[template[at]] == 0:
			for at < len(template) && wordChar[template[at]] == 0 && template[at] != slotMark {
				at++
			}
			f(start, at, -1)
		default:
			for at < len(template) && wordChar[template[at]] != 0 {
				at++
			}
			if afterSlot || at < len(template) && template[at] == slotMark {
				f(start, at, -1)
			} else {
				f(start, at, word)
				word++
			}
		}
		afterSlot = false
	}
}

// maxRestShare: text in which more than one row in this number has no template is not log text.
const maxRestShare = 4

// number returns the templates that are left, the rest first when there is one, and the rows of the rest. It makes
// became the numbers of the templates, isRest for the rest.
func (t *templater) number() (texts [][]byte, rest int) {
	numbers := make([]uint32, t.dict.Len())
	rest = int(t.counts[0])
	for g := 1; g < len(numbers); g++ {
		if t.counts[g] < rareRows {
			rest += int(t.counts[g])
		}
	}
	if rest > 0 {
		texts = append(texts, restTemplate)
	}
	for g := 1; g < len(numbers); g++ {
		numbers[g] = isRest
		if t.counts[g] >= rareRows {
			numbers[g] = uint32(len(texts))
			texts = append(texts, t.dict.Bytes(g))
		}
	}
	numbers[0] = isRest
	for i, g := range t.became {
		t.became[i] = numbers[g]
	}
	return texts, rest
}

// assign puts the variables of all rows where their streams want them, and makes codes those of the final templates.
func (t *templater) assign(templates []vector.View, texts []byte, views []vector.View, heap []byte) (own vector.Bitmap,
	streams []textStream) {
	counts := make([]int, len(templates))
	final := make([]uint32, len(t.codes))
	for r, c := range t.codes {
		if n := t.became[c]; n != isRest {
			final[r] = n
		} // else the rest, which is number 0
		counts[final[r]]++
	}
	t.first, t.fields = fieldsOf(t.first, t.fields, templates, texts)
	first, fields := t.first, t.fields
	total := 0 // by field at first: what becomes own is decided on the values
	for i, n := range counts {
		for k := first[i]; k < first[i+1]; k++ {
			fields[k].from = total
			total += n
		}
	}
	t.byField = vector.Sized(t.byField, total)
	t.fill(first, fields, final, views, heap)
	t.codes = final

	own = vector.MakeBitmap(len(fields))
	at := 0
	for i, n := range counts {
		for k := first[i]; k < first[i+1]; k++ {
			f := &fields[k]
			if n >= ownRows && t.standsAlone(f.kind, t.byField[at:at+n], heap) {
				own.Set(k)
			}
			if f.kind == wordSlot {
				f.width = int(charsOf(t.byField[at:at+n], heap))
				texts[f.at+2] = byte(f.width)
			}
			at += n
		}
	}
	t.streams = layout(t.streams, first, fields, counts, own)
	t.values = vector.Sized(t.values, total)
	at = 0
	for i, n := range counts {
		for k := first[i]; k < first[i+1]; k++ {
			copy(t.values[fields[k].from:], t.byField[at:at+n])
			at += n
		}
	}
	return own, t.streams
}

// fill puts the variables of all rows into byField; final are the templates of the rows.
func (t *templater) fill(first []int, fields []field, final []uint32, views []vector.View, heap []byte) {
	had := make([]int, len(t.became)) // slots of each template as it was found
	for i := range had {
		had[i] = countSlots(t.dict.Bytes(i))
	}
	at := 0
	for r, c := range t.codes {
		w := views[r]
		vars := t.found[at : at+had[c]]
		at += had[c]
		switch {
		case t.became[c] == isRest && c != 0:
			vars = append(t.vars[:0], spanOf(int(w.Off), int(w.Off+w.Len)))
		case t.became[c] != isRest && len(t.wilds[c]) > 0:
			t.parse(heap, int(w.Off), int(w.Off+w.Len), t.wilds[c])
			vars = t.vars
		}
		into := fields[first[final[r]]:first[final[r]+1]]
		for i, v := range vars[:len(into)] {
			t.byField[into[i].from] = v
			into[i].from++
		}
	}
}

// charsOf returns the kinds of characters that occur in words.
func charsOf(values []variable, heap []byte) (kinds byte) {
	for _, v := range values {
		w := viewOf(v)
		for _, c := range heap[w.Off : w.Off+w.Len] {
			kinds |= wordChar[c]
		}
	}
	return kinds
}

// standsAlone reports whether the values of a field should have a stream of their own: numbers within a range, and
// words with few distinct values. Ids should not, so that a value that occurs in several templates is written once.
func (t *templater) standsAlone(k slotKind, values []variable, heap []byte) bool {
	switch k {
	case hexSlot, uuidSlot:
		return false
	case wideSlot:
		return planFrame(values).width < 40
	case wordSlot, restSlot:
		clear(t.seen)
		for i := 0; i < len(values); i += max(1, len(values)/64) {
			w := viewOf(values[i])
			t.seen[string(heap[w.Off:w.Off+w.Len])] = true
		}
		return len(t.seen) < 32
	}
	return true
}

// isRest stands for the number of the rest in became.
const isRest = ^uint32(0)

func countSlots(template []byte) (n int) {
	for at := 0; at < len(template); at++ {
		if template[at] == slotMark {
			n++
			at += slotSize - 1
		}
	}
	return n
}

// appendStream appends the values of a stream.
func (t *templater) appendStream(dst []byte, s *textStream, heap []byte) []byte {
	values := t.values[s.from : s.from+s.count]
	switch {
	case s.kind == wideSlot:
		return t.inner.appendWide(dst, values)
	case s.kind.numeric():
		return t.inner.appendInts(dst, values, false)
	case s.kind == hexSlot:
		t.packed = vector.Sized(t.packed, s.width*len(values))
		for i, v := range values {
			w := viewOf(v)
			packHex(t.packed[i*s.width:][:s.width], heap[w.Off:w.Off+w.Len])
		}
		return appendSection(dst, t.packed, savePlain)
	case s.kind == uuidSlot:
		t.packed = vector.Sized(t.packed, 16*len(values))
		for i, v := range values {
			w := viewOf(v)
			packUUID(t.packed[i*16:][:16], heap[w.Off:w.Off+w.Len])
		}
		return appendSection(dst, t.packed, savePlain)
	}
	t.views = vector.Sized(t.views, len(values))
	for i, v := range values {
		t.views[i] = viewOf(v)
	}
	return t.inner.appendStrings(dst, t.views, heap, nil, nil)
}
