package logapi

import (
	"slices"
	"strconv"

	"varve/engine/status"
	"varve/sqlexec/logql"
	"varve/sqlexec/logql/syntax"
)

// The limits of fields.
const (
	usualFields     = 1_000
	usualFieldLines = 100
)

// detectedLabels answers detected_labels: how many values the labels of streams have.
func detectedLabels(r *request) (answer, error) {
	start, end, err := r.p.span(r.now, usualSince)
	if err != nil {
		return answer{}, err
	}
	selectors, err := r.selectors("query")
	if err != nil {
		return answer{}, err
	}
	streams, err := logql.Streams(r.ctx, r, selectors, "", start, end)
	if err != nil {
		return answer{}, err
	}
	values := map[string]map[string]bool{}
	var names []string
	for i, s := range streams {
		if i%looked == 0 && r.ctx.Err() != nil {
			return answer{}, r.ctx.Err()
		}
		for _, l := range s {
			if values[l.Name] == nil {
				values[l.Name] = map[string]bool{}
				names = append(names, l.Name)
			}
			values[l.Name][l.Value] = true
		}
	}
	if len(names) == 0 {
		return answer{body: []byte(`{}`)}, nil
	}
	slices.Sort(names)
	dst := []byte(`{"detectedLabels":[`)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(append(dst, `{"label":`...), name)
		dst = append(strconv.AppendInt(append(dst, `,"cardinality":`...), int64(len(values[name])), 10), '}')
	}
	return answer{body: append(dst, `]}`...)}, nil
}

// fields finds the fields of the lines that a request names.
func (r *request) fields() ([]logql.Field, int, error) {
	start, end, err := r.p.span(r.now, usualSince)
	if err != nil {
		return nil, 0, err
	}
	limit, err := r.p.count("limit", usualFields)
	if err != nil {
		return nil, 0, err
	}
	lines, err := r.p.count("line_limit", usualFieldLines)
	if err != nil {
		return nil, 0, err
	}
	if lines > maxLines {
		return nil, 0, invalid("max entries limit per query exceeded, limit > max_entries_limit_per_query (%d > %d)",
			lines, maxLines)
	}
	q, err := syntax.ParseLog(r.p.text("query"))
	if err != nil {
		return nil, 0, parsed(err)
	}
	list, err := logql.Fields(r.ctx, r, &logql.LineQuery{Query: q, From: start, To: end, Limit: lines,
		Stats: r.stats})
	return list, limit, err
}

// detectedFields answers detected_fields.
func detectedFields(r *request) (answer, error) {
	list, limit, err := r.fields()
	if err != nil {
		return answer{}, err
	}
	if len(list) == 0 {
		return answer{body: []byte(`{}`)}, nil
	}
	dst := []byte(`{"fields":[`)
	for i, f := range list[:min(limit, len(list))] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(append(dst, `{"label":`...), f.Name)
		dst = append(append(append(dst, `,"type":"`...), f.Type...), `","cardinality":`...)
		dst = strconv.AppendInt(dst, int64(len(f.Values)), 10)
		if dst = append(dst, `,"parsers":`...); f.Parser == "" {
			dst = append(dst, "null"...)
		} else {
			dst = append(append(append(dst, `["`...), f.Parser...), `"]`...)
		}
		if len(f.Path) > 0 {
			dst = appendTexts(append(dst, `,"jsonPath":`...), f.Path)
		}
		dst = append(dst, '}')
	}
	dst = strconv.AppendInt(append(dst, `],"limit":`...), int64(limit), 10)
	return answer{body: append(dst, '}')}, nil
}

// detectedFieldValues answers detected_field/{name}/values.
func detectedFieldValues(r *request) (answer, error) {
	name, raw, ok := r.c.PathText("name")
	if !ok || name == "" {
		return answer{}, status.New(status.InvalidArguments, "invalid field name: %q", raw)
	}
	list, limit, err := r.fields()
	if err != nil {
		return answer{}, err
	}
	at := slices.IndexFunc(list, func(f logql.Field) bool { return f.Name == name })
	if at < 0 {
		return answer{body: []byte(`{}`)}, nil
	}
	values := list[at].Values[:min(limit, len(list[at].Values))]
	dst := appendTexts([]byte(`{"values":`), values)
	dst = strconv.AppendInt(append(dst, `,"limit":`...), int64(limit), 10)
	return answer{body: append(dst, '}')}, nil
}

// The steps of patterns, s: the least, and that of long times.
const (
	leastPatternStep = 10
	usualPatternStep = 30
)

// patterns answers patterns: the shapes of lines, and how many there were of each in the steps of a time.
func patterns(r *request) (answer, error) {
	start, end, err := r.p.span(r.now, usualSince)
	if err != nil {
		return answer{}, err
	}
	if end <= start {
		return answer{}, invalid("end timestamp must not be before or equal to start time")
	}
	step, err := r.p.seconds("step", max((end-start)/250, usualPatternStep*1e9))
	if err != nil {
		return answer{}, err
	}
	q, err := syntax.ParseLog(r.p.text("query"))
	if err != nil {
		return answer{}, parsed(err)
	}
	seconds := max(step/1e9, leastPatternStep)
	seconds -= seconds % leastPatternStep
	list, err := logql.Shapes(r.ctx, r, q, start, end, seconds)
	if err != nil {
		return answer{}, err
	}
	dst := append([]byte(success), '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(append(dst, `{"pattern":`...), list[i].Text)
		dst = append(appendText(append(dst, `,"level":`...), list[i].Level), `,"samples":[`...)
		for k, at := range list[i].Seconds {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = append(strconv.AppendInt(append(dst, '['), at, 10), ',')
			dst = append(strconv.AppendInt(dst, list[i].Counts[k], 10), ']')
		}
		dst = append(dst, `]}`...)
	}
	return answer{body: append(dst, `]}`...)}, r.Reserve(int64(2 * len(dst)))
}
