package vrl_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// longTexts are texts of about n bytes of which functions make much: one for each thing they count, split or nest.
func longTexts(n int) []string {
	texts := []string{}
	for _, unit := range []string{"x", "a b ", "k=v ", "a,", "<a/>", "%41", "%", "[", "A-", "1.2.3.4 ", "\xff", "é",
		"&a=b", "k:1\n", "- 1\n", `\"`, ". ", "=41", "/a", "\x1b[1m", "1s "} {
		texts = append(texts, strings.Repeat(unit, n/len(unit)))
	}
	many := func(unit string) string { return strings.TrimSuffix(strings.Repeat(unit+",", n/(len(unit)+1)), ",") }
	return append(texts, "["+many("1")+"]", "["+many("[]")+"]", "["+many("{}")+"]", "{ "+many(":a => 1")+" }",
		"<r>"+strings.Repeat("<a/>", n/4)+"</r>",
		"[["+many("1")+"]]", "cpu "+many("a=1i")+" 1", "CEF:0|a|b|c|d|e|f|1|"+strings.Repeat("k=v ", n/4),
		"http://h/?"+strings.Repeat("a&", n/2))
}

// candidates are the arguments that a parameter may have.
func candidates(p *vrl.Param) (list []string) {
	if len(p.Enum) > 0 {
		for _, e := range p.Enum {
			list = append(list, fmt.Sprintf("%q", e))
		}
		return list
	}
	for _, c := range []struct {
		kinds vrl.Kinds
		texts []string
	}{
		{vrl.String, []string{".s", `"x"`, `""`, "\"0123456789abcdef\""}},
		{vrl.Integer, []string{"1", "-1", "9223372036854775807"}}, {vrl.Float, []string{"1e300"}},
		{vrl.Boolean, []string{"true"}},
		{vrl.Regex, []string{`r'(?P<a>\w?)()()()'`, `r'\W'`}},
		{vrl.Array, []string{".a", `[r'\w']`, `["%{data:x:keyvalue}"]`}}, {vrl.Object, []string{".o"}},
		{vrl.Timestamp, []string{"t'2024-02-29T08:00:00Z'"}},
	} {
		if p.Kinds&c.kinds != 0 {
			list = append(list, c.texts...)
		}
	}
	return list
}

// callsOf are calls of a function with all choices of arguments for the parameters it must have, and with each of the
// others.
func callsOf(fn *vrl.Function) (calls []string) {
	calls = []string{""}
	with := func(before []string, p *vrl.Param) (all []string) {
		for _, b := range before {
			for _, c := range candidates(p) {
				all = append(all, b+p.Name+": "+c+", ")
			}
		}
		return all
	}
	var optional []*vrl.Param
	for i := range fn.Params {
		if p := &fn.Params[i]; p.Required() {
			calls = with(calls, p)
		} else {
			optional = append(optional, p)
		}
	}
	for _, p := range optional {
		calls = append(calls, with(calls[:min(len(calls), 8)], p)...)
	}
	return calls
}

// compileCall compiles a call, with the ! if need be; nil: it is none.
func compileCall(name, args string) *vrl.Program {
	const head = ".s = string!(.s)\n.a = array!(.a)\n.o = object!(.o)\n"
	for _, call := range []string{name + "(", name + "!("} {
		if p, err := vrl.Compile(head+call+strings.TrimSuffix(args, ", ")+")", stdlib.Library, vrl.Options{}); err ==
			nil {
			return p
		}
	}
	return nil
}

// TestNoFunctionOutgrowsTheArena calls every function with long texts and collections in every place. What it keeps is
// in the arena or counted there, and what it takes on the way is within a few times the bound of an event.
func TestNoFunctionOutgrowsTheArena(t *testing.T) {
	const length, slack, runs = 64 << 10, 8 << 20, 120
	arena := new(value.Arena)
	frame := vrl.NewFrame(arena)
	called := map[string]bool{}
	texts := longTexts(length)
	for _, name := range stdlib.Library.Names() {
		fn := stdlib.Library.Function(name)
		if fn.Closure != nil || fn.Special() || name == "log" { // log gives nothing
			continue
		}
		bad, run, calls := false, 0, callsOf(fn)
		every := len(calls)*len(texts)/runs + 1
		for _, args := range calls {
			p := compileCall(name, args)
			if p == nil {
				continue
			}
			called[name] = true
			used := texts
			if !strings.Contains(args, ".s") && !strings.Contains(args, ".a") && !strings.Contains(args, ".o") {
				used = texts[:1]
			}
			for _, s := range used {
				if run++; run%every != 0 {
					continue
				}
				arena.Reset()
				event := longEvent(arena, s)
				given := arena.Used()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				v, err := p.Run(frame, &event)
				runtime.ReadMemStats(&after)
				took, counted := int64(after.TotalAlloc-before.TotalAlloc), int64(arena.Used()-given)
				if took > 6*vrl.MaxRunBytes {
					t.Errorf("%s(%s) of %.20q takes %d MiB on the way, counted are %d (%v)", name, args, s, took>>20,
						counted>>20, err)
					bad = true
				}
				if took > 4*counted+slack {
					runtime.GC()
					runtime.ReadMemStats(&after)
					kept := int64(after.HeapAlloc)
					runtime.KeepAlive(v)
					runtime.KeepAlive(event)
					event = value.Null
					frame = vrl.NewFrame(arena)
					runtime.GC()
					runtime.ReadMemStats(&after)
					if kept -= int64(after.HeapAlloc); kept > 2*counted+slack {
						t.Errorf("%s(%s) of %.20q keeps %d MiB, counted are %d (%v)", name, args, s, kept>>20,
							counted>>20, err)
						bad = true
					}
				}
				if bad {
					break
				}
			}
			if bad {
				break
			}
		}
	}
	// of files and numbers
	others := []string{"log", "encode_proto", "parse_proto", "validate_json_schema", "random_float", "haversine"}
	for _, name := range stdlib.Library.Names() {
		if fn := stdlib.Library.Function(name); fn.Closure == nil && !fn.Special() && !called[name] &&
			!slices.Contains(others, name) {
			t.Errorf("%s was not called", name)
		}
	}
}

// longEvent is an event of a text, a list and an object of as many texts as long.
func longEvent(a *value.Arena, s string) value.Value {
	const members = 1 << 12
	list, o := a.Array(members), a.Object(members)
	for i := range members {
		at := i * len(s) / members
		list.Push(a, value.String(s[at:(i+1)*len(s)/members]))
		o.Append(a, fmt.Sprintf("k%06d", i), value.Int(int64(at)))
	}
	event := a.Object(3)
	event.Set(a, "s", value.String(s))
	event.Set(a, "a", list.Of())
	event.Set(a, "o", o.Of())
	return event.Of()
}
