package main

import (
	"cmp"
	_ "embed" // for VERSION
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/cpu"

	"varve/server/dashboard"
)

//go:embed VERSION
var versionFile string

// What the linker may set, as make build does for the last two. The version is that of VERSION otherwise, and the
// commit the one that the go command found the tree at.
var (
	version string
	commit  string
	branch  string
)

func init() {
	version = cmp.Or(version, strings.TrimSpace(versionFile))
	commit = cmp.Or(commit, buildSetting("vcs.revision"), "unknown")
	branch = cmp.Or(branch, "unknown")
}

// buildSetting is what the go command noted of a build under a key; empty: nothing.
func buildSetting(key string) string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

type versionCommand struct {
	JSON bool `name:"json" help:"Print as JSON."`
}

// Help is what varve version --help says besides.
func (versionCommand) Help() string { return examples("varve version", "varve version --json") }

// buildFacts are what is known of how the program was built.
type buildFacts struct {
	Version   string   `json:"version"`
	Commit    string   `json:"commit"`
	Branch    string   `json:"branch"`
	Modified  bool     `json:"modified"` // the tree held changes that are in no commit
	Date      string   `json:"date"`     // of the commit, RFC 3339; empty: unknown
	Go        string   `json:"go"`
	OS        string   `json:"os"`
	Arch      string   `json:"arch"`
	GOAMD64   string   `json:"goamd64,omitempty"`
	Tags      []string `json:"tags"`
	Dashboard bool     `json:"dashboard"`
	Hint      string   `json:"hint,omitempty"`
}

// facts are those of this program.
func facts() buildFacts {
	f := buildFacts{
		Version: version, Commit: commit, Branch: branch, Modified: buildSetting("vcs.modified") == "true",
		Date: buildSetting("vcs.time"),
		Go:   runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, GOAMD64: buildSetting("GOAMD64"),
		Tags:      []string{},
		Dashboard: dashboard.Assets() != nil,
	}
	if tags := buildSetting("-tags"); tags != "" {
		f.Tags = strings.Split(tags, ",")
	}
	f.Hint = variantHint(f.GOAMD64, processorVariant())
	return f
}

// processorVariant is the variant of GOAMD64 that this processor could run; empty: it is of another kind.
func processorVariant() string {
	x := &cpu.X86
	switch {
	case runtime.GOARCH != "amd64":
		return ""
	case !x.HasSSE3 || !x.HasSSSE3 || !x.HasSSE41 || !x.HasSSE42 || !x.HasPOPCNT || !x.HasCX16:
		return "v1"
	case !x.HasAVX || !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasFMA || !x.HasOSXSAVE:
		return "v2"
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512CD || !x.HasAVX512DQ || !x.HasAVX512VL:
		return "v3"
	}
	return "v4"
}

// variantHint says that a processor could run a higher variant than the program was built for.
func variantHint(built, could string) string {
	if built == "" || could <= built {
		return ""
	}
	return fmt.Sprintf("this processor could run a program built with GOAMD64=%s", could)
}

func (v *versionCommand) Run(s streams) error {
	f := facts()
	if v.JSON {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s\n", text)
		return err
	}
	changed := ""
	if f.Modified {
		changed = ", changed since"
	}
	board := "with"
	if !f.Dashboard {
		board = "without"
	}
	variant := ""
	if f.GOAMD64 != "" {
		variant = " " + f.GOAMD64
	}
	_, err := fmt.Fprintf(s.out, "varve %s (%s%s, %s, %s/%s%s)\ncommit of %s, %s the dashboard\n", f.Version, f.Commit,
		changed, f.Go, f.OS, f.Arch, variant, cmp.Or(f.Date, "an unknown day"), board)
	if err == nil && f.Hint != "" {
		_, err = fmt.Fprintln(s.out, f.Hint)
	}
	return err
}
