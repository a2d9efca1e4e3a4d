package web

import (
	"testing"

	"github.com/valyala/fasthttp"
)

func TestPathText(t *testing.T) {
	for _, c := range []struct {
		raw, text string
		ok        bool
	}{
		{"plain", "plain", true},
		{"a%2Fb", "a/b", true},
		{"a+b", "a+b", true},
		{"%C3%A4", "ä", true},
		{"", "", true},
		{"%FF", "\xff", false},
		{"%zz", "%zz", false},
		{"50%", "50%", false},
	} {
		rc := &fasthttp.RequestCtx{}
		rc.SetUserValue("name", c.raw)
		text, raw, ok := (&Ctx{RequestCtx: rc}).PathText("name")
		if text != c.text || raw != c.raw || ok != c.ok {
			t.Errorf("%q: %q, %q, %v", c.raw, text, raw, ok)
		}
	}
}
