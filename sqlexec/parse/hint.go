package parse

import (
	"strings"

	"varve/engine/nearest"
)

// statementWords begin statements; clauseWords occur inside them. A mistyped word is compared with them.
var (
	statementWords = strings.Fields(
		`SELECT WITH VALUES CREATE DROP ALTER INSERT REPLACE DELETE TRUNCATE SHOW DESC DESCRIBE EXPLAIN ADMIN SET
		USE KILL COMMENT TQL COPY SUMMARIZE PIVOT UNPIVOT`)
	clauseWords = strings.Fields(
		`SELECT FROM WHERE GROUP ORDER HAVING LIMIT OFFSET UNION EXCEPT INTERSECT JOIN INNER LEFT RIGHT FULL CROSS ON
		USING AND OR NOT BETWEEN LIKE ILIKE IN IS NULL AS BY DISTINCT CASE WHEN THEN ELSE END WINDOW QUALIFY ALIGN RANGE FILL OVER PARTITION
		FILTER WITHIN VALUES INTO SET TABLE DATABASE VIEW COLUMN INDEX PRIMARY KEY DEFAULT TIME ENGINE TABLES DATABASES VIEWS COLUMNS
		VARIABLES PROCESSLIST GRANTS STATUS ANALYZE VERBOSE EXISTS IF ADD MODIFY RENAME UNSET COMMENT`)
)

// hint returns the keyword that was probably meant by the current word, or by the word before it if that was read as a
// name; empty if neither resembles a keyword.
func (p *parser) hint(words []string) string {
	if p.tok.kind == tokWord {
		if h := hintOf(p.tok.text, words); h != "" {
			return h
		}
	}
	before := p.src[:p.prev]
	start := strings.LastIndexFunc(before,
		func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) + 1
	return hintOf(before[start:], words)
}

func hintOf(word string, words []string) string {
	found := nearest.Of(word, words)
	if len(word) < 4 || found == "" || strings.EqualFold(found, word) {
		return ""
	}
	return ". Did you mean " + found + "?"
}
