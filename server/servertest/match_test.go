package servertest

import (
	"testing"
)

func TestMatch(t *testing.T) {
	object := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	for _, c := range []struct {
		want, got any
		ok        bool
	}{
		{1.0, 1.0, true}, {1.0, "1", false}, {nil, nil, true}, {true, 1.0, false},
		{object("a", 1.0), object("a", 1.0), true}, {object("a", 1.0), object("a", 1.0, "b", 2.0), false},
		{object("a", 1.0, "$open", true), object("a", 1.0, "b", 2.0), true},
		{object("$any", "int"), 1.5, false}, {object("$any", "number"), 1.5, true},
		{object("$any", "string"), nil, false},
		{object("$contains", "b"), "abc", true}, {object("$contains", []any{"a", "x"}), "abc", false},
		{object("$unordered", []any{1.0, 2.0}), []any{2.0, 1.0}, true},
		{object("$unordered", []any{1.0}), []any{2.0, 1.0}, false},
		{object("$superset", []any{1.0}), []any{2.0, 1.0}, true}, {object("$len", 2.0), []any{1.0, 1.0}, true},
		{object("$one_of", []any{1.0, 2.0}), 2.0, true}, {object("$re", "^a.c$"), "a\nc", true},
	} {
		if d := Match("", c.want, c.got); (d == "") != c.ok {
			t.Errorf("match(%v, %v) = %q, want ok %v", c.want, c.got, d, c.ok)
		}
	}
}
