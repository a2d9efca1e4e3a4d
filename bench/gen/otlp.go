package gen

import (
	"encoding/binary"
	"math"
)

// The sets of OTLP are requests as SDKs and collectors send them, as messages: records, spans and points in one scope
// of one resource.
//
//	otlp-logs     log records with the message of an access entry and 7 attributes (about 480 bytes)
//	otlp-traces   spans of a web server, 8 to a trace, with 7 attributes (about 370 bytes)
//	otlp-metrics  points of one metric, of 10,000 series with 3 attributes (about 100 bytes)
//	traces        spans as of otlp-traces, 50 to a trace, of 20 services

// otlpSeries is the number of series of otlp-metrics; otlpStep is the time between two points of a series, ns.
const (
	otlpSeries = 10_000
	otlpStep   = 15_000_000_000
)

// otlp writes the entries of the access set as items of OTLP.
type otlp struct {
	*access
	metric string // the name of the metric
}

// Fields are appended behind a key of one byte. Lengths of messages take two bytes, however small: they are known when
// the message ends.

func otlpBegin(dst []byte, number byte) ([]byte, int) {
	dst = append(dst, number<<3|2, 0x80, 0)
	return dst, len(dst)
}

func otlpEnd(dst []byte, at int) []byte {
	size := len(dst) - at
	dst[at-2], dst[at-1] = byte(size)|0x80, byte(size>>7)
	return dst
}

func otlpText[T string | []byte](dst []byte, number byte, text T) []byte {
	dst = binary.AppendUvarint(append(dst, number<<3|2), uint64(len(text)))
	return append(dst, text...)
}

func otlpFixed(dst []byte, number byte, x uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, number<<3|1), x)
}

// otlpAttribute appends an attribute that is a text; otlpInt one that is an integer.
func otlpAttribute[T string | []byte](dst []byte, number byte, key string, text T) []byte {
	dst, at := otlpBegin(dst, number)
	dst, in := otlpBegin(otlpText(dst, 1, key), 2)
	return otlpEnd(otlpEnd(otlpText(dst, 1, text), in), at)
}

func otlpInt(dst []byte, number byte, key string, x uint64) []byte {
	dst, at := otlpBegin(dst, number)
	dst, in := otlpBegin(otlpText(dst, 1, key), 2)
	return otlpEnd(otlpEnd(binary.AppendUvarint(append(dst, 3<<3), x), in), at)
}

// otlpID appends the bytes of an id.
func otlpID(dst []byte, number byte, id ...uint64) []byte {
	return bigEndian(append(dst, number<<3|2, byte(8*len(id))), id...)
}

func bigEndian(dst []byte, id ...uint64) []byte {
	for _, x := range id {
		dst = binary.BigEndian.AppendUint64(dst, x)
	}
	return dst
}

// resourceOf are the attributes of a service's resource.
func resourceOf(service string) [5][2]string {
	return [...][2]string{{"service.name", service}, {"service.version", "1.14.2"},
		{"service.instance.id", service + "-7d9c5b-x2x7k"}, {"host.name", service + "-003"},
		{"k8s.namespace.name", "shop"}}
}

// request puts what was appended behind a place into a scope of a service's resource, and that into a request.
func (m *otlp) request(dst []byte, from int, service string) []byte {
	var about, scope []byte
	about, at := otlpBegin(about, 1)
	for _, a := range resourceOf(service) {
		about = otlpAttribute(about, 1, a[0], a[1])
	}
	about = otlpEnd(about, at)
	scope, at = otlpBegin(scope, 1)
	scope = otlpEnd(otlpText(otlpText(scope, 1, "shop/http"), 2, "0.3.0"), at)
	inner := binary.AppendUvarint([]byte{2<<3 | 2}, uint64(len(scope)+len(dst)-from))
	head := binary.AppendUvarint([]byte{1<<3 | 2}, uint64(len(about)+len(inner)+len(scope)+len(dst)-from))
	head = append(append(append(head, about...), inner...), scope...)
	dst = append(dst, head...)
	copy(dst[from+len(head):], dst[from:])
	copy(dst[from:], head)
	return dst
}

func (m *otlp) record(dst []byte, i int64) []byte {
	r := newRandom(m.seed, i)
	e := m.draw(i, &r)
	dst, at := otlpBegin(dst, 2)
	dst = otlpFixed(dst, 1, uint64(e.ms)*1e6)
	dst = append(dst, 2<<3, [...]byte{info: 9, debug: 5, warn: 13, failure: 17}[e.level])
	dst = otlpText(dst, 3, levels[e.level])
	var text [256]byte
	path := m.appendPath(text[:0], &r)
	dst = otlpAttribute(dst, 6, "url.path", path)
	dst, body := otlpBegin(dst, 5)
	dst = otlpEnd(otlpText(dst, 1, m.appendMessage(text[:0], &e, &r)), body)
	dst = otlpAttribute(dst, 6, "http.request.method", methods[e.method])
	dst = otlpInt(dst, 6, "http.response.status_code", statuses[e.status])
	dst = otlpInt(dst, 6, "http.response.body.size", e.bytes)
	dst = otlpAttribute(dst, 6, "client.address", appendAddress(text[:0], e.client))
	dst = otlpInt(dst, 6, "user.id", e.user)
	dst = otlpAttribute(dst, 6, "user_agent.original", m.agentText[e.agent])
	dst = otlpID(otlpID(dst, 9, e.trace[0], e.trace[1]), 10, e.trace[0]^e.trace[1])
	return otlpEnd(dst, at)
}

func (m *otlp) span(dst []byte, i int64) []byte {
	r := newRandom(m.seed, i)
	e := m.draw(i, &r)
	s := m.spanOf(&e, i)
	return m.appendSpan(dst, &e, &r, &s)
}

// spanOf is span i of the traces of 8.
func (m *otlp) spanOf(e *entry, i int64) spanDraw {
	root := newRandom(m.seed, i/8*8^0x7aaceed)
	s := spanDraw{trace: [2]uint64{root.next(), root.next()}, span: e.trace[0], startNS: uint64(e.ms) * 1e6,
		durationUS: e.latencyUS, operation: i}
	if i%8 > 0 {
		s.parent = root.next()
	}
	return s
}

// spanDraw is what a span has besides the fields of its entry.
type spanDraw struct {
	trace               [2]uint64
	span, parent        uint64 // parent 0: none
	startNS, durationUS uint64
	operation           int64 // a number that its name is drawn by
}

func (m *otlp) appendSpan(dst []byte, e *entry, r *random, s *spanDraw) []byte {
	dst, at := otlpBegin(dst, 2)
	dst = otlpID(otlpID(dst, 1, s.trace[0], s.trace[1]), 2, s.span)
	if s.parent > 0 {
		dst = otlpID(dst, 4, s.parent)
	}
	var text [256]byte
	name := append(append(append(text[:0], methods[e.method]...), " /api/"...),
		categories[s.operation%int64(len(categories))]...)
	dst = otlpText(dst, 5, name)
	dst = append(dst, 6<<3, 2)
	dst = otlpFixed(otlpFixed(dst, 7, s.startNS), 8, s.startNS+1000*s.durationUS)
	dst = otlpAttribute(dst, 9, "http.request.method", methods[e.method])
	dst = otlpAttribute(dst, 9, "url.path", m.appendPath(text[:0], r))
	dst = otlpInt(dst, 9, "http.response.status_code", statuses[e.status])
	dst = otlpInt(dst, 9, "http.response.body.size", e.bytes)
	dst = otlpAttribute(dst, 9, "client.address", appendAddress(text[:0], e.client))
	dst = otlpInt(dst, 9, "user.id", e.user)
	dst = otlpAttribute(dst, 9, "cloud.region", regions[e.region])
	dst = append(dst, 15<<3|2, 2, 3<<3, [...]byte{info: 1, debug: 1, warn: 1, failure: 2}[e.level])
	return otlpEnd(dst, at)
}

// point appends a metric of one point, as bridges send them; SDKs send all points of a metric together, which costs
// less.
func (m *otlp) point(dst []byte, i int64) []byte {
	series, step := uint64(i%otlpSeries), i/otlpSeries
	dst, at := otlpBegin(dst, 2)
	dst, data := otlpBegin(otlpText(dst, 1, m.metric), 5)
	dst, point := otlpBegin(dst, 1)
	var text [64]byte
	dst = otlpAttribute(dst, 7, "host.name", appendUint(append(text[:0], "frontend-"...), series/100))
	dst = otlpAttribute(dst, 7, "http.route", appendUint(append(text[:0], "/api/v1/orders/"...), series%100))
	dst = otlpAttribute(dst, 7, "http.request.method", methods[series%4])
	dst = otlpFixed(dst, 3, uint64(m.clock.start*1e6+step*otlpStep))
	dst = otlpFixed(dst, 4, math.Float64bits(float64(series)+float64(step%240)/4))
	return otlpEnd(otlpEnd(otlpEnd(dst, point), data), at)
}
