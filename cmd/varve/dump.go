package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"varve/cmd/varve/client"
	"varve/engine"
	"varve/engine/manifest"
	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

type dumpCommand struct {
	File    string `arg:"" help:"A part, a segment of the log or a manifest."`
	Section string `help:"Of a part: head, series, columns, rows or the name of a column."`
	Rows    int    `default:"10" help:"Of a part: the number of first rows that are printed."`
	Hex     bool   `help:"Print the bytes instead."`
	JSON    bool   `help:"Print each line with the indented lines below it as JSON."`
}

// Run prints a file by its format, which its first bytes tell.
func (c *dumpCommand) Run(s streams) (err error) {
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(s.out)
	defer func() { err = errors.Join(err, w.Flush()) }()
	if c.Hex {
		d := hex.Dumper(w)
		_, err := io.Copy(d, f)
		return errors.Join(err, d.Close())
	}
	magic := make([]byte, 8)
	if _, err := io.ReadFull(f, magic); errors.Is(err, syscall.EISDIR) {
		return fmt.Errorf("%s is a directory: varve check looks at a whole one", c.File)
	} else if err != nil {
		return fmt.Errorf("%s is not a file of a store: it has less than 8 bytes", c.File)
	}
	if !c.JSON {
		return c.text(w, string(magic))
	}
	var text bytes.Buffer
	if err := c.text(&text, string(magic)); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		File  string       `json:"file"`
		Lines []*dumpBlock `json:"lines"`
	}{c.File, blocksOf(text.String())})
}

func (c *dumpCommand) text(w io.Writer, magic string) error {
	if c.Section != "" && magic != sst.Magic {
		return &client.UsageError{Err: fmt.Errorf("--section is for parts, %s is none", c.File)}
	}
	switch magic {
	case sst.Magic:
		return sst.Dump(w, vfs.OS(), c.File, sst.DumpOptions{Section: c.Section, Rows: c.Rows})
	case wal.Magic:
		return wal.Dump(w, vfs.OS(), c.File, engine.DumpRecord)
	case manifest.Magic:
		if filepath.Base(c.File) != manifest.FileName {
			return fmt.Errorf("a manifest must be called %s to be read", manifest.FileName)
		}
		return manifest.Dump(w, vfs.OS(), filepath.Dir(c.File))
	}
	return fmt.Errorf("%s is not a part, segment of the log or manifest: it begins with %q", c.File, magic)
}

// dumpBlock is a line of a dump with the lines that are indented deeper below it.
type dumpBlock struct {
	Line  string       `json:"line"`
	Below []*dumpBlock `json:"below,omitempty"`
	depth int
}

// blocksOf nests the lines of a dump by their indentation.
func blocksOf(text string) []*dumpBlock {
	root := &dumpBlock{depth: -1}
	open := []*dumpBlock{root}
	for line := range strings.Lines(text) {
		body := strings.TrimLeft(line, " ")
		b := &dumpBlock{Line: strings.TrimRight(body, "\n"), depth: len(line) - len(body)}
		for open[len(open)-1].depth >= b.depth {
			open = open[:len(open)-1]
		}
		parent := open[len(open)-1]
		parent.Below = append(parent.Below, b)
		open = append(open, b)
	}
	return root.Below
}
