package remotewrite

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/pipeline"
	"varve/server/protowire"
	"varve/server/web"
	"varve/server/write/rows/samples"
	"varve/sqlexec/promql"
)

// A request of version 1.0 may name a pipeline. Then its samples run through it instead of becoming metrics: a sample
// is an entry, with the labels, the time and the value as fields, for the table of the metric.

// pipelineRequest is the request to the pipeline that the headers name; nil: they name none.
func (h *Handler) pipelineRequest(c *web.Ctx, db string) (*pipeline.Request, error) {
	r := &pipeline.Request{DB: db, ContentType: "application/x-ndjson", Hints: c.Hints(),
		NoAutoCreate: h.o.NoAutoCreate, NoVariables: !h.o.Variables}
	if named, err := r.FromHeaders(c.UTF8Header); err != nil || !named {
		return nil, err
	}
	return r, nil
}

// writeThrough runs the samples of a request through a pipeline.
func (h *Handler) writeThrough(c *web.Ctx, encoding string, r *pipeline.Request) error {
	w := &request{h: h, db: r.DB, version: 1}
	_, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := c.Block(encoding, "prometheus remote request")
		if err != nil {
			return false, err
		}
		beside := int64(len(body))
		tables, order, err := w.entries(body, func(bytes int64) error { return c.Hold(beside + bytes) })
		if err != nil {
			return false, err
		}
		rows := 0
		var last int64
		for _, name := range order {
			beside += int64(cap(tables[name]))
		}
		for _, name := range order {
			one := *r
			one.Table = name
			one.Hold = func(bytes int64) error {
				last = bytes
				return c.Hold(beside + bytes)
			}
			outcome, err := h.o.Pipelines.Run(c.Context, &one, io.Reader(bytes.NewReader(tables[name])), set)
			if err != nil {
				return false, err
			}
			rows += outcome.Rows
			beside, last = beside+last, 0
		}
		return rows > 0, nil
	})
	if err != nil {
		return h.again(c, err)
	}
	if w.fault != nil {
		return w.partial()
	}
	c.Empty(204)
	return nil
}

// entries makes entries of a message, by table, and lists the tables in the order in which they come. It calls hold
// before it makes them: each entry has all labels of its series, so they are larger than the message.
func (w *request) entries(body []byte, hold func(bytes int64) error) (tables map[string][]byte, order []string,
	err error) {
	held, most := int64(0), cmp.Or(w.h.o.RowBytes, web.RowBytes)
	tables = map[string][]byte{}
	columns := w.h.tables.Columns()
	f := protowire.Of(body)
	for f.Next() {
		if !f.Is(1, protowire.Bytes) {
			continue
		}
		block, err := w.gather(f.Bytes)
		if err != nil {
			return nil, nil, malformed(err)
		}
		labels, err := w.labels1(block)
		if err != nil {
			return nil, nil, malformed(err)
		}
		table, head, err := w.entryHead(labels)
		if err != nil {
			w.refuse(err)
			continue
		}
		if _, ok := tables[table]; !ok {
			order = append(order, table)
		}
		more := entryBytes(head, f.Bytes, columns)
		if held += more; held > most {
			return nil, nil, status.New(status.InvalidArguments,
				"the entries of the request take %d bytes, the limit is %d: each sample has the labels of its "+
					"series, send fewer at a time", held, most)
		}
		if err := hold(held); err != nil {
			return nil, nil, err
		}
		if tables[table], err = appendEntries(slices.Grow(tables[table], int(more)), head, f.Bytes, columns); err !=
			nil {
			w.refuse(status.Wrap(err, status.InvalidArguments, "%v: %s", err, samples.Show(labels)))
		}
	}
	if f.Err() != nil {
		return nil, nil, malformed(f.Err())
	}
	return tables, order, nil
}

// entryHead is the beginning of the entries of a series: its labels.
func (w *request) entryHead(labels []samples.Label) (table string, head []byte, err error) {
	sorted, err := w.h.tables.Sorted(labels)
	if err != nil {
		return "", nil, err
	}
	columns := w.h.tables.Columns()
	head = append(head, '{')
	for _, l := range sorted {
		switch l.Name {
		case "__name__":
			table = l.Value
			continue
		case columns.Time, columns.Value:
			return "", nil, status.New(status.InvalidArguments, "label %s of %s has the name of a field of its own",
				l.Name, samples.Show(labels))
		}
		if l.Value != "" {
			head = append(jsontext.AppendString(head, l.Name), ':')
			head = append(jsontext.AppendString(head, l.Value), ',')
		}
	}
	if table == "" {
		return "", nil, status.New(status.InvalidArguments, "a series has no label __name__: %s", samples.Show(labels))
	}
	return table, head, nil
}

// entryBytes is the size of the entries of a series, or more.
func entryBytes(head, message []byte, columns *engine.SampleColumns) (bytes int64) {
	const numbers = 64 // of a time and a value, with what is between members
	one := int64(len(head) + len(columns.Time) + len(columns.Value) + numbers)
	f := protowire.Of(message)
	for f.Next() {
		if f.Is(2, protowire.Bytes) {
			bytes += one
		}
	}
	return bytes
}

// appendEntries appends an entry for each float of a series. It returns the error of the first sample that cannot be an
// entry: a histogram, or a number that JSON does not have.
func appendEntries(dst, head, message []byte, columns *engine.SampleColumns) (out []byte, fault error) {
	f := protowire.Of(message)
	for f.Next() {
		var err error
		switch {
		case f.Is(2, protowire.Bytes):
			dst, err = appendEntry(dst, head, f.Bytes, columns)
		case f.Number == 2 || f.Number == 4 && f.Kind != protowire.Bytes:
			err = malformed(f.WrongKind())
		case f.Number == 4:
			err = status.New(status.InvalidArguments, "pipelines take no histograms")
		}
		if fault == nil {
			fault = err
		}
	}
	return dst, fault
}

func appendEntry(dst, head, sample []byte, columns *engine.SampleColumns) ([]byte, error) {
	at, _, value, err := readSample(sample)
	switch {
	case err != nil:
		return dst, err
	case math.Float64bits(value) == math.Float64bits(promql.Stale):
		return dst, status.New(status.InvalidArguments, "pipelines take no staleness markers")
	case math.IsNaN(value) || math.IsInf(value, 0):
		return dst, status.New(status.InvalidArguments, "pipelines take no %v, which JSON does not have", value)
	}
	dst = append(jsontext.AppendString(append(dst, head...), columns.Time), ':')
	dst = append(strconv.AppendInt(dst, at, 10), ',')
	dst = append(jsontext.AppendString(dst, columns.Value), ':')
	return append(jsontext.AppendFloat(dst, value), "}\n"...), nil
}
