package servertest

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Match compares a value of a JSON answer with a pattern of the case files; empty means that they match, else it says
// where they differ.
func Match(at string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		for name, argument := range w {
			if m, ok := matchers[name]; ok {
				return m(at, argument, got)
			}
		}
		return matchObject(at, w, got)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: got %v, want %v", at, got, want)
		}
		for i := range w {
			if d := Match(fmt.Sprintf("%s/%d", at, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s: got %v, want %v", at, got, want)
	}
	return ""
}

func matchObject(at string, want map[string]any, got any) string {
	g, ok := got.(map[string]any)
	if !ok {
		return fmt.Sprintf("%s: got %v, want an object", at, got)
	}
	isOpen := want["$open"] == true
	for k, v := range want {
		if k == "$open" {
			continue
		}
		member, ok := g[k]
		if !ok {
			return fmt.Sprintf("%s: no member %q in %v", at, k, got)
		}
		if d := Match(at+"/"+k, v, member); d != "" {
			return d
		}
	}
	if !isOpen {
		for k := range g {
			if _, ok := want[k]; !ok {
				return fmt.Sprintf("%s: member %q is not expected in %v", at, k, got)
			}
		}
	}
	return ""
}

var matchers map[string]func(at string, argument, got any) string

func init() {
	matchers = map[string]func(at string, argument, got any) string{
		"$any": matchAny,
		"$re": func(at string, a, g any) string {
			return check(regexp.MustCompile("(?s)"+a.(string)).MatchString(text(g)), at, "match", a, g)
		},
		"$contains":  func(at string, a, g any) string { return MatchContains(at, a, g) },
		"$lacks":     MatchLacks,
		"$one_of":    matchOneOf,
		"$all":       matchAll,
		"$unordered": func(at string, a, g any) string { return MatchSet(at, a, g, true) },
		"$superset":  func(at string, a, g any) string { return MatchSet(at, a, g, false) },
		"$len":       matchLen,
		"$approx": func(at string, a, g any) string {
			n, ok := g.(float64)
			return check(ok && math.Abs(n-a.(float64)) <= 1e-9*math.Abs(a.(float64)), at, "be about", a, g)
		},
	}
}

func check(ok bool, at, verb string, want, got any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf("%s: got %v, which should %s %v", at, got, verb, want)
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func matchAny(at string, kind, got any) string {
	var ok bool
	switch v := got.(type) {
	case nil:
		ok = kind == "null"
	case bool:
		ok = kind == "bool"
	case string:
		ok = kind == "string"
	case float64:
		ok = kind == "number" || (kind == "int" || kind == "timestamp") && v == math.Trunc(v)
	case map[string]any:
		ok = kind == "object"
	case []any:
		ok = kind == "array"
	}
	return check(ok || kind == "any", at, "be any", kind, got)
}

func each(argument any) []any {
	if list, ok := argument.([]any); ok {
		return list
	}
	return []any{argument}
}

// MatchContains compares as the pattern $contains: a list has an element that matches, or a text has all parts.
func MatchContains(at string, argument, got any) string {
	if list, ok := got.([]any); ok {
		return check(slices.ContainsFunc(list, func(v any) bool { return Match(at, argument, v) == "" }), at, "contain",
			argument, got)
	}
	for _, part := range each(argument) {
		if !strings.Contains(text(got), part.(string)) {
			return check(false, at, "contain", part, got)
		}
	}
	return ""
}

// MatchLacks compares as the pattern $lacks: a text has none of the parts.
func MatchLacks(at string, argument, got any) string {
	for _, part := range each(argument) {
		if strings.Contains(text(got), part.(string)) {
			return check(false, at, "lack", part, got)
		}
	}
	return ""
}

func matchOneOf(at string, argument, got any) string {
	for _, p := range argument.([]any) {
		if Match(at, p, got) == "" {
			return ""
		}
	}
	return check(false, at, "be one of", argument, got)
}

func matchAll(at string, argument, got any) string {
	for _, p := range argument.([]any) {
		if d := Match(at, p, got); d != "" {
			return d
		}
	}
	return ""
}

// MatchSet compares a list with patterns in any order; whole: it has no other elements.
func MatchSet(at string, argument, got any, whole bool) string {
	g, ok := got.([]any)
	if !ok {
		return check(false, at, "be a list like", argument, got)
	}
	rest := slices.Clone(g)
	for _, p := range argument.([]any) {
		i := slices.IndexFunc(rest, func(v any) bool { return Match(at, p, v) == "" })
		if i < 0 {
			return check(false, at, "hold", p, got)
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return check(!whole || len(rest) == 0, at, "hold only", argument, got)
}

func matchLen(at string, argument, got any) string {
	n := -1
	switch v := got.(type) {
	case string:
		n = len([]rune(v))
	case []any:
		n = len(v)
	case map[string]any:
		n = len(v)
	}
	return check(float64(n) == argument, at, "have the length", argument, got)
}
