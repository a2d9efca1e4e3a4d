package vector

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// annotator prints an encoded batch piece by piece, as docs/format/batch.md draws it. It knows nothing of the codec.
type annotator struct {
	src []byte
	off int
	out bytes.Buffer
}

// take prints n bytes with their meaning and gives them.
func (a *annotator) take(n int, format string, args ...any) []byte {
	b := a.src[a.off : a.off+n]
	fmt.Fprintf(&a.out, "%5d  %-48s %s\n", a.off, fmt.Sprintf("% x", b), fmt.Sprintf(format, args...))
	a.off += n
	return b
}

func (a *annotator) u16(what string) int {
	n := int(binary.LittleEndian.Uint16(a.src[a.off:]))
	a.take(2, "%s %d", what, n)
	return n
}

func (a *annotator) u32(what string) int {
	n := int(binary.LittleEndian.Uint32(a.src[a.off:]))
	a.take(4, "%s %d", what, n)
	return n
}

func (a *annotator) batch() {
	a.take(1, "version")
	rows := a.u32("rows")
	for range a.u16("columns") {
		a.take(a.u16("name length"), "name")
		head := a.take(5, "type, precision, scale, form, flags")
		typ, form, n := Type{TypeID(head[0]), head[1], head[2]}, Form(head[3]), rows
		if form == Const {
			n = 1
		}
		if head[4]&1 != 0 {
			a.take(8*Words(n), "validity")
		}
		if form == Dict {
			a.values(typ, a.u32("distinct values"))
			a.take(4*n, "codes")
			continue
		}
		a.values(typ, n)
	}
	fmt.Fprintf(&a.out, "%5d  end of %d\n", a.off, len(a.src))
}

func (a *annotator) values(t Type, n int) {
	switch t.Kind() {
	case Bool:
		a.take(8*Words(n), "%s, one bit each", t)
	case Bytes:
		a.take(4*n, "%s, lengths", t)
		a.take(a.u32("heap length"), "heap")
	default:
		a.take(8*n, "%s", t)
	}
}

// TestLayout pins the bytes of version 1.
func TestLayout(t *testing.T) {
	text := &Vector{Type: StringType}
	for i, s := range []string{"GET", "", "POST"} {
		text.Append(i, ConstString(s), 0, 1)
	}
	text.AppendNulls(3, 1)
	dict := &Vector{Type: StringType, Form: Dict, Codes: []uint32{1, 0, 1, 1},
		Values: &Vector{Type: StringType, Views: []View{{0, 1}, {1, 2}}, Heap: []byte("abb")}}
	b := &Batch{N: 4, Cols: []*Vector{{Type: Timestamp(3), Ints: []int64{1, 2, 3, -1}}, text, dict,
		ConstFloat(FloatType, 0.5), ConstNull(Int8Type), {Type: BoolType, Bools: Bitmap{5}},
		{Type: Uint64Type, Uints: []uint64{0, 1, 2, 1 << 63}}}}
	fields := []Field{{"ts", Timestamp(3)}, {"method", StringType}, {"host", StringType}, {"ratio", FloatType},
		{"none", Int8Type}, {"ok", BoolType}, {"n", Uint64Type}}
	src := AppendBatch(nil, fields, b)
	a := &annotator{src: src}
	a.batch()
	name := path.Join("testdata", "batch-v1.dump")
	if *update {
		if err := os.WriteFile(name, a.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.out.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	gotFields, got, err := DecodeBatch(src)
	if err != nil {
		t.Fatal(err)
	}
	if describe(gotFields, got) != describe(fields, b) {
		t.Errorf("got\n%s\nwant\n%s", describe(gotFields, got), describe(fields, b))
	}
}
