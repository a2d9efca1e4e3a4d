package main

import (
	"archive/tar"
	"bytes"
	"path"
	"slices"
	"strings"
	"time"
)

// tarball is a tar.gz of files below one directory: in the order of their paths, of owner 0, all of one time.
func tarball(root string, files []file, when time.Time) ([]byte, error) {
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	head := func(name string, kind byte, mode int64, size int) error {
		return w.WriteHeader(&tar.Header{Typeflag: kind, Name: name, Mode: mode, Size: int64(size), ModTime: when,
			Format: tar.FormatUSTAR})
	}
	for _, dir := range directories(files) {
		if err := head(path.Join(root, dir)+"/", tar.TypeDir, 0o755, 0); err != nil {
			return nil, err
		}
	}
	for _, f := range sorted(files) {
		if err := head(path.Join(root, f.path), tar.TypeReg, int64(f.mode), len(f.data)); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zipped(plain.Bytes()), nil
}

// directories are those that files lie in, each after the one around it; "." is the first.
func directories(files []file) []string {
	dirs := []string{"."}
	for _, f := range files {
		for dir := path.Dir(f.path); dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// sorted are files in the order of their paths.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.path, b.path) })
}
