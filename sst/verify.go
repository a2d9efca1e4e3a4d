package sst

import "context"

// Verify checks magic, version, bounds and every checksum of a part without decoding its blocks: a tenth of the work of
// Check. It gives the part's description and one error for each place that is damaged or cannot be read, and closes the
// file. After the end of ctx it gives the context's error.
func Verify(ctx context.Context, f File, name string) (Meta, []error) {
	p, err := OpenFile(f, name, OpenOptions{Context: ctx})
	if err != nil {
		return Meta{}, []error{err}
	}
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	try := func(read func() error) bool {
		if ctx.Err() != nil {
			return false
		}
		err := p.use(read)
		add(err)
		return err == nil
	}
	try(func() error { _, err := p.seriesTable(ctx); return err })
	try(func() error { _, err := p.originBytes(); return err })
	var columns columnSet
	try(func() error {
		s, err := p.columns(ctx)
		if err == nil {
			columns = *s
		}
		return err
	})
	for _, c := range columns.all {
		if !try(func() error { _, err := p.index(ctx, c); return err }) {
			continue
		}
		try(func() error { _, err := p.dictionary(ctx, c); return err })
		try(func() error { _, err := p.postings(ctx, c); return err })
		for block := range p.blocks {
			try(func() error {
				_, release, err := p.page(ctx, c, block)
				if err == nil {
					release()
				}
				return err
			})
		}
	}
	if err := ctx.Err(); err != nil {
		errs = []error{err}
	}
	meta := p.meta
	add(p.Close())
	return meta, errs
}

// Magic begins every part.
const Magic = partMagic
