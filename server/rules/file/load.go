package file

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Match returns the files that patterns name, sorted, each once. A pattern without a match is no error, as a directory
// of rules may be empty; one that cannot be read is.
func Match(patterns []string) ([]string, error) {
	var all []string
	for _, p := range patterns {
		names, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("rules.files: %q: %w", p, err)
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > MaxFiles {
		return nil, fmt.Errorf("rules.files names %d files, at most %d are read", len(all), MaxFiles)
	}
	return all, nil
}

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
