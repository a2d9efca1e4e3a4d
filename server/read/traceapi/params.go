package traceapi

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/server/web"
)

// Bounds of a search.
const (
	usualTraces = 20
	maxTraces   = 1500
	maxTags     = 32
	maxIDs      = 100
	maxDigits   = 128 // of an id
)

// lookback is how far back a search looks if the request names no time.
const lookback = 48 * time.Hour

// query is what a search asks for.
type query struct {
	service, operation string
	tags               []tag
	start, end         int64 // ns, both included
	shortest, longest  int64 // ns; longest < 0: any
	limit              int
}

// tag is a key, and the text of the value that it must have.
type tag struct{ key, value string }

func wrong(name, format string, args ...any) error {
	return status.New(status.InvalidArguments, "parameter '"+name+"': "+format, args...)
}

// readQuery reads the parameters of a search.
func readQuery(c *web.Ctx) (*query, error) {
	p, err := c.LastQuery("service", "operation", "tags", "start", "end", "lookback", "minDuration", "maxDuration",
		"limit")
	if err != nil {
		return nil, err
	}
	q := &query{service: p.String("service"), operation: p.String("operation"), limit: usualTraces}
	if q.service == "" {
		return nil, missing("service")
	}
	if q.end, err = instant(p, "end", c.Start.UnixNano()); err != nil {
		return nil, err
	}
	if q.start, err = begin(p, q.end); err != nil {
		return nil, err
	}
	if q.end < q.start {
		return nil, wrong("end", "it is before the start")
	}
	if p.String("end") != "" {
		q.end += 999 // the whole microsecond
	}
	if q.shortest, err = duration(p, "minDuration", 0); err != nil {
		return nil, err
	}
	if q.longest, err = duration(p, "maxDuration", -1); err != nil {
		return nil, err
	}
	if q.longest >= 0 && q.longest < q.shortest {
		return nil, status.New(status.InvalidArguments, "'maxDuration' should be greater than 'minDuration'")
	}
	if text := p.String("limit"); text != "" {
		if q.limit, err = strconv.Atoi(text); err != nil || q.limit < 1 || q.limit > maxTraces {
			return nil, wrong("limit", "%.40q is not a number from 1 to %d", text, maxTraces)
		}
	}
	q.tags, err = readTags(c, p.String("tags"))
	return q, err
}

// begin is the start of a search, ns: parameter start, or the duration lookback, such as 2d, before the end. The
// lookback "custom" stands for none: a page sends it with start.
func begin(p *web.Params, end int64) (int64, error) {
	back := int64(lookback)
	if text := p.String("lookback"); text != "" && text != "custom" && p.String("start") == "" {
		var err error
		if back, err = timefmt.ParseDuration(text); err != nil || back < 0 {
			return 0, wrong("lookback", "%.40q is not a duration such as 1h or 2d", text)
		}
	}
	before, _ := around(end, end, back)
	return instant(p, "start", before)
}

// instant reads microseconds since 1970 as nanoseconds.
func instant(p *web.Params, name string, otherwise int64) (int64, error) {
	text := p.String(name)
	if text == "" {
		return otherwise, nil
	}
	us, err := strconv.ParseInt(text, 10, 64)
	if err != nil || us > math.MaxInt64/1000-1 || us < math.MinInt64/1000+1 {
		return 0, wrong(name, "%.40q is not a time in microseconds since 1970 that is before the year 2262", text)
	}
	return us * 1000, nil
}

// duration reads a duration such as 1.5ms.
func duration(p *web.Params, name string, otherwise int64) (int64, error) {
	text := p.String(name)
	if text == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, wrong(name, "%.40q is not a duration such as 1.5ms or 2m30s", text)
	}
	return int64(d), nil
}

// readTags reads the tags of a JSON object, and of the parameters tag=key:value.
func readTags(c *web.Ctx, object string) ([]tag, error) {
	var list []tag
	if object != "" {
		var members map[string]any
		d := json.NewDecoder(strings.NewReader(object))
		d.UseNumber()
		if err := d.Decode(&members); err != nil || d.More() || !utf8.ValidString(object) {
			return nil, wrong("tags", "it is not a JSON object of texts: %.80q", object)
		}
		for key, value := range members {
			text, ok := scalar(value)
			if !ok {
				return nil, wrong("tags", "the value of %.80q is not a text, number or boolean", key)
			}
			list = append(list, tag{key, text})
		}
	}
	for _, pair := range c.QueryArgs().PeekMulti("tag") {
		key, value, ok := strings.Cut(string(pair), ":")
		if !ok || !utf8.Valid(pair) {
			return nil, wrong("tag", "%.80q is not of the form key:value", pair)
		}
		list = append(list, tag{key, value})
	}
	if len(list) > maxTags {
		return nil, wrong("tags", "there are %d, the limit is %d", len(list), maxTags)
	}
	slices.SortFunc(list, func(a, b tag) int { return strings.Compare(a.key, b.key) })
	return list, nil
}

// scalar is the text of a value of JSON that is no list and no object.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
