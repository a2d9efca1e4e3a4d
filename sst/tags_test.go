package sst

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"varve/engine/vfs"
)

// TestTagsAreShared: scans that ask for a tag at the same time have it once, without room in the cache too, and go on
// when the scan that reads it ends.
func TestTagsAreShared(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	fs := vfs.NewMem()
	newTable(r, 30, 10, true).write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{Cache: NewCache(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	of := seriesRange{0, 30}
	gone, reads, goOn := errors.New("gone"), make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() {
		_, err := tagOf(endingContext{ctx, func() error {
			close(reads)
			<-goOn
			return gone
		}}, p, of)
		first <- err
	}()
	<-reads
	if _, err := tagOf(endingContext{ctx, func() error { return gone }}, p, of); !errors.Is(err, gone) {
		t.Errorf("who waits and ends meanwhile: %v", err)
	}
	second := make(chan *tagColumn)
	go func() {
		tag, err := tagOf(ctx, p, of)
		if err != nil {
			t.Error(err)
		}
		second <- tag
	}()
	close(goOn)
	if err := <-first; !errors.Is(err, gone) {
		t.Errorf("who reads and ends: %v", err)
	}
	have := <-second
	if again, err := tagOf(ctx, p, of); err != nil || again != have {
		t.Errorf("a tag that is in use is read again: %v", err)
	}
	runtime.KeepAlive(have)
	if len(p.tags.reading) > 0 {
		t.Error("nobody reads any more")
	}
}

func tagOf(ctx context.Context, p *Part, of seriesRange) (*tagColumn, error) {
	return using(p, func() (*tagColumn, error) { return p.tag(ctx, &hostColumn, of, nil) })
}
