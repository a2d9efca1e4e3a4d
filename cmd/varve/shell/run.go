package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"varve/cmd/varve/client"
	"varve/engine/timefmt"
	"varve/sqlexec/parse"
)

// errQuit is what \q returns.
var errQuit = errors.New("quit")

// script runs the pieces of a text.
func (s *Shell) script(ctx context.Context, name string, text io.Reader) error {
	in, cut := bufio.NewReaderSize(text, 64<<10), newSplitter()
	for end := false; !end; {
		if err := readLine(in, cut); err == io.EOF {
			end = true
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for p, ok := cut.next(end); ok; p, ok = cut.next(end) {
			err := s.piece(ctx, p, cut)
			if errors.Is(err, errQuit) {
				return nil
			}
			if err = s.passOver(ctx, name, p, err); err != nil {
				return err
			}
		}
		if len(cut.buf) > parse.MaxText {
			return fmt.Errorf("%s: the statement of line %d is longer than %d bytes", name, cut.line, parse.MaxText)
		}
	}
	return nil
}

// passOver says what failed: as an error, or as a note where the script goes on.
func (s *Shell) passOver(ctx context.Context, name string, p piece, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if err = at(name, p, err); !s.o.KeepGoing || !passable(err) {
		return err
	}
	s.failed++
	fmt.Fprintf(s.o.Notes, "varve: %s\n", client.Line(err))
	return nil
}

// readLine gives the splitter the next line, or the rest of the text and io.EOF.
func readLine(in *bufio.Reader, cut *splitter) error {
	for {
		part, err := in.ReadSlice('\n')
		cut.add(part)
		if err != bufio.ErrBufferFull || len(cut.buf) > parse.MaxText {
			return err
		}
	}
}

// at says where in a script the piece stands that failed.
func at(name string, p piece, err error) error {
	if name == "" || strings.HasPrefix(name, "-e") && p.line == 1 {
		return err
	}
	return fmt.Errorf("%s: line %d: %w", name, p.line, err)
}

// passable reports whether the next statement may go better.
func passable(err error) bool {
	var unreachable *client.UnreachableError
	var refused *client.RefusedError
	var answer *client.AnswerError
	switch {
	case errors.As(err, &unreachable):
		return false
	case errors.As(err, &refused):
		return errors.As(err, &answer) && answer.Status == http.StatusForbidden
	}
	return !errors.Is(err, syscall.EPIPE)
}

// piece runs a statement or a meta command. cut is where the begun statement is.
func (s *Shell) piece(ctx context.Context, p piece, cut *splitter) error {
	if word := wordOf(p.text); word != "" {
		return s.meta(ctx, word, cut)
	}
	if p.meta {
		return s.meta(ctx, p.text, cut)
	}
	s.last = p.text
	return s.statement(ctx, p.text, s.chosen(p.vertical))
}

// chosen is the format that holds; vertical says that the statement asks for that.
func (s *Shell) chosen(vertical bool) string {
	if vertical || s.vertical {
		return "vertical"
	}
	return s.format
}

// statement runs one statement and prints its result.
func (s *Shell) statement(ctx context.Context, text, format string) error {
	text, err := s.fill(text)
	if err != nil {
		return err
	}
	if err := s.allowed(ctx, text); err != nil {
		return err
	}
	begun := time.Now()
	out := outcome{serverMS: -1}
	stop := s.progress(&out)
	to, end := s.results(stop)
	err = s.query(ctx, text, format, to, &out)
	stop()
	if ended := end(); err == nil {
		err = ended
	}
	switch {
	case errors.Is(err, errLeft):
		return nil
	case err != nil:
		return explain(err, &out)
	case s.footer && !isPassed(format):
		fmt.Fprintln(s.o.Notes, footer(&out, time.Since(begun)))
	}
	return s.follow(text)
}

// progress begins to say how long a statement runs, where somebody waits for it.
func (s *Shell) progress(out *outcome) (stop func()) {
	if !s.asking {
		return func() {}
	}
	return progress(s.o.Notes, out.rows.Load)
}

// results is where the result of a statement goes, and what ends it. began is called before anything appears on the
// terminal.
func (s *Shell) results(began func()) (to io.Writer, end func() error) {
	if s.out != nil {
		return s.out, func() error { return nil }
	}
	if s.o.Size == nil {
		return s.o.Out, func() error { return nil }
	}
	columns, rows := s.o.Size()
	s.look.terminal = columns
	if s.o.Pager == "" || rows <= 0 {
		rows = 1 // nothing is held back
	}
	p := &pager{out: s.o.Out, rows: rows, command: s.o.Pager, notes: s.o.Notes, began: began, keys: s.keys}
	return p, p.Close
}

// allowed refuses statements that change something where nothing may be changed, and asks before they destroy something
// in production.
func (s *Shell) allowed(ctx context.Context, text string) error {
	word := firstWord(text)
	switch {
	case s.o.ReadOnly != "" && (!givesRows(text) || word == "admin") && word != "use" && word != "set":
		return &client.UsageError{Err: fmt.Errorf("%s: %s is refused", s.o.ReadOnly, strings.ToUpper(word))}
	case s.asking && s.o.Production && (word == "drop" || word == "truncate" || word == "delete"):
		defer s.keys.lend()()
		yes, err := s.o.Confirm(ctx, fmt.Sprintf("%s is production. Run %.60q?", s.o.Label, text))
		if err == nil && !yes {
			err = errors.New("not run")
		}
		return err
	}
	return nil
}

// query sends a statement and prints what comes back.
func (s *Shell) query(ctx context.Context, text, format string, to io.Writer, out *outcome) error {
	form := url.Values{"sql": {text}, "db": {s.db}}
	pass := isPassed(format) && (format == "null" || givesRows(text))
	if pass {
		form.Set("format", passed[format])
	} else {
		form.Set("non_finite", "text")
	}
	r := client.Statement(form)
	r.Header.Set("X-Service-Timezone", s.zoneName)
	resp, err := s.o.Client.Do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if pass {
		return s.pass(resp.Body, to)
	}
	if ms, err := strconv.ParseInt(resp.Header.Get("X-Service-Execution-Time"), 10, 64); err == nil {
		out.serverMS = ms
	}
	zone := s.zone
	if s.rawTimes {
		zone = nil
	}
	err = readAnswer(resp.Body, func(c client.Column) column { return newColumn(c, zone) }, newSink(format, s.look, to),
		out)
	return s.broken(err)
}

// pass copies an answer that the server has written in the format that is wanted.
func (s *Shell) pass(body io.Reader, to io.Writer) error {
	buf := make([]byte, pieceBytes)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return s.broken(err)
		}
	}
}

// broken tells an answer that broke off from what could not be written and from what is no answer.
func (s *Shell) broken(err error) error {
	var sunk *sinkError
	switch {
	case err == nil || errors.Is(err, errNoAnswer):
		return err
	case errors.As(err, &sunk):
		return sunk.error
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &client.UnreachableError{Base: s.o.Client.Base,
			Cause: errors.New("no whole answer within the time of --timeout")}
	}
	return &brokenError{&client.UnreachableError{Base: s.o.Client.Base, Cause: err}}
}

// brokenError is an answer that ended in the middle: the query failed after it had begun to answer, or the connection
// did.
type brokenError struct{ cause *client.UnreachableError }

func (e *brokenError) Error() string {
	return fmt.Sprintf(
		"the answer of %s broke off: %v. The query failed while it was answered, or the server stopped; its log says more", e.cause.Base, e.cause.Cause)
}
func (e *brokenError) Unwrap() error { return e.cause }

// explain says of an answer that broke off how much there was of it.
func explain(err error, out *outcome) error {
	var broken *brokenError
	if errors.As(err, &broken) {
		return fmt.Errorf("after %s %w", client.Plural(out.rows.Load(), "row"), err)
	}
	return err
}

// footer says what a statement came to.
func footer(out *outcome, took time.Duration) string {
	text := client.Plural(out.rows.Load(), "row")
	if !out.hasRows {
		text = client.Plural(out.affected, "row") + " affected"
	}
	if out.serverMS < 0 {
		return fmt.Sprintf("%s (%s)", text, shortTime(took))
	}
	return fmt.Sprintf("%s (%s, server %s)", text, shortTime(took),
		shortTime(time.Duration(out.serverMS)*time.Millisecond))
}

// shortTime is a duration in ms, or in seconds from ten of them on.
func shortTime(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// counting are the words that begin statements that give no rows.
var counting = map[string]bool{"alter": true, "comment": true, "copy": true, "create": true, "delete": true,
	"drop": true, "insert": true, "kill": true,
	"replace": true, "set": true, "truncate": true, "use": true}

// givesRows reports whether a statement answers with rows.
func givesRows(text string) bool { return !counting[firstWord(text)] }

// firstWord is the word that a statement begins with, in lower case.
func firstWord(text string) string {
	rest := string(trimLead([]byte(text)))
	end := strings.IndexFunc(rest, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' })
	if end < 0 {
		end = len(rest)
	}
	return strings.ToLower(rest[:end])
}

// follow keeps what a statement has changed for those after it, which the server runs in sessions of their own.
func (s *Shell) follow(text string) error {
	switch firstWord(text) {
	case "create", "drop", "alter":
		s.names.forget()
		return nil
	case "use", "set":
	default:
		return nil
	}
	list, err := parse.Parse(text)
	if err != nil || len(list) != 1 {
		return nil //nolint:nilerr // the server has understood it
	}
	switch st := list[0].(type) {
	case *parse.Use:
		s.db = st.Name[len(st.Name)-1].Name
	case *parse.Set:
		return s.followSet(st)
	}
	return nil
}

func (s *Shell) followSet(st *parse.Set) error {
	if st.Name != "time_zone" && st.Name != "timezone" || len(st.Values) != 1 {
		return nil
	}
	name := ""
	switch v := st.Values[0].(type) {
	case *parse.Column:
		name = v.Parts.String()
	case *parse.Literal:
		name = v.Text
	}
	switch strings.ToLower(name) {
	case "system", "default", "local":
		name = "UTC" // the server's
	}
	if zone, err := timefmt.Zone(name); err == nil {
		s.zone, s.zoneName = zone, name
	}
	return nil
}
