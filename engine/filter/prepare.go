package filter

// Prepare returns the conjunction with its conditions compiled once for all: Compile of it, or of some of its
// conditions, takes it over, the lists, patterns and expressions. A scan prepares what its runs compile once for each
// piece; an expression's automaton is then made once, and what one piece has learned serves all. Expressions that take
// long look no further once cancelled, which may be nil, returns an error: what is evaluated then means nothing.
func (a And) Prepare(cancelled func() error) (And, error) {
	out := make(And, len(a))
	for i, c := range a {
		if c.Op == AnyOf {
			c.Any = make([]And, len(a[i].Any))
			for k, alternative := range a[i].Any {
				var err error
				if c.Any[k], err = alternative.Prepare(cancelled); err != nil {
					return nil, err
				}
			}
			out[i] = c
			continue
		}
		ready, err := compile(&a[i], cancelled)
		if err != nil {
			return nil, err
		}
		c.ready = ready
		out[i] = c
	}
	return out, nil
}

// prepared reports whether what Prepare made of a condition is there, and the condition was not changed since.
func (c *Cond) prepared() bool {
	r := c.ready
	return r != nil && r.Cond.Op == c.Op && r.Column == c.Column && r.Args == c.Args && r.NArgs == c.NArgs &&
		r.Lower == c.Lower
}
