package expr

import (
	"varve/engine/automaton"
	"varve/engine/vector"
)

// checkedRegexp makes a bad expression in argument 1 an error where the kernel would give NULL; flags is the argument that has its
// flags.
func checkedRegexp(flags int, k kernel) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			if valid == nil || valid.Get(i) {
				if _, err := regexps.within(a[1].Str(i), regexpFlags(a, flags, i), a[0].Bytes(i)); err != nil {
					return execError("regular expression: %v", err)
				}
			}
		}
		return k(n, a, valid, out)
	}
}

// registerGroups: the functions that give what an expression or its groups match.
func registerGroups() {
	simple(2, sig{str, str, str}, vector.List(str), checkedRegexp(2, maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
		re, err := regexps.get(a[1].Str(i), regexpFlags(a, 2, i))
		if err != nil || !re.Match(a[0].Bytes(i)) {
			return nil, false
		}
		groups := re.Regexp().FindSubmatch(a[0].Bytes(i))
		if len(groups) > 1 {
			groups = groups[1:]
		}
		return appendTexts(nil, groups), true
	})), "regexp_match")
	register(&Function{min: 2, max: 4, makesNull: true, bind: bindGroup("regexp_extract", str, func(re *automaton.Regexp, s []byte, group int) ([]byte, bool) {
		if !re.Match(s) {
			return nil, false
		}
		m := re.Regexp().FindSubmatch(s)[group]
		return m, m != nil
	})}, "regexp_extract")
	register(&Function{min: 2, max: 4, makesNull: true, bind: bindGroup("regexp_extract_all", vector.List(str), func(re *automaton.Regexp, s []byte, group int) ([]byte, bool) {
		var list [][]byte
		for _, m := range re.Regexp().FindAllSubmatch(s, -1) {
			list = append(list, m[group])
		}
		return appendTexts(nil, list), true
	})}, "regexp_extract_all")
	simple(2, sig{str, str, str}, vector.List(str), checkedRegexp(2, maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
		re, err := regexps.get(a[1].Str(i), regexpFlags(a, 2, i))
		if err != nil {
			return nil, false
		}
		return appendTexts(nil, splitBy(re, a[0].Bytes(i))), true
	})), "regexp_split_to_array", "string_split_regex", "str_split_regex")
}

// splitBy cuts a text at what an expression matches; an empty match cuts between two characters.
func splitBy(re *automaton.Regexp, s []byte) (parts [][]byte) {
	s = append([]byte{}, s...) // nil would be NULL
	from := 0
	for _, m := range re.Regexp().FindAllIndex(s, -1) {
		if m[1] == m[0] && (m[0] == 0 || m[0] == len(s)) {
			continue
		}
		parts = append(parts, s[from:m[0]])
		from = m[1]
	}
	return append(parts, s[from:])
}

// appendTexts appends a list of texts; nil is NULL.
func appendTexts(dst []byte, texts [][]byte) []byte {
	dst = append(dst, '[')
	for i, t := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		if t == nil {
			dst = append(dst, "null"...)
		} else {
			dst = appendJSONText(dst, t)
		}
	}
	return append(dst, ']')
}

// bindGroup binds name(s, re [, group [, flags]]) and name(s, re, flags): what group number group of the expression matches, 0 is all
// of it.
func bindGroup(name string, result vector.Type, find func(re *automaton.Regexp, s []byte, group int) ([]byte, bool)) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		group, flags := Expr(Int(0)), Expr(Text(""))
		switch {
		case len(args) == 4:
			group, flags = args[2], args[3]
		case len(args) == 3 && args[2].Type().IsText():
			flags = args[2]
		case len(args) == 3:
			group = args[2]
		}
		return simpleBind(sig{str, str, i64, str}, result, name, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				if valid != nil && !valid.Get(i) {
					continue
				}
				re, err := regexps.within(a[1].Str(i), a[3].Str(i), a[0].Bytes(i))
				if err != nil {
					return execError("regular expression: %v", err)
				}
				if g, have := a[2].Ints[i], re.Regexp().NumSubexp(); g < 0 || g > int64(have) {
					return execError("%s: group %d of an expression that has %d", name, g, have)
				}
			}
			return maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
				re, err := regexps.get(a[1].Str(i), a[3].Str(i))
				if err != nil {
					return nil, false
				}
				return find(re, a[0].Bytes(i), int(a[2].Ints[i]))
			})(n, a, valid, out)
		})(c, []Expr{args[0], args[1], group, flags})
	}
}
