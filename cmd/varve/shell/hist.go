package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"varve/cmd/varve/client"
	"varve/engine/timefmt"
)

// histogramLines is how many lines a histogram has at most.
const histogramLines = 40

// steps are lengths of time that people count in.
var steps = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second,
	30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

// stepOf is one of them so that a length has at most so many; longer lengths have multiples of the longest.
func stepOf(length time.Duration, most int) time.Duration {
	for _, step := range steps {
		if length/step < time.Duration(most) {
			return step
		}
	}
	longest := steps[len(steps)-1]
	return (length/longest/time.Duration(most) + 1) * longest
}

// levelColumns are the names of columns that say how grave a row is, the likeliest first.
var levelColumns = []string{"level", "severity_text", "severity", "log_level", "loglevel", "lvl"}

// grade is how grave rows are, and how bars show them.
type grade struct {
	name, mark, colour string
	words              []string // levels that begin so
}

var grades = []grade{
	{"error", "█", "\x1b[31m", []string{"err", "fatal", "crit", "alert", "emerg", "panic"}},
	{"warning", "▓", "\x1b[33m", []string{"warn"}},
	{"info", "▒", "\x1b[32m", []string{"info", "notice"}},
	{"debug", "░", "\x1b[34m", []string{"debug", "trace", "verbose"}},
	{"other", "·", "\x1b[0m", nil},
}

// gradeOf is the index of a level's grade.
func gradeOf(level string) int {
	level = strings.ToLower(level)
	for i, g := range grades {
		for _, w := range g.words {
			if strings.HasPrefix(level, w) {
				return i
			}
		}
	}
	return len(grades) - 1
}

// bars are the rows of equal spans of time, by grade.
type bars struct {
	from   time.Time // of counts[0]
	step   time.Duration
	counts [][]int64
	levels bool // the table has any
}

// histogram draws rows by time and level.
func (s *Shell) histogram(ctx context.Context, arg string) error {
	name, since, _ := strings.Cut(arg, " ")
	t, err := s.find(ctx, name)
	if err != nil {
		return err
	}
	at := t.timeIndex()
	if at == "" {
		return usage("%s has no time index", t.name)
	}
	from, to, err := s.rangeNow()
	if since = strings.TrimSpace(since); since != "" && err == nil {
		var p *time.Time
		if p, err = client.Instant(`\hist`, since, s.zone, to); p != nil {
			from = *p
		}
	}
	if err != nil {
		return err
	}
	b := &bars{step: stepOf(to.Sub(from), histogramLines)}
	b.from = binOf(from, b.step)
	b.counts = make([][]int64, to.Sub(b.from)/b.step+1)
	level := "NULL"
	for _, want := range levelColumns {
		if i := slices.IndexFunc(t.columns, func(c columnRef) bool {
			return strings.EqualFold(c.name, want)
		}); i >= 0 && !b.levels {
			level, b.levels = "CAST("+client.Name(t.columns[i].name)+" AS STRING)", true
		}
	}
	seconds := int64(b.step / time.Second)
	rows, err := s.ask(ctx,
		fmt.Sprintf(
			`SELECT CAST(CAST(date_bin(INTERVAL '%d seconds', %s) AS TIMESTAMP(3)) AS BIGINT) AS at, %s AS level, count(*) AS n FROM %s WHERE %[2]s >= %[5]s AND %[2]s <= %[6]s GROUP BY at, level`,
			seconds, client.Name(at), level, t.sql(), client.Text(from.UTC().Format(time.RFC3339Nano)),
			client.Text(to.UTC().Format(time.RFC3339Nano))))
	if err != nil {
		return err
	}
	for _, r := range rows {
		b.add(r)
	}
	if s.o.Size != nil {
		s.look.terminal, _ = s.o.Size()
	}
	return s.show(b.draw(s.zone, s.look))
}

// binOf is the beginning of the span that an instant is in. Spans are whole seconds, counted from 1970 as date_bin
// does.
func binOf(at time.Time, step time.Duration) time.Time {
	seconds := int64(step / time.Second)
	return time.Unix(timefmt.FloorDiv(at.Unix(), seconds)*seconds, 0)
}

// add counts a row of the answer: time, level, count.
func (b *bars) add(r []any) {
	var at, count int64
	if client.Whole(r[0], &at) != nil || client.Whole(r[2], &count) != nil {
		return
	}
	since := time.UnixMilli(at).Sub(b.from)
	i := int(since / b.step)
	if since < 0 || i >= len(b.counts) {
		return
	}
	if b.counts[i] == nil {
		b.counts[i] = make([]int64, len(grades))
	}
	b.counts[i][gradeOf(cellText(r[1]))] += count
}

// draw makes the picture.
func (b *bars) draw(zone *time.Location, l look) string {
	most, totals := int64(0), make([]int64, len(grades))
	for _, c := range b.counts {
		sum := int64(0)
		for g, n := range c {
			sum += n
			totals[g] += n
		}
		most = max(most, sum)
	}
	layout := "2006-01-02 15:04"
	if b.step < time.Minute {
		layout += ":05"
	}
	room := 60
	if l.terminal > 0 {
		room = max(10, l.terminal-len(layout)-16)
	}
	var out strings.Builder
	for i, c := range b.counts {
		at := b.from.Add(time.Duration(i) * b.step).In(zone).Format(layout)
		fmt.Fprintf(&out, "%s │%s\n", at, bar(c, most, room, l.colour))
	}
	out.WriteString(b.legend(totals, l.colour))
	return out.String()
}

// bar is a bar of several grades, and the number of its rows.
func bar(counts []int64, most int64, room int, colour bool) string {
	var out strings.Builder
	sum, drawn := int64(0), 0
	for g, n := range counts {
		sum += n
		end := int((sum*int64(room) + most - 1) / max(1, most))
		if n > 0 && end > drawn {
			mark := strings.Repeat(grades[g].mark, end-drawn)
			if colour {
				mark = grades[g].colour + mark + off
			}
			out.WriteString(mark)
			drawn = end
		}
	}
	if sum > 0 {
		out.WriteString(" " + client.Number(sum))
	}
	return strings.TrimRight(out.String(), " ")
}

// lengthOf says how long a step is.
func lengthOf(step time.Duration) string {
	const day = 24 * time.Hour
	if step > day && step%day == 0 {
		return client.Plural(int64(step/day), "day")
	}
	return timefmt.FormatDuration(int64(step))
}

// legend says what the marks stand for.
func (b *bars) legend(totals []int64, colour bool) string {
	all := int64(0)
	var parts []string
	for g, n := range totals {
		all += n
		if n > 0 && b.levels {
			mark := grades[g].mark
			if colour {
				mark = grades[g].colour + mark + off
			}
			parts = append(parts, fmt.Sprintf("%s %s %s", mark, grades[g].name, client.Number(n)))
		}
	}
	text := fmt.Sprintf("%s, a line is %s", client.Plural(all, "row"), lengthOf(b.step))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text + "\n"
}
