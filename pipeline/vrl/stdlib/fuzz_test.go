package stdlib

import (
	"testing"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// FuzzQuery compiles any text as a query and runs what compiles.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{`a AND (b OR -c:d*)`, `@x.y:[1 TO *} "q \" r"`, `_exists_:@a _missing_:b`,
		`*:* && !a || tags:(a b)`, `a:>=5`} {
		f.Add(s)
	}
	event, _ := value.ReadJSON(nil,
		`{"message":"a b","x":{"y":5},"tags":["a:1","b"],"custom":{"error":{"message":"c"}}}`, value.JSONOptions{})
	f.Fuzz(func(t *testing.T, s string) {
		if test, err := compileQuery(s); err == nil {
			test(event)
		}
	})
}

// FuzzRule compiles any text as a rule of parse_groks and runs what compiles.
func FuzzRule(f *testing.F) {
	for _, s := range []string{`%{date("yyyy-MM-dd'T'HH:mm:ss.SSSZ"):d} %{data:a.b:array("[]", ",", scale(2))}`,
		`%{number:n:scale(0.5)}%{notSpace:x:nullIf("-")}`,
		`%{data::keyvalue("=", "/", "<>", "|")}`, `(?<g>\d+)%{IP:ip}`,
		`%{boolean("yes","no"):b} %{regex("[a-z]{2}"):r} %{a:f["q"]:uppercase}`} {
		f.Add(s, "2024-02-29T08:00:00.000Z [1,2]")
	}
	frame := vrl.NewFrame(new(value.Arena))
	p, err := vrl.Compile(".", Library, vrl.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		r, err := compileRule(source, map[string]string{"a": "%{word:w}", "b": "%{b}"}, nil)
		if err != nil || len(text) > 1<<12 {
			return
		}
		event := frame.Arena.Object(0).Of()
		if _, err := p.Run(frame, &event); err != nil { // gives the frame its zone and budget
			t.Fatal(err)
		}
		if groups := r.pattern.Regex.On(nil, text).FindStringSubmatchIndex(text); groups != nil {
			r.object(frame, text, groups)
		}
		frame.Arena.Reset()
	})
}
