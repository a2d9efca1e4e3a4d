package pgwire

import (
	"slices"
	"strings"

	"varve/sqlexec/parse"
)

// unread is the error of a command that cannot be read from a word on.
func unread(words []parse.Lexeme, i int) error {
	if i >= len(words) {
		return fail("42601", "syntax error at end of input")
	}
	return fail("42601", "syntax error at or near \""+words[i].Text+"\"")
}

// readBegin reads BEGIN [WORK|TRANSACTION] [modes] and START TRANSACTION [modes].
func readBegin(words []parse.Lexeme) (*command, error) {
	tag, rest := "BEGIN", words[1:]
	if words[0].Is("start") {
		tag = "START TRANSACTION"
	}
	if len(rest) > 0 && (rest[0].Is("work") || rest[0].Is("transaction")) {
		rest = rest[1:]
	}
	access, err := readModes(rest)
	if err != nil {
		return nil, err
	}
	return &command{run: func(k *conn) (string, error) { return k.begin(access, tag) }}, nil
}

// transactionModes are the modes of transactions that are known. All levels of isolation are the same here: a
// transaction reads one moment.
var transactionModes = []string{"isolation level serializable", "isolation level repeatable read",
	"isolation level read committed", "isolation level read uncommitted", "read only", "read write", "deferrable",
	"not deferrable"}

// readModes reads modes with or without commas between. access is "only", "write", or empty: none is named.
func readModes(words []parse.Lexeme) (access string, err error) {
	for i := 0; i < len(words); {
		if i > 0 && words[i].Kind == parse.OtherLexeme && words[i].Text == "," {
			i++
		}
		at := slices.IndexFunc(transactionModes, func(mode string) bool {
			list := strings.Fields(mode)
			return i+len(list) <= len(words) && follows(words[i:], list)
		})
		if at < 0 {
			return "", unread(words, i)
		}
		mode := strings.Fields(transactionModes[at])
		if i += len(mode); len(mode) == 2 && mode[0] == "read" {
			access = mode[1]
		}
	}
	return access, nil
}

// readEnd reads COMMIT, ROLLBACK, SAVEPOINT, RELEASE and their other forms.
func readEnd(words []parse.Lexeme) (*command, error) {
	first := words[0].Text
	name := func(i int) (string, error) {
		if i < len(words) && words[i].Is("savepoint") && i+1 < len(words) {
			i++
		}
		if i+1 != len(words) || words[i].Kind != parse.WordLexeme && words[i].Kind != parse.QuotedLexeme {
			return "", unread(words, min(i+1, len(words)))
		}
		return words[i].Text, nil
	}
	switch first {
	case "savepoint":
		of, err := name(1)
		return &command{run: func(k *conn) (string, error) { return "SAVEPOINT", k.savepoint(of) }}, err
	case "release":
		of, err := name(1)
		return &command{run: func(k *conn) (string, error) { return "RELEASE", k.releases(of) }}, err
	}
	i := 1
	if i < len(words) && (words[i].Is("work") || words[i].Is("transaction")) {
		i++
	}
	back := first == "rollback" || first == "abort"
	if first == "rollback" && i < len(words) && words[i].Is("to") {
		of, err := name(i + 1)
		return &command{ends: true, run: func(k *conn) (string, error) {
			return "ROLLBACK", k.rollbackTo(of)
		}}, err
	}
	if i+1 < len(words) && follows(words[i:], []string{"and", "chain"}) {
		return nil, fail("42601", "AND CHAIN is not supported: begin the next transaction by BEGIN")
	}
	if i+2 < len(words) && follows(words[i:], []string{"and", "no", "chain"}) {
		i += 3
	}
	switch {
	case i < len(words):
		return nil, unread(words, i)
	case back:
		return &command{ends: true, run: (*conn).rollback}, nil
	}
	return &command{ends: true, run: (*conn).commit}, nil
}

// readDiscard reads DISCARD. Plans are made for each execution, and there are neither sequences nor tables of a
// session.
func readDiscard(words []parse.Lexeme) (*command, error) {
	if len(words) == 2 {
		switch what := words[1].Text; what {
		case "all":
			return &command{run: (*conn).discard}, nil
		case "plans", "sequences", "temp", "temporary":
			if what == "temporary" {
				what = "temp"
			}
			return &command{run: done("DISCARD " + strings.ToUpper(what))}, nil
		}
	}
	return nil, unread(words, min(1, len(words)-1))
}
