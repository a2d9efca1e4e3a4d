package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// model is the parser, which tests ask for its commands.
func model(line *commandLine) *kong.Kong {
	exited := -1
	return newParser(line, streams{out: &strings.Builder{}, err: &strings.Builder{}}, &exited)
}

// TestExamples: every command has help with an example, and the examples are understood.
func TestExamples(t *testing.T) {
	for _, command := range model(&commandLine{}).Model.Leaves(true) {
		if command.Help == "" || !strings.HasSuffix(command.Help, ".") {
			t.Errorf("%s: its help is %q, want a sentence", command.FullPath(), command.Help)
		}
		lines := exampleLines(command.Detail)
		if len(lines) == 0 {
			t.Errorf("%s has no example", command.FullPath())
		}
		for _, line := range lines {
			args, ok := exampleArgs(line)
			if !ok {
				t.Errorf("%s: the example %q does not run varve", command.FullPath(), line)
				continue
			}
			if isHelp(args) {
				continue
			}
			parsed, err := model(&commandLine{}).Parse(args)
			if err != nil {
				t.Errorf("%s: the example %q: %v", command.FullPath(), line, err)
			} else if got := parsed.Selected(); got.FullPath() != command.FullPath() {
				t.Errorf("%s: the example %q is one of %s", command.FullPath(), line, got.FullPath())
			}
		}
	}
}

// exampleArgs are the arguments of the varve in a line of a shell.
func exampleArgs(line string) (args []string, ok bool) {
	for i, words := 0, shellWords(line); i < len(words); i++ {
		switch word := words[i]; {
		case !ok:
			ok = word == "varve"
		case word == "|" || word == ">" || word == ">>" || word == "<" || word == "&&":
			return args, true
		default:
			args = append(args, word)
		}
	}
	return args, ok && len(args) > 0
}

// shellWords splits at blanks outside of quotes.
func shellWords(line string) (words []string) {
	word, quote, begun := "", rune(0), false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	return words
}

// TestWrongUsage: one sentence that names what was meant.
func TestWrongUsage(t *testing.T) {
	for line, want := range map[string]string{
		"serv":                                 "varve: there is no command serv. Did you mean varve serve?",
		"help vresion":                         "varve: there is no command vresion. Did you mean varve version?",
		"serve --data-dri x":                   "varve: there is no flag --data-dri. Did you mean --data-dir?",
		"serve --http-adress x":                "varve: there is no flag --http-adress. Did you mean --http-addr?",
		"check a b":                            "varve: b is one argument too many: see varve check --help",
		"dump":                                 "varve: varve dump needs <file>: see varve dump --help",
		"backup x --timeout":                   "varve: --timeout needs a value",
		"backup x --timeout ab":                `varve: --timeout: expected a duration such as 30s or 1m30s, found "ab"`,
		"dump x --rows many":                   `varve: --rows: expected a whole number but got "many"`,
		"ingest -t t x --max-rejects -1":       `varve: --max-rejects: expected a whole number but got "-1"; perhaps try --max-rejects="-1"?`,
		"tail x --rows=-f":                     `varve: --rows: expected a whole number but got "-f"`,
		"sql --quiet=maybe":                    `varve: --quiet: expected true or false but got "maybe"`,
		"sql --color red":                      `varve: --color must be one of "auto","always","never" but got "red"`,
		"export --format xml":                  `varve: --format must be one of "csv","ndjson","json","arrow","parquet" but got "xml"`,
		"bench all-of-it":                      `varve: <what> must be one of "ingest","sql","promql","all" but got "all-of-it"`,
		"ingest -t t x --dry-run=0":            "varve: --dry-run 0: expected more than 0",
		"ingest -t t x --dry-run=-1":           "varve: --dry-run -1: expected more than 0",
		"ingest -t t x --retry-for=0s":         "varve: --retry-for 0s: expected more than 0",
		"ingest -t t x --max-nested-levels=-1": "varve: --max-nested-levels -1: expected more than 0",
		"ingest -t t x --connections=0":        "varve: --connections 0: expected more than 0",
		"ingest -t t x --max-rejects=-2":       "varve: --max-rejects -2: expected 0 or more",
		"ingest -t t --table":                  "varve: --table needs a value",
		"sql -e":                               "varve: --execute needs a value",
		"sql -e --quiet":                       "varve: --execute needs a value",
		"ingest -t -t x":                       "varve: --table needs a value",
		"ingest --table -dash x":               `varve: --table: expected a value but got "-dash"; perhaps try --table="-dash"?`,
		"ingest --table --nosuch x":            `varve: --table: expected a value but got "--nosuch"; perhaps try --table="--nosuch"?`,
		"backup x --timeout -1s":               `varve: --timeout: expected a duration but got "-1s"; perhaps try --timeout="-1s"?`,
		"ingest -t t x --batch=0":              "varve: --batch 0: expected more than 0",
		"config":                               "varve: varve config needs one of check, default, show: see varve config --help",
		"config shwo":                          "varve: there is no command config shwo. Did you mean varve config show?",
		"dump x -x":                            "varve: there is no flag -x",
	} {
		code, out, errs := command(strings.Fields(line)...)
		if code != exitUsage || out != "" || errs != want+"\n" {
			t.Errorf("%s: exit code %d\n got %s\nwant %s", line, code, errs, want)
		}
	}
}

// TestStartIsLight: before a command runs, packages make what they always need and little else, or help and completion
// would be slow. Bytes stand for time here; BenchmarkStart measures it.
func TestStartIsLight(t *testing.T) {
	c := program([]string{"GODEBUG=inittrace=1"}, "sql", "--help")
	var trace strings.Builder
	c.Stderr = &trace
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	// init varve/engine @3.1 ms, 0.37 ms clock, 119392 bytes, 800 allocs
	lines := regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes`).FindAllStringSubmatch(trace.String(), -1)
	ours := 0
	for _, line := range lines {
		n, err := strconv.Atoi(line[2])
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line[1], "varve/") {
			ours += n
		}
		if strings.HasPrefix(line[1], "varve/cmd/") && n > 64<<10 {
			t.Errorf("%s makes %d bytes before anything is asked", line[1], n)
		}
	}
	if len(lines) < 20 || ours > 2<<20 {
		t.Errorf("%d packages, ours make %d bytes before anything is asked:\n%s", len(lines), ours, &trace)
	}
}

// BenchmarkStart is the time of a command that does nothing but print its help.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		if err := program(nil, "sql", "--help").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
