package gen

import (
	"encoding/hex"
	"slices"
)

// The set traces is what is searched by trace: traceSpans spans to a trace, each of one of 20 services, below spans of
// others.

// traceSpans is the number of spans of a trace.
const traceSpans = 50

// traceMoment is the time between two spans of a trace, us.
const traceMoment = 2000

// traces writes the entries of the access set as spans of whole traces, those of a service in a resource of its own.
type traces struct{ *otlp }

// append appends a request of the spans [from, to).
func (m *traces) append(dst []byte, from, to int64) []byte {
	of := make([]uint8, to-from)
	for i := range of {
		of[i] = m.serviceOf(from + int64(i))
	}
	for service := range services {
		if !slices.Contains(of, uint8(service)) {
			continue
		}
		begin := len(dst)
		for i, s := range of {
			if int(s) == service {
				dst = m.span(dst, from+int64(i))
			}
		}
		dst = m.request(dst, begin, services[service].name)
	}
	return dst
}

// serviceOf is the service of a span: the root's is the first one.
func (m *traces) serviceOf(i int64) uint8 {
	if i%traceSpans == 0 {
		return 0
	}
	r := newRandom(m.seed^0x5e7, i)
	return uint8(m.service.pick(&r))
}

// trace is the id of a trace by its number.
func (m *traces) trace(n int64) [2]uint64 {
	r := newRandom(m.seed^0x7aaceed, n)
	return [2]uint64{r.next(), r.next()}
}

func (m *traces) span(dst []byte, i int64) []byte {
	r := newRandom(m.seed, i)
	e := m.draw(i, &r)
	number, in := i/traceSpans, uint64(i%traceSpans)
	root := newRandom(m.seed, number*traceSpans)
	begin := uint64(m.clock.micros(number*traceSpans, &root))
	id := m.trace(number)
	s := spanDraw{trace: id, span: id[1] ^ in, startNS: (begin + in*traceMoment) * 1000, durationUS: e.latencyUS,
		operation: i}
	if in > 0 {
		s.parent = id[1] ^ r.below(in)
	}
	return m.appendSpan(dst, &e, &r, &s)
}

// TraceID is the id of the trace that row i belongs to, as it is asked for; empty for sets without traces.
func (s *Set) TraceID(i int64) string {
	if s.trace == nil {
		return ""
	}
	id := s.trace(i / traceSpans)
	return hex.EncodeToString(bigEndian(nil, id[:]...))
}
