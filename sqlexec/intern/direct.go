package intern

// smallRange is the width of the window of a direct table.
const smallRange = 4096

// direct maps integers of a small range, as codes and levels are, to their numbers without hashing: a window of the
// numbers around the first value that was seen.
type direct struct {
	base int64
	ids  []uint32 // by value less base: number + 1; 0 is not known. nil: no value seen yet
}

// add enters a value if it lies in the window.
func (d *direct) add(x int64, id uint32) {
	if d.ids == nil {
		d.ids, d.base = make([]uint32, smallRange), x-smallRange/2
	}
	if at := uint64(x) - uint64(d.base); at < smallRange {
		d.ids[at] = id + 1
	}
}

// known writes the numbers of values up to the first one that is not in the table, and tells how many they are.
func (d *direct) known(values []int64, ids []uint32) int {
	if d.ids == nil {
		return 0
	}
	table := (*[smallRange]uint32)(d.ids)
	base := uint64(d.base)
	ids = ids[:len(values)]
	for i, x := range values {
		at := uint64(x) - base
		if at >= smallRange || table[at] == 0 {
			return i
		}
		ids[i] = table[at] - 1
	}
	return len(values)
}

// shortRun is the length of a run of equal values below which looking up value by value is not slower.
const shortRun = 8

// runs writes the numbers of values that come in runs, as times in buckets do, looking each run up once. It ends at the
// first short run, and tells how many values it has numbered.
func (in *Interner) runs(values []int64, ids []uint32) int {
	at := 0
	for at < len(values) {
		x, end := values[at], at+1
		for end < len(values) && values[end] == x {
			end++
		}
		if end-at < shortRun && end < len(values) {
			break
		}
		id, fresh := in.numbers.Find(uint64(x), uint32(in.n))
		if fresh {
			in.appendInt(x)
		}
		fill(ids[at:end], id)
		at = end
	}
	return at
}
