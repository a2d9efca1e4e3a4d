package logapi

import (
	"context"
	"errors"

	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec/logql/syntax"
)

// invalid is the error of a request that cannot be answered as it is.
func invalid(format string, args ...any) error {
	return status.New(status.InvalidArguments, format, args...)
}

// parsed makes an error of the language one that the client sees.
func parsed(err error) error {
	var e *syntax.Error
	if errors.As(err, &e) {
		return status.Wrap(err, status.InvalidSyntax, "%s", e)
	}
	return err
}

// reply answers with an error as clients of this API read it: a plain text.
func reply(c *web.Ctx, err error) error {
	err = parsed(err)
	var refused *web.Reject
	if errors.As(err, &refused) {
		return err
	}
	of, text := web.Message(err)
	code := web.HTTPStatus(of)
	switch cause := context.Cause(c.Context); {
	case errors.Is(cause, context.DeadlineExceeded) || of == status.DeadlineExceeded:
		code, text = 504, "query timed out"
	case cause != nil:
		code, text = 499, "The request was cancelled by the client."
	case of == status.EngineExecuteQuery:
		code = 400
	}
	if code >= 500 {
		text = web.ReplyErrorText(c, err) // logs it, and says when to come again
	}
	c.Response.ResetBody()
	c.Text(code, text)
	return nil
}
