package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"varve/cmd/varve/client"
)

// offer is what could be typed next.
type offer struct {
	text  string // what the word becomes
	shown string // in the menu
	about string
	kind  string // the heading it is listed under
}

// tablesIn finds tables that a statement names, aliasIn the name that one has in it.
var (
	tablesIn = client.Pattern("(?i)\\b(?:from|join|into|update|table|describe|desc)\\s+([\\w.\"`]+)")
	aliasIn  = client.Pattern(`(?i)^\s+(?:as\s+)?([a-z_]\w*)`)
)

// complete gives what could stand in the place of the word that ends at the cursor; it begins at start, a byte of
// before. after is the rest of the text. Names that would steer the terminal are not offered.
func (s *Shell) complete(before, after string) (start int, list []offer) {
	if strings.HasPrefix(strings.TrimLeft(before, " "), `\`) {
		return s.completeCommand(before)
	}
	cut := newSplitter()
	cut.add([]byte(before))
	for _, ok := cut.next(false); ok; _, ok = cut.next(false) {
	}
	text, comment := string(cut.buf), false
	walk(text, func(from, to int, _ byte) {
		comment = strings.HasPrefix(text[from:], "--") && !strings.Contains(text[from:to], "\n")
	})
	if comment || cut.quote != 0 && cut.quote != '"' && cut.quote != '`' {
		return len(before), nil
	}
	start = len(before) - len(lastWord(text))
	word := before[start:]
	prefix := strings.TrimLeft(word, "\"`")
	statement, _, _ := strings.Cut(text+after, ";")
	qualifier := ""
	if rest := strings.TrimRight(before[:start], "."); len(rest) < start {
		qualifier = strings.Trim(lastWord(rest), "\"`")
	}
	switch ahead := wordBefore(strings.TrimSuffix(text, word)); {
	case qualifier != "":
		list = s.offerQualified(statement, qualifier)
	case slices.Contains([]string{"from", "join", "into", "table", "describe", "desc", "update", "truncate"}, ahead):
		list = append(s.offerTables(s.db), s.offerDatabases(".")...)
	case ahead == "use" || ahead == "database":
		list = s.offerDatabases("")
	default:
		list = s.offerColumns(statement, "")
		list = append(list, offerWords(prefix)...)
		list = append(list, s.offerTables(s.db)...)
	}
	return start, slices.DeleteFunc(list, func(o offer) bool {
		return !hasPrefixFold(strings.TrimLeft(o.text, `"`), prefix) || strings.ContainsFunc(o.text, client.Steers)
	})
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// lastWord is what of a text a name may be, up to its end, with the quote it begins with.
func lastWord(text string) string {
	i := len(text)
	for i > 0 && isNameByte(text[i-1]) {
		i--
	}
	if i > 0 && (text[i-1] == '"' || text[i-1] == '`') {
		i--
	}
	return text[i:]
}

// wordBefore is the last word of a text, in lower case; empty: it ends with something else.
func wordBefore(text string) string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	return strings.ToLower(lastWord(text))
}

// offerWords are keywords and functions. Without a letter of them there are too many.
func offerWords(prefix string) (list []offer) {
	for _, k := range keywords() {
		text := k
		if prefix != "" && unicode.IsLower(rune(prefix[0])) {
			text = strings.ToLower(k)
		}
		list = append(list, offer{text, text, "", "keywords"})
	}
	if prefix == "" {
		return list
	}
	for _, f := range functions() {
		list = append(list, offer{f.name + "(", f.name, f.args + " " + f.about, "functions"})
	}
	return list
}

// plain are names that need no quotes.
var plain = client.Pattern(`^[a-z_][a-z0-9_]*$`)

// named is a name as it is typed.
func named(name string) string {
	if plain().MatchString(name) {
		return name
	}
	return client.Name(name)
}

func (s *Shell) offerTables(db string) (list []offer) {
	for _, r := range s.list("SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = " +
		client.Text(db) + " ORDER BY table_name LIMIT 10000") {
		name := cellText(r[0])
		list = append(list, offer{named(name), name, strings.ToLower(cellText(r[1])), "tables"})
	}
	return list
}

func (s *Shell) offerDatabases(behind string) (list []offer) {
	for _, r := range s.list("SELECT schema_name FROM information_schema.schemata ORDER BY schema_name") {
		name := cellText(r[0])
		list = append(list, offer{named(name) + behind, name, "", "databases"})
	}
	return list
}

// offerColumns are those of the tables that a statement names; alias: of the one with that alias or name alone.
func (s *Shell) offerColumns(statement, alias string) (list []offer) {
	seen := map[string]bool{}
	for _, at := range tablesIn().FindAllStringSubmatchIndex(statement, -1) {
		typed := statement[at[2]:at[3]]
		db, name := s.db, strings.Trim(typed, "\"`")
		if d, t, found := strings.Cut(typed, "."); found {
			db, name = strings.Trim(d, "\"`"), strings.Trim(t, "\"`")
		}
		as := ""
		if m := aliasIn().FindStringSubmatch(statement[at[3]:]); m != nil {
			as = m[1]
		}
		if alias != "" && !strings.EqualFold(alias, as) && !strings.EqualFold(alias, name) || seen[db+"."+name] {
			continue
		}
		seen[db+"."+name] = true
		for _, r := range s.list("SELECT column_name, data_type, semantic_type FROM information_schema.columns WHERE table_schema = " + client.Text(db) + " AND table_name = " + client.Text(name) + " ORDER BY ordinal_position") {
			list = append(list, offer{named(cellText(r[0])), cellText(r[0]),
				cellText(r[1]) + " " + strings.ToLower(cellText(r[2])),
				"columns"})
		}
	}
	return list
}

// offerQualified is what may stand behind a name and a point: columns of a table, or tables of a database.
func (s *Shell) offerQualified(statement, qualifier string) []offer {
	if list := s.offerColumns(statement, qualifier); len(list) > 0 {
		return list
	}
	return s.offerTables(qualifier)
}

// completeCommand offers commands with a backslash and their first arguments.
func (s *Shell) completeCommand(before string) (start int, list []offer) {
	text := strings.TrimLeft(before, " ")
	name, rest, hasArg := strings.Cut(text, " ")
	if !hasArg {
		for _, c := range commands() {
			if strings.HasPrefix(c.name, name) {
				list = append(list, offer{c.name, strings.TrimSpace(c.name + " " + c.args), c.help, "commands"})
			}
		}
		return len(before) - len(text), list
	}
	i := slices.IndexFunc(commands(), func(c command) bool { return c.name == name })
	first, _, more := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if i < 0 || more && name != `\top` {
		return len(before), nil
	}
	arg := rest[strings.LastIndexByte(rest, ' ')+1:]
	switch commands()[i].offers {
	case offersTables:
		if list = s.offerTables(s.db); more { // \top takes columns behind its table
			list = s.offerColumns("FROM "+first, "")
		}
	case offersDatabases:
		list = s.offerDatabases("")
	case offersFiles:
		list = offerFiles(arg)
	case offersFormats:
		for _, f := range Formats {
			list = append(list, offer{f, f, "", "formats"})
		}
	case offersWords:
		list = offerWords(arg)
		for i := range list {
			list[i].text = strings.TrimSuffix(list[i].text, "(")
		}
	}
	return len(before) - len(arg), slices.DeleteFunc(list,
		func(o offer) bool { return !hasPrefixFold(o.text, arg) || strings.ContainsFunc(o.text, client.Steers) })
}

// offerFiles are those whose path begins so; hidden ones only where that is typed.
func offerFiles(typed string) (list []offer) {
	dir, base := filepath.Split(typed)
	where := dir
	if where == "" {
		where = "."
	}
	entries, err := os.ReadDir(where)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".") {
			continue
		}
		if e.IsDir() {
			name += string(filepath.Separator)
		}
		list = append(list, offer{dir + name, name, "", "files"})
	}
	return list
}
