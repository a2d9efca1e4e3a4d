// Command varve is the database server.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"varve/cmd/varve/client"
)

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitPartly      = 3
	exitUnreachable = 4
	exitRefused     = 5
	exitDamage      = 6 // found by a check
)

// commandLine is the model of the command line.
type commandLine struct {
	Serve serveCommand `cmd:"" group:"Server:" help:"Run the server."`

	SQL      sqlCommand      `cmd:"" name:"sql" group:"Clients of a running server:" help:"Run SQL statements, or ask for them."`
	Ingest   ingestCommand   `cmd:"" group:"Clients of a running server:" help:"Send files and streams to a server."`
	Export   exportCommand   `cmd:"" group:"Clients of a running server:" help:"Write rows of a running server to a file."`
	Tail     tailCommand     `cmd:"" group:"Clients of a running server:" help:"Show the newest rows of a table of a running server, and those that come."`
	Pipeline pipelineCommand `cmd:"" group:"Clients of a running server:" help:"Manage pipelines, and test documents of pipelines."`
	Health   healthCommand   `cmd:"" group:"Clients of a running server:" help:"Ask a server whether it is healthy."`
	Promote  promoteCommand  `cmd:"" group:"Clients of a running server:" help:"Make a standby the primary."`
	Backup   backupCommand   `cmd:"" group:"Clients of a running server:" help:"Copy all tables while the server runs."`
	Bench    benchCommand    `cmd:"" group:"Clients of a running server:" help:"Measure what a server can do."`

	Check   checkCommand   `cmd:"" group:"Without a server:" help:"Verify everything in a data directory."`
	Dump    dumpCommand    `cmd:"" group:"Without a server:" help:"Print a file of a data directory readably."`
	Restore restoreCommand `cmd:"" group:"Without a server:" help:"Make a data directory of a backup."`
	VRL     vrlCommand     `cmd:"" name:"vrl" group:"Without a server:" help:"Run a script of the vrl processor over events."`
	Rules   rulesCommand   `cmd:"" group:"Without a server:" help:"Check files of rules, and run their unit tests."`
	Config  configCommand  `cmd:"" group:"Without a server:" help:"Check, print and show configurations."`
	User    userCommand    `cmd:"" group:"Without a server:" help:"Make and check user files."`

	Version versionCommand `cmd:"" group:"About varve:" help:"Print the version."`
	Help    helpCommand    `cmd:"" group:"About varve:" help:"Print help for a command."`

	Completion completionCommand `cmd:"" group:"About varve:" help:"Print the script that completes command lines in a shell."`
	Complete   completeCommand   `cmd:"" name:"__complete" hidden:"" help:"Offer what may come next."`
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
}

// coloured reports whether results have colours: always, never, or auto, which is on a terminal that wants them.
func (s streams) coloured(when string) bool {
	return when == "always" || when == "auto" && client.IsTerminal(s.out) &&
		client.Getenv(s.environ, "NO_COLOR") == "" && client.Getenv(s.environ, "TERM") != "dumb"
}

func main() {
	// A reader that leaves is an error of writing and not the end of the process: a server survives it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr, os.Environ()}))
}

// run executes a command line and gives the exit code.
func run(args []string, io streams) int {
	if len(args) == 0 {
		run([]string{"--help"}, io)
		return complain(io.err,
			&client.UsageError{Err: errors.New("name a command, such as varve serve, which runs the server")})
	}
	switch {
	case isHelp(args):
		args = append(args[1:len(args):len(args)], "--help")
	case args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	var line commandLine
	exited := -1
	parsed, err := newParser(&line, io, &exited).Parse(args)
	if exited >= 0 || outputClosed(err) {
		return max(0, exited) // help was printed, as far as its reader wanted
	}
	if err != nil {
		code := complain(io.err, &client.UsageError{Err: explain(err)})
		if isVRL(args) {
			return vrlUsage
		}
		return code
	}
	stop := func() {}
	defer func() { stop() }()
	// Commands with a context among their parameters get one that Ctrl-C ends; others deal with signals themselves.
	if err := parsed.BindToProvider(func() (ctx context.Context, err error) {
		ctx, stop = client.Interruptible(context.Background())
		return ctx, nil
	}); err != nil {
		panic(fmt.Sprintf("the context of commands: %v", err))
	}
	return complain(io.err, parsed.Run(io))
}

// complain prints an error as one sentence and gives the exit code.
func complain(w io.Writer, err error) int {
	if err == nil || outputClosed(err) {
		return 0
	}
	if said := (saidError{}); errors.As(err, &said) {
		return said.code
	}
	fmt.Fprintf(w, "varve: %s\n", client.Line(err))
	return exitCode(err)
}

// saidError is the exit code of a command that has said itself what failed.
type saidError struct{ code int }

func (e saidError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// outputClosed reports whether an error is that the reader of standard output has left, as head does when it has
// enough.
func outputClosed(err error) bool {
	var e *fs.PathError
	return errors.As(err, &e) && e.Path == os.Stdout.Name() && errors.Is(e.Err, syscall.EPIPE)
}

// exitCode is what a command that failed ends with.
func exitCode(err error) int {
	var interrupted *client.InterruptedError
	switch {
	case errors.As(err, &interrupted):
		return interrupted.ExitCode()
	case is[*damageError](err):
		return exitDamage
	case is[*client.UsageError](err), is[*configError](err):
		return exitUsage
	case is[*client.PartialError](err):
		return exitPartly
	case is[*client.UnreachableError](err):
		return exitUnreachable
	case is[*client.RefusedError](err):
		return exitRefused
	}
	return exitFailed
}

// is reports whether an error of a kind is in err.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
