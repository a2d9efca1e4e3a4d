package web

import (
	"io"
	"strconv"
)

// Reply answers with a body that is short, or whose bytes the memory of a query counts. The caller must not use body
// afterwards. Other answers go through Make or Pieces.
func (c *Ctx) Reply(status int, contentType string, body []byte) {
	c.SetStatusCode(status)
	c.SetContentType(contentType)
	c.Response.SetBodyRaw(body)
}

// JSON answers with a short body of JSON.
func (c *Ctx) JSON(status int, body []byte) { c.Reply(status, "application/json", body) }

// Text answers with a short text.
func (c *Ctx) Text(status int, text string) {
	c.SetStatusCode(status)
	c.SetContentType("text/plain; charset=utf-8")
	c.SetBodyString(text)
}

// Empty answers without a body.
func (c *Ctx) Empty(status int) {
	c.SetStatusCode(status)
	c.Response.ResetBody()
	c.Response.Header.SetNoDefaultContentType(true)
}

// ReplyStream answers with what is read from r, piece by piece as the client takes it. The request is over once r is
// closed.
func (c *Ctx) ReplyStream(status int, contentType string, r io.ReadCloser) {
	c.SetStatusCode(status)
	c.SetContentType(contentType)
	c.streamed = true
	from := io.Reader(r)
	if enc := c.acceptedEncoding(); enc != "" {
		from = c.compressStream(enc, from)
	}
	c.Response.SetBodyStream(&replyStream{from, r, c}, -1)
}

// replyStream reads an answer, compressed or not, and ends its request when it is closed.
type replyStream struct {
	io.Reader
	body io.Closer
	c    *Ctx
}

func (s *replyStream) Close() error {
	defer s.c.end()
	return s.body.Close()
}

// Executed sets the headers of a successful execution: its time so far and the format of the answer.
func (c *Ctx) Executed(format string) {
	c.Response.Header.Set("x-service-execution-time", strconv.FormatInt(c.ElapsedMS(), 10))
	c.Response.Header.Set("x-service-format", format)
}

// Written answers an ingest request: one count of rows for each group of table options, none if nothing was written.
// more are further members of the answer, each behind a comma.
func (c *Ctx) Written(rows []int, more []byte) {
	body := []byte(`{"output":[`)
	for i, n := range rows {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, `{"affectedrows":`...)
		body = strconv.AppendInt(body, int64(n), 10)
		body = append(body, '}')
	}
	body = append(body, `],"execution_time_ms":`...)
	body = strconv.AppendInt(body, c.ElapsedMS(), 10)
	c.Executed("service_v1")
	c.JSON(200, append(append(body, more...), '}'))
}
