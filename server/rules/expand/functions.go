package expand

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"varve/sqlexec/promql"
)

// errNoFirst is the error of first where there is nothing.
var errNoFirst = errors.New("first() called on vector with no elements")

// errTooLong is the error of a text that is longer than what a template may make.
var errTooLong = fmt.Errorf("a text has more than %d bytes", maxOutput)

// Bounds of the patterns of templates: their bytes, their groups, and what they replace.
const (
	maxPattern = 4 << 10
	maxParts   = 64
	maxMatches = 10_000
)

// functions are the functions of an expansion.
func functions(r *run) template.FuncMap {
	return template.FuncMap{
		step: r.step, "query": r.ask,
		"first": first, "label": label, "value": func(s *Sample) float64 { return s.Value },
		"strvalue": func(s *Sample) string { return s.Labels["__value__"] }, "sortByLabel": sortByLabel,
		"args": args, "reReplaceAll": r.replaceAll, "match": r.match, "toUpper": strings.ToUpper,
		"toLower": strings.ToLower, "title": title,
		"print": r.text(fmt.Sprint), "println": r.text(fmt.Sprintln), "html": r.text(template.HTMLEscaper),
		"js": r.text(template.JSEscaper), "urlquery": r.text(template.URLQueryEscaper), "printf": r.printf,
		"stripPort": stripPort, "stripDomain": stripDomain, "urlQueryEscape": url.QueryEscape,
		"safeHtml": func(text string) string { return text },
		"humanize": number(humanize), "humanize1024": number(humanize1024),
		"humanizeDuration": number(humanizeDuration), "humanizePercentage": number(humanizePercentage),
		"humanizeTimestamp": number(humanizeTimestamp), "toTime": toTime, "toDuration": toDuration,
		"now":           func() float64 { return float64(r.at.UnixMilli()) / 1000 },
		"parseDuration": parseDuration,
		"externalURL":   func() string { return r.url },
		"pathPrefix":    r.pathPrefix,
	}
}

// ask evaluates an expression.
func (r *run) ask(expr string) ([]*Sample, error) {
	if r.query == nil {
		return nil, errors.New("there are no queries here")
	}
	if _, err := r.step(); err != nil {
		return nil, err
	}
	list, err := r.query(r.ctx, expr)
	if len(list) > maxQuery {
		return nil, fmt.Errorf("a query in a template has %d results, at most %d are taken", len(list), maxQuery)
	}
	return list, err
}

func first(list []*Sample) (*Sample, error) {
	if len(list) == 0 {
		return nil, errNoFirst
	}
	return list[0], nil
}

func label(name string, s *Sample) string { return s.Labels[name] }

func sortByLabel(name string, list []*Sample) []*Sample {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *Sample) int { return strings.Compare(a.Labels[name], b.Labels[name]) })
	return sorted
}

// args gives the arguments of a template names.
func args(list ...any) (map[string]any, error) {
	named := map[string]any{}
	for i, a := range list {
		if _, nested := a.(map[string]any); nested { // printed, nested ones grow without end
			return nil, errors.New("args cannot hold what args made")
		}
		named[fmt.Sprintf("arg%d", i)] = a
	}
	return named, nil
}

func (r *run) pattern(text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("a pattern has %d bytes, at most %d are taken", len(text), maxPattern)
	}
	if _, err := r.step(); err != nil {
		return nil, err
	}
	p, err := regexp.Compile(text)
	if err == nil && p.NumSubexp() > maxParts {
		err = fmt.Errorf("a pattern has %d groups, at most %d are taken", p.NumSubexp(), maxParts)
	}
	return p, err
}

func (r *run) replaceAll(expr, with, text string) (string, error) {
	p, err := r.pattern(expr)
	if err != nil {
		return "", err
	}
	found := p.FindAllStringSubmatchIndex(text, maxMatches+1)
	if len(found) > maxMatches {
		return "", fmt.Errorf("more than %d matches are replaced", maxMatches)
	}
	var out []byte
	from := 0
	for _, at := range found {
		out = p.ExpandString(append(out, text[from:at[0]]...), with, text, at)
		from = at[1]
		if len(out) > maxOutput {
			return "", errTooLong
		}
	}
	return string(append(out, text[from:]...)), nil
}

func (r *run) match(expr, text string) (bool, error) {
	p, err := r.pattern(expr)
	if err != nil {
		return false, err
	}
	return p.MatchString(text), nil
}

// text bounds a function that makes a text of values.
func (r *run) text(f func(...any) string) func(...any) (string, error) {
	return func(list ...any) (string, error) {
		if err := r.fits(0, list); err != nil {
			return "", err
		}
		return bound(f(list...))
	}
}

// printf is that of Go, whose widths are bounded.
func (r *run) printf(format string, list ...any) (string, error) {
	size, width := len(format), 0
	for _, c := range []byte(format) {
		switch {
		case c == '*':
			return "", errors.New("printf takes no width * from its arguments")
		case c >= '0' && c <= '9':
			width = min(10*width+int(c-'0'), maxOutput+1)
			continue
		}
		size, width = size+width, 0
	}
	if err := r.fits(size, list); err != nil {
		return "", err
	}
	return bound(fmt.Sprintf(format, list...))
}

// fits counts a step, and refuses values whose texts are too long together with some bytes.
func (r *run) fits(bytes int, list []any) error {
	for _, v := range list {
		switch v := v.(type) {
		case string:
			bytes += len(v)
		case []byte:
			bytes += len(v)
		}
	}
	if bytes > maxOutput {
		return errTooLong
	}
	_, err := r.step()
	return err
}

func bound(text string) (string, error) {
	if len(text) > maxOutput {
		return "", errTooLong
	}
	return text, nil
}

// title makes the first letter of each word a capital.
func title(text string) string {
	before := ' '
	return strings.Map(func(c rune) rune {
		start := before == ' ' || before == '\t' || before == '\n' || before == '-'
		before = c
		if start {
			return []rune(strings.ToTitle(string(c)))[0]
		}
		return c
	}, text)
}

func stripPort(hostPort string) string {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return hostPort
	}
	return host
}

func stripDomain(hostPort string) string {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		host, port = hostPort, ""
	}
	if net.ParseIP(host) != nil {
		return hostPort
	}
	host, _, _ = strings.Cut(host, ".")
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	return host
}

// parseDuration is a duration such as 1h30m in seconds.
func parseDuration(text string) (float64, error) {
	d, ok := promql.ParseDuration(text)
	if !ok {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	return d.Seconds(), nil
}

func (r *run) pathPrefix() string {
	u, err := url.Parse(r.url)
	if err != nil {
		return ""
	}
	return u.Path
}

// toTime is a number of seconds since the epoch as a time, in UTC.
func toTime(v any) (time.Time, error) {
	x, err := float(v)
	if err != nil {
		return time.Time{}, err
	}
	return instant(x)
}

// toDuration is a number of seconds as a duration.
func toDuration(v any) (time.Duration, error) {
	x, err := float(v)
	if err != nil {
		return 0, err
	}
	return time.Duration(x * float64(time.Second)), nil
}
