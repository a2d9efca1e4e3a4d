package encoding

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"varve/engine/filter"
	"varve/engine/vector"
)

// Templates is a block of text in the form of templates. It is valid until its decoder decodes the next such block. One
// goroutine at a time.
type Templates struct {
	texts   vector.Vector
	Codes   []uint32 // template of each row
	counts  []int    // rows of each template
	first   []int
	fields  []field
	layout  []textStream
	streams []openStream
	own     vector.Bitmap
	bits    []byte
	inner   Decoder
	member  bool // these are the values of members: there are no templates among theirs

	cursors []uint32      // by template: its rows so far
	opened  vector.Bitmap // templates whose streams are decoded
	pieces  []textPiece   // of all templates
	starts  []int         // where those of template i begin
	rows    []uint32
	keep    templateKeep
}

// openStream is a stream whose values are decoded when they are wanted.
type openStream struct {
	textStream
	src    []byte
	open   bool
	ints   []uint64
	texts  vector.Vector // words and rests
	views  []vector.View // the same, one view for each value, in heap
	heap   []byte
	own    []vector.View // memory for views
	packed []byte        // hex and UUIDs
	bytes  []byte        // memory for packed
}

// textPiece is one step of printing a row: constant text, or a field.
type textPiece struct {
	from, to uint32 // in the heap of the templates
	field    int32  // -1: constant
}

// AppendShown appends the template with the number i, readably: its slots as <kind>.
func (t *Templates) AppendShown(dst []byte, i int) []byte {
	w := t.texts.Views[i]
	return appendShown(dst, t.texts.Heap[w.Off:w.Off+w.Len])
}

func appendShown(dst, text []byte) []byte {
	for at := 0; at < len(text); at++ {
		if text[at] != slotMark {
			dst = append(dst, text[at])
			continue
		}
		dst = append(append(dst, '<'), slotNames[text[at+1]]...)
		if text[at+2] > 0 && slotKind(text[at+1]) != wordSlot {
			dst = strconv.AppendInt(dst, int64(text[at+2]), 10)
		}
		dst = append(dst, '>')
		at += slotSize - 1
	}
	return dst
}

var slotNames = [...]string{intSlot: "int", paddedSlot: "padded", decimalSlot: "decimal", addressSlot: "address",
	timeSlot: "time",
	dateSlot: "date", hexSlot: "hex", uuidSlot: "uuid", wordSlot: "word", restSlot: "rest", wideSlot: "wide",
	memberSlot: "member"}

// Len is the number of templates.
func (t *Templates) Len() int { return len(t.texts.Views) }

// Count is the number of rows of the template with the number i.
func (t *Templates) Count(i int) int { return t.counts[i] }

// Templates reads the templates and codes of an encoded block of n rows, and none of its variables yet. ok is false
// when the block is encoded otherwise or has NULLs.
func (d *Decoder) Templates(src []byte, n int) (t *Templates, ok bool, err error) {
	if len(src) < 2 || ID(src[0]) != Template || src[1] != 0 || n < 0 || n > MaxRows {
		return nil, false, nil
	}
	r := d.read(src[2:])
	t = d.openTemplates(r, n)
	r.end()
	return t, true, r.err
}

// openTemplates reads everything except the values of the streams, and checks that the size of the result is allowed.
func (d *Decoder) openTemplates(r *reader, n int) *Templates {
	if d.templates == nil {
		d.templates = &Templates{}
	}
	t := d.templates
	t.member, t.inner.member = d.member, true
	k := r.count(maxTemplates+1, "templates")
	if r.err != nil {
		return t
	}
	t.texts = vector.Vector{Type: vector.StringType, Heap: t.texts.Heap[:0], Views: t.texts.Views}
	t.inner.decodePlain(r, &t.texts, k, false)
	t.Codes = vector.Sized(t.Codes, n)
	t.inner.decodeCodes(r, t.Codes, k)
	if r.err != nil {
		return t
	}
	t.counts = vector.Sized(t.counts, k)
	counts := t.counts
	clear(counts)
	for _, c := range t.Codes {
		counts[c]++
	}
	size := uint64(0)
	for i, w := range t.texts.Views {
		size += uint64(counts[i]) * uint64(w.Len)
	}
	if size > 2*MaxHeap {
		r.fail("templates of %d bytes", size)
		return t
	}
	if err := t.readSlots(); err != nil {
		r.fail("%v", err)
		return t
	}
	own := t.readOwn(r)
	if r.err != nil {
		return t
	}
	t.layout = layout(t.layout, t.first, t.fields, counts, own)
	streams := t.layout
	if cap(t.streams) < len(streams) {
		t.streams = append(t.streams[:cap(t.streams)], make([]openStream, len(streams)-cap(t.streams))...)
	}
	t.streams = t.streams[:len(streams)]
	for i := range streams {
		s := &t.streams[i]
		s.textStream, s.open = streams[i], false
		s.src = r.take(r.count(len(r.b), "bytes of a stream"))
	}
	return t
}

// readOwn reads which fields have a stream of their own.
func (t *Templates) readOwn(r *reader) vector.Bitmap {
	words := vector.Words(len(t.fields))
	bits := r.section(t.bits, 8*words)
	if r.err == nil && len(bits) != 8*words {
		r.fail("%d bytes for %d slots", len(bits), len(t.fields))
	}
	if r.err != nil {
		return nil
	}
	if !r.inPlace {
		t.bits = bits
	}
	t.own = vector.Sized(t.own, words)
	for i := range t.own {
		t.own[i] = binary.LittleEndian.Uint64(bits[8*i:])
	}
	return t.own
}

// readSlots finds the slots of the templates, which it checks, and makes the pieces of the templates.
func (t *Templates) readSlots() error {
	t.pieces, t.starts, t.first, t.fields = t.pieces[:0], t.starts[:0], append(t.first[:0], 0), t.fields[:0]
	for _, w := range t.texts.Views {
		t.starts = append(t.starts, len(t.pieces))
		text, slots, from := t.texts.Heap[w.Off:w.Off+w.Len], 0, 0
		for {
			at := bytes.IndexByte(text[from:], slotMark)
			if at < 0 {
				break
			}
			if at += from; len(text)-at < slotSize {
				return malformed("a template ends within a slot")
			}
			k, width := slotKind(text[at+1]), int(text[at+2])
			if slots++; slots > maxSlots || !k.holds(width) {
				return malformed("slot %d of kind %d, width %d", slots, k, width)
			}
			if at > from {
				t.pieces = append(t.pieces, textPiece{w.Off + uint32(from), w.Off + uint32(at), -1})
			}
			t.pieces = append(t.pieces, textPiece{field: int32(len(t.fields))})
			t.fields = append(t.fields, field{kind: k, width: width, at: int(w.Off) + at})
			from = at + slotSize
		}
		if len(text) > from {
			t.pieces = append(t.pieces, textPiece{w.Off + uint32(from), w.Off + w.Len, -1})
		}
		t.first = append(t.first, len(t.fields))
	}
	t.starts = append(t.starts, len(t.pieces))
	return nil
}

// holds reports whether a slot of the kind may have a width.
func (k slotKind) holds(width int) bool {
	switch k {
	case paddedSlot, decimalSlot:
		return width > 0 && width <= maxDigitsSlot
	case hexSlot:
		return width > 0 && width <= maxHexWidth
	case wordSlot:
		return width < len(wordSets)
	case memberSlot:
		return width <= maxMembers
	}
	return k > 0 && k < memberSlot && width == 0
}

// openStream decodes the values of a stream.
func (t *Templates) openStream(s *openStream) error {
	if s.open {
		return nil
	}
	r := t.inner.read(s.src)
	switch {
	case s.kind == wideSlot:
		t.inner.decodeWide(r, s)
	case s.kind.numeric():
		s.ints = vector.Sized(s.ints, s.count)
		t.inner.decodeUints(r, ID(r.byte()), s.ints)
	case s.kind == hexSlot:
		s.openBytes(r, s.width)
	case s.kind == uuidSlot:
		s.openBytes(r, 16)
	default:
		reset(&s.texts, vector.StringType)
		id := ID(r.byte())
		if id == Shared || id == Template && (s.kind != memberSlot || t.member) {
			r.fail("%s within templates", id)
			break
		}
		t.inner.decodeValues(r, id, &s.texts, s.count, nil)
		if r.err == nil {
			s.flatten()
		}
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d unexpected bytes at the end in a stream", len(r.b))
	}
	s.open = r.err == nil
	return r.err
}

// flatten makes views and heap those of every value, whatever the form of texts.
func (s *openStream) flatten() {
	switch s.texts.Form {
	case vector.Flat:
		s.views, s.heap = s.texts.Views, s.texts.Heap
	case vector.Const:
		s.own = vector.Sized(s.own, s.count)
		for i := range s.own {
			s.own[i] = s.texts.Views[0]
		}
		s.views, s.heap = s.own, s.texts.Heap
	default:
		s.own = vector.Sized(s.own, s.count)
		for i, c := range s.texts.Codes[:s.count] {
			s.own[i] = s.texts.Values.Views[c]
		}
		s.views, s.heap = s.own, s.texts.Values.Heap
	}
}

// openBytes reads the section that holds width bytes a value.
func (s *openStream) openBytes(r *reader, width int) {
	size := width * s.count
	if s.packed = r.section(s.bytes[:0], size); !r.inPlace {
		s.bytes = s.packed
	}
	if r.err == nil && len(s.packed) != size {
		r.fail("%d bytes for %d values of %d", len(s.packed), s.count, width)
	}
}

// AppendRows makes dst the rows of keep whose template want has, in order, Flat, in memory of its own. Only their
// variables are decoded. rows are their numbers, valid until the next call; nil for want: all rows, whatever keep is.
func (t *Templates) AppendRows(dst *vector.Vector, want, keep vector.Bitmap) (rows []uint32, err error) {
	for i := range t.Len() {
		if want == nil || want.Get(i) {
			if err := t.openFields(i); err != nil {
				return nil, err
			}
		}
	}
	t.begin()
	t.rows = t.rows[:0]
	heap, views := dst.Heap[:0], dst.Views[:0]
	for r, c := range t.Codes {
		ord := t.cursors[c]
		t.cursors[c]++
		if want != nil {
			if !want.Get(int(c)) || !keep.Get(r) {
				continue
			}
			t.rows = append(t.rows, uint32(r))
		}
		from := len(heap)
		if heap = t.print(heap, c, int(ord)); len(heap) > MaxHeap {
			return nil, errTooLong
		}
		views = append(views, vector.View{Off: uint32(from), Len: uint32(len(heap) - from)})
	}
	dst.Heap, dst.Views = heap, views
	return t.rows, nil
}

// Sparse makes dst the rows of keep alone, Flat, in memory of its own.
func (t *Templates) Sparse(dst *vector.Vector, keep vector.Bitmap) error {
	t.begin()
	n := len(t.Codes)
	for len(keep) > 0 && keep[len(keep)-1] == 0 {
		keep = keep[:len(keep)-1] // what comes after the last row needs not be counted
	}
	heap, views := dst.Heap[:0], dst.Views[:0]
	for w, m := range keep {
		codes := t.Codes[w*64 : min(w*64+64, n)]
		if m == 0 {
			for _, c := range codes {
				t.cursors[c]++
			}
			continue
		}
		for i, c := range codes {
			ord := t.cursors[c]
			t.cursors[c]++
			if m>>i&1 == 0 {
				continue
			}
			if !t.opened.Get(int(c)) {
				if err := t.openFields(int(c)); err != nil {
					return err
				}
				t.opened.Set(int(c))
			}
			from := len(heap)
			if heap = t.print(heap, c, int(ord)); len(heap) > MaxHeap {
				return errTooLong
			}
			views = append(views, vector.View{Off: uint32(from), Len: uint32(len(heap) - from)})
		}
	}
	dst.Heap, dst.Views = heap, views
	return nil
}

var errTooLong = malformed("text of more than %d bytes", MaxHeap)

// begin sets the cursors to the first rows.
func (t *Templates) begin() {
	t.cursors = vector.Sized(t.cursors, t.Len())
	clear(t.cursors)
	t.opened = vector.Sized(t.opened, vector.Words(t.Len()))
	clear(t.opened)
}

// openFields decodes the streams of a template.
func (t *Templates) openFields(template int) error {
	for _, f := range t.fields[t.first[template]:t.first[template+1]] {
		if err := t.openStream(&t.streams[f.stream]); err != nil {
			return err
		}
	}
	return nil
}

// print appends a row: the ord-th of its template.
func (t *Templates) print(dst []byte, template uint32, ord int) []byte {
	for _, p := range t.pieces[t.starts[template]:t.starts[template+1]] {
		if p.field < 0 {
			dst = append(dst, t.texts.Heap[p.from:p.to]...)
			continue
		}
		f := &t.fields[p.field]
		s := &t.streams[f.stream]
		dst = s.print(dst, f.from-s.from+ord)
	}
	return dst
}

// print appends value i of the stream.
func (s *openStream) print(dst []byte, i int) []byte {
	switch s.kind {
	case intSlot, wideSlot:
		return appendDigits(dst, s.ints[i])
	case hexSlot:
		for _, b := range s.packed[i*s.width : (i+1)*s.width] {
			dst = append(dst, hexPairs[b][0], hexPairs[b][1])
		}
		return dst
	case uuidSlot:
		at := len(dst)
		dst = append(dst, make([]byte, uuidLength)...)
		unpackUUIDs(dst[at:], s.packed[i*16:(i+1)*16])
		return dst
	case wordSlot, restSlot, memberSlot:
		w := s.views[i]
		return append(dst, s.heap[w.Off:w.Off+w.Len]...)
	}
	return appendVariable(dst, s.kind, s.width, s.ints[i])
}

func decodeTemplates(d *Decoder, r *reader, v *vector.Vector, n int, _ *vector.Vector) {
	t := d.openTemplates(r, n)
	if r.err != nil {
		return
	}
	if _, err := t.AppendRows(v, nil, nil); err != nil {
		r.err = err
	}
}

// Characters that variables consist of.
var (
	digitSet   = filter.Chars("0123456789")
	decimalSet = filter.Chars("0123456789.")
	timeSet    = filter.Chars("0123456789:")
	dateSet    = filter.Chars("0123456789-")
	hexSet     = filter.Chars("0123456789abcdef")
	uuidSet    = filter.Chars("0123456789abcdef-")
	restSet    = filter.AllChars()
	wordSets   = func() (sets [16]*filter.CharSet) { // by charBits
		for kinds := range sets {
			var chars []byte
			for c, k := range wordChar {
				if int(k)&kinds != 0 {
					chars = append(chars, byte(c))
				}
			}
			sets[kinds] = filter.Chars(string(chars))
		}
		return sets
	}()
)

// Pieces returns the template with the number i as conditions look at it: constant text and sets of characters.
func (t *Templates) Pieces(dst []filter.Piece, i int) []filter.Piece {
	for _, p := range t.pieces[t.starts[i]:t.starts[i+1]] {
		if p.field < 0 {
			dst = append(dst, filter.Piece{Text: t.texts.Heap[p.from:p.to]})
			continue
		}
		var set *filter.CharSet
		switch t.fields[p.field].kind {
		case intSlot, wideSlot, paddedSlot:
			set = digitSet
		case decimalSlot, addressSlot:
			set = decimalSet
		case timeSlot:
			set = timeSet
		case dateSlot:
			set = dateSet
		case hexSlot:
			set = hexSet
		case uuidSlot:
			set = uuidSet
		case wordSlot:
			set = wordSets[t.fields[p.field].width]
		default:
			set = restSet
		}
		dst = append(dst, filter.Piece{Chars: set})
	}
	return dst
}
