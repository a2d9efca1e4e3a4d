package rules

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve/sqlexec/promql"
)

// TestEachChangeIsTold: an alert that comes back soon after it ended is told at once, and so is its next end.
func TestEachChangeIsTold(t *testing.T) {
	r := newReceiver(t)
	b := newBench(t, r.options)
	b.use(quick)
	for i, up := range []float64{0, 1, 0, 1} {
		b.put(`up{instance="a"}`, up)
		b.step(time.Second)
		want := []string{"firing a", "resolved a"}[i%2]
		r.waitFor(t, 1, 1)
		if got := r.took(); !strings.HasPrefix(got, want+" | a ") {
			t.Errorf("change %d: the receiver was told %q, want %s", i, got, want)
		}
	}
}

// TestUnwrittenAlertIsWrittenLater: an alert that fired while the disk was full is in the table of alerts once it has
// room, with who was told of it.
func TestUnwrittenAlertIsWrittenLater(t *testing.T) {
	r := newReceiver(t)
	b := newBench(t, r.options)
	b.use(quick)
	b.put(`up{instance="a"}`, 0)
	b.fs.SetRoom("/data", 0)
	b.step(0)
	if !strings.Contains(b.alerts(), "error") {
		t.Errorf("a full disk takes alerts: %s", b.alerts())
	}
	wantTold(t, r, 1, 1, "firing a | a 240")
	b.fs.SetRoom("/data", 1<<30)
	b.step(time.Second)
	b.restart(time.Second, quick)
	b.step(0)
	b.put(`up{instance="b"}`, 0)
	b.step(time.Second) // b comes after all that might have come
	r.waitFor(t, 1, 1)
	if got := r.took(); !strings.HasPrefix(got, "firing b | ") {
		t.Errorf("after the restart the receiver was told %q", got)
	}
}

// reopened opens a bench again as a start of the server does, without the goroutines of groups.
func (b *bench) reopened() {
	b.Helper()
	b.close()
	b.open()
	b.m.changing.Lock()
	defer b.m.changing.Unlock()
	if err := b.m.restore(b.Context()); err != nil {
		b.Fatal(err)
	}
	_ = b.m.load(b.Context()) // the tests look at what is loaded
	b.m.forgetGone(b.Context())
}

// loaded reads the files again.
func (b *bench) loaded() error {
	b.m.changing.Lock()
	defer b.m.changing.Unlock()
	return b.m.load(b.Context())
}

// TestWrongFileAtTheStart: alerts of a file that is wrong at the start wait for it to be mended, however long that
// takes; then they fire on or end, and nobody is told twice.
func TestWrongFileAtTheStart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f.yml")
	save := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newReceiver(t)
	b := newBench(t, func(o *Options) {
		r.options(o)
		o.Files = []string{name}
	})
	save(quick)
	if err := b.loaded(); err != nil {
		t.Fatal(err)
	}
	b.put(`up{instance="a"}`, 0)
	b.put(`up{instance="b"}`, 0)
	b.step(0)
	r.waitFor(t, 2, 2)
	r.took()
	save("groups: [")
	b.reopened()
	if err := b.loaded(); err == nil {
		t.Error("the wrong file is taken")
	}
	save(quick)
	if err := b.loaded(); err != nil {
		t.Error(err)
	}
	b.put(`up{instance="a"}`, 1)
	b.step(time.Second)
	b.wantAlerts("b firing 0 0")
	wantTold(t, r, 1, 1, "resolved a | a 1")
}

// TestDocumentsThatCannotBeRead: files are loaded all the same, and alerts of documents do not end.
func TestDocumentsThatCannotBeRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f.yml")
	if err := os.WriteFile(name, []byte(quick), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(o *Options) { o.Files = []string{name} })
	if err := documentsTable.Put(t.Context(), b.e, []any{"groups: []", "d", int64(0)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as a store that does not answer
	b.m.changing.Lock()
	err := b.m.load(ctx)
	b.m.changing.Unlock()
	if err == nil || len(*b.m.groups.Load()) != 1 {
		t.Errorf("%v, and %d groups are loaded", err, len(*b.m.groups.Load()))
	}
	if _, _, failure := b.m.Sources(); !strings.Contains(failure, "documents") || !b.m.unread("document:d") {
		t.Errorf("the failure is %q", failure)
	}
}

// TestClockSetBack: alerts end, fire and are told by the time that it is now.
func TestClockSetBack(t *testing.T) {
	r := newReceiver(t)
	b := newBench(t, r.options)
	b.use(quick)
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	wantTold(t, r, 1, 1, "firing a | a 240")
	b.now = b.now.Add(-time.Hour)
	b.put(`up{instance="a"}`, 1)
	b.step(0)
	wantTold(t, r, 1, 1, "resolved a | a -3600")
	b.use(down)
	b.now = begin
	b.put(`up{instance="b"}`, 0)
	b.step(0)
	b.now = b.now.Add(-30 * time.Minute)
	for range 3 {
		b.put(`up{instance="b"}`, 0)
		b.step(time.Minute)
	}
	if got := b.alerts(); got != "b firing -1740 0" {
		t.Errorf("the alerts are %q", got)
	}
}

// TestResultsAreBounded: a rule whose results have too much text fails and says so, and its alerts stay.
func TestResultsAreBounded(t *testing.T) {
	b := newBench(t, nil)
	b.use(`
groups:
- name: g
  rules:
  - {alert: Labels, language: sql, expr: "SELECT repeat('x', 60000) AS instance, value AS n, 1 AS value FROM many"}
  - {record: r, language: sql, expr: "SELECT repeat('x', 60000) AS instance, value AS n, 1 AS value FROM many"}
  - {alert: Texts, expr: many, annotations: {text: '` + strings.Repeat("y", 60_000) + `'}}
`)
	var list []Input
	for i := range 1200 {
		labels := promql.NewLabels("__name__", "many", "i", strconv.Itoa(i))
		list = append(list, Input{labels, promql.Point{V: float64(i)}})
	}
	if err := b.m.Write(t.Context(), b.now, list); err != nil {
		t.Fatal(err)
	}
	b.step(0)
	if got := b.alerts(); strings.Count(got, "more than 67108864 bytes of labels and annotations") != 3 {
		t.Errorf("the rules say %.300s", got)
	}
}

// TestFaultsOfOneRuleAreItsOwn: wrong values, labels that are there twice and statements that are no queries are errors
// of their rule; others of the group go on.
func TestFaultsOfOneRuleAreItsOwn(t *testing.T) {
	b := newBench(t, nil)
	b.use(`
groups:
- name: g
  rules:
  - {alert: A, language: sql, expr: "SELECT 'a' AS instance, 'text' AS value"}
  - {alert: B, language: sql, expr: "SELECT 'a' AS instance, 1 AS value UNION ALL SELECT 'a', 2"}
  - {record: r, language: sql, expr: "SELECT 'a' AS instance, 1 AS value UNION ALL SELECT 'a', 2"}
  - {alert: C, language: sql, expr: "SELECT 'a' AS instance, NULL AS value"}
  - {alert: D, language: sql, expr: "SELECT ':to' AS instance, 'NaN'::DOUBLE AS value -- :from"}
  - {alert: E, expr: 'label_replace(vector(1), "alertstate", "mine", "", "")', labels: {alertname: other, instance: e}}
  - {alert: F, language: sql, expr: "SELECT 'x' AS \"count(*)\", 'f' AS instance, true AS value"}
`)
	b.step(0)
	b.step(time.Minute)
	got := b.alerts()
	for _, want := range []string{`has "text", which is not a number`, "same labelset after applying alert labels",
		"same labelset after applying rule labels", ":to firing 0 NaN", "e firing 0 1", "f firing 0 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("the rules say %s\nwithout %s", got, want)
		}
	}
	if n := strings.Count(got, "error"); n != 3 {
		t.Errorf("%d rules fail: %s", n, got)
	}
	b.want(`ALERTS{alertname="E"}`, `{__name__="ALERTS", alertname="E", alertstate="firing", instance="e"} 1`)
}

// TestChangesThatWaitSurvive: a webhook that took nothing before a restart is told of each change after it, in order
// and once, and an Alertmanager of the last.
func TestChangesThatWaitSurvive(t *testing.T) {
	r := newReceiver(t)
	r.down = true
	b := newBench(t, r.options)
	b.use(quick)
	for _, up := range []float64{0, 1, 0, 1, 0} {
		b.put(`up{instance="a"}`, up)
		b.step(time.Second)
	}
	<-r.came
	for range 2 {
		b.restart(time.Second, quick)
	}
	r.mu.Lock()
	r.down = false
	r.mu.Unlock()
	b.step(0)
	wantTold(t, r, 5, 1, "firing a, resolved a, firing a, resolved a, firing a | a 247")
	b.restart(time.Second, quick)
	b.put(`up{instance="a"}`, 1)
	b.step(0)
	r.waitFor(t, 1, 1)
	if got := r.took(); got != "resolved a | a 8" {
		t.Errorf("after another restart the receiver was told %q", got)
	}
	b.m.Stop(t.Context())
	list, err := b.m.readKept(t.Context())
	if err != nil || len(list) != 1 || b.m.keeping.past != 0 {
		t.Errorf("the table has %d rows, %d of the past, %v", len(list), b.m.keeping.past, err)
	}
}

// TestEndSurvivesALongOutage: a webhook that is down for longer than an ended alert is known is told of it after a
// restart, and then its rows are gone.
func TestEndSurvivesALongOutage(t *testing.T) {
	r := newReceiver(t)
	r.down = true
	b := newBench(t, r.options)
	b.use(quick)
	for _, up := range []float64{0, 1} {
		b.put(`up{instance="a"}`, up)
		b.step(time.Second)
	}
	b.step(20 * time.Minute)
	b.restart(time.Minute, quick)
	b.step(0)
	r.mu.Lock()
	r.down = false
	r.mu.Unlock()
	r.waitFor(t, 2, 0)
	if got := r.took(); got != "firing a, resolved a | " {
		t.Errorf("the receiver was told %q", got)
	}
	b.m.Stop(t.Context())
	if list, err := b.m.readKept(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("the table has %d rows, %v", len(list), err)
	}
}

// TestChangeBeforeTheStartIsTold: what the last change before a restart was is told, also where the first evaluation
// changes it.
func TestChangeBeforeTheStartIsTold(t *testing.T) {
	for _, before := range [][]float64{{0}, {0, 1}} {
		r := newReceiver(t)
		r.down = true
		b := newBench(t, r.options)
		b.use(quick)
		last := 0.0
		for _, last = range before {
			b.put(`up{instance="a"}`, last)
			b.step(time.Second)
		}
		b.restart(time.Second, quick)
		b.put(`up{instance="a"}`, 1-last)
		b.step(0)
		r.mu.Lock()
		r.down = false
		r.mu.Unlock()
		want := []string{"firing a", "resolved a", "firing a"}[:len(before)+1]
		r.waitFor(t, len(want), 1)
		if got := r.took(); !strings.HasPrefix(got, strings.Join(want, ", ")+" | ") {
			t.Errorf("%v: the receiver was told %q", before, got)
		}
	}
}
