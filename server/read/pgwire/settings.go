package pgwire

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/timefmt"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
)

// serverVersion is the version whose catalog and syntax clients may expect.
const serverVersion = "15.0"

// settings are the parameters of a session.
type settings struct {
	values  map[string]string // by names in lower case; what is missing has its default
	initial map[string]string // values as the connection began, which RESET goes back to
	lasting map[string]string // of the transaction: what its SET LOCAL will have changed back at its end
	before  moment            // the transaction
	timeout time.Duration     // of statements; 0: none
}

// moment is what ROLLBACK goes back to.
type moment struct {
	values, lasting map[string]string
	readOnly        bool // of the transaction
}

// now is the present moment. It is not changed later.
func (s *settings) now(k *conn) moment {
	return moment{maps.Clone(s.values), maps.Clone(s.lasting), k.readOnly}
}

// back goes back to a moment.
func (s *settings) back(k *conn, m moment) {
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if text, ok := m.values[key]; s.value(key) != text && (ok || s.value(key) != known[key].value) {
			if !ok {
				text = known[key].value
			}
			s.restore(k, key, text)
		}
	}
	s.lasting, k.readOnly = maps.Clone(m.lasting), m.readOnly
}

// commit ends what SET LOCAL has set.
func (s *settings) commit(k *conn) {
	for _, key := range slices.Sorted(maps.Keys(s.lasting)) {
		s.restore(k, key, s.lasting[key])
	}
	s.lasting = nil
}

// restore gives a parameter a value that it had before. Of a search path whose databases are gone the first one counts,
// as if it were there.
func (s *settings) restore(k *conn, key, text string) {
	p := known[key]
	if p.check != nil {
		_, err := p.check(k, text)
		if names := parse.Lexemes(text, 1); err != nil && key == "search_path" && len(names) > 0 {
			k.session.DB = names[0].Text
		}
	}
	s.put(k, p, key, text)
}

// local sets a parameter until the end of the transaction.
func (s *settings) local(k *conn, name, text string) error {
	if k.state == idleState {
		k.notice("WARNING", "25P01", "SET LOCAL can only be used in transaction blocks")
		_, err := find(name)
		return err
	}
	key := strings.ToLower(name)
	was, again := s.lasting[key]
	if p := known[key]; !again && p != nil {
		was = s.value(key)
	}
	if err := s.set(k, name, text); err != nil || key == "transaction_read_only" {
		return err
	}
	if s.lasting == nil {
		s.lasting = map[string]string{}
	}
	s.lasting[key] = was
	return nil
}

// setting is a parameter: its name as clients write it, and its default.
type setting struct {
	name, value string
	reported    bool // clients are told of its value
	fixed       bool // it cannot be changed
	// check returns the value that a text means; nil: any text is its own value.
	check func(k *conn, text string) (string, error)
}

// known are the parameters, by their names in lower case. Those without check have no effect here: clients set them out
// of habit.
var known = map[string]*setting{}

func init() {
	for _, one := range []setting{
		{name: "application_name", reported: true, check: checkApplication},
		{name: "client_encoding", value: "UTF8", reported: true, check: checkEncoding},
		{name: "DateStyle", value: "ISO, MDY", reported: true, check: checkDateStyle},
		{name: "TimeZone", reported: true, check: checkZone},
		{name: "search_path", reported: true, check: checkPath},
		{name: "statement_timeout", value: "0", check: checkTimeout},
		{name: "max_read_rows", value: "0", check: lowerReads("max_read_rows")},
		{name: "max_read_bytes", value: "0", check: lowerReads("max_read_bytes")},
		{name: "default_transaction_read_only", value: "off", reported: true, check: checkSwitch},
		{name: "extra_float_digits", value: "1", check: checkDigits},
		{name: "IntervalStyle", value: "postgres", reported: true, check: only("postgres")},
		{name: "bytea_output", value: "hex", check: only("hex")},
		{name: "standard_conforming_strings", value: "on", reported: true, check: only("on")},
		{name: "default_transaction_isolation", value: "repeatable read"},
		{name: "transaction_isolation", value: "repeatable read"},
		{name: "transaction_read_only", value: "off", check: checkSwitch},
		{name: "server_version", value: serverVersion, reported: true, fixed: true},
		{name: "server_version_num", value: "150000", fixed: true},
		{name: "server_encoding", value: "UTF8", reported: true, fixed: true},
		{name: "integer_datetimes", value: "on", reported: true, fixed: true},
		{name: "in_hot_standby", value: "off", reported: true, fixed: true},
		{name: "is_superuser", value: "off", reported: true, fixed: true},
		{name: "session_authorization", reported: true, fixed: true},
		{name: "max_identifier_length", value: "240", fixed: true},
		{name: "jit", value: "off"},
		{name: "max_index_keys", value: "32", fixed: true},
		{name: "default_table_access_method", value: "heap", fixed: true},
		{name: "default_tablespace"},
		{name: "lc_collate", value: "C", fixed: true},
		{name: "lc_ctype", value: "C", fixed: true},
	} {
		known[strings.ToLower(one.name)] = &one
	}
	for _, name := range strings.Fields(`backslash_quote check_function_bodies client_min_messages
		default_transaction_deferrable escape_string_warning geqo idle_in_transaction_session_timeout
		idle_session_timeout lc_messages lc_monetary lc_numeric lc_time lock_timeout
		max_parallel_workers_per_gather row_security session_replication_role synchronous_commit
		tcp_keepalives_idle tcp_keepalives_interval transaction_deferrable work_mem xmloption`) {
		known[name] = &setting{name: name}
	}
}

// maxSetting bounds the value of a parameter, in bytes.
const maxSetting = 4096

// begin takes down what a client sets when it connects.
func (s *settings) begin(k *conn, parameters map[string]string) error {
	s.values = map[string]string{"session_authorization": parameters["user"]}
	s.initial = map[string]string{}
	if options := parameters["options"]; options != "" {
		more, err := readOptions(options)
		if err != nil {
			return err
		}
		for name, value := range more {
			if parameters[name] == "" {
				parameters[name] = value
			}
		}
	}
	for name, value := range parameters {
		switch name {
		case "user", "database", "options", "replication":
		default:
			s.initial[strings.ToLower(name)] = value
		}
	}
	return nil
}

// readOptions reads "-c name=value --name=value".
func readOptions(text string) (map[string]string, error) {
	set := map[string]string{}
	words := strings.Fields(strings.ReplaceAll(text, "\\ ", "\x00"))
	for i := 0; i < len(words); i++ {
		word, ok := strings.CutPrefix(words[i], "--")
		if !ok {
			if word, ok = strings.CutPrefix(words[i], "-c"); ok && word == "" && i+1 < len(words) {
				i++
				word = words[i]
			}
		}
		name, value, is := strings.Cut(word, "=")
		if !ok || !is {
			return nil, fail("22023", fmt.Sprintf("invalid option %q: expected -c name=value", words[i]))
		}
		set[strings.ReplaceAll(name, "-", "_")] = strings.ReplaceAll(value, "\x00", " ")
	}
	return set, nil
}

// open gives parameters their first values, of the server and of the client.
func (s *settings) open(k *conn) error {
	k.session.Zone, s.timeout = k.s.o.Zone, k.s.o.Timeout
	s.values["timezone"], s.values["search_path"] = k.s.o.Zone.String(), quotedName(k.session.DB)
	if s.timeout > 0 {
		s.values["statement_timeout"] = strconv.FormatInt(s.timeout.Milliseconds(), 10)
	}
	set := s.initial
	s.initial = maps.Clone(s.values)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if err := s.set(k, name, set[name]); err != nil {
			return err
		}
	}
	s.initial = maps.Clone(s.values)
	return nil
}

// shown is the value of a known parameter as clients read it.
func (s *settings) shown(k *conn, name string) string {
	if name == "transaction_read_only" {
		if k.readOnly || k.state == idleState && s.value("default_transaction_read_only") == "on" {
			return "on"
		}
		return "off"
	}
	return s.value(name)
}

// report tells all values that clients are told of.
func (s *settings) report(k *conn) {
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if p := known[name]; p.reported {
			k.send(&pgproto3.ParameterStatus{Name: p.name, Value: s.value(name)})
		}
	}
}

// value is the value of a known parameter.
func (s *settings) value(name string) string {
	if v, ok := s.values[name]; ok {
		return v
	}
	return known[name].value
}

// list are the parameters for pg_settings, by name.
func (s *settings) list(k *conn) []infoschema.Setting {
	list := make([]infoschema.Setting, 0, len(known))
	for _, name := range slices.Sorted(maps.Keys(known)) {
		list = append(list, infoschema.Setting{Name: known[name].name, Value: s.shown(k, name), Initial: s.first(name),
			Default: known[name].value})
	}
	return list
}

// find finds a parameter.
func find(name string) (*setting, error) {
	if p := known[strings.ToLower(name)]; p != nil {
		return p, nil
	}
	return nil, fail("42704", fmt.Sprintf("unrecognized configuration parameter %q", name))
}

// set changes a parameter; clients are told if they want to know.
func (s *settings) set(k *conn, name, text string) error {
	p, err := find(name)
	if err != nil {
		return err
	}
	key := strings.ToLower(p.name)
	switch {
	case p.fixed:
		return fail("55P02", fmt.Sprintf("parameter %q cannot be changed", p.name))
	case len(text) > maxSetting:
		return fail("22023", fmt.Sprintf("the value of parameter %q is longer than %d bytes", p.name, maxSetting))
	}
	if key != "application_name" && (!utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
		return fail("22021", fmt.Sprintf("the value of parameter %q is no text in UTF-8", p.name))
	}
	if p.check != nil {
		if text, err = p.check(k, text); err != nil {
			return err
		}
	}
	if key == "transaction_read_only" {
		return k.access(text == "on")
	}
	s.put(k, p, key, text)
	return nil
}

// put sets a value that has been checked, also after the end of the transaction.
func (s *settings) put(k *conn, p *setting, key, text string) {
	delete(s.lasting, key)
	changed := s.value(key) != text
	if s.values[key] = text; changed && p.reported && k.secret != [4]byte{} {
		k.send(&pgproto3.ParameterStatus{Name: p.name, Value: text})
	}
}

// reset gives a parameter, or all of them, the value that it had when the connection began.
func (s *settings) reset(k *conn, name string) error {
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if p := known[key]; !p.fixed && (name == "" || strings.EqualFold(name, p.name)) {
			value := s.first(key)
			if s.value(key) == value {
				continue
			}
			if err := s.set(k, key, value); err != nil {
				return err
			}
		}
	}
	if name != "" {
		_, err := find(name)
		return err
	}
	return nil
}

// first is the value that a known parameter had when the connection began.
func (s *settings) first(name string) string {
	key := strings.ToLower(name)
	if value, ok := s.initial[key]; ok {
		return value
	}
	return known[key].value
}

func invalid(name, text, why string) error {
	return fail("22023", fmt.Sprintf("invalid value for parameter %q: %q%s", name, text, why))
}

// maxApplication bounds the name that a client gives itself, in bytes.
const maxApplication = 64

// checkApplication makes a name fit for lists and logs: what is no character that is shown becomes "?".
func checkApplication(k *conn, text string) (string, error) {
	var b strings.Builder
	for _, c := range text { // a byte that is no UTF-8 is a rune too
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			c = '?'
		}
		if b.Len()+utf8.RuneLen(c) > maxApplication {
			break
		}
		b.WriteRune(c)
	}
	text = b.String()
	k.session.Application = text
	return text, nil
}

func checkEncoding(_ *conn, text string) (string, error) {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "", "'", "", `"`, "").Replace(text)) {
	case "utf8", "unicode":
		return "UTF8", nil
	}
	return "", invalid("client_encoding", text, ": the server speaks UTF8 only")
}

func checkDateStyle(_ *conn, text string) (string, error) {
	order := "MDY"
	for part := range strings.SplitSeq(text, ",") {
		switch p := strings.ToUpper(strings.TrimSpace(part)); p {
		case "ISO":
		case "MDY", "DMY", "YMD":
			order = p
		default:
			return "", invalid("DateStyle", text, ": the server writes dates in ISO only")
		}
	}
	return "ISO, " + order, nil
}

func checkZone(k *conn, text string) (string, error) {
	if lower := strings.ToLower(text); lower == "default" || lower == "local" {
		text = k.s.o.Zone.String()
	}
	zone, err := timefmt.Zone(text)
	if err != nil {
		return "", invalid("TimeZone", text, "")
	}
	k.session.Zone = zone
	return zone.String(), nil
}

// checkPath makes the first database of a path that exists the current one.
func checkPath(k *conn, text string) (string, error) {
	for _, t := range parse.Lexemes(text, 64) {
		if t.Text == "$user" || t.Text == "," || t.Text == "pg_catalog" {
			continue
		}
		if k.s.o.Executor.HasDatabase(t.Text) {
			k.session.DB = t.Text
			return text, nil
		}
	}
	return "", invalid("search_path", text, ": it names no database that exists")
}

// checkTimeout reads a number of milliseconds, or a duration with its unit.
// lowerReads checks a bound of what statements read, and lowers it.
func lowerReads(name string) func(k *conn, text string) (string, error) {
	return func(k *conn, text string) (string, error) {
		return text, k.s.o.Executor.SetReads(k.session, name, text)
	}
}

func checkTimeout(k *conn, text string) (string, error) {
	text = strings.TrimSpace(text)
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		ns, bad := timefmt.ParseDuration(strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "min", "m"))
		ms, err = ns/1e6, bad
	}
	if err != nil || ms < 0 || ms > 1<<31-1 {
		return "", invalid("statement_timeout", text, "")
	}
	if k.settings.timeout = time.Duration(ms) * time.Millisecond; ms == 0 {
		k.settings.timeout = k.s.o.Timeout // the limit of the server stays
	}
	return text, nil
}

func checkSwitch(_ *conn, text string) (string, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1", "t", "y":
		return "on", nil
	case "off", "false", "no", "0", "f", "n":
		return "off", nil
	}
	return "", fail("22023", fmt.Sprintf("invalid value for a parameter: %q: it is on or off", text))
}

func checkDigits(_ *conn, text string) (string, error) {
	if n, err := strconv.Atoi(text); err != nil || n < -15 || n > 3 {
		return "", invalid("extra_float_digits", text, ": it is a number from -15 to 3")
	}
	return text, nil
}

// only is the check of a parameter that has one value here.
func only(value string) func(*conn, string) (string, error) {
	return func(_ *conn, text string) (string, error) {
		if !strings.EqualFold(text, value) {
			return "", fail("0A000", fmt.Sprintf("the value %q is not supported: it is %q here", text, value))
		}
		return value, nil
	}
}

// quotedName is a name as SQL reads it.
func quotedName(name string) string {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}
