package lineproto

import (
	"bytes"
	"strings"

	"varve/engine/jsontext"
	"varve/server/web"
)

// fail answers with an error. Libraries and agents read errors in the form of version 2, whose code is a word. They
// cannot read the server's form, whose code is a number, and would show their user nothing.
func fail(c *web.Ctx, err error, plain func(*web.Ctx, error)) {
	plain(c, err)
	if library(c) || bytes.HasPrefix(c.Request.Header.UserAgent(), []byte("Telegraf/")) {
		restate(c, err)
	}
}

// library reports whether a request comes from one of the official libraries.
func library(c *web.Ctx) bool {
	return bytes.HasPrefix(c.Request.Header.UserAgent(), []byte("influxdb"))
}

// codes are the words of version 2 for statuses; other statuses are errors of the server.
var codes = map[int]string{
	400: "invalid", 401: "unauthorized", 403: "forbidden", 404: "not found", 413: "request too large", 415: "invalid",
	429: "too many requests", 503: "unavailable",
}

// restate writes the answer to an error anew, in the form of version 2, with the same status and headers. A request out
// of time gets no body.
func restate(c *web.Ctx, err error) {
	if c.Response.StatusCode() == 408 {
		return
	}
	code, ok := codes[c.Response.StatusCode()]
	if !ok {
		code = "internal error"
	}
	text := string(c.Response.Body())
	if !strings.HasPrefix(string(c.Response.Header.ContentType()), "text/plain") {
		_, text = web.Message(err)
	}
	out := jsontext.AppendString([]byte(`{"code":`), code)
	out = jsontext.AppendString(append(out, `,"message":`...), text)
	out = jsontext.AppendString(append(out, `,"error":`...), text)
	c.JSON(c.Response.StatusCode(), append(out, '}'))
}
