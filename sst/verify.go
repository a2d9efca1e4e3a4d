package sst

import "varve/engine/vfs"

// Verify checks magic, version, bounds and every checksum of a part without decoding its blocks: a tenth of the work of
// Check. It gives the part's description and one error for each damaged place.
func Verify(fs vfs.FS, name string) (Meta, []error) {
	p, err := Open(fs, name, OpenOptions{})
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
		err := p.use(read)
		add(err)
		return err == nil
	}
	try(func() error { _, err := p.seriesTable(); return err })
	try(func() error { _, err := p.originBytes(); return err })
	var columns columnSet
	try(func() error {
		s, err := p.columns()
		if err == nil {
			columns = *s
		}
		return err
	})
	for _, c := range columns.all {
		if !try(func() error { _, err := p.index(c); return err }) {
			continue
		}
		try(func() error { _, err := p.dictionary(c); return err })
		try(func() error { _, err := p.postings(c); return err })
		for block := range p.blocks {
			try(func() error { _, err := p.page(c, block); return err })
		}
	}
	meta := p.meta
	add(p.Close())
	return meta, errs
}

// Magic begins every part.
const Magic = partMagic
