package expr

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"varve/engine/vector"
)

// sig is the argument types of a simple function.
type sig []vector.Type

var (
	str  = vector.StringType
	i64  = vector.Int64Type
	f64  = vector.FloatType
	flag = vector.BoolType
)

// simple registers a function whose arguments are cast to fixed types; arguments from the position least on are
// optional.
func simple(least int, args sig, result vector.Type, k kernel, names ...string) {
	register(&Function{min: least, max: len(args), makesNull: true, bind: simpleBind(args, result, names[0], k)},
		names...)
}

// ofBytes registers a function of one argument that works on bytes: of a BINARY value, or of a text.
func ofBytes(result vector.Type, k kernel, names ...string) {
	text, binary := simpleBind(sig{str}, result, names[0], k), simpleBind(sig{vector.BinaryType}, result, names[0], k)
	register(&Function{min: 1, max: 1, makesNull: true,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			if args[0].Type().ID == vector.TypeBinary {
				return binary(c, args)
			}
			return text(c, args)
		}}, names...)
}

func simpleBind(args sig, result vector.Type, name string, k kernel) func(*Context, []Expr) ([]Expr, vector.Type,
	kernel, error) {
	return func(c *Context, given []Expr) ([]Expr, vector.Type, kernel, error) {
		out := make([]Expr, len(given))
		for i, g := range given {
			t := g.Type()
			if args[i] == str && !t.IsText() && t.Kind() == vector.Bytes && t != vector.NullType &&
				t.ID != vector.TypeBinary && t.ID != vector.TypeJSON {
				return nil, result, nil, planError("function '%s' takes a string, found %s", name, t)
			}
			if args[i].IsNumber() && !t.IsNumber() && t != vector.NullType && t.ID != vector.TypeString {
				return nil, result, nil, planError("function '%s' takes a number, found %s", name, t)
			}
			var err error
			if out[i], err = c.Cast(g, args[i], false); err != nil {
				return nil, result, nil, err
			}
		}
		return out, result, k, nil
	}
}

// mapText is a kernel that appends a text for each row. f appends no more than a few times what it was given.
func mapText(f func(dst []byte, a []*vector.Vector, i int) []byte) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			at := len(out.Heap)
			if valid == nil || valid.Get(i) {
				out.Heap = f(out.Heap, a, i)
			}
			if err := endText(out, at); err != nil {
				return err
			}
		}
		return nil
	}
}

// boundedText is mapText for functions whose result may be far longer than their argument: size says how long it is at
// most.
func boundedText(size func(a []*vector.Vector, i int) int64,
	f func(dst []byte, a []*vector.Vector, i int) []byte) kernel {
	k := mapText(f)
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		total := int64(0)
		for i := range n {
			if valid != nil && !valid.Get(i) {
				continue
			}
			bytes := size(a, i)
			if total += bytes; bytes > maxText {
				return errTextLength
			}
		}
		if err := checkHeap(out, total); err != nil {
			return err
		}
		return k(n, a, valid, out)
	}
}

// product is x*y for lengths, and more than any bound when that overflows.
func product(x, y int64) int64 {
	if x <= 0 || y <= 0 {
		return 0
	}
	if x > math.MaxInt32 || y > math.MaxInt32 {
		return math.MaxInt32
	}
	return x * y
}

func mapInt(f func(a []*vector.Vector, i int) int64) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			var x int64
			if valid == nil || valid.Get(i) {
				x = f(a, i)
			}
			out.Ints = append(out.Ints, x)
		}
		return nil
	}
}

func mapBool(f func(a []*vector.Vector, i int) bool) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		return eachBool(n, out, func(i int) bool { return (valid == nil || valid.Get(i)) && f(a, i) })
	}
}

// pushText appends a text that a function has made.
func pushText(out *vector.Vector, b []byte) error {
	if err := makeRoom(out, int64(len(b))); err != nil {
		return err
	}
	out.PushBytes(b)
	return nil
}

// maybeText is mapText for functions that give NULL for some rows.
func maybeText(f func(a []*vector.Vector, i int) ([]byte, bool)) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			if valid == nil || valid.Get(i) {
				if b, ok := f(a, i); ok {
					if err := pushText(out, b); err != nil {
						return err
					}
					if out.Valid != nil {
						out.Valid = out.Valid.With(i)
					}
					continue
				}
			}
			out.AppendNulls(i, 1)
		}
		return nil
	}
}

func init() {
	registerLengths()
	registerParts()
	registerMatches()
	registerPicks()
	registerHashes()
	registerServer()
	register(&Function{lazy: true, min: 1, max: -1, bind: bindConcat(0)}, "concat")
	register(&Function{lazy: true, min: 2, max: -1, makesNull: true, bind: bindConcat(1)}, "concat_ws")
	register(&Function{infix: "||", min: 2, max: 2,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			args, err := c.castAll(args, str)
			return args, str, boundedText(func(a []*vector.Vector, i int) int64 { return joined(a, 0, i) },
				func(dst []byte, a []*vector.Vector, i int) []byte {
					return append(append(dst, a[0].Bytes(i)...), a[1].Bytes(i)...)
				}), err
		}}, "||")
}

// numberText is about the longest text of a number.
const numberText = 24

// joined is the most bytes of the texts of row i, with the first between the others where it is a separator.
func joined(a []*vector.Vector, separators, i int) (n int64) {
	for k, v := range a {
		if v.IsNull(i) {
			continue
		}
		switch {
		case v.Type.Kind() != vector.Bytes:
			n += numberText
		case k < separators:
			n += product(int64(len(v.Bytes(i))), int64(len(a)))
		default:
			n += int64(len(v.Bytes(i)))
		}
	}
	return n
}

// bindConcat joins texts and skips NULLs; with separators 1, the first argument is put between the others.
func bindConcat(separators int) func(*Context, []Expr) ([]Expr, vector.Type, kernel, error) {
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		args, err := c.castAll(args, str)
		return args, str, func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				if separators == 1 && a[0].IsNull(i) {
					out.AppendNulls(i, 1)
					continue
				}
				if err := makeRoom(out, joined(a, separators, i)); err != nil {
					return err
				}
				at := len(out.Heap)
				some := false
				for _, v := range a[separators:] {
					if v.IsNull(i) {
						continue
					}
					if some && separators == 1 {
						out.Heap = append(out.Heap, a[0].Bytes(i)...)
					}
					some = true
					out.Heap = append(out.Heap, v.Bytes(i)...)
				}
				if err := endText(out, at); err != nil {
					return err
				}
				if out.Valid != nil {
					out.Valid = out.Valid.With(i)
				}
			}
			return nil
		}, err
	}
}

func registerLengths() {
	simple(1, sig{str}, i64, characterLengths, "length", "char_length", "character_length")
	ofBytes(i64, byteLengths(1), "octet_length", "strlen")
	ofBytes(i64, byteLengths(8), "bit_length")
	simple(1, sig{str}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		return appendUpper(dst, a[0].Bytes(i))
	}), "upper", "ucase")
	simple(1, sig{str}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		return append(dst, bytes.ToLower(a[0].Bytes(i))...)
	}), "lower", "lcase")
	simple(1, sig{str}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		s := a[0].Bytes(i)
		for len(s) > 0 {
			_, w := utf8.DecodeLastRune(s)
			dst = append(dst, s[len(s)-w:]...)
			s = s[:len(s)-w]
		}
		return dst
	}), "reverse")
	simple(1, sig{str}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		word, character := false, [utf8.UTFMax]byte{}
		for _, r := range a[0].Str(i) {
			if word {
				dst = utf8.AppendRune(dst, unicode.ToLower(r))
			} else {
				dst = appendUpper(dst, utf8.AppendRune(character[:0], r))
			}
			word = unicode.IsLetter(r) || unicode.IsDigit(r)
		}
		return dst
	}), "initcap")
	trim := func(left, right bool) kernel {
		return mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
			set, s := " ", a[0].Bytes(i)
			if len(a) > 1 {
				set = a[1].Str(i)
			}
			trimLeft, trimRight := bytes.TrimLeft, bytes.TrimRight
			if len(set) > fewCharacters {
				place := places(set)
				in := func(r rune) bool { return place(r) >= 0 }
				trimLeft = func(s []byte, _ string) []byte { return bytes.TrimLeftFunc(s, in) }
				trimRight = func(s []byte, _ string) []byte { return bytes.TrimRightFunc(s, in) }
			}
			if left {
				s = trimLeft(s, set)
			}
			if right {
				s = trimRight(s, set)
			}
			return append(dst, s...)
		})
	}
	simple(1, sig{str, str}, str, trim(true, true), "btrim", "trim")
	simple(1, sig{str, str}, str, trim(true, false), "ltrim")
	simple(1, sig{str, str}, str, trim(false, true), "rtrim")
	simple(1, sig{i64}, str, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i, x := range a[0].Ints[:n] {
			if x != int64(rune(x)) || !utf8.ValidRune(rune(x)) {
				if valid == nil || valid.Get(i) {
					return execError("chr: %d is not a character", x)
				}
				x = 0
			}
			out.PushBytes(utf8.AppendRune(nil, rune(x)))
		}
		return nil
	}, "chr")
	simple(1, sig{str}, vector.Int32Type, mapInt(func(a []*vector.Vector, i int) int64 {
		if s := a[0].Bytes(i); len(s) > 0 {
			r, _ := utf8.DecodeRune(s)
			return int64(r)
		}
		return 0
	}), "ascii")
	simple(1, sig{i64}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		return strconv.AppendUint(dst, uint64(a[0].Ints[i]), 16)
	}), "to_hex")
}

// appendUpper appends a text in upper case, where a character may become several: ß is SS.
func appendUpper(dst, s []byte) []byte {
	for i, c := range s {
		if c >= utf8.RuneSelf {
			return append(dst, cases.Upper(language.Und).Bytes(s[i:])...)
		}
		if c-'a' < 26 {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// fewCharacters is the number of characters up to which they are searched one by one.
const fewCharacters = 16

// places returns the first position of a character in a set; -1 if the set does not contain it.
func places(set string) func(rune) int {
	list := []rune(set)
	if len(list) <= fewCharacters {
		return func(r rune) int { return slices.Index(list, r) }
	}
	first := make(map[rune]int, min(len(list), 1<<10))
	for k, r := range list {
		if _, have := first[r]; !have {
			first[r] = k
		}
	}
	return func(r rune) int {
		if k, have := first[r]; have {
			return k
		}
		return -1
	}
}

// byteAt is the offset of character k (from 0) of s; len(s) when it has fewer.
func byteAt(s []byte, k int64) int {
	at := 0
	for ; k > 0 && at < len(s); k-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, w := utf8.DecodeRune(s[at:])
		at += w
	}
	return at
}

// partOf is part k of a text that is cut at a separator, from 1, or from -1 at its end; nothing where there is no such
// part. A text that is cut at nothing is one part.
func partOf(s, sep []byte, k int64) []byte {
	if k < 0 {
		count := int64(1)
		if len(sep) > 0 {
			count += int64(bytes.Count(s, sep))
		}
		k += count + 1
	}
	if k < 1 || len(sep) == 0 && k > 1 {
		return nil
	}
	for ; len(sep) > 0; k-- {
		end := bytes.Index(s, sep)
		switch {
		case end < 0 && k > 1:
			return nil
		case end < 0:
			return s
		case k == 1:
			return s[:end]
		}
		s = s[end+len(sep):]
	}
	return s
}

func registerParts() {
	substr := mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		s, from := a[0].Bytes(i), a[1].Ints[i]-1
		n := int64(len(s))
		if len(a) > 2 {
			n = max(a[2].Ints[i], 0)
			if from < 0 {
				n = max(n+from, 0)
			}
		}
		s = s[byteAt(s, max(from, 0)):]
		return append(dst, s[:byteAt(s, n)]...)
	})
	simple(2, sig{str, i64, i64}, str, substr, "substr", "substring", "mid")
	side := func(left bool) kernel {
		return mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
			s, n := a[0].Bytes(i), a[1].Ints[i]
			total := int64(utf8.RuneCount(s))
			if n < 0 {
				n = max(total+n, 0)
			}
			n = min(n, total)
			if left {
				return append(dst, s[:byteAt(s, n)]...)
			}
			return append(dst, s[byteAt(s, total-n):]...)
		})
	}
	simple(2, sig{str, i64}, str, side(true), "left")
	simple(2, sig{str, i64}, str, side(false), "right")
	padded := func(a []*vector.Vector, i int) int64 {
		widest := int64(1)
		if len(a) > 2 {
			widest = utf8.UTFMax
		}
		return max(product(a[1].Ints[i], widest), int64(len(a[0].Bytes(i))))
	}
	pad := func(left bool) kernel {
		return boundedText(padded, func(dst []byte, a []*vector.Vector, i int) []byte {
			s, want, fill := a[0].Bytes(i), a[1].Ints[i], " "
			if len(a) > 2 {
				fill = a[2].Str(i)
			}
			have := int64(utf8.RuneCount(s))
			if want <= have || fill == "" {
				return append(dst, s[:byteAt(s, min(max(want, 0), have))]...)
			}
			runes := []rune(fill)
			if !left {
				dst = append(dst, s...)
			}
			for k := range want - have {
				dst = utf8.AppendRune(dst, runes[int(k)%len(runes)])
			}
			if left {
				dst = append(dst, s...)
			}
			return dst
		})
	}
	simple(2, sig{str, i64, str}, str, pad(true), "lpad")
	simple(2, sig{str, i64, str}, str, pad(false), "rpad")
	replaced := func(a []*vector.Vector, i int) int64 {
		n := int64(len(a[0].Bytes(i)))
		if grows := len(a[2].Bytes(i)) - len(a[1].Bytes(i)); grows > 0 {
			n += product(int64(bytes.Count(a[0].Bytes(i), a[1].Bytes(i))), int64(grows))
		}
		return n
	}
	// The empty text is found before each character and at the end.
	simple(3, sig{str, str, str}, str, boundedText(replaced, func(dst []byte, a []*vector.Vector, i int) []byte {
		return append(dst, bytes.ReplaceAll(a[0].Bytes(i), a[1].Bytes(i), a[2].Bytes(i))...)
	}), "replace")
	simple(3, sig{str, str, str}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		place, to := places(a[1].Str(i)), []rune(a[2].Str(i))
		for _, r := range a[0].Str(i) {
			switch k := place(r); {
			case k < 0:
				dst = utf8.AppendRune(dst, r)
			case k < len(to):
				dst = utf8.AppendRune(dst, to[k])
			}
		}
		return dst
	}), "translate")
	repeated := func(a []*vector.Vector, i int) int64 { return product(int64(len(a[0].Bytes(i))), a[1].Ints[i]) }
	simple(2, sig{str, i64}, str, boundedText(repeated, func(dst []byte, a []*vector.Vector, i int) []byte {
		if s := a[0].Bytes(i); len(s) > 0 {
			for range max(a[1].Ints[i], 0) {
				dst = append(dst, s...)
			}
		}
		return dst
	}), "repeat")
	simple(1, sig{i64}, str, boundedText(func(a []*vector.Vector, i int) int64 { return product(a[0].Ints[i], 1) },
		func(dst []byte, a []*vector.Vector, i int) []byte {
			return append(dst, strings.Repeat(" ", int(max(a[0].Ints[i], 0)))...)
		}), "space")
	simple(3, sig{str, str, i64}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		return append(dst, partOf(a[0].Bytes(i), a[1].Bytes(i), a[2].Ints[i])...)
	}), "split_part")
	find := func(s, sub []byte) int64 {
		at := bytes.Index(s, sub)
		if at < 0 {
			return 0
		}
		return int64(utf8.RuneCount(s[:at])) + 1
	}
	simple(2, sig{str, str}, i64, mapInt(func(a []*vector.Vector, i int) int64 {
		return find(a[0].Bytes(i), a[1].Bytes(i))
	}), "strpos", "instr", "position")
	simple(2, sig{str, str, i64}, i64, mapInt(func(a []*vector.Vector, i int) int64 {
		s, from := a[1].Bytes(i), int64(1)
		if len(a) > 2 {
			if from = a[2].Ints[i]; from < 1 || from > int64(utf8.RuneCount(s))+1 {
				return 0
			}
		}
		at := find(s[byteAt(s, from-1):], a[0].Bytes(i))
		if at == 0 {
			return 0
		}
		return at + from - 1
	}), "locate")
	simple(2, sig{str, str}, flag, mapBool(func(a []*vector.Vector, i int) bool {
		return bytes.HasPrefix(a[0].Bytes(i), a[1].Bytes(i))
	}), "starts_with")
	simple(2, sig{str, str}, flag, mapBool(func(a []*vector.Vector, i int) bool {
		return bytes.HasSuffix(a[0].Bytes(i), a[1].Bytes(i))
	}), "ends_with")
	simple(2, sig{str, str}, flag, mapBool(func(a []*vector.Vector, i int) bool {
		return bytes.Contains(a[0].Bytes(i), a[1].Bytes(i))
	}), "contains")
	simple(2, sig{str, str}, i64, mapInt(func(a []*vector.Vector, i int) int64 {
		for k, s := range strings.Split(a[1].Str(i), ",") {
			if s == a[0].Str(i) {
				return int64(k + 1)
			}
		}
		return 0
	}), "find_in_set")
	simple(3, sig{str, str, i64}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		parts := strings.Split(a[0].Str(i), a[1].Str(i))
		n := int(a[2].Ints[i])
		switch {
		case a[1].Str(i) == "" || n == 0:
			return dst
		case n > 0:
			parts = parts[:min(n, len(parts))]
		default:
			parts = parts[max(len(parts)+n, 0):]
		}
		return append(dst, strings.Join(parts, a[1].Str(i))...)
	}), "substr_index", "substring_index")
	simple(2, sig{str, str}, i64, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			var d int
			if valid == nil || valid.Get(i) {
				x, y := a[0].Str(i), a[1].Str(i)
				if n, m := utf8.RuneCountInString(x), utf8.RuneCountInString(y); n*m > maxCompared {
					return execError("levenshtein: texts of %d and %d characters take too long", n, m)
				}
				d = levenshtein([]rune(x), []rune(y))
			}
			out.Ints = append(out.Ints, int64(d))
		}
		return nil
	}, "levenshtein")
	functions["levenshtein"].work = func(a []*vector.Vector, i int) int64 { return runeWork * joined(a, 0, i) }
}

// runeWork is what levenshtein takes for a character: itself, and a number of the row.
const runeWork = 4 + 8

// maxCompared bounds the pairs of characters that levenshtein compares in a row: a tenth of a second.
const maxCompared = 100_000_000

// levenshtein is the number of characters to insert, remove or replace to make b of a.
func levenshtein(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		last := row[0]
		row[0] = i + 1
		for j := range b {
			cost := last
			if a[i] != b[j] {
				cost = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
