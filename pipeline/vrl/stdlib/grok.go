package stdlib

import (
	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/grok"
)

// grokFunctions match by named patterns.
var grokFunctions = []vrl.Function{
	{Name: "parse_grok", Params: []vrl.Param{arg("value", vrl.String), constant(arg("pattern", vrl.String))},
		Fails:   vrl.Always,
		Returns: vrl.ObjectOfAny(vrl.Of(vrl.String)), Compile: compileGrok},
}

func compileGrok(c *vrl.Call) (vrl.Run, error) {
	source, _ := c.Const("pattern")
	p, err := grok.Compile(source.Str(), c.Room())
	if err != nil {
		return nil, c.InvalidGrok("pattern", "%v", err)
	}
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		s := args[0].Str()
		groups := p.Regex.On(f.Arena, s).FindStringSubmatchIndex(s)
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
