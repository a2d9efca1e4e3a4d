package main

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type helpCommand struct {
	Man     bool     `help:"Print the manual page (roff)."`
	Command []string `arg:"" optional:"" help:"The command to explain."`
}

// examples is the end of a help text; each line is a command line that is understood.
func examples(lines ...string) string {
	return "Examples:\n\n  " + strings.Join(lines, "\n  ")
}

// Help is what varve serve --help says besides.
func (serveCommand) Help() string {
	return "Flags come before variables (VARVE_HTTP__ADDR), these before the file, it before the defaults; " +
		"docs/config.md has all keys.\n" +
		"SIGTERM and Ctrl-C finish what is being answered and write what is in memory; SIGHUP reads certificates, " +
		"users, files of rules and the log level again; SIGUSR1 makes a standby take over.\n\n" +
		examples("varve serve --data-dir /var/lib/varve --http-addr 0.0.0.0:4000",
			"varve serve --config varve.toml --set wal.sync=interval")
}

// Help is what varve vrl --help says besides.
func (vrlCommand) Help() string {
	return "Exit codes: 1 wrong usage, 2 the script does not compile, 3 a run failed.\n\n" +
		examples("varve vrl --program parse.vrl --input events.ndjson --print event",
			"tail -1 app.log | varve vrl --program parse.vrl --print full")
}

// Help is what varve check --help says besides.
func (checkCommand) Help() string {
	return "Exit code 6: there is damage.\n\n" +
		examples("varve check /var/lib/varve", "varve check /var/lib/varve --deep --json",
			"varve check /var/lib/varve --cold --config /etc/varve/varve.toml")
}

// Help is what varve dump --help says besides.
func (dumpCommand) Help() string {
	return examples("varve dump data/MANIFEST", "varve dump data/parts/00000001.part --section columns",
		"varve dump data/wal/000001.wal --hex")
}

// Help is what varve backup --help says besides.
func (backupCommand) Help() string {
	return "Rows that were acknowledged before it began are in it, later ones are not.\n\n" +
		examples("varve backup /backup/monday", "varve backup /backup/tuesday --base /backup/monday",
			"varve backup - --tables public.app | zstd > app.tar.zst",
			"varve backup /backup/old --data /var/lib/varve-old")
}

// Help is what varve restore --help says besides.
func (restoreCommand) Help() string {
	return examples("varve restore /backup/monday --data /var/lib/varve", "varve restore /backup/monday --check",
		"varve restore --from s3://logs/varve --wal-dir /old/wal --data /var/lib/varve",
		"zstd -dc app.tar.zst | varve restore - --data /var/lib/varve --tables public.app")
}

// Help is what varve help --help says besides.
func (helpCommand) Help() string { return examples("varve help serve", "varve help --man > varve.1") }

// Run prints the manual; help of commands is printed by the parser.
func (helpCommand) Run(line *kong.Context, s streams) error {
	_, err := io.WriteString(s.out, roff(manual(line.Model)))
	return err
}

// isHelp reports whether the parser answers a command line that begins with help.
func isHelp(args []string) bool { return args[0] == "help" && !slices.Contains(args, "--man") }
