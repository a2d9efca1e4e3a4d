package logapi_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sort"
	"strings"
	"testing"

	"varve/server/servertest"
)

// sizedLine is a line of a stream, with its time after base in ns.
type sizedLine struct {
	app, host string
	at        int64
	text      string
}

// sizedLines makes lines of a day, as pushes in any order. empty: those of one app have no text.
func sizedLines(r *rand.Rand, n int, empty bool) (lines []sizedLine, s script) {
	bodies := map[int][]sizedLine{}
	for i := range n {
		l := sizedLine{app: fmt.Sprintf("a%d", r.IntN(3)), at: r.Int64N(86_400e9)}
		l.text = strings.Repeat("é", r.IntN(20))
		if l.host = fmt.Sprintf("h%d", r.IntN(4)); r.IntN(40) == 0 {
			l.host = ""
		}
		if l.app == "a2" && empty {
			l.text = ""
		}
		lines, bodies[i%20] = append(lines, l), append(bodies[i%20], l)
	}
	for i := range 20 {
		var streams []string
		for _, l := range bodies[i] {
			host := ""
			if l.host != "" {
				host = fmt.Sprintf(`,"host":%q`, l.host)
			}
			streams = append(streams, fmt.Sprintf(`{"stream":{"app":%q%s},"values":[["%d",%q]]}`, l.app, host,
				base*1e9+l.at, l.text))
		}
		s.pushes = append(s.pushes, `{"streams":[`+strings.Join(streams, ",")+`]}`)
	}
	return lines, s
}

// volumesOf are the volumes of an answer, by labels and time.
func volumesOf(t *testing.T, h *servertest.House, path string) (list []string) {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  []any
				Values [][]any
			}
		}
	}
	body := h.Do("GET", "/loki/api/v1/"+path, "").Body
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%s: %v: %.200s", path, err, body)
	}
	for _, one := range answer.Data.Result {
		if one.Value != nil {
			one.Values = append(one.Values, one.Value)
		}
		for _, v := range one.Values {
			list = append(list, fmt.Sprintf("%s %s %.0f %s", one.Metric["app"], one.Metric["host"], v[0], v[1]))
		}
	}
	sort.Strings(list)
	return list
}

// TestSizes: volumes and sizes of times, by steps and as a whole, are those of a look at each line, in every state.
func TestSizes(t *testing.T) {
	for n := range 2 * len(states) {
		in := states[n/2]
		r := rand.New(rand.NewPCG(uint64(n), 81))
		lines, s := sizedLines(r, 3000, n%2 == 0)
		h := pushed(t, s, in)
		for range 25 {
			from := base*1e9 + r.Int64N(86_400e9)
			to := from + 1 + r.Int64N(86_400e9)
			if r.IntN(3) == 0 {
				from, to = base*1e9, base*1e9+86_400e9
			}
			app := fmt.Sprintf("a%d", r.IntN(3))
			query := url.QueryEscape(`{app!="` + app + `", host=~"h.|", service_table=~"loki.+"}`)
			step := int64(1+r.IntN(30)) * 3600e9
			type stream struct{ app, host string }
			streams, total, count := map[stream]bool{}, 0, 0
			whole, ranged := map[stream]int{}, map[string]int{}
			for _, l := range lines {
				at := base*1e9 + l.at
				key := stream{l.app, l.host}
				if l.app == app {
					continue
				}
				if at >= from && at < to {
					streams[key] = true
					total, count = total+len(l.text), count+1
					whole[key] += len(l.text)
				}
				begin := at - at%step
				if first := from - from%step; begin >= first && begin < to {
					ranged[fmt.Sprintf("%s %s %.0f", l.app, l.host, float64(begin+step)/1e9-0.001)] += len(l.text)
				}
			}
			what := fmt.Sprintf("%s: %d to %d without %s", in, from, to, app)
			span := fmt.Sprintf("?start=%d&end=%d&limit=1000&query=%s", from, to, query)
			want := fmt.Sprintf(`{"streams":%d,"chunks":%d,"bytes":%d,"entries":%d}`, len(streams), len(streams), total,
				count)
			if got := string(h.Do("GET", "/loki/api/v1/index/stats"+span, "").Body); got != want {
				t.Errorf("%s: stats\n got %s\nwant %s", what, got, want)
			}
			var list []string
			for k, size := range whole {
				list = append(list, fmt.Sprintf("%s %s %.0f %d", k.app, k.host, float64(to/1e6)/1e3, size))
			}
			sort.Strings(list)
			if got := volumesOf(t, h, "index/volume"+span); fmt.Sprint(got) != fmt.Sprint(list) {
				t.Errorf("%s: volumes\n got %s\nwant %s", what, got, list)
			}
			list = nil
			for k, size := range ranged {
				if size > 0 {
					list = append(list, fmt.Sprintf("%s %d", k, size))
				}
			}
			sort.Strings(list)
			got := volumesOf(t, h, fmt.Sprintf("index/volume_range%s&step=%d", span, step/1e9))
			if len(list) > 0 && fmt.Sprint(withoutEmpty(got)) != fmt.Sprint(list) {
				t.Errorf("%s: volumes of steps of %d h\n got %s\nwant %s", what, step/3600e9, got, list)
			}
		}
	}
}

// withoutEmpty are volumes but those of no bytes: a stream whose lines are empty has one at the first step.
func withoutEmpty(list []string) (out []string) {
	for _, v := range list {
		if !strings.HasSuffix(v, " 0") {
			out = append(out, v)
		}
	}
	return out
}
