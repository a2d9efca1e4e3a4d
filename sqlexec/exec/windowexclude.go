package exec

// EXCLUDE takes rows around the current one out of its frame, which is then up to three spans. Each frame is looked at
// anew: rows that one frame lost and the next one has again cannot be taken off an aggregate.

// rowSpan is the rows [lo, hi) of a partition.
type rowSpan struct{ lo, hi int }

// exclude appends the spans of the frame [lo, hi) of row i, where r is. Some may be empty.
func (r *framer) exclude(i, lo, hi int) error {
	from, to := i, i+1 // what is taken out
	if r.f.Frame.Exclude != "current row" {
		var err error
		if from, err = r.around[0].of(r, i); err != nil {
			return err
		}
		if to, err = r.around[1].of(r, i); err != nil {
			return err
		}
	}
	spans := [3]rowSpan{{lo, max(lo, min(hi, from))}, {}, {min(hi, max(lo, to)), hi}}
	if r.f.Frame.Exclude == "ties" && lo <= i && i < hi {
		spans[1] = rowSpan{i, i + 1}
	}
	r.spans = append(r.spans, spans)
	return nil
}

// pickSpans is first_value, last_value and nth_value where the place of the row in its frame, or the spans of the
// frame, change from row to row: the values of all rows of a frame are kept.
func (r *framer) pickSpans() error {
	s := &r.shelf
	for k, lo := range r.lo {
		hi := r.hi[k]
		r.frame(lo, hi)
		r.high.at = max(r.high.at, lo)
		err := r.high.walk(hi, func(page *rowPage, a, b int) error {
			v := page.cols[r.args]
			for i := a; i < b; i++ {
				if r.counting(page, i) {
					s.put(r.high.at+i-a, v, i)
				}
			}
			return r.keeps(s.bytes())
		})
		if err != nil {
			return err
		}
		s.drop(lo)
		r.low.at = lo
		spans := [3]rowSpan{{lo, hi}}
		if len(r.spans) > 0 {
			spans = r.spans[k]
		}
		if err := r.pickOf(spans, r.done+k); err != nil {
			return err
		}
	}
	return r.settle()
}

// pickOf gives the value that is picked from spans for row i.
func (r *framer) pickOf(spans [3]rowSpan, i int) error {
	rows := 0
	for k, s := range spans { // places of the shelf
		spans[k] = rowSpan{r.shelf.before(s.lo), r.shelf.before(s.hi)}
		rows += spans[k].hi - spans[k].lo
	}
	at := 0
	switch {
	case r.fn.last:
		at = rows - 1
	case !r.fn.first:
		var err error
		if at, err = r.nth(i); err != nil {
			return err
		}
	}
	for _, s := range spans {
		size := s.hi - s.lo
		if at >= 0 && at < size {
			return r.shelved(s.lo + at)
		}
		at -= size
	}
	return r.shelved(-1)
}

// generalSpans computes an aggregate over each frame anew.
func (r *framer) generalSpans() error {
	for k, spans := range r.spans {
		r.frame(r.lo[k], r.hi[k])
		g := &r.grown
		g.free()
		g.begin(r.f.Agg.Within(r.memory))
		for _, s := range spans {
			r.high.at = s.lo
			if err := r.extend(s.hi); err != nil {
				return err
			}
		}
		r.high.at, r.low.at = r.lo[k], r.lo[k]
		if err := r.give(); err != nil {
			return err
		}
	}
	return nil
}
