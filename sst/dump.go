package sst

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst/encoding"
	"varve/sst/index"
)

// DumpOptions say what of a part is printed.
type DumpOptions struct {
	// Section is head, series, columns, rows or the name of a column; empty: all.
	Section string
	// Rows is the number of first rows that are printed in full.
	Rows int
}

// Dump prints a part: the places of all sections; encoding, size and zone of every block; dictionaries; series; and the
// first rows. For a damaged section it prints the error and continues after it.
func Dump(out io.Writer, fs vfs.FS, name string, o DumpOptions) error {
	p, err := Open(fs, name, OpenOptions{})
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	d := &dumper{p: p, w: w}
	found := false
	d.columns, err = using(p, func() (*columnSet, error) { return p.columns(p.ctx) })
	if err != nil {
		return errors.Join(err, p.Close())
	}
	err = p.use(func() error { found = d.sections(o); return nil })
	if err := errors.Join(err, p.Close(), w.Flush()); err != nil {
		return err
	}
	if !found {
		return fmt.Errorf(
			"part %s has no section %q: there are head, series, columns, rows and the names of its columns", name,
			o.Section)
	}
	return nil
}

// sections prints the requested sections and reports whether there were any.
func (d *dumper) sections(o DumpOptions) (found bool) {
	wants := func(name string) bool {
		is := o.Section == "" || o.Section == name
		found = found || is
		return is
	}
	if wants("head") {
		d.head()
	}
	if wants("series") {
		d.series()
	}
	all := wants("columns")
	for _, c := range d.columns.all {
		if all || o.Section == c.name {
			found = true
			d.column(c)
		}
	}
	if wants("rows") {
		d.rows(o.Rows)
	}
	return found
}

type dumper struct {
	p       *Part
	columns *columnSet
	w       *bufio.Writer
	dec     encoding.Decoder
}

func (d *dumper) line(format string, args ...any) {
	fmt.Fprintf(d.w, format+"\n", args...) // bufio keeps the error for Flush
}

func (d *dumper) ref(title string, r ref) {
	if r.present() {
		d.line("  %-14s at %8d, %6d bytes", title, r.off, r.length)
	}
}

func (d *dumper) head() {
	p, m := d.p, d.p.meta
	d.line("part           format version %d, %d bytes, %d of them index", p.version, m.Bytes, m.IndexBytes)
	d.line("rows           %d in %d blocks of up to %d, %d series", m.Rows, len(p.blocks), p.dir.blockRows, m.Series)
	d.line("time           %d to %d, in column %d", m.MinTime, m.MaxTime, p.dir.time)
	d.line("sequence       %d to %d, stored for every row: %t", m.MinSeq, m.MaxSeq, p.dir.hidden)
	if p.dir.origin.present() {
		d.ref("origin", p.dir.origin)
		if b, err := p.Origin(); err != nil {
			d.line("  %v", err)
		} else {
			d.line("  %s", b)
		}
	}
	for i, b := range p.blocks {
		d.line("block %-4d     rows %d to %d, time %d to %d", i, b.first, b.first+b.rows-1, b.minTime, b.maxTime)
	}
}

func (d *dumper) series() {
	d.line("series")
	d.ref("section", d.p.dir.series)
	t, err := d.p.seriesTable(d.p.ctx)
	if err != nil {
		d.line("  %v", err)
		return
	}
	walk, err := t.walk(0)
	for i := 0; i < t.len() && err == nil; i++ {
		if err = walk.step(); err != nil {
			break
		}
		from, to := t.rows(i)
		text := ""
		id, bad := schema.ParseSeriesKey(walk.key, func(c schema.ColumnID, val []byte) {
			if val == nil {
				text += fmt.Sprintf(" %d=NULL", c)
			} else {
				text += fmt.Sprintf(" %d=%q", c, val)
			}
		})
		if bad != nil {
			text = " " + bad.Error()
		}
		d.line("  %-14d rows %d to %d, table %d%s", i, from, to-1, id, text)
	}
	if err != nil {
		d.line("  %v", err)
	}
	d.tags()
}

// tags prints the tag index.
func (d *dumper) tags() {
	d.ref("tag index", d.p.dir.tags)
	x, err := d.p.tagIndex(d.p.ctx)
	if err != nil {
		d.line("  %v", err)
	}
	if err != nil || x == nil {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(x.tags)) {
		t := x.tags[id]
		d.line("  tag %-10d %d values of %d series in %d blocks", id, t.values, t.series, len(t.off))
		for i := range t.off {
			d.line("  block %-8d at %8d, %6d bytes, from %q", i, t.off[i], t.length[i], t.first[i])
		}
	}
}

func (d *dumper) column(c *column) {
	p := d.p
	d.line("column %d %q %s", c.id, c.name, c.typ)
	d.ref("pages", c.pageRef)
	d.ref("page index", c.indexRef)
	d.ref("dictionary", c.dictRef)
	d.ref("postings", c.postRef)
	d.ref("filters", c.filterRef)
	d.ref("text sizes", c.sizesRef)
	x, err := p.index(p.ctx, c)
	if err != nil {
		d.line("  %v", err)
		return
	}
	for i := range p.blocks {
		d.block(c, x, i)
	}
	d.dictionary(c)
}

// block prints the page and the filter of a block of a column.
func (d *dumper) block(c *column, x *pageIndex, i int) {
	p := d.p
	page, release, err := p.file.read(p.ctx, x.at(i))
	if err != nil {
		d.line("  block %-8d %v", i, err)
		return
	}
	defer release()
	about := "damaged"
	if desc, err := encoding.Describe(page); err == nil {
		about = desc.Encoding.String()
	}
	bounds := "no values"
	if !x.zones.Min.IsNull(i) {
		bounds = printed(x.zones.Min, i) + " to " + printed(x.zones.Max, i)
		if x.zones.MaxCut.Get(i) {
			bounds += " (cut)"
		}
	}
	d.line("  block %-8d at %8d, %6d bytes, %-8s %d NULL, %s", i, x.off[i], x.length[i], about, x.zones.Nulls[i],
		bounds)
	d.templates(page, p.blocks[i].rows)
	if f := x.filters; f != nil && f.has(i) {
		about := "damaged"
		b, release := p.filter(p.ctx, c, x, i)
		if b != nil {
			about = index.Describe(b)
		}
		release()
		d.line("  filter %-7d at %8d, %6d bytes, %s", i, f.off[i], f.length[i], about)
	}
}

// dumpTemplates is the number of templates of a block that a dump prints.
const dumpTemplates = 8

// templates prints the first templates of a block that is encoded so.
func (d *dumper) templates(page []byte, rows int) {
	t, ok, err := d.dec.Templates(page[:len(page)-sumSize], rows)
	if !ok || err != nil {
		return // of another encoding; what is damaged shows where rows are printed
	}
	for i := range min(t.Len(), dumpTemplates) {
		d.line("  template %-5d %q", i, t.AppendShown(nil, i))
	}
	if more := t.Len() - dumpTemplates; more > 0 {
		d.line("  %d further templates", more)
	}
}

func (d *dumper) dictionary(c *column) {
	values, err := d.p.dictionary(d.p.ctx, c)
	if err == nil && values == nil {
		return
	}
	posts, err2 := d.p.postings(d.p.ctx, c)
	if err == nil {
		err = err2
	}
	if err != nil {
		d.line("  %v", err)
		return
	}
	for i := range values.Len() {
		blocks := ""
		if posts != nil {
			blocks = fmt.Sprintf(" in %d blocks", posts.Count(i))
		}
		d.line("  value %-8d %s%s", i, printed(values, i), blocks)
	}
	for i := range d.p.blocks {
		if posts != nil && posts.Unknown(i) {
			d.line("  not by value   block %d", i)
		}
	}
}

// rows prints the first rows, block by block, a line for each column.
func (d *dumper) rows(left int) {
	for i := range d.p.blocks {
		if left <= 0 {
			break
		}
		n := min(left, d.p.blocks[i].rows)
		d.blockRows(i, n)
		left -= n
	}
}

func (d *dumper) blockRows(block, n int) {
	p := d.p
	if block == 0 {
		d.line("first %d rows", n)
	} else {
		d.line("first %d rows of block %d", n, block)
	}
	var dec encoding.Decoder
	for _, c := range d.columns.all {
		var v vector.Vector
		if _, err := p.decode(p.ctx, &dec, c, block, &v); err != nil {
			d.line("  %-14s %v", c.name, err)
			continue
		}
		fmt.Fprintf(d.w, "  %-14s", c.name)
		for i := range n {
			fmt.Fprintf(d.w, " %s", printed(&v, i))
		}
		d.line("")
	}
}

// printed is a value as dumps show it.
func printed(v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	if v.Type.Kind() == vector.Bytes {
		return fmt.Sprintf("%q", v.Bytes(i))
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return strconv.FormatBool(v.Bool(i))
	case vector.Int64:
		return strconv.FormatInt(v.Int(i), 10)
	case vector.Uint64:
		return strconv.FormatUint(v.Uint(i), 10)
	}
	return string(convert.AppendText(nil, v, i))
}
