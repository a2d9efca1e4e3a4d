package encoding

import "math"

// writer is how an encoding writes blocks of one kind of value: integers, floats, booleans, strings or codes. B is such
// a block: its values, and what was found out about them once for all writers.
//
// The cost of a block is the size of its payload and what the time to read it is worth, both in bytes. The writer of
// the lowest cost writes the block; of several, the one of the lowest rank. So the order of the writers does not count.
type writer[B any] struct {
	id ID // goes in front of the payload
	// tier: writers of a tier are asked only where none of a lower tier can write the block, whatever the cost.
	tier tier
	// rank rises with the time to read a block. No two writers of a tier have the same.
	rank int
	// least returns what the block costs at least, by what is known of it; never: it is not of the writer's form. It
	// is cheap, and plan is not called where another writer costs less.
	least func(e *Encoder, b *B) int
	// plan returns what the block costs, or never. It keeps its plan for write, or it appends the payload to dst at
	// once where only that tells the cost.
	plan func(e *Encoder, dst []byte, b *B) (out []byte, cost int)
	// write appends the payload by the plan; nil: plan does.
	write func(e *Encoder, dst []byte, b *B) []byte
}

// never is the cost of a block that a writer cannot write.
const never = math.MaxInt

// tier is what a reader can do with a block.
type tier uint8

// Numbers and codes know no tiers. Strings that repeat take a third of the bytes of hex digits or addresses by a
// dictionary of the block; but to look one value up takes three times as long there, for each block's dictionary must
// be inflated first. So no number of bytes outweighs a tier.
const (
	byPostings tier = iota // finds values by the part's dictionary, and compares codes as they lie
	asOne                  // compares one value for all rows
	asItLies               // compares values without making them strings
	byValues               // compares each distinct value once
	asText                 // compares row by row
	tiers
)

// table has the writers of one kind of block.
type table[B any] []*writer[B]

// maxTable is the number of writers of a table that are chosen from without an allocation.
const maxTable = 12

// with is the table with the writer of an encoding, if it has one.
func (t table[B]) with(w *writer[B], id ID) table[B] {
	if w.plan == nil {
		return t
	}
	w.id = id
	return append(t, w)
}

// append encodes a block at the lowest cost, with the ID in front.
func (t table[B]) append(e *Encoder, dst []byte, b *B) []byte {
	mark := len(dst)
	var room [maxTable]candidate[B]
	for level := range tiers {
		best, cost := (*writer[B])(nil), never
		for open := t.open(room[:0], level, e, b); len(open) > 0; open = open[1:] {
			first(open)
			w := open[0].writer
			if best != nil && !before(open[0].least, w.rank, cost, best.rank) {
				break
			}
			out, c := w.plan(e, append(dst, byte(w.id)), b)
			if c == never || best != nil && !before(c, w.rank, cost, best.rank) {
				continue
			}
			best, cost = w, c
			if len(dst) == mark {
				dst = out
			} else { // what another has written goes
				dst = append(dst[:mark], out[len(dst):]...)
			}
		}
		switch {
		case best == nil:
		case best.write != nil:
			return best.write(e, dst, b)
		default:
			return dst
		}
	}
	panic("encoding: a block that no encoding can write")
}

// candidate is a writer that may write a block, and what the block costs then at least.
type candidate[B any] struct {
	writer *writer[B]
	least  int
}

// open appends the writers of a tier that may write a block to list.
func (t table[B]) open(list []candidate[B], level tier, e *Encoder, b *B) []candidate[B] {
	for _, w := range t {
		if w.tier != level {
			continue
		}
		if least := w.least(e, b); least != never {
			list = append(list, candidate[B]{w, least})
		}
	}
	return list
}

// first puts the candidate that may cost the least at the front of a list.
func first[B any](list []candidate[B]) {
	for i := range list {
		c, f := &list[i], &list[0]
		if before(c.least, c.writer.rank, f.least, f.writer.rank) {
			*c, *f = *f, *c
		}
	}
}

// before reports whether a cost and a rank are preferred to others.
func before(cost, rank, otherCost, otherRank int) bool {
	return cost < otherCost || cost == otherCost && rank < otherRank
}
