package logapi

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"varve/sqlexec/logql"
	"varve/sqlexec/logql/syntax"
)

// usualVolumes is how many volumes are answered if the request names no limit.
const usualVolumes = 100

// indexStats answers index/stats: how many streams, lines and bytes a selector finds.
func indexStats(r *request) (answer, error) {
	start, end, err := r.p.span(r.now, usualSince)
	if err != nil {
		return answer{}, err
	}
	q, err := r.parse()
	if err != nil {
		return answer{}, err
	}
	var total logql.Size
	for _, selector := range logql.Selectors(q) {
		one, err := logql.SizeOf(r.ctx, r, selector, start, end)
		if err != nil {
			return answer{}, err
		}
		total.Streams += one.Streams
		total.Lines += one.Lines
		total.Bytes += one.Bytes
	}
	dst := strconv.AppendInt([]byte(`{"streams":`), total.Streams, 10)
	dst = strconv.AppendInt(append(dst, `,"chunks":`...), total.Streams, 10)
	dst = strconv.AppendInt(append(dst, `,"bytes":`...), total.Bytes, 10)
	dst = strconv.AppendInt(append(dst, `,"entries":`...), total.Lines, 10)
	return answer{body: append(dst, '}')}, nil
}

// volume answers index/volume: the bytes of streams.
func volume(r *request) (answer, error) { return r.volumes(false) }

// volumeRange answers index/volume_range: the bytes of streams in each step of a time.
func volumeRange(r *request) (answer, error) { return r.volumes(true) }

func (r *request) volumes(ranged bool) (answer, error) {
	q, limit, err := r.volumeQuery(ranged)
	if err != nil {
		return answer{}, err
	}
	list, err := q.Run(r.ctx, r)
	if err != nil {
		return answer{}, err
	}
	list = list[:min(limit, len(list))]
	ends, single := q.Ends(), true
	for i := range list {
		single = single && points(&list[i]) <= 1
	}
	kind := "matrix"
	if single {
		kind = "vector"
	}
	dst := append(append(append([]byte(success), `{"resultType":"`...), kind...), `","result":[`...)
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		before := len(dst)
		dst = appendVolume(dst, &list[i], ends, single)
		if err := r.Reserve(2 * int64(len(dst)-before)); err != nil {
			return answer{}, err
		}
	}
	dst = r.appendStats(append(dst, `],"stats":`...), len(list))
	return answer{body: append(dst, `}}`...)}, nil
}

// volumeQuery reads the parameters of volumes.
func (r *request) volumeQuery(ranged bool) (q *logql.VolumeQuery, limit int, err error) {
	q = &logql.VolumeQuery{Stats: r.stats}
	if q.From, q.To, err = r.p.span(r.now, usualSince); err != nil {
		return nil, 0, err
	}
	if q.To <= q.From {
		return nil, 0, invalid("end timestamp must not be before or equal to start time")
	}
	if limit, err = r.p.count("limit", usualVolumes); err != nil {
		return nil, 0, err
	}
	if ranged {
		if q.Step, err = r.p.seconds("step", usualStep(q.From, q.To)); err != nil {
			return nil, 0, err
		}
		if q.Step -= q.Step % 1e6; q.Step <= 0 {
			return nil, 0, invalid("zero or negative query resolution step widths are not accepted. Try a positive integer")
		}
		if (q.To-q.From)/q.Step > maxPoints {
			return nil, 0, invalid("exceeded maximum resolution of 11,000 points per time series. Try increasing the " +
				"value of the step parameter")
		}
	}
	for _, text := range r.p["targetLabels"] {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				q.Labels = append(q.Labels, name)
			}
		}
	}
	switch text := r.p.text("aggregateBy"); text {
	case "", "series":
	case "labels":
		q.ByLabel = true
	default:
		return nil, 0, invalid("invalid aggregation option")
	}
	text := r.p.text("query")
	if strings.TrimSpace(text) == "" || strings.TrimSpace(text) == "{}" {
		return q, limit, nil
	}
	parsedQuery, err := syntax.ParseLog(text)
	if err != nil {
		return nil, 0, parsed(err)
	}
	if len(parsedQuery.Stages) > 0 {
		return nil, 0, invalid("only label matchers are supported")
	}
	q.Selector = parsedQuery.Matchers
	return q, limit, nil
}

// points is the number of steps in which a volume has bytes.
func points(v *logql.Volume) (n int) {
	for _, b := range v.Bytes {
		if b > 0 {
			n++
		}
	}
	return n
}

// appendVolume appends a series of volumes. Those of steps lie one millisecond before the end of the step.
func appendVolume(dst []byte, v *logql.Volume, ends []int64, single bool) []byte {
	dst = appendLabels(append(dst, `{"metric":`...), v.Labels)
	if single {
		at := slices.IndexFunc(v.Bytes, func(b float64) bool { return b > 0 })
		at = max(at, 0)
		dst = append(dst, `,"value":`...)
		return append(appendPoint(dst, end(ends, at), v.Bytes[at]), '}')
	}
	dst = append(dst, `,"values":[`...)
	first := true
	for i, b := range v.Bytes {
		if b == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendPoint(dst, end(ends, i), math.Round(b))
	}
	return append(dst, `]}`...)
}

// end is the time at which a volume is shown, ms.
func end(ends []int64, i int) int64 {
	if len(ends) == 1 {
		return ends[i] / 1e6
	}
	return ends[i]/1e6 - 1
}
