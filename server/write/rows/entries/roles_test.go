package entries

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestRoles holds what parameters say of a field against looking at each name that they have.
func TestRoles(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 3))
	name := func() string {
		text := strings.Repeat("ab."[r.IntN(3):][:1], r.IntN(3)) + strings.Repeat("ba"[r.IntN(2):][:1], r.IntN(3))
		return text + fmt.Sprint(r.IntN(3))[:r.IntN(2)]
	}
	for range 2000 {
		f := &Fields{}
		for range r.IntN(6) {
			f.ignored = append(f.ignored, name()+"*"[:r.IntN(2)])
			f.message, f.time = append(f.message, name()), append(f.time, name())
			f.extra = append(f.extra, member{name(), "x"})
		}
		all := newRoles(f)
		for range 20 {
			path := name()
			want := role{message: slices.Index(f.message, path) + 1, time: slices.Index(f.time, path) + 1}
			want.extra = slices.ContainsFunc(f.extra, func(m member) bool { return m.name == path })
			want.ignored = slices.ContainsFunc(f.ignored, func(name string) bool {
				begin, star := strings.CutSuffix(name, "*")
				return name == path || star && strings.HasPrefix(path, begin)
			})
			if got := all.of([]byte(path)); got != want {
				t.Fatalf("%q of %q %q %q %q: %+v, want %+v", path, f.ignored, f.message, f.time, f.extra, got, want)
			}
		}
	}
}
