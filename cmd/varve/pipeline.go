package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"varve/cmd/varve/client"
	"varve/cmd/varve/pipe"
)

type pipelineCommand struct {
	List     pipelineListCommand     `cmd:"" help:"List the pipelines of the server."`
	Show     pipelineShowCommand     `cmd:"" help:"Print the document of a pipeline."`
	Versions pipelineVersionsCommand `cmd:"" help:"List the versions of a pipeline, the newest first."`
	Push     pipelinePushCommand     `cmd:"" help:"Upload a document if it differs from the newest version."`
	Diff     pipelineDiffCommand     `cmd:"" help:"Compare a document with the newest version, or two versions."`
	Delete   pipelineDeleteCommand   `cmd:"" help:"Delete a version of a pipeline."`
	Test     pipelineTestCommand     `cmd:"" help:"Take samples through a document, without a server."`
	Lint     pipelineLintCommand     `cmd:"" help:"Say whether a document compiles, without a server."`
}

type pipelineListCommand struct{ client.Flags }

type pipelineShowCommand struct {
	Name    string `arg:"" help:"The pipeline."`
	Version string `placeholder:"VERSION" help:"The version, as versions lists it; default: the newest."`
	client.Flags
}

type pipelineVersionsCommand struct {
	Name string `arg:"" help:"The pipeline."`
	client.Flags
}

type pipelinePushCommand struct {
	File string `arg:"" help:"The document (YAML), or - for standard input."`
	Name string `placeholder:"NAME" help:"The name of the pipeline; default: that of the file without .yaml."`
	client.Flags
}

type pipelineDiffCommand struct {
	What     string   `arg:"" name:"file-or-name" help:"A document (YAML) or, with two versions, the name of a pipeline."`
	Versions []string `arg:"" optional:"" sep:"none" help:"Two versions."`
	Name     string   `placeholder:"NAME" help:"The pipeline that the document is compared with; default: that of the file without .yaml."`
	client.Flags
}

type pipelineDeleteCommand struct {
	Name    string `arg:"" help:"The pipeline."`
	Version string `required:"" placeholder:"VERSION" help:"The version, as versions lists it."`
	Yes     bool   `help:"Do not ask."`
	client.Flags
}

type pipelineTestCommand struct {
	File    string            `arg:"" help:"The document (YAML)."`
	Samples string            `arg:"" help:"A file of entries, or - for standard input."`
	Type    string            `enum:"auto,text,ndjson,json" default:"auto" help:"What the samples are: auto, text, ndjson or json; auto looks at them."`
	With    map[string]string `placeholder:"NAME=FILE" help:"The document of another pipeline, which dispatchers may name; may be repeated."`
	Expect  string            `placeholder:"FILE" help:"Compare the outcome, as JSON, with a file; exit code 1 and a diff when it differs."`
	Update  bool              `help:"Write the outcome to the file of --expect."`
	Format  string            `enum:"table,json" default:"table" help:"What to print: table or json."`
}

type pipelineLintCommand struct {
	File string `arg:"" help:"The document (YAML), or - for standard input."`
}

// Help is what varve pipeline list --help says besides.
func (pipelineListCommand) Help() string { return examples("varve pipeline list") }

// Help is what varve pipeline show --help says besides.
func (pipelineShowCommand) Help() string {
	return examples("varve pipeline show access > access.yaml",
		"varve pipeline show access --version '2026-11-21 04:00:00.123456789'")
}

// Help is what varve pipeline versions --help says besides.
func (pipelineVersionsCommand) Help() string { return examples("varve pipeline versions access") }

// Help is what varve pipeline push --help says besides.
func (pipelinePushCommand) Help() string {
	return examples("varve pipeline push access.yaml",
		"varve pipeline push pipelines/web.yaml --name access --profile prod")
}

// Help is what varve pipeline diff --help says besides.
func (pipelineDiffCommand) Help() string {
	return "Exit code 1: they differ.\n\n" + examples("varve pipeline diff access.yaml",
		"varve pipeline diff access '2026-11-21 04:00:00' '2026-11-22 04:00:00'")
}

// Help is what varve pipeline delete --help says besides.
func (pipelineDeleteCommand) Help() string {
	return examples("varve pipeline delete access --version '2026-11-21 04:00:00.123456789' --yes")
}

// Help is what varve pipeline test --help says besides.
func (pipelineTestCommand) Help() string {
	return "The document runs as in a server, over any number of entries, and nothing is stored; rows without a time " +
		"of their own get the first second of the year 2000. " +
		"Exit code 1: entries fail, or the outcome is not the expected one; 2: the document does not compile.\n\n" +
		examples("varve pipeline test access.yaml access.log",
			"varve pipeline test access.yaml access.log --expect access.json",
			"varve pipeline test route.yaml mixed.ndjson --with errors=errors.yaml --format json")
}

// Help is what varve pipeline lint --help says besides.
func (pipelineLintCommand) Help() string {
	return "Exit code 2: it does not compile.\n\n" + examples("varve pipeline lint access.yaml")
}

// pipelines are those of the server of the flags.
func pipelines(f *client.Flags, io streams) (pipe.Server, error) {
	c, err := f.Connect(io.environ, io.err)
	return pipe.Server{Client: c}, err
}

func (c *pipelineListCommand) Run(ctx context.Context, io streams) error {
	server, err := pipelines(&c.Flags, io)
	if err != nil {
		return err
	}
	list, err := server.List(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(io.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "name\tversions\tlatest")
	for _, one := range list {
		fmt.Fprintf(w, "%s\t%d\t%s\n", client.Visible(one.Name), one.Versions, one.Latest)
	}
	return w.Flush()
}

func (c *pipelineShowCommand) Run(ctx context.Context, io streams) error {
	server, err := pipelines(&c.Flags, io)
	if err != nil {
		return err
	}
	d, err := server.Show(ctx, c.Name, c.Version)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(io.out, d.Text)
	return err
}

func (c *pipelineVersionsCommand) Run(ctx context.Context, io streams) error {
	server, err := pipelines(&c.Flags, io)
	if err != nil {
		return err
	}
	versions, err := server.Versions(ctx, c.Name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(io.out, strings.Join(versions, "\n"))
	return err
}

// nameOf is the pipeline of a file.
func nameOf(file, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	if file == "-" {
		return "", &client.UsageError{Err: errors.New("a document from standard input needs --name")}
	}
	return pipe.NameOf(file), nil
}

func (c *pipelinePushCommand) Run(ctx context.Context, io streams) error {
	name, err := nameOf(c.File, c.Name)
	if err != nil {
		return err
	}
	text, err := pipe.Read(c.File)
	if err != nil {
		return err
	}
	server, err := pipelines(&c.Flags, io)
	if err != nil {
		return err
	}
	d, changed, err := server.Push(ctx, name, text)
	if err != nil {
		return err
	}
	warn(io, c.Quiet, d.Warnings)
	if !changed {
		_, err = fmt.Fprintf(io.out, "%s: unchanged, version %s\n", name, d.Version)
		return err
	}
	_, err = fmt.Fprintf(io.out, "%s: version %s\n", name, d.Version)
	return err
}

// warn says what a document hardly means.
func warn(io streams, quiet bool, warnings []string) {
	for _, w := range warnings {
		if !quiet {
			fmt.Fprintf(io.err, "varve: warning: %s\n", client.Visible(w))
		}
	}
}

func (c *pipelineDiffCommand) Run(ctx context.Context, io streams) error {
	server, err := pipelines(&c.Flags, io)
	if err != nil {
		return err
	}
	switch len(c.Versions) {
	case 0:
		name, err := nameOf(c.What, c.Name)
		if err != nil {
			return err
		}
		text, err := pipe.Read(c.What)
		if err != nil {
			return err
		}
		d, err := server.Show(ctx, name, "")
		if err != nil {
			return err
		}
		return pipe.Compare(io.out, name+" "+d.Version, c.What, []byte(d.Text), text)
	case 2:
		var docs [2]*pipe.Document
		for i, v := range c.Versions {
			if docs[i], err = server.Show(ctx, c.What, v); err != nil {
				return err
			}
		}
		return pipe.Compare(io.out, c.What+" "+c.Versions[0], c.What+" "+c.Versions[1], []byte(docs[0].Text),
			[]byte(docs[1].Text))
	}
	return &client.UsageError{Err: errors.New("varve pipeline diff needs a file, or a name and two versions")}
}

func (c *pipelineDeleteCommand) Run(ctx context.Context, io streams) error {
	server, err := pipelines(&c.Flags, io)
	if err != nil {
		return err
	}
	if !c.Yes {
		yes, err := client.Confirm(ctx,
			fmt.Sprintf("Delete version %s of the pipeline %s at %s?", c.Version, c.Name, server.Base))
		if errors.Is(err, client.ErrNoTerminal) {
			return &client.UsageError{Err: errors.New("deleting needs --yes where there is no terminal to ask on")}
		}
		if err != nil {
			return err
		}
		if !yes {
			return errors.New("nothing was deleted")
		}
	}
	if err := server.Delete(ctx, c.Name, c.Version); err != nil {
		return err
	}
	_, err = fmt.Fprintf(io.out, "%s: version %s deleted\n", c.Name, c.Version)
	return err
}

func (c *pipelineTestCommand) Run(ctx context.Context, io streams) error {
	if c.Update && c.Expect == "" {
		return &client.UsageError{Err: errors.New("--update needs --expect FILE")}
	}
	files := append(slices.Collect(maps.Values(c.With)), c.File, c.Samples)
	if files = slices.DeleteFunc(files, func(file string) bool { return file != "-" }); len(files) > 1 {
		return &client.UsageError{Err: errors.New("standard input can be only one of the two files")}
	}
	t := pipe.Trial{File: c.File, With: map[string][]byte{}}
	if c.Type != "auto" {
		t.Kind = c.Type
	}
	var err error
	if t.Text, err = pipe.Read(c.File); err != nil {
		return err
	}
	for name, file := range c.With {
		if t.With[name], err = pipe.Read(file); err != nil {
			return err
		}
	}
	samples, err := pipe.Read(c.Samples)
	if err != nil {
		return err
	}
	outcome, err := t.Run(ctx, samples)
	if err != nil {
		return err
	}
	warn(io, false, outcome.Warnings)
	if c.Expect != "" {
		return outcome.Expect(io.out, c.Expect, c.Update)
	}
	if c.Format == "json" {
		_, err = io.out.Write(outcome.JSON())
	} else {
		err = outcome.Print(io.out)
	}
	if err == nil && outcome.Failed > 0 {
		err = fmt.Errorf("%s: %d of %d entries fail", c.Samples, outcome.Failed, len(outcome.Entries))
	}
	return err
}

func (c *pipelineLintCommand) Run(ctx context.Context, io streams) error {
	text, err := pipe.Read(c.File)
	if err != nil {
		return err
	}
	warnings, err := pipe.Lint(ctx, c.File, text)
	if err != nil {
		return err
	}
	warn(io, false, warnings)
	_, err = fmt.Fprintf(io.out, "%s: it compiles\n", c.File)
	return err
}
