package pgwire_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clientsDir is where the clients of other makers are, see .ci/run: a virtual environment of Python in py, packages of
// Node in node_modules, and the JDBC driver in postgresql.jar. Where they are not, tests say so and are done; where
// VARVE_NEED_PG_CLIENTS is set they have to be there.
func clientsDir(t *testing.T, program string) string {
	t.Helper()
	dir := os.Getenv("VARVE_PG_CLIENTS")
	_, err := os.Stat(filepath.Join(dir, program))
	if dir != "" && err == nil {
		return dir
	}
	if os.Getenv("VARVE_NEED_PG_CLIENTS") != "" {
		t.Fatalf("the clients of PostgreSQL are missing: VARVE_PG_CLIENTS is %q: %v", dir, err)
	}
	t.Logf("%s of the clients of PostgreSQL is missing: it asks nothing", program)
	return ""
}

// clientServer is a server with the tables of testdata/clients.
func clientServer(t *testing.T) *pgServer {
	t.Helper()
	s := startPG(t, nil)
	tables, err := os.ReadFile(filepath.Join("testdata", "clients", "tables.sql"))
	if err != nil {
		t.Fatal(err)
	}
	s.do(s.connect("ann"), string(tables))
	return s
}

// client runs a program of others in testdata/clients and returns what it prints.
func (s *pgServer) client(environ []string, program string, args ...string) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join("testdata", "clients")
	cmd.Env = append(append(os.Environ(), "PGADDR="+s.addr, "PAGER=", "PYTHONDONTWRITEBYTECODE=1", "TZ=UTC"),
		environ...)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("%s %q: %v\n%s%s", program, args, err, out, failed.String())
	}
	return string(out)
}

// TestPGClients runs clients of other makers. What each prints is in testdata/clients/want.
func TestPGClients(t *testing.T) {
	for _, one := range []struct{ name, in, program, script, arg string }{
		{"SQLAlchemy by psycopg2", "py", "py/bin/python", "sqlalchemy_reflection.py", "psycopg2"},
		{"SQLAlchemy by psycopg", "py", "py/bin/python", "sqlalchemy_reflection.py", "psycopg"},
		{"drivers of Python", "py", "py/bin/python", "drivers.py", ""},
		{"node-postgres", "node_modules/pg", "", "node.js", ""},
		{"JDBC", "postgresql.jar", "", "Metadata.java", ""},
	} {
		t.Run(one.name, func(t *testing.T) {
			dir := clientsDir(t, one.in)
			if dir == "" {
				return
			}
			s := clientServer(t)
			args := []string{one.script}
			if one.arg != "" {
				args = append(args, one.arg)
			}
			program := filepath.Join(dir, one.program)
			switch filepath.Ext(one.script) {
			case ".js":
				program = "node"
			case ".java":
				program, args = "java", []string{"-cp", filepath.Join(dir, one.in), one.script}
			}
			got := s.client([]string{"NODE_PATH=" + filepath.Join(dir, "node_modules")}, program, args...)
			stem := strings.TrimSuffix(one.script, filepath.Ext(one.script))
			want, err := os.ReadFile(filepath.Join("testdata", "clients", "want", stem+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			differ(t, got, string(want))
		})
	}
}

// differ reports the lines of a text that are not as they should be.
func differ(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("line %d\n got %s\nwant %s", i+1, a, b)
		}
	}
}

// TestPGCLI asks with pgcli, which reads the catalog for its completions first.
func TestPGCLI(t *testing.T) {
	dir := clientsDir(t, "py/bin/pgcli")
	if dir == "" {
		return
	}
	s := clientServer(t)
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	got := s.client([]string{"HOME=" + t.TempDir()}, filepath.Join(dir, "py/bin/pgcli"), "-h", host, "-p", port, "-u",
		"ann", "-d", "public", "-w", "--less-chatty", "-y",
		"-c", "SELECT host, count(*) FROM logs GROUP BY host ORDER BY 1",
		"-c", `\dt`, "-c", `\d logs`, "-c", `\dv`, "-c", `\dn`, "-c", `\l`, "-c", `\du`, "-c", `\di`)
	for _, want := range []string{"| h1   | 2     |", "| public | logs ", "| status | integer ",
		`"logs_pkey" PRIMARY KEY, btree (host, app, ts)`, "| public | failed ", "| other ", "| service ",
		"| logs_app_inverted_idx "} {
		if !strings.Contains(got, want) {
			t.Errorf("pgcli does not show %q:\n%s", want, got)
		}
	}
}

// debian finds a program of a Debian package; empty: it is not here.
func debian(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		err = exec.CommandContext(t.Context(), path, "--version").Run() // it may be there without what it runs
	}
	if err == nil {
		return path
	}
	if os.Getenv("VARVE_NEED_PSQL") != "" {
		t.Fatalf("%s is missing: %v", program, err)
	}
	t.Logf("%s is missing: it asks nothing", program)
	return ""
}

// TestPGBench runs points queries of a script of pgbench, by each of its protocols.
func TestPGBench(t *testing.T) {
	pgbench := debian(t, "pgbench")
	if pgbench == "" {
		return
	}
	s := startPG(t, nil)
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"simple", "extended", "prepared"} {
		got := s.client(nil, pgbench, "-n", "-h", host, "-p", port, "-U", "ann", "-M", mode, "-c", "4", "-t", "100",
			"-f", "pgbench.sql", "public")
		if !strings.Contains(got, "number of transactions actually processed: 400/400") ||
			!strings.Contains(got, "number of failed transactions: 0 ") {
			t.Errorf("%s: %s", mode, got)
		}
	}
}

// TestPGDescribes walks the commands by which psql describes what there is: none fails.
func TestPGDescribes(t *testing.T) {
	psql := debian(t, "psql")
	if psql == "" {
		return
	}
	s := clientServer(t)
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	shell := func(commands ...string) string {
		args := []string{"-X", "-w", "-v", "ON_ERROR_STOP=1", "-h", host, "-p", port, "-U", "ann", "-d", "public"}
		for _, one := range commands {
			args = append(args, "-c", one)
		}
		return s.client(nil, psql, args...)
	}
	shell(`\d`, `\d *.*`, `\dS+`, `\da`, `\dA`, `\dAc`, `\dAf`, `\dAp`, `\db+`, `\dc`, `\dC`, `\dconfig`, `\dd`, `\dD`,
		`\ddp`, `\dE`, `\des`, `\det`, `\deu`, `\dew`, `\df`, `\dfS now`, `\dF`, `\dFd`, `\dFp`, `\dFt`, `\dg`, `\dl`,
		`\dL`, `\dm`, `\dn+`, `\do`, `\dO`, `\dp`, `\dP`, `\drds`, `\dRp`, `\dRs`, `\ds`, `\dt+ *.*`, `\dT+`, `\du+`,
		`\dv+`, `\dx`, `\dX`, `\dy`, `\l+`, `\z`, `\encoding`, `\conninfo`)
	for _, one := range []struct{ command, want string }{
		{`\d+ logs`, `"logs_pkey" PRIMARY KEY, btree (host, app, ts)`},
		{`\d+ logs`, `"logs_body_fulltext_idx" fulltext (body)`},
		{`\d logs`, "dec    | numeric(10,2)"},
		{`\d appended`, `"appended_key_idx" btree (host, ts)`},
		{`\d logs_pkey`, `primary key, btree, for table "public.logs"`},
		{`\d+ failed`, "SELECT ts, host, status FROM logs WHERE status >= 500"},
		{`\sv failed`, "CREATE OR REPLACE VIEW public.failed AS"},
		{`\di`, "logs_app_inverted_idx  | index | ann   | logs"},
		{`\dt`, "public | appended | table | ann"},
		{`\dconfig *zone*`, "TimeZone  | UTC"},
		{`\dt+ logs`, "access logs"},
	} {
		if got := shell(one.command); !strings.Contains(got, one.want) {
			t.Errorf("%s does not show %q:\n%s", one.command, one.want, got)
		}
	}
}
