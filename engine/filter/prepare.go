package filter

// Prepare returns the conjunction with its conditions compiled once for all. Compile of the result, or of some of its
// conditions, reuses the compiled lists, patterns and expressions. A scan prepares conditions that its runs would
// otherwise compile for each piece. The automaton of an expression is then built once, and states found in one piece
// serve all. Long evaluations of expressions end once cancelled, which may be nil, returns an error; their results then
// mean nothing.
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
		ready, err := compileCond(&a[i], cancelled)
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
