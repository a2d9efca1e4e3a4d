package remotewrite

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net"
	"strconv"
	"strings"

	"varve/engine"
	"varve/engine/status"
	"varve/server/web"
	"varve/server/write/rows/samples"
)

// Write answers POST /v1/metricsapi/write: remote write 1.0 and 2.0. It stores all good series of a request. If there
// are others, the answer is 400, so that the sender does not send the request again, and names the first fault.
func (h *Handler) Write(c *web.Ctx) error {
	p, err := c.Query("db", "physical_table", "get_vm_proto_version")
	if err != nil {
		return err
	}
	if p.Has("get_vm_proto_version") {
		return h.WriteVersion(c)
	}
	version, encoding, err := protocol(c)
	if err != nil {
		if version == 2 {
			new(request).count(c)
		}
		return err
	}
	db, _ := web.Database(p.String("db"), c.HeaderDB())
	if version == 1 && h.o.Pipelines != nil {
		if through, err := h.pipelineRequest(c, db); through != nil || err != nil {
			if err != nil {
				return err
			}
			return h.writeThrough(c, encoding, through)
		}
	}
	hints, err := h.tables.Hints(c.Hints())
	if err != nil {
		return err
	}
	w := h.requests.Get()
	defer h.recycle(w)
	w.h, w.db, w.physical, w.hints, w.version, w.hold = h, db, p.String("physical_table"), hints, version, c.Hold
	_, err = h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := c.Block(encoding, "prometheus remote request")
		if err != nil {
			return false, err
		}
		any, err := w.read(c.Context, body, set)
		if err == nil {
			err = c.Hold(int64(len(body)) + set.Held())
		}
		return any, err
	})
	if err != nil {
		err = h.again(c, err)
		w.floats, w.histograms = 0, 0
	} else {
		w.keepExemplars(c)
	}
	if version == 2 {
		w.count(c)
	}
	if err != nil {
		return err
	}
	if err := w.describe(c.Context); err != nil {
		c.Log.Warn("metadata of metrics is not kept", "db", db, "error", err)
	}
	h.written.WithLabelValues("float").Add(float64(w.floats))
	h.written.WithLabelValues("histogram").Add(float64(w.histograms))
	if w.fault != nil {
		h.refused.Add(float64(w.faults))
		return w.partial()
	}
	c.Empty(204)
	return nil
}

// again turns the error of a request that was too slow into one after which senders send it again: after 408 they drop
// it.
func (h *Handler) again(c *web.Ctx, err error) error {
	var slow net.Error
	switch {
	case context.Cause(c.Context) == context.DeadlineExceeded:
		return web.NewReject(504, "The request took longer than its time limit: send it again")
	case errors.As(err, &slow) && slow.Timeout():
		return &web.Reject{Status: 503, Text: "The body did not arrive in time: send it again", Close: true}
	}
	return err
}

// WriteVersion answers agents that ask before they send zstd: it is taken.
func (h *Handler) WriteVersion(c *web.Ctx) error {
	if c.QueryArgs().Peek("get_vm_proto_version") == nil {
		c.Empty(405)
		return nil
	}
	c.Text(200, "1")
	return nil
}

// protocol is the version of the message and its encoding, by the headers. If the encoding is refused, the version is
// still returned.
func protocol(c *web.Ctx) (version int, encoding string, err error) {
	given := c.HeaderText("Content-Type")
	version = 1
	if given != "" {
		kind, params, err := mime.ParseMediaType(given)
		proto, named := params["proto"]
		switch {
		case err != nil || kind != "application/x-protobuf":
			return 0, "", web.NewReject(415, "unsupported prometheus remote write content type: "+given)
		case named && strings.EqualFold(proto, "io.prometheus.write.v2.Request"):
			version = 2
		case named && !strings.EqualFold(proto, "prometheus.WriteRequest"):
			return 0, "", web.NewReject(415, "unsupported prometheus remote write content type: "+given)
		}
	}
	encoding = strings.ToLower(c.HeaderText("Content-Encoding"))
	if encoding != "" && encoding != "snappy" && (encoding != "zstd" || version == 2) {
		return version, "", web.NewReject(415, "unsupported prometheus remote write content encoding: "+encoding)
	}
	return version, encoding, nil
}

// request is a remote write request that is being read.
type request struct {
	h            *Handler
	db, physical string
	hints        samples.Hints
	version      int
	hold         func(bytes int64) error // waits until there is room for the body and what is made of it

	find          *samples.Request
	series        []pending
	metadata      []samples.Metadata
	metadataBytes int
	exemplarList  []samples.Exemplar
	exemplarsKept int
	given         int // samples, histograms and exemplars in the message
	floats        int
	histograms    int
	fault         error // the first
	faults        int

	labels  []samples.Label // scratch
	name    []byte          // scratch
	uints   []uint64        // scratch
	symbols symbols
}

// recycle keeps the buffers of a request for the next, and nothing else of it.
func (h *Handler) recycle(w *request) {
	clear(w.series)
	clear(w.labels)
	clear(w.symbols.texts)
	*w = request{series: w.series[:0], labels: w.labels[:0], name: w.name[:0], uints: w.uints[:0],
		symbols: symbols{texts: w.symbols.texts[:0], hashes: w.symbols.hashes[:0]}}
	h.requests.Put(w, int64(cap(w.series))*40+int64(cap(w.symbols.texts))*40+
		int64(cap(w.name)+8*cap(w.uints)+48*cap(w.labels)))
}

// pending is a series of the request whose samples are not read yet.
type pending struct {
	handle  samples.Handle
	message []byte // its message, without the labels if they come first
}

// read puts the samples of a message into the set. It returns errors of the whole message only, and notes the fault of
// a series.
func (w *request) read(ctx context.Context, body []byte, set *engine.WriteSet) (any bool, err error) {
	if err := w.search(body); status.Of(err) == status.RegionBusy || status.Of(err) == status.RateLimited {
		return false, err
	} else if err != nil {
		return false, status.Wrap(err, status.InvalidArguments, "Failed to decode prometheus remote request: %v", err)
	}
	if err := w.hold(int64(len(body)) + int64(w.given)*givenBytes + w.find.Held()); err != nil {
		return false, err
	}
	if err := w.find.Resolve(ctx); err != nil {
		return false, err
	}
	for i := range w.series {
		p := &w.series[i]
		series, err := w.find.Series(p.handle)
		if err == nil {
			err = w.samples(set.Samples(series, w.h.tables.Columns()), p.message)
		} else if !web.ClientFault(err) {
			return false, err
		}
		if err != nil {
			w.refuse(err)
		}
	}
	return w.floats+w.histograms > 0, nil
}

// search finds the series of a message.
func (w *request) search(body []byte) error {
	if w.version == 2 {
		if err := w.readSymbols(body); err != nil {
			return err
		}
	}
	w.find = w.h.tables.Begin(w.db, w.physical, w.hints)
	defer w.find.End()
	if w.version == 2 {
		return w.search2(body)
	}
	return w.search1(body)
}

// Bounds of a request: until its samples are read, a series takes many times its size in the message.
const (
	maxRequestSeries = 1_000_000
	maxGiven         = 2_000_000 // samples, histograms and exemplars
	maxMetadata      = 16 << 20  // bytes: of all metrics together no more are kept
	maxNewSeries     = 250_000   // series that were not known
	maxNewLabels     = 1_000_000 // labels of new series
	maxNewBytes      = 32 << 20  // of names and values of new series: in version 2.0 many may refer to one text
	maxRefused       = 100_000   // a request with more refused series is refused as a whole
)

// givenBytes is the memory of a sample or a histogram without buckets until it is stored, about, with that of its
// record.
const givenBytes = 64

// bounded returns the error of a request that is beyond a bound.
func (w *request) bounded() error {
	switch {
	case len(w.series) > maxRequestSeries:
		return fmt.Errorf("there are more than %d series", maxRequestSeries)
	case w.given > maxGiven:
		return fmt.Errorf("there are more than %d samples, histograms and exemplars: send fewer at a time", maxGiven)
	case w.metadataBytes > maxMetadata:
		return fmt.Errorf("metadata takes more than %d bytes: send less at a time", maxMetadata)
	case w.find.NewSeries() > maxNewSeries:
		return fmt.Errorf("there are more than %d new series: send fewer at a time",
			maxNewSeries)
	case w.find.NewLabels() > maxNewLabels:
		return fmt.Errorf("there are more than %d labels of new series: send fewer at a time", maxNewLabels)
	case w.find.NewBytes() > maxNewBytes:
		return fmt.Errorf("the labels of new series take more than %d bytes: send fewer at a time", maxNewBytes)
	case w.faults > maxRefused:
		return fmt.Errorf("more than %d series cannot be taken, first: %w", maxRefused, w.fault)
	}
	return nil
}

// described notes the metadata of a metric.
func (w *request) described(one samples.Metadata) {
	w.metadata = append(w.metadata, one)
	w.metadataBytes += one.Bytes()
}

// refuse notes the fault of a series.
func (w *request) refuse(err error) {
	if w.faults++; w.fault == nil {
		w.fault = err
	}
}

// partial is the answer to a request that was not stored wholly.
func (w *request) partial() error {
	_, text := web.Message(w.fault)
	if w.faults > 1 {
		text += " (and " + strconv.Itoa(w.faults-1) + " other series were refused)"
	}
	return status.Wrap(w.fault, status.InvalidArguments, "%s", text)
}

// count sets the headers with the numbers of what was written.
func (w *request) count(c *web.Ctx) {
	h := &c.Response.Header
	h.Set("X-Prometheus-Remote-Write-Samples-Written", strconv.Itoa(w.floats))
	h.Set("X-Prometheus-Remote-Write-Histograms-Written", strconv.Itoa(w.histograms))
	h.Set("X-Prometheus-Remote-Write-Exemplars-Written", strconv.Itoa(w.exemplarsKept))
}

// describe keeps the metadata that the request has.
func (w *request) describe(ctx context.Context) error {
	return w.h.tables.Describe(ctx, w.db, w.metadata)
}

// metricTypes are the types of metrics by their number in either version.
var metricTypes = [...]string{"unknown", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info",
	"stateset"}

func metricType(n uint64) string {
	if n >= uint64(len(metricTypes)) {
		n = 0
	}
	return metricTypes[n]
}

// The range of times that samples may have: the years 0 to 9999, ms.
const (
	minTime = -62167219200000
	maxTime = 253402300799999
)

func checkTime(ms int64) error {
	if ms < minTime || ms > maxTime {
		return status.New(status.InvalidArguments,
			"the timestamp %d of a sample is not between %d and %d, in milliseconds", ms, int64(minTime),
			int64(maxTime))
	}
	return nil
}
