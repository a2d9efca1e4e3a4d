package metricsapi

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"varve/engine"
	"varve/engine/sorting"
	"varve/engine/status"
	"varve/server/protowire"
	"varve/server/protowire/histograms"
	"varve/server/web"
	"varve/sqlexec/promql"
)

// Remote read:
//
//	ReadRequest{1: queries*{1: start ms, 2: end ms, 3: matchers*{1: type, 2: name, 3: value}, 4: hints}, 2: accepted response types}
//	ReadResponse{1: results*{1: timeseries*{1: labels*, 2: samples*, 4: histograms*}}}
//	ChunkedReadResponse{1: chunked series*{1: labels*, 2: chunks*{1: min ms, 2: max ms, 3: type, 4: data}}, 2: query index}
//
// The kinds of answers by their numbers: all samples in one snappy block, or chunks of them in frames.
const (
	sampledAnswer = 0
	chunkedAnswer = 1
)

const (
	// frameBytes is about the most that a frame of chunks has.
	frameBytes = 1 << 20
	// maxReadQueries bounds the queries of a request.
	maxReadQueries = 1000
	// maxReadMatchers bounds the matchers of a query.
	maxReadMatchers = 1000
	// grownBytes is about the memory of each byte of a buffer that grows: while it is copied, there are two of them.
	grownBytes = 2
	// readStep is by how much an answer grows before its memory is counted again.
	readStep = 1 << 20
)

// readRequest is a request of remote read.
type readRequest struct {
	queries []promql.Selection
	kinds   []uint64 // of answers that the client takes, the preferred one first
}

// Read answers POST /v1/metricsapi/read.
func (h *Handler) Read(c *web.Ctx) error {
	p, err := c.Query("db")
	if err != nil {
		return err
	}
	body, err := c.Block("snappy", "prometheus remote request")
	if err != nil {
		return err
	}
	r, err := decodeRead(body)
	if err != nil {
		return status.Wrap(err, status.InvalidArguments, "Invalid prometheus remote request, msg: %v", err)
	}
	kind, err := r.kind()
	if err != nil {
		return err
	}
	h.limitTime(c, h.o.Timeout)
	release, err := h.o.Queries.Admit(c.Context)
	if err != nil {
		return err
	}
	defer release()
	ctx, end := h.o.Queries.Allow(c.Context, c.User.Name)
	defer end()
	db, _ := web.Database(p.String("db"), c.HeaderDB())
	a := &readAnswer{h: h, c: c, ctx: ctx, store: h.storage(c, db), left: h.o.Queries.MaxSamples()}
	if kind == chunkedAnswer {
		return a.chunked(r.queries)
	}
	return a.sampled(r.queries)
}

// kind is the kind of the answer: the first one that the client names and the server knows.
func (r *readRequest) kind() (int, error) {
	if len(r.kinds) == 0 {
		return sampledAnswer, nil
	}
	for _, k := range r.kinds {
		if k == sampledAnswer || k == chunkedAnswer {
			return int(k), nil
		}
	}
	return 0, status.New(status.Unsupported,
		"Not supported: server does not support any of the requested response types: %d", r.kinds)
}

func decodeRead(body []byte) (*readRequest, error) {
	r := &readRequest{}
	var parser promql.Parser
	f := protowire.Of(body)
	for f.Next() {
		var err error
		switch {
		case f.Is(1, protowire.Bytes):
			var q promql.Selection
			if q, err = decodeQuery(f.Bytes, &parser); len(r.queries) == maxReadQueries {
				err = fmt.Errorf("there are more than %d queries", maxReadQueries)
			}
			r.queries = append(r.queries, q)
		case f.Number == 2:
			r.kinds, err = f.AppendUints(r.kinds, 16)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, f.Err()
}

func decodeQuery(message []byte, parser *promql.Parser) (promql.Selection, error) {
	var q promql.Selection
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Varint):
			q.Start = max(f.Int(), promql.FirstTime)
		case f.Is(2, protowire.Varint):
			q.End = min(f.Int(), promql.LastTime)
		case f.Is(3, protowire.Bytes):
			var kind uint64
			var name, value string
			in := protowire.Of(f.Bytes)
			for in.Next() {
				switch {
				case in.Is(1, protowire.Varint):
					kind = in.Value
				case in.Is(2, protowire.Bytes):
					name = string(in.Bytes)
				case in.Is(3, protowire.Bytes):
					value = string(in.Bytes)
				}
			}
			if in.Err() != nil {
				return q, in.Err()
			}
			if kind > uint64(promql.MatchNotRegexp) {
				return q, fmt.Errorf("matcher of type %d", kind)
			}
			m, err := parser.Matcher(promql.MatchType(kind), name, value)
			if err != nil {
				return q, fmt.Errorf("matcher of label %q: %w", name, err)
			}
			if len(q.Matchers) == maxReadMatchers {
				return q, fmt.Errorf("there are more than %d matchers", maxReadMatchers)
			}
			q.Matchers = append(q.Matchers, m)
		}
	}
	return q, f.Err()
}

// readAnswer is an answer that is being made.
type readAnswer struct {
	h       *Handler
	c       *web.Ctx
	ctx     context.Context // of the reads, which may end before the request
	store   *promql.Tables
	left    int64 // samples that it may still have
	counted int   // bytes that are reserved from the memory of queries
	buf     []byte
}

// count takes samples from those that an answer may have, and memory for what it has become.
func (a *readAnswer) count(samples, bytes int) error {
	if a.left -= int64(samples); a.left < 0 {
		return status.New(status.InvalidArguments, "exceeded sample limit (%d)", a.h.o.Queries.MaxSamples())
	}
	if a.store.Memory == nil || bytes < a.counted+readStep {
		return nil
	}
	more := int64(bytes - a.counted)
	a.counted = bytes
	return a.store.Memory.Reserve(more)
}

// each visits the series of a selection.
func (a *readAnswer) each(q promql.Selection, visit func(ls promql.Labels, s promql.Samples) error) error {
	if q.End < q.Start {
		return nil
	}
	set, err := a.store.Select(a.ctx, q)
	if err != nil {
		return cmp.Or(engine.ReadBound(a.ctx), err)
	}
	err = a.scan(set, visit)
	set.Close() // what was read last counts then
	return cmp.Or(engine.ReadBound(a.ctx), err)
}

// scan visits the series of a selection that have samples.
func (a *readAnswer) scan(set promql.SeriesSet, visit func(ls promql.Labels, s promql.Samples) error) error {
	return set.Scan(a.ctx, 0, set.Len(), func(i int, s promql.Samples) error {
		if len(s.T) == 0 {
			return nil
		}
		return visit(set.Labels(i), s)
	})
}

// sampled answers with all samples in one block.
func (a *readAnswer) sampled(queries []promql.Selection) error {
	for _, q := range queries {
		result := protowire.Begin(&a.buf, 1)
		err := a.each(q, func(ls promql.Labels, s promql.Samples) error {
			series := protowire.Begin(&a.buf, 1)
			a.buf = appendReadLabels(a.buf, ls)
			for i, t := range s.T {
				if s.H != nil && s.H[i] != nil {
					at := protowire.Begin(&a.buf, 4)
					a.buf = protowire.End(histograms.Append(a.buf, s.H[i], t), at)
					continue
				}
				at := protowire.Begin(&a.buf, 2)
				a.buf = protowire.End(protowire.AppendVarint(protowire.AppendDouble(a.buf, 1, s.V[i]), 2, uint64(t)),
					at)
			}
			a.buf = protowire.End(a.buf, series)
			return a.count(len(s.T), (grownBytes+1)*len(a.buf)) // and the compressed block
		})
		if err != nil {
			return err
		}
		a.buf = protowire.End(a.buf, result)
	}
	if len(a.buf) > math.MaxInt32 {
		return status.New(status.InvalidArguments,
			"the answer has %d bytes, the limit of one block is %d: ask for less, or accept streamed chunks", len(a.buf),
			math.MaxInt32)
	}
	a.c.SnappyBlock("application/x-protobuf", a.buf)
	return nil
}

func appendReadLabels(dst []byte, ls promql.Labels) []byte {
	for _, l := range ls {
		at := protowire.Begin(&dst, 1)
		dst = protowire.End(protowire.AppendBytes(protowire.AppendBytes(dst, 1, l.Name), 2, l.Value), at)
	}
	return dst
}

// chunkedSeries is a series with its chunks, which lie in the answer's buffer one behind the other.
type chunkedSeries struct {
	labels promql.Labels
	from   int
	ends   []int
}

// chunked answers with frames of chunks, each of one series, the series of a query sorted by their labels.
func (a *readAnswer) chunked(queries []promql.Selection) error {
	var out, frame []byte
	for index, q := range queries {
		a.buf = a.buf[:0]
		var list []chunkedSeries
		sets := 0 // bytes of list and of the label sets
		err := a.each(q, func(ls promql.Labels, s promql.Samples) error {
			one := chunkedSeries{labels: ls, from: len(a.buf)}
			for from := 0; from < len(s.T); {
				to := from
				for to < len(s.T) && to-from < chunkSamples && (s.H == nil || s.H[to] == nil) {
					to++
				}
				if to > from {
					a.buf = appendXORChunk(a.buf, s.T[from:to], s.V[from:to])
				} else {
					a.buf = appendHistogramChunk(a.buf, s.H[from], s.T[from])
					to++
				}
				one.ends = append(one.ends, len(a.buf))
				from = to
			}
			list = append(list, one)
			sets += setBytes + labelBytes*len(ls)
			return a.count(len(s.T), grownBytes*(len(out)+2*len(a.buf))+sets)
		})
		if err != nil {
			return err
		}
		byLabels := func(x, y chunkedSeries) int { return x.labels.Compare(y.labels) }
		if err := sorting.Func(list, byLabels, a.c.Context.Err); err != nil {
			return err
		}
		for i := range list {
			for left := &list[i]; len(left.ends) > 0; { // clients read only the first series of a frame
				frame = left.appendTo(frame[:0], a.buf)
				out = appendFrame(out, frame, index)
			}
		}
	}
	a.c.Reply(200, "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse", out)
	return nil
}

// appendTo appends the next chunks of the series to a frame, as many as it has room for.
func (s *chunkedSeries) appendTo(frame, chunks []byte) []byte {
	at := protowire.Begin(&frame, 1)
	frame = appendReadLabels(frame, s.labels)
	k := 1
	for k < len(s.ends) && len(frame)+s.ends[k]-s.from < frameBytes {
		k++
	}
	frame = append(frame, chunks[s.from:s.ends[k-1]]...)
	s.from, s.ends = s.ends[k-1], s.ends[k:]
	return protowire.End(frame, at)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends a frame with the series of a query.
func appendFrame(dst, frame []byte, query int) []byte {
	if query > 0 {
		frame = protowire.AppendVarint(frame, 2, uint64(query))
	}
	dst = binary.AppendUvarint(dst, uint64(len(frame)))
	dst = binary.BigEndian.AppendUint32(dst, crc32.Checksum(frame, castagnoli))
	return append(dst, frame...)
}
