package servertest

// The addresses that clients of protocols are given.
const (
	BulkPath      = "/v1/elasticsearch"
	CollectorPath = "/v1/splunk"
	AgentPath     = "/v1/datadog"
	AgentLogs     = AgentPath + "/api/v2/logs"
	LinesPath     = "/v1/lineproto"
	MetricsPath   = "/v1/metricsapi"
	LinePath      = LinesPath + "/write"
	PutPath       = "/v1/jsonput/api/put"
	PushPath      = "/v1/logpush/api/v1/push"
	OTLPMetrics   = "/v1/otlp/v1/metrics"
	OTLPTraces    = "/v1/otlp/v1/traces"
	OTLPLogs      = "/v1/otlp/v1/logs"
)

// IngestPath takes entries for the table t as they are.
const IngestPath = "/v1/ingest?table=t&pipeline_name=service_identity"

// BulkType is the content type of bulk requests.
const BulkType = "application/x-ndjson"
