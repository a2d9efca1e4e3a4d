package metricsapi

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"varve/server/web"
	"varve/sqlexec/promql"
)

// TestListsComeInPieces: a list of texts that take six times their bytes as JSON is written a piece at a time.
func TestListsComeInPieces(t *testing.T) {
	const count, size = 200, 10_000
	var all []string
	for i := range count {
		all = append(all, strings.Repeat("\x01", size)+string(rune('A'+i)))
	}
	for _, limit := range []int{0, 1, 7} {
		l, err := texts(new(promql.Tables), all, limit)
		if err != nil {
			t.Fatal(err)
		}
		var body []byte
		for more := true; more; {
			var piece []byte
			if piece, more = l.append(nil); len(piece) > web.PieceBytes+6*size+1000 {
				t.Fatalf("a piece has %d bytes", len(piece))
			}
			body = append(body, piece...)
		}
		var got struct {
			Status   string
			Data     []string
			Warnings []string
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		want, warnings := cut(all, limit)
		if got.Status != "success" || !slices.Equal(got.Data, want) || !slices.Equal(got.Warnings, warnings) {
			t.Errorf("limit %d: %d texts with the warnings %q, want %d with %q", limit, len(got.Data), got.Warnings,
				len(want), warnings)
		}
	}
}
