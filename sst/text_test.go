package sst

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst/encoding"
	"varve/sst/index"
)

// logLine draws a line of a made-up log: frequent and rare templates, words of other scripts, lines without a template.
func logLine(r *rand.Rand) string {
	words := []string{"cart", "order", "Payment", "user", "node", "größe", "错误", "naïve"}
	switch r.IntN(12) {
	case 0, 1, 2:
		return fmt.Sprintf("user %d logged in from 10.0.%d.%d", r.IntN(10000), r.IntN(256), r.IntN(256))
	case 3, 4:
		return fmt.Sprintf("GET /api/v%d/orders/%016x/status took %d.%03d ms", 1+r.IntN(2), r.Uint64(), r.IntN(10),
			r.IntN(1000))
	case 5, 6:
		return "connection reset by peer"
	case 7:
		return fmt.Sprintf("Failed password for u%d at %02d:%02d:%02d", r.IntN(3000), r.IntN(24), r.IntN(60),
			r.IntN(60))
	case 8:
		return fmt.Sprintf("%s waits for %s", words[r.IntN(len(words))], words[r.IntN(len(words))])
	case 9:
		return fmt.Sprintf("rare%d only %x", r.IntN(100), r.Uint64())
	case 10:
		return []string{"", "\xff\xfe not UTF-8", "K and ſ", "100% sure_thing"}[r.IntN(4)]
	}
	if r.IntN(2) == 0 {
		return fmt.Sprintf("ticket %c%d%c closed", 'A'+rune(r.IntN(26)), r.IntN(1000), 'A'+rune(r.IntN(26)))
	}
	return fmt.Sprintf("session %c%d%c renewed", 'a'+rune(r.IntN(26)), r.IntN(1000), 'a'+rune(r.IntN(26)))
}

var textConditions = []struct {
	op  filter.Op
	arg string
}{
	{filter.Equal, "connection reset by peer"}, {filter.Equal, "user 17 logged in from 10.0.3.4"}, {filter.Equal, ""},
	{filter.NotEqual, "connection reset by peer"},
	{filter.Term, "password"}, {filter.Term, "Failed password"}, {filter.Term, "10.0.7"}, {filter.Term, "u17"},
	{filter.Term, "rare5"}, {filter.Term, "größe"},
	{filter.Contains, "reset by"}, {filter.Contains, "17"}, {filter.Contains, "s/0"}, {filter.Contains, "user 1"},
	{filter.Contains, "误"}, {filter.Contains, ".5"},
	{filter.ContainsFold, "payment"}, {filter.ContainsFold, "failed"}, {filter.ContainsFold, "k AND s"},
	{filter.Prefix, "GET /api/v1"}, {filter.Prefix, "user 17"}, {filter.Prefix, ""},
	{filter.Like, "%lease%"}, {filter.Like, "GET%status%"}, {filter.Like, "%in from 10.0.7.%"},
	{filter.Like, "user 1_ logged%"}, {filter.Like, "%renewed"},
	{filter.Like, "%"}, {filter.NotLike, "%user%"}, {filter.NotLike, "%e%"}, {filter.Like, `100\%%`},
	{filter.ILike, "%PASSWORD%"}, {filter.ILike, "get%"}, {filter.NotILike, "%RESET%"}, {filter.ILike, "%NAÏVE%"},
	{filter.ILike, "%a7%"}, {filter.ContainsFold, "t q"},
	{filter.Regex, `^GET /api/v[12]/orders/[0-9a-f]*77/`}, {filter.Regex, `\bu[0-9]+\b`},
	{filter.Regex, `(cart|order) waits`}, {filter.Regex, `(?i)FAILED`},
	{filter.Regex, "reset"}, {filter.NotRegex, "[0-9]"}, {filter.Regex, "^$"},
	{filter.NotTerm, "password"}, {filter.NotTerm, "user"}, {filter.NotContains, "17"}, {filter.NotPrefix, "GET"},
	{filter.NotPrefix, ""},
}

// TestTextConditions compares scans of a part of log text with the conditions evaluated row by row.
func TestTextConditions(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	model := newTable(r, 1, 9000, false)
	for i := range model.series[0].rows {
		model.series[0].rows[i][messageColumn.ID] = logLine(r)
	}
	fs := vfs.NewMem()
	model.write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	p, err := Open(fs, "p", OpenOptions{Cache: NewCache(8 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var x *pageIndex
	var id encoding.ID
	err = p.use(func() (err error) {
		if x, err = p.index(ctx, p.set.Load().byID[messageColumn.ID]); err == nil {
			id = p.encodingOf(ctx, x, 0)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := id.String(); got != "template" || x.filters == nil {
		t.Fatalf("messages are encoded as %s", got)
	}
	for _, c := range textConditions {
		t.Run(fmt.Sprintf("%d %s", c.op, c.arg), func(t *testing.T) {
			and := filter.And{cond(messageColumn, c.op, c.arg)}
			prog, err := filter.Compile(and)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			for _, w := range model.series[0].rows {
				keep := [1]uint64{1}
				prog.Conds[0].Leaf.Eval(1, vector.ConstBytes(vector.StringType, []byte(w[messageColumn.ID].(string))),
					keep[:])
				want += int(keep[0] & 1)
			}
			for range 3 { // the third time out of the cache
				spec := &scan.Spec{Columns: []schema.Column{messageColumn}, TimeColumn: tsColumn, Time: scan.All,
					Filter: and, FilterColumns: allColumns}
				got, err := drain(p, spec)
				if err != nil || got != want {
					t.Fatalf("%d rows (%v), want %d", got, err, want)
				}
			}
		})
	}
}

// TestFilterOfTemplates: filters whose tokens come from templates and variables hold all tokens of their rows.
func TestFilterOfTemplates(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 8))
	model := newTable(r, 1, 5000, false)
	for i := range model.series[0].rows {
		line := logLine(r)
		for !index.ASCII([]byte(line)) {
			line = logLine(r)
		}
		model.series[0].rows[i][messageColumn.ID] = line
	}
	fs := vfs.NewMem()
	model.write(t, fs, "p", r, WriterOptions{BlockRows: 2048})
	if errs := checkFile(fs, "p"); len(errs) > 0 {
		t.Fatal(errs)
	}
}
