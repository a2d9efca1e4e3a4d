package entries

import (
	"slices"
	"strings"
)

// roles are the roles of fields by their names. Looking up a field takes the same time however many fields a request
// names.
type roles struct {
	known map[string]role
	stars []string // beginnings of names that are left out, sorted; none of them begins another
}

// role is what the parameters say of a field. message and time are its ranks among the fields that may hold these, from
// 1; 0: the field is none of them.
type role struct {
	ignored, extra bool
	message, time  int
}

func newRoles(f *Fields) *roles {
	r := &roles{known: map[string]role{}}
	say := func(name string, set func(of *role)) {
		of := r.known[name]
		set(&of)
		r.known[name] = of
	}
	for i, name := range slices.Backward(f.message) { // if a name comes twice, the first rank counts
		say(name, func(of *role) { of.message = i + 1 })
	}
	for i, name := range slices.Backward(f.time) {
		say(name, func(of *role) { of.time = i + 1 })
	}
	for _, m := range f.extra {
		say(m.name, func(of *role) { of.extra = true })
	}
	var stars []string
	for _, name := range f.ignored {
		say(name, func(of *role) { of.ignored = true })
		if begin, star := strings.CutSuffix(name, "*"); star {
			stars = append(stars, begin)
		}
	}
	slices.Sort(stars)
	for _, begin := range stars {
		if n := len(r.stars); n == 0 || !strings.HasPrefix(begin, r.stars[n-1]) {
			r.stars = append(r.stars, begin)
		}
	}
	return r
}

// of is the role of the field with a name.
func (r *roles) of(name []byte) role {
	of := r.known[string(name)]
	if of.ignored || len(r.stars) == 0 {
		return of
	}
	at, same := slices.BinarySearchFunc(r.stars, name,
		func(begin string, name []byte) int { return strings.Compare(begin, string(name)) })
	of.ignored = same || at > 0 && strings.HasPrefix(string(name), r.stars[at-1])
	return of
}
