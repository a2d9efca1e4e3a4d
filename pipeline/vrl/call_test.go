package vrl_test

import (
	"slices"
	"strings"
	"testing"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// TestArgumentGivenTwice calls every function that has a parameter to spare with one of its arguments twice: that makes
// as many arguments as parameters while one is not given, and must not change what the call gives.
func TestArgumentGivenTwice(t *testing.T) {
	const event = `{"s":"a b","a":["x",1],"o":{"k":"v"}}`
	frame := vrl.NewFrame(new(value.Arena))
	called := 0
	for _, name := range stdlib.Library.Names() {
		fn := stdlib.Library.Function(name)
		if fn.Closure != nil || fn.Special() || strings.HasPrefix(name, "random_") ||
			strings.HasPrefix(name, "uuid_") || name == "log" {
			continue
		}
		calls := slices.DeleteFunc(callsOf(fn), func(args string) bool {
			n := strings.Count(args, ", ")
			return n == 0 || n >= len(fn.Params)
		})
		for _, args := range calls[:min(len(calls), 12)] {
			given := strings.Split(strings.TrimSuffix(args, ", "), ", ")
			twice := args + strings.Repeat(given[len(given)-1]+", ", len(fn.Params)-len(given))
			once, again := compileCall(name, args), compileCall(name, twice)
			if once == nil || again == nil {
				if once != again {
					t.Errorf("of %s(%s) and %s(%s) one compiles", name, args, name, twice)
				}
				continue
			}
			called++
			// The places of calls in texts of errors differ.
			want, _, _ := strings.Cut(shown(t, once, frame, event), " at (")
			got, _, _ := strings.Cut(shown(t, again, frame, event), " at (")
			if got != want {
				t.Errorf("%s(%s)\n got %s\nwant %s", name, twice, got, want)
			}
		}
	}
	if called < 100 {
		t.Errorf("%d calls were compared", called)
	}
}
