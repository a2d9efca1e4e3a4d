package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"varve/server/read/metricsapi"
	"varve/server/rules"
	"varve/server/rules/notify"
	"varve/sqlexec"
)

// maxRuleTemplate bounds the file of the template of webhooks, in bytes.
const maxRuleTemplate = 256 << 10

// newRules makes what evaluates rules; nil where there are no metrics, which rules read and write.
func (c *Config) newRules(n *node, metrics *metricsapi.Options, sql *sqlexec.Executor, log *slog.Logger) (
	*rules.Manager, error) {
	if !c.Metrics.Enable {
		return nil, nil
	}
	r := &c.Rules
	o := rules.Options{Store: n.store, Samples: metrics.Samples, Queries: metrics.Queries, SQL: sql,
		Attend: sql.Attend, Memory: n.pool, DB: r.DB, Files: r.Files, Interval: r.Interval,
		Timeout: c.Metrics.QueryTimeout, CatchUp: r.CatchUp, Tolerance: r.OutageTolerance,
		ResendDelay: r.ResendDelay, ExternalURL: r.ExternalURL,
		ExternalLabels: map[string]string{},
		Notify: notify.Options{Alertmanagers: r.Alertmanagers, Webhooks: r.Webhooks, Header: r.WebhookHeader,
			Secret: r.WebhookSecret},
		Logger: log}
	for _, one := range r.ExternalLabels {
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" {
			return nil, &configError{fmt.Sprintf("rules.external_labels: %q: expected name=value", one)}
		}
		o.ExternalLabels[name] = value
	}
	if r.WebhookTemplate != "" {
		text, err := os.ReadFile(r.WebhookTemplate)
		if err != nil {
			return nil, &configError{fmt.Sprintf("rules.webhook_template: %v", err)}
		}
		if len(text) > maxRuleTemplate {
			return nil, &configError{fmt.Sprintf("rules.webhook_template: %s has %d bytes, at most %d are read",
				r.WebhookTemplate, len(text), maxRuleTemplate)}
		}
		o.Notify.Template = string(text)
	}
	m, err := rules.New(o)
	if err != nil {
		return nil, &configError{fmt.Sprintf("rules: %v", err)}
	}
	return m, nil
}

// reloadRules reads the files of rules again. What is wrong is in the log already.
func (n *node) reloadRules() {
	if n.rules == nil {
		return
	}
	if err := n.rules.Reload(context.Background()); err != nil {
		n.log.Error("not all files of rules are evaluated as they are now", "error", err)
		return
	}
	count := n.rules.Counts()
	n.log.Info("files of rules read again", "groups", count.Groups, "alerting", count.Alerting, "recording",
		count.Recording)
}
