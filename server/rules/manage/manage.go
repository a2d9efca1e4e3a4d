// Package manage serves the documents of rules that people make in the dashboard, trials of rules, silences of
// Alertmanagers, and the state of files, rules and notifications. Lists of rules and alerts in the form of Prometheus
// are in package metricsapi.
package manage

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/status"
	"varve/server/rules"
	"varve/server/rules/file"
	"varve/server/web"
	"varve/sqlexec/promql"
)

// Handler answers /v1/rules. Safe for concurrent use.
type Handler struct{ rules *rules.Manager }

// New makes a handler.
func New(m *rules.Manager) *Handler { return &Handler{m} }

// format is the format of the answers.
const format = "service_manage"

// Protocol keeps documents of rules.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "rules", Features: []string{"rules"}, Collectors: []prometheus.Collector{h.rules},
		Routes: []web.Route{
			web.On(web.Get, "/v1/rules", web.AccessRead, h.List),
			web.On(web.Get, "/v1/rules/{name}", web.AccessRead, h.Get),
			web.On([]string{"PUT"}, "/v1/rules/{name}", web.AccessAdmin, h.Save),
			web.On(web.Delete, "/v1/rules/{name}", web.AccessAdmin, h.Delete),
			web.On(web.Post, "/v1/rules/try", web.AccessRead, h.Try),
			web.On(web.Post, "/-/reload", web.AccessAdmin, h.Reload),
			web.On(web.Get, "/v1/silences", web.AccessRead, h.Silences),
			web.On(web.Post, "/v1/silences", web.AccessAdmin, h.Silence),
			web.On(web.Delete, "/v1/silences/{name}", web.AccessAdmin, h.Expire),
		},
	}
}

// document is a document in an answer.
type document struct {
	Name       string `json:"name"`
	Definition string `json:"definition,omitempty"`
}

// source is a file or a document in an answer.
type source struct {
	File     string `json:"file"`
	Document string `json:"document,omitempty"`
	Groups   int    `json:"groups"`
	Rules    int    `json:"rules"`
	Error    string `json:"error,omitempty"`
}

// target is an Alertmanager or a webhook in an answer.
type target struct {
	Kind      string `json:"kind"`
	URL       string `json:"url"`
	Sent      int64  `json:"sent"`
	Errors    int64  `json:"errors"`
	Dropped   int64  `json:"dropped"`
	Waiting   int64  `json:"waiting"`
	LastError string `json:"last_error,omitempty"`
}

// state is the state of all rules in an answer.
type state struct {
	Groups    int    `json:"groups"`
	Alerting  int    `json:"alerting"`
	Recording int    `json:"recording"`
	Failing   int    `json:"failing"`
	Pending   int    `json:"pending"`
	Firing    int    `json:"firing"`
	Database  string `json:"database"` // that rules read and write
	LoadedAt  string `json:"loaded_at,omitempty"`
	Error     string `json:"error,omitempty"`
}

// answer is an answer.
type answer struct {
	Rules   []document `json:"rules"`
	Files   []source   `json:"files,omitempty"`
	Targets []target   `json:"targets,omitempty"`
	Status  *state     `json:"status,omitempty"`
	Took    int64      `json:"execution_time_ms"`
}

// reply answers with JSON.
func reply(c *web.Ctx, code int, v any) error {
	c.Executed(format)
	return c.Make(code, "application/json", func() ([]byte, error) { return json.Marshal(v) })
}

// List answers GET /v1/rules: the documents, the files, whom alerts are sent to, and the state of all.
func (h *Handler) List(c *web.Ctx) error {
	var all []rules.Document
	err := c.Turn(func() (held int64, err error) {
		all, err = h.rules.Documents(c.Context)
		for _, d := range all {
			held += int64(len(d.Name) + len(d.Definition))
		}
		return held, err
	})
	if err != nil {
		return err
	}
	a := answer{Rules: []document{}}
	for _, d := range all {
		a.Rules = append(a.Rules, document(d))
	}
	sources, at, failure := h.rules.Sources()
	for _, s := range sources {
		a.Files = append(a.Files, source{s.Name, s.Document, s.Groups, s.Rules, s.Error})
	}
	for _, t := range h.rules.Targets() {
		a.Targets = append(a.Targets, target{t.Kind, t.Address, t.Sent, t.Errors, t.Dropped, t.Waiting, t.LastError})
	}
	n := h.rules.Counts()
	a.Status = &state{Groups: n.Groups, Alerting: n.Alerting, Recording: n.Recording, Failing: n.Failing,
		Pending: n.Pending, Firing: n.Firing, Database: h.rules.Database(), Error: failure}
	if !at.IsZero() {
		a.Status.LoadedAt = at.UTC().Format(time.RFC3339Nano)
	}
	a.Took = c.ElapsedMS()
	return reply(c, 200, a)
}

// Get answers GET /v1/rules/{name}.
func (h *Handler) Get(c *web.Ctx) error {
	name, err := pathName(c)
	if err != nil {
		return err
	}
	d, err := h.rules.Document(c.Context, name)
	if err != nil {
		return notThere(c, err)
	}
	return reply(c, 200, answer{Rules: []document{document(d)}, Took: c.ElapsedMS()})
}

// Save answers PUT /v1/rules/{name}: the body is a file of rules.
func (h *Handler) Save(c *web.Ctx) error {
	name, err := pathName(c)
	if err != nil {
		return err
	}
	text, err := body(c)
	if err != nil {
		return err
	}
	if err := h.rules.Save(c.Context, rules.Document{Name: name, Definition: text}); err != nil {
		return err
	}
	return reply(c, 200, answer{Rules: []document{{Name: name}}, Took: c.ElapsedMS()})
}

// Delete answers DELETE /v1/rules/{name}.
func (h *Handler) Delete(c *web.Ctx) error {
	name, err := pathName(c)
	if err != nil {
		return err
	}
	if err := h.rules.Remove(c.Context, name); err != nil {
		return notThere(c, err)
	}
	return reply(c, 200, answer{Rules: []document{{Name: name}}, Took: c.ElapsedMS()})
}

// Reload answers POST /-/reload: the files of rules are read again.
func (h *Handler) Reload(c *web.Ctx) error {
	if err := h.rules.Reload(c.Context); err != nil {
		return status.New(status.InvalidArguments, "rules: %s", err)
	}
	c.Text(200, "")
	return nil
}

// body reads a body of text.
func body(c *web.Ctx) (string, error) {
	c.LimitBody(rules.MaxDocument)
	text, err := c.ReadBody()
	if err != nil {
		return "", err
	}
	if !utf8.Valid(text) {
		return "", status.New(status.InvalidArguments, "the body is not valid UTF-8")
	}
	return string(text), nil
}

// pathName is the name in the path.
func pathName(c *web.Ctx) (string, error) {
	name, raw, ok := c.PathText("name")
	switch {
	case !ok || name == "" || strings.ContainsFunc(name, unicode.IsControl):
		return "", status.New(status.InvalidArguments,
			"Invalid request parameter: the name %q is not valid text in a URL", raw)
	case len(name) > rules.MaxDocumentName:
		return "", status.New(status.InvalidArguments,
			"Invalid request parameter: the name of rules has %d bytes, the limit is %d", len(name),
			rules.MaxDocumentName)
	}
	return name, nil
}

// notThere answers 404 if err says that there is no such document, and returns other errors.
func notThere(c *web.Ctx, err error) error {
	if !errors.Is(err, rules.ErrNoDocument) {
		return err
	}
	web.ReplyErrorStatus(c, 404, err)
	return nil
}

// usualRange is the range of a trial that names none.
const usualRange = 24 * time.Hour

// tried is the answer of a trial.
type tried struct {
	From   float64  `json:"from"` // seconds since the epoch
	To     float64  `json:"to"`
	Step   float64  `json:"step"` // seconds
	Series []series `json:"series"`
	Left   int      `json:"left_out"` // further series
	Took   int64    `json:"execution_time_ms"`
}

// series is an alert or a recorded series of a trial.
type series struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations,omitempty"`
	States      []span            `json:"states"`
	Points      [][2]any          `json:"points"` // seconds and the value as text
}

// span is a time in one state.
type span struct {
	State string  `json:"state"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// Try answers POST /v1/rules/try: what the one rule of the body would have done between the parameters from and to, the
// last day if they are not given.
func (h *Handler) Try(c *web.Ctx) error {
	p, err := c.Query("from", "to")
	if err != nil {
		return err
	}
	to, err := instant(p, "to", time.Now())
	if err != nil {
		return err
	}
	from, err := instant(p, "from", to.Add(-usualRange))
	if err != nil {
		return err
	}
	text, err := body(c)
	if err != nil {
		return err
	}
	f, err := file.Parse("body", []byte(text))
	if err != nil {
		return status.New(status.InvalidArguments, "%s", err)
	}
	if len(f.Groups) != 1 {
		return status.New(status.InvalidArguments, "one group of one rule is tried at a time, here are %d groups",
			len(f.Groups))
	}
	if c.Watch != nil {
		c.Watch()
	}
	t, err := h.rules.Try(c.Context, &f.Groups[0], from, to)
	if err != nil {
		return err
	}
	a := tried{From: seconds(t.From), To: seconds(t.To), Step: t.Step.Seconds(), Series: []series{}, Left: t.Left}
	for _, s := range t.Series {
		one := series{Labels: s.Labels, Annotations: s.Annotations, States: []span{}, Points: [][2]any{}}
		for _, x := range s.Spans {
			one.States = append(one.States, span{x.State, seconds(x.From), seconds(x.To)})
		}
		for _, x := range s.Points {
			one.Points = append(one.Points, [2]any{seconds(x.At), rules.Number(x.Value)})
		}
		a.Series = append(a.Series, one)
	}
	a.Took = c.ElapsedMS()
	return reply(c, 200, a)
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// instant is a time: seconds since the epoch with a fraction, or RFC 3339.
func instant(p *web.Params, name string, otherwise time.Time) (time.Time, error) {
	text := p.String(name)
	if text == "" {
		return otherwise, nil
	}
	ms, err := promql.ParseTime(text)
	if err != nil {
		return otherwise, status.New(status.InvalidArguments, "Invalid request parameter: %s: %s", name, err)
	}
	return time.UnixMilli(ms), nil
}
