package rowfile

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"varve/engine/vector"
)

// readAll reads a file in memory with the names and gives the number of its rows.
func readAll(data []byte, f Format, names []string) (rows int, err error) {
	r, err := NewReader(bytes.NewReader(data), int64(len(data)), names,
		ReadOptions{Format: f, Bad: func(int64, error) error { return nil }})
	if err != nil {
		return 0, err
	}
	var b Rows
	for {
		ok, err := r.Next(&b)
		if err != nil || !ok {
			return rows, closing(r, err)
		}
		for k, v := range b.Cols {
			for i := range b.N {
				if r.Has(k) && !v.IsNull(i) && v.Type.Kind() == vector.Bytes {
					_ = v.Bytes(i)
				}
			}
		}
		rows += b.N
	}
}

// sample is a batch of the types that readers take different ways for.
func sample(n int) ([]vector.Field, *vector.Batch) {
	fields := []vector.Field{
		{Name: "b", Type: vector.BoolType}, {Name: "i", Type: vector.Int16Type}, {Name: "u", Type: vector.Uint64Type},
		{Name: "f", Type: vector.FloatType},
		{Name: "s", Type: vector.StringType}, {Name: "t", Type: vector.Timestamp(0)},
		{Name: "d", Type: vector.Type{ID: vector.TypeDecimal, Precision: 5, Scale: 1}},
	}
	b := &vector.Batch{N: n}
	for _, f := range fields {
		b.Cols = append(b.Cols, &vector.Vector{Type: f.Type})
	}
	for i := range n {
		for k, v := range b.Cols {
			if (i+k)%7 == 0 {
				v.AppendNulls(i, 1)
				continue
			}
			var one *vector.Vector
			switch v.Type.Kind() {
			case vector.Bool:
				one = vector.ConstBool(i%2 == 0)
			case vector.Int64:
				one = vector.ConstInt(v.Type, int64(i%100))
			case vector.Uint64:
				one = vector.ConstUint(v.Type, math.MaxUint64-uint64(i))
			case vector.Float64:
				one = vector.ConstFloat(v.Type, float64(i)/3)
			default:
				one = vector.ConstBytes(v.Type, []byte("sixteen bytes,\n\"")[:16])
			}
			v.Append(i, one, 0, 1)
		}
	}
	return fields, b
}

// written is a file of the sample.
func written(t testing.TB, f Format, c Compression, n int) []byte {
	t.Helper()
	fields, b := sample(n)
	if f == Parquet { // 16 bytes of text are not a number of five digits
		b.Cols[6].Heap = bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, len(b.Cols[6].Heap)/16)
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, fields, WriteOptions{Format: f, Compression: c})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var sampleNames = []string{"s", "absent", "b", "i", "u", "f", "t", "d"}

func TestRowsAreCounted(t *testing.T) {
	for _, f := range []Format{CSV, JSON, Parquet} {
		for _, c := range []Compression{Auto, None, Gzip, Zstd, Bzip2, XZ} {
			if f == Parquet && c > Zstd { // packs pages in its own ways
				continue
			}
			for _, n := range []int{1, 64, 1000, vector.Size} {
				got, err := readAll(written(t, f, c, n), f, sampleNames)
				if err != nil || got != 3*n {
					t.Errorf("%s %d: %d rows, want %d: %v", f, c, got, 3*n, err)
				}
			}
		}
	}
}

// TestDamage flips and cuts bytes of files: an error or rows, never a panic.
func TestDamage(t *testing.T) {
	for _, f := range []Format{CSV, JSON, Parquet} {
		whole := written(t, f, Auto, 100)
		for at := 0; at < len(whole); at += 1 + len(whole)/300 {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 0x41
			readAll(damaged, f, sampleNames) //nolint:errcheck // an error is as good as rows
			readAll(whole[:at], f, sampleNames)
		}
	}
}

func TestRecordsAreBounded(t *testing.T) {
	long := strings.Repeat("x", MaxRecord+1)
	for _, c := range []struct {
		f    Format
		text string
	}{{CSV, "s\n" + long}, {CSV, "s\n\"" + strings.Repeat("x\n", MaxRecord/2+1)}, {JSON, `{"s":"` + long + `"}`}} {
		if _, err := readAll([]byte(c.text), c.f, []string{"s"}); err == nil ||
			!strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: %v", c.f, err)
		}
	}
}

func TestFormatOf(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Format
		ok   bool
	}{{"a.csv", CSV, true}, {"d/a.JSON", JSON, true}, {"a.ndjson.zst", JSON, true}, {"a.csv.gz", CSV, true},
		{"a.parquet", Parquet, true}, {"a.b.csv.bz2", CSV, true}, {"a.txt", 0, false}, {"csv", 0, false},
		{"a.gz", 0, false}} {
		if f, ok := FormatOf(c.name); f != c.f || ok != c.ok {
			t.Errorf("%s: %s %v", c.name, f, ok)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, text := range []string{
		"s,b\n1,2\n", "s\n\"a\"\"b\n\",\n", "\xef\xbb\xbfs\r\n\r\n\"\"\r\n", "\"s\",\"s\"x\n", "s,i\n,\n\"", "BZh91AY",
		"\x28\xb5\x2f\xfd\x00",
		`{"s":"a\u0000\ud800","b":[{"]":"\""}]}`, "{}\n[]\n{\"s\":1", `{"s":{"s":-1.5e3}, "i" : null }`,
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff",
	} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, csv bool) {
		format := JSON
		if csv {
			format = CSV
		}
		readAll(data, format, sampleNames) //nolint:errcheck // an error is as good as rows
	})
}

func FuzzParquet(f *testing.F) {
	f.Add(written(f, Parquet, None, 70))
	f.Add(written(f, Parquet, Auto, 3))
	f.Add(nestedFile(f))
	n := 0
	mutants(written(f, Parquet, None, 1), func(m []byte) {
		if n++; n%997 == 0 {
			f.Add(m)
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		readAll(data, Parquet, sampleNames) //nolint:errcheck // an error is as good as rows
	})
}
