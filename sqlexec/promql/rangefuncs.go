package promql

// rangeFuncs are the functions over windows. absent_over_time is a present_over_time turned round, see functions.go.
var rangeFuncs map[string]*rangeFunc

func init() {
	rangeFuncs = map[string]*rangeFunc{
		"rate": {window: rateWindow(true, true), floats: counterFloats(true), startTime: true, extended: true,
			smoothed: true, counter: true},
		"increase": {window: rateWindow(true, false), floats: counterFloats(false), startTime: true, extended: true,
			smoothed: true, counter: true},
		"delta":  {window: rateWindow(false, false), extended: true, smoothed: true},
		"irate":  {window: lastTwo(true), startTime: true},
		"idelta": {window: lastTwo(false)},

		"resets":  {window: resets, startTime: true, extended: true},
		"changes": {window: changes, extended: true},

		"deriv":                        {window: deriv},
		"predict_linear":               {window: predictLinear},
		"double_exponential_smoothing": {window: doubleSmoothing},

		"sum_over_time":      {window: sumOverTime, floats: sumFloats},
		"avg_over_time":      {window: avgOverTime, floats: avgFloats},
		"count_over_time":    {window: countOverTime, floats: countFloats},
		"min_over_time":      {window: extremeOverTime(less), floats: minFloats},
		"max_over_time":      {window: extremeOverTime(greater), floats: maxFloats},
		"stddev_over_time":   {window: varianceOverTime(true)},
		"stdvar_over_time":   {window: varianceOverTime(false)},
		"mad_over_time":      {window: madOverTime},
		"quantile_over_time": {window: quantileOverTime, floats: quantileFloats},
		"present_over_time":  {window: presentOverTime},
		"absent_over_time":   {window: presentOverTime},

		"first_over_time":       {window: firstOverTime, keepsName: true},
		"last_over_time":        {window: lastOverTime, floats: lastWindowFloats, keepsName: true},
		"ts_of_first_over_time": {window: tsOfFirst},
		"ts_of_last_over_time":  {window: tsOfLast},
		"ts_of_max_over_time":   {window: tsOfExtreme(greater)},
		"ts_of_min_over_time":   {window: tsOfExtreme(less)},
	}
}
