package sqlexec

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"varve/engine/status"
	"varve/sqlexec/exec"
)

// allTypes is a table with a column of every type, and rows with the values that are hard to keep.
const allTypes = `CREATE TABLE src (tag STRING, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, u8 TINYINT UNSIGNED,
  u16 SMALLINT UNSIGNED, u32 INT UNSIGNED, u64 BIGINT UNSIGNED, f32 FLOAT, f64 DOUBLE, dec DECIMAL(38, 10), s STRING, bin BINARY, j JSON,
  d DATE, t0 TIMESTAMP(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), t9 TIMESTAMP(9), "Odd ""name"", x" STRING, ts TIMESTAMP(9) TIME INDEX, PRIMARY KEY (tag));
INSERT INTO src VALUES
 ('low', false, -128, -32768, -2147483648, -9223372036854775808, 0, 0, 0, 0, -3.4028235e38, -1.7976931348623157e308,
  '-9999999999999999999999999999.9999999999', '', x'', '{}', '0001-01-01', '1969-12-31 23:59:59', '1969-12-31 23:59:59.999',
  '1969-12-31 23:59:59.999999', '1677-09-22 00:00:00.000000001', 'x', 1),
 ('high', true, 127, 32767, 2147483647, 9223372036854775807, 255, 65535, 4294967295, 18446744073709551615, 1.1754944e-38, 5e-324,
  '9999999999999999999999999999.9999999999', 'a,"b"
c', x'00ff22', '{"b":[1,null,"x"],"a":{"c":1.50}}', '9999-12-31', '2262-04-11 23:47:16', '9999-12-31 23:59:59.999',
  '9999-12-31 23:59:59.999999', '2262-04-11 23:47:16.854775807', 'NULL', 2),
 ('null', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3),
 ('nan', true, 1, 1, 1, 1, 1, 1, 1, 1, 'NaN', 'NaN', 0, 'é中🚀\\n', x'0d0a', '[1]', '1970-01-01', 0, 0, 0, 0, ' x ', 4),
 ('inf', true, 1, 1, 1, 1, 1, 1, 1, 1, 'inf', '-inf', '0.5', '"', x'2c', '["a,b"]', '2000-02-29', 1, 1, 1, 1, '''', 5),
 (NULL, false, 0, 0, 0, 0, 0, 0, 0, 0, 0.1, 0.1, '-0.0000000001', ' ', x'22', '{"a":"\"\u0000"}', '1900-03-01', -1, -1, -1, -1, '
', 6);`

// copyStore is an executor with a directory for COPY.
func copyStore(t testing.TB) (x *Executor, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "copy")
	return New(openStore(t), Options{Workers: 2, Version: "test", CopyDir: dir}), dir
}

// outcomeOf runs statements that succeed and gives the rows or count of the last one as text.
func outcomeOf(t testing.TB, x *Executor, sql string) string {
	t.Helper()
	got, err := answer(x, &Session{}, sql, false)
	if err == nil {
		err = got.err
	}
	if err != nil {
		t.Fatalf("%s\n%v", sql, err)
	}
	return draw(got)
}

// refused runs a statement that fails with one of the codes and a message that contains text.
func refused(t testing.TB, x *Executor, sql, text string, codes ...status.Code) {
	t.Helper()
	got, err := answer(x, &Session{}, sql, false)
	if err != nil {
		t.Fatal(err)
	}
	if got.err == nil || !slices.Contains(codes, status.Of(got.err)) || !strings.Contains(got.err.Error(), text) {
		t.Errorf("%s\n got %v\nwant code %v and %q", sql, got.err, codes, text)
	}
}

func TestCopyRoundTrips(t *testing.T) {
	x, dir := copyStore(t)
	outcomeOf(t, x, allTypes)
	want := outcomeOf(t, x, "SELECT * FROM src ORDER BY ts;")
	for i, c := range []struct{ file, with string }{
		{"a.csv", ""},
		{"a.json", ""},
		{"a.parquet", ""},
		{"plain", "WITH (FORMAT = 'csv')"},
		{"plain", "WITH (FORMAT = 'JSON', COMPRESSION_TYPE = 'zstd')"},
		{"plain", "WITH (format = 'parquet', compression_type = 'snappy')"},
		{"none", ""},
		{"a.csv.gz", "WITH (COMPRESSION_TYPE = 'gzip')"},
		{"a.json.zst", "WITH (COMPRESSION_TYPE = 'ZSTD')"},
		{"a.csv.xz", "WITH (COMPRESSION_TYPE = 'xz', DELIMITER = ';')"},
		{"a.json.bz2", "WITH (COMPRESSION_TYPE = 'bzip2')"},
		{"tabs.csv", "WITH (DELIMITER = '\\t')"},
		{"letters.csv", "WITH (DELIMITER = 'a')"},
		{"deep/er/a.parquet", "WITH (COMPRESSION_TYPE = 'gzip')"},
		{filepath.Join(dir, "absolute.csv"), ""},
		{"file://" + filepath.Join(dir, "absolute.csv"), ""},
		{"a.csv", "WITH (TIMESTAMP_FORMAT = '%d.%m.%Y %H:%M:%S.%9f', DATE_FORMAT = '%Y/%m/%d')"},
	} {
		t.Run(c.file+c.with, func(t *testing.T) {
			if got := outcomeOf(t, x, fmt.Sprintf("COPY src TO '%s' %s;", c.file, c.with)); got !=
				"Affected Rows: 6\n" {
				t.Errorf("COPY TO: %s", got)
			}
			name := fmt.Sprintf("dst%d", i)
			outcomeOf(t, x, fmt.Sprintf("CREATE TABLE %s LIKE src;", name))
			if got := outcomeOf(t, x, fmt.Sprintf("COPY %s FROM '%s' %s;", name, c.file, c.with)); got !=
				"Affected Rows: 6\n" {
				t.Errorf("COPY FROM: %s", got)
			}
			if got := outcomeOf(t, x, fmt.Sprintf("SELECT * FROM %s ORDER BY ts;", name)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// TestCopyOfJSON: whatever a value of JSON is, it comes back as it was; texts that hold JSON stay texts.
func TestCopyOfJSON(t *testing.T) {
	x, _ := copyStore(t)
	outcomeOf(t, x, `CREATE TABLE src (ts TIMESTAMP TIME INDEX, j JSON, s STRING);
INSERT INTO src VALUES (1, '"bare \u00e9 \"text\""', '"x"'), (2, '"{\"a\":1}"', '{"a":1}'), (3, '""', ''), (4, '{"a":[1,"b",null]}', NULL), (5, '[]', 'null'), (6, 'true', 'true'), (7, '-1.50', '1'), (8, '"null"', NULL), (9, NULL, NULL);`)
	want := outcomeOf(t, x, "SELECT * FROM src ORDER BY ts;")
	for _, form := range []string{"csv", "json", "parquet"} {
		outcomeOf(t, x, fmt.Sprintf("CREATE TABLE %s LIKE src; COPY src TO 'a.%[1]s'; COPY %[1]s FROM 'a.%[1]s';",
			form))
		if got := outcomeOf(t, x, fmt.Sprintf("SELECT * FROM %s ORDER BY ts;", form)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", form, got, want)
		}
	}
}

// TestUnpackingTakesMemory: what a packed file makes its reader keep counts as memory of queries before it is kept.
func TestUnpackingTakesMemory(t *testing.T) {
	x, dir := copyStore(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	outcomeOf(t, x, "CREATE TABLE t (ts TIMESTAMP TIME INDEX, v STRING) WITH (append_mode = 'true');")
	text := []byte("ts,v\n1,a\n2,b\n")
	var frame, stream bytes.Buffer
	z, err := zstd.NewWriter(&frame, zstd.WithWindowSize(32<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Flush(), z.Close()); err != nil {
		t.Fatal(err)
	}
	w, err := xz.WriterConfig{DictCap: 48 << 20}.NewWriter(&stream)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, packed := range map[string][]byte{"a.csv.zst": frame.Bytes(), "a.csv.xz": stream.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), packed, 0o600); err != nil {
			t.Fatal(err)
		}
		pool := exec.NewPool(40 << 20)
		x.o.Memory = pool
		refused(t, x, "COPY t FROM '"+name+"'", "MiB", status.RuntimeResourcesExhausted)
		if pool.Used() != 0 {
			t.Errorf("%s: %d bytes are still taken", name, pool.Used())
		}
		x.o.Memory = exec.NewPool(128 << 20)
		if got := outcomeOf(t, x, "COPY t FROM '"+name+"';"); got != "Affected Rows: 2\n" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestCopyWritesWhatOthersRead(t *testing.T) {
	x, dir := copyStore(t)
	outcomeOf(t, x,
		`CREATE TABLE t (h STRING, v DOUBLE, b BINARY, j JSON, n BIGINT, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h));
INSERT INTO t VALUES ('a,b', 1, x'0aff', '{"k":[1]}', NULL, 0), ('', 'NaN', NULL, NULL, 7, 1500);`)
	for _, c := range []struct{ sql, file, want string }{
		{"COPY t TO 'o.csv'", "o.csv",
			"h,v,b,j,n,ts\n\"\",NaN,,,7,1970-01-01T00:00:01.500\n\"a,b\",1.0,0aff,\"{\"\"k\"\":[1]}\",,1970-01-01T00:00:00\n"},
		{"COPY t TO 'o.json'", "o.json", `{"h":"","v":"NaN","b":null,"j":null,"n":7,"ts":"1970-01-01T00:00:01.500"}
{"h":"a,b","v":1.0,"b":"0aff","j":{"k":[1]},"n":null,"ts":"1970-01-01T00:00:00"}
`},
		{"COPY t TO 'o.csv' WITH (START_TIME = '1970-01-01 00:00:01', END_TIME = '1970-01-01 00:00:02')", "o.csv",
			"h,v,b,j,n,ts\n\"\",NaN,,,7,1970-01-01T00:00:01.500\n"},
		{"COPY t TO 'o.csv' WITH (END_TIME = '1970-01-01 00:00:01.5')", "o.csv",
			"h,v,b,j,n,ts\n\"a,b\",1.0,0aff,\"{\"\"k\"\":[1]}\",,1970-01-01T00:00:00\n"},
		{"COPY (SELECT h, n + 1 AS m FROM t WHERE n IS NOT NULL) TO 'q.csv'", "q.csv", "h,m\n\"\",8\n"},
		{"COPY (SELECT 1 AS a WHERE false) TO 'empty.csv'", "empty.csv", "a\n"},
	} {
		outcomeOf(t, x, c.sql+";")
		got, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.sql, err, got, c.want)
		}
	}
}

func TestCopyFromWhatOthersWrite(t *testing.T) {
	for _, c := range []struct {
		name, file, text, with string
		want                   string // rows of h, v, ts
	}{
		{"columns by name, in any order", "f.csv", "ts,unknown,v,h\n5,z,1.5,a\n", "", "a 1.5 5"},
		{"a default for what is not there", "f.csv", "ts,h\n5,a\n", "", "a 9.0 5"},
		{"empty is NULL, not the default", "f.csv", "ts,h,v\n5,a,\n", "", "a NULL 5"},
		{"CRLF, a mark and no last line feed", "f.csv", "\ufeffts,h\r\n5,\"a\r\nb\"\r\n6,c", "",
			"a\r\nb 9.0 5|c 9.0 6"},
		{"times with zones", "f.csv", "ts,h\n1970-01-01T01:00:00.007+01:00,a\n", "", "a 9.0 7"},
		{"limit", "f.csv", "ts,h\n1,a\n2,b\n3,c\n", "LIMIT 2", "a 9.0 1|b 9.0 2"},
		{"bad records left out", "f.csv", "ts,h,v\n1,a,1\nx,b,1\n3,c\n4,d,x\n5,e,2\n",
			"WITH (SKIP_BAD_RECORDS = 'true')", "a 1.0 1|e 2.0 5"},
		{"objects", "f.json", `{"ts":1,"h":"a","v":1}` + "\n\n" +
			` { "h" : "b\u0041" , "x":[{}], "ts":"1970-01-01 00:00:00.002" } `, "", "a 1.0 1|bA 9.0 2"},
		{"null is not absent", "f.json", `{"ts":1,"h":"a","v":null}` + "\n" + `{"ts":2,"h":"a"}`, "",
			"a NULL 1|a 9.0 2"},
		{"bad objects left out", "f.json",
			"{\"ts\":1,\"h\":\"a\"}\n{\n[]\n{\"ts\":true}\n{\"h\":\"b\"}\n{\"ts\":6,\"h\":\"c\"}",
			"WITH (SKIP_BAD_RECORDS = true)", "a 9.0 1|c 9.0 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, dir := copyStore(t)
			outcomeOf(t, x,
				"CREATE TABLE t (h STRING, v DOUBLE DEFAULT 9, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h));")
			place(t, dir, c.file, c.text)
			outcomeOf(t, x, fmt.Sprintf("COPY t FROM '%s' %s;", c.file, c.with))
			got, err := answer(x, &Session{}, "SELECT h, coalesce(v::STRING, 'NULL'), ts::BIGINT FROM t ORDER BY ts;",
				false)
			if err != nil || got.err != nil {
				t.Fatal(err, got.err)
			}
			var rows []string
			for _, r := range got.rows {
				rows = append(rows, strings.Join(r, " "))
			}
			if text := strings.Join(rows, "|"); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

// place puts a file into the directory of COPY.
func place(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCopyFromMalformed(t *testing.T) {
	x, dir := copyStore(t)
	outcomeOf(t, x,
		"CREATE TABLE t (h STRING, n TINYINT, r INT NOT NULL DEFAULT 1, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h));")
	for _, c := range []struct{ file, text, want string }{
		{"f.csv", "", "is empty"},
		{"f.csv", "ts,h,ts\n", `column "ts" occurs twice`},
		{"f.csv", "a,b\n1,2\n", "no column of the file"},
		{"f.csv", "ts,h\n1,a\n2\n", "line 3: 1 fields"},
		{"f.csv", "ts,h\n1,a\n2,\"b\n\n", "line 3: a quote that opens field 2 is not closed"},
		{"f.csv", "ts,h\n1,\"a\"b\n", "line 2: text behind the closing quote of field 2"},
		{"f.csv", "ts,n\n1,1\n2,128\n", `line 3: column "n": '128' does not fit Int8`},
		{"f.csv", "ts,n\n\"1\n\",1\n", `line 2: column "ts"`},
		{"f.csv", "ts,n\n,1\n", `line 2: column "ts" is NOT NULL`},
		{"f.csv", "n\n1\n", "line 2: Column ts is NOT NULL"},
		{"f.csv", "ts,h\n1,\xff\n", `line 2: column "h"`},
		{"f.csv", "ts,r\n1,\n", `line 2: column "r" is NOT NULL`},
		{"f.json", "{\"ts\":1}\n{\"ts\":2,}\n", "line 2: invalid JSON at byte"},
		{"f.json", "[{\"ts\":1}]\n", "line 1: every line must hold one JSON object"},
		{"f.json", "{\"ts\":{}}\n", `line 1: column "ts": '{}'`},
		{"f.parquet", "PAR1 nothing PAR1", "damaged Parquet file"},
		{"f.parquet", "", "no Parquet file"},
		{"f.csv.gz", "\x1f\x8b\x08 damaged", "gzip"},
	} {
		place(t, dir, c.file, c.text)
		refused(t, x, fmt.Sprintf("COPY t FROM '%s';", c.file), c.want, status.InvalidArguments)
	}
	if got := outcomeOf(t, x, "SELECT count(*) AS n FROM t;"); !strings.Contains(got, "| 0 |") {
		t.Errorf("rows of malformed files are in the table: %s", got)
	}
}

// TestCopyLargeFileIsWholeOrNot loads a file of several writes whose last line is damaged.
func TestCopyLargeFileIsWholeOrNot(t *testing.T) {
	x, dir := copyStore(t)
	outcomeOf(t, x,
		"CREATE TABLE t (h STRING, s STRING, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h)) WITH (append_mode = 'true');")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, "ts,h,s\n")
	filler := strings.Repeat("x", 4000)
	const rows = 20000 // 80 MB
	for i := range rows {
		fmt.Fprintf(z, "%d,h%d,%s\n", i, i%10, filler)
	}
	io.WriteString(z, "wrong,h,x\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	place(t, dir, "big.csv.gz", b.String())
	refused(t, x, "COPY t FROM 'big.csv.gz';", fmt.Sprintf("line %d:", rows+2), status.InvalidArguments)
	if got := outcomeOf(t, x, "SELECT count(*) AS n FROM t;"); !strings.Contains(got, "| 0 |") {
		t.Errorf("rows of a damaged file are in the table: %s", got)
	}
	if got := outcomeOf(t, x, "COPY t FROM 'big.csv.gz' WITH (SKIP_BAD_RECORDS = 'true');"); got !=
		fmt.Sprintf("Affected Rows: %d\n", rows) {
		t.Error(got)
	}
	if got := outcomeOf(t, x, "SELECT count(*) AS n FROM t;"); !strings.Contains(got, fmt.Sprintf("| %d |", rows)) {
		t.Error(got)
	}
}

func TestCopyStaysInItsDirectory(t *testing.T) {
	x, dir := copyStore(t)
	outcomeOf(t, x,
		"CREATE TABLE t (h STRING, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h)); INSERT INTO t VALUES ('a', 1);")
	outside := t.TempDir()
	place(t, outside, "x.csv", "ts,h\n1,a\n")
	place(t, dir, "in.csv", "ts,h\n1,a\n")
	for link, to := range map[string]string{"dir": outside, "file.csv": filepath.Join(outside, "x.csv"), "up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	codes := []status.Code{status.InvalidArguments, status.PermissionDenied}
	for _, path := range []string{
		"../x.csv", "a/../../x.csv", "..", "/etc/passwd", outside + "/x.csv", "file:///etc/passwd", "dir/x.csv",
		"file.csv", "up/x.csv",
		dir + "/../x.csv", dir + "x/x.csv", "file://../x.csv", "file:///%2e%2e/x.csv", "", "a\x00b",
	} {
		refused(t, x, fmt.Sprintf("COPY t FROM '%s';", path), "", codes...)
		if path != "file.csv" { // it is replaced, what it points at is not touched
			refused(t, x, fmt.Sprintf("COPY t TO '%s' WITH (FORMAT = 'csv');", path), "", codes...)
		}
		refused(t, x, fmt.Sprintf("COPY DATABASE public TO '%s/';", path), "", codes...)
	}
	outcomeOf(t, x, "COPY t TO 'file.csv';")
	got, err := os.ReadFile(filepath.Join(outside, "x.csv"))
	if err != nil || string(got) != "ts,h\n1,a\n" {
		t.Errorf("a file outside was changed: %q %v", got, err)
	}
	list, err := os.ReadDir(outside)
	if err != nil || len(list) != 1 {
		t.Errorf("files appeared outside: %v %v", list, err)
	}
	refused(t, x, "COPY t FROM 's3://bucket/x.csv';", "s3", status.Unsupported)
	refused(t, x,
		"COPY t FROM 's3://bucket/x.csv' WITH (FORMAT = 'csv') CONNECTION (REGION = 'x', ACCESS_KEY_ID = 'y');", "s3",
		status.Unsupported)
	refused(t, x, "COPY t FROM 'nothing.csv';", "File not found in the directory of COPY: 'nothing.csv'",
		status.InvalidArguments)
	refused(t, x, "COPY t FROM 'dir';", "", codes...)

	for _, name := range []string{"nothing.csv", "folder/"} { // the directory is not there either
		none := New(openStore(t), Options{Workers: 1, CopyDir: filepath.Join(t.TempDir(), "none")})
		refused(t, none, "COPY t FROM '"+name+"';", "'"+strings.TrimSuffix(name, "/")+"'", status.InvalidArguments)
	}
	off := New(openStore(t), Options{Workers: 1})
	refused(t, off, "COPY (SELECT 1 AS a) TO 'a.csv';", "copy.dir", status.PermissionDenied)
	refused(t, off, "COPY (SELECT 1 AS a) TO '/etc/a.csv';", "", codes...)
}

func TestCopyRefuses(t *testing.T) {
	x, _ := copyStore(t)
	outcomeOf(t, x,
		"CREATE TABLE t (h STRING, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h)); CREATE VIEW v AS SELECT h FROM t;")
	for _, c := range []struct {
		sql, want string
		code      status.Code
	}{
		{"COPY t TO 'a.csv' WITH (FORMAT = 'orc')", "FORMAT", status.InvalidArguments},
		{"COPY t TO 'a.csv' WITH (COLOUR = 'red')", "COLOUR", status.InvalidArguments},
		{"COPY t TO 'a.csv' WITH (PATTERN = 'x')", "PATTERN", status.InvalidArguments},
		{"COPY (SELECT 1 AS n) TO 'a.csv' WITH (START_TIME = '2020-01-01')", "START_TIME", status.InvalidArguments},
		{"COPY t TO 'a.csv' WITH (DELIMITER = ';;')", "DELIMITER", status.InvalidArguments},
		{"COPY t TO 'a.csv' WITH (DELIMITER = '\"')", "DELIMITER", status.InvalidArguments},
		{"COPY t FROM 'a/' WITH (PATTERN = '(')", "PATTERN", status.InvalidArguments},
		{"COPY t TO 'a.csv' WITH (START_TIME = 'soon')", "START_TIME", status.InvalidArguments},
		{"COPY t TO 'a.csv' WITH (COMPRESSION_TYPE = 'brotli')", "gzip, zstd", status.InvalidArguments},
		{"COPY t TO 'a.csv' WITH (COMPRESSION_TYPE = 'lz4')", "COMPRESSION_TYPE", status.InvalidArguments},
		{"COPY t TO 'a.parquet' WITH (COMPRESSION_TYPE = 'bzip2')", "snappy", status.InvalidArguments},
		{"COPY t TO 'a/' WITH (FORMAT = 'csv')", "directory", status.InvalidArguments},
		{"COPY t TO 'a.csv' LIMIT 1", "LIMIT", status.InvalidSyntax},
		{"COPY t FROM 'a.csv' LIMIT -1", "LIMIT", status.InvalidArguments},
		{"COPY nothing TO 'a.csv'", "nothing", status.TableNotFound},
		{"COPY nothing FROM 'a.csv'", "nothing", status.TableNotFound},
		{"COPY v FROM 'a.csv'", "", status.Unsupported},
		{"COPY information_schema.tables FROM 'a.csv'", "", status.Unsupported},
		{"COPY (SELECT 1 AS a, 2 AS a) TO 'a.csv'", `"a"`, status.InvalidArguments},
		{"COPY (SELECT x FROM t) TO 'a.csv'", "x", status.PlanQuery},
		{"COPY (SELECT 1/0 AS a) TO 'a.csv'", "zero", status.EngineExecuteQuery},
		{"COPY DATABASE public TO 'a'", "slash", status.InvalidArguments},
		{"COPY DATABASE nothing TO 'a/'", "nothing", status.DatabaseNotFound},
	} {
		refused(t, x, c.sql+";", c.want, c.code)
	}
}

func TestCopyDatabase(t *testing.T) {
	x, dir := copyStore(t)
	outcomeOf(t, x,
		`CREATE TABLE "Up.per" (h STRING, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h)); INSERT INTO "Up.per" VALUES ('a', 1), ('b', 2000);
CREATE TABLE other (v INT, t TIMESTAMP(9) TIME INDEX); INSERT INTO other VALUES (1, '1970-01-01 00:00:01');
CREATE TABLE nothing (t TIMESTAMP TIME INDEX); CREATE VIEW v AS SELECT 1;`)
	for _, with := range []string{"FORMAT = 'csv'", "FORMAT = 'json', COMPRESSION_TYPE = 'gzip'",
		"FORMAT = 'parquet'"} {
		place(t, dir, "back/notes.txt", "not a table")
		if got := outcomeOf(t, x, "COPY DATABASE public TO 'back/' WITH ("+with+");"); got != "Affected Rows: 3\n" {
			t.Errorf("%s: %s", with, got)
		}
		outcomeOf(t, x, `TRUNCATE "Up.per"; TRUNCATE other;`)
		if got := outcomeOf(t, x, "COPY DATABASE public FROM 'back/' WITH ("+with+");"); got != "Affected Rows: 3\n" {
			t.Errorf("%s: %s", with, got)
		}
		if got := outcomeOf(t, x,
			`SELECT h FROM "Up.per" UNION ALL SELECT v::STRING FROM other ORDER BY h;`); !strings.Contains(got,
			"| 1 |\n| a |\n| b |") {
			t.Errorf("%s: %s", with, got)
		}
	}
	if got := outcomeOf(t, x,
		"COPY DATABASE public TO 'part/' WITH (FORMAT = 'csv', START_TIME = '1970-01-01 00:00:01', END_TIME = '1970-01-01 00:00:02');"); got != "Affected Rows: 1\n" {
		t.Error(got)
	}
	place(t, dir, "part/absent.csv", "a\n1\n")
	refused(t, x, "COPY DATABASE public FROM 'part/' WITH (FORMAT = 'csv');", "absent", status.TableNotFound)
	outcomeOf(t, x, "CREATE TABLE p (h STRING, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h));")
	for name, text := range map[string]string{"dir/a1.csv": "h,ts\na,1\n", "dir/a2.csv": "h,ts\nb,2\n",
		"dir/b1.csv": "h,ts\nc,3\n", "dir/.a3.csv.partial": "h\n"} {
		place(t, dir, name, text)
	}
	if got := outcomeOf(t, x, "COPY p FROM 'dir/' WITH (FORMAT = 'csv', PATTERN = '^a.*');"); got !=
		"Affected Rows: 2\n" {
		t.Error(got)
	}
	if got := outcomeOf(t, x, "COPY p FROM 'dir/' WITH (FORMAT = 'csv');"); got != "Affected Rows: 3\n" {
		t.Error(got)
	}
	refused(t, x, "COPY p FROM 'dir/' WITH (FORMAT = 'csv', PATTERN = 'zzz');", "No file", status.InvalidArguments)
}

// TestCopyIsCancelled ends statements from outside: no file is left, no row is written.
func TestCopyIsCancelled(t *testing.T) {
	x, dir := copyStore(t)
	outcomeOf(t, x,
		"CREATE TABLE t (h STRING, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (h)); INSERT INTO t VALUES ('a', 1);")
	place(t, dir, "in.csv", "h,ts\nb,2\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, sql := range []string{"COPY t TO 'out.csv'", "COPY (SELECT * FROM numbers) TO 'out.csv'",
		"COPY t FROM 'in.csv'"} {
		list, err := x.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Execute(ctx, &Session{}, list[0]); status.Of(err) != status.Cancelled {
			t.Errorf("%s: %v", sql, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left over: %v %v", entries, err)
	}
	if got := outcomeOf(t, x, "SELECT h FROM t;"); strings.Contains(got, "b") {
		t.Error(got)
	}
}

// TestCopyFromAnotherWriter loads a Parquet file that the library of the Arrow project wrote.
func TestCopyFromAnotherWriter(t *testing.T) {
	x, dir := copyStore(t)
	outcomeOf(t, x,
		`CREATE TABLE o (tag STRING, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, u8 TINYINT UNSIGNED, u16 SMALLINT UNSIGNED,
  u32 INT UNSIGNED, u64 BIGINT UNSIGNED, f32 FLOAT, f64 DOUBLE, dec DECIMAL(38, 10), s STRING, bin BINARY, j JSON, d DATE, t0 TIMESTAMP(0), t3 TIMESTAMP(3),
  t6 TIMESTAMP(6), t9 TIMESTAMP(9), ts TIMESTAMP(9) TIME INDEX, PRIMARY KEY (tag));`)
	data, err := os.ReadFile("testdata/other-writer.parquet")
	if err != nil {
		t.Fatal(err)
	}
	place(t, dir, "o.parquet", string(data))
	if got := outcomeOf(t, x, "COPY o FROM 'o.parquet';"); got != "Affected Rows: 2\n" {
		t.Error(got)
	}
	got, err := answer(x, &Session{}, "SELECT * FROM o ORDER BY ts;", false)
	if err != nil || got.err != nil {
		t.Fatal(err, got.err)
	}
	want := [][]string{
		{"a", "true", "-1", "-2", "-3", "-4", "5", "6", "7", "18446744073709551615", "0.5", "NaN", "-12.5000000000",
			"text", "00ff", `{"a":1}`, "2024-01-02",
			"1970-01-01T00:00:01", "1970-01-01T00:00:00.002", "1970-01-01T00:00:00.000003",
			"1970-01-01T00:00:00.000000004", "1970-01-01T00:00:00.000000005"},
		append(append([]string{"n"}, make([]string, 20)...), "1970-01-01T00:00:00.000000006"),
	}
	if fmt.Sprintf("%q", got.rows) != fmt.Sprintf("%q", want) {
		t.Errorf("got\n%q\nwant\n%q", got.rows, want)
	}
}
