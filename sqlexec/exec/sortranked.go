package exec

import (
	"bytes"
	"context"
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/intern"
)

// Rows that are ordered by a text of few values and by more, such as a host and a time, are sorted by the rank of the
// text among its values and the beginning of the rest of their keys, which together are the prefix of an entry. Then
// nearly all comparisons are decided by prefixes; otherwise the text fills them, and the keys of all rows of a host are
// looked at again and again.

const (
	rankedRows  = 1 << 15 // rows from which on it pays
	fewLeads    = 1 << 12 // values that a worker finds at most
	leadHeap    = 1 << 18 // bytes of the texts of a batch, and of all values of a worker, at most
	rankBits    = 16      // of a prefix: workers find at most 1<<rankBits values together
	mostRankers = 1 << rankBits / fewLeads
)

// leadSize is the size of the first part of a key, of a text: the text with its end, or the mark of NULL.
func leadSize(key []byte, desc bool) int {
	if key[0] != 1 {
		return 1
	}
	end := byte(0)
	if desc {
		end = 0xFF
	}
	for at := 1; ; {
		at += bytes.IndexByte(key[at:], end)
		if key[at+1] == end {
			return at + 2
		}
		at += 2
	}
}

// ranker numbers the first parts of the keys of some chunks.
type ranker struct {
	from, to int // chunks
	at       int // the entry of the first row
	values   *intern.Interner
	ranks    []uint64
	rest     []byte // all that the keys have in common behind their first parts; nil: no rows so far
	few      bool
}

// rank makes the entries of all rows with ranks in their prefixes; ok is false where the order has no such key, or
// there are too many values.
func (s *sorter) rank(ctx context.Context, list []entry, workers int) (ok bool, err error) {
	if s.n < rankedRows || len(s.order) < 2 || !s.order[0].Expr.Type().IsText() {
		return false, nil
	}
	rankers := s.rankers(min(workers, mostRankers))
	err = Spread(ctx, len(rankers), workers, func(i int) error { return rankers[i].number(ctx, s, list) })
	if err != nil {
		return false, err
	}
	rest := rankers[0].rest
	for _, r := range rankers {
		if !r.few {
			return false, nil
		}
		if r.rest != nil {
			rest = rest[:commonPrefix(rest, r.rest)]
		}
	}
	orderValues(rankers)
	return true, Spread(ctx, len(rankers), workers, func(i int) error {
		return rankers[i].fill(ctx, s, list, len(rest))
	})
}

// rankers cuts the chunks into as many parts as given.
func (s *sorter) rankers(n int) []*ranker {
	n = max(1, min(n, len(s.chunks)))
	out, at := make([]*ranker, n), 0
	for i := range out {
		r := &ranker{from: i * len(s.chunks) / n, to: (i + 1) * len(s.chunks) / n, at: at, few: true,
			values: intern.New(vector.BinaryType, nil)}
		for _, c := range s.chunks[r.from:r.to] {
			at += len(c.ends)
		}
		out[i] = r
	}
	return out
}

// number writes the numbers of the first parts of keys into the prefixes of entries, until there are too many.
func (r *ranker) number(ctx context.Context, s *sorter, list []entry) error {
	leads := &vector.Vector{Type: vector.BinaryType}
	ids, at := make([]uint32, vector.Size), r.at
	for k := r.from; k < r.to; k++ {
		c := s.chunks[k]
		leads.Heap = c.keys
		for from := 0; from < len(c.ends); from += vector.Size {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(vector.Size, len(c.ends)-from)
			if r.leads(s, c, leads, from, n); !r.few {
				return nil
			}
			r.values.Intern(leads, n, ids)
			if r.few = r.values.Len() <= fewLeads && len(r.values.Values.Heap) <= leadHeap; !r.few {
				return nil
			}
			for i, id := range ids[:n] {
				list[at+i] = entry{uint64(id), uint32(k*chunkRows + from + i)}
			}
			at += n
		}
	}
	return nil
}

// leads makes views of the first parts of n keys, and finds how much the rests have in common.
func (r *ranker) leads(s *sorter, c *sortChunk, leads *vector.Vector, from, n int) {
	leads.Views = leads.Views[:0]
	size, desc := 0, s.order[0].Desc
	for i := from; i < from+n; i++ {
		key, begin := c.key(i), 0
		if i > 0 {
			begin = c.ends[i-1]
		}
		lead := leadSize(key, desc)
		leads.Views = append(leads.Views, vector.View{Off: uint32(begin), Len: uint32(lead)})
		if size += lead; r.rest == nil {
			r.rest = key[lead:]
		} else if rest := key[lead:]; !bytes.HasPrefix(rest, r.rest) {
			r.rest = r.rest[:commonPrefix(r.rest, rest)]
		}
	}
	r.few = size <= leadHeap
}

// orderValues ranks the values of all rankers: equal ones have one rank, whoever found them.
func orderValues(rankers []*ranker) {
	type value struct {
		text []byte
		of   *ranker
		id   int
	}
	var all []value
	for _, r := range rankers {
		r.ranks = make([]uint64, r.values.Len())
		for id := range r.ranks {
			all = append(all, value{r.values.Values.Bytes(id), r, id})
		}
	}
	slices.SortFunc(all, func(a, b value) int { return bytes.Compare(a.text, b.text) })
	rank := uint64(0)
	for i, v := range all {
		if i > 0 && !bytes.Equal(all[i-1].text, v.text) {
			rank++
		}
		v.of.ranks[v.id] = rank
	}
}

// fill makes prefixes of the ranks and of the rests of keys, which have so many bytes in common.
func (r *ranker) fill(ctx context.Context, s *sorter, list []entry, common int) error {
	at := r.at
	for k := r.from; k < r.to; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := s.chunks[k]
		for i := range c.ends {
			e := &list[at+i]
			lead := int(r.values.Values.Views[e.prefix].Len)
			e.prefix = r.ranks[e.prefix]<<(64-rankBits) | word(c.key(i)[lead+common:])>>rankBits
		}
		at += len(c.ends)
	}
	return nil
}
