package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/vector"
)

// What the simulated machine does, about as the one of bench/RESULTS.md.
const (
	simFlushRows = 400_000   // of a memtable
	simFlushRate = 1_500_000 // rows a second
	simMergeRate = 1_200_000 // rows a second, merged one by one
	simFlushAge  = 5 * time.Minute
	simStep      = 100 * time.Millisecond
)

// simulation plays load through the schedule in virtual time: tables that are written to, one flush loop, one worker
// for each kind of merge. Parts are descriptions; which of them are merged, when and at what speed is decided by the
// code of the store.
type simulation struct {
	schedule
	t      *testing.T
	r      *rand.Rand
	now    time.Time
	tables []*simTable
	work   [background]simWorker
	seq    uint64

	queue   []*simTable // that want a flush
	flush   *simTable   // under way
	rows    float64     // of the memtable that is written
	until   time.Time   // the flush ends
	waits   *plea
	flushed time.Time
	scan    bool    // a query is open
	limit   float64 // of rows in memory, at which writers wait

	merges, rested int
	wrote, again   float64                   // rows by flushes and by merges
	stalled        time.Duration             // writers
	longest        [background]time.Duration // merge
	long, busy     time.Duration             // work of long merges while rows come in, and that time
}

// simTable is a table that is written to.
type simTable struct {
	name   string
	region *region
	rate   func(at time.Duration) float64                // rows a second, from the begin of the simulation on
	time   func(at time.Duration) (lo, hi time.Duration) // of the rows that are written then; all since 1970
	ttl    time.Duration
	rows   float64   // in memory
	born   time.Time // the first of them; zero: there is none
	queued bool

	fresh  int                 // parts, at most
	behind int                 // merges of merged parts that waited, at most
	due    map[class]time.Time // since when parts of a class wait to be merged
	late   time.Duration       // how long those of one did, at most
}

// simWorker is a goroutine that merges.
type simWorker struct {
	job   *job
	rows  float64   // left to merge
	until time.Time // its step ends; zero: it rests, or has nothing to do
	ask   time.Time // zero: when something changes
}

func (s *simulation) add(name string, ttl time.Duration, rate func(time.Duration) float64,
	span func(time.Duration) (lo, hi time.Duration)) *simTable {
	schema := &schema.Table{Columns: []schema.Column{{Name: "ts", Type: vector.Timestamp(3)}}}
	region := newRegion(newMemory(ownMemory(&Options{MemtableLimit: 1}), 0), schema)
	t := &simTable{name: name, region: region, rate: rate, time: span, ttl: ttl}
	s.tables = append(s.tables, t)
	return t
}

// steady is a load that does not change.
func steady(rate float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return rate }
}

// recent are rows of the last seconds.
func recent(at time.Duration) (lo, hi time.Duration) { return at - 5*time.Second, at }

// run plays a time through, and then as long as there is work left, at most an hour.
func (s *simulation) run(d time.Duration) {
	begin := s.now
	minute, tend := begin, begin
	for end := begin.Add(d); s.now.Before(end.Add(time.Hour)); {
		at := s.now.Sub(begin)
		over := !s.now.Before(end)
		if over && s.idle() {
			return
		}
		if !s.now.Before(minute) {
			minute = s.now.Add(time.Minute)
			s.scan = s.r.IntN(5) == 0
		}
		if !s.now.Before(tend) {
			tend = s.now.Add(tendPeriod)
			s.expire(at)
		}
		rates := make([]float64, len(s.tables))
		next := slices.MinFunc([]time.Time{minute, tend, s.now.Add(time.Minute)}, time.Time.Compare)
		full := s.held() >= s.limit
		if full && len(s.queue) == 0 { // as a writer that waits does
			s.want(slices.MaxFunc(s.tables, func(a, b *simTable) int { return cmp.Compare(a.rows, b.rows) }))
		}
		for i, t := range s.tables {
			if rates[i] = t.rate(at); over || full {
				rates[i] = 0
			}
			if rates[i] > 0 && !t.queued && t != s.flush {
				next = earlier(next, s.now.Add(time.Duration(max(0, simFlushRows-t.rows)/rates[i]*1e9)+1))
			} else if rates[i] > 0 {
				next = earlier(next, s.now.Add(50*time.Millisecond))
			}
		}
		next = earlier(next, s.until)
		for k := range s.work {
			next = earlier(earlier(next, s.work[k].until), s.work[k].ask)
		}
		s.pass(next, rates, full && !over)
	}
	s.t.Errorf("an hour after the load there is still work")
}

func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// idle reports whether nothing is left to do.
func (s *simulation) idle() bool {
	for k := range s.work {
		if s.work[k].job != nil || len(s.schedule.queue[k]) > 0 {
			return false
		}
	}
	return s.flush == nil && len(s.queue) == 0
}

// held are the rows in memory.
func (s *simulation) held() (rows float64) {
	for _, t := range s.tables {
		rows += t.rows
	}
	return rows + s.rows
}

// pass lets time go by until the next thing happens, and has it happen.
func (s *simulation) pass(next time.Time, rates []float64, full bool) {
	d := max(next.Sub(s.now), 0)
	if full {
		s.stalled += d
	}
	if s.arriving() {
		s.busy += d
	}
	s.now = s.now.Add(d)
	for i, t := range s.tables {
		t.rows += rates[i] * d.Seconds()
		if rates[i] > 0 && t.born.IsZero() {
			t.born = s.now
		}
		if t.rows >= simFlushRows || !t.born.IsZero() && s.now.Sub(t.born) > simFlushAge {
			s.want(t)
		}
	}
	s.flushSome()
	for k := range s.work {
		s.mergeSome(kind(k))
	}
	for k := range s.work { // what the others have changed
		s.mergeSome(kind(k))
	}
}

// want asks for a flush of a table.
func (s *simulation) want(t *simTable) {
	if !t.queued && t != s.flush {
		t.queued = true
		s.queue = append(s.queue, t)
	}
}

func (s *simulation) arriving() bool {
	return !s.flushed.IsZero() && s.now.Sub(s.flushed) <= arriveTime
}

// flushSome is the flush loop.
func (s *simulation) flushSome() {
	if s.flush != nil && !s.until.IsZero() && !s.now.Before(s.until) {
		t := s.flush
		lo, hi := t.time(s.now.Sub(time.Unix(0, 0)))
		s.put(t, manifest.PartMeta{Rows: int64(s.rows), MinTime: lo.Milliseconds(), MaxTime: hi.Milliseconds()})
		s.push(freshParts, t.region)
		s.wrote += s.rows
		s.flush, s.rows, s.until, s.flushed = nil, 0, time.Time{}, s.now
	}
	if s.flush == nil && len(s.queue) > 0 {
		s.flush, s.queue = s.queue[0], s.queue[1:]
		s.flush.queued = false
	}
	if s.flush == nil || !s.until.IsZero() {
		return
	}
	if s.waits != nil {
		select {
		case done := <-s.waits.merged:
			s.waits = nil
			if !done {
				s.t.Errorf("%v: a flush waited in vain", s.now)
			}
		default:
			return
		}
	}
	if s.flush.region.fresh() > s.mostFresh() {
		s.waits = s.plead(s.flush.region)
		return
	}
	s.rows, s.flush.rows, s.flush.born = s.flush.rows, 0, time.Time{}
	s.until = s.now.Add(time.Duration(s.rows / simFlushRate * 1e9))
}

// put adds a part.
func (s *simulation) put(t *simTable, m manifest.PartMeta) {
	s.seq++
	m.File, m.MinSeq, m.MaxSeq = s.seq, s.seq, s.seq
	p := partOf(m)
	t.region.replace(func(snap *regionSnap) { snap.parts = append(snap.parts, p) })
	t.fresh = max(t.fresh, t.region.fresh())
}

// watch notes how much there is to merge.
func (t *simTable) watch(now time.Time) {
	snap := t.region.snap.Load()
	w := windowsOf(snap.schema, "", snap.parts)
	t.behind = max(t.behind, behind(snap.parts, w, 8, maxPart))
	due := map[class]time.Time{}
	merged, _ := classes(snap.parts, w)
	for c, list := range merged {
		if take(list, 8, 2*8, maxPart) == nil {
			continue
		}
		since, ok := t.due[c]
		if !ok {
			since = now
		}
		due[c] = since
		t.late = max(t.late, now.Sub(since))
	}
	t.due = due
}

// mergeSome is a loop of the merger.
func (s *simulation) mergeSome(k kind) {
	w := &s.work[k]
	if !w.until.IsZero() {
		if s.now.Before(w.until) {
			return
		}
		w.until = time.Time{}
		s.worked(w.job, s.now)
		if w.rows <= 0 {
			s.finish(w.job)
			w.job = nil
		}
	}
	for w.job == nil {
		if w.job, w.ask = s.begin(k, s.now, traffic{}); w.job == nil {
			return
		}
		snap := w.job.region.snap.Load()
		w.job.parts = w.job.choose(snap.parts, windowsOf(snap.schema, "", snap.parts), s.parts, maxPart)
		if w.job.parts == nil {
			s.end(w.job, s.now, false)
			w.job = nil
			continue
		}
		w.rows = 0
		for _, p := range w.job.parts {
			w.rows += float64(p.meta.Rows)
		}
		s.worked(w.job, s.now)
	}
	ok, at := s.resume(w.job, s.now, traffic{flushing: !s.until.IsZero(), scanning: s.scan,
		crowded: s.held() > crowdedMemtables*simFlushRows, flushed: s.flushed})
	if w.ask = at; !ok {
		s.rested++
		return
	}
	w.ask = time.Time{}
	work := min(simStep, time.Duration(w.rows/simMergeRate*1e9)+1)
	w.rows -= work.Seconds() * simMergeRate
	w.until = s.now.Add(work)
	if k == mergedParts && s.arriving() {
		s.long += work
	}
}

// finish replaces the parts of a merge by one for each window.
func (s *simulation) finish(j *job) {
	t := s.tables[slices.IndexFunc(s.tables, func(t *simTable) bool { return t.region == j.region })]
	snap := t.region.snap.Load()
	w := windowsOf(snap.schema, "", snap.parts)
	t.region.replace(func(snap *regionSnap) {
		snap.parts = slices.DeleteFunc(snap.parts, func(p *part) bool { return slices.Contains(j.parts, p) })
	})
	for _, span := range w.cut(j.parts) {
		m := manifest.PartMeta{Level: levelOf(j.parts), MinTime: math.MaxInt64, MaxTime: math.MinInt64}
		for _, p := range j.parts {
			lo, hi := max(span.From, p.meta.MinTime), min(span.To, p.meta.MaxTime)
			if lo > hi {
				continue
			}
			share := float64(hi-lo+1) / float64(p.meta.MaxTime-p.meta.MinTime+1)
			m.Rows += int64(share * float64(p.meta.Rows))
			m.MinTime, m.MaxTime = min(m.MinTime, lo), max(m.MaxTime, hi)
		}
		if m.Rows > 0 {
			s.put(t, m)
			s.again += float64(m.Rows)
		}
	}
	s.merges++
	s.longest[j.kind] = max(s.longest[j.kind], s.now.Sub(j.began))
	s.end(j, s.now, true)
}

// expire drops what is past its time and has all tables looked at.
func (s *simulation) expire(at time.Duration) {
	for _, t := range s.tables {
		if t.ttl > 0 {
			oldest := time.Duration(s.now.UnixNano()) - t.ttl
			t.region.replace(func(snap *regionSnap) {
				snap.parts = slices.DeleteFunc(snap.parts, func(p *part) bool {
					taken := slices.ContainsFunc(t.region.merges.jobs[:],
						func(j *job) bool { return j != nil && slices.Contains(j.parts, p) })
					return p.meta.MaxTime < oldest.Milliseconds() && !taken
				})
			})
		}
		s.push(freshParts, t.region)
		s.push(mergedParts, t.region)
		t.watch(s.now)
	}
}

func newSimulation(t *testing.T) *simulation {
	return &simulation{schedule: schedule{parts: 8}, t: t, r: rand.New(rand.NewPCG(1, 1)),
		now: time.Unix(1_700_000_000, 0), limit: 2.25 * simFlushRows}
}

// String says how it went.
func (s *simulation) String() string {
	text := fmt.Sprintf(
		"%d merges, %.2f rows merged for each that was written, writers waited %v, longest merges %v, long ones took %.2f of a processor while rows came in", s.merges,
		s.again/s.wrote, s.stalled.Round(time.Millisecond), s.longest, s.long.Seconds()/max(1, s.busy.Seconds()))
	for _, t := range s.tables {
		text += fmt.Sprintf("\n%s: %d parts at the end, at most %d fresh, %d merges waiting, for %v", t.name,
			len(t.region.snap.Load().parts), t.fresh, t.behind, t.late)
	}
	return text
}

// TestSimulation plays loads through and holds what the schedule promises: parts stay few, writers do not wait where
// the machine can do the work, rows are not merged more often than their levels ask for, and no table and no kind of
// merge starves. The long run of the tests plays ten times as long.
func TestSimulation(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name string
		d    time.Duration
		load func(s *simulation)

		again   float64       // rows merged for each that was written, at most
		stalled float64       // share of the time that writers wait, at most
		behind  int           // merges that wait, at most
		late    time.Duration // how long those of one level and window do, at most
	}{
		{"steady", 12 * time.Hour, func(s *simulation) {
			s.add("logs", 0, steady(150_000), recent)
		}, 2, 0, 16, 5 * time.Minute},
		{"tables by day and night", 12 * time.Hour, func(s *simulation) {
			s.limit = 8 * simFlushRows // else the largest is flushed all the time, whoever writes
			for i := range 8 {
				peak := 60_000 / float64(i+1)
				s.add(fmt.Sprint("t", i), time.Duration(i%3)*12*time.Hour, func(at time.Duration) float64 {
					return peak * (1.1 + math.Sin(at.Hours()/24*2*math.Pi+float64(i)))
				}, recent)
			}
		}, 3, 0, 64, 10 * time.Minute},
		{"history", 2 * time.Hour, func(s *simulation) { // the lengths of windows change four times
			s.add("now", 0, steady(20_000), recent)
			begin := time.Duration(s.now.UnixNano())
			s.add("then", 0, func(at time.Duration) float64 {
				if at > 20*time.Minute {
					return 0
				}
				return 450_000
			}, func(at time.Duration) (lo, hi time.Duration) {
				lo = begin - 400*day + (at-begin)*20*24
				return lo, lo + 30*time.Minute
			})
		}, 2, 0.001, 16, 10 * time.Minute},
		{"late rows", 3 * time.Hour, func(s *simulation) {
			s.add("late", 0, steady(200_000), func(at time.Duration) (lo, hi time.Duration) { return at - 20*day, at })
		}, 3.5, 0, 64, 45 * time.Minute},
		{"too many rows", 20 * time.Minute, func(s *simulation) {
			s.add("much", 0, steady(3_000_000), recent)
			s.add("little", 0, steady(10_000), recent)
		}, 2, 0.75, 16, 10 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSimulation(t)
			c.load(s)
			d := c.d * time.Duration(effort(1, 10, 100)) / 10
			s.run(d)
			t.Log(s)
			if again := s.again / s.wrote; again > c.again {
				t.Errorf("%.2f rows are merged for each that was written, want %v at most", again, c.again)
			}
			if share := s.stalled.Seconds() / d.Seconds(); share > c.stalled {
				t.Errorf("writers wait %.4f of the time, want %v at most", share, c.stalled)
			}
			for _, x := range s.tables {
				if x.fresh > s.mostFresh()+1 {
					t.Errorf("table %s has %d fresh parts", x.name, x.fresh)
				}
				if x.behind > c.behind || x.late > c.late {
					t.Errorf("in table %s %d merges of merged parts wait, for %v: want %d and %v at most", x.name,
						x.behind, x.late, c.behind, c.late)
				}
			}
			if s.longest[freshParts] > time.Minute || s.longest[mergedParts] > 10*time.Minute {
				t.Errorf("merges take as long as %v", s.longest)
			}
		})
	}
}
