package vrl_test

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine/jsontext"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/stdlib"
)

// benchEvent is an event of fifteen fields.
const benchEvent = `{"timestamp":"2024-02-29T08:00:01.5Z","level":"error","host":"web-17","service":"checkout","pid":4711,"thread":"worker-3",
 "trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","user":{"id":991,"name":"frank","plan":"pro"},"status":502,
 "duration_ms":12.75,"retries":3,"ok":false,"message":"upstream timed out","tags":["eu","prod","blue"]}`

// jsonMessage is a JSON text of 20 keys and about 600 bytes.
const jsonMessage = `{"time":"2024-02-29T08:00:01.512Z","level":"info","logger":"com.example.checkout.PaymentService","thread":"http-nio-8080-exec-7",` +
	`"message":"payment accepted","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","order_id":8812345,"customer_id":99120,` +
	`"amount":129.95,"currency":"EUR","method":"card","provider":"acme","attempt":1,"latency_ms":48.2,"region":"eu-central-1","zone":"eu-central-1b",` +
	`"host":"checkout-7d9f8b6c5-x2x8k","version":"3.14.15","success":true}`

// speed is a row of the table of targets: a program, its event, and what a run may take.
type speed struct {
	name, program, event string
	allocations          float64
}

var speeds = []speed{
	{name: "root", program: ".", event: benchEvent},
	{name: "three assignments", program: ".a = .host\n.level = \"warn\"\nx = .status == 502\ndel(.pid)\n.",
		event: benchEvent},
	{name: "pipeline sample", event: `{"id1":2436,"id2":123}`,
		program: ".from_source = \"channel_2\"\ncond, err = .id1 > .id2\nif (cond) { .from_source = \"channel_1\" }\ndel(.id1)\ndel(.id2)\n."},
	{name: "to_int failing, err unread", program: "x, err = to_int(.message)\nx", event: benchEvent},
	{name: "to_int failing, err tested", program: "x, err = to_int(.message)\nif err != null { x = 1 }\nx",
		event: benchEvent},
	{name: "parse_json", program: ". = parse_json!(.message)", event: message(jsonMessage), allocations: 2},
	{name: "parse_common_log", program: ". |= parse_common_log!(.message)", allocations: 2,
		event: message(`10.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326`)},
	{name: "parse_key_value", program: ". |= parse_key_value!(.message)", allocations: 2,
		event: message(
			`time=2024-02-29T08:00:01Z level=info host=web-17 app=checkout pid=4711 status=200 bytes=5120 user=frank took=12ms msg="payment accepted"`)},
	{name: "parse_syslog", program: ". |= parse_syslog!(.message)", allocations: 2,
		event: message(
			`<165>1 2003-10-11T22:14:15.003Z host.example.com app 1234 ID47 [ex@1 k="v" j="w"] the message of the record`)},
	{name: "parse_regex", allocations: 2,
		event: message(
			`2024-02-29 08:00:01 ERROR [worker-3] checkout: upstream timed out after 30000 ms while reading the response header of a page`),
		program: `. |= parse_regex!(.message, r'^(?P<date>\S+ \S+) (?P<level>[A-Z]+) \[(?P<thread>[^\]]+)\] (?P<app>\w+): (?P<text>.*)$')`},
	{name: "strings",
		program: ".text = \"[\" + string!(.level) + \"] \" + string!(.service) + \": \" + string!(.message)\n.",
		event:   benchEvent},
	{name: "ten lines", event: benchEvent, program: `.ts = parse_timestamp!(.timestamp, "%+")
.svc = del(.service)
.user_id = .user.id
.user_name = upcase(string!(.user.name))
.slow = .duration_ms > 10 ?? false
.severity = if .status == 502 || .status == 503 { "bad" } else { "good" }
.retries = (int(.retries) ?? 0) + 1
del(.user)
del(.trace_id)
.`},
}

func message(text string) string {
	return string(jsontext.AppendString(
		[]byte(
			`{"host":"web-17","app":"checkout","env":"prod","region":"eu","pid":4711,"zone":"b","ok":true,"n":1,"m":2,"message":`), text)) + "}"
}

// prepare compiles a program and gives a function that runs it once on a copy of the event.
func (s *speed) prepare(t testing.TB) func() {
	t.Helper()
	p, err := vrl.Compile(s.program, stdlib.Library, vrl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	event, fault := value.ReadJSON(nil, s.event, value.JSONOptions{})
	if fault.Failed() {
		t.Fatal(fault.In(s.event))
	}
	event.Freeze() // so a program that changes it pays for a copy
	f := vrl.NewFrame(new(value.Arena))
	return func() {
		f.Arena.Reset()
		e := event
		if _, err := p.Run(f, &e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunsAllocateWhatTheContractAllows(t *testing.T) {
	for _, s := range speeds {
		t.Run(s.name, func(t *testing.T) {
			run := s.prepare(t)
			run()
			if n := testing.AllocsPerRun(100, run); n > s.allocations {
				t.Errorf("%v allocations an event, at most %v", n, s.allocations)
			}
		})
	}
}

func BenchmarkRun(b *testing.B) {
	for _, s := range speeds {
		b.Run(s.name, func(b *testing.B) {
			run := s.prepare(b)
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}

func BenchmarkClosure(b *testing.B) {
	const items = 1000
	array := "[" + strings.TrimSuffix(strings.Repeat("1,", items), ",") + "]"
	for _, c := range []struct{ name, program string }{
		{"for_each", "for_each(array!(.list)) -> |_i, _v| { null }"},
		{"map_values", "map_values(array!(.list)) -> |v| { v }"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := speed{program: c.program, event: fmt.Sprintf(`{"list":%s}`, array)}
			run := s.prepare(b)
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/items, "ns/element")
		})
	}
}

// compileScript is a script of 50 lines.
func compileScript() string {
	var b strings.Builder
	for i := range 10 {
		fmt.Fprintf(&b, ".field_%d = string(.in_%d) ?? \"none\"\n", i, i)
		fmt.Fprintf(&b, "n%d, err = to_int(.count_%d)\n", i, i)
		fmt.Fprintf(&b, "if err != null { .failed = push(array(.failed) ?? [], \"count_%d\") }\n", i)
		fmt.Fprintf(&b, ".sum_%d = (int(.part_%d) ?? 0) + n%d\n", i, i, i)
		fmt.Fprintf(&b, "del(.in_%d)\n", i)
	}
	return b.String()
}

func BenchmarkCompile(b *testing.B) {
	source := compileScript()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := vrl.Compile(source, stdlib.Library, vrl.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
