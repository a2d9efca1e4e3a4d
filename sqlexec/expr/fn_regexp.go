package expr

import (
	"strings"

	"varve/engine/automaton"
	"varve/engine/filter"
	"varve/engine/vector"
)

// pattern binds a function of text and a constant pattern that is compiled once. match looks no further once cancelled,
// which may be nil, gives an error.
func pattern[P any](name string, compile func(p string) (P, error),
	match func(p P, s []byte, cancelled func() error) bool, not bool) *Function {
	return &Function{infix: strings.ToUpper(name), min: 2, max: 2,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			for _, a := range args {
				if t := a.Type(); !t.IsText() && t != vector.NullType && t.ID != vector.TypeJSON &&
					t.ID != vector.TypeBinary {
					return nil, flag, nil, planError("%s needs strings, found %s", name, t)
				}
			}
			args, err := c.castAll(args, str)
			if err != nil {
				return nil, flag, nil, err
			}
			cancelled := c.cancelled()
			k, constant := args[1].(*Const)
			if constant && !k.Value.IsNull(0) {
				p, err := compile(k.Value.Str(0))
				if err != nil {
					return nil, flag, nil, planError("%s: %v", name, err)
				}
				return args, flag, unlessCancelled(cancelled,
					mapBool(func(a []*vector.Vector, i int) bool {
						return match(p, a[0].Bytes(i), cancelled) != not
					})), nil
			}
			return args, flag, unlessCancelled(cancelled,
				func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
					compiled := map[string]P{}
					out.Bools = vector.MakeBitmap(n)
					for i := range n {
						if valid != nil && !valid.Get(i) {
							continue
						}
						p, ok := compiled[a[1].Str(i)]
						if !ok {
							var err error
							if p, err = compile(a[1].Str(i)); err != nil {
								return execError("%s: %v", name, err)
							}
							compiled[strings.Clone(a[1].Str(i))] = p
						}
						if match(p, a[0].Bytes(i), cancelled) != not {
							out.Bools.Set(i)
						}
					}
					return nil
				}), nil
		}}
}

// unlessCancelled is a kernel whose rows mean nothing once cancelled, which may be nil, has returned an error.
func unlessCancelled(cancelled func() error, k kernel) kernel {
	if cancelled == nil {
		return k
	}
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		if err := k(n, a, valid, out); err != nil {
			return err
		}
		return cancelled()
	}
}

func registerMatches() {
	likes := func(fold bool) func(string) (*filter.Pattern, error) {
		return func(p string) (*filter.Pattern, error) {
			if err := automaton.CheckPattern(p); err != nil {
				return nil, err
			}
			return filter.NewLike([]byte(p), fold), nil
		}
	}
	isLike := func(p *filter.Pattern, s []byte, _ func() error) bool { return p.Match(s) }
	register(pattern("like", likes(false), isLike, false), "like")
	register(pattern("not like", likes(false), isLike, true), "not like")
	register(pattern("ilike", likes(true), isLike, false), "ilike")
	register(pattern("not ilike", likes(true), isLike, true), "not ilike")
	compile := func(prefix string) func(string) (*automaton.Regexp, error) {
		return func(p string) (*automaton.Regexp, error) {
			if err := automaton.CheckPattern(p); err != nil {
				return nil, err
			}
			return automaton.Compile(prefix + p)
		}
	}
	isMatch := (*automaton.Regexp).Match
	register(pattern("~", compile(""), isMatch, false), "~")
	register(pattern("!~", compile(""), isMatch, true), "!~")
	register(pattern("~*", compile("(?i)"), isMatch, false), "~*")
	register(pattern("!~*", compile("(?i)"), isMatch, true), "!~*")
	register(pattern("similar to", compileSimilar, isMatch, false), "similar to")
	register(pattern("not similar to", compileSimilar, isMatch, true), "not similar to")
	register(pattern("matches_term", func(p string) (*filter.Word, error) { return filter.NewTerm([]byte(p)), nil },
		func(p *filter.Word, s []byte, _ func() error) bool { return p.Match(s) }, false), "matches_term")
	register(pattern("matches", parseTextQuery, func(q *textQuery, s []byte, _ func() error) bool { return q.match(s) },
		false), "matches")
	functions["matches_term"].infix, functions["matches"].infix = "", ""
	registerSearches()
	registerGroups()
	like := regexpBind(2, sig{str, str, str}, flag, "regexp_like",
		func(re *automaton.Regexp, a []*vector.Vector, i int, cancelled func() error, out *vector.Vector) (bool,
			error) {
			out.PushBool(i, re.Match(a[0].Bytes(i), cancelled))
			return true, nil
		})
	plain := pattern("regexp_like", compile(""), isMatch, false).bind
	register(&Function{min: 2, max: 3, makesNull: true,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			if len(args) == 2 {
				return plain(c, args)
			}
			return like(c, args)
		}}, "regexp_like", "regexp_matches")
}

// SimilarTo turns an SQL regular expression into ours: % and _ stand for any text and any character, the rest is as
// usual, and all of the text must match.
func SimilarTo(p string) string {
	var s strings.Builder
	s.WriteString("(?s)^(?:")
	for i := 0; i < len(p); i++ {
		switch c := p[i]; c {
		case '%':
			s.WriteString(".*")
		case '_':
			s.WriteString(".")
		case '.', '^', '$':
			s.WriteString(`\` + string(c))
		default:
			s.WriteByte(c)
		}
	}
	return s.String() + ")$"
}

func compileSimilar(p string) (*automaton.Regexp, error) {
	if err := automaton.CheckPattern(p); err != nil {
		return nil, err
	}
	return automaton.Compile(SimilarTo(p))
}
