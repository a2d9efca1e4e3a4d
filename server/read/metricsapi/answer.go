package metricsapi

import (
	"context"
	"errors"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/web"
)

// endpoint makes a handler of find. tell appends the data of the answer as JSON; nil: the answer is empty. Errors are
// answered in the form of this API.
func endpoint(find func(c *web.Ctx) (tell func(dst []byte) []byte, err error)) web.Handler {
	return func(c *web.Ctx) error {
		tell, err := find(c)
		switch {
		case err != nil:
			return reply(c, err)
		case tell == nil:
			c.Empty(204)
			return nil
		}
		err = c.Make(200, "application/json", func() ([]byte, error) {
			return append(tell([]byte(success)), '}'), nil
		})
		if err != nil {
			return reply(c, err)
		}
		return nil
	}
}

// success begins every answer with data.
const success = `{"status":"success","data":`

// text is the tell of an answer whose data is made already.
func text(data []byte) func(dst []byte) []byte {
	return func(dst []byte) []byte { return append(dst, data...) }
}

// reply answers with an error in the form of this API. It returns a web.Reject, which the server answers in its own
// form.
func reply(c *web.Ctx, err error) error {
	var refused *web.Reject
	if errors.As(err, &refused) {
		return err
	}
	kind, code := "internal", 500
	_, text := web.Message(err)
	switch cause := context.Cause(c.Context); {
	case errors.Is(cause, context.DeadlineExceeded):
		kind, code, text = "timeout", 503, "query timed out in query execution"
	case cause != nil:
		kind, code, text = "canceled", 499, "query was canceled in query execution"
	default:
		switch status.Of(err) {
		case status.Unsupported:
			kind, code = "Unsupported", 400
		case status.InvalidArguments, status.InvalidSyntax, status.PlanQuery, status.TableColumnNotFound,
			status.TableNotFound, status.DatabaseNotFound:
			kind, code = "bad_data", 400
		case status.EngineExecuteQuery, status.RuntimeResourcesExhausted:
			kind, code = "execution", 422
		case status.DeadlineExceeded:
			kind, code = "timeout", 503
		case status.Cancelled:
			kind, code = "canceled", 499
		case status.RegionNotReady, status.RegionBusy, status.RegionReadonly, status.StorageUnavailable,
			status.RateLimited, status.TableUnavailable:
			kind, code = "unavailable", 503
		}
	}
	if kind == "internal" {
		c.Log.Error("request failed", "path", string(c.Path()), "error", err)
	}
	body := jsontext.AppendString([]byte(`{"status":"error","errorType":"`+kind+`","error":`), text)
	c.JSON(code, append(web.AppendPlace(body, err), '}'))
	return nil
}

// restate answers a refusal in the form of this API, in place of the server's.
func restate(c *web.Ctx, err error) {
	_, text := web.Message(err)
	c.JSON(403, append(jsontext.AppendString([]byte(`{"status":"error","errorType":"PermissionDenied","error":`), text),
		'}'))
}

// appendTexts appends a member that is a list of texts, when there are any.
func appendTexts(dst []byte, member string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	return appendList(append(dst, member...), texts)
}

// appendList appends a list of texts.
func appendList(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, t := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, t)
	}
	return append(dst, ']')
}

// truncated is the warning of an answer that a limit cut.
const truncated = "results truncated due to limit"

// cut cuts a list to a limit; 0: none.
func cut[T any](list []T, limit int) ([]T, []string) {
	if limit > 0 && len(list) > limit {
		return list[:limit], []string{truncated}
	}
	return list, nil
}
