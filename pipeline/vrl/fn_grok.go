package vrl

import (
	"varve/pipeline/value"
	"varve/pipeline/vrl/grok"
)

// grokFunctions match by named patterns.
var grokFunctions = []Function{
	{Name: "parse_grok", Params: []Param{arg("value", String), arg("pattern", String).constant()}, Fails: Always,
		Returns: ObjectOfAny(Of(String)), Compile: compileGrok},
}

func compileGrok(c *Call) (Run, error) {
	source, _ := c.Const("pattern")
	p, err := grok.Compile(source.Str())
	if err != nil {
		return nil, c.InvalidGrok("pattern", "%v", err)
	}
	return func(f *Frame, args []value.Value) (value.Value, *Failure) {
		s := args[0].Str()
		groups := p.Regex.On(s).FindStringSubmatchIndex(s)
		if groups == nil {
			return f.Fail("unable to parse input with grok pattern")
		}
		o := f.Arena.Object(len(p.Fields))
		for i, field := range p.Fields {
			if field != "" && groups[2*i] >= 0 {
				o.Set(f.Arena, field, value.String(s[groups[2*i]:groups[2*i+1]]))
			}
		}
		return o.Of(), nil
	}, nil
}
