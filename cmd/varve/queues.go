package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"varve/cmd/varve/client"
	"varve/engine"
	"varve/engine/schema"
	"varve/server/write/kafka"
)

// queueConfig is a table [[kafka]]: a source of messages. The tags are those of Config.
type queueConfig struct {
	Name         string        `key:"name" check:"nonempty"`
	Brokers      []string      `key:"brokers"`
	Topics       []string      `key:"topics"`
	TopicsRegex  string        `key:"topics_regex"`
	Group        string        `key:"group"`
	DB           string        `key:"db" default:"public" check:"nonempty"`
	Table        string        `key:"table"`
	Pipeline     string        `key:"pipeline"`
	Format       string        `key:"format" default:"json" enum:"json,ndjson,text,lines,line_protocol,otlp_logs,otlp_metrics,otlp_traces"`
	TimeIndex    string        `key:"time_index"`
	Precision    string        `key:"precision" default:"ns" enum:"ns,us,ms,s"`
	Begin        string        `key:"begin" default:"earliest" enum:"earliest,latest"`
	Columns      []string      `key:"columns"`
	Rejects      string        `key:"rejects_table" default:"kafka_rejects" check:"nonempty"`
	MaxMessage   Size          `key:"max_message" default:"4MiB" min:"1KiB" max:"64MiB"`
	FetchBytes   Size          `key:"fetch_bytes" default:"8MiB" min:"256KiB" max:"256MiB"`
	BatchBytes   Size          `key:"batch_bytes" default:"4MiB" min:"64KiB" max:"64MiB"`
	Session      time.Duration `key:"session_timeout" default:"30s" check:"positive"`
	TLS          bool          `key:"tls" default:"false"`
	TLSCA        string        `key:"tls_ca"`
	TLSCert      string        `key:"tls_cert"`
	TLSKey       string        `key:"tls_key"`
	TLSName      string        `key:"tls_server_name"`
	TLSInsecure  bool          `key:"tls_insecure" default:"false"`
	Mechanism    string        `key:"sasl_mechanism" enum:",PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"`
	User         string        `key:"sasl_user"`
	Password     string        `key:"sasl_password" secret:"word"`
	PasswordFile string        `key:"sasl_password_file"`
}

// maxQueues bounds the tables [[kafka]].
const maxQueues = 64

// secretVariable is the environment variable with the password of a source.
func secretVariable(name string) string {
	return "VARVE_KAFKA_" + strings.ToUpper(notVariable.ReplaceAllString(name, "_")) + "_SASL_PASSWORD"
}

var notVariable = regexp.MustCompile(`[^A-Za-z0-9]`)

// isSecretVariable reports whether an environment variable has the password of a source, perhaps of one that is not
// configured here.
func isSecretVariable(name string) bool {
	return strings.HasPrefix(name, "VARVE_KAFKA_") && strings.HasSuffix(name, "_SASL_PASSWORD")
}

// keys are the keys of a table.
func (q *queueConfig) keys(c *Config) (list []key) {
	fields := reflect.ValueOf(q).Elem()
	for i := range fields.NumField() {
		f := fields.Type().Field(i)
		list = append(list, key{c, f.Tag.Get("key"), fields.Field(i).Addr().Interface(), f.Tag})
	}
	return list
}

// readQueueTables reads the tables [[kafka]] of a file.
func (c *Config) readQueueTables(file string, value any) error {
	tables, ok := value.([]any)
	if !ok {
		return &configError{file + ": kafka: expected tables [[kafka]], with two brackets"}
	}
	if len(tables) > maxQueues {
		return &configError{fmt.Sprintf("%s: %d tables [[kafka]]: at most %d are possible", file, len(tables),
			maxQueues)}
	}
	for i, t := range tables {
		tree, ok := t.(map[string]any)
		if !ok {
			return &configError{file + ": kafka: expected tables [[kafka]], with two brackets"}
		}
		q := &queueConfig{}
		keys := q.keys(c)
		for _, k := range keys {
			if k.tag.Get("default") != "" {
				k.reset()
			}
		}
		if err := assignTree(keys, fmt.Sprintf("%s: [[kafka]] number %d", file, i+1), "", tree); err != nil {
			return err
		}
		c.Queues = append(c.Queues, q)
	}
	return nil
}

// takeSecrets takes the passwords of sources from the environment. A password there beats that of the file.
func (c *Config) takeSecrets(environ []string) {
	for _, q := range c.Queues {
		if secret := client.Getenv(environ, secretVariable(q.Name)); secret != "" {
			q.Password, q.PasswordFile = secret, ""
		}
	}
}

// printQueues prints the tables [[kafka]], with secrets masked.
func (c *Config) printQueues(b *strings.Builder) {
	for _, q := range c.Queues {
		b.WriteString("\n[[kafka]]\n")
		for _, k := range q.keys(c) {
			fmt.Fprintf(b, "%s = %s\n", k.name, k.print())
		}
	}
}

// checkQueues looks at the tables [[kafka]].
func (c *Config) checkQueues() error {
	names := map[string]bool{}
	for _, q := range c.Queues {
		if err := q.check(); err != nil {
			return &configError{fmt.Sprintf("[[kafka]] %q: %v", q.Name, err)}
		}
		if names[q.Name] {
			return &configError{fmt.Sprintf("[[kafka]] %q: another source has the name", q.Name)}
		}
		names[q.Name] = true
	}
	return nil
}

// check looks at one table, and completes it.
func (q *queueConfig) check() error {
	q.Group = cmp.Or(q.Group, "varve")
	switch {
	case q.Name == "" || len(q.Name) > 100:
		return errors.New("name: expected a name of at most 100 bytes; the positions in the store belong to it")
	case len(q.Brokers) == 0:
		return errors.New("brokers: expected at least one host:port")
	case (len(q.Topics) == 0) == (q.TopicsRegex == ""):
		return errors.New("expected either topics or topics_regex")
	case (q.TLSCert == "") != (q.TLSKey == ""):
		return errors.New("tls_cert and tls_key need each other")
	case !q.TLS && (q.TLSCA != "" || q.TLSCert != "" || q.TLSName != "" || q.TLSInsecure):
		return errors.New("the other keys of TLS need tls = true")
	case q.Mechanism == "" && (q.User != "" || q.Password != "" || q.PasswordFile != ""):
		return errors.New("sasl_user and the password need sasl_mechanism")
	case q.Mechanism != "" && (q.User == "" || (q.Password == "") == (q.PasswordFile == "")):
		return fmt.Errorf("sasl_mechanism needs sasl_user and a password: sasl_password_file, %s or sasl_password",
			secretVariable(q.Name))
	case len(q.Columns) > 0 && !kafka.TakesColumns(q.Format):
		return fmt.Errorf("columns: the format %s has no entries to which they could be added", q.Format)
	case q.TimeIndex != "" && !kafka.TakesColumns(q.Format):
		return fmt.Errorf("time_index: the format %s has a time of its own", q.Format)
	case q.Pipeline != "" && (q.Format == "line_protocol" || q.Format == "otlp_metrics" || q.Format == "otlp_traces"):
		return fmt.Errorf("pipeline: the format %s goes through none", q.Format)
	}
	for _, b := range q.Brokers {
		if err := checkAddr("brokers", b); err != nil {
			return err
		}
	}
	if _, err := regexp.Compile(q.TopicsRegex); err != nil {
		return fmt.Errorf("topics_regex: %w", err)
	}
	for _, name := range q.Columns {
		if !slices.Contains(kafka.Columns, name) {
			return fmt.Errorf("columns: %q is none of %s", name, strings.Join(kafka.Columns, ", "))
		}
	}
	for _, table := range []string{q.Table, q.Rejects} {
		if table != "" {
			if err := schema.CheckName("table", table); err != nil {
				return err
			}
		}
	}
	return nil
}

// password returns the secret of SASL, from its file each time.
func (q *queueConfig) password() (string, error) {
	if q.PasswordFile == "" {
		return q.Password, nil
	}
	text, err := os.ReadFile(q.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("sasl_password_file: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// queues are the sources of messages.
func (c *Config) queues(store *engine.Engine, log *slog.Logger) kafka.Options {
	o := kafka.Options{Store: store, Logger: log}
	for _, q := range c.Queues {
		o.Sources = append(o.Sources, kafka.Config{Name: q.Name, Brokers: q.Brokers, Topics: q.Topics,
			TopicsRegex: q.TopicsRegex, Group: q.Group, DB: q.DB, Table: q.Table, Pipeline: q.Pipeline,
			Format:    q.Format,
			TimeIndex: q.TimeIndex, Precision: q.Precision, Begin: q.Begin, Columns: q.Columns, Rejects: q.Rejects,
			MaxMessage: int64(q.MaxMessage), FetchBytes: int64(q.FetchBytes), BatchBytes: int64(q.BatchBytes),
			SessionTimeout: q.Session,
			TLS: kafka.TLS{Enable: q.TLS, CA: q.TLSCA, Cert: q.TLSCert, Key: q.TLSKey, ServerName: q.TLSName,
				InsecureSkipCheck: q.TLSInsecure},
			SASL: kafka.SASL{Mechanism: q.Mechanism, User: q.User, Password: q.password}})
	}
	return o
}

// readQueues begins to read the sources. A store that takes no rows reads none.
func (n *node) readQueues() error {
	if len(n.config.Queues) == 0 {
		return nil
	}
	if err := n.store.ReadOnly(); err != nil {
		return err
	}
	n.server.ReadQueues()
	return nil
}
