package schema

// hintTable lists all hints. With a hint, in a header or in a variable of an entry, a request says how the tables that
// it creates are to be. A writer ignores the hints that it does not heed.
var hintTable = []struct {
	name string
	uses HintUse
}{
	{"ttl", HeaderHint | VariableHint | LogHint | TaggedHint | SampleHint | TraceHint},
	{"skip_wal", HeaderHint | VariableHint | LogHint | TaggedHint | SampleHint | TraceHint},
	{AutoCreateHint, HeaderHint | VariableHint | LogHint},
	{"append_mode", HeaderHint | VariableHint | TaggedHint | SampleHint},
	{"merge_mode", HeaderHint | VariableHint | TaggedHint | SampleHint},
	{"physical_table", HeaderHint | VariableHint | LogHint | TaggedHint},
	{"sst_format", LogHint | TaggedHint | SampleHint | TraceHint},
	{NumbersHint, HeaderHint},
	{"read_preference", HeaderHint}, // of a cluster; here it changes nothing
}

// AutoCreateHint lets a request make tables and columns, or not; NumbersHint says whether integers and floats are one
// kind. They are no options of tables, and every writer heeds them.
const (
	AutoCreateHint = "auto_create_table"
	NumbersHint    = "widen_numbers"
)

// HintUse is a set of bits: the places of a request where a hint may stand, and the writers that heed it.
type HintUse uint8

// The places. Every hint may also stand in the list x-service-hints.
const (
	HeaderHint   HintUse = 1 << iota // a header x-service-hint-NAME
	VariableHint                     // a variable service_NAME of an entry
)

// The writers.
const (
	LogHint    HintUse = 1 << (iota + 2) // pipelines; variables of entries say more
	TaggedHint                           // protocols with rows of tags and fields
	SampleHint                           // metrics, in tables with storage of their own
	TraceHint                            // OTLP, for logs and spans that no pipeline takes
)

// Hints returns the names of the hints with a use, in the order of the table.
func Hints(use HintUse) (names []string) {
	for _, h := range hintTable {
		if h.uses&use != 0 {
			names = append(names, h.name)
		}
	}
	return names
}

// TakeHints puts into a map of options those of the given hints that have a use.
func TakeHints(options, given map[string]string, use HintUse) {
	for _, h := range hintTable {
		if text, ok := given[h.name]; ok && h.uses&use != 0 {
			options[h.name] = text
		}
	}
}
