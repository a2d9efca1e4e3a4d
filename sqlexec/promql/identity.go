package promql

// identity is what a row is called: a label set of its own, or one that its origin makes. Those of many series are made when they are
// asked for, so rows ask as late as may be.
type identity struct {
	own      *ownLabels // nil: those of the origin, or none
	of       *origin    // nil: own is it
	at       int32      // in the origin
	dropName bool       // the name goes at the end of the query
}

// ownLabels is a label set that the query made.
type ownLabels struct {
	labels Labels
	text   int64 // bytes that the query made of its texts
}

// origin is where the rows of an operator have their label sets from.
type origin struct {
	labels func(i int) Labels
	// room is how many projections may lie over it: of few series label sets are made at once, of many each is made as often as
	// it is asked for, which should not take a long way.
	room int
}

// mostProjections is how many projections lie over the series of a storage.
const mostProjections = 2

// originOf is the origin of the rows that are made of series.
func originOf(set SeriesSet) *origin {
	o := &origin{labels: set.Labels}
	if set.Len() > fewLabels {
		o.room = mostProjections
	}
	return o
}

// named is the identity of a label set of its own.
func named(ls Labels, text int64) identity { return identity{own: &ownLabels{ls, text}} }

// labels is the label set.
func (id *identity) labels() Labels {
	switch {
	case id.of != nil:
		return id.of.labels(int(id.at))
	case id.own != nil:
		return id.own.labels
	}
	return nil
}

// text is the bytes of texts that the query made.
func (id *identity) text() int64 {
	if id.own == nil {
		return 0
	}
	return id.own.text
}

// ownBytes is the memory of a label set of its own; where rows share one each counts it.
func (id *identity) ownBytes() int64 {
	if id.own == nil {
		return 0
	}
	return setBytes(id.own.labels) + id.own.text
}

const (
	// rowBytes is the memory of a row without its labels and what it has at the steps.
	rowBytes = 96
	// labelBytes is the memory of a label, besides its texts.
	labelBytes = 32
)

// setBytes is the memory of a label set that a row has for itself, but for the texts.
func setBytes(ls Labels) int64 { return int64(1+len(ls)) * labelBytes }

// projection is what an operator leaves of the label sets of its rows.
type projection struct {
	labels func(Labels) Labels
	over   map[*origin]*origin // those whose label sets are projected when they are asked for
}

// of is the identity of what is left of a row's label set.
func (p *projection) of(id *identity) identity {
	if id.of == nil || id.of.room == 0 {
		return named(p.labels(id.labels()), id.text())
	}
	over := p.over[id.of]
	if over == nil {
		below := id.of.labels
		over = &origin{func(i int) Labels { return p.labels(below(i)) }, id.of.room - 1}
		if p.over == nil {
			p.over = map[*origin]*origin{}
		}
		p.over[id.of] = over
	}
	return identity{of: over, at: id.at}
}
