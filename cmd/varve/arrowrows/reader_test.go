package arrowrows

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"varve/engine/vector"
	"varve/sqlexec/rowfile"
)

// foreign are the rows of a batch with the types that others write.
const foreign = `[
 {"at":"2026-11-21T03:46:00.5","s":"a","l":"x\"y","d":"red","n":[1,null],"o":{"k":"v","n":[1]},"f":2.5,"day":"2026-11-21"},
 {"at":"1969-12-31T23:59:59","s":null,"l":null,"d":null,"n":null,"o":null,"f":null,"day":null},
 {"at":"2026-11-21T03:46:02","s":"","l":"","d":"blue","n":[],"o":{"k":null,"n":null},"f":-0.25,"day":"1969-12-31"}]`

func foreignSchema() *arrow.Schema {
	list := arrow.ListOf(arrow.PrimitiveTypes.Int64)
	return arrow.NewSchema([]arrow.Field{
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Millisecond}},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "n", Type: list, Nullable: true},
		{Name: "o", Type: arrow.StructOf(arrow.Field{Name: "k", Type: arrow.BinaryTypes.String, Nullable: true},
			arrow.Field{Name: "n", Type: list, Nullable: true}), Nullable: true},
		{Name: "f", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date64, Nullable: true},
	}, nil)
}

// read gives the rows of Arrow as lines of JSON.
func read(text []byte) (string, error) {
	r, err := NewReader(bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	defer r.Close()
	var out bytes.Buffer
	w, err := rowfile.NewWriter(&out, r.Fields, rowfile.WriteOptions{Format: rowfile.JSON})
	if err != nil {
		return "", err
	}
	for {
		b, err := r.Next()
		if err == io.EOF {
			err = w.Close()
			return out.String(), err
		}
		if err == nil && b.N > vector.Size {
			err = errors.New("a batch is too large")
		}
		if err == nil {
			err = w.Write(b)
		}
		if err != nil {
			return out.String(), err
		}
	}
}

// TestForeignTypes: what others write is read, of streams and of files; nested values are JSON, NULL stays apart from
// the empty text.
func TestForeignTypes(t *testing.T) {
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, foreignSchema(), strings.NewReader(foreign))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"at":"2026-11-21T03:46:00.500","s":"a","l":"x\"y","d":"red","n":[1,null],"o":{"k":"v","n":[1]},"f":2.5,"day":"2026-11-21"}
{"at":"1969-12-31T23:59:59","s":null,"l":null,"d":null,"n":null,"o":null,"f":null,"day":null}
{"at":"2026-11-21T03:46:02","s":"","l":"","d":"blue","n":[],"o":{"k":null,"n":null},"f":-0.25,"day":"1969-12-31"}
`
	var stream, file bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(batch.Schema()))
	f, err := ipc.NewFileWriter(&file, ipc.WithSchema(batch.Schema()), ipc.WithZstd())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(batch), w.Close(), f.Write(batch), f.Close()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"stream": stream.Bytes(), "file": file.Bytes()} {
		if got, err := read(text); err != nil || got != want || !Looks(text) {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, got, want)
		}
	}
	for cut := 1; cut < stream.Len(); cut += 7 {
		if _, err := read(stream.Bytes()[:stream.Len()-cut]); err == nil {
			t.Errorf("a stream without its last %d bytes is taken for whole", cut)
		}
	}
	if _, err := read(stream.Bytes()[:stream.Len()-8]); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a stream without the mark of its end: %v", err)
	}
}

// TestLargeBatches: a record batch of many rows comes in pieces.
func TestLargeBatches(t *testing.T) {
	const n = 3*vector.Size + 5
	schema := arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	flags, numbers := b.Field(0).(*array.BooleanBuilder), b.Field(1).(*array.Int32Builder)
	for i := range n {
		if numbers.Append(int32(i)); i%3 == 0 {
			flags.AppendNull()
		} else {
			flags.Append(i%3 == 1)
		}
	}
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	if err := errors.Join(w.Write(b.NewRecordBatch()), w.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := read(stream.Bytes())
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if err != nil || len(lines) != n {
		t.Fatalf("%d lines: %v", len(lines), err)
	}
	for _, i := range []int{0, 1, vector.Size - 1, vector.Size, 2*vector.Size + 1, n - 1} {
		flag := []string{"null", "true", "false"}[i%3]
		if want := `{"b":` + flag + `,"n":`; !strings.HasPrefix(lines[i], want) {
			t.Errorf("row %d: %s, want %s", i, lines[i], want)
		}
	}
}
