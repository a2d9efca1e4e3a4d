package query

import (
	"errors"
	"strings"

	"varve/engine/status"
	"varve/server/web"
)

// sample is what a statement is sent like, for those who sent it otherwise.
const sample = `: send it so: curl http://HOST/v1/sql --data-urlencode "sql=SELECT 1 + 1", or as it is: curl http://HOST/v1/sql -H 'Content-Type: text/plain' --data-binary 'SELECT 1 + 1'`

// parameters are those of a request for SQL, which may come as it is, too: a text in the body.
func parameters(c *web.Ctx, known ...string) (*web.Params, error) {
	if c.IsPost() && c.MediaType() == "text/plain" {
		return c.QueryOrText("sql", known...)
	}
	p, err := c.QueryOrForm(known...)
	var r *web.Reject
	if errors.As(err, &r) && r.Status == 415 {
		return nil, web.NewReject(415, r.Text+sample)
	}
	return p, err
}

// plusHint says of a text that cannot be read what may have become of its plus signs: in a form, and in an address, one
// is a blank.
func plusHint(c *web.Ctx, err error) error {
	var e *status.Error
	if !errors.As(err, &e) || e.Code != status.InvalidSyntax || !c.HasPlus() {
		return err
	}
	hinted := *e
	hinted.Msg = strings.TrimSuffix(hinted.Msg, ".")
	if !strings.HasSuffix(hinted.Msg, "?") {
		hinted.Msg += "."
	}
	hinted.Msg += " A + of a form or an address is a blank, a plus sign is %2B there" + sample
	return &hinted
}
