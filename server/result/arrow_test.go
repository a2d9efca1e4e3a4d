package result_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"varve/server/servertest"
)

// arrowRows reads an Arrow stream: its schema, and its columns as texts.
func arrowRows(h *servertest.House, body string) (schema string, columns []string, rows int64) {
	h.Helper()
	r, err := ipc.NewReader(strings.NewReader(body))
	if err != nil {
		h.Fatalf("no Arrow stream: %v\n%q", err, body)
	}
	defer r.Release()
	for i, f := range r.Schema().Fields() {
		if i > 0 {
			schema += ", "
		}
		schema += f.Name + " " + f.Type.String()
	}
	for r.Next() {
		b := r.RecordBatch()
		rows += b.NumRows()
		for i, c := range b.Columns() {
			if i == len(columns) {
				columns = append(columns, "")
			}
			columns[i] += c.String()
		}
	}
	if r.Err() != nil {
		h.Error(r.Err())
	}
	return schema, columns, rows
}

func arrow(h *servertest.House, sql, more string) servertest.Answer {
	h.Helper()
	return h.Do("GET", "/v1/sql?format=arrow"+more+"&sql="+url.QueryEscape(sql), "")
}

func TestArrow(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(
		h.SQL(
			`CREATE TABLE a (tag STRING, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, u8 TINYINT UNSIGNED, u16 SMALLINT UNSIGNED,
		u32 INT UNSIGNED, u64 BIGINT UNSIGNED, f32 FLOAT, f64 DOUBLE, de DECIMAL(9, 2), bin BINARY, j JSON, d DATE, t0 TIMESTAMP(0), t3 TIMESTAMP(3),
		t6 TIMESTAMP(6), ts TIMESTAMP(9) TIME INDEX, PRIMARY KEY (tag));
		INSERT INTO a VALUES ('x', true, -8, -16, -32, -64, 8, 16, 32, 18446744073709551615, 0.5, 1e300, '-1.25', x'00ff', '{"k": 1}', '1970-01-02', 5, 6, 7, 8),
		('é', false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'NaN', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 9)`), 200, "affectedrows")
	wantSchema := "tag utf8, b bool, i8 int8, i16 int16, i32 int32, i64 int64, u8 uint8, u16 uint16, u32 uint32, u64 uint64, f32 float32, f64 float64, " +
		"de decimal(9, 2), bin binary, j utf8, d date32, t0 timestamp[s], t3 timestamp[ms], t6 timestamp[us], ts timestamp[ns]"
	want := []string{`["x" "é"]`, `[true false]`, `[-8 (null)]`, `[-16 (null)]`, `[-32 (null)]`, `[-64 (null)]`,
		`[8 (null)]`, `[16 (null)]`, `[32 (null)]`,
		`[18446744073709551615 (null)]`, `[0.5 (null)]`, `[1e+300 NaN]`, `[-1.25 (null)]`, `["\x00\xff" (null)]`,
		`["{\"k\":1}" (null)]`,
		`[1970-01-02 (null)]`, `[5 (null)]`, `[6 (null)]`, `[7 (null)]`, `[8 9]`}
	for _, compression := range []string{"", "&compression=zstd", "&compression=LZ4", "&compression=unknown"} {
		got := arrow(h, "SELECT * FROM a ORDER BY ts", compression)
		if got.Status != 200 || got.Header.Get("Content-Type") != "application/arrow" ||
			got.Header.Get("x-service-format") != "arrow" {
			t.Errorf("%s: %d %v", compression, got.Status, got.Header)
		}
		schema, columns, rows := arrowRows(h, got.Body)
		if schema != wantSchema || rows != 2 {
			t.Errorf("%s: %d rows\n got %s\nwant %s", compression, rows, schema, wantSchema)
		}
		for i := range want {
			if columns[i] != want[i] {
				t.Errorf("%s: column %d is %s, want %s", compression, i, columns[i], want[i])
			}
		}
	}
}

func TestArrowOfExpressions(t *testing.T) {
	h := servertest.Real(t, nil)
	schema, columns, _ := arrowRows(h,
		arrow(h, "SELECT [1, NULL, 3] AS l, ['a', 'b'] AS s, INTERVAL '1 month 2 days 3 seconds' AS i, "+
			"'1970-01-01 00:00:02'::TIMESTAMP - '1970-01-01'::TIMESTAMP AS du, NULL AS n, '01:02:03'::TIME AS ti",
			"").Body)
	if want := "l list<item: int64, nullable>, s list<item: utf8, nullable>, i month_day_nano_interval, du duration[ms], n null, ti time64[ns]"; schema != want {
		t.Errorf("got %s\nwant %s", schema, want)
	}
	if got, want := fmt.Sprint(columns[:2], columns[3:]),
		`[[[1 (null) 3]] [["a" "b"]]] [[2000] [(null)] [3723000000000]]`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	schema, _, rows := arrowRows(h, arrow(h, "SELECT 1 AS a WHERE false", "").Body)
	if schema != "a int64" || rows != 0 {
		t.Errorf("empty result: %s, %d rows", schema, rows)
	}
	if _, _, rows := arrowRows(h, arrow(h, "SELECT number FROM generate_series(0, 999999) AS n(number)",
		"&limit=5").Body); rows != 1_000_000 {
		t.Errorf("streamed: %d rows", rows) // the parameter limit is for other formats
	}
	if got := arrow(h, "CREATE TABLE e (ts TIMESTAMP TIME INDEX)", ""); got.Status != 200 || got.Body != "" {
		t.Errorf("statement without rows: %d %q", got.Status, got.Body)
	}
	h.Want(arrow(h, "SELECT 1; SELECT 2", ""), 400, "cannot output multi-statements result in arrow format")
	h.Want(arrow(h, "SELECT 1/0", ""), 500, `"code":3001`)
}
