package varve_test

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	// maxTracked is the size of the largest file that may lie in the tree, in bytes: source and small test data.
	maxTracked = 1 << 20
	// maxLines is where a source file is no longer one room.
	maxLines = 900
)

// foreign finds what must not stand in the tree: paths of the machine it was written on and another maker's names. The
// patterns are written so that they do not find themselves.
var foreign = regexp.MustCompile(`(?i)grep[t]ime|/wor[k]/|/roo[t]/|/hom[e]/[a-z]|/tm[p]/(brief|bash)`)

// unfinished finds notes of work left undone.
var unfinished = regexp.MustCompile(`\b(TOD[O]|FIXM[E]|XX[X])\b`)

// waits finds tests that wait by the clock or are left out.
var waits = regexp.MustCompile(`\btime\.Slee[p]\(|\b[tb]\.Ski[p](f|Now)?\(`)

// tracked lists the files of the tree: those under version control, or all when it is a bare copy without any.
func tracked(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil || len(out) == 0 {
		out, err = exec.Command("find", ".", "-type", "f", "-not", "-path", "./.git/*", "-not", "-path", "./data/*",
			"-print0").Output()
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.Trim(string(out), "\x00"), "\x00")
}

// content reads a tracked file; ok is false for one that was just deleted or is not a plain file.
func content(t *testing.T, name string) (b []byte, ok bool) {
	t.Helper()
	info, err := os.Lstat(name)
	if os.IsNotExist(err) || err == nil && !info.Mode().IsRegular() {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxTracked {
		t.Errorf("%s: %d bytes; the tree holds source and small test data, at most %d a file", name, info.Size(),
			maxTracked)
		return nil, false
	}
	b, err = os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b, true
}

// findLine reports the first line of a file that a pattern finds.
func findLine(t *testing.T, name string, b []byte, what *regexp.Regexp, complaint string) {
	t.Helper()
	if at := what.FindIndex(b); at != nil {
		t.Errorf("%s:%d: %q: %s", name, 1+bytes.Count(b[:at[0]], []byte("\n")), b[at[0]:at[1]], complaint)
	}
}

func TestTreeIsTidy(t *testing.T) {
	for _, name := range tracked(t) {
		b, ok := content(t, name)
		if !ok {
			continue
		}
		// Fuzz seeds and sample data may hold any bytes.
		if !strings.Contains(name, "testdata/") && !strings.HasSuffix(name, ".sum") {
			findLine(t, name, b, foreign, "a path of one machine, or another maker's name")
		}
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		findLine(t, name, b, unfinished, "finish it, or say what is missing without a mark")
		if strings.HasSuffix(name, "_test.go") {
			findLine(t, name, b, waits, "tests wait on conditions and are not left out")
		}
		if n := bytes.Count(b, []byte("\n")); n > maxLines {
			t.Errorf("%s: %d lines, at most %d: is it still one room?", name, n, maxLines)
		}
		if want, err := format.Source(b); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(b, want) {
			t.Errorf("%s: not formatted by gofmt", name)
		}
	}
}

// TestPackagesSayWhatTheyAre wants one package comment in every package.
func TestPackagesSayWhatTheyAre(t *testing.T) {
	comments := map[string]int{}
	for _, name := range tracked(t) {
		b, ok := content(t, name)
		if !ok || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, b, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		dir := name[:strings.LastIndexByte("/"+name, '/')]
		if _, known := comments[dir]; !known {
			comments[dir] = 0
		}
		if f.Doc != nil {
			comments[dir]++
		}
	}
	for dir, n := range comments {
		if n != 1 {
			t.Errorf("package in %q: %d package comments, want one", "./"+dir, n)
		}
	}
}

// mapLine finds the files that a line of a map names, before it says what is in them.
var mapLine = regexp.MustCompile(`(?m)^//\t((?:[\w*]+\.go +)+)\S`)

// TestMapsAreComplete: a package comment that has a map of files names each file of the package but its own, and each
// pattern of it stands for a file. TestNamedFilesExist looks for the other names.
func TestMapsAreComplete(t *testing.T) {
	files, comments := map[string][]string{}, map[string]string{} // by folder; the file with the package comment
	for _, name := range tracked(t) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, ok := content(t, name)
		if !ok {
			continue
		}
		dir := path.Dir(name)
		files[dir] = append(files[dir], path.Base(name))
		doc, _, _ := bytes.Cut(b, []byte("\npackage "))
		if found := mapLine.FindAllSubmatch(doc, -1); len(found) > 1 {
			for _, line := range found {
				comments[name] += string(line[1])
			}
		}
	}
	if len(comments) < 10 {
		t.Errorf("only %d packages have a map", len(comments))
	}
	for name, list := range comments {
		named := strings.Fields(list)
		for _, file := range files[path.Dir(name)] {
			if file != path.Base(name) && !slices.ContainsFunc(named, func(n string) bool { return matches(n, file) }) {
				t.Errorf("%s: the map of the package has no %s", name, file)
			}
		}
		for _, n := range named {
			if !slices.ContainsFunc(files[path.Dir(name)], func(file string) bool { return matches(n, file) }) {
				t.Errorf("%s: the map has %s, and no file is so named", name, n)
			}
		}
	}
}

// matches reports whether a name, in which a star may stand for any text, is that of a file.
func matches(name, file string) bool {
	ok, err := path.Match(name, file)
	return ok && err == nil
}

// namedFile finds the names of Go files. One with a star stands for several, router.go(..) is a call, main.go.tmpl
// another file.
var namedFile = regexp.MustCompile(`[\w*./-]+\.go\b[\w.(]*`)

// TestNamedFilesExist: a file that a comment names lies beside it, or has that path, or ends in it; one that
// docs/code.md names is somewhere.
func TestNamedFilesExist(t *testing.T) {
	all := tracked(t)
	ends := func(name string) bool {
		return slices.ContainsFunc(all, func(file string) bool {
			return file == name || strings.HasSuffix(file, "/"+name)
		})
	}
	for _, file := range all {
		page := file == "docs/code.md"
		if !page && !strings.HasSuffix(file, ".go") {
			continue
		}
		b, ok := content(t, file)
		if !ok {
			continue
		}
		for i, line := range strings.Split(string(b), "\n") {
			text := line
			if !page {
				if _, text, ok = strings.Cut(line, "//"); !ok {
					continue
				}
			}
			for _, name := range namedFile.FindAllString(text, -1) {
				name = strings.TrimSuffix(name, ".")
				if strings.Contains(name, "*") || !strings.HasSuffix(name, ".go") {
					continue
				}
				if beside := slices.Contains(all, path.Join(path.Dir(file), name)); !beside &&
					!((page || strings.Contains(name, "/")) && ends(name)) {
					t.Errorf("%s:%d: there is no %s", file, i+1, name)
				}
			}
		}
	}
}

// TestNamesDifferByMoreThanCase: of the names that a package declares for all its files, no two are alike but for the
// case of their letters: read aloud or searched for, they are one.
func TestNamesDifferByMoreThanCase(t *testing.T) {
	type declared struct{ name, at string }
	known := map[string]declared{} // by folder and name in lower case
	for _, file := range tracked(t) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, ok := content(t, file)
		if !ok {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, b, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, id := range packageNames(parsed) {
			key, at := path.Dir(file)+" "+strings.ToLower(id.Name), set.Position(id.Pos()).String()
			if other, ok := known[key]; !ok {
				known[key] = declared{id.Name, at}
			} else if other.name != id.Name {
				t.Errorf("%s: %s differs from %s of %s by case alone", at, id.Name, other.name, other.at)
			}
		}
	}
	if len(known) < 5000 {
		t.Errorf("%d names are found", len(known))
	}
}

// packageNames lists the names that a file declares for its package. Fields and methods are not among them.
func packageNames(file *ast.File) (names []*ast.Ident) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name)
				case *ast.ValueSpec:
					names = append(names, spec.Names...)
				}
			}
		}
	}
	return names
}

// dated is the second paragraph of a decision, which a page that supersedes it may follow.
var dated = regexp.MustCompile(`^# .+\n\n\d{4}-\d\d-\d\d(\.|, superseded by \[\d{4}\])`)

// TestDecisionsAreListed: docs/decisions/README.md names each decision with its title, no number is given twice, and
// each has a date.
func TestDecisionsAreListed(t *testing.T) {
	const dir = "docs/decisions/"
	index, ok := content(t, dir+"README.md")
	if !ok {
		t.Fatal("there is no index of decisions")
	}
	seen := map[string]string{}
	for _, path := range tracked(t) {
		name, ok := strings.CutPrefix(path, dir)
		if !ok || name == "README.md" || name == "libraries.md" {
			continue
		}
		b, ok := content(t, path)
		if !ok {
			continue
		}
		if !dated.Match(b) {
			t.Errorf("%s%s: the title is not followed by a date", dir, name)
		}
		number, title := name[:4], strings.TrimPrefix(strings.SplitN(string(b), "\n", 2)[0], "# ")
		if other := seen[number]; other != "" {
			t.Errorf("%s and %s have one number", other, name)
		}
		seen[number] = name
		if line := "- [" + number + "](" + name + ") " + title + "\n"; !bytes.Contains(index, []byte(line)) {
			t.Errorf("%sREADME.md lacks the line %q", dir, line)
		}
	}
}

// TestLibrariesAreDecided: docs/decisions names each library that go.mod requires directly, and each of libraries.md is
// required.
func TestLibrariesAreDecided(t *testing.T) {
	const dir = "docs/decisions/"
	var decisions []byte
	for _, name := range tracked(t) {
		if b, ok := content(t, name); ok && strings.HasPrefix(name, dir) {
			decisions = append(decisions, b...)
		}
	}
	mod, ok := content(t, "go.mod")
	list, listed := content(t, dir+"libraries.md")
	if !ok || !listed {
		t.Fatal("go.mod or the list of libraries is not there")
	}
	direct, _, _ := strings.Cut(string(mod), "\n)")
	required := regexp.MustCompile(`(?m)^\t([\w./-]+) v`).FindAllStringSubmatch(direct, -1)
	if len(required) == 0 {
		t.Fatal("go.mod requires nothing")
	}
	for _, r := range required {
		library := r[1]
		if strings.HasPrefix(library, "go.opentelemetry.io/otel") {
			library = "go.opentelemetry.io/otel" // its exporters
		}
		if !bytes.Contains(decisions, []byte("`"+library)) {
			t.Errorf("%sneither lists %s nor has a page for it", dir, library)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllSubmatch(list, -1) {
		if !bytes.Contains(mod, append(row[1], ' ')) && !bytes.Contains(mod, append(row[1], '/')) {
			t.Errorf("%slibraries.md: go.mod does not require %s", dir, row[1])
		}
	}
}

// maxColumns is the width of a line, where a tab counts four columns.
const maxColumns = 120

// longLiteral is the width from which on the text of a literal may reach beyond maxColumns: such as the data of a test.
const longLiteral = 60

// TestLinesAreShort: lines of Go files fit on a screen. Long literals, drawings and directives may reach beyond.
func TestLinesAreShort(t *testing.T) {
	for _, name := range tracked(t) {
		b, ok := content(t, name)
		if !ok || !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
			continue
		}
		long := literals(b)
		for i, line := range strings.Split(string(b), "\n") {
			text := strings.TrimSpace(line)
			if columns(line) <= maxColumns || long[i+1] || strings.HasPrefix(text, "//\t") || strings.Contains(text, "//nolint") || strings.Contains(text, "// want") {
				continue
			}
			t.Errorf("%s:%d: %d columns, at most %d", name, i+1, columns(line), maxColumns)
		}
	}
}

// modules lists the dashboard's own modules of JavaScript.
func modules(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range tracked(t) {
		if path.Ext(name) == ".js" && strings.HasPrefix(name, "server/dashboard/") &&
			!strings.HasPrefix(name, "server/dashboard/web/lib/") {
			names = append(names, name)
		}
	}
	return names
}

// scriptPattern finds a regular expression of JavaScript on a line.
var scriptPattern = regexp.MustCompile(`\s/(?:\[[^]]*\]|[^/[\\]|\\.)+/`)

// TestScriptLinesAreShort: lines of JavaScript fit on a screen. Regular expressions, which cannot be broken, may reach
// beyond.
func TestScriptLinesAreShort(t *testing.T) {
	for _, name := range modules(t) {
		b, _ := content(t, name)
		for i, line := range strings.Split(string(b), "\n") {
			if columns(line) > maxColumns && columns(scriptPattern.FindString(line)) < longLiteral {
				t.Errorf("%s:%d: %d columns, at most %d", name, i+1, columns(line), maxColumns)
			}
		}
	}
}

const (
	// maxScript is the length of a function of JavaScript, in lines: it fits on a screen.
	maxScript = 70
	// maxComponent is the length of a component, whose markup is part of it. Its name begins with a capital letter.
	maxComponent = 120
)

// longComponents are the components that are longer, and how long each may be.
var longComponents = map[string]int{
	"page/logs.js Page": 220, "page/pipelines.js Page": 240, "page/sql.js Page": 165, "page/sqlgrid.js ResultGrid": 170,
	"page/trybox.js TryBox": 160,
}

// scriptFunction finds the first line of a function of a module, or of a method of a class.
var scriptFunction = regexp.MustCompile(`^(?:(?:export )?(?:default )?(?:async )?function\*? |(?:export )?const )(\w+)(?: = .*=>|\()|` +
	`^  (?:static |async |get |set )*([\w#]+)\(.*[({,]$`)

// TestScriptFunctionsAreShort: a function of JavaScript fits on a screen, and a component on two.
func TestScriptFunctionsAreShort(t *testing.T) {
	seen := 0
	for _, name := range modules(t) {
		b, _ := content(t, name)
		function, from, indent := "", 0, ""
		for i, line := range strings.Split(string(b), "\n") {
			if at := scriptFunction.FindStringSubmatch(line); at != nil && function == "" {
				function, from, indent = at[1]+at[2], i, strings.Repeat(" ", 2*min(1, len(at[2])))
			}
			closed := strings.HasPrefix(line, indent+"}") || indent == "" && strings.HasSuffix(line, ";") &&
				(i == from || !strings.HasPrefix(line, " "))
			if function == "" || !closed && !(i > from && line == "") {
				continue
			}
			most := maxScript
			if function[0] >= 'A' && function[0] <= 'Z' {
				most = maxComponent
			}
			module := strings.TrimPrefix(name, "server/dashboard/web/")
			most = max(most, longComponents[module+" "+function])
			if n := i + 1 - from; n > most {
				t.Errorf("%s:%d: %s has %d lines, at most %d", name, from+1, function, n, most)
			}
			function, seen = "", seen+1
		}
	}
	if seen < 500 {
		t.Errorf("%d functions are found", seen)
	}
}

// aligned are the blanks by which gofmt aligns columns.
var aligned = regexp.MustCompile(`(\S)  +`)

// columns is the width of a line, without what aligns it with its neighbours.
func columns(line string) int {
	return utf8.RuneCountInString(aligned.ReplaceAllString(line, "$1 ")) + 3*strings.Count(line, "\t")
}

// literals are the lines of a Go file on which a long literal begins, goes on or ends.
func literals(source []byte) map[int]bool {
	found := map[int]bool{}
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	for {
		at, kind, text := s.Scan()
		if kind == token.EOF {
			return found
		}
		if kind != token.STRING || columns(text) < longLiteral {
			continue
		}
		for i := range 1 + strings.Count(text, "\n") {
			found[file.Line(at)+i] = true
		}
	}
}

// TestTopLevel: new packages lie below those that there are.
func TestTopLevel(t *testing.T) {
	top := strings.Fields("engine memtable sst wal flatten pipeline sqlexec server bench cmd docs " +
		"go.mod go.sum Makefile README.md LICENSE CHANGELOG.md doc.go layering_test.go tidy_test.go")
	for _, name := range tracked(t) {
		if first, _, _ := strings.Cut(name, "/"); !strings.HasPrefix(first, ".") && !slices.Contains(top, first) {
			t.Errorf("%s: the top level has %s", name, strings.Join(top, " "))
		}
	}
}
