package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"varve/server/rules/file"
)

// sources are the files and documents as they were read last.
type sources struct {
	list []source
	at   time.Time // of the last reading
	err  error     // why the names of the files or the documents are not known; nil: they are
}

// source is one file or document.
type source struct {
	name     string
	document string     // its name; empty: it is a file
	file     *file.File // that is evaluated; nil: none was ever right
	err      error      // why the last reading is not evaluated
}

// documentPrefix begins the names of the files that documents stand for.
const documentPrefix = "document:"

// load reads all sources. Of one that is wrong the rules from before stay. The caller holds m.changing.
func (m *Manager) load(ctx context.Context) error {
	next := &sources{at: m.o.Now()}
	before := map[string]*file.File{}
	for _, s := range m.sources.Load().list {
		before[s.name] = s.file
	}
	var all []error
	add := func(name, document string, f *file.File, err error) {
		if err != nil {
			f = before[name]
			all = append(all, err)
			m.log.Error("a file of rules is wrong: its rules stay as they were", "file", name, "error", err)
		}
		next.list = append(next.list, source{name, document, f, err})
	}
	names, err := file.Match(m.o.Files)
	if err != nil {
		next.err = err
		all = append(all, err)
		m.log.Error("the files of rules cannot be found", "error", err)
		for _, s := range m.sources.Load().list {
			if s.document == "" {
				next.list = append(next.list, s)
			}
		}
	}
	for _, name := range names {
		f, err := file.Open(name)
		add(name, "", f, err)
	}
	documents, err := m.documents(ctx)
	if err != nil {
		err = fmt.Errorf("the documents of rules cannot be read: %w", err)
		next.err = errors.Join(next.err, err)
		all = append(all, err)
		m.log.Error("rules of documents stay as they were", "error", err)
		for _, s := range m.sources.Load().list {
			if s.document != "" {
				next.list = append(next.list, s)
			}
		}
	}
	for _, d := range documents {
		f, err := file.Parse(documentPrefix+d.Name, []byte(d.Definition))
		add(documentPrefix+d.Name, d.Name, f, err)
	}
	var files []*file.File
	for _, s := range next.list {
		if s.file != nil {
			files = append(files, s.file)
		}
	}
	m.exchange(ctx, files)
	m.sources.Store(next)
	m.forgetGone(ctx)
	return errors.Join(all...)
}

// exchange takes over the groups of files. A group that did not change goes on; one that did keeps the state of the
// rules that are still there. The caller holds m.changing.
func (m *Manager) exchange(ctx context.Context, files []*file.File) {
	old := map[groupName]*group{}
	for _, g := range *m.groups.Load() {
		old[g.name()] = g
	}
	var list, fresh []*group
	for _, f := range files {
		for i := range f.Groups {
			def := &f.Groups[i]
			g := old[groupName{f.Name, def.Name}]
			if g != nil && sameGroup(g.def, def) {
				delete(old, g.name())
				list = append(list, g)
				continue
			}
			next := m.newGroup(f.Name, def)
			list, fresh = append(list, next), append(fresh, next)
		}
	}
	for _, g := range old {
		g.stop()
	}
	for _, g := range fresh {
		if before := old[g.name()]; before != nil {
			g.inherit(before)
		}
		m.adopt(g)
	}
	for _, g := range old {
		g.end(ctx)
	}
	slices.SortFunc(list, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.at, b.at))
	})
	m.groups.Store(&list)
	if m.running {
		for _, g := range fresh {
			g.start(m.ctx)
		}
	}
}

// sameGroup reports whether two definitions say the same, wherever they stand.
func sameGroup(a, b *file.Group) bool {
	x, y := *a, *b
	x.Line, y.Line = 0, 0
	x.Rules, y.Rules = withoutLines(a.Rules), withoutLines(b.Rules)
	return reflect.DeepEqual(x, y)
}

func withoutLines(list []file.Rule) []file.Rule {
	list = slices.Clone(list)
	for i := range list {
		list[i].Line = 0
	}
	return list
}
