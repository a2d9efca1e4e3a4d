package stage

import (
	"cmp"
	"slices"
	"strings"

	"varve/sqlexec/logql/syntax"
)

// Kind is where a label comes from.
type Kind uint8

// The kinds of labels.
const (
	Stream Kind = iota
	Metadata
	Parsed
	removed // a label that a stage took away; finish takes it out
)

// Label is a name and a value. The caller of Run leaves Kind as it is: the place it passes a label says it.
type Label struct {
	Name  string
	Value []byte
	Kind  Kind
	num   int32 // number of the name in the entry
	made  bool  // a format gave the name, and no parser did before
}

// suffix is what the names of parsed labels get when their own is taken.
const suffix = "_extracted"

// maxNames bounds the names that an entry remembers. Beyond it the entry forgets them all.
const maxNames = 16 << 10

// Entry is a line with its labels on its way through a pipeline, and what the stages need to work on it. It belongs to
// one pipeline and one goroutine.
type Entry struct {
	Line    []byte  // the line behind all stages
	Labels  []Label // in the order they came, no name twice, without the labels of errors
	Err     string  // __error__; empty: none
	Details string  // __error_details__
	KeepErr bool    // a metric query takes the line in spite of Err
	Value   float64 // sample of unwrap; 0 if its conversion failed

	p       *Pipeline
	ts      int64
	stream  []Label
	numbers map[string]int32
	names   []string // names[n] is the name of label number n
	slots   []slot   // slots[n] says where label number n is
	now     uint32   // number of the line
	epoch   uint32   // number of the stream
	dirty   bool     // Labels has removed ones
	meta    []Label  // the metadata of the line before, for its numbers
	buf     []byte   // values that are made rather than found in the line
	state   []any    // of steps, which know their places
}

// slot is where a label is.
type slot struct {
	at       int32  // position in Labels
	extra    int32  // number of the name with the suffix; 0: not known yet
	line     uint32 // at holds if this is the number of the line
	inStream uint32 // the stream has the label if this is the number of the stream
}

// NewEntry returns an entry without labels.
func (p *Pipeline) NewEntry() *Entry {
	e := &Entry{p: p}
	e.forget()
	return e
}

// forget makes an entry know the names of its pipeline alone.
func (e *Entry) forget() {
	e.numbers = make(map[string]int32, len(e.p.names))
	e.names, e.slots, e.state, e.meta = e.names[:0], e.slots[:0], nil, nil
	e.now, e.epoch = 0, 1
	for _, n := range e.p.names {
		e.number([]byte(n))
	}
	for _, s := range e.p.steps {
		if s, ok := s.(interface{ newState(e *Entry) any }); ok {
			e.state = append(e.state, s.newState(e))
		}
	}
}

// number returns the number of a name.
func (e *Entry) number(name []byte) int32 {
	n, ok := e.numbers[string(name)]
	if !ok {
		n = int32(len(e.names))
		text := string(name)
		e.numbers[text] = n
		e.names = append(e.names, text)
		e.slots = append(e.slots, slot{})
	}
	return n
}

// SetStream gives the labels of the stream of the lines that follow. Names are not given twice. Values are copied.
func (e *Entry) SetStream(labels []Label) {
	e.stream = slices.Grow(e.stream[:0], len(labels))
	for _, l := range labels {
		e.stream = append(e.stream, Label{Name: l.Name, Value: slices.Clone(l.Value), Kind: Stream})
	}
	e.numberStream()
}

// numberStream numbers the names of the stream.
func (e *Entry) numberStream() {
	e.epoch++
	for i := range e.stream {
		l := &e.stream[i]
		l.num = e.number([]byte(l.Name))
		l.Name = e.names[l.num]
		e.slots[l.num].inStream = e.epoch
	}
}

// begin makes an entry of a line with the labels of stream and metadata.
func (e *Entry) begin(ts int64, line []byte, metadata []Label) {
	if len(e.names) > maxNames || e.now == 1<<32-1 {
		e.forget()
		e.numberStream()
	}
	e.now++
	e.ts, e.Line, e.Value, e.dirty, e.buf = ts, line, 0, false, e.buf[:0]
	e.Err, e.Details, e.KeepErr = "", "", false
	e.Labels = append(e.Labels[:0], e.stream...)
	for i := range e.Labels {
		s := &e.slots[e.Labels[i].num]
		s.at, s.line = int32(i), e.now
	}
	for i := range metadata {
		m := &metadata[i]
		if i == len(e.meta) {
			e.meta = append(e.meta, Label{num: e.number([]byte(m.Name))})
			e.meta[i].Name = e.names[e.meta[i].num]
		} else if e.meta[i].Name != m.Name {
			e.meta[i].num = e.number([]byte(m.Name))
			e.meta[i].Name = e.names[e.meta[i].num]
		}
		n := e.meta[i].num
		if e.slots[n].inStream == e.epoch {
			n = e.extra(n)
		}
		if e.find(n) == nil {
			e.add(n, m.Value, Metadata)
		}
	}
}

// finish takes removed labels out.
func (e *Entry) finish() {
	if e.dirty {
		e.Labels = slices.DeleteFunc(e.Labels, func(l Label) bool { return l.Kind == removed })
		e.dirty = false
	}
}

// extra returns the number of the name with the suffix behind it.
func (e *Entry) extra(n int32) int32 {
	if e.slots[n].extra == 0 {
		x := e.number([]byte(e.names[n] + suffix))
		e.slots[n].extra = x
	}
	return e.slots[n].extra
}

// find returns a label; nil: the line has none of that number.
func (e *Entry) find(n int32) *Label {
	if s := &e.slots[n]; s.line == e.now {
		return &e.Labels[s.at]
	}
	return nil
}

// value returns the value of a label; nil if the line has none of that number.
func (e *Entry) value(n int32) []byte {
	if l := e.find(n); l != nil {
		return l.Value
	}
	return nil
}

// add adds a label that the line does not have.
func (e *Entry) add(n int32, value []byte, kind Kind) {
	s := &e.slots[n]
	s.at, s.line = int32(len(e.Labels)), e.now
	e.Labels = append(e.Labels, Label{Name: e.names[n], Value: value, Kind: kind, num: n})
}

// set gives a label a value and a kind, for a parser that was asked for it by name.
func (e *Entry) set(n int32, value []byte, kind Kind) {
	if l := e.find(n); l != nil {
		l.Value, l.Kind, l.made = value, kind, false
		return
	}
	e.add(n, value, kind)
}

// format gives a label a value and a kind, for a format. A parser may give its name after that, unless one did before.
func (e *Entry) format(n int32, value []byte, kind Kind) {
	l := e.find(n)
	parsed := l != nil && l.Kind == Parsed && !l.made
	e.set(n, value, kind)
	e.find(n).made = !parsed
}

// remove takes a label away.
func (e *Entry) remove(n int32) {
	if l := e.find(n); l != nil {
		l.Kind, e.dirty = removed, true
		e.slots[n].line = 0
	}
}

// target returns the number under which a parser's label is kept: its own or, if stream or metadata have it, that with
// the suffix.
func (e *Entry) target(n int32) int32 {
	s := &e.slots[n]
	if s.inStream == e.epoch || s.line == e.now && e.Labels[s.at].Kind == Metadata {
		return e.extra(n)
	}
	return n
}

// outcome is what became of a label that a parser found.
type outcome uint8

const (
	keptBefore  outcome = iota // a parser gave the name before
	keptOwn                    // under its own name
	keptExtra                  // under the name with the suffix
	keptTooMany                // not kept: the line has too many labels
)

// extract keeps a label that a parser found, unless a parser gave its name before.
func (e *Entry) extract(own int32, value []byte) outcome {
	n := e.target(own)
	l := e.find(n)
	switch {
	case l == nil && len(e.Labels) >= maxLabels:
		return keptTooMany
	case l == nil:
		e.add(n, value, Parsed)
	case l.Kind == Parsed && !l.made:
		return keptBefore
	default:
		l.Value, l.Kind, l.made = value, Parsed, false
	}
	if n == own {
		return keptOwn
	}
	return keptExtra
}

// truncate removes the labels that came after the first n.
func (e *Entry) truncate(n int) {
	for i := range e.Labels[n:] {
		e.slots[e.Labels[n+i].num].line = 0
	}
	e.Labels = e.Labels[:n]
}

// fail notes an error in place of an earlier one. Long details lose their middle.
func (e *Entry) fail(err, details string) {
	e.Err, e.Details = err, details
	if len(details) > maxDetails {
		const half = maxDetails/2 - 2
		e.Details = strings.ToValidUTF8(details[:half]+"..."+details[len(details)-half:], "")
	}
}

// Get returns the value of a label, those of errors included.
func (e *Entry) Get(name string) (value []byte, ok bool) {
	switch name {
	case syntax.LabelError:
		return []byte(e.Err), e.Err != ""
	case syntax.LabelErrorDetails:
		return []byte(e.Details), e.Details != ""
	}
	for i := range e.Labels {
		if l := &e.Labels[i]; l.Name == name && l.Kind != removed {
			return l.Value, true
		}
	}
	return nil, false
}

// Sort orders the labels by name.
func (e *Entry) Sort() {
	slices.SortFunc(e.Labels, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
}
