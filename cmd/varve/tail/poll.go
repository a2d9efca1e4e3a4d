package tail

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"varve/cmd/varve/client"
)

// secondsPerPoll is of how many seconds with late rows these are read in one poll; others have their turn in the next.
const secondsPerPoll = 20

// poller asks for the rows of a table that are new. Each time it asks for the newest anew, back to some seconds before
// the newest it knows, so that rows that come late are seen; those that come again it knows. Instants are in units of
// the time index.
type poller struct {
	c          *client.Client
	db         string
	from       string // names of columns FROM the table
	table      string
	time       string // the time index, quoted
	at         int    // its place in rows
	perSecond  int64
	conditions []string
	wanted     int  // rows at the start
	follows    bool // polls come behind the start
	counted    bool // rows left out at the start are told
	overlap    int64
	ahead      time.Duration // what the server's clock is ahead of ours

	columns  []client.Column
	seen     seen
	taken    [][]any         // new rows that could not be given yet
	untold   int64           // how many rows were left out besides, that could not be told yet
	high     int64           // the newest instant that was seen
	floor    int64           // rows up to it are not asked for: they were before the start, or left out
	bySecond map[int64]int64 // rows of a second that were seen or left out
	piles    map[int64]int64 // and of an instant that has more than one answer
}

func newPoller(c *client.Client, t *client.Table, o Options, conditions []string) *poller {
	index := t.Columns[t.Time].Name
	columns := o.Columns
	if len(columns) > 0 && !slices.Contains(columns, index) {
		columns = append(slices.Clip(columns), index)
	}
	p := &poller{
		c: c, db: o.DB, table: client.Name(t.Name), time: client.Name(index), perSecond: t.PerSecond(),
		conditions: conditions,
		wanted:     o.Rows, follows: o.Follow, floor: math.MinInt64, bySecond: map[int64]int64{},
		piles: map[int64]int64{},
	}
	p.from = client.Names(columns) + " FROM " + p.table
	if p.at = t.Time; len(columns) > 0 {
		p.at = slices.Index(columns, index)
	}
	if p.wanted < 0 && o.Since != nil {
		p.wanted, p.counted = perPoll, true
	} else if p.wanted < 0 {
		p.wanted = defaultRows
	}
	p.overlap = int64(o.Overlap.Seconds() * float64(p.perSecond))
	return p
}

// first gives the last rows, oldest first, and how many of a range are left out.
func (p *poller) first(ctx context.Context) (rows [][]any, leftOut int64, err error) {
	if err := p.lookAtClock(ctx); err != nil {
		return nil, 0, err
	}
	limit := max(1, p.wanted)
	if p.follows {
		// polls see again what is not shown: rows of the oldest instant shown, and those within the overlap
		limit = max(limit, perPoll)
	}
	rows, err = p.ask(ctx, limit)
	if err != nil {
		return nil, 0, err
	}
	isFull := len(rows) == limit
	switch {
	case len(rows) == 0:
		p.high = p.now() - p.overlap
	case p.follows && isFull && p.instant(rows[0]) == p.instant(rows[limit-1]): // it may have more, and get more
		p.floor = p.instant(rows[0]) - 1
		rows, _, err = p.complete(ctx, rows)
	case isFull:
		p.floor = p.instant(rows[0])
	}
	if err != nil {
		return nil, 0, err
	}
	if p.take(rows); len(rows) > 0 {
		p.high = p.instant(rows[len(rows)-1])
	}
	if p.counted && isFull {
		total, err := p.count(ctx)
		if err != nil {
			return nil, 0, err
		}
		leftOut = max(0, total-int64(limit))
	}
	return rows[len(rows)-min(p.wanted, len(rows)):], leftOut, nil
}

// poll gives the rows that are new, and how many more there were.
func (p *poller) poll(ctx context.Context) (fresh [][]any, leftOut int64, err error) {
	// Rows of the future must not hide those that come now.
	high := min(p.high, max(p.floor, p.now()))
	rows, err := p.ask(ctx, perPoll, fmt.Sprintf("%s > %d", p.time, p.after(high)))
	if err != nil {
		return nil, 0, err
	}
	if len(rows) > 0 {
		p.forget(p.second(p.after(high)))
		newest := p.instant(rows[len(rows)-1])
		if len(rows) < perPoll {
			fresh = p.take(rows)
		} else if fresh, err = p.full(ctx, high, rows); err != nil {
			return nil, 0, err
		}
		p.high = max(p.high, newest)
	}
	fresh, leftOut = append(fresh, p.taken...), p.untold
	p.taken, p.untold = nil, 0
	return fresh, leftOut, nil
}

// full deals with an answer that has as many rows as it may: of the oldest instant in it there may be more, and of
// those before it. It gives the new rows that are older than those it takes.
func (p *poller) full(ctx context.Context, high int64, rows [][]any) (older [][]any, err error) {
	oldest, between := p.instant(rows[0]), int64(0)
	if oldest > high {
		// There is no telling how many of those between were seen: none, as they are newer than all that was.
		if between, err = p.count(ctx, fmt.Sprintf("%s > %d", p.time, high),
			fmt.Sprintf("%s < %d", p.time, oldest)); err != nil {
			return nil, err
		}
	}
	rows, tooMany, err := p.complete(ctx, rows)
	if err != nil {
		return nil, err
	}
	// What was taken is not asked for again: it waits for the late ones, if they cannot be had now.
	p.taken = append(p.taken, p.take(rows)...)
	p.untold += between + tooMany
	if between > 0 {
		p.floor = oldest - 1
	}
	if oldest > high {
		return nil, nil
	}
	late, err := p.late(ctx, high, oldest)
	return p.take(late), err
}

// complete adds the rows to an answer that it lacks of its oldest instant, and gives how many there are too many of.
// What it gives is to be taken: it is known from then on.
func (p *poller) complete(ctx context.Context, rows [][]any) (whole [][]any, tooMany int64, err error) {
	oldest := p.instant(rows[0])
	newer := slices.IndexFunc(rows, func(row []any) bool { return p.instant(row) > oldest })
	if newer < 0 {
		newer = len(rows)
	}
	condition := fmt.Sprintf("%s = %d", p.time, oldest)
	n, err := p.count(ctx, condition)
	if err != nil || n <= int64(newer) {
		return rows, 0, err
	}
	known := p.piles[oldest]
	var pile [][]any
	switch {
	case n <= known:
		n = known
	case known > MostRows: // of so many, the new ones cannot be told
		tooMany = n - known
	default:
		if pile, err = p.ask(ctx, MostRows, condition); err != nil {
			return nil, 0, err
		}
		tooMany = max(0, n-int64(len(pile)))
	}
	p.piles[oldest] = n
	p.bySecond[p.second(oldest)] += tooMany
	return append(pile, rows[newer:]...), tooMany, nil
}

// lookAtClock compares the server's clock with ours.
func (p *poller) lookAtClock(ctx context.Context) error {
	now, err := p.number(ctx, "SELECT CAST(CAST(now() AS TIMESTAMP(9)) AS BIGINT)")
	p.ahead = time.Until(time.Unix(0, now))
	return err
}

// now is what the server's clock says.
func (p *poller) now() int64 { return client.Units(time.Now().Add(p.ahead), p.perSecond) }

// after is the instant behind which rows are asked for.
func (p *poller) after(high int64) int64 {
	if high < math.MinInt64+p.overlap {
		return p.floor
	}
	return max(p.floor, high-p.overlap)
}

// take gives the rows that were not seen yet, and counts them.
func (p *poller) take(rows [][]any) [][]any {
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = string(encode(row))
	}
	var fresh [][]any
	for _, i := range p.seen.fresh(keys) {
		fresh = append(fresh, rows[i])
		p.bySecond[p.second(p.instant(rows[i]))]++
	}
	return fresh
}

// late gives rows of the seconds that an answer does not reach back to, where the table has more than were seen. Where
// they are too many, they are left out.
func (p *poller) late(ctx context.Context, high, oldest int64) ([][]any, error) {
	from, to := p.second(p.after(high))+1, p.second(oldest) // seconds, the last not whole in the answer
	if from > to {
		return nil, nil
	}
	a, err := p.c.Query(ctx, p.db,
		fmt.Sprintf("SELECT CAST(%s AS BIGINT) / %d, count(*) FROM %s%s GROUP BY 1 ORDER BY 1 DESC", p.time,
			p.perSecond, p.table,
			client.Where(append([]string{p.seconds(from, to)}, p.conditions...)...)))
	if err != nil {
		return nil, err
	}
	var found [][]any
	asked, newer := 0, int64(perPoll)
	for _, row := range a.Rows {
		if len(row) != 2 {
			return nil, fmt.Errorf("%s did not answer with counts by time", p.c.Base)
		}
		second, n := whole(row[0]), whole(row[1])
		known := p.bySecond[second]
		switch newer += known; {
		case n <= known:
			continue
		case n > MostRows || newer > window: // those that were seen may be forgotten, and would be shown again
			p.untold += n - known
			p.bySecond[second] = n
			continue
		}
		if asked++; asked > secondsPerPoll || len(found) > window {
			break
		}
		rows, err := p.ask(ctx, MostRows, p.seconds(second, second))
		if err != nil {
			return nil, err
		}
		found = append(rows, found...)
	}
	return found, nil
}

// forget forgets how many rows were seen of seconds before one, when that is worth it.
func (p *poller) forget(first int64) {
	maps.DeleteFunc(p.piles, func(at, _ int64) bool { return p.second(at) < first })
	if len(p.bySecond) < 1000 {
		return
	}
	maps.DeleteFunc(p.bySecond, func(second, _ int64) bool { return second < first })
}

// seconds is the condition that a row lies in whole seconds, both included.
func (p *poller) seconds(from, to int64) string {
	return fmt.Sprintf("%s >= %d AND %s < %d", p.time, from*p.perSecond, p.time, (to+1)*p.perSecond)
}

// second is that of an instant.
func (p *poller) second(units int64) int64 {
	return client.AtUnits(units, p.perSecond).Unix()
}

// ask gives the newest rows that fulfil more conditions, oldest first.
func (p *poller) ask(ctx context.Context, limit int, more ...string) ([][]any, error) {
	a, err := p.c.Query(ctx, p.db, fmt.Sprintf("SELECT %s%s ORDER BY %s DESC LIMIT %d", p.from,
		client.Where(append(more, p.conditions...)...), p.time, limit))
	if err != nil {
		return nil, err
	}
	for _, row := range a.Rows {
		if len(row) != len(a.Columns) || p.at >= len(row) {
			return nil, fmt.Errorf("%s answered with rows whose columns do not match the announced ones", p.c.Base)
		}
	}
	p.columns = a.Columns
	slices.Reverse(a.Rows)
	return a.Rows, nil
}

// count counts rows.
func (p *poller) count(ctx context.Context, more ...string) (int64, error) {
	return p.number(ctx, "SELECT count(*) FROM "+p.table+client.Where(append(more, p.conditions...)...))
}

// number asks for one whole number.
func (p *poller) number(ctx context.Context, sql string) (int64, error) {
	a, err := p.c.Query(ctx, p.db, sql)
	if err != nil {
		return 0, err
	}
	var n int64
	if len(a.Rows) != 1 || len(a.Rows[0]) != 1 || client.Whole(a.Rows[0][0], &n) != nil {
		return 0, fmt.Errorf("%s did not answer with a number to %s", p.c.Base, sql)
	}
	return n, nil
}

// instant is when a row was.
func (p *poller) instant(row []any) int64 { return whole(row[p.at]) }

// whole is a whole number of an answer, 0 for what is none.
func whole(cell any) (n int64) {
	client.Whole(cell, &n) //nolint:errcheck // as said
	return n
}

// encode writes a value as JSON, as the server wrote it.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte(strings.ToValidUTF8(fmt.Sprint(v), "\uFFFD")) // what was decoded is encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
