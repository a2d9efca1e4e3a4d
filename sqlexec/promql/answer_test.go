package promql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/promql"
	"varve/sqlexec/promql/histogram"
)

// whole is the text of an answer.
func whole(t *testing.T, r *promql.Result, stats bool) []byte {
	t.Helper()
	a, err := r.Answer(context.Background(), stats)
	if err != nil {
		t.Fatal(err)
	}
	body, more := a.Append(nil)
	for more {
		body, more = a.Append(body)
	}
	return body
}

// TestAnswerInPieces: pieces are short, whatever the answer has, and together they are the answer.
func TestAnswerInPieces(t *testing.T) {
	q := promql.Query{Expr: `big_total or label_replace(big_total, "k", "2", "", "")`, Start: 0, End: 55 * minute,
		Step: 1000, Workers: 2}
	r, err := q.Run(context.Background(), bigStore(100))
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Answer(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	pieces := 0
	for more := true; more; pieces++ {
		var piece []byte
		if piece, more = a.Append(nil); len(piece) > 3<<19 {
			t.Errorf("a piece has %d bytes", len(piece))
		}
		body = append(body, piece...)
	}
	if !json.Valid(body) || bytes.Count(body, []byte(`"metric"`)) != 200 || pieces < 5 {
		t.Errorf("%d pieces, %d series: %.200s", pieces, bytes.Count(body, []byte(`"metric"`)), body)
	}
}

// TestAnswerTakesMemory: the text of one series cannot be cut, so it is counted before it is made.
func TestAnswerTakesMemory(t *testing.T) {
	store := newMemory()
	h := &histogram.Histogram{Count: 5000}
	for i := range 5000 {
		h.Positive = append(h.Positive, histogram.Bucket{Index: int32(i), Count: 1})
	}
	store.Add(promql.NewLabels("__name__", "wide"), memorySample{T: 0, H: h}, memorySample{T: minute, H: h})
	q := promql.Query{Expr: "wide", End: 4 * minute, Step: 1000, Memory: &budget{64 << 20}}
	r, err := q.Run(context.Background(), store)
	if err == nil {
		_, err = r.Answer(context.Background(), false)
	}
	if err != errBudget && status.Of(err) != status.RuntimeResourcesExhausted {
		t.Errorf("an answer of 96 MB under 64 MiB: %v", err)
	}
}
