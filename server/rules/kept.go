package rules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"varve/engine"
	"varve/engine/private"
	"varve/engine/vector"
	"varve/sqlexec/promql"
)

// alertsTable keeps a row for each alert that fires or has ended a short while ago, so that a restart goes on where the
// server stopped. The time of all rows is 0: the last row of an alert counts.
var alertsTable = private.Table{TTL: "forever", OwnTable: engine.OwnTable{
	Name: engine.AlertsTable, Time: "at", Tags: []string{"alert"},
	Columns: []vector.Field{
		{Name: "active_at", Type: vector.Timestamp(3)}, {Name: "alert", Type: vector.StringType},
		{Name: "annotations", Type: vector.StringType}, {Name: "at", Type: vector.Timestamp(3)},
		{Name: "delivered", Type: vector.StringType}, {Name: "ended_at", Type: vector.Timestamp(3)},
		{Name: "file", Type: vector.StringType}, {Name: "fired_at", Type: vector.Timestamp(3)},
		{Name: "group", Type: vector.StringType}, {Name: "labels", Type: vector.StringType},
		{Name: "rule", Type: vector.StringType}, {Name: "sent_at", Type: vector.Timestamp(3)},
		{Name: "value", Type: vector.FloatType},
	},
}}

// kept is a row of the table: an alert since its last change between firing and ended.
type kept struct {
	id, file, group, rule string
	labels                promql.Labels
	annotations           map[string]string
	value                 float64
	state                 state
	activeAt, firedAt     time.Time
	endedAt               time.Time

	// keeping.mu protects what follows.
	delivered map[string]bool // the targets that know of this state
	sentAt    time.Time       // when a target was told first
	replaced  bool            // a later row is in its place
}

// keeping orders the changes of the table.
type keeping struct{ mu sync.Mutex }

// identity names an alert in the table.
func identity(file, group, rule, labels string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{file, group, rule, labels}, "\xff")))
	return hex.EncodeToString(sum[:16])
}

// keep writes the rows of the alerts of a rule that began to fire or ended. After an error it tries again at the next
// evaluation.
func (m *Manager) keep(ctx context.Context, r *rule, at time.Time) error {
	var changed []*alert
	for _, a := range r.active {
		if a.state == firing && (a.kept == nil || a.kept.state != firing) ||
			a.state == inactive && a.kept != nil && a.kept.state == firing {
			changed = append(changed, a)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	m.keeping.mu.Lock()
	defer m.keeping.mu.Unlock()
	rows, next := make([][]any, len(changed)), make([]*kept, len(changed))
	for i, a := range changed {
		k := &kept{id: identity(r.group.file, r.group.def.Name, r.Alert, a.key), file: r.group.file,
			group: r.group.def.Name, rule: r.Alert, labels: a.labels, annotations: a.annotations, value: a.value,
			state: a.state, activeAt: a.activeAt, firedAt: a.firedAt, endedAt: a.endedAt, delivered: map[string]bool{}}
		rows[i], next[i] = k.row(), k
	}
	err := alertsTable.Put(ctx, m.o.Store, rows...)
	for i, a := range changed {
		if a.kept != nil {
			a.kept.replaced = true
		}
		a.kept = next[i] // also where it could not be written: whoever is told is told once
	}
	return err
}

// row is the values of a row, in the order of the columns.
func (k *kept) row() []any {
	var ended, sent any
	if !k.endedAt.IsZero() {
		ended = k.endedAt.UnixMilli()
	}
	if !k.sentAt.IsZero() {
		sent = k.sentAt.UnixMilli()
	}
	annotations, err := json.Marshal(k.annotations)
	if err != nil {
		panic("a map of texts has a form as JSON: " + err.Error())
	}
	return []any{k.activeAt.UnixMilli(), k.id, annotations, int64(0),
		strings.Join(slices.Sorted(maps.Keys(k.delivered)), "\n"), ended, k.file, k.firedAt.UnixMilli(), k.group,
		string(promql.AppendLabels(nil, k.labels)), k.rule, sent, k.value}
}

// forget removes the rows of alerts that are known no longer.
func (m *Manager) forget(ctx context.Context, gone map[string]*alert) {
	var keys [][]any
	m.keeping.mu.Lock()
	defer m.keeping.mu.Unlock()
	for _, a := range gone {
		if a.kept != nil {
			a.kept.replaced = true
			keys = append(keys, []any{a.kept.id, int64(0)})
		}
	}
	if len(keys) == 0 {
		return
	}
	if err := alertsTable.Delete(ctx, m.o.Store, keys...); err != nil && ctx.Err() == nil {
		m.log.Warn("alerts that ended cannot be removed from the table of alerts", "error", err)
	}
}

// readKept reads the rows of the table, those of the alerts that were known before the start.
func (m *Manager) readKept(ctx context.Context) (list []*kept, err error) {
	columns := []string{"alert", "file", "group", "rule", "labels", "annotations", "active_at", "fired_at", "value",
		"ended_at", "delivered", "sent_at"}
	for row, err := range alertsTable.Rows(ctx, m.o.Store, private.Query{Columns: columns}) {
		if err != nil {
			return nil, err
		}
		k := &kept{id: row.Text(0), file: row.Text(1), group: row.Text(2), rule: row.Text(3), state: firing,
			activeAt: time.UnixMilli(row.Int(6)), firedAt: time.UnixMilli(row.Int(7)), value: row.Float(8),
			delivered: map[string]bool{}}
		labels, err := readLabels(row.Text(4))
		if err != nil {
			continue // nobody but the server writes here
		}
		k.labels = sorted(labels)
		if k.annotations, err = readLabels(row.Text(5)); err != nil {
			continue
		}
		if !row.IsNull(9) {
			k.state, k.endedAt = inactive, time.UnixMilli(row.Int(9))
		}
		for target := range strings.SplitSeq(row.Text(10), "\n") {
			if target != "" {
				k.delivered[target] = true
			}
		}
		if !row.IsNull(11) {
			k.sentAt = time.UnixMilli(row.Int(11))
		}
		list = append(list, k)
	}
	return list, nil
}
