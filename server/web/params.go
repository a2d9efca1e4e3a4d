package web

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"varve/engine"
)

// Params are the known parameters of a query string and, for some endpoints, a form; the query string wins.
type Params struct {
	query, form map[string]string
}

// Query reads the query string. Unknown names are ignored; a known one given twice is refused.
func (c *Ctx) Query(known ...string) (*Params, error) {
	p := &Params{}
	name, text := collect(c.QueryArgs(), known, &p.query)
	if name != "" {
		return nil, NewReject(400, "Failed to deserialize query string: "+text+" `"+name+"`")
	}
	return p, nil
}

// LastQuery is Query for protocols in which the last value of a parameter counts if it is given several times.
func (c *Ctx) LastQuery(known ...string) (*Params, error) {
	p := &Params{query: make(map[string]string, len(known))}
	for k, v := range c.QueryArgs().All() {
		if slices.Contains(known, string(k)) {
			p.query[string(k)] = string(v)
		}
	}
	for _, name := range known {
		if !utf8.ValidString(p.query[name]) {
			return nil, NewReject(400, "Failed to deserialize query string: invalid UTF-8 in field `"+name+"`")
		}
	}
	return p, nil
}

// HasForm reports whether the body is a form. The body of a POST must be one; a POST without a body needs no content
// type.
func (c *Ctx) HasForm() (bool, error) {
	head := &c.Request.Header
	if !c.IsPost() || head.ContentLength() == 0 && len(head.ContentType()) == 0 {
		return false, nil
	}
	if mediaType(head.ContentType()) != "application/x-www-form-urlencoded" {
		return false, NewReject(415, "Form requests must have `Content-Type: application/x-www-form-urlencoded`")
	}
	return true, nil
}

// MediaType is the media type of the body, without parameters, in lower case.
func (c *Ctx) MediaType() string { return mediaType(c.Request.Header.ContentType()) }

// QueryOrText reads the query string and takes the body as the text of a parameter.
func (c *Ctx) QueryOrText(name string, known ...string) (*Params, error) {
	p, err := c.Query(known...)
	if err != nil || p.Has(name) {
		return p, err
	}
	body, err := c.ReadBody()
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(body) {
		return nil, NewReject(400, "the body is not valid UTF-8")
	}
	p.form = map[string]string{name: string(body)}
	return p, nil
}

// QueryOrForm reads the query string and, on POST, the form in the body.
func (c *Ctx) QueryOrForm(known ...string) (*Params, error) {
	p, err := c.Query(known...)
	if err != nil {
		return nil, err
	}
	if form, err := c.HasForm(); !form || err != nil {
		return p, err
	}
	return p, c.Form(func(pair *fasthttp.Args) error {
		if name, text := collect(pair, known, &p.form); name != "" {
			return NewReject(422, "Failed to deserialize form body: "+text+" `"+name+"`")
		}
		return nil
	})
}

// HasPlus reports whether the query string, or the form that was read, has a plus sign that stands for a blank and may
// have been meant as a plus sign. A sender that encodes signs which may stand bare in an address encodes plus signs,
// too.
func (c *Ctx) HasPlus() bool {
	return c.plus || plusMeant(c.URI().QueryString())
}

// encodedSigns are the escapes of signs that only an encoder of forms escapes: ( ) * + , / : ; = ? @
const encodedSigns = "%28%29%2A%2B%2C%2F%3A%3B%3D%3F%40"

// plusMeant reports whether a text has a plus sign and no escape that only an encoder of forms makes.
func plusMeant(text []byte) bool {
	if bytes.IndexByte(text, '+') < 0 {
		return false
	}
	for i := bytes.IndexByte(text, '%'); i >= 0 && len(text) >= i+3; i = bytes.IndexByte(text, '%') {
		if strings.Contains(encodedSigns, strings.ToUpper(string(text[i:i+3]))) {
			return false
		}
		text = text[i+1:]
	}
	return true
}

// Form reads the body as a form and gives its parameters one at a time, until an error: a form of a million parameters
// takes no more memory than its body.
func (c *Ctx) Form(each func(pair *fasthttp.Args) error) error {
	body, err := c.ReadBody()
	if err != nil {
		return err
	}
	var args fasthttp.Args
	for len(body) > 0 {
		var pair []byte
		pair, body, _ = bytes.Cut(body, []byte{'&'})
		c.plus = c.plus || plusMeant(pair)
		args.ParseBytes(pair)
		if err := each(&args); err != nil {
			return err
		}
	}
	return nil
}

// collect takes the known names out of args. It returns the name of the first parameter that is wrong, and the reason.
func collect(args *fasthttp.Args, known []string, into *map[string]string) (name, reason string) {
	for k, v := range args.All() {
		for _, n := range known {
			if n != string(k) {
				continue
			}
			if _, twice := (*into)[n]; twice {
				return n, "duplicate field"
			}
			if !utf8.Valid(v) {
				return n, "invalid UTF-8 in field"
			}
			if *into == nil {
				*into = make(map[string]string, len(known))
			}
			(*into)[n] = string(v)
		}
	}
	return "", ""
}

// Has reports whether the parameter was given.
func (p *Params) Has(name string) bool {
	_, ok := p.lookup(name)
	return ok
}

func (p *Params) lookup(name string) (string, bool) {
	if v, ok := p.query[name]; ok {
		return v, true
	}
	v, ok := p.form[name]
	return v, ok
}

// String is a parameter's text; empty when it was not given.
func (p *Params) String(name string) string {
	v, _ := p.lookup(name)
	return v
}

// Bool is a boolean parameter: exactly true or false.
func (p *Params) Bool(name string, otherwise bool) (bool, error) {
	v, ok := p.lookup(name)
	switch {
	case !ok:
		return otherwise, nil
	case v == "true", v == "false":
		return v == "true", nil
	}
	return false, p.bad(name, "provided string was not `true` or `false`")
}

// Uint is a whole number of the query string that is not negative.
func (p *Params) Uint(name string, otherwise uint64) (uint64, error) {
	v, ok := p.query[name]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseUint(v, 10, 63)
	if err != nil {
		return 0, p.bad(name, "invalid digit found in string")
	}
	return n, nil
}

// bad is the refusal of a parameter's value: 400 in the query string, 422 in a form.
func (p *Params) bad(name, reason string) error {
	if _, ok := p.query[name]; ok {
		return NewReject(400, fmt.Sprintf("Failed to deserialize query string: %s: %s", name, reason))
	}
	return NewReject(422, fmt.Sprintf("Failed to deserialize form body: %s: %s", name, reason))
}

// DefaultDB is the database of requests that name none.
const DefaultDB = engine.PublicDB

// databaseName takes the catalog off a database name: service-public is public. Another catalog stays in the name, and
// so names a database that does not exist.
func databaseName(name string) string {
	if rest, ok := strings.CutPrefix(name, "service-"); ok {
		return rest
	}
	return name
}

// Database is the database of a request: the first of the given texts that is not empty, else public.
func Database(sources ...string) (name string, given bool) {
	for _, s := range sources {
		if s != "" {
			return databaseName(s), true
		}
	}
	return DefaultDB, false
}

// HeaderDB is the database that the header names.
func (c *Ctx) HeaderDB() string { return c.HeaderText("x-service-db-name") }

// mediaType is a content type without parameters, in lower case.
func mediaType(contentType []byte) string {
	t, _, _ := bytes.Cut(contentType, []byte{';'})
	return strings.ToLower(string(bytes.TrimSpace(t)))
}

// RequiredContentType is the request's content type, which must be there and look like one.
func (c *Ctx) RequiredContentType() (string, error) {
	raw := string(c.Request.Header.ContentType())
	if raw == "" {
		return "", NewReject(400, "Header of type `content-type` was missing")
	}
	if main, sub, ok := strings.Cut(mediaType([]byte(raw)), "/"); !ok || main == "" || sub == "" ||
		strings.ContainsAny(main+sub, " \t/,") {
		return "", NewReject(400, "invalid HTTP header (content-type)")
	}
	return raw, nil
}

// PathText is a part of the path by its name in the route. The router leaves the escapes of URLs as they are: they are
// resolved here. ok reports whether the part is well escaped and its text UTF-8; raw is the part as it was sent.
func (c *Ctx) PathText(name string) (text, raw string, ok bool) {
	value, _ := c.UserValue(name).(string)
	raw = strings.Clone(value)
	text, err := url.PathUnescape(raw)
	if err != nil {
		return raw, raw, false
	}
	return text, raw, utf8.ValidString(text)
}

// UTF8Header is a request header as text, which must be UTF-8.
func (c *Ctx) UTF8Header(name string) (string, error) {
	text := c.HeaderText(name)
	if !utf8.ValidString(text) {
		return "", NewReject(400, name+" header is not valid UTF-8 string type")
	}
	return text, nil
}
