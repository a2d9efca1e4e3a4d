package sqlexec

import (
	"context"
	"os"
	"strings"
	"testing"

	"varve/sqlexec/parse"
)

// TestServerTellsOfItself asks what clients ask when they connect.
func TestServerTellsOfItself(t *testing.T) {
	x := New(openStore(t), Options{Version: "1.2.3"})
	s := &Session{User: "ann"}
	for _, c := range []struct{ sql, want string }{
		{"SELECT version()", "version()|varve 1.2.3"},
		{"SELECT user(), current_user, session_user", "user()|current_user()|session_user()|ann|ann|ann"},
		{"SELECT @@version_comment", "@@version_comment|varve 1.2.3"},
		{"SELECT @@version_comment LIMIT 1", "@@version_comment|varve 1.2.3"},
		{"SELECT @@session.time_zone, @@GLOBAL.Version AS v", "@@time_zone|v|UTC|1.2.3"},
		{"SHOW VARIABLES LIKE 'version%'", "Variable_name|Value|version|1.2.3|version_comment|varve 1.2.3"},
		{"SHOW SESSION VARIABLES LIKE 'time_zone'", "Variable_name|Value|time_zone|UTC"},
		{"SHOW VARIABLES time_zone", "TIME_ZONE|UTC"},
		{"SHOW GRANTS", "Grants for ann|GRANT ALL PRIVILEGES ON *.* TO 'ann'"},
		{"SHOW GRANTS FOR CURRENT_USER()", "Grants for ann|GRANT ALL PRIVILEGES ON *.* TO 'ann'"},
		{"SELECT @@versoin", "!Unknown system variable 'versoin'. Did you mean 'version'?"},
		{"SHOW VARIABLES tme_zone", "!SHOW VARIABLES tme_zone is not supported. Did you mean 'time_zone'?"},
		{"SHOW GRANTS FOR 'bob'", "!SHOW GRANTS FOR another user"},
		{"CREATE TABLE hints (ts TIMESTAMP TIME INDEX, level STRING)", ""},
		{`SELECT * FROM hints WHERE level = "error"`,
			"!Text stands in single quotes, names in double ones: is 'error' meant?"},
		{`SELECT * FROM hints WHERE level = error`, "!No field named error."},
		{"ADMIN flush_tabel('hints')", "!Invalid function 'flush_tabel' of ADMIN. Did you mean 'flush_table'?"},
		{`SELECT * FROM hnts`, "!Table not found: service.public.hnts. Did you mean 'hints'?"},
	} {
		got, err := oneAnswer(x, s, c.sql)
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.sql, err, want)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s\n got %s, %v\nwant %s", c.sql, got, err, c.want)
		}
	}
	s.Rights = "SELECT"
	if got, err := oneAnswer(x, s, "SHOW GRANTS"); err != nil || !strings.Contains(got, "GRANT SELECT ON") {
		t.Errorf("%s, %v", got, err)
	}
}

// TestAdminFunctionsAreDocumented: the manual lists every function of ADMIN, and there are no others.
func TestAdminFunctionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	x := New(openStore(t), Options{})
	for _, name := range parse.AdminFunctions {
		if !strings.Contains(string(text), "| `"+name+"(") && !strings.Contains(string(text), ", `"+name+"(") {
			t.Errorf("the manual does not list ADMIN %s", name)
		}
		if _, err := oneAnswer(x, &Session{}, "ADMIN "+name+"('no/such/thing')"); err == nil ||
			strings.Contains(err.Error(), "Invalid function") {
			t.Errorf("ADMIN %s: %v", name, err)
		}
	}
}

// oneAnswer runs a statement and gives the names of its columns and its cells, with | between them.
func oneAnswer(x *Executor, s *Session, sql string) (string, error) {
	list, err := x.Parse(sql)
	if err != nil {
		return "", err
	}
	r, err := x.Execute(context.Background(), s, list[0])
	if err != nil || r.Rows == nil {
		return "", err
	}
	var all []string
	for _, f := range r.Fields {
		all = append(all, f.Name)
	}
	rows, err := textRows(r)
	for _, row := range rows {
		all = append(all, row...)
	}
	return strings.Join(all, "|"), err
}
