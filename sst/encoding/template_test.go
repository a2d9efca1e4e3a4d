package encoding

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/vector"
)

// lines makes a column of strings.
func lines(s ...string) *vector.Vector {
	v := &vector.Vector{Type: vector.StringType}
	for _, x := range s {
		v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: uint32(len(x))})
		v.Heap = append(v.Heap, x...)
	}
	return v
}

func TestParseTemplates(t *testing.T) {
	for _, c := range []struct{ row, want string }{
		{"no variables here", "no variables here"},
		{"user 42 of 7", "user <int> of <int>"},
		{"took 12.345 ms, 0.5s", "took <decimal3> ms, <decimal1>s"},
		{"007 and 0", "<padded3> and <int>"},
		{"from 10.0.0.1:8080", "from <address>:<int>"},
		{"version 1.2.3", "version <int>.<padded1>.<padded1>"},
		{"300.1.2.3", "<int>.<padded1>.<padded1>.<padded1>"},
		{"2024-05-06T07:08:09.010Z up", "<date>T<time>.<padded3>Z up"},
		{"2024-05-06 07:08:09,123", "<date> <time>,<padded3>"},
		{"12:61:00", "<int>:<int>:<padded2>"},
		{"id 0123456789abcdef0123456789abcdef", "id <hex16>"},
		{"id deadbeef-0123-4567-89ab-0123456789ab.", "id <uuid>."},
		{"id 01234567-0123-4567-89ab-0123456789ab", "id <uuid>"},
		{"blk_8291000000000000001", "blk_<wide>"},
		{"123456789012345678901234567890", "<word>"},
		{"u123 took 500ms on node007", "u<int> took <int>ms on <word>"},
		{"session a1b2c3zz", "session <word>"},
		{"é1 = 2", "é<int> = <int>"},
	} {
		v := lines("x. " + c.row)
		var p parser
		if !p.parse(v.Heap, 3, len(v.Heap), nil) {
			t.Fatalf("%q is not parsed", c.row)
		}
		if got := string(appendShown(nil, p.template)); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.row, got, c.want)
		}
	}
}

// sampleRows are rows of all kinds of variables, some of them rare.
func sampleRows(r *rand.Rand, n int) []string {
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu")
	rows := make([]string, n)
	for i := range rows {
		switch r.IntN(9) {
		case 0:
			rows[i] = fmt.Sprintf("request took %d.%03d ms for user %d", r.IntN(100), r.IntN(1000), r.IntN(1e6))
		case 1:
			rows[i] = fmt.Sprintf("block blk_%d from 10.%d.%d.%d", r.Uint64()>>1, r.IntN(256), r.IntN(256), r.IntN(256))
		case 2:
			rows[i] = fmt.Sprintf("%s meets %s at %02d:%02d:%02d", words[r.IntN(len(words))], words[r.IntN(len(words))],
				r.IntN(24), r.IntN(60), r.IntN(60))
		case 3:
			rows[i] = fmt.Sprintf("trace %016x%016x done", r.Uint64(), r.Uint64())
		case 4:
			rows[i] = fmt.Sprintf("call %08x-%04x-%04x-%04x-%012x 2024-%02d-%02d", r.Uint32(), r.IntN(1<<16),
				r.IntN(1<<16), r.IntN(1<<16), r.Uint64()>>16, 1+r.IntN(12), 1+r.IntN(28))
		case 5:
			rows[i] = "all is well"
		case 6:
			rows[i] = "session " + strings.ToLower(
				fmt.Sprintf("%c%cx%dq%d", 'g'+rune(r.IntN(10)), 'g'+rune(r.IntN(10)), r.IntN(10), r.IntN(100)))
		case 7:
			rows[i] = []string{"", "\xff odd", "only once " + words[i%len(words)] + fmt.Sprint(i),
				strings.Repeat("7 ", 100)}[r.IntN(4)]
		default:
			rows[i] = fmt.Sprintf("state=%d code %05d", r.IntN(3), r.IntN(100000))
		}
	}
	return rows
}

func TestTemplatesComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	var d Decoder
	tm := newTemplater()
	for _, n := range []int{1, 2, 63, 500, 8192, 300} {
		rows := sampleRows(r, n)
		v := lines(rows...)
		out, ok := tm.append([]byte{byte(Template)}, v.Views, v.Heap)
		if !ok {
			t.Fatalf("%d rows are no text", n)
		}
		checkComesBack(t, &d, out, rows)
	}
}

// checkComesBack decodes the bytes that were made of rows: whole, every second template, and cut anywhere, which is an
// error.
func checkComesBack(t *testing.T, d *Decoder, out []byte, rows []string) {
	t.Helper()
	n := len(rows)
	page := append([]byte{out[0], 0}, out[1:]...)
	var got vector.Vector
	if err := d.Decode(&got, page, vector.StringType, n, nil); err != nil {
		t.Fatal(err)
	}
	for i, want := range rows {
		if string(got.Bytes(i)) != want {
			t.Fatalf("row %d of %d: got %q, want %q", i, n, got.Bytes(i), want)
		}
	}
	checkSome(t, d, page, rows)
	for k := range page {
		if err := d.Decode(&got, page[:k], vector.StringType, n, nil); n < 100 && !errors.Is(err, ErrMalformed) {
			t.Fatalf("cut at %d of %d: %v", k, len(page), err)
		}
	}
}

// checkSome prints the rows of every second template, but for every seventh row.
func checkSome(t *testing.T, d *Decoder, page []byte, rows []string) {
	t.Helper()
	x, ok, err := d.Templates(page, len(rows))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	want := vector.MakeBitmap(x.Len())
	for i := 0; i < x.Len(); i += 2 {
		want.Set(i)
	}
	var some vector.Vector
	keep := vector.MakeBitmap(len(rows))
	for i := range rows {
		if i%7 != 0 {
			keep.Set(i)
		}
	}
	numbers, err := x.AppendRows(&some, want, keep)
	if err != nil {
		t.Fatal(err)
	}
	k := 0
	for i, c := range x.Codes {
		if c%2 != 0 || i%7 == 0 {
			continue
		}
		if numbers[k] != uint32(i) || string(some.Heap[some.Views[k].Off:some.Views[k].Off+some.Views[k].Len]) !=
			rows[i] {
			t.Fatalf("row %d is given as row %d", i, numbers[k])
		}
		k++
	}
}

// TestRareWords: templates that differ in one or two words become one.
func TestRareWords(t *testing.T) {
	var rows []string
	for i := range 400 {
		rows = append(rows, fmt.Sprintf("search for %c%c and %c%c now", 'a'+i%26, 'a'+i/26, 'z'-i%26, 'a'+i%17))
	}
	v := lines(rows...)
	tm := newTemplater()
	out, ok := tm.append([]byte{byte(Template)}, v.Views, v.Heap)
	if !ok {
		t.Fatal("no templates")
	}
	x, _, err := new(Decoder).Templates(append([]byte{out[0], 0}, out[1:]...), len(rows))
	if err != nil {
		t.Fatal(err)
	}
	if x.Len() != 1 || string(x.AppendShown(nil, 0)) != "search for <word> and <word> now" {
		for i := range x.Len() {
			t.Errorf("template %s", x.AppendShown(nil, i))
		}
	}
}

func TestPieces(t *testing.T) {
	v := lines("user 7 from 10.0.0.1 ok", "user 8 from 10.0.0.2 ok", "user 9 from 10.0.0.3 ok")
	out, _ := newTemplater().append([]byte{byte(Template)}, v.Views, v.Heap)
	x, _, err := new(Decoder).Templates(append([]byte{out[0], 0}, out[1:]...), 3)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, p := range x.Pieces(nil, 0) {
		if p.Chars == nil {
			got += string(p.Text)
		} else if p.Chars.Has('.') {
			got += "<.>"
		} else {
			got += "<>"
		}
	}
	if want := "user <> from <.> ok"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzTemplateRows: any rows come back.
func FuzzTemplateRows(f *testing.F) {
	f.Add("user 1 from 10.0.0.1", "user 22 from 10.0.0.300", "2024-01-02T03:04:05.006Z 00:00:0")
	f.Add("a1b2c3d4-0000-0000-0000-00000000000g", "0123456789abcdef", "1.2.3.4.5 .5 5. 007ms")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		rows := []string{a, b, c, a, b, c + b}
		v := lines(rows...)
		if len(v.Heap) > 1<<20 {
			return
		}
		out, ok := newTemplater().append([]byte{byte(Template)}, v.Views, v.Heap)
		if !ok {
			return
		}
		var d Decoder
		var got vector.Vector
		if err := d.Decode(&got, append([]byte{out[0], 0}, out[1:]...), vector.StringType, len(rows), nil); err != nil {
			t.Fatal(err)
		}
		for i, want := range rows {
			if string(got.Bytes(i)) != want {
				t.Fatalf("row %d: got %q, want %q", i, got.Bytes(i), want)
			}
		}
	})
}

// FuzzTemplateDecode: any bytes are rows or an error.
func FuzzTemplateDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 9))
	for _, n := range []int{3, 40, 200} {
		v := lines(sampleRows(r, n)...)
		out, _ := newTemplater().append([]byte{byte(Template)}, v.Views, v.Heap)
		f.Add(append([]byte{out[0], 0}, out[1:]...), uint16(n), uint16(r.IntN(100)), byte(n))
	}
	f.Fuzz(func(t *testing.T, page []byte, n, at uint16, change byte) {
		if len(page) > 1<<16 {
			return
		}
		if int(at) < len(page) {
			page[at] ^= change
		}
		var d Decoder
		var v vector.Vector
		if err := d.Decode(&v, page, vector.StringType, int(n), nil); err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	})
}

func BenchmarkTemplates(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 9))
	v := lines(sampleRows(r, 8192)...)
	tm := newTemplater()
	out, _ := tm.append([]byte{byte(Template)}, v.Views, v.Heap)
	page := append([]byte{out[0], 0}, out[1:]...)
	plain := NewEncoder().appendPlain(nil, v.Views, v.Heap)
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(v.Heap)))
		for b.Loop() {
			out, _ = tm.append(out[:1], v.Views, v.Heap)
		}
		b.ReportMetric(float64(len(out))/8192, "B/row")
		b.ReportMetric(float64(len(plain))/8192, "B/row-plain")
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(v.Heap)))
		var d Decoder
		var got vector.Vector
		for b.Loop() {
			if err := d.Decode(&got, page, vector.StringType, 8192, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTextWithoutTemplates: what looking in vain costs: stack traces, each of its own, and words drawn at random.
func BenchmarkTextWithoutTemplates(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 9))
	word := func() string {
		return fmt.Sprintf("%c%c%c%c", 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26))
	}
	for _, c := range []struct {
		name        string
		rows, words int
	}{{"traces", 500, 4000}, {"prose", 8192, 12}} {
		b.Run(c.name, func(b *testing.B) {
			rows := make([]string, c.rows)
			for i := range rows {
				var s strings.Builder
				for range c.words {
					s.WriteString(word())
					s.WriteByte(' ')
				}
				rows[i] = s.String()
			}
			v := lines(rows...)
			tm := newTemplater()
			b.SetBytes(int64(len(v.Heap)))
			for b.Loop() {
				if _, ok := tm.append([]byte{byte(Template)}, v.Views, v.Heap); ok {
					b.Fatal("templates in noise")
				}
			}
		})
	}
}

// TestTemplateAllocations holds that a warm decoder of templates allocates nothing but the dictionaries of words, which
// are made anew as everywhere.
func TestTemplateAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	v := lines(sampleRows(r, 4096)...)
	out, _ := newTemplater().append([]byte{byte(Template)}, v.Views, v.Heap)
	page := append([]byte{out[0], 0}, out[1:]...)
	var d Decoder
	var got vector.Vector
	decode := func() {
		if err := d.Decode(&got, page, vector.StringType, 4096, nil); err != nil {
			t.Fatal(err)
		}
	}
	decode()
	if a := testing.AllocsPerRun(20, decode); a > 3 {
		t.Errorf("%.0f allocations", a)
	}
	keep := vector.MakeBitmap(4096)
	keep.Set(77)
	search := func() {
		x, _, err := d.Templates(page, 4096)
		if err == nil {
			err = x.Sparse(&got, keep)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	search()
	if a := testing.AllocsPerRun(20, search); a > 0 {
		t.Errorf("%.0f allocations when searching", a)
	}
}
