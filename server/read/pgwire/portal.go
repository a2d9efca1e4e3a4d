package pgwire

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/vector"
	"varve/sqlexec"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
)

// maxPortals bounds the portals of a connection, cursors included.
const maxPortals = 64

// portal is a statement with its values, and its rows as far as they are sent.
type portal struct {
	text    string
	command *command
	st      parse.Statement // nil for commands and empty texts
	release func()          // gives back the memory of st
	held    *exec.Budget    // of the values; nil: there are none
	formats []int16
	values  []value   // of the parameters of a command
	configs []config  // calls of set_config and pg_sleep
	told    *prepared // whose columns the client knows; nil: it was told none
	silent  bool      // rows are passed over
	copy    *copying  // how rows are written; nil: as messages of rows
	scratch []byte
	catalog bool // it reads the catalog, see oidAs

	ctx    context.Context // of the statement
	cancel context.CancelCauseFunc

	result *sqlexec.Result // nil: it has not begun
	fields []vector.Field
	batch  vector.Batch
	cells  []cell
	at     int   // rows of the batch that are sent
	sent   int64 // rows that are sent, those that were passed over included
	over   bool
	kept   int64 // bytes of the answer that the statement has reserved
}

// Bytes of memory beside texts: of a value, and of the expression that stands for it or for an element of it.
const (
	valueBytes = 64
	exprBytes  = 384
)

// elements is the number of expressions that a value becomes.
func (v *value) elements() int64 { return 1 + int64(len(v.list)) }

// bytes is about the memory of a value.
func (v *value) bytes() int64 {
	n := valueBytes + int64(len(v.text))
	for i := range v.list {
		n += v.list[i].bytes()
	}
	return n
}

// newPortal reads the statement of a text with the values of its parameters, and counts the values.
func (k *conn) newPortal(text string, values []value) (*portal, error) {
	if len(values) == 0 {
		return k.portalOf(text, nil, nil)
	}
	var bytes int64
	for i := range values {
		bytes += values[i].bytes()
	}
	held := k.allowance.Idle(k.s.ctx)
	if err := held.Reserve(bytes); err != nil {
		held.Close()
		return nil, err
	}
	return k.portalOf(text, values, held)
}

// portalOf reads the statement of a text with values, which held counts. The portal closes held, also where there is an
// error.
func (k *conn) portalOf(text string, values []value, held *exec.Budget) (*portal, error) {
	p := &portal{text: text, release: func() {}, held: held}
	p.ctx, p.cancel = k.work()
	dialect := k.dialect(func(n int, at parse.Node) (parse.Expr, error) {
		if n > len(values) {
			return nil, fail("42P02", fmt.Sprintf("there is no parameter $%d", n))
		}
		if err := held.Reserve(exprBytes * values[n-1].elements()); err != nil {
			return nil, err
		}
		return values[n-1].expr(at), nil
	}, &p.catalog)
	var escaped []*parse.Literal
	dialect.Text = func(x *parse.Literal) { escaped = append(escaped, x) }
	k.binding, k.configs = true, nil
	list, release, err := k.s.o.Executor.ParseDialect(p.ctx, text, dialect)
	k.binding, p.configs = false, k.configs
	p.release = release
	if err == nil && len(list) != 1 {
		err = fail("42601", "cannot insert multiple commands into a prepared statement")
	}
	if err != nil {
		p.end()
		return nil, err
	}
	p.st = list[0]
	if err := k.readBytes(p.ctx, p.st, escaped); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// keep makes a portal known by name, and counts its text. The portal without a name takes the place of the one before.
func (k *conn) keep(name string, p *portal) error {
	if name == "" {
		k.closePortal("")
	}
	switch {
	case len(name) > maxName:
		p.end()
		return checkName(name)
	case k.portals[name] != nil:
		p.end()
		return fail("42P03", fmt.Sprintf("portal %q already exists", name))
	case len(k.portals) >= maxPortals:
		p.end()
		return fail("53000", fmt.Sprintf("the connection has %d portals, which is the limit", maxPortals))
	}
	if len(p.text) > smallBytes { // which its literals are part of
		if p.held == nil {
			p.held = k.allowance.Idle(k.s.ctx)
		}
		if err := p.held.Reserve(int64(len(p.text))); err != nil {
			p.end()
			return err
		}
	}
	if k.portals == nil {
		k.portals = map[string]*portal{}
	}
	k.portals[name] = p
	return nil
}

func (k *conn) closePortal(name string) {
	if p := k.portals[name]; p != nil {
		p.end()
		delete(k.portals, name)
	}
}

func (k *conn) closePortals() {
	for name := range k.portals {
		k.closePortal(name)
	}
}

// end closes the rows and gives back what the portal holds.
func (p *portal) end() {
	if p.result != nil && p.result.Rows != nil && !p.over {
		p.result.Rows.Close()
	}
	p.over = true
	if p.cancel != nil {
		p.cancel(nil)
	}
	p.release()
	p.release = func() {}
	p.values, p.st = nil, nil
	p.held.Close()
	p.batch, p.cells = vector.Batch{}, nil
}

// begin runs the statement, unless it runs.
func (k *conn) execute(p *portal) error {
	if p.result != nil || p.command != nil || p.st == nil {
		return nil
	}
	writes := k.s.o.Statements.Writes(p.st)
	if writes && (k.readOnly || k.state == idleState && k.settings.value("default_transaction_read_only") == "on") {
		return fail("25006", "cannot execute the statement in a read-only transaction")
	}
	if err := k.configure(p.ctx, p.st, p.configs); err != nil {
		return err
	}
	r, err := k.s.o.Statements.Execute(p.ctx, k.user, k.session, p.st)
	if err != nil {
		return err
	}
	if p.result, p.fields = r, r.Fields; r.Rows == nil {
		p.over = true
	}
	if p.told != nil && !sameTypes(p.told.fields, p.fields) {
		return fail("0A000", "cached plan must not change result type")
	}
	if _, ok := p.st.(*parse.Use); ok {
		k.settings.put(k, known["search_path"], "search_path", quotedName(k.session.DB))
	}
	if writes && k.state == openState {
		k.wrote++
		return k.session.Begin() // what was written is seen
	}
	return nil
}

// sameTypes reports whether clients read rows of both columns alike.
func sameTypes(a, b []vector.Field) bool {
	return slices.EqualFunc(a, b, func(x, y vector.Field) bool { return oidOf(x.Type) == oidOf(y.Type) })
}

// place runs a part of a statement's work in its place among those that run.
func (k *conn) place(p *portal, part func() error) error {
	return k.run(p.ctx, p.cancel, func() error {
		leave, err := k.s.o.Statements.Enter(p.ctx, p.st, k.s.o.Crowded)
		if err != nil {
			return err
		}
		defer leave()
		return part()
	})
}

// describe tells the columns of a portal's rows.
func (k *conn) describe(p *portal) error {
	if p.command != nil {
		fields, err := k.commandFields(p.command)
		if err == nil {
			k.columns(fields, p.formats, k.commandReads(p.command))
		}
		return err
	}
	if p.st == nil || p.result == nil && !answers(p.st) {
		k.send(&pgproto3.NoData{})
		return nil
	}
	fields := p.fields
	err := k.place(p, func() (err error) {
		if p.result == nil && k.s.o.Statements.Writes(p.st) { // which only Execute may do
			if err := k.s.o.Statements.Allows(k.user, p.st); err != nil {
				return err
			}
			fields, err = k.s.o.Executor.Describe(p.ctx, k.session, p.st)
			return err
		}
		err = k.execute(p)
		fields = p.fields
		return err
	})
	if err != nil {
		return err
	}
	k.columns(callNames(p.st, fields), p.formats, p.catalog)
	return nil
}

// answers reports whether a statement answers with rows.
func answers(st parse.Statement) bool {
	switch st.(type) {
	case *parse.SelectStmt, *parse.Show, *parse.Describe, *parse.Explain, *parse.TQL, *parse.Admin:
		return true
	}
	return false
}

// columns tells the columns of rows, or that there are none; catalog: they are those of a statement that reads it.
func (k *conn) columns(fields []vector.Field, formats []int16, catalog bool) {
	if fields == nil {
		k.send(&pgproto3.NoData{})
		return
	}
	m := &pgproto3.RowDescription{}
	for i, f := range fields {
		oid := oidAs(f.Type, catalog)
		name := []byte(shownName(f.Name))
		m.Fields = append(m.Fields, pgproto3.FieldDescription{Name: name, DataTypeOID: oid,
			DataTypeSize: sizeOf(oid), TypeModifier: -1, Format: formatOf(formats, i)})
	}
	k.send(m)
}

// valueMarks begin a value in the name of a column that has no alias.
var valueMarks = []string{`Utf8("`, `Binary("`, "Int64(", "UInt64(", "Float64(", "Boolean(", `IntervalMonthDayNano("`}

// shownName is the name of a column as clients see it. One that is an expression with values in it, such as
// length(Utf8("secret")), is shown without them: as its function, else as ?column?.
func shownName(name string) string {
	for _, mark := range valueMarks {
		at := strings.Index(name, mark)
		if at < 0 {
			continue
		}
		if open := strings.IndexByte(name, '('); open > 0 && open < at && name[len(name)-1] == ')' &&
			strings.IndexFunc(name[:open], func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) < 0 {
			return name[:open]
		}
		return "?column?"
	}
	if name == "NULL" {
		return "?column?"
	}
	return name
}

// callNames gives columns that are calls without an alias the names of their functions, as clients expect them: count
// instead of count(*).
func callNames(st parse.Statement, fields []vector.Field) []vector.Field {
	s, ok := st.(*parse.SelectStmt)
	if !ok || s.Query == nil {
		return fields
	}
	one, ok := s.Query.Body.(*parse.Select)
	if !ok || len(one.Items) != len(fields) {
		return fields
	}
	named := slices.Clone(fields)
	for i, item := range one.Items {
		c, ok := item.X.(*parse.Call)
		if item.Star != nil { // of one column, or of many in place of others
			return fields
		}
		if ok && item.Alias == nil {
			named[i].Name = strings.TrimPrefix(c.Name, "@@")
			if isArrayQuery(c) {
				named[i].Name = "array"
			}
		} else if _, ok := item.X.(*parse.Case); ok && item.Alias == nil {
			named[i].Name = "case"
		}
	}
	return named
}

// isArrayQuery reports whether a call stands for ARRAY(query).
func isArrayQuery(c *parse.Call) bool {
	if c.Name != "coalesce" || len(c.Args) != 2 {
		return false
	}
	list, ok := c.Args[1].(*parse.Array)
	return ok && len(list.Items) == 0 && parse.QueryOf(c.Args[0]) != nil
}

// formatOf is the format of a column: 0 text, 1 binary. One format stands for all columns, none for text.
func formatOf(formats []int16, i int) int16 {
	switch {
	case len(formats) == 1:
		return formats[0]
	case i < len(formats):
		return formats[i]
	}
	return 0
}

// rows sends at most most rows of a portal, below zero all. tell sends the columns first. more reports that rows may be
// left.
func (k *conn) rows(p *portal, most int64, tell bool) (more bool, err error) {
	err = k.place(p, func() error {
		if err := k.execute(p); err != nil {
			return err
		}
		switch {
		case p.copy != nil:
			k.copyColumns(p.copy, p.fields)
		case tell && p.fields != nil:
			k.columns(callNames(p.st, p.fields), p.formats, p.catalog)
		}
		for left := most; !p.over && left != 0; {
			if p.at == p.batch.N {
				ok, err := p.result.Rows.Next(&p.batch)
				if err != nil {
					return err
				}
				if p.at = 0; !ok {
					p.batch.N = 0
					p.result.Rows.Close()
					p.over = true
					return nil
				}
				k.choose(p)
			}
			n := p.batch.N - p.at
			if left > 0 {
				n = int(min(int64(n), left))
				left -= int64(n)
			}
			if err := k.batch(p, n); err != nil {
				return err
			}
		}
		return nil
	})
	return !p.over, err
}

// choose finds how the columns of a batch are written.
func (k *conn) choose(p *portal) {
	p.cells = p.cells[:0]
	for i, v := range p.batch.Cols {
		if formatOf(p.formats, i) == 1 {
			p.cells = append(p.cells, binaryCellAs(v, k.session.Zone, p.catalog))
		} else {
			p.cells = append(p.cells, textCell(v, k.session.Zone))
		}
	}
}

// batch appends the next n rows of the batch, and sends what is enough.
func (k *conn) batch(p *portal, n int) error {
	if p.silent {
		p.at += n
		p.sent += int64(n)
		return nil
	}
	for range n {
		at := len(k.out)
		if p.copy != nil {
			k.out = p.copy.appendRow(k.out, p)
		} else {
			k.out = p.appendRow(k.out)
		}
		p.at++
		p.sent++
		if len(k.out) < flushBytes {
			continue
		}
		if grown := int64(cap(k.out)) - p.kept; grown > 4*flushBytes && p.result.Reserve != nil { // a long row
			if err := p.result.Reserve(grown); err != nil {
				k.out = k.out[:at]
				return err
			}
			p.kept += grown
		}
		if err := k.flush(); err != nil {
			return err
		}
	}
	return nil
}

// appendRow appends the message of a row.
func (p *portal) appendRow(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, 'D', 0, 0, 0, 0)
	dst = be.AppendUint16(dst, uint16(len(p.cells)))
	for c, write := range p.cells {
		dst = appendCell(dst, p.batch.Cols[c], write, p.at)
	}
	be.PutUint32(dst[at+1:], uint32(len(dst)-at-1))
	return dst
}

// tag is what a statement has done, as clients read it; rows are those that it has sent just now.
func (p *portal) tag(rows int64) string {
	switch p.st.(type) {
	case *parse.SelectStmt, *parse.TQL:
		return fmt.Sprintf("SELECT %d", rows)
	case *parse.Insert:
		return fmt.Sprintf("INSERT 0 %d", p.result.Affected)
	case *parse.Delete:
		return fmt.Sprintf("DELETE %d", p.result.Affected)
	case *parse.Copy:
		return fmt.Sprintf("COPY %d", p.result.Affected)
	case *parse.Show, *parse.Describe:
		return "SHOW"
	case *parse.Explain:
		return "EXPLAIN"
	}
	words := strings.Fields(strings.ToUpper(p.st.Source()))
	n := 1
	if len(words) > 1 && slices.Contains([]string{"CREATE", "DROP", "ALTER", "TRUNCATE"}, words[0]) {
		n = 2
	}
	return strings.TrimRight(strings.Join(words[:n], " "), ";(")
}
