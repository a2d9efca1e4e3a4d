package pgwire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// command is a statement that the session answers itself: BEGIN, SET and others that are no SQL of ours.
type command struct {
	run func(k *conn) (tag string, err error)
	// field is the column of a SHOW, parameter the key of its value; both empty for others.
	field, parameter string
	// declare is the query of DECLARE, fetch the rows of FETCH; nil for others.
	declare *declared
	fetch   *fetched
	copy    *copying // nil: it is no COPY
	refused error    // why a portal that was open is none any more; nil: it is a command
	ends    bool     // it ends a failed transaction
}

type declared struct {
	name  string
	query string
}

// fetched are the rows of FETCH or MOVE: of a cursor, so many; below zero: all.
type fetched struct {
	name string
	rows int64
	move bool
}

// maxWords bounds the words of a command.
const maxWords = 200

// readCommand returns the command that a statement is; nil if it is SQL of ours.
func readCommand(text string) (*command, error) {
	words := parse.Lexemes(text, maxWords)
	for n := len(words); n > 0 && words[n-1].Kind == parse.OtherLexeme && words[n-1].Text == ";"; n-- {
		words = words[:n-1]
	}
	if len(words) == 0 || words[0].Kind != parse.WordLexeme {
		return nil, nil
	}
	is := func(list ...string) bool {
		for i, w := range list {
			if i >= len(words) || !words[i].Is(w) {
				return false
			}
		}
		return true
	}
	switch first := words[0].Text; first {
	case "begin", "start":
		if first == "start" && !is("start", "transaction") {
			return nil, nil
		}
		return readBegin(words)
	case "commit", "end", "rollback", "abort", "savepoint", "release":
		return readEnd(words)
	case "listen", "unlisten":
		return &command{run: done(strings.ToUpper(first))}, nil
	case "discard":
		return readDiscard(words)
	case "deallocate":
		return deallocate(words), nil
	case "set":
		return readSet(words, text)
	case "reset":
		return readReset(words)
	case "show":
		return readShow(words), nil
	case "copy":
		c, err := readCopy(text)
		if c == nil || err != nil {
			return nil, err
		}
		return &command{copy: c}, nil
	case "declare":
		return readDeclare(words, text)
	case "fetch", "move":
		return readFetch(words)
	case "close":
		if len(words) == 2 {
			return &command{run: func(k *conn) (string, error) {
				return "CLOSE CURSOR", k.closeCursor(words[1])
			}}, nil
		}
	}
	return nil, nil
}

// has reports whether words follow one another somewhere.
func has(tokens []parse.Lexeme, words ...string) bool {
	for i := range tokens {
		if i+len(words) <= len(tokens) && follows(tokens[i:], words) {
			return true
		}
	}
	return false
}

func follows(tokens []parse.Lexeme, words []string) bool {
	for i, w := range words {
		if !tokens[i].Is(w) {
			return false
		}
	}
	return true
}

func done(tag string) func(*conn) (string, error) {
	return func(*conn) (string, error) { return tag, nil }
}

// begin begins a transaction. access is "only", "write" or empty: as the session has it.
func (k *conn) begin(access, tag string) (string, error) {
	if k.state != idleState {
		k.notice("WARNING", "25001", "there is already a transaction in progress")
		return tag, nil
	}
	if err := k.session.Begin(); err != nil {
		return "", err
	}
	k.settings.before = k.settings.now(k)
	k.state, k.wrote, k.asked = openState, 0, false
	k.readOnly = access == "only" || access == "" && k.settings.value("default_transaction_read_only") == "on"
	return tag, nil
}

// access says whether the transaction takes writes.
func (k *conn) access(readOnly bool) error {
	switch {
	case k.state == idleState:
		k.notice("WARNING", "25P01", "SET TRANSACTION can only be used in transaction blocks")
	case k.readOnly && !readOnly && len(k.savepoints) > 0:
		return fail("25001", "cannot set transaction read-write mode inside a read-only transaction")
	case k.readOnly && !readOnly && k.asked:
		return fail("25001", "transaction read-write mode must be set before any query")
	default:
		k.readOnly = readOnly
	}
	return nil
}

func (k *conn) endTransaction() {
	k.closePortals()
	k.session.End()
	k.state, k.readOnly, k.savepoints, k.settings.before = idleState, false, nil, moment{}
}

// maxSavepoints bounds the savepoints of a transaction.
const maxSavepoints = 1024

// savepoint notes how many statements have written so far: there is nothing else to go back to.
func (k *conn) savepoint(name string) error {
	switch {
	case k.state == idleState:
		return fail("25P01", "SAVEPOINT can only be used in transaction blocks")
	case len(name) > maxName:
		return checkName(name)
	case len(k.savepoints) >= maxSavepoints:
		return fail("53000", fmt.Sprintf("the transaction has %d savepoints, which is the limit", maxSavepoints))
	}
	k.savepoints = append(k.savepoints, savepoint{name, k.wrote, k.settings.now(k)})
	return nil
}

// savepoint is a place of a transaction.
type savepoint struct {
	name  string
	wrote int // statements that had written
	then  moment
}

// lastSavepoint is the position of the last savepoint of a name.
func (k *conn) lastSavepoint(name string) (int, error) {
	for i, s := range slices.Backward(k.savepoints) {
		if s.name == name {
			return i, nil
		}
	}
	return 0, fail("3B001", fmt.Sprintf("savepoint %q does not exist", name))
}

func (k *conn) releases(name string) error {
	i, err := k.lastSavepoint(name)
	if err == nil {
		k.savepoints = k.savepoints[:i]
	}
	return err
}

// rollbackTo goes on with a transaction after an error, and says so if writes since the savepoint stay.
func (k *conn) rollbackTo(name string) error {
	i, err := k.lastSavepoint(name)
	if err != nil {
		return err
	}
	if n := k.wrote - k.savepoints[i].wrote; n > 0 {
		k.kept(n)
	}
	k.state, k.savepoints = openState, k.savepoints[:i+1]
	k.settings.back(k, k.savepoints[i].then)
	return nil
}

// kept warns that n statements are not rolled back.
func (k *conn) kept(n int) {
	k.notice("WARNING", "25000", fmt.Sprintf(
		"%d statements of the transaction have written: each write is its own commit and is not rolled back", n))
}

// commit ends a transaction. Its writes are committed already.
func (k *conn) commit() (string, error) {
	switch k.state {
	case idleState:
		k.notice("WARNING", "25P01", "there is no transaction in progress")
	case failedState:
		return k.rollback()
	}
	k.settings.commit(k)
	k.endTransaction()
	return "COMMIT", nil
}

// rollback ends a transaction, and says so if writes of it stay.
func (k *conn) rollback() (string, error) {
	if k.state == idleState {
		k.notice("WARNING", "25P01", "there is no transaction in progress")
	} else if k.wrote > 0 {
		k.kept(k.wrote)
	}
	if k.state != idleState {
		k.settings.back(k, k.settings.before)
	}
	k.endTransaction()
	return "ROLLBACK", nil
}

// discard makes the session as it was when the connection began.
func (k *conn) discard() (string, error) {
	if k.state != idleState {
		return "", fail("25001", "DISCARD ALL cannot run inside a transaction")
	}
	k.closePortals()
	for name := range k.statements {
		k.closeStatement(name)
	}
	return "DISCARD ALL", k.settings.reset(k, "")
}

// notice tells the client something that is no error.
func (k *conn) notice(severity, code, text string) {
	k.send(&pgproto3.NoticeResponse{Severity: severity, SeverityUnlocalized: severity, Code: code,
		Message: field(text)})
}

func deallocate(words []parse.Lexeme) *command {
	last := words[len(words)-1]
	return &command{run: func(k *conn) (string, error) {
		switch {
		case last.Is("all"):
			for name := range k.statements {
				k.closeStatement(name)
			}
			return "DEALLOCATE ALL", nil
		case k.statements[last.Text] == nil:
			return "", fail("26000", fmt.Sprintf("prepared statement %q does not exist", last.Text))
		}
		k.closeStatement(last.Text)
		return "DEALLOCATE", nil
	}}
}

// readSet reads SET [SESSION|LOCAL] name {=|TO} value and its other forms.
func readSet(words []parse.Lexeme, text string) (*command, error) {
	rest, setTo := words[1:], setLasting
	if len(rest) > 0 && (rest[0].Is("session") || rest[0].Is("local")) {
		if rest[0].Is("local") {
			setTo = setLocal
		}
		rest = rest[1:]
	}
	switch {
	case len(rest) > 2 && rest[0].Is("time") && rest[1].Is("zone"):
		return setTo("TimeZone", valueOf(rest[2:])), nil
	case len(rest) > 1 && rest[0].Is("names"):
		return setTo("client_encoding", valueOf(rest[1:])), nil
	case len(rest) > 1 && rest[0].Is("transaction"):
		return readAccess(rest[1:], "transaction_read_only")
	case len(rest) > 3 && follows(rest, []string{"characteristics", "as", "transaction"}):
		return readAccess(rest[3:], "default_transaction_read_only")
	case len(rest) > 2 && (rest[1].Is("to") || rest[1].Text == "=" && rest[1].Kind == parse.OtherLexeme):
		if _, err := find(rest[0].Text); err != nil {
			if rest[0].Is("time_zone") { // a variable of ours
				return setTo("TimeZone", valueOf(rest[2:])), nil
			}
			return nil, err
		}
		value := valueOf(rest[2:])
		if rest[2].Is("default") {
			return setDefault(rest[0].Text, setTo), nil
		}
		if strings.EqualFold(rest[0].Text, "search_path") {
			value = strings.TrimRight(text[rest[2].At:], "; \t\r\n")
			if rest[2].Kind == parse.TextLexeme && len(rest) == 3 {
				value = rest[2].Text
			}
		}
		return setTo(rest[0].Text, value), nil
	}
	return nil, fail("42601", "SET cannot be read: expected SET name = value")
}

// setLasting and setLocal are SET and SET LOCAL of a parameter.
func setLasting(name, value string) *command {
	return &command{run: func(k *conn) (string, error) { return "SET", k.settings.set(k, name, value) }}
}

func setLocal(name, value string) *command {
	return &command{run: func(k *conn) (string, error) { return "SET", k.settings.local(k, name, value) }}
}

// setDefault gives a parameter the value that it had when the connection began.
func setDefault(name string, setTo func(name, value string) *command) *command {
	return &command{run: func(k *conn) (string, error) { return setTo(name, k.settings.first(name)).run(k) }}
}

// readAccess reads modes of transactions, of which those of access set a parameter.
func readAccess(words []parse.Lexeme, parameter string) (*command, error) {
	access, err := readModes(words)
	switch {
	case err != nil:
		return nil, err
	case access == "":
		return &command{run: done("SET")}, nil
	case access == "only":
		return setLasting(parameter, "on"), nil
	}
	return setLasting(parameter, "off"), nil
}

// valueOf puts the words of a value together.
func valueOf(words []parse.Lexeme) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && w.Kind != parse.OtherLexeme && words[i-1].Text != "-" {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
	}
	return b.String()
}

func readReset(words []parse.Lexeme) (*command, error) {
	if len(words) < 2 {
		return nil, fail("42601", "RESET needs the name of a parameter")
	}
	name := words[1].Text
	if words[1].Is("all") {
		name = ""
	}
	return &command{run: func(k *conn) (string, error) { return "RESET", k.settings.reset(k, name) }}, nil
}

// readShow reads SHOW name of a parameter; nil for every other SHOW.
func readShow(words []parse.Lexeme) *command {
	name := ""
	switch {
	case len(words) == 2:
		name = strings.ToLower(words[1].Text)
	case len(words) == 3 && words[1].Is("time") && words[2].Is("zone"):
		name = "timezone"
	case len(words) == 4 && follows(words[1:], []string{"transaction", "isolation", "level"}):
		name = "transaction_isolation"
	}
	p := known[name]
	if p == nil {
		return nil
	}
	return &command{field: p.name, parameter: name, run: done("SHOW")}
}

// readDeclare reads DECLARE name [words] CURSOR [words] FOR query.
func readDeclare(words []parse.Lexeme, text string) (*command, error) {
	at := slices.IndexFunc(words, func(t parse.Lexeme) bool { return t.Is("for") })
	cursor := slices.IndexFunc(words, func(t parse.Lexeme) bool { return t.Is("cursor") })
	if len(words) < 3 || cursor < 2 || at < cursor || at+1 >= len(words) {
		return nil, fail("42601", "DECLARE cannot be read: expected DECLARE name CURSOR FOR query")
	}
	if has(words[:at], "with", "hold") {
		return nil, fail("0A000", "DECLARE .. WITH HOLD is not supported: a cursor ends with its transaction")
	}
	from := words[at+1].At
	d := &declared{words[1].Text, text[from:]}
	return &command{declare: d, run: done("DECLARE CURSOR")}, nil
}

// readFetch reads FETCH [NEXT|FORWARD] [n|ALL] [FROM|IN] name.
func readFetch(words []parse.Lexeme) (*command, error) {
	f := &fetched{rows: 1, move: words[0].Is("move")}
	bad := fail("0A000", "FETCH and MOVE go forward only: NEXT, FORWARD, a number of rows, or ALL")
	rest := words[1:]
	for ; len(rest) > 1; rest = rest[1:] {
		switch w := rest[0]; {
		case w.Is("next"), w.Is("forward"), w.Is("from"), w.Is("in"):
		case w.Is("all"):
			f.rows = -1
		case w.Kind == parse.OtherLexeme:
			n, err := strconv.ParseInt(w.Text, 10, 64)
			if err != nil {
				return nil, bad
			}
			f.rows = n
		default:
			return nil, bad
		}
	}
	if len(rest) == 0 {
		return nil, bad
	}
	f.name = rest[0].Text
	return &command{fetch: f}, nil
}

// declare opens a cursor.
func (k *conn) declare(d *declared, values []value) error {
	if k.state != openState {
		return fail("25P01", "DECLARE CURSOR can only be used in transaction blocks")
	}
	if k.portals[d.name] != nil {
		return fail("42P03", fmt.Sprintf("cursor %q already exists", d.name))
	}
	p, err := k.newPortal(d.query, values)
	if err != nil {
		return err
	}
	return k.keep(d.name, p)
}

// cursor finds an open cursor: a portal of a query.
func (k *conn) cursor(name string) (*portal, error) {
	p := k.portals[name]
	switch {
	case p == nil || name == "":
		return nil, fail("34000", fmt.Sprintf("cursor %q does not exist", name))
	case p.command != nil && p.command.refused != nil:
		return nil, p.command.refused
	case p.st == nil || !answers(p.st):
		return nil, fail("55000", fmt.Sprintf("portal %q has no rows to fetch", name))
	}
	return p, nil
}

func (k *conn) closeCursor(name parse.Lexeme) error {
	if name.Is("all") {
		k.closePortals()
		return nil
	}
	if k.portals[name.Text] == nil || name.Text == "" {
		return fail("34000", fmt.Sprintf("cursor %q does not exist", name.Text))
	}
	k.closePortal(name.Text)
	return nil
}

// textField is a column of text, of commands that answer with a row.
func textField(name string) []vector.Field {
	return []vector.Field{{Name: name, Type: vector.StringType}}
}
