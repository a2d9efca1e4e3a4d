package stage

import (
	"strings"
	"testing"
	"time"
)

// TestFunctions holds each function of templates.
func TestFunctions(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 123456789, time.UTC)
	for _, c := range []struct{ template, want string }{
		{`{{ToLower "ÄB"}}{{lower "C"}}{{ToUpper "äb"}}{{upper "c"}}`, "äbcÄBC"},
		{`{{Replace "aaa" "a" "b" 2}} {{replace "-c" "" "x-c-c"}}`, "bba x"},
		{`{{Trim "xax" "x"}}{{TrimLeft "xbx" "x"}}{{TrimRight "xcx" "x"}}`, "abxxc"},
		{`{{TrimPrefix "/a" "/"}}{{TrimSuffix "b/" "/"}}{{TrimSpace " c "}}`, "abc"},
		{`{{trim "  hello "}}|{{trimAll "$" "$5.00$"}}|{{trimPrefix "-" "-h"}}|{{trimSuffix "-" "h-"}}`,
			"hello|5.00|h|h"},
		{`{{title "hello wORLD it's"}}`, "Hello WORLD It's"},
		{`{{trunc 5 "hello world"}}|{{trunc -5 "hello world"}}|{{trunc 20 "x"}}|{{trunc -20 "x"}}`, "hello|world|x|x"},
		{`{{substr 0 5 "hello world"}}|{{substr 6 11 "hello world"}}|{{substr -1 2 "abc"}}|{{substr 1 -1 "abc"}}`,
			"hello|world|ab|bc"},
		{`{{substr 9 10 "abc"}}|{{substr 2 1 "abc"}}|{{substr -1 -1 "abc"}}`, "||"},
		{`{{trunc 2 "äöü"}}|{{trunc -1 "äöü"}}|{{substr 1 2 "äöü"}}|{{substr 1 -1 "äöü"}}`, "äö|ü|ö|öü"},
		{`{{if contains "he" "hello"}}yes{{else}}no{{end}} {{hasPrefix "he" "hello"}} {{hasSuffix "he" "hello"}}`,
			"yes true false"},
		{`{{if and (contains "he" "hello") (eq "a" "a")}}yes{{end}}`, "yes"},
		{`{{repeat 3 "ab"}}`, "ababab"}, {"{{indent 2 \"a\\nb\"}}|{{nindent 1 \"a\"}}", "  a\n  b|\n a"},
		{`[{{alignLeft 5 "hi"}}] [{{alignLeft 5 "hello world"}}]`, "[hi   ] [hello]"},
		{`[{{alignRight 5 "hi"}}] [{{alignRight 5 "hello world"}}]`, "[   hi] [world]"},
		{`{{alignLeft 2 "äöü"}}{{alignRight 1 "äöü"}}{{alignLeft -1 "x"}}`, "äöüx"},
		{`{{printf "%s is %05.1f" .app 1.25}}`, "shop is 001.2"},
		{`{{default "-" ""}}{{default "-" "x"}}{{.none | default "n"}}`, "-xn"},
		{`{{range $q := fromJson "[{\"a\":1},{\"a\":\"b\"}]"}}{{$q.a}};{{end}}{{fromJson "x"}}`, "1;b;"},
		{`{{range $k, $v := fromJson "{\"b\":2,\"a\":[1]}"}}{{$k}}={{$v}} {{end}}`, "a=[1] b=2 "},
		{`{{range fromJson "no"}}x{{else}}none{{end}}`, "none"},
		{`{{b64enc "hello"}} {{b64dec "aGVsbG8="}}`, "aGVsbG8= hello"},
		{`{{urlencode "a b/ü"}} {{urldecode "a+b%2F"}}`, "a+b%2F%C3%BC a b/"},
		{`{{count "a|b" "abab"}} {{count "o" "foo"}} {{__line__ | count "l"}}`, "4 2 2"},
		{`{{regexReplaceAll "(a*)bc" "aabc bc" "${1}x"}} {{regexReplaceAllLiteral "(ts=)" "ts=1" "$1="}}`,
			"aax x $1=1"},
		{`{{regexReplaceAll "x*" "ab" "-"}} {{regexReplaceAll "z" "ab" "-"}}`, "-a-b- ab"},
		{`{{bytes "2 KiB"}} {{duration "1m"}} {{duration_seconds "250ms"}}`, "2048 60 0.25"},
		{`{{add 3 2 5}} {{sub 5 2}} {{mul 5 2 3}} {{div 10 3}} {{mod 10 3}} {{max 1 3 2}} {{min 3 1 2}}`,
			"10 3 30 3 1 3 1"},
		{`{{add "7" "0x10" "x" 1.9}} {{div .n 1000}} {{sub .n "1.0"}}`, "24 3 2999"},
		{`{{addf 3.5 2 5}} {{subf 5.5 2 1.5}} {{mulf 5.5 2 2.5}} {{divf 10 2 4}} {{maxf 1 2.5 "3"}} {{minf 1 2.5}}`,
			"10.5 2 27.5 1.25 3 1"},
		{`{{ceil 123.001}} {{floor "123.9"}} {{round 123.555555 3}} {{round 123.88571428571 5 .2}} {{round 2.5 0}}`,
			"124 123 123.556 123.88572 3"},
		{`{{"3" | int}} {{"3.5" | float64}} {{int 4.9}}`, "3 3.5 4"},
		{`{{__timestamp__ | date "2006-01-02T15:04:05.000Z07:00"}}`, "2026-11-28T12:00:00.123Z"},
		{`{{unixEpoch __timestamp__}} {{unixEpochMillis __timestamp__}} {{unixEpochNanos __timestamp__}}`,
			"1795867200 1795867200123 1795867200123456789"},
		{`{{__timestamp__}}`, "2026-11-28 12:00:00.123456789 +0000 UTC"},
		{`{{date "2006" now | int | min 2026}}`, "2026"},
		{`{{toDate "2006-01-02" "2021-11-02" | unixEpoch}} {{toDateInZone "2006-01-02" "UTC" "2021-11-02" | unixEpoch}}`,
			"1635811200 1635811200"},
		{`{{toDate "2006" "x" | unixEpoch}}`, "-62135596800"},
		{`{{unixToTime "1679577215" | date "2006-01-02"}} {{unixToTime "1679577215123" | unixEpoch}}`,
			"2023-03-23 1679577215"},
		{`{{unixToTime "19439" | date "2006-01-02"}}`, "2023-03-23"},
		{`{{define "t"}}<{{.}}>{{end}}{{template "t" .app}}{{template "t" 1}}`, "<shop><1>"},
		{`{{with .app}}{{.}}{{end}}{{$x := .app}}{{$x}}{{$.app}}`, "shopshopshop"},
		{`{{ .app | replace "s" "S" | trunc 2 | upper }}`, "SH"},
		{`{{/* nothing */}}a{{- " b" -}} c`, "a bc"},
	} {
		p := compile(t, "| line_format `"+c.template+"`", everything)
		e := p.NewEntry()
		e.SetStream(labelsOf("app", "shop", "n", "3000"))
		if !p.Run(e, noon.UnixNano(), []byte("all"), nil) || e.Err != "" || string(e.Line) != c.want {
			t.Errorf("%s: got %q %s, want %q", c.template, e.Line, e.Details, c.want)
		}
	}
	for _, c := range []struct{ template, want string }{
		{`{{duration "x"}}`, `time: invalid duration "x"`}, {`{{mod 1 0}}`, "divide by zero"},
		{`{{regexReplaceAll "(" "" ""}}`, "missing closing )"}, {`{{unixToTime "12"}}`, "unexpected number of digits"},
		{`{{range .app}}{{end}}`, "range can't iterate over shop"}, {`{{urldecode "%zz"}}`, "invalid URL escape"},
	} {
		p := compile(t, "| line_format `"+c.template+"`", everything)
		e := p.NewEntry()
		e.SetStream(labelsOf("app", "shop"))
		if !p.Run(e, 0, []byte("l"), nil) || e.Err != ErrTemplate || !strings.Contains(e.Details, c.want) ||
			string(e.Line) != "l" {
			t.Errorf("%s: got %q %s(%s), want an error with %q", c.template, e.Line, e.Err, e.Details, c.want)
		}
	}
}
