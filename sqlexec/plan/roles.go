package plan

// role is the meaning of a function to the binder itself, which never compares names.
type role uint8

const (
	noRole     role = iota
	typeOf          // the name of its argument's type
	castByName      // a cast to a type by its name
	patterned       // its second argument is a pattern, where errors in it are placed
	groupMark       // whether a grouping set leaves keys out
	groupMarks      // as groupMark; of all keys where it has no arguments
	takesApart      // a row for each element of a list
	theTime         // the time of the statement
)

var roleOf = map[string]role{
	"arrow_typeof": typeOf, "arrow_cast": castByName, "regexp_like": patterned, "matches": patterned,
	"grouping": groupMark, "grouping_id": groupMarks, "unnest": takesApart,
	"now": theTime, "current_timestamp": theTime,
}

// GivesTime reports whether the function with a name gives the time of the statement, as the default of a column may.
func GivesTime(name string) bool { return roleOf[name] == theTime }

// tableFunction is a function of FROM.
type tableFunction struct {
	column string // the name of its column where no alias names it
	counts bool   // its rows count from one argument to the next
	many   bool   // it takes several lists apart together
	lists  bool   // it takes lists, not only JSON arrays
	text   bool   // the elements of JSON arrays are texts
}

var tableFunctions = map[string]tableFunction{
	"generate_series":           {column: "value", counts: true, lists: true},
	"range":                     {column: "value", counts: true, lists: true},
	"unnest":                    {column: "unnest", many: true, lists: true},
	"json_array_elements":       {column: "value"},
	"jsonb_array_elements":      {column: "value"},
	"json_array_elements_text":  {column: "value", text: true},
	"jsonb_array_elements_text": {column: "value", text: true},
}
