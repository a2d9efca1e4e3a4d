package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
)

// TestLibrariesAreTheListedOnes: whatever form a client takes, it gets the bundle whose hash is in the list.
func TestLibrariesAreTheListedOnes(t *testing.T) {
	text, err := os.ReadFile("web/lib/LIBRARIES.json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ SHA256 map[string]string }
	if err := json.Unmarshal(text, &list); err != nil || len(list.SHA256) < 4 {
		t.Fatalf("%d files are listed, %v", len(list.SHA256), err)
	}
	h := fromDisk(t)
	for name, want := range list.SHA256 {
		for _, form := range []string{"br", "gzip", "identity"} {
			r := ask(t, h, "/dashboard/a/"+h.Build()+"/lib/"+name, "Accept-Encoding", form)
			if got := string(r.Header.Peek("Content-Encoding")); r.StatusCode() != 200 || got != form {
				t.Fatalf("%s: status %d, Content-Encoding %q, want %s", name, r.StatusCode(), got, form)
			}
			sum := sha256.Sum256(unpacked(t, form, r.Body()))
			if got := hex.EncodeToString(sum[:]); got != want {
				t.Errorf("%s in %s: sha256 %s, want %s", name, form, got, want)
			}
		}
	}
}

// TestLicencesAreSentAsTheyLieInTheTree: the packed text is the one that can be read.
func TestLicencesAreSentAsTheyLieInTheTree(t *testing.T) {
	want, err := os.ReadFile("libsrc/LICENSES.txt")
	if err != nil {
		t.Fatal(err)
	}
	h := fromDisk(t)
	r := ask(t, h, "/dashboard/a/"+h.Build()+"/lib/LICENSES.txt")
	if got := r.Body(); !bytes.Equal(got, want) || len(want) < 10_000 {
		t.Errorf("%d bytes are sent, %d lie in the tree", len(got), len(want))
	}
}

func unpacked(t *testing.T, form string, body []byte) []byte {
	t.Helper()
	r := io.Reader(bytes.NewReader(body))
	var err error
	switch form {
	case "br":
		r = brotli.NewReader(r)
	case "gzip":
		r, err = gzip.NewReader(r)
	}
	if err == nil {
		body, err = io.ReadAll(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestCutBundleIsRefused(t *testing.T) {
	bundle, err := os.ReadFile("web/lib/ui.js.br")
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(Options{Files: fstest.MapFS{"index.html": {Data: []byte("{{base}}")},
		"lib/ui.js.br": {Data: bundle[:len(bundle)/2]}}})
	if err == nil || !strings.Contains(err.Error(), "lib/ui.js.br") {
		t.Errorf("a bundle cut in two: %v", err)
	}
}
