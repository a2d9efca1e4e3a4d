package sqlexec

import (
	"fmt"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/expr"
)

// TestFunctionsTakeAnything calls every function and aggregate with arguments of all types, columns and constants: an
// answer or an error of the caller, never a failure of the server.
func TestFunctionsTakeAnything(t *testing.T) {
	x, _ := copyStore(t)
	outcomeOf(t, x, allTypes)
	columns := []string{"tag", "b", "i8", "i32", "i64", "u8", "u64", "f32", "f64", "dec", "s", "bin", "j", "d", "t0",
		"t3", "t9"}
	constants := []string{"NULL", "''", "'a'", "'2024-01-01'", "'1 day'", "'5'", "0", "1", "-1", "3",
		"9223372036854775807", "1.5", "'NaN'::DOUBLE", "true",
		"x'00ff'", "INTERVAL '1 month 2 days'", "'2024-01-01'::DATE", "'2024-01-01'::TIMESTAMP", "'01:02:03'::TIME",
		"[1, NULL, 2]", "['a', 'b']", "[]",
		"parse_json('{\"a\": [1]}')", "1.5::DECIMAL(5, 2)", "t9 - t9", "[s, tag]", "now()", "'%Y'", "'hex'", "'$.a'",
		"'('"}
	plain := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	r := rand.New(rand.NewSource(1))
	calls := func(names []string, draws int, form string) {
		for _, name := range names {
			for n := range 4 * draws {
				args := make([]string, n%5)
				for i := range args {
					if args[i] = constants[r.Intn(len(constants))]; r.Intn(2) == 0 {
						args[i] = columns[r.Intn(len(columns))]
					}
				}
				call := name + "(" + strings.Join(args, ", ") + ")"
				if !plain.MatchString(name) && len(args) == 2 {
					call = args[0] + " " + name + " " + args[1]
				} else if !plain.MatchString(name) {
					continue
				}
				sql := fmt.Sprintf(form, call)
				got, err := answer(x, &Session{}, sql, false)
				if err != nil || got.err != nil &&
					(status.Of(got.err) == status.Internal || status.Of(got.err) == status.Unknown) {
					t.Errorf("%s\n%v %v", sql, err, got.err)
				}
			}
		}
	}
	calls(expr.Names(), 60, "SELECT %s AS x FROM src;")
	calls(expr.AggregateNames(), 40, "SELECT %s AS x FROM src;")
	calls(expr.AggregateNames(), 20, "SELECT b, %s AS x FROM src GROUP BY b;")
	calls(append(expr.AggregateNames(), "lag", "lead", "ntile", "row_number", "rank"), 30,
		"SELECT %s OVER (PARTITION BY b ORDER BY ts ROWS 1 PRECEDING) AS x FROM src;")
}
