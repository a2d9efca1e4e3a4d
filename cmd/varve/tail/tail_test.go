package tail

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"varve/cmd/varve/client"
)

// columns is what a server says of a table with a time index and a text.
const columns = `{"output":[{"records":{"rows":[["ts","TimestampSecond","TIMESTAMP"],["message","String","FIELD"]]}}]}`

// TestServersOfOtherKinds: whatever is answered, and to whichever question, it ends with an error that says so, and
// shows what came before.
func TestServersOfOtherKinds(t *testing.T) {
	good := []string{
		columns, `{"output":[{"records":{"rows":[[1795232760123456789]]}}]}`,
		`{"output":[{"records":{"schema":{"column_schemas":[{"name":"ts","data_type":"TimestampSecond"},{"name":"message","data_type":"String"}]},"rows":[[1795232760,"x"]]}}]}`,
	}
	// where rows are asked for, that is what these are
	noRows := []string{`{"output":[{}]}`, `{"output":[{"affectedrows":1}]}`}
	for _, bad := range append([]string{
		``, `null`, `{}`, `[]`, `<html>`, `{"output":[]}`, `{"output":[{"records":{"rows":[[]]}}]}`,
		`{"output":[{"records":{"rows":[[null]]}}]}`,
		`{"output":[{"records":{"rows":[[null,null,null]]}}]}`, `{"output":[{"records":{"rows":[["a","b"]]}}]}`,
		`{"output":[{"records":{"rows":[[{"a":1},[1],true]]}}]}`,
		`{"output":[{"records":{"schema":{"column_schemas":[{"name":"x","data_type":"y"}]},"rows":[[1,2],[]]}}]}`,
	}, noRows...) {
		for place := range len(good) + 1 { // behind the good ones are polls
			ctx, end := context.WithCancelCause(t.Context())
			n := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				answer := bad
				if n < len(good) && n != place {
					answer = good[n]
				}
				if n++; n > len(good)+2 {
					end(&client.InterruptedError{})
				}
				io.WriteString(w, answer) //nolint:errcheck // the client tells
			}))
			c, err := (&client.Flags{URL: server.URL}).Connect(nil, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			err = Run(ctx, c, Options{DB: "public", Table: "t", Rows: 5, Zone: time.UTC, Follow: place == len(good),
				Every: time.Millisecond, Format: "text"}, &out, io.Discard)
			wantOut := ""
			if place == len(good) {
				wantOut = "2026-11-21 03:46:00 x\n"
			}
			if isFine := place >= 2 && slices.Contains(noRows, bad); (err == nil) != isFine || out.String() != wantOut {
				t.Errorf("%s as answer %d: %v, %q", bad, place, err, out.String())
			}
			end(nil)
			server.Close()
		}
	}
}

// TestSeen: of equal rows as many are new as there are more than before, and what is long past is forgotten.
func TestSeen(t *testing.T) {
	var s seen
	for _, c := range []struct {
		rows []string
		want []int
	}{
		{[]string{"a", "b", "a"}, []int{0, 1, 2}},
		{[]string{"a", "b", "a"}, nil},
		{[]string{"a", "a", "a", "b"}, []int{2}},
		{[]string{"b", "c", "b"}, []int{1, 2}},
		{nil, nil},
	} {
		if got := s.fresh(c.rows); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.rows, got, c.want)
		}
	}
	for i := range 5 * window {
		s.fresh([]string{fmt.Sprint(i)})
	}
	if len(s.order) > 2*window || len(s.counts) > 2*window {
		t.Errorf("%d rows are remembered", len(s.order))
	}
	if got := s.fresh([]string{fmt.Sprint(5*window - 1), fmt.Sprint(4*window + 1), "a"}); !slices.Equal(got, []int{2}) {
		t.Errorf("got %v", got)
	}
}

func TestLevelColor(t *testing.T) {
	for level, want := range map[string]string{
		"": plain, "x": plain, "25": plain, "-1": plain, "ERROR": red, "Warning": yellow, "info": green, "ERROR2": red,
		"fatal": alarm, "T": gray,
		"0": alarm, "3": red, "6": green, "7": gray, "9": green, "17": red, "24": alarm,
	} {
		if got := levelColor(level); got != want {
			t.Errorf("%q: got %q, want %q", level, got, want)
		}
	}
}
