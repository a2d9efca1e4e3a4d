package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// maintainer of the package.
const maintainer = "Varve maintainers <maintainers@varve.invalid>"

// debianPackage writes the package of a target into a directory. dpkg-deb makes it, of a tree that is staged beside it:
// its owners are root, its times the release's.
func (c *contents) debianPackage(ctx context.Context, t target, dir string) (err error) {
	files, err := c.installed(t)
	if err != nil {
		return err
	}
	control, err := c.control(t, files)
	if err != nil {
		return err
	}
	stage, err := os.MkdirTemp("", "varve-package-")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(stage)) }()
	if err := c.stage(stage, append(files, control...)); err != nil {
		return err
	}
	environ := []string{
		"SOURCE_DATE_EPOCH=" + strconv.FormatInt(c.when.Unix(), 10),
		"DPKG_DEB_THREADS_MAX=1", // how many there are decides on where the compressor begins anew
	}
	name := fmt.Sprintf("varve_%s_%s.deb", c.debianVersion(), t.arch)
	_, err = output(ctx, "", environ, "dpkg-deb", "--root-owner-group", "-Zxz", "--build", stage,
		filepath.Join(dir, name))
	return err
}

// debianVersion is the version as packages compare it: what comes before a release, as in 1.0.0-rc.1, is less than it.
func (c *contents) debianVersion() string { return strings.Replace(c.version, "-", "~", 1) }

// control are the files that tell the package manager what the package is and what to do with it.
func (c *contents) control(t target, files []file) ([]file, error) {
	bytesOf, sums, conffiles := 0, "", ""
	for _, f := range sorted(files) {
		bytesOf += len(f.data)
		if strings.HasPrefix(f.path, "etc/") {
			conffiles += "/" + f.path + "\n"
		} else {
			sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.path)
		}
	}
	form, err := template.New("control").Parse(string(asset("debian/control")))
	if err != nil {
		return nil, err
	}
	var control bytes.Buffer
	if err := form.Execute(&control, map[string]any{
		"Version": c.debianVersion(), "Arch": t.arch, "Maintainer": maintainer, "InstalledKiB": (bytesOf + 1023) / 1024,
	}); err != nil {
		return nil, err
	}
	return []file{
		{"DEBIAN/control", 0o644, control.Bytes()},
		{"DEBIAN/conffiles", 0o644, []byte(conffiles)},
		{"DEBIAN/md5sums", 0o644, []byte(sums)},
		{"DEBIAN/postinst", 0o755, asset("debian/postinst")},
		{"DEBIAN/prerm", 0o755, asset("debian/prerm")},
		{"DEBIAN/postrm", 0o755, asset("debian/postrm")},
	}, nil
}

// changelog says which release it is, as packages have to.
func (c *contents) changelog() []byte {
	return fmt.Appendf(nil, "varve (%s) stable; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n", c.debianVersion(),
		c.version, maintainer, c.when.Format(time.RFC1123Z))
}

// stage lays files out below a directory, with modes and times that follow from neither the user nor the clock.
func (c *contents) stage(root string, files []file) error {
	dirs := directories(files)
	for _, dir := range dirs {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	for _, f := range files {
		name := filepath.Join(root, f.path)
		if err := os.WriteFile(name, f.data, f.mode); err != nil {
			return err
		}
		if err := settle(name, f.mode, c.when); err != nil {
			return err
		}
	}
	for _, dir := range dirs {
		if err := settle(filepath.Join(root, dir), 0o755, c.when); err != nil {
			return err
		}
	}
	return nil
}

// settle gives a file its mode and time.
func settle(name string, mode os.FileMode, when time.Time) error {
	return errors.Join(os.Chmod(name, mode), os.Chtimes(name, when, when))
}
