package syntax

import "strconv"

// pipeline reads stages up to a word that begins none, or up to unwrap. before are stages that were read earlier.
func (p *parser) pipeline(before []Stage) ([]Stage, error) {
	stages := before
	for {
		var s Stage
		var err error
		switch w := p.peek(); w.kind {
		case "|=", "!=", "|~", "!~", "|>", "!>":
			s, err = p.lineFilter()
		case "|":
			if p.after().kind == "unwrap" {
				return stages, nil
			}
			p.take()
			s, err = p.stage()
		default:
			return stages, nil
		}
		if err != nil {
			return nil, err
		}
		if stages = append(stages, s); len(stages) > MaxStages {
			return nil, Invalid("the pipeline has more than the limit of %d stages", MaxStages)
		}
		if _, ok := s.(*LineFilter); ok {
			continue // its texts were counted
		}
		if err := p.count(); err != nil {
			return nil, err
		}
	}
}

// lineFilter reads a filter with its texts.
func (p *parser) lineFilter() (Stage, error) {
	f := &LineFilter{Op: LineOp(p.take().kind)}
	for {
		v, err := p.lineValue()
		if err != nil {
			return nil, err
		}
		f.Values = append(f.Values, v)
		if err := p.count(); err != nil {
			return nil, err
		}
		if !p.accept("or") {
			return f, checkLineFilter(f)
		}
	}
}

// lineValue reads a text or ip("..").
func (p *parser) lineValue() (LineValue, error) {
	w := p.peek()
	switch w.kind {
	case kindString:
		return LineValue{Text: p.take().text}, nil
	case "ip":
		text, err := p.ip()
		return LineValue{Text: text, IP: true}, err
	}
	return LineValue{}, unexpected(w, []kind{kindString, "ip"})
}

// ip reads ip("..").
func (p *parser) ip() (string, error) {
	p.take()
	if _, err := p.expect("("); err != nil {
		return "", err
	}
	text, err := p.expect(kindString)
	if err != nil {
		return "", err
	}
	_, err = p.expect(")")
	return text.text, err
}

// stage reads a stage behind its "|".
func (p *parser) stage() (Stage, error) {
	w := p.peek()
	switch w.kind {
	case kindIdentifier, "(":
		cond, err := p.condition(joinNone)
		return &LabelFilter{Cond: cond}, err
	case "json":
		p.take()
		list, err := p.extractions()
		return &JSON{Extractions: list}, err
	case "logfmt":
		p.take()
		return p.logfmt()
	case "unpack":
		p.take()
		return &Unpack{}, nil
	case "decolorize":
		p.take()
		return &Decolorize{}, nil
	case "pattern", "regexp", "line_format":
		p.take()
		text, err := p.expect(kindString)
		if err != nil {
			return nil, err
		}
		switch w.kind {
		case "pattern":
			return &Pattern{Text: text.text}, checkPatternParser(text.text)
		case "regexp":
			return &Regexp{Text: text.text}, checkRegexpParser(text.text)
		}
		return &LineFormat{Template: text.text}, nil
	case "label_format":
		p.take()
		return p.labelFormat()
	case "drop":
		p.take()
		picks, err := p.picks()
		return &Drop{Labels: picks}, err
	case "keep":
		p.take()
		picks, err := p.picks()
		return &Keep{Labels: picks}, err
	}
	return nil, unexpected(w, nil)
}

// logfmt reads flags and extractions.
func (p *parser) logfmt() (Stage, error) {
	s := &Logfmt{}
	for p.peek().kind == kindFlag {
		w := p.take()
		switch w.text {
		case "--strict":
			s.Strict = true
		case "--keep-empty":
			s.KeepEmpty = true
		default:
			return nil, Invalid("unknown flag: %s", w.text)
		}
	}
	var err error
	s.Extractions, err = p.extractions()
	return s, err
}

// extractions reads names, each with or without an expression. There may be none.
func (p *parser) extractions() ([]Extraction, error) {
	var list []Extraction
	for p.peek().kind == kindIdentifier {
		name := p.take().text
		e := Extraction{Name: name, Expression: name}
		if p.accept("=") {
			text, err := p.expect(kindString)
			if err != nil {
				return nil, err
			}
			e.Expression = text.text
		}
		if list = append(list, e); len(list) > MaxCaptures {
			return nil, Invalid("the parser has more than the limit of %d expressions", MaxCaptures)
		}
		if err := p.count(); err != nil {
			return nil, err
		}
		if !p.accept(",") {
			break
		}
		if w := p.peek(); w.kind != kindIdentifier {
			return nil, unexpected(w, []kind{kindIdentifier})
		}
	}
	return list, nil
}

// labelFormat reads formats; a name may be given once.
func (p *parser) labelFormat() (Stage, error) {
	s := &LabelFormat{}
	for {
		name, err := p.expect(kindIdentifier)
		if err != nil {
			return nil, err
		}
		if _, err := p.expect("="); err != nil {
			return nil, err
		}
		f := Format{Name: name.text}
		switch w := p.peek(); w.kind {
		case kindIdentifier:
			f.Value, f.Rename = w.text, true
		case kindString:
			f.Value = w.text
		default:
			return nil, unexpected(w, []kind{kindIdentifier, kindString})
		}
		p.take()
		s.Formats = append(s.Formats, f)
		if err := p.count(); err != nil {
			return nil, err
		}
		if !p.accept(",") {
			return s, checkFormats(s.Formats)
		}
	}
}

// picks reads names and matchers of drop and keep.
func (p *parser) picks() ([]LabelPick, error) {
	var picks []LabelPick
	for {
		name, err := p.expect(kindIdentifier)
		if err != nil {
			return nil, err
		}
		pick := LabelPick{Name: name.text}
		switch p.peek().kind {
		case "=", "=~", "!~", "!=":
			m, err := p.matcher(name.text)
			if err != nil {
				return nil, err
			}
			pick.Matcher = &m
		}
		picks = append(picks, pick)
		if err := p.count(); err != nil {
			return nil, err
		}
		if !p.accept(",") {
			return picks, nil
		}
	}
}

// join is what stands left of a condition and waits for it.
type join int

const (
	joinNone  join = iota
	joinOr         // "or"
	joinAnd        // "and"
	joinComma      // a comma or nothing: all that follows belongs to its right side
)

// condition reads conditions and what joins them: "and" binds more tightly than "or"; a comma or nothing between two
// conditions means and, too, and takes everything behind it as its right side.
func (p *parser) condition(pending join) (Cond, error) {
	left, err := p.simpleCondition()
	if err != nil {
		return nil, err
	}
	for {
		how := joinNone
		switch p.peek().kind {
		case "and":
			how = joinAnd
		case "or":
			how = joinOr
		case ",":
			how = joinComma
		case kindIdentifier, "(":
			right, err := p.condition(joinComma)
			if err != nil {
				return nil, err
			}
			left = &And{Left: left, Right: right}
			continue
		}
		if how == joinNone || how == joinAnd && pending == joinAnd ||
			how == joinOr && (pending == joinAnd || pending == joinOr) {
			return left, nil
		}
		p.take()
		right, err := p.condition(how)
		if err != nil {
			return nil, err
		}
		if how == joinOr {
			left = &Or{Left: left, Right: right}
		} else {
			left = &And{Left: left, Right: right}
		}
	}
}

// simpleCondition reads one comparison or a condition in parentheses.
func (p *parser) simpleCondition() (Cond, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if p.accept("(") {
		c, err := p.condition(joinNone)
		if err != nil {
			return nil, err
		}
		_, err = p.expect(")")
		return c, err
	}
	name, err := p.expect(kindIdentifier)
	if err != nil {
		return nil, err
	}
	op := p.peek()
	switch op.kind {
	case "=~", "!~":
		m, err := p.matcher(name.text)
		return &Matched{m}, err
	case "=", "!=", "==", ">", ">=", "<", "<=":
	default:
		return nil, unexpected(op, nil)
	}
	switch p.after().kind {
	case kindString:
		if op.kind == "=" || op.kind == "!=" {
			m, err := p.matcher(name.text)
			return &Matched{m}, err
		}
		return nil, unexpected(p.after(), nil)
	case "ip":
		if op.kind != "=" && op.kind != "!=" {
			return nil, unexpected(p.after(), nil)
		}
		p.take()
		text, err := p.ip()
		return &InNetwork{Name: name.text, Op: MatchOp(op.kind), Pattern: text}, err
	}
	p.take()
	c := &Compared{Name: name.text, Op: CompareOp(op.kind)}
	if op.kind == "=" {
		c.Op = Equal
	}
	return c, p.compared(c)
}

// compared reads the number, duration or size of a comparison.
func (p *parser) compared(c *Compared) error {
	switch w := p.peek(); w.kind {
	case kindDuration:
		p.take()
		c.Unit, c.Value, c.Text = UnitDuration, float64(w.dur), w.dur.String()
	case kindBytes:
		p.take()
		c.Unit, c.Value, c.Text = UnitBytes, w.num, bytesString(w.num, w.text)
	case kindNumber, "+", "-":
		v, err := p.signedNumber()
		if err != nil {
			return err
		}
		c.Value, c.Text = v, numberString(v)
	default:
		return unexpected(w, nil)
	}
	return nil
}

// unwrap reads "| unwrap" and the filters behind it.
func (p *parser) unwrap() (*Unwrap, error) {
	p.take()
	p.take()
	u := &Unwrap{}
	switch w := p.peek(); w.kind {
	case kindIdentifier:
		u.Name = p.take().text
	case "bytes", "duration", "duration_seconds":
		u.Conversion = Conversion(p.take().kind)
		if _, err := p.expect("("); err != nil {
			return nil, err
		}
		name, err := p.expect(kindIdentifier)
		if err != nil {
			return nil, err
		}
		u.Name = name.text
		if _, err := p.expect(")"); err != nil {
			return nil, err
		}
	default:
		return nil, unexpected(w, []kind{kindIdentifier, "bytes", "duration", "duration_seconds"})
	}
	for p.accept("|") {
		w := p.peek()
		if w.kind != kindIdentifier && w.kind != "(" {
			return nil, unexpected(w, []kind{kindIdentifier, "("})
		}
		c, err := p.condition(joinNone)
		if err != nil {
			return nil, err
		}
		if u.Filters = append(u.Filters, &LabelFilter{Cond: c}); len(u.Filters) > MaxStages {
			return nil, Invalid("the pipeline has more than the limit of %d stages", MaxStages)
		}
	}
	return u, nil
}

// quoteFloat is how a parameter is named in errors.
func quoteFloat(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
