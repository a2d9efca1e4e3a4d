package client

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestTableRoles: which column is the time, the message and the level.
func TestTableRoles(t *testing.T) {
	column := func(name, kind, role string) []any { return []any{name, kind, role} }
	ts := column("ts", "TimestampMillisecond", "TIMESTAMP")
	for _, c := range []struct {
		name                 string
		columns              [][]any
		sums                 []any // lengths of texts, as the server adds them up
		time, message, level string
	}{
		{"by name, the likeliest first", [][]any{ts, column("log", "String", "FIELD"),
			column("body", "String", "FIELD"), column("Severity", "Int64", "FIELD")}, nil, "ts", "body", "Severity"},
		{"a message is text", [][]any{ts, column("message", "Int64", "FIELD"), column("Text", "String", "FIELD")}, nil,
			"ts", "Text", ""},
		{"the only text", [][]any{ts, column("host", "String", "TAG"), column("payload", "String", "FIELD")}, nil, "ts",
			"payload", ""},
		{"the longest text", [][]any{ts, column("a", "String", "FIELD"), column("b", "String", "FIELD"),
			column("c", "String", "FIELD")}, []any{3, 50, nil}, "ts", "b", ""},
		{"the first of empty ones", [][]any{ts, column("a", "String", "FIELD"), column("b", "String", "FIELD")},
			[]any{nil, nil}, "ts", "a", ""},
		{"none", [][]any{ts, column("v", "Float64", "FIELD")}, nil, "ts", "", ""},
		{"view", [][]any{column("t", "TimestampMillisecond", "FIELD"), column("a", "String", "FIELD"),
			column("b", "String", "FIELD")}, nil, "", "a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := answering(t, func(sql string) [][]any {
				if strings.Contains(sql, "sum(length(") {
					return [][]any{c.sums}
				}
				return c.columns
			})
			got, err := server.Table(t.Context(), "public", "t")
			if err != nil {
				t.Fatal(err)
			}
			index := ""
			if got.Time >= 0 {
				index = got.Columns[got.Time].Name
			}
			if index != c.time || got.Message != c.message || got.Level != c.level {
				t.Errorf("got %q %q %q", index, got.Message, got.Level)
			}
		})
	}
}

// answering makes a client of a server that answers with rows.
func answering(t *testing.T, rows func(sql string) [][]any) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := rows(r.FormValue("sql"))
		if list == nil {
			list = [][]any{}
		}
		if err := json.NewEncoder(w).Encode(
			map[string]any{"output": []any{map[string]any{"records": map[string]any{"rows": list}}}}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	c, err := (&Flags{URL: s.URL}).Connect(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNoTable: a table that is not there is an error of the server's kind, with the nearest name.
func TestNoTable(t *testing.T) {
	c := answering(t, func(sql string) [][]any {
		if strings.Contains(sql, "information_schema.tables") {
			return [][]any{{"metrics"}, {"o'brien"}}
		}
		return nil
	})
	_, err := c.Table(t.Context(), "public", "o'brian")
	var answer *AnswerError
	if !errors.As(err, &answer) || answer.Code != 4001 ||
		!strings.HasSuffix(err.Error(), "service.public.o'brian. Did you mean 'o'brien'?") {
		t.Errorf("got %v", err)
	}
}

// TestUnits: instants become the first unit that is not before them, and those out of reach the outermost.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		at        time.Time
		perSecond int64
		want      int64
	}{
		{time.Unix(5, 0), 1, 5},
		{time.Unix(5, 1), 1, 6},
		{time.Unix(5, 1), 1e3, 5001},
		{time.Unix(5, 1e6), 1e3, 5001},
		{time.Unix(5, 123456789), 1e9, 5123456789},
		{time.Unix(-1, 5e8), 1, 0},
		{time.Unix(-1, 5e8), 1e3, -500},
		{time.Unix(-1, 999_999_999), 1e6, 0},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 1e9, math.MaxInt64},
		{time.Date(-9999, 1, 1, 0, 0, 0, 0, time.UTC), 1e9, math.MinInt64},
	} {
		got := Units(c.at, c.perSecond)
		if got != c.want {
			t.Errorf("%s in units of 1/%d s: got %d, want %d", c.at, c.perSecond, got, c.want)
		}
		if back := AtUnits(got, c.perSecond); got != math.MaxInt64 && got != math.MinInt64 &&
			(back.Before(c.at) || back.Sub(c.at) >= time.Second/time.Duration(c.perSecond)) {
			t.Errorf("%d in units of 1/%d s is %s, want %s or the unit after", got, c.perSecond, back, c.at)
		}
	}
}

// TestSQLText: names, texts and conditions of strangers stay what they are.
func TestSQLText(t *testing.T) {
	for got, want := range map[string]string{
		Name(`a"b`):                             `"a""b"`,
		Text(`o'b`):                             `'o''b'`,
		Names(nil):                              "*",
		Names([]string{"a", "b,c"}):             `"a", "b,c"`,
		Where("", ""):                           "",
		Where("a = 1 OR b = 2 -- why", "", "c"): " WHERE (a = 1 OR b = 2 -- why\n) AND (c\n)",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestTemporary: what is worth asking again.
func TestTemporary(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		again bool
	}{
		{"none", nil, false},
		{"other", errors.New("x"), false},
		{"away", &UnreachableError{Cause: errors.New("x")}, true},
		{"busy", &AnswerError{Status: http.StatusTooManyRequests}, true},
		{"slow", &AnswerError{Status: http.StatusRequestTimeout}, true},
		{"broken", &AnswerError{Status: http.StatusInternalServerError, Code: 1003}, true},
		{"fails on its rows", &AnswerError{Status: http.StatusInternalServerError, Code: 3001}, false},
		{"not built", &AnswerError{Status: http.StatusNotImplemented}, false},
		{"wrong", &AnswerError{Status: http.StatusBadRequest}, false},
		{"refused", &RefusedError{&AnswerError{Status: http.StatusServiceUnavailable}}, false},
	} {
		if again, _ := Temporary(c.err); again != c.again {
			t.Errorf("%s: got %t", c.name, again)
		}
	}
}
