// Package client is the HTTP client of the benchmarks and end-to-end tests: a bare connection for bulk loads, which
// costs the load generator next to nothing, and SQL with decoded answers.
package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxAnswer bounds the body of an answer to a write: such answers are a few hundred bytes.
const maxAnswer = 1 << 20

// Conn is one kept-open HTTP/1.1 connection, opened anew after the server closed it behind an answer. It is for one
// goroutine at a time.
type Conn struct {
	host string
	nc   net.Conn // nil: closed by the server
	r    *bufio.Reader
	head []byte
}

// Dial connects to the server at base, such as http://127.0.0.1:4000.
func Dial(base string) (*Conn, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("address %q: want http://HOST:PORT", base)
	}
	c := &Conn{host: u.Host}
	return c, c.open()
}

func (c *Conn) open() (err error) {
	if c.nc, err = net.DialTimeout("tcp", c.host, 10*time.Second); err != nil {
		return err
	}
	c.r = bufio.NewReader(c.nc)
	return nil
}

// Post sends body and waits for the answer, at most until the deadline. header lines, each closed by CR LF, are sent as
// they are. After an error the connection is of no more use; whether the server has taken the body is then unknown.
func (c *Conn) Post(path, contentType, header string, body []byte, deadline time.Time) (status int, answer []byte,
	err error) {
	if c.nc == nil {
		if err := c.open(); err != nil {
			return 0, nil, err
		}
	}
	if err := c.nc.SetDeadline(deadline); err != nil {
		return 0, nil, err
	}
	h := append(c.head[:0], "POST "...)
	h = append(h, path...)
	h = append(h, " HTTP/1.1\r\nHost: "...)
	h = append(h, c.host...)
	h = append(h, "\r\nContent-Type: "...)
	h = append(h, contentType...)
	h = append(h, "\r\nContent-Length: "...)
	h = strconv.AppendInt(h, int64(len(body)), 10)
	h = append(h, "\r\n"...)
	h = append(h, header...)
	h = append(h, "\r\n"...)
	c.head = h
	if _, err := (&net.Buffers{h, body}).WriteTo(c.nc); err != nil {
		return 0, nil, err
	}
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return 0, nil, err
	}
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return 0, nil, err
	}
	if resp.Close {
		err = c.Close()
		c.nc = nil
	}
	return resp.StatusCode, answer, err
}

// Close closes the connection.
func (c *Conn) Close() error {
	if c.nc == nil {
		return nil
	}
	return c.nc.Close()
}

// IngestPath is the path and query of a write into table by the built-in pipeline; timeIndex is the custom_time_index
// parameter, or empty.
func IngestPath(db, table, timeIndex string) string {
	q := url.Values{"db": {db}, "table": {table}, "pipeline_name": {"service_identity"}}
	if timeIndex != "" {
		q.Set("custom_time_index", timeIndex)
	}
	return "/v1/ingest?" + q.Encode()
}
