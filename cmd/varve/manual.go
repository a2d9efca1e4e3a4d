package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// The manual is made of the command model: docs/cli.md and the page of man are two forms of it.

// block is a part of the manual.
type block struct {
	kind blockKind
	text string
	// terms of a list, with what they mean.
	terms [][2]string
}

type blockKind int

const (
	heading blockKind = iota
	subheading
	paragraph
	code // lines as they are
	list
)

// connection is the group of the flags that all commands have that talk to a server: the manual tells them once.
const connection = "Connection:"

// manual is the whole manual.
func manual(model *kong.Application) []block {
	m := []block{
		{kind: paragraph,
			text: "varve is one program: the server, its clients and its tools for files. Results go to standard " +
				"output, all else to standard error, so that a result can be sent to a file or another program. " +
				"Flags may stand before or behind arguments; -- ends flags, - is standard input or output. What is " +
				"asked is asked on a terminal only, and --yes answers it."},
		{kind: code, text: "varve COMMAND [flags] [arguments]\nvarve help [COMMAND]      varve COMMAND --help"},
	}
	for _, group := range commandGroups(model) {
		m = append(m, block{kind: heading, text: strings.TrimSuffix(group[0].Group.Title, ":")})
		for _, command := range group {
			m = append(m, manualOf(command)...)
		}
	}
	for _, command := range model.Leaves(true) {
		if flags := flagTerms(command, true); len(flags) > 0 {
			m = append(m, block{kind: heading, text: "Connection"},
				block{kind: paragraph,
					text: "Commands that talk to a server have these flags besides. A flag comes before the variable " +
						"of the environment, this before the profile, it before the default."}, block{kind: list,
					terms: flags})
			break
		}
	}
	return append(m, commonPages()...)
}

// commandGroups are the commands by group, in the order of the model.
func commandGroups(model *kong.Application) (groups [][]*kong.Node) {
	for _, command := range model.Leaves(true) {
		top := command
		for top.Parent != nil && top.Parent.Type != kong.ApplicationNode {
			top = top.Parent
		}
		command.Group = top.Group
		at := slices.IndexFunc(groups, func(g []*kong.Node) bool { return g[0].Group.Key == top.Group.Key })
		if at < 0 {
			groups, at = append(groups, nil), len(groups)
		}
		groups[at] = append(groups[at], command)
	}
	return groups
}

// manualOf tells of one command.
func manualOf(command *kong.Node) []block {
	m := []block{
		{kind: subheading, text: command.FullPath()},
		{kind: paragraph, text: command.Help},
		{kind: code, text: "varve " + command.Summary()},
	}
	for part := range strings.SplitSeq(command.Detail, "\n\n") {
		switch {
		case strings.TrimSpace(part) == "":
		case strings.HasPrefix(part, "  "):
			m = append(m, block{kind: code, text: strings.Join(exampleLines(part), "\n")})
		default:
			m = append(m, block{kind: paragraph, text: strings.Join(strings.Fields(part), " ")})
		}
	}
	var terms [][2]string
	for _, p := range command.Positional {
		terms = append(terms, [2]string{p.Summary(), p.Help})
	}
	if terms = append(terms, flagTerms(command, false)...); len(terms) > 0 {
		m = append(m, block{kind: list, terms: terms})
	}
	if len(flagTerms(command, true)) > 0 {
		m = append(m, block{kind: paragraph, text: "Flags of the connection: see Connection."})
	}
	return m
}

// exampleLines are the lines of help texts that are indented.
func exampleLines(detail string) (lines []string) {
	for line := range strings.Lines(detail) {
		if strings.HasPrefix(line, "  ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// flagTerms are the flags of a command: those of the connection, or the others.
func flagTerms(command *kong.Node, ofConnection bool) (terms [][2]string) {
	for _, level := range command.AllFlags(true) {
		for _, f := range level {
			if f.Name == "help" || (f.Group != nil && f.Group.Key == connection) != ofConnection {
				continue
			}
			name := "--" + f.Name
			if f.Short != 0 {
				name = "-" + string(f.Short) + ", " + name
			}
			if !f.IsBool() && !f.IsCounter() {
				name += "=" + cmp.Or(f.PlaceHolder, f.Default, strings.ToUpper(f.Name))
			}
			help := f.Help
			for _, variable := range f.Envs {
				help += " Environment: " + variable + "."
			}
			terms = append(terms, [2]string{name, help})
		}
	}
	return terms
}

// commonPages are what all commands have in common.
func commonPages() []block {
	return []block{
		{kind: heading, text: "Exit codes"},
		{kind: list, terms: [][2]string{
			{"0", "done; also: a server or tail ended by a signal as asked, or the reader of the output left"},
			{"1", "the operation failed: an error of the server or of a file, or a difference was found"},
			{"2", "wrong usage, bad configuration, a document or statement that does not compile here"},
			{"3", "done in part: rejects were written, some files failed"},
			{"4", "the server cannot be reached, or did not answer within the time allowed"},
			{"5", "not signed in, or not allowed"},
			{"6", "damage was found"},
			{"130, 143", "ended by Ctrl-C, by SIGTERM, before the end"},
		}},
		{kind: paragraph, text: "varve vrl has codes of its own, see there."},
		{kind: heading, text: "Environment"},
		{kind: list, terms: [][2]string{
			{"VARVE_URL, VARVE_USER, VARVE_PASSWORD, VARVE_PASSWORD_FILE, VARVE_DB, VARVE_PROFILE, VARVE_TIMEZONE",
				"what flags of clients do not say"},
			{"VARVE_CONFIG", "the configuration file of serve"},
			{"VARVE_<SECTION>__<KEY>, VARVE_<KEY>",
				"keys of the configuration of serve: varve config default has them all"},
			{"VARVE_HISTORY",
				"the file with the statements that sql was asked; default: varve/history in XDG_STATE_HOME"},
			{"XDG_CONFIG_HOME, XDG_STATE_HOME",
				"where varve/client.toml lies, and what varve remembers; default: ~/.config, ~/.local/state"},
			{"PAGER, EDITOR, NO_COLOR, TERM",
				"as usual: what shows long results of sql, what edits its statements, whether there are colours"},
			{"NOTIFY_SOCKET, WATCHDOG_USEC", "where serve tells the service manager how it is"},
			{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY, SSL_CERT_FILE", "as usual"},
		}},
		{kind: heading, text: "Profiles"},
		{kind: paragraph,
			text: "varve/client.toml in the directory of configuration names servers. --profile or VARVE_PROFILE " +
				"chooses one, default the one that holds otherwise. User and password of a profile are told to its " +
				"own address only, whatever address a flag or the environment names. A file that holds a password " +
				"and that others can read is refused."},
		{kind: code, text: strings.TrimSpace(`
default = "local"

[local]
url = "http://127.0.0.1:4000"

[prod]
url = "https://logs.example.com"
user = "ops"
password_command = "pass show varve/prod"   # or password_file, or password
ca_file = "/etc/ssl/internal.pem"
db = "logs"
timezone = "Europe/Berlin"
production = true                           # be careful there
`)},
	}
}

// markdown is the manual as a document.
func markdown(blocks []block) string {
	var b strings.Builder
	b.WriteString(
		"# The command line\n\n<!-- Made of the command model: go test ./cmd/varve -run Manual -update -->\n\nAfter " +
			"this page you can look up every command, its flags and its exit codes.\n")
	for _, m := range blocks {
		b.WriteByte('\n')
		switch m.kind {
		case heading:
			fmt.Fprintf(&b, "## %s\n", m.text)
		case subheading:
			fmt.Fprintf(&b, "### %s\n", m.text)
		case paragraph:
			fmt.Fprintf(&b, "%s\n", escapeMarkdown(m.text))
		case code:
			fmt.Fprintf(&b, "```sh\n%s\n```\n", m.text)
		case list:
			b.WriteString("| | |\n|---|---|\n")
			for _, t := range m.terms {
				fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(t[0], "|", `\|`), escapeMarkdown(t[1]))
			}
		}
	}
	return b.String()
}

// escapeMarkdown shows a text of help as it is.
func escapeMarkdown(text string) string {
	return strings.NewReplacer("<", "&lt;", "|", `\|`, "*", `\*`, "`", "\\`", "_", `\_`).Replace(text)
}

// roff is the manual as a page of man.
func roff(blocks []block) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		".TH VARVE 1 \"\" \"varve %s\" \"\"\n.SH NAME\nvarve \\- a database server for logs, metrics and traces\n.SH "+
			"DESCRIPTION\n", version)
	for _, m := range blocks {
		switch m.kind {
		case heading:
			fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(escapeRoff(m.text)))
		case subheading:
			fmt.Fprintf(&b, ".SS %s\n", escapeRoff(m.text))
		case paragraph:
			fmt.Fprintf(&b, ".PP\n%s\n", escapeRoff(m.text))
		case code:
			fmt.Fprintf(&b, ".PP\n.nf\n.RS 4\n%s\n.RE\n.fi\n", escapeRoff(m.text))
		case list:
			for _, t := range m.terms {
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", escapeRoff(t[0]), escapeRoff(cmp.Or(t[1], " ")))
			}
		}
	}
	return b.String()
}

// escapeRoff shows a text as it is: a line that begins with a point or a quote would be a request, and minus signs of
// flags are not hyphens.
func escapeRoff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
