package client

import (
	"context"
	"io"
	"net"
	"net/http"
)

// Local makes a client of a server inside this process, to which dial connects. Of the flags those count that say how
// much is told and how long a request may take.
func (f *Flags) Local(dial func() (net.Conn, error), environ []string, notes io.Writer) *Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return dial() }}
	return &Client{Base: "http://localhost", DB: "public", Timezone: Getenv(environ, "VARVE_TIMEZONE"),
		header:  http.Header{},
		timeout: f.Timeout, notes: &notebook{w: notes}, verbose: f.Verbose, http: &http.Client{Transport: transport}}
}
