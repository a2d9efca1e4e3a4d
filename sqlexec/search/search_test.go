package search

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// script is the file of cases that the pages' own reader of search lines must pass as well.
type script struct {
	Message string   `json:"message"`
	Columns []Column `json:"columns"`
	Cases   []struct {
		Name      string   `json:"name"`
		Line      string   `json:"line"`
		AnyCase   bool     `json:"any_case"`
		NoMessage bool     `json:"no_message"`
		Where     *string  `json:"where"`
		Error     string   `json:"error"`
		At        int      `json:"at"`
		Length    int      `json:"length"`
		Near      []string `json:"near"`
	} `json:"cases"`
}

func readScript(t testing.TB) (s script) {
	t.Helper()
	text, err := os.ReadFile("../../server/dashboard/testdata/search.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCases(t *testing.T) {
	s := readScript(t)
	if len(s.Cases) < 100 {
		t.Fatalf("there are %d cases", len(s.Cases))
	}
	for _, c := range s.Cases {
		t.Run(c.Name, func(t *testing.T) {
			table := Table{Columns: s.Columns, Message: s.Message, AnyCase: c.AnyCase}
			if c.NoMessage {
				table.Message = ""
			}
			got, err := table.Where(c.Line)
			if c.Where != nil {
				if err != nil || got != *c.Where {
					t.Errorf("%s\n got %s, %v\nwant %s", c.Line, got, err, *c.Where)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%s: got %s, %v; want the error %q", c.Line, got, err, c.Error)
			}
			if e.Text != c.Error || e.At != c.At || e.Length != c.Length || !slices.Equal(e.Near, c.Near) {
				t.Errorf("%s\n got %q at %d+%d near %q\nwant %q at %d+%d near %q", c.Line, e.Text, e.At, e.Length,
					e.Near, c.Error, c.At, c.Length, c.Near)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	table := Table{Message: "m"}
	for _, c := range []struct {
		name, line string
		fails      bool
	}{
		{"the longest", strings.Repeat("é", MaxLength), false},
		{"too long", strings.Repeat("é", MaxLength+1), true},
		{"the deepest", strings.Repeat("(", MaxDepth) + "a" + strings.Repeat(")", MaxDepth), false},
		{"too deep", strings.Repeat("(", MaxDepth+1) + "a" + strings.Repeat(")", MaxDepth+1), true},
		{"side by side", strings.Repeat("(a)", 1000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := table.Where(c.line); (err != nil) != c.fails {
				t.Errorf("got %v", err)
			}
		})
	}
}

// FuzzWhere: any line gives a condition with closed quotes and parentheses, or an error whose place lies in the line.
func FuzzWhere(f *testing.F) {
	s := readScript(f)
	for _, c := range s.Cases {
		f.Add(c.Line)
	}
	table := Table{Columns: s.Columns, Message: s.Message}
	f.Fuzz(func(t *testing.T, line string) {
		where, err := table.Where(line)
		var e *Error
		if errors.As(err, &e) {
			if n := len([]rune(line)); e.At < 0 || e.Length < 0 || e.At+e.Length > n {
				t.Fatalf("%q: error at %d+%d of %d", line, e.At, e.Length, n)
			}
			return
		}
		depth, quote := 0, rune(0)
		for _, r := range where {
			switch {
			case quote != 0:
				if r == quote {
					quote = 0
				}
			case r == '\'' || r == '"':
				quote = r
			case r == '(':
				depth++
			case r == ')':
				depth--
			case r == ';':
				t.Fatalf("%q: a semicolon outside of quotes in %s", line, where)
			}
			if depth < 0 {
				t.Fatalf("%q: %s", line, where)
			}
		}
		if depth != 0 || quote != 0 {
			t.Fatalf("%q: %s", line, where)
		}
	})
}

// TestTypesOfTheCatalogue: types have two names, that of answers and that of information_schema.
func TestTypesOfTheCatalogue(t *testing.T) {
	for name, want := range map[string]kind{
		"bigint": number, "bigint unsigned": number, "int": number, "smallint unsigned": number, "double": number,
		"Int64": number, "Float32": number,
		"string": textual, "boolean": truth, "timestamp(9)": instant, "TimestampNanosecond": instant, "date": instant,
		"interval": other, "json": other,
	} {
		if got := kindOf(name); got != want {
			t.Errorf("%s is of kind %d, want %d", name, got, want)
		}
	}
}

// TestWords: what is marked in messages is what was looked for in them, and not what they must not have.
func TestWords(t *testing.T) {
	table := Table{Columns: []Column{{"level", "string"}}, Message: "m"}
	for line, want := range map[string][]string{
		"":                              nil,
		"level:error":                   nil,
		"timeout":                       {"timeout"},
		`"connection reset" time*`:      {"connection reset", "time"},
		"~Out -debug (a OR b)":          {"Out", "a", "b"},
		"-(a -b) NOT (x -c)":            {"b", "c"},
		`/user=\d+/ level:(error,warn)`: nil,
	} {
		if got, err := table.Read(line); err != nil || !slices.Equal(got.Words, want) {
			t.Errorf("%s: got %q, %v; want %q", line, got.Words, err, want)
		}
	}
}
