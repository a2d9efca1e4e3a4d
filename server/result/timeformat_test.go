package result_test

import (
	"net/url"
	"testing"

	"varve/server/servertest"
)

// TestTimeFormat asks for times as text in every format that has them.
func TestTimeFormat(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.SQL(
		`CREATE TABLE times (ts TIMESTAMP(9) TIME INDEX, s TIMESTAMP(0), ms TIMESTAMP(3), d DATE, n BIGINT, j STRING);
		INSERT INTO times VALUES (1700000000123456789, 1700000000, 1700000000120, '2024-02-29', 5, 'x'), (-1, -1, -1, '1969-12-31', NULL, NULL), (0, NULL, NULL, NULL, 1, '')`), 200, "affectedrows")
	ask := func(params, sql string, headers ...string) servertest.Answer {
		return h.Do("GET", "/v1/sql?"+params+"&sql="+url.QueryEscape(sql), "", headers...)
	}
	const all = "SELECT ts, s, ms, d, n, j FROM times ORDER BY ts"
	same := func(a servertest.Answer, want string) {
		t.Helper()
		if a.Status != 200 || a.Body != want {
			t.Errorf("got %d\n%s\nwant\n%s", a.Status, a.Body, want)
		}
	}
	same(ask("format=csv&time_format=rfc3339", all),
		"1969-12-31T23:59:59.999999999Z,1969-12-31T23:59:59Z,1969-12-31T23:59:59.999Z,1969-12-31,,\r\n"+
			"1970-01-01T00:00:00.000000000Z,,,,1,\r\n"+
			"2023-11-14T22:13:20.123456789Z,2023-11-14T22:13:20Z,2023-11-14T22:13:20.120Z,2024-02-29,5,x\r\n")
	h.Want(ask("format=json&time_format=rfc3339", all+" DESC LIMIT 1"), 200,
		`{"data":[{"ts":"2023-11-14T22:13:20.123456789Z","s":"2023-11-14T22:13:20Z","ms":"2023-11-14T22:13:20.120Z","d":"2024-02-29","n":5,"j":"x"}]`)
	h.Want(ask("format=json&time_format=rfc3339", "SELECT s, d FROM times WHERE ts = 0"), 200,
		`{"data":[{"s":null,"d":null}]`)
	same(ask("format=table&time_format=rfc3339", "SELECT ms FROM times WHERE n = 5"),
		"┌─ms───────────────────────┐\n│ 2023-11-14T22:13:20.120Z │\n└──────────────────────────┘\n")
	same(ask("format=csv&time_format=rfc3339", "SELECT ms FROM times WHERE n = 5", "x-service-timezone",
		"Asia/Kolkata"), "2023-11-15T03:43:20.120+05:30\r\n")
	// An offset of a local mean time has seconds, a year of five digits no form.
	same(ask("format=csv&time_format=rfc3339", "SELECT -4000000000::TIMESTAMP(0), 253402300800::TIMESTAMP(0)",
		"x-service-timezone", "Europe/Paris"),
		"1843-03-31T16:53:20Z,253402300800\r\n")

	// Times within lists, which are JSON arrays.
	const lists = "SELECT array_agg(s ORDER BY ts) AS l, make_array(make_array(d)) AS m, make_array(n) AS n FROM times WHERE n = 5 OR ts = 0 GROUP BY d, n ORDER BY n DESC LIMIT 1"
	same(ask("format=csv&time_format=rfc3339", lists),
		"\"[\"\"2023-11-14T22:13:20Z\"\"]\",\"[[\"\"2024-02-29\"\"]]\",[5]\r\n")
	h.Want(ask("format=json&time_format=rfc3339", lists), 200,
		`{"data":[{"l":["2023-11-14T22:13:20Z"],"m":[["2024-02-29"]],"n":[5]}]`)
	h.Want(ask("format=table&time_format=rfc3339", lists), 200, `│ ["2023-11-14T22:13:20Z"] │ [["2024-02-29"]] │ [5] │`)
	h.Want(ask("format=json&time_format=rfc3339", "SELECT array_agg(s) AS l FROM times WHERE ts = 0"), 200,
		`{"data":[{"l":[null]}]`)
	h.Want(ask("format=json", "SELECT array_agg(s) AS l FROM times WHERE n = 5"), 200, `{"data":[{"l":[1700000000]}]`)

	same(ask("format=csv", "SELECT ts, s, ms FROM times WHERE n = 5"),
		"1700000000123456789,1700000000,1700000000120\r\n")
	h.Want(ask("time_format=rfc3339", "SELECT s FROM times WHERE n = 5"), 200, `"rows":[[1700000000]]`)
	h.Want(ask("format=csv&time_format=iso", "SELECT 1"), 400, `time_format \"iso\" is not supported`)
}

// TestNonFinite: floats that are not finite are told from NULL where that is asked for.
func TestNonFinite(t *testing.T) {
	h := servertest.Real(t, nil)
	ask := func(params string) servertest.Answer {
		return h.Do("GET", "/v1/sql?"+params+"&sql="+
			url.QueryEscape(
				"SELECT 'NaN'::double AS a, 'inf'::double AS b, '-inf'::float AS c, NULL::double AS d, 1.5 AS e"), "")
	}
	h.Want(ask(""), 200, `"rows":[[null,null,null,null,1.5]]`)
	h.Want(ask("non_finite=text"), 200, `"rows":[["NaN","inf","-inf",null,1.5]]`)
	h.Want(ask("format=csv&non_finite=text"), 200, "NaN,inf,-inf,,1.5\r\n")
	h.Want(ask("non_finite=number"), 400, `non_finite \"number\" is not supported`)
}
