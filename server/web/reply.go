package web

import (
	"strconv"
)

// JSON answers with a JSON body. The body is copied.
func (c *Ctx) JSON(status int, body []byte) {
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	c.SetBody(body)
}

// OwnJSON is JSON with a body that is the answer's from now on.
func (c *Ctx) OwnJSON(status int, body []byte) {
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	c.Response.SetBodyRaw(body)
}

// Text answers with plain text.
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

// Executed sets the headers of a successful execution: its time so far and the format of the answer.
func (c *Ctx) Executed(format string) {
	c.Response.Header.Set("x-service-execution-time", strconv.FormatInt(c.ElapsedMS(), 10))
	c.Response.Header.Set("x-service-format", format)
}

// Written answers an ingest request: one count per group of table options. Nothing written has no group. more are further
// members of the answer, each behind a comma.
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
