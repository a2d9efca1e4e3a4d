// Package ingest serves POST /v1/ingest: it passes parameters and body to a pipeline, and the rows to the store.
package ingest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows"
)

// Options of a Handler.
type Options struct {
	rows.Deps
	Store Store
	// Documents keeps pipeline documents; Definition prints the table that one creates, as SQL.
	Documents  Documents
	Definition func(*schema.Table) string
}

// Handler answers ingest requests. Safe for concurrent use.
type Handler struct {
	o Options

	rows, skipped, dropped prometheus.Counter
}

// New makes a handler.
func New(o Options) *Handler {
	return &Handler{
		o: o,
		rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_ingest_rows_total",
			Help: "Rows written by ingest requests."}),
		skipped: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_ingest_skipped_rows_total",
			Help: "Entries left out because of skip_error."}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_ingest_dropped_lines_total",
			Help: "Lines of bodies left out because they are not UTF-8, or no JSON where errors are ignored."}),
	}
}

// Collectors are the figures of the handler and of its pipelines.
func (h *Handler) Collectors() []prometheus.Collector {
	list := []prometheus.Collector{h.rows, h.skipped, h.dropped}
	if h.o.Documents != nil {
		list = append(list, h.o.Documents.Collectors()...)
	}
	return list
}

// older begins the addresses that older senders of logs use for ingest and pipelines.
const older = "/v1/events"

// Protocol is ingest, and the documents of its pipelines.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "ingest", Collectors: h.Collectors(), Features: []string{"dry_run_trace"},
		Routes: append([]web.Route{
			web.On(web.Post, "/v1/ingest", web.AccessWrite, h.Ingest),
			web.On(web.Post, older+"/logs", web.AccessWrite, h.Ingest),
			web.On(web.Get, "/v1/ingest/target", web.AccessWrite, h.Target),
		}, web.Below([]web.Route{
			web.On(web.Post, "/dryrun", web.AccessRead, h.DryRun),
			web.On(web.Post, "/_dryrun", web.AccessRead, h.DryRun),
			web.On(web.Post, "/{name}", web.AccessWrite, h.PutPipeline),
			web.On(web.Get, "/{name}", web.AccessRead, h.GetPipeline),
			web.On(web.Delete, "/{name}", web.AccessWrite, h.DeletePipeline),
			web.On(web.Get, "/{name}/ddl", web.AccessRead, h.PipelineDDL),
		}, "/v1/pipelines", older+"/pipelines")...),
	}
}

// Ingest answers POST /v1/ingest.
func (h *Handler) Ingest(c *web.Ctx) error {
	req, err := h.request(c)
	if err != nil {
		return err
	}
	fields, err := shape(c, req)
	if err != nil {
		return err
	}
	var outcome pipeline.Outcome
	var warnings []string
	written, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		from, dropped := c.Body(), 0
		if fields != nil {
			var err error
			if from, dropped, err = h.shaped(c, req, fields); err != nil {
				return false, err
			}
		}
		var err error
		outcome, err = h.o.Pipelines.Run(c.Context, req, from, set)
		outcome.Dropped += dropped
		warnings = oneLine(c, req)
		return outcome.Rows > 0, withHint(err, warnings)
	})
	if err != nil {
		return pipeline.ExplainClash(err)
	}
	counts := make([]int, len(written))
	for i, w := range written {
		counts[i] = w.Rows
		h.rows.Add(float64(w.Rows))
	}
	h.skipped.Add(float64(outcome.Skipped))
	h.dropped.Add(float64(outcome.Dropped))
	if n := outcome.Skipped + outcome.Dropped; n > 0 {
		c.Response.Header.Set("x-service-skipped-rows", strconv.Itoa(n))
	}
	outcome.Warnings = append(outcome.Warnings, warnings...)
	if fields != nil && fields.Debug {
		outcome.Warnings = append(outcome.Warnings,
			"debug: the entries are in the log of the server, nothing is stored")
	}
	c.Written(counts, outcomeMembers(&outcome))
	return nil
}

// outcomeMembers are the members of the answer with the entries that were left out, and the warnings.
func outcomeMembers(o *pipeline.Outcome) (members []byte) {
	if len(o.Failures) > 0 {
		members = append(members, `,"skipped":[`...)
		for i, f := range o.Failures {
			if i > 0 {
				members = append(members, ',')
			}
			_, text := web.Message(f.Err)
			members = strconv.AppendInt(append(members, `{"entry":`...), int64(f.Entry), 10)
			members = append(jsontext.AppendString(append(members, `,"error":`...), text), '}')
		}
		members = append(members, ']')
	}
	return web.AppendWarnings(members, o.Warnings)
}

// longLine is the size, in bytes, above which a text body of one line has probably lost line ends on the way.
const longLine = 1 << 10

// oneLine warns of a text body that has probably lost its line ends: curl's -d @file removes them.
func oneLine(c *web.Ctx, r *pipeline.Request) []string {
	if c.BodyBytes() <= longLine || !c.OneLine() || !strings.HasPrefix(strings.ToLower(r.ContentType), "text/plain") {
		return nil
	}
	return []string{fmt.Sprintf(
		"the body of %d bytes is one line: if it is a file of many, send it with curl's --data-binary @file, "+
			"because -d @file takes the line ends away", c.BodyBytes())}
}

// withHint appends the first warning to an error that the client can mend.
func withHint(err error, warnings []string) error {
	var e *status.Error
	if len(warnings) == 0 || !errors.As(err, &e) || !web.ClientFault(err) {
		return err
	}
	return status.Wrap(err, e.Code, "%s. Note: %s", e.Msg, warnings[0])
}

// request reads parameters and headers.
func (h *Handler) request(c *web.Ctx) (*pipeline.Request, error) {
	p, err := c.Query("db", "table", "pipeline_name", "version", "skip_error", "ignore_errors", "custom_time_index",
		"source", "msg_field", "widen_numbers")
	if err != nil {
		return nil, err
	}
	contentType, err := c.RequiredContentType()
	if err != nil {
		return nil, err
	}
	req := &pipeline.Request{
		Table: p.String("table"), Pipeline: p.String("pipeline_name"), Version: p.String("version"),
		CustomTimeIndex: p.String("custom_time_index"), ContentType: contentType, Hints: c.Hints(),
		NoAutoCreate: h.o.NoAutoCreate,
	}
	req.Hold = c.Hold
	req.DB, _ = web.Database(c.HeaderDB(), p.String("db"))
	for _, name := range [...]string{"x-service-pipeline-name", "x-service-log-pipeline-name"} {
		header, err := c.UTF8Header(name)
		if err != nil {
			return nil, err
		}
		if header != "" {
			req.Pipeline = header
			break
		}
	}
	if req.SkipError, err = p.Bool("skip_error", false); err != nil {
		return nil, err
	}
	if req.IgnoreErrors, err = p.Bool("ignore_errors", false); err != nil {
		return nil, err
	}
	req.SetNumbers(p.String("widen_numbers"))
	req.SetParams(c.HeaderText("x-service-pipeline-params"))
	return req, nil
}
