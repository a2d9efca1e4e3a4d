package process

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// lokiConfig is for one process that keeps all on the disk, takes lines of any age and any rate, and keeps no answers.
const lokiConfig = `auth_enabled: false
analytics: {reporting_enabled: false}
server: {http_listen_address: 127.0.0.1, http_listen_port: %[1]s, grpc_listen_address: 127.0.0.1, grpc_listen_port: %[2]s,
  log_level: error, grpc_server_max_recv_msg_size: 67108864, grpc_server_max_send_msg_size: 67108864}
common:
  instance_addr: 127.0.0.1
  path_prefix: %[3]s
  replication_factor: 1
  ring: {instance_addr: 127.0.0.1, kvstore: {store: inmemory}}
  storage: {filesystem: {chunks_directory: %[3]s/chunks, rules_directory: %[3]s/rules}}
schema_config:
  configs: [{from: 2020-01-01, store: tsdb, object_store: filesystem, schema: v13, index: {prefix: i_, period: 24h}}]
query_range: {cache_results: false}
limits_config: {reject_old_samples: false, creation_grace_period: 87600h, ingestion_rate_mb: 1024,
  ingestion_burst_size_mb: 1024, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB, volume_enabled: true,
  max_query_series: 10000, discover_service_name: [], discover_log_levels: false, unordered_writes: true}
`

// Loki starts a server of Loki on a directory and waits until it serves. It listens on 127.0.0.1 alone and dies with
// this process.
func Loki(ctx context.Context, binary, dir string) (*Server, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	inner, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	_, innerPort, err := net.SplitHostPort(inner)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "config.yml")
	if err := os.WriteFile(file, fmt.Appendf(nil, lokiConfig, port, innerPort, dir), 0o600); err != nil {
		return nil, err
	}
	return other(ctx, binary, dir, addr, "/ready", []string{"-config.file=" + file})
}
