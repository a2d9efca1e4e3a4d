package sqlexec

import (
	"context"
	"runtime"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/vfs"
	"varve/sqlexec/parse"
)

// TestRenameWhileTheStoreStops renames a table while another statement has the list of views and the store stops: the
// store does not wait for who waits for it.
func TestRenameWhileTheStoreStops(t *testing.T) {
	e, err := engine.Open(engine.Options{FS: vfs.NewMem(), Dir: "/data", NoBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	x := New(e, Options{Workers: 2})
	outcomeOf(t, x, "CREATE TABLE t (ts TIMESTAMP TIME INDEX)")
	parsed, err := parse.Parse("ALTER TABLE t RENAME u")
	if err != nil {
		t.Fatal(err)
	}
	rename := parsed[0].(*parse.AlterTable)
	x.views.mu.Lock()
	renamed := make(chan error)
	go func() {
		_, err := x.alterTable(context.Background(), &Session{}, rename)
		renamed <- err
	}()
	for range 1000 {
		runtime.Gosched() // let it come to the views
	}
	closed := make(chan error)
	go func() { closed <- e.Close(context.Background(), true) }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the store waits for a statement that waits for the list of views")
	}
	x.views.mu.Unlock()
	if err := <-renamed; err == nil {
		t.Error("the table was renamed after the store was closed")
	}
}
