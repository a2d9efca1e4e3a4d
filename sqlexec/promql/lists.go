package promql

// lists is numbers of rows, those of each group together and rising.
type lists struct {
	from []int32 // rows of group k: rows[from[k]:from[k+1]]
	rows []int32
}

// listBytes is the memory of a row and of a group in lists, with the group's number of each row.
const listBytes = 8

// of is the rows of a group.
func (l *lists) of(k int) []int32 { return l.rows[l.from[k]:l.from[k+1]] }

// listsOf sorts rows by their groups.
func listsOf(group []int32, groups int) lists {
	l := lists{make([]int32, groups+2), make([]int32, len(group))}
	for _, k := range group {
		l.from[k+2]++
	}
	for k := 2; k < len(l.from); k++ {
		l.from[k] += l.from[k-1]
	}
	for i, k := range group { // from[k+1] is where the next row of group k goes
		l.rows[l.from[k+1]] = int32(i)
		l.from[k+1]++
	}
	l.from = l.from[:groups+1]
	return l
}
