package engine

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"varve/engine/scan"
	"varve/sst"
)

// piece is some blocks of one run, or the merge of several runs, within a span of time.
type piece struct {
	span    scan.Range
	run     *scanRun
	blocks  scan.Pieces
	merge   []*scanRun    // nil: run alone, its rows as they are
	keys    scan.KeyRange // of the series that are merged
	logical *logicalTable // whose rows they are, in a scan of a physical table
}

// cut makes the pieces of a request.
func (s *Scan) cut(q Request) {
	runs := s.all
	if st := s.spec.Stats; st != nil {
		st.Runs.Add(int64(len(s.snap.parts) + len(s.snap.mems())))
		for _, p := range s.snap.parts {
			blocks := int64(p.run.Blocks())
			st.BlocksTotal.Add(blocks)
			if span := p.run.Span(); !s.spec.Time.Overlaps(span.From, span.To) {
				st.BlocksPruned.Add(blocks)
				st.PrunedByTime.Add(blocks)
			}
		}
	}
	switch {
	case s.t.Options.AppendMode:
		for _, turn := range s.turns(q) {
			for _, r := range runs {
				s.cutRun(r, r.run.Span().And(turn))
			}
		}
	case s.physical != nil:
		for _, m := range s.physical.logicals {
			s.cutGroups(runs, m)
		}
	case s.oneSeries():
		for _, at := range s.stretches(runs) {
			s.cutGroup(at.runs, at.span)
		}
	default:
		s.cutGroups(runs, nil)
	}
	if s.spec.Newest {
		slices.SortStableFunc(s.pieces, func(a, b piece) int { return cmp.Compare(b.span.To, a.span.To) })
	} else {
		slices.SortStableFunc(s.pieces, func(a, b piece) int { return cmp.Compare(a.span.From, b.span.From) })
	}
}

// cutRun makes pieces of some blocks of a run whose rows need no merging within span.
func (s *Scan) cutRun(r *scanRun, span scan.Range) {
	if span.From > span.To {
		return
	}
	most := pieceBlocks
	if s.spec.Newest && !s.inTurns {
		most = newestBlocks
	}
	extent := s.extent(r)
	for from := extent.From; from < extent.To; {
		p := piece{run: r, blocks: scan.Pieces{From: from, To: from}}
		for wanted := 0; p.blocks.To < extent.To && wanted < most; p.blocks.To++ {
			_, block := r.run.Block(p.blocks.To)
			if from == p.blocks.To {
				p.span = block
			} else {
				p.span = scan.Range{From: min(p.span.From, block.From), To: max(p.span.To, block.To)}
			}
			if !s.inTurns || span.Overlaps(block.From, block.To) {
				wanted++
			}
		}
		from = p.blocks.To
		p.span = scan.Range{From: max(p.span.From, span.From), To: min(p.span.To, span.To)}
		s.add(p, r.part != nil)
	}
}

// extent returns the blocks of a run that may have rows of the key prefix.
func (s *Scan) extent(r *scanRun) scan.Pieces {
	if r.part != nil && len(s.spec.KeyPrefix) > 0 {
		// else the cursor meets the damage and says so
		if e, err := r.part.file.Extent(s.ctx, s.spec.KeyPrefix); err == nil {
			return e
		}
	}
	return scan.Pieces{To: r.run.Blocks()}
}

// add enters a piece unless its span is empty or outside the time range.
func (s *Scan) add(p piece, part bool) {
	if p.span.From <= p.span.To && s.spec.Time.Overlaps(p.span.From, p.span.To) {
		s.pieces = append(s.pieces, p)
	} else if st := s.spec.Stats; st != nil && part {
		st.BlocksPruned.Add(int64(p.blocks.To - p.blocks.From))
		st.PrunedByTime.Add(int64(p.blocks.To - p.blocks.From))
	}
}

// stretch is a span of time with the runs that may have rows there.
type stretch struct {
	runs []*scanRun
	span scan.Range
}

// stretches cuts the time at every begin and end of a run, for tables of one series. In a stretch with a single run,
// its rows can be read directly; in other stretches the overlapping runs are merged.
func (s *Scan) stretches(runs []*scanRun) (all []stretch) {
	var cuts []int64 // where stretches begin; the last is where nothing is left
	for _, r := range runs {
		span := r.run.Span()
		cuts = append(cuts, span.From)
		if span.To < math.MaxInt64 {
			cuts = append(cuts, span.To+1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i, from := range cuts {
		at := stretch{span: scan.Range{From: from, To: math.MaxInt64}}
		if i+1 < len(cuts) {
			at.span.To = cuts[i+1] - 1
		}
		for _, r := range runs {
			if span := r.run.Span(); span.Overlaps(at.span.From, at.span.To) {
				at.runs = append(at.runs, r)
			}
		}
		if len(at.runs) > 0 {
			all = append(all, at)
		}
	}
	return all
}

// cutGroups puts runs together whose times overlap, directly or through others: series are not cut, because a block of
// several series spans all times.
func (s *Scan) cutGroups(runs []*scanRun, m *logicalTable) {
	sorted := slices.Clone(runs)
	slices.SortStableFunc(sorted, func(a, b *scanRun) int { return cmp.Compare(a.run.Span().From, b.run.Span().From) })
	for i := 0; i < len(sorted); {
		span := sorted[i].run.Span()
		k := i + 1
		for ; k < len(sorted) && sorted[k].run.Span().From <= span.To; k++ {
			span.To = max(span.To, sorted[k].run.Span().To)
		}
		if m != nil {
			s.add(piece{span: span, merge: sorted[i:k], logical: m}, false)
		} else {
			s.cutGroup(sorted[i:k], span)
		}
		i = k
	}
}

// cutGroup makes the pieces of the rows of some runs within span.
func (s *Scan) cutGroup(runs []*scanRun, span scan.Range) {
	switch {
	case len(runs) == 0:
	case len(runs) == 1 && runs[0].part != nil && runs[0].part.meta.Unique:
		s.cutRun(runs[0], span)
	default:
		for _, keys := range s.cutKeys(runs, s.mergedPieces(runs)) {
			s.add(piece{span: span, merge: runs, keys: keys}, false)
		}
	}
}

// mergedPieces is the number of pieces that runs which are merged are worth.
func (s *Scan) mergedPieces(runs []*scanRun) int {
	rows := 0
	for _, r := range runs {
		n := r.run.Rows()
		if r.part != nil && len(s.spec.KeyPrefix) > 0 {
			// else the walk meets the damage and says so
			if e, err := r.part.file.Extent(s.ctx, s.spec.KeyPrefix); err == nil {
				n = min(n, (e.To-e.From)*sst.DefaultBlockRows)
			}
		}
		rows += n
	}
	return min(max(1, rows/s.from.o.mergedRows), mergedPieces)
}

// cutKeys cuts the series keys into ranges: n of about equally many rows, by the largest run, and more where a part has
// large tags, of which each range is to have few.
func (s *Scan) cutKeys(runs []*scanRun, n int) []scan.KeyRange {
	if len(s.t.Tags) == 0 {
		return []scan.KeyRange{{}}
	}
	largest := slices.MaxFunc(runs, func(a, b *scanRun) int { return cmp.Compare(a.run.Rows(), b.run.Rows()) })
	var keys [][]byte
	for _, r := range runs {
		k := 1
		if r == largest {
			k = n
		}
		if r.part != nil {
			k = max(k, int(r.part.file.LargeKeys()/pieceKeys)+1)
		}
		if k == 1 {
			continue
		}
		cuts, err := r.run.Split(s.ctx, s.spec.KeyPrefix, k)
		if err != nil {
			return []scan.KeyRange{{}} // whoever walks the run gets the error
		}
		keys = append(keys, cuts...)
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	ranges := make([]scan.KeyRange, len(keys)+1)
	for i, k := range keys {
		ranges[i].To, ranges[i+1].From = k, k
	}
	return ranges
}
