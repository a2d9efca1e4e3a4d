package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// dashboardLibraries lists the libraries of the dashboard in the form of go version -m, from the list that lies beside
// them.
func dashboardLibraries(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var list struct {
		Packages []struct{ Name, Version, Licence string }
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	var out strings.Builder
	for _, p := range list.Packages {
		fmt.Fprintf(&out, "npm\t%s\tv%s\t%s\n", p.Name, p.Version, p.Licence)
	}
	return out.String(), nil
}

// notices are the licences of everything that is in the program of any target: of Go, of the modules, and of the
// dashboard's libraries.
func (b *builder) notices(ctx context.Context) ([]byte, error) {
	texts := map[string][]string{} // the names of those that have a text, by it
	for _, t := range targets {
		environ, err := b.environ(t)
		if err != nil {
			return nil, err
		}
		list, err := output(ctx, b.tree, environ, "go", "list", "-deps", "-tags", "dashboard",
			"-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}",
			"./cmd/varve")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			parts := strings.Split(strings.TrimSpace(line), "\t")
			if len(parts) != 3 {
				continue // of the standard library, or our own
			}
			if err := collect(texts, parts[0], parts[1], parts[2]); err != nil {
				return nil, err
			}
		}
	}
	environ, err := b.environ(targets[0])
	if err != nil {
		return nil, err
	}
	root, err := output(ctx, b.tree, environ, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := collect(texts, "the standard library of Go", root, root); err != nil {
		return nil, err
	}
	board, err := os.ReadFile(filepath.Join(b.tree, "server/dashboard/libsrc/LICENSES.txt"))
	if err != nil {
		return nil, err
	}
	return append(printNotices(texts), board...), nil
}

// notice finds the files that hold licences and notices of copyright.
var notice = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([-.].*)?$`)

// collect takes the notices of a package's directory and of those above it up to its module's into texts. A module
// without any is an error.
func collect(texts map[string][]string, name, module, dir string) error {
	found := false
	for ; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !notice.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			found = true
			part, err := filepath.Rel(module, dir)
			if err != nil {
				return err
			}
			of := name
			if part != "." {
				of += " " + filepath.ToSlash(part)
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
			if !slices.Contains(texts[text], of) {
				texts[text] = append(texts[text], of)
			}
		}
		if dir == module {
			break
		}
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s", name, module)
	}
	return nil
}

// printNotices puts each text below the names of those that have it, in the order of the names.
func printNotices(texts map[string][]string) []byte {
	var blocks []string
	for text, names := range texts {
		slices.Sort(names)
		blocks = append(blocks, strings.Join(names, "\n")+"\n\n"+text+"\n\n"+strings.Repeat("-", 78)+"\n\n")
	}
	slices.Sort(blocks)
	return []byte(strings.Join(blocks, ""))
}
