package expr

// cancellation ends the long loops of an aggregate with their query: merging, sorting and giving results at the end are
// not bounded by a batch. The zero value is never cancelled.
type cancellation struct {
	cancelled func() error
	work      int      // rows or groups since cancelled was last asked
	bounds    *account // memory of the aggregate's state; nil: without bounds
}

// bounded is an accumulator with such loops, or an accumulator that takes memory by itself.
type bounded interface{ within(memory *account) }

// within makes the loops end with the error of the memory, which is nil as long as the query runs.
func (h *cancellation) within(memory *account) { h.cancelled, h.bounds = memory.Err, memory }

// cancelRows is the number of rows or groups after which cancelled is called: at most a few milliseconds of work.
const cancelRows = 1 << 14

// did notes work on n rows or groups.
func (h *cancellation) did(n int) error {
	if h.work += n; h.work < cancelRows || h.cancelled == nil {
		return nil
	}
	h.work = 0
	return h.cancelled()
}

// hold takes bytes before the accumulator grows by them.
func (h *cancellation) hold(bytes int64) error {
	if h.bounds == nil || bytes <= 0 {
		return nil
	}
	return h.bounds.Reserve(bytes)
}
