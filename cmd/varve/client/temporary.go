package client

import (
	"errors"
	"net/http"
	"time"

	"varve/engine/status"
)

// Temporary tells whether an error may be gone when the same is asked again, and how long the server asks to wait
// before: no answer, 408, 429 and 5xx.
func Temporary(err error) (again bool, wait time.Duration) {
	var answer *AnswerError
	var refused *RefusedError
	var away *UnreachableError
	switch {
	case errors.As(err, &refused):
		return false, 0
	case errors.As(err, &answer):
		again = answer.Status == http.StatusRequestTimeout || answer.Status == http.StatusTooManyRequests ||
			answer.Status >= 500
		// A query that failed on its rows will do so again.
		return again && answer.Code != int(status.EngineExecuteQuery) && answer.Status != http.StatusNotImplemented,
			answer.RetryAfter
	}
	return errors.As(err, &away), 0
}
