package parse

import (
	"strconv"
	"strings"
)

// Format returns a text's statements on one line each, keywords in capitals, each closed by a semicolon. Formatting the
// result changes nothing.
func Format(text string) (string, error) {
	list, err := Parse(text)
	if err != nil {
		return "", err
	}
	return PrintAll(list), nil
}

// PrintAll returns statements as Format does.
func PrintAll(list []Statement) string {
	var b strings.Builder
	for i, st := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Print(st))
		b.WriteByte(';')
	}
	return b.String()
}

// Print returns a statement as SQL on one line.
func Print(st Statement) string {
	w := &printer{}
	w.statement(st)
	return w.String()
}

// PrintExpr returns an expression as SQL.
func PrintExpr(x Expr) string {
	w := &printer{}
	w.expr(x, 0)
	return w.String()
}

// QuoteIdent returns a name as an identifier: bare when it reads back so, in double quotes otherwise.
func QuoteIdent(name string) string {
	if name != "" && !reserved[name] && !notAlias[name] && !keepQuoted[name] {
		l := lexer{src: name}
		if t, err := l.next(); err == nil && t.kind == tokWord && int(t.end) == len(name) && t.text == name {
			return name
		}
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// keepQuoted are names that are something else when they stand bare in an expression or a definition.
var keepQuoted = wordSet(
	`null true false interval timestamp date time datetime current_timestamp current_date current_time
	current_user localtimestamp session_user current_schema primary constraint array cast try_cast default exists all any some rollup cube grouping`)

// QuoteText returns a string literal.
func QuoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

type printer struct{ strings.Builder }

func (w *printer) put(parts ...string) {
	for _, s := range parts {
		w.WriteString(s)
	}
}

func (w *printer) ident(id Ident) {
	switch id.Quote {
	case '"', '`':
		w.put(`"`, strings.ReplaceAll(id.Name, `"`, `""`), `"`)
	case '\'':
		w.put(QuoteText(id.Name))
	default:
		w.put(id.Name)
	}
}

func (w *printer) idents(list []Ident) {
	for i, id := range list {
		if i > 0 {
			w.put(", ")
		}
		w.ident(id)
	}
}

func (w *printer) name(n Name) {
	for i, id := range n {
		if i > 0 {
			w.put(".")
		}
		w.ident(id)
	}
}

// quoted writes a name; parts that are words of the grammar are quoted.
func (w *printer) quoted(n Name) {
	for i, id := range n {
		if id.Quote == 0 && QuoteIdent(id.Name) != id.Name {
			id.Quote = '"'
		}
		w.put(textIf(i > 0, "."))
		w.ident(id)
	}
}

func (w *printer) exprs(list []Expr) {
	for i, x := range list {
		if i > 0 {
			w.put(", ")
		}
		w.expr(x, 0)
	}
}

// expr prints x; parentheses go around it when its operator binds no stronger than min.
func (w *printer) expr(x Expr, min int) {
	switch x := x.(type) {
	case *Literal:
		w.literal(x)
	case *Column:
		if word := x.Parts[0]; word.Name == "all" || word.Name == "default" { // bare they mean something else
			w.quoted(x.Parts)
		} else {
			w.name(x.Parts)
		}
	case *Unary:
		w.unary(x, min)
	case *Binary:
		w.binary(x, min)
	case *Is:
		w.open(powIs <= min)
		w.expr(x.X, powIs-1)
		w.put(" IS ", negated(x.Not), strings.ToUpper(x.What))
		w.close(powIs <= min)
	case *Between, *In, *Like:
		w.open(powLike <= min)
		w.likeExpr(x)
		w.close(powLike <= min)
	case *Exists:
		w.put("EXISTS ")
		w.parenQuery(x.Query)
	case *Quantified:
		w.quantified(x, min)
	case *All:
		w.put("ALL")
	case *Subquery:
		w.parenQuery(x.Query)
	case *Case:
		w.caseExpr(x)
	case *Cast:
		w.put(map[bool]string{true: "TRY_CAST(", false: "CAST("}[x.Try])
		w.expr(x.X, 0)
		w.put(" AS ", x.Type.String(), ")")
	case *Interval:
		w.put("INTERVAL ", QuoteText(x.Text))
	case *Array:
		w.put("[")
		w.exprs(x.Items)
		w.put("]")
	case *Index:
		w.expr(x.X, powPostfix)
		w.put("[")
		w.expr(x.I, 0)
		w.put("]")
	case *Tuple:
		w.put(map[bool]string{true: "ROW"}[len(x.Items) == 1], "(")
		w.exprs(x.Items)
		w.put(")")
	case *Struct:
		w.object(x)
	case *Default:
		w.open(min > 0)
		w.put("DEFAULT")
		w.close(min > 0)
	case *AtTimeZone:
		w.expr(x.X, powPostfix)
		w.put(" AT TIME ZONE ")
		w.expr(x.Zone, powPostfix)
	case *Range:
		if c, ok := x.X.(*Column); ok { // a bare OFFSET would be the clause
			w.quoted(c.Parts)
		} else {
			w.expr(x.X, powPostfix)
		}
		w.put(" RANGE ")
		w.parenUnlessText(x.Span)
		w.fill(x.Fill)
	case *Call:
		w.call(x)
	case *Lambda:
		w.put("lambda ")
		w.idents(x.Params)
		w.put(": ")
		w.expr(x.Body, 0)
	case *Slot: // not as a name would be: there may be several of that name
		w.put(QuoteIdent(x.Name), "#", strconv.Itoa(x.Index))
	case *Columns:
		w.columns(x)
	}
}

func (w *printer) unary(x *Unary, min int) {
	pow, op := powUnary, x.Op
	if op == "not" {
		pow, op = powNot, "NOT "
	}
	w.open(pow < min)
	w.put(op)
	if lit, ok := x.X.(*Literal); ok && op == "-" && lit.Kind == NumberLiteral { // -(1) is not the literal -1
		w.put("(")
		w.expr(x.X, 0)
		w.put(")")
	} else {
		if inner, ok := x.X.(*Unary); ok && inner.Op == x.Op && op != "NOT " {
			w.put(" ")
		}
		w.expr(x.X, pow)
	}
	w.close(pow < min)
}

func (w *printer) object(x *Struct) {
	w.put("{")
	for i, k := range x.Keys {
		if i > 0 {
			w.put(", ")
		}
		w.put(QuoteText(k), ": ")
		w.expr(x.Items[i], 0)
	}
	w.put("}")
}

func (w *printer) columns(x *Columns) {
	if len(x.Star.Table) > 0 {
		w.name(x.Star.Table)
		w.put(".")
	}
	w.put("COLUMNS(")
	if x.Match != nil {
		w.expr(x.Match, 0)
	} else {
		bare := *x.Star
		bare.Table = nil
		w.item(SelectItem{Star: &bare})
	}
	w.put(")")
}

func (w *printer) open(paren bool) {
	if paren {
		w.put("(")
	}
}

func (w *printer) close(paren bool) {
	if paren {
		w.put(")")
	}
}

// negated is the word NOT, or nothing.
func negated(n bool) string {
	if n {
		return "NOT "
	}
	return ""
}

func (w *printer) literal(x *Literal) {
	switch x.Kind {
	case NullLiteral:
		w.put("NULL")
	case TrueLiteral:
		w.put("TRUE")
	case FalseLiteral:
		w.put("FALSE")
	case NumberLiteral:
		w.put(x.Text)
	case StringLiteral:
		w.put(QuoteText(x.Text))
	case HexLiteral:
		w.put("x", QuoteText(x.Text))
	}
}

func (w *printer) binary(x *Binary, min int) {
	pow := binaryPower[x.Op]
	if strings.HasPrefix(x.Op, "is ") {
		pow = powIs
	}
	// The left spine is walked in a loop: chains may be longer than the stack should be deep.
	spine := []*Binary{x}
	for {
		l, ok := spine[len(spine)-1].L.(*Binary)
		if !ok || binaryPower[l.Op] != pow || pow == powIs {
			break
		}
		spine = append(spine, l)
	}
	w.open(pow <= min)
	w.expr(spine[len(spine)-1].L, pow-1)
	for i := len(spine) - 1; i >= 0; i-- {
		w.put(" ", strings.ToUpper(spine[i].Op), " ")
		w.expr(spine[i].R, pow)
	}
	w.close(pow <= min)
}

func (w *printer) likeExpr(x Expr) {
	switch x := x.(type) {
	case *Between:
		w.expr(x.X, powLike-1)
		w.put(" ", negated(x.Not), "BETWEEN ", map[bool]string{true: "SYMMETRIC "}[x.Symmetric])
		w.expr(x.Lo, powLike)
		w.put(" AND ")
		w.expr(x.Hi, powLike)
	case *In:
		w.expr(x.X, powLike-1)
		w.put(" ", negated(x.Not), "IN ")
		if x.Query != nil {
			w.parenQuery(x.Query)
			return
		}
		w.put("(")
		w.exprs(x.List)
		w.put(")")
	case *Like:
		w.expr(x.X, powLike-1)
		w.put(" ", negated(x.Not), strings.ToUpper(x.Op), " ")
		w.expr(x.Pattern, powLike)
		if x.Escape != "" {
			w.put(" ESCAPE ", QuoteText(x.Escape))
		}
	}
}

// quantified prints x op ANY (..), which binds as its operator does.
func (w *printer) quantified(x *Quantified, min int) {
	pow := binaryPower[x.Op]
	if pow == 0 {
		pow = powLike
	}
	w.open(pow <= min)
	w.expr(x.X, pow-1)
	w.put(" ", strings.ToUpper(x.Op), map[bool]string{true: " ALL ", false: " ANY "}[x.All])
	if x.Query != nil {
		w.parenQuery(x.Query)
	} else {
		w.put("(")
		w.exprs(x.List)
		w.put(")")
	}
	w.close(pow <= min)
}

func (w *printer) caseExpr(x *Case) {
	w.put("CASE ")
	if x.Operand != nil {
		w.expr(x.Operand, 0)
		w.put(" ")
	}
	for _, arm := range x.Whens {
		w.put("WHEN ")
		w.expr(arm.If, 0)
		w.put(" THEN ")
		w.expr(arm.Then, 0)
		w.put(" ")
	}
	if x.Else != nil {
		w.put("ELSE ")
		w.expr(x.Else, 0)
		w.put(" ")
	}
	w.put("END")
}

func (w *printer) call(x *Call) {
	if x.NoParens { // the word itself, or @@name
		w.put(x.Name)
		return
	}
	w.put(quoteFunction(x.Name))
	w.put("(")
	if x.Star {
		w.put("*")
	}
	if x.Distinct {
		w.put("DISTINCT ")
	}
	w.exprs(x.Args)
	if len(x.OrderBy) > 0 && !x.Within {
		w.put(" ORDER BY ")
		w.orderItems(x.OrderBy)
	}
	w.put(")")
	if x.Within {
		w.put(" WITHIN GROUP (ORDER BY ")
		w.orderItems(x.OrderBy)
		w.put(")")
	}
	if x.IgnoreNulls {
		w.put(" IGNORE NULLS")
	}
	if x.Filter != nil {
		w.put(" FILTER (WHERE ")
		w.expr(x.Filter, 0)
		w.put(")")
	}
	if x.Over != nil {
		w.put(" OVER ")
		if bare := x.Over.Partition == nil && x.Over.OrderBy == nil && x.Over.Frame == nil; bare && x.Over.Ref != "" {
			w.put(QuoteIdent(x.Over.Ref))
			return
		}
		w.window(x.Over)
	}
}

// notFunction are words that do not begin a call even before a parenthesis.
var notFunction = wordSet("select from where case when cast try_cast exists not interval null true false")

// quoteFunction quotes a function's name as it reads back before a parenthesis.
func quoteFunction(name string) string {
	l := lexer{src: name}
	if t, err := l.next(); err == nil && t.kind == tokWord && int(t.end) == len(name) && t.text == name &&
		!notFunction[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func (w *printer) window(v *Window) {
	w.put("(")
	sep := ""
	if v.Ref != "" {
		w.put(QuoteIdent(v.Ref))
		sep = " "
	}
	if len(v.Partition) > 0 {
		w.put(sep, "PARTITION BY ")
		w.exprs(v.Partition)
		sep = " "
	}
	if len(v.OrderBy) > 0 {
		w.put(sep, "ORDER BY ")
		w.orderItems(v.OrderBy)
		sep = " "
	}
	if v.Frame != nil {
		w.put(sep, strings.ToUpper(v.Frame.Mode), " BETWEEN ")
		w.bound(v.Frame.From)
		w.put(" AND ")
		w.bound(v.Frame.To)
		if v.Frame.Exclude != "" {
			w.put(" EXCLUDE ", strings.ToUpper(v.Frame.Exclude))
		}
	}
	w.put(")")
}

func (w *printer) bound(b Bound) {
	if b.N != nil {
		w.expr(b.N, powLike)
		w.put(" ")
	}
	w.put(strings.ToUpper(b.Kind))
}

func (w *printer) orderItems(list []OrderItem) {
	for i, o := range list {
		if i > 0 {
			w.put(", ")
		}
		w.expr(o.X, 0)
		if o.Desc {
			w.put(" DESC")
		}
		if o.Nulls != "" {
			w.put(" NULLS ", strings.ToUpper(o.Nulls))
		}
	}
}

func (w *printer) fill(f *Fill) {
	if f == nil {
		return
	}
	w.put(" FILL ")
	if f.Kind != "value" {
		w.put(strings.ToUpper(f.Kind))
		return
	}
	w.expr(f.Value, powLike)
}

// parenUnlessText prints the span of RANGE or ALIGN.
func (w *printer) parenUnlessText(x Expr) {
	if l, ok := x.(*Literal); ok && l.Kind != HexLiteral {
		w.expr(x, 0)
		return
	}
	w.put("(")
	w.expr(x, 0)
	w.put(")")
}

func (w *printer) parenQuery(q *Query) {
	w.put("(")
	w.query(q)
	w.put(")")
}
