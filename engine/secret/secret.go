// Package secret masks passwords in the text of statements, so that logs, lists and errors do not show them.
package secret

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// hidden replaces a password.
const hidden = "***"

// shortest is the length from which on a password is searched for anywhere in other texts. Shorter passwords occur in
// ordinary words and are searched for only between quotes.
const shortest = 4

// The patterns of secrets. statement finds the texts in single quotes. Its first group is a text behind a name that
// says that a secret follows; the second is any other text, found as a whole so that no name begins within it. The
// closing quote may be missing. within finds secrets inside such other texts, which may be JSON or a URL, and outside
// of single quotes.
var (
	statement = sync.OnceValue(func() *regexp.Regexp {
		const between = `\s*(?:(?:with\s+\w+\s+)?(?:=>?|<>|!=|:|\bby\b|\bto\b|\bas\b|\bwith\b)\s*)?(?:\(\s*)?`
		return regexp.MustCompile(`(?i)(?:` + name + `|'` + name + `'|"` + name + `"|` + "`" + name + "`" + `)` +
			between + `('(?:[^']|'')*(?:'|$))|('(?:[^']|'')*(?:'|$))`)
	})
	within = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)` + name +
			`["']?\s*(?:=>?|:)\s*("(?:[^"]|"")*(?:"|$))|://([^/\s'"@]*:[^/\s'"]*)@`)
	})
)

// name is one that says that a secret follows.
const name = `\w*(?:password|passwd|\bpwd|secret|api_?key|access_?key|token|credentials?|account_?key|identified)\w*`

// find calls visit with the bytes [from, to) of each password of a text, in order.
func find(text string, visit func(from, to int)) {
	done := 0
	for _, at := range statement().FindAllStringSubmatchIndex(text, -1) {
		inside(text, done, at[0], visit)
		if at[2] >= 0 {
			unquoted(text, at[2], at[3], visit)
		} else {
			inside(text, at[4], at[5], visit)
		}
		done = at[1]
	}
	inside(text, done, len(text), visit)
}

// inside finds the passwords between from and to.
func inside(text string, from, to int, visit func(from, to int)) {
	for _, at := range within().FindAllStringSubmatchIndex(text[from:to], -1) {
		if at[2] >= 0 {
			unquoted(text, from+at[2], from+at[3], visit)
		} else {
			visit(from+at[4], from+at[5])
		}
	}
}

// unquoted visits the text between quotes; the second quote may be missing.
func unquoted(text string, from, to int, visit func(from, to int)) {
	if from++; to > from && text[to-1] == text[from-1] {
		to--
	}
	visit(from, to)
}

// Hide is a text with *** in the place of each password.
func Hide(text string) string {
	var b strings.Builder
	done := 0
	find(text, func(from, to int) {
		b.WriteString(text[done:from])
		b.WriteString(hidden)
		done = to
	})
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// HideFrom is a message about a statement with *** in the place of each password of the statement.
func HideFrom(message, statement string) string {
	var all []string
	find(statement, func(from, to int) {
		each := []string{statement[from:to], strings.ReplaceAll(statement[from:to], "''", "'")}
		if name, password, ok := strings.Cut(each[0], ":"); ok && name != "" {
			each = append(each, password)
		}
		all = append(all, each...)
	})
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may be part of another
	for _, s := range all {
		if len(s) >= shortest {
			message = strings.ReplaceAll(message, s, hidden)
			continue
		}
		for _, quote := range []string{"'", `"`, "`"} {
			if s != "" {
				message = strings.ReplaceAll(message, quote+s+quote, quote+hidden+quote)
			}
		}
	}
	return message
}
