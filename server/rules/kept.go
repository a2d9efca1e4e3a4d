package rules

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"varve/engine"
	"varve/engine/private"
	"varve/engine/vector"
	"varve/sqlexec/promql"
)

// alertsTable keeps a row for each alert that fires or has ended a short while ago, so that a restart goes on where the
// server stopped, and rows of changes before that a webhook does not know of yet. The time of all rows is 0: the last
// row of a change counts.
var alertsTable = private.Table{TTL: "forever", OwnTable: engine.OwnTable{
	Name: engine.AlertsTable, Time: "at", Tags: []string{"alert"}, Later: []string{"keep_since"},
	Columns: []vector.Field{
		{Name: "active_at", Type: vector.Timestamp(3)}, {Name: "alert", Type: vector.StringType},
		{Name: "annotations", Type: vector.StringType}, {Name: "at", Type: vector.Timestamp(3)},
		{Name: "delivered", Type: vector.StringType}, {Name: "ended_at", Type: vector.Timestamp(3)},
		{Name: "file", Type: vector.StringType}, {Name: "fired_at", Type: vector.Timestamp(3)},
		{Name: "group", Type: vector.StringType}, {Name: "labels", Type: vector.StringType},
		{Name: "rule", Type: vector.StringType}, {Name: "sent_at", Type: vector.Timestamp(3)},
		{Name: "value", Type: vector.FloatType},
		{Name: "keep_since", Type: vector.Timestamp(3)},
	},
}}

// maxPast bounds the rows of changes that later ones followed; beyond it they are not kept over a restart.
const maxPast = 10_000

// kept is a row of the table: an alert since its last change between firing and ended.
type kept struct {
	id, file, group, rule string
	labels                promql.Labels
	annotations           map[string]string
	value                 float64
	state                 state
	activeAt, firedAt     time.Time
	endedAt               time.Time
	keepSince             time.Time // since when it fires only because of keep_firing_for; zero: it does not

	// keeping.mu protects what follows.
	saved     bool            // the table has it as it is
	delivered map[string]bool // the targets that know of this state
	sentAt    time.Time       // when a target was told first
	replaced  bool            // a later change followed, or the alert is known no longer
	past      bool            // its row stays until all webhooks know of it
}

// keeping orders the changes of the table.
type keeping struct {
	mu   sync.Mutex
	past int // rows that stay for webhooks alone
}

// rowID names the row of a change.
func (k *kept) rowID() string {
	if k.state == firing {
		return k.id + "-" + strconv.FormatInt(k.firedAt.UnixMilli(), 36) + "-f"
	}
	return k.id + "-" + strconv.FormatInt(k.firedAt.UnixMilli(), 36) + "-r"
}

// replace notes that a later change followed one, or that an alert is known no longer. It reports whether its row is
// needed no longer. The caller holds m.keeping.mu.
func (m *Manager) replace(k *kept) (over bool) {
	k.replaced = true
	if m.notifier.WebhooksKnow(k.delivered) || m.keeping.past >= maxPast {
		return true
	}
	k.past = true
	m.keeping.past++
	return false
}

// identity names an alert in the table.
func identity(file, group, rule, labels string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{file, group, rule, labels}, "\xff")))
	return hex.EncodeToString(sum[:16])
}

// keep writes the rows of the alerts of a rule that began to fire or ended, or whose condition is met no longer, or
// again, while they fire. After an error it tries again at the next
// evaluation.
func (m *Manager) keep(ctx context.Context, r *rule, at time.Time) error {
	m.keeping.mu.Lock()
	defer m.keeping.mu.Unlock()
	var rows [][]any
	var unsaved []*kept
	var over [][]any
	for _, a := range r.active {
		k := a.kept
		switch {
		case a.state == firing && (k == nil || k.state != firing), a.state == inactive && k != nil && k.state == firing:
			k = &kept{id: identity(r.group.file, r.group.def.Name, r.Alert, a.key), file: r.group.file,
				group: r.group.def.Name, rule: r.Alert, labels: a.labels, annotations: a.annotations, value: a.value,
				state: a.state, activeAt: a.activeAt, firedAt: a.firedAt, endedAt: a.endedAt,
				keepSince: a.keepSince, delivered: map[string]bool{}}
			if a.kept != nil && m.replace(a.kept) {
				over = append(over, []any{a.kept.rowID(), int64(0)})
			}
			a.kept = k // also where it cannot be written: whoever is told is told once
		case k != nil && a.state == firing && !k.keepSince.Equal(a.keepSince):
			k.keepSince = a.keepSince
		case k == nil || k.saved || a.state == pending:
			continue
		}
		rows, unsaved = append(rows, k.row()), append(unsaved, k)
	}
	if len(rows) == 0 {
		return nil
	}
	err := alertsTable.Put(ctx, m.o.Store, rows...)
	for _, k := range unsaved {
		k.saved = err == nil
	}
	if err != nil || len(over) == 0 {
		return err
	}
	return alertsTable.Delete(ctx, m.o.Store, over...)
}

// row is the values of a row, in the order of the columns.
func (k *kept) row() []any {
	var ended, sent, keep any
	if !k.endedAt.IsZero() {
		ended = k.endedAt.UnixMilli()
	}
	if !k.sentAt.IsZero() {
		sent = k.sentAt.UnixMilli()
	}
	if !k.keepSince.IsZero() {
		keep = k.keepSince.UnixMilli()
	}
	annotations, err := json.Marshal(k.annotations)
	if err != nil {
		panic("a map of texts has a form as JSON: " + err.Error())
	}
	return []any{k.activeAt.UnixMilli(), k.rowID(), annotations, int64(0),
		strings.Join(slices.Sorted(maps.Keys(k.delivered)), "\n"), ended, k.file, k.firedAt.UnixMilli(), k.group,
		string(promql.AppendLabels(nil, k.labels)), k.rule, sent, k.value, keep}
}

// forget removes the rows of alerts that are known no longer, once all webhooks know that they ended.
func (m *Manager) forget(ctx context.Context, gone map[string]*alert) {
	var keys [][]any
	m.keeping.mu.Lock()
	defer m.keeping.mu.Unlock()
	for _, a := range gone {
		if a.kept != nil && m.replace(a.kept) {
			keys = append(keys, []any{a.kept.rowID(), int64(0)})
		}
	}
	if len(keys) == 0 {
		return
	}
	if err := alertsTable.Delete(ctx, m.o.Store, keys...); err != nil && ctx.Err() == nil {
		m.log.Warn("alerts that ended cannot be removed from the table of alerts", "error", err)
	}
}

// readKept reads the rows of the table, those of the alerts that were known before the start, in the order of changes.
func (m *Manager) readKept(ctx context.Context) (list []*kept, err error) {
	columns := []string{"alert", "file", "group", "rule", "labels", "annotations", "active_at", "fired_at", "value",
		"ended_at", "delivered", "sent_at", "keep_since"}
	for row, err := range alertsTable.Rows(ctx, m.o.Store, private.Query{Columns: columns}) {
		if err != nil {
			return nil, err
		}
		id, _, _ := strings.Cut(row.Text(0), "-")
		k := &kept{id: id, file: row.Text(1), group: row.Text(2), rule: row.Text(3), state: firing,
			activeAt: time.UnixMilli(row.Int(6)), firedAt: time.UnixMilli(row.Int(7)), value: row.Float(8),
			saved: true, delivered: map[string]bool{}}
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
		if !row.IsNull(12) {
			k.keepSince = time.UnixMilli(row.Int(12))
		}
		list = append(list, k)
	}
	slices.SortStableFunc(list, func(a, b *kept) int {
		return cmp.Or(a.firedAt.Compare(b.firedAt), cmp.Compare(b.state, a.state)) // it fires before it ends
	})
	return list, nil
}
