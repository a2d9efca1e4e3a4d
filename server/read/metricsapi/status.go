package metricsapi

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"varve/engine/jsontext"
	"varve/server/web"
	"varve/sqlexec/promql"
)

// languageVersion is the release of the reference server whose language and API this server speaks. Dashboards decide
// by it which functions they use.
const languageVersion = "3.15.0"

// object is an object of texts, names and values in turn.
func object(pairs ...string) []byte {
	data := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(jsontext.AppendString(data, pairs[i]), ':')
		data = jsontext.AppendString(data, pairs[i+1])
	}
	return append(data, '}')
}

// BuildInfo answers status/buildinfo.
func (h *Handler) BuildInfo(*web.Ctx) (tell func(dst []byte) []byte, err error) {
	return text(object("version", languageVersion, "revision", h.o.Commit, "branch", h.o.Branch, "buildUser", "",
		"buildDate", "",
		"goVersion", runtime.Version(), "server", "varve", "serverVersion", h.o.Version)), nil
}

// RuntimeInfo answers status/runtimeinfo.
func (h *Handler) RuntimeInfo(*web.Ctx) (tell func(dst []byte) []byte, err error) {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	data := object("startTime", h.started.UTC().Format(time.RFC3339Nano), "CWD", "", "hostname", host, "serverTime",
		h.o.Now().UTC().Format(time.RFC3339Nano),
		"lastConfigTime", h.started.UTC().Format(time.RFC3339), "GOGC", "", "GODEBUG", "", "storageRetention", "")
	data = append(data[:len(data)-1], `,"reloadConfigSuccess":true,"corruptionCount":0,"goroutineCount":`...)
	data = strconv.AppendInt(data, int64(runtime.NumGoroutine()), 10)
	data = strconv.AppendInt(append(data, `,"GOMAXPROCS":`...), int64(runtime.GOMAXPROCS(0)), 10)
	data = strconv.AppendInt(append(data, `,"GOMEMLIMIT":`...), debug.SetMemoryLimit(-1), 10)
	return text(append(data, '}')), nil
}

// The length of the lists of status/tsdb without the parameter limit, and the most that it may ask for.
const (
	usualCounts = 10
	mostCounts  = 10_000
)

// TSDB answers status/tsdb: how many series there are, and which metrics and labels have most of them.
func (h *Handler) TSDB(c *web.Ctx) (tell func(dst []byte) []byte, err error) {
	p, err := read(c)
	if err != nil {
		return nil, err
	}
	most, err := p.limit("limit")
	switch {
	case err != nil:
		return nil, err
	case p.text("limit") == "":
		most = usualCounts
	case most < 1 || most > mostCounts:
		return nil, invalid("limit", "limit must lie between 1 and %d", mostCounts)
	}
	h.limitTime(c, h.o.Timeout)
	n, err := h.storage(c, p.db).Cardinality(c.Context, most)
	if err != nil {
		return nil, err
	}
	if n.From > n.To {
		n.From, n.To = 0, 0
	}
	return func(dst []byte) []byte { return appendCardinality(dst, n) }, nil
}

// appendCardinality appends the data of status/tsdb.
func appendCardinality(data []byte, n *promql.Cardinality) []byte {
	data = strconv.AppendInt(append(data, `{"headStats":{"numSeries":`...), int64(n.Series), 10)
	data = strconv.AppendInt(append(data, `,"numLabelPairs":`...), int64(n.Pairs), 10)
	data = strconv.AppendInt(append(data, `,"chunkCount":0,"minTime":`...), n.From, 10)
	data = strconv.AppendInt(append(data, `,"maxTime":`...), n.To, 10)
	data = appendCounts(append(data, `},"seriesCountByMetricName":`...), n.SeriesByMetric)
	data = appendCounts(append(data, `,"labelValueCountByLabelName":`...), n.ValuesByLabel)
	data = appendCounts(append(data, `,"memoryInBytesByLabelName":`...), n.BytesByLabel)
	data = appendCounts(append(data, `,"seriesCountByLabelValuePair":`...), n.SeriesByPair)
	return append(data, '}')
}

func appendCounts(data []byte, list []promql.Count) []byte {
	data = append(data, '[')
	for i, x := range list {
		if i > 0 {
			data = append(data, ',')
		}
		data = jsontext.AppendString(append(data, `{"name":`...), x.Name)
		data = append(strconv.AppendInt(append(data, `,"value":`...), x.N, 10), '}')
	}
	return append(data, ']')
}

// Empty answers, for dashboards that ask for what this server does not have.
const (
	noConfig       = `{"yaml":""}`
	noFlags        = `{}`
	noRules        = `{"groups":[]}`
	noAlerts       = `{"alerts":[]}`
	noTargets      = `{"activeTargets":[],"droppedTargets":[],"droppedTargetCounts":{}}`
	noneOfTheKind  = `[]`
	knownToBeEmpty = `{}`
)

// fixed is an endpoint that always answers alike.
func fixed(data string) func(*web.Ctx) (tell func(dst []byte) []byte, err error) {
	return func(*web.Ctx) (func(dst []byte) []byte, error) { return text([]byte(data)), nil }
}

// Healthy answers the probes of a server's life.
func (h *Handler) Healthy(c *web.Ctx) error {
	c.Text(200, "Varve is healthy.\n")
	return nil
}
