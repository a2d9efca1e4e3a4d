package pgwire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
)

// Bounds of the rows of COPY FROM STDIN that are written at a time.
const (
	copyValues = 50_000
	copyBytes  = 1 << 20  // of their text
	copyMemory = 16 << 20 // that they take
)

const (
	cellBytes   = 256       // about the memory of a value beside its text
	copyStep    = 256 << 10 // bytes of a message that are looked at before rows are made of them
	reserveStep = 64 << 10  // memory is asked for in such steps
)

// intake are the rows of a COPY as they arrive.
type intake struct {
	k       *conn
	c       *copying
	ctx     context.Context // of the statement
	names   []string
	types   []uint32
	lists   bool         // a column has lists
	held    *exec.Budget // of rest and rows
	counted int64        // bytes of held
	rest    []byte       // of a row that has not arrived whole
	seen    scan         // how much of rest is looked at
	scratch []byte
	begun   bool // the head has arrived
	over    bool // the end of the rows has arrived
	rows    [][]parse.Expr
	bytes   int   // of the text of rows
	memory  int64 // about that of rows
	line    int64 // rows that have arrived
	written int64
}

// copyIn takes rows in. They are written as they come: what was written before an error stays. The time limit of
// statements, cancel requests, KILL and a client that leaves end it, also while it waits for rows.
func (k *conn) copyIn(c *copying) error {
	if k.readOnly || k.state == idleState && k.settings.value("default_transaction_read_only") == "on" {
		return fail("25006", "cannot execute COPY FROM in a read-only transaction")
	}
	in := &intake{k: k, c: c}
	fields, err := in.columns()
	if err != nil {
		return k.located(err, "")
	}
	for _, f := range fields {
		oid := oidOf(f.Type)
		_, list := elements[oid]
		in.names, in.types, in.lists = append(in.names, f.Name), append(in.types, oid), in.lists || list
	}
	in.begun = c.format != "binary" && !c.header
	k.send(&pgproto3.CopyInResponse{OverallFormat: c.overall(), ColumnFormatCodes: c.formats(len(fields))})
	if err := k.flush(); err != nil {
		return err
	}
	ctx, cancel := k.work()
	defer cancel(nil)
	in.held = k.allowance.Idle(ctx)
	defer in.held.Close()
	k.session.Attended, k.session.Answered = true, func() int64 { return in.written } // its writes are parts of it
	defer func() { k.session.Attended, k.session.Answered = false, nil }()
	err = k.run(ctx, cancel, func() error {
		return k.s.o.Executor.Attend(ctx, k.session, c.text, func(ctx context.Context) error {
			in.ctx = ctx
			return in.read()
		})
	})
	if err != nil {
		if in.written > 0 && !isGone(err) {
			f := *failureOf(k.logged(err), "", 0)
			f.text += fmt.Sprintf(" (%d rows before it are written: each write is its own commit)", in.written)
			return &f
		}
		return err
	}
	k.send(&pgproto3.CommandComplete{CommandTag: fmt.Appendf(nil, "COPY %d", in.written)})
	return nil
}

// columns are those that rows go into. A user who may not write learns nothing of them.
func (in *intake) columns() (fields []vector.Field, err error) {
	k := in.k
	insert, err := k.newPortal(in.c.insert, nil)
	if err != nil {
		return nil, err
	}
	defer insert.end()
	if err := k.s.o.Statements.Allows(k.user, insert.st); err != nil {
		return nil, err
	}
	shape, err := k.newPortal(in.c.query, nil)
	if err != nil {
		return nil, err
	}
	defer shape.end()
	err = k.place(shape, func() error {
		fields, err = k.s.o.Executor.Describe(shape.ctx, k.session, shape.st)
		return err
	})
	return fields, err
}

// read takes messages until the client says that there are no more rows.
func (in *intake) read() error {
	for {
		m, err := in.receive()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.CopyData:
			if err := in.take(m.Data); err != nil {
				return err
			}
		case *pgproto3.CopyDone:
			if err := in.feed(nil, true); err != nil {
				return err
			}
			return in.write()
		case *pgproto3.CopyFail:
			return fail("57014", "COPY from stdin failed: "+m.Message)
		case *pgproto3.Flush, *pgproto3.Sync:
		default:
			return &failure{code: "08P01", fatal: true, text: fmt.Sprintf("a message %T came during COPY", m)}
		}
	}
}

// receive waits for the next message until the statement ends. A message that has begun arrives whole before it ends:
// the connection goes on after it.
func (in *intake) receive() (pgproto3.FrontendMessage, error) {
	k := in.k
	if k.r.Buffered() == 0 {
		if err := k.await(transactionIdle); err != nil {
			return nil, &sendError{err}
		}
		woken := make(chan struct{})
		stop := context.AfterFunc(in.ctx, func() {
			k.raw.SetReadDeadline(past) // of a closed connection reads fail already
			close(woken)
		})
		_, err := k.r.Peek(1)
		if !stop() {
			<-woken
		}
		if err != nil && in.ctx.Err() == nil {
			return nil, &sendError{k.late(err, errIdle)}
		}
	}
	if err := in.ctx.Err(); err != nil {
		return nil, err
	}
	m, err := k.receive(transactionIdle, k.s.o.MaxMessage)
	var f *failure
	if err != nil && !errors.As(err, &f) {
		err = &sendError{err}
	}
	return m, err
}

// take takes the bytes of a message.
func (in *intake) take(data []byte) error {
	for len(data) > 0 {
		n := min(len(data), copyStep)
		if err := in.feed(data[:n], false); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// feed takes bytes, whole rows of which it keeps; last: no more come.
func (in *intake) feed(data []byte, last bool) error {
	if in.over {
		return in.after(data)
	}
	if err := in.grow(len(data)); err != nil {
		return err
	}
	in.rest = append(in.rest, data...)
	b := in.rest
	for len(b) > 0 && !in.over {
		n, err := in.find(b, last)
		if err != nil {
			return in.at(err)
		}
		if n == 0 {
			break
		}
		if err := in.row(b[:n]); err != nil {
			return err
		}
		b, in.seen = b[n:], scan{}
		if len(in.rows)*len(in.types) >= copyValues || in.bytes >= copyBytes || in.memory >= copyMemory {
			if err := in.write(); err != nil {
				return err
			}
		}
	}
	if in.over {
		err := in.after(b)
		in.rest = nil
		return err
	}
	if last {
		if in.c.format == "binary" && !in.begun {
			return fail("22P04", "COPY file signature not recognized")
		}
		if len(b) > 0 {
			return in.at(fail("22P04", "it is not complete"))
		}
	}
	in.keep(b)
	return nil
}

// after refuses bytes after the end of the rows of the binary format.
func (in *intake) after(b []byte) error {
	if len(b) > 0 && in.c.format == "binary" {
		return fail("22P04", "received copy data after EOF marker")
	}
	return nil
}

// grow makes room for n bytes more of a row.
func (in *intake) grow(n int) error {
	size := len(in.rest) + n
	if size > in.k.s.o.MaxMessage+copyStep {
		return fail("54000", fmt.Sprintf("row %d of COPY has more than %d bytes", in.line+1, in.k.s.o.MaxMessage))
	}
	if size <= cap(in.rest) {
		return nil
	}
	room := max(size, 2*cap(in.rest))
	if err := in.count(int64(cap(in.rest)+room) + in.memory); err != nil { // both, while one is copied
		return err
	}
	grown := make([]byte, len(in.rest), room)
	copy(grown, in.rest)
	in.rest = grown
	return nil
}

// keep keeps the bytes of a row that has not arrived whole, which are the last of rest.
func (in *intake) keep(b []byte) {
	if cap(in.rest) > 4*max(len(b), copyStep) {
		in.rest = append([]byte(nil), b...)
	} else if len(b) < len(in.rest) {
		in.rest = append(in.rest[:0], b...)
	}
}

// count counts the memory of rest and rows, before they have so much.
func (in *intake) count(bytes int64) error {
	if bytes <= in.counted {
		return nil
	}
	more := max(bytes-in.counted, reserveStep)
	if err := in.held.Reserve(more); err != nil {
		return err
	}
	in.counted += more
	return nil
}

// row takes the bytes of a row.
func (in *intake) row(b []byte) error {
	if in.line&1023 == 0 {
		if err := in.ctx.Err(); err != nil {
			return err
		}
	}
	size := int64(len(b) + len(in.types)*cellBytes)
	if in.lists {
		items := bytes.Count(b, []byte{','})
		if in.c.format == "binary" {
			items = len(b) / 4
		}
		size += int64(items) * (valueBytes + exprBytes)
	}
	if err := in.count(int64(cap(in.rest)+2*len(b)) + in.memory + size); err != nil { // with copies while it is read
		return err
	}
	row, err := in.values(b)
	if err != nil {
		return in.at(err)
	}
	if row == nil {
		return nil
	}
	if len(row) != len(in.types) {
		return in.at(fail("22P04", fmt.Sprintf("it has %d values, and there are %d columns", len(row), len(in.types))))
	}
	list := make([]parse.Expr, len(row))
	for i := range row {
		list[i] = placed(row[i].stored(), in.place(len(in.rows), i))
	}
	in.rows, in.bytes, in.memory = append(in.rows, list), in.bytes+len(b), in.memory+size
	in.line++
	return nil
}

// at is an error of the next row.
func (in *intake) at(err error) error {
	f := failureOf(err, "", 0)
	return &failure{code: f.code, text: fmt.Sprintf("row %d of COPY: %s", in.line+1, f.text)}
}

// cellError is the error of a value of the next row.
func (in *intake) cellError(column int, err error) error {
	f := failureOf(err, "", 0)
	text := strings.TrimPrefix(f.text, fmt.Sprintf("parameter $%d: ", column+1))
	return fail(f.code, fmt.Sprintf("column %q: %s", in.names[column], text))
}

// The text of the INSERT that writes rows has a line for each row behind it, and a blank in it for each value. So the
// place of an error in this text is that of the value.

// place is the place of a value of rows in the text of the INSERT.
func (in *intake) place(row, column int) parse.Pos {
	return parse.Pos(len(in.c.insert) + row*(len(in.types)+1) + 1 + column)
}

// placed gives an expression its place.
func placed(x parse.Expr, at parse.Pos) parse.Expr {
	switch x := x.(type) {
	case *parse.Literal:
		x.At = at
	case *parse.Cast:
		x.At = at
	case *parse.Array:
		x.At = at
	}
	return x
}

// write writes the rows that have arrived.
func (in *intake) write() error {
	if len(in.rows) == 0 {
		return nil
	}
	k := in.k
	p, err := k.newPortal(in.c.insert+strings.Repeat("\n"+strings.Repeat(" ", len(in.types)), len(in.rows)), nil)
	if err != nil {
		return err
	}
	defer p.end()
	st, ok := p.st.(*parse.Insert)
	if !ok {
		return fail("42601", "COPY FROM STDIN needs the name of a table")
	}
	st.Rows = in.rows
	p.cancel(nil)
	p.ctx, p.cancel = context.WithCancelCause(in.ctx)
	leave, err := k.s.o.Statements.Enter(p.ctx, p.st, k.s.o.Crowded)
	if err != nil {
		return err
	}
	defer leave()
	if err := k.execute(p); err != nil {
		return in.refused(err)
	}
	in.written += int64(len(in.rows))
	in.rows, in.bytes, in.memory = nil, 0, 0
	if more := in.counted - int64(cap(in.rest)); more > 0 {
		in.held.Release(more)
		in.counted -= more
	}
	return nil
}

// refused is the error of rows that were not written: with the row and the column, where it has a place in the INSERT.
func (in *intake) refused(err error) error {
	var e *status.Error
	if !errors.As(err, &e) {
		return err
	}
	first := in.line - int64(len(in.rows)) + 1
	if at := e.Place; at != nil {
		row, column := at.Line-2-strings.Count(in.c.insert, "\n"), at.Column-1
		if row >= 0 && row < len(in.rows) && column >= 0 && column < len(in.names) {
			text := strings.TrimSuffix(e.Msg, fmt.Sprintf(" (line %d, column %d)", at.Line, at.Column))
			return fail("22P02", fmt.Sprintf("row %d of COPY: column %q: %s", first+int64(row), in.names[column], text))
		}
	}
	if e.Code == status.InvalidArguments {
		return fail("22023", fmt.Sprintf("rows %d to %d of COPY, of which it is: %s", first, in.line, e.Msg))
	}
	return err
}
