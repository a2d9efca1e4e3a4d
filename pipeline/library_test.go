package pipeline

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/engine/status"
	"varve/engine/vfs"
)

const tiny = "transform: [{field: %s, type: string}]"

// clockAt is a clock that tests move.
type clockAt struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clockAt) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clockAt) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// makesColumn is the column that the newest version of a pipeline makes; "" when there is none.
func makesColumn(t *testing.T, m *Manager, name string) string {
	t.Helper()
	p, err := m.find(context.Background(), name, "")
	if err != nil {
		if !strings.Contains(err.Error(), "Pipeline not found") {
			t.Fatal(err)
		}
		return ""
	}
	return p.columns[0].name
}

// TestLibrary has two managers on one store, as when SQL changes the table beside the endpoints.
func TestLibrary(t *testing.T) {
	ctx := context.Background()
	clock := &clockAt{t: time.Unix(1_000_000, 0)}
	e := openStore(t, vfs.NewMem(), "data")
	m := New(Options{Store: e, Now: clock.now})
	other := New(Options{Store: e, Now: clock.now})
	put := func(m *Manager, text string) Document {
		t.Helper()
		clock.move(time.Millisecond)
		doc, err := m.Put(ctx, "p", []byte(fmt.Sprintf(tiny, text)))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	want := func(m *Manager, want string) {
		t.Helper()
		if got := makesColumn(t, m, "p"); got != want {
			t.Errorf("the newest version makes %q, want %q", got, want)
		}
	}
	want(m, "")
	first := put(m, "a")
	want(m, "a")
	want(other, "a")
	second := put(m, "b")
	want(m, "b")
	want(other, "a") // fresh for ten seconds
	clock.move(freshFor)
	want(other, "b")
	if _, err := other.Put(ctx, "p", []byte("version: 9")); status.Of(err) != status.InvalidArguments {
		t.Errorf("a bad document: %v", err)
	}
	want(other, "b")
	if ok, err := m.Remove(ctx, "p", FormatVersion(second.Version)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	want(m, "a")
	clock.move(freshFor)
	want(other, "a")
	if ok, err := m.Remove(ctx, "p", FormatVersion(first.Version)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	want(m, "")
	put(m, "c")
	clock.move(-time.Hour)
	late := New(Options{Store: e, Now: clock.now})
	fourth := put(late, "d") // after a start with a clock that went back
	clock.move(time.Hour + freshFor)
	want(m, "d")
	if ok, err := m.Remove(ctx, "p", FormatVersion(fourth.Version)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	want(m, "c")
	third, err := m.Get(ctx, "p", "")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := m.Remove(ctx, "p", FormatVersion(third.Version)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	clock.move(freshFor)
	want(other, "")
}

// TestLibraryRaces uploads, deletes and reads at once: after an upload or deletion nobody gets what was before it.
func TestLibraryRaces(t *testing.T) {
	ctx := context.Background()
	e := openStore(t, vfs.NewMem(), "data")
	m := New(Options{Store: e})
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-stop:
					return
				default:
					makesColumn(t, m, "p")
				}
			}
		}()
	}
	for i := range 100 {
		name := fmt.Sprint("c", i)
		doc, err := m.Put(ctx, "p", []byte(fmt.Sprintf(tiny, name)))
		if err != nil {
			t.Fatal(err)
		}
		if got := makesColumn(t, m, "p"); got != name {
			t.Fatalf("after the upload of %s the newest makes %q", name, got)
		}
		if ok, err := m.Remove(ctx, "p", FormatVersion(doc.Version)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if got := makesColumn(t, m, "p"); got != "" {
			t.Fatalf("after the deletion of %s the newest makes %q", name, got)
		}
	}
	close(stop)
	readers.Wait()
}

func TestVersionText(t *testing.T) {
	for text, want := range map[string]string{
		"2024-07-04 08:31:00.987136123":    "2024-07-04 08:31:00.987136123",
		"2024-07-04T08:31:00.98Z":          "2024-07-04 08:31:00.980",
		"2024-07-04T10:31:00.000001+02:00": "2024-07-04 08:31:00.000001",
		"2024-07-04 08:31:00":              "2024-07-04 08:31:00",
	} {
		ns, err := ParseVersion(text)
		if err != nil || FormatVersion(ns) != want {
			t.Errorf("%s: %s, %v", text, FormatVersion(ns), err)
		}
	}
	for _, text := range []string{"x", "", "2024-13-01 00:00:00", "99999-01-01 00:00:00"} {
		if _, err := ParseVersion(text); status.Of(err) != status.InvalidArguments {
			t.Errorf("%q: %v", text, err)
		}
	}
}
