package sqlexec

import (
	"context"
	"fmt"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
)

// TestConditionsMeanTheSame compares columns of all types with constants of all types: a condition of WHERE, which
// reaches indexes and blocks, must let the rows through for which the same expression is true, in memory and in files.
func TestConditionsMeanTheSame(t *testing.T) {
	x, _ := copyStore(t)
	outcomeOf(t, x, allTypes)
	columns := []string{"tag", "b", "i8", "i16", "i32", "i64", "u8", "u32", "u64", "f32", "f64", "dec", "s", "bin", "d",
		"t0", "t3", "t6", "t9", "ts", `"Odd ""name"", x"`}
	constants := []string{"NULL", "''", "'a'", "'nan'", "'2024-01-01'", "'1969-12-31 23:59:59.9995'", "'1'", "'1.5'",
		"0", "1", "-1", "127", "128", "-129", "4294967296", "9223372036854775807",
		"18446744073709551615", "0.5", "1.0", "-0.0", "1e300", "0.1", "'NaN'::DOUBLE", "'inf'::DOUBLE", "0.1::FLOAT",
		"true", "x'00ff22'", "'1970-01-01'::DATE", "'1970-01-01 00:00:01'::TIMESTAMP(0)",
		"'1970-01-01 00:00:00.000000001'::TIMESTAMP(9)", "'-0.0000000001'::DECIMAL(38,10)", "0.5::DECIMAL(5, 2)",
		"3::TINYINT UNSIGNED"}
	forms := []string{"%s = %s", "%s <> %s", "%s < %s", "%s >= %s", "%[2]s < %[1]s", "%s IN (%s, NULL)",
		"%[1]s IN (%[2]s)", "%[1]s NOT IN (%[2]s)", "%[1]s BETWEEN %[2]s AND %[2]s",
		"%s IS DISTINCT FROM %s", "NOT (%s > %s)", "%s LIKE %s", "%s ILIKE %s", "%s ~ %s", "%s @@ %s", "%s = %s OR b"}
	for _, flushed := range []bool{false, true} {
		if flushed {
			if err := x.e.Flush(context.Background(), schema.Name{DB: DefaultDB, Table: "src"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, column := range columns {
			for _, constant := range constants {
				for _, form := range forms {
					cond := fmt.Sprintf(form, column, constant)
					got, gotErr := answer(x, &Session{}, "SELECT ts FROM src WHERE "+cond+" ORDER BY ts;", false)
					want, wantErr := answer(x, &Session{},
						"SELECT ts FROM (SELECT ts, CASE WHEN "+cond+
							" THEN 1 ELSE 0 END AS hit FROM src) WHERE hit + 0 = 1 ORDER BY ts;", false)
					switch {
					case gotErr != nil || wantErr != nil || status.Of(got.err) == status.Internal ||
						status.Of(want.err) == status.Internal:
						t.Errorf("flushed=%v %s: %v %v %v %v", flushed, cond, gotErr, wantErr, got.err, want.err)
					case (got.err == nil) != (want.err == nil):
						t.Errorf("flushed=%v %s: WHERE gives %v, CASE gives %v", flushed, cond, got.err, want.err)
					case fmt.Sprint(got.rows) != fmt.Sprint(want.rows):
						t.Errorf("flushed=%v %s: WHERE gives %v, CASE gives %v", flushed, cond, got.rows, want.rows)
					}
				}
			}
		}
	}
}

// TestSearchesMeanTheSame searches texts, as they are and in lower case, with an index of their words and without. The
// scan may decide a search of WHERE: it lets the rows through for which the same expression is true, in memory and in
// files.
func TestSearchesMeanTheSame(t *testing.T) {
	x, _ := copyStore(t)
	outcomeOf(t, x, "CREATE TABLE texts (ts TIMESTAMP TIME INDEX, s STRING, words STRING FULLTEXT INDEX);"+
		"INSERT INTO texts SELECT i, v, v FROM (VALUES (1, 'Abc'), (2, 'abd'), (3, 'xyz'), (4, 'ABC def'), (5, ''), "+
		"(6, NULL), (7, 'the Abc of it'), (8, 'a.b'), (9, 'a_b%'), (10, 'ÄÖ abc')) AS l (i, v);")
	tests := []string{"%s = '%s'", "%s <> '%s'", "%s > '%s'", "%s LIKE '%s'", "%s NOT LIKE '%s'", "%s ILIKE '%s'",
		"%s NOT ILIKE '%s'", "%s ~ '%s'", "%s !~ '%s'", "%s ~* '%s'", "%s !~* '%s'", "%s SIMILAR TO '%s'",
		"%s NOT SIMILAR TO '%s'", "regexp_like(%s, '%s')", "matches_term(%s, '%s')", "starts_with(%s, '%s')",
		"contains(%s, '%s')", "%s @@ '%s'"}
	for _, flushed := range []bool{false, true} {
		if flushed {
			if err := x.e.Flush(t.Context(), schema.Name{DB: DefaultDB, Table: "texts"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, of := range []string{"s", "words", "lower(s)", "lower(words)", "lcase(s)", "upper(s)"} {
			for _, test := range tests {
				for _, pattern := range []string{"abc", "ABC", "ab_", "AB.", "a%", "(ab|xy)%", "(ab|xy).*", "b", "",
					"äö", "ÄÖ%"} {
					cond := fmt.Sprintf(test, of, pattern)
					for _, cond := range []string{cond, "NOT (" + cond + ")"} {
						got := outcomeOf(t, x, "SELECT ts FROM texts WHERE "+cond+" ORDER BY ts;")
						want := outcomeOf(t, x, "SELECT ts FROM (SELECT ts, CASE WHEN "+cond+
							" THEN 1 ELSE 0 END AS hit FROM texts) WHERE hit + 0 = 1 ORDER BY ts;")
						if fmt.Sprint(got) != fmt.Sprint(want) {
							t.Errorf("flushed=%v %s: WHERE gives %v, CASE gives %v", flushed, cond, got, want)
						}
					}
				}
			}
		}
	}
}

// TestPairsOfTypes joins, unites and casts columns of all types with each other, in two ways that mean the same. One of
// them may find that the types do not go together, or a value that does not convert, where the other has no need to
// look.
func TestPairsOfTypes(t *testing.T) {
	x, _ := copyStore(t)
	outcomeOf(t, x, allTypes)
	columns := []string{"tag", "b", "i8", "i16", "i32", "i64", "u8", "u32", "u64", "f32", "f64", "dec", "s", "bin", "j",
		"d", "t0", "t3", "t6", "t9"}
	same := func(sql, other string) {
		t.Helper()
		got, gotErr := answer(x, &Session{}, sql, false)
		want, wantErr := answer(x, &Session{}, other, false)
		failed := gotErr != nil || wantErr != nil || status.Of(got.err) == status.Internal ||
			status.Of(want.err) == status.Internal
		if failed || got.err == nil && want.err == nil && fmt.Sprint(got.rows) != fmt.Sprint(want.rows) {
			t.Errorf("%s: %v %v %v\n%s: %v %v %v", sql, gotErr, got.err, got.rows, other, wantErr, want.err, want.rows)
		}
	}
	for _, a := range columns {
		for _, b := range columns {
			same(fmt.Sprintf("SELECT count(*) FROM src l JOIN src r ON l.%s = r.%s;", a, b),
				fmt.Sprintf("SELECT sum(CASE WHEN l.%s = r.%s THEN 1 ELSE 0 END) FROM src l CROSS JOIN src r;", a, b))
			same(fmt.Sprintf("SELECT count(*) FROM (SELECT %s FROM src UNION SELECT %s FROM src);", a, b),
				fmt.Sprintf(
					"SELECT count(*) FROM (SELECT x FROM (SELECT %s AS x FROM src UNION ALL SELECT %s FROM src) GROUP BY x);", a, b))
			same(fmt.Sprintf("SELECT count(*) FROM src WHERE %s IN (SELECT %s FROM src);", a, b),
				fmt.Sprintf("SELECT count(*) FROM src l WHERE EXISTS (SELECT 1 FROM src r WHERE l.%s = r.%s);", a, b))
			same(fmt.Sprintf("SELECT count(coalesce(%s, %s)) FROM src;", a, b),
				fmt.Sprintf("SELECT count(CASE WHEN %[1]s IS NULL THEN %[2]s ELSE %[1]s END) FROM src;", a, b))
		}
		for _, to := range []string{"STRING", "BINARY", "BOOLEAN", "TINYINT", "INT", "BIGINT", "TINYINT UNSIGNED",
			"BIGINT UNSIGNED", "FLOAT", "DOUBLE", "DECIMAL(38, 10)",
			"DECIMAL(3, 1)", "DATE", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(9)", "TIME", "INTERVAL", "JSON"} {
			same(fmt.Sprintf("SELECT count(TRY_CAST(%s AS %s)) FROM src;", a, to),
				fmt.Sprintf(
					"SELECT count(c) FROM (SELECT TRY_CAST(x AS %s) AS c FROM (SELECT %s AS x FROM src ORDER BY ts));",
					to, a))
			if got, err := answer(x, &Session{}, fmt.Sprintf("SELECT CAST(%s AS %s) FROM src ORDER BY 1;", a, to),
				false); err != nil || status.Of(got.err) == status.Internal {
				t.Errorf("CAST(%s AS %s): %v %v", a, to, err, got.err)
			}
		}
	}
}
