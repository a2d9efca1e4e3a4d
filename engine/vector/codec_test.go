package vector

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

func TestCodecIsIdentity(t *testing.T) {
	forAll(t, func(t *testing.T, r *rand.Rand, v *Vector, want []any) {
		if v.Form == Dict && v.Type.Kind() == Bool {
			return
		}
		src := AppendBatch(nil, []Field{{"x", v.Type}}, &Batch{N: len(want), Cols: []*Vector{v}})
		fields, b, err := DecodeBatch(src)
		if err != nil {
			t.Fatalf("%d rows: %v", len(want), err)
		}
		if len(fields) != 1 || fields[0] != (Field{"x", v.Type}) || b.N != len(want) {
			t.Fatalf("fields %v, %d rows", fields, b.N)
		}
		checkValues(t, "decoded", b.Cols[0], want)
	})
}

// TestCodecApart puts what was left where it lies behind what it belongs to: the bytes are those of the whole.
func TestCodecApart(t *testing.T) {
	left := 0
	forAll(t, func(t *testing.T, r *rand.Rand, v *Vector, want []any) {
		if v.Form == Dict && v.Type.Kind() == Bool {
			return
		}
		fields, b := []Field{{"x", v.Type}, {"y", v.Type}}, &Batch{N: len(want), Cols: []*Vector{v, v}}
		rest, apart := AppendBatchApart(nil, nil, 1, fields, b)
		var got []byte
		from := 0
		for _, a := range apart {
			got = append(append(got, rest[from:a.At]...), a.Text...)
			from = a.At
			left++
		}
		got = append(got, rest[from:]...)
		if !bytes.Equal(got, AppendBatch(nil, fields, b)) {
			t.Fatalf("%d rows, %d texts apart: the bytes are others", len(want), len(apart))
		}
	})
	if left == 0 {
		t.Error("no texts were apart")
	}
}

func TestCodecRefusesEveryCut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := &Batch{N: 70}
	var fields []Field
	for _, typ := range kinds {
		v, _ := randomVector(r, typ, Flat, 70, true)
		b.Cols, fields = append(b.Cols, v), append(fields, Field{typ.String(), typ})
	}
	d, _ := randomVector(r, StringType, Dict, 70, true)
	b.Cols, fields = append(b.Cols, d), append(fields, Field{"dict", StringType})
	src := AppendBatch(nil, fields, b)
	for n := range src {
		if _, _, err := DecodeBatch(src[:n:n]); !errors.Is(err, ErrCodec) {
			t.Fatalf("cut at %d of %d: %v", n, len(src), err)
		}
	}
}

func TestCodecClearsBitsPastTheLastRow(t *testing.T) {
	v := &Vector{Type: BoolType, Valid: Bitmap{^uint64(0)}, Bools: Bitmap{^uint64(0)}}
	_, b, err := DecodeBatch(AppendBatch(nil, []Field{{"x", BoolType}}, &Batch{N: 3, Cols: []*Vector{v}}))
	if err != nil || b.Cols[0].Valid[0] != 7 || b.Cols[0].Bools[0] != 7 {
		t.Errorf("got %v, %v", b, err)
	}
}

func FuzzDecodeBatch(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range kinds {
		for _, form := range []Form{Flat, Const} {
			v, _ := randomVector(r, typ, form, 9, true)
			f.Add(AppendBatch(nil, []Field{{"x", typ}}, &Batch{N: 9, Cols: []*Vector{v}}))
		}
	}
	d, _ := randomVector(r, StringType, Dict, 9, true)
	f.Add(AppendBatch(nil, []Field{{"x", StringType}}, &Batch{N: 9, Cols: []*Vector{d}}))
	f.Fuzz(func(t *testing.T, src []byte) {
		_, b, err := DecodeBatch(src)
		if err != nil {
			return
		}
		for _, c := range b.Cols {
			values(c, min(b.N, 1<<16))
		}
	})
}

func BenchmarkAppendBatch(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	batch, fields := &Batch{N: 5000}, []Field(nil)
	for _, typ := range kinds {
		v, _ := randomVector(r, typ, Flat, 5000, false)
		batch.Cols, fields = append(batch.Cols, v), append(fields, Field{typ.String(), typ})
	}
	dst := AppendBatch(nil, fields, batch)
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendBatch(dst[:0], fields, batch)
	}
}
