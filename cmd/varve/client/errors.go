package client

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// UsageError is a command line that cannot be understood: exit code 2.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// UnreachableError: no server answers, or its answer broke off: exit code 4.
type UnreachableError struct {
	Base  string
	Cause error
}

func (e *UnreachableError) Error() string {
	var untrusted *tls.CertificateVerificationError
	if errors.As(e.Cause, &untrusted) {
		return fmt.Sprintf("cannot reach %s: %v. --ca-file names a certificate to trust", e.Base, untrusted.Err)
	}
	if errors.Is(e.Cause, io.EOF) && strings.HasPrefix(e.Base, "http://") {
		return fmt.Sprintf("cannot reach %s: it answers nothing. Does it speak https://?", e.Base)
	}
	return fmt.Sprintf("cannot reach %s: %v. Is the server running? (varve serve)", e.Base, e.Cause)
}
func (e *UnreachableError) Unwrap() error { return e.Cause }

// RefusedError: the user is not signed in or not allowed to do what was asked: exit code 5.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// PartialError: a part of the work was done: exit code 3.
type PartialError struct{ Err error }

func (e *PartialError) Error() string { return e.Err.Error() }
func (e *PartialError) Unwrap() error { return e.Err }

// AnswerError is what a server answers when a request fails.
type AnswerError struct {
	Path       string        // that was asked
	Status     int           // of HTTP
	Code       int           // of the server, 0: the answer has none
	Text       string        // what it says, on one line
	RetryAfter time.Duration // how long it asks to wait, 0: it does not ask
}

func (e *AnswerError) Error() string {
	what := "request"
	for _, one := range [...][2]string{{"/v1/sql", "query"}, {"/v1/mquery", "query"}, {"/v1/ingest", "ingest"},
		{"/v1/pipelines", "pipeline request"}} {
		if strings.HasPrefix(e.Path, one[0]) {
			what = one[1]
		}
	}
	switch e.Code {
	case 0:
		return fmt.Sprintf("%s failed (HTTP %d): %s", what, e.Status, e.Text)
	case authHeaderNotFound:
		return fmt.Sprintf("%s failed (%d): %s. Sign in with --user NAME", what, e.Code, e.Text)
	}
	return fmt.Sprintf("%s failed (%d): %s", what, e.Code, e.Text)
}

// authHeaderNotFound is the server's code for a request without credentials that needs some.
const authHeaderNotFound = 7003

// mostErrorText bounds what is read of an answer that says what went wrong, bytes.
const mostErrorText = 1 << 20

// readError reads the answer of a path that is not 2xx.
func readError(path string, resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostErrorText))
	if err != nil {
		text = fmt.Appendf(text, " (the answer broke off: %v)", err)
	}
	e := &AnswerError{Path: path, Status: resp.StatusCode, Text: strings.Join(strings.Fields(string(text)), " ")}
	var body struct {
		Code  int
		Error string
	}
	if json.Unmarshal(text, &body) == nil && body.Error != "" {
		e.Code, e.Text = body.Code, body.Error
	}
	if seconds, err := time.ParseDuration(resp.Header.Get("Retry-After") + "s"); err == nil {
		e.RetryAfter = max(0, seconds)
	}
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		e.Text = "it is to be asked at " + to + ": name that server with --url"
	}
	if e.Text == "" {
		e.Text = resp.Status
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return &RefusedError{e}
	}
	return e
}
