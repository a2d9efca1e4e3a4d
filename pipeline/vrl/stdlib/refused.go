package stdlib

import (
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// refusedFunctions are known and do not run: scripts come over HTTP and must not reach the server's files, environment
// or network. Those that would read a file when compiled are errors then, the others fail when they run.
var refusedFunctions = []vrl.Function{
	refusedFile("encode_proto", arg("value", vrl.Object), arg("desc_file", vrl.String), arg("message_type", vrl.String),
		flag("allow_lossy_string_coercion", false)),
	refusedFile("parse_proto", arg("value", vrl.String), arg("desc_file", vrl.String), arg("message_type", vrl.String)),
	refusedFile("validate_json_schema", arg("value", vrl.String), arg("schema_definition", vrl.String),
		flag("ignore_unknown_formats", false)),
	refusedAtRun("get_env_var", vrl.Of(vrl.String), "the environment of the server is not for scripts",
		arg("name", vrl.String)),
	refusedAtRun("dns_lookup", vrl.Of(vrl.Object), "scripts have no access to the network", arg("value", vrl.String),
		opt("qtype", vrl.String), opt("class", vrl.String), opt("options", vrl.Object)),
	refusedAtRun("reverse_dns", vrl.Of(vrl.String), "scripts have no access to the network", arg("value", vrl.String)),
	refusedAtRun("http_request", vrl.Of(vrl.String), "scripts have no access to the network", arg("url", vrl.String),
		opt("method", vrl.String), opt("headers", vrl.Object), opt("body", vrl.String),
		opt("http_proxy", vrl.String), opt("https_proxy", vrl.String), opt("redact_headers", vrl.Boolean)),
}

func refusedFile(name string, params ...vrl.Param) vrl.Function {
	return vrl.Function{Name: name, Params: params, Fails: vrl.Always, Returns: vrl.Of(vrl.AnyValue),
		Compile: func(c *vrl.Call) (vrl.Run, error) {
			return nil, c.Refused("%s reads a file of the server, which is not for scripts", name)
		}}
}

func refusedAtRun(name string, returns vrl.Type, why string, params ...vrl.Param) vrl.Function {
	text := value.String(why)
	return vrl.Function{Name: name, Params: params, Fails: vrl.Always, Returns: returns,
		Run: func(f *vrl.Frame, _ []value.Value) (value.Value, *vrl.Failure) {
			return f.Fail("%s", text)
		}}
}
