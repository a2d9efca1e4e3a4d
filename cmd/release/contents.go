package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

//go:embed systemd debian
var shipped embed.FS

// contents is what the files of a release are made of.
type contents struct {
	version  string
	when     time.Time // of every file
	programs map[target][]byte

	config, manual, bash, zsh, fish []byte // as the program prints them
	readme, changes, licence        []byte
	pages                           []file // of docs, by their paths in the tree
	notices                         []byte // of what the program contains
	modules                         []byte // what it contains
}

// file is one file of an archive or a package; directories follow from the paths.
type file struct {
	path string // with slashes, relative
	mode fs.FileMode
	data []byte
}

// dataHome is the line of the commented configuration that a package uncomments: a service has its data elsewhere than
// a program that somebody starts in a directory.
const (
	dataHome        = "#data_home = \"./data\"\n"
	dataHomeService = "data_home = \"/var/lib/varve\"\n"
)

// write writes the files of the release into a directory.
func (c *contents) write(ctx context.Context, dir string) error {
	for _, t := range targets {
		name := fmt.Sprintf("varve-%s-%s", c.version, t)
		packed, err := tarball(name, c.archive(t), c.when)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".tar.gz"), packed, 0o644); err != nil {
			return err
		}
		if !t.debian {
			continue
		}
		if err := c.debianPackage(ctx, t, dir); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "varve-"+c.version+".modules.txt"), c.modules, 0o644)
}

// archive are the files of the archive of a target.
func (c *contents) archive(t target) []file {
	files := []file{
		{"varve", 0o755, c.programs[t]},
		{"README.md", 0o644, c.readme},
		{"CHANGELOG.md", 0o644, c.changes},
		{"LICENSE", 0o644, c.licence},
		{"NOTICES.txt", 0o644, c.notices},
		{"varve.toml", 0o644, c.config},
		{"man/varve.1", 0o644, c.manual},
		{"completions/varve.bash", 0o644, c.bash},
		{"completions/_varve", 0o644, c.zsh},
		{"completions/varve.fish", 0o644, c.fish},
	}
	if t.os == "linux" {
		files = append(files, file{"systemd/varve.service", 0o644, asset("systemd/varve.service")},
			file{"systemd/sysusers.d/varve.conf", 0o644, asset("systemd/sysusers.conf")})
	}
	return append(files, c.pages...)
}

// installed are the files that the package of a target installs.
func (c *contents) installed(t target) ([]file, error) {
	config := strings.Replace(string(c.config), dataHome, dataHomeService, 1)
	if config == string(c.config) {
		return nil, fmt.Errorf("the configuration has no line %q", dataHome)
	}
	const doc = "usr/share/doc/varve/"
	files := []file{
		{"usr/bin/varve", 0o755, c.programs[t]},
		{"etc/varve/varve.toml", 0o644, []byte(config)},
		{"usr/lib/systemd/system/varve.service", 0o644, asset("systemd/varve.service")},
		{"usr/lib/sysusers.d/varve.conf", 0o644, asset("systemd/sysusers.conf")},
		{"usr/share/bash-completion/completions/varve", 0o644, c.bash},
		{"usr/share/zsh/vendor-completions/_varve", 0o644, c.zsh},
		{"usr/share/fish/vendor_completions.d/varve.fish", 0o644, c.fish},
		{"usr/share/man/man1/varve.1.gz", 0o644, zipped(c.manual)},
		{"usr/share/lintian/overrides/varve", 0o644, asset("debian/lintian-overrides")},
		{doc + "copyright", 0o644, append(asset("debian/copyright"), c.licence...)},
		{doc + "changelog.gz", 0o644, zipped(c.changelog())},
		{doc + "NOTICES.txt.gz", 0o644, zipped(c.notices)},
		{doc + "varve.modules.txt", 0o644, c.modules},
		{doc + "README.md", 0o644, c.readme},
		{doc + "CHANGELOG.md.gz", 0o644, zipped(c.changes)},
	}
	for _, p := range c.pages {
		files = append(files, file{doc + p.path, p.mode, p.data})
	}
	return files, nil
}

// asset is a file that is shipped as it lies in the tree.
func asset(name string) []byte {
	data, err := shipped.ReadFile(name)
	if err != nil {
		panic("release: " + err.Error()) // it is embedded, or the name is wrong
	}
	return data
}

// zipped is data as gzip, without name and time.
func zipped(data []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("release: " + err.Error()) // a buffer takes everything
	}
	return out.Bytes()
}
