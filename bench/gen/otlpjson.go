package gen

import (
	"encoding/hex"
	"strconv"
)

// OTLPJSON appends the request of rows of a set of OTLP as JSON, as SDKs of browsers send it: what Append appends as a
// message.
func (s *Set) OTLPJSON(dst []byte, from, to int64) []byte {
	resources, scopes, items := "resourceLogs", "scopeLogs", "logRecords"
	switch s.Signal {
	case "traces":
		resources, scopes, items = "resourceSpans", "scopeSpans", "spans"
	case "metrics":
		resources, scopes, items = "resourceMetrics", "scopeMetrics", "metrics"
	}
	dst = append(append(append(dst, `{"`...), resources...), `":[{"resource":{"attributes":[`...)
	for _, a := range resourceOf("frontend") {
		dst = append(jsonText(dst, a[0], a[1]), ',')
	}
	dst = append(append(append(dst[:len(dst)-1], `]},"`...), scopes...),
		`":[{"scope":{"name":"shop/http","version":"0.3.0"},"`...)
	dst = append(append(dst, items...), `":[`...)
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, ',')
		}
		dst = s.json(dst, i)
	}
	return append(dst, `]}]}]}`...)
}

func jsonText[T string | []byte](dst []byte, key string, text T) []byte {
	dst = append(append(append(dst, `{"key":"`...), key...), `","value":{"stringValue":`...)
	return append(appendQuoted(dst, string(text)), `}}`...)
}

func jsonInt(dst []byte, key string, x uint64) []byte {
	dst = append(append(append(dst, `{"key":"`...), key...), `","value":{"intValue":"`...)
	return append(appendUint(dst, x), `"}}`...)
}

// jsonNumber appends a member whose value is a number of 64 bits, in quotes.
func jsonNumber(dst []byte, name string, x uint64) []byte {
	dst = append(append(append(dst, '"'), name...), `":"`...)
	return append(appendUint(dst, x), `",`...)
}

// jsonID appends a member whose value is an id.
func jsonID(dst []byte, name string, id ...uint64) []byte {
	dst = append(append(append(dst, '"'), name...), `":"`...)
	return append(hex.AppendEncode(dst, bigEndian(nil, id...)), `",`...)
}

func appendQuoted(dst []byte, text string) []byte { return strconv.AppendQuote(dst, text) }

// jsonRequest appends the attributes that records and spans have in common, and leaves their list open.
func (m *otlp) jsonRequest(dst []byte, e *entry, path []byte) []byte {
	var text [64]byte
	dst = append(jsonText(append(dst, `"attributes":[`...), "http.request.method", methods[e.method]), ',')
	dst = append(jsonText(dst, "url.path", path), ',')
	dst = append(jsonInt(dst, "http.response.status_code", statuses[e.status]), ',')
	dst = append(jsonInt(dst, "http.response.body.size", e.bytes), ',')
	dst = append(jsonText(dst, "client.address", appendAddress(text[:0], e.client)), ',')
	return jsonInt(dst, "user.id", e.user)
}

func (m *otlp) recordJSON(dst []byte, i int64) []byte {
	r := newRandom(m.seed, i)
	e := m.draw(i, &r)
	var text, line [256]byte
	path := m.appendPath(text[:0], &r)
	dst = jsonNumber(append(dst, '{'), "timeUnixNano", uint64(e.ms)*1e6)
	dst = strconv.AppendInt(append(dst, `"severityNumber":`...),
		int64([...]byte{info: 9, debug: 5, warn: 13, failure: 17}[e.level]), 10)
	dst = append(append(append(dst, `,"severityText":"`...), levels[e.level]...), `","body":{"stringValue":`...)
	dst = append(appendQuoted(dst, string(m.appendMessage(line[:0], &e, &r))), `},`...)
	dst = append(m.jsonRequest(dst, &e, path), ',')
	dst = append(jsonText(dst, "user_agent.original", m.agentText[e.agent]), `],`...)
	dst = jsonID(jsonID(dst, "traceId", e.trace[0], e.trace[1]), "spanId", e.trace[0]^e.trace[1])
	return append(dst[:len(dst)-1], '}')
}

func (m *otlp) spanJSON(dst []byte, i int64) []byte {
	r := newRandom(m.seed, i)
	e := m.draw(i, &r)
	s := m.spanOf(&e, i)
	dst = jsonID(jsonID(append(dst, '{'), "traceId", s.trace[0], s.trace[1]), "spanId", s.span)
	if s.parent > 0 {
		dst = jsonID(dst, "parentSpanId", s.parent)
	}
	dst = append(append(append(dst, `"name":"`...), methods[e.method]...), " /api/"...)
	dst = append(append(dst, categories[s.operation%int64(len(categories))]...), `","kind":2,`...)
	dst = jsonNumber(jsonNumber(dst, "startTimeUnixNano", s.startNS), "endTimeUnixNano", s.startNS+1000*s.durationUS)
	var text [256]byte
	dst = append(m.jsonRequest(dst, &e, m.appendPath(text[:0], &r)), ',')
	dst = append(jsonText(dst, "cloud.region", regions[e.region]), `],"status":{"code":`...)
	return append(strconv.AppendInt(dst, int64([...]byte{info: 1, debug: 1, warn: 1, failure: 2}[e.level]), 10),
		`}}`...)
}

func (m *otlp) pointJSON(dst []byte, i int64) []byte {
	series, step := uint64(i%otlpSeries), i/otlpSeries
	var text [64]byte
	dst = append(append(append(dst, `{"name":"`...), m.metric...), `","gauge":{"dataPoints":[{"attributes":[`...)
	dst = append(jsonText(dst, "host.name", appendUint(append(text[:0], "frontend-"...), series/100)), ',')
	dst = append(jsonText(dst, "http.route", appendUint(append(text[:0], "/api/v1/orders/"...), series%100)), ',')
	dst = append(jsonText(dst, "http.request.method", methods[series%4]), `],`...)
	dst = jsonNumber(dst, "timeUnixNano", uint64(m.clock.start*1e6+step*otlpStep))
	dst = strconv.AppendFloat(append(dst, `"asDouble":`...), float64(series)+float64(step%240)/4, 'g', -1, 64)
	return append(dst, `}]}}`...)
}
