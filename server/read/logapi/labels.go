package logapi

import (
	"maps"
	"slices"
	"strings"

	"varve/engine/status"
	"varve/sqlexec/logql"
	"varve/sqlexec/logql/syntax"
)

// metadataSince is how far requests for labels look back that have no start.
const metadataSince = 6 * usualSince

// looked is after how many label sets the context is looked at.
const looked = 1 << 12

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
		list, err := logql.LabelNames(r.ctx, r)
		return texts(list), err
	}
	streams, err := logql.Streams(r.ctx, r, selectors, "", start, end)
	if err != nil {
		return answer{}, err
	}
	seen := map[string]bool{}
	for i, s := range streams {
		for k := range s {
			seen[s[k].Name] = true
		}
		if i%looked == 0 && r.ctx.Err() != nil {
			return answer{}, r.ctx.Err()
		}
	}
	return texts(slices.Sorted(maps.Keys(seen))), nil
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
	streams, err := logql.Streams(r.ctx, r, selectors, name, start, end)
	if err != nil {
		return answer{}, err
	}
	var list []string
	for _, s := range streams {
		if v := s.Get(name); v != "" {
			list = append(list, v)
		}
	}
	if err := logql.Sort(r.ctx, list, strings.Compare); err != nil {
		return answer{}, err
	}
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
	streams, err := logql.Streams(r.ctx, r, selectors, "", start, end)
	if err != nil {
		return answer{}, err
	}
	dst := append([]byte(success), '[')
	for i, s := range streams {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendLabels(dst, s)
		if i%looked == 0 && r.ctx.Err() != nil {
			return answer{}, r.ctx.Err()
		}
	}
	return answer{body: append(dst, `]}`...)}, r.Reserve(int64(2 * len(dst)))
}
