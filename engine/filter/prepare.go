package filter

// Prepare gives the conjunction with its conditions compiled once for all: Compile of it, or of some of its conditions, takes
// over what holds no scratch memory, the lists, patterns and expressions. A scan prepares what its runs compile once for
// each piece; an expression's automaton is then made once, and what one piece has learned serves all. Expressions that take long
// look no further once ended, which may be nil, gives an error: what is evaluated then means nothing.
func (a And) Prepare(ended func() error) (And, error) {
	out := make(And, len(a))
	for i, c := range a {
		if c.Op == AnyOf {
			c.Any = make([]And, len(a[i].Any))
			for k, alternative := range a[i].Any {
				var err error
				if c.Any[k], err = alternative.Prepare(ended); err != nil {
					return nil, err
				}
			}
			out[i] = c
			continue
		}
		ready, err := compile(&a[i], ended)
		if err != nil {
			return nil, err
		}
		c.ready = ready
		out[i] = c
	}
	return out, nil
}

// fork is a condition with scratch memory of its own.
func (c *condition) fork() *condition {
	own := *c
	own.whole, own.any, own.left, own.values, own.passes = nil, nil, nil, nil, nil
	if c.match != nil {
		m := *c.match
		m.searches, m.begins = nil, nil
		own.match = &m
	}
	return &own
}

// prepared is what Prepare made of a condition, unless the condition was changed since; nil: nothing.
func (c *Cond) prepared() *condition {
	r := c.ready
	if r == nil || r.Cond.Op != c.Op || r.Args != c.Args || r.NArgs != c.NArgs || r.Lower != c.Lower {
		return nil
	}
	own := r.fork()
	own.Cond = *c
	return own
}
