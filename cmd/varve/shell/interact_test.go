package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve/cmd/varve/client"
)

// known answers the statements of completion about two databases.
func known(asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sql := r.FormValue("sql")
		if asked != nil {
			*asked = append(*asked, sql)
		}
		columns, rows := `{"name":"a","data_type":"String"}`, ""
		switch {
		case strings.Contains(sql, "schemata"):
			rows = `["public"],["other"]`
		case strings.Contains(sql, "columns") && strings.Contains(sql, "'logs'"):
			rows = `["ts","timestamp(3)","TIMESTAMP"],["host","string","TAG"],["Status Code","bigint","FIELD"]`
		case strings.Contains(sql, "columns") && strings.Contains(sql, "'inner'"):
			rows = `["hour_of","bigint","FIELD"]`
		case strings.Contains(sql, "tables") && strings.Contains(sql, "'other'"):
			rows = `["inner","BASE TABLE"]`
		case strings.Contains(sql, "tables"):
			rows = `["logs","BASE TABLE"],["Load","VIEW"],["lo\u001b[31m","BASE TABLE"]`
		}
		fmt.Fprintf(w, `{"output":[{"records":{"schema":{"column_schemas":[%s]},"rows":[%s]}}]}`, columns, rows)
	}
}

// completed is complete once every name that it asks for is known: it does not wait long for a server that is busy.
func completed(s *Shell, before, after string) (start int, list []offer) {
	answers := func() (n int) {
		s.names.mu.Lock()
		defer s.names.mu.Unlock()
		for _, l := range s.names.lists {
			if !l.at.IsZero() {
				n++
			}
		}
		return n
	}
	for known := -1; answers() > known; {
		known = answers()
		start, list = s.complete(before, after)
		s.names.mu.Lock()
		var asked []chan struct{}
		for _, l := range s.names.lists {
			if l.busy != nil {
				asked = append(asked, l.busy)
			}
		}
		s.names.mu.Unlock()
		for _, answered := range asked {
			<-answered
		}
	}
	return start, list
}

func TestComplete(t *testing.T) {
	s, err := New(Options{Client: server(t, known(nil)), Format: "table", Zone: "UTC", Out: io.Discard,
		Notes: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"report.sql", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, before, after string
		word                string // that is completed
		want, not           []string
	}{
		{"keyword", "SEL", "", "SEL", []string{"SELECT"}, []string{"select"}},
		{"keyword in small letters", "sel", "", "sel", []string{"select"}, []string{"SELECT"}},
		{"table", "select * from lo", "", "lo", []string{"logs", `"Load"`}, []string{"lower(", "\"lo\x1b[31m\""}},
		{"database", "select * from oth", "", "oth", []string{"other."}, nil},
		{"table of a database", "select * from other.", "", "", []string{"inner"}, []string{"logs"}},
		{"column", "select ho", " from logs", "ho", []string{"host", "hour("}, []string{"hour_of"}},
		{"columns of a join", "select * from logs join other.inner on ho", "", "ho", []string{"host", "hour_of"}, nil},
		{"column in brackets", "select * from logs where lower(hos", "", "hos", []string{"host"}, nil},
		{"column of an alias", "select l.", " from logs l", "", []string{"host", "ts", `"Status Code"`},
			[]string{"SELECT"}},
		{"quoted column", `select "Sta`, " from logs", `"Sta`, []string{`"Status Code"`}, nil},
		{"function with arguments", "select date_b", "", "date_b", []string{"date_bin("}, nil},
		{"another statement", "select 1; select * from log", "", "log", []string{"logs"}, nil},
		{"another statement's tables", "select * from logs; select hos", "", "hos", nil, []string{"host"}},
		{"text", "select 'ho", " from logs", "", nil, []string{"host"}},
		{"comment", "select -- ho", " from logs", "", nil, []string{"host"}},
		{"database of USE", "use ", "", "", []string{"public", "other"}, []string{"logs"}},
		{"command", `\to`, "", `\to`, []string{`\top`}, []string{`\tail`}},
		{"table of a command", `\d lo`, "", "lo", []string{"logs"}, nil},
		{"column of \\top", `\top logs ho`, "", "ho", []string{"host"}, []string{"logs"}},
		{"database of \\c", `\c o`, "", "o", []string{"other"}, nil},
		{"format", `\f nd`, "", "nd", []string{"ndjson"}, []string{"table"}},
		{"file", `\i ` + dir + "/re", "", dir + "/re", []string{dir + "/report.sql"}, nil},
		{"hidden file", `\o ` + dir + "/", "", dir + "/", []string{dir + "/report.sql"}, []string{dir + "/.hidden"}},
		{"word of \\h", `\h date_b`, "", "date_b", []string{"date_bin"}, []string{"date_bin("}},
	} {
		t.Run(c.name, func(t *testing.T) {
			start, list := completed(s, c.before, c.after)
			var texts []string
			for _, o := range list {
				texts = append(texts, o.text)
			}
			if got := c.before[start:]; got != c.word {
				t.Errorf("the word is %q, want %q", got, c.word)
			}
			for _, w := range c.want {
				if !slices.Contains(texts, w) {
					t.Errorf("%q is not offered: %q", w, texts)
				}
			}
			for _, n := range c.not {
				if slices.Contains(texts, n) {
					t.Errorf("%q is offered", n)
				}
			}
		})
	}
}

// TestNamesAreKept: names are asked for once, until a statement may have changed them; a slow server holds nobody up.
func TestNamesAreKept(t *testing.T) {
	var asked []string
	s, err := New(Options{Client: server(t, known(&asked)), Format: "table", Zone: "UTC", Out: io.Discard,
		Notes: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		completed(s, "select * from lo", "")
	}
	if len(asked) != 2 { // tables, databases
		t.Errorf("asked %q", asked)
	}
	if err := s.follow("DROP TABLE logs"); err != nil {
		t.Fatal(err)
	}
	if completed(s, "select * from lo", ""); len(asked) != 4 {
		t.Errorf("after DROP asked %q", asked)
	}

	answer := make(chan struct{})
	slow := server(t, func(w http.ResponseWriter, r *http.Request) {
		<-answer
		known(nil)(w, r)
	})
	s.o.Client = slow
	s.names.forget()
	if _, list := s.complete("select * from lo", ""); len(list) != 0 { // it comes back, and the server has not answered
		t.Errorf("a server that does not answer offers %v", list)
	}
	close(answer)
	for list := []offer(nil); len(list) == 0; {
		_, list = s.complete("select * from lo", "")
	}
}

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "varve", "history")
	h, err := openHistory(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"SELECT 1;\n", "SELECT 1;", "SELECT\n 'ü';", " SELECT 2;",
		"CREATE USER a IDENTIFIED BY 'b';", "SET password = 'x';", "SELECT token = 'x'", "", "SELECT tokens FROM t"} {
		if err := h.add(text); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"SELECT 1;", "SELECT\n 'ü';", "SELECT tokens FROM t"}
	if h, err = openHistory(file); err != nil || !slices.Equal(h.list, want) {
		t.Errorf("kept %q, %v, want %q", h.list, err, want)
	}
	var long strings.Builder
	for i := range mostHistory + mostHistory/5 {
		text, err := json.Marshal(fmt.Sprintf("SELECT %d", i))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&long, "%s\n", text)
	}
	if err := os.WriteFile(file, []byte("damaged\n"+long.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err = openHistory(file)
	text, readErr := os.ReadFile(file)
	if err != nil || readErr != nil || h.Len() != mostHistory || h.list[0] != fmt.Sprintf("SELECT %d", mostHistory/5) ||
		strings.Count(string(text), "\n") != mostHistory {
		t.Errorf("of a long file %d statements from %q on are left, %d in the file, %v", h.Len(), h.list[0],
			strings.Count(string(text), "\n"), err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestPlaceholders(t *testing.T) {
	s, err := New(Options{Format: "table", Zone: "UTC", Out: io.Discard, Notes: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	s.since = "2026-11-21 03:46"
	got, err := s.fill(`SELECT '$from', "$to", ts > $from, $fromage, a$to /* $from */ -- $to` + "\n, ts <= $to")
	if err != nil {
		t.Fatal(err)
	}
	got = regexp.MustCompile(`<= '\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z'`).ReplaceAllString(got, "<= NOW")
	if want := `SELECT '$from', "$to", ts > '2026-11-21T03:46:00.000Z', $fromage, a$to /* $from */ -- $to` +
		"\n, ts <= NOW"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestHistogramPicture draws rows by time and level.
func TestHistogramPicture(t *testing.T) {
	from := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	b := &bars{from: from, step: time.Minute, counts: make([][]int64, 3), levels: true}
	for _, r := range []struct {
		minute int
		level  any
		n      int
	}{{0, "ERROR", 10}, {0, "info", 30}, {2, "Warning", 1}, {2, nil, 1999}, {7, "info", 5}} {
		at := from.Add(time.Duration(r.minute) * time.Minute).UnixMilli()
		b.add([]any{json.Number(fmt.Sprint(at)), r.level, json.Number(fmt.Sprint(r.n))})
	}
	golden(t, "hist", b.draw(time.UTC, look{}))
	golden(t, "hist.colour", b.draw(time.UTC, look{colour: true, terminal: 60}))
}

// TestHistogramBins: a line is a bin of the query, whatever the length of the bins is, and of no instant before the
// first.
func TestHistogramBins(t *testing.T) {
	var want []string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		sql := r.FormValue("sql")
		if strings.Contains(sql, "information_schema") {
			io.WriteString(w, `{"output":[{"records":{"rows":[["ts","TimestampMillisecond","TIME INDEX"]]}}]}`) //nolint:errcheck // the client tells
			return
		}
		step, err := strconv.ParseInt(strings.Fields(sql[strings.Index(sql, "INTERVAL '")+10:])[0], 10, 64)
		if err != nil {
			t.Error(err)
		}
		var rows []string
		for i := range int64(3) {
			at := time.Now().Unix()/step*step - (i+1)*step // not the newest, which may be over by now
			want = append(want, time.Unix(at, 0).UTC().Format("2006-01-02 15:04"))
			rows = append(rows, fmt.Sprintf("[%d,null,%d]", at*1000, 7+i))
		}
		fmt.Fprintf(w, `{"output":[{"records":{"rows":[%s]}}]}`, strings.Join(rows, ","))
	})
	for _, since := range []string{"20h", "30d", "100d", "2022-01-01", "all"} {
		want = nil
		out, _, err := run(t, Options{Client: c, DB: "public"}, `\hist t `+since+"\n")
		if err != nil || len(want) != 3 || !strings.Contains(out, "24 rows") {
			t.Fatalf("%s: %v %q %s", since, err, want, out)
		}
		for i, at := range want {
			if !regexp.MustCompile(at + ` │·+ ` + strconv.Itoa(7+i) + "\n").MatchString(out) {
				t.Errorf("%s: %s has not %d rows:\n%s", since, at, 7+i, out)
			}
		}
	}
	b := &bars{from: time.Unix(0, 0), step: time.Hour, counts: make([][]int64, 1)}
	if b.add([]any{json.Number("-1"), nil, json.Number("1")}); b.counts[0] != nil {
		t.Errorf("what is before the first bin is in it")
	}
	if got := binOf(time.Unix(-1, 5e8), time.Minute).Unix(); got != -60 {
		t.Errorf("before 1970: got %d", got)
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		length time.Duration
		want   time.Duration
	}{{time.Second, time.Second}, {time.Minute, 2 * time.Second}, {time.Hour, 2 * time.Minute},
		{24 * time.Hour, time.Hour}, {30 * 24 * time.Hour, 24 * time.Hour},
		{1000 * 24 * time.Hour, 4 * 7 * 24 * time.Hour}} {
		if got := stepOf(c.length, 40); got != c.want || c.length/got > 40 {
			t.Errorf("%s: %s, want %s", c.length, got, c.want)
		}
	}
}

// TestGraph draws two series.
func TestGraph(t *testing.T) {
	from := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	a := &client.Answer{Columns: []client.Column{{Name: "ts", Type: "TimestampMillisecond"},
		{Name: "rate", Type: "Float64"}, {Name: "host", Type: "String"}}}
	for i := range 30 {
		at := json.Number(fmt.Sprint(from.Add(time.Duration(i) * time.Minute).UnixMilli()))
		a.Rows = append(a.Rows, []any{at, json.Number(fmt.Sprint(i * i)), "a"}, []any{at, json.Number("100"), "b\x1b"},
			[]any{at, nil, "c"})
	}
	to := from.Add(29 * time.Minute)
	golden(t, "graph", graph(gather(a, from, to, 60), from, to, 60))
}

// TestManualOfWords: functions have arguments and words, and statements are found.
func TestManualOfWords(t *testing.T) {
	found := map[string]function{}
	for _, f := range functions() {
		found[f.name] = f
	}
	for name, args := range map[string]string{"date_bin": "(", "count": "(*)", "octet_length": "(s)",
		"regexp_replace": "(s, re, with", "approx_distinct": "(x)"} {
		if f := found[name]; !strings.HasPrefix(f.args, args) || f.line == "" {
			t.Errorf("%s: %+v, want arguments %s", name, f, args)
		}
	}
	if len(found) < 200 {
		t.Errorf("%d functions", len(found))
	}
	for _, word := range []string{"select", "copy", "explain", "alter", "tql", "kill", "aggregates", "show"} {
		if sectionOf(word) == nil {
			t.Errorf("nothing of %s", word)
		}
	}
	if h := sectionOf("select"); h.title != "SELECT" {
		t.Errorf("of select: %q", h.title)
	}
}

func TestHighlight(t *testing.T) {
	strip := regexp.MustCompile(`\x1b\[\d+m`)
	for _, text := range []string{"SELECT (1 + 2), 'a(b' -- )\n FROM t /* x */ WHERE \"a\" = $$b$$", "'open", "", "((]",
		"TQL EVAL (1,2,'3s') a{b=\"c\\\"\"}"} {
		for cursor := range len(text) + 1 {
			if got := strip.ReplaceAllString(highlight(text, cursor), ""); got != text {
				t.Errorf("%q becomes %q", text, got)
			}
		}
	}
	for _, c := range []struct {
		text              string
		cursor, open, end int
	}{{"a (b (c)) d", 9, 2, 8}, {"a (b (c)) d", 8, 5, 7}, {"a (b (c)) d", 2, 2, 8}, {"(')')", 5, 0, 4},
		{"(a", 1, -1, -1}, {"a)", 2, -1, -1}} {
		if open, end := brackets(c.text, c.cursor); open != c.open || end != c.end {
			t.Errorf("%q at %d: %d, %d, want %d, %d", c.text, c.cursor, open, end, c.open, c.end)
		}
	}
}

// TestProduction: before something is destroyed there, somebody is asked.
func TestProduction(t *testing.T) {
	var asked []string
	var questions []string
	answer := false
	s, err := New(Options{Client: session(t, &asked), Format: "table", Zone: "UTC", Out: io.Discard, Notes: io.Discard,
		Session: Session{Label: "prod", Production: true,
			Confirm: func(_ context.Context, q string) (bool, error) {
				questions = append(questions, q)
				return answer, nil
			}}})
	if err != nil {
		t.Fatal(err)
	}
	s.asking = true
	for _, text := range []string{"SELECT 1", "INSERT INTO t VALUES (1)", "/* why */ DROP TABLE t", "truncate t",
		"DELETE FROM t"} {
		s.statement(t.Context(), text, "tsv") //nolint:errcheck // what is asked counts
	}
	if len(asked) != 2 || len(questions) != 3 || !strings.Contains(questions[0], "prod is production. Run") {
		t.Errorf("ran %q, asked %q", asked, questions)
	}
	answer = true
	if err := s.statement(t.Context(), "DROP TABLE t", "tsv"); err != nil || len(asked) != 3 {
		t.Errorf("after a yes: ran %q, %v", asked, err)
	}
}
