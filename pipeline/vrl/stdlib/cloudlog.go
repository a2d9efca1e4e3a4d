package stdlib

import (
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// cloudlogFunctions read the logs of a cloud's load balancers and networks.
var cloudlogFunctions = []vrl.Function{
	{Name: "parse_aws_alb_log", Params: []vrl.Param{arg("value", vrl.String), flag("strict_mode", true)},
		Fails: vrl.Always, Returns: albType(), Run: parseALB},
	{Name: "parse_aws_vpc_flow_log", Params: []vrl.Param{arg("value", vrl.String), opt("format", vrl.String)},
		Fails: vrl.Always,
		Returns: vrl.ObjectOf(append(fieldsOf(vrl.Of(vrl.String, vrl.Null), vpcTexts...),
			fieldsOf(vrl.Of(vrl.Integer, vrl.Null), vpcNumbers...)...)...), Run: parseVPC},
	{Name: "parse_aws_cloudwatch_log_subscription_message", Params: stringParam, Fails: vrl.Always,
		Returns: cloudwatchType, Run: parseCloudwatch},
}

// albField is one field of a load balancer's line, in order of the line.
type albField struct {
	name   string
	quoted bool
	kind   vrl.Kinds // String, Integer, Float or Array; a String may be a dash, which is null
}

// albRequest is the request, which gives three fields.
const albRequest = "request"

// albFields are the fields of the format that every line has. Source: the vendor's documentation of the access logs of
// application load balancers.
var albFields = []albField{
	{"type", false, vrl.String}, {"timestamp", false, vrl.String}, {"elb", false, vrl.String},
	{"client_host", false, vrl.String},
	{"target_host", false, vrl.String}, {"request_processing_time", false, vrl.Float},
	{"target_processing_time", false, vrl.Float},
	{"response_processing_time", false, vrl.Float}, {"elb_status_code", false, vrl.String},
	{"target_status_code", false, vrl.String},
	{"received_bytes", false, vrl.Integer}, {"sent_bytes", false, vrl.Integer}, {albRequest, true, vrl.String},
	{"user_agent", true, vrl.String},
	{"ssl_cipher", false, vrl.String}, {"ssl_protocol", false, vrl.String}, {"target_group_arn", false, vrl.String},
	{"trace_id", true, vrl.String},
	{"domain_name", true, vrl.String}, {"chosen_cert_arn", true, vrl.String},
	{"matched_rule_priority", false, vrl.String},
	{"request_creation_time", false, vrl.String}, {"actions_executed", true, vrl.String},
	{"redirect_url", true, vrl.String},
	{"error_reason", true, vrl.String}, {"target_port_list", true, vrl.Array},
	{"target_status_code_list", true, vrl.Array},
	{"classification", true, vrl.String}, {"classification_reason", true, vrl.String},
}

func albType() vrl.Type {
	var list []vrl.Known
	for _, p := range albFields {
		t := vrl.Of(p.kind)
		switch {
		case p.name == albRequest:
			list = append(list, fieldsOf(vrl.Of(vrl.String, vrl.Null), "request_method", "request_url",
				"request_protocol")...)
			continue
		case p.kind == vrl.Array:
			t = vrl.ArrayOf(vrl.Of(vrl.String)).Or(vrl.Null)
		case p.kind == vrl.String: // a dash may stand anywhere
			t = t.Or(vrl.Null)
		}
		list = append(list, knownField(p.name, t))
	}
	return vrl.ObjectOf(append(list, knownField("traceability_id", vrl.Of(vrl.String, vrl.Null)))...)
}

// parseALB reads a line of a load balancer. In strict mode nothing may follow what is known.
func parseALB(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	a := f.Arena
	o := a.Object(len(albFields) + 3)
	s := args[0].Str()
	for i := range albFields {
		p := &albFields[i]
		if i > 0 {
			if !strings.HasPrefix(s, " ") {
				return f.Fail("failed to get field `%s`: the line ends", value.String(p.name))
			}
			s = s[1:]
		}
		text, rest, ok := albText(a, s)
		if !ok || p.quoted && p.kind != vrl.Array && s[0] != '"' {
			return f.Fail("failed to get field `%s`", value.String(p.name))
		}
		s = rest
		if p.name == albRequest {
			if !addRequest(a, o, text) {
				return f.Fail("failed to get field `request_url`")
			}
			continue
		}
		v, ok := p.value(a, text)
		if !ok {
			return f.Fail("failed to get field `%s`: %s is not a number", value.String(p.name), value.String(text))
		}
		o.Append(a, p.name, v)
	}
	trace := value.Null
	if strings.HasPrefix(s, " TID_") {
		var text string
		text, s, _ = albText(a, s[1:])
		trace = value.String(text)
	}
	o.Append(a, "traceability_id", trace)
	if s != "" && args[1].True() {
		return f.Fail("Log should be fully consumed: %q", value.String(s))
	}
	o.Sort()
	return o.Of(), nil
}

// albText takes the text of a field, in quotes or up to the next blank.
func albText(a *value.Arena, s string) (text, rest string, ok bool) {
	if strings.HasPrefix(s, `"`) {
		end := valueEnd(s, 1)
		if end == 0 {
			return "", "", false
		}
		text = s[1 : end-1]
		if strings.IndexByte(text, '\\') >= 0 {
			text = unescaped(a, text, '"')
		}
		return text, s[end:], true
	}
	end := strings.IndexByte(s, ' ')
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:], end > 0
}

// value makes the value of a field.
func (p *albField) value(a *value.Arena, text string) (value.Value, bool) {
	switch p.kind {
	case vrl.Integer:
		n, why := decimal(text)
		return value.Int(n), why == ""
	case vrl.Float:
		x, ok := floatOf(text)
		return value.Float(x), ok
	case vrl.Array:
		list := a.Array(1)
		for word := range strings.FieldsSeq(text) {
			if word != "-" {
				list.Push(a, value.String(word))
			}
		}
		return list.Of(), true
	}
	if text == "-" {
		return value.Null, true
	}
	return value.String(text), true
}

// addRequest adds method, address and protocol of a request.
func addRequest(a *value.Arena, o *value.Object, text string) bool {
	method, rest, ok := strings.Cut(text, " ")
	last := strings.LastIndexByte(rest, ' ')
	if !ok || last < 0 {
		return false
	}
	orNull := func(s string) value.Value {
		if s == "-" {
			return value.Null
		}
		return value.String(s)
	}
	o.Append(a, "request_method", orNull(method))
	o.Append(a, "request_url", value.String(rest[:last]))
	o.Append(a, "request_protocol", orNull(rest[last+1:]))
	return true
}

// The fields of flow logs up to version 8. Source: the vendor's documentation of flow log records.
var (
	vpcNumbers = []string{"bytes", "dstport", "end", "packets", "protocol", "srcport", "start", "tcp_flags",
		"traffic_path", "version"}
	vpcTexts = []string{"account_id", "action", "az_id", "dstaddr", "flow_direction", "instance_id", "interface_id",
		"log_status", "pkt_dstaddr", "pkt_dst_aws_service",
		"pkt_srcaddr", "pkt_src_aws_service", "region", "srcaddr", "sublocation_id", "sublocation_type", "subnet_id",
		"type", "vpc_id", "ecs_cluster_arn",
		"ecs_cluster_name", "ecs_container_instance_arn", "ecs_container_instance_id", "ecs_container_id",
		"ecs_second_container_id", "ecs_service_name",
		"ecs_task_definition_arn", "ecs_task_arn", "ecs_task_id", "reject_reason"}
)

// vpcKinds are the kinds of the fields by name.
var vpcKinds = func() map[string]vrl.Kinds {
	kinds := map[string]vrl.Kinds{}
	for _, name := range vpcNumbers {
		kinds[name] = vrl.Integer
	}
	for _, name := range vpcTexts {
		kinds[name] = vrl.String
	}
	return kinds
}()

const vpcDefault = "version account_id interface_id srcaddr dstaddr srcport dstport protocol packets bytes start end " +
	"action log_status"

func parseVPC(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	format, s := vpcDefault, args[0].Str()
	if !args[1].IsNull() {
		format = args[1].Str()
	}
	o := f.Arena.Object(16)
	for {
		key, keys, moreKeys := strings.Cut(format, " ")
		text, rest, moreTexts := strings.Cut(s, " ")
		v := value.Null
		switch kind := vpcKinds[key]; {
		case kind == 0:
			return f.Fail("unknown key: `%s`", value.String(key))
		case text == "-":
		case kind == vrl.Integer:
			n, why := decimal(text)
			if why != "" {
				return f.Fail("failed to parse value as i64 (key: `%s`): `%s`", value.String(key), value.String(text))
			}
			v = value.Int(n)
		default:
			v = value.String(text)
		}
		if _, again := o.Get(key); again {
			return f.Fail("value already exists for key: `%s`", value.String(key))
		}
		o.Set(f.Arena, key, v)
		switch {
		case moreKeys && !moreTexts:
			key, _, _ = strings.Cut(keys, " ")
			return f.Fail("no item for key: `%s`", value.String(key))
		case !moreKeys && moreTexts:
			text, _, _ = strings.Cut(rest, " ")
			return f.Fail("no key for value: `%s`", value.String(text))
		case !moreKeys:
			return o.Of(), nil
		}
		format, s = keys, rest
	}
}

var cloudwatchType = vrl.ObjectOf(knownField("owner", vrl.Of(vrl.String)),
	knownField("message_type", vrl.Of(vrl.String)), knownField("log_group", vrl.Of(vrl.String)),
	knownField("log_stream", vrl.Of(vrl.String)),
	knownField("subscription_filters", vrl.ArrayOf(vrl.Of(vrl.String))),
	knownField("log_events", vrl.ArrayOf(vrl.ObjectOf(knownField("id", vrl.Of(vrl.String)),
		knownField("timestamp", vrl.Of(vrl.Timestamp)), knownField("message", vrl.Of(vrl.String))))))

// parseCloudwatch reads the JSON envelope of log subscriptions.
func parseCloudwatch(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	v, fault := value.ReadJSON(f.Arena, args[0].Str(), value.JSONOptions{})
	if fault.Failed() || v.Kind() != value.ObjectKind {
		return f.Fail("unable to parse: the message is not a JSON object")
	}
	a, in := f.Arena, v.Object()
	o := a.Object(6)
	for _, p := range []struct {
		from, to string
		kind     value.Kind
	}{{"logGroup", "log_group", value.StringKind}, {"logStream", "log_stream", value.StringKind},
		{"messageType", "message_type", value.StringKind},
		{"owner", "owner", value.StringKind}, {"subscriptionFilters", "subscription_filters", value.ArrayKind},
		{"logEvents", "log_events", value.ArrayKind}} {
		field, ok := in.Get(p.from)
		if !ok {
			return f.Fail("unable to parse: missing field `%s`", value.String(p.from))
		}
		if field.Kind() != p.kind {
			return f.Fail("unable to parse: field `%s` is of type %k", value.String(p.from), field)
		}
		o.Set(a, p.to, field)
	}
	filters, _ := in.Get("subscriptionFilters")
	for i := range filters.Array().Len() {
		if filters.Array().At(i).Kind() != value.StringKind {
			return f.Fail("unable to parse: a subscription filter is not a string")
		}
	}
	events, _ := in.Get("logEvents")
	list := a.Array(events.Array().Len())
	for i := range events.Array().Len() {
		event, ok := logEvent(a, events.Array().At(i))
		if !ok {
			return f.Fail("unable to parse: a log event needs id, timestamp and message")
		}
		list.Push(a, event)
	}
	o.Set(a, "log_events", list.Of())
	return o.Of(), nil
}

// logEvent is one event of the envelope; its time is in milliseconds.
func logEvent(a *value.Arena, v value.Value) (event value.Value, ok bool) {
	if v.Kind() != value.ObjectKind {
		return value.Null, false
	}
	id, _ := v.Object().Get("id")
	message, _ := v.Object().Get("message")
	at, _ := v.Object().Get("timestamp")
	const maxMillis = 1<<63/1_000_000 - 1
	if id.Kind() != value.StringKind || message.Kind() != value.StringKind || at.Kind() != value.IntKind ||
		at.Int() > maxMillis || at.Int() < -maxMillis {
		return value.Null, false
	}
	o := a.Object(3)
	o.Append(a, "id", id)
	o.Append(a, "message", message)
	o.Append(a, "timestamp", value.Timestamp(at.Int()*1e6))
	return o.Of(), true
}
