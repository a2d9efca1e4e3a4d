package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"varve/cmd/varve/client"
	"varve/cmd/varve/ingest"
)

type ingestCommand struct {
	client.Flags
	client.Database
	Inputs          []string       `arg:"" optional:"" name:"input" help:"Files, directories (all files below), patterns in quotes, or - for standard input. Packed ones (gzip, zstd, bzip2) are unpacked; Parquet and Arrow are read by rows."`
	Manifest        string         `placeholder:"DIR" help:"Instead of inputs: make and fill the tables of a directory that varve export --output-dir wrote."`
	Table           string         `short:"t" placeholder:"T" help:"The table that the entries go to; '{name}' in it is the name of the file."`
	Pipeline        string         `placeholder:"NAME" help:"The pipeline that reads the entries; default: they are taken as they are (service_identity)."`
	PipelineVersion string         `placeholder:"TIME" help:"A version of the pipeline; default: the latest."`
	PipelineFile    string         `placeholder:"FILE" help:"A pipeline that is uploaded for this run and removed after it."`
	Format          string         `placeholder:"FORMAT" help:"ndjson, json, text, csv (with a head line), lineproto, jsonput, logpush, parquet, arrow, or insert: JSON lines of varve export into a table that is there, of any types; default: what names and beginnings of files look like."`
	Time            string         `placeholder:"FIELD" help:"The field with the time of entries: 'FIELD;epoch;ms' (or s, us, ns), 'FIELD;datestr;FORMAT', or auto to find it in the first entries; default: when they arrive."`
	MaxNestedLevels *int           `placeholder:"N" help:"How deep objects become columns."`
	Hint            []string       `sep:"none" placeholder:"K=V" help:"A hint for tables that are made, such as ttl=7d; may be repeated."`
	SkipError       bool           `help:"Let the server leave out entries that its pipeline cannot read."`
	Batch           string         `placeholder:"SIZE" help:"Size of requests (default: 4MiB); one line alone may have up to 64MiB."`
	Connections     *int           `placeholder:"N" help:"Requests at the same time (default: 4, or 2 to a server on this machine); fewer while the server has too many."`
	Compress        string         `placeholder:"HOW" enum:"auto,zstd,none" default:"auto" help:"zstd, none or auto: zstd to another machine."`
	Rate            string         `placeholder:"RATE" help:"At most so much a second: rows (5000) or bytes (10MiB)."`
	RetryFor        *time.Duration `placeholder:"DURATION" help:"How long a batch is tried again while the server is away or busy (default: 10m)."`
	Rejects         string         `placeholder:"FILE" help:"Sets refused entries aside in this file, as JSON lines, and goes on; default: the first one ends the command."`
	MaxRejects      int            `placeholder:"N" default:"-1" help:"End with more refused entries than that."`
	State           string         `placeholder:"FILE" help:"The file that keeps up to where inputs are stored; default: one a table under $$XDG_STATE_HOME/varve/ingest."`
	Resume          bool           `help:"Go on where an earlier run ended."`
	Restart         bool           `help:"Store inputs again that are stored already."`
	Follow          bool           `help:"Go on with what is appended to the files, as tail -F does."`
	DryRun          *int           `placeholder:"N" help:"Show what the first N entries of each input would become, and store nothing."`
}

// Help is what varve ingest --help says besides.
func (ingestCommand) Help() string {
	return "Every acknowledged entry is stored. Batches have ids that the server remembers for a day, so that each " +
		"entry is stored once, also where an answer was lost or either side was killed and --resume goes on. What is " +
		"stored already is known for the server and the table: an emptied server, and a table that was dropped, get " +
		"everything. " +
		"Ctrl-C ends it at a clean point, --resume goes on there. Rows of Parquet and Arrow keep their types: they " +
		"go into the table as varve export wrote them, and a table that is not there is made of the columns of the file; " +
		"with --pipeline or --time they are entries like JSON lines. Exit code 3: entries were refused, or some " +
		"inputs could not be read.\n\n" +
		examples("varve ingest --table web access.log.gz --pipeline-file access.yaml",
			"varve ingest --table app --time auto --rejects bad.ndjson logs/",
			"varve ingest --table '{name}' 'export/*.ndjson.zst' --resume",
			"varve ingest --table app --dry-run 5 app.ndjson",
			"varve ingest --manifest exported/ --db copies",
			"varve ingest --table app app.parquet",
			"varve ingest --table app --format insert app.ndjson.zst",
			"journalctl -f -o json | varve ingest --table journal -")
}

func (c *ingestCommand) Run(ctx context.Context, s streams) error {
	o, err := c.options(s)
	if err != nil {
		return err
	}
	server, err := c.Connect(s.environ, s.err)
	if err != nil {
		return err
	}
	o.DB = cmp.Or(c.DB, server.DB)
	// Its memory is buffers that stay, so garbage may not double it: 75 MiB where it was 99, without more processor
	// time.
	debug.SetGCPercent(25)
	return ingest.Run(ctx, server, o)
}

// options are what the flags say.
func (c *ingestCommand) options(s streams) (*ingest.Options, error) {
	o := &ingest.Options{
		Args: c.Inputs, Manifest: c.Manifest, Stdin: s.in, Notes: s.err, Result: s.out, Width: client.Width(s.err),
		Quiet: c.Quiet,
		Table: c.Table, Pipeline: c.Pipeline, PipelineVersion: c.PipelineVersion, PipelineFile: c.PipelineFile,
		Format: c.Format,
		Time:   c.Time, Hints: c.Hint, SkipError: c.SkipError, Compress: c.Compress, Rejects: c.Rejects,
		MaxRejects: c.MaxRejects,
		State:      c.State, Resume: c.Resume, Restart: c.Restart, Follow: c.Follow,
	}
	err := errors.Join(setPositive("--max-nested-levels", &o.MaxNestedLevels, c.MaxNestedLevels),
		setPositive("--connections", &o.Connections, c.Connections),
		setPositive("--retry-for", &o.RetryFor, c.RetryFor), setPositive("--dry-run", &o.DryRun, c.DryRun))
	if err != nil {
		return nil, &client.UsageError{Err: err}
	}
	if c.MaxRejects < -1 { // -1 is that of no flag
		return nil, &client.UsageError{Err: fmt.Errorf("--max-rejects %d: expected 0 or more", c.MaxRejects)}
	}
	if c.Batch != "" {
		var size Size
		if size, err = parseSize(c.Batch); err != nil {
			return nil, &client.UsageError{Err: fmt.Errorf("--batch %s: %w", c.Batch, err)}
		}
		o.Batch = int(size)
		if err := setPositive("--batch", &o.Batch, &o.Batch); err != nil {
			return nil, &client.UsageError{Err: err}
		}
	}
	if c.Rate != "" {
		if o.Rate, err = parseRate(c.Rate); err != nil {
			return nil, &client.UsageError{Err: fmt.Errorf("--rate %s: %w", c.Rate, err)}
		}
	}
	home := client.Getenv(s.environ, "XDG_STATE_HOME")
	if !filepath.IsAbs(home) { // as its specification wants
		home = filepath.Join(client.Getenv(s.environ, "HOME"), ".local", "state")
	}
	if o.StateDir = filepath.Join(home, "varve", "ingest"); !filepath.IsAbs(home) && o.State == "" {
		return nil, &client.UsageError{Err: errors.New(
			"there is no HOME to keep up to where inputs are stored: --state names a file for that")}
	}
	return o, nil
}

// setPositive sets what a flag says, if it was given; zero is no value of it: in Options it stands for the default.
func setPositive[T int | time.Duration](flag string, to, value *T) error {
	if value == nil {
		return nil
	}
	if *value <= 0 {
		return fmt.Errorf("%s %v: expected more than 0", flag, *value)
	}
	*to = *value
	return nil
}

// parseRate reads rows or bytes a second.
func parseRate(text string) (ingest.Rate, error) {
	if rows, err := strconv.ParseInt(strings.TrimSuffix(text, "rows"), 10, 64); err == nil && rows > 0 {
		return ingest.Rate{Rows: rows}, nil
	}
	size, err := parseSize(text)
	if err == nil && size <= 0 {
		err = errors.New("expected more than 0")
	}
	return ingest.Rate{Bytes: int64(size)}, err
}
