package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"varve/cmd/varve/client"
	"varve/cmd/varve/pipe"
)

// The scripts ask varve __complete for what may come next.
var (
	//go:embed completion/varve.bash
	bashCompletion string
	//go:embed completion/_varve
	zshCompletion string
	//go:embed completion/varve.fish
	fishCompletion string
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// completeCommand tells the scripts of shells what may come next.
type completeCommand struct {
	Words []string `arg:"" optional:"" help:"The words behind varve, the last one as far as it is typed."`
}

// Help is what varve completion --help says besides.
func (completionCommand) Help() string {
	return "Tables, databases, pipelines and profiles are completed as well, where the server answers at once.\n\n" +
		examples("varve completion bash > /etc/bash_completion.d/varve", "varve completion zsh > ~/.zfunc/_varve",
			"varve completion fish > ~/.config/fish/completions/varve.fish")
}

func (c *completionCommand) Run(s streams) error {
	_, err := io.WriteString(s.out,
		map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell])
	return err
}

// Run prints what may come next, a line each: the word, a tab, and what it means; or :files or :dirs where names of
// these do.
func (c *completeCommand) Run(io streams) error {
	words := c.Words
	if len(words) == 0 {
		words = []string{""}
	}
	t := typed{environ: io.environ, flags: map[string]string{}}
	for _, o := range t.complete(words) {
		line := o.word
		if o.about != "" {
			line += "\t" + o.about
		}
		if _, err := fmt.Fprintln(io.out, line); err != nil {
			return err
		}
	}
	return nil
}

// offer is a word that may come next.
type offer struct{ word, about string }

// Offers of names that the shell knows.
var (
	files = []offer{{word: ":files"}}
	dirs  = []offer{{word: ":dirs"}}
)

// Statements that ask for names; %s is the database.
const (
	askTables    = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s ORDER BY table_name LIMIT 1000"
	askDatabases = "SELECT schema_name FROM information_schema.schemata ORDER BY schema_name LIMIT 1000"
	askPipelines = "SELECT name FROM service_private.pipelines GROUP BY name ORDER BY name"
)

// typed is what of a command line is typed.
type typed struct {
	environ []string
	node    *kong.Node
	flags   map[string]string // by name: those with their values
	args    []string          // behind the last command
}

// complete offers what may stand in place of the last word.
func (t *typed) complete(words []string) []offer {
	var line commandLine
	exited := -1
	t.node = newParser(&line, streams{out: io.Discard, err: io.Discard}, &exited).Model.Node
	last := words[len(words)-1]
	open, ended := t.read(words[:len(words)-1])
	switch {
	case open != nil:
		return matching(last, "", t.values(open))
	case !ended && strings.HasPrefix(last, "-"):
		if name, value, found := strings.Cut(last, "="); found {
			if f := t.flag(name); f != nil {
				return matching(value, name+"=", t.values(f))
			}
			return nil
		}
		return t.offerFlags(last)
	case len(t.node.Children) > 0:
		return matching(last, "", commandsOf(t.node))
	}
	if t.node.Name == "help" {
		return t.helped(last)
	}
	return matching(last, "", t.argument())
}

// read takes the words before the last. open is a flag that waits for its value; ended says that no flags come any
// more.
func (t *typed) read(words []string) (open *kong.Flag, ended bool) {
	for _, word := range words {
		switch {
		case open != nil:
			t.flags[open.Name] = word
			open = nil
		case word == "--" && !ended:
			ended = true
		case !ended && len(word) > 1 && word[0] == '-':
			name, value, found := strings.Cut(word, "=")
			f := t.flag(name)
			switch {
			case f == nil:
			case found:
				t.flags[f.Name] = value
			case f.IsBool() || f.IsCounter():
				t.flags[f.Name] = "true"
			default:
				open = f
			}
		default:
			if child := childOf(t.node, word); child != nil {
				t.node = child
			} else {
				t.args = append(t.args, word)
			}
		}
	}
	return open, ended
}

func childOf(n *kong.Node, name string) *kong.Node {
	for _, child := range n.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flag finds a flag as it is typed; of short ones that stand together it is the last.
func (t *typed) flag(word string) *kong.Flag {
	for _, level := range t.node.AllFlags(false) {
		for _, f := range level {
			if "--"+f.Name == word || f.Short != 0 && !strings.HasPrefix(word, "--") &&
				strings.HasSuffix(word, string(f.Short)) {
				return f
			}
		}
	}
	return nil
}

func (t *typed) offerFlags(typed string) (offers []offer) {
	for _, level := range t.node.AllFlags(true) {
		for _, f := range level {
			if _, given := t.flags[f.Name]; !given || f.IsSlice() || f.IsMap() {
				offers = append(offers, offer{"--" + f.Name, f.Help})
			}
		}
	}
	return matching(typed, "", offers)
}

func commandsOf(n *kong.Node) (offers []offer) {
	for _, child := range n.Children {
		if !child.Hidden {
			offers = append(offers, offer{child.Name, child.Help})
		}
	}
	return offers
}

// helped offers the commands that help may explain.
func (t *typed) helped(last string) []offer {
	node := t.node.Parent
	for _, word := range t.args {
		if node = childOf(node, word); node == nil {
			return nil
		}
	}
	return matching(last, "", commandsOf(node))
}

// matching are the offers that begin with what is typed, behind a prefix.
func matching(typed, prefix string, offers []offer) (list []offer) {
	for _, o := range offers {
		if strings.HasPrefix(o.word, ":") { // names that the shell completes
			return offers
		}
		if strings.HasPrefix(o.word, typed) {
			list = append(list, offer{prefix + o.word, o.about})
		}
	}
	return list
}

// valuesOf offers the values of an enumeration.
func valuesOf(enum string) (offers []offer) {
	for value := range strings.SplitSeq(enum, ",") {
		offers = append(offers, offer{word: value})
	}
	return offers
}

// values offers what a flag may be set to.
func (t *typed) values(f *kong.Flag) (offers []offer) {
	if f.Enum != "" {
		return valuesOf(f.Enum)
	}
	switch {
	case f.Name == "profile":
		return named(client.Profiles(t.environ))
	case f.Name == "table" || f.Name == "tables":
		return t.ask(askTables)
	case f.Name == "db":
		return t.ask(askDatabases)
	case f.Name == "pipeline":
		return t.ask(askPipelines)
	case f.Name == "version" && len(t.args) > 0:
		return t.versions(t.args[0])
	case strings.Contains(f.PlaceHolder, "FILE"):
		return files
	case strings.Contains(f.PlaceHolder, "DIR"):
		return dirs
	}
	return nil
}

// argument offers what the argument that is typed may be.
func (t *typed) argument() (offers []offer) {
	at := min(len(t.args), len(t.node.Positional)-1)
	if at < 0 || at < len(t.args) && !t.node.Positional[at].IsCumulative() {
		return nil
	}
	p := t.node.Positional[at]
	if p.Enum != "" {
		return valuesOf(p.Enum)
	}
	switch p.Name {
	case "table":
		return t.ask(askTables)
	case "dir":
		return dirs
	case "versions":
		return t.versions(t.args[0])
	case "name":
		if t.node.Parent.Name == "pipeline" {
			return t.ask(askPipelines)
		}
		return nil
	}
	return files
}

// named offers names, but for those that no line can hold or that would be taken for something else.
func named(names []string) (offers []offer) {
	for _, name := range names {
		if name != "" && name[0] != ':' && name[0] != '-' && !strings.ContainsFunc(name, unicode.IsControl) {
			offers = append(offers, offer{word: name})
		}
	}
	return offers
}

// patience is how long a shell waits for names that the server knows.
const patience = 300 * time.Millisecond

// server is that of the flags that are typed, which is not asked for long; nil: none can be asked without asking the
// user.
func (t *typed) server() *client.Client {
	f := client.Flags{URL: t.flags["url"], User: t.flags["user"], Profile: t.flags["profile"],
		PasswordFile: t.flags["password-file"], CAFile: t.flags["ca-file"], Timeout: patience,
		Insecure: t.flags["insecure"] != ""}
	c, err := f.ConnectUnasked(t.environ)
	if err != nil {
		return nil
	}
	return c
}

// ask offers the first column of what a statement gives, whose %s is the database.
func (t *typed) ask(statement string) (offers []offer) {
	c := t.server()
	if c == nil {
		return nil
	}
	db := c.DB
	if given := t.flags["db"]; given != "" {
		db = given
	}
	if strings.Contains(statement, "%s") {
		statement = fmt.Sprintf(statement, client.Text(db))
	}
	answer, err := c.Query(context.Background(), db, statement)
	if err != nil {
		return nil
	}
	var names []string
	for _, row := range answer.Rows {
		names = append(names, fmt.Sprint(row[0]))
	}
	return named(names)
}

func (t *typed) versions(name string) []offer {
	c := t.server()
	if c == nil {
		return nil
	}
	list, err := pipe.Server{Client: c}.Versions(context.Background(), name)
	if err != nil {
		return nil
	}
	for i, v := range list { // without the blank, which a shell would escape
		list[i] = strings.Replace(v, " ", "T", 1)
	}
	slices.Reverse(list)
	return named(list)
}
