package docs

import (
	"bytes"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

var update = flag.Bool("update", false, "write the packed documents anew")

// shown are the documents that are packed.
var shown = []string{
	"config.md", "connect/access.json", "connect/hosts.json", "connect/varve.json",
	"http.md", "ingest/journald.md", "ingest/json-lines.md", "ingest/json-put.md",
	"ingest/line-protocol.md", "ingest/log-push.md",
	"ingest/otlp.md", "ingest/remote-write.md", "ingest/syslog.md", "pipelines.md", "promql.md", "sql.md", "vrl.md",
}

// TestPackedDocuments: what is packed are the documents as they lie in the tree, and no others.
func TestPackedDocuments(t *testing.T) {
	for _, name := range shown {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := unpacked(name); *update && !bytes.Equal(got, want) {
			write(t, name, want)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s was changed since it was packed: go test ./docs -update", name)
		}
	}
	var have []string
	fs.WalkDir(os.DirFS("packed"), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			have = append(have, strings.TrimSuffix(name, ".br"))
		}
		return err
	})
	if !slices.Equal(have, shown) {
		t.Errorf("packed are\n%q, want\n%q", have, shown)
	}
}

// unpacked is a packed document, nil when it is none.
func unpacked(name string) []byte {
	f, err := os.Open(filepath.Join("packed", name+".br"))
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(brotli.NewReader(f))
	if err != nil {
		return nil
	}
	return text
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	to := filepath.Join("packed", name+".br")
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 22})
	w.Write(text) // a buffer takes everything
	w.Close()
	if err := os.WriteFile(to, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
