// Command release makes what a release of Varve consists of: archives, Debian packages, the list of what is in the program, and sums.
//
//	go run ./cmd/release              into dist
//	go run ./cmd/release -out DIR
//
// A release is a commit. The program clones it into two directories, makes everything in each, the second time without the cache of
// compiled packages, and fails when one byte differs: nothing of a directory, of a day or of a machine is in what is made. Times in
// archives are the commit's, or SOURCE_DATE_EPOCH where the environment has it. It needs git, dpkg-deb and the go command.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "dist", "the directory that gets the files of the release; it must not exist, or be one that a release filled")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes the release of the commit that the tree of the working directory is at.
func run(out string) error {
	changed, err := output("", nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("a release is a commit, and the tree has changes that are in none:\n%s", changed)
	}
	when, err := commitTime()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "varve-release-")
	if err != nil {
		return err
	}
	err = makeTwice(scratch, when, out)
	return errors.Join(err, os.RemoveAll(scratch))
}

// commitTime is the time of what is made: that of SOURCE_DATE_EPOCH, in seconds, or of the commit.
func commitTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = output("", nil, "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q: %w", text, err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// makeTwice makes the release in two directories below scratch, whose names differ in length, and moves it to out when both are equal.
func makeTwice(scratch string, when time.Time, out string) error {
	var made [2]string
	for i, name := range []string{"a", "another-one"} {
		tree := filepath.Join(scratch, name)
		if _, err := output("", nil, "git", "clone", "--quiet", "--no-hardlinks", ".", tree); err != nil {
			return err
		}
		b := builder{tree: tree, when: when}
		if i > 0 {
			b.cache = filepath.Join(scratch, "cache")
		}
		made[i] = filepath.Join(tree, "dist")
		if err := b.make(made[i]); err != nil {
			return err
		}
	}
	sums, err := sumsOf(made[0])
	if err != nil {
		return err
	}
	again, err := sumsOf(made[1])
	if err != nil {
		return err
	}
	if sums != again {
		return fmt.Errorf("made twice, the files differ:\n%s\n%s", sums, again)
	}
	if err := os.WriteFile(filepath.Join(made[0], "SHA256SUMS"), []byte(sums), 0o644); err != nil {
		return err
	}
	fmt.Print(sums)
	return deliver(made[0], out)
}

// sumsOf lists the files of a directory with their SHA-256, as sha256sum -c reads them.
func sumsOf(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var list strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return list.String(), nil
}

// deliver puts the files of a directory into out in place of the release that is there. Anything else that is there stays, and is an
// error.
func deliver(dir, out string) error {
	old, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	isReleased := func(e os.DirEntry) bool {
		return e.Name() == "SHA256SUMS" || strings.HasPrefix(e.Name(), "varve-") || strings.HasPrefix(e.Name(), "varve_")
	}
	for _, e := range old {
		if !isReleased(e) {
			return fmt.Errorf("%s holds %s, which is no file of a release", out, e.Name())
		}
	}
	for _, e := range old {
		if err := os.Remove(filepath.Join(out, e.Name())); err != nil {
			return err
		}
	}
	return os.CopyFS(out, os.DirFS(dir))
}

// output runs a command in a directory, with variables besides those of the environment, and gives what it prints without the last
// line break. Its error has what it complains about.
func output(dir string, environ []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, slices.Concat(os.Environ(), environ)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
