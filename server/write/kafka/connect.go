package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// TLS says how brokers are reached over TLS. Files are PEM.
type TLS struct {
	Enable            bool
	CA, Cert, Key     string
	ServerName        string
	InsecureSkipCheck bool
}

// config reads the files.
func (t *TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipCheck}
	if t.CA != "" {
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls_ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls_ca: %s has no certificate", t.CA)
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls_cert, tls_key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// SASL says as whom the brokers are asked. Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; empty: as nobody.
type SASL struct {
	Mechanism, User string
	// Password returns the secret each time that a connection begins: its file may have changed.
	Password func() (string, error)
}

// option is the option of the client.
func (s *SASL) option() kgo.Opt {
	if s.Mechanism == "PLAIN" {
		return kgo.SASL(plain.Plain(func(context.Context) (plain.Auth, error) {
			secret, err := s.Password()
			return plain.Auth{User: s.User, Pass: secret}, err
		}))
	}
	auth := func(context.Context) (scram.Auth, error) {
		secret, err := s.Password()
		return scram.Auth{User: s.User, Pass: secret}, err
	}
	if s.Mechanism == "SCRAM-SHA-256" {
		return kgo.SASL(scram.Sha256(auth))
	}
	return kgo.SASL(scram.Sha512(auth))
}

// Retries: the first pause, and the longest.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 15 * time.Second
)

// pauseAfter is the pause after n tries.
func pauseAfter(n int) time.Duration {
	return min(firstPause<<min(n, 10), longestPause)
}

// unpacked bounds what the client unpacks of one batch of messages, in bytes, however little its brokers send.
const unpacked = 256 << 20

// options are those of the client of a source.
func (s *source) options() ([]kgo.Opt, error) {
	c := s.config
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...), kgo.ClientID("varve"), kgo.ConsumerGroup(c.Group),
		kgo.InstanceID("varve-" + s.all.o.Store.Store() + "-" + c.Name),
		kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.SessionTimeout(c.SessionTimeout),
		kgo.HeartbeatInterval(max(c.SessionTimeout/10, 100*time.Millisecond)),
		kgo.RebalanceTimeout(max(2*c.SessionTimeout, time.Minute)),
		kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(time.Second),
		kgo.FetchMaxBytes(int32(c.FetchBytes)), kgo.FetchMaxPartitionBytes(int32(max(c.FetchBytes/4, 64<<10))),
		kgo.BrokerMaxReadBytes(int32(4*c.FetchBytes + 64<<20)), kgo.MaxDecompressBatchBytes(unpacked),
		kgo.MaxConcurrentFetches(4), kgo.RetryBackoffFn(pauseAfter), kgo.DisableClientMetrics(),
		kgo.MetadataMaxAge(time.Minute),
		kgo.OnOffsetsFetched(s.committed), kgo.AdjustFetchOffsetsFn(s.begin),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { s.well() }),
		kgo.OnPartitionsRevoked(s.revoked), kgo.OnPartitionsLost(s.lost),
		kgo.WithHooks(&hooks{s}), kgo.WithLogger(clientLog{s.log}),
	}
	if c.TopicsRegex != "" {
		opts = append(opts, kgo.ConsumeRegex(), kgo.ConsumeTopics("^(?:"+c.TopicsRegex+")$"))
	} else {
		opts = append(opts, kgo.ConsumeTopics(c.Topics...))
	}
	if c.TLS.Enable {
		t, err := c.TLS.config()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(t))
	}
	if c.SASL.Mechanism != "" {
		opts = append(opts, c.SASL.option())
	}
	return opts, nil
}

// clientLog takes what the client logs, of interest only when one looks for it: what an operator must know is said by
// the source, once.
type clientLog struct{ log *slog.Logger }

func (l clientLog) Level() kgo.LogLevel {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		return kgo.LogLevelInfo
	}
	return kgo.LogLevelNone
}

func (l clientLog) Log(_ kgo.LogLevel, text string, pairs ...any) {
	l.log.Debug("client: "+text, pairs...)
}

// hooks hear from the client whether brokers are there.
type hooks struct{ s *source }

// OnBrokerConnect is called when a connection was made, or not.
func (h *hooks) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		h.s.away(fmt.Errorf("broker %s:%d: %w", meta.Host, meta.Port, err))
	}
}

// OnBrokerRead is called when an answer was read, or not. Answers before a client is let in do not count: brokers that
// refuse the password give them, too.
func (h *hooks) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	switch kmsg.Key(key) {
	case kmsg.ApiVersions, kmsg.SASLHandshake, kmsg.SASLAuthenticate:
		return
	}
	if err == nil {
		h.s.back()
	}
}
