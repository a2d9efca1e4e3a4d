package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"varve/engine/jsontext"
	"varve/engine/timefmt"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// Exit codes of `varve vrl`, which has a contract of its own.
const (
	vrlUsage      = 1 // wrong usage, or a file that cannot be read
	vrlNoProgram  = 2 // the program does not compile
	vrlRunFailed  = 3 // at least one run failed or aborted
	maxEventBytes = 256 << 20
)

// vrlCommand runs a script over events, one JSON value a line.
type vrlCommand struct {
	Program           string   `required:"" placeholder:"FILE" help:"The script."`
	Input             string   `placeholder:"FILE" help:"Events, one JSON value a line; default: standard input."`
	Print             string   `enum:"result,event,full" default:"result" help:"What to print of each run: result, event or full."`
	Timezone          string   `placeholder:"NAME" default:"UTC" help:"Zone of times that name none."`
	ReadOnly          []string `sep:"none" placeholder:"PATH" help:"A path the script may not change; may be repeated."`
	ReadOnlyRecursive []string `sep:"none" placeholder:"PATH" help:"The same with all below it; may be repeated."`
}

// Run compiles the script and runs it.
func (c *vrlCommand) Run(out streams) error {
	complain := func(code int, err error) error {
		if outputClosed(err) {
			return nil
		}
		fmt.Fprintf(out.err, "varve: %v\n", err)
		return saidError{code}
	}
	options, err := c.options()
	if err != nil {
		return complain(vrlUsage, err)
	}
	source, err := os.ReadFile(c.Program)
	if err != nil {
		return complain(vrlUsage, err)
	}
	in := out.in
	if c.Input != "" {
		file, err := os.Open(c.Input)
		if err != nil {
			return complain(vrlUsage, err)
		}
		defer file.Close()
		in = file
	}
	program, err := vrl.Compile(string(source), stdlib.Library, options)
	if err != nil {
		fmt.Fprint(out.err, err)
		return saidError{vrlNoProgram}
	}
	fmt.Fprint(out.err, vrl.Render(string(source), program.Warnings()))
	frame := vrl.NewFrame(new(value.Arena))
	frame.Journal = vrl.NewJournal(slog.New(slog.NewTextHandler(out.err, nil)), c.Program)
	r := vrlRunner{program: program, frame: frame, print: c.Print, out: bufio.NewWriter(out.out), err: out.err}
	if err = r.all(in); err == nil {
		err = r.out.Flush()
	} else {
		r.out.Flush()
	}
	switch {
	case err != nil:
		return complain(vrlUsage, err)
	case r.failed:
		return saidError{vrlRunFailed}
	}
	return nil
}

func (c *vrlCommand) options() (o vrl.Options, err error) {
	if o.Zone, err = timefmt.Zone(c.Timezone); err != nil {
		return o, fmt.Errorf("--timezone: %w", err)
	}
	add := func(paths []string, flag string, recursive bool) error {
		for _, text := range paths {
			path, meta, err := vrl.ParsePath(text)
			if err != nil {
				return fmt.Errorf("%s: %w", flag, err)
			}
			o.ReadOnly = append(o.ReadOnly, vrl.ReadOnlyPath{Meta: meta, Path: path, Recursive: recursive})
		}
		return nil
	}
	if err := add(c.ReadOnly, "--read-only", false); err != nil {
		return o, err
	}
	return o, add(c.ReadOnlyRecursive, "--read-only-recursive", true)
}

// vrlRunner runs a program over the events of a file.
type vrlRunner struct {
	program *vrl.Program
	frame   *vrl.Frame
	print   string
	out     *bufio.Writer
	err     io.Writer
	line    []byte
	failed  bool
}

// all runs every line that is not blank.
func (r *vrlRunner) all(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxEventBytes)
	for line, event := 0, 0; lines.Scan(); {
		line++
		text := lines.Text()
		if strings.TrimSpace(text) == "" {
			continue
		}
		event++
		r.frame.Arena.Reset()
		v, fault := value.ReadJSON(r.frame.Arena, text, value.JSONOptions{})
		if fault.Failed() {
			return fmt.Errorf("line %d of the input: %s", line, fault.In(text))
		}
		if err := r.one(event, v); err != nil {
			return err
		}
	}
	return lines.Err()
}

// one runs the program on one event and prints what came of it.
func (r *vrlRunner) one(number int, event value.Value) error {
	result, err := r.program.Run(r.frame, &event)
	status, message := "ok", ""
	if err != nil {
		r.failed = true
		status, message = "error", err.Error()
		if failure := (*vrl.RuntimeError)(nil); errors.As(err, &failure) && failure.Aborted {
			status = "abort"
		}
		if _, err := fmt.Fprintf(r.err, "event %d: %s: %s\n", number, status,
			strings.ReplaceAll(message, "\n", `\n`)); err != nil {
			return err
		}
	}
	b := r.line[:0]
	switch r.print {
	case "result":
		b = value.AppendJSON(b, result)
	case "event":
		b = value.AppendJSON(b, event)
	default:
		b = append(append(b, `{"status":"`...), status...)
		if err == nil {
			b = value.AppendJSON(append(b, `","result":`...), result)
			b = append(b, `,"event":`...)
		} else {
			b = append(b, `","event":`...)
		}
		b = value.AppendJSON(b, event)
		if err != nil {
			b = jsontext.AppendString(append(b, `,"message":`...), message)
		}
		b = append(b, '}')
	}
	r.line = append(b, '\n')
	_, err = r.out.Write(r.line)
	return err
}

// isVRL reports whether a command line is one of `varve vrl`, whose wrong usage has another exit code.
func isVRL(args []string) bool { return args[0] == "vrl" }
