package vrl_test

import (
	"strings"
	"testing"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// textPrograms are calls of every function that reads a text, with the settings that lead elsewhere.
var textPrograms = []string{
	`parse_json(.s) ?? 0`, `parse_json(.s, max_depth: 2, lossy: false) ?? 0`, `parse_key_value(.s) ?? 0`,
	`parse_key_value(.s, "::", "||", "strict", false) ?? 0`,
	`parse_key_value(.s, ":", ",") ?? 0`, `parse_syslog(.s) ?? 0`, `parse_common_log(.s) ?? 0`,
	`parse_apache_log(.s, "combined") ?? 0`, `parse_apache_log(.s, "error") ?? 0`,
	`parse_nginx_log(.s, "combined") ?? 0`, `parse_nginx_log(.s, "error") ?? 0`, `parse_nginx_log(.s, "main") ?? 0`,
	`parse_nginx_log(.s, "ingress_upstreaminfo") ?? 0`,
	`parse_csv(.s) ?? 0`, `parse_tokens(.s)`, `parse_url(.s) ?? 0`, `parse_query_string(.s)`,
	`parse_duration(.s, "s") ?? 0`, `parse_bytes(.s, "MB", "10") ?? 0`,
	`parse_int(.s) ?? 0`, `parse_float(.s) ?? 0`, `to_int(.s) ?? 0`, `to_bool(.s) ?? 0`, `to_regex(.s) ?? 0`,
	`parse_timestamp("2024-02-29 08:00", .s) ?? 0`, `format_timestamp(t'2024-02-29T08:00:00Z', .s) ?? 0`,
	`parse_timestamp(.s, "%+") ?? 0`, `parse_cef(.s) ?? 0`, `parse_cef(.s, true, false) ?? 0`, `parse_glog(.s) ?? 0`,
	`parse_klog(.s) ?? 0`, `parse_influxdb(.s) ?? 0`, `parse_xml(.s) ?? 0`,
	`parse_yaml(.s) ?? 0`, `parse_cbor(.s) ?? 0`, `parse_ruby_hash(.s) ?? 0`, `parse_aws_alb_log(.s, false) ?? 0`,
	`parse_aws_vpc_flow_log(.s) ?? 0`,
	`parse_aws_cloudwatch_log_subscription_message(.s) ?? 0`, `parse_grok(.s, "%{COMBINEDAPACHELOG}") ?? 0`,
	`parse_groks(.s, ["%{data::keyvalue}"]) ?? 0`, `parse_groks(.s, ["%{date(\"yyyy-MM-dd HH:mm:ss.SSS z\"):d}"]) ?? 0`,
	`parse_groks(.s, ["%{data:a:array(\"[]\", \";\", number)}"]) ?? 0`,
	`decode_gzip(.s) ?? 0`, `decode_zlib(.s) ?? 0`, `decode_zstd(.s) ?? 0`, `decode_snappy(.s) ?? 0`,
	`decode_lz4(.s) ?? 0`, `decode_lz4(.s, prepended_size: true) ?? 0`,
	`decode_base64(.s) ?? 0`, `decode_base16(.s) ?? 0`, `decode_percent(.s)`, `encode_percent(.s)`,
	`decode_mime_q(.s) ?? 0`, `decode_punycode(.s) ?? 0`, `encode_punycode(.s) ?? 0`,
	`decode_charset(.s, "shift_jis") ?? 0`, `encode_charset(.s, "gb18030") ?? 0`, `upcase(.s)`, `downcase(.s)`,
	`camelcase(.s)`, `snakecase(.s)`, `strip_ansi_escape_codes(.s)`,
	`truncate(.s, 3, "..")`, `split(.s, "")`, `split(.s, r'\W*')`, `replace(.s, r'(\w)(?P<n>.)?', "$2${n}$$")`,
	`sieve(.s, r'\w', "?", "!")`, `chunks(.s, 3)`, `redact(.s, ["us_social_security_number", r'\d+'])`,
	`find(.s, r'\b', 1)`, `parse_regex_all(.s, r'(?P<a>.)(b)?', true) ?? 0`, `shannon_entropy(.s, "grapheme")`,
	`basename(.s) ?? 0`, `dirname(.s) ?? 0`, `split_path(.s)`, `parse_etld(.s, 2) ?? 0`,
	`uuid_from_friendly_id(.s) ?? 0`, `ip_aton(.s) ?? 0`, `ip_pton(.s) ?? 0`, `ip_ntop(.s) ?? 0`,
	`ip_cidr_contains(.s, "10.0.0.1") ?? 0`, `ip_subnet("10.0.0.1", .s) ?? 0`, `ipv6_to_ipv4(.s) ?? 0`,
	`crc(.s)`, `seahash(.s)`, `xxhash(.s)`, `md5(.s)`, `encode_json(.)`, `encode_key_value(.)`,
	`encode_csv([.s, 1]) ?? 0`, `is_json(.s)`, `slice(.s, 1, -1) ?? 0`,
	`flatten({"a": {"b": .s}}, .s)`, `unflatten({"x": .s, "a.b": 1})`,
	`encrypt(.s, "AES-128-CBC-PKCS7", "0123456789abcdef", "0123456789abcdef") ?? 0`,
	`decrypt(.s, "AES-128-CBC-ISO7816", "0123456789abcdef", "0123456789abcdef") ?? 0`,
}

// FuzzText calls with any text every function that reads one: each gives a value of its type or a failure, and nothing
// much larger than the text.
func FuzzText(f *testing.F) {
	var programs []*vrl.Program
	for _, source := range textPrograms {
		p, err := vrl.Compile(".s = string!(.s)\n"+source, stdlib.Library, vrl.Options{})
		if err != nil {
			f.Fatalf("%s: %v", source, err)
		}
		programs = append(programs, p)
	}
	for _, s := range []string{
		`{"a":[1,2.5,"x"]}`, `a=1 b="x y" c`,
		`<165>1 2003-10-11T22:14:15.003Z host app 1 ID [ex@1 k="v\"" j=""][b] msg`, `<34>Oct 11 22:14:15 h su[7]: x`,
		`1.2.3.4 - bob [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 23 "-" "UA \" x"`,
		`2021/04/01 13:02:31 [error] 31#31: *1 open() failed, client: 1.2.3.4, host: "h"`,
		`a,"b""c",`, `http://u:p@[::1]:80/a/../b?x=1&x#f`, `1h 30.5m`, `CEF:0|a|b|c|d|e\|f|1|k=v\= l=m`,
		`I20210131 14:48:54.411655 15520 main.c++:9] x`, `cpu,host=A a=1i,b="x" 15`,
		`<a b="1"><c>2</c>x</a>`, "a: &x [1]\nb: *x\n<<: {c: 1}", `{ "a" => [nil, :b], c: 1 }`, "\x1b[1mx\x1b]0;t\x07",
		"é\xff\u0301", "%Y-%m-%d %H:%M:%S%.f %z", "=?utf-8?q?a=20?=",
		"[1;2]", "2024-02-29 08:00:00.5 CET", "\xa1\x61\x61\x82\x01\xf6", "xn--caf-dma.com", "10.0.0.0/8", "/24",
	} {
		f.Add(s)
	}
	arena := new(value.Arena)
	frame := vrl.NewFrame(arena)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<14 {
			return
		}
		for i, p := range programs {
			arena.Reset()
			o := arena.Object(1)
			o.Set(arena, "s", value.String(s))
			event := o.Of()
			v, err := p.Run(frame, &event)
			if err != nil {
				if strings.Contains(textPrograms[i], "??") {
					t.Fatalf("%s of %q fails: %v", textPrograms[i], s, err)
				}
				continue
			}
			if !vrl.Conforms(p.Result(), v) {
				t.Fatalf("%s of %q is %s, not of type %s", textPrograms[i], s, value.AppendJSON(nil, v), p.Result())
			}
			if n := len(value.AppendJSON(nil, v)); n > 1<<16+400*len(s) &&
				!strings.HasPrefix(textPrograms[i], "decode_") {
				t.Fatalf("%s makes %d bytes of %d", textPrograms[i], n, len(s))
			}
		}
	})
}
