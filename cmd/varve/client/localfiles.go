package client

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// fileReasons are sentences for what systems say of local files in a word.
var fileReasons = []struct {
	is  error
	say string
}{
	{fs.ErrNotExist, "there is no such file or directory"},
	{fs.ErrPermission, "permission denied: this user has no right to it, `ls -ld` shows who has"},
	{syscall.EISDIR, "it is a directory, expected a file"},
	{syscall.ENOTDIR, "a part of its path is a file, expected a directory"},
	{syscall.ENOSPC, "no space left on the device"},
	{syscall.EROFS, "its file system is read-only"},
}

// FileReason says in a sentence what is wrong with a local file, without its name; other errors stay as they are.
func FileReason(err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return err
	}
	for _, r := range fileReasons {
		if errors.Is(at.Err, r.is) {
			return &fileError{r.say, err}
		}
	}
	return err
}

// fileError is an error with a text of its own.
type fileError struct {
	text string
	err  error
}

func (e *fileError) Error() string { return e.text }
func (e *fileError) Unwrap() error { return e.err }

// sayFiles puts sentences in the place of what the system says of a local file in the text of an error.
func sayFiles(err error) string {
	text := err.Error()
	var at *fs.PathError
	if !errors.As(err, &at) {
		return text
	}
	reason := FileReason(at).Error()
	if reason == at.Error() {
		return text
	}
	text = strings.Replace(text, at.Path+": "+at.Error(), at.Path+": "+reason, 1) // named by who wrapped it
	return strings.Replace(text, at.Error(), at.Path+": "+reason, 1)
}

// fileKinds are how files begin that are no text, and what makes text of them.
var fileKinds = []struct{ begin, name, tool string }{
	{"\x1f\x8b", "packed with gzip", "zcat"},
	{"\x28\xb5\x2f\xfd", "packed with zstd", "zstd -dc"},
	{"BZh", "packed with bzip2", "bzcat"},
	{"\xfd7zXZ\x00", "packed with xz", "xz -dc"},
	{"\x04\x22\x4d\x18", "packed with lz4", "lz4 -dc"},
	{"\xff\x06\x00\x00sNaPpY", "packed with snappy", "snzip -dc"},
	{"LZIP\x01", "packed with lzip", "lzip -dc"},
	{"\x89LZO", "packed with lzop", "lzop -dc"},
	{"\x1f\x9d", "packed with compress", "zcat"},
	{"PK\x03\x04", "a zip archive", "unzip -p"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x -so"},
	{"Rar!\x1a\x07", "a rar archive", "unrar p -inul"},
	{"LPKSHHRH", "a journal of systemd", "journalctl -o json --file"},
	{"Obj\x01", "Avro", "avro cat"},
	{"ORC", "ORC", ""},
	{"SQLite format 3\x00", "a database of SQLite", ""},
	{"\x7fELF", "a program", ""},
	{"%PDF-", "a PDF document", ""},
	{"\x89PNG\r\n", "a picture", ""},
	{"\xff\xd8\xff", "a picture", ""},
	{"ElfFile\x00", "an event log of Windows", ""},
	{"\xd4\xc3\xb2\xa1", "a capture of packets", "tshark -T ek -r"},
	{"PAR1", "Parquet", ""},
	{"ARROW1\x00\x00", "Arrow", ""},
}

// FileKind says what a file is that holds no text, by its beginning, and what to do with it; nil: it may be text.
func FileKind(head []byte, command string) error {
	for _, k := range fileKinds {
		switch {
		case !bytes.HasPrefix(head, []byte(k.begin)):
		case k.tool != "":
			return fmt.Errorf("it is %s: %s FILE | %s", k.name, k.tool, command)
		case bytes.IndexByte(head, 0) >= 0: // else it is a text that begins so
			return fmt.Errorf("it is %s, expected text", k.name)
		}
	}
	return nil
}
