package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"varve/cmd/varve/benchmark"
	"varve/cmd/varve/client"
	"varve/cmd/varve/progress"
)

type benchCommand struct {
	What        string   `arg:"" optional:"" enum:"ingest,sql,promql,all" default:"all" help:"What to measure: ingest, sql, promql or all."`
	Rows        quantity `default:"1M" placeholder:"N" help:"Rows to write, such as 500k or 1M, and samples of metrics."`
	Batch       quantity `default:"10k" placeholder:"N" help:"Rows of a request."`
	Connections int      `default:"2" help:"Connections that write at the same time."`
	JSON        bool     `name:"json" help:"Print as JSON."`
	client.Flags
}

// Help is what varve bench --help says besides.
func (benchCommand) Help() string {
	return "Made rows and samples are written over HTTP, then what dashboards ask is asked. With --url or --profile " +
		"a running server is measured, in a database of its own that is dropped at the end; " +
		"otherwise one is started in a temporary directory, which is removed. Client and server share the machine then.\n\n" +
		examples("varve bench", "varve bench ingest --rows 10M --json", "varve bench sql --url http://127.0.0.1:4000")
}

// quantity is a number of things, which may be written 500k or 1M.
type quantity int64

func (n *quantity) UnmarshalText(text []byte) error {
	digits := strings.TrimRight(string(text), "kKmMgG")
	factor, ok := map[string]int64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[strings.ToLower(string(text)[len(digits):])]
	v, err := strconv.ParseInt(digits, 10, 40)
	if !ok || err != nil || v < 1 {
		return fmt.Errorf("expected a number such as 500k or 1M, found %q", text)
	}
	*n = quantity(v * factor)
	return nil
}

func (c *benchCommand) Run(ctx context.Context, s streams) (err error) {
	if c.Connections < 1 {
		return &client.UsageError{Err: errors.New("--connections is at least 1")}
	}
	environ := s.environ
	if c.URL == "" && c.Profile == "" {
		own, err := startOwn(ctx, environ)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, own.close()) }()
		c.URL, c.User, environ = own.url, "", nil
	}
	server, err := c.Connect(environ, s.err)
	if err != nil {
		return err
	}
	report, err := benchmark.Run(ctx, server, benchmark.Options{
		Ingest: c.What == "ingest" || c.What == "all", SQL: c.What == "sql" || c.What == "all",
		PromQL: c.What == "promql" || c.What == "all",
		Rows:   int64(c.Rows), Batch: int64(c.Batch), Connections: c.Connections,
		Note: (&progress.Line{W: s.err, Quiet: c.Quiet}).Say,
	})
	if err != nil {
		return err
	}
	if c.JSON {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		err = e.Encode(report)
	} else {
		err = report.Print(s.out)
	}
	if n := report.Failed(); err == nil && n > 0 {
		err = fmt.Errorf("%s failed", client.Plural(int64(n), "query"))
	}
	return err
}

// ownServer is one that is started to be measured.
type ownServer struct {
	command *exec.Cmd
	dir     string
	url     string
	said    chan string // what it printed, when it has ended
}

// ownStart is how long it may take to listen.
const ownStart = 30 * time.Second

// startOwn starts this program as a server in a temporary directory, and waits until it listens.
func startOwn(ctx context.Context, environ []string) (o *ownServer, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "varve-bench-")
	if err != nil {
		return nil, err
	}
	o = &ownServer{dir: dir, said: make(chan string, 1)}
	o.command = exec.Command(program, "serve", "--data-dir", dir, "--http-addr", "127.0.0.1:0", "--set",
		"logging.log_format=text")
	// What is measured is a server as it comes, and not one that the environment sets up; tests say by it which program
	// they are.
	o.command.Env = slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		return strings.HasPrefix(e, "VARVE_") && !strings.HasPrefix(e, "VARVE_TEST_")
	})
	lines, err := o.command.StderrPipe()
	if err == nil {
		err = o.command.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	address := make(chan string, 1)
	go o.read(lines, address)
	limit := time.NewTimer(ownStart)
	defer limit.Stop()
	select {
	case o.url = <-address:
		return o, nil
	case text := <-o.said:
		o.said <- text
		err = fmt.Errorf("the server that was started ended: %s", strings.TrimSpace(text))
	case <-limit.C:
		err = fmt.Errorf("the server that was started did not listen within %s", ownStart)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	o.close() //nolint:errcheck // what went wrong is known
	return nil, err
}

// listens is the line that says where a server listens.
var listens = client.Pattern(`^listening (https?://\S+)`)

// read takes what the server prints, until it ends, and tells the address where it listens.
func (o *ownServer) read(lines io.Reader, address chan<- string) {
	var text strings.Builder
	for scan := bufio.NewScanner(lines); scan.Scan(); {
		if m := listens().FindStringSubmatch(scan.Text()); m != nil {
			address <- m[1]
		}
		if text.Len() < 4096 {
			text.WriteString(scan.Text() + "\n")
		}
	}
	o.said <- text.String()
}

// close stops the server and removes its data.
func (o *ownServer) close() error {
	o.command.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
	<-o.said
	return errors.Join(o.command.Wait(), os.RemoveAll(o.dir))
}
