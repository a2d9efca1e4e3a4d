package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/secret"
	"varve/engine/status"
)

// Reject is a request that was refused while it was read: an HTTP status and plain text, no code.
type Reject struct {
	Status int
	Text   string
	// Close ends the connection after the answer: what follows on it cannot be trusted.
	Close bool
}

func (r *Reject) Error() string { return r.Text }

// NewReject makes a refusal.
func NewReject(status int, text string) *Reject { return &Reject{Status: status, Text: text} }

// TooLarge is the refusal of a body over the limit.
var TooLarge = &Reject{Status: 413, Text: "Failed to buffer the request body: length limit exceeded", Close: true}

var statusOf = map[status.Code]int{
	status.Success: 200, status.Unsupported: 400, status.InvalidArguments: 400, status.Cancelled: 504,
	status.External:         503,
	status.DeadlineExceeded: 504, status.Suspended: 503, status.InvalidSyntax: 400, status.PlanQuery: 400,
	status.TableAlreadyExists: 400, status.TableNotFound: 400, status.TableColumnNotFound: 400,
	status.TableColumnExists: 400,
	status.DatabaseNotFound:  400, status.RegionNotFound: 400, status.RegionAlreadyExists: 400,
	status.RegionReadonly: 503,
	status.RegionNotReady: 503, status.RegionBusy: 503, status.TableUnavailable: 503, status.DatabaseAlreadyExists: 400,
	status.StorageUnavailable: 503, status.RequestOutdated: 400, status.RateLimited: 429, status.UserNotFound: 401,
	status.UnsupportedPasswordType: 401, status.UserPasswordMismatch: 401, status.AuthHeaderNotFound: 401,
	status.InvalidAuthHeader: 401, status.AccessDenied: 403, status.PermissionDenied: 403,
}

// HTTPStatus is the HTTP status of a code. Codes of faults of the server itself are 500.
func HTTPStatus(c status.Code) int {
	if s, ok := statusOf[c]; ok {
		return s
	}
	return 500
}

// ClientFault reports whether an error stays if the client sends the same again: its HTTP status is 400.
func ClientFault(err error) bool { return HTTPStatus(status.Of(err)) == 400 }

// Message is what a client may read of err: internal errors show their code only.
func Message(err error) (status.Code, string) {
	var e *status.Error
	code := status.Internal
	if errors.As(err, &e) {
		code = e.Code
	}
	if code == status.Internal || code == status.Unknown {
		return code, "Internal error: " + strconv.Itoa(int(code))
	}
	return code, e.Msg
}

// ReplyError answers the request with err: its text, its HTTP status, code and headers.
func ReplyError(c *Ctx, err error) { c.replyError(err, 0) }

// ReplyErrorText is ReplyError for protocols that have a form of their own for errors: it gives the text for it, status
// and headers are set.
func ReplyErrorText(c *Ctx, err error) (text string) { return c.replyError(err, 0) }

// ReplyErrorStatus is ReplyError with another HTTP status than the code's.
func ReplyErrorStatus(c *Ctx, httpStatus int, err error) { c.replyError(err, httpStatus) }

// replyError answers the request with err, and returns the text of the answer. as is the HTTP status; 0: the code's.
func (c *Ctx) replyError(err error, as int) (text string) {
	c.Response.ResetBody()
	var r *Reject
	var e *status.Error
	var broken *brokenBody
	switch {
	case errors.As(err, &r):
		c.Text(r.Status, r.Text)
		c.retryLater(r.Status, err)
		if r.Close {
			c.SetConnectionClose()
		}
		return r.Text
	case errors.Is(c.Context.Err(), context.DeadlineExceeded):
		c.Response.Header.Del("Content-Type")
		c.Response.Header.SetNoDefaultContentType(true)
		c.SetStatusCode(408)
		return "The request took longer than its time limit"
	case c.Context.Err() != nil && (errors.Is(err, context.Canceled) || !errors.As(err, &e)):
		err = status.Wrap(err, status.Cancelled, "The request was cancelled: the client left or the server is stopping")
	case errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return c.hangUp(408, "Request timeout: the body did not arrive in time")
	case errors.As(err, &broken):
		return c.hangUp(400, "The body cannot be read: "+broken.Error())
	case errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &e):
		return c.hangUp(400, "The body ended before its announced length")
	}
	code, text := Message(err)
	text = c.Conceal(text)
	c.logError(code, text, err)
	elapsed := c.ElapsedMS()
	h := &c.Response.Header
	h.Set("x-service-err-code", strconv.Itoa(int(code)))
	h.SetBytesV("x-service-err-msg",
		appendHeaderText(nil, "error: "+text, ", execution_time_ms: "+strconv.FormatInt(elapsed, 10)))
	body := append([]byte(`{"code":`), strconv.Itoa(int(code))...)
	body = append(body, `,"error":`...)
	body = AppendWarnings(AppendPlace(jsontext.AppendString(body, text), err), c.Warnings)
	body = append(body, `,"execution_time_ms":`...)
	body = strconv.AppendInt(body, elapsed, 10)
	if as == 0 {
		as = HTTPStatus(code)
	}
	c.retryLater(as, err)
	c.JSON(as, append(body, '}'))
	return text
}

// hangUp answers with a text, after which the connection is closed.
func (c *Ctx) hangUp(status int, text string) string {
	c.Text(status, text)
	c.SetConnectionClose()
	return text
}

// AppendPlace appends a member with the place of an error in the text of the request, if that is known.
func AppendPlace(dst []byte, err error) []byte {
	var e *status.Error
	if !errors.As(err, &e) || e.Place == nil {
		return dst
	}
	return fmt.Appendf(dst, `,"position":{"line":%d,"column":%d,"length":%d}`, e.Place.Line, e.Place.Column,
		e.Place.Length)
}

// AppendWarnings appends a member of warnings, when there are any.
func AppendWarnings(dst []byte, warnings []string) []byte {
	if len(warnings) == 0 {
		return dst
	}
	dst = append(dst, `,"warnings":[`...)
	for i, w := range warnings {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, w)
	}
	return append(dst, ']')
}

// retryAfter is the number of seconds after which a request that was refused for want of room may come again.
const retryAfter = "1"

// retryLater tells clients of an overloaded server, and those that write too fast, when to come again.
func (c *Ctx) retryLater(status int, err error) {
	if status != 429 && status != 503 {
		return
	}
	after := retryAfter
	var rate *engine.RateError
	if errors.As(err, &rate) {
		after = strconv.Itoa(rate.RetryAfter())
	}
	c.Response.Header.Set("Retry-After", after)
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// maxStatement is how much of a statement a line of the log has.
const maxStatement = 1000

// LogError is for errors that the client learns in the middle of a streamed answer.
func (c *Ctx) LogError(err error) {
	code, text := Message(err)
	c.logError(code, text, err)
}

// logError writes the errors that an operator should see at level error, the others at debug. Values that a query
// cannot compute with are its author's fault: level warn.
func (c *Ctx) logError(code status.Code, text string, err error) {
	level := slog.LevelDebug
	switch code {
	case status.Unknown, status.Unexpected, status.Internal, status.Cancelled, status.IllegalState, status.External,
		status.DeadlineExceeded, status.StorageUnavailable, status.RuntimeResourcesExhausted:
		level = slog.LevelError
	case status.EngineExecuteQuery:
		level = slog.LevelWarn
	}
	if !c.Log.Enabled(c.Context, level) {
		return
	}
	attrs := []any{"method", string(c.Method()), "path", c.loggedPath(), "code", int(code), "error", c.Conceal(text),
		"client", c.RemoteAddr().String()}
	if c.User.Name != "" {
		attrs = append(attrs, "user", c.User.Name)
	}
	if c.Statement != "" {
		attrs = append(attrs, "statement", secret.Hide(cutText(c.Statement, maxStatement)))
	}
	if cause := cause(err); cause != "" && cause != text {
		attrs = append(attrs, "cause", c.Conceal(cause))
	}
	c.Log.Log(context.Background(), level, "request failed", attrs...)
}

// mostConcealed is the part of a statement, in bytes, in which passwords are sought: longer statements are lists of
// values.
const mostConcealed = 1 << 20

// Conceal is a text about the statement of the request without the passwords that the statement has.
func (c *Ctx) Conceal(text string) string {
	return secret.HideFrom(text, c.Statement[:min(len(c.Statement), mostConcealed)])
}

// loggedPath is the path of the request without its secrets.
func (c *Ctx) loggedPath() string {
	path := string(c.Path())
	if c.HidePath != nil {
		path = c.HidePath(path)
	}
	return path
}

// cutText is a text, cut to about most bytes.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// cause is the part of err that the client does not see.
func cause(err error) string {
	var e *status.Error
	if errors.As(err, &e) {
		if e.Cause == nil {
			if e.Code == status.Internal || e.Code == status.Unknown {
				return e.Msg
			}
			return ""
		}
		return e.Cause.Error()
	}
	return err.Error()
}

// maxHeaderText bounds an error text in a response header.
const maxHeaderText = 1024

// appendHeaderText writes text and then tail so that nothing but printable ASCII is sent, at most maxHeaderText bytes
// in all: text is cut, tail is not.
func appendHeaderText(dst []byte, text, tail string) []byte {
	const hex = "0123456789abcdef"
	room := maxHeaderText - len(tail)
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b >= ' ' && b < 0x7f && b != '\\' {
			if len(dst)+1 > room {
				break
			}
			dst = append(dst, b)
			continue
		}
		if len(dst)+4 > room {
			break
		}
		dst = append(dst, '\\', 'x', hex[b>>4], hex[b&15])
	}
	return append(dst, tail...)
}
