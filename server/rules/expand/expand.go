// Package expand fills in the templates of labels, annotations and notifications: Go's templates with the functions
// that rules of Prometheus use. An expansion is bounded in time, steps and bytes.
//
//	expand.go     templates
//	functions.go  their functions
//	numbers.go    numbers, durations and times for people
package expand

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
)

// Bounds of an expansion.
const (
	maxOutput = 64 << 10 // bytes
	maxSteps  = 10_000   // rounds of loops and calls of templates
	maxQuery  = 1_000    // results of a query
)

// Sample is one result of a query, as templates see it.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Query evaluates an expression of PromQL at the time of an expansion.
type Query func(ctx context.Context, expr string) ([]*Sample, error)

// Data is what a template is expanded with.
type Data struct {
	Labels, ExternalLabels map[string]string
	ExternalURL            string
	Value                  float64
}

// Template is a text that was read. Safe for concurrent use.
type Template struct {
	text string
	tree *template.Template // nil: the text has nothing to fill in
}

// variables are those that texts of rules use.
const variables = `{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}` +
	`{{$value := .Value}}`

// New reads a text.
func New(text string) (*Template, error) {
	if !strings.Contains(text, "{{") {
		return &Template{text: text}, nil
	}
	t, err := read(variables + text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "template: "))
	}
	return &Template{text, t}, nil
}

// NewDocument reads the text of a template whose data is of the caller's own kind.
func NewDocument(text string) (*Template, error) {
	t, err := read(text)
	if err != nil {
		return nil, err
	}
	return &Template{text, t}, nil
}

// read reads a text with the functions, and counts the steps of its loops and of its calls.
func read(text string) (*template.Template, error) {
	t, err := template.New("text").Option("missingkey=zero").Funcs(functions(&run{})).Parse(text)
	if err != nil {
		return nil, err
	}
	for _, one := range t.Templates() {
		if one.Tree != nil && one.Root != nil {
			if err := layouts(one.Root); err != nil {
				return nil, err
			}
			count(one.Tree, one.Root)
			tick(one.Tree, one.Root)
		}
	}
	return t, nil
}

// count adds a step to the body of each loop below a list.
func count(t *parse.Tree, list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.RangeNode:
			count(t, n.List)
			count(t, n.ElseList)
			tick(t, n.List)
		case *parse.IfNode:
			count(t, n.List)
			count(t, n.ElseList)
		case *parse.WithNode:
			count(t, n.List)
			count(t, n.ElseList)
		}
	}
}

// layouts refuses methods of times whose layout is not written in the template: layouts that are made of what they made
// grow without end.
func layouts(n parse.Node) (err error) {
	visit := func(list ...parse.Node) {
		for _, one := range list {
			if err == nil {
				err = layouts(one)
			}
		}
	}
	branch := func(b *parse.BranchNode) {
		visit(b.Pipe, b.List)
		if b.ElseList != nil {
			visit(b.ElseList)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		visit(n.Nodes...)
	case *parse.ActionNode:
		visit(n.Pipe)
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			visit(n.Pipe)
		}
	case *parse.PipeNode:
		for i, c := range n.Cmds {
			err = cmp.Or(err, layout(c, i > 0))
			visit(c.Args...)
		}
	case *parse.ChainNode:
		visit(n.Node)
	}
	return err
}

// layout refuses a command that formats a time by a layout that is not written in it; piped: it is given a value.
func layout(c *parse.CommandNode, piped bool) error {
	var path []string
	switch n := c.Args[0].(type) {
	case *parse.FieldNode:
		path = n.Ident
	case *parse.VariableNode:
		path = n.Ident
	case *parse.ChainNode:
		path = n.Field
	}
	if len(path) == 0 || len(c.Args) == 1 && !piped {
		return nil
	}
	switch name := path[len(path)-1]; {
	case strings.HasPrefix(name, "Append"):
		return fmt.Errorf("there is no %s", name)
	case name == "Format" && (piped || c.Args[1].Type() != parse.NodeString):
		return errors.New("the layout of Format is a text in quotes")
	}
	return nil
}

// step is the name of the function that counts.
const step = "__step"

// tick puts a call of step at the head of a list.
func tick(t *parse.Tree, list *parse.ListNode) {
	at := list.Position()
	call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at,
		Args: []parse.Node{parse.NewIdentifier(step).SetPos(at).SetTree(t)}}
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: at, Cmds: []*parse.CommandNode{call}}
	list.Nodes = append([]parse.Node{&parse.ActionNode{NodeType: parse.NodeAction, Pos: at, Pipe: pipe}}, list.Nodes...)
}

// run is one expansion.
type run struct {
	ctx   context.Context
	query Query
	at    time.Time
	url   string
	steps int
}

// step counts a step; the error ends the expansion.
func (r *run) step() (string, error) {
	if r.steps++; r.steps > maxSteps {
		return "", fmt.Errorf("the template takes more than %d steps", maxSteps)
	}
	return "", r.ctx.Err()
}

// Fixed is the text if there is nothing to fill in.
func (t *Template) Fixed() (text string, ok bool) { return t.text, t.tree == nil }

// Expand fills a text in. query answers the function query; nil: there is none.
func (t *Template) Expand(ctx context.Context, data *Data, at time.Time, query Query) (string, error) {
	if t.tree == nil {
		return t.text, nil
	}
	return t.execute(&run{ctx: ctx, query: query, at: at, url: data.ExternalURL}, data)
}

// Fill fills in the text of a document.
func (t *Template) Fill(ctx context.Context, data any, at time.Time) (string, error) {
	return t.execute(&run{ctx: ctx, at: at}, data)
}

func (t *Template) execute(r *run, data any) (out string, err error) {
	own, err := t.tree.Clone()
	if err != nil {
		return "", err
	}
	var b bounded
	defer func() { // functions of a template may be called with what they cannot take
		if p := recover(); p != nil {
			out, err = "", fmt.Errorf("panic in a template: %v", p)
		}
	}()
	if err := own.Funcs(functions(r)).Execute(&b, data); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "template: "))
	}
	return b.String(), nil
}

// bounded is the text that an expansion makes.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		return 0, fmt.Errorf("the text has more than %d bytes", maxOutput)
	}
	return b.Builder.Write(p)
}

// Check returns what is wrong with a text of a rule. What the functions make of labels shows when it is filled in.
func Check(text string) error {
	_, err := New(text)
	return err
}
