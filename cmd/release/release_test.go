package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// small are contents whose programs are none.
func small() *contents {
	c := &contents{
		version: "1.2.3-rc.1", when: time.Date(2026, 11, 23, 10, 22, 42, 0, time.UTC), programs: map[target][]byte{},
		config: []byte("# home\n" + dataHome + "#x = 1\n"), manual: []byte(".TH VARVE 1\n"), bash: []byte("# bash\n"),
		zsh: []byte("#compdef varve\n"), fish: []byte("# fish\n"),
		readme: []byte("# Varve\n"), notices: []byte("notices\n"), modules: []byte("path\tvarve\n"),
		changes: []byte("# Changes\n"), licence: []byte("do as you like\n"),
		pages: []file{{"docs/README.md", 0o644, []byte("# Documents\n")},
			{"docs/sql/tour.md", 0o644, []byte("# Tour\n")}},
	}
	for _, t := range targets {
		c.programs[t] = []byte("#!/bin/sh\necho " + t.String() + "\n")
	}
	return c
}

// unpacked lists what a tar holds: mode, owner, size, time and name of each, a line for one.
func unpacked(t *testing.T, r io.Reader) (list string, files map[string]string) {
	t.Helper()
	files = map[string]string{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return list, files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.ModTime.UTC().Format(time.RFC3339) != "2026-11-23T10:22:42Z" {
			t.Errorf("%s belongs to %d:%d, its time is %s", h.Name, h.Uid, h.Gid, h.ModTime.UTC())
		}
		list += fmt.Sprintf("%04o %s\n", h.Mode, h.Name)
		files[h.Name] = string(data)
	}
}

func TestArchive(t *testing.T) {
	c := small()
	linux, err := tarball("varve-1.2.3-linux-amd64", c.archive(targets[0]), c.when)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(linux))
	if err != nil {
		t.Fatal(err)
	}
	if !r.ModTime.IsZero() || r.Name != "" {
		t.Errorf("the archive was made at %s, as %q", r.ModTime, r.Name)
	}
	list, files := unpacked(t, r)
	const want = `0755 varve-1.2.3-linux-amd64/
0755 varve-1.2.3-linux-amd64/completions/
0755 varve-1.2.3-linux-amd64/docs/
0755 varve-1.2.3-linux-amd64/docs/sql/
0755 varve-1.2.3-linux-amd64/man/
0755 varve-1.2.3-linux-amd64/systemd/
0755 varve-1.2.3-linux-amd64/systemd/sysusers.d/
0644 varve-1.2.3-linux-amd64/CHANGELOG.md
0644 varve-1.2.3-linux-amd64/LICENSE
0644 varve-1.2.3-linux-amd64/NOTICES.txt
0644 varve-1.2.3-linux-amd64/README.md
0644 varve-1.2.3-linux-amd64/completions/_varve
0644 varve-1.2.3-linux-amd64/completions/varve.bash
0644 varve-1.2.3-linux-amd64/completions/varve.fish
0644 varve-1.2.3-linux-amd64/docs/README.md
0644 varve-1.2.3-linux-amd64/docs/sql/tour.md
0644 varve-1.2.3-linux-amd64/man/varve.1
0644 varve-1.2.3-linux-amd64/systemd/sysusers.d/varve.conf
0644 varve-1.2.3-linux-amd64/systemd/varve.service
0755 varve-1.2.3-linux-amd64/varve
0644 varve-1.2.3-linux-amd64/varve.toml
`
	if list != want {
		t.Errorf("the archive holds\n%swant\n%s", list, want)
	}
	if got := files["varve-1.2.3-linux-amd64/varve.toml"]; got != string(c.config) {
		t.Errorf("the example configuration is %q", got)
	}
	darwin := fmt.Sprint(c.archive(targets[2]))
	if strings.Contains(darwin, "systemd") || !strings.Contains(darwin, "{LICENSE ") {
		t.Errorf("the archive of darwin holds %s", darwin)
	}
}

// TestRelease looks at what a release writes, and writes it again in another directory: no byte differs. Where there is
// no dpkg-deb it says so and is done; where VARVE_NEED_DPKG is set there has to be one.
func TestRelease(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		if os.Getenv("VARVE_NEED_DPKG") != "" {
			t.Fatal(err)
		}
		t.Logf("%v: no package is made", err)
		return
	}
	one, two := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere, and later")
	if err := os.Mkdir(two, 0o700); err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, dir := range []string{one, two} {
		if err := small().write(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		var err error
		if sums[dir], err = sumsOf(dir); err != nil {
			t.Fatal(err)
		}
	}
	if sums[one] != sums[two] {
		t.Errorf("written twice:\n%s\n%s", sums[one], sums[two])
	}
	const names = "varve-1.2.3-rc.1-darwin-arm64.tar.gz varve-1.2.3-rc.1-linux-amd64.tar.gz varve-1.2.3-rc.1-linux-arm64.tar.gz varve-1.2.3-rc.1.modules.txt varve_1.2.3~rc.1_amd64.deb varve_1.2.3~rc.1_arm64.deb"
	if got := strings.Join(regexp.MustCompile(`varve\S+`).FindAllString(sums[one], -1), " "); got != names {
		t.Errorf("a release is %s, want %s", got, names)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		testPackage(t, arch, filepath.Join(one, "varve_1.2.3~rc.1_"+arch+".deb"))
	}
}

// testPackage looks into a package of small contents.
func testPackage(t *testing.T, arch, deb string) {
	run := func(args ...string) []byte {
		t.Helper()
		out, err := output(t.Context(), "", nil, "dpkg-deb", args...)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(out)
	}
	data, err := os.ReadFile(deb)
	if err != nil {
		t.Fatal(err)
	}
	// Whatever the clock says, the members of the package are of the time of the release.
	for _, member := range []string{"debian-binary", "control.tar.xz", "data.tar.xz"} {
		if head := fmt.Appendf(nil, "%-16s%-12d0     0     ", member, small().when.Unix()); !bytes.Contains(data,
			head) {
			t.Errorf("%s has no member that begins with %q", deb, head)
		}
	}
	fields := string(run("--field", deb))
	for _, want := range []string{"Package: varve\n", "Version: 1.2.3~rc.1\n", "Architecture: " + arch + "\n",
		"Maintainer: " + maintainer + "\n"} {
		if !strings.Contains(fields+"\n", want) {
			t.Errorf("%s lacks %q in\n%s", deb, want, fields)
		}
	}
	control, scripts := unpacked(t, bytes.NewReader(run("--ctrl-tarfile", deb)))
	if want := "0755 ./\n0644 ./conffiles\n0644 ./control\n0644 ./md5sums\n0755 ./postinst\n0755 ./postrm\n0755 ./prerm\n"; control != want {
		t.Errorf("control holds\n%swant\n%s", control, want)
	}
	if scripts["./conffiles"] != "/etc/varve/varve.toml\n" {
		t.Errorf("conffiles are %q", scripts["./conffiles"])
	}
	list, files := unpacked(t, bytes.NewReader(run("--fsys-tarfile", deb)))
	var plain []string
	for line := range strings.Lines(list) {
		mode, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if want := map[bool]string{true: "0755",
			false: "0644"}[strings.HasSuffix(name, "/") || strings.HasPrefix(name, "./usr/bin/")]; mode != want {
			t.Errorf("%s has mode %s", name, mode)
		}
		if !strings.HasSuffix(name, "/") {
			plain = append(plain, name[1:])
		}
	}
	const want = `/etc/varve/varve.toml
/usr/bin/varve
/usr/lib/systemd/system/varve.service
/usr/lib/sysusers.d/varve.conf
/usr/share/bash-completion/completions/varve
/usr/share/doc/varve/CHANGELOG.md.gz
/usr/share/doc/varve/NOTICES.txt.gz
/usr/share/doc/varve/README.md
/usr/share/doc/varve/changelog.gz
/usr/share/doc/varve/copyright
/usr/share/doc/varve/docs/README.md
/usr/share/doc/varve/docs/sql/tour.md
/usr/share/doc/varve/varve.modules.txt
/usr/share/fish/vendor_completions.d/varve.fish
/usr/share/lintian/overrides/varve
/usr/share/man/man1/varve.1.gz
/usr/share/zsh/vendor-completions/_varve`
	if got := strings.Join(plain, "\n"); got != want {
		t.Errorf("the package installs\n%s\nwant\n%s", got, want)
	}
	if got := files["./usr/bin/varve"]; got != "#!/bin/sh\necho linux-"+arch+"\n" {
		t.Errorf("the program is %q", got)
	}
	if got := files["./etc/varve/varve.toml"]; got != "# home\n"+dataHomeService+"#x = 1\n" {
		t.Errorf("the configuration is %q", got)
	}
}

// TestScripts: what runs at installation is what sh reads, and ends at the first failure.
func TestScripts(t *testing.T) {
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		text := asset("debian/" + name)
		if !bytes.HasPrefix(text, []byte("#!/bin/sh\nset -e\n")) {
			t.Errorf("%s begins with %.40q", name, text)
		}
		c := exec.Command("sh", "-n")
		c.Stdin = bytes.NewReader(text)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// TestImageIsBuiltAlike: the image's Go is the toolchain of go.mod, and it is built with the flags of releases.
func TestImageIsBuiltAlike(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	docker, err := os.ReadFile("container/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	toolchain := toolchainLine.FindSubmatch(mod)
	if toolchain == nil {
		t.Fatal("go.mod names no toolchain")
	}
	for _, want := range []string{
		"FROM golang:" + strings.TrimPrefix(string(toolchain[1]), "go") + "-",
		"CGO_ENABLED=0 go build -trimpath -tags dashboard -ldflags '-s -w -buildid='",
	} {
		if !bytes.Contains(docker, []byte(want)) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
}

// TestNotices: a package has the notices of its directory and those above it up to its module's, equal ones are printed
// once.
func TestNotices(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/LICENSE": "free\r\n", "a/sub/NOTICE.md": "by us\n", "a/sub/notice.go": "package sub\n",
		"b/COPYING": "free\n", "c/main.go": "package main\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts := map[string][]string{}
	for _, c := range [][2]string{{"b", "b"}, {"a", "a/sub"}, {"a", "a"}} {
		if err := collect(texts, c[0]+" v1", filepath.Join(root, c[0]), filepath.Join(root, c[1])); err != nil {
			t.Fatal(err)
		}
	}
	line := "\n\n" + strings.Repeat("-", 78) + "\n\n"
	if got, want := string(printNotices(texts)), "a v1\nb v1\n\nfree"+line+"a v1 sub\n\nby us"+line; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if err := collect(texts, "c v1", filepath.Join(root, "c"), filepath.Join(root, "c")); err == nil {
		t.Error("a module without a licence is taken")
	}
}

// TestDeliver: a release takes the place of another, and of nothing else.
func TestDeliver(t *testing.T) {
	made, out := t.TempDir(), filepath.Join(t.TempDir(), "dist")
	put := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(made, "varve-2.tar.gz", "new")
	put(made, "SHA256SUMS", "sums")
	if err := deliver(made, out); err != nil {
		t.Fatal(err)
	}
	put(out, "varve-1.tar.gz", "old")
	if err := deliver(made, out); err != nil {
		t.Fatal(err)
	}
	sums, err := sumsOf(out)
	if want := fmt.Sprintf("%x  SHA256SUMS\n%x  varve-2.tar.gz\n", sha256.Sum256([]byte("sums")),
		sha256.Sum256([]byte("new"))); err != nil || sums != want {
		t.Errorf("%s, %v, want %s", sums, err, want)
	}
	put(out, "letter.txt", "dear")
	if err := deliver(made, out); err == nil || !strings.Contains(err.Error(), "letter.txt") {
		t.Errorf("a directory of other things is taken: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "letter.txt")); err != nil || string(b) != "dear" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestUnit: the unit waits for the replay, restarts what fails or hangs, and leaves the server what it needs and no
// more.
func TestUnit(t *testing.T) {
	lines := strings.Split(string(asset("systemd/varve.service")), "\n")
	for want := range strings.FieldsSeq(
		`Type=notify User=varve StateDirectory=varve Restart=on-failure RestartSec=2 TimeoutStartSec=infinity TimeoutStopSec=120
		WatchdogSec=30 LimitNOFILE=1048576 OOMScoreAdjust=-500 NoNewPrivileges=yes ProtectSystem=strict ProtectHome=yes PrivateTmp=yes PrivateDevices=yes
		ProtectKernelTunables=yes ProtectKernelModules=yes ProtectKernelLogs=yes ProtectControlGroups=yes ProtectClock=yes RestrictNamespaces=yes RestrictRealtime=yes
		LockPersonality=yes SystemCallFilter=@system-service SystemCallArchitectures=native CapabilityBoundingSet=CAP_NET_BIND_SERVICE AmbientCapabilities=CAP_NET_BIND_SERVICE UMask=0077`) {
		if !slices.Contains(lines, want) {
			t.Errorf("the unit lacks %s", want)
		}
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "MemoryDenyWriteExecute") {
			t.Errorf("%s: the JSON library generates code", line)
		}
		if strings.HasPrefix(line, "PrivateUsers") {
			t.Errorf("%s: in a user namespace of its own the server may not listen on port 514", line)
		}
	}
}
