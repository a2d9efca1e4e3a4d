package server_test

import (
	"bytes"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"varve/server/protowire"
	"varve/server/servertest"
)

// symbols2 are the symbols of a request of version 2.0.
func symbols2(texts ...string) (message []byte) {
	for _, text := range texts {
		message = protowire.AppendBytes(message, 4, text)
	}
	return message
}

// TestSmallBodiesStaySmall: what refers to one text many times, or becomes many times its size, is counted before it is
// made.
func TestSmallBodiesStaySmall(t *testing.T) {
	const second, most = "application/x-protobuf;proto=io.prometheus.write.v2.Request", 400 << 20
	series := func(refs string, parts ...[]byte) []byte {
		return protowire.AppendMessage(nil, 5, func(m []byte) []byte {
			return append(protowire.AppendBytes(m, 1, refs), bytes.Join(parts, nil)...)
		})
	}
	long := strings.Repeat("x", 900_000)
	sample := []byte{2<<3 | 2, 0}
	pairs := func(field byte, n int) []byte { return bytes.Repeat([]byte{field<<3 | 2, 0}, n) }
	block := func(message []byte) string { return string(s2.EncodeSnappy(nil, message)) }

	labels := symbols2("", "__name__", "up", long)
	for i := range 60 {
		labels = append(labels, symbols2(fmt.Sprint("n", i))...)
	}
	for i := range 60 {
		labels = append(labels, series("\x01\x02"+string([]byte{byte(4 + i), 3}), sample)...)
	}
	described := symbols2("", "__name__", "a", long, "b")
	for i := range 10_000 {
		described = append(described, series("\x01"+string([]byte{byte(2 + i%2*2)}), sample,
			protowire.AppendMessage(nil, 5, func(m []byte) []byte {
				return protowire.AppendVarint(protowire.AppendVarint(m, 3, 3), 4, 3)
			}))...)
	}
	exemplars := append(symbols2("", "__name__", "a", "l", long[:8000]),
		series("\x01\x02\x03\x04", sample, bytes.Repeat(protowire.AppendMessage(nil, 4, func(m []byte) []byte {
			return protowire.AppendBytes(m, 1, "\x03\x02")
		}), 200_000))...)
	outside := append(symbols2("", "__name__", "a"),
		series("\x01\x02", sample, protowire.AppendMessage(nil, 4, func(m []byte) []byte {
			return protowire.AppendBytes(m, 1, "\x7f\x7f")
		}), protowire.AppendMessage(nil, 5, func(m []byte) []byte { return protowire.AppendVarint(m, 3, 127) }))...)
	pattern := strings.Repeat("(a{1,9}b){100}", 100)
	matcher := protowire.AppendMessage(nil, 3, func(m []byte) []byte {
		return protowire.AppendBytes(protowire.AppendBytes(protowire.AppendVarint(m, 1, 2), 2, "a"), 3, pattern)
	})
	query := protowire.AppendBytes(nil, 1, string(matcher))
	entry := func(parts ...[]byte) []byte {
		return protowire.AppendBytes(nil, 1,
			append(protowire.AppendBytes(nil, 1, `{a="b"}`), bytes.Join(parts, nil)...))
	}
	const form, protobuf, document = "application/x-www-form-urlencoded", "application/x-protobuf", "application/json"
	h := servertest.Real(t, nil)
	for _, c := range []struct {
		name, path, kind, body string
		status                 int
		text                   string
	}{
		{"labels of one symbol", servertest.WritePath, second, block(labels), 400,
			"the labels of new series take more than 33554432 bytes"},
		{"a series of one symbol", servertest.WritePath, second,
			block(append(symbols2("", "__name__", "up", long),
				series("\x01\x02"+strings.Repeat("\x03\x03", 500), sample)...)), 400, "bytes, the limit is 2097152"},
		{"metadata of one symbol", servertest.WritePath, second, block(described), 400,
			"metadata takes more than 16777216 bytes"},
		{"exemplars of one series", servertest.WritePath, second, block(exemplars), 204, ""},
		{"an exemplar of symbols that are not there", servertest.WritePath, second, block(outside), 204, ""},
		{"an exemplar of many labels", servertest.WritePath, protobuf,
			servertest.Snappy(protowire.AppendBytes(nil, 1,
				append(servertest.Message1(servertest.Up)[2:],
					protowire.AppendBytes(nil, 3, string(pairs(1, 20_000_000)))...))), 204, ""},
		{"patterns of matchers", "/v1/metricsapi/read", protobuf, block(bytes.Repeat(query, 200)), 400,
			"the regular expressions take more than 200000 steps"},
		{"long patterns", "/v1/metricsapi/read", protobuf,
			block(protowire.AppendBytes(nil, 1, string(protowire.AppendMessage(nil, 3, func(m []byte) []byte {
				return protowire.AppendBytes(protowire.AppendVarint(m, 1, 2), 3, strings.Repeat("a|", 200_000))
			})))), 400, "more than 262144 bytes"},
		{"patterns of selectors", "/v1/metricsapi/api/v1/series", form,
			strings.Repeat("match[]="+url.QueryEscape(`{a=~"`+pattern+`"}`)+"&", 200), 400, "200000 steps"},
		{"words of selectors", "/v1/metricsapi/api/v1/series", form,
			strings.Repeat("match[]="+url.QueryEscape(`{a="b"`+strings.Repeat(`,a="b"`, 1000)+`}`)+"&", 200), 400,
			"at most 20000 are taken"},
		{"patterns of an expression", "/v1/metricsapi/api/v1/query", form,
			"query=" + url.QueryEscape("up{"+strings.Repeat(`a=~"`+pattern+`",`, 20)+"}"), 400, "200000 steps"},
		{"a pattern of a function", "/v1/metricsapi/api/v1/query", form,
			"query=" + url.QueryEscape(`label_replace(vector(1), "a", "b", "c", "`+strings.Repeat(pattern, 3)+`")`),
			422, "200000 steps"},
		{"labels of a stream", servertest.PushPath, protobuf,
			block(protowire.AppendBytes(nil, 1,
				string(append(protowire.AppendBytes(nil, 1, "{"+strings.Repeat(`a="",`, 5_000_000)+"}"), 2<<3|2,
					0)))), 400, "more than 16384 labels"},
		{"metadata of a line", servertest.PushPath, protobuf,
			block(entry(protowire.AppendBytes(nil, 2, string(pairs(3, 20_000_000))))), 400, "more than 16384 labels"},
		{"labels of a stream, JSON", servertest.PushPath, document, `{"streams":[{"stream":{"a":""` +
			strings.Repeat(`,"a":""`, 5_000_000) + `},"values":[["1",""]]}]}`, 400, "more than 16384 labels"},
		{"metadata of a line, JSON", servertest.PushPath, document,
			`{"streams":[{"stream":{},"values":[["1","",{"a":""` + strings.Repeat(`,"a":""`, 5_000_000) +
				`}]]}]}`, 400, "more than 16384 labels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := *h
			h.TB = t
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			h.Want(h.Do("POST", c.path, c.body, "Content-Type", c.kind), c.status, c.text)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				t.Errorf("%d bytes were allocated for a body of %d, at most %d are wanted", n, len(c.body), most)
			}
		})
	}
}
