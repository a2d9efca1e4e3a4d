package exec

import (
	"maps"
	"slices"

	"varve/engine/vector"
)

// WindowFunction is a window function that has a loop of its own. Any aggregate may have a window besides.
type WindowFunction struct {
	// Ranks: it looks at places, not at values of a frame.
	Ranks bool
	// Picks: it gives the value of a row of the frame.
	Picks bool
	// Aggregates: it has the arguments and the type of the aggregate of that name.
	Aggregates bool
	// Adds: its loop adds numbers up, and only these.
	Adds bool
	// Least and Most bound its arguments. Bare: it takes none where it is written with a star.
	Least, Most int
	Bare        bool
	// Type is its type; NULL's: that of the first argument.
	Type vector.Type
	// Reach says how far it looks.
	Reach Reach

	// rank computes rows [from, to) of a partition, for functions of places.
	rank func(r *framer, from, to int) error
	// ahead is how many rows ahead lies what it gives, for those that give another row's value.
	ahead int64
	// peers: it looks for the last of a row's peers.
	peers bool
	// frame computes the rows at hand, for functions of frames.
	frame func(r *framer) error
	// first and last are the row of the frame that it gives; neither: the one that its second argument says.
	first, last bool
	// greatest, mean and all tell functions with the same loop apart.
	greatest, mean, all bool
}

// Reach is how far behind its row a function of places looks, and so how many rows of a partition a bound of its value
// leaves.
type Reach uint8

// The reaches.
const (
	// ReachesOn looks at rows behind its own one.
	ReachesOn Reach = iota
	// ReachesBack looks at the rows up to its own one; a bound says nothing of their number.
	ReachesBack
	// CountsPeers gives the number of the first of its peers.
	CountsPeers
	// CountsRows gives the number of the row.
	CountsRows
)

var windowFunctions = map[string]*WindowFunction{
	"row_number":   {Ranks: true, Type: vector.Int64Type, Reach: CountsRows, rank: rowNumbers},
	"rank":         {Ranks: true, Type: vector.Int64Type, Reach: CountsPeers, rank: peerNumbers},
	"dense_rank":   {Ranks: true, Type: vector.Int64Type, Reach: ReachesBack, rank: denseRanks},
	"percent_rank": {Ranks: true, Type: vector.FloatType, rank: percentRanks},
	"cume_dist":    {Ranks: true, Type: vector.FloatType, rank: shares, peers: true},
	"ntile":        {Ranks: true, Least: 1, Most: 1, Type: vector.Int64Type, rank: tiles},
	"lag":          {Ranks: true, Least: 1, Most: 3, Type: vector.NullType, ahead: -1, rank: shifts},
	"lead":         {Ranks: true, Least: 1, Most: 3, Type: vector.NullType, ahead: 1, rank: shifts},

	"first_value": {Picks: true, Least: 1, Most: 1, Type: vector.NullType, frame: (*framer).pick, first: true},
	"last_value":  {Picks: true, Least: 1, Most: 1, Type: vector.NullType, frame: (*framer).pick, last: true},
	"nth_value":   {Picks: true, Least: 2, Most: 2, Type: vector.NullType, frame: (*framer).pick},

	"count":    {Aggregates: true, Least: 1, Most: 1, Bare: true, frame: (*framer).counts},
	"sum":      {Aggregates: true, Adds: true, Least: 1, Most: 1, frame: (*framer).sums},
	"avg":      {Aggregates: true, Adds: true, Least: 1, Most: 1, frame: (*framer).sums, mean: true},
	"mean":     {Aggregates: true, Adds: true, Least: 1, Most: 1, frame: (*framer).sums, mean: true},
	"min":      {Aggregates: true, Least: 1, Most: 1, frame: (*framer).extremes},
	"max":      {Aggregates: true, Least: 1, Most: 1, frame: (*framer).extremes, greatest: true},
	"bool_and": {Aggregates: true, Least: 1, Most: 1, frame: (*framer).logic, all: true},
	"bool_or":  {Aggregates: true, Least: 1, Most: 1, frame: (*framer).logic},
}

// WindowFunctionOf is the window function with a name; nil: there is none with a loop of its own.
func WindowFunctionOf(name string) *WindowFunction { return windowFunctions[name] }

// RankingNames lists the functions that need a window, sorted; any aggregate may have one.
func RankingNames() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(windowFunctions)) {
		if windowFunctions[name].Ranks {
			names = append(names, name)
		}
	}
	return names
}
