package query_test

import (
	"context"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"varve/engine"
	"varve/server"
	"varve/server/read/query"
	"varve/server/servertest"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

var update = flag.Bool("update", false,
	"write the answers of docs/sql.md anew; read the difference before you commit it")

// manual is the description of the language. A block of SQL in it is a request; the text block right after it is what
// curl prints for its last statement.
const manual = "../../../docs/sql.md"

// TestManual runs every example of docs/sql.md. With -update the answers are written anew.
func TestManual(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	h := manualHouse(t)
	var out strings.Builder
	rest, line, answers := string(text), 1, 0
	for {
		before, block, ok := strings.Cut(rest, "```sql\n")
		out.WriteString(before)
		if !ok {
			break
		}
		line += strings.Count(before, "\n") + 1
		sql, after, ok := strings.Cut(block, "```\n")
		if !ok {
			t.Fatalf("line %d: the block does not end", line)
		}
		got, status := shown(h, sql)
		out.WriteString("```sql\n" + sql + "```\n")
		line += strings.Count(sql, "\n") + 1
		answered, ok := strings.CutPrefix(after, "```text\n")
		switch {
		case ok:
			var want string
			want, after, ok = strings.Cut(answered, "```\n")
			if !ok {
				t.Fatalf("line %d: the answer does not end", line)
			}
			if got != want && !*update {
				t.Errorf("line %d: %s\n got\n%s\nwant\n%s", line, sql, got, want)
			}
			out.WriteString("```text\n" + got + "```\n")
			line += strings.Count(want, "\n") + 2
			answers++
		case status != 200:
			t.Errorf("line %d: %s%s", line, sql, got)
		}
		rest = after
	}
	if *update {
		if err := os.WriteFile(manual, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if answers < 40 {
		t.Errorf("%d answers are shown", answers)
	}
}

// manualHouse is a server for the examples.
func manualHouse(t *testing.T) *servertest.House {
	e, err := engine.Open(engine.Options{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background(), false); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	x := sqlexec.New(e, sqlexec.Options{Workers: 2, Version: "test", CopyDir: filepath.Join(t.TempDir(), "copy")})
	return servertest.Open(t, func(o *server.Options) { o.Query = query.Options{Executor: x} })
}

var (
	took    = regexp.MustCompile(`"execution_time_ms":\d+`)
	setZone = regexp.MustCompile(`^SET time_zone = '(.*)'$`)
)

// shown is what a request answers. Of several statements the last is a request of its own, as format=table wants it;
// the zone that those before it set is that of the header. Cells of several lines are shown as csv, which keeps the
// lines.
func shown(h *servertest.House, sql string) (string, int) {
	h.Helper()
	statements, err := parse.Parse(sql)
	if err != nil {
		return err.Error() + "\n", 400
	}
	var headers []string
	last := len(statements) - 1
	ask := func(st parse.Statement, format string) servertest.Answer {
		return h.Do("GET", "/v1/sql?time_format=rfc3339&format="+format+"&sql="+url.QueryEscape(st.Source()), "",
			headers...)
	}
	for _, st := range statements[:last] {
		if zone := setZone.FindStringSubmatch(st.Source()); zone != nil {
			headers = []string{"x-service-timezone", zone[1]}
		}
		if a := ask(st, "table"); a.Status != 200 {
			return a.Body, a.Status
		}
	}
	a := ask(statements[last], "table")
	if strings.Contains(a.Body, `\n`) && a.Status == 200 {
		a = ask(statements[last], "csv")
	}
	body := took.ReplaceAllString(strings.ReplaceAll(a.Body, "\r\n", "\n"), `"execution_time_ms":0`)
	if !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	return body, a.Status
}
