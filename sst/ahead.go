package sst

import (
	"cmp"
	"context"
	"slices"

	"varve/engine/scan"
)

// Ahead has the pages requested that a cursor of the same spec will read, and returns at once with how many bytes they
// are: those of the columns of conditions, in blocks that no statistic leaves out, and those of the other columns where
// rows are likely to pass. It ends with the block that makes them most bytes. ctx ends the requests. An error shows
// when the cursor meets it.
func (p *Part) Ahead(ctx context.Context, spec *scan.Spec, most int64) (bytes int64) {
	bytes, err := using(p, func() (int64, error) { return p.ahead(ctx, spec, most) })
	if err != nil {
		return 0
	}
	return bytes
}

func (p *Part) ahead(ctx context.Context, spec *scan.Spec, most int64) (bytes int64, err error) {
	own := *spec
	own.Stats = nil
	sel, err := p.selector(&own)
	if err != nil {
		return 0, err
	}
	defer sel.release()
	sel.silent = true
	if err := sel.heed(); err != nil {
		return 0, err
	}
	a := &asker{p: p, ctx: ctx, sel: sel, dense: dense(spec.Stats)}
	from, to := 0, len(p.blocks)
	if spec.Pieces != nil {
		from, to = max(spec.Pieces.From, from), min(spec.Pieces.To, to)
	}
	for block := from; block < to && a.bytes < most; block++ {
		if err := a.ask(block); err != nil {
			return a.bytes, err
		}
	}
	return a.bytes, nil
}

// dense reports whether most blocks that a scan has read had rows that pass.
func dense(st *scan.Stats) bool {
	if st == nil {
		return false
	}
	read := st.BlocksRead.Load()
	return read > 0 && st.RowsOut.Load() >= read
}

// asker requests pages of some blocks.
type asker struct {
	p     *Part
	ctx   context.Context
	sel   *selector
	dense bool // rows pass though tests of texts are left
	bytes int64
	asked []*column // of the block at hand
	err   error     // the first of page
}

// ask requests the pages of a block.
func (a *asker) ask(block int) error {
	conds, ok := a.sel.mayPass(block)
	b := &a.p.blocks[block]
	if !ok || !a.sel.keepWanted(b) {
		return nil
	}
	a.asked = a.asked[:0]
	if a.sel.cutsTimes(b) {
		a.page(a.sel.time, block)
	}
	rare := false // a filter says that a text may be there: in few blocks it is
	for _, c := range conds {
		c.Most(func(t *test) int {
			rare = rare || t.find != nil
			a.page(t.src, block)
			return 0
		})
	}
	if rare && !a.dense {
		return a.err
	}
	columns := a.sel.spec.Columns
	for i := range columns {
		s, err := a.sel.reader.source(&columns[i])
		if err != nil {
			return err
		}
		a.page(s, block)
	}
	return a.err
}

// page requests the page of a column, once, unless its values are there.
func (a *asker) page(s *source, block int) {
	if s.from == stored && !slices.Contains(a.asked, s.col) {
		a.asked = append(a.asked, s.col)
		n, err := a.p.request(a.ctx, s.col, block)
		a.bytes, a.err = a.bytes+n, cmp.Or(a.err, err)
	}
}

// request has the page of a column requested unless its values are kept, and gives its size.
func (p *Part) request(ctx context.Context, c *column, block int) (bytes int64, err error) {
	if p.cache.holds(blockKey{p.id, c.number, uint32(block)}) {
		return 0, nil
	}
	x, err := p.index(ctx, c)
	if err != nil {
		return 0, err
	}
	at := x.at(block)
	p.file.readAhead(ctx, at)
	return int64(at.length), nil
}

// requestWanted has the columns requested together that rows of the selector's block are made of.
func (j *projector) requestWanted() error {
	for _, s := range j.out {
		if s.from != stored || s.loaded != nil {
			continue
		}
		if _, err := j.sel.p.request(j.sel.reader.ctx, s.col, j.sel.reader.block); err != nil {
			return err
		}
	}
	return nil
}
