package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"varve/engine/nearest"
	"varve/engine/timefmt"
)

// newParser makes the parser of a command line; exited takes the exit code where parsing ends the process.
func newParser(line *commandLine, io streams, exited *int) *kong.Kong {
	parser, err := kong.New(line, kong.Name("varve"),
		kong.Description("A database server for logs, metrics and traces."),
		kong.Writers(io.out, io.err), kong.Exit(func(code int) { *exited = code }),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(readDuration)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		panic(fmt.Sprintf("the command model is wrong: %v", err))
	}
	return parser
}

// readDuration reads durations as the configuration writes them.
func readDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("duration")
	if err != nil {
		return err
	}
	text := fmt.Sprint(token.Value)
	ns, err := timefmt.ParseDuration(text)
	if err != nil || ns < 0 {
		return fmt.Errorf("expected a duration such as 30s or 1m30s, found %q", text)
	}
	target.SetInt(ns)
	return nil
}

// explain says what is wrong with a command line, in our words and with the name that was meant most likely.
func explain(err error) error {
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	node := deepest(parse.Context)
	text, _, _ := strings.Cut(err.Error(), ", did you mean")
	if name, found := strings.CutPrefix(text, "unknown flag "); found {
		return fmt.Errorf("there is no flag %s%s", name, nearestFlag(node, name))
	}
	if name, found := strings.CutPrefix(text, "unexpected argument "); found {
		if len(node.Children) == 0 {
			return fmt.Errorf("%s is one argument too many: see %s --help", name, node.FullPath())
		}
		return fmt.Errorf("there is no command %s%s",
			strings.TrimSpace(strings.TrimPrefix(node.FullPath(), "varve")+" "+name), nearestCommand(node, name))
	}
	if flag, problem, found := strings.Cut(text, ": "); found && lacksValue(node, problem) {
		return fmt.Errorf("%s needs a value", flag)
	}
	if wanted, found := strings.CutPrefix(text, "expected "); found {
		if len(node.Children) > 0 {
			var names []string
			for _, child := range node.Children {
				if !child.Hidden {
					names = append(names, child.Name)
				}
			}
			wanted = "one of " + strings.Join(names, ", ")
		}
		return fmt.Errorf("%s needs %s: see %[1]s --help", node.FullPath(), strings.ReplaceAll(wanted, `"`, ""))
	}
	return errors.New(ourWords.Replace(text))
}

// lacksValue reports whether a flag's problem is that nothing follows it, or another flag.
func lacksValue(node *kong.Node, problem string) bool {
	if strings.HasPrefix(problem, "missing value") {
		return true
	}
	_, got, _ := strings.Cut(problem, `value but got "`)
	got, _, _ = strings.Cut(got, `"`)
	if got == "EOL" {
		return true
	}
	for _, level := range node.AllFlags(true) {
		for _, flag := range level {
			if got == "--"+flag.Name || flag.Short != 0 && got == "-"+string(flag.Short) {
				return true
			}
		}
	}
	return false
}

// ourWords are for those of the parser that only programmers know.
var ourWords = strings.NewReplacer("a valid 64 bit int", "a whole number", "expected int value",
	"expected a whole number",
	"expected string value", "expected a value", "expected duration value", "expected a duration",
	"bool value must be true, 1, yes, false, 0 or no", "expected true or false", `one of "",`, "one of ", "[<", "<",
	">]", ">", " (short flag)", "", " (long flag)", "")

// deepest is the command that was understood so far.
func deepest(ctx *kong.Context) *kong.Node {
	if node := ctx.Selected(); node != nil {
		return node
	}
	for i := len(ctx.Path) - 1; i >= 0; i-- {
		if node := ctx.Path[i].Node(); node != nil {
			return node
		}
	}
	return ctx.Model.Node
}

func nearestFlag(node *kong.Node, name string) string {
	f := nearest.Finder{To: name, Far: len(name) > 3}
	for _, level := range node.AllFlags(true) {
		for _, flag := range level {
			f.Look("--"+flag.Name, "--"+flag.Name)
		}
	}
	return hint(f)
}

func nearestCommand(node *kong.Node, name string) string {
	f := nearest.Finder{To: name, Far: true}
	for _, child := range node.Children {
		if !child.Hidden {
			f.Look(child.Name, child.FullPath())
		}
	}
	return hint(f)
}

func hint(f nearest.Finder) string {
	if f.Found == "" {
		return ""
	}
	return ". Did you mean " + f.Found + "?"
}
