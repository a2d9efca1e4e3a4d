package pgwire

import (
	"context"
	"slices"
	"strings"

	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// castLiteral is what stands for a cast of a literal, which clients write in the forms of their server: bytes as
// \x00ff, lists as {1,2}, times in the zone of the session.
func (k *conn) castLiteral(c *parse.Cast) (parse.Expr, error) {
	if decimal := c.Type.Name == "NUMERIC" || c.Type.Name == "DECIMAL"; decimal && !c.Type.IsArray &&
		c.Type.Args == nil {
		return castDecimal(c)
	}
	if a, ok := c.X.(*parse.Array); ok && c.Type.IsArray && !c.Try {
		return k.castItems(c, a)
	}
	lit, ok := c.X.(*parse.Literal)
	if !ok || lit.Kind != parse.StringLiteral || c.Try {
		return c, nil
	}
	t, err := c.Type.Resolve()
	if err != nil { // the cast itself says so
		return c, nil
	}
	switch t.ID {
	case vector.TypeBinary:
		digits, err := readBytea(lit.Text)
		if err != nil {
			return nil, fail("22P02", err.Error())
		}
		return &parse.Literal{Node: c.Node, Kind: parse.HexLiteral, Text: digits}, nil
	case vector.TypeTimestamp:
		if lit.Text, err = inZone(lit.Text, k.session.Zone); err != nil {
			return nil, err
		}
	case vector.TypeDate:
		if lit.Text, err = readTime(lit.Text); err != nil {
			return nil, err
		}
	case vector.TypeList:
		return k.castList(c, lit.Text)
	}
	return c, nil
}

// castDecimal gives a cast to a decimal number without digits as many as the number has.
func castDecimal(c *parse.Cast) (parse.Expr, error) {
	switch x := c.X.(type) {
	case *parse.Cast: // of a parameter
		if lit, ok := x.X.(*parse.Literal); ok && lit.Kind == parse.StringLiteral && x.Type.Name == "DECIMAL" {
			return x, nil
		}
	case *parse.Literal:
		if x.Kind != parse.StringLiteral && x.Kind != parse.NumberLiteral || c.Try {
			break
		}
		text, err := readDecimal(x.Text)
		if err != nil {
			return nil, err
		}
		c.X = &parse.Literal{Node: x.Node, Kind: parse.StringLiteral, Text: text}
		c.Type.Args = decimalOf(text)
	}
	return c, nil
}

// castItems casts the items of ARRAY[..] where texts are among them, which may be times in the zone of the session.
func (k *conn) castItems(c *parse.Cast, a *parse.Array) (parse.Expr, error) {
	t := c.Type
	t.IsArray = false
	if _, err := t.Resolve(); err != nil { // the cast itself says so
		return c, nil
	}
	if len(a.Items) == 0 {
		return emptyList(t, c.Node), nil
	}
	text := func(x parse.Expr) bool {
		lit, ok := x.(*parse.Literal)
		return ok && (lit.Kind == parse.StringLiteral || lit.Kind == parse.NullLiteral)
	}
	nested := func(x parse.Expr) bool { _, ok := x.(*parse.Array); return ok }
	if slices.ContainsFunc(a.Items, nested) || !slices.ContainsFunc(a.Items, text) {
		return c, nil
	}
	list := &parse.Array{Node: a.Node}
	for _, x := range a.Items {
		item, err := k.cast(&parse.Cast{Node: c.Node, X: x, Type: t})
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, item)
	}
	return &parse.Cast{Node: c.Node, X: list, Type: c.Type}, nil
}

// castList is a list of the elements of a text {a,b}.
func (k *conn) castList(c *parse.Cast, text string) (parse.Expr, error) {
	t := c.Type
	t.IsArray = false
	one, err := t.Resolve()
	if err != nil {
		return c, nil
	}
	list, err := readList(oidOf(one), text)
	if err != nil {
		return nil, fail("22P02", err.Error())
	}
	if len(list) == 0 {
		return emptyList(t, c.Node), nil
	}
	a := &parse.Array{Node: c.Node}
	for _, v := range list {
		lit := &parse.Literal{Node: c.Node, Kind: parse.StringLiteral, Text: v.text}
		var x parse.Expr = lit
		switch {
		case v.null: // of the type of the others, which may be NULL as well
			lit.Kind, lit.Text = parse.NullLiteral, ""
			x = &parse.Cast{Node: c.Node, X: lit, Type: t}
		case one.ID == vector.TypeBinary:
			lit.Kind = parse.HexLiteral
		default:
			if x, err = k.cast(&parse.Cast{Node: c.Node, X: lit, Type: t}); err != nil {
				return nil, err
			}
		}
		a.Items = append(a.Items, x)
	}
	return &parse.Cast{Node: c.Node, X: a, Type: c.Type}, nil
}

// listOf are the values of a text {a,b} in ANY or ALL. They are texts, which are read as what they are compared with.
func listOf(text *parse.Literal) ([]parse.Expr, error) {
	list, err := readList(oidText, text.Text)
	if err != nil {
		return nil, fail("22P02", err.Error())
	}
	if len(list) == 0 {
		return []parse.Expr{emptyList(sqlType(text.Node, "STRING"), text.Node)}, nil
	}
	out := make([]parse.Expr, len(list))
	for i, v := range list {
		if out[i] = textOf(text.Node, v.text); v.null {
			out[i] = &parse.Literal{Node: text.Node, Kind: parse.NullLiteral}
		}
	}
	return out, nil
}

// insert reads the literals that an INSERT stores as bytes. Only texts with a backslash are written in another way than
// the bytes themselves.
func (k *conn) insert(st *parse.Insert) error {
	var rows [][]parse.Expr
	rows = append(rows, st.Rows...)
	if st.Query != nil {
		rows = append(rows, selected(st.Query.Body, nil)...)
	}
	if !slices.ContainsFunc(rows, func(row []parse.Expr) bool { return slices.ContainsFunc(row, escapedText) }) ||
		k.s.o.Statements.Allows(k.user, st) != nil { // execution refuses it
		return nil
	}
	ctx, cancel := k.work()
	defer cancel(nil)
	fields, err := k.tableFields(ctx, st.Table)
	if err != nil { // a literal that is not looked at would be stored as other bytes
		return err
	}
	columns := storedIn(st, fields)
	for _, row := range rows {
		for i, x := range row {
			if i >= len(columns) || columns[i].ID != vector.TypeBinary || !escapedText(x) {
				continue
			}
			lit := x.(*parse.Literal)
			digits, err := readBytea(lit.Text)
			if err != nil {
				return fail("22P02", err.Error())
			}
			lit.Kind, lit.Text = parse.HexLiteral, digits
		}
	}
	return nil
}

// readBytes makes bytes of the texts with a backslash that are compared with bytes, as clients write them. They are
// looked at as parameters are, whose type is that of what is beside them.
func (k *conn) readBytes(ctx context.Context, st parse.Statement, texts []*parse.Literal) error {
	const most = 10_000 // each may cost a plan
	if len(texts) == 0 || len(texts) > most || k.s.o.Statements.Allows(k.user, st) != nil {
		return nil
	}
	f := &inference{k: k, ctx: ctx, types: make([]uint32, len(texts)), marks: map[parse.Expr]int{}}
	for i, x := range texts {
		if x.Kind == parse.StringLiteral { // it is not read yet
			f.marks[x] = i + 1
		}
	}
	view, isView := st.(*parse.CreateView)
	if isView && view.Query != nil {
		f.query(view.Query, nil)
	} else {
		f.statement(st)
	}
	changed := false
	for i, x := range texts {
		if f.types[i] != oidBytea || x.Kind != parse.StringLiteral {
			continue
		}
		digits, err := readBytea(x.Text)
		if err != nil {
			return fail("22P02", err.Error())
		}
		x.Kind, x.Text, changed = parse.HexLiteral, digits, true
	}
	if isView && changed {
		return view.Rewrite()
	}
	return nil
}

// columnDefault reads the default of a column of bytes as bytes.
func (k *conn) columnDefault(table parse.Name, column string, t *parse.DataType, x parse.Expr) (parse.Expr, error) {
	if !escapedText(x) {
		return x, nil
	}
	var of vector.Type
	if t != nil {
		var err error
		if of, err = t.Resolve(); err != nil { // execution says so
			return x, nil
		}
	} else {
		ctx, cancel := k.work()
		defer cancel(nil)
		fields, err := k.tableFields(ctx, table)
		if err != nil { // a literal that is not looked at would be kept as other bytes
			return nil, err
		}
		for _, f := range fields {
			if f.Name == column {
				of = f.Type
			}
		}
	}
	if of.ID != vector.TypeBinary {
		return x, nil
	}
	lit := x.(*parse.Literal)
	digits, err := readBytea(lit.Text)
	if err != nil {
		return nil, fail("22P02", err.Error())
	}
	return &parse.Literal{Node: lit.Node, Kind: parse.HexLiteral, Text: digits}, nil
}

func escapedText(x parse.Expr) bool {
	lit, ok := x.(*parse.Literal)
	return ok && lit.Kind == parse.StringLiteral && strings.Contains(lit.Text, `\`)
}

// selected are the expressions of the rows of a query, one list for each SELECT of it. An expression after a star is
// none, as its place is not known, unless all columns are those of one query in FROM.
func selected(b parse.Body, rows [][]parse.Expr) [][]parse.Expr {
	switch b := b.(type) {
	case *parse.Query:
		return selected(b.Body, rows)
	case *parse.SetOp:
		return selected(b.R, selected(b.L, rows))
	case *parse.Values:
		return append(rows, b.Rows...)
	case *parse.Select:
		inner := innerOf(b)
		if len(b.Items) == 1 && inner != nil {
			if star := b.Items[0].Star; star != nil && len(star.Exclude)+len(star.Replace)+len(star.Rename) == 0 {
				return selected(inner.Query.Body, rows)
			}
		}
		var row []parse.Expr
		for _, it := range b.Items {
			if it.Star != nil || it.X == nil {
				break
			}
			row = append(row, it.X)
		}
		rows = append(rows, row)
		if inner != nil {
			rows = append(rows, passed(row, inner)...)
		}
	}
	return rows
}

// innerOf is the query in FROM that a SELECT reads alone; nil: it reads more, or others.
func innerOf(s *parse.Select) *parse.Derived {
	if len(s.From) != 1 {
		return nil
	}
	d, _ := s.From[0].(*parse.Derived)
	return d
}

// passed are the expressions of the rows of a query in FROM at the places of the columns of a SELECT that take them
// over; nil where a column is something else.
func passed(row []parse.Expr, d *parse.Derived) [][]parse.Expr {
	if d.Alias == nil || len(d.Alias.Columns) == 0 {
		return nil
	}
	var rows [][]parse.Expr
	for _, values := range selected(d.Query.Body, nil) {
		over := make([]parse.Expr, len(row))
		for i, x := range row {
			c, ok := x.(*parse.Column)
			if !ok || len(c.Parts) > 2 || len(c.Parts) == 2 && c.Parts[0].Name != d.Alias.Name.Name {
				continue
			}
			at := slices.IndexFunc(d.Alias.Columns, func(id parse.Ident) bool {
				return id.Name == c.Parts[len(c.Parts)-1].Name
			})
			if at >= 0 && at < len(values) {
				over[i] = values[at]
			}
		}
		rows = append(rows, over)
	}
	return rows
}

// storedIn are the types of the columns that the values of a row of an INSERT are stored in.
func storedIn(st *parse.Insert, fields []vector.Field) (list []vector.Type) {
	if st.Columns == nil {
		for _, f := range fields {
			list = append(list, f.Type)
		}
	}
	types := map[string]vector.Type{}
	for _, f := range fields {
		types[f.Name] = f.Type
	}
	for _, id := range st.Columns {
		list = append(list, types[id.Name]) // no type: there is no such column
	}
	return list
}
