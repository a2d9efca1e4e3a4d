package stdlib

import (
	"unicode"
	"unicode/utf8"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// caseFunctions write names in another convention.
var caseFunctions = []vrl.Function{
	caseFunction("camelcase", 0, title, true),
	caseFunction("pascalcase", 0, title, false),
	caseFunction("snakecase", '_', fullLower, false, opt("excluded_boundaries", vrl.Array)),
	caseFunction("kebabcase", '-', fullLower, false),
	caseFunction("screamingsnakecase", '_', Upper, false),
}

// boundaries is a set of places at which a name is split into words.
type boundaries uint16

const (
	atUnderscore boundaries = 1 << iota
	atHyphen
	atSpace
	lowerUpper
	upperLower
	acronym // before the last of several capitals that a small letter follows: HTTPServer
	lowerDigit
	upperDigit
	digitLower
	digitUpper

	inWords = lowerUpper | acronym | lowerDigit | upperDigit | digitLower | digitUpper
	atAny   = atUnderscore | atHyphen | atSpace | inWords
)

// boundaryNames are the words of excluded_boundaries.
var boundaryNames = map[string]boundaries{"underscore": atUnderscore, "hyphen": atHyphen, "space": atSpace,
	"lower_upper": lowerUpper, "upper_lower": upperLower,
	"acronym": acronym, "lower_digit": lowerDigit, "upper_digit": upperDigit, "digit_lower": digitLower,
	"digit_upper": digitUpper}

// originalCases are the words of original_case, with where names of that convention are split.
var originalCases = map[string]boundaries{"kebab-case": atHyphen, "camelCase": inWords, "PascalCase": inWords,
	"SCREAMING_SNAKE": atUnderscore, "snake_case": atUnderscore}

// caseFunction declares the function that joins the words of a name by a separator (0: none), each written by spell;
// the first one in small letters if firstLower is set.
func caseFunction(name string, separator byte, spell func(string) string, firstLower bool,
	more ...vrl.Param) vrl.Function {
	params := append([]vrl.Param{arg("value", vrl.String),
		optional(word("original_case", "", "kebab-case", "camelCase", "PascalCase", "SCREAMING_SNAKE",
			"snake_case"))}, more...)
	return vrl.Function{Name: name, Params: params, Returns: vrl.Of(vrl.String),
		Compile: func(c *vrl.Call) (vrl.Run, error) {
			at := atAny
			if original, ok := c.Const("original_case"); ok && !original.IsNull() {
				at = originalCases[original.Str()]
			}
			excluded := -1
			if len(params) > 2 {
				excluded = 2
			}
			return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
				at := at
				if excluded >= 0 && !args[excluded].IsNull() {
					without, fl := excludedBoundaries(f, args[excluded].Array())
					if fl != nil {
						return value.Null, fl
					}
					at &^= without
				}
				b := f.Arena.Begin()
				first := true
				for w := range words(validText(args[0].Str()), at) {
					if !first && separator != 0 {
						b = append(b, separator)
					}
					if first && firstLower {
						b = append(b, fullLower(w)...)
					} else {
						b = append(b, spell(w)...)
					}
					first = false
				}
				return f.Arena.End(b), nil
			}, nil
		}}
}

// excludedBoundaries reads the list of boundary names.
func excludedBoundaries(f *vrl.Frame, names *value.Array) (set boundaries, fl *vrl.Failure) {
	for i := range names.Len() {
		v := names.At(i)
		if v.Kind() != value.StringKind {
			_, fl = f.Fail("expected string, got %k", v)
			return 0, fl
		}
		b, ok := boundaryNames[v.Str()]
		if !ok {
			_, fl = f.Fail("unknown boundary: %s", v)
			return 0, fl
		}
		set |= b
	}
	return set, nil
}

// title writes a word with a capital first.
func title(w string) string {
	_, size := utf8.DecodeRuneInString(w)
	return Upper(w[:size]) + fullLower(w[size:])
}

// words returns the words of a name that is split at the given boundaries; empty ones are left out.
func words(s string, at boundaries) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		var last rune // before r
		for i, r := range s {
			cut, skip := i, 0
			switch {
			case r == '_' && at&atUnderscore != 0, r == '-' && at&atHyphen != 0, r == ' ' && at&atSpace != 0:
				skip = 1
			case i == start || at&between(last, r) == 0 && (at&acronym == 0 || !startsAcronymEnd(s[i:], last, r)):
				last = r
				continue
			}
			if cut > start && !yield(s[start:cut]) {
				return
			}
			start, last = cut+skip, r
		}
		if start < len(s) {
			yield(s[start:])
		}
	}
}

// between is the boundary between two characters, 0 for none.
func between(a, b rune) boundaries {
	switch {
	case unicode.IsLower(a) && unicode.IsUpper(b):
		return lowerUpper
	case unicode.IsUpper(a) && unicode.IsLower(b):
		return upperLower
	case unicode.IsLower(a) && isDigitRune(b):
		return lowerDigit
	case unicode.IsUpper(a) && isDigitRune(b):
		return upperDigit
	case isDigitRune(a) && unicode.IsLower(b):
		return digitLower
	case isDigitRune(a) && unicode.IsUpper(b):
		return digitUpper
	}
	return 0
}

func isDigitRune(r rune) bool { return r >= '0' && r <= '9' }

// startsAcronymEnd reports whether r, after a capital, is one itself and begins the next word: rest starts with r.
func startsAcronymEnd(rest string, last, r rune) bool {
	if !unicode.IsUpper(last) || !unicode.IsUpper(r) {
		return false
	}
	for i, next := range rest {
		if i > 0 {
			return unicode.IsLower(next)
		}
	}
	return false
}
