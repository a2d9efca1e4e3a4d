package shell

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"varve/cmd/varve/client"
)

// mostHistory is how many statements are kept, longestHistory the longest of them, bytes.
const (
	mostHistory    = 10_000
	longestHistory = 64 << 10
)

// history is what was typed, oldest first, also by earlier sessions: a file with a JSON text a line. One goroutine at a
// time.
type history struct {
	file string // empty: none is kept
	list []string
}

// secret finds what looks like a password in a statement.
var secret = client.Pattern(
	`(?i)(password|passwd|pwd|secret|api_?key|access_?key|token|identified)["']?\s*(=|:|'|\bby\b|\bto\b|\bwith\b)`)

// openHistory reads a file, of which the last statements count. One that is missing is made by the first statement.
func openHistory(file string) (*history, error) {
	h := &history{file: file}
	if file == "" {
		return h, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return &history{}, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	count := 0
	for lines.Scan() {
		var text string
		if json.Unmarshal(lines.Bytes(), &text) != nil {
			continue
		}
		count++
		h.list = append(h.list, text)
		if len(h.list) > 2*mostHistory {
			h.list = append(h.list[:0], h.list[len(h.list)-mostHistory:]...)
		}
	}
	h.list = h.list[max(0, len(h.list)-mostHistory):]
	if err := lines.Err(); err != nil {
		return h, err
	}
	if count > mostHistory+mostHistory/10 {
		return h, h.rewrite()
	}
	return h, nil
}

// rewrite makes the file of the list.
func (h *history) rewrite() error {
	var text []byte
	for _, s := range h.list {
		text = append(text, line(s)...)
	}
	temp, err := os.CreateTemp(filepath.Dir(h.file), ".history-") // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), h.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func line(s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("a text has no JSON form: " + err.Error())
	}
	return append(text, '\n')
}

// add takes a statement. What begins with a blank, holds what looks like a password or is very long is not kept, nor
// what was typed just before.
func (h *history) add(text string) error {
	text = strings.TrimRight(text, " \t\r\n")
	if text == "" || len(text) > longestHistory || text[0] == ' ' || text[0] == '\t' || secret().MatchString(text) ||
		len(h.list) > 0 && h.list[len(h.list)-1] == text {
		return nil
	}
	if h.list = append(h.list, text); len(h.list) > mostHistory {
		h.list = h.list[1:]
	}
	if h.file == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line(text))
	return errors.Join(err, f.Close())
}

// Write is how a line editor would add; the shell does so itself, once it knows what it has read.
func (h *history) Write(string) (int, error) { return len(h.list), nil }

// GetLine gives a statement to the line editor.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.list) {
		return "", errors.New("no such statement")
	}
	return h.list[i], nil
}

// Len is how many statements there are.
func (h *history) Len() int { return len(h.list) }

// Dump gives all statements to the line editor.
func (h *history) Dump() any { return h.list }
