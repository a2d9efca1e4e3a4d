package otlp

import "varve/engine/vector"

// conventions are the types of attributes that the semantic conventions define as stable, so that a sender that spells
// a port as text does not make it text for all. Source: the registry of attributes of the OpenTelemetry semantic
// conventions.
var conventions = conventionsOf(map[vector.Type][]string{
	vector.Int64Type: {
		"client.port", "server.port", "network.peer.port", "network.local.port", "http.response.status_code",
		"http.request.resend_count", "http.request.body.size", "http.response.body.size",
		"db.response.returned_rows", "db.operation.batch.size", "rpc.grpc.status_code", "rpc.message.id", "thread.id",
		"code.line.number", "code.lineno", "process.pid", "messaging.batch.message_count",
	},
	vector.StringType: {
		"client.address", "server.address", "network.peer.address", "network.local.address", "network.protocol.name",
		"network.protocol.version", "network.transport", "network.type",
		"http.route", "http.request.method", "http.request.method_original", "url.full", "url.path", "url.query",
		"url.scheme", "url.fragment", "user_agent.original",
		"error.type", "exception.message", "exception.stacktrace", "exception.type", "service.name", "service.version",
		"service.namespace", "service.instance.id",
		"db.system.name", "db.namespace", "db.collection.name", "db.operation.name", "db.query.text",
		"db.query.summary", "db.response.status_code", "db.stored_procedure.name",
		"code.function.name", "code.file.path", "code.stacktrace", "telemetry.sdk.name", "telemetry.sdk.language",
		"telemetry.sdk.version", "otel.scope.name", "otel.scope.version",
		"otel.status_code", "otel.status_description", "deployment.environment.name", "host.name", "rpc.system",
		"rpc.service", "rpc.method", "messaging.system",
	},
})

func conventionsOf(byType map[vector.Type][]string) map[string]vector.Type {
	all := map[string]vector.Type{}
	for typ, keys := range byType {
		for _, key := range keys {
			all[key] = typ
		}
	}
	return all
}
