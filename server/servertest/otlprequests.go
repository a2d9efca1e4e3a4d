package servertest

import (
	"encoding/json"
	"fmt"
	"testing"

	"varve/server/protowire"
)

// otlpKeyValue is an attribute, as a message and as JSON.
type otlpKeyValue struct {
	key   string
	value any // a string or an int64
}

func (kv otlpKeyValue) message(dst []byte, field int) []byte {
	return protowire.AppendMessage(dst, field, func(m []byte) []byte {
		return protowire.AppendMessage(protowire.AppendBytes(m, 1, kv.key), 2, func(v []byte) []byte {
			if n, ok := kv.value.(int64); ok {
				return protowire.AppendVarint(v, 3, uint64(n))
			}
			return protowire.AppendBytes(v, 1, kv.value.(string))
		})
	})
}

func (kv otlpKeyValue) json() map[string]any {
	if n, ok := kv.value.(int64); ok {
		return map[string]any{"key": kv.key, "value": map[string]any{"intValue": fmt.Sprint(n)}}
	}
	return map[string]any{"key": kv.key, "value": map[string]any{"stringValue": kv.value}}
}

func otlpJSON(list []otlpKeyValue) (out []map[string]any) {
	for _, kv := range list {
		out = append(out, kv.json())
	}
	return out
}

var otlpResource = []otlpKeyValue{{"service.name", "checkout"}, {"service.version", "1.14.2"},
	{"service.instance.id", "checkout-7d9c5b-x2x7k"}, {"host.name", "node-17.eu-west-1.example.net"},
	{"k8s.namespace.name", "shop"}}

// otlpExport wraps items into a resource and a scope.
func otlpExport(items []byte) []byte {
	return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = protowire.AppendMessage(m, 1, func(r []byte) []byte {
			for _, kv := range otlpResource {
				r = kv.message(r, 1)
			}
			return r
		})
		return protowire.AppendMessage(m, 2, func(s []byte) []byte {
			s = protowire.AppendMessage(s, 1, func(n []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(n, 1, "shop/checkout"), 2, "0.3.0")
			})
			return append(s, items...)
		})
	})
}

func otlpExportJSON(tb testing.TB, resources, scopes, name string, items []any) []byte {
	body, err := json.Marshal(map[string]any{resources: []any{map[string]any{
		"resource": map[string]any{"attributes": otlpJSON(otlpResource)},
		scopes: []any{map[string]any{"scope": map[string]any{"name": "shop/checkout", "version": "0.3.0"},
			name: items}},
	}}})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

const otlpStart = 1_760_000_000_000_000_000

// OTLPLogRequest is a request of log records with five attributes each.
func OTLPLogRequest(tb testing.TB, n int, inJSON bool) []byte {
	var items []byte
	var list []any
	for i := range n {
		at := uint64(otlpStart + i*1_000_000)
		text := fmt.Sprintf("GET /api/v1/orders/%d finished in %d ms with status 200", 100000+i*7919%900000, i%250)
		attributes := []otlpKeyValue{{"http.request.method", "GET"}, {"http.route", "/api/v1/orders/{id}"},
			{"http.response.status_code", int64(200)}, {"thread.name", fmt.Sprintf("worker-%d", i%16)},
			{"order.id", int64(100000 + i*7919%900000)}}
		trace, span := fmt.Sprintf("%032x", uint64(i/8)*0x9e3779b97f4a7c15),
			fmt.Sprintf("%016x", uint64(i)*0x9e3779b97f4a7c15)
		if inJSON {
			list = append(list, map[string]any{"timeUnixNano": fmt.Sprint(at), "severityNumber": 9,
				"severityText": "INFO", "body": map[string]any{"stringValue": text}, "attributes": otlpJSON(attributes),
				"traceId": trace, "spanId": span, "flags": 1})
			continue
		}
		items = protowire.AppendMessage(items, 2, func(m []byte) []byte {
			m = protowire.AppendVarint(protowire.AppendFixed64(m, 1, at), 2, 9)
			m = protowire.AppendBytes(m, 3, "INFO")
			m = protowire.AppendMessage(m, 5, func(v []byte) []byte { return protowire.AppendBytes(v, 1, text) })
			for _, kv := range attributes {
				m = kv.message(m, 6)
			}
			m = protowire.AppendFixed32(m, 8, 1)
			return protowire.AppendBytes(protowire.AppendBytes(m, 9, trace[:16]), 10, span[:8])
		})
	}
	if inJSON {
		return otlpExportJSON(tb, "resourceLogs", "scopeLogs", "logRecords", list)
	}
	return otlpExport(items)
}

// OTLPSpanRequest is a request of spans with six attributes each.
func OTLPSpanRequest(tb testing.TB, n int, inJSON bool) []byte {
	var items []byte
	var list []any
	for i := range n {
		at := uint64(otlpStart + i*1_000_000)
		attributes := []otlpKeyValue{{"http.request.method", "GET"}, {"http.route", "/api/v1/orders/{id}"},
			{"http.response.status_code", int64(200)}, {"server.address", "orders.example.net"},
			{"server.port", int64(8443)}, {"order.id", int64(100000 + i*7919%900000)}}
		trace, span, parent := fmt.Sprintf("%032x", uint64(i/8)*0x9e3779b97f4a7c15),
			fmt.Sprintf("%016x", uint64(i)*0x9e3779b97f4a7c15), fmt.Sprintf("%016x", uint64(i/8)*0x9e3779b97f4a7c15)
		name := fmt.Sprintf("GET /api/v1/orders/%d", i%20)
		if inJSON {
			list = append(list, map[string]any{"startTimeUnixNano": fmt.Sprint(at),
				"endTimeUnixNano": fmt.Sprint(at + 2_500_000), "kind": 2, "name": name,
				"attributes": otlpJSON(attributes), "traceId": trace, "spanId": span, "parentSpanId": parent,
				"status": map[string]any{"code": 1}})
			continue
		}
		items = protowire.AppendMessage(items, 2, func(m []byte) []byte {
			m = protowire.AppendBytes(protowire.AppendBytes(m, 1, trace[:16]), 2, span[:8])
			m = protowire.AppendBytes(protowire.AppendBytes(m, 4, parent[:8]), 5, name)
			m = protowire.AppendFixed64(protowire.AppendFixed64(protowire.AppendVarint(m, 6, 2), 7, at), 8,
				at+2_500_000)
			for _, kv := range attributes {
				m = kv.message(m, 9)
			}
			return protowire.AppendMessage(m, 15, func(s []byte) []byte { return protowire.AppendVarint(s, 3, 1) })
		})
	}
	if inJSON {
		return otlpExportJSON(tb, "resourceSpans", "scopeSpans", "spans", list)
	}
	return otlpExport(items)
}

// OTLPPointRequest is a request of points of 40 sums, each with 2 attributes.
func OTLPPointRequest(tb testing.TB, n int, inJSON bool, round int) []byte {
	const metrics = 40
	at := uint64(otlpStart + round*15_000_000_000)
	var items []byte
	var list []any
	for k := range metrics {
		name := fmt.Sprintf("http.server.metric%d", k)
		var points []byte
		var pointList []any
		for i := range n / metrics {
			attributes := []otlpKeyValue{{"http.route", fmt.Sprintf("/api/v1/orders/%d", i)},
				{"http.request.method", "GET"}}
			x := float64(i*round) + 0.25
			if inJSON {
				pointList = append(pointList,
					map[string]any{"timeUnixNano": fmt.Sprint(at), "asDouble": x, "attributes": otlpJSON(attributes)})
				continue
			}
			points = protowire.AppendMessage(points, 1, func(m []byte) []byte {
				for _, kv := range attributes {
					m = kv.message(m, 7)
				}
				return protowire.AppendDouble(protowire.AppendFixed64(m, 3, at), 4, x)
			})
		}
		if inJSON {
			list = append(list, map[string]any{"name": name, "unit": "ms",
				"sum": map[string]any{"dataPoints": pointList, "isMonotonic": true, "aggregationTemporality": 2}})
			continue
		}
		items = protowire.AppendMessage(items, 2, func(m []byte) []byte {
			return protowire.AppendMessage(protowire.AppendBytes(protowire.AppendBytes(m, 1, name), 3, "ms"), 7,
				func(s []byte) []byte {
					return protowire.AppendVarint(protowire.AppendVarint(append(s, points...), 2, 2), 3, 1)
				})
		})
	}
	if inJSON {
		return otlpExportJSON(tb, "resourceMetrics", "scopeMetrics", "metrics", list)
	}
	return otlpExport(items)
}
