package manifest

import (
	"cmp"
	"slices"
)

// Position is how far a source has read a partition of a queue.
type Position struct {
	// Source is the name of the source, by which it finds its positions again.
	Source    string `json:"source"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Queue is the id of the topic, 16 bytes in hex digits: a topic that is made anew has another one. All zero: the
	// brokers tell none.
	Queue string `json:"queue"`
	// Next is the offset of the first message that is not taken.
	Next int64 `json:"next"`
}

// compare orders positions by source, topic and partition.
func (p Position) compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Source, q.Source), cmp.Compare(p.Topic, q.Topic), cmp.Compare(p.Partition, q.Partition))
}

// withPositions returns list with the changed positions. list stays as it is.
func withPositions(list, changed []Position) []Position {
	if len(changed) == 0 {
		return list
	}
	list = slices.Clone(list)
	for _, p := range changed {
		at, there := slices.BinarySearchFunc(list, p, Position.compare)
		if there {
			list[at] = p
		} else {
			list = slices.Insert(list, at, p)
		}
	}
	return list
}

// HasPosition reports whether the state has exactly the position.
func (s *State) HasPosition(p Position) bool {
	at, there := slices.BinarySearchFunc(s.Positions, p, Position.compare)
	return there && s.Positions[at] == p
}
