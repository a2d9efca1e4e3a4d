package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Error is an answer other than 200.
type Error struct {
	Status int
	Code   int    // of the error contract; 0 when the body had none
	Text   string // the body's error member, or the start of the body
}

func (e *Error) Error() string { return fmt.Sprintf("HTTP %d, code %d: %s", e.Status, e.Code, e.Text) }

// Rows is the result of one statement.
type Rows struct {
	Columns  []string
	Types    []string
	Rows     [][]any // numbers are json.Number
	Affected int64   // of a statement without rows
}

// Answer is the answer to a request for SQL.
type Answer struct {
	Results []Rows
	Millis  int64 // execution_time_ms
	Bytes   int   // of the body
}

// SQL runs statements and decodes the answer.
func SQL(ctx context.Context, base, db, text string) (*Answer, error) {
	body, err := Raw(ctx, base, db, text)
	if err != nil {
		return nil, err
	}
	return Decode(body)
}

// One runs one statement that gives rows.
func One(ctx context.Context, base, db, text string) (*Rows, error) {
	a, err := SQL(ctx, base, db, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	if len(a.Results) != 1 {
		return nil, fmt.Errorf("%s: %d results, want 1", text, len(a.Results))
	}
	return &a.Results[0], nil
}

// Int runs a statement that gives one row whose first value is an integer.
func Int(ctx context.Context, base, db, text string) (int64, error) {
	r, err := One(ctx, base, db, text)
	if err != nil {
		return 0, err
	}
	if len(r.Rows) != 1 || len(r.Rows[0]) == 0 {
		return 0, fmt.Errorf("%s: %d rows, want 1", text, len(r.Rows))
	}
	n, ok := r.Rows[0][0].(json.Number)
	if !ok {
		return 0, fmt.Errorf("%s: got %v, want an integer", text, r.Rows[0][0])
	}
	return n.Int64()
}

// Raw runs statements and gives the body of the answer.
func Raw(ctx context.Context, base, db, text string) ([]byte, error) {
	form := url.Values{"sql": {text}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/sql?db="+url.QueryEscape(db),
		strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return Do(req)
}

// Do sends a request and gives the body of its answer; a status other than 2xx is an *Error.
func Do(req *http.Request) ([]byte, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, AnswerError(resp.StatusCode, body)
	}
	return body, nil
}

// AnswerError reads the error out of an answer's body.
func AnswerError(status int, body []byte) *Error {
	var e struct {
		Code  int    `json:"code"`
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil || e.Error == "" {
		e.Error = string(body[:min(len(body), 200)])
	}
	return &Error{Status: status, Code: e.Code, Text: e.Error}
}

// Decode reads the body of an answer.
func Decode(body []byte) (*Answer, error) {
	var wire struct {
		Output []struct {
			Affected *int64 `json:"affectedrows"`
			Records  *struct {
				Schema struct {
					Columns []struct {
						Name string `json:"name"`
						Type string `json:"data_type"`
					} `json:"column_schemas"`
				} `json:"schema"`
				Rows  [][]any `json:"rows"`
				Total *int    `json:"total_rows"`
			} `json:"records"`
		} `json:"output"`
		Millis int64 `json:"execution_time_ms"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&wire); err != nil {
		return nil, fmt.Errorf("answer %q: %w", body[:min(len(body), 200)], err)
	}
	a := &Answer{Millis: wire.Millis, Bytes: len(body)}
	for i, o := range wire.Output {
		var r Rows
		switch {
		case o.Affected != nil:
			r.Affected = *o.Affected
		case o.Records == nil:
			return nil, fmt.Errorf("answer: result %d has neither records nor affectedrows", i)
		case o.Records.Total == nil || *o.Records.Total != len(o.Records.Rows):
			return nil, fmt.Errorf("answer: result %d: total_rows is not the number of rows, %d", i,
				len(o.Records.Rows))
		default:
			for _, c := range o.Records.Schema.Columns {
				r.Columns = append(r.Columns, c.Name)
				r.Types = append(r.Types, c.Type)
			}
			r.Rows = o.Records.Rows
		}
		a.Results = append(a.Results, r)
	}
	return a, nil
}

// Affected reads the row count out of the answer to a write: the sum over its groups.
func Affected(body []byte) (int64, error) {
	a, err := Decode(body)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, r := range a.Results {
		n += r.Affected
	}
	return n, nil
}
