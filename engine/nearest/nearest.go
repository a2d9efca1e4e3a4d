// Package nearest finds the known name that is closest to a misspelt one.
package nearest

import (
	"context"
	"strings"
)

// longest is the length of the longest names that are compared; longer ones are far from everything.
const longest = 64

// Of is the one of some names that a mistyped name means most likely; empty when none is near.
func Of(name string, among []string) string {
	f := Finder{To: name}
	for _, s := range among {
		f.Look(s, s)
	}
	return f.Found
}

// Finder finds the name that is the fewest changes of a letter away from To: two at most, and at most every second
// letter.
type Finder struct {
	To    string
	Most  int    // takes names that are up to so many changes away instead, whatever their length; 0: no
	Far   bool   // accepts names at any distance, except absurdly long ones
	Found string // the label of the nearest; empty: none is near

	distance int
}

// Look compares one name; label is the result of Found if this name is the nearest. Of equally near names the first
// counts.
func (f *Finder) Look(name, label string) {
	d := distance(name, f.To)
	if near := d < 3 && 2*d <= len(f.To) || d <= f.Most ||
		f.Far && d < longest; near && (f.Found == "" || d < f.distance) {
		f.Found, f.distance = label, d
	}
}

// Hint is the sentence for the end of an error; empty when nothing is near.
func Hint(name string, among []string) string {
	f := Finder{To: name}
	for _, s := range among {
		f.Look(s, s)
	}
	return f.Hint()
}

// Hint is the sentence for the end of an error; empty when nothing is near.
func (f *Finder) Hint() string {
	if f.Found == "" {
		return ""
	}
	return " Did you mean '" + f.Found + "'?"
}

// hideKey is the context key of Hide.
type hideKey struct{}

// Hide returns a context for work on behalf of a user who must not learn names of stored things, not even from hints.
func Hide(ctx context.Context) context.Context { return context.WithValue(ctx, hideKey{}, true) }

// Hidden reports whether names must not be told.
func Hidden(ctx context.Context) bool { return ctx.Value(hideKey{}) != nil }

// distance is the edit distance of two names, case aside; neighbours that were exchanged count as one change.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > longest || len(b) > longest {
		return longest
	}
	var before, last, row [longest + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		before, last = last, row
		row[0] = i + 1
		for j := range len(b) {
			d := last[j]
			if a[i] != b[j] {
				d = 1 + min(d, last[j+1], row[j])
				if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
					d = min(d, 1+before[j-1])
				}
			}
			row[j+1] = d
		}
	}
	return row[len(b)]
}
