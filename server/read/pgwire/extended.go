package pgwire

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
)

// Bounds of the prepared statements of a connection.
const (
	maxStatements    = 1024
	maxStatementText = 8 << 20 // bytes of their texts and types together
	preparedBytes    = 1 << 10 // about the memory of a statement beside its text
	commandCopies    = 3       // of the text of a command that are kept
	fieldBytes       = 128     // about the memory of a column beside its name
)

// prepared is a statement with the types of its parameters.
type prepared struct {
	text    string
	command *command
	empty   bool
	types   []uint32
	// fields are the columns that a client was told; known says that it was told.
	fields  []vector.Field
	known   bool
	catalog bool         // it reads the catalog, see oidAs
	held    *exec.Budget // of all this
}

// size is how many bytes count against maxStatementText.
func (p *prepared) size() int { return len(p.text) + 4*len(p.types) }

// maxName bounds the names of statements, portals and savepoints, in bytes.
const maxName = 256

// checkName refuses a name that is too long.
func checkName(name string) error {
	if len(name) > maxName {
		return fail("42622", fmt.Sprintf("a name has %d bytes, the limit is %d", len(name), maxName))
	}
	return nil
}

// namesOf are the names in a message of the extended protocol.
func namesOf(m pgproto3.FrontendMessage) (first, second string) {
	switch m := m.(type) {
	case *pgproto3.Parse:
		return m.Name, ""
	case *pgproto3.Bind:
		return m.DestinationPortal, m.PreparedStatement
	case *pgproto3.Describe:
		return m.Name, ""
	case *pgproto3.Execute:
		return m.Portal, ""
	case *pgproto3.Close:
		return m.Name, ""
	}
	return "", ""
}

// extended answers a message of the extended protocol.
func (k *conn) extended(m pgproto3.FrontendMessage) error {
	first, second := namesOf(m)
	for _, name := range []string{first, second} {
		if err := checkName(name); err != nil {
			return err
		}
	}
	switch m := m.(type) {
	case *pgproto3.Parse:
		return k.prepare(m)
	case *pgproto3.Bind:
		return k.bind(m)
	case *pgproto3.Describe:
		switch m.ObjectType {
		case 'S':
			return k.describeStatement(m.Name)
		case 'P':
		default:
			return fail("08P01", fmt.Sprintf("invalid DESCRIBE message subtype %d", m.ObjectType))
		}
		p, err := k.portal(m.Name)
		if err != nil {
			return err
		}
		return k.located(k.describe(p), p.text)
	case *pgproto3.Execute:
		p, err := k.portal(m.Portal)
		if err != nil {
			return err
		}
		most := int64(m.MaxRows)
		if most == 0 {
			most = -1
		}
		return k.located(k.advance(p, most), p.text)
	case *pgproto3.Close:
		switch m.ObjectType {
		case 'S':
			k.closeStatement(m.Name)
		case 'P':
			k.closePortal(m.Name)
		default:
			return fail("08P01", fmt.Sprintf("invalid CLOSE message subtype %d", m.ObjectType))
		}
		k.send(&pgproto3.CloseComplete{})
		return nil
	}
	return &failure{code: "08P01", text: fmt.Sprintf("a message %T came out of place", m), fatal: true}
}

// located gives an error of a text its place.
func (k *conn) located(err error, text string) error {
	if err == nil || isGone(err) {
		return err
	}
	return failureOf(k.logged(err), text, 0)
}

// prepare answers Parse.
func (k *conn) prepare(m *pgproto3.Parse) error {
	if m.Name == "" {
		k.closeStatement("")
	}
	if k.statements[m.Name] != nil {
		return fail("42P05", fmt.Sprintf("prepared statement %q already exists", m.Name))
	}
	p := &prepared{text: m.Query, types: slices.Clone(m.ParameterOIDs), held: k.allowance.Idle(k.s.ctx)}
	err := k.readPrepared(p)
	if err == nil {
		err = k.remember(m.Name, p)
	}
	if err != nil {
		p.held.Close()
		return err
	}
	k.send(&pgproto3.ParseComplete{})
	return nil
}

// remember keeps a prepared statement, if there is room for it.
func (k *conn) remember(name string, p *prepared) error {
	if err := k.roomFor(p); err != nil {
		return err
	}
	bytes := int64(preparedBytes + p.size())
	if p.command != nil {
		bytes += int64(commandCopies * len(p.text))
	}
	if err := p.held.Reserve(bytes); err != nil {
		return err
	}
	if k.statements == nil {
		k.statements = map[string]*prepared{}
	}
	k.statements[name] = p
	k.statementText += p.size()
	return nil
}

// roomFor returns why a connection cannot keep a statement more.
func (k *conn) roomFor(p *prepared) error {
	if len(k.statements) >= maxStatements || k.statementText+p.size() > maxStatementText {
		return fail("53000", fmt.Sprintf("the connection has %d prepared statements of %d bytes: "+
			"at most %d and %d are kept", len(k.statements), k.statementText, maxStatements, maxStatementText))
	}
	return nil
}

// readPrepared reads the text of a prepared statement and finds the types of its parameters.
func (k *conn) readPrepared(p *prepared) error {
	if err := k.roomFor(p); err != nil {
		return err
	}
	pieces, err := parse.Pieces(p.text)
	if err != nil {
		return k.located(err, p.text)
	}
	switch len(pieces) {
	case 0:
		p.empty = true
	case 1:
		if p.command, err = readCommand(p.text); err != nil {
			return err
		}
	default:
		return fail("42601", "cannot insert multiple commands into a prepared statement")
	}
	if err := k.allowed(p.command); err != nil {
		return err
	}
	text := p.text
	if p.command != nil && p.command.declare != nil {
		text = p.command.declare.query
	}
	if !p.empty && (p.command == nil || p.command.declare != nil) {
		ctx, cancel := k.work()
		defer cancel(nil)
		err = k.run(ctx, cancel, func() (err error) {
			p.types, err = k.infer(ctx, text, p.types)
			return err
		})
		if err != nil {
			return k.located(err, p.text)
		}
	}
	return nil
}

// closeStatement forgets a prepared statement, if there is one of the name.
func (k *conn) closeStatement(name string) {
	if p := k.statements[name]; p != nil {
		k.statementText -= p.size()
		p.held.Close()
		delete(k.statements, name)
	}
}

func (k *conn) preparedOf(name string) (*prepared, error) {
	if p := k.statements[name]; p != nil {
		return p, nil
	}
	return nil, fail("26000", fmt.Sprintf("prepared statement %q does not exist", name))
}

func (k *conn) portal(name string) (*portal, error) {
	if p := k.portals[name]; p != nil {
		return p, nil
	}
	return nil, fail("34000", fmt.Sprintf("portal %q does not exist", name))
}

// describeStatement tells the types of a statement's parameters and the columns of its rows.
func (k *conn) describeStatement(name string) error {
	p, err := k.preparedOf(name)
	if err != nil {
		return err
	}
	k.send(&pgproto3.ParameterDescription{ParameterOIDs: p.types})
	if p.command != nil || p.empty {
		var fields []vector.Field
		if p.command != nil {
			if fields, err = k.commandFields(p.command); err != nil {
				return err
			}
		}
		k.columns(fields, nil, k.commandReads(p.command))
		return nil
	}
	err = k.shape(p, false)
	if status.Of(err) == status.PlanQuery && len(p.types) > 0 { // a constant may be needed, such as a percentile
		if k.shape(p, true) == nil {
			err = nil
		}
	}
	if err != nil {
		return k.located(err, p.text)
	}
	if !p.known {
		bytes := int64(0)
		for _, f := range p.fields {
			bytes += fieldBytes + int64(len(f.Name))
		}
		if err := p.held.Reserve(bytes); err != nil {
			p.fields = nil
			return err
		}
	}
	p.known = true
	k.columns(p.fields, nil, p.catalog)
	return nil
}

// examples are values that stand for parameters which have none yet, where a constant is needed. The columns of a
// statement do not depend on them.
var examples = map[uint32]string{oidInt2: "1", oidInt4: "1", oidInt8: "1", oidFloat4: "0.5", oidFloat8: "0.5",
	oidNumeric: "0.5", oidInterval: "1 second", oidTimestampTZ: "2000-01-01 00:00:00Z", oidDate: "2000-01-01"}

// shape finds the columns of a prepared statement, with NULL for its parameters, or with examples of their types.
func (k *conn) shape(p *prepared, exemplary bool) error {
	values := make([]value, len(p.types))
	for i, oid := range p.types {
		values[i] = value{oid: oid, null: true}
		if elem, ok := elements[oid]; ok {
			values[i] = value{oid: oid, array: true, list: []value{{oid: elem, null: true}}}
		}
		if text := examples[oid]; exemplary && text != "" {
			values[i] = value{oid: oid, text: text}
		}
	}
	shape, err := k.newPortal(p.text, values)
	if err != nil {
		return err
	}
	defer shape.end()
	return k.place(shape, func() error {
		if err := k.s.o.Statements.Allows(k.user, shape.st); err != nil {
			return err
		}
		fields, err := k.s.o.Executor.Describe(shape.ctx, k.session, shape.st)
		if err == nil {
			p.fields, p.catalog = callNames(shape.st, fields), shape.catalog
		}
		return err
	})
}

// bind answers Bind: it makes a portal of a statement and values.
func (k *conn) bind(m *pgproto3.Bind) error {
	p, err := k.preparedOf(m.PreparedStatement)
	if err != nil {
		return err
	}
	if err := k.allowed(p.command); err != nil {
		return err
	}
	for _, f := range m.ResultFormatCodes {
		if f != 0 && f != 1 {
			return fail("08P01", fmt.Sprintf("unsupported format code %d", f))
		}
	}
	if m.DestinationPortal == "" {
		k.closePortal("")
	}
	held, err := k.room(p, m)
	if err != nil {
		return err
	}
	values, err := k.values(p, m)
	if err != nil {
		held.Close()
		return err
	}
	made := &portal{text: p.text, command: p.command, release: func() {}, held: held}
	if p.command == nil && !p.empty {
		if made, err = k.portalOf(p.text, values, held); err != nil {
			return k.located(err, p.text)
		}
	}
	made.formats, made.values = slices.Clone(m.ResultFormatCodes), values
	if p.known {
		made.told = p
	}
	if err := k.keep(m.DestinationPortal, made); err != nil {
		return err
	}
	k.send(&pgproto3.BindComplete{})
	return nil
}

// room counts the values of a Bind before they are read: their texts, of which reading makes copies, and the elements
// that lists may have.
func (k *conn) room(p *prepared, m *pgproto3.Bind) (*exec.Budget, error) {
	if len(m.Parameters) == 0 {
		return nil, nil
	}
	size := int64(2 * len(m.ResultFormatCodes))
	for i, b := range m.Parameters {
		if size += valueBytes; i >= len(p.types) { // of which Bind is told that there are too many
			continue
		}
		binary := formatOf(m.ParameterFormatCodes, i) == 1
		_, list := elements[p.types[i]]
		switch {
		case list && binary:
			size += int64(len(b)/4*valueBytes + 4*len(b)) // each element has its length before it
		case list:
			size += int64((bytes.Count(b, []byte{','})+1)*valueBytes + 2*len(b))
		case binary && textual[p.types[i]] || p.types[i] != oidBytea && !binary:
			size += int64(len(b))
		default:
			size += int64(4 * len(b))
		}
	}
	held := k.allowance.Idle(k.s.ctx)
	if err := held.Reserve(size); err != nil {
		held.Close()
		return nil, err
	}
	return held, nil
}

// textual are the types whose binary values are their texts.
var textual = map[uint32]bool{oidText: true, oidVarchar: true, oidBPChar: true, oidName: true, oidUnknown: true,
	oidJSON: true, oidJSONB: true}

// values reads the values of a Bind.
func (k *conn) values(p *prepared, m *pgproto3.Bind) ([]value, error) {
	if len(m.Parameters) != len(p.types) {
		return nil, fail("08P01", fmt.Sprintf(
			"bind message supplies %d parameters, but the prepared statement requires %d", len(m.Parameters), len(p.types)))
	}
	if n := len(m.ParameterFormatCodes); n > 1 && n != len(m.Parameters) {
		return nil, fail("08P01", fmt.Sprintf("bind message has %d formats for %d parameters", n, len(m.Parameters)))
	}
	list := make([]value, len(m.Parameters))
	for i, b := range m.Parameters {
		var err error
		if list[i], err = readValue(i+1, p.types[i], b, formatOf(m.ParameterFormatCodes, i) == 1); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// advance answers Execute: the next rows of a portal, at most most; below zero: all.
func (k *conn) advance(p *portal, most int64) error {
	if p.command == nil && p.st == nil {
		k.send(&pgproto3.EmptyQueryResponse{})
		return nil
	}
	if err := k.allowed(p.command); err != nil {
		return err
	}
	if p.command != nil {
		return k.command(p.command, p, false)
	}
	before := p.sent
	more, err := k.rows(p, most, false)
	switch {
	case err != nil:
		return err
	case more:
		k.send(&pgproto3.PortalSuspended{})
		return nil
	}
	k.send(&pgproto3.CommandComplete{CommandTag: []byte(p.tag(p.sent - before))})
	return nil
}

// commandFields are the columns of a command's answer; nil: it has none.
func (k *conn) commandFields(c *command) ([]vector.Field, error) {
	switch {
	case c.field != "":
		return textField(c.field), nil
	case c.fetch != nil && !c.fetch.move:
		p, err := k.cursor(c.fetch.name)
		if err != nil {
			return nil, err
		}
		if err := k.place(p, func() error { return k.execute(p) }); err != nil {
			return nil, err
		}
		return p.fields, nil
	}
	return nil, nil
}

// commandReads reports whether the rows of a command are those of a cursor that reads the catalog.
func (k *conn) commandReads(c *command) bool {
	if c == nil || c.fetch == nil {
		return false
	}
	p, err := k.cursor(c.fetch.name)
	return err == nil && p.catalog // without a cursor there are no rows
}

// command runs a command, of a portal or of a text by itself. tell sends the columns of its rows first.
func (k *conn) command(c *command, of *portal, tell bool) error {
	var formats []int16
	var values []value
	if of != nil {
		formats, values = of.formats, of.values
	}
	if tell {
		fields, err := k.commandFields(c)
		if err != nil {
			return err
		}
		if fields != nil {
			k.columns(fields, nil, k.commandReads(c))
		}
	}
	switch {
	case c.fetch != nil:
		return k.fetch(c.fetch, formats)
	case c.copy != nil && c.copy.in:
		return k.copyIn(c.copy)
	case c.copy != nil:
		return k.copyOut(c.copy)
	case c.declare != nil:
		if err := k.declare(c.declare, values); err != nil {
			return err
		}
	case c.field != "":
		k.send(&pgproto3.DataRow{Values: [][]byte{[]byte(k.settings.shown(k, c.parameter))}})
	}
	tag, err := c.run(k)
	if err != nil {
		return err
	}
	k.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return nil
}

// fetch sends the next rows of a cursor.
func (k *conn) fetch(f *fetched, formats []int16) error {
	p, err := k.cursor(f.name)
	if err != nil {
		return err
	}
	own := p.formats
	if !slices.Equal(own, formats) {
		p.formats = slices.Clone(formats)
		k.choose(p)
	}
	p.silent = f.move
	defer func() { // Execute may ask for the rows that are left, as Bind wanted them
		p.silent = false
		if !slices.Equal(own, formats) {
			p.formats = own
			k.choose(p)
		}
	}()
	before := p.sent
	if _, err := k.rows(p, f.rows, false); err != nil {
		return err
	}
	word := "FETCH"
	if f.move {
		word = "MOVE"
	}
	k.send(&pgproto3.CommandComplete{CommandTag: fmt.Appendf(nil, "%s %d", word, p.sent-before)})
	return nil
}
