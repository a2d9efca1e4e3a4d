package metricsapi

import (
	"varve/server/web"
	"varve/server/write/rows/samples"
	"varve/sqlexec/promql"
	"varve/sqlexec/promql/histogram"
)

// Exemplars answers query_exemplars. An expression without selectors has no answer at all.
func (h *Handler) Exemplars(c *web.Ctx) (tell func(dst []byte) []byte, err error) {
	p, err := read(c)
	if err != nil {
		return nil, err
	}
	from, err := p.since("start")
	if err != nil {
		return nil, err
	}
	to, err := p.until("end")
	if err != nil {
		return nil, err
	}
	if to < from {
		return nil, invalid("end", "end timestamp must not be before start time")
	}
	x, err := promql.Parse(p.text("query"))
	if err != nil {
		return nil, err
	}
	selectors, err := promql.Selectors(x)
	if err != nil || len(selectors) == 0 {
		return nil, err
	}
	h.limitTime(c, h.o.Timeout)
	list, err := h.o.Samples.Exemplars(c.Context, p.db, selectors, from, to, h.storage(c, p.db).Memory)
	if err != nil {
		return nil, err
	}
	return func(dst []byte) []byte { return appendExemplars(append(dst, '['), list) }, nil
}

// appendExemplars writes exemplars, which lie by series, and the closing bracket.
func appendExemplars(data []byte, list []samples.Exemplar) []byte {
	for i := range list {
		one := &list[i]
		if i > 0 && one.Series.Equal(list[i-1].Series) {
			data = append(data, ',')
		} else {
			if i > 0 {
				data = append(data, `]},`...)
			}
			data = promql.AppendLabels(append(data, `{"seriesLabels":`...), one.Series)
			data = append(data, `,"exemplars":[`...)
		}
		data = promql.AppendLabels(append(data, `{"labels":`...), one.Labels)
		data = histogram.AppendNumber(append(data, `,"value":`...), one.Value)
		data = append(promql.AppendTime(append(data, `,"timestamp":`...), one.At), '}')
	}
	if len(list) > 0 {
		data = append(data, `]}`...)
	}
	return append(data, ']')
}
