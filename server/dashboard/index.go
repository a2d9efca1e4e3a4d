package dashboard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// startModules are what the start page needs, found by following the imports from these.
var startFrom = []string{"app.js", "page/logs.js"}

// staticImport finds the modules that a module names at its head: import .. from '..', export .. from '..'.
var staticImport = regexp.MustCompile(`(?m)^\s*(?:import|export)\b[^'"();]*['"](\.{1,2}/[^'"]+)['"]`)

// startModules lists the modules of the start page, so that a browser asks for all of them at once instead of finding one
// behind the other.
func (s *site) startModules() []string {
	found := []string{}
	var follow func(name string)
	follow = func(name string) {
		f := s.files[name]
		if f == nil || slices.Contains(found, name) {
			return
		}
		found = append(found, name)
		if strings.HasPrefix(name, "lib/") {
			return // a bundle imports nothing
		}
		for _, m := range staticImport.FindAllSubmatch(f.Body, -1) {
			follow(path.Join(path.Dir(name), string(m[1])))
		}
	}
	for _, name := range startFrom {
		follow(name)
	}
	slices.Sort(found)
	return found
}

// fillIndex puts the address of the files and the list of modules into the index page: nothing else differs between two
// servers, and nothing of what a user sent gets into it.
func fillIndex(page, base string, modules []string) string {
	var list strings.Builder
	for _, m := range modules {
		list.WriteString(`<link rel="modulepreload" href="` + base + m + `">` + "\n")
	}
	return strings.NewReplacer("{{base}}", base, "{{modulepreload}}\n", list.String()).Replace(page)
}
