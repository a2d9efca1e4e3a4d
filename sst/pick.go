package sst

import (
	"errors"
	"math/bits"
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// picker decides which blocks and which rows of them pass: time, series, zones, postings, token filters, then values.
type picker struct {
	*reader
	spec       *scan.Spec
	prog       *filter.Program
	conds      []condition // of the conjunction, in the order of evaluation
	leaves     []condition // by number in the program: comparisons of alternatives
	time       *source
	sorted     bool        // one series: times rise within a block
	onTags     []condition // decided for whole series
	chosen     *chosen     // the series that may have rows that pass; nil: all
	walkChosen roaring.IntIterator
	blocks     vector.Bitmap // blocks that postings leave; nil: all
	nothing    bool          // no row passes
	keep       vector.Bitmap
	picked     int                                   // rows of the block in keep
	pickedList []uint32                              // the same, once they are asked for; see pickedRows
	left       []condition                           // scratch: conditions that zones leave
	inBlock    func(i int, keep vector.Bitmap) error // evaluates a comparison of an alternative on the block at hand
	times      vector.Bitmap                         // scratch
}

// condition is one condition on stored columns, in the order of evaluation.
type condition struct {
	i        int // in the program
	src      *source
	pages    *pageIndex // of an unchanged type; nil: no zones
	equal    []byte     // an equality of strings with this; nil: something else
	find     *tokens    // what filters are asked for; nil: they cannot help
	cost     int
	any      bool                 // a choice: only i and cost mean something
	text     bool                 // looks into texts
	bound    *encoding.FloatBound // a comparison of floats; nil: something else
	interval *encoding.Interval   // a comparison of integers; nil: something else
}

func (p *Part) picker(spec *scan.Spec) (*picker, error) {
	prog, err := filter.Compile(spec.Filter)
	if err != nil {
		return nil, err
	}
	k := &picker{reader: p.reader(spec), spec: spec, prog: prog, sorted: p.dir.seriesCount == 1}
	if k.time, err = k.source(&spec.TimeColumn); err != nil {
		return nil, err
	}
	if k.time.from != stored || k.time.want.Type.Kind() != vector.Int64 {
		return nil, errors.New("part " + p.name + ": the time column of the scan is not the part's time index")
	}
	if err := k.chooseSeries(); err != nil {
		return nil, err
	}
	k.leaves = make([]condition, prog.Size())
	k.inBlock = k.evalLeaf
	for i := range prog.Len() {
		if err := k.condition(i); err != nil {
			return nil, err
		}
	}
	if err := k.chooseByTags(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(k.conds, func(a, b condition) int { return a.cost - b.cost })
	k.nothing = k.nothing || k.of.from == k.of.to || k.chosen != nil && k.chosen.IsEmpty()
	return k, nil
}

// chooseSeries applies the key prefix.
func (k *picker) chooseSeries() error {
	k.of = seriesRange{0, int(k.p.dir.seriesCount)}
	if len(k.spec.KeyPrefix) == 0 {
		return nil
	}
	t, err := k.p.seriesTable()
	if err != nil {
		return err
	}
	from, to, err := t.prefix(k.spec.KeyPrefix)
	if err != nil {
		return k.p.corrupt(err, "series")
	}
	k.series, k.of = t, seriesRange{from, to}
	return nil
}

// whole tells that the rows of all series may pass.
func (k *picker) whole() bool {
	return k.chosen == nil && k.of.to-k.of.from == int(k.p.dir.seriesCount)
}

// condition prepares one condition: on tags and on columns that the part lacks it is decided here.
func (k *picker) condition(i int) error {
	if k.prog.Alternatives(i) != nil {
		return k.choice(i)
	}
	cond, err := k.comparison(i)
	if err != nil {
		return err
	}
	switch cond.src.from {
	case fixed:
		one := [1]uint64{1}
		k.prog.EvalCond(i, 1, cond.src.fixed, one[:])
		k.nothing = k.nothing || one[0]&1 == 0
		return nil
	case tag:
		k.onTags = append(k.onTags, cond)
		return nil
	}
	if b, err := k.blocksOf(&cond); err != nil {
		return err
	} else if b != nil {
		k.keepBlocks(b)
	}
	k.conds = append(k.conds, cond)
	return nil
}

// choice prepares an AnyOf. Alternatives are decided on rows; postings tell together which blocks may have any.
func (k *picker) choice(i int) error {
	blocks, err := k.choiceBlocks(i)
	if err != nil {
		return err
	}
	if blocks != nil {
		k.keepBlocks(blocks)
	}
	k.conds = append(k.conds, condition{i: i, cost: k.prog.Cost(i), any: true})
	return nil
}

// choiceBlocks prepares the comparisons of an AnyOf and gives the blocks that postings leave it; nil: all.
func (k *picker) choiceBlocks(i int) (vector.Bitmap, error) {
	var all vector.Bitmap
	bounded := true
	for _, and := range k.prog.Alternatives(i) {
		var one vector.Bitmap
		for _, at := range and {
			b, err := k.leafBlocks(at)
			switch {
			case err != nil:
				return nil, err
			case b == nil:
			case one == nil:
				one = b
			default:
				one.And(b)
			}
		}
		switch {
		case one == nil:
			bounded = false
		case all == nil:
			all = one
		default:
			for w := range all {
				all[w] |= one[w]
			}
		}
	}
	if !bounded {
		return nil, nil
	}
	return all, nil
}

func (k *picker) leafBlocks(i int) (vector.Bitmap, error) {
	if k.prog.Alternatives(i) != nil {
		return k.choiceBlocks(i)
	}
	cond, err := k.comparison(i)
	if err != nil {
		return nil, err
	}
	k.leaves[i] = cond
	return k.blocksOf(&cond)
}

// comparison finds the column of condition i and what is known about it.
func (k *picker) comparison(i int) (condition, error) {
	id := k.prog.Column(i)
	columns := k.spec.FilterColumns
	at := slices.IndexFunc(columns, func(c schema.Column) bool { return c.ID == id })
	if at < 0 {
		columns = k.spec.Columns
		if at = slices.IndexFunc(columns, func(c schema.Column) bool { return c.ID == id }); at < 0 {
			return condition{}, errors.New("part " + k.p.name + ": a filter's column is not described")
		}
	}
	src, err := k.source(&columns[at])
	if err != nil {
		return condition{}, err
	}
	cond := condition{i: i, src: src, cost: k.prog.Cost(i)}
	if src.from == stored && !src.cast {
		if cond.pages, err = k.p.index(src.col); err != nil {
			return cond, err
		}
		cond.equal, _ = k.prog.EqualsBytes(i)
		cond.text = k.prog.IsText(i)
		if v, strict, negate, ok := k.prog.FloatBound(i); ok {
			cond.bound = &encoding.FloatBound{K: v, Strict: strict, Negate: negate}
		}
		if least, span, negate, ok := k.prog.Interval(i); ok {
			cond.interval = &encoding.Interval{Least: least, Span: span, Negate: negate}
		}
		if cond.pages.filters != nil {
			cond.find = tokensOf(k.prog, i)
		}
	}
	return cond, nil
}

// blocksOf gives the blocks that may hold a value that passes, by the column's postings; nil: they do not tell.
func (k *picker) blocksOf(c *condition) (vector.Bitmap, error) {
	if c.pages == nil || !c.src.col.postRef.present() {
		return nil, nil
	}
	values, err := k.p.dictionary(c.src.col)
	if err != nil {
		return nil, err
	}
	passing, ok := k.prog.Passing(c.i, values)
	if !ok {
		return nil, nil
	}
	posts, err := k.p.postings(c.src.col)
	if err != nil {
		return nil, err
	}
	n := len(k.p.blocks)
	blocks := vector.MakeBitmap(n)
	blocks.Fill(n)
	posts.Blocks(passing, blocks)
	return blocks, nil
}

// keepBlocks drops the blocks outside of b.
func (k *picker) keepBlocks(b vector.Bitmap) {
	if k.blocks == nil {
		k.blocks = b
		return
	}
	k.blocks.And(b)
}

// pick moves to a block and decides which of its rows pass; false: none. keep is nil when all pass.
func (k *picker) pick(block int) (bool, error) {
	b := &k.p.blocks[block]
	switch {
	case k.nothing || k.p.isAside(block):
		k.prune(nil)
		return false, nil
	case !k.spec.Time.Overlaps(b.minTime, b.maxTime) && !k.time.cast:
		k.prune(func(st *scan.Stats) { st.PrunedByTime.Add(1) })
		return false, nil
	case k.blocks != nil && !k.blocks.Get(block):
		k.prune(func(st *scan.Stats) { st.PrunedByPostings.Add(1) })
		return false, nil
	}
	conds, ok := k.judge(block)
	if !ok {
		return false, nil
	}
	if cap(k.keep) < vector.Words(b.rows) {
		k.keep = vector.MakeBitmap(MaxBlockRows)
	}
	k.keep = k.keep[:vector.Words(b.rows)]
	k.keep.Fill(b.rows)
	if !k.whole() && !k.keepSeries(b) {
		k.prune(func(st *scan.Stats) { st.PrunedBySeries.Add(1) })
		return false, nil
	}
	k.open(block)
	k.pickedList = k.pickedList[:0]
	if st := k.spec.Stats; st != nil {
		st.BlocksRead.Add(1)
		st.RowsScanned.Add(int64(b.rows))
	}
	k.p.metrics.RowsScanned.Add(int64(b.rows))
	if k.time.cast || !k.spec.Time.Covers(b.minTime, b.maxTime) {
		t, err := k.load(k.time)
		if err != nil {
			return false, err
		}
		k.keepTimes(t, b.rows)
	}
	for _, c := range conds {
		if k.picked = k.keep.Count(); k.picked == 0 {
			return false, nil
		}
		if c.any {
			err := k.prog.EvalAny(c.i, k.keep, k.inBlock)
			if err != nil {
				return false, err
			}
			continue
		}
		if err := k.eval(&c, k.keep); err != nil {
			return false, err
		}
	}
	k.picked = k.keep.Count()
	return k.picked > 0, nil
}

// pickedRows are the rows of the block at hand that pass. They are valid until the next block is picked.
func (k *picker) pickedRows() []uint32 {
	if len(k.pickedList) == 0 {
		k.pickedList = k.keep.AppendRows(k.pickedList)
	}
	return k.pickedList
}

// pickedBefore is the number of rows of the block at hand that pass and come before a row.
func (k *picker) pickedBefore(row uint32) int {
	n := k.keep[:row>>6].Count()
	return n + bits.OnesCount64(k.keep[row>>6]&(1<<(row&63)-1))
}

// eval evaluates one comparison on the block at hand.
func (k *picker) eval(c *condition, keep vector.Bitmap) error {
	if done, err := k.evalPacked(c, keep); done || err != nil {
		return err
	}
	v, err := k.load(c.src)
	if err != nil {
		return err
	}
	k.prog.EvalCond(c.i, k.p.blocks[k.block].rows, v, keep)
	return nil
}

// evalLeaf evaluates one comparison of an alternative, unless the zones decide it.
func (k *picker) evalLeaf(i int, keep vector.Bitmap) error {
	switch c := &k.leaves[i]; k.judgeZones(c, k.block) {
	case filter.None:
		clear(keep)
		return nil
	case filter.All:
		return nil
	default:
		return k.eval(c, keep)
	}
}

// prune counts a block that is left out; why, if not nil, counts what refuted it.
func (k *picker) prune(why func(*scan.Stats)) {
	if st := k.spec.Stats; st != nil {
		st.BlocksPruned.Add(1)
		if why != nil {
			why(st)
		}
	}
	k.p.metrics.BlocksPruned.Add(1)
}

// judge asks the zones and then the token filters: false when one refutes the block, which is counted then, else the conditions that remain.
func (k *picker) judge(block int) ([]condition, bool) {
	k.left = k.left[:0]
	for _, c := range k.conds {
		switch k.judgeAny(&c, func(c *condition) filter.Verdict { return k.judgeZones(c, block) }) {
		case filter.None:
			k.prune(func(st *scan.Stats) { st.PrunedByZones.Add(1) })
			return nil, false
		case filter.Some:
			k.left = append(k.left, c)
		}
	}
	for i := range k.left {
		if k.judgeAny(&k.left[i], func(c *condition) filter.Verdict { return k.judgeTokens(c, block) }) == filter.None {
			k.prune(func(st *scan.Stats) { st.PrunedByTokens.Add(1) })
			return nil, false
		}
	}
	return k.left, true
}

// judgeAny asks judge about c or, of a choice, about its comparisons.
func (k *picker) judgeAny(c *condition, judge func(*condition) filter.Verdict) filter.Verdict {
	if !c.any {
		return judge(c)
	}
	return k.prog.JudgeAny(c.i, func(i int) filter.Verdict { return judge(&k.leaves[i]) })
}

// judgeZones asks the zones of a block.
func (k *picker) judgeZones(c *condition, block int) filter.Verdict {
	if c.pages == nil {
		return filter.Some
	}
	var s filter.Stat
	c.pages.zones.Stat(&s, block, k.p.blocks[block].rows)
	return k.prog.Judge(c.i, &s)
}

// judgeTokens asks the zones and the token filter of a block.
func (k *picker) judgeTokens(c *condition, block int) filter.Verdict {
	if c.find != nil {
		if f := k.p.filter(c.src.col, c.pages, block); f != nil && !c.find.mayPass(f) {
			return filter.None
		}
	}
	return k.judgeZones(c, block)
}

// keepTimes takes rows outside of the time range out of keep.
func (k *picker) keepTimes(v *vector.Vector, n int) {
	if v.Form != vector.Flat { // Const, or a dictionary of few times
		for i := range n {
			if v.IsNull(i) || !k.spec.Time.Holds(v.Int(i)) {
				k.keep.Clear(i)
			}
		}
		return
	}
	if k.sorted {
		from, _ := slices.BinarySearch(v.Ints[:n], k.spec.Time.From)
		to := n
		if last := k.spec.Time.To; v.Ints[n-1] > last {
			to = sort.Search(n, func(i int) bool { return v.Ints[i] > last })
		}
		if k.times == nil {
			k.times = vector.MakeBitmap(MaxBlockRows)
		}
		in := k.times[:len(k.keep)]
		clear(in)
		setRange(in, from, to)
		k.keep.And(in)
		return
	}
	lo, hi := k.spec.Time.From, k.spec.Time.To
	for w := range k.keep {
		if k.keep[w] == 0 {
			continue
		}
		var m uint64
		for i, t := range v.Ints[w*64 : min(w*64+64, n)] {
			if t >= lo && t <= hi {
				m |= 1 << i
			}
		}
		k.keep[w] &= m
	}
	if v.Valid != nil {
		k.keep.And(v.Valid)
	}
}
