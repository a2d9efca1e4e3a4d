package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"varve/engine/status"
)

// groksScript is a document of so many parse_groks, 200 a script; their patterns are equal, or begin with a number.
func groksScript(n int, equal bool) []byte {
	var b strings.Builder
	b.WriteString("version: 2\nprocessors:\n")
	for i := range n {
		if i%200 == 0 {
			b.WriteString("  - vrl:\n      source: |\n")
		}
		number := i
		if equal {
			number = 0
		}
		fmt.Fprintf(&b,
			"        .a = parse_groks(string!(.b), [\"%d %%{ip:x} %%{date(\\\"yyyy-MM-dd HH:mm:ss\\\"):y} %%{data::keyvalue}\"]) ?? {}\n", number)
		if i%200 == 199 || i == n-1 {
			b.WriteString("        .\n")
		}
	}
	b.WriteString(roomTail)
	return []byte(b.String())
}

// TestCompilationIsBounded: the expressions of a document have a bound together, and equal ones are one.
func TestCompilationIsBounded(t *testing.T) {
	_, err := Compile(groksScript(3600, false))
	if status.Of(err) != status.InvalidArguments ||
		!strings.Contains(err.Error(), "the regular expressions of the pipeline take too") {
		t.Errorf("3,600 patterns: %v", err)
	}
	p, err := Compile(groksScript(3600, true))
	if err != nil || p.bytes > 20<<20 {
		t.Errorf("3,600 equal patterns: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := managerWith(t, nil)
	if _, err := m.library.compile(ctx, groksScript(2, false)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the request is over: %v", err)
	}
}

// TestProgramsAreCountedInBytes: what a program is said to take is about what it takes.
func TestProgramsAreCountedInBytes(t *testing.T) {
	for name, text := range map[string][]byte{
		"patterns": groksScript(60, false),
		"script": fmt.Appendf(nil, "version: 2\nprocessors:\n  - vrl:\n      source: |\n        %s\n        .\n%s",
			strings.Repeat(".a = .b + 1 ?? 2; ", 3_000), roomTail),
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&before)
		p, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		took := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		t.Logf("%s: %d bytes of text take %d, counted %d", name, len(text), took, p.bytes)
		if took > 2*p.bytes {
			t.Errorf("%s: %d bytes of text take %d, counted are %d", name, len(text), took, p.bytes)
		}
		runtime.KeepAlive(p)
	}
}

// TestCachedProgramsAreBounded: programs are kept as long as there is room for what they take.
func TestCachedProgramsAreBounded(t *testing.T) {
	l := newLibrary(documents{}, managerWith(t, nil).o.Now)
	const each = maxCachedBytes / 10
	for i := range 40 {
		p := &Program{bytes: each}
		for _, version := range []int64{latest, 7} {
			l.keep(cacheKey{fmt.Sprint(i), version}, p, Document{}, 0)
		}
	}
	if l.bytes > maxCachedBytes || l.bytes < maxCachedBytes/2 || len(l.entries) > 10 {
		t.Errorf("%d bytes of %d programs are kept, the bound is %d", l.bytes, len(l.entries), maxCachedBytes)
	}
	for key := range l.cached {
		l.forget(key, 0)
	}
	if l.bytes != 0 || len(l.entries) != 0 {
		t.Errorf("%d bytes of %d programs are counted, and none is kept", l.bytes, len(l.entries))
	}
}
