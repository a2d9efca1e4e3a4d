package sqlexec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// besideStatement is a statement, or a few that belong together, which run beside others. {round} stands for the number
// of the round, {side} for 0 or 1: whose turn it is where a statement runs beside itself.
type besideStatement struct {
	name  string
	sql   string
	loses bool // rows of the table t
}

const besideTable = "CREATE TABLE IF NOT EXISTS t (id BIGINT, v BIGINT, s STRING DEFAULT 'd', host STRING, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (host));"

// besideStatements are all that make, change or tend what others use at the same time.
var besideStatements = []besideStatement{
	{"create", besideTable + "CREATE TABLE n{side} (ts TIMESTAMP TIME INDEX); DROP TABLE n{side};", false},
	{"replace", strings.Replace(besideTable, "CREATE TABLE IF NOT EXISTS", "CREATE OR REPLACE TABLE", 1), true},
	{"create as", "CREATE TABLE a{round} AS SELECT * FROM t; DROP TABLE a{round};", false},
	{"create like", "CREATE TABLE l{round} LIKE t; DROP TABLE l{round};", false},
	{"drop", "DROP TABLE IF EXISTS t;" + besideTable, true},
	{"rename", "ALTER TABLE t RENAME u; ALTER TABLE u RENAME t;", false},
	{"truncate", "TRUNCATE TABLE t;", true},
	{"add column", "ALTER TABLE t ADD COLUMN x{round} BIGINT DEFAULT 7;", false},
	{"add tag", "ALTER TABLE t ADD COLUMN k{round} STRING DEFAULT 'q' PRIMARY KEY;", false},
	{"drop column", "ALTER TABLE t ADD COLUMN y{side} BIGINT; ALTER TABLE t DROP COLUMN y{side};", false},
	{"modify", "ALTER TABLE t MODIFY COLUMN v STRING; ALTER TABLE t MODIFY COLUMN v BIGINT;", false},
	{"rename column", "ALTER TABLE t RENAME COLUMN s TO s2; ALTER TABLE t RENAME COLUMN s2 TO s;", false},
	{"set ttl", "ALTER TABLE t SET 'ttl'='30000d'; ALTER TABLE t SET 'ttl'=NULL;", false},
	{"index", "ALTER TABLE t MODIFY COLUMN s SET INVERTED INDEX; ALTER TABLE t MODIFY COLUMN s UNSET INVERTED INDEX;",
		false},
	{"default", "ALTER TABLE t MODIFY COLUMN s SET DEFAULT 'e'; ALTER TABLE t MODIFY COLUMN s SET DEFAULT 'd';", false},
	{"flush", "ADMIN flush_table('t');", false},
	{"compact", "ADMIN flush_table('t'); ADMIN compact_table('t');", false},
	{"backup", "ADMIN backup('b{round}'); ADMIN drop_backup('b{round}');", false},
	{"copy to", "COPY t TO 't.csv'; COPY DATABASE public TO 'all/';", false},
	{"copy from", "COPY o FROM 'o.csv';", false},
	{"kill", "", false},
	{"view", "CREATE OR REPLACE VIEW w AS SELECT id, host FROM t; SELECT count(*) FROM w; DROP VIEW w;", false},
	{"delete", "INSERT INTO t (id, host, ts) VALUES (-1, 'gone', {round}); DELETE FROM t WHERE host = 'gone';", false},
	{"insert select", "INSERT INTO o SELECT id, host, ts FROM t;", false},
	{"database",
		"CREATE DATABASE d; CREATE TABLE d.t (ts TIMESTAMP TIME INDEX); INSERT INTO d.t VALUES (1); ALTER DATABASE d SET 'ttl'='30000d'; DROP DATABASE d;", false},
	{"metric tables",
		"CREATE TABLE m{side} (host STRING, ts TIMESTAMP(3) TIME INDEX, v DOUBLE, PRIMARY KEY (host)) ENGINE=metric WITH (on_physical_table='phy');" +
			"INSERT INTO m{side} VALUES ('a', 1, 1); ALTER TABLE m{side} ADD COLUMN l{round} STRING PRIMARY KEY; TRUNCATE TABLE m{side}; DROP TABLE m{side};", false},
}

// TestStatementsBesideEachOther runs every statement of these beside every other, and beside itself, while rows are
// written and read: none fails for a reason of the server's own, none waits for ever, and each row that was
// acknowledged is there once, at once and after a start, unless a statement removes rows.
func TestStatementsBesideEachOther(t *testing.T) {
	rounds := 1
	if os.Getenv("VARVE_LONG") != "" {
		rounds = 8
	}
	for i := range besideStatements {
		(&beside{t: t, sides: [2]*besideStatement{&besideStatements[i], {name: "nothing"}}}).alone()
		for k := i; k < len(besideStatements); k++ {
			b := &beside{t: t, sides: [2]*besideStatement{&besideStatements[i], &besideStatements[k]}, rounds: rounds}
			b.run()
			if t.Failed() {
				return
			}
		}
	}
}

// beside is two statements at once.
type beside struct {
	t      *testing.T
	sides  [2]*besideStatement
	rounds int

	e       *engine.Engine
	x       *Executor
	over    atomic.Bool
	next    atomic.Int64
	mu      sync.Mutex // protects written
	written []int64
}

func (b *beside) errorf(format string, args ...any) {
	b.t.Errorf("%s beside %s: %s", b.sides[0].name, b.sides[1].name, fmt.Sprintf(format, args...))
}

// besideLimit is when a pair of statements is taken to wait for ever: it takes some 20 ms.
const besideLimit = 2 * time.Minute

// begin makes what the statements use.
func (b *beside) begin(fs vfs.FS) {
	b.open(fs)
	for _, sql := range []string{besideTable, "CREATE TABLE o (id BIGINT, host STRING, ts TIMESTAMP(3) TIME INDEX);",
		"INSERT INTO o VALUES (1, 'a', 1);",
		"CREATE TABLE phy (ts TIMESTAMP(3) TIME INDEX, v DOUBLE) ENGINE=metric WITH (physical_metric_table='');",
		"COPY o TO 'o.csv';"} {
		outcomeOf(b.t, b.x, sql)
	}
}

// alone runs the statements of a side where nothing is beside them: each works.
func (b *beside) alone() {
	b.begin(vfs.NewMem())
	for _, sql := range b.sides[0].texts(0, 0) {
		outcomeOf(b.t, b.x, sql)
	}
	b.close()
}

// texts are the statements of a round.
func (st *besideStatement) texts(side, round int) []string {
	if st.sql == "" {
		return nil
	}
	text := strings.NewReplacer("{round}", fmt.Sprint(round), "{side}", fmt.Sprint(side)).Replace(st.sql)
	return strings.SplitAfter(strings.TrimSuffix(text, ";"), ";")
}

func (b *beside) run() {
	fs := vfs.NewMem()
	b.begin(fs)
	var sides, others sync.WaitGroup
	for i := range b.sides {
		sides.Go(func() { b.loop(i) })
	}
	for i := range 2 {
		others.Go(func() { b.write(i == 0) })
	}
	others.Go(b.read)
	ended := make(chan struct{})
	go func() {
		sides.Wait()
		b.over.Store(true)
		others.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(besideLimit):
		stacks := make([]byte, 1<<20)
		b.t.Fatalf("%s beside %s wait for ever\n%s", b.sides[0].name, b.sides[1].name,
			stacks[:runtime.Stack(stacks, true)])
	}
	b.check("at once")
	b.close()
	b.open(fs)
	b.check("after a start")
	b.close()
}

func (b *beside) open(fs vfs.FS) {
	b.t.Helper()
	e, err := engine.Open(engine.Options{FS: fs, Dir: "data", MinFree: 1})
	if err != nil {
		b.t.Fatal(err)
	}
	b.e, b.x = e, New(e, Options{Workers: 2, CopyDir: b.t.TempDir()})
}

func (b *beside) close() {
	if err := b.e.Close(context.Background(), false); err != nil {
		b.errorf("close: %v", err)
	}
}

// loop runs the statements of a side.
func (b *beside) loop(side int) {
	for round := range b.rounds {
		for _, sql := range b.sides[side].texts(side, round) {
			b.do(&Session{}, sql)
		}
		if b.sides[side].name == "kill" {
			for _, r := range b.x.Running() {
				b.do(&Session{}, "KILL QUERY "+r.ID+";")
			}
		}
	}
}

// besideCodes are those of errors that a statement may have beside another: what it names is not there, is there
// already, or is another's by now.
var besideCodes = []status.Code{status.InvalidArguments, status.Cancelled, status.PlanQuery, status.TableAlreadyExists,
	status.TableNotFound, status.TableColumnNotFound, status.TableColumnExists, status.DatabaseNotFound,
	status.DatabaseAlreadyExists, status.Unsupported, status.RegionBusy}

// do runs a statement.
func (b *beside) do(s *Session, sql string) (rows [][]string, ok bool) {
	o, err := answer(b.x, s, sql, false)
	if err != nil {
		b.errorf("%s: %v", sql, err)
		return nil, false
	}
	if o.err != nil && !slices.Contains(besideCodes, status.Of(o.err)) {
		b.errorf("%s: code %d: %v", sql, status.Of(o.err), o.err)
	}
	return o.rows, o.err == nil
}

// write writes rows until the statements are over, by statements or as requests of other protocols do, which make the
// table and its columns.
func (b *beside) write(statements bool) {
	for first := true; first || !b.over.Load(); first = false {
		id := b.next.Add(1)
		ok := false
		if statements {
			_, ok = b.do(&Session{},
				fmt.Sprintf("INSERT INTO t (id, v, host, ts) VALUES (%[1]d, '%[1]d', 'h%[2]d', %[1]d)", id, id%3))
		} else {
			ok = b.request(id)
		}
		if ok {
			b.mu.Lock()
			b.written = append(b.written, id)
			b.mu.Unlock()
		}
		runtime.Gosched()
	}
}

// request writes a row as a request of a protocol does.
func (b *beside) request(id int64) bool {
	var set engine.WriteSet
	rows := set.Rows(schema.Name{DB: "public", Table: "t"},
		engine.Hint{AutoCreate: true, TimeIndex: "ts", Tags: []string{"host"}})
	for _, c := range []struct {
		name string
		typ  vector.Type
		set  func(*vector.ColumnBuilder)
	}{
		{"id", vector.Int64Type, func(c *vector.ColumnBuilder) { c.SetInt(id) }},
		{"host", vector.StringType, func(c *vector.ColumnBuilder) { c.SetString(fmt.Sprint("h", id%3)) }},
		{"ts", vector.Timestamp(3), func(c *vector.ColumnBuilder) { c.SetInt(id) }},
	} {
		col, err := rows.Column(c.name, c.typ)
		if err != nil {
			b.errorf("%v", err)
			return false
		}
		c.set(col)
	}
	rows.EndRow()
	_, err := b.e.Write(context.Background(), &set)
	if err != nil && !slices.Contains(besideCodes, status.Of(err)) {
		b.errorf("a request: code %d: %v", status.Of(err), err)
	}
	return err == nil
}

// read reads until the statements are over: what is known is there, and nothing twice.
func (b *beside) read() {
	for first := true; first || !b.over.Load(); first = false {
		if rows, ok := b.do(&Session{}, "SELECT count(id), count(DISTINCT id) FROM t WHERE id > 0"); ok &&
			rows[0][0] != rows[0][1] {
			b.errorf("%s rows have %s ids", rows[0][0], rows[0][1])
		}
		b.do(&Session{}, "SELECT host, max(v), min(s) FROM t GROUP BY host ORDER BY host")
		b.do(&Session{}, "SELECT * FROM t ORDER BY ts DESC LIMIT 3")
		b.do(&Session{}, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'")
	}
}

// check compares the rows with those that were acknowledged.
func (b *beside) check(when string) {
	found := map[string]int{}
	for _, table := range []string{"t", "u"} {
		o, err := answer(b.x, &Session{}, "SELECT id FROM "+table+" WHERE id > 0", false)
		if err = errors.Join(err, o.err); status.Of(err) == status.TableNotFound {
			continue
		} else if err != nil {
			b.errorf("%s: %v", when, err)
		}
		for _, r := range o.rows {
			found[r[0]]++
		}
		b.values(table, when)
	}
	lost := 0
	for _, id := range b.written {
		if found[fmt.Sprint(id)] == 0 {
			lost++
		}
	}
	for id, n := range found {
		if n > 1 {
			b.errorf("%s: row %s is there %d times", when, id, n)
		}
	}
	if lost > 0 && !b.sides[0].loses && !b.sides[1].loses {
		b.errorf("%s: %d of %d rows are lost", when, lost, len(b.written))
	}
}

// values looks at the values of rows: a value that was written is that of its row.
func (b *beside) values(table, when string) {
	o, err := answer(b.x, &Session{},
		"SELECT id, v, host FROM "+table+" WHERE id > 0 AND v IS NOT NULL AND v::STRING <> id::STRING", false)
	if err = errors.Join(err, o.err); err != nil && status.Of(err) != status.PlanQuery { // requests made it without v
		b.errorf("%s: %v", when, err)
	}
	for _, r := range o.rows {
		b.errorf("%s: a row of %s is %v", when, table, r)
	}
}
