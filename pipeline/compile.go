package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/flatten"
	"varve/pipeline/processor"
	"varve/pipeline/value"
)

// Program is a compiled document: what to do with an entry, over slots. Immutable; shared by requests.
type Program struct {
	name       string // of the pipeline; empty for a document that is not stored
	version    int
	names      *processor.Names
	stages     []stage
	columns    []column // of the transforms; none: auto
	timeSlot   int      // slot of the time index, if there are no transforms
	timeType   vector.Type
	consumed   []bool // slots that transforms take away, in version 2
	inferSlots []int  // slots whose values become inferred columns, in the order of their keys
	dispatcher *dispatcher
	suffix     *suffix
	warnings   []string
	bytes      int64 // what it takes, about
	dated      bool  // the time index is read from text, not counted in units
}

// stage is a processor of a program.
type stage struct {
	processor.Processor
	name   string
	script *processor.Script // the processor, when it is a script: it takes contexts that are not objects
}

// suffixSlot is the slot of the table suffix variable; the slots before are those of the options.
const suffixSlot = int(flatten.OptionCount)

// variables are the keys of the slots that every program has first.
func variables() []string {
	names := make([]string, suffixSlot+1)
	for o := range flatten.OptionCount {
		names[o] = "service_" + o.String()
	}
	names[suffixSlot] = "service_table_suffix"
	return names
}

// What the regular expressions of a document may take while it is compiled, and what a program takes besides for each
// byte of its document, about: a script of 750 KB takes 14 MB.
const (
	maxExpressionBytes = 64 << 20
	maxCompileTime     = 10 * time.Second
	programFactor      = 20
)

// Compile compiles a document. Errors are InvalidArguments with the texts of the interface and the place in the
// document.
func Compile(text []byte) (*Program, error) { return compileWithin(context.Background(), text) }

// compileWithin is Compile until ctx ends.
func compileWithin(ctx context.Context, text []byte) (*Program, error) {
	room := processor.NewRoom(ctx, maxExpressionBytes, maxCompileTime)
	p, err := compileDocument(text, room)
	switch why := room.Err(); {
	case why == nil:
	case ctx.Err() != nil:
		return nil, cancelled(ctx)
	default:
		return nil, status.New(status.InvalidArguments, "%v: at most %d MiB and %d s", why, maxExpressionBytes>>20,
			maxCompileTime/time.Second)
	}
	if err == nil {
		p.bytes = programFactor*int64(len(text)) + room.Bytes()
	}
	return p, err
}

// compileDocument is Compile with the room that expressions may take.
func compileDocument(text []byte, room *processor.Room) (*Program, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	p := &Program{version: d.version, names: processor.NewNames(variables()...)}
	p.names.Room = room
	defer func() { p.names.Room = nil }()
	for _, n := range d.processors {
		compiled, err := processor.New(n, p.names)
		if err != nil {
			return nil, err
		}
		script, _ := compiled.(*processor.Script)
		p.stages = append(p.stages, stage{compiled, processor.NameOf(n), script})
	}
	p.warnings = d.warnings(p.names.All())
	if d.dispatcher != nil {
		if p.dispatcher, err = compileDispatcher(d.dispatcher, p.names); err != nil {
			return nil, err
		}
	}
	if d.tableSuffix != nil {
		if p.suffix, err = compileSuffix(d.tableSuffix, p.names); err != nil {
			return nil, err
		}
	}
	if len(d.transforms) == 0 {
		err = p.autoTime()
	} else {
		p.columns, err = compileTransforms(d.version, d.transforms, p.names)
	}
	if err != nil {
		return nil, err
	}
	if n := p.names.Len(); n > maxKeys {
		return nil, status.New(status.InvalidArguments, "the pipeline document names %d keys, the limit is %d", n,
			maxKeys)
	}
	p.consumed = make([]bool, p.names.Len())
	if d.version == 2 {
		p.consume()
	}
	p.orderSlots()
	p.dated = p.isDated()
	return p, nil
}

// orderSlots finds the slots whose types are inferred: all except the variables, the time and the inputs of transforms.
func (p *Program) orderSlots() {
	for slot := suffixSlot + 1; slot < p.names.Len(); slot++ {
		if !p.consumed[slot] && (len(p.columns) > 0 || slot != p.timeSlot) {
			p.inferSlots = append(p.inferSlots, slot)
		}
	}
	slices.SortFunc(p.inferSlots, func(x, y int) int { return strings.Compare(p.names.Name(x), p.names.Name(y)) })
}

// consume makes each transform of version 2 take its input away: a second one on the same input finds it absent. So
// does one on a variable: they are gone by then.
func (p *Program) consume() {
	for i := range p.columns {
		c := &p.columns[i]
		if p.consumed[c.slot] || c.slot <= suffixSlot {
			c.slot = p.names.Slot(fmt.Sprintf("\x00consumed %d", i)) // a key that no entry has
			continue
		}
		p.consumed[c.slot] = true
	}
	for len(p.consumed) < p.names.Len() {
		p.consumed = append(p.consumed, true)
	}
}

// autoTime finds the time index of a document without transforms.
func (p *Program) autoTime() error {
	found := 0
	for _, s := range p.stages {
		times := processor.Times(s.Processor)
		found += len(times)
		for _, t := range times {
			if t.Optional {
				found++ // as good as none
			}
			p.timeSlot, p.timeType = t.Slot, vector.Timestamp(t.Resolution.Precision())
		}
	}
	if found != 1 {
		return processor.Invalid(nil,
			"Exactly one time-related processor and one timestamp value is required to use auto transform. "+
				"`ignore_missing` can not be set to true.")
	}
	return nil
}

// dispatcher sends entries on to other pipelines by the value of a field.
type dispatcher struct {
	slot  int
	rules []rule
}

type rule struct {
	value       value.Value
	tableSuffix string
	pipeline    string // empty: service_identity
}

func compileDispatcher(n *yaml.Node, names *processor.Names) (*dispatcher, error) {
	settings, err := processor.ReadSettings(n)
	if err != nil {
		return nil, err
	}
	d := &dispatcher{}
	field := ""
	for _, s := range settings.All() {
		switch s.Key {
		case "field":
			if field, err = s.String(); err != nil {
				return nil, err
			}
		case "rules":
			for _, n := range list(s.Node()) {
				r, err := compileRule(n)
				if err != nil {
					return nil, err
				}
				d.rules = append(d.rules, r)
			}
		}
	}
	if field == "" {
		return nil, settings.Invalid("Field is required for dispatcher")
	}
	if len(d.rules) > maxRules {
		return nil, settings.Invalid("the dispatcher has %d rules, the limit is %d", len(d.rules), maxRules)
	}
	d.slot = names.Slot(field)
	return d, nil
}

func compileRule(n *yaml.Node) (r rule, err error) {
	settings, err := processor.ReadSettings(n)
	if err != nil {
		return r, err
	}
	suffixed, valued := false, false
	for _, s := range settings.All() {
		switch s.Key {
		case "table_suffix":
			r.tableSuffix, err = s.String()
			suffixed = true
		case "value":
			r.value, valued = yamlValue(s.Node()).Freeze(), true
		case "pipeline":
			if s.Scalar() != nil {
				r.pipeline, err = s.String()
			}
		}
		if err != nil {
			return r, err
		}
	}
	if !suffixed {
		return r, settings.Invalid("Table_suffix is required for dispatcher rule")
	}
	if !valued {
		return r, settings.Invalid("Value is required for dispatcher rule")
	}
	return r, nil
}

// yamlValue is a node of a document as a value; its tree is bounded.
func yamlValue(n *yaml.Node) value.Value {
	n = processor.Follow(n)
	var heap *value.Arena
	switch n.Kind {
	case yaml.SequenceNode:
		a := heap.Array(len(n.Content))
		for _, c := range n.Content {
			a.Push(heap, yamlValue(c))
		}
		return a.Of()
	case yaml.MappingNode:
		o := heap.Object(len(n.Content) / 2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			o.Set(heap, processor.Follow(n.Content[i]).Value, yamlValue(n.Content[i+1]))
		}
		return o.Of()
	}
	switch v := processor.Scalar(n).(type) {
	case bool:
		return value.Bool(v)
	case int64:
		return value.Int(v)
	case float64:
		if v == v {
			return value.Float(v)
		}
	case string:
		return value.String(v)
	}
	return value.Null
}

// rule finds the first rule that an event meets; nil for none.
func (d *dispatcher) rule(e *processor.Event) *rule {
	v, has := e.Get(d.slot)
	if !has {
		return nil
	}
	for i := range d.rules {
		if value.Equal(d.rules[i].value, v) {
			return &d.rules[i]
		}
	}
	return nil
}

// suffix is a template of what is put behind the table's name: texts[0] slots[0] texts[1] ... texts[n].
type suffix struct {
	texts []string
	slots []int
}

func compileSuffix(n *yaml.Node, names *processor.Names) (*suffix, error) {
	text, ok := processor.Text(n)
	if !ok {
		return nil, processor.Invalid(n, "A valid table suffix template is required for tablesuffix section")
	}
	s := &suffix{}
	for {
		before, rest, found := strings.Cut(text, "${")
		key, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			s.texts = append(s.texts, text)
			return s, nil
		}
		s.texts = append(s.texts, before)
		s.slots = append(s.slots, names.Slot(strings.TrimSpace(key)))
		text = after
	}
}

// append appends the suffix of an event; taken are the slots that transforms took away. ok is false, and there is no
// suffix at all, when a key is missing or of another kind than integer and string.
func (s *suffix) append(dst []byte, e *processor.Event, taken []bool) (text []byte, ok bool) {
	for i, slot := range s.slots {
		dst = append(dst, s.texts[i]...)
		v, has := e.Get(slot)
		switch {
		case !has || slot < len(taken) && taken[slot]:
			return dst, false
		case v.Kind() == value.IntKind, v.Kind() == value.StringKind:
			dst = appendText(dst, v)
		default:
			return dst, false
		}
	}
	return append(dst, s.texts[len(s.texts)-1]...), true
}

// appendText appends a value as text: booleans as words, numbers in decimal, containers as JSON.
func appendText(dst []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.StringKind:
		return append(dst, v.Str()...)
	case value.FloatKind:
		return processor.AppendDecimal(dst, v.Float())
	}
	return value.AppendJSON(dst, v)
}
