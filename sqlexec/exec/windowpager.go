package exec

import (
	"errors"
	"slices"
	"sort"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// pager gives the rows of one partition that is too large for a section. It reads pages of rows when a cursor
// asks for them, forgets those behind all cursors, and puts pages into files where it would keep too many. Each page
// has what functions need of its rows, computed once. So row_number reads a partition through without a file; what
// needs its end first writes it and reads it again.
type pager struct {
	r       *windowReader
	exprs   []expr.Expr // of pages: order, arguments, filters
	program *expr.Program
	values  []*vector.Vector
	types   []vector.Type // of a page's columns: those of the input, what is computed, the begins of groups
	columns []int         // by expression: its column
	made    []expr.Expr   // the expressions that are computed

	memory    loan
	most      int64           // bytes of pages in memory
	pageBytes int64           // of a page
	kept      []*vector.Batch // rows that came before the pager was made
	keptBytes int64

	pages   []*pagerPage // those that are not forgotten
	n       int          // rows read
	ended   bool
	last    *vector.Batch // the order of the row before; nil: there is none
	held    int64         // bytes of pages in memory
	cursors []*cursor
	files   []*pagerFile

	part    *partition
	framers []*framer
	at      int // the row that is given next
	shown   *pagerPage
	answers loan // what the columns of functions take that were given
	closed  bool
}

// pagerPage is some rows of the partition.
type pagerPage struct {
	rowPage
	b     *vector.Batch // nil: only in a file
	bytes int64
	file  *pagerFile // nil: in none
	place int64
}

// pagerFile is a file of pages.
type pagerFile struct {
	w    *spill.Writer
	f    *spill.File // when it is written
	r    *spill.Reader
	left int // pages that are not forgotten
	size int64
}

// newPager makes a pager of a partition whose first rows are there; bytes of them are counted.
func newPager(r *windowReader, first *Rows, bytes int64) (*pager, error) {
	g := &pager{r: r, memory: loan{budget: r.s.budget}, answers: loan{budget: r.s.budget}, most: r.most,
		kept: first.chunks, keptBytes: bytes, types: slices.Clone(r.s.types)}
	g.memory.bytes.Store(bytes)
	g.part = &partition{pager: g, err: r.ctx.Err}
	w := &r.s.w
	g.exprs = expr.KeyExprs(w.Order)
	for i := range w.Funcs {
		f := &w.Funcs[i]
		fr := f.framer(w.Order, len(g.exprs), &g.memory)
		g.framers = append(g.framers, fr)
		g.exprs = append(g.exprs, f.columns()...)
	}
	for _, e := range g.exprs {
		if c, ok := e.(*expr.Column); ok {
			g.columns = append(g.columns, c.Index)
			continue
		}
		g.columns = append(g.columns, len(g.types))
		g.types, g.made = append(g.types, e.Type()), append(g.made, e)
	}
	g.types = append(g.types, vector.BoolType)
	g.values = make([]*vector.Vector, len(g.made))
	var err error
	if g.program, err = expr.CompileWithin(g.made, &g.memory); err != nil {
		return nil, err
	}
	for _, fr := range g.framers {
		fr.begin(g.part)
	}
	g.pageBytes = max(g.most/int64(4*(len(g.cursors)+4)), 256)
	return g, nil
}

// size reads the partition to its end.
func (g *pager) size() (int, error) {
	for !g.ended {
		if err := g.read(); err != nil {
			return 0, err
		}
	}
	return g.n, nil
}

// page is the page with a row; nil: there is no such row.
func (g *pager) page(at int) (*rowPage, error) {
	p, err := g.find(at)
	if p == nil || err != nil {
		return nil, err
	}
	return &p.rowPage, nil
}

func (g *pager) find(at int) (*pagerPage, error) {
	for at >= g.n && !g.ended {
		if err := g.read(); err != nil {
			return nil, err
		}
	}
	if at >= g.n {
		return nil, nil
	}
	i := sort.Search(len(g.pages), func(i int) bool { return g.pages[i].at+g.pages[i].n > at })
	p := g.pages[i]
	if p.at > at {
		return nil, errors.New("exec: a window looks at a row that it has forgotten")
	}
	if p.b == nil {
		return p, g.load(p)
	}
	return p, nil
}

// read reads the next page.
func (g *pager) read() error {
	if err := g.r.ctx.Err(); err != nil {
		return err
	}
	rows, err := g.input()
	if err != nil || rows == nil {
		g.ended = err == nil
		return err
	}
	g.forget()
	bytes := copyBytes(rows) + int64(rows.N)*cellBytes*int64(len(g.made)+1)
	if err := g.room(bytes, nil); err != nil {
		return err
	}
	if err := g.program.Eval(rows, g.values); err != nil {
		return err
	}
	p := &pagerPage{b: vector.NewBatch(g.types...), bytes: bytes, rowPage: rowPage{at: g.n, n: rows.N}}
	for i, v := range rows.Cols {
		p.b.Cols[i].Append(0, v, 0, rows.N)
	}
	for i, v := range g.values {
		p.b.Cols[len(rows.Cols)+i].Append(0, v, 0, rows.N)
	}
	p.b.N = rows.N
	g.look(p)
	g.begins(p)
	if more := roomBytes(p.b) - bytes; more > 0 { // texts that were computed
		if err := g.room(more, nil); err != nil {
			return err
		}
		p.bytes += more
	}
	g.pages, g.n = append(g.pages, p), g.n+p.n
	return nil
}

// look points a page to its columns.
func (g *pager) look(p *pagerPage) {
	p.cols = make([]*vector.Vector, len(g.columns))
	for i, c := range g.columns {
		p.cols[i] = p.b.Cols[c]
	}
	p.starts = p.b.Cols[len(p.b.Cols)-1].Bools
}

// begins finds the rows that begin a group of peers.
func (g *pager) begins(p *pagerPage) {
	order := p.cols[:len(g.r.s.w.Order)]
	flags := p.b.Cols[len(p.b.Cols)-1]
	flags.Bools = vector.MakeBitmap(p.n)
	p.starts = flags.Bools
	if g.last == nil {
		p.starts.Set(0)
	}
	for _, c := range order {
		for i := range p.n {
			if i > 0 && !sameValue(c, i-1, c, i) {
				p.starts.Set(i)
			}
		}
	}
	for k, c := range order {
		if g.last != nil && !sameValue(g.last.Cols[k], 0, c, 0) {
			p.starts.Set(0)
		}
	}
	g.last = lastRow(&vector.Batch{N: p.n, Cols: order})
}

// input is the next rows of the partition, as many as make a page; nil: there are no more.
func (g *pager) input() (*vector.Batch, error) {
	if len(g.kept) > 0 {
		b := g.kept[0]
		rows := g.portion(b, 0, b.N)
		if rest := sliceOf(b, rows.N, b.N); rest.N > 0 {
			g.kept[0] = rest
		} else {
			g.kept = g.kept[1:]
		}
		if len(g.kept) == 0 {
			g.memory.Release(g.keptBytes)
		}
		return rows, nil
	}
	r := g.r
	if r.at == r.b.N {
		if ok, err := r.more(); err != nil || !ok {
			return nil, err
		}
	}
	to := r.nextBegin(r.at)
	if to == r.at {
		return nil, nil
	}
	rows := g.portion(&r.b, r.at, to)
	r.at += rows.N
	return rows, nil
}

// portion is rows of a batch from one on that make a page.
func (g *pager) portion(b *vector.Batch, from, to int) *vector.Batch {
	to = min(to, from+vector.Size)
	rows := sliceOf(b, from, to)
	for bytes := copyBytes(rows); bytes > g.pageBytes && rows.N > 1; bytes = copyBytes(rows) {
		n := int(int64(rows.N) * g.pageBytes / bytes)
		rows = sliceOf(b, from, from+min(max(n, 1), rows.N-1))
	}
	return rows
}

// forget drops the pages behind all cursors and the row that is given next.
func (g *pager) forget() {
	least := g.at
	for _, c := range g.cursors {
		least = min(least, c.at)
	}
	for len(g.pages) > 0 && g.pages[0].at+g.pages[0].n <= least && g.pages[0] != g.shown {
		g.drop(g.pages[0])
		g.pages[0] = nil
		g.pages = g.pages[1:]
	}
}

func (g *pager) drop(p *pagerPage) {
	if p.b != nil {
		g.out(p)
	}
	if p.file != nil {
		p.file.left--
	}
}

// out takes a page out of memory.
func (g *pager) out(p *pagerPage) {
	p.b, p.cols, p.starts = nil, nil, nil
	g.held -= p.bytes
	g.memory.Release(p.bytes)
}

// room reserves bytes for a page, and puts others into files where there is too little. Pages far ahead go first: those
// next to the row at hand come up first again.
func (g *pager) room(bytes int64, keep *pagerPage) error {
	for i := len(g.pages) - 1; i >= 0 && g.held+bytes > g.most && g.r.s.budget.space() != nil; i-- {
		if p := g.pages[i]; p != keep && p.b != nil && !g.stands(p) {
			if err := g.write(p); err != nil {
				return err
			}
			g.out(p)
		}
	}
	if err := g.memory.Reserve(bytes); err != nil {
		return err
	}
	g.held += bytes
	return nil
}

// stands reports whether somebody uses a page.
func (g *pager) stands(p *pagerPage) bool {
	if p == g.shown {
		return true
	}
	for _, c := range g.cursors {
		if c.page == &p.rowPage && uint(c.at-p.at) <= uint(p.n) {
			return true
		}
	}
	return false
}

// fileBytes is the size of a file of pages that are in memory at a time: what is read again is seldom in the file that
// is written.
func (g *pager) fileBytes() int64 { return max(g.most, 1<<20) }

// write puts a page into a file, unless it is in one.
func (g *pager) write(p *pagerPage) error {
	if p.file != nil {
		return nil
	}
	var f *pagerFile
	if n := len(g.files); n > 0 && g.files[n-1].w != nil {
		f = g.files[n-1]
	} else {
		w, err := g.r.s.budget.space().Create(g.types)
		if err != nil {
			return err
		}
		f = &pagerFile{w: w}
		g.files = append(g.files, f)
	}
	p.place = f.w.Bytes()
	if err := f.w.Write(p.b); err != nil {
		return err
	}
	p.file = f
	f.left++
	if f.size += p.bytes; f.size > g.fileBytes() {
		return g.finish(f)
	}
	return nil
}

// finish ends a file.
func (g *pager) finish(f *pagerFile) error {
	var err error
	if f.f, err = f.w.Finish(); err != nil {
		return err
	}
	f.w = nil
	g.count(f.f.Bytes)
	return g.clean()
}

// count notes a file in the figures.
func (g *pager) count(bytes int64) {
	b := g.r.s.budget
	b.joined.bytes.Add(bytes)
	b.joined.files.Add(1)
	if f := g.r.s.figures; f != nil {
		f.Spilled.Add(bytes)
		f.Files.Add(1)
	}
}

// clean removes the files without pages.
func (g *pager) clean() error {
	var err error
	g.files = slices.DeleteFunc(g.files, func(f *pagerFile) bool {
		if f.left > 0 || f.f == nil {
			return false
		}
		if f.r != nil {
			// A file that was only read has nothing to lose.
			_ = f.r.Close()
		}
		err = errors.Join(err, f.f.Remove())
		return true
	})
	return err
}

// load reads a page from its file.
func (g *pager) load(p *pagerPage) error {
	if err := g.r.ctx.Err(); err != nil {
		return err
	}
	g.forget()
	if err := g.room(p.bytes, p); err != nil {
		return err
	}
	f := p.file
	if f.w != nil {
		if err := g.finish(f); err != nil {
			return err
		}
	}
	if f.r == nil {
		var err error
		if f.r, err = f.f.Open(); err != nil {
			return err
		}
	}
	f.r.StartAt(p.place)
	var b vector.Batch
	if ok, err := f.r.Next(&b); err != nil {
		return err
	} else if !ok || b.N != p.n {
		return errors.New("exec: a page of a window is not where it was written")
	}
	p.b = vector.NewBatch(g.types...)
	p.b.Append(&b, 0, b.N)
	g.look(p)
	return nil
}

// Next gives the rows of the next page with their functions.
func (g *pager) Next(b *vector.Batch) (bool, error) {
	g.answers.end()
	g.shown = nil
	p, err := g.find(g.at)
	if err != nil || p == nil {
		return false, err
	}
	g.shown = p
	b.N, b.Cols = p.n, slices.Clone(p.b.Cols[:len(g.r.s.types)])
	for i, f := range g.framers {
		if err := g.answers.Reserve(int64(p.n) * cellBytes); err != nil {
			return false, err
		}
		col := &vector.Vector{Type: g.r.s.w.Funcs[i].Type}
		f.giver.to(col, 0, &textRoom{memory: &g.answers})
		if err := f.next(p.n); err != nil {
			return false, err
		}
		b.Cols = append(b.Cols, col)
	}
	g.at += p.n
	return true, g.clean()
}

// end removes the files when all rows were given.
func (g *pager) end() error {
	for _, f := range g.files {
		f.left = 0
	}
	if n := len(g.files); n > 0 && g.files[n-1].w != nil {
		return g.finish(g.files[n-1])
	}
	return g.clean()
}

// Close ends the pager, whose files go with the query at the latest.
func (g *pager) Close() {
	if g.closed {
		return
	}
	g.closed = true
	for _, f := range g.framers {
		f.free()
	}
	for _, f := range g.files {
		if f.w != nil {
			g.count(f.w.Bytes())
		}
		if f.r != nil {
			// A file that was only read has nothing to lose.
			_ = f.r.Close()
		}
	}
	g.answers.end()
	g.memory.end()
}
