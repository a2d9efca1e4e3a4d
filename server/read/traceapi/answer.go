package traceapi

import (
	"context"
	"errors"
	"strconv"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/web"
)

// answer is what an endpoint found.
type answer struct {
	data  []byte // the answer until the end of the last item; the memory of the query counts it
	total int    // items
	none  bool   // there is no table yet, and so no list
}

// begin begins the next item.
func (a *answer) begin() {
	if a.total++; a.total == 1 {
		a.data = append(a.data, listHead...)
	} else {
		a.data = append(a.data, ',')
	}
}

// body is the whole answer.
func (a *answer) body() []byte {
	body := a.data
	switch {
	case a.none:
		body = append(body, `{"data":null`...)
	case a.total == 0:
		body = append(append(body, listHead...), ']')
	default:
		body = append(body, ']')
	}
	return append(strconv.AppendInt(append(body, `,"total":`...), int64(a.total), 10),
		`,"limit":0,"offset":0,"errors":[]}`...)
}

const listHead = `{"data":[`

// notFound is the error of a trace that is not there.
var notFound = web.NewReject(404, "trace not found")

func missing(name string) error {
	return status.New(status.InvalidArguments, "parameter '%s' is required", name)
}

func tooMany(format string, most int) error {
	return status.New(status.InvalidArguments, format, most)
}

// isAbsent reports whether an error says that there is no such table: nothing has been written yet.
func isAbsent(err error) bool { return status.Of(err) == status.TableNotFound }

// endpoint makes a handler. Errors are answered in the form of this API.
func (h *Handler) endpoint(find func(r *request) (answer, error)) web.Handler {
	return func(c *web.Ctx) error {
		r, err := h.begin(c)
		if err != nil {
			return reply(c, err)
		}
		a, err := find(r)
		if err != nil {
			return reply(c, err)
		}
		c.Reply(200, "application/json", a.body())
		return nil
	}
}

// reply answers with an error.
func reply(c *web.Ctx, err error) error {
	code := 0
	var refused *web.Reject
	switch {
	case errors.As(err, &refused):
		code = refused.Status
	case errors.Is(c.Context.Err(), context.DeadlineExceeded):
		code = 504
	default:
		of, _ := web.Message(err)
		code = web.HTTPStatus(of)
	}
	text := web.ReplyErrorText(c, err)
	body := strconv.AppendInt([]byte(`{"data":null,"total":0,"limit":0,"offset":0,"errors":[{"code":`), int64(code), 10)
	body = append(jsontext.AppendString(append(body, `,"msg":`...), text), `}]}`...)
	c.JSON(code, body)
	return nil
}
