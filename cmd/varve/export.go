package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"varve/cmd/varve/client"
	"varve/cmd/varve/export"
)

type exportCommand struct {
	client.Flags
	client.Database
	client.Timezone
	Table       string        `short:"t" placeholder:"NAME" xor:"rows" help:"The table whose rows are exported."`
	Query       string        `placeholder:"SQL" xor:"rows" help:"A statement whose rows are exported, instead of a table."`
	Since       string        `placeholder:"TIME" help:"From this time on: now-1h, 10m (ago), 2026-11-21 03:46, RFC 3339, seconds since 1970."`
	Until       string        `placeholder:"TIME" help:"Up to this time, which does not count in; default: the newest row at the start."`
	Where       string        `placeholder:"SQL" xor:"condition" help:"A condition in SQL."`
	Search      string        `placeholder:"TEXT" xor:"condition" help:"A condition in the search language of the dashboard: 'level:error timeout'."`
	Columns     []string      `placeholder:"NAME" help:"Only these columns, in this order."`
	Output      string        `short:"o" default:"-" placeholder:"FILE" help:"The file; its name ends with .csv, .ndjson, .json, .arrow or .parquet, then perhaps .gz or .zst. Default: standard output."`
	OutputDir   string        `placeholder:"DIR" xor:"rows" help:"A new or empty directory for all tables of the database: rows, statements that make them, MANIFEST.json."`
	Format      export.Format `enum:",csv,ndjson,json,arrow,parquet" default:"" placeholder:"FORMAT" help:"csv, ndjson, json, arrow or parquet; default: by the name of the file, csv for standard output."`
	NewestFirst bool          `help:"Newest rows first; default: oldest first."`
	RawTimes    bool          `help:"Times as whole numbers of their unit; default: RFC 3339 in UTC in csv, ndjson and json, times in parquet."`
	Resume      bool          `help:"Go on with a file that was not completed."`
	RetryFor    time.Duration `default:"10m" placeholder:"DURATION" help:"How long a part of the rows is asked for again when the server is away, busy or fails; default: 10m."`
}

// Help is what varve export --help says besides.
func (exportCommand) Help() string {
	return "A table is fetched in slices of time of about 50,000 rows. The file is written as FILE.part and gets its " +
		"name when it is complete; " +
		"FILE.part.state is what --resume goes on from. Rows that arrive meanwhile and are newer than the newest at " +
		"the start are left out. " +
		"In CSV, NULL is an empty field and the empty text is \"\".\n\n" +
		examples("varve export --table app --since now-1d -o app.ndjson.zst",
			"varve export -t app --search 'level:error timeout' --columns ts,host,message -o errors.csv",
			"varve export --query 'SELECT host, count(*) AS n FROM app GROUP BY host' --format json",
			"varve export -t app -o app.parquet --resume",
			"varve export --db public --output-dir public-monday")
}

// Run exports rows.
func (c *exportCommand) Run(ctx context.Context, io streams) error {
	if c.Table == "" && c.Query == "" && c.OutputDir == "" {
		return &client.UsageError{Err: errors.New("varve export needs --table, --query or --output-dir")}
	}
	if c.OutputDir != "" && (c.Where != "" || c.Search != "" || len(c.Columns) > 0 || c.Output != "-" ||
		c.Format != "" || c.RawTimes) {
		return &client.UsageError{Err: errors.New(
			"--output-dir takes all rows of all tables: --where, --search, --columns, --output, --format and " +
				"--raw-times do not go with it")}
	}
	if c.Query != "" && (c.Since != "" || c.Until != "" || c.Where != "" || c.Search != "" || len(c.Columns) > 0 ||
		c.NewestFirst) {
		return &client.UsageError{Err: errors.New(
			"--query says itself which rows: --since, --until, --where, --search, --columns and --newest-first go " +
				"with --table")}
	}
	server, err := c.Connect(io.environ, io.err)
	if err != nil {
		return err
	}
	o := export.Options{
		DB: cmp.Or(c.DB, server.DB), Table: c.Table, Query: c.Query, Columns: c.Columns, Where: c.Where,
		Search: c.Search,
		Output: c.Output, OutputDir: c.OutputDir, Format: c.Format, NewestFirst: c.NewestFirst, RawTimes: c.RawTimes,
		Resume: c.Resume, RetryFor: c.RetryFor, Quiet: c.Quiet,
	}
	if o.Zone, err = client.Zone(cmp.Or(c.Timezone.Timezone, server.Timezone)); err != nil {
		return err
	}
	now := time.Now()
	if o.Since, err = client.Instant("--since", c.Since, o.Zone, now); err != nil {
		return err
	}
	if o.Until, err = client.Instant("--until", c.Until, o.Zone, now); err != nil {
		return err
	}
	return export.Run(ctx, server, o, io.out, io.err)
}
