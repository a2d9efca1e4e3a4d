package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"varve/cmd/varve/client"
	"varve/cmd/varve/ingest"
	"varve/cmd/varve/shell"
	"varve/cmd/varve/tail"
)

// sqlCommand is varve sql.
type sqlCommand struct {
	client.Flags
	client.Database
	client.Timezone
	Data         string   `placeholder:"DIR" help:"Question a data directory that no server holds, instead of a server; nothing in it is changed."`
	Files        []string `name:"file" sep:"none" placeholder:"PATTERN" help:"Question files instead of a server, such as 'logs/*.ndjson.gz': each is a table of its name; may be repeated."`
	As           string   `placeholder:"TABLE" help:"The table that all --file go to."`
	Pipeline     string   `placeholder:"FILE" help:"A pipeline document that reads the entries of --file; default: they are taken as they are (service_identity)."`
	TempDir      string   `placeholder:"DIR" help:"Where temporary files of --data and --file are; default: the system's place."`
	Execute      []string `short:"e" sep:"none" placeholder:"SQL" help:"Run statements; may be repeated."`
	File         []string `short:"f" name:"script" sep:"none" placeholder:"FILE" help:"Run the statements of a file, - is standard input; may be repeated."`
	Format       string   `enum:",table,tsv,csv,csv-noheader,json,ndjson,vertical,markdown,line,arrow,null" default:"" placeholder:"FORMAT" help:"How results are printed: table, tsv, csv, csv-noheader, json, ndjson, vertical, markdown, line (values only), arrow or null (times only). Default: table on a terminal, else tsv."`
	MaxWidth     int      `placeholder:"N" help:"Cut the cells of tables to so many characters; default: what fits into the terminal."`
	AutoVertical bool     `help:"Print tables vertically that are wider than the terminal, rather than cut their cells as long as that helps."`
	RawTimes     bool     `help:"Print times as the numbers they are; csv always does."`
	KeepGoing    bool     `help:"Go on behind a statement that failed."`
	NoHistory    bool     `help:"Keep nothing of what is typed."`
	Color        string   `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colours of results: auto (on a terminal), always or never."`
}

// Help is what varve sql --help says besides.
func (sqlCommand) Help() string {
	return "Without -e, -f and a script on standard input it asks for statements on the terminal; there \\? lists " +
		"its commands.\n" +
		"Statements end with a semicolon, or with \\G to print their rows vertically, and are sent one by one; USE " +
		"and SET time_zone hold for those behind them.\n" +
		"In tsv NULL is \\N, and backslashes, tabs and line ends are escaped. Results taller than the terminal go to " +
		"PAGER (less -SRFX).\n\n" +
		examples("varve sql --db metrics", `varve sql -e "SELECT level, count(*) FROM app GROUP BY level"`,
			"varve sql -f report.sql --format csv > report.csv", `varve sql --data /backup/monday -e "SHOW TABLES"`,
			`varve sql --file 'logs/*.ndjson.gz' --as app -e "SELECT level, count(*) FROM app GROUP BY level"`,
			`varve sql -e "SELECT * FROM app ORDER BY ts DESC LIMIT 1\G"`)
}

// Run runs the statements of the command line, of files, of standard input.
func (c *sqlCommand) Run(s streams) (err error) {
	if len(c.Execute) > 0 && len(c.File) > 0 {
		return &client.UsageError{Err: errors.New("-e and -f exclude each other")}
	}
	if c.MaxWidth < 0 {
		return &client.UsageError{Err: errors.New("--max-width: expected a number above zero")}
	}
	server, closeServer, err := c.connect(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeServer()) }()
	o := c.options(server, s)
	o.Exit = func(code int) {
		closeServer() //nolint:errcheck // the process ends
		os.Exit(code)
	}
	sh, err := shell.New(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sh.Close()) }()
	if len(c.Execute) == 0 && len(c.File) == 0 && client.IsTerminal(s.in) && client.IsTerminal(s.out) {
		return c.ask(server, sh, s)
	}
	ctx, stop := client.Interruptible(context.Background())
	defer stop()
	for _, text := range c.Execute {
		if err := sh.Run(ctx, "-e", strings.NewReader(text)); err != nil {
			return err
		}
	}
	files := c.File
	if len(c.Execute) == 0 && len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		if err := c.script(ctx, sh, name, s.in); err != nil {
			return err
		}
	}
	return sh.Failed()
}

// ask asks for statements. A server that does not answer is no reason to begin.
func (c *sqlCommand) ask(server *client.Client, sh *shell.Shell, s streams) error {
	var answer *client.AnswerError
	// who may only write may do that
	if _, err := server.Query(context.Background(), "", "SELECT 1"); err != nil &&
		!(errors.As(err, &answer) && answer.Status == http.StatusForbidden) {
		return err
	}
	if !c.Quiet {
		fmt.Fprintf(s.err, "varve %s, %s, times of %s. \\? lists the commands, \\h explains statements.\n", version,
			cmp.Or(c.Data, strings.Join(c.Files, " "), server.Base), sh.Zone())
	}
	return sh.Interact()
}

// connect makes a client of the server, which may be one in this process; closeServer ends that.
func (c *sqlCommand) connect(s streams) (server *client.Client, closeServer func() error, err error) {
	var l *local
	switch {
	case c.Data != "" && len(c.Files) > 0:
		return nil, nil, &client.UsageError{Err: errors.New("--data and --file exclude each other")}
	case len(c.Files) == 0 && (c.As != "" || c.Pipeline != ""):
		return nil, nil, &client.UsageError{Err: errors.New("--as and --pipeline are for --file")}
	case c.Data != "":
		l, err = openData(c.Data, c.TempDir, s.err)
	case len(c.Files) > 0:
		l, err = c.load(s)
	default:
		server, err = c.Connect(s.environ, s.err)
		return server, func() error { return nil }, err
	}
	if err != nil {
		return nil, nil, err
	}
	return l.connect(&c.Flags, s), l.close, nil
}

// load makes tables of files, as varve ingest does, in a store that lasts as long as the command.
func (c *sqlCommand) load(s streams) (*local, error) {
	l, err := openEmpty(c.TempDir, s.err)
	if err != nil {
		return nil, err
	}
	ctx, stop := client.Interruptible(context.Background())
	defer stop()
	o := &ingest.Options{Args: c.Files, Notes: s.err, Result: s.err, Width: client.Width(s.err), Quiet: c.Quiet,
		Table: cmp.Or(c.As, "{name}"), DB: "public", PipelineFile: c.Pipeline, MaxRejects: -1,
		StateDir: filepath.Join(l.temp, "state")}
	if err := ingest.Run(ctx, l.connect(&c.Flags, s), o); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// script runs the statements of a file, or of standard input.
func (c *sqlCommand) script(ctx context.Context, sh *shell.Shell, name string, in io.Reader) error {
	if name == "-" {
		return sh.Run(ctx, "standard input", in)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	text := bufio.NewReader(file)
	head, err := text.Peek(512)
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := client.FileKind(head, "varve sql -f -"); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return sh.Run(ctx, name, text)
}

// options are those of the shell: what is not said follows from whether there is a terminal.
func (c *sqlCommand) options(server *client.Client, s streams) shell.Options {
	o := shell.Options{Client: server, DB: cmp.Or(c.DB, server.DB), Zone: cmp.Or(c.Timezone.Timezone, server.Timezone),
		Format: c.Format, MaxWidth: c.MaxWidth,
		AutoVertical: c.AutoVertical, RawTimes: c.RawTimes, KeepGoing: c.KeepGoing, Out: s.out, Notes: s.err,
		Session: c.session(server, s)}
	if c.Data != "" {
		o.ReadOnly = "--data only reads"
	}
	terminal := client.IsTerminal(s.out)
	if terminal {
		o.Fit = c.MaxWidth == 0
		o.Size = func() (columns, rows int) { return terminalSize(s) }
		o.Pager = pagerOf(s.environ)
	}
	switch {
	case o.Format == "" && terminal:
		o.Format = "table"
	case o.Format == "":
		o.Format = "tsv"
	}
	o.Footer = client.IsTerminal(s.err) && !c.Quiet &&
		(o.Format == "table" || o.Format == "vertical" || o.Format == "markdown")
	o.Colour, o.ColourFiles = s.coloured(c.Color), c.Color == "always"
	return o
}

// session is what a shell that asks needs.
func (c *sqlCommand) session(server *client.Client, s streams) shell.Session {
	env := func(name string) string { return client.Getenv(s.environ, name) }
	o := shell.Session{In: s.in, Label: cmp.Or(c.Profile, env("VARVE_PROFILE")), Production: server.Profile.Production,
		Editor: cmp.Or(env("VISUAL"), env("EDITOR"), "vi"), Confirm: client.Confirm}
	o.Plain = env("TERM") == "" || env("TERM") == "dumb"
	switch {
	case c.Data != "":
		o.Label = filepath.Base(c.Data)
	case len(c.Files) > 0:
		o.Label = "files"
	}
	o.Tail = func(ctx context.Context, db, table, search string, zone *time.Location) error {
		return tail.Run(ctx, server, tail.Options{DB: db, Table: table, Rows: -1, Search: search, Zone: zone,
			Follow: true, Every: time.Second, Overlap: 10 * time.Second,
			Format: "text", Terminal: true, Color: s.coloured(c.Color)}, s.out, s.err)
	}
	if !c.NoHistory {
		o.HistoryFile = historyFile(env)
	}
	return o
}

// historyFile keeps what is typed; empty: there is no place for it.
func historyFile(env func(string) string) string {
	if file := env("VARVE_HISTORY"); file != "" {
		return file
	}
	state := env("XDG_STATE_HOME")
	if state == "" && env("HOME") != "" {
		state = filepath.Join(env("HOME"), ".local", "state")
	}
	if state == "" {
		return ""
	}
	return filepath.Join(state, "varve", "history")
}

// pagerOf is the command that shows long results; empty: there is none.
func pagerOf(environ []string) string {
	for _, e := range environ {
		if command, ok := strings.CutPrefix(e, "PAGER="); ok {
			if command == "cat" {
				return ""
			}
			return command
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less -SRFX"
}

// terminalSize is that of standard output, which is a terminal.
func terminalSize(s streams) (columns, rows int) {
	if f, ok := s.out.(interface{ Fd() uintptr }); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w, h
		}
	}
	if w, err := strconv.Atoi(client.Getenv(s.environ, "COLUMNS")); err == nil && w > 0 {
		return w, 0
	}
	return 80, 0
}
