package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"varve/cmd/varve/client"
	"varve/docs"
	"varve/server/auth"
)

type configCommand struct {
	Check   configCheckCommand   `cmd:"" help:"Say whether a configuration file would be taken."`
	Default configDefaultCommand `cmd:"" help:"Print a configuration file with all keys, commented out with their defaults."`
	Show    configShowCommand    `cmd:"" help:"Print the configuration of the running server."`
}

type configCheckCommand struct {
	File string `arg:"" help:"The configuration file (TOML)."`
}

type configDefaultCommand struct{}

type configShowCommand struct{ client.Flags }

// Help is what varve config check --help says besides.
func (configCheckCommand) Help() string {
	return "Users, and certificates of addresses that the file names, are read as well. Exit code 2: a server would not start " +
		"with it.\n\n" +
		examples("varve config check /etc/varve/varve.toml")
}

// Help is what varve config default --help says besides.
func (configDefaultCommand) Help() string { return examples("varve config default > varve.toml") }

// Help is what varve config show --help says besides.
func (configShowCommand) Help() string {
	return "Passwords are masked. Where the server has users, it is for those who may read and write.\n\n" +
		examples("varve config show", "varve config show --profile prod")
}

func (c *configCheckCommand) Run(s streams) error {
	config, err := readConfig(c.File, nil, nil)
	if err != nil {
		return err
	}
	if err = config.check(); err == nil && config.UserProvider != "" {
		_, err = auth.Open(config.UserProvider, slog.New(slog.DiscardHandler))
	}
	if err == nil {
		_, err = config.certificates()
	}
	if err != nil {
		return &configError{fmt.Sprintf("%s: %v", c.File, err)}
	}
	_, err = fmt.Fprintf(s.out, "%s: a server starts with it\n", c.File)
	return err
}

func (c *configShowCommand) Run(ctx context.Context, s streams) error {
	server, err := c.Connect(s.environ, s.err)
	if err != nil {
		return err
	}
	resp, err := server.Do(ctx, client.Request{Path: "/config"})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(s.out, resp.Body)
	return err
}

// Run prints the default file. What the keys mean is what docs/config.md says.
func (configDefaultCommand) Run(s streams) error {
	w := bufio.NewWriter(s.out)
	fmt.Fprintf(w,
		"# Configuration of varve serve. Every key stands here with its default; remove the # before those that are "+
			"to differ.\n")
	meanings := keyMeanings(docs.Config)
	printKeys(w, new(Config).keys(), func(k *key, name string) {
		k.reset()
		fmt.Fprintln(w)
		for _, line := range fold(meanings[k.name], 118) {
			fmt.Fprintf(w, "# %s\n", line)
		}
		fmt.Fprintf(w, "#%s = %s\n", name, k.print())
	})
	return w.Flush()
}

// link is a link of a document.
var link = client.Pattern(`\[([^]]*)\]\(([^)]*)\)`)

// keyMeanings reads the table of keys of docs/config.md: what each means, as plain text.
func keyMeanings(document string) map[string]string {
	meanings := map[string]string{}
	for line := range strings.Lines(document) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		text := strings.TrimSpace(strings.Join(cells[3:len(cells)-1], "|"))
		text = link().ReplaceAllString(text, "docs/$2")
		meanings[strings.Trim(cells[1], " `")] = strings.ReplaceAll(text, "`", "")
	}
	return meanings
}

// fold breaks a text into lines of at most a width where it has blanks.
func fold(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
