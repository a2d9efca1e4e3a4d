package logapi

import (
	"slices"
	"strings"

	"varve/engine/status"
	"varve/sqlexec/logql"
	"varve/sqlexec/logql/syntax"
)

// metadataSince is how far requests for labels look back that have no start.
const metadataSince = 6 * usualSince

// selectors reads selectors: parameters that hold one each. A filter behind one is refused.
func (r *request) selectors(names ...string) (list [][]syntax.Matcher, err error) {
	for _, name := range names {
		for _, text := range r.p[name] {
			if strings.TrimSpace(text) == "" {
				continue
			}
			q, err := syntax.ParseLog(text)
			if err != nil {
				return nil, parsed(err)
			}
			if len(q.Stages) > 0 {
				return nil, invalid("only label matchers are supported")
			}
			list = append(list, q.Matchers)
		}
	}
	return list, nil
}

// labels answers labels: names of labels.
func labels(r *request) (answer, error) {
	start, end, err := r.p.span(r.now, metadataSince)
	if err != nil {
		return answer{}, err
	}
	selectors, err := r.selectors("query")
	if err != nil {
		return answer{}, err
	}
	if len(selectors) == 0 {
		list, err := logql.LabelNames(r)
		return texts(list), err
	}
	streams, err := logql.Streams(r.c.Context, r, selectors, "", start, end)
	if err != nil {
		return answer{}, err
	}
	var list []string
	for _, s := range streams {
		for i := range s {
			list = append(list, s[i].Name)
		}
	}
	slices.Sort(list)
	return texts(slices.Compact(list)), nil
}

// texts is the answer of a sorted list; an empty one is left out.
func texts(list []string) answer {
	if len(list) == 0 {
		return answer{body: []byte(`{"status":"success"}`)}
	}
	return answer{body: append(appendTexts([]byte(success), list), '}')}
}

// labelValues answers label/{name}/values.
func labelValues(r *request) (answer, error) {
	name, raw, ok := r.c.PathText("name")
	if !ok || !syntax.IsName(name) {
		return answer{}, status.New(status.InvalidArguments, "invalid label name: %q", raw)
	}
	start, end, err := r.p.span(r.now, metadataSince)
	if err != nil {
		return answer{}, err
	}
	selectors, err := r.selectors("query")
	if err != nil {
		return answer{}, err
	}
	streams, err := logql.Streams(r.c.Context, r, selectors, name, start, end)
	if err != nil {
		return answer{}, err
	}
	var list []string
	for _, s := range streams {
		if v := s.Get(name); v != "" {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return texts(slices.Compact(list)), nil
}

// series answers series: the labels of streams.
func series(r *request) (answer, error) {
	start, end, err := r.p.span(r.now, usualSince)
	if err != nil {
		return answer{}, err
	}
	selectors, err := r.selectors("match", "match[]")
	if err != nil {
		return answer{}, err
	}
	streams, err := logql.Streams(r.c.Context, r, selectors, "", start, end)
	if err != nil {
		return answer{}, err
	}
	dst := append([]byte(success), '[')
	for i, s := range streams {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendLabels(dst, s)
	}
	return answer{body: append(dst, `]}`...)}, r.Reserve(int64(2 * len(dst)))
}
