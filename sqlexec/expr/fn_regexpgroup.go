package expr

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"varve/engine/automaton"
	"varve/engine/convert"
	"varve/engine/vector"
)

// Functions that look for where an expression, argument 1, matches in a text, argument 0. They count their work and end
// with the query, within a row too.

// regexpRow appends the value of row i to out; some is false where it is NULL.
type regexpRow func(re *automaton.Regexp, a []*vector.Vector, i int, cancelled func() error,
	out *vector.Vector) (some bool, err error)

// regexpBind binds such a function; flags is the argument that has the expression's flags, if it is given.
func regexpBind(flags int, args sig, result vector.Type, name string, row regexpRow) func(*Context, []Expr) ([]Expr,
	vector.Type, kernel, error) {
	return func(c *Context, given []Expr) ([]Expr, vector.Type, kernel, error) {
		cancelled := c.cancelled()
		return simpleBind(args, result, name,
			unlessCancelled(cancelled, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
				var last regexpEntry // of the row before, which nearly always has the same expression
				for i := range n {
					some := false
					if valid == nil || valid.Get(i) {
						with := ""
						if flags < len(a) {
							with = a[flags].Str(i)
						}
						var err error
						if last.re == nil || last.key != a[1].Str(i) || last.flags != with {
							last.key, last.flags = a[1].Str(i), with
							last.re, err = regexps.get(last.key, with)
						}
						re := last.re
						if err == nil {
							err = re.CheckWork(len(a[0].Bytes(i)))
						}
						if err != nil {
							return execError("%s: %v", name, err)
						}
						if some, err = row(re, a, i, cancelled, out); err != nil {
							return err
						}
					}
					switch {
					case !some:
						out.AppendNulls(i, 1)
					case out.Valid != nil:
						out.Valid = out.Valid.With(i)
					}
				}
				return nil
			}))(c, given)
	}
}

// regexpFunction registers a function that regexpBind binds.
func regexpFunction(least, flags int, args sig, result vector.Type, row regexpRow, names ...string) {
	register(&Function{min: least, max: len(args), makesNull: true,
		bind: regexpBind(flags, args, result, names[0], row)}, names...)
}

// each calls found with the offsets of each match of an expression, see automaton.Regexp.Each.
func each(re *automaton.Regexp, s []byte, n int, groups bool, cancelled func() error,
	found func(offsets []int) error) error {
	return searched(re.Each(s, n, groups, cancelled, found))
}

// searched makes the error of a search an error of the function.
func searched(err error) error {
	if work := (*automaton.WorkError)(nil); errors.As(err, &work) {
		return execError("%v", work)
	}
	return err
}

// registerSearches registers the functions that replace, count and find matches.
func registerSearches() {
	regexpFunction(3, 3, sig{str, str, str, str}, str, regexpReplace, "regexp_replace")
	// from is the text from the character on that argument 2 names, and the number of characters before it.
	from := func(a []*vector.Vector, i int) ([]byte, int64) {
		if len(a) < 3 {
			return a[0].Bytes(i), 0
		}
		skip := max(a[2].Ints[i]-1, 0)
		s := a[0].Bytes(i)
		return s[byteAt(s, skip):], min(skip, int64(utf8.RuneCount(s)))
	}
	regexpFunction(2, 3, sig{str, str, i64, str}, i64,
		func(re *automaton.Regexp, a []*vector.Vector, i int, cancelled func() error, out *vector.Vector) (bool,
			error) {
			s, _ := from(a, i)
			count := int64(0)
			err := each(re, s, -1, false, cancelled, func([]int) error {
				count++
				return nil
			})
			out.Ints = append(out.Ints, count)
			return true, err
		}, "regexp_count")
	regexpFunction(2, 4, sig{str, str, i64, i64, str}, i64,
		func(re *automaton.Regexp, a []*vector.Vector, i int, cancelled func() error, out *vector.Vector) (bool,
			error) {
			s, skipped := from(a, i)
			nth := int64(1)
			if len(a) > 3 {
				nth = a[3].Ints[i]
			}
			place, at := int64(0), int64(0)
			err := each(re, s, int(min(max(nth, 0), int64(len(s))+1)), false, cancelled, func(m []int) error {
				if at++; at == nth {
					place = skipped + int64(utf8.RuneCount(s[:m[0]])) + 1
				}
				return nil
			})
			out.Ints = append(out.Ints, place)
			return true, err
		}, "regexp_instr")
}

// regexpReplace replaces the first match, or with the flag g all of them.
func regexpReplace(re *automaton.Regexp, a []*vector.Vector, i int, cancelled func() error, out *vector.Vector) (bool,
	error) {
	s, n, at, copied := a[0].Bytes(i), 1, len(out.Heap), 0
	if len(a) > 3 && strings.Contains(a[3].Str(i), "g") {
		n = -1
	}
	if re.Anchored() || re.Match(s, cancelled) { // which is quicker than looking for a place
		with := a[2].Bytes(i)
		groups := bytes.IndexByte(with, '\\') >= 0
		err := each(re, s, n, groups, cancelled, func(m []int) error {
			if err := checkHeap(out, int64(m[1]-copied+len(with))); err != nil {
				return err
			}
			out.Heap = append(out.Heap, s[copied:m[0]]...)
			if groups {
				out.Heap = expand(out.Heap, with, s, m)
			} else {
				out.Heap = append(out.Heap, with...)
			}
			copied = m[1]
			if len(out.Heap)-at > maxText {
				return errTextLength
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	if err := makeRoom(out, int64(len(s)-copied)); err != nil {
		return false, err
	}
	out.Heap = append(out.Heap, s[copied:]...)
	return true, endText(out, at)
}

// expand appends the text that takes the place of a match in s, whose offsets and those of its groups are m: `\1` is
// the match of a group, nothing for a group without one, `\0` or `\&` the whole match, `\\` a backslash; all else
// stands for itself.
func expand(dst, text, s []byte, m []int) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		next := text[i+1]
		text = text[i+2:]
		switch group := int(next - '0'); {
		case next == '&':
			dst = append(dst, s[m[0]:m[1]]...)
		case next == '\\':
			dst = append(dst, '\\')
		case '0' <= next && next <= '9':
			if 2*group+1 < len(m) && m[2*group] >= 0 {
				dst = append(dst, s[m[2*group]:m[2*group+1]]...)
			}
		default:
			dst = append(dst, '\\', next)
		}
	}
}

// registerGroups registers the functions that give the matches of an expression or of its groups.
func registerGroups() {
	regexpFunction(2, 2, sig{str, str, str}, vector.List(str),
		func(re *automaton.Regexp, a []*vector.Vector, i int, cancelled func() error, out *vector.Vector) (bool,
			error) {
			some := false
			err := firstMatch(re, a[0].Bytes(i), cancelled, func(m []int) error {
				if len(m) > 2 {
					m = m[2:]
				}
				some = true
				list := texts{dst: []byte{'['}}
				for g := 0; g < len(m); g += 2 {
					list.add(a[0].Bytes(i), m[g], m[g+1])
				}
				return pushText(out, list.end())
			})
			return some, err
		}, "regexp_match")
	register(&Function{min: 2, max: 4, makesNull: true,
		bind: bindGroup("regexp_extract", str,
			func(re *automaton.Regexp, s []byte, group int, cancelled func() error, out *vector.Vector) (bool, error) {
				some := false
				err := firstMatch(re, s, cancelled, func(m []int) error {
					if some = m[2*group] >= 0; !some {
						return nil
					}
					return pushText(out, s[m[2*group]:m[2*group+1]])
				})
				return some, err
			})}, "regexp_extract")
	register(&Function{min: 2, max: 4, makesNull: true,
		bind: bindGroup("regexp_extract_all", vector.List(str),
			func(re *automaton.Regexp, s []byte, group int, cancelled func() error, out *vector.Vector) (bool, error) {
				list := texts{dst: []byte{'['}}
				err := searched(re.EachAbutting(s, cancelled,
					func(m []int) error { return list.add(s, m[2*group], m[2*group+1]) }))
				if err != nil {
					return false, err
				}
				return true, pushText(out, list.end())
			})}, "regexp_extract_all")
	regexpFunction(2, 2, sig{str, str, str}, vector.List(str),
		func(re *automaton.Regexp, a []*vector.Vector, i int, cancelled func() error, out *vector.Vector) (bool,
			error) {
			list, err := splitBy(re, a[0].Bytes(i), cancelled)
			if err != nil {
				return false, err
			}
			return true, pushText(out, list)
		}, "regexp_split_to_array", "string_split_regex", "str_split_regex")
}

// firstMatch calls found with the offsets of the first match and its groups, if there is a match.
func firstMatch(re *automaton.Regexp, s []byte, cancelled func() error, found func(offsets []int) error) error {
	if !re.Match(s, cancelled) { // by an automaton, which is far quicker than looking for a place
		return nil
	}
	return each(re, s, 1, true, cancelled, found)
}

// splitBy cuts a text at the matches of an expression and gives the list of the parts; an empty match cuts between two
// characters.
func splitBy(re *automaton.Regexp, s []byte, cancelled func() error) ([]byte, error) {
	list, from := texts{dst: []byte{'['}}, 0
	err := each(re, s, -1, false, cancelled, func(m []int) error {
		if m[1] == m[0] && (m[0] == 0 || m[0] == len(s)) {
			return nil
		}
		err := list.add(s, from, m[0])
		from = m[1]
		return err
	})
	if err != nil {
		return nil, err
	}
	err = list.add(s, from, len(s))
	return list.end(), err
}

// texts is a list of texts that is being made.
type texts struct{ dst []byte }

// add adds s[from:to], or NULL when from is below 0.
func (t *texts) add(s []byte, from, to int) error {
	if len(t.dst) > 1 {
		t.dst = append(t.dst, ',')
	}
	if from < 0 {
		t.dst = append(t.dst, "null"...)
		return nil
	}
	if len(t.dst)+convert.StringSize(s[from:to]) > maxText {
		return errTextLength
	}
	t.dst = convert.AppendString(t.dst, s[from:to])
	return nil
}

func (t *texts) end() []byte { return append(t.dst, ']') }

// bindGroup binds name(s, re [, group [, flags]]) and name(s, re, flags): what group number group of the expression
// matches, 0 is all of it.
func bindGroup(name string, result vector.Type,
	find func(re *automaton.Regexp, s []byte, group int, cancelled func() error, out *vector.Vector) (some bool,
		err error)) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	bind := regexpBind(3, sig{str, str, i64, str}, result, name,
		func(re *automaton.Regexp, a []*vector.Vector, i int, cancelled func() error, out *vector.Vector) (bool,
			error) {
			g, have := a[2].Ints[i], re.Groups()
			if g < 0 || g > int64(have) {
				return false, execError("%s: group %d of an expression that has %d", name, g, have)
			}
			return find(re, a[0].Bytes(i), int(g), cancelled, out)
		})
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
		return bind(c, []Expr{args[0], args[1], group, flags})
	}
}
