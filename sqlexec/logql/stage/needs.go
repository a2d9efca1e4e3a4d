package stage

import (
	"slices"
	"strings"

	"varve/sqlexec/logql/syntax"
)

// needs decides, from the last stage to the first, what each one has to make for those behind it and for the caller.
func (c *compiler) needs(unwrap *syntax.Unwrap, need Need) {
	w := wanted{all: need.Labels}
	w.add(need.Names...)
	line := need.Line
	if unwrap != nil {
		w.add(unwrap.Name)
		for _, f := range unwrap.Filters {
			w.addCondition(f.Cond)
		}
	}
	c.used, c.wanted = make([]bool, len(c.stages)), make([]wanted, len(c.stages))
	for i := len(c.stages) - 1; i >= 0; i-- {
		c.used[i] = true
		c.wanted[i] = wanted{w.all, slices.Clone(w.names)}
		switch s := c.stages[i].(type) {
		case *syntax.LineFilter, *syntax.Unpack:
			line = true
		case *syntax.JSON, *syntax.Logfmt, *syntax.Pattern, *syntax.Regexp:
			line = line || w.all || len(w.names) > 0
		case *syntax.LabelFilter:
			w.addCondition(s.Cond)
		case *syntax.LineFormat:
			if c.used[i] = line; line {
				line = w.addTemplate(s.Template)
			}
		case *syntax.LabelFormat:
			for _, f := range s.Formats {
				if f.Rename {
					w.add(f.Value)
				} else if w.addTemplate(f.Value) {
					line = true
				}
			}
		case *syntax.Decolorize:
			c.used[i] = line
		case *syntax.Drop:
			for _, l := range s.Labels {
				if l.Matcher != nil {
					w.add(l.Name)
				}
			}
		case *syntax.Keep:
			if w.all {
				w = wanted{}
				w.add(syntax.LabelError, syntax.LabelErrorDetails)
			}
			for _, l := range s.Labels {
				w.add(l.Name)
			}
		}
	}
	c.p.needsLine = line
	if !w.all {
		c.p.reads = append([]string{}, w.names...)
	}
}

// add adds names.
func (w *wanted) add(names ...string) {
	for _, n := range names {
		if at, ok := slices.BinarySearch(w.names, n); !ok {
			w.names = slices.Insert(w.names, at, n)
		}
	}
}

// addCondition adds the names of a condition.
func (w *wanted) addCondition(cond syntax.Cond) {
	switch cond := cond.(type) {
	case *syntax.And:
		w.addCondition(cond.Left)
		w.addCondition(cond.Right)
	case *syntax.Or:
		w.addCondition(cond.Left)
		w.addCondition(cond.Right)
	case *syntax.Matched:
		w.add(cond.Name)
	case *syntax.Compared:
		w.add(cond.Name)
	case *syntax.InNetwork:
		w.add(cond.Name)
	}
}

// addTemplate adds the labels that a template reads and reports whether it reads the line. A template that cannot be
// read adds nothing: its stage fails to compile.
func (w *wanted) addTemplate(text string) (line bool) {
	t, err := parseTemplate(lineTemplate, text)
	if err != nil {
		return true
	}
	w.all = w.all || t.all
	w.add(t.fields...)
	return t.line
}

// Hint is what a line must hold to pass a pipeline: one of the texts. Lines can be left out by it before they are read.
type Hint struct {
	Texts []string
	// Label is empty if the hint holds for every line. Else it holds for lines whose stream and metadata have neither
	// this label nor one from which it is made.
	Label string
	// Escaped says that the line may hold the text with escapes of JSON, such as \u0041 for A.
	Escaped bool
}

// Hints returns what the lines that pass must hold, as they are before all stages.
func (p *Pipeline) Hints() []Hint { return p.hints }

// hints collects the hints of filters that see the line, or labels parsed from it, before a stage changes either.
func (c *compiler) hints() {
	parsed, escaped := false, false
	for i, s := range c.stages {
		switch s := s.(type) {
		case *syntax.LineFilter:
			if texts := filterTexts(s); texts != nil {
				c.p.hints = append(c.p.hints, Hint{Texts: texts})
			}
		case *syntax.LabelFilter:
			if parsed {
				c.conditionHints(s.Cond, escaped)
			}
		case *syntax.JSON, *syntax.Logfmt:
			parsed, escaped = true, true
		case *syntax.Pattern, *syntax.Regexp:
			parsed = true
		case *syntax.LineFormat:
			if c.used[i] {
				return
			}
		case *syntax.Decolorize, *syntax.Unpack, *syntax.LabelFormat:
			return
		}
	}
}

// filterTexts returns texts of which a line that passes holds at least one; nil: there are none.
func filterTexts(f *syntax.LineFilter) []string {
	var texts []string
	for _, v := range f.Values {
		text := ""
		switch {
		case v.IP:
		case f.Op == syntax.LineContains:
			text = v.Text
		case f.Op == syntax.LineMatches:
			if x, err := newExpression(v.Text); err == nil {
				text = string(x.literal)
			}
		case f.Op == syntax.LinePattern:
			if t, err := newPatternTest(v.Text); err == nil {
				for _, literal := range t {
					if len(literal) > len(text) {
						text = string(literal)
					}
				}
			}
		}
		if text == "" {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// conditionHints collects the hints of a condition of which all parts must hold.
func (c *compiler) conditionHints(cond syntax.Cond, escaped bool) {
	switch cond := cond.(type) {
	case *syntax.And:
		c.conditionHints(cond.Left, escaped)
		c.conditionHints(cond.Right, escaped)
	case *syntax.Matched:
		if cond.Name == syntax.LabelError || cond.Name == syntax.LabelErrorDetails {
			return
		}
		text := ""
		switch cond.Op {
		case syntax.MatchEqual:
			text = cond.Value
		case syntax.MatchRegexp:
			if x, err := newExpression(cond.Value); err == nil {
				text = string(x.literal)
			}
		}
		if escaped {
			text = withoutBlanks(text)
		}
		if text != "" {
			c.p.hints = append(c.p.hints, Hint{Texts: []string{text}, Label: cond.Name, Escaped: escaped})
		}
	}
}

// withoutBlanks returns the longest part of a text without blanks: a blank in a label may stand for a byte that is no
// UTF-8.
func withoutBlanks(text string) string {
	longest := ""
	for part := range strings.SplitSeq(text, " ") {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}
