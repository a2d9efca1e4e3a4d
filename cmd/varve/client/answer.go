package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Column is a column of an answer.
type Column struct {
	Name string `json:"name"`
	Type string `json:"data_type"`
}

// Answer is what a statement gave, whole in memory.
type Answer struct {
	Columns  []Column
	Rows     [][]any // numbers are json.Number
	Affected int64   // rows that a statement without rows changed
}

// Statement is the request that runs the statement of a form.
func Statement(form url.Values) Request {
	return Request{Path: "/v1/sql", Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		Body: strings.NewReader(form.Encode())}
}

// mostAnswer bounds an answer that is read whole, bytes.
const mostAnswer = 64 << 20

// Query runs one statement whose answer is small.
func (c *Client) Query(ctx context.Context, db, sql string) (*Answer, error) {
	form := url.Values{"sql": {sql}}
	if db != "" {
		form.Set("db", db)
	}
	resp, err := c.Do(ctx, Statement(form))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	if err != nil {
		return nil, &UnreachableError{Base: c.Base, Cause: err}
	}
	if len(text) > mostAnswer {
		return nil, fmt.Errorf("the answer of %.100q is larger than %d bytes", sql, mostAnswer)
	}
	return c.readAnswer(text)
}

// readAnswer reads the last result of an answer of /v1/sql.
func (c *Client) readAnswer(text []byte) (*Answer, error) {
	var body struct {
		Output []struct {
			AffectedRows int64
			Records      struct {
				Schema struct {
					Columns []Column `json:"column_schemas"`
				}
				Rows [][]any
			}
		}
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil || len(body.Output) == 0 {
		return nil, fmt.Errorf("%s did not answer with a result: %.200q", c.Base, text)
	}
	last := body.Output[len(body.Output)-1]
	return &Answer{Columns: last.Records.Schema.Columns, Rows: last.Records.Rows, Affected: last.AffectedRows}, nil
}

// Whole reads a whole number of an answer.
func Whole(cell any, to *int64) error {
	n, ok := cell.(json.Number)
	if !ok {
		return fmt.Errorf("expected a whole number, the server sent %v", cell)
	}
	x, err := n.Int64()
	*to = x
	return err
}
