package metricsapi

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"varve/engine/jsontext"
	"varve/engine/sorting"
	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec/promql"
)

// selections are the series that match[] names, in the time that start and end name.
func (h *Handler) selections(p *params, needed bool) ([]promql.Selection, error) {
	from, err := p.since("start")
	if err != nil {
		return nil, err
	}
	to, err := p.until("end")
	if err != nil {
		return nil, err
	}
	if to < from {
		return nil, invalid("end", "end timestamp must not be before start time")
	}
	if needed && len(p.values["match[]"]) == 0 {
		return nil, status.New(status.Unsupported, "match[] parameter is required")
	}
	var list []promql.Selection
	var parser promql.Parser
	for _, text := range p.values["match[]"] {
		matchers, err := parser.Selector(text)
		if err != nil {
			return nil, err
		}
		list = append(list, promql.Selection{Matchers: matchers, Start: from, End: to})
	}
	return list, nil
}

// asked reads the parameters of the endpoints that list labels and series.
func (h *Handler) asked(c *web.Ctx, needed bool) (store *promql.Tables, sels []promql.Selection, limit int, err error) {
	p, err := read(c)
	if err != nil {
		return nil, nil, 0, err
	}
	if limit, err = p.limit("limit"); err != nil {
		return nil, nil, 0, err
	}
	if sels, err = h.selections(p, needed); err != nil {
		return nil, nil, 0, err
	}
	return h.storage(c, p.db), sels, limit, nil
}

// Labels answers labels: the names of labels.
func (h *Handler) Labels(c *web.Ctx) (*listing, error) {
	store, sels, limit, err := h.asked(c, false)
	if err != nil {
		return nil, err
	}
	names, err := store.LabelNames(c.Context, sels)
	if err != nil {
		return nil, err
	}
	return texts(store, names, limit)
}

// LabelValues answers label/{name}/values.
func (h *Handler) LabelValues(c *web.Ctx) (*listing, error) {
	name, raw, ok := c.PathText("name")
	if !ok || name == "" {
		return nil, status.New(status.InvalidArguments, "invalid label name: %q", raw)
	}
	store, sels, limit, err := h.asked(c, false)
	if err != nil {
		return nil, err
	}
	values, err := store.LabelValues(c.Context, unescapeLabel(name), sels)
	if err != nil {
		return nil, err
	}
	return texts(store, values, limit)
}

// listing is an answer that is a list, or an object. It is written piece by piece, so that its JSON, which has six
// bytes for a control byte, is never in memory as a whole.
type listing struct {
	object   bool
	length   int
	item     func(dst []byte, i int) []byte // appends item i
	warnings []string
	next     int
}

// append appends the next piece and reports whether another follows.
func (l *listing) append(dst []byte) (out []byte, more bool) {
	brackets := "[]"
	if l.object {
		brackets = "{}"
	}
	if l.next == 0 {
		dst = append(append(dst, success...), brackets[0])
	}
	for mark := len(dst); l.next < l.length; l.next++ {
		if len(dst)-mark >= web.PieceBytes {
			return dst, true
		}
		if l.next > 0 {
			dst = append(dst, ',')
		}
		dst = l.item(dst, l.next)
	}
	return append(appendTexts(append(dst, brackets[1]), `,"warnings":`, l.warnings), '}'), false
}

// listed makes a handler of one that answers with a list.
func (h *Handler) listed(answer func(c *web.Ctx) (*listing, error)) web.Handler {
	return func(c *web.Ctx) error {
		l, err := h.find(c, answer)
		if err != nil {
			return reply(c, err)
		}
		c.Pieces(l.append)
		return nil
	}
}

// find finds a list when its turn comes.
func (h *Handler) find(c *web.Ctx, answer func(c *web.Ctx) (*listing, error)) (*listing, error) {
	h.limitTime(c, h.o.Timeout)
	release, err := h.o.Queries.AdmitList(c.Context)
	if err != nil {
		return nil, err
	}
	defer release()
	return answer(c)
}

// texts is the answer that is a list of texts, cut to a limit.
func texts(store *promql.Tables, all []string, limit int) (*listing, error) {
	all, warnings := cut(all, limit)
	size := 0
	for _, t := range all {
		size += len(t)
	}
	item := func(dst []byte, i int) []byte { return jsontext.AppendString(dst, all[i]) }
	return &listing{length: len(all), item: item, warnings: warnings}, keep(store, size)
}

// keep counts what a list keeps until the client has read it, which may be long values.
func keep(store *promql.Tables, size int) error {
	if store.Memory == nil {
		return nil
	}
	return store.Memory.Reserve(int64(size))
}

// unescapeLabel undoes the escapes of names that are no plain identifiers: U__ before, __ for an underscore and _2e_
// for the character with the hexadecimal number 2e. A text that is not of that form is the name itself.
func unescapeLabel(name string) string {
	rest, ok := strings.CutPrefix(name, "U__")
	if !ok {
		return name
	}
	var b strings.Builder
	for len(rest) > 0 {
		if rest[0] != '_' {
			b.WriteByte(rest[0])
			rest = rest[1:]
			continue
		}
		end := strings.IndexByte(rest[1:], '_')
		if end < 0 {
			return name
		}
		code, after := rest[1:1+end], rest[2+end:]
		if code == "" {
			b.WriteByte('_')
		} else {
			r, err := strconv.ParseUint(code, 16, 32)
			if err != nil || len(code) > 6 || !utf8.ValidRune(rune(r)) {
				return name
			}
			b.WriteRune(rune(r))
		}
		rest = after
	}
	return b.String()
}

// Series answers series: label sets.
func (h *Handler) Series(c *web.Ctx) (*listing, error) {
	store, sels, limit, err := h.asked(c, true)
	if err != nil {
		return nil, err
	}
	var all []promql.Labels
	for _, sel := range sels {
		set, err := store.Select(c.Context, sel)
		if err != nil {
			return nil, err
		}
		all, err = appendAll(c.Context, all, set, store)
		set.Close()
		if err != nil {
			return nil, err
		}
	}
	if err := sorting.Func(all, promql.Labels.Compare, c.Context.Err); err != nil {
		return nil, err
	}
	all = slices.CompactFunc(all, promql.Labels.Equal)
	all, warnings := cut(all, limit)
	size := 0
	for _, ls := range all {
		for _, l := range ls {
			size += len(l.Name) + len(l.Value)
		}
	}
	item := func(dst []byte, i int) []byte { return promql.AppendLabels(dst, all[i]) }
	return &listing{length: len(all), item: item, warnings: warnings}, keep(store, size)
}

const (
	// setBytes is about the memory of a label set in a list that grows, and labelBytes that of each label of the set.
	setBytes   = 96
	labelBytes = 32
)

// appendAll appends the label sets of all series.
func appendAll(ctx context.Context, dst []promql.Labels, set promql.SeriesSet, store *promql.Tables) ([]promql.Labels,
	error) {
	const together = 1024
	bytes := 0
	for i := range set.Len() {
		ls := set.Labels(i)
		dst = append(dst, ls)
		if bytes += setBytes + labelBytes*len(ls); i%together == together-1 || i == set.Len()-1 {
			if err := cmp.Or(ctx.Err(), keep(store, bytes)); err != nil {
				return nil, err
			}
			bytes = 0
		}
	}
	return dst, nil
}

// Metadata answers metadata: what senders said of metrics.
func (h *Handler) Metadata(c *web.Ctx) (*listing, error) {
	p, err := read(c)
	if err != nil {
		return nil, err
	}
	limit, err := p.limit("limit")
	if err != nil {
		return nil, err
	}
	if _, err := p.limit("limit_per_metric"); err != nil { // a metric has one, so this cuts nothing
		return nil, err
	}
	list, err := h.o.Samples.Metadata(c.Context, p.db, p.text("metric"))
	if err != nil {
		return nil, err
	}
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	item := func(dst []byte, i int) []byte {
		m := &list[i]
		dst = append(jsontext.AppendString(dst, m.Metric), `:[{"type":`...)
		dst = append(jsontext.AppendString(dst, m.Type), `,"help":`...)
		dst = append(jsontext.AppendString(dst, m.Help), `,"unit":`...)
		return append(jsontext.AppendString(dst, m.Unit), `}]`...)
	}
	return &listing{object: true, length: len(list), item: item}, nil
}

// FormatQuery answers format_query.
func (h *Handler) FormatQuery(c *web.Ctx) (tell func(dst []byte) []byte, err error) {
	p, err := read(c)
	if err != nil {
		return nil, err
	}
	formatted, err := promql.Format(p.text("query"))
	if err != nil {
		return nil, err
	}
	return func(dst []byte) []byte { return jsontext.AppendString(dst, formatted) }, nil
}

// ParseQuery answers parse_query: the tree of an expression.
func (h *Handler) ParseQuery(c *web.Ctx) (tell func(dst []byte) []byte, err error) {
	p, err := read(c)
	if err != nil {
		return nil, err
	}
	x, err := promql.Parse(p.text("query"))
	if err != nil {
		return nil, err
	}
	tree, err := promql.AppendTree(nil, x)
	return text(tree), err
}
