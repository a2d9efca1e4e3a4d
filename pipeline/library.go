package pipeline

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"varve/engine/nearest"
	"varve/engine/status"
)

const (
	// freshFor is how long a compiled document is used without a look at the table, which SQL may change as well.
	freshFor = 10 * time.Second
	// maxCached bounds the documents kept compiled, maxCachedBytes what they take.
	maxCached      = 10_000
	maxCachedBytes = 64 << 20
	// maxCompiling is the number of documents that are compiled at a time.
	maxCompiling = 2
)

// library keeps compiled pipelines. Uploads and deletions through it show at once. Safe for concurrent use.
type library struct {
	documents documents
	now       func() time.Time

	mu      sync.Mutex
	changes uint64 // counts uploads and deletions
	cached  map[cacheKey]*cachedProgram
	entries map[*Program]int // of cached
	bytes   int64            // of the programs of cached

	compiling chan struct{} // holds one for each document that is compiled
}

type cacheKey struct {
	name    string
	version int64 // latest, or a version
}

type cachedProgram struct {
	program *Program
	doc     Document
	until   time.Time // after it the table is asked again; the entry serves when the table cannot be read
}

// find returns a compiled pipeline. version is latest or a version, text the version as errors show it.
func (l *library) find(ctx context.Context, name string, version int64, text string) (*Program, error) {
	key := cacheKey{name, version}
	for {
		l.mu.Lock()
		entry, changes := l.cached[key], l.changes
		l.mu.Unlock()
		if entry != nil && l.now().Before(entry.until) {
			return entry.program, nil
		}
		doc, err := l.documents.get(ctx, name, version)
		switch {
		case err == errNoDocument:
			l.forget(key, changes)
			return nil, l.documents.notFound(ctx, name, text)
		case err != nil && entry != nil:
			return entry.program, nil
		case err != nil:
			return nil, err
		}
		p, err := l.compiled(ctx, entry, doc)
		if err != nil {
			return nil, err
		}
		if l.keep(key, p, doc, changes) {
			return p, nil
		}
	}
}

// newLibrary makes a library of the documents of a store.
func newLibrary(d documents, now func() time.Time) library {
	return library{documents: d, now: now, cached: map[cacheKey]*cachedProgram{}, entries: map[*Program]int{},
		compiling: make(chan struct{}, maxCompiling)}
}

// compile compiles a document when it is its turn.
func (l *library) compile(ctx context.Context, text []byte) (*Program, error) {
	select {
	case l.compiling <- struct{}{}:
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
	defer func() { <-l.compiling }()
	return compileWithin(ctx, text)
}

// compiled returns the program of a document. It is the program of the entry, which may be nil, if the document is the
// same.
func (l *library) compiled(ctx context.Context, c *cachedProgram, doc Document) (*Program, error) {
	if c != nil && c.doc.Version == doc.Version && c.doc.Text == doc.Text {
		return c.program, nil
	}
	p, err := l.compile(ctx, []byte(doc.Text))
	if err != nil {
		return nil, err
	}
	p.name = strings.Clone(doc.Name)
	return p, nil
}

// keep caches what was read from the table, unless there was a change since: then it is to be read again.
func (l *library) keep(key cacheKey, p *Program, doc Document, changes uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changes != changes {
		return false
	}
	l.put(key, p, doc)
	return true
}

// put caches a program; the caller holds mu.
func (l *library) put(key cacheKey, p *Program, doc Document) {
	l.drop(key)
	if l.entries[p]++; l.entries[p] == 1 {
		l.bytes += p.bytes
	}
	l.cached[key] = &cachedProgram{p, doc, l.now().Add(freshFor)}
	for k := range l.cached { // any ones: entries come back at the price of a read and a compilation
		if len(l.cached) <= maxCached && l.bytes <= maxCachedBytes {
			return
		}
		if k != key {
			l.drop(k)
		}
	}
}

// drop takes a program out; the caller holds mu.
func (l *library) drop(key cacheKey) {
	c := l.cached[key]
	if c == nil {
		return
	}
	delete(l.cached, key)
	if l.entries[c.program]--; l.entries[c.program] == 0 {
		delete(l.entries, c.program)
		l.bytes -= c.program.bytes
	}
}

func (l *library) forget(key cacheKey, changes uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changes == changes {
		l.drop(key)
	}
}

// notFound is the error of an unknown pipeline or version. It names the nearest pipeline, as a courtesy: when they
// cannot be listed it does not, nor to who must not read them.
func (d *documents) notFound(ctx context.Context, name, version string) error {
	if version == "" {
		version = "latest"
	}
	var names []string
	var err error
	if !nearest.Hidden(ctx) {
		names, err = d.names(ctx)
	}
	hint := ""
	if names = append(names, Identity); err == nil && !slices.Contains(names, name) {
		if hint = nearest.Hint(name, names); hint != "" {
			hint = "." + hint
		}
	}
	return status.New(status.InvalidArguments, "Pipeline not found, name: %s, version: %s%s", name, version, hint)
}

// save stores a compiled document as a new version.
func (l *library) save(ctx context.Context, p *Program, doc Document) error {
	if err := l.documents.put(ctx, &doc); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	// Of two uploads at a time the newer version is the latest, whichever ends first.
	if old := l.cached[cacheKey{doc.Name, latest}]; old == nil || old.doc.Version <= doc.Version {
		l.put(cacheKey{doc.Name, latest}, p, doc)
	}
	l.put(cacheKey{doc.Name, doc.Version}, p, doc)
	return nil
}

// remove deletes a version; ok is false if it does not exist.
func (l *library) remove(ctx context.Context, name string, version int64) (ok bool, err error) {
	var docs []Document
	if err := l.documents.each(ctx, name, version, func(d Document) { docs = append(docs, d) }); err != nil ||
		len(docs) == 0 {
		return false, err
	}
	err = l.documents.remove(ctx, docs)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	l.drop(cacheKey{name, version})
	l.drop(cacheKey{name, latest})
	return err == nil, err
}
