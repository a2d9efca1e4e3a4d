package logapi

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"varve/server/web"
	"varve/sqlexec/promql"
)

// params are the parameters of a request: those of a form, which come first, and those of the URL.
type params map[string][]string

// maxParam bounds a parameter, and maxParams their number.
const (
	maxParam  = 1 << 20
	maxParams = 1_000
)

// readParams reads the parameters of a request.
func readParams(c *web.Ctx) (params, error) {
	p := params{}
	form, err := c.HasForm()
	if err == nil && form {
		err = c.Form(p.add)
	}
	if err != nil {
		return nil, err
	}
	return p, p.add(c.QueryArgs())
}

func (p params) add(args *fasthttp.Args) error {
	for k, v := range args.All() {
		name := string(k)
		if !utf8.Valid(k) || !utf8.Valid(v) {
			return invalid("parameter %q is not UTF-8", name)
		}
		if len(v) > maxParam || len(p) >= maxParams || len(p[name]) >= maxParams {
			return invalid("parameter %.80q has %d bytes, the limit is %d, and %d parameters", name, len(v), maxParam,
				maxParams)
		}
		p[name] = append(p[name], string(v))
	}
	return nil
}

// text is the first value of a parameter; empty: it was not given.
func (p params) text(name string) string {
	if v := p[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// The bounds of times, ns: they keep sums with ranges and steps within 64 bits.
const (
	firstTime = math.MinInt64 / 2
	lastTime  = math.MaxInt64 - int64(400*24*time.Hour)
)

// parseTime reads a time, ns: an integer of at most 10 digits is seconds, a longer one ns; with a dot it is seconds;
// else it is RFC 3339.
func parseTime(text string) (int64, error) {
	if strings.Contains(text, ".") {
		if x, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(x) < 9e9 {
			whole, part := math.Modf(x)
			return int64(whole)*1e9 + int64(math.Round(part*1000)*1e6), nil
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return 0, err
		}
		if t.Year() < 1800 || t.Year() > 2250 {
			return 0, invalid("%q is not between the years 1800 and 2250", text)
		}
		return t.UnixNano(), nil
	}
	if len(text) <= 10 {
		return n * 1e9, nil
	}
	if n > lastTime || n < firstTime {
		return 0, invalid("%q is not between the years 1800 and 2250", text)
	}
	return n, nil
}

// time is a time, ns.
func (p params) time(name string, otherwise int64) (int64, error) {
	text := p.text(name)
	if text == "" {
		return otherwise, nil
	}
	ns, err := parseTime(text)
	if err != nil {
		return 0, invalid("could not parse '%s' parameter: %s", name, err)
	}
	return ns, nil
}

// seconds is a duration, ns: a number of seconds, or such as 5m.
func (p params) seconds(name string, otherwise int64) (int64, error) {
	text := p.text(name)
	if text == "" {
		return otherwise, nil
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		if math.IsNaN(x) || math.Abs(x) > 9e9 {
			return 0, invalid("cannot parse %q to a valid duration. It overflows int64", text)
		}
		return int64(x * 1e9), nil
	}
	d, ok := promql.ParseDuration(text)
	if !ok {
		return 0, invalid("cannot parse %q to a valid duration", text)
	}
	return int64(d), nil
}

// span is the times of a request, ns. Without start it begins since before the end, which may not lie in the future for
// that.
func (p params) span(now, since int64) (start, end int64, err error) {
	if end, err = p.time("end", now); err != nil {
		return 0, 0, err
	}
	if since, err = p.seconds("since", since); err != nil {
		return 0, 0, invalid("could not parse 'since' parameter: %s", err)
	}
	start, err = p.time("start", min(end, now)-since)
	return start, end, err
}

// count is a number of things, at least one.
func (p params) count(name string, otherwise int) (int, error) {
	text := p.text(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, invalid("%s", err)
	}
	if n <= 0 {
		return 0, invalid("%s must be a positive value", name)
	}
	return int(n), nil
}

// forward reads the direction.
func (p params) forward() (bool, error) {
	switch text := p.text("direction"); strings.ToUpper(text) {
	case "", "BACKWARD":
		return false, nil
	case "FORWARD":
		return true, nil
	default:
		return false, invalid("invalid direction '%s'", text)
	}
}
