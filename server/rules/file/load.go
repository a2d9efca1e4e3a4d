package file

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Match returns the files that patterns name, sorted, each once. A pattern without a match is no error, as a directory
// of rules may be empty or not there yet; a wrong pattern is, and a directory that cannot be read.
func Match(patterns []string) ([]string, error) {
	var all []string
	for _, p := range patterns {
		names, err := glob(p)
		if err != nil {
			return nil, fmt.Errorf("rules.files: %q: %w", p, err)
		}
		if all = append(all, names...); len(all) > 2*MaxFiles {
			break
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > MaxFiles {
		return nil, fmt.Errorf("rules.files names more than %d files, no more are read", MaxFiles)
	}
	return all, nil
}

// glob is filepath.Glob that says what it cannot read.
func glob(pattern string) ([]string, error) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, err
	}
	if !strings.ContainsAny(pattern, special) {
		_, err := os.Lstat(pattern)
		if absent(err) {
			return nil, nil
		}
		return []string{pattern}, err
	}
	at, last := filepath.Split(pattern)
	at = strings.TrimSuffix(at, string(filepath.Separator))
	if at == "" {
		at = pattern[:len(pattern)-len(last)] // the root, or nothing
	}
	places := []string{at}
	if strings.ContainsAny(at, special) {
		var err error
		if places, err = glob(at); err != nil {
			return nil, err
		}
	}
	var all []string
	for _, place := range places {
		list, err := os.ReadDir(cmp.Or(place, "."))
		if absent(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			if ok, err := filepath.Match(last, one.Name()); err != nil {
				return nil, err
			} else if ok {
				all = append(all, filepath.Join(place, one.Name()))
			}
		}
	}
	return all, nil
}

// special are the characters that make a name a pattern.
const special = `*?[\`

// absent reports whether an error says that there is no such file or directory.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// Open reads the file of a name. The error is of type Errors.
func Open(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, Errors{{File: name, Text: err.Error()}}
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, Errors{{File: name, Text: err.Error()}}
	}
	return Parse(name, text)
}
