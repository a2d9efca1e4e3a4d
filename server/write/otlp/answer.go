package otlp

import (
	"errors"
	"fmt"
	"strconv"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/server/protowire"
	"varve/server/web"
)

// encoding is the encoding of a request and of its answer.
type encoding uint8

const (
	inProtobuf encoding = iota
	inJSON
)

// reply answers with a body in the encoding.
func (f encoding) reply(c *web.Ctx, httpStatus int, body []byte) {
	contentType := "application/x-protobuf"
	if f == inJSON {
		contentType = "application/json"
	}
	c.Reply(httpStatus, contentType, body)
}

// answer answers a request whose records are stored, but for those that the answer counts:
//
//	ExportServiceResponse{1: partial success{1: rejected, 2: error message}}
func (s *signal) answer(c *web.Ctx, f encoding, o *outcome) {
	switch {
	case o.refused == 0 && f == inJSON:
		f.reply(c, 200, []byte(`{}`))
	case o.refused == 0:
		f.reply(c, 200, nil)
	case f == inJSON:
		body := append([]byte(`{"partialSuccess":{"`), s.rejected...)
		body = strconv.AppendInt(append(body, `":"`...), int64(o.refused), 10)
		body = jsontext.AppendString(append(body, `","errorMessage":`...), s.explain(o))
		f.reply(c, 200, append(body, "}}"...))
	default:
		f.reply(c, 200, protowire.AppendMessage(nil, 1, func(dst []byte) []byte {
			return protowire.AppendBytes(protowire.AppendVarint(dst, 1, uint64(o.refused)), 2, s.explain(o))
		}))
	}
}

// explain says why records were refused.
func (s *signal) explain(o *outcome) string {
	_, text := web.Message(o.fault)
	if o.refused == 1 {
		return text
	}
	return fmt.Sprintf("%s (%d %s were refused, this is the first one's reason)", text, o.refused, s.noun)
}

// fail answers with an error as google.rpc.Status{1: code, 2: message}. A request that was too slow gets 503 in place
// of 408: senders give up after 408 and send again after 503.
func (f encoding) fail(c *web.Ctx, err error) {
	text := web.ReplyErrorText(c, err)
	httpStatus := c.Response.StatusCode()
	if httpStatus == 408 {
		httpStatus = 503
		c.Response.Header.Set("Retry-After", "1")
	}
	code := protowire.StatusCode(httpStatus)
	if f == inJSON {
		body := strconv.AppendUint([]byte(`{"code":`), uint64(code), 10)
		body = jsontext.AppendString(append(body, `,"message":`...), text)
		f.reply(c, httpStatus, append(body, '}'))
		return
	}
	body := protowire.AppendStatus(nil, code, text)
	var rate *engine.RateError
	if errors.As(err, &rate) {
		body = protowire.AppendRetryInfo(body, rate.RetryAfter())
	}
	f.reply(c, httpStatus, body)
}
