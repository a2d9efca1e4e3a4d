package search

import "strings"

// compares are the comparison operators and their SQL forms; a longer operator precedes its own beginning.
var compares = []struct{ typed, sql string }{
	{">=", ">="}, {"<=", "<="}, {"!=", "IS DISTINCT FROM"}, {">", ">"}, {"<", "<"}, {"=", "="},
}

// value reads the text after a field's colon.
func (p *parser) value(s subject) (cond, error) {
	if p.peek(0) == '(' {
		return p.list(s)
	}
	for _, c := range compares {
		if strings.HasPrefix(string(p.src[p.at:min(p.at+2, len(p.src))]), c.typed) {
			p.at += len(c.typed)
			l, err := p.literal(alone)
			if err != nil {
				return cond{}, err
			}
			return p.compare(s, c.sql, l)
		}
	}
	if p.peek(0) == '*' && p.ends(p.at+1, alone) {
		p.at++
		return s.present(), nil
	}
	v, err := p.piece(inRange)
	if err != nil {
		return cond{}, err
	}
	if (v.kind == 'w' || v.kind == 'q') && p.peek(0) == '.' && p.peek(1) == '.' && !p.ends(p.at+2, alone) {
		p.at += 2
		to, err := p.literal(alone)
		if err != nil {
			return cond{}, err
		}
		return p.between(s, v, to)
	}
	if v.kind == 'w' || v.kind == 'q' {
		return p.compare(s, "=", v)
	}
	if s.kind != textual && s.kind != member {
		return cond{}, p.mismatch(s, v)
	}
	return s.matches(v), nil
}

// literal reads a word or a phrase that means itself.
func (p *parser) literal(stop string) (piece, error) {
	at := p.at
	if p.ends(p.at, stop) {
		return piece{}, p.fail(at, 0, "a value is missing here")
	}
	if p.peek(0) == '"' {
		return p.phrase()
	}
	l := p.word(stop)
	if l.kind == 'p' {
		l.kind, l.text = 'w', l.text+"*"
	}
	return l, nil
}

// list reads values in parentheses; the field must have one of them.
func (p *parser) list(s subject) (cond, error) {
	start := p.at
	p.at++
	var members []cond
	var sql []string
	for {
		p.blanks()
		l, err := p.literal(inList)
		if err != nil {
			return cond{}, err
		}
		c, err := p.compare(s, "=", l)
		if err != nil {
			return cond{}, err
		}
		members = append(members, c)
		sql = append(sql, s.literal(l))
		p.blanks()
		if p.peek(0) == ',' {
			p.at++
			continue
		}
		if p.peek(0) != ')' {
			if p.at == len(p.src) {
				return cond{}, p.fail(start, 1, "this parenthesis is not closed")
			}
			return cond{}, p.fail(p.at, 1, "a comma or a closing parenthesis is missing before this")
		}
		p.at++
		if s.kind == member {
			return anyOf(members), nil
		}
		return test(s.sql+" IN ("+strings.Join(sql, ",")+")", s.sql+" IS NULL"), nil
	}
}

// compare is a comparison with a literal.
func (p *parser) compare(s subject, op string, l piece) (cond, error) {
	if err := p.fits(s, l); err != nil {
		return cond{}, err
	}
	if s.kind == member && l.kind == 'w' {
		switch {
		case isNumber.MatchString(l.text):
			asNumber := subject{kind: number, sql: s.as("float")}
			if op != "=" && op != "IS DISTINCT FROM" {
				return asNumber.than(op, l), nil
			}
			return anyOrNone(op, s.than("=", l), asNumber.than("=", l)), nil
		case strings.EqualFold(l.text, "true") || strings.EqualFold(l.text, "false"):
			asTruth := subject{kind: truth, sql: s.as("bool")}
			if op == "=" || op == "IS DISTINCT FROM" {
				return anyOrNone(op, s.than("=", l), asTruth.than("=", l)), nil
			}
		}
	}
	return s.than(op, l), nil
}

// anyOrNone is that one of two holds, or for the operator of difference that none does.
func anyOrNone(op string, a, b cond) cond {
	c := anyOf([]cond{a, b})
	if op != "=" {
		c.yes, c.no = c.no, c.yes
	}
	return c
}

// than compares with a literal that fits. What is not equal has no value or another.
func (s *subject) than(op string, l piece) cond {
	equal := clause{text: s.sql + " = " + s.literal(l)}
	distinct := clause{text: s.sql + " IS DISTINCT FROM " + s.literal(l)}
	switch op {
	case "=":
		return cond{yes: equal, no: distinct}
	case "IS DISTINCT FROM":
		return cond{yes: distinct, no: equal}
	}
	return test(s.sql+" "+op+" "+s.literal(l), s.sql+" IS NULL")
}

func (p *parser) between(s subject, from, to piece) (cond, error) {
	if err := p.fits(s, from); err != nil {
		return cond{}, err
	}
	if err := p.fits(s, to); err != nil {
		return cond{}, err
	}
	if s.kind == member && from.kind == 'w' && isNumber.MatchString(from.text) && isNumber.MatchString(to.text) {
		s = subject{kind: number, sql: s.as("float")}
	}
	return test(s.sql+" BETWEEN "+s.literal(from)+" AND "+s.literal(to), s.sql+" IS NULL"), nil
}

// present is that a row has a value.
func (s *subject) present() cond {
	if s.kind == member {
		exists := "json_path_exists(" + name(s.column.Name) + "," + text(s.path) + ")"
		return test(exists, name(s.column.Name)+" IS NULL")
	}
	return cond{yes: clause{text: s.sql + " IS NOT NULL"}, no: clause{text: s.sql + " IS NULL"}}
}

// matches is a pattern of a text.
func (s *subject) matches(v piece) cond {
	sql := ""
	switch v.kind {
	case 'r':
		sql = s.sql + " ~ " + text(v.text)
	case 'i':
		sql = s.sql + " ~* " + text(v.text)
	case '~':
		sql = s.sql + " ILIKE " + text("%"+like(v.text)+"%")
	case 'p':
		sql = s.sql + " LIKE " + text(like(v.text)+"%")
	}
	return test(sql, s.sql+" IS NULL")
}

// literal is a value in SQL.
func (s *subject) literal(l piece) string {
	switch s.kind {
	case number:
		return strings.TrimPrefix(l.text, "+")
	case truth:
		return strings.ToLower(l.text)
	}
	return text(l.text)
}

// fits checks that a literal is a value of the column.
func (p *parser) fits(s subject, l piece) error {
	ok := true
	switch s.kind {
	case number:
		ok = isNumber.MatchString(l.text)
	case truth:
		ok = strings.EqualFold(l.text, "true") || strings.EqualFold(l.text, "false")
	case instant:
		ok = isTime.MatchString(l.text)
	case other:
		ok = false
	}
	if !ok {
		return p.mismatch(s, l)
	}
	return nil
}

// wants are what columns of a kind are compared with.
var wants = map[kind]string{number: "a number", truth: "true or false", instant: "a time like 2026-11-21T03:46:00Z",
	other: "* (has a value)"}

func (p *parser) mismatch(s subject, l piece) error {
	return p.fail(l.at, l.end-l.at, `column "%s" is of type %s and takes %s`, s.column.Name, s.column.Type,
		wants[s.kind])
}
