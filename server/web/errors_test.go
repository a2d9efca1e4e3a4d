package web

import (
	"context"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

func TestCancelledContextIsSaid(t *testing.T) {
	c := NewCtx(&fasthttp.RequestCtx{}, context.Background(), 0)
	c.Cancel()
	ReplyError(c, context.Canceled)
	if got := string(c.Response.Body()); c.Response.StatusCode() != 504 || !strings.Contains(got, `"code":1005`) {
		t.Errorf("got %d %s", c.Response.StatusCode(), got)
	}
}
