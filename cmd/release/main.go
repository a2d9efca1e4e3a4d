// Command release makes what a release of Varve consists of: archives, Debian packages, the list of what is in the
// program, and sums.
//
//	go run ./cmd/release              into dist
//	go run ./cmd/release -out DIR
//
// A release is a commit. The program clones the commit into two directories and builds everything in each, the second
// time without the cache of compiled packages. It fails when the two results differ by a byte: no directory, day or
// machine shows in a release. Times in archives are those of the commit, or SOURCE_DATE_EPOCH if the environment sets
// it. The program needs git, dpkg-deb and the go command, 3 GB for temporary files, and some minutes; it prints its
// progress to standard error. Ctrl-C stops it and leaves nothing behind.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	out := flag.String("out", "dist",
		"the directory that gets the files of the release; it must not exist, or be one that a release filled")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes the release of the commit that the tree of the working directory is at.
func run(ctx context.Context, out string) error {
	changed, err := output(ctx, "", nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("a release is a commit, and the tree has changes that are in none:\n%s", changed)
	}
	when, err := commitTime(ctx)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "varve-release-")
	if err != nil {
		return err
	}
	err = makeTwice(ctx, scratch, when, out)
	return errors.Join(err, os.RemoveAll(scratch))
}

// commitTime is the time of what is made: that of SOURCE_DATE_EPOCH, in seconds, or of the commit.
func commitTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = output(ctx, "", nil, "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q: %w", text, err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// makeTwice makes the release in two directories below scratch, whose names differ in length, and moves it to out when
// both are equal.
func makeTwice(ctx context.Context, scratch string, when time.Time, out string) error {
	trees := [2]string{filepath.Join(scratch, "a"), filepath.Join(scratch, "another-one")}
	for _, tree := range trees { // both now: the tree may go on to other commits meanwhile
		if _, err := output(ctx, "", nil, "git", "clone", "--quiet", "--no-hardlinks", ".", tree); err != nil {
			return err
		}
	}
	var made [2]string
	var parts [2]*contents
	for i, tree := range trees {
		b := builder{tree: tree, when: when, note: func(what string) {
			fmt.Fprintf(os.Stderr, "release: %d of 2: %s\n", i+1, what)
		}}
		if i > 0 {
			b.cache = filepath.Join(scratch, "cache")
		}
		var err error
		if parts[i], err = b.contents(ctx); err != nil {
			return err
		}
		made[i] = filepath.Join(tree, "dist")
	}
	fmt.Fprintln(os.Stderr, "release: packing both")
	if err := packAll(ctx, made, parts); err != nil {
		return err
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
		return fmt.Errorf("two builds differ:\n%s\n%s", sums, again)
	}
	if err := os.WriteFile(filepath.Join(made[0], "SHA256SUMS"), []byte(sums), 0o644); err != nil {
		return err
	}
	fmt.Print(sums)
	return deliver(made[0], out)
}

// packAll writes both releases into new directories, at the same time: what packs them has one thread.
func packAll(ctx context.Context, dirs [2]string, parts [2]*contents) error {
	ended := make(chan error, len(dirs))
	for i, dir := range dirs {
		go func() {
			if err := os.Mkdir(dir, 0o755); err != nil {
				ended <- err
				return
			}
			ended <- parts[i].write(ctx, dir)
		}()
	}
	return errors.Join(<-ended, <-ended)
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

// deliver puts the files of a directory into out in place of the release that is there. Anything else that is there
// stays, and is an error.
func deliver(dir, out string) error {
	old, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	isReleased := func(e os.DirEntry) bool {
		return e.Name() == "SHA256SUMS" || strings.HasPrefix(e.Name(), "varve-") ||
			strings.HasPrefix(e.Name(), "varve_")
	}
	for _, e := range old {
		if !isReleased(e) {
			return fmt.Errorf("%s holds %s, which is not a file of a release", out, e.Name())
		}
	}
	for _, e := range old {
		if err := os.Remove(filepath.Join(out, e.Name())); err != nil {
			return err
		}
	}
	return os.CopyFS(out, os.DirFS(dir))
}

// output runs a command in a directory, with variables besides those of the environment, and gives what it prints
// without the last line break. Its error has what it complains about.
func output(ctx context.Context, dir string, environ []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	// the go command removes its own temporary files then
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.Dir, c.Env = dir, slices.Concat(os.Environ(), environ)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("stopped while %s ran", name)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
