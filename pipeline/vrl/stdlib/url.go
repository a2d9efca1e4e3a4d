package stdlib

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// urlFunctions take addresses apart.
var urlFunctions = []vrl.Function{
	{Name: "parse_url", Params: []vrl.Param{arg("value", vrl.String), flag("default_known_ports", false)},
		Fails: vrl.Always, Returns: urlType, Run: parseURL},
	{Name: "parse_query_string", Params: stringParam, Returns: vrl.ObjectOfAny(vrl.Of(vrl.String, vrl.Array)),
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return queryObject(f, strings.TrimPrefix(args[0].Str(), "?"), true)
		}},
}

var urlType = vrl.ObjectOf(knownField("scheme", vrl.Of(vrl.String)), knownField("username", vrl.Of(vrl.String)),
	knownField("password", vrl.Of(vrl.String)), knownField("path", vrl.Of(vrl.String, vrl.Null)),
	knownField("host", vrl.Of(vrl.String, vrl.Null)), knownField("port", vrl.Of(vrl.Integer, vrl.Null)),
	knownField("fragment", vrl.Of(vrl.String, vrl.Null)), knownField("query", vrl.ObjectOfAny(vrl.Of(vrl.String))))

// knownPorts are the default ports of the schemes that have an authority and a path always.
var knownPorts = map[string]int64{"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}

func parseURL(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	u, err := url.Parse(strings.TrimSpace(args[0].Str()))
	if err != nil {
		why := err
		if inner, ok := err.(*url.Error); ok {
			why = inner.Err
		}
		return f.Fail("unable to parse url: %s", value.String(why.Error()))
	}
	if u.Scheme == "" {
		return f.Fail("unable to parse url: relative URL without a base")
	}
	known, special := knownPorts[u.Scheme]
	host, why := hostOf(u, special)
	if why != "" {
		return f.Fail("unable to parse url: %s", value.String(why))
	}
	port := value.Null
	if text := u.Port(); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return f.Fail("unable to parse url: invalid port number")
		}
		if int64(n) != known || !special {
			port = value.Int(int64(n))
		}
	}
	if port.IsNull() && special && args[1].True() {
		port = value.Int(known)
	}
	query, fl := queryObject(f, u.RawQuery, false)
	if fl != nil {
		return value.Null, fl
	}
	a := f.Arena
	o := a.Object(8)
	fragment := value.Null
	if u.Fragment != "" || strings.HasSuffix(args[0].Str(), "#") {
		fragment = value.String(u.EscapedFragment())
	}
	password, _ := u.User.Password()
	o.Append(a, "fragment", fragment)
	o.Append(a, "host", host)
	o.Append(a, "password", value.String(userPart(password)))
	o.Append(a, "path", value.String(pathOfURL(u, special)))
	o.Append(a, "port", port)
	o.Append(a, "query", query)
	o.Append(a, "scheme", value.String(u.Scheme))
	o.Append(a, "username", value.String(userPart(u.User.Username())))
	return o.Of(), nil
}

// userPart is a user name or password as written in a URL.
func userPart(s string) string {
	return strings.TrimSuffix(url.UserPassword(s, "").String(), ":")
}

// hostOf is the host of an address, null without one. Names of special schemes are in their ASCII form.
func hostOf(u *url.URL, special bool) (host value.Value, why string) {
	name := u.Hostname()
	if name == "" {
		if special {
			return value.Null, "empty host"
		}
		return value.Null, ""
	}
	if strings.Contains(name, ":") {
		return value.String("[" + name + "]"), ""
	}
	if special {
		ascii, err := idna.Lookup.ToASCII(name)
		switch {
		case err == nil:
			name = ascii
		case !isASCII(name):
			return value.Null, "invalid international domain name"
		default:
			name = strings.ToLower(name)
		}
	}
	return value.String(name), ""
}

// pathOfURL is the path with its escapes; in special schemes it is at least a slash and has no dot segments.
func pathOfURL(u *url.URL, special bool) string {
	if u.Opaque != "" {
		return u.Opaque
	}
	path := u.EscapedPath()
	if !special {
		return path
	}
	if path == "" {
		return "/"
	}
	if !strings.Contains(path, "/.") {
		return path
	}
	var kept []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
			if last {
				kept = append(kept, "")
			}
		case ".":
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, s)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// queryObject reads the fields of a query; of repeated keys all values are kept in an array, or the last.
func queryObject(f *vrl.Frame, s string, all bool) (value.Value, *vrl.Failure) {
	o := f.Arena.Object(8)
	for s != "" {
		var field string
		field, s, _ = strings.Cut(s, "&")
		if field == "" {
			continue
		}
		if fl := f.Spend(1 + o.Len()/64); fl != nil {
			return value.Null, fl
		}
		key, text, _ := strings.Cut(field, "=")
		v := value.String(formDecoded(f.Arena, text))
		if all {
			addRepeated(f.Arena, o, formDecoded(f.Arena, key), v)
		} else {
			o.Set(f.Arena, formDecoded(f.Arena, key), v)
		}
	}
	return o.Of(), nil
}

// formDecoded resolves %XX and + of a form field.
func formDecoded(a *value.Arena, s string) string {
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '+') < 0 {
		return validText(s)
	}
	b := a.Alloc(len(s))[:0]
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '+':
			c = ' '
		case '%':
			if x, ok := value.Escaped(s[i+1:]); ok {
				c, i = x, i+2
			}
		}
		b = append(b, c)
	}
	return validText(value.View(b))
}
