package rules

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/vfs"
	"varve/server/rules/file"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
	"varve/sqlexec/promql"
)

// bench is a store with rules whose clock a test moves.
type bench struct {
	testing.TB
	fs    *vfs.Mem
	e     *engine.Engine
	m     *Manager
	now   time.Time    // only its own goroutine moves it
	clock atomic.Int64 // the same, ms, for others
	o     Options
}

// begin is the time at which the clock of a bench begins.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newBench(t testing.TB, change func(*Options)) *bench {
	t.Helper()
	b := &bench{TB: t, fs: vfs.NewMem(), now: begin}
	if change != nil {
		change(&b.o)
	}
	b.open()
	t.Cleanup(b.close)
	return b
}

// open opens the store and makes a manager.
func (b *bench) open() {
	b.Helper()
	var err error
	if b.e, err = engine.Open(engine.Options{FS: b.fs, Dir: "/data", NoBackground: true}); err != nil {
		b.Fatal(err)
	}
	if err := b.e.Wait(b.Context()); err != nil {
		b.Fatal(err)
	}
	o := b.o
	o.Store, o.Samples = b.e, samples.New(samples.Options{Store: b.e, CacheBytes: 1 << 20})
	o.SQL = sqlexec.New(b.e, sqlexec.Options{})
	o.Now = func() time.Time { return time.UnixMilli(b.clock.Load()) }
	b.clock.Store(b.now.UnixMilli())
	if b.m, err = New(o); err != nil {
		b.Fatal(err)
	}
	b.m.notifier.Start()
}

func (b *bench) close() {
	b.m.Stop(context.Background())
	if err := b.e.Close(context.Background(), false); err != nil {
		b.Error(err)
	}
}

// restart closes everything and opens it again; rules are the files from then on.
func (b *bench) restart(away time.Duration, rules string) {
	b.Helper()
	b.close()
	b.now = b.now.Add(away)
	b.open()
	b.m.changing.Lock()
	defer b.m.changing.Unlock()
	if err := b.m.restore(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.m.exchange(b.Context(), b.files(rules))
	b.m.forgetGone(b.Context())
}

func (b *bench) files(text string) []*file.File {
	b.Helper()
	f, err := file.Parse("f", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	return []*file.File{f}
}

// use takes rules.
func (b *bench) use(text string) { b.Helper(); b.m.Use(b.Context(), b.files(text)) }

// put writes a sample of a series in the notation of the language, now.
func (b *bench) put(series string, value float64) {
	b.Helper()
	labels, _, err := promql.ParseSeries(series+" 1", 1000)
	if err != nil {
		b.Fatal(err)
	}
	if err := b.m.Write(b.Context(), b.now, []Input{{labels, promql.Point{V: value}}}); err != nil {
		b.Fatal(err)
	}
}

// step moves the clock on by a time and evaluates all rules.
func (b *bench) step(d time.Duration) {
	b.now = b.now.Add(d)
	b.clock.Store(b.now.UnixMilli())
	b.m.Evaluate(b.Context(), b.now, nil)
}

// alerts are the alerts of all rules: name, state, since when in seconds after begin, value.
func (b *bench) alerts() string {
	var list []string
	groups, _, _ := b.m.Groups(Filter{})
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Error != "" {
				list = append(list, "error: "+r.Error)
			}
			for _, a := range r.Alerts {
				list = append(list, fmt.Sprintf("%s %s %v %v", a.Labels["instance"], a.State,
					a.ActiveAt.Sub(begin).Seconds(), a.Value))
			}
		}
	}
	return strings.Join(list, "; ")
}

func (b *bench) wantAlerts(want string) {
	b.Helper()
	if got := b.alerts(); got != want {
		b.Errorf("after %s the alerts are %q, want %q", b.now.Sub(begin), got, want)
	}
}

// ask is the result of an expression now.
func (b *bench) ask(expr string) string {
	b.Helper()
	list, err := b.m.askPromQL(b.Context(), expr, b.now)
	if err != nil {
		b.Fatal(err)
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = fmt.Sprintf("%s %v", p.labels, p.value)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func (b *bench) want(expr, want string) {
	b.Helper()
	if got := b.ask(expr); got != want {
		b.Errorf("after %s %s is\n%s\nwant\n%s", b.now.Sub(begin), expr, got, want)
	}
}

const down = `
groups:
- name: g
  rules:
  - alert: Down
    expr: up == 0
    for: 2m
    labels: {severity: page}
    annotations: {text: "{{ $labels.instance }} {{ $value }}"}
`

// TestAlertGoesItsWay: pending, firing, gone; with the series of alerts, and their ends.
func TestAlertGoesItsWay(t *testing.T) {
	b := newBench(t, nil)
	b.use(down)
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	b.wantAlerts("a pending 0 0")
	b.want("ALERTS", `{__name__="ALERTS", alertname="Down", alertstate="pending", instance="a", severity="page"} 1`)
	b.want("ALERTS_FOR_STATE - "+fmt.Sprint(begin.Unix()), `{alertname="Down", instance="a", severity="page"} 0`)
	b.step(time.Minute)
	b.wantAlerts("a pending 0 0")
	b.step(time.Minute)
	b.wantAlerts("a firing 0 0")
	b.want("ALERTS", `{__name__="ALERTS", alertname="Down", alertstate="firing", instance="a", severity="page"} 1`)
	b.put(`up{instance="a"}`, 1)
	b.step(time.Minute)
	b.wantAlerts("")
	b.want("ALERTS or ALERTS_FOR_STATE", "")
	b.put(`up{instance="a"}`, 0)
	b.step(time.Minute)
	b.wantAlerts("a pending 240 0")
}

// TestForZeroFiresAtOnce: without for an alert is never pending.
func TestForZeroFiresAtOnce(t *testing.T) {
	b := newBench(t, nil)
	b.use(strings.Replace(down, "for: 2m", "for: 0s", 1))
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	b.wantAlerts("a firing 0 0")
}

// TestKeepFiringFor: an alert fires on for a while after its condition is met no more, and not anew when it is met
// again meanwhile.
func TestKeepFiringFor(t *testing.T) {
	b := newBench(t, nil)
	b.use(strings.Replace(down, "for: 2m", "keep_firing_for: 2m", 1))
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	b.put(`up{instance="a"}`, 1)
	b.step(time.Minute)
	b.wantAlerts("a firing 0 0")
	b.put(`up{instance="a"}`, 0)
	b.step(time.Minute)
	b.put(`up{instance="a"}`, 1)
	b.step(time.Minute)
	b.step(time.Minute)
	b.wantAlerts("a firing 0 0")
	b.step(time.Minute)
	b.wantAlerts("")
}

// TestKeepFiringForOverRestarts: the time for which an alert fires on goes on where it was, and ends at the first look
// where it has passed; one whose condition was met again begins anew.
func TestKeepFiringForOverRestarts(t *testing.T) {
	b := newBench(t, nil)
	rules := strings.Replace(down, "for: 2m", "keep_firing_for: 5m", 1)
	b.use(rules)
	for _, name := range []string{"a", "b"} {
		b.put(`up{instance="`+name+`"}`, 0)
	}
	b.step(0)
	up := func(values ...float64) {
		for i, name := range []string{"a", "b"} {
			b.put(`up{instance="`+name+`"}`, values[i])
		}
	}
	up(1, 1)
	b.step(time.Minute) // both are kept from minute 1 on
	up(1, 0)
	b.step(time.Minute) // b is met again
	b.restart(time.Minute, rules)
	up(1, 1)
	b.step(0) // minute 3: b is kept from now on
	b.wantAlerts("a firing 0 0; b firing 0 0")
	b.restart(time.Minute, rules)
	up(1, 1)
	b.step(time.Minute) // minute 5
	b.wantAlerts("a firing 0 0; b firing 0 0")
	b.restart(time.Minute, rules)
	up(1, 1)
	b.step(0) // minute 6
	b.wantAlerts("b firing 0 0")
	b.restart(time.Hour, rules)
	up(1, 1)
	b.step(0)
	b.wantAlerts("")
}

// TestRulesInOrder: a rule sees what those before it in the group wrote, a series that ends is marked.
func TestRulesInOrder(t *testing.T) {
	b := newBench(t, nil)
	b.use(`
groups:
- name: g
  rules:
  - {record: double, expr: x * 2, labels: {by: rule}}
  - {record: "double:again", expr: double * 2}
  - {record: one, expr: "1 + 1"}
`)
	b.put(`x{i="a"}`, 1)
	b.put(`x{i="b"}`, 5)
	b.step(0)
	b.want(`{__name__="double:again"}`, "{__name__=\"double:again\", by=\"rule\", i=\"a\"} 4\n"+
		"{__name__=\"double:again\", by=\"rule\", i=\"b\"} 20")
	b.want("one", `{__name__="one"} 2`)
	b.put(`x{i="a"}`, math.Float64frombits(0x7ff0000000000002))
	b.step(time.Second)
	b.want("double", `{__name__="double", by="rule", i="b"} 10`)
}

// TestFaultsOfRules: a rule that fails says why, writes nothing, and its alerts stay.
func TestFaultsOfRules(t *testing.T) {
	b := newBench(t, nil)
	b.use(`
groups:
- name: g
  limit: 1
  rules:
  - {alert: Down, expr: up == 0}
  - {record: r, expr: 'label_replace(x, "i", "", "", "")'}
`)
	b.put(`up{instance="a"}`, 0)
	b.put(`x{i="1"}`, 0)
	b.step(0)
	b.wantAlerts("a firing 0 0")
	b.put(`up{instance="b"}`, 0)
	b.put(`x{i="2"}`, 0)
	b.step(time.Minute)
	if got := b.alerts(); !strings.Contains(got, "error: exceeded limit of 1 with 2 series; a firing 0 0") ||
		!strings.Contains(got, "same labelset") {
		t.Errorf("the rules say %q", got)
	}
	if list, _, _ := b.m.Groups(Filter{}); list[0].Failures != 2 || list[0].Rules[0].Health != "err" {
		t.Errorf("the group is %+v", list[0])
	}
}

// TestAlertOfSQL: each row is an alert, its columns are labels, and the range is the interval before the evaluation.
func TestAlertOfSQL(t *testing.T) {
	b := newBench(t, nil)
	b.use(`
groups:
- name: g
  interval: 2m
  rules:
  - alert: Many
    language: sql
    expr: |
      SELECT instance, NULL AS nothing, sum(value) AS value, min(timestamp)::STRING AS first FROM hits
      WHERE timestamp >= :from AND timestamp < :to GROUP BY instance HAVING sum(value) > 1
  - {alert: Wrong, language: sql, expr: SELECT 1 AS number}
`)
	b.put(`hits{instance="a"}`, 5)
	b.step(time.Minute)
	b.put(`hits{instance="a"}`, 7)
	b.step(0)
	b.wantAlerts("a firing 60 5; error: the statement has no column value")
	b.step(time.Minute) // what happened at the beginning of the range counts, what happens at its end does not
	b.wantAlerts("a firing 60 12; error: the statement has no column value")
	b.step(time.Minute)
	b.wantAlerts("a firing 180 7; error: the statement has no column value")
	if !strings.Contains(b.ask("ALERTS"), `first="2026-03-01`) || strings.Contains(b.ask("ALERTS"), "nothing") {
		t.Errorf("the alerts are %s", b.ask("ALERTS"))
	}
	b.step(2 * time.Minute)
	if strings.Contains(b.alerts(), "firing") {
		t.Errorf("the alerts are %s", b.alerts())
	}
}

// TestReload: a group that is the same goes on, rules that are the same keep their alerts, and rules that are gone end
// theirs.
func TestReload(t *testing.T) {
	b := newBench(t, nil)
	b.use(down)
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	same := (*b.m.groups.Load())[0]
	b.use("# a comment\n" + down)
	if (*b.m.groups.Load())[0] != same {
		t.Error("a group that only moved is made anew")
	}
	b.use(down + "  - {record: r, expr: up}\n")
	b.step(2 * time.Minute)
	b.wantAlerts("a firing 0 0")
	b.now = b.now.Add(time.Second)
	b.clock.Store(b.now.UnixMilli())
	b.use("groups: []")
	b.now = b.now.Add(time.Second)
	b.want("ALERTS", "")
	b.want("r", "")
}

// TestRestart: alerts go on where they were: one that fired fires, one that was pending has not waited while nobody
// looked.
func TestRestart(t *testing.T) {
	b := newBench(t, nil)
	b.use(down)
	b.put(`up{instance="a"}`, 0)
	b.step(0)
	b.step(time.Minute)
	b.put(`up{instance="b"}`, 0)
	b.step(time.Minute)
	b.wantAlerts("a firing 0 0; b pending 120 0")
	b.restart(10*time.Minute, down)
	b.put(`up{instance="a"}`, 0)
	b.put(`up{instance="b"}`, 0)
	b.step(0)
	b.wantAlerts("a firing 0 0; b pending 660 0") // nine minutes of the ten were missed
	b.step(time.Minute)
	b.wantAlerts("a firing 0 0; b firing 660 0")
	b.restart(time.Minute, down)
	b.put(`up{instance="a"}`, 1)
	b.step(0)
	b.wantAlerts("b firing 660 0")
	b.want(`ALERTS{instance="a"}`, "")
	b.restart(2*time.Hour, down) // what fired is known, however long ago; nothing else is
	b.put(`up{instance="b"}`, 0)
	b.put(`up{instance="c"}`, 0)
	b.step(0)
	b.wantAlerts("b firing 660 0; c pending " + fmt.Sprint(b.now.Sub(begin).Seconds()) + " 0")
}

// TestCatchUp: after a stop recording rules are evaluated for the time that was missed, as far back as they may.
func TestCatchUp(t *testing.T) {
	const rules = "groups: [{name: g, interval: 1m, rules: [{record: r, expr: x}, {alert: A, expr: x}]}]"
	b := newBench(t, func(o *Options) { o.CatchUp = 10 * time.Minute })
	b.use(rules)
	b.put("x", 1)
	b.step(0)
	for range 30 {
		b.now = b.now.Add(time.Minute)
		b.put("x", 2)
	}
	g := (*b.m.groups.Load())[0]
	g.catchUp(b.Context(), b.now)
	got := b.ask("count_over_time(r[30m])")
	if got != "{} 10" && got != "{} 11" {
		t.Errorf("%s evaluations were made up for, want 10", got)
	}
	before := g.evaluations.Load()
	if g.catchUp(b.Context(), b.now); g.evaluations.Load() != before {
		t.Error("evaluations are made up for twice")
	}
}

// TestQueryOffset: a rule asks about a time before its own and writes its results there, so that the rules after it see
// them; series end there, pending alerts go on and recording rules catch up as without an offset.
func TestQueryOffset(t *testing.T) {
	const rules = `
groups:
- name: g
  interval: 1m
  query_offset: 30s
  rules:
  - {record: r, expr: x * 2}
  - {record: "r:again", expr: r + 1}
  - {alert: A, expr: "r > 5", for: 2m, labels: {instance: a}}
`
	b := newBench(t, func(o *Options) { o.CatchUp = 10 * time.Minute })
	b.use(rules)
	ask := func(expr, want string) {
		t.Helper()
		now := b.now
		b.now = now.Add(-30 * time.Second)
		b.want(expr, want)
		b.now = now
	}
	b.put("x", 3)
	b.step(30 * time.Second)
	ask("timestamp(r) - "+fmt.Sprint(begin.Unix()), "{} 0")
	ask(`{__name__="r:again"}`, `{__name__="r:again"} 7`)
	ask("timestamp(ALERTS) - "+fmt.Sprint(begin.Unix()), "{alertname=\"A\", alertstate=\"pending\", instance=\"a\"} 0")
	b.step(time.Minute)
	b.wantAlerts("a pending 30 6")
	b.restart(time.Minute, rules) // as long as between two evaluations: no time is missed
	b.put("x", 3)
	b.step(0)
	b.wantAlerts("a firing 30 6")
	b.put("x", math.Float64frombits(0x7ff0000000000002))
	b.step(time.Minute)
	ask("r", "")
	for range 5 {
		b.now = b.now.Add(time.Minute)
		b.put("x", 2)
	}
	g := (*b.m.groups.Load())[0]
	g.catchUp(b.Context(), b.now)
	ask("count_over_time(r[3m])", "{} 3")
}

// TestSlots: a group has one offset within its interval, and groups are spread.
func TestSlots(t *testing.T) {
	seen := map[time.Duration]bool{}
	for i := range 50 {
		g := &group{file: "f", def: &file.Group{Name: fmt.Sprint(i)}, interval: time.Minute}
		at := g.slot(begin)
		if at.After(begin) || begin.Sub(at) >= time.Minute {
			t.Fatalf("the slot before %v is %v", begin, at)
		}
		if next := g.slot(at.Add(time.Minute)); next.Sub(at) != time.Minute {
			t.Fatalf("slots are %v apart", next.Sub(at))
		}
		seen[begin.Sub(at)] = true
	}
	if len(seen) < 40 {
		t.Errorf("50 groups have %d offsets", len(seen))
	}
}

// TestTrial: a trial says when an alert would have been pending and firing, and writes nothing.
func TestTrial(t *testing.T) {
	b := newBench(t, nil)
	for i := range 60 {
		b.put(`up{instance="a"}`, map[bool]float64{true: 0, false: 1}[i >= 10 && i < 20])
		b.now = b.now.Add(time.Minute)
	}
	for _, rule := range []string{"expr: up == 0", "language: sql\n    expr: " +
		"SELECT instance, value FROM up WHERE timestamp >= :from AND timestamp < :to AND value = 0"} {
		f := b.files("groups:\n- name: g\n  interval: 1m\n  rules:\n  - alert: A\n    for: 3m\n" +
			"    annotations: {s: '{{ $value }}'}\n    " + rule)
		got, err := b.m.Try(b.Context(), &f[0].Groups[0], begin, begin.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Series) != 1 || got.Step != time.Minute || got.Series[0].Labels["alertname"] != "A" ||
			got.Series[0].Annotations["s"] != "0" || len(got.Series[0].Points) != 10 {
			t.Fatalf("%s: %+v", rule, got)
		}
		s := got.Series[0].Spans
		if len(s) != 2 || s[0].State != "pending" || s[1].State != "firing" ||
			s[0].To.Sub(s[0].From) != 2*time.Minute ||
			s[1].To.Sub(s[1].From) != 6*time.Minute {
			t.Errorf("%s: %+v", rule, s)
		}
	}
	b.want("ALERTS", "")
	f := b.files("groups: [{name: g, rules: [{record: r, expr: up}]}]")
	if got, err := b.m.Try(b.Context(), &f[0].Groups[0], begin, begin.Add(48*time.Hour)); err != nil ||
		got.Step%time.Minute != 0 || got.Step < 2*time.Minute || len(got.Series[0].Spans) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, to := range []time.Duration{-time.Minute, 32 * 24 * time.Hour} {
		if _, err := b.m.Try(b.Context(), &f[0].Groups[0], begin, begin.Add(to)); err == nil {
			t.Errorf("a trial over %s is made", to)
		}
	}
}
