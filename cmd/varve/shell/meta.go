package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/cmd/varve/client"
	"varve/engine/nearest"
)

// command is one that begins with a backslash.
type command struct {
	name, args string
	help       string
	offers     offers // for its first argument
	run        func(s *Shell, ctx context.Context, arg string) error
}

// offers are what may be typed as the argument of a command.
type offers uint8

const (
	offersNothing offers = iota
	offersTables
	offersDatabases
	offersFiles
	offersFormats
	offersWords
)

// commands lists them as \? does. Those that concern the begun statement are in meta.
func commands() []command {
	return []command{
		{`\?`, "", "this list", 0, (*Shell).listCommands},
		{`\h`, "[WORD]", "help of a statement or a function", offersWords, (*Shell).helpOf},
		{`\l`, "", "databases", 0, (*Shell).listDatabases},
		{`\c`, "[DB]", "change the database, or say which it is", offersDatabases, (*Shell).changeDatabase},
		{`\d`, "[TABLE]", "tables with rows, bytes and newest row; columns of a table and their roles", offersTables,
			(*Shell).describe},
		{`\d+`, "TABLE", "the same with the statement that makes it, span and files", offersTables,
			(*Shell).describeMore},
		{`\dp`, "", "pipelines", 0, (*Shell).listPipelines},
		{`\df`, "[PATTERN]", "functions", offersWords, (*Shell).listFunctions},
		{`\dm`, "[PATTERN]", "metrics", offersTables, (*Shell).listMetrics},
		{`\t`, "TABLE", "span and counts of a table", offersTables, (*Shell).span},
		{`\s`, "TABLE [N]", "the last rows of a table (10)", offersTables, (*Shell).sample},
		{`\top`, "TABLE COLUMN [N]", "the most frequent values (10) with counts and shares", offersTables,
			(*Shell).top},
		{`\hist`, "TABLE [SINCE]", "rows by time and level as a picture", offersTables, (*Shell).histogram},
		{`\x`, "[auto|on|off]", "print vertically; auto: where a table is wider than the terminal", 0,
			(*Shell).setVertical},
		{`\f`, "[FORMAT]", "change the format of results, or say which it is", offersFormats, (*Shell).setFormat},
		{`\types`, "", "types under the heads of tables", 0, (*Shell).toggleTypes},
		{`\timing`, "", "rows and times behind results", 0, (*Shell).toggleTiming},
		{`\tz`, "[ZONE]", "change the zone of times, or say which it is", 0, (*Shell).zoneCommand},
		{`\since`, "[TIME]", "what $from stands for in statements, such as 2h or 2026-11-21", 0, (*Shell).setSince},
		{`\watch`, "[SECONDS]", "run the last statement every 2 seconds until Ctrl-C", 0, (*Shell).watch},
		{`\tail`, "TABLE [SEARCH]", "rows of a table as they come, until Ctrl-C", offersTables, (*Shell).tail},
		{`\e`, "[FILE]", "edit the last statement, or a file, and run it", offersFiles, (*Shell).edit},
		{`\i`, "FILE", "run a file", offersFiles, (*Shell).include},
		{`\o`, "[FILE|'|' COMMAND]", "send results to a file or a command; without: back to the terminal", offersFiles,
			(*Shell).redirect},
		{`\p`, "QUERY", "a query of metrics from $from until now, as a table", offersTables, (*Shell).metrics},
		{`\plot`, "QUERY", "the same as a graph", offersTables, (*Shell).plot},
		{`\explain`, "", "the plan of the last statement", 0,
			func(s *Shell, ctx context.Context, _ string) error { return s.plan(ctx, "EXPLAIN") }},
		{`\analyze`, "", "run the last statement and show its plan with figures", 0,
			func(s *Shell, ctx context.Context, _ string) error { return s.plan(ctx, "ANALYZE") }},
		{`\g`, "", "run the statement; alone: the last one again", 0, nil},
		{`\G`, "", "the same, printed vertically", 0, nil},
		{`\r`, "", "forget the statement that is being typed", 0, nil},
		{`\!`, "[COMMAND]", "run a command of the system's shell", 0, (*Shell).system},
		{`\q`, "", "leave; also exit, quit and Ctrl-D", 0, nil},
	}
}

// meta runs a command. cut is where the begun statement is.
func (s *Shell) meta(ctx context.Context, text string, cut *splitter) error {
	name, arg, _ := strings.Cut(text, " ")
	name, arg = strings.TrimSuffix(name, ";"), strings.TrimSpace(arg)
	if strings.HasPrefix(name, `\!`) {
		name, arg = `\!`, strings.TrimSpace(text[2:])
	} else {
		arg = strings.TrimSpace(strings.TrimSuffix(arg, ";"))
	}
	switch name {
	case `\q`:
		return errQuit
	case `\r`:
		cut.reset()
		return nil
	case `\g`, `\G`:
		return s.again(ctx, s.chosen(name == `\G`))
	}
	all := commands()
	if name == `\e` && arg == "" && !cut.empty() {
		s.last = cut.reset()
	}
	if i := slices.IndexFunc(all, func(c command) bool { return c.name == name }); i >= 0 {
		return all[i].run(s, ctx, arg)
	}
	known := make([]string, len(all))
	for i, c := range all {
		known[i] = c.name
	}
	return usage(`%s is not known.%s \? lists the commands`, name, nearest.Hint(name, known))
}

// words are commands that people type who do not know ours yet.
var words = map[string]string{"help": `\?`, "?": `\?`, "exit": `\q`, "quit": `\q`}

// wordOf is the command that a text means which is nothing but such a word; empty: it is something else.
func wordOf(text string) string {
	return words[strings.ToLower(strings.TrimRight(strings.TrimSpace(text), "; "))]
}

// usage is an error of somebody who typed something wrong.
func usage(format string, args ...any) error {
	return &client.UsageError{Err: fmt.Errorf(format, args...)}
}

// again runs the last statement.
func (s *Shell) again(ctx context.Context, format string) error {
	if s.last == "" {
		return usage("no statement has run yet")
	}
	return s.statement(ctx, s.last, format)
}

// tqlBegins is how a query of metrics begins, whose plan is asked for in its own way.
var tqlBegins = client.Pattern(`(?i)^\s*tql\s+eval(uate)?\b`)

// plan shows that of the last statement: EXPLAIN, or ANALYZE with figures.
func (s *Shell) plan(ctx context.Context, word string) error {
	if s.last == "" {
		return usage("no statement has run yet")
	}
	if tqlBegins().MatchString(s.last) {
		return s.statement(ctx, tqlBegins().ReplaceAllString(s.last, "TQL "+word), "vertical")
	}
	if word == "ANALYZE" {
		word = "EXPLAIN ANALYZE"
	}
	return s.statement(ctx, word+" "+s.last, "vertical")
}

// show writes lines as a result.
func (s *Shell) show(text string) error {
	to, end := s.results(func() {})
	_, err := to.Write([]byte(text))
	err = errors.Join(err, end())
	if errors.Is(err, errLeft) {
		return nil
	}
	return err
}

// note says something that is no result.
func (s *Shell) note(format string, args ...any) error {
	_, err := fmt.Fprintf(s.o.Notes, format+"\n", args...)
	return err
}

func (s *Shell) listCommands(context.Context, string) error {
	var b strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&b, "%-28s %s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	b.WriteString("\nStatements end with a semicolon. $from and $to in them stand for the times of \\since and now.\n")
	return s.show(b.String())
}

func (s *Shell) changeDatabase(ctx context.Context, arg string) error {
	if arg == "" {
		return s.note("%s", s.db)
	}
	name := strings.Trim(arg, "\"`")
	return s.statement(ctx, "USE "+client.Name(name), s.format)
}

func (s *Shell) setVertical(_ context.Context, arg string) error {
	switch arg {
	case "":
		s.vertical, s.look.autoVertical = !s.vertical, false
	case "on", "off":
		s.vertical, s.look.autoVertical, s.look.fit = arg == "on", false, false
	case "auto":
		s.vertical, s.look.autoVertical = false, true
	default:
		return usage(`\x %s: auto, on or off is wanted`, arg)
	}
	switch {
	case s.vertical:
		return s.note("results are printed vertically")
	case s.look.autoVertical:
		return s.note("results wider than the terminal are printed vertically")
	}
	return s.note("results are printed as %s", s.format)
}

func (s *Shell) setFormat(_ context.Context, arg string) error {
	if arg == "" {
		return s.note("%s; there are %s", s.format, strings.Join(Formats, ", "))
	}
	if !KnownFormat(arg) {
		return usage(`\f %s: expected one of %s`, arg, strings.Join(Formats, ", "))
	}
	s.format, s.vertical = arg, false
	return nil
}

func (s *Shell) toggleTypes(context.Context, string) error {
	s.look.types = !s.look.types
	return s.note("types are %s", shown(s.look.types))
}

func (s *Shell) toggleTiming(context.Context, string) error {
	s.footer = !s.footer
	return s.note("rows and times are %s", shown(s.footer))
}

func shown(yes bool) string {
	if yes {
		return "shown"
	}
	return "not shown"
}

func (s *Shell) zoneCommand(_ context.Context, arg string) error {
	if arg != "" {
		if err := s.setZone(arg); err != nil {
			return err
		}
	}
	return s.note("times are those of %s", s.zoneName)
}

// defaultSince is what $from stands for at first.
const defaultSince = "1h"

func (s *Shell) setSince(_ context.Context, arg string) error {
	if arg != "" {
		if _, err := client.Instant(`\since`, arg, s.zone, time.Now()); err != nil {
			return err
		}
		s.since = arg
	}
	from, _, err := s.rangeNow()
	if err != nil {
		return err
	}
	return s.note("$from is %s (%s)", s.since, from.In(s.zone).Format("2006-01-02 15:04:05 -07:00"))
}

// rangeNow is what $from and $to stand for.
func (s *Shell) rangeNow() (from, to time.Time, err error) {
	to = time.Now()
	at, err := client.Instant(`\since`, s.since, s.zone, to)
	if err != nil {
		return from, to, err
	}
	if at == nil { // all
		return time.Unix(0, 0), to, nil
	}
	return *at, to, nil
}

// fill puts times in the place of $from and $to.
func (s *Shell) fill(text string) (string, error) {
	if !strings.Contains(text, "$from") && !strings.Contains(text, "$to") {
		return text, nil
	}
	from, to, err := s.rangeNow()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	cut := newSplitter()
	cut.add([]byte(text))
	for cut.at < len(text) {
		at := cut.at
		if cut.quote != 0 {
			cut.inside()
			b.WriteString(text[at:cut.at])
			continue
		}
		if name, value := placeholder(text[at:], from, to); name != "" {
			b.WriteString(value)
			cut.at += len(name)
			continue
		}
		cut.token(text[at])
		b.WriteString(text[at:cut.at])
	}
	return b.String(), nil
}

// placeholder is that which a text begins with, and its value.
func placeholder(text string, from, to time.Time) (name, value string) {
	for name, at := range map[string]time.Time{"$from": from, "$to": to} {
		rest, found := strings.CutPrefix(text, name)
		if found && (rest == "" || !isNameByte(rest[0])) {
			return name, "'" + at.UTC().Format("2006-01-02T15:04:05.000Z") + "'"
		}
	}
	return "", ""
}

// isNameByte reports whether a byte may stand within a name.
func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// number reads the last argument of a command; without one it is def.
func number(arg string, def int) (int, error) {
	if arg == "" {
		return def, nil
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n <= 0 {
		return 0, usage("%s: expected a number above zero", arg)
	}
	return n, nil
}
