package web

import (
	"context"
	"testing"

	"github.com/valyala/fasthttp"
)

func TestAcceptEncoding(t *testing.T) {
	for header, want := range map[string]string{
		"": "", "identity": "", "gzip": "gzip", "gzip, deflate, br": "gzip", "gzip;q=0.5, br;q=0.9": "br",
		"gzip;q=0": "", "*": "zstd",
		"*;q=0.1, gzip": "gzip", "zstd;q=0, *": "gzip", "GZIP": "gzip", "gzip;q=x": "",
	} {
		c := NewCtx(&fasthttp.RequestCtx{}, context.Background(), 0)
		c.Request.Header.Set("Accept-Encoding", header)
		if got := c.acceptedEncoding(); got != want {
			t.Errorf("%q takes %q, want %q", header, got, want)
		}
	}
}
