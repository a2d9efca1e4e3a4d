package pgwire

import (
	"github.com/jackc/pgx/v5/pgproto3"

	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
)

// simple answers a text of statements. An error is answered as well; one that ends the connection is returned.
func (k *conn) simple(text string) error {
	k.closePortal("")
	var held *exec.Budget // of a long text
	if len(text) > smallBytes {
		held = k.allowance.Idle(k.s.ctx)
		defer held.Close()
	}
	var pieces []parse.Piece
	err := held.Reserve(int64(len(text)))
	if err == nil {
		pieces, err = parse.Pieces(text)
	}
	if err == nil && len(pieces) == 0 {
		k.send(&pgproto3.EmptyQueryResponse{})
	}
	if err != nil {
		err = failureOf(err, text, 0)
	}
	for i, one := range pieces {
		if i > 0 { // with the first the message came
			err = k.asUser()
		}
		if err == nil {
			err = k.statement(one.Text)
		}
		if err != nil {
			if !isGone(err) {
				err = failureOf(k.logged(err), text, one.At)
			}
			break
		}
	}
	if err != nil {
		if err = k.broken(err, ""); err != nil {
			return err
		}
	}
	k.ready()
	return nil
}

// statement answers one statement of a text.
func (k *conn) statement(text string) error {
	c, err := readCommand(text)
	if err != nil {
		return err
	}
	if err := k.allowed(c); err != nil {
		return err
	}
	if c != nil {
		return k.command(c, nil, true)
	}
	p, err := k.newPortal(text, nil)
	if err != nil {
		return err
	}
	defer p.end()
	if _, err := k.rows(p, -1, true); err != nil {
		return err
	}
	k.send(&pgproto3.CommandComplete{CommandTag: []byte(p.tag(p.sent))})
	return nil
}

// allowed refuses statements in a transaction that has failed.
func (k *conn) allowed(c *command) error {
	if k.state == failedState && (c == nil || !c.ends) {
		return fail("25P02", "current transaction is aborted, commands ignored until end of transaction block")
	}
	return nil
}

// logged writes an error that is a fault of the server to the log.
func (k *conn) logged(err error) error {
	if failureOf(err, "", 0).code == "XX000" {
		k.s.o.Logger.Error("pg: a statement failed", "error", err)
	}
	return err
}
