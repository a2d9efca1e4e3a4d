package encoding

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/vector"
)

// samplePages encodes every shape at every length, blocks of text for one dictionary, and codes.
func samplePages() (pages [][]byte) {
	for _, s := range shapes {
		e, shared := NewEncoder(), NewShared(MaxShared)
		for round, n := range rowCounts {
			v := s.build(n, round%3, uint64(round))
			pages = append(pages, e.Append(nil, v, n, nil))
			if s.t.Kind() == vector.Bytes {
				pages = append(pages, e.Append(nil, v, n, shared))
			}
		}
	}
	e, shared := NewEncoder(), NewShared(MaxShared)
	r := rand.New(rand.NewPCG(5, 5))
	for range 3 {
		pages = append(pages, e.Append(nil, lines(sampleRows(r, 3000)...), 3000, shared))
	}
	for _, codes := range sampleCodes() {
		pages = append(pages, e.appendCodes(nil, codes))
	}
	return pages
}

// sampleCodes are codes without runs, with few and with long ones.
func sampleCodes() [][]uint32 {
	few, long, mixed := make([]uint32, 32), make([]uint32, 4000), make([]uint32, 500)
	for i := range few {
		few[i] = uint32(i / 16)
	}
	for i := range long {
		long[i] = uint32(i / 100)
	}
	for i := range mixed {
		mixed[i] = uint32(3 + i*i%37)
	}
	return [][]uint32{nil, {7}, few, long, mixed}
}

// shuffle puts the writers of a table into another order for the rest of the test.
func shuffle[B any](t *testing.T, writers *table[B], r *rand.Rand) {
	was := *writers
	t.Cleanup(func() { *writers = was })
	*writers = slices.Clone(was)
	r.Shuffle(len(was), func(i, j int) { (*writers)[i], (*writers)[j] = (*writers)[j], (*writers)[i] })
}

// TestOrderOfWritersIsFree: whatever the order of the writers of the tables, the same bytes are written.
func TestOrderOfWritersIsFree(t *testing.T) {
	want := samplePages()
	r := rand.New(rand.NewPCG(3, 4))
	for range 4 {
		shuffle(t, &intWriters, r)
		shuffle(t, &lengthWriters, r)
		shuffle(t, &floatWriters, r)
		shuffle(t, &boolWriters, r)
		shuffle(t, &textWriters, r)
		shuffle(t, &codeWriters, r)
		shuffle(t, &wideWriters, r)
		for i, page := range samplePages() {
			if !bytes.Equal(page, want[i]) {
				t.Fatalf("page %d is %s of %d bytes, was %s of %d", i, ID(page[0]), len(page), ID(want[i][0]),
					len(want[i]))
			}
		}
	}
}

// checkRanks holds that no two writers of a table are alike in tier and rank, and that none is left out.
func checkRanks[B any](t *testing.T, name string, writers table[B], count int) {
	t.Helper()
	if len(writers) != count || count > maxTable {
		t.Errorf("%s: %d writers, want %d, at most %d", name, len(writers), count, maxTable)
	}
	for i, w := range writers {
		for _, other := range writers[:i] {
			if w.tier == other.tier && w.rank == other.rank {
				t.Errorf("%s: %s and %s have one rank", name, w.id, other.id)
			}
		}
	}
}

func TestRanks(t *testing.T) {
	checkRanks(t, "integers", intWriters, 8)
	checkRanks(t, "lengths", lengthWriters, 2)
	checkRanks(t, "floats", floatWriters, 4)
	checkRanks(t, "booleans", boolWriters, 2)
	checkRanks(t, "strings", textWriters, 9)
	checkRanks(t, "codes", codeWriters, 2)
	checkRanks(t, "wide numbers", wideWriters, 2)
}

// checkChoice writes a block by each writer that can: it costs what its bound says at least, its bytes are read back,
// and the table takes the writer of the lowest tier, then cost, then rank. It returns the writers that could.
func checkChoice[B any](t *testing.T, writers table[B], block func() *B,
	read func(id ID, payload []byte) error) (able []ID) {
	t.Helper()
	var best *writer[B]
	lowest := never
	for _, w := range writers {
		e, b := NewEncoder(), block()
		e.textual = true
		least := w.least(e, b)
		if least == never {
			continue
		}
		out, cost := w.plan(e, nil, b)
		if cost == never {
			continue
		}
		if cost < least {
			t.Errorf("%s costs %d, at least %d was said", w.id, cost, least)
		}
		if w.write != nil {
			out = w.write(e, out, b)
		}
		if err := read(w.id, out); err != nil {
			t.Errorf("%s: %v", w.id, err)
		}
		able = append(able, w.id)
		if best == nil || w.tier < best.tier || w.tier == best.tier && before(cost, w.rank, lowest, best.rank) {
			best, lowest = w, cost
		}
	}
	e := NewEncoder()
	e.textual = true
	if got := ID(writers.append(e, nil, block())[0]); got != best.id {
		t.Errorf("%s is taken, %s costs %d", got, best.id, lowest)
	}
	return able
}

// TestTheCheapestIsTaken checks the choice for every shape at every length.
func TestTheCheapestIsTaken(t *testing.T) {
	written := map[ID]bool{}
	for _, s := range shapes {
		for _, n := range rowCounts {
			v := s.build(n, 0, 7)
			read := func(id ID, payload []byte) error {
				var got vector.Vector
				if err := new(Decoder).Decode(&got, append([]byte{byte(id), 0}, payload...), s.t, n, nil); err != nil {
					return err
				}
				if diff := difference(&got, v, n); diff != "" {
					return errors.New(diff)
				}
				return nil
			}
			var able []ID
			switch s.t.Kind() {
			case vector.Bool:
				able = checkChoice(t, boolWriters, func() *boolBlock {
					b := &boolBlock{}
					b.analyse(v.Bools, n)
					return b
				}, read)
			case vector.Int64, vector.Uint64:
				able = checkChoice(t, intWriters, func() *intBlock {
					values := slices.Clone(v.Uints)
					for _, x := range v.Ints {
						values = append(values, uint64(x))
					}
					b := &intBlock{}
					b.analyse(values[:n], s.t.Kind() == vector.Int64)
					return b
				}, read)
			case vector.Float64:
				able = checkChoice(t, floatWriters, func() *floatBlock {
					b := &floatBlock{}
					b.analyse(v.Floats[:n], s.t.ID == vector.TypeFloat32)
					return b
				}, read)
			default:
				able = checkChoice(t, textWriters, func() *textBlock {
					return &textBlock{views: v.Views[:n], heap: v.Heap, learnt: &learnt{}}
				}, read)
			}
			for _, id := range able {
				written[id] = true
			}
			if t.Failed() {
				t.Fatalf("%s, %d rows", s.name, n)
			}
		}
	}
	for id := Constant; id <= TimeText; id++ {
		if !written[id] && id != Shared {
			t.Errorf("no shape can be written as %s", id)
		}
	}
}

// TestCodesTakeTheCheapest: codes of few rows are packed even where their runs are long, and an unknown method is an
// error.
func TestCodesTakeTheCheapest(t *testing.T) {
	want := []ID{packedCodes, packedCodes, packedCodes, runCodes, packedCodes}
	for i, codes := range sampleCodes() {
		able := checkChoice(t, codeWriters, func() *codeBlock {
			b := &codeBlock{codes: codes}
			b.analyse()
			return b
		}, func(id ID, payload []byte) error {
			var d Decoder
			got := make([]uint32, len(codes))
			r := d.read(append([]byte{byte(id)}, payload...))
			d.decodeCodes(r, got, 100)
			r.end()
			if r.err == nil && !slices.Equal(got, codes) {
				return errors.New("other codes come back")
			}
			return r.err
		})
		page := NewEncoder().appendCodes(nil, codes)
		if ID(page[0]) != want[i] {
			t.Errorf("%d codes have method %d, want %d; able are %v", len(codes), page[0], want[i], able)
		}
		var d Decoder
		page[0] = byte(len(codeSchemes))
		r := d.read(page)
		if d.decodeCodes(r, make([]uint32, len(codes)), 100); !errors.Is(r.err, ErrMalformed) {
			t.Errorf("an unknown method: %v", r.err)
		}
	}
}

// TestWideNumbersTakeTheCheapest: ids of a range are integers, ids that come again bytes, and an unknown method is an
// error.
func TestWideNumbersTakeTheCheapest(t *testing.T) {
	near, again := make([]uint64, 300), make([]uint64, 300)
	r := rand.New(rand.NewPCG(8, 9))
	for i := range near {
		near[i] = 1e18 + r.Uint64N(1000)
		again[i] = r.Uint64()
		if i >= 10 {
			again[i] = again[i%10]
		}
	}
	for _, c := range []struct {
		values []uint64
		want   ID
	}{{nil, wideInts}, {near, wideInts}, {again, wideBytes}} {
		read := func(page []byte) ([]uint64, error) {
			var d Decoder
			s := openStream{textStream: textStream{kind: wideSlot, count: len(c.values)}}
			reader := d.read(page)
			d.decodeWide(reader, &s)
			reader.end()
			return s.ints, reader.err
		}
		checkChoice(t, wideWriters, func() *wideBlock { return &wideBlock{slices.Clone(c.values)} },
			func(id ID, payload []byte) error {
				got, err := read(append([]byte{byte(id)}, payload...))
				if err == nil && !slices.Equal(got, c.values) {
					return errors.New("other numbers come back")
				}
				return err
			})
		page := NewEncoder().appendWide(nil, c.values)
		if ID(page[0]) != c.want {
			t.Errorf("%d numbers have method %d, want %d", len(c.values), page[0], c.want)
		}
		page[0] = byte(len(wideSchemes))
		if _, err := read(page); !errors.Is(err, ErrMalformed) {
			t.Errorf("an unknown method: %v", err)
		}
	}
}

// TestEmptyBlocks: no rows are written and read like any others, as they always were.
func TestEmptyBlocks(t *testing.T) {
	for _, c := range []struct {
		t    vector.Type
		want []byte
	}{
		{vector.BoolType, []byte{byte(Constant), 0, 0}}, {vector.Int64Type, []byte{byte(Packed), 0}},
		{vector.Uint64Type, []byte{byte(Packed), 0}}, {vector.FloatType, []byte{byte(Plain), 0, 0}},
		{vector.StringType, []byte{byte(Plain), 0, byte(Packed), 0}},
	} {
		page := NewEncoder().Append(nil, &vector.Vector{Type: c.t}, 0, nil)
		if !bytes.Equal(page, c.want) {
			t.Errorf("%s: %v, want %v", c.t, page, c.want)
		}
		if err := new(Decoder).Decode(&vector.Vector{}, page, c.t, 0, nil); err != nil {
			t.Errorf("%s: %v", c.t, err)
		}
	}
}
