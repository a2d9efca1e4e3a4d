package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"varve/server/rules/file"

	"varve/cmd/varve/ruletest"
)

// rulesCommand is varve rules.
type rulesCommand struct {
	Check rulesCheckCommand `cmd:"" help:"Check files of rules."`
	Test  rulesTestCommand  `cmd:"" help:"Run unit tests of rules."`
}

type rulesCheckCommand struct {
	Files     []string `arg:"" name:"file" help:"Files of rules."`
	LintFatal bool     `name:"lint-fatal" help:"Fail with exit code 3 where two rules are alike."`
}

// Help is what varve rules check --help says besides.
func (rulesCheckCommand) Help() string {
	return "Exit codes: 1 a file is wrong, 3 with --lint-fatal: two rules are alike.\n\n" +
		examples("varve rules check rules/hosts.yml rules/web.yml")
}

// Run checks files of rules. It ends with 1 if one is wrong, and with --lint-fatal with 3 if rules are there twice.
func (c *rulesCheckCommand) Run(s streams) error {
	failed, alike := false, false
	for _, name := range c.Files {
		text, bad, twice := checkRules(name)
		if _, err := fmt.Fprintf(s.out, "Checking %s\n%s\n", name, text); err != nil {
			return err
		}
		failed, alike = failed || bad, alike || twice
	}
	switch {
	case failed:
		return saidError{exitFailed}
	case alike && c.LintFatal:
		return saidError{exitPartly}
	}
	return nil
}

// checkRules says what is wrong with a file of rules, and whether rules are there twice.
func checkRules(name string) (text string, failed, twice bool) {
	f, err := file.Open(name)
	if err != nil {
		return "  FAILED:\n" + indentLines(err.Error()), true, false
	}
	var b strings.Builder
	if list := file.Twice(f); len(list) > 0 {
		twice = true
		fmt.Fprintf(&b, "  %d duplicate rule(s) found.\n", len(list))
		for _, d := range list {
			fmt.Fprintf(&b, "  %s\n", d)
		}
		b.WriteString("  Might cause inconsistency while recording expressions.\n")
	}
	fmt.Fprintf(&b, "  SUCCESS: %d rules found\n", f.Rules())
	return b.String(), false, twice
}

func indentLines(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

type rulesTestCommand struct {
	Files []string `arg:"" name:"file" help:"Files of unit tests, in the form that promtool reads."`
}

// Help is what varve rules test --help says besides.
func (rulesTestCommand) Help() string {
	return "Exit code 1: a test failed.\n\n" + examples("varve rules test rules/hosts_test.yml")
}

// Run runs unit tests. It ends with 1 if one fails.
func (c *rulesTestCommand) Run(ctx context.Context, s streams) error {
	failed := false
	for _, name := range c.Files {
		passed, err := ruletest.Run(ctx, name, io.Writer(s.out))
		if err != nil {
			return err
		}
		failed = failed || !passed
	}
	if failed {
		return saidError{exitFailed}
	}
	return nil
}
