package workload

import "time"

// FleetSpan is how long the fleet of hosts is watched.
const FleetSpan = 6 * time.Hour

// MetricQuery is an expression: at the end of the data, or over a range before it.
type MetricQuery struct {
	Name, Expr string
	Over, Step time.Duration // 0: at one time
	Path       string        // instead of an expression: an endpoint
	Match      string        // its parameter match[], if it has one
}

// MetricQueries are asked of the fleet of hosts that bench/fleet makes.
var MetricQueries = []MetricQuery{
	{Name: "one series now", Expr: `node_load1{instance="host-042:9100"}`},
	{Name: "one host's rate over 6 h",
		Expr: `sum by (mode) (rate(node_cpu_seconds_total{instance="host-042:9100"}[5m]))`, Over: FleetSpan,
		Step: time.Minute},
	{Name: "total network rate over 6 h", Expr: `sum(rate(node_network_receive_bytes_total[5m]))`, Over: FleetSpan,
		Step: time.Minute},
	{Name: "cpu by region and mode over 6 h", Expr: `sum by (region, mode) (rate(node_cpu_seconds_total[5m]))`,
		Over: FleetSpan, Step: time.Minute},
	{Name: "p99 latency over 6 h",
		Expr: `histogram_quantile(0.99, sum by (le, path) (rate(http_request_duration_seconds_bucket[5m])))`,
		Over: FleetSpan, Step: time.Minute},
	{Name: "quantile_over_time of load over 6 h", Expr: `quantile_over_time(0.95, node_load1[30m])`, Over: FleetSpan,
		Step: 5 * time.Minute},
	{Name: "memory ratio of all hosts over 6 h",
		Expr: `1 - node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes`, Over: FleetSpan, Step: time.Minute},
	{Name: "cpu by instance over 1 h", Expr: `1 - avg by (instance) (rate(node_cpu_seconds_total{mode="idle"}[5m]))`,
		Over: time.Hour, Step: 15 * time.Second},
	{Name: "regex on hosts over 6 h",
		Expr: `sum by (instance) (rate(node_cpu_seconds_total{instance=~"host-0[0-4].*", mode!="idle"}[5m]))`,
		Over: FleetSpan, Step: time.Minute},
	{Name: "count of all series", Expr: `count({__name__=~".+"})`},
	{Name: "group_left join over 1 h", Expr: `node_load1 * on (instance) group_left (release) node_uname_info`,
		Over: time.Hour, Step: 15 * time.Second},
	{Name: "raw range of one metric", Expr: `node_load1[1h]`},
	{Name: "top 10 hosts now", Expr: `topk(10, sum by (instance) (rate(node_cpu_seconds_total{mode="user"}[5m])))`},
	{Name: "all series of a metric now", Expr: `node_cpu_seconds_total`},
	{Name: "greatest load by region over 6 h", Expr: `max by (region) (max_over_time(node_load1[10m]))`,
		Over: FleetSpan, Step: time.Minute},
	{Name: "disk forecast of all hosts",
		Expr: `predict_linear(node_filesystem_avail_bytes[1h], 86400) < 0 or node_filesystem_avail_bytes > 0`},
	{Name: "p99 of all hosts for six hours",
		Expr: `histogram_quantile(0.99, sum by (le, instance) (rate(http_request_duration_seconds_bucket[5m])))`,
		Over: FleetSpan, Step: 5 * time.Minute},
	{Name: "network rate of two ranges over 6 h",
		Expr: `sum by (instance) (rate(node_network_receive_bytes_total[5m])) / sum by (instance) (rate(node_network_receive_bytes_total[1h]))`, Over: FleetSpan, Step: time.Minute},
	{Name: "values of a label", Path: "label/instance/values"},
	{Name: "values of a label, with a matcher", Path: "label/instance/values", Match: "node_load1"},
	{Name: "top 10 of two labels now", Expr: `topk(10, sum by (instance, mode) (rate(node_cpu_seconds_total[5m])))`},
	{Name: "unless and or of wide sets now",
		Expr: `count((node_cpu_seconds_total unless node_cpu_seconds_total{mode="idle"}) or node_network_receive_bytes_total)`},
	{Name: "nothing of that name now", Expr: `absent(node_cpu_seconds_total{mode="steal"})`},
	{Name: "last of an hour now", Expr: `last_over_time(node_load1[1h])`},
	{Name: "hourly increase over 6 h", Expr: `sum by (region) (increase(node_network_receive_bytes_total[1h]))`,
		Over: FleetSpan, Step: time.Hour},
	{Name: "subquery of a subquery now",
		Expr: `max by (instance) (max_over_time(avg_over_time(rate(node_cpu_seconds_total{mode="user"}[1m])[5m:1m])[10m:1m]))`},
}
