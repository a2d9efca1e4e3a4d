package sst

import (
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/schema"
	"varve/engine/vfs"
	"varve/sst/encoding"
)

// FuzzDirectory reads any bytes as a directory: an error, or one whose sections lie in the file.
func FuzzDirectory(f *testing.F) {
	fs, _ := smallPart(f)
	whole := file(f, fs, "p")
	var ft footer
	_, err := vfs.Guard(func() (err error) {
		ft, err = readFooter(ctx, &contents{File: &mapped{data: whole}})
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[ft.dir.off:ft.dir.off+ft.dir.length], ft.dir.off, ft.version)
	f.Add([]byte{0}, uint64(8), uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, size uint64, version uint32) {
		if len(b) == 0 || version < oldestVersion || version > formatVersion {
			return // the footer's reader refuses these
		}
		d, err := readDirectory(b, size, version)
		if err != nil {
			return
		}
		refs := []ref{d.series, d.origin, d.tags}
		for _, c := range d.columns {
			refs = append(refs, c.indexRef, c.dictRef, c.postRef)
		}
		for _, r := range refs {
			if r.present() && (r.off > size || r.length > size-r.off) {
				t.Errorf("a section of %d bytes at %d in a file of %d", r.length, r.off, size)
			}
		}
		d.append(nil, encoding.NewEncoder())
	})
}

// FuzzTagIndex reads any bytes as the section of a tag index, and as a block of values.
func FuzzTagIndex(f *testing.F) {
	fs, _ := smallPart(f)
	p, err := Open(fs, "p", OpenOptions{})
	if err != nil {
		f.Fatal(err)
	}
	defer p.Close()
	var section, block []byte
	err = p.use(func() (err error) {
		if section, _, err = p.section(ctx, p.dir.tags, "tag index"); err != nil {
			return err
		}
		x, err := p.tagIndex(ctx)
		if err == nil {
			block, _, err = x.tags[hostColumn.ID].block(ctx, p, 0)
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(section, uint64(6), uint64(4096))
	f.Add(block, uint64(6), uint64(4096))
	f.Fuzz(func(t *testing.T, b []byte, series, size uint64) {
		if x, err := readTagIndex(b, series, size); err == nil {
			for _, t := range x.tags {
				_, _ = appendSeriesOf(nil, t.nulls, seriesRange{0, 1000})
			}
		}
		w := valueWalk{b: b}
		for {
			ok, err := w.next()
			if !ok || err != nil {
				return
			}
			if s, err := appendSeriesOf(nil, w.postings, seriesRange{10, 1000}); err == nil && len(s) > 990 {
				t.Errorf("%d series of 990", len(s))
			}
		}
	})
}

// FuzzSeries reads any bytes as a series section and walks over its keys.
func FuzzSeries(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	var w seriesWriter
	for i := range 40 {
		w.add(schema.AppendSeriesKey(nil, 7, []schema.ColumnID{1}, [][]byte{{byte(i), byte(r.Uint32())}}), uint64(i*3))
	}
	f.Add(slices.Concat(w.section(encoding.NewEncoder())...), uint32(40), uint32(200), uint16(17))
	f.Fuzz(func(t *testing.T, b []byte, count, rows uint32, from uint16) {
		s, err := readSeries(b, uint64(count), uint64(rows))
		if err != nil {
			return
		}
		at := int(from) % s.len()
		k, err := s.walk(at)
		for i := at; i < s.len() && err == nil; i++ {
			err = k.step()
		}
		if lo, hi, err := s.prefix(b[:min(len(b), 5)]); err == nil && (lo > hi || hi > s.len()) {
			t.Errorf("a prefix has series %d to %d of %d", lo, hi, s.len())
		}
		if _, err := s.split(nil, 3); err != nil {
			return
		}
		s.at(int(rows) / 2)
	})
}
