package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a program on a pseudo terminal of 120 columns and 40 rows.
type terminal struct {
	t       *testing.T
	master  *os.File
	command *exec.Cmd
	grown   chan struct{} // has one when something was printed
	ended   chan struct{}

	mu    sync.Mutex
	shown bytes.Buffer
	from  int // what wait looks at begins here
}

// onTerminal starts a command line on a terminal.
func onTerminal(t *testing.T, environ []string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var slave *os.File
	if err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		var n int
		if n, err = unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN); err == nil {
			slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		t.Fatal(err)
	}
	p := &terminal{t: t, master: master, grown: make(chan struct{}, 1), ended: make(chan struct{})}
	p.command = program(append([]string{"TERM=xterm", "NO_COLOR=1", "HOME=" + t.TempDir(), "TZ=UTC", "PAGER="},
		environ...), args...)
	p.command.Stdin, p.command.Stdout, p.command.Stderr = slave, slave, slave
	p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	read := make(chan struct{})
	go p.read(read)
	go func() {
		p.command.Wait() //nolint:errcheck // its state says how it ended
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.command.Process.Kill() //nolint:errcheck // it may have ended
		<-p.ended
		master.Close()
		<-read
	})
	return p
}

func (p *terminal) read(done chan struct{}) {
	defer close(done)
	buf := make([]byte, 64<<10)
	for {
		n, err := p.master.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.shown.Write(buf[:n])
		p.mu.Unlock()
		select {
		case p.grown <- struct{}{}:
		default:
		}
	}
}

// moves are what a terminal does not show.
var moves = regexp.MustCompile(`\x1b\[[0-9;?]*[ ]?[a-zA-Z]|\x1bD|\r`)

// new is what was shown since the last wait.
func (p *terminal) new() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return moves.ReplaceAllString(string(p.shown.Bytes()[p.from:]), "")
}

// wait waits until all the words are shown behind what was waited for before, and gives what was.
func (p *terminal) wait(words ...string) string {
	p.t.Helper()
	limit := time.After(40 * time.Second)
	for {
		shown := p.new()
		missing := ""
		for _, w := range words {
			if !strings.Contains(shown, w) {
				missing = w
			}
		}
		if missing == "" {
			p.mu.Lock()
			p.from = p.shown.Len()
			p.mu.Unlock()
			return shown
		}
		select {
		case <-p.grown:
		case <-limit:
			p.t.Fatalf("the terminal does not show %q but\n%s", missing, shown)
		}
	}
}

// press types keys.
func (p *terminal) press(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// complete presses Tab until a word is offered: a busy server may answer later than the shell waits for it.
func (p *terminal) complete(word string) {
	p.t.Helper()
	waitFor(p.t, func() bool {
		p.press("\t")
		for limit := time.After(time.Second); !strings.Contains(p.new(), word); {
			select {
			case <-p.grown:
			case <-limit:
				return false
			}
		}
		return true
	})
	p.wait(word)
}

// leave waits for the end of the program and gives its exit code.
func (p *terminal) leave() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(40 * time.Second):
		p.t.Fatalf("the program does not end; it shows %s", p.new())
	}
	return p.command.ProcessState.ExitCode()
}

// asked is a server with a table of a hundred rows and a shell that asks for statements.
func asked(t *testing.T, environ []string, args ...string) (*served, *terminal) {
	t.Helper()
	s := serve(t, nil)
	if code, _, errs := command("sql", "--url", s.url, "-e",
		"CREATE TABLE requests (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, level STRING, took DOUBLE);"+
			"INSERT INTO requests SELECT (1700000000000 + i * 1000)::timestamp(3), 'h' || (i % 4)::string, CASE WHEN i % 10 = 0 THEN 'error' ELSE 'info' END, i * 0.5 FROM generate_series(1, 100) AS g(i)"); code != 0 {
		t.Fatal(errs)
	}
	p := onTerminal(t, environ, append([]string{"sql", "--url", s.url}, args...)...)
	p.wait(`\? lists the commands`, "public> ")
	return s, p
}

func TestSQLShell(t *testing.T) {
	_, p := asked(t, nil)
	p.press("SELECT 41 +\r")
	p.wait("-> ")
	p.press("1 AS answer;\r")
	p.wait("│ answer │", "│     42 │", "1 row (", "public> ")

	p.press("select count(*) as n from requ")
	p.complete("requests")
	p.press(" where hos")
	p.complete("host") // and with it the columns are known
	p.press(" <> '' and lev\t")
	p.wait("columns", "string field", "levenshtein")
	p.press("el = 'error' and coun\t")
	p.wait("functions", "count_if")
	p.press("t_if(true) > 0;\r")
	p.wait("varve: query failed (3000)", "public> ")
	p.press("select count(*) as n from requests where level = 'error';\r")
	p.wait("│ 10 │", "public> ")

	p.press("nonsense;\r")
	p.wait("varve: query failed (1001)", "public> ")
	p.press("\\d+ requests\r")
	p.wait("│ level  │ string", "TIMESTAMP", "FIELD", `PRIMARY KEY ("host")`, "2023-11-14 22:15:00.000", "public> ")
	p.press("\\x\r")
	p.wait("vertically", "public> ")
	p.press("select 1 as a, 'b' as c;\r")
	p.wait("─[ row 1 ]", "a │ 1", "c │ b", "public> ")
	p.press("\\x\r")
	p.wait("as table", "public> ")
	p.press("\\top requests host 2\r")
	p.wait("│ h0", "25.0", "public> ")
	p.press("\\hist requests 2023-11-14\r")
	p.wait("100 rows", "█ error 10", "▒ info 90", "public> ")
	p.press("\\c information_schema\r")
	p.wait("information_schema> ")
	p.press("exit\r")
	if code := p.leave(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestSQLCommands: the editor, the live tail and graphs of metrics.
func TestSQLCommands(t *testing.T) {
	script := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(script,
		[]byte("#!/bin/sh\ngrep -q 'to edit' \"$1\" && echo \"SELECT 'edi' || 'ted' AS x;\" > \"$1\"\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	s, p := asked(t, []string{"EDITOR=" + script})
	p.press("SELECT 'to edit' AS x;\r")
	p.wait("│ to edit │", "public> ")
	p.press("\\e\r")
	p.wait("SELECT 'edi' || 'ted' AS x;", "│ edited │")
	p.press("\\g\r")
	p.wait("│ edited │")

	p.press("\\tail requests level:error\r")
	p.wait("host=h0", "took=50.0")
	if code, _, errs := command("sql", "--url", s.url, "-e",
		"INSERT INTO requests VALUES (now(), 'new', 'error', 77.5), (now(), 'other', 'info', 78.5)"); code != 0 {
		t.Fatal(errs)
	}
	if shown := p.wait("host=new took=77.5"); strings.Contains(shown, "other") {
		t.Errorf("the search of \\tail shows %q", shown)
	}
	p.press("\x03")
	p.press("SELECT 'be' || 'hind' AS x;\r")
	p.wait("│ behind │")

	p.press("\\p vector(2)\r")
	p.wait("│ service_value │", "│           2.0 │")
	p.press("\\plot vector(time() % 60)\r")
	p.wait("│", "└──", "* service_value")
	p.press("\\analyze\r")
	p.wait("─[ row 1 ]", "public> ")
	p.press("SELECT count(*) FROM requests;\r")
	p.wait("│      102 │")
	p.press("\\analyze\r")
	p.wait("elapsed")
}

// TestSQLPaste: five hundred pasted lines are one statement.
func TestSQLPaste(t *testing.T) {
	_, p := asked(t, nil)
	var text strings.Builder
	text.WriteString("\x1b[200~SELECT count(*) AS pasted FROM (VALUES\r")
	for i := range 499 {
		fmt.Fprintf(&text, "(%d, 'a; text'),\r", i)
	}
	text.WriteString("(500, 'last')) AS v(a, b);\x1b[201~")
	go io.WriteString(p.master, text.String()) //nolint:errcheck // a terminal takes no more than is read of it; what is missing is not shown
	p.wait("(500, 'last')) AS v(a, b);")
	p.press("\r")
	p.wait("│ pasted │", "│    500 │", "public> ")
}

// TestSQLCancel: Ctrl-C ends what runs on the server and keeps the session.
func TestSQLCancel(t *testing.T) {
	s, p := asked(t, nil)
	running := func() string {
		_, out, _ := command("sql", "--url", s.url, "--format", "line", "-e",
			"SELECT count(*) FROM information_schema.process_list WHERE query LIKE '%generate_series(1, 10000000)%' AND query NOT LIKE '%process_list%'")
		return strings.TrimSpace(out)
	}
	until := func(want string) {
		t.Helper()
		for limit := time.Now().Add(40 * time.Second); running() != want; {
			if time.Now().After(limit) {
				t.Fatalf("queries that run: %s, want %s", running(), want)
			}
		}
	}
	p.press("SELECT sum(a.i * b.i) FROM generate_series(1, 10000000) AS a(i), generate_series(1, 10000000) AS b(i);\r")
	until("1")
	p.wait("(Ctrl-C ends it)")
	p.press("\x03")
	p.wait("varve: cancelled", "public> ")
	until("0")
	p.press("SELECT 'still ' || 'here' AS x;\r")
	p.wait("still here", "public> ")

	p.press("\\watch 0.1\r")
	p.wait("every 100ms", "still here", "every 100ms", "still here")
	p.press("\x03")
	p.wait("public> ")
	p.press("SELECT 1 +")
	p.wait("SELECT 1 +")
	p.press("\x03")
	p.wait("public> ")
	p.press("\x04")
	if code := p.leave(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestSQLHistory: what was typed is there in the next session, but for what holds passwords.
func TestSQLHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "history")
	environ := []string{"VARVE_HISTORY=" + file}
	s, p := asked(t, environ)
	p.press("SELECT 6 *\r")
	p.wait("-> ")
	p.press("7 AS first;\r")
	p.wait("42", "public> ")
	p.press("SELECT 1 AS password, 'password=x' AS y;\r")
	p.wait("password=x", "public> ")
	p.press(" SELECT 2 AS blank;\r")
	p.wait("│ blank │", "public> ")
	p.press("\\q\r")
	p.leave()
	text, err := os.ReadFile(file)
	if want := `"SELECT 6 *\n7 AS first;"` + "\n"; err != nil || string(text) != want {
		t.Errorf("history %q, %v, want %q", text, err, want)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the history: %v, %v", info.Mode(), err)
	}
	p = onTerminal(t, environ, "sql", "--url", s.url)
	p.wait("public> ")
	p.press("\x1b[A")
	p.wait("7 AS first;")
	p.press("\r")
	p.wait("42", "public> ")
	p.press("\x12irst")
	p.wait("7 AS first;")
}

// TestSQLPager: long results go to the pager, short ones do not; leaving it ends the query.
func TestSQLPager(t *testing.T) {
	dir := t.TempDir()
	_, p := asked(t, []string{"PAGER=head -5 > " + filepath.Join(dir, "paged")})
	p.press("SELECT 1 AS short;\r")
	p.wait("│ short │", "public> ")
	p.press("SELECT i FROM generate_series(1, 10000000) AS g(i);\r")
	p.press("SELECT 'the ' || 'next' AS x;\r")
	p.wait("the next")
	text, err := os.ReadFile(filepath.Join(dir, "paged"))
	if err != nil || strings.Count(string(text), "\n") != 5 ||
		!strings.Contains(string(text), "│ 1 │") && !strings.Contains(string(text), " 1 │") {
		t.Errorf("the pager got %q, %v", text, err)
	}
	p.press("\\o " + filepath.Join(dir, "out") + "\r")
	p.wait("public> ")
	p.press("SELECT 'to a file' AS x;\r")
	p.wait("1 row", "public> ")
	p.press("\\o\r")
	p.wait("public> ")
	if text, err := os.ReadFile(filepath.Join(dir, "out")); err != nil ||
		!strings.Contains(string(text), "│ to a file │") {
		t.Errorf("\\o wrote %q, %v", text, err)
	}
}

// TestSQLPlainTerminal: a terminal that only shows lines is asked in plain ones.
func TestSQLPlainTerminal(t *testing.T) {
	_, p := asked(t, []string{"TERM=dumb"})
	p.press("SELECT 'a\n")
	p.wait("     '> ")
	p.press("b' AS x;\n")
	p.wait(`│ a\nb │`, "public> ")
	p.press("quit\n")
	if code := p.leave(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestSQLStreams: results are the same bytes on a terminal and elsewhere, where no width decides.
func TestSQLStreams(t *testing.T) {
	s := serve(t, nil)
	for _, format := range []string{"tsv", "csv", "json", "ndjson", "vertical", "markdown", "table"} {
		args := []string{"sql", "--url", s.url, "--format", format, "--color", "never", "-e",
			"SELECT i, 'text ' || i::string AS t, NULL AS n FROM generate_series(1, 3) AS g(i) ORDER BY i"}
		_, want, _ := command(args...)
		p := onTerminal(t, nil, append(args, "-q")...)
		p.leave()
		last := strings.TrimSpace(want[strings.LastIndexByte(strings.TrimSuffix(want, "\n"), '\n')+1:])
		if got := p.wait(last); got != strings.ReplaceAll(want, "\r", "") {
			t.Errorf("%s: a terminal shows\n%q\nwant\n%q", format, got, want)
		}
	}
}

// TestSQLInterrupted: Ctrl-C and SIGTERM end a script, and the query that runs, with the exit code that shells expect.
func TestSQLInterrupted(t *testing.T) {
	s := serve(t, nil)
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		p := program(nil, "sql", "--url", s.url, "--keep-going", "-e",
			"SELECT 'begun' AS x; SELECT sum(a.i * b.i) FROM generate_series(1, 10000000) AS a(i), generate_series(1, 10000000) AS b(i); SELECT 'not this' AS x")
		out, err := p.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 8) // "x\nbegun\n"
		if _, err := io.ReadFull(out, first); err != nil {
			t.Fatal(err)
		}
		if err := p.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		p.Wait() //nolint:errcheck // the exit code counts
		if got := p.ProcessState.ExitCode(); got != code || len(rest) > 0 {
			t.Errorf("%s: exit code %d, and printed %q", sig, got, rest)
		}
	}
	for limit := time.Now().Add(40 * time.Second); ; {
		_, out, _ := command("sql", "--url", s.url, "--format", "line", "-e",
			"SELECT count(*) FROM information_schema.process_list WHERE query LIKE '%generate_series%' AND query NOT LIKE '%process_list%'")
		if out == "0\n" {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("queries that run: %s", out)
		}
	}
}

// TestSQLReaderLeaves: who has enough of a result ends the query, and that is no error.
func TestSQLReaderLeaves(t *testing.T) {
	s := serve(t, nil)
	for _, format := range []string{"tsv", "csv", "table", "json"} {
		p := program(nil, "sql", "--url", s.url, "--format", format, "-e",
			"SELECT i, 'text ' || i::string FROM generate_series(1, 10000000) AS g(i)")
		var errs bytes.Buffer
		p.Stderr = &errs
		out, err := p.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		out.Close()
		if err := p.Wait(); err != nil || errs.Len() > 0 {
			t.Errorf("%s: %v, %s", format, err, errs.String())
		}
	}
}
