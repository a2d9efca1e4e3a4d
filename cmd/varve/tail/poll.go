package tail

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"varve/cmd/varve/client"
)

// secondsPerPoll is of how many seconds with late rows these are read in one poll; others have their turn in the next.
const secondsPerPoll = 20

// poller asks for the rows of a table that are new. Each time it asks for the newest anew, back to some seconds before the newest it
// knows, so that rows that come late are seen; those that come again it knows. Instants are in units of the time index.
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
	taken    [][]any // new rows that could not be given yet
	high     int64   // the newest instant that was seen
	floor    int64   // rows up to it are not asked for: they were before the start, or left out
	bySecond map[int64]int64
}

func newPoller(c *client.Client, t *client.Table, o Options, conditions []string) *poller {
	index := t.Columns[t.Time].Name
	columns := o.Columns
	if len(columns) > 0 && !slices.Contains(columns, index) {
		columns = append(slices.Clip(columns), index)
	}
	p := &poller{
		c: c, db: o.DB, table: client.Name(t.Name), time: client.Name(index), perSecond: t.PerSecond(), conditions: conditions,
		wanted: o.Rows, follows: o.Follow, floor: math.MinInt64, bySecond: map[int64]int64{},
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
		limit = max(limit, perPoll) // polls see again what is not shown: rows of the oldest instant shown, and those within the overlap
	}
	rows, err = p.ask(ctx, limit)
	if err != nil {
		return nil, 0, err
	}
	p.take(rows)
	switch {
	case len(rows) == limit:
		p.floor = p.instant(rows[0])
	case len(rows) == 0:
		p.high = p.now() - p.overlap
	}
	if len(rows) > 0 {
		p.high = p.instant(rows[len(rows)-1])
	}
	if p.counted && len(rows) == limit {
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
	if len(rows) == 0 {
		fresh, p.taken = p.taken, nil
		return fresh, 0, nil
	}
	p.forget(p.second(p.after(high)))
	oldest, newest := p.instant(rows[0]), p.instant(rows[len(rows)-1])
	switch {
	case len(rows) < perPoll:
		fresh = p.take(rows)
	case oldest > high:
		if leftOut, err = p.leave(ctx, high, rows); err != nil {
			return nil, 0, err
		}
		fresh = p.take(rows)
	default:
		// What was taken is not asked for again: it waits for the late ones, if they cannot be had now.
		p.taken = append(p.taken, p.take(rows)...)
		late, err := p.late(ctx, high, oldest)
		if err != nil {
			return nil, 0, err
		}
		fresh = p.take(late)
	}
	fresh = append(fresh, p.taken...)
	p.taken = nil
	p.high = max(p.high, newest)
	return fresh, leftOut, nil
}

// leave gives up the rows behind an instant that an answer does not reach back to, and tells how many they are. Those of the newest
// instant are all in the answer, unless it has no other, and so more of them can be told from them later.
func (p *poller) leave(ctx context.Context, high int64, rows [][]any) (int64, error) {
	oldest, newest := p.instant(rows[0]), p.instant(rows[len(rows)-1])
	last, here := newest, len(rows) // the newest instant that is given up, and the answer's rows up to it
	if oldest < newest {
		last = newest - 1
		here = slices.IndexFunc(rows, func(row []any) bool { return p.instant(row) == newest })
	}
	// There is no telling how many of those between were seen: none, as they are newer than all that was.
	total, err := p.count(ctx, fmt.Sprintf("%s > %d", p.time, high), fmt.Sprintf("%s <= %d", p.time, last))
	if err != nil {
		return 0, err
	}
	leftOut := max(0, total-int64(here))
	if leftOut > 0 {
		p.floor = last
	}
	return leftOut, nil
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

// late gives rows of the seconds that an answer does not reach back to, where the table has more than were seen.
func (p *poller) late(ctx context.Context, high, oldest int64) ([][]any, error) {
	from, to := p.second(p.after(high))+1, p.second(oldest) // seconds, the last not whole in the answer
	if from > to {
		return nil, nil
	}
	a, err := p.c.Query(ctx, p.db, fmt.Sprintf("SELECT CAST(%s AS BIGINT) / %d, count(*) FROM %s%s GROUP BY 1 ORDER BY 1 DESC", p.time, p.perSecond, p.table,
		client.Where(append([]string{p.seconds(from, to)}, p.conditions...)...)))
	if err != nil {
		return nil, err
	}
	var found [][]any
	asked := 0
	for _, row := range a.Rows {
		if len(row) != 2 {
			return nil, fmt.Errorf("%s answered something else than counts by time", p.c.Base)
		}
		second, n := whole(row[0]), whole(row[1])
		if n <= p.bySecond[second] {
			continue
		}
		if asked++; asked > secondsPerPoll {
			break
		}
		rows, err := p.ask(ctx, perPoll, p.seconds(second, second))
		if err != nil {
			return nil, err
		}
		found = append(rows, found...)
	}
	return found, nil
}

// forget forgets how many rows were seen of seconds before one, when that is worth it.
func (p *poller) forget(first int64) {
	if len(p.bySecond) < 1000 {
		return
	}
	for second := range p.bySecond {
		if second < first {
			delete(p.bySecond, second)
		}
	}
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
	a, err := p.c.Query(ctx, p.db, fmt.Sprintf("SELECT %s%s ORDER BY %s DESC LIMIT %d", p.from, client.Where(append(more, p.conditions...)...), p.time, limit))
	if err != nil {
		return nil, err
	}
	for _, row := range a.Rows {
		if len(row) != len(a.Columns) || p.at >= len(row) {
			return nil, fmt.Errorf("%s answered with rows that have not the columns they are said to have", p.c.Base)
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
	ok := len(a.Rows) == 1 && len(a.Rows[0]) == 1
	if ok {
		_, ok = a.Rows[0][0].(json.Number)
	}
	if !ok {
		return 0, fmt.Errorf("%s answered something else than a number to %s", p.c.Base, sql)
	}
	return whole(a.Rows[0][0]), nil
}

// instant is when a row was.
func (p *poller) instant(row []any) int64 { return whole(row[p.at]) }

// whole is a whole number of an answer, 0 for what is none.
func whole(cell any) int64 {
	n, _ := cell.(json.Number)
	x, _ := n.Int64() //nolint:errcheck // as said
	return x
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
