package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// node is a function in the tree of call stacks.
type node struct {
	name     string
	value    int64 // of the function and all it called
	children map[string]*node
}

func (n *node) child(name string) *node {
	c := n.children[name]
	if c == nil {
		c = &node{name: name}
		if n.children == nil {
			n.children = map[string]*node{}
		}
		n.children[name] = c
	}
	return c
}

// sorted are the children, largest first.
func (n *node) sorted() []*node {
	all := make([]*node, 0, len(n.children))
	for _, c := range n.children {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.value, a.value), strings.Compare(a.name, b.name))
	})
	return all
}

// depth is the length of the longest stack below n.
func (n *node) depth() int {
	deepest := 0
	for _, c := range n.children {
		deepest = max(deepest, c.depth())
	}
	return deepest + 1
}

// line is the share of one function.
type line struct {
	name      string
	flat, cum int64
}

// stacks is a profile as a tree and by function. Values are in unit.
type stacks struct {
	root  *node
	unit  string
	lines []line
}

// collect adds up a profile's samples by the value called sample, or the last one there is.
func collect(p *profile.Profile, sample string) *stacks {
	index := len(p.SampleType) - 1
	for i, t := range p.SampleType {
		if t.Type == sample {
			index = i
		}
	}
	s := &stacks{root: &node{name: "all"}}
	if index < 0 {
		return s
	}
	s.unit = p.SampleType[index].Unit
	byName := map[string]*line{}
	for _, sample := range p.Sample {
		if v := sample.Value[index]; v > 0 {
			s.add(frames(sample), v, byName)
		}
	}
	for _, l := range byName {
		s.lines = append(s.lines, *l)
	}
	slices.SortFunc(s.lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.flat, a.flat), cmp.Compare(b.cum, a.cum), strings.Compare(a.name, b.name))
	})
	return s
}

// add counts one stack, outermost function first.
func (s *stacks) add(frames []string, v int64, byName map[string]*line) {
	n := s.root
	n.value += v
	seen := map[string]bool{}
	for i, name := range frames {
		n = n.child(name)
		n.value += v
		l := byName[name]
		if l == nil {
			l = &line{name: name}
			byName[name] = l
		}
		if !seen[name] { // recursion counts once
			seen[name] = true
			l.cum += v
		}
		if i == len(frames)-1 {
			l.flat += v
		}
	}
}

// frames are the functions of a sample, outermost first, inlined calls included.
func frames(s *profile.Sample) []string {
	var names []string
	for i := len(s.Location) - 1; i >= 0; i-- {
		loc := s.Location[i]
		for j := len(loc.Line) - 1; j >= 0; j-- {
			if f := loc.Line[j].Function; f != nil {
				names = append(names, f.Name)
			}
		}
		if len(loc.Line) == 0 {
			names = append(names, fmt.Sprintf("0x%x", loc.Address))
		}
	}
	return names
}

// show is a value with its unit.
func (s *stacks) show(v int64) string {
	switch s.unit {
	case "nanoseconds":
		return fmt.Sprintf("%.2fs", float64(v)/1e9)
	case "bytes":
		return fmt.Sprintf("%.2fMiB", float64(v)/(1<<20))
	}
	return fmt.Sprintf("%d", v)
}

// maxLines bounds the table of functions.
const maxLines = 200

// table lists the functions by what they used themselves.
func (s *stacks) table() []byte {
	var b strings.Builder
	total := max(s.root.value, 1)
	fmt.Fprintf(&b, "total %s\n%12s %7s %12s %7s  function\n", s.show(s.root.value), "flat", "flat%", "cum", "cum%")
	for i, l := range s.lines {
		if i == maxLines {
			fmt.Fprintf(&b, "... %d more functions\n", len(s.lines)-maxLines)
			break
		}
		fmt.Fprintf(&b, "%12s %6.2f%% %12s %6.2f%%  %s\n", s.show(l.flat), 100*float64(l.flat)/float64(total),
			s.show(l.cum), 100*float64(l.cum)/float64(total), l.name)
	}
	return []byte(b.String())
}
