// Package file reads files of rules in the form that Prometheus reads, checked as strictly, with SQL beside PromQL.
//
//	file.go     the parts of a file, and the list of its errors
//	read.go     a text of YAML into these parts
//	check.go    what a rule must be
//	statement.go  the range of a statement of SQL
//	load.go     the files that patterns name
package file

import (
	"fmt"
	"strings"
	"time"
)

// Bounds of what is read.
const (
	MaxBytes    = 4 << 20 // of a file
	MaxFiles    = 10_000
	maxGroups   = 10_000 // of a file
	maxRules    = 20_000 // of a file
	maxLabels   = 128    // of a rule or a group, and annotations
	maxText     = 64 << 10
	maxErrors   = 100  // of a file
	maxMerges   = 1000 // mappings that << merges, of a file
	maxInterval = 366 * 24 * time.Hour
)

// Language is the language of an expression.
type Language string

// The languages.
const (
	PromQL Language = "promql"
	SQL    Language = "sql"
)

// File is a file of rules, or a document of the same form.
type File struct {
	Name   string
	Groups []Group
}

// Group is rules that are evaluated together, in order.
type Group struct {
	Name        string
	Interval    time.Duration // 0: the usual one
	QueryOffset time.Duration // how far before its time a rule asks and writes
	Limit       int           // of the results of a rule; 0: none
	Labels      map[string]string
	Rules       []Rule
	Line        int
}

// Rule is a recording rule or an alerting rule: one of Record and Alert is set.
type Rule struct {
	Record, Alert      string
	Expr               string
	Language           Language
	For, KeepFiringFor time.Duration
	Labels             map[string]string // with those of the group
	Annotations        map[string]string
	Line               int
}

// Name is the metric of a recording rule, the alert of an alerting rule.
func (r *Rule) Name() string { return r.Record + r.Alert }

// Rules is the number of rules.
func (f *File) Rules() (n int) {
	for i := range f.Groups {
		n += len(f.Groups[i].Rules)
	}
	return n
}

// Error is what is wrong at one place of a file.
type Error struct {
	File        string
	Line        int    // from 1; 0: the whole file
	Group, Rule string // empty: it is in none
	Text        string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Group != "" {
		fmt.Fprintf(&b, "group %q, ", e.Group)
	}
	if e.Rule != "" {
		fmt.Fprintf(&b, "rule %q, ", e.Rule)
	}
	text := b.String()
	if rest, ok := strings.CutSuffix(text, ", "); ok {
		text = rest + ": "
	}
	return text + e.Text
}

// Errors are all that is wrong with a file, in the order of its lines.
type Errors []*Error

func (l Errors) Error() string {
	texts := make([]string, len(l))
	for i, e := range l {
		texts[i] = e.Error()
	}
	return strings.Join(texts, "\n")
}
