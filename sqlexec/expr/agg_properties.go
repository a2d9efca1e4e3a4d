package expr

// AggProperties is what the planner and the executor may know of an aggregate, which they do not find out by its name.
type AggProperties struct {
	// Counts marks the number of rows, or of those whose arguments have values. It may stand without arguments.
	Counts bool
	// Sums marks the sum of the argument.
	Sums bool
	// Least and Greatest mark an end of the argument's values.
	Least, Greatest bool
	// Once: a value that comes again changes nothing, so that DISTINCT does not either.
	Once bool
	// Ordered: the order that WITHIN GROUP gives is more than the first argument, it says which values come first.
	Ordered bool
	// ByTime: it takes the first or the last row by the time index where no order is given.
	ByTime bool
}

var propertiesByName = map[string]AggProperties{
	"count":           {Counts: true},
	"sum":             {Sums: true},
	"min":             {Least: true, Once: true},
	"max":             {Greatest: true, Once: true},
	"arg_min":         {Once: true},
	"arg_max":         {Once: true},
	"percentile_disc": {Ordered: true},
	"mode":            {Ordered: true},
	"first_value":     {ByTime: true},
	"last_value":      {ByTime: true},
}

// PropertiesOf are the properties of the aggregate with a name.
func PropertiesOf(name string) AggProperties { return propertiesByName[fullName(name)] }
