package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"

	"varve/cmd/varve/client"
)

// dryBatch is how many entries the server tries at once.
const dryBatch = 10

// dryTable is what a trial says of a table.
type dryTable struct {
	Name   string `json:"table_name"`
	Schema []dryColumn
	Rows   [][]struct {
		Key   string
		Value json.RawMessage
	}
}

type dryColumn struct {
	Name string
	Type string `json:"data_type"`
	Role string `json:"column_type"`
}

// dryRun shows what the first entries of each input would become. Nothing is stored.
func (r *running) dryRun(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { r.end(nil) })
	defer stop()
	for _, in := range r.inputs {
		err := r.dryRunOne(ctx, in)
		if errors.Is(err, errStopped) {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
	}
	return nil
}

func (r *running) dryRunOne(ctx context.Context, in *input) error {
	defer in.close()
	if err := in.open(r); err != nil {
		return err
	}
	if in.format.path != "/v1/ingest" {
		return &client.UsageError{Err: fmt.Errorf("--dry-run is for entries of pipelines; %s has none",
			in.format.title)}
	}
	lines, err := r.firstLines(in)
	if err != nil {
		return err
	}
	var all []*dryTable
	for n := 0; n < len(lines); n += dryBatch {
		some := lines[n:min(len(lines), n+dryBatch)]
		tables, err := r.try(ctx, in, bytes.Join(some, newline))
		if err != nil {
			return err
		}
		for i := range tables {
			all = merge(all, &tables[i])
		}
	}
	if r.report.note("%s: the first %s; nothing is stored", in.name,
		client.Plural(int64(len(lines)), "entry")); len(all) == 0 {
		r.report.note("they give no rows")
	}
	for _, t := range all {
		t.print(r.o.Result, in.table)
	}
	return nil
}

// firstLines reads the entries that are to be tried.
func (r *running) firstLines(in *input) (lines [][]byte, err error) {
	for buf := make([]byte, 0, r.o.Batch); len(lines) < r.o.DryRun && err == nil; {
		if r.stopped() {
			return nil, errStopped
		}
		b := batch{}
		err = in.cut.fill(&b, buf)
		if b.refused != "" {
			return nil, fmt.Errorf("line %d: %s", b.line(), b.refused)
		}
		if b.long != nil {
			return nil, errors.Join(fmt.Errorf("line %d is larger than --batch", b.line()), b.long.Close())
		}
		for _, l := range bytes.Split(b.body, newline) {
			if l = bytes.TrimRight(l, "\r"); len(l) > 0 && len(lines) < r.o.DryRun {
				lines = append(lines, bytes.Clone(l))
			}
		}
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return lines, nil
}

// try lets the server try a few entries.
func (r *running) try(ctx context.Context, in *input, data []byte) ([]dryTable, error) {
	ask := map[string]any{"data": string(data), "data_type": in.format.contentType}
	switch {
	case r.o.PipelineFile != "":
		text, err := os.ReadFile(r.o.PipelineFile)
		if err != nil {
			return nil, err
		}
		ask["pipeline"] = string(text)
	case r.o.Pipeline != "":
		ask["pipeline_name"] = r.o.Pipeline
		if r.o.PipelineVersion != "" {
			ask["pipeline_version"] = r.o.PipelineVersion
		}
	default:
		ask["pipeline_name"] = identity
		ask["custom_time_index"] = in.timeIndex
		ask["max_nested_levels"] = r.o.MaxNestedLevels
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	resp, err := r.c.Do(ctx, client.Request{Path: "/v1/pipelines/dryrun",
		Header: http.Header{"Content-Type": {"application/json"}}, Body: bytes.NewReader(body)})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var tables []dryTable
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<20)).Decode(&tables); err != nil {
		return nil, fmt.Errorf("the server did not answer with tables: %w", err)
	}
	return tables, nil
}

// merge adds the columns and rows of a trial to those before.
func merge(all []*dryTable, t *dryTable) []*dryTable {
	for _, have := range all {
		if have.Name != t.Name {
			continue
		}
		for _, c := range t.Schema {
			known := false
			for _, h := range have.Schema {
				known = known || h.Name == c.Name
			}
			if !known {
				have.Schema = append(have.Schema, c)
			}
		}
		have.Rows = append(have.Rows, t.Rows...)
		return all
	}
	return append(all, t)
}

// shownValue is how much of a value is shown, bytes.
const shownValue = 60

// print writes the columns of a table with the first value of each.
func (t *dryTable) print(w io.Writer, table string) {
	name := table
	if rest, ok := strings.CutPrefix(t.Name, "dry_run"); ok {
		name += rest
	} else {
		name = t.Name
	}
	fmt.Fprintf(w, "%s: %s\n", client.Visible(name), client.Plural(int64(len(t.Rows)), "row"))
	tab := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, c := range t.Schema {
		fmt.Fprintf(tab, "  %s\t%s\t%s\t%s\n", client.Visible(c.Name), client.Visible(c.Type), client.Visible(c.Role),
			client.Visible(t.first(c.Name)))
	}
	tab.Flush() //nolint:errcheck // as the lines before
}

// first is the first value of a column that is not NULL.
func (t *dryTable) first(column string) string {
	for _, row := range t.Rows {
		for _, v := range row {
			if text := string(v.Value); v.Key == column && text != "null" {
				if len(text) > shownValue {
					text = strings.ToValidUTF8(text[:shownValue], "") + "…" // which may be cut inside of a letter
				}
				return text
			}
		}
	}
	return "NULL"
}
