package parse

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// spoilTokens cuts a statement where words, numbers, texts and signs meet.
var spoilTokens = regexp.MustCompile(`'[^']*'|"[^"]*"|[A-Za-z_][A-Za-z_0-9]*|[0-9.]+|\s+|.`)

// spoilWords are what statements are spoiled with.
var spoilWords = strings.Fields(
	`SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT UNION VALUES TABLE PIVOT UNPIVOT SUMMARIZE AS ON IN FOR USING WITH
	NATURAL JOIN CASE WHEN END AND OR NOT NULL IS LIKE EXISTS DISTINCT OVER RANGE FILTER CAST INTERVAL ARRAY ALIGN FILL ANY ALL ROLLUP columns lambda
	true default count unnest t x "T" "select" 'a' 1 1h ( ) [ ] { } , ; . * + - = :: -> ^ @@`)

// corpus are the statements of the scripts of the tree, and of the tests of this package.
func corpus(t *testing.T) []string {
	files, err := filepath.Glob("../testdata/*/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	var list []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, strings.Split(string(text), ";\n")...)
	}
	return append(list, seeds...)
}

// seeds are statements of forms that scripts have few of.
var seeds = []string{"PIVOT t ON a IN (1, 2 AS two) USING sum(v) AS s GROUP BY k",
	"SELECT * FROM t PIVOT (max(v) FOR a IN ('x') b) AS p (q)",
	"UNPIVOT INCLUDE NULLS t ON a, COLUMNS('b') INTO NAME n VALUE v", "SUMMARIZE TABLE t", "TABLE t UNION TABLE a.b.c",
	"SELECT * FROM (PIVOT (SELECT a, b FROM t) ON a USING sum(b), max(b) AS m) AS p JOIN u ON p.a = u.a",
	"SELECT * FROM t PIVOT (sum(v) FOR a IN (1, 2) b IN ('x') GROUP BY k) LEFT JOIN u USING (k)",
	"FROM t UNPIVOT ((v, w) FOR n IN ((a, b) AS x, (c, d)))",
	"WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL WITH s AS (SELECT n FROM r LIMIT 1) SELECT n + 1 FROM s ORDER BY n) SELECT * FROM r",
	"SELECT * FROM unnest(unnest([[1, 2], [3]])) WITH ORDINALITY AS x (e, n)", "CREATE VIEW v AS TABLE t",
	"INSERT INTO t TABLE u", "ADMIN flush_table('t')",
	"SELECT a IN (TABLE t), EXISTS (PIVOT t ON a), (SUMMARIZE t) FROM (TABLE t) AS x"}

// TestPrintedStatementsParse holds that what the parser takes prints as what it takes again, and means the same.
func TestPrintedStatementsParse(t *testing.T) {
	r, list, taken := rand.New(rand.NewPCG(9, 1)), corpus(t), 0
	spoil := func(sql string) string {
		tokens := spoilTokens.FindAllString(sql, -1)
		for range r.IntN(4) {
			i, j := r.IntN(len(tokens)), r.IntN(len(tokens))
			switch r.IntN(4) {
			case 0:
				tokens[i] = " " + spoilWords[r.IntN(len(spoilWords))] + " "
			case 1:
				tokens[i] = ""
			case 2:
				tokens[i] += " " + spoilWords[r.IntN(len(spoilWords))] + " "
			case 3:
				tokens[i], tokens[j] = tokens[j], tokens[i]
			}
		}
		return strings.Join(tokens, "")
	}
	for k := range 40_000 {
		sql := list[r.IntN(len(list))]
		if k%4 == 0 {
			sql = seeds[r.IntN(len(seeds))]
		}
		if len(sql) == 0 || len(sql) > 2000 {
			continue
		}
		sql = spoil(sql)
		printed, err := Format(sql)
		if err != nil {
			continue
		}
		taken++
		if again, err := Format(printed); err != nil || again != printed {
			t.Errorf("%s\nprints as %s\nand this as %s (%v)", sql, printed, again, err)
		}
	}
	if taken < 4000 {
		t.Errorf("%d of 40,000 statements are taken: the test spoils too much", taken)
	}
}
