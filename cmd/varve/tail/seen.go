package tail

// window is how many of the last rows are remembered.
const window = 20_000

// seen knows the rows that were shown by their content, as often as they were there: rows of one instant are neither
// lost nor doubled when they come again.
type seen struct {
	counts map[string]int
	order  []string // as they were seen
}

// fresh tells which rows of an answer are new, by their content. An answer has every row of its range, so that the n-th
// equal row in it is new when fewer than n were seen.
func (s *seen) fresh(keys []string) []int {
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	here := map[string]int{}
	var found []int
	for i, key := range keys {
		if here[key]++; here[key] > s.counts[key] {
			found = append(found, i)
		}
	}
	for _, i := range found {
		s.counts[keys[i]]++
		s.order = append(s.order, keys[i])
	}
	if len(s.order) >= 2*window {
		for _, old := range s.order[:window] {
			if s.counts[old]--; s.counts[old] == 0 {
				delete(s.counts, old)
			}
		}
		s.order = append([]string(nil), s.order[window:]...)
	}
	return found
}
