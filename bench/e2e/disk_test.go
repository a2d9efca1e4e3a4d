package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"varve/bench/client"
	"varve/bench/gen"
	"varve/bench/process"
)

const (
	// smallDisk is the size of the file system of the test: more than the server wants to keep free.
	smallDisk = 384 << 20
	// resumeLimit is how long a server may take to notice that there is room again, or none.
	resumeLimit = 10 * time.Second
)

// mountSmall mounts a small file system in memory. ok is false where that is not allowed.
func mountSmall(t *testing.T) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", smallDisk), "varve-e2e",
		dir).CombinedOutput()
	if err != nil {
		t.Logf(
			"no small file system can be mounted here (%v: %s): a full disk is tested on the simulated file system only", err, strings.TrimSpace(string(out)))
		return "", false
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir, true
}

// TestFullDisk fills the disk under a server: writes get 503 with a sentence, queries go on, writing resumes when there
// is room again, and a stop, a start and all acknowledged rows survive it.
func TestFullDisk(t *testing.T) {
	disk, ok := mountSmall(t)
	if !ok {
		return
	}
	dir := filepath.Join(disk, "data")
	s := start(t, dir)
	set, err := gen.New("access", gen.Options{Rows: 100_000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 1000
	batch := func(i int64) write {
		return write{table: "logs", timeIndex: set.TimeIndex, contentType: set.ContentType,
			body: set.Append(nil, i*rows, (i+1)*rows)}
	}
	var acknowledged int64
	for i := range int64(5) {
		mustPost(t, s, batch(i), rows)
		acknowledged += rows
	}
	filler := filepath.Join(disk, "filler")
	fill(t, filler)
	status, answer := until(t, s, batch(5), &acknowledged, func(status int) bool { return status != http.StatusOK })
	if e := client.AnswerError(status, answer); status != http.StatusServiceUnavailable || e.Text == "" {
		t.Errorf("a write on a full disk: %v, want 503 and a sentence", e)
	}
	wantInt(t, s, "SELECT count(*) FROM logs", acknowledged)
	t.Run("restart while full", func(t *testing.T) {
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		again := start(t, dir)
		wantInt(t, again, "SELECT count(*) FROM logs", acknowledged)
		stop(t, again)
	})
	s = start(t, dir)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if status, answer := until(t, s, batch(6), &acknowledged,
		func(status int) bool { return status == http.StatusOK }); status != http.StatusOK {
		t.Errorf("with room again: %v", client.AnswerError(status, answer))
	}
	wantInt(t, s, "ADMIN flush_table('logs')", 0)
	stop(t, s)
	wantInt(t, start(t, dir), "SELECT count(*) FROM logs", acknowledged)
}

// until sends a write again and again until its status is as wanted, or the limit is over. Acknowledged rows are added.
func until(t *testing.T, s *process.Server, w write, acknowledged *int64, wanted func(status int) bool) (status int,
	answer []byte) {
	t.Helper()
	for deadline := time.Now().Add(resumeLimit); ; {
		status, answer = post(t, s, w)
		if status == http.StatusOK {
			n, err := client.Affected(answer)
			if err != nil {
				t.Fatal(err)
			}
			*acknowledged += n
		}
		if wanted(status) || time.Now().After(deadline) {
			return status, answer
		}
	}
}

// fill writes a file until no byte is left on its file system.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 1<<20)
	for len(piece) > 0 {
		if _, err := f.Write(piece); err != nil {
			piece = piece[:len(piece)/2] // down to the last byte
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReadOnlyDirectory ends the start with a sentence that names the directory.
func TestReadOnlyDirectory(t *testing.T) {
	disk, ok := mountSmall(t)
	if !ok {
		return
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, err := process.Launch(process.Options{Binary: binary, Dir: filepath.Join(disk, "data")})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	case <-time.After(startLimit):
		t.Error("the server runs on a read-only directory")
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if code := s.ExitCode(); code != 1 || !strings.Contains(s.Output(), disk) {
		t.Errorf("exit code %d, want 1 and a sentence that names the directory:\n%s", code, s.Output())
	}
}
