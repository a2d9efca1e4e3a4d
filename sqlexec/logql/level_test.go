package logql

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/sqlexec/logql/stage"
)

// slowLogfmtLevel looks for each name in turn, wherever it stands.
func slowLogfmtLevel(line []byte) string {
	for _, name := range levelNames {
		for rest := line; ; {
			at := bytes.Index(rest, []byte(name+"="))
			if at < 0 {
				break
			}
			value := rest[at+len(name)+1:]
			word, _, _ := bytes.Cut(bytes.Trim(value, `"`), []byte{' '})
			level := levelWords[strings.ToLower(string(bytes.Trim(word, `"`)))]
			if inside := at > 0 && rest[at-1] != ' ' && rest[at-1] != '\t'; !inside && level != "" {
				return level
			}
			rest = value
		}
	}
	return ""
}

// slowLevel is detectLevel, word by word.
func slowLevel(line []byte, metadata, stream []stage.Label) string {
	for _, list := range [][]stage.Label{metadata, stream} {
		for _, name := range levelNames {
			for i := range list {
				if list[i].Name == name && len(list[i].Value) > 0 {
					return levelOf(string(list[i].Value))
				}
			}
		}
	}
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) > 1 && trimmed[0] == '{' && trimmed[len(trimmed)-1] == '}' {
		if level := jsonLevel(trimmed); level != "" {
			return level
		}
	} else if level := slowLogfmtLevel(trimmed); level != "" {
		return level
	}
	for _, mark := range levelMarks {
		for _, word := range mark.words {
			if bytes.Contains(line, []byte(word)) {
				return mark.level
			}
		}
	}
	return unknownLevel
}

// TestDetectLevel: the level of a line is that of a search for each name and each word in turn.
func TestDetectLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 81))
	pieces := []string{"level", "=", "info", "INFO", "err:", "erro", "error", "Warn", "warn:", "warning", "crit",
		"critical:", "debug", ":", "DEBUG:", " ", "\t", `"`, "lvl=", "severity_text=", "xlevel=", "level=level=", "{",
		"}", `{"level":"`, `"lvl" : "err"`, "w", "i", "e", "c", "d", "WARNING", "Level=dbg", "_", "=="}
	pick := func(most int) string {
		var b strings.Builder
		for range r.IntN(most) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	names := append([]string{"app", "", "lx", "Service", "host"}, levelNames...)
	labels := func() (list []stage.Label) {
		for range r.IntN(6) - 3 {
			list = append(list, stage.Label{Name: names[r.IntN(len(names))], Value: []byte(pick(2))})
		}
		return list
	}
	seen := map[string]int{}
	for range 200_000 {
		line, metadata, stream := []byte(pick(9)), labels(), labels()
		want := slowLevel(line, metadata, stream)
		if got := detectLevel(line, metadata, stream); got != want {
			t.Fatalf("%q %v %v: %s, want %s", line, metadata, stream, got, want)
		}
		seen[want]++
	}
	for _, level := range []string{"info", "error", "warn", "critical", "debug", unknownLevel} {
		if seen[level] < 100 {
			t.Errorf("%d lines of level %s", seen[level], level)
		}
	}
}

// TestLevelOfLongLines: many names of levels without a level, behind which no blank comes, are not read to the end of
// the line each.
func TestLevelOfLongLines(t *testing.T) {
	for _, piece := range []string{"\tlevel=x", "\tlevel=\"", "\tlevel=informational"} {
		line := []byte(strings.Repeat(piece, 1<<10) + "z")
		want := slowLogfmtLevel(line)
		if got := logfmtLevel(line); got != want {
			t.Errorf("%q: %q, want %q", piece, got, want)
		}
		if n := testing.AllocsPerRun(1, func() { logfmtLevel(line) }); n > 100 {
			t.Errorf("%q: %.0f copies for a line", piece, n)
		}
	}
}
