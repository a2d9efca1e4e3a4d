package logapi_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestConditionsOfTypes: a label filter over a column finds the rows whose text it passes, whatever the type of the
// column is, in memory and in a part.
func TestConditionsOfTypes(t *testing.T) {
	h := house(t, nil)
	h.Want(h.SQL(`CREATE TABLE typed (ts TIMESTAMP(9) TIME INDEX, message STRING, big BIGINT, small TINYINT,
		free BIGINT UNSIGNED, on_off BOOLEAN, day DATE, price DECIMAL(10, 2), ratio DOUBLE, "Word" STRING, "a.b" STRING,
		a_b STRING, "level" STRING, detected_level STRING, service_name STRING, service_table STRING)
		WITH (append_mode = 'true')`), 200, "")
	row := func(i int, values string) {
		h.Want(h.SQL(fmt.Sprintf("INSERT INTO typed VALUES (%d, 'row %d', %s)", base*1e9+int64(i), i, values)), 200, "")
	}
	row(1, `9007199254740993, -128, 18446744073709551615, true, '2024-01-02', 1.50, -0.0, 'One', NULL, 'x', 'warn', 'error',
		'front', 'mine'`)
	row(2, `9007199254740991, 127, 0, false, '2024-01-03', -1.00, 0.5, 'one', 'x', 'y', NULL, NULL, NULL, NULL`)
	row(3, `NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'y', NULL, 'error', NULL, '', 'typed'`)
	row(4, `-9007199254740993, 0, 9007199254740993, true, '2024-01-02', 0.00, 1e300, '', '', NULL, 'info', 'info',
		'front', NULL`)
	found := func(filter, want string) {
		t.Helper()
		body := string(h.Do("GET", fmt.Sprintf("/loki/api/v1/query_range?start=%d&end=%d&direction=forward&query=%s",
			base*int64(1e9), (base+10)*int64(1e9), url.QueryEscape(`{service_table="typed"} `+filter)), "").Body)
		var got []string
		for i := range 5 {
			if strings.Contains(body, fmt.Sprintf(`"row %d"`, i)) {
				got = append(got, fmt.Sprint(i))
			}
		}
		if strings.Join(got, " ") != want || !strings.Contains(body, `"status":"success"`) {
			t.Errorf("%s: rows %s, want %s; %.300s", filter, got, want, body)
		}
	}
	for range 2 {
		found(`| big == 9007199254740992`, "1") // as floats
		found(`| big <= 9007199254740992`, "1 2 4")
		found(`| big == 9007199254740991`, "2")
		found(`| big != 9007199254740991`, "1 4")
		found(`| big <= -9007199254740992`, "4")
		found(`| big = "9007199254740993"`, "1")
		found(`| big = "09007199254740993"`, "")
		found(`| small < 300`, "1 2 4")
		found(`| small >= -128`, "1 2 4")
		found(`| small == 1000`, "")
		found(`| small != 1000`, "1 2 4")
		found(`| small == -0`, "4")
		found(`| small > 5s`, "1 2") // no durations: errors; 0 is one
		found(`| free > -1`, "1 2 4")
		found(`| free == -1`, "")
		found(`| free != -1`, "1 2 4")
		found(`| free >= 5`, "1 4")
		found(`| free = "18446744073709551615"`, "1")
		found(`| on_off = "true"`, "1 4")
		found(`| on_off = "t"`, "")
		found(`| on_off = "1"`, "")
		found(`| day = "2024-01-02"`, "1 4")
		found(`| day = "2024-1-2"`, "")
		found(`| price = "1.50"`, "1")
		found(`| price = "1.5"`, "")
		found(`| price == 1.5`, "1")
		found(`| price == 0`, "4")
		found(`| ratio == 0`, "1")
		found(`| ratio = "0.50"`, "")
		found(`| Word = "one"`, "2")
		found(`| word = "one"`, "")
		found(`| a_b = "x"`, "1")
		found(`| a_b = "y"`, "2")
		found(`| a_b_extracted = "x"`, "2")
		found(`| a_b_extracted = "y"`, "3")
		found(`| level = "error"`, "3")
		found(`| detected_level = "error"`, "1 3")
		found(`| service_name = "front"`, "1 4")
		found(`| service_name = "unknown_service"`, "2 3")
		found(`| service_table = "typed"`, "1 2 3 4")
		found(`| small >= 0 | json`, "2 4")
		h.Want(h.SQL("ADMIN flush_table('typed')"), 200, "")
	}
}

// TestMetadataBesideLabel: in a stream without a label, metadata of the name is the label that filters see.
func TestMetadataBesideLabel(t *testing.T) {
	h := house(t, nil)
	body := fmt.Sprintf(`{"streams":[{"stream":{"app":"beside","pod":"p1"},"values":[["%d","row 1"]]},
		{"stream":{"app":"beside"},"values":[["%d","row 2",{"pod":"p1"}]]},
		{"stream":{"app":"beside","pod":"p2"},"values":[["%d","row 3",{"pod":"p1"}]]}]}`, base*int64(1e9),
		base*int64(1e9)+1, base*int64(1e9)+2)
	h.Want(h.Do("POST", "/loki/api/v1/push", body, "Content-Type", "application/json"), 204, "")
	h.Want(h.SQL(`CREATE TABLE rs (ts TIMESTAMP(9) TIME INDEX, message STRING, "r.s" STRING, r_s BIGINT)
		WITH (append_mode = 'true', log_labels = 'r.s')`), 200, "")
	at := base * int64(1e9)
	h.Want(h.SQL(fmt.Sprintf("INSERT INTO rs VALUES (%d, 'row 1', 'a', 7), (%d, 'row 2', NULL, 7), "+
		"(%d, 'row 3', 'a', NULL)", at, at+1, at+2)), 200, "")
	for range 2 {
		for filter, want := range map[string]string{`pod="p1"`: "2", `pod="p2"`: "1", `pod_extracted="p1"`: "1"} {
			got := string(h.Do("GET", fmt.Sprintf("/loki/api/v1/query?time=%d&query=%s", base+60,
				url.QueryEscape(`sum(count_over_time({app="beside"} | `+filter+` [1h]))`)), "").Body)
			if !strings.Contains(got, `"`+want+`"]`) {
				t.Errorf("%s: %.200s, want %s", filter, got, want)
			}
		}
		for filter, want := range map[string]string{`r_s="a"`: "2", `r_s == 7`: "1", `r_s_extracted="7"`: "1"} {
			got := string(h.Do("GET", fmt.Sprintf("/loki/api/v1/query?time=%d&query=%s", base+60,
				url.QueryEscape(`sum(count_over_time({service_table="rs"} | `+filter+` | __error__="" [1h]))`)),
				"").Body)
			if !strings.Contains(got, `"`+want+`"]`) {
				t.Errorf("%s: %.200s, want %s", filter, got, want)
			}
		}
		h.Want(h.SQL("ADMIN flush_table('loki_logs')"), 200, "")
		h.Want(h.SQL("ADMIN flush_table('rs')"), 200, "")
	}
}
