package client

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestFileErrors: errors of local files say what is wrong in a sentence, and name the file once.
func TestFileErrors(t *testing.T) {
	open := func(err error) error { return &fs.PathError{Op: "open", Path: "/x/y", Err: err} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{open(syscall.EACCES), "/x/y: permission denied: this user has no right to it, `ls -ld` shows who has"},
		{open(syscall.EISDIR), "/x/y: it is a directory, expected a file"},
		{open(syscall.ENOENT), "/x/y: there is no such file or directory"},
		{fmt.Errorf("/x/y: %w", open(syscall.EISDIR)), "/x/y: it is a directory, expected a file"},
		{fmt.Errorf("table a: %w", open(syscall.ENOTDIR)),
			"table a: /x/y: a part of its path is a file, expected a directory"},
		{open(syscall.EMFILE), "open /x/y: too many open files"},
		{errors.New("other"), "other"},
	} {
		if got := Line(c.err); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if err := FileReason(open(syscall.EACCES)); !errors.Is(err, fs.ErrPermission) ||
		strings.Contains(err.Error(), "/x/y") {
		t.Errorf("got %v", err)
	}
	for head, want := range map[string]string{
		"\x7fELF\x00":  "it is a program, expected text",
		"LPKSHHRH\x00": "journalctl -o json --file FILE | varve x", "ORCA is a text": "<nil>",
		"\x1f\x8b": "it is packed with gzip: zcat FILE | varve x", "text": "<nil>", "": "<nil>",
	} {
		if got := fmt.Sprint(FileKind([]byte(head), "varve x")); !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", head, got, want)
		}
	}
}
