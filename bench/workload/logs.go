package workload

import (
	"net/url"
	"strconv"
	"time"
)

// LogQuery is a request to the log query API about a day of lines.
type LogQuery struct {
	Name string
	// Path below /loki/api/v1, its parameters but for start and end, which are those of the day.
	Path   string
	Values url.Values
	// Own says that it asks for the access rows, which our server alone has.
	Own bool
	// Most is the time that it may take at 10 million rows.
	Most time.Duration
}

// Address is the path and parameters of a query over [start, end).
func (q *LogQuery) Address(start, end time.Time) string {
	v := url.Values{"start": {strconv.FormatInt(start.UnixNano(), 10)}, "end": {strconv.FormatInt(end.UnixNano(), 10)}}
	for name, list := range q.Values {
		v[name] = list
	}
	return "/loki/api/v1/" + q.Path + "?" + v.Encode()
}

// LogQueries are asked of the sets pushed and access, the latter in a table. needle is a trace of 32 digits.
func LogQueries(table, needle string) []LogQuery {
	const (
		meta   = 20 * time.Millisecond
		newest = 10 * time.Millisecond
		single = 5 * time.Millisecond
	)
	lines := func(name, query string, limit int, own bool, most time.Duration) LogQuery {
		return LogQuery{Name: name, Path: "query_range", Own: own, Most: most,
			Values: url.Values{"query": {query}, "limit": {strconv.Itoa(limit)}}}
	}
	counts := func(name, query string, own bool) LogQuery {
		return LogQuery{Name: name, Path: "query_range", Own: own, Most: time.Second,
			Values: url.Values{"query": {query}, "step": {"60"}}}
	}
	volume := func(name, selector string, own bool) LogQuery {
		return LogQuery{Name: name, Path: "index/volume", Own: own, Most: meta,
			Values: url.Values{"query": {selector}, "limit": {"200"}}}
	}
	rows := `{service_table="` + table + `"}`
	const all, count = `{env="prod"}`, `sum by (status) (count_over_time(`
	return []LogQuery{
		{Name: "label values", Path: "label/host/values", Most: meta},
		{Name: "label values of a selector", Path: "label/host/values", Most: meta,
			Values: url.Values{"query": {`{app="cart"}`}}},
		volume("volume by app", `{env="prod", app=~".+"}`, false),
		volume("volume by host", `{host=~".+"}`, false),
		lines("newest 1,000 with a frequent text", all+` |= "POST"`, 1000, false, newest),
		lines("newest 1,000 with a part of words", all+` |= "ogin"`, 1000, false, newest),
		lines("newest 1,000 with a rare text", all+` |= "503"`, 1000, false, newest),
		lines("newest 1,000 of one app", `{app="cart"} |= "POST"`, 1000, false, newest),
		lines("needle", all+` |= "`+needle+`"`, 100, false, single),
		lines("needle inside a word", all+` |= "`+needle[5:24]+`"`, 100, false, single),
		lines("needle of one app", `{app="search"} |= "`+needle[5:24]+`"`, 100, false, single),
		counts("errors by status", count+`{format="json"} | json | status >= 500 [1m]))`, false),
		volume("volume of rows", rows, true),
		lines("newest 1,000 rows", rows+` |= "cache"`, 1000, true, newest),
		lines("needle in rows", rows+` | trace_id="`+needle+`"`, 100, true, single),
		counts("rows with errors by status", count+rows+` | status >= 500 [1m]))`, true),
	}
}
