package main

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// TestQueueRecreated: a topic that is deleted and made anew while the server is stopped is read from its beginning,
// whether it is named or matched.
func TestQueueRecreated(t *testing.T) {
	for _, topics := range []string{`topics = ["events"]`, `topics_regex = "ev.*"`} {
		t.Run(topics, func(t *testing.T) {
			cluster := brokers(t, kfake.SeedTopics(1, "events"))
			file := queueFile(t, cluster.ListenAddrs(), "name = \"e\"\n"+topics)
			dir := filepath.Join(t.TempDir(), "data")
			newProducer(t, cluster.ListenAddrs()).send("events", numbered(0, 100)...)
			s := serve(t, nil, "--config", file, "--data-dir", dir)
			s.comes("SELECT count(*) FROM events", "100")
			if s.stop() != 0 {
				t.Fatal("the server did not stop well")
			}
			if err := cluster.DeleteTopic("events"); err != nil {
				t.Fatal(err)
			}
			if err := cluster.CreateTopic("events", 1, nil); err != nil {
				t.Fatal(err)
			}
			p := newProducer(t, cluster.ListenAddrs())
			p.send("events", numbered(1000, 150)...)
			s = serve(t, nil, "--config", file, "--data-dir", dir)
			s.comes("SELECT count(*), count(DISTINCT n) FROM events", "250,250")
			p.send("events", numbered(2000, 10)...)
			s.comes("SELECT count(*), count(DISTINCT n) FROM events", "260,260")
			if got := s.get("/metrics"); !strings.Contains(got,
				`varve_kafka_resets_total{reason="recreated",source="e"} 1`) {
				t.Errorf("the figures lack the topic that was made anew:\n%s", got)
			}
		})
	}
}

// TestQueueExpired: messages that the brokers have removed before they were read are counted, and the others are read,
// whether the server was stopped or could not write.
func TestQueueExpired(t *testing.T) {
	cluster := brokers(t, kfake.SeedTopics(1, "off", "slow"))
	p := newProducer(t, cluster.ListenAddrs())
	file := queueFile(t, cluster.ListenAddrs(), "name = \"off\"\ntopics = [\"off\"]",
		"name = \"slow\"\ngroup = \"slow\"\ntopics = [\"slow\"]\ndb = \"late\"\nbatch_bytes = \"64KiB\"")
	dir := filepath.Join(t.TempDir(), "data")
	p.send("off", numbered(0, 100)...)
	s := serve(t, nil, "--config", file, "--data-dir", dir)
	s.comes("SELECT count(*) FROM off", "100")
	if s.stop() != 0 {
		t.Fatal("the server did not stop well")
	}
	p.send("off", numbered(100, 100)...)
	if err := cluster.DeleteRecords("off", 0, 150); err != nil {
		t.Fatal(err)
	}
	s = serve(t, nil, "--config", file, "--data-dir", dir)
	s.comes("SELECT count(*), min(n), max(n), count(DISTINCT n) FROM off", "150,0,199,150")
	if got := s.get("/metrics"); !strings.Contains(got,
		`varve_kafka_missed_messages_total{source="off",topic="off"} 50`) {
		t.Errorf("the figures lack the messages that were missed:\n%s", got)
	}

	// The database is missing, so that fetched messages pile up, and the topic is not fetched any more.
	sent := 0
	for range 40 {
		p.send("slow", numbered(sent, 10)...)
		sent += 10
		s.wait(text("Make the database first"))
	}
	waitFor(t, func() bool { return strings.Contains(s.get("/v1/queues"), fmt.Sprintf(`"end":%d`, sent)) })
	p.send("slow", numbered(sent, 100)...)
	sent += 100
	if err := cluster.DeleteRecords("slow", 0, int64(sent-50)); err != nil {
		t.Fatal(err)
	}
	p.send("slow", numbered(sent, 10)...)
	sent += 10
	s.query("CREATE DATABASE late")
	s.comes("SELECT count(*) = count(DISTINCT n) AND count(*) >= 60 FROM late.slow WHERE n >= 0", "true")
	s.comes(fmt.Sprintf("SELECT count(DISTINCT n) FROM late.slow WHERE n >= %d", sent-60), "60")
}

// TestQueueSecured: brokers that want TLS and a password get both.
func TestQueueSecured(t *testing.T) {
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			cert, key := writeCertificate(t, t.TempDir(), "broker")
			pair, err := tls.LoadX509KeyPair(cert, key)
			if err != nil {
				t.Fatal(err)
			}
			cluster := brokers(t, kfake.SeedTopics(1, "events"), kfake.EnableSASL(),
				kfake.Superuser(mechanism, "reader", "hunter2"), kfake.Superuser("SCRAM-SHA-256", "writer", "pw"),
				kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
			p := newProducer(t, cluster.ListenAddrs(),
				kgo.SASL(scram.Auth{User: "writer", Pass: "pw"}.AsSha256Mechanism()),
				kgo.DialTLSConfig(&tls.Config{InsecureSkipVerify: true})) // the test is about the other side
			p.send("events", numbered(0, 10)...)
			table := fmt.Sprintf("name = \"e\"\ntopics = [\"events\"]\ntls = true\ntls_ca = %q\nsasl_mechanism = %q\n"+
				"sasl_user = \"reader\"", cert, mechanism)
			file := queueFile(t, cluster.ListenAddrs(), table)
			s := serve(t, []string{"VARVE_KAFKA_E_SASL_PASSWORD=hunter2"}, "--config", file)
			s.comes("SELECT count(*) FROM events", "10")
			s = serve(t, []string{"VARVE_KAFKA_E_SASL_PASSWORD=wrong"}, "--config", file)
			s.wait(text("the brokers are away"))
			if got := s.get("/v1/queues"); strings.Contains(got, "wrong") || strings.Contains(s.said(), "wrong") {
				t.Errorf("the password is shown: %s", got)
			}
		})
	}
}

// TestQueueSmallMemory: a server with little memory reads messages that unpack to more than all of it, killed in
// between, and has each once.
func TestQueueSmallMemory(t *testing.T) {
	cluster := brokers(t, kfake.SeedTopics(2, "events"))
	p := newProducer(t, cluster.ListenAddrs(), kgo.ProducerBatchCompression(kgo.ZstdCompression()),
		kgo.ProducerLinger(50*time.Millisecond), kgo.ProducerBatchMaxBytes(1<<20))
	file := queueFile(t, cluster.ListenAddrs(), "name = \"e\"\ntopics = [\"events\"]")
	dir := filepath.Join(t.TempDir(), "data")
	values := make([]string, 4000)
	for i := range values {
		values[i] = fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("the same words ", 2200))
	}
	p.send("events", values...)
	for range 3 {
		s := serve(t, []string{"VARVE_MEMORY_LIMIT=256MiB"}, "--config", file, "--data-dir", dir)
		waitFor(t, func() bool { return strings.Contains(s.get("/v1/queues"), `"partition":1`) })
		s.signal(syscall.SIGKILL)
		<-s.ended
	}
	s := serve(t, []string{"VARVE_MEMORY_LIMIT=256MiB"}, "--config", file, "--data-dir", dir)
	s.comes("SELECT count(*), count(DISTINCT n) FROM events", "4000,4000")
}
