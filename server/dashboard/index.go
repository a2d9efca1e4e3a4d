package dashboard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// startPage is the page that opens at the bare address, and at an address of no page.
const startPage = "logs"

// pages lists the pages there are: each has a module and a sheet of styles of its name. A site without any has the
// start page.
func (s *site) pages() []string {
	list := []string{startPage}
	for name := range s.files {
		page, ok := strings.CutSuffix(strings.TrimPrefix(name, "page/"), ".css")
		if ok && page != startPage && s.files["page/"+page+".js"] != nil {
			list = append(list, page)
		}
	}
	return list
}

// staticImport finds the modules that a module names at its head: import .. from '..', export .. from '..'.
var staticImport = regexp.MustCompile(`(?m)^\s*(?:import|export)\b[^'"();]*['"](\.{1,2}/[^'"]+)['"]`)

// startModules lists the modules that a page needs at first. The index page preloads them, so that a browser asks for
// all at once instead of finding one import after the other.
func (s *site) startModules(page string) []string {
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
		for _, m := range staticImport.FindAllSubmatch(f.Plain(), -1) {
			follow(path.Join(path.Dir(name), string(m[1])))
		}
	}
	follow("app.js")
	follow("page/" + page + ".js")
	slices.Sort(found)
	return found
}

// fillIndex puts the address of the files and the list of modules into the index page: nothing else of it differs, and
// no text of a user gets into it.
func fillIndex(page, base string, modules []string) string {
	var list strings.Builder
	for _, m := range modules {
		list.WriteString(`<link rel="modulepreload" href="` + base + m + `">` + "\n")
	}
	return strings.NewReplacer("{{base}}", base, "{{modulepreload}}\n", list.String()).Replace(page)
}
