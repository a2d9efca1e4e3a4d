package gen

import (
	"fmt"
	"strconv"
)

// PushedStreams is the number of streams of the set pushed: half of them are of JSON, the others of combined lines.
const PushedStreams = 200

// pushed are the access entries as agents push them: each row is a line of one of the streams, in turn.
type pushed struct {
	access *access
	labels [PushedStreams]string // as an object
}

func newPushed(o Options) *pushed {
	m := &pushed{access: newAccess(o)}
	for i := range m.labels {
		format := "json"
		if i%2 == 1 {
			format = "combined"
		}
		app := services[i/10].name
		m.labels[i] = fmt.Sprintf(`{"app":"%s","env":"prod","format":"%s","host":"%s-%02d"}`, app, format, app, i%10)
	}
	return m
}

// appendBody appends the rows [from, to) as a body of log push: for each stream its lines, by time.
func (m *pushed) appendBody(dst []byte, from, to int64) []byte {
	dst = append(dst, `{"streams":[`...)
	first := true
	for stream := range int64(PushedStreams) {
		i := from + (stream-from%PushedStreams+PushedStreams)%PushedStreams
		if i >= to {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(dst, `{"stream":`...), m.labels[stream]...)
		dst = append(dst, `,"values":[`...)
		for k := i; k < to; k += PushedStreams {
			if k > i {
				dst = append(dst, ',')
			}
			dst = m.appendValue(dst, k, stream%2 == 0)
		}
		dst = append(dst, "]}"...)
	}
	return append(dst, "]}"...)
}

// appendValue appends row i as ["ns","line"].
func (m *pushed) appendValue(dst []byte, i int64, object bool) []byte {
	r := newRandom(m.access.seed, i)
	e := m.access.draw(i, &r)
	var again random
	dst = append(dst, `["`...)
	dst = strconv.AppendInt(dst, m.access.clock.micros(i, &again)*1000, 10)
	dst = append(dst, `","`...)
	if object {
		dst = m.appendObject(dst, &e, &r)
	} else {
		dst = m.appendText(dst, i, &e)
	}
	return append(dst, `"]`...)
}

// appendObject appends the entry as an object within a JSON text.
func (m *pushed) appendObject(dst []byte, e *entry, r *random) []byte {
	dst = append(append(dst, `{\"level\":\"`...), levels[e.level]...)
	dst = append(append(dst, `\",\"method\":\"`...), methods[e.method]...)
	dst = m.access.appendPath(append(dst, `\",\"path\":\"`...), r)
	dst = appendUint(append(dst, `\",\"status\":`...), statuses[e.status])
	dst = appendUint(append(dst, `,\"bytes\":`...), e.bytes)
	dst = appendThousandths(append(dst, `,\"took_ms\":`...), e.latencyUS)
	dst = appendAddress(append(dst, `,\"client\":\"`...), e.client)
	dst = appendUint(append(dst, `\",\"user\":`...), e.user)
	dst = appendHex(appendHex(append(dst, `,\"trace\":\"`...), e.trace[0]), e.trace[1])
	return append(dst, `\"}`...)
}

// appendText appends the entry as a combined line with its time and trace behind, within a JSON text.
func (m *pushed) appendText(dst []byte, i int64, e *entry) []byte {
	at := len(dst)
	dst = m.access.appendCombined(dst, i)
	quotes := 0
	for _, c := range dst[at:] {
		if c == '"' {
			quotes++
		}
	}
	end := len(dst) - 1 // the line feed goes
	dst = append(dst[:end], "      "[:quotes]...)
	for from, to := end-1, len(dst)-1; to > from; from, to = from-1, to-1 {
		if dst[to] = dst[from]; dst[from] == '"' {
			to--
			dst[to] = '\\'
		}
	}
	dst = appendThousandths(append(dst, ' '), e.latencyUS)
	return appendHex(appendHex(append(dst, ' '), e.trace[0]), e.trace[1])
}

// needle is the trace of row i, which no other row holds.
func (m *pushed) needle(i int64) string {
	r := newRandom(m.access.seed, i)
	e := m.access.draw(i, &r)
	return string(appendHex(appendHex(nil, e.trace[0]), e.trace[1]))
}

// Needle is a text that row i alone holds; empty for sets without one. Rows of access with the number and the seed of a
// row of pushed hold the same.
func (s *Set) Needle(i int64) string {
	if s.needle == nil {
		return ""
	}
	return s.needle(i)
}
