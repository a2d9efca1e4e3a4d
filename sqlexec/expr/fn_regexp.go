package expr

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"varve/engine/automaton"
	"varve/engine/filter"
	"varve/engine/vector"
)

// pattern binds a function of text and a constant pattern that is compiled once.
func pattern[P any](name string, compile func(p string) (P, error), match func(p P, s []byte) bool, not bool) *Function {
	return &Function{infix: strings.ToUpper(name), min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		for _, a := range args {
			if t := a.Type(); !t.IsText() && t != vector.NullType && t.ID != vector.TypeJSON && t.ID != vector.TypeBinary {
				return nil, flag, nil, planError("%s needs strings, found %s", name, t)
			}
		}
		args, err := c.castAll(args, str)
		if err != nil {
			return nil, flag, nil, err
		}
		k, constant := args[1].(*Const)
		if constant && !k.Value.IsNull(0) {
			p, err := compile(k.Value.Str(0))
			if err != nil {
				return nil, flag, nil, planError("%s: %v", name, err)
			}
			return args, flag, mapBool(func(a []*vector.Vector, i int) bool { return match(p, a[0].Bytes(i)) != not }), nil
		}
		return args, flag, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
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
				if match(p, a[0].Bytes(i)) != not {
					out.Bools.Set(i)
				}
			}
			return nil
		}, nil
	}}
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
	isLike := func(p *filter.Pattern, s []byte) bool { return p.Match(s) }
	register(pattern("like", likes(false), isLike, false), "like")
	register(pattern("not like", likes(false), isLike, true), "not like")
	register(pattern("ilike", likes(true), isLike, false), "ilike")
	register(pattern("not ilike", likes(true), isLike, true), "not ilike")
	compile := func(prefix string) func(string) (*automaton.Regexp, error) {
		return func(p string) (*automaton.Regexp, error) { return automaton.Compile(prefix + p) }
	}
	isMatch := (*automaton.Regexp).Match
	register(pattern("~", compile(""), isMatch, false), "~")
	register(pattern("!~", compile(""), isMatch, true), "!~")
	register(pattern("~*", compile("(?i)"), isMatch, false), "~*")
	register(pattern("!~*", compile("(?i)"), isMatch, true), "!~*")
	register(pattern("similar to", compileSimilar, isMatch, false), "similar to")
	register(pattern("not similar to", compileSimilar, isMatch, true), "not similar to")
	register(pattern("matches_term", func(p string) (*filter.Word, error) { return filter.NewTerm([]byte(p)), nil },
		func(p *filter.Word, s []byte) bool { return p.Match(s) }, false), "matches_term")
	register(pattern("matches", parseTextQuery, (*textQuery).match, false), "matches")
	functions["matches_term"].infix, functions["matches"].infix = "", ""

	replace := func(a []*vector.Vector, i int, dst []byte) ([]byte, error) {
		flags := ""
		if len(a) > 3 {
			flags = a[3].Str(i)
		}
		compiled, err := regexps.within(a[1].Str(i), flags, a[0].Bytes(i))
		if err != nil {
			return dst, execError("regexp_replace: %v", err)
		}
		if !compiled.Match(a[0].Bytes(i)) {
			return append(dst, a[0].Bytes(i)...), nil
		}
		re := compiled.Regexp()
		with := backslashGroups.ReplaceAll(a[2].Bytes(i), []byte("$${$1}"))
		s := a[0].Bytes(i)
		if strings.Contains(flags, "g") {
			if product(int64(len(s))+1, int64(len(with))) > maxText && product(int64(len(re.FindAllIndex(s, -1))), int64(len(with)+len(s))) > maxText {
				return dst, errTextLength
			}
			return append(dst, re.ReplaceAll(s, with)...), nil
		}
		m := re.FindSubmatchIndex(s)
		if m == nil {
			return append(dst, s...), nil
		}
		dst = append(dst, s[:m[0]]...)
		return append(re.Expand(dst, with, s, m), s[m[1]:]...), nil
	}
	simple(3, sig{str, str, str, str}, str, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) (err error) {
		for i := range n {
			at := len(out.Heap)
			if valid == nil || valid.Get(i) {
				if out.Heap, err = replace(a, i, out.Heap); err != nil {
					return err
				}
			}
			if err := endText(out, at); err != nil {
				return err
			}
		}
		return nil
	}, "regexp_replace")
	registerGroups()
	// from is the text from the character on that argument 2 names, and the number of characters before it.
	from := func(a []*vector.Vector, i int) ([]byte, int64) {
		if len(a) < 3 {
			return a[0].Bytes(i), 0
		}
		skip := max(a[2].Ints[i]-1, 0)
		s := a[0].Bytes(i)
		return s[byteAt(s, skip):], min(skip, int64(utf8.RuneCount(s)))
	}
	simple(2, sig{str, str, i64, str}, i64, checkedRegexp(3, mapInt(func(a []*vector.Vector, i int) int64 {
		re, err := regexps.get(a[1].Str(i), regexpFlags(a, 3, i))
		if err != nil {
			return 0
		}
		s, _ := from(a, i)
		return int64(len(re.Regexp().FindAllIndex(s, -1)))
	})), "regexp_count")
	simple(2, sig{str, str, i64, i64, str}, i64, checkedRegexp(4, mapInt(func(a []*vector.Vector, i int) int64 {
		re, err := regexps.get(a[1].Str(i), regexpFlags(a, 4, i))
		if err != nil {
			return 0
		}
		s, skipped := from(a, i)
		nth := int64(1)
		if len(a) > 3 {
			nth = a[3].Ints[i]
		}
		all := re.Regexp().FindAllIndex(s, int(min(max(nth, 0), int64(len(s))+1)))
		if nth < 1 || nth > int64(len(all)) {
			return 0
		}
		return skipped + int64(utf8.RuneCount(s[:all[nth-1][0]])) + 1
	})), "regexp_instr")
	flagged := simpleBind(sig{str, str, str}, flag, "regexp_like", checkedRegexp(2, mapBool(func(a []*vector.Vector, i int) bool {
		re, err := regexps.get(a[1].Str(i), regexpFlags(a, 2, i))
		return err == nil && re.Match(a[0].Bytes(i))
	})))
	plain := pattern("regexp_like", compile(""), isMatch, false).bind
	register(&Function{min: 2, max: 3, makesNull: true, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if len(args) == 2 {
			return plain(c, args)
		}
		return flagged(c, args)
	}}, "regexp_like", "regexp_matches")
}

// regexpFlags are the flags of row i in argument at, if it is given.
func regexpFlags(a []*vector.Vector, at, i int) string {
	if at < len(a) {
		return a[at].Str(i)
	}
	return ""
}

var backslashGroups = regexp.MustCompile(`\\(\d)`)

// SimilarTo turns an SQL regular expression into ours: % and _ stand for any text and any character, the rest is as usual,
// and all of the text must match.
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

func compileSimilar(p string) (*automaton.Regexp, error) { return automaton.Compile(SimilarTo(p)) }
