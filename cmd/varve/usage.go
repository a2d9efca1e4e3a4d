package main

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"varve/cmd/varve/cmdline"
)

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// newModel is the model of a command line.
func newModel(line *commandLine) *cmdline.Node {
	return cmdline.New(line, "varve", "A database server for logs, metrics and traces.")
}

// narrow is the width of a terminal of which nothing is known, columns.
const narrow = 80

// helpWidth is how wide lines to w may be: as COLUMNS says, or as the terminal is.
func helpWidth(w io.Writer, environ []string) int {
	for _, variable := range environ {
		if text, found := strings.CutPrefix(variable, "COLUMNS="); found {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				return n
			}
		}
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return narrow
}
