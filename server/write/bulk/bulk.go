// Package bulk implements the bulk interface of a search engine, which many log shippers speak. A body is pairs of
// lines, an action and a document; the document becomes a row of the table that the action names. The package also
// answers the requests that shippers make before they send.
package bulk

import (
	"strconv"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows/entries"
)

// Handler answers bulk requests and the questions of their senders. Safe for concurrent use.
type Handler struct {
	o            entries.Options
	rows, failed prometheus.Counter
}

// timeField is the field that shippers of documents have their time in.
const timeField = "@timestamp"

// New makes a handler.
func New(o entries.Options) *Handler {
	return &Handler{
		o: o,
		rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_bulk_rows_total",
			Help: "Rows written by bulk requests."}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_bulk_failed_total",
			Help: "Documents of bulk requests that could not be stored."}),
	}
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector {
	return []prometheus.Collector{h.rows, h.failed}
}

// Bulk answers POST /v1/elasticsearch/_bulk, and with the index in its path. A document that cannot be stored fails
// alone.
func (h *Handler) Bulk(c *web.Ctx) error {
	introduce(c)
	d := &decoder{}
	if err := h.store(c, d, d.read); err != nil {
		return refuse(c, d, err)
	}
	c.HoldAnswer(c.BodyBytes() + 2*d.answerBytes())
	c.JSON(200, h.answer(c, d))
	return nil
}

// store stores the documents that read finds in the body.
func (h *Handler) store(c *web.Ctx, d *decoder, read func(body []byte) error) error {
	if _, err := c.RequiredContentType(); err != nil {
		return err
	}
	var err error
	if d.fields, err = entries.ParseFields(c.QueryArgs()); err != nil {
		return err
	}
	d.message = string(c.QueryArgs().Peek("msg_field"))
	d.index = inPath(c, "index")
	if !utf8.ValidString(d.index) {
		return status.New(status.InvalidArguments, "the index is not valid UTF-8")
	}
	r, err := entries.Through(c, &h.o)
	if err != nil {
		return err
	}
	if r.Pipeline == pipeline.Identity && r.CustomTimeIndex == "" && !c.QueryArgs().Has("_time_field") {
		d.fields = d.fields.WithTime(timeField)
	}
	if d.fields != nil {
		if r.Tags = d.fields.Tags; d.fields.HasTime() && r.Pipeline == pipeline.Identity {
			r.CustomTimeIndex = entries.TimeIndex
		}
	}
	written, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := c.WholeBody()
		if err != nil {
			return false, err
		}
		d.set, d.now = h.o.Entries(c, body), entries.Arrival(h.o.Pipelines, body)
		d.set.TellRest = true
		if err := read(body); err != nil {
			return false, err
		}
		d.r, d.before = jsontext.Reader{}, nil // the body may go
		if d.fields != nil && d.fields.Debug {
			d.set.Show(c.Log)
			return false, nil
		}
		rows, err := d.set.Run(c.Context, h.o.Pipelines, r, set, h.o.Part(c, set, h.rows))
		return rows > 0, err
	})
	for _, w := range written {
		h.rows.Add(float64(w.Rows))
	}
	return err
}

// answer is the answer with the outcome of each document.
func (h *Handler) answer(c *web.Ctx, d *decoder) []byte {
	failed := 0
	for i := range d.items {
		if d.failure(&d.items[i]) != nil {
			failed++
		}
	}
	h.failed.Add(float64(failed))
	out := strconv.AppendInt(append(make([]byte, 0, d.answerBytes()), `{"took":`...), c.ElapsedMS(), 10)
	out = strconv.AppendBool(append(out, `,"errors":`...), failed > 0)
	out = append(out, `,"items":[`...)
	for i := range d.items {
		if i > 0 {
			out = append(out, ',')
		}
		out = d.appendItem(out, &d.items[i])
	}
	return append(out, "]}"...)
}

// appendItem appends the outcome of a document. Official clients want the index, the id and the result.
func (d *decoder) appendItem(dst []byte, it *item) []byte {
	dst = append(append(append(dst, `{"`...), it.action.String()...), `":{"_index":`...)
	name := d.index
	if it.table != nil {
		name = it.table.Name
	}
	dst = append(jsontext.AppendString(dst, name), `,"_id":`...)
	dst = jsontext.AppendString(dst, d.id(it))
	err := d.failure(it)
	if err == nil {
		return append(dst, `,"_version":1,"result":"created","status":201}}`...)
	}
	_, text := web.Message(err)
	code, kind := 400, "document_parsing_exception"
	if err == d.set.Rest { // the document was not tried: the sender may send it again
		code, kind = web.HTTPStatus(status.Of(err)), "es_rejected_execution_exception"
	}
	dst = append(strconv.AppendInt(append(dst, `,"status":`...), int64(code), 10), `,"error":`...)
	return append(appendError(dst, kind, text), "}}"...)
}

func appendError(dst []byte, kind, reason string) []byte {
	dst = append(append(append(dst, `{"type":"`...), kind...), `","reason":`...)
	return append(jsontext.AppendString(dst, reason), '}')
}

// refuse answers a request of which nothing was stored, in the form in which senders read it, with the status of the
// error.
func refuse(c *web.Ctx, d *decoder, err error) error {
	kind, text := complaint(c, err)
	code := c.Response.StatusCode()
	if code == 408 {
		return nil
	}
	out := strconv.AppendInt([]byte(`{"took":`), c.ElapsedMS(), 10)
	out = append(append(append(out, `,"errors":true,"items":[{"`...), d.action.String()...), `":{"status":`...)
	out = append(strconv.AppendInt(out, int64(code), 10), `,"error":`...)
	out = append(appendError(out, kind, text), `}}],"error":`...)
	out = append(appendError(out, kind, text), `,"status":`...)
	c.JSON(code, append(strconv.AppendInt(out, int64(code), 10), '}'))
	return nil
}

// complaint answers with the status of an error, and gives its kind and its text for the body.
func complaint(c *web.Ctx, err error) (kind, text string) {
	text = web.ReplyErrorText(c, err)
	switch code := c.Response.StatusCode(); {
	case code == 413 || code == 429 || code == 503:
		return "es_rejected_execution_exception", text
	case code >= 500:
		return "internal_server_error", text
	}
	return "illegal_argument_exception", text
}

// introduce sets the header by which official clients recognise the server.
func introduce(c *web.Ctx) { c.Response.Header.Set("X-Elastic-Product", "Elasticsearch") }

// version is the version of the interface that this package serves.
const version = "8.16.0"

// Info answers GET and HEAD /v1/elasticsearch/, and / of libraries.
func (h *Handler) Info(c *web.Ctx) error {
	introduce(c)
	c.JSON(200, []byte(`{"name":"varve","cluster_name":"varve","cluster_uuid":"varve","version":{"number":"`+version+
		`","build_flavor":"default","build_type":"tar","minimum_wire_compatibility_version":"7.17.0","minimum_index_compatibility_version":"7.0.0"},"tagline":"You Know, for Search"}`))
	return nil
}

// License answers GET /v1/elasticsearch/_license.
func (h *Handler) License(c *web.Ctx) error {
	introduce(c)
	c.JSON(200,
		[]byte(
			`{"license":{"status":"active","uid":"varve","type":"basic","issue_date_in_millis":0,"max_nodes":null,"issued_to":"varve","issuer":"varve"}}`))
	return nil
}

// Fine answers requests that have no meaning here, such as a sender's questions for policies, templates and nodes.
func (h *Handler) Fine(c *web.Ctx) error {
	introduce(c)
	c.JSON(200, []byte("{}"))
	return nil
}
