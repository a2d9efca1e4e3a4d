package file

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"varve/server/rules/expand"
	"varve/sqlexec/parse"
	"varve/sqlexec/promql"
)

// nameLabel is the label that no rule may set: it is the metric.
const nameLabel = promql.NameLabel

// readRule reads a rule, which is the number-th of its group.
func (r *reader) readRule(n *yaml.Node, number int, labels map[string]string) Rule {
	rule := Rule{Line: n.Line, Language: PromQL}
	at := map[string]*yaml.Node{}
	r.rule = fmt.Sprintf("#%d", number)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 { // errors name the rule
		if key := n.Content[i].Value; (key == "alert" || key == "record") && n.Content[i+1].Value != "" {
			r.rule = n.Content[i+1].Value
		}
	}
	field := func(name string, read func(*yaml.Node)) func(*yaml.Node) {
		return func(v *yaml.Node) {
			at[name] = v
			read(v)
		}
	}
	r.mapping(n, map[string]func(*yaml.Node){
		"record":          field("record", func(v *yaml.Node) { rule.Record = r.text(v) }),
		"alert":           field("alert", func(v *yaml.Node) { rule.Alert = r.text(v) }),
		"expr":            field("expr", func(v *yaml.Node) { rule.Expr = r.text(v) }),
		"language":        field("language", func(v *yaml.Node) { rule.Language = Language(r.text(v)) }),
		"for":             field("for", func(v *yaml.Node) { rule.For = r.duration(v) }),
		"keep_firing_for": field("keep_firing_for", func(v *yaml.Node) { rule.KeepFiringFor = r.duration(v) }),
		"labels":          field("labels", func(v *yaml.Node) { rule.Labels = r.texts(v, r.label) }),
		"annotations":     field("annotations", func(v *yaml.Node) { rule.Annotations = r.texts(v, r.annotation) }),
	})
	r.check(n, &rule, at)
	if len(labels) > 0 {
		own := rule.Labels
		rule.Labels = maps.Clone(labels)
		maps.Copy(rule.Labels, own)
	}
	return rule
}

// check holds a rule against what one must be; at are the nodes of the fields that are there.
func (r *reader) check(n *yaml.Node, rule *Rule, at map[string]*yaml.Node) {
	place := func(field string) *yaml.Node {
		if v := at[field]; v != nil {
			return v
		}
		return n
	}
	switch {
	case rule.Record != "" && rule.Alert != "":
		r.fail(n, "only one of record and alert must be set")
	case rule.Record == "" && rule.Alert == "":
		r.fail(n, "one of record or alert must be set")
	case rule.Record != "":
		for _, f := range [...]struct {
			name string
			set  bool
		}{{"for", rule.For > 0}, {"keep_firing_for", rule.KeepFiringFor > 0},
			{"annotations", len(rule.Annotations) > 0}} {
			if f.set {
				r.fail(at[f.name], "invalid field %q in a recording rule", f.name)
			}
		}
		if !utf8.ValidString(rule.Record) || rule.Record == "" {
			r.fail(place("record"), "invalid recording rule name: %q", rule.Record)
		}
	}
	if rule.Alert != "" {
		r.templates(at["labels"], rule.Labels)
		r.templates(at["annotations"], rule.Annotations)
	}
	switch {
	case rule.Expr == "":
		r.fail(place("expr"), "field 'expr' must be set in a rule")
	case rule.Language == PromQL:
		if _, err := promql.Parse(rule.Expr); err != nil {
			r.fail(place("expr"), "could not parse the expression: %s", err)
		}
	case rule.Language == SQL:
		if _, err := CheckStatement(rule.Expr); err != nil {
			r.fail(place("expr"), "could not parse the statement: %s", err)
		}
	default:
		r.fail(place("language"), "unknown language %q, expected promql or sql", rule.Language)
		rule.Language = PromQL
	}
}

// templates checks the templates of labels or annotations.
func (r *reader) templates(n *yaml.Node, texts map[string]string) {
	for name, text := range texts {
		if err := expand.Check(text); err != nil {
			at := n
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == name {
					at = n.Content[i+1]
				}
			}
			r.fail(at, "the template of %q: %s", name, err)
		}
	}
}

// label checks the name and the value of a label.
func (r *reader) label(name, value *yaml.Node) {
	switch {
	case name.Value == nameLabel || !validName(name.Value):
		r.fail(name, "invalid label name: %q", name.Value)
	case !utf8.ValidString(value.Value):
		r.fail(value, "invalid label value: %q", value.Value)
	}
}

// annotation checks the name of an annotation.
func (r *reader) annotation(name, _ *yaml.Node) {
	if !validName(name.Value) {
		r.fail(name, "invalid annotation name: %q", name.Value)
	}
}

// validName reports whether a text can name a label.
func validName(s string) bool { return s != "" && utf8.ValidString(s) }

// CheckStatement reads the statement of a rule, which is one query. Its range is one that stands for all.
func CheckStatement(text string) (parse.Statement, error) {
	list, err := parse.Parse(Bind(text, 0, 60_000))
	if err != nil {
		return nil, err
	}
	return Only(list)
}

// Only is the one query that a rule has.
func Only(list []parse.Statement) (parse.Statement, error) {
	if len(list) != 1 {
		return nil, fmt.Errorf("a rule has one statement, here are %d", len(list))
	}
	if _, ok := list[0].(*parse.SelectStmt); !ok {
		return nil, fmt.Errorf("the statement of a rule is a query, such as SELECT")
	}
	return list[0], nil
}

// Twice lists the rules of a file that stand there more than once: equal names and labels.
func Twice(f *File) (list []string) {
	seen := map[string]bool{}
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			name := r.Name()
			for _, label := range slices.Sorted(maps.Keys(r.Labels)) {
				name += fmt.Sprintf(", %s=%q", label, r.Labels[label])
			}
			if said, known := seen[name]; known && !said {
				list = append(list, fmt.Sprintf("line %d: %s", r.Line, name))
				seen[name] = true
			} else if !known {
				seen[name] = false
			}
		}
	}
	return list
}
