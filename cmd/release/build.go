package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// target is a system that the program is built for.
type target struct {
	os, arch string
	debian   bool // it gets a package
}

func (t target) String() string { return t.os + "-" + t.arch }

// targets are those of a release. The first two get packages, of the same names of architectures.
var targets = []target{{"linux", "amd64", true}, {"linux", "arm64", true}, {"darwin", "arm64", false}}

// builder makes the files of a release from a tree.
type builder struct {
	tree  string    // a clean checkout
	cache string    // of compiled packages; empty: the one of the go command
	when  time.Time // of all files in archives
	note  func(what string)
}

// contents makes what the files of the release are made of.
func (b *builder) contents(ctx context.Context) (*contents, error) {
	version, err := os.ReadFile(filepath.Join(b.tree, "cmd/varve/VERSION"))
	if err != nil {
		return nil, err
	}
	c := &contents{version: strings.TrimSpace(string(version)), when: b.when, programs: map[target][]byte{}}
	programs := filepath.Join(b.tree, "bin")
	for _, t := range targets {
		file := filepath.Join(programs, "varve-"+t.String())
		begun := time.Now()
		if err := b.build(ctx, t, file); err != nil {
			return nil, err
		}
		if c.programs[t], err = os.ReadFile(file); err != nil {
			return nil, err
		}
		b.note(fmt.Sprintf("%s built in %s, %d bytes", t, time.Since(begun).Round(time.Second), len(c.programs[t])))
	}
	native := filepath.Join(programs, "varve-"+runtime.GOOS+"-"+runtime.GOARCH)
	if err := c.ask(ctx, native); err != nil {
		return nil, err
	}
	for name, into := range map[string]*[]byte{"README.md": &c.readme, "CHANGELOG.md": &c.changes,
		"LICENSE": &c.licence} {
		if *into, err = os.ReadFile(filepath.Join(b.tree, name)); err != nil {
			return nil, err
		}
	}
	if c.pages, err = pages(b.tree); err != nil {
		return nil, err
	}
	if err := b.libraries(ctx, c, filepath.Join(programs, "varve-linux-amd64")); err != nil {
		return nil, err
	}
	return c, nil
}

// pages are the documents of a tree, with the pipelines and the picture that they show.
func pages(tree string) (list []file, err error) {
	err = filepath.WalkDir(filepath.Join(tree, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".yaml", ".png"}, filepath.Ext(path)) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(tree, path)
		list = append(list, file{filepath.ToSlash(name), 0o644, data})
		return err
	})
	return list, err
}

// toolchainLine names the version of Go that a release is built with.
var toolchainLine = regexp.MustCompile(`(?m)^toolchain (\S+)$`)

// environ is what the go command needs to know for a target, and what it must not take from whoever makes the release.
func (b *builder) environ(t target) ([]string, error) {
	mod, err := os.ReadFile(filepath.Join(b.tree, "go.mod"))
	if err != nil {
		return nil, err
	}
	toolchain := toolchainLine.FindSubmatch(mod)
	if toolchain == nil {
		return nil, fmt.Errorf("go.mod names no toolchain")
	}
	e := []string{
		"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=",
		"GOFIPS140=off",
		"GOWORK=off", "GOTOOLCHAIN=" + string(toolchain[1]),
	}
	if b.cache != "" {
		e = append(e, "GOCACHE="+b.cache)
	}
	return e, nil
}

// build builds the program for a target.
func (b *builder) build(ctx context.Context, t target, file string) error {
	environ, err := b.environ(t)
	if err != nil {
		return err
	}
	_, err = output(ctx, b.tree, environ, "go", "build", "-trimpath", "-buildvcs=true", "-tags", "dashboard",
		"-ldflags", "-s -w -buildid=", "-o", file, "./cmd/varve")
	return err
}

// ask has a program that runs here print what goes with it.
func (c *contents) ask(ctx context.Context, program string) error {
	for _, q := range []struct {
		into *[]byte
		args []string
	}{
		{&c.config, []string{"config", "default"}},
		{&c.manual, []string{"help", "--man"}},
		{&c.bash, []string{"completion", "bash"}},
		{&c.zsh, []string{"completion", "zsh"}},
		{&c.fish, []string{"completion", "fish"}},
	} {
		text, err := output(ctx, "", nil, program, q.args...)
		if err != nil {
			return err
		}
		*q.into = []byte(text + "\n")
	}
	return nil
}

// libraries notes what the program is made of, and the notices of it.
func (b *builder) libraries(ctx context.Context, c *contents, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	board, err := dashboardLibraries(filepath.Join(b.tree, "server/dashboard/web/lib/LIBRARIES.json"))
	if err != nil {
		return err
	}
	c.modules = []byte(info.String() + board)
	c.notices, err = b.notices(ctx)
	return err
}
