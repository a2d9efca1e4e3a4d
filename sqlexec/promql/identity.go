package promql

// identity names a row: a label set that its origin has, or computes on demand. Rows compute it as late as possible.
type identity struct {
	of       *origin // nil: no labels
	at       int32   // in the origin
	dropName bool    // the name goes at the end of the query
}

// origin is where rows have their label sets from: all those of an operator, or one row that the query named.
type origin struct {
	made func(i int) Labels // nil: own is it
	own  Labels
	text int64 // bytes that the query made of the texts of own
	// room is how many projections may lie over it: of few series label sets are made at once, of many each is made as
	// often as it is asked for, which should not take a long way.
	room int
}

// mostProjections is how many projections lie over the series of a storage.
const mostProjections = 2

// originOf is the origin of the rows that are made of series.
func originOf(set SeriesSet) *origin {
	o := &origin{made: set.Labels}
	if set.Len() > fewLabels {
		o.room = mostProjections
	}
	return o
}

// named is the identity of a label set that a row has for itself, with so many bytes of texts that the query made.
func named(ls Labels, text int64) identity { return identity{of: &origin{own: ls, text: text}} }

// labels is the label set.
func (id *identity) labels() Labels {
	switch {
	case id.of == nil:
		return nil
	case id.of.made != nil:
		return id.of.made(int(id.at))
	}
	return id.of.own
}

// text is the bytes of texts that the query made.
func (id *identity) text() int64 {
	if id.of == nil {
		return 0
	}
	return id.of.text
}

// keeps reports whether the label set is at hand.
func (id *identity) keeps() bool { return id.of == nil || id.of.made == nil }

// ownBytes is the memory of a label set of its own; where rows share one each counts it.
func (id *identity) ownBytes() int64 {
	if id.of == nil || id.of.made != nil {
		return 0
	}
	return setBytes(id.of.own) + id.of.text
}

const (
	// rowBytes is the memory of a row without its labels and what it has at the steps.
	rowBytes = 72
	// labelBytes is the memory of a label, besides its texts.
	labelBytes = 32
)

// setBytes is the memory of a label set that a row has for itself, but for the texts.
func setBytes(ls Labels) int64 { return 64 + int64(len(ls))*labelBytes }

// projection is the part of the label sets that an operator keeps.
type projection struct {
	labels func(Labels) Labels
	over   map[*origin]*origin // origins whose label sets are projected on demand
}

// of is the identity of the kept part of a row's label set.
func (p *projection) of(id *identity) identity {
	if id.keeps() || id.of.room == 0 {
		return named(p.labels(id.labels()), id.text())
	}
	over := p.over[id.of]
	if over == nil {
		below := id.of.made
		over = &origin{made: func(i int) Labels { return p.labels(below(i)) }, room: id.of.room - 1}
		if p.over == nil {
			p.over = map[*origin]*origin{}
		}
		p.over[id.of] = over
	}
	return identity{of: over, at: id.at}
}
