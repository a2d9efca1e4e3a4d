package vrl

import "varve/pipeline/value"

// refusedFunctions are known and do not run: scripts come over HTTP and must not reach the server's files, environment or
// network. Those that would read a file when compiled are errors then, the others fail when they run.
var refusedFunctions = []Function{
	refusedFile("encode_proto", arg("value", Object), arg("desc_file", String), arg("message_type", String), flag("allow_lossy_string_coercion", false)),
	refusedFile("parse_proto", arg("value", String), arg("desc_file", String), arg("message_type", String)),
	refusedFile("validate_json_schema", arg("value", String), arg("schema_definition", String), flag("ignore_unknown_formats", false)),
	refusedAtRun("get_env_var", Of(String), "the environment of the server is not for scripts", arg("name", String)),
	refusedAtRun("dns_lookup", Of(Object), "scripts have no access to the network", arg("value", String), opt("qtype", String), opt("class", String), opt("options", Object)),
	refusedAtRun("reverse_dns", Of(String), "scripts have no access to the network", arg("value", String)),
	refusedAtRun("http_request", Of(String), "scripts have no access to the network", arg("url", String), opt("method", String), opt("headers", Object), opt("body", String),
		opt("http_proxy", String), opt("https_proxy", String), opt("redact_headers", Boolean)),
}

func refusedFile(name string, params ...Param) Function {
	return Function{Name: name, Params: params, Fails: Always, Returns: Of(AnyValue), Compile: func(c *Call) (Run, error) {
		return nil, c.Refused("%s reads a file of the server, which is not for scripts", name)
	}}
}

func refusedAtRun(name string, returns Type, why string, params ...Param) Function {
	text := value.String(why)
	return Function{Name: name, Params: params, Fails: Always, Returns: returns, Run: func(f *Frame, _ []value.Value) (value.Value, *Failure) {
		return f.Fail("%s", text)
	}}
}
