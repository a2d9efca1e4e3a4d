package logapi

import (
	"runtime"
	"strconv"

	"varve/engine/jsontext"
	"varve/server/web"
	"varve/sqlexec/logql"
	"varve/sqlexec/logql/syntax"
)

// formatQuery answers format_query: the query in its long form.
func formatQuery(r *request) (answer, error) {
	q, err := r.parse()
	if err != nil {
		_, text := web.Message(err)
		body := append(jsontext.AppendString([]byte(`{"status":"invalid-query","error":`), text), '}')
		return answer{status: 400, body: body}, nil
	}
	return answer{body: append(appendText([]byte(success), syntax.Pretty(q)), '}')}, nil
}

// buildInfo answers status/buildinfo.
func buildInfo(r *request) (answer, error) {
	dst := appendText([]byte(`{"version":`), r.h.o.Version)
	dst = appendText(append(dst, `,"revision":`...), r.h.o.Commit)
	dst = appendText(append(dst, `,"branch":`...), r.h.o.Branch)
	dst = appendText(append(dst, `,"buildUser":"","buildDate":"","goVersion":`...), runtime.Version())
	return answer{body: append(dst, '}')}, nil
}

// drilldownLimits answers drilldown-limits: what a page that explores logs may ask for.
func drilldownLimits(*request) (answer, error) {
	dst := appendTexts([]byte(`{"limits":{"discover_log_levels":true,"discover_service_name":`), logql.ServiceLabels())
	dst = append(append(dst, `,"log_level_fields":`...), levelFields...)
	dst = strconv.AppendInt(append(dst, `,"max_entries_limit_per_query":`...), maxLines, 10)
	dst = append(dst, `,"max_line_size_truncate":false,"max_query_bytes_read":"0B","max_query_length":"`+
		maxLengthText+`","max_query_lookback":"0s","max_query_range":"0s","max_query_series":`...)
	dst = strconv.AppendInt(dst, maxSeries, 10)
	dst = append(dst, `,"metric_aggregation_enabled":false,"pattern_persistence_enabled":false,`+
		`"query_timeout":"0s","retention_period":"0s","volume_enabled":true,"volume_max_series":1000},`+
		`"pattern_ingester_enabled":true,"version":`...)
	return answer{body: append(appendText(dst, "1"), '}')}, nil
}

const (
	maxLengthText = "30d1h"
	levelFields   = `["level","severity","lvl"]`
)
