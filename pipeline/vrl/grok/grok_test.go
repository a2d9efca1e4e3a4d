package grok

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fields returns "name=text" for each kept group that took part in the first match.
func fields(t *testing.T, source, text string) string {
	t.Helper()
	p, err := Compile(source, nil)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	at := p.Regex.On(nil, text).FindStringSubmatchIndex(text)
	if at == nil {
		return "no match"
	}
	var list []string
	for i, name := range p.Fields {
		if name != "" && at[2*i] >= 0 {
			list = append(list, fmt.Sprintf("%s=%s", name, text[at[2*i]:at[2*i+1]]))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "|")
}

func TestCompile(t *testing.T) {
	for _, c := range []struct{ name, source, text, want string }{
		{"fields", "%{IP:client} %{WORD:method} %{NUMBER:took}", "10.9.8.7 PUT 0.25",
			"client=10.9.8.7|method=PUT|took=0.25"},
		{"search", "%{INT:n}", "abc -12 d", "n=-12"},
		{"no field", "%{WORD} %{WORD:b}", "x y", "b=y"},
		{"dotted field", "%{WORD:a.b[c]}", "x", "a.b[c]=x"},
		{"inline definition", "%{SHORT:x=[a-c]{2}}", "zzabz", "x=ab"},
		{"extract with definition", "%{NUMERO:n:extract=\\d+}", "ab12", "n=12"},
		{"group with a name", `(?<word>\w+)-(?P<other>\w+)`, "a-b", "other=b|word=a"},
		{"the same field twice", "%{IP:x}|%{WORD:x}", "word", "x=word"},
		{"IPv6", "%{IP:x}", "from 2001:db8::1 on", "x=2001:db8::1"},
		{"IPv6 all", "^%{IP:x}$", "fe80::1ff:fe23:4567:890a", "x=fe80::1ff:fe23:4567:890a"},
		{"mapped IPv6", "^%{IP:x}$", "::ffff:1.2.3.4", "x=::ffff:1.2.3.4"},
		{"uuid", "%{UUID:x}", "id 123e4567-e89b-12d3-a456-426614174000.", "x=123e4567-e89b-12d3-a456-426614174000"},
		{"quoted", "%{QS:x}", `a "b \" c" d`, `x="b \" c"`},
		{"mac", "%{MAC:x}", "at 00:1B:44:11:3A:B7", "x=00:1B:44:11:3A:B7"},
		{"path", "%{PATH:x}", "in /usr/lib/x.so now", "x=/usr/lib/x.so"},
		{"uri", "%{URI:x}", "to https://u@ex.com:80/a?b=c now", "port=80|x=https://u@ex.com:80/a?b=c"},
		{"hostname", "%{HOSTNAME:x}", "-> my-host.example.com", "x=my-host.example.com"},
		{"month", "%{MONTH:x} %{MONTHDAY:d}", "on March 31", "d=31|x=March"},
		{"iso time", "%{TIMESTAMP_ISO8601:t}", "at 2024-02-29T08:00:01.5+01:00 x", "t=2024-02-29T08:00:01.5+01:00"},
		{"level", "%{LOGLEVEL:l}", "a WARNING b", "l=WARNING"},
		{"syslog", "%{SYSLOGLINE}", "Oct 11 22:14:15 host su[77]: failed",
			"logsource=host|message=failed|pid=77|program=su|timestamp=Oct 11 22:14:15"},
		{"common", "%{COMMONAPACHELOG}", `1.2.3.4 - bob [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 23`,
			"auth=bob|bytes=23|clientip=1.2.3.4|httpversion=1.0|ident=-|request=/a|response=200|timestamp=10/Oct/2000:13:55:36 -0700|verb=GET"},
		{"combined", "%{COMBINEDAPACHELOG}", `h - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 - "-" "UA"`,
			`agent="UA"|auth=-|clientip=h|httpversion=1.0|ident=-|referrer="-"|request=/a|response=200|timestamp=10/Oct/2000:13:55:36 -0700|verb=GET`},
		{"redis", "%{REDISMONLOG}", `1339518083.107412 [0 127.0.0.1:60866] "keys" "*"`,
			`client=127.0.0.1|command=keys|database=0|params="*"|port=60866|timestamp=1339518083.107412`},
		{"anchored number", "^%{INT:n}$", "abc", "no match"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fields(t, c.source, c.text); got != c.want {
				t.Errorf("%s on %q\n got %s\nwant %s", c.source, c.text, got, c.want)
			}
		})
	}
}

func TestAllPatternsCompile(t *testing.T) {
	for name := range patterns {
		if _, err := Compile("%{"+name+":x}", nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for source, want := range map[string]string{
		"%{NOPE:x}": "no pattern has the name", "%{WORD": "is not closed", "%{}": "not a name", "%{A=%{A}}": "deeper",
		"(?=a)": "look-around",
		"%{A:x=" + strings.Repeat("%{IPV6}", 200) + "}": "more than",
	} {
		if _, err := Compile(source, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v, want %q", source, err, want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"%{IP:client} %{WORD:m}", "%{A=%{B=x}}%{A}", "(?<n>a)%{NUMBER:n}",
		"%{X:f:extract=[a-z]{2}}", "%{DATA:a}%{GREEDYDATA:b}$"} {
		f.Add(s, "10.0.0.1 GET é")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		p, err := Compile(source, nil)
		if err != nil {
			return
		}
		if len(p.Fields) != len(p.Regex.Names) {
			t.Fatalf("%q: %d fields, %d groups", source, len(p.Fields), len(p.Regex.Names))
		}
		p.Regex.On(nil, text).FindStringSubmatchIndex(text)
	})
}
