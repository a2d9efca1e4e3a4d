package promql

import (
	"math"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"varve/sqlexec/promql/histogram"
)

// function is what is known of a function of the language, besides its types, which the parser knows. It is evaluated
// in one of six ways: the first five members and, before that, setting.
type function struct {
	eval  func(e *evaluator, n *callNode, g grid) (nodeMatrix, error) // a way of its own
	over  *rangeFunc                                                  // a value of each window
	float func(float64) float64                                       // a float of each float
	hist  func(*histogram.Histogram) float64                          // a float of each histogram
	clock func(time.Time) float64                                     // a float of each time; without argument, the step's

	// setting is a number that the times of the query say: it takes the place of the call.
	setting func(q *Query) float64

	steps    stepping
	field    int  // 1 + the number of the argument whose field names the values; 0: none does
	constant bool // values have no field, and a name of their own
	matchers bool // the second argument is a list of matchers, not a value

	presence bool // of the floats of the first argument only the times count, and whether they are NaN
	counts   bool // histograms are read for counts and sums
	buckets  bool // histograms are read for buckets
}

// stepping says whether values change with the step though no argument does.
type stepping uint8

const (
	steady         stepping = iota
	stepped                 // they do
	unlessSelector          // they do, unless the argument is a selector
)

// functions are the functions of the language by name.
var functions map[string]*function

// functionOf is the function of a call, which the parser found by name.
func functionOf(n *parser.Call) *function { return functions[n.Func.Name] }

func init() {
	functions = map[string]*function{
		"absent": {eval: (*evaluator).absent, field: 1, presence: true},
		"absent_over_time": {eval: (*evaluator).absentOverTime, over: &rangeFunc{window: presentOverTime},
			presence: true},
		"info":            {eval: (*evaluator).info, matchers: true},
		"label_join":      {eval: (*evaluator).labelJoin, field: 1},
		"label_replace":   {eval: (*evaluator).labelReplace, field: 1},
		"scalar":          {eval: (*evaluator).toScalar},
		"start_timestamp": {eval: sampleTimesOf(true)},
		"timestamp":       {eval: sampleTimesOf(false), steps: unlessSelector, field: 1, presence: true},

		"sort":               {eval: ordered(false, false), field: 1},
		"sort_desc":          {eval: ordered(false, true), field: 1},
		"sort_by_label":      {eval: ordered(true, false), field: 1},
		"sort_by_label_desc": {eval: ordered(true, true), field: 1},

		"max_of": {eval: ofTwo(math.Max)},
		"min_of": {eval: ofTwo(math.Min)},
		"pi":     {eval: scalarOf(func(grid, int) float64 { return math.Pi })},
		"time": {eval: scalarOf(func(g grid, i int) float64 { return float64(g.at(i)) / 1000 }), steps: stepped,
			constant: true},
		"vector": {eval: func(e *evaluator, n *callNode, g grid) (nodeMatrix, error) { return e.eval(n.args[0], g) },
			constant: true},

		"clamp":     {eval: clamped(1, 2)},
		"clamp_max": {eval: clamped(0, 1)},
		"clamp_min": {eval: clamped(1, 0)},
		"round":     {eval: (*evaluator).round},

		"start": {setting: func(q *Query) float64 { return float64(q.Start) / 1000 }},
		"end":   {setting: func(q *Query) float64 { return float64(q.End) / 1000 }},
		"range": {setting: func(q *Query) float64 { return float64(q.End-q.Start) / 1000 }},
		"step": {setting: func(q *Query) float64 {
			if q.Start == q.End {
				return 0
			}
			return float64(q.Step) / 1000
		}},
	}
	addFunctions(floatFuncs, func(f func(float64) float64) *function { return &function{float: f} })
	addFunctions(clockFuncs, func(f func(time.Time) float64) *function { return &function{clock: f, steps: stepped} })
	addFunctions(histogramFuncs, func(f function) *function { return &f })
	addFunctions(rangeFunctions(), func(f function) *function { return &f })
}

// addFunctions enters functions of one kind.
func addFunctions[T any](named map[string]T, make func(T) *function) {
	for name, f := range named {
		functions[name] = make(f)
	}
}

// rangeFunctions are the functions over windows.
func rangeFunctions() map[string]function {
	of := func(window func(k *kernel, i int, w *window) windowValue) function {
		return function{over: &rangeFunc{window: window}}
	}
	return map[string]function{
		"rate": {over: &rangeFunc{window: rateWindow(true, true), floats: counterFloats(true), startTime: true,
			extended: true, smoothed: true, counter: true}},
		"increase": {over: &rangeFunc{window: rateWindow(true, false), floats: counterFloats(false), startTime: true,
			extended: true, smoothed: true, counter: true}},
		"delta":  {over: &rangeFunc{window: rateWindow(false, false), extended: true, smoothed: true}},
		"irate":  {over: &rangeFunc{window: lastTwo(true), startTime: true}},
		"idelta": of(lastTwo(false)),

		"resets":  {over: &rangeFunc{window: resets, startTime: true, extended: true}},
		"changes": {over: &rangeFunc{window: changes, extended: true}},

		"deriv":                        of(deriv),
		"predict_linear":               {over: &rangeFunc{window: predictLinear}, steps: stepped},
		"double_exponential_smoothing": {over: &rangeFunc{window: doubleSmoothing, check: checkSmoothing}},

		"sum_over_time":      {over: &rangeFunc{window: sumOverTime, floats: sumFloats}},
		"avg_over_time":      {over: &rangeFunc{window: avgOverTime, floats: avgFloats}},
		"count_over_time":    {over: &rangeFunc{window: countOverTime, floats: countFloats}, presence: true},
		"min_over_time":      {over: &rangeFunc{window: extremeOverTime(less), floats: minFloats}},
		"max_over_time":      {over: &rangeFunc{window: extremeOverTime(greater), floats: maxFloats}},
		"stddev_over_time":   of(varianceOverTime(true)),
		"stdvar_over_time":   of(varianceOverTime(false)),
		"mad_over_time":      of(madOverTime),
		"quantile_over_time": {over: &rangeFunc{window: quantileOverTime, floats: quantileFloats}},
		"present_over_time":  {over: &rangeFunc{window: presentOverTime}, presence: true},

		"first_over_time":       {over: &rangeFunc{window: firstOverTime, keepsName: true}},
		"last_over_time":        {over: &rangeFunc{window: lastOverTime, floats: lastWindowFloats, keepsName: true}},
		"ts_of_first_over_time": of(tsOfFirst),
		"ts_of_last_over_time":  of(tsOfLast),
		"ts_of_max_over_time":   of(tsOfExtreme(greater)),
		"ts_of_min_over_time":   of(tsOfExtreme(less)),
	}
}
