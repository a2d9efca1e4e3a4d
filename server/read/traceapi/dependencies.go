package traceapi

import (
	"math"
	"strconv"
	"time"

	"varve/engine/jsontext"
)

// usualDependencies is how far back dependencies are looked for if the request names no time.
const usualDependencies = 24 * time.Hour

// dependencies lists which services call which, and how often: the spans of a time whose parent is a span of another
// service.
func dependencies(r *request) (answer, error) {
	p, err := r.c.LastQuery("endTs", "lookback")
	if err != nil {
		return answer{}, err
	}
	ms := [...]int64{r.c.Start.UnixMilli(), usualDependencies.Milliseconds()}
	for i, name := range [...]string{"endTs", "lookback"} {
		text := p.String(name)
		if text == "" {
			continue
		}
		if ms[i], err = strconv.ParseInt(text, 10, 64); err != nil || ms[i] < 0 ||
			ms[i] > math.MaxInt64/int64(time.Millisecond) {
			return answer{}, wrong(name, "%.40q is not a number of milliseconds", text)
		}
	}
	end, lookback := ms[0]*int64(time.Millisecond), ms[1]*int64(time.Millisecond)
	spans := "(SELECT trace_id, span_id, parent_span_id, service_name FROM " + r.beside("") + " WHERE " +
		within(end-lookback, end) + ")"
	return r.list("SELECT p.service_name, c.service_name, count(*) FROM "+spans+" AS c JOIN "+spans+
		" AS p ON c.trace_id = p.trace_id AND c.parent_span_id = p.span_id"+
		" WHERE p.service_name <> c.service_name GROUP BY p.service_name, c.service_name ORDER BY p.service_name, "+
		"c.service_name", func(dst []byte, row *row) []byte {
		dst = jsontext.AppendString(append(dst, `{"parent":`...), row.text(0))
		dst = jsontext.AppendString(append(dst, `,"child":`...), row.text(1))
		return append(strconv.AppendInt(append(dst, `,"callCount":`...), row.int(2), 10), '}')
	})
}
