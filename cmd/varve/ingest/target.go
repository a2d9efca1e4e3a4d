package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"varve/cmd/varve/client"
	"varve/cmd/varve/progress"
)

// target is by what a table is known again: the state of an input holds for it alone. The zero value is of a server
// that does not say, which does not remember batches either.
type target struct {
	Store string `json:"store,omitempty"` // an emptied server has another one
	// a table that was dropped and made anew has another one; 0: there is none yet
	Table uint64 `json:"table_id,omitempty"`
	// Emptied rises whenever the table is truncated. 0: it never was.
	Emptied uint64 `json:"emptied,omitempty"`
}

// known reports whether the server says what it is.
func (t target) known() bool { return t.Store != "" }

// left reports whether what was stored in t lies elsewhere than in now, or is gone. A table that was not there yet may
// have been made by the rows.
func (t target) left(now target) bool {
	return t.known() && now.known() &&
		(t.Store != now.Store || t.Table != 0 && (t.Table != now.Table || t.Emptied != now.Emptied))
}

// reason says where it lies.
func (t target) reason(now target) string {
	if t.Store != now.Store {
		return "another server, or one that was emptied, answers now"
	}
	if t.Table == now.Table {
		return "the table was truncated since then"
	}
	return "the table was dropped since then"
}

// identify asks the server what a table is. A server that cannot be asked is an old one.
func (r *running) identify(ctx context.Context, table string) (t target, err error) {
	resp, err := r.c.Do(ctx, client.Request{Path: "/v1/ingest/target",
		Query: url.Values{"db": {r.o.DB}, "table": {table}}})
	var answer *client.AnswerError
	switch {
	case errors.As(err, &answer) && answer.Status == http.StatusNotFound:
		return t, nil
	case err != nil:
		return t, err
	}
	if err := json.NewDecoder(resp.Body).Decode(&t); err != nil {
		return t, errors.Join(fmt.Errorf("%s cannot be examined: %w", r.c.Base, err), resp.Body.Close())
	}
	return t, resp.Body.Close()
}

// identifyAll asks what the tables of all inputs are.
func (r *running) identifyAll(ctx context.Context) error {
	for _, in := range r.inputs {
		if _, known := r.targets[in.table]; known {
			continue
		}
		err := r.patiently(ctx, func() (err error) {
			r.targets[in.table], err = r.identify(ctx, in.table)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// patiently asks until the server has an answer, as long as it asks to come again.
func (r *running) patiently(ctx context.Context, ask func() error) error {
	tries := progress.Tries{First: firstWait, For: r.o.RetryFor, Again: busy,
		Say: func(err error, _ time.Duration) { r.report.retry(err) }}
	return tries.Run(ctx, ask)
}

// busy reports whether a server that answers asks to come again, and when.
func busy(err error) (again bool, least time.Duration) {
	var answer *client.AnswerError
	again, least = client.Temporary(err)
	return again && errors.As(err, &answer), min(least, longestAsked)
}
