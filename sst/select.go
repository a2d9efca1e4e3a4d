package sst

import (
	"errors"
	"math/bits"
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"varve/engine/filter"
	"varve/engine/invariant"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// selector decides which blocks and rows pass: by time, series, zones, postings, token filters, then values.
type selector struct {
	p          *Part
	spec       *scan.Spec
	reader     *reader
	dec        *encoding.Decoder
	conds      []*condition // in the order of evaluation
	bounds     scan.Narrowing
	wanted     scan.Range   // by the bounds
	bounded    []*condition // conditions of the bounds
	time       *source
	sorted     bool    // one series: times rise within a block
	onTags     []*test // decided for whole series
	chosen     *chosen // the series that may have rows that pass; nil: all
	walkChosen roaring.IntIterator
	blocks     vector.Bitmap // blocks that postings leave; nil: all
	prefix     bool          // rows of some series alone pass, by the key prefix
	silent     bool          // blocks that are left out are not counted
	nothing    bool          // no row passes
	keep       vector.Bitmap
	passing    int                              // rows of the block in keep
	rows       []uint32                         // the same, once requested; see passingRows
	left       []*condition                     // scratch: conditions that zones leave
	inChoice   func(*test, vector.Bitmap) error // evaluates a test of a choice on the block at hand
	times      vector.Bitmap                    // scratch
	few        *vector.Vector                   // of evalFew: rows that were looked at
	passed     vector.Bitmap                    // of those
	fewOf      *source                          // whose rows few holds, of the block at hand; nil: it holds none
	fewRows    []uint32                         // their numbers in the block
	fewAt      []uint32                         // scratch
}

// condition is one condition of a filter, over the columns of a part.
type condition = filter.Tree[*test]

// test is a test of a column of a part.
type test struct {
	*filter.Test
	src   *source
	pages *pageIndex // of an unchanged type; nil: no zones
	find  *tokens    // tokens to look up in filters; nil: filters cannot help
}

func (p *Part) selector(spec *scan.Spec) (_ *selector, err error) {
	prog, err := filter.Compile(spec.Filter)
	if err != nil {
		return nil, err
	}
	dec := decoders.Get().(*encoding.Decoder)
	sel := &selector{p: p, spec: spec, reader: p.reader(spec, dec), dec: dec, sorted: p.dir.seriesCount == 1,
		bounds: spec.Narrowing.Begin(), wanted: scan.All}
	defer func() {
		if err != nil {
			sel.release()
		}
	}()
	if sel.time, err = sel.reader.source(&spec.TimeColumn); err != nil {
		return nil, err
	}
	if sel.time.from != stored || sel.time.want.Type.Kind() != vector.Int64 {
		return nil, errors.New("part " + p.name + ": the time column of the scan is not the part's time index")
	}
	if err := sel.chooseSeries(); err != nil {
		return nil, err
	}
	sel.inChoice = sel.evalInChoice
	for _, c := range prog.Conds {
		if err := sel.add(c); err != nil {
			return nil, err
		}
	}
	if err := sel.chooseByTags(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(sel.conds, func(a, b *condition) int { return costOf(a) - costOf(b) })
	sel.nothing = sel.nothing || sel.reader.of.from == sel.reader.of.to || sel.chosen != nil && sel.chosen.IsEmpty()
	return sel, nil
}

// costOf is what the dearest test of a condition costs.
func costOf(c *condition) int { return c.Most(func(t *test) int { return t.Cost() }) }

// chooseSeries applies the key prefix.
func (sel *selector) chooseSeries() error {
	of := seriesRange{0, int(sel.p.dir.seriesCount)}
	if len(sel.spec.KeyPrefix) > 0 {
		t, err := sel.p.seriesTable(sel.reader.ctx)
		if err != nil {
			return err
		}
		from, to, err := t.prefix(sel.spec.KeyPrefix)
		if err != nil {
			return sel.p.corrupt(err, "series")
		}
		sel.prefix = to-from < of.to
		sel.reader.series, of = t, seriesRange{from, to}
	}
	var err error
	if sel.p.largeTags() {
		of, err = sel.p.ownSeries(sel.reader.ctx, of, sel.spec)
	}
	sel.reader.of = of
	return err
}

// release lets another scan have the memory; nothing is read after.
func (sel *selector) release() {
	if sel.dec != nil {
		decoders.Put(sel.dec)
		sel.dec = nil
		sel.reader.release()
	}
}

// whole reports whether rows of all series may pass, so no block needs to be looked at series by series.
func (sel *selector) whole() bool { return sel.chosen == nil && !sel.prefix }

// add prepares a condition: a test of a tag is left for chooseByTags, one of a column that the part lacks is decided
// here.
func (sel *selector) add(c *filter.Tree[*filter.Test]) error {
	cond, err := filter.Map(c, sel.test)
	if err != nil {
		return err
	}
	if cond.Kind == filter.Leaf {
		switch t := cond.Leaf; t.src.from {
		case fixed:
			one := [1]uint64{1}
			t.Eval(1, t.src.fixed, one[:])
			sel.nothing = sel.nothing || one[0]&1 == 0
			return nil
		case tag:
			sel.onTags = append(sel.onTags, t)
			return nil
		}
	}
	blocks, err := sel.blocksOf(cond)
	if err != nil {
		return err
	}
	if blocks != nil {
		sel.keepBlocks(blocks)
	}
	sel.conds = append(sel.conds, cond)
	return nil
}

// heed consults the bounds of the scan. What they say of tags is decided on rows: a dictionary's values are few.
func (sel *selector) heed() error {
	if !sel.bounds.Heed() {
		return nil
	}
	var and filter.And
	sel.wanted, and = sel.bounds.Wanted()
	prog, err := filter.Compile(and)
	if err != nil {
		return err
	}
	sel.bounded = sel.bounded[:0]
	for _, c := range prog.Conds {
		cond, err := filter.Map(c, sel.test)
		if err != nil {
			return err
		}
		sel.bounded = append(sel.bounded, cond)
	}
	return nil
}

// test finds the column of a test and its statistics.
func (sel *selector) test(t *filter.Test) (*test, error) {
	described := func(c schema.Column) bool { return c.ID == t.Column() }
	columns := sel.spec.FilterColumns
	at := slices.IndexFunc(columns, described)
	if at < 0 {
		columns = sel.spec.Columns
		if at = slices.IndexFunc(columns, described); at < 0 {
			return nil, errors.New("part " + sel.p.name + ": a filter's column is not described")
		}
	}
	src, err := sel.reader.source(&columns[at])
	if err != nil {
		return nil, err
	}
	own := &test{Test: t, src: src}
	if src.from == stored && !src.cast {
		if own.pages, err = sel.p.index(sel.reader.ctx, src.col); err != nil {
			return nil, err
		}
		if own.pages.filters != nil {
			own.find = tokensOf(t)
		}
	}
	return own, nil
}

// blocksOf returns the blocks that may hold a value that passes, by the column's postings; nil: any block may.
func (sel *selector) blocksOf(c *condition) (all vector.Bitmap, err error) {
	if c.Kind == filter.Leaf {
		return sel.postingsOf(c.Leaf)
	}
	for _, one := range c.Of {
		blocks, err := sel.blocksOf(one)
		switch {
		case err != nil:
			return nil, err
		case blocks == nil && c.Kind == filter.OneOf:
			return nil, nil
		case blocks == nil:
		case all == nil:
			all = blocks
		case c.Kind == filter.AllOf:
			all.And(blocks)
		default:
			all.Or(blocks)
		}
	}
	return all, nil
}

// postingsOf returns the blocks that may hold a value that passes, by the column's postings; nil: any block may.
func (sel *selector) postingsOf(t *test) (vector.Bitmap, error) {
	if t.pages == nil || !t.src.col.postRef.present() {
		return nil, nil
	}
	values, err := sel.p.dictionary(sel.reader.ctx, t.src.col)
	if err != nil {
		return nil, err
	}
	passing, ok := t.Passing(values)
	if !ok {
		return nil, nil
	}
	posts, err := sel.p.postings(sel.reader.ctx, t.src.col)
	if err != nil {
		return nil, err
	}
	n := len(sel.p.blocks)
	blocks := vector.MakeBitmap(n)
	blocks.Fill(n)
	posts.Blocks(passing, blocks)
	return blocks, nil
}

// keepBlocks drops the blocks outside of b.
func (sel *selector) keepBlocks(b vector.Bitmap) {
	if sel.blocks == nil {
		sel.blocks = b
		return
	}
	sel.blocks.And(b)
}

// selectRows moves to a block and decides which of its rows pass, and gives how many do: keep holds them then.
func (sel *selector) selectRows(block int) (passing int, err error) {
	if err := sel.heed(); err != nil {
		return 0, err
	}
	conds, ok := sel.mayPass(block)
	if !ok {
		if invariant.On {
			sel.checkRefuted(block)
		}
		return 0, nil
	}
	b := &sel.p.blocks[block]
	if !sel.keepWanted(b) {
		sel.prune(func(st *scan.Stats) { st.PrunedBySeries.Add(1) })
		return 0, nil
	}
	sel.reader.open(block)
	sel.rows, sel.fewOf = sel.rows[:0], nil
	if st := sel.spec.Stats; st != nil {
		st.BlocksRead.Add(1)
		st.RowsScanned.Add(int64(b.rows))
	}
	sel.p.metrics.RowsScanned.Add(int64(b.rows))
	if within := sel.spec.Time.And(sel.wanted); sel.cutsTimes(b) {
		t, err := sel.reader.load(sel.time)
		if err != nil {
			return 0, err
		}
		sel.keepTimes(t, b.rows, within)
	}
	for i := range conds {
		if sel.keep.Count() == 0 {
			return 0, nil
		}
		if err := sel.eval(conds[i], sel.keep); err != nil {
			return 0, err
		}
	}
	sel.passing = sel.keep.Count()
	return sel.passing, nil
}

// keepWanted has keep hold the rows of a block whose series may pass; false: there are none.
func (sel *selector) keepWanted(b *block) bool {
	if cap(sel.keep) < vector.Words(b.rows) {
		sel.keep = vector.MakeBitmap(MaxBlockRows)
	}
	sel.keep = sel.keep[:vector.Words(b.rows)]
	sel.keep.Fill(b.rows)
	return sel.whole() || sel.keepSeries(b)
}

// cutsTimes reports whether the times of a block's rows decide which of them pass.
func (sel *selector) cutsTimes(b *block) bool {
	return sel.time.cast || !sel.spec.Time.And(sel.wanted).Covers(b.minTime, b.maxTime)
}

// mayPass uses all statistics of a block, without reading it. It returns the conditions that the block's rows must
// decide. If the statistics exclude the block, it counts the block and returns false.
func (sel *selector) mayPass(block int) ([]*condition, bool) {
	b := &sel.p.blocks[block]
	switch {
	case sel.nothing || sel.p.isAside(block):
		sel.prune(nil)
	case !sel.inTime(b) && !sel.time.cast:
		sel.prune(func(st *scan.Stats) { st.PrunedByTime.Add(1) })
	case sel.blocks != nil && !sel.blocks.Get(block):
		sel.prune(func(st *scan.Stats) { st.PrunedByPostings.Add(1) })
	default:
		return sel.judge(block)
	}
	return nil, false
}

// inTime reports whether a block may have rows of times that are wanted.
func (sel *selector) inTime(b *block) bool {
	return sel.spec.Time.Overlaps(b.minTime, b.maxTime) && sel.wanted.Overlaps(b.minTime, b.maxTime)
}

// passingRows are the rows of the block at hand that pass. They are valid until the next block is opened.
func (sel *selector) passingRows() []uint32 {
	if len(sel.rows) == 0 {
		sel.rows = sel.keep.AppendRows(sel.rows)
	}
	return sel.rows
}

// passingBefore is the number of rows of the block at hand that pass and come before a row.
func (sel *selector) passingBefore(row uint32) int {
	n := sel.keep[:row>>6].Count()
	return n + bits.OnesCount64(sel.keep[row>>6]&(1<<(row&63)-1))
}

// eval evaluates a condition that the zones did not decide on the current block.
func (sel *selector) eval(c *condition, keep vector.Bitmap) error {
	if c.Kind == filter.Leaf {
		return sel.evalTest(c.Leaf, keep)
	}
	return c.Keep(keep, sel.inChoice)
}

// evalInChoice evaluates a test of a choice, unless the zones decide it.
func (sel *selector) evalInChoice(t *test, keep vector.Bitmap) error {
	switch sel.judgeZones(t, sel.reader.block) {
	case filter.None:
		clear(keep)
		return nil
	case filter.All:
		return nil
	}
	return sel.evalTest(t, keep)
}

// evalTest evaluates a test on the encoded page, or else on its values.
func (sel *selector) evalTest(t *test, keep vector.Bitmap) error {
	var before vector.Bitmap
	if invariant.On {
		before = slices.Clone(keep)
	}
	if done, err := sel.evalPacked(t, keep); done || err != nil {
		if invariant.On && done {
			sel.checkPacked(t, before, keep)
		}
		return err
	}
	if sel.reader.crowded() {
		sel.reader.shed()
	}
	v, err := sel.reader.load(t.src)
	if err != nil {
		return err
	}
	t.Eval(sel.p.blocks[sel.reader.block].rows, v, keep)
	return nil
}

// prune counts a block that is left out; why, if not nil, counts what refuted it.
func (sel *selector) prune(why func(*scan.Stats)) {
	if sel.silent {
		return
	}
	if st := sel.spec.Stats; st != nil {
		st.BlocksPruned.Add(1)
		if why != nil {
			why(st)
		}
	}
	sel.p.metrics.BlocksPruned.Add(1)
}

// judge checks the zones and then the token filters. If one of them excludes the block, it counts the block and returns
// false; otherwise it returns the remaining conditions.
func (sel *selector) judge(block int) ([]*condition, bool) {
	sel.left = sel.left[:0]
	for _, conds := range [...][]*condition{sel.conds, sel.bounded} {
		for _, c := range conds {
			switch c.Judge(func(t *test) filter.Verdict { return sel.judgeZones(t, block) }) {
			case filter.None:
				sel.prune(func(st *scan.Stats) { st.PrunedByZones.Add(1) })
				return nil, false
			case filter.Some:
				sel.left = append(sel.left, c)
			}
		}
	}
	for _, c := range sel.left {
		if c.Judge(func(t *test) filter.Verdict { return sel.judgeTokens(t, block) }) == filter.None {
			sel.prune(func(st *scan.Stats) { st.PrunedByTokens.Add(1) })
			return nil, false
		}
	}
	return sel.left, true
}

// judgeZones asks the zones of a block.
func (sel *selector) judgeZones(t *test, block int) filter.Verdict {
	if t.pages == nil {
		return filter.Some
	}
	var s filter.Stat
	t.pages.zones.Stat(&s, block, sel.p.blocks[block].rows)
	return t.Judge(&s)
}

// judgeTokens asks the zones and the token filter of a block.
func (sel *selector) judgeTokens(t *test, block int) filter.Verdict {
	if t.find != nil {
		f, release := sel.p.filter(sel.reader.ctx, t.src.col, t.pages, block)
		refuted := f != nil && !t.find.mayPass(f)
		if release(); refuted {
			return filter.None
		}
	}
	return sel.judgeZones(t, block)
}

// keepTimes takes rows outside of a time range out of keep.
func (sel *selector) keepTimes(v *vector.Vector, n int, within scan.Range) {
	if v.Form != vector.Flat { // Const, or a dictionary of few times
		for i := range n {
			if v.IsNull(i) || !within.Holds(v.Int(i)) {
				sel.keep.Clear(i)
			}
		}
		return
	}
	if sel.sorted {
		from, _ := slices.BinarySearch(v.Ints[:n], within.From)
		to := n
		if last := within.To; v.Ints[n-1] > last {
			to = sort.Search(n, func(i int) bool { return v.Ints[i] > last })
		}
		if sel.times == nil {
			sel.times = vector.MakeBitmap(MaxBlockRows)
		}
		in := sel.times[:len(sel.keep)]
		clear(in)
		setRange(in, from, to)
		sel.keep.And(in)
		return
	}
	lo, hi := within.From, within.To
	for w := range sel.keep {
		if sel.keep[w] == 0 {
			continue
		}
		var m uint64
		for i, t := range v.Ints[w*64 : min(w*64+64, n)] {
			if t >= lo && t <= hi {
				m |= 1 << i
			}
		}
		sel.keep[w] &= m
	}
	if v.Valid != nil {
		sel.keep.And(v.Valid)
	}
}
