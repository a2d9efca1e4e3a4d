package metricsapi

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec/promql"
)

// params are the parameters of a request: those of a form, which come first, and those of the URL.
type params struct {
	values map[string][]string
	db     string
}

// maxParam bounds a parameter, and maxParams their number: expressions are parsed into trees many times their size.
const (
	maxParam  = 1 << 20
	maxParams = 10_000
)

// read reads the parameters of a request.
func read(c *web.Ctx) (*params, error) {
	p := &params{values: map[string][]string{}}
	form, err := c.HasForm()
	if err == nil && form {
		err = c.Form(p.add)
	}
	if err != nil {
		return nil, err
	}
	if err := p.add(c.QueryArgs()); err != nil {
		return nil, err
	}
	p.db, _ = web.Database(p.text("db"), c.HeaderDB())
	return p, nil
}

func (p *params) add(args *fasthttp.Args) error {
	for k, v := range args.All() {
		if !utf8.Valid(k) || !utf8.Valid(v) {
			return invalid(string(k), "it is not UTF-8")
		}
		if len(v) > maxParam || len(p.values) >= maxParams || len(p.values[string(k)]) >= maxParams {
			return invalid(string(k), "it has %d bytes, the limit is %d, and %d parameters", len(v), maxParam,
				maxParams)
		}
		p.values[string(k)] = append(p.values[string(k)], string(v))
	}
	return nil
}

// text is the first value of a parameter; empty: it was not given.
func (p *params) text(name string) string {
	if v := p.values[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// invalid is the error of a parameter.
func invalid(name, format string, args ...any) error {
	return status.New(status.InvalidArguments, "invalid parameter %q: %s", name, fmt.Sprintf(format, args...))
}

// time is a time in ms: seconds since the epoch with a fraction, or RFC 3339.
func (p *params) time(name string, otherwise int64) (int64, error) {
	v := p.text(name)
	if v == "" {
		return otherwise, nil
	}
	ms, err := promql.ParseTime(v)
	if err != nil {
		return ms, invalid(name, "%s", err)
	}
	return ms, nil
}

// since is the first time that is wanted, in ms. A client that wants everything may name a year so early that it cannot
// be read: that is FirstTime and no error.
func (p *params) since(name string) (int64, error) {
	ms, err := p.time(name, promql.FirstTime)
	if ms == promql.FirstTime {
		return ms, nil
	}
	return ms, err
}

// until is the time up to which data is wanted, like since.
func (p *params) until(name string) (int64, error) {
	ms, err := p.time(name, promql.LastTime)
	if ms == promql.LastTime {
		return ms, nil
	}
	return ms, err
}

// needed checks that parameters are there.
func (p *params) needed(names ...string) error {
	for _, name := range names {
		if p.text(name) == "" {
			return invalid(name, "it is missing")
		}
	}
	return nil
}

// duration is a number of seconds with a fraction, or 1h30m.
func (p *params) duration(name string, otherwise time.Duration) (time.Duration, error) {
	v := p.text(name)
	if v == "" {
		return otherwise, nil
	}
	if d, ok := promql.ParseDuration(v); ok {
		return d, nil
	}
	return 0, invalid(name, "cannot parse %.100q to a valid duration", v)
}

// limit is the most results that are wanted; 0: all.
func (p *params) limit(name string) (int, error) {
	v := p.text(name)
	if v == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	switch {
	case err != nil:
		return 0, invalid(name, "%.100q is not a whole number", v)
	case n < 0:
		return 0, invalid(name, "limit must be non-negative")
	}
	return n, nil
}

// flag is whether a parameter says yes: true or 1; without one, or with false or 0, no.
func (p *params) flag(name string) (bool, error) {
	switch v := p.text(name); v {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	default:
		return false, invalid(name, "%.100q is neither true nor false", v)
	}
}
