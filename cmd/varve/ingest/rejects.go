package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unicode/utf8"
)

// rejects is the file of entries that cannot be stored. Safe for concurrent use.
type rejects struct {
	file string // empty: none
	most int    // negative: see Options.MaxRejects

	mu sync.Mutex
	f  *os.File
}

// rejected is a line of the file.
type rejected struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Error  string `json:"error"`
	Entry  string `json:"entry"`
	Base64 []byte `json:"entry_base64,omitempty"` // of an entry that is not UTF-8, besides
}

// add writes the n-th entry that was refused, or says that it is one too many.
func (r *rejects) add(file string, line int64, entry []byte, cause error, n int64) error {
	if r.most < 0 && r.file == "" || r.most >= 0 && n > int64(r.most) {
		where := fmt.Sprintf("%s, line %d: %.500q: %v", file, line, entry, cause)
		if r.most > 0 {
			return fmt.Errorf("more than %d entries were refused (--max-rejects); the last: %s", r.most, where)
		}
		return fmt.Errorf("%s. --rejects FILE sets such entries aside and goes on", where)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == "" {
		return nil
	}
	var err error
	if r.f == nil {
		if r.f, err = os.OpenFile(r.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
			return err
		}
	}
	record := rejected{File: file, Line: line, Error: cause.Error(), Entry: string(entry)}
	if !utf8.Valid(entry) {
		record.Base64 = entry
	}
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	_, err = r.f.Write(append(text, '\n'))
	return err
}

// where says where the rejects are.
func (r *rejects) where() string {
	if r.file == "" {
		return ""
	}
	return ", see " + r.file
}

// sync makes what was written outlive a crash of the machine.
func (r *rejects) sync() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		return nil
	}
	err := r.f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) { // a pipe or a terminal
		return nil
	}
	return err
}

func (r *rejects) close() error {
	if r.f == nil {
		return nil
	}
	return errors.Join(r.sync(), r.f.Close())
}
