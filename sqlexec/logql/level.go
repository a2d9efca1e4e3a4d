package logql

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"varve/sqlexec/logql/stage"
)

// LevelLabel is the metadata that holds the level of a line, found when it is asked for.
const LevelLabel = "detected_level"

// levelNames are the names of labels, metadata and members of lines that hold a level, in the order in which they
// count.
var levelNames = []string{"level", "LEVEL", "Level", "log.level", "log_level", "severity", "SEVERITY", "Severity",
	"SeverityText", "lvl", "LVL", "Lvl", "severity_text", "Severity_Text", "SEVERITY_TEXT"}

// levelWords are the levels by the words that lines write for them.
var levelWords = map[string]string{
	"trace": "trace", "trc": "trace", "debug": "debug", "dbg": "debug",
	"info": "info", "inf": "info", "information": "info", "informational": "info", "notice": "info",
	"warn": "warn", "wrn": "warn", "warning": "warn", "error": "error", "err": "error",
	"critical": "critical", "crit": "critical", "fatal": "fatal",
}

// unknownLevel is the level of lines that name none.
const unknownLevel = "unknown"

// levelOf is the level that a word stands for; a word that stands for none is the level itself.
func levelOf(word string) string {
	if level, ok := levelWords[strings.ToLower(word)]; ok {
		return level
	}
	return word
}

// detectLevel finds the level of a row: in its metadata, its labels, its severity number, the members of a line of JSON
// or logfmt, and else by the words of the line.
func detectLevel(line []byte, metadata, stream []stage.Label) string {
	for _, list := range [...][]stage.Label{metadata, stream} {
		if value := namedLevel(list); len(value) > 0 {
			return levelOf(string(value))
		}
	}
	for i := range metadata {
		if metadata[i].Name == severityNumber {
			return numberLevel(string(metadata[i].Value))
		}
	}
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) > 1 && trimmed[0] == '{' && trimmed[len(trimmed)-1] == '}' {
		if level := jsonLevel(trimmed); level != "" {
			return level
		}
	} else if level := logfmtLevel(trimmed); level != "" {
		return level
	}
	return wordLevel(line)
}

// namedLevel is the value of the label whose name counts first among levelNames; empty: there is none.
func namedLevel(list []stage.Label) (value []byte) {
	best := len(levelNames)
	for i := range list {
		l := &list[i]
		if len(l.Name) == 0 || len(l.Value) == 0 {
			continue
		}
		if c := l.Name[0] | 0x20; c != 'l' && c != 's' { // none of them begins otherwise
			continue
		}
		if rank := slices.Index(levelNames, l.Name); rank >= 0 && rank < best {
			best, value = rank, l.Value
		}
	}
	return value
}

// numberLevels are the levels of the severity numbers of OTLP, four numbers each, from 1.
var numberLevels = []string{"trace", "debug", "info", "warn", "error", "fatal"}

// numberLevel is the level of a severity number.
func numberLevel(text string) string {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 4*len(numberLevels) {
		return unknownLevel
	}
	return numberLevels[(n-1)/4]
}

// quotedLevelNames are levelNames as keys of JSON.
var quotedLevelNames = func() (list [][]byte) {
	for _, name := range levelNames {
		list = append(list, []byte(`"`+name+`"`))
	}
	return list
}()

// jsonLevel is the level that a line of JSON names; empty: it names none.
func jsonLevel(line []byte) string {
	for _, quoted := range quotedLevelNames {
		at := bytes.Index(line, quoted)
		if at < 0 {
			continue
		}
		rest := bytes.TrimLeft(line[at+len(quoted):], " \t")
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		rest = bytes.TrimLeft(rest[1:], " \t")
		if len(rest) == 0 || rest[0] != '"' {
			continue
		}
		word, _, ok := bytes.Cut(rest[1:], []byte{'"'})
		if level := levelWords[strings.ToLower(string(word))]; ok && level != "" {
			return level
		}
	}
	return ""
}

// logfmtLevel is the level that a line of key=value pairs names; empty: it names none.
func logfmtLevel(line []byte) string {
	if !hasLevelKey(line) {
		return ""
	}
	for _, name := range levelNames {
		for rest := line; ; {
			at := bytes.Index(rest, []byte(name+"="))
			if at < 0 {
				break
			}
			value := rest[at+len(name)+1:]
			if at > 0 && rest[at-1] != ' ' && rest[at-1] != '\t' {
				rest = value
				continue
			}
			if level := logfmtWord(value); level != "" {
				return level
			}
			rest = rest[at+len(name)+1:]
		}
	}
	return ""
}

// longestLevelWord is the length of the longest of levelWords.
const longestLevelWord = len("informational")

// logfmtWord is the level of the value that a text begins with, which ends before a blank and may have quotes around
// it; empty: it is none. Values without an end take no longer: a line may have many.
func logfmtWord(text []byte) string {
	text = bytes.TrimLeft(text, `"`)
	word := text[:min(len(text), longestLevelWord+1)]
	if end := bytes.IndexAny(word, ` "`); end >= 0 {
		word = word[:end]
	} else if len(word) > longestLevelWord {
		return ""
	}
	if rest := bytes.TrimLeft(text[len(word):], `"`); len(rest) > 0 && rest[0] != ' ' {
		return ""
	}
	return levelWords[strings.ToLower(string(word))]
}

// hasLevelKey reports whether one of levelNames stands before a "=".
func hasLevelKey(line []byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(line[at:], '=')
		if i < 0 {
			return false
		}
		at += i
		if at == 0 {
			continue
		}
		if c := line[at-1] | 0x20; c != 'l' && c != 'y' && c != 't' { // none of them ends otherwise
			continue
		}
		for _, name := range levelNames {
			if len(name) <= at && string(line[at-len(name):at]) == name {
				return true
			}
		}
	}
}

// levelMarks are the words that tell the level of a line of any form; the first that a line has counts.
var levelMarks = []struct {
	level string
	words []string
}{
	{"info", []string{"info", "INFO"}},
	{"error", []string{"err:", "ERR:", "error", "ERROR"}},
	{"warn", []string{"warn:", "WARN:", "warning", "WARNING"}},
	{"critical", []string{"CRITICAL:", "critical:"}},
	{"debug", []string{"debug:", "DEBUG:"}},
}

// secondLetters are, by the first letter of the words of levelMarks, small, their second one; zero: no word begins so.
var secondLetters = [256]byte{'i': 'n', 'e': 'r', 'w': 'a', 'c': 'r', 'd': 'e'}

// wordLevel is the level by the words of a line.
func wordLevel(line []byte) string {
	best := len(levelMarks)
	for i := 0; i+1 < len(line) && best > 0; i++ {
		if second := secondLetters[line[i]|0x20]; second == 0 || line[i+1]|0x20 != second {
			continue
		}
		for m := range best {
			if beginsWithAny(line[i:], levelMarks[m].words) {
				best = m
				break
			}
		}
	}
	if best == len(levelMarks) {
		return unknownLevel
	}
	return levelMarks[best].level
}

// beginsWithAny reports whether a text begins with one of some words.
func beginsWithAny(text []byte, words []string) bool {
	for _, word := range words {
		if len(text) >= len(word) && string(text[:len(word)]) == word {
			return true
		}
	}
	return false
}
