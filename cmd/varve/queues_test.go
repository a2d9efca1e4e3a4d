package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// brokers begins brokers in this process, with topics of three partitions.
func brokers(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1),
		kfake.GroupMinSessionTimeout(100 * time.Millisecond)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// producer sends messages to brokers.
type producer struct {
	t      *testing.T
	client *kgo.Client
}

func newProducer(t *testing.T, addrs []string, options ...kgo.Opt) *producer {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addrs...),
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner())}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &producer{t, client}
}

// send sends messages, and waits until the brokers have them.
func (p *producer) send(topic string, values ...string) {
	p.t.Helper()
	records := make([]*kgo.Record, len(values))
	for i, v := range values {
		records[i] = &kgo.Record{Topic: topic, Value: []byte(v), Key: []byte("key")}
	}
	if err := p.client.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		p.t.Fatal(err)
	}
}

// queueFile writes a configuration with tables [[kafka]], each of which gets the brokers.
func queueFile(t *testing.T, addrs []string, tables ...string) string {
	t.Helper()
	text := "[storage]\nflush_age = \"200ms\"\n[wal]\nfile_size = \"1MiB\"\n"
	for _, one := range tables {
		list, err := json.Marshal(addrs)
		if err != nil {
			t.Fatal(err)
		}
		text += "[[kafka]]\nbrokers = " + string(list) + "\n" + one + "\n"
	}
	file := filepath.Join(t.TempDir(), "varve.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// get asks a server; a server that cannot be reached answers nothing.
func (s *served) get(path string) string {
	answer, err := http.Get(s.url + path)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	return string(text)
}

// query is the answer of a server to SQL, rows as lines of CSV.
func (s *served) query(sql string) string {
	return strings.TrimSpace(strings.ReplaceAll(s.get("/v1/sql?format=csv&sql="+url.QueryEscape(sql)), "\r", ""))
}

// comes waits until a query has an answer.
func (s *served) comes(sql, want string) {
	s.t.Helper()
	got := ""
	for limit := time.Now().Add(60 * time.Second); time.Now().Before(limit); {
		if got = s.query(sql); got == want {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
	s.t.Fatalf("%s\n got %s\nwant %s\nqueues: %s", sql, got, want, s.get("/v1/queues"))
}

// numbered are the messages {"n":from} and so on.
func numbered(from, count int) []string {
	list := make([]string, count)
	for i := range list {
		list[i] = fmt.Sprintf(`{"n":%d,"text":"message %[1]d of a topic"}`, from+i)
	}
	return list
}

// TestQueueKilled kills a server that reads a topic, again and again, at random moments: each message is there once.
// VARVE_QUEUE_KILLS asks for more kills, as before a release.
func TestQueueKilled(t *testing.T) {
	kills := 12
	if text := os.Getenv("VARVE_QUEUE_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	}
	cluster := brokers(t, kfake.SeedTopics(3, "events"))
	p := newProducer(t, cluster.ListenAddrs())
	file := queueFile(t, cluster.ListenAddrs(), "name = \"events\"\ntopics = [\"events\"]\nbatch_bytes = \"64KiB\"")
	dir := filepath.Join(t.TempDir(), "data")
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	sent := 0
	for range kills {
		p.send("events", numbered(sent, 400)...)
		sent += 400
		s := serve(t, nil, "--config", file, "--data-dir", dir)
		moment := time.NewTimer(time.Duration(r.Int64N(int64(300 * time.Millisecond))))
		for more := true; more; {
			select {
			case <-moment.C:
				more = false
			default:
				p.send("events", numbered(sent, 50)...)
				sent += 50
			}
		}
		s.signal(syscall.SIGKILL)
		<-s.ended
	}
	s := serve(t, nil, "--config", file, "--data-dir", dir)
	s.comes("SELECT count(*), count(DISTINCT n), min(n), max(n) FROM events", fmt.Sprintf("%d,%[1]d,0,%d", sent, sent-1))
	t.Logf("%d messages, %d kills", sent, kills)
	if code := s.stop(); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
}

// TestQueueFormats reads a topic of each format, with a message among them that cannot be read: the others are stored,
// and that one is in the table of rejects.
func TestQueueFormats(t *testing.T) {
	topics := []string{"j", "nd", "txt", "ln", "lp", "logs", "logsjson", "metrics", "traces", "big"}
	cluster := brokers(t, kfake.SeedTopics(1, topics...))
	p := newProducer(t, cluster.ListenAddrs())
	table := func(topic, format, more string) string {
		return fmt.Sprintf("name = %q\ntopics = [%[1]q]\nformat = %q\ngroup = \"g-%[1]s\"\n%[3]s", topic, format, more)
	}
	file := queueFile(t, cluster.ListenAddrs(),
		table("j", "json", `columns = ["key", "topic", "partition", "offset", "timestamp", "headers"]`),
		table("nd", "ndjson", ""), table("txt", "text", ""), table("ln", "lines", ""), table("lp", "line_protocol", ""),
		table("logs", "otlp_logs", `table = "otlp"`), table("logsjson", "otlp_logs", `table = "otlpjson"`),
		table("metrics", "otlp_metrics", ""), table("traces", "otlp_traces", `table = "spans"`),
		table("big", "json", `max_message = "1KiB"`))
	s := serve(t, nil, "--config", file)
	p.send("j", `{"n":1}`, `{"n":2,"o":{"p":true}}`, `{"n":`, "{\n \"n\": 3\n}", `[{"n":4},{"n":5}]`, "\xff", `{}`, "7")
	p.send("nd", "{\"n\":1}\n{\"n\":2}\n", "{\"n\":3}\nnonsense", `{"n":4}`)
	p.send("txt", "one\ntwo", "three \"quoted\"")
	p.send("ln", "one\ntwo\n", "three")
	p.send("lp", "cpu,host=a v=1 1000", "cpu,host=b v=", "cpu,host=c v=3 3000\ncpu,host=d v=4 4000", "m s=\"open")
	log := func(text string) string { // ExportLogsServiceRequest with one record, whose body is a text
		body := "\x0a" + string(rune(len(text))) + text
		record := "\x09\x00\x00\x64\xa7\xb3\xb6\xe0\x0d" + "\x2a" + string(rune(len(body))) + body
		scope := "\x12" + string(rune(len(record))) + record
		resource := "\x12" + string(rune(len(scope))) + scope
		return "\x0a" + string(rune(len(resource))) + resource
	}
	p.send("logs", log("a"), log("b")[:15], log("c"))
	p.send("logsjson",
		`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"stringValue":"x"}}]}]}]}`,
		`{"resourceLogs":7}`)
	p.send("metrics", `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"up","gauge":{"dataPoints":[`+
		`{"timeUnixNano":"1700000000000000000","asDouble":1}]}}]}]}]}`)
	p.send("traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10",`+
		`"spanId":"0102030405060708","name":"s","startTimeUnixNano":"1700000000000000000",`+
		`"endTimeUnixNano":"1700000001000000000"}]}]}]}`)
	p.send("big", `{"n":1}`, `{"n":"`+strings.Repeat("x", 2000)+`"}`, `{"n":2}`)
	s.comes("SELECT count(n), sum(n), max(kafka_offset), min(kafka_key) FROM j", "5,15,6,key")
	s.comes("SELECT count(n), sum(n) FROM nd", "3,7")
	s.comes("SELECT count(*) FROM txt", "2")
	s.comes("SELECT count(*) FROM ln", "3")
	s.comes("SELECT count(*), sum(v) FROM cpu", "3,8.0")
	s.comes("SELECT count(*) FROM otlp", "2")
	s.comes("SELECT count(*) FROM otlpjson", "1")
	s.comes("SELECT count(*) FROM up", "1")
	s.comes("SELECT count(*) FROM spans", "1")
	s.comes("SELECT sum(n) FROM big", "3")
	s.comes("SELECT topic, \"offset\", value_bytes FROM kafka_rejects ORDER BY topic, \"offset\"",
		"big,1,2008\nj,2,5\nj,5,1\nj,7,1\nlogs,1,15\nlogsjson,1,18\nlp,1,13\nlp,3,9\nnd,1,16")
	if got := s.get("/metrics"); !strings.Contains(got, `varve_kafka_rejected_messages_total{source="j",topic="j"} 3`) ||
		!strings.Contains(got, `varve_kafka_up{source="j"} 1`) {
		t.Errorf("the figures lack the rejects:\n%s", got)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
}

// TestQueueShared: two servers of a group share the partitions, also when one of them stops: together they have each
// message once.
func TestQueueShared(t *testing.T) {
	cluster := brokers(t, kfake.SeedTopics(6, "events"))
	p := newProducer(t, cluster.ListenAddrs())
	file := queueFile(t, cluster.ListenAddrs(), "name = \"e\"\ntopics = [\"events\"]\nsession_timeout = \"2s\"")
	a := serve(t, nil, "--config", file)
	p.send("events", numbered(0, 1000)...)
	a.comes("SELECT count(*) FROM events", "1000")
	b := serve(t, nil, "--config", file)
	sent, shared := 1000, false
	for limit := time.Now().Add(60 * time.Second); !shared && time.Now().Before(limit); {
		p.send("events", numbered(sent, 60)...)
		sent += 60
		<-time.After(50 * time.Millisecond)
		shared = strings.Count(b.get("/v1/queues"), `"partition":`) == 3 &&
			strings.Count(a.get("/v1/queues"), `"partition":`) == 3
	}
	if !shared {
		t.Fatalf("the servers do not share the partitions: %s and %s", a.get("/v1/queues"), b.get("/v1/queues"))
	}
	p.send("events", numbered(sent, 600)...)
	sent += 600
	total := func() int {
		n := 0
		for _, s := range []*served{a, b} {
			k, _ := strconv.Atoi(s.query("SELECT count(*) FROM events")) // no table yet: none
			n += k
		}
		return n
	}
	for limit := time.Now().Add(60 * time.Second); total() < sent && time.Now().Before(limit); {
		<-time.After(50 * time.Millisecond)
	}
	one, two := a.query("SELECT sum(n) FROM events"), b.query("SELECT sum(n) FROM events")
	x, _ := strconv.Atoi(one)
	y, _ := strconv.Atoi(two)
	if got := total(); got != sent || x+y != sent*(sent-1)/2 {
		t.Errorf("the servers have %d messages of %d, sums %s and %s", got, sent, one, two)
	}
	b.stop()
	p.send("events", numbered(sent, 600)...)
	a.comes("SELECT count(*) > 0 FROM events WHERE n >= "+strconv.Itoa(sent), "true")
}

// TestQueueAway: a server whose brokers are away starts, says so once, and stops at once.
func TestQueueAway(t *testing.T) {
	file := queueFile(t, []string{"127.0.0.1:1"}, "name = \"e\"\ntopics = [\"events\"]")
	s := serve(t, nil, "--config", file)
	s.wait(text("the brokers are away"))
	if got := s.get("/v1/queues"); !strings.Contains(got, `"reading":false,"trouble":"the brokers are away`) {
		t.Errorf("state: %s", got)
	}
	begun := time.Now()
	if code := s.stop(); code != 0 || time.Since(begun) > 10*time.Second {
		t.Errorf("the server ended with %d after %s", code, time.Since(begun))
	}
	if n := strings.Count(s.said(), "the brokers are away"); n != 1 {
		t.Errorf("it said %d times that the brokers are away", n)
	}
}

// TestQueueConfig: mistakes in tables [[kafka]] stop the start, and secrets are not printed.
func TestQueueConfig(t *testing.T) {
	for _, c := range []struct{ table, want string }{
		{"name = \"\"\ntopics = [\"t\"]", "it must not be empty"},
		{"name = \"q\"", "either topics or topics_regex"},
		{"name = \"q\"\ntopics = [\"t\"]\nformat = \"xml\"", "expected one of json"},
		{"name = \"q\"\ntopics_regex = \"(\"", "topics_regex"},
		{"name = \"q\"\ntopics = [\"t\"]\nsasl_mechanism = \"PLAIN\"\nsasl_user = \"u\"",
			"VARVE_KAFKA_Q_SASL_PASSWORD"},
		{"name = \"q\"\ntopics = [\"t\"]\ntls_insecure = true", "need tls = true"},
		{"name = \"q\"\ntopics = [\"t\"]\nformat = \"otlp_logs\"\ncolumns = [\"key\"]", "has no entries"},
		{"name = \"q\"\ntopics = [\"t\"]\ntopic = 1", "unknown key topic"},
	} {
		_, err := loadConfig(queueFile(t, []string{"127.0.0.1:9092"}, c.table), nil, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.table, err, c.want)
		}
	}
	c, err := loadConfig(queueFile(t, []string{"127.0.0.1:9092"}, "name = \"my-q\"\ntopics = [\"t\"]\n"+
		"sasl_mechanism = \"SCRAM-SHA-512\"\nsasl_user = \"u\""),
		[]string{"VARVE_KAFKA_MY_Q_SASL_PASSWORD=hunter2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.TOML(); strings.Contains(got, "hunter2") || !strings.Contains(got, "[[kafka]]\nname = \"my-q\"") {
		t.Errorf("printed: %s", got)
	}
	if secret, err := c.Queues[0].password(); secret != "hunter2" || err != nil {
		t.Errorf("password %q, %v", secret, err)
	}
}
