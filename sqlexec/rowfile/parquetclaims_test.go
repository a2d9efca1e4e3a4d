package rowfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go"

	"varve/engine/vector"
)

// mutants makes copies of a file in which one length, count or offset is another: each number of the footer at any
// width, and everywhere single bytes and words of four that may be one.
func mutants(whole []byte, take func(mutant []byte)) {
	footer := len(whole) - 8 - int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	edges := []uint64{0, 1, 2, 0x7f, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<62 + 1, 1<<63 - 1, 1 << 63,
		1<<64 - 1}
	for at := footer; at < len(whole)-8; at++ {
		_, n := binary.Uvarint(whole[at : len(whole)-8])
		if n <= 0 {
			continue
		}
		for _, x := range edges {
			m := binary.AppendUvarint(bytes.Clone(whole[:at]), x)
			m = append(m, whole[at+n:len(whole)-8]...)
			m = binary.LittleEndian.AppendUint32(m, uint32(len(m)-footer))
			take(append(m, "PAR1"...))
		}
	}
	for at := range whole {
		for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff, whole[at] + 1, whole[at] ^ 0x10} {
			m := bytes.Clone(whole)
			m[at] = b
			take(m)
		}
		if at+4 > len(whole) {
			continue
		}
		// the last two: varints of four bytes
		for _, x := range []uint32{0, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 0x07ffffff, 0x07ffff8f} {
			m := bytes.Clone(whole)
			binary.LittleEndian.PutUint32(m[at:], x)
			take(m)
		}
	}
}

// nestedFile is a file with a list and a map beside a column that is read.
func nestedFile(t testing.TB) []byte {
	type row struct {
		S string           `parquet:"s,dict"`
		L []int64          `parquet:"l"`
		M map[string]int32 `parquet:"m"`
		I *int16           `parquet:"i,optional"`
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out)
	n := int16(7)
	for range 20 {
		if _, err := w.Write([]row{{"a", []int64{1, 2, 3}, map[string]int32{"k": 1}, &n}, {"b", nil, nil, nil}}); err !=
			nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestClaims changes every number of small files: each is read, or an error, and takes no more memory than it was told
// to take before it took it.
func TestClaims(t *testing.T) {
	const room = 8 << 20
	errRoom := errors.New("no room")
	for name, whole := range map[string][]byte{"plain": written(t, Parquet, None, 3),
		"packed": written(t, Parquet, Auto, 3), "nested": nestedFile(t)} {
		count, read, refused := 0, 0, 0
		var before, after runtime.MemStats
		mutants(whole, func(m []byte) {
			count++
			runtime.ReadMemStats(&before)
			r, err := NewReader(bytes.NewReader(m), int64(len(m)), sampleNames,
				ReadOptions{Format: Parquet, Hold: func(n int64) error {
					if n > room {
						refused++
						return errRoom
					}
					return nil
				}})
			if err == nil {
				var b Rows
				rows := 0
				for ok := true; err == nil && ok && rows < 100*vector.Size; rows += b.N {
					ok, err = r.Next(&b)
				}
				if err = closing(r, err); err == nil {
					read++
				}
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 4*room {
				t.Errorf("%s: mutant %d takes %d bytes: %v", name, count, took, err)
			}
		})
		if read == 0 || read == count {
			t.Errorf("%s: %d of %d mutants are read", name, read, count)
		}
		t.Logf("%s: %d mutants of %d bytes, %d read, %d find no room", name, count, len(whole), read, refused)
	}
}

// TestPackedPagesAreCounted: a small file whose pages unpack to much is told before they do.
func TestPackedPagesAreCounted(t *testing.T) {
	type row struct {
		A, B int64 `parquet:",gzip"`
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, parquet.PageBufferSize(16<<20))
	rows := make([]row, 1<<20)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	told := int64(0)
	r, err := NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()), []string{"A", "B"},
		ReadOptions{Format: Parquet, Hold: func(n int64) error {
			told = max(told, n)
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	var b Rows
	ok, err := r.Next(&b)
	if err := closing(r, err); err != nil || !ok || out.Len() > 1<<20 || told < 16<<20 {
		t.Errorf("a file of %d bytes: %d are told, %v", out.Len(), told, err)
	}
}
