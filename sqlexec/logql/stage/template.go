package stage

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"text/template"
	"text/template/parse"
	"time"

	"varve/engine/automaton"
	"varve/sqlexec/logql/syntax"
)

// parsedTemplate is a template of package text/template and what it reads.
type parsedTemplate struct {
	tmpl   *template.Template
	simple []templatePart // the whole template, if it is texts, labels and the line alone; else nil
	fields []string       // labels that it names
	all    bool           // it may read any label
	line   bool           // it reads the line
	guards map[*parse.RangeNode]bool
	stack  []string // templates that are walked over
	nodes  int      // that were walked over
	calls  int
}

// maxCalls bounds the calls of templates by others.
const maxCalls = 256

// templatePart is a piece of a simple template.
type templatePart struct {
	text  string
	field string // of a label
	line  bool   // the line
	label int32  // number of field
}

// Names of templates, which errors show.
const (
	lineTemplate  = "line"
	labelTemplate = "label"
)

// parseTemplate reads a template and holds that its calls of others end.
func parseTemplate(name, text string) (*parsedTemplate, error) {
	t := &parsedTemplate{}
	var err error
	t.tmpl, err = template.New(name).Option("missingkey=zero").Funcs((&templateState{}).functions()).Parse(text)
	if err != nil {
		return nil, err
	}
	if t.tmpl.Tree == nil || t.tmpl.Root == nil {
		t.simple = []templatePart{{}}
		return t, nil
	}
	t.stack = []string{t.tmpl.Name()}
	if err := t.walk(t.tmpl.Root, true); err != nil {
		return nil, err
	}
	t.simplify()
	return t, nil
}

// call walks over a template that another one calls. Calls must end, and there must be few of them.
func (t *parsedTemplate) call(name string) error {
	if t.calls++; t.calls > maxCalls {
		return fmt.Errorf("the template calls others more often than the limit of %d times", maxCalls)
	}
	if slices.Contains(t.stack, name) {
		return fmt.Errorf("template %q calls itself", name)
	}
	other := t.tmpl.Lookup(name)
	if other == nil || other.Tree == nil {
		return fmt.Errorf("template %q is not defined", name)
	}
	t.stack = append(t.stack, name)
	err := t.walk(other.Root, false)
	t.stack = t.stack[:len(t.stack)-1]
	return err
}

// walk notes what a node reads and puts a guard into loops. outside is false inside of nodes that change the dot.
func (t *parsedTemplate) walk(node parse.Node, outside bool) error {
	t.nodes++
	switch n := node.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, sub := range n.Nodes {
				if err := t.walk(sub, outside); err != nil {
					return err
				}
			}
		}
	case *parse.ActionNode:
		return t.walk(n.Pipe, outside)
	case *parse.IfNode:
		return t.branch(&n.BranchNode, outside, outside)
	case *parse.WithNode:
		return t.branch(&n.BranchNode, outside, false)
	case *parse.RangeNode:
		before := t.nodes
		err := t.branch(&n.BranchNode, outside, false)
		t.guard(n, t.nodes-before)
		return err
	case *parse.PipeNode:
		if n != nil {
			for _, cmd := range n.Cmds {
				for _, arg := range cmd.Args {
					if err := t.walk(arg, outside); err != nil {
						return err
					}
				}
			}
		}
	case *parse.ChainNode:
		return t.walk(n.Node, outside)
	case *parse.FieldNode:
		t.fields = append(t.fields, n.Ident[0])
	case *parse.VariableNode:
		if n.Ident[0] == "$" {
			if len(n.Ident) == 1 {
				t.all = true
			} else {
				t.fields = append(t.fields, n.Ident[1])
			}
		}
	case *parse.DotNode:
		t.all = t.all || outside
	case *parse.IdentifierNode:
		t.line = t.line || n.Ident == "__line__"
	case *parse.TemplateNode:
		if err := t.walk(n.Pipe, outside); err != nil {
			return err
		}
		return t.call(n.Name)
	}
	return nil
}

// guard puts a guard into a loop, once. It knows how many nodes the loop has, those of called templates included.
func (t *parsedTemplate) guard(n *parse.RangeNode, nodes int) {
	if t.guards[n] {
		return
	}
	if t.guards == nil {
		t.guards = map[*parse.RangeNode]bool{}
	}
	t.guards[n] = true
	name := parse.NewIdentifier(loopGuard).SetPos(n.Pipe.Pos).SetTree(t.tmpl.Tree)
	size := &parse.NumberNode{NodeType: parse.NodeNumber, Pos: n.Pipe.Pos, IsInt: true, Int64: int64(nodes),
		Text: strconv.Itoa(nodes)}
	n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pipe.Pos,
		Args: []parse.Node{name, size}})
}

// branch walks over a condition and its two lists; inside is what outside is for the first list.
func (t *parsedTemplate) branch(n *parse.BranchNode, outside, inside bool) error {
	if err := t.walk(n.Pipe, outside); err != nil {
		return err
	}
	if err := t.walk(n.List, inside); err != nil || n.ElseList == nil {
		return err
	}
	return t.walk(n.ElseList, outside)
}

// simplify fills t.simple.
func (t *parsedTemplate) simplify() {
	var parts []templatePart
	for _, node := range t.tmpl.Root.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			parts = append(parts, templatePart{text: string(n.Text)})
		case *parse.ActionNode:
			if len(n.Pipe.Decl) > 0 || len(n.Pipe.Cmds) != 1 || len(n.Pipe.Cmds[0].Args) != 1 {
				return
			}
			switch arg := n.Pipe.Cmds[0].Args[0].(type) {
			case *parse.FieldNode:
				if len(arg.Ident) != 1 {
					return
				}
				parts = append(parts, templatePart{field: arg.Ident[0]})
			case *parse.IdentifierNode:
				if arg.Ident != "__line__" {
					return
				}
				parts = append(parts, templatePart{line: true})
			default:
				return
			}
		default:
			return
		}
	}
	t.simple = append([]templatePart{{}}, parts...)
}

// templateStep is a template as a stage uses it.
type templateStep struct{ parsedTemplate }

// template compiles a template.
func (c *compiler) template(name, text string) (*templateStep, error) {
	t, err := parseTemplate(name, text)
	if err != nil {
		return nil, err
	}
	s := &templateStep{parsedTemplate: *t}
	for i := range s.simple {
		if p := &s.simple[i]; p.field != "" {
			p.label = c.number(p.field)
		}
	}
	return s, nil
}

// templateState is what a template needs in one entry.
type templateState struct {
	e    *Entry
	tmpl *template.Template
	out  limitedBuffer
	work int // bytes made and elements walked over for the line
	exps map[string]*expressionPair
}

// expressionPair is an expression that a function of a template was called with.
type expressionPair struct {
	quick   *automaton.Regexp
	re      *regexp.Regexp
	weight  int // work of looking at a byte
	matches int // bound of the matches in a text
}

// limitedBuffer collects what a template yields.
type limitedBuffer struct{ b []byte }

// errOutput says that a template yields too much.
var errOutput = fmt.Errorf("the template yields more than the limit of %d bytes", maxOutput)

// Write appends p.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if len(b.b)+len(p) > maxOutput {
		return 0, errOutput
	}
	b.b = append(b.b, p...)
	return len(p), nil
}

// newState binds a template to an entry. Simple templates need none.
func (s *templateStep) newState(e *Entry) *templateState {
	if s.simple != nil {
		return nil
	}
	st := &templateState{e: e}
	tmpl, err := s.tmpl.Clone()
	if err != nil {
		panic("a template that was never executed cannot be cloned: " + err.Error())
	}
	st.tmpl = tmpl.Funcs(st.functions())
	return st
}

// execute appends what the template yields to the entry's buffer. data are the labels; nil for a simple template.
func (s *templateStep) execute(e *Entry, st *templateState, data map[string]string) ([]byte, error) {
	begin := len(e.buf)
	if s.simple == nil {
		st.out.b, st.work = st.out.b[:0], 0
		if err := st.tmpl.Execute(&st.out, data); err != nil {
			return nil, err
		}
		e.buf = append(e.buf, st.out.b...)
		return e.buf[begin:len(e.buf):len(e.buf)], nil
	}
	for i := range s.simple {
		p := &s.simple[i]
		switch {
		case p.line:
			e.buf = append(e.buf, e.Line...)
		case p.field == syntax.LabelError:
			e.buf = append(e.buf, e.Err...)
		case p.field == syntax.LabelErrorDetails:
			e.buf = append(e.buf, e.Details...)
		case p.field != "":
			e.buf = append(e.buf, e.value(p.label)...)
		default:
			e.buf = append(e.buf, p.text...)
		}
		if len(e.buf)-begin > maxOutput {
			e.buf = e.buf[:begin]
			return nil, errOutput
		}
	}
	return e.buf[begin:len(e.buf):len(e.buf)], nil
}

// data returns the labels of a line as templates take them.
func (e *Entry) data() map[string]string {
	m := make(map[string]string, len(e.Labels)+2)
	for i := range e.Labels {
		if l := &e.Labels[i]; l.Kind != removed {
			m[l.Name] = string(l.Value)
		}
	}
	if e.Err != "" {
		m[syntax.LabelError] = e.Err
	}
	if e.Details != "" {
		m[syntax.LabelErrorDetails] = e.Details
	}
	return m
}

// time returns the time of the line.
func (e *Entry) time() time.Time { return time.Unix(0, e.ts).UTC() }

// lineFormatStep replaces the line by what a template yields.
type lineFormatStep struct {
	place int
	t     *templateStep
}

// lineFormat compiles a line_format stage.
func (c *compiler) lineFormat(s *syntax.LineFormat) (step, error) {
	t, err := c.template(lineTemplate, s.Template)
	if err != nil {
		return nil, fmt.Errorf("invalid line template: %w", err)
	}
	c.scratch++
	return &lineFormatStep{place: c.scratch - 1, t: t}, nil
}

func (s *lineFormatStep) newState(e *Entry) any { return s.t.newState(e) }

func (s *lineFormatStep) run(e *Entry) bool {
	var data map[string]string
	if s.t.simple == nil {
		data = e.data()
	}
	line, err := s.t.execute(e, e.state[s.place].(*templateState), data)
	if err != nil {
		e.fail(ErrTemplate, err.Error())
		return true
	}
	e.Line = line
	return true
}

// labelFormatStep changes labels, in order. All templates of a stage see the labels as the first one does.
type labelFormatStep struct {
	place   int
	formats []labelFormat
	copies  bool // a template sees a copy of the labels
}

// labelFormat changes one label.
type labelFormat struct {
	label int32
	from  int32 // of a rename
	t     *templateStep
}

// labelFormat compiles a label_format stage.
func (c *compiler) labelFormat(s *syntax.LabelFormat) (step, error) {
	step := &labelFormatStep{place: c.scratch}
	c.scratch++
	var changed []string // since the first template
	for _, f := range s.Formats {
		made := labelFormat{label: c.number(f.Name)}
		if f.Rename {
			made.from = c.number(f.Value)
		} else {
			t, err := c.template(labelTemplate, f.Value)
			if err != nil {
				return nil, fmt.Errorf("invalid template for label '%s': %w", f.Name, err)
			}
			for _, name := range changed {
				if slices.Contains(t.fields, name) {
					t.simple = nil
				}
			}
			step.copies = step.copies || t.simple == nil
			made.t = t
		}
		if changed != nil || !f.Rename {
			changed = append(changed, f.Name)
			if f.Rename {
				changed = append(changed, f.Value)
			}
		}
		step.formats = append(step.formats, made)
	}
	return step, nil
}

func (s *labelFormatStep) newState(e *Entry) any {
	states := make([]*templateState, len(s.formats))
	for i, f := range s.formats {
		if f.t != nil {
			states[i] = f.t.newState(e)
		}
	}
	return states
}

func (s *labelFormatStep) run(e *Entry) bool {
	states := e.state[s.place].([]*templateState)
	var data map[string]string
	for i := range s.formats {
		f := &s.formats[i]
		if f.t == nil {
			if l := e.find(f.from); l != nil {
				value, kind := l.Value, l.Kind
				e.remove(f.from)
				e.format(f.label, value, kind)
			}
			continue
		}
		if s.copies && data == nil {
			data = e.data()
		}
		value, err := f.t.execute(e, states[i], data)
		switch {
		case err != nil:
			e.fail(ErrTemplate, err.Error())
		case e.find(f.label) == nil && len(e.Labels) >= maxLabels:
			e.fail(ErrTemplate, errLabels.Error())
		default:
			e.format(f.label, value, Parsed)
		}
	}
	return true
}
