package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"varve/cmd/varve/client"
	"varve/cmd/varve/tail"
)

type tailCommand struct {
	client.Flags
	client.Database
	client.Timezone
	Table    string        `arg:"" help:"The table."`
	Rows     int           `short:"n" default:"-1" placeholder:"20" help:"So many rows at the start, at most 10,000; default: 20, with --since up to 1,000."`
	Follow   bool          `short:"f" help:"Go on with rows as they come, until Ctrl-C."`
	Search   string        `placeholder:"TEXT" xor:"condition" help:"A condition in the search language of the dashboard: 'level:error timeout'."`
	Where    string        `placeholder:"SQL" xor:"condition" help:"A condition in SQL."`
	Columns  []string      `placeholder:"NAME" help:"Only these columns, in this order."`
	Since    string        `placeholder:"TIME" help:"Only rows from this time on: 10m (ago), 2026-11-21 03:46, RFC 3339."`
	Format   string        `enum:"text,ndjson,csv" default:"text" placeholder:"FORMAT" help:"text, ndjson or csv; default: text."`
	Template string        `placeholder:"TEXT" help:"What a line is, instead of a format: '{{.time}} {{.level}} {{.message}}'."`
	Raw      bool          `help:"Control characters of rows as they are; default: escaped, lest they steer the terminal."`
	Color    string        `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colours: auto (on a terminal), always or never."`
	Every    time.Duration `default:"1s" placeholder:"DURATION" help:"How often to ask for new rows; default: 1s."`
	Overlap  time.Duration `default:"10s" placeholder:"DURATION" help:"How late rows may come, by their time, and still be seen, at most 5m; default: 10s."`
}

// Help is what varve tail --help says besides.
func (tailCommand) Help() string {
	return "Without -f: the last rows, oldest first. A line has time, level, the other columns as name=value, and " +
		"the message; with --columns, those behind the time. " +
		"Where more rows come than are shown, a note says how many are left out.\n\n" +
		examples("varve tail app -f --search 'level:error timeout'",
			"varve tail app -n 100 --since 10m --columns level,host,message",
			"varve tail app -f --format ndjson --where 'status >= 500'",
			"varve tail app --template '{{.time}} {{.message}}'")
}

// Run shows rows.
func (c *tailCommand) Run(ctx context.Context, io streams) error {
	switch {
	case c.Rows > tail.MostRows:
		return &client.UsageError{
			Err: fmt.Errorf("-n %d: at most %d; varve export writes more rows", c.Rows, tail.MostRows)}
	case c.Every < 100*time.Millisecond:
		return &client.UsageError{Err: fmt.Errorf("--every %s: at least 100ms", c.Every)}
	case c.Overlap < 0 || c.Overlap > 5*time.Minute:
		return &client.UsageError{Err: fmt.Errorf("--overlap %s: between 0s and 5m", c.Overlap)}
	case c.Template != "" && c.Format != "text":
		return &client.UsageError{Err: errors.New("--template is a format itself: leave out --format")}
	}
	server, err := c.Connect(io.environ, io.err)
	if err != nil {
		return err
	}
	o := tail.Options{
		DB: cmp.Or(c.DB, server.DB), Table: c.Table, Rows: c.Rows, Where: c.Where, Search: c.Search, Columns: c.Columns,
		Follow: c.Follow, Every: c.Every, Overlap: c.Overlap,
		Format: c.Format, Template: c.Template, Raw: c.Raw, Terminal: client.IsTerminal(io.out), Quiet: c.Quiet,
	}
	o.Color = io.coloured(c.Color)
	if o.Zone, err = client.Zone(cmp.Or(c.Timezone.Timezone, server.Timezone)); err != nil {
		return err
	}
	if o.Since, err = client.Instant("--since", c.Since, o.Zone, time.Now()); err != nil {
		return err
	}
	return tail.Run(ctx, server, o, io.out, io.err)
}
