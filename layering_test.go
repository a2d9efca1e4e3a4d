package varve_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "varve"

// layers is the import table: a package belongs to the longest entry it equals or lies below, and may import packages
// of lower numbers only. What is listed in within is allowed besides.
var layers = map[string]int{
	"engine/status": 0, "engine/vfs": 0, "engine/timefmt": 0,
	"engine/automaton": 0, "engine/spare": 0, "engine/sorting": 0, "engine/invariant": 0, "engine/nearest": 0,
	"engine/admission": 0, "engine/secret": 0, "engine/jsontext": 0, "docs": 0,
	"engine/bucket": 1, "engine/blockcache": 1,
	"engine/vector": 1, "engine/schema": 1, "pipeline/value": 1,
	"engine/filter": 2, "engine/scan": 2, "engine/convert": 2, "engine/symbol": 2,
	"memtable": 3, "sst": 3, "wal": 3, "flatten": 3, "engine/manifest": 3, "engine/parts": 3,
	"engine":   4,
	"pipeline": 5, "sqlexec": 5,

	// The server: the frame of requests, making rows, listeners, then the groups of handlers. A protocol belongs to a
	// group by its folder, so that a new one needs no line here.
	"server/web": 6, "server/protowire": 6, "server/result": 7, "server/write/rows/rejects": 7,
	"server/write/rows": 8, "server/listen": 8,
	"server/rules/expand": 7, "server/rules/file": 7, "server/rules/notify": 7,
	"server/rules": 8, "server/rules/manage": 9,
	"server/write": 9, "server/read": 9, "server/auth": 9, "server/admin": 9, "server/dashboard": 9,
	"server": 10, "server/servertest": 11,
	"cmd/varve": 11, "cmd/release": 11,

	// What benchmarks write and ask; the rest of bench is a program, which nobody imports.
	"bench/gen": 0, "bench/fleet": 0, "bench/workload": 0,
}

// forTests are the packages that only tests import. They may use any library, as tests may.
var forTests = []string{"engine/scan/scantest", "engine/parts/partstest", "engine/bucket/buckettest",
	"server/servertest"}

// wholeServer are the packages by which tests outside of a package below server drive the whole of it.
var wholeServer = []string{"server", "server/servertest"}

// within lists the imports between packages of one layer: importer, then what it may import.
var within = map[string][]string{
	"engine/schema":            {"engine/vector"},
	"engine/scan":              {"engine/filter"},
	"engine/admission/ledger":  {"engine/admission"},
	"engine/scan/scantest":     {"engine/scan", "engine/filter"},
	"engine/manifest":          {"sst", "wal"},
	"engine/parts":             {"sst"},
	"engine/parts/partstest":   {"engine/parts", "sst"},
	"engine/bucket/buckettest": {"engine/bucket"},
	"engine/private":           {"engine"},

	// A parent may import its parts.
	"sst":                {"sst/encoding", "sst/index"},
	"sst/index":          {"sst/encoding"},
	"pipeline":           {"pipeline/processor", "pipeline/vrl"},
	"pipeline/processor": {"pipeline/vrl", "pipeline/vrl/stdlib", "pipeline/vrl/regex"},

	"sqlexec/opentables": {"sqlexec/exec", "sqlexec/expr", "sqlexec/opentables/iceberg",
		"sqlexec", "sqlexec/rowfile"}, // the last two in tests

	// The language does not know the functions: it takes a library of them as a parameter.
	"pipeline/vrl":        {"pipeline/vrl/regex"},
	"pipeline/vrl/stdlib": {"pipeline/vrl", "pipeline/vrl/regex", "pipeline/vrl/grok"},
	"pipeline/vrl/grok":   {"pipeline/vrl/regex"},

	"sqlexec": {"sqlexec/parse", "sqlexec/plan", "sqlexec/expr", "sqlexec/exec", "sqlexec/infoschema", "sqlexec/promql",
		"sqlexec/rowfile", "sqlexec/spill"},

	"server/protowire/histograms": {"server/protowire"},

	// What makes rows takes the dependencies of all protocols.
	"server/write/rows/entries": {"server/write/rows"},
	"server/write/rows/tagged":  {"server/write/rows"},

	"server/rules/file":   {"server/rules/expand"},
	"server/rules/notify": {"server/rules/expand"},
	"server/rules":        {"server/write/rows/samples"},

	// Inside the executor of SQL: hash tables of values, expressions, then operators over them, then the planner that
	// puts both together.
	"sqlexec/expr":       {"sqlexec/intern"},
	"sqlexec/exec":       {"sqlexec/expr", "sqlexec/intern", "sqlexec/spill"},
	"sqlexec/infoschema": {"sqlexec/parse"},
	"sqlexec/plan":       {"sqlexec/parse", "sqlexec/expr", "sqlexec/exec", "sqlexec/spill"},
	"sqlexec/logql": {"sqlexec/parse", "sqlexec/expr", "sqlexec/promql", "sqlexec/logql/syntax",
		"sqlexec/logql/stage"},
	"sqlexec/promql":  {"sqlexec/exec", "sqlexec/expr", "sqlexec/promql/histogram"},
	"sqlexec/rowfile": {"sqlexec/expr"},

	// Stages are compiled from the tree of log queries.
	"sqlexec/logql/stage": {"sqlexec/logql/syntax"},

	// Commands that talk to a server share the client, and it knows none of them.
	"cmd/varve": {"cmd/varve/client", "cmd/varve/ingest", "cmd/varve/export", "cmd/varve/tail",
		"cmd/varve/shell", "cmd/varve/pipe", "cmd/varve/benchmark", "cmd/varve/arrowrows", "cmd/varve/progress",
		"cmd/varve/ruletest"},
	"cmd/varve/ingest": {"cmd/varve/client", "cmd/varve/arrowrows", "cmd/varve/progress", "cmd/varve/export",
		"cmd/varve/pipe"},
	"cmd/varve/export":   {"cmd/varve/client", "cmd/varve/arrowrows", "cmd/varve/progress"},
	"cmd/varve/tail":     {"cmd/varve/client", "cmd/varve/progress"},
	"cmd/varve/shell":    {"cmd/varve/client"},
	"cmd/varve/pipe":     {"cmd/varve/client"},
	"cmd/varve/progress": {"cmd/varve/client"},

	"cmd/varve/benchmark": {"cmd/varve/client", "cmd/varve/progress"},
}

// homes lists for each library the packages that may import it; "bench" and such stand for all below them as well.
// A library that is not listed may not be imported: a new one needs a line here and one in docs/decisions.
var homes = map[string][]string{
	"github.com/minio/minio-go/v7":        {"engine/bucket"},
	"github.com/valyala/fasthttp":         {"server", "bench"},
	"github.com/fasthttp/router":          {"server"},
	"github.com/fasthttp/websocket":       {"server/read/logapi"},
	"github.com/bytedance/sonic":          {"flatten"},
	"github.com/jackc/pgx/v5":             {"server/read/pgwire"},
	"github.com/twmb/franz-go":            {"server/write/kafka"},
	"github.com/RoaringBitmap/roaring/v2": {"sst", "sst/index"},
	"github.com/klauspost/compress": {"sst/encoding", "wal", "server/web", "pipeline/vrl/stdlib",
		"sqlexec/rowfile", "sqlexec/spill", "sqlexec/opentables", "cmd/varve/ingest", "cmd/varve/export",
		"bench/fleet"},
	"github.com/andybalholm/brotli":    {"server/web", "cmd/varve/shell"},
	"github.com/cespare/xxhash/v2":     {"sst", "sqlexec", "engine", "pipeline/vrl/stdlib"},
	"github.com/axiomhq/hyperloglog":   {"sqlexec/expr", "sqlexec/exec"},
	"github.com/dgryski/go-metro":      {"sqlexec/expr"},
	"github.com/parquet-go/parquet-go": {"sqlexec/rowfile", "sqlexec/opentables"},
	"github.com/ulikunitz/xz":          {"sqlexec/rowfile"},
	"github.com/dsnet/compress":        {"sqlexec/rowfile"},
	"github.com/apache/arrow-go/v18":   {"server/result", "cmd/varve/export", "cmd/varve/arrowrows"},
	"github.com/prometheus/client_golang": {"engine", "server", "wal", "sst", "pipeline", "cmd/varve",
		"sqlexec/opentables"},
	"github.com/prometheus/client_model": {"server/admin"},
	"github.com/prometheus/prometheus":   {"sqlexec/promql"},
	"go.yaml.in/yaml/v3":                 {"pipeline", "server/rules/file", "cmd/varve/ruletest"},
	"github.com/pelletier/go-toml/v2":    {"cmd/varve", "server/admin"},
	"github.com/alecthomas/kong":         {"cmd/varve"},
	"github.com/google/pprof":            {"server/admin"},
	"github.com/pkg/profile":             {"bench"},
	"github.com/schollz/progressbar/v3":  {"bench"},
	"golang.org/x/sys":                   {"engine/vfs", "server", "cmd/varve", "bench/process"},
	"golang.org/x/term":                  {"cmd/varve"},
	"golang.org/x/text":                  {"pipeline/vrl/stdlib", "sqlexec/expr"},
	"golang.org/x/net":                   {"pipeline/vrl/stdlib"},
	"golang.org/x/crypto":                {"pipeline/vrl/stdlib"},
	"github.com/fxamacker/cbor/v2":       {"pipeline/vrl/stdlib"},
	"github.com/pierrec/lz4/v4":          {"pipeline/vrl/stdlib"},
	"github.com/zeebo/xxh3":              {"pipeline/vrl/stdlib"},
	"github.com/ua-parser/uap-go":        {"pipeline/vrl/stdlib"},
	"github.com/reeflective/readline":    {"cmd/varve/shell"},
	"github.com/rivo/uniseg":             {"pipeline/vrl/stdlib", "cmd/varve/shell"},
	"unsafe":                             {"engine/vector", "engine/vfs", "flatten", "pipeline/value"},
	"net/http":                           {"engine/bucket", "server", "cmd/varve", "bench"},
	"encoding/json": {"engine/convert", "engine/manifest", "flatten", "pipeline", "sqlexec",
		"server", "cmd/varve", "cmd/release", "bench"},
	"C": {},
}

// pkg is what `go list` says of a package.
type pkg struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// packages lists the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// below reports whether path is home or lies below it.
func below(path, home string) bool {
	return path == home || strings.HasPrefix(path, home+"/")
}

// layer is the number of a package of the module; ok is false when the table does not know it.
func layer(path string) (n int, ok bool) {
	longest := -1
	for home, number := range layers {
		if below(path, home) && len(home) > longest {
			n, ok, longest = number, true, len(home)
		}
	}
	return n, ok
}

// complaint says what is wrong with an import; empty: nothing.
func complaint(from, to string) string {
	if rest, ok := strings.CutPrefix(to, module+"/"); ok {
		return ownComplaint(from, rest)
	}
	library, longest := "", -1
	for l := range homes {
		if below(to, l) && len(l) > longest {
			library, longest = l, len(l)
		}
	}
	switch {
	case slices.Contains(forTests, from):
		return ""
	case library == "" && strings.Contains(strings.Split(to, "/")[0], "."):
		return "the library has no home in layering_test.go"
	case library == "" || slices.ContainsFunc(homes[library], func(home string) bool { return below(from, home) }):
		return ""
	}
	return "only " + strings.Join(homes[library], ", ") + " may import " + library
}

// testComplaint says what is wrong with an import between packages of the module in a test; outside: it is of another
// package than those that it tests.
func testComplaint(from, to string, outside bool) string {
	switch {
	case outside && below(from, "server") && slices.Contains(wholeServer, to):
		return ""
	// Tests outside of a package may try it together with its parts that import it.
	case to == from || outside && below(to, from):
		return ""
	}
	return layerComplaint(from, to)
}

// ownComplaint judges an import between packages of the module.
func ownComplaint(from, to string) string {
	if slices.Contains(forTests, to) {
		return "only tests may import it"
	}
	return layerComplaint(from, to)
}

// layerComplaint holds an import between packages of the module against the table.
func layerComplaint(from, to string) string {
	if below(from, "bench") {
		if below(to, "bench") {
			return ""
		}
		return "bench drives the server over HTTP and imports its own parts only"
	}
	a, okA := layer(from)
	b, okB := layer(to)
	switch {
	case !okA:
		return from + " has no layer in layering_test.go"
	case !okB:
		return to + " has no layer in layering_test.go"
	case b < a || slices.Contains(within[from], to):
		return ""
	case b > a:
		return "imports point down only"
	}
	return "packages of one layer meet only below it"
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		if from == module {
			continue
		}
		for _, to := range p.Imports {
			if c := complaint(from, to); c != "" {
				t.Errorf("%s imports %s: %s", from, to, c)
			}
		}
		// Tests may use any library, but keep to the layers.
		for _, to := range append(p.TestImports, p.XTestImports...) {
			rest, own := strings.CutPrefix(to, module+"/")
			if !own {
				continue
			}
			if c := testComplaint(from, rest, slices.Contains(p.XTestImports, to)); c != "" {
				t.Errorf("a test of %s imports %s: %s", from, rest, c)
			}
		}
	}
}

func TestImportTableKnowsTheRulesOfTests(t *testing.T) {
	for _, c := range []struct {
		from, to         string
		outside, allowed bool
	}{
		{"server/write/otlp", "server/servertest", true, true},
		{"server/write/otlp", "server", true, true},
		{"server/write", "server/servertest", true, true},
		{"server", "server/servertest", true, true},
		{"server/write/otlp", "server/write/lineproto", true, false},
		{"server/write", "server/write/lineproto", true, true},
		{"engine", "server/servertest", true, false},
		{"cmd/varve", "server/servertest", true, false},
		{"sst", "engine/scan/scantest", false, true},
	} {
		if got := testComplaint(c.from, c.to, c.outside); (got == "") != c.allowed {
			t.Errorf("a test of %s imports %s: got %q, want allowed = %v", c.from, c.to, got, c.allowed)
		}
	}
}

func TestImportTableKnowsTheRules(t *testing.T) {
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"engine/vector", "varve/engine/status", true},
		{"engine/status", "varve/engine/vector", false},
		{"engine/schema", "varve/engine/vector", true},
		{"engine/vector", "varve/engine/schema", false},
		{"memtable", "varve/engine/scan", true},
		{"memtable", "varve/sst", false},
		{"memtable", "varve/engine", false},
		{"engine/manifest", "varve/sst", true},
		{"engine", "varve/memtable", true},
		{"pipeline", "varve/sqlexec", false},
		{"pipeline/vrl/stdlib", "varve/pipeline/vrl", true},
		{"pipeline/vrl", "varve/pipeline/vrl/stdlib", false},
		{"pipeline/vrl", "github.com/rivo/uniseg", false},
		{"sqlexec/plan", "varve/sqlexec/parse", true},
		{"sqlexec/parse", "varve/sqlexec", false},
		{"server/write/otlp", "varve/server/write/lineproto", false},
		{"server/write/otlp", "varve/server/read/query", false},
		{"server/write/otlp", "varve/server/write/rows/tagged", true},
		{"server/write/rows/tagged", "varve/server/write/rows/samples", false},
		{"server/write/rows/tagged", "varve/server/write/otlp", false},
		{"server/write/fresh", "varve/server/write/otlp", false},
		{"server/write/fresh", "varve/server/listen", true},
		{"server/listen", "varve/server/write/syslog", false},
		{"server/write/otlp", "varve/server/web", true},
		{"server/web", "varve/server", false},
		{"server", "varve/server/write/fresh", true},
		{"server", "varve/cmd/varve", false},
		{"cmd/varve", "varve/server", true},
		{"cmd/varve", "varve/server/servertest", false},
		{"server", "varve/server/servertest", false},
		{"server/servertest", "varve/server", true},
		{"server/servertest", "example.com/new/library", true},
		{"sst", "varve/engine/scan/scantest", false},
		{"bench", "varve/bench/gen", true},
		{"bench", "varve/engine", false},
		{"cmd/varve/benchmark", "varve/bench/gen", true},
		{"cmd/varve", "varve/bench/client", false},
		{"memtable", "varve/util", false},
		{"engine", "github.com/valyala/fasthttp", false},
		{"server/write/ingest", "github.com/valyala/fasthttp", true},
		{"pipeline", "github.com/bytedance/sonic/ast", false},
		{"sst/index", "github.com/RoaringBitmap/roaring/v2/roaring64", true},
		{"memtable", "unsafe", false},
		{"flatten", "unsafe", true},
		{"wal", "net/http", false},
		{"wal", "encoding/binary", true},
		{"wal", "example.com/new/library", false},
		{"engine/vfs", "C", false},
	} {
		if got := complaint(c.from, c.to); (got == "") != c.allowed {
			t.Errorf("%s imports %s: got %q, want allowed = %v", c.from, c.to, got, c.allowed)
		}
	}
}
