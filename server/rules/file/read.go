package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"varve/sqlexec/promql"
)

// reader reads one file and notes what is wrong.
type reader struct {
	file        string
	group, rule string
	errs        Errors
	rules       int
	merges      int
}

// Parse reads a file. The error is of type Errors.
func Parse(name string, text []byte) (*File, error) {
	r := &reader{file: name}
	if len(text) > MaxBytes {
		r.fail(nil, "it has %d bytes, at most %d are read", len(text), MaxBytes)
		return nil, r.errs
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	if err := d.Decode(&root); errors.Is(err, io.EOF) {
		return &File{Name: name}, nil
	} else if err != nil {
		r.unread(err)
		return nil, r.errs
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		r.fail(&more, "a file has one document")
	}
	f := &File{Name: name}
	r.mapping(root.Content[0], map[string]func(*yaml.Node){"groups": func(n *yaml.Node) { f.Groups = r.groups(n) }})
	if len(r.errs) > 0 {
		slices.SortStableFunc(r.errs, func(a, b *Error) int { return a.Line - b.Line })
		return nil, r.errs
	}
	return f, nil
}

// unread notes the error of a text that is no YAML, whose line is in its message.
func (r *reader) unread(err error) {
	e := &Error{File: r.file, Text: strings.TrimPrefix(err.Error(), "yaml: ")}
	if rest, ok := strings.CutPrefix(e.Text, "line "); ok {
		if line, text, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(line); err == nil {
				e.Line, e.Text = n, text
			}
		}
	}
	r.errs = append(r.errs, e)
}

// fail notes an error at a node.
func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	if len(r.errs) >= maxErrors {
		return
	}
	e := &Error{File: r.file, Group: r.group, Rule: r.rule, Text: fmt.Sprintf(format, args...)}
	if n != nil {
		e.Line = n.Line
	}
	r.errs = append(r.errs, e)
}

// target is a node, or the one that it is an alias of.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// mapping reads the fields of a mapping, which are known ones.
func (r *reader) mapping(n *yaml.Node, fields map[string]func(*yaml.Node)) {
	r.pairs(n, map[string]bool{}, func(key, value *yaml.Node) {
		if read := fields[key.Value]; read != nil {
			read(value)
			return
		}
		r.fail(key, "unknown field %q", key.Value)
	})
}

// pairs visits the keys and values of a mapping; each key stands there once. Those that << merges into it come last, if
// it has not the same itself.
func (r *reader) pairs(n *yaml.Node, seen map[string]bool, visit func(key, value *yaml.Node)) {
	n = target(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, "expected keys with values")
		return
	}
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], target(n.Content[i+1])
		switch {
		case key.Kind != yaml.ScalarNode:
			r.fail(key, "a key is a text")
		case key.Tag == "!!merge":
			merges = append(merges, n.Content[i+1])
		case seen[key.Value]:
			r.fail(key, "%q stands there twice", key.Value)
		default:
			seen[key.Value] = true
			visit(key, value)
		}
	}
	for _, m := range merges {
		r.merge(m, seen, visit)
	}
}

// merge visits the keys and values of a mapping, or of the mappings of a list, that were not seen yet.
func (r *reader) merge(n *yaml.Node, seen map[string]bool, visit func(key, value *yaml.Node)) {
	if r.merges++; r.merges > maxMerges {
		if r.merges == maxMerges+1 {
			r.fail(n, "more than %d mappings are merged, or one with itself", maxMerges)
		}
		return
	}
	switch n = target(n); n.Kind {
	case yaml.SequenceNode:
		for _, one := range n.Content {
			if target(one).Kind != yaml.MappingNode {
				r.fail(one, "<< takes a mapping or a list of mappings")
				continue
			}
			r.merge(one, seen, visit)
		}
	case yaml.MappingNode:
		r.pairs(unseen(n, seen), seen, visit)
	default:
		r.fail(n, "<< takes a mapping or a list of mappings")
	}
}

// unseen is a mapping without the keys that were seen.
func unseen(n *yaml.Node, seen map[string]bool) *yaml.Node {
	rest := &yaml.Node{Kind: yaml.MappingNode, Line: n.Line}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || !seen[key.Value] {
			rest.Content = append(rest.Content, key, n.Content[i+1])
		}
	}
	return rest
}

// list visits the elements of a list.
func (r *reader) list(n *yaml.Node, visit func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "expected a list")
		return
	}
	for _, one := range n.Content {
		visit(target(one))
	}
}

// text reads a text.
func (r *reader) text(n *yaml.Node) string {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.fail(n, "expected a text")
	case len(n.Value) > maxText:
		r.fail(n, "a text has %d bytes, at most %d are read", len(n.Value), maxText)
	case n.Tag != "!!null":
		return n.Value
	}
	return ""
}

// duration reads a duration such as 1h30m.
func (r *reader) duration(n *yaml.Node) time.Duration {
	text := r.text(n)
	if text == "0" || n.Tag == "!!null" {
		return 0
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		r.fail(n, "%q is not a duration: a unit is missing, as in 5m", text)
		return 0
	}
	d, ok := promql.ParseDuration(text)
	if !ok || d < 0 || d > maxInterval {
		r.fail(n, "%q is not a duration such as 30s, 5m or 1h30m", text)
		return 0
	}
	return d
}

// texts reads a mapping of names to texts.
func (r *reader) texts(n *yaml.Node, check func(name, value *yaml.Node)) map[string]string {
	all := map[string]string{}
	r.pairs(n, map[string]bool{}, func(key, value *yaml.Node) {
		if len(all) >= maxLabels {
			r.fail(key, "there are more than %d", maxLabels)
			return
		}
		all[key.Value] = r.text(value)
		check(key, value)
	})
	if len(all) == 0 {
		return nil
	}
	return all
}

// groups reads the groups of a file.
func (r *reader) groups(n *yaml.Node) (all []Group) {
	seen := map[string]bool{}
	r.list(n, func(one *yaml.Node) {
		if len(all) >= maxGroups {
			r.fail(one, "there are more than %d groups", maxGroups)
			return
		}
		r.group, r.rule = "", ""
		g := r.readGroup(one)
		switch r.group, r.rule = "", ""; {
		case g.Name == "":
			r.fail(one, "a group has no name")
		case seen[g.Name]:
			r.fail(one, "the group name %q is there twice in the file", g.Name)
		}
		seen[g.Name] = true
		all = append(all, g)
	})
	return all
}

// readGroup reads a group. Its labels are given to the rules.
func (r *reader) readGroup(n *yaml.Node) Group {
	g := Group{Line: n.Line}
	var rules *yaml.Node
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 { // errors name the group
		if n.Content[i].Value == "name" {
			r.group = n.Content[i+1].Value
		}
	}
	r.mapping(n, map[string]func(*yaml.Node){
		"name":         func(v *yaml.Node) { g.Name = r.text(v) },
		"interval":     func(v *yaml.Node) { g.Interval = r.duration(v) },
		"query_offset": func(v *yaml.Node) { g.QueryOffset = r.duration(v) },
		"limit":        func(v *yaml.Node) { g.Limit = r.count(v) },
		"labels":       func(v *yaml.Node) { g.Labels = r.texts(v, r.label) },
		"rules":        func(v *yaml.Node) { rules = v },
	})
	if g.Interval > 0 && g.Interval < time.Millisecond {
		r.fail(n, "the interval is below a millisecond")
	}
	if rules != nil {
		r.list(rules, func(one *yaml.Node) {
			if r.rules++; r.rules > maxRules {
				r.fail(one, "there are more than %d rules", maxRules)
				return
			}
			g.Rules = append(g.Rules, r.readRule(one, len(g.Rules)+1, g.Labels))
		})
	}
	return g
}

// count reads a number from 0 on.
func (r *reader) count(n *yaml.Node) int {
	text := r.text(n)
	x, err := strconv.Atoi(text)
	if text != "" && (err != nil || x < 0) {
		r.fail(n, "%q is not a whole number from 0 on", text)
		return 0
	}
	return x
}
