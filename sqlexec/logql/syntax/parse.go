package syntax

import "math"

// Bounds of a query.
const (
	MaxText   = 128 << 10 // bytes of the text
	MaxDepth  = 64        // how deep expressions and conditions nest
	MaxStages = 128       // stages of a pipeline, filters behind unwrap included
	MaxNodes  = 4096      // selectors, operators and conditions of a query
	MaxChain  = 512       // operators of one chain such as a + b + c: its tree is as deep as the chain is long
)

// Parse reads a query. Its errors are of type *Error.
func Parse(text string) (Query, error) {
	if len(text) > MaxText {
		return nil, Invalid("input size too long (%d > %d)", len(text), MaxText)
	}
	words, err := (&lexer{src: text, line: 1, col: 1}).words()
	if err != nil {
		return nil, err
	}
	p := &parser{words: words}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	if w := p.peek(); w.kind != kindEnd {
		return nil, unexpected(w, nil)
	}
	return q, nil
}

// ParseLog reads a query that yields lines.
func ParseLog(text string) (*LogQuery, error) {
	q, err := Parse(text)
	if err != nil {
		return nil, err
	}
	log, ok := q.(*LogQuery)
	if !ok {
		return nil, Invalid("only log selector is supported")
	}
	return log, nil
}

// ParseSelector reads a selector alone, as endpoints that list streams take it. It may be empty: {}.
func ParseSelector(text string) ([]Matcher, error) {
	if len(text) > MaxText {
		return nil, Invalid("input size too long (%d > %d)", len(text), MaxText)
	}
	words, err := (&lexer{src: text, line: 1, col: 1}).words()
	if err != nil {
		return nil, err
	}
	p := &parser{words: words}
	matchers, err := p.selector()
	if err != nil {
		return nil, err
	}
	switch w := p.peek(); w.kind {
	case kindEnd:
		return matchers, nil
	case "|=", "!=", "|~", "!~", "|>", "!>", "|":
		return nil, &Error{Message: "only label matchers are supported"}
	default:
		return nil, unexpected(w, nil)
	}
}

// parser walks over the words of a query.
type parser struct {
	words []word
	at    int
	depth int
	nodes int
}

// peek returns the next word. The last one is the end and stays.
func (p *parser) peek() word { return p.words[p.at] }

// after returns the word behind the next one.
func (p *parser) after() word { return p.words[min(p.at+1, len(p.words)-1)] }

// take returns the next word and moves behind it.
func (p *parser) take() word {
	w := p.words[p.at]
	if p.at+1 < len(p.words) {
		p.at++
	}
	return w
}

// accept moves behind the next word if it is of a kind.
func (p *parser) accept(k kind) bool {
	if p.peek().kind != k {
		return false
	}
	p.take()
	return true
}

// expect returns the next word, which must be of a kind.
func (p *parser) expect(k kind) (word, error) {
	w := p.peek()
	if w.kind != k {
		return w, unexpected(w, []kind{k})
	}
	return p.take(), nil
}

// enter counts a node and goes one level deeper; leave goes back.
func (p *parser) enter() error {
	if p.depth++; p.depth > MaxDepth {
		return Invalid("the query nests deeper than the limit of %d", MaxDepth)
	}
	return p.count()
}

func (p *parser) leave() { p.depth-- }

// count counts a node.
func (p *parser) count() error {
	if p.nodes++; p.nodes > MaxNodes {
		return Invalid("the query has more than the limit of %d parts", MaxNodes)
	}
	return nil
}

// query reads a query with its binary operators.
func (p *parser) query() (Query, error) { return p.binary(0) }

// priorities tell how tightly operators bind.
var priorities = map[kind]int{
	"or": 1, "and": 2, "unless": 2, "==": 3, "!=": 3, ">": 3, ">=": 3, "<": 3, "<=": 3, "+": 4, "-": 4, "*": 5, "/": 5,
	"%": 5, "^": 6,
}

// binary reads operands and the operators between them that bind more tightly than a priority. Operators of one
// priority group to the left, those of powers to the right.
func (p *parser) binary(above int) (Query, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	for chain := 1; ; chain++ {
		w := p.peek()
		priority := priorities[w.kind]
		if priority <= above {
			return left, nil
		}
		if chain > MaxChain {
			return nil, Invalid("the query has a chain of more than the limit of %d operators", MaxChain)
		}
		p.take()
		e := &Binary{Op: BinaryOp(w.kind)}
		if err := p.modifiers(e); err != nil {
			return nil, err
		}
		bound := priority
		if w.kind == "^" {
			bound--
		}
		right, err := p.binary(bound)
		if err != nil {
			return nil, err
		}
		if left, err = p.combine(e, left, right); err != nil {
			return nil, err
		}
	}
}

// operand reads a log query, a call, a number or a query in parentheses.
func (p *parser) operand() (Query, error) {
	w := p.peek()
	switch w.kind {
	case "{":
		return p.logQuery()
	case "(":
		p.take()
		q, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		if _, err := p.expect(")"); err != nil {
			return nil, err
		}
		return q, nil
	case kindNumber, "+", "-":
		v, err := p.signedNumber()
		if err != nil {
			return nil, err
		}
		return &Literal{Value: v}, nil
	case "vector":
		return p.vectorCall()
	case "label_replace":
		return p.labelReplace()
	case "variants":
		return nil, &Error{Line: w.line, Col: w.col, Message: "variants queries are not supported"}
	}
	if _, ok := rangeOps[RangeOp(w.kind)]; ok {
		return p.rangeAggregation()
	}
	if _, ok := vectorOps[VectorOp(w.kind)]; ok {
		return p.vectorAggregation()
	}
	return nil, unexpected(w, nil)
}

// signedNumber reads a number, which may have a sign.
func (p *parser) signedNumber() (float64, error) {
	sign := 1.0
	if p.accept("-") {
		sign = -1
	} else {
		p.accept("+")
	}
	w, err := p.expect(kindNumber)
	if err != nil {
		return 0, err
	}
	if math.IsInf(w.num, 0) {
		return 0, &Error{Line: w.line, Col: w.col, Message: "number is too large: " + w.text}
	}
	return sign * w.num, nil
}

// logQuery reads a selector and the stages behind it.
func (p *parser) logQuery() (*LogQuery, error) {
	if err := p.count(); err != nil {
		return nil, err
	}
	matchers, err := p.selector()
	if err != nil {
		return nil, err
	}
	q := &LogQuery{Matchers: matchers}
	if q.Stages, err = p.pipeline(nil); err != nil {
		return nil, err
	}
	return q, checkMatchers(q.Matchers)
}

// selector reads matchers in braces.
func (p *parser) selector() (matchers []Matcher, err error) {
	err = p.list("{", "}", []kind{"}", ","}, func(name string) error {
		m, err := p.matcher(name)
		if err != nil {
			return err
		}
		matchers = append(matchers, m)
		return p.count()
	})
	return matchers, err
}

// list reads items between from and to, with commas in between. There may be none. An item begins with a name, and item
// reads what follows it. next are the two words that may follow an item, in the order of the error text.
func (p *parser) list(from, to kind, next []kind, item func(name string) error) error {
	if _, err := p.expect(from); err != nil {
		return err
	}
	if p.accept(to) {
		return nil
	}
	first := []kind{kindIdentifier, to}
	for {
		name := p.peek()
		if name.kind != kindIdentifier {
			return unexpected(name, first)
		}
		p.take()
		if err := item(name.text); err != nil {
			return err
		}
		if p.accept(to) {
			return nil
		}
		if !p.accept(",") {
			return unexpected(p.peek(), next)
		}
		first = []kind{kindIdentifier}
	}
}

// matcher reads operator and text of a matcher.
func (p *parser) matcher(name string) (Matcher, error) {
	op := p.peek()
	switch op.kind {
	case "=", "!=", "=~", "!~":
	default:
		return Matcher{}, unexpected(op, []kind{"=", "=~", "!~", "!="})
	}
	p.take()
	text, err := p.expect(kindString)
	if err != nil {
		return Matcher{}, err
	}
	m := Matcher{Name: name, Op: MatchOp(op.kind), Value: text.text}
	return m, checkMatcher(m)
}

// names reads names of labels in parentheses. There may be none.
func (p *parser) names() (names []string, err error) {
	err = p.list("(", ")", []kind{",", ")"}, func(name string) error {
		names = append(names, name)
		return nil
	})
	return names, err
}
