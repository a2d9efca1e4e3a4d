package traceapi

import (
	"math"
	"strconv"
	"strings"
	"time"

	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// search answers with the newest traces that have a span as asked for, or with the traces whose ids are given.
func search(r *request) (answer, error) {
	if list := r.c.QueryArgs().PeekMulti("traceID"); len(list) > 0 {
		var ids []string
		for _, id := range list {
			ids = append(ids, string(id))
		}
		return r.byID(ids)
	}
	q, err := readQuery(r.c)
	if err != nil {
		return answer{}, err
	}
	l, err := r.layout()
	if err != nil || l == nil {
		return answer{none: true}, err
	}
	where, any := l.conditions(q)
	if !any {
		return answer{}, nil
	}
	var ids []string
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	err = r.rows("SELECT trace_id, min(timestamp), max(timestamp) FROM "+r.beside("")+" WHERE "+where+
		" GROUP BY trace_id ORDER BY max(timestamp) DESC, trace_id LIMIT "+strconv.Itoa(q.limit), func(row *row) error {
		ids = append(ids, row.text(0))
		first, last = min(first, row.int(1)), max(last, row.int(2))
		return nil
	})
	if err != nil || len(ids) == 0 {
		return answer{}, err
	}
	b := newBuilder(l)
	from, to := around(first, last, near)
	if err := r.read(b, ids, " AND "+within(from, to)); err != nil {
		return answer{}, err
	}
	if open := b.open(ids, to); len(open) > 0 {
		b.drop(open)
		if err := r.read(b, open, " AND "+within(around(first, last, far))); err != nil {
			return answer{}, err
		}
	}
	return b.answer(ids), nil
}

// The other spans of a trace mostly lie near the spans that were found, so search reads the hour around them first. It
// reads the day around them for traces that seem to go on: a parent is missing, or a span lasts longer. The filters of
// ids let one block in a hundred pass wrongly, so each hour that is not read saves some blocks.
const (
	near = int64(time.Hour)
	far  = int64(24 * time.Hour)
)

// around is a range of times, widened at both ends as far as times reach.
func around(first, last, by int64) (from, to int64) {
	return max(first, math.MinInt64+by) - by, min(last, math.MaxInt64-by) + by
}

// byID answers with the traces that have an id.
func (r *request) byID(list []string) (answer, error) {
	if len(list) > maxIDs {
		return answer{}, wrong("traceID", "there are %d, the limit is %d", len(list), maxIDs)
	}
	var ids []string
	for _, id := range list {
		id = plainID(strings.ToLower(strings.TrimSpace(id)))
		if id == "" || len(id) > maxDigits || strings.Trim(id, "0123456789abcdef") != "" {
			return answer{}, wrong("traceID", "%.80q is not an id of hexadecimal digits", id)
		}
		ids = append(ids, id)
		for _, digits := range [...]int{16, 32} { // clients leave out zeros before
			if len(id) < digits {
				ids = append(ids, strings.Repeat("0", digits-len(id))+id)
			}
		}
	}
	l, err := r.layout()
	if err != nil || l == nil {
		return answer{none: true}, err
	}
	b := newBuilder(l)
	if err := r.read(b, ids, ""); err != nil {
		return answer{}, err
	}
	return b.answer(ids), nil
}

// plainID is an id without the dashes of the form 8-4-4-4-12, in which some programs show ids of 16 bytes.
func plainID(id string) string {
	if len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		return id[:8] + id[9:13] + id[14:18] + id[19:23] + id[24:]
	}
	return id
}

// read reads the spans of the traces of some ids.
func (r *request) read(b *builder, ids []string, condition string) error {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = parse.QuoteText(id)
	}
	return r.rows("SELECT * FROM "+r.beside("")+" WHERE trace_id IN ("+strings.Join(quoted, ",")+")"+condition+
		" ORDER BY timestamp"+atMost(maxSpans), b.add)
}

// within is the condition of a range of times, ns.
func within(from, to int64) string {
	return "timestamp >= " + literal(from) + " AND timestamp <= " + literal(to)
}

func literal(at int64) string {
	return parse.QuoteText(time.Unix(0, at).UTC().Format("2006-01-02T15:04:05.000000000Z"))
}

// conditions are those of a search; any is false when no span can meet them.
func (l *layout) conditions(q *query) (where string, any bool) {
	list := []string{"service_name = " + parse.QuoteText(q.service), within(q.start, q.end)}
	if q.operation != "" {
		list = append(list, "span_name = "+parse.QuoteText(q.operation))
	}
	if q.shortest > 0 {
		list = append(list, "duration_nano >= "+strconv.FormatInt(q.shortest, 10))
	}
	if q.longest >= 0 {
		list = append(list, "duration_nano <= "+strconv.FormatInt(q.longest, 10))
	}
	for _, t := range q.tags {
		one := l.tag(t)
		if len(one) == 0 {
			return "", false
		}
		list = append(list, "("+strings.Join(one, " OR ")+")")
	}
	return strings.Join(list, " AND "), true
}

// tag lists the conditions of SQL under which a span has a tag.
func (l *layout) tag(t tag) (ways []string) {
	switch t.key {
	case "span.kind":
		ways = append(ways, "span_kind = "+parse.QuoteText(kindPrefix+strings.ToUpper(t.value)))
	case "otel.status_code":
		ways = append(ways, "span_status_code = "+parse.QuoteText(codePrefix+strings.ToUpper(t.value)))
	case "otel.status_description":
		ways = append(ways, "span_status_message = "+parse.QuoteText(t.value))
	case "w3c.tracestate":
		ways = append(ways, "trace_state = "+parse.QuoteText(t.value))
	case "otel.scope.name":
		ways = append(ways, "scope_name = "+parse.QuoteText(t.value))
	case "otel.scope.version":
		ways = append(ways, "scope_version = "+parse.QuoteText(t.value))
	case "error":
		switch t.value {
		case "true":
			ways = append(ways, "span_status_code = 'STATUS_CODE_ERROR'")
		case "false":
			ways = append(ways, "span_status_code <> 'STATUS_CODE_ERROR'")
		}
	}
	for _, c := range l.attributes {
		if c.key != t.key {
			continue
		}
		if way := equals(c.name, c.typ, t.value); way != "" {
			ways = append(ways, way)
		}
	}
	return ways
}

// equals is the condition that a column of a type has the value that a text means; empty: no value of the type does.
func equals(name string, typ vector.Type, text string) string {
	column, value := parse.QuoteIdent(name), ""
	switch {
	case typ.IsText():
		value = parse.QuoteText(text)
	case typ.ID == vector.TypeJSON:
		column, value = "CAST("+column+" AS STRING)", parse.QuoteText(text)
	case typ.ID == vector.TypeBool:
		if text == "true" || text == "false" {
			value = text
		}
	case typ.IsInteger() && typ.Kind() == vector.Int64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			value = "CAST('" + strconv.FormatInt(n, 10) + "' AS BIGINT)"
		}
	case typ.IsInteger():
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			value = "CAST('" + strconv.FormatUint(n, 10) + "' AS BIGINT UNSIGNED)"
		}
	case typ.Kind() == vector.Float64:
		if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			value = "CAST('" + strconv.FormatFloat(x, 'g', -1, 64) + "' AS DOUBLE)"
		}
	}
	if value == "" {
		return ""
	}
	return column + " = " + value
}
