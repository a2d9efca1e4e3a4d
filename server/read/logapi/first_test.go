package logapi_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"varve/server/servertest"
)

// manyLines are lines of many streams, in the order of their times, many of which are equal.
type manyLines struct {
	times []int64
	texts []string
}

const manyStreams = 40

// pushShuffled pushes lines to two tables, in no order, and flushes the first half of them.
func pushShuffled(h *servertest.House, n int, r *rand.Rand) (m manyLines) {
	h.Helper()
	at := base * int64(1e9)
	for i := range n {
		if r.IntN(5) == 0 {
			at += r.Int64N(3e9)
		}
		word := "common"
		if i%97 == 5 {
			word = "rare"
		}
		m.times = append(m.times, at)
		m.texts = append(m.texts, fmt.Sprintf("%s id=%016x n=%d", word, r.Uint64(), i))
	}
	order, count := r.Perm(n), 0
	for some := range slices.Chunk(order, 2000) {
		var b strings.Builder
		for k, i := range some {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"stream":{"app":"a%d"},"values":[["%d",%q]]}`, i%manyStreams, m.times[i], m.texts[i])
		}
		table := []string{"loki_logs", "other_logs"}[count%2]
		h.Want(h.Do("POST", "/loki/api/v1/push", `{"streams":[`+b.String()+`]}`, "Content-Type", "application/json",
			"x-service-log-table-name", table), 204, "")
		if count++; count == n/4000 {
			h.Want(h.SQL("ADMIN flush_table('loki_logs')"), 200, "")
			h.Want(h.SQL("ADMIN flush_table('other_logs')"), 200, "")
		}
	}
	return m
}

// TestFirstOfMany: the first lines of many, in both directions, of two tables, in parts and in memory, have the times
// of those that a look at each line finds, and each line is one that was pushed, with its time, once.
func TestFirstOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(80, 1))
	h := servertest.Real(t, nil)
	m := pushShuffled(h, 48_000, r)
	for range 24 {
		word, limit := []string{"common", "rare", "n=1", "id="}[r.IntN(4)], []int{1, 7, 40, 500, 5000}[r.IntN(5)]
		if r.IntN(5) == 0 {
			_, id, _ := strings.Cut(m.texts[r.IntN(len(m.texts))], "id=")
			word = id[:14]
		}
		from, to := m.times[r.IntN(len(m.times))], m.times[len(m.times)-1]+1
		if r.IntN(2) == 0 {
			from, to = m.times[0], m.times[r.IntN(len(m.times))]+1
		}
		direction := []string{"forward", "backward"}[r.IntN(2)]
		var want []int64
		for i, text := range m.texts {
			if m.times[i] >= from && m.times[i] < to && strings.Contains(text, word) {
				want = append(want, m.times[i])
			}
		}
		if direction == "forward" {
			want = want[:min(limit, len(want))]
		} else {
			want = want[max(0, len(want)-limit):]
		}
		got := m.found(t, h, fmt.Sprintf("limit=%d&direction=%s&start=%d&end=%d&query=%s", limit, direction, from, to,
			url.QueryEscape(`{app=~".+"} |= "`+word+`"`)))
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("%s, %s, limit %d, [%d, %d): %d lines at %.200s, want %d at %.200s", word, direction, limit, from, to,
				len(got), fmt.Sprint(got), len(want), fmt.Sprint(want))
		}
	}
}

// found are the times of the lines that a request finds.
func (m *manyLines) found(t *testing.T, h *servertest.House, request string) (times []int64) {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Values [][2]string }
		}
	}
	body := h.Do("GET", "/loki/api/v1/query_range?"+request, "").Body
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%s: %v: %.300s", request, err, body)
	}
	seen := map[string]bool{}
	for _, stream := range answer.Data.Result {
		for _, line := range stream.Values {
			at, err := strconv.ParseInt(line[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			_, number, _ := strings.Cut(line[1], "n=")
			i, err := strconv.Atoi(number)
			if err != nil || m.texts[i] != line[1] || m.times[i] != at || seen[line[1]] {
				t.Fatalf("%s: %q at %d was not pushed, or came twice", request, line[1], at)
			}
			seen[line[1]] = true
			times = append(times, at)
		}
	}
	return times
}
