package parse

// JoinKind is the word before JOIN.
type JoinKind uint8

// The kinds. InnerJoin is JOIN without a word; a comma, and JOIN without a condition, is CrossJoin.
const (
	InnerJoin JoinKind = iota
	CrossJoin
	LeftJoin
	RightJoin
	FullJoin
	LeftSemiJoin
	LeftAntiJoin
	RightSemiJoin
	RightAntiJoin
	AsofJoin
	AsofLeftJoin
)

var joinWords = [...]string{InnerJoin: "INNER", CrossJoin: "CROSS", LeftJoin: "LEFT", RightJoin: "RIGHT",
	FullJoin: "FULL", LeftSemiJoin: "LEFT SEMI",
	LeftAntiJoin: "LEFT ANTI", RightSemiJoin: "RIGHT SEMI", RightAntiJoin: "RIGHT ANTI", AsofJoin: "ASOF",
	AsofLeftJoin: "ASOF LEFT"}

// String is the kind as it is written.
func (k JoinKind) String() string { return joinWords[k] }

// outerKinds are the kinds of join by the word before [OUTER] JOIN; semiKinds are those with SEMI and ANTI.
var (
	outerKinds = map[string]JoinKind{"left": LeftJoin, "right": RightJoin, "full": FullJoin}
	semiKinds  = map[string]map[string]JoinKind{
		"left":  {"semi": LeftSemiJoin, "anti": LeftAntiJoin},
		"right": {"semi": RightSemiJoin, "anti": RightAntiJoin},
	}
)
